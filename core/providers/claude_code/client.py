"""Claude Code as a subprocess: one run of `claude -p` for each call, with its own login and none of its own context."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from core.base.child_process import find_program as find_on_path
from core.base.errors import FailureKind
from core.base.figures import time_limit
from core.base.loopback import is_loopback
from core.providers.claude_code.events import ClaudeReader, claude_failure, is_known
from core.providers.claude_code.line_process import ChildLines, SilenceError
from core.providers.claude_code.notes import allowed_tools, mcp_config
from core.providers.claude_code.prompt import claude_input, claude_system
from core.providers.failures import provider_error
from core.providers.patience import sensible
from core.providers.profiles import find_profile, nearest_effort
from core.providers.protocol import CancelToken, ReadBlob
from core.providers.pump import run_call
from core.values.provider import Effort, ModelProfile, ProviderRequest, StreamItem
from core.values.settings import ServerSettings

PROGRAM = "claude"
INSTALL_REMEDY = (
    "Install it with `npm install -g @anthropic-ai/claude-code`, then run `claude` once to log in"
)

MAX_ROUNDS = 20
"""Model calls of one run, where it has tools: the CLI goes on by itself."""

SERVER_START_MS = 30_000
"""Longest that the CLI waits for our server. By itself it waits 5 s, and then goes on without the tools."""

_USUAL_PLACES = ("~/.local/bin", "~/.claude/local")
_PASSED = frozenset(
    [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "TEMP",
        "TMP",
        "SYSTEMROOT",
        "COMSPEC",
        "PATHEXT",
        "USERPROFILE",
        "APPDATA",
        "LOCALAPPDATA",
        "HOMEDRIVE",
        "HOMEPATH",
        "PROGRAMFILES",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "ALL_PROXY",
        "NODE_EXTRA_CA_CERTS",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "AWS_REGION",
        "AWS_PROFILE",
        "CLOUD_ML_REGION",
    ]
)
_PASSED_PREFIXES = ("ANTHROPIC_", "CLAUDE_CODE_", "CLAUDE_CONFIG_", "LC_", "XDG_")
"""Environment variables that the CLI needs. Keys of other vendors and the rest of it stay here."""


class ClaudeCodeProvider:
    """Client of the CLI. Thread-safe: every call is a process of its own.

    Its tools, settings, memory files and sessions are switched off: the model sees the stack and what the CLI itself
    cannot leave out (its own first line and the date). Of our tools it gets those of memory, from a server of ours.

    Args:
        key: handed on as ANTHROPIC_API_KEY; None where the CLI's own login counts.
        notes: command line of the server for a request's tools; empty: there is none.
    """

    def __init__(
        self,
        server: ServerSettings,
        key: str | None,
        models: Sequence[ModelProfile] = (),
        notes: tuple[str, ...] = (),
    ) -> None:
        self._server = server
        self._key = key
        self._models = tuple(models)
        self._notes = notes

    def stream(
        self, request: ProviderRequest, read_blob: ReadBlob, cancel: CancelToken
    ) -> Iterator[StreamItem]:
        """Send a request and yield what comes back; see `Provider.stream`."""
        program = find_program()
        if program is None:
            raise provider_error(FailureKind.NOT_INSTALLED, self._server, remedy=INSTALL_REMEDY)
        profile = find_profile(self._models, self._server.id, request.model, kind=self._server.kind)
        prompt = claude_input(request, replace(profile, takes_images=True), read_blob)
        with tempfile.TemporaryDirectory(prefix="slop-claude-", ignore_cleanup_errors=True) as folder:
            arguments = self._arguments(request, profile, Path(folder))
            child = self._start(Path(program), arguments, prompt, Path(folder), request)
            cancel.on_cancel(child.kill)
            try:
                yield from run_call(lambda: self._read(child, request), cancel, is_sent=True)
            finally:
                child.close()

    def list_models(self) -> tuple[ModelProfile, ...]:
        """Empty: the CLI lists none."""
        return ()

    def count_tokens(self, request: ProviderRequest, read_blob: ReadBlob) -> int | None:
        """None: the CLI counts none beforehand."""
        del request, read_blob
        return None

    def close(self) -> None:
        """Nothing is kept between calls."""

    def _start(
        self, program: Path, arguments: list[str], prompt: str, folder: Path, request: ProviderRequest
    ) -> ChildLines:
        try:
            return ChildLines(program, arguments, prompt, folder=folder, env=self._environment(request))
        except OSError as error:
            detail = f"it could not be started ({error.strerror})"
            raise provider_error(
                FailureKind.NOT_INSTALLED,
                self._server,
                detail=detail,
                remedy=INSTALL_REMEDY,
                url=str(program),
            ) from error

    def _read(self, child: ChildLines, request: ProviderRequest) -> Iterator[StreamItem]:
        reader = ClaudeReader(has_schema=bool(request.response_schema_json))
        try:
            for line in sensible(child.lines(self._server.timeout_s), is_known, self._server):
                yield from reader.read(line)
                if reader.stop is not None:
                    yield reader.stop
                    return
        except SilenceError as error:
            detail = f"silence for {time_limit(self._server.timeout_s)}"
            raise provider_error(FailureKind.TIMED_OUT, self._server, detail=detail) from error
        raise claude_failure(self._server, reader, child.ending, model=request.model, key=self._key)

    def _arguments(self, request: ProviderRequest, profile: ModelProfile, folder: Path) -> list[str]:
        """The command line. The prompt goes over standard input, the system prompt in a file: arguments are bounded.

        Source: `claude --help` and code.claude.com/docs/en/cli-reference, 2.1.197; seen working 2026-11-20.
        """
        arguments = ["-p", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"]
        arguments += ["--include-partial-messages", "--no-session-persistence", "--disable-slash-commands"]
        arguments += ["--strict-mcp-config", "--setting-sources", "", "--tools", ""]
        if request.model:
            arguments += ["--model", request.model]
        level = nearest_effort(profile, request.effort)
        if level not in {Effort.AUTO, Effort.NONE}:
            arguments += ["--effort", level.value]
        if request.response_schema_json:
            arguments += ["--json-schema", request.response_schema_json]
        if request.tools and self._notes:
            path = folder / "mcp.json"
            path.write_text(mcp_config(self._notes), encoding="utf-8", newline="\n")
            arguments += ["--mcp-config", str(path), "--allowedTools", allowed_tools(request.tools)]
            arguments += ["--max-turns", str(MAX_ROUNDS)]
        if system := claude_system(request):
            path = folder / "system.txt"
            path.write_text(system, encoding="utf-8", newline="\n")
            arguments += ["--system-prompt-file", str(path)]
        return arguments

    def _environment(self, request: ProviderRequest) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if _is_passed(name)}
        if self._key:
            kept["ANTHROPIC_API_KEY"] = self._key
        if self._server.base_url:
            kept["ANTHROPIC_BASE_URL"] = self._server.base_url
        if request.max_output_tokens is not None:
            kept["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(request.max_output_tokens)
        if request.tools and self._notes:
            kept["MCP_CONNECT_TIMEOUT_MS"] = str(SERVER_START_MS)
        # One attempt: retries are ours, and the CLI's own ten take minutes.
        kept |= {"CLAUDE_CODE_MAX_RETRIES": "0", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        return kept | _without_proxy(kept)


def find_program() -> str | None:
    """Path of the CLI: on PATH, or where its installers put it. None where it is not."""
    found = find_on_path(PROGRAM, [Path(place).expanduser() for place in _USUAL_PLACES])
    return None if found is None else str(found)


def _is_passed(name: str) -> bool:
    upper = name.upper()
    return upper in _PASSED or upper.startswith(_PASSED_PREFIXES)


def _without_proxy(environment: Mapping[str, str]) -> dict[str, str]:
    """Keep traffic to this machine away from the environment's proxy."""
    if not is_loopback(environment.get("ANTHROPIC_BASE_URL", "")):
        return {}
    before = environment.get("NO_PROXY") or environment.get("no_proxy")
    hosts = ",".join(part for part in (before, "127.0.0.1", "localhost") if part)
    return {"NO_PROXY": hosts, "no_proxy": hosts}
