"""Claude Code as a subprocess: the stack as one prompt, one run of `claude -p` for each call, with its own login."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from msgspec.structs import replace

from core.kernel.child_process import END_S, LastWords, child_environment, end_tree, exit_words, start_program
from core.kernel.child_process import find_program as find_on_path
from core.kernel.codecs import canonical_json, read_json
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.figures import time_limit
from core.kernel.frame import frame
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.messages import AttachmentPart, ReasoningPart, ToolCallPart, ToolResultPart, files_of
from core.kernel.values.provider import (
    Effort,
    ModelProfile,
    ProviderRequest,
    ReasoningDelta,
    RequestMessage,
    RequestPart,
    Stopped,
    StreamItem,
    TextDelta,
    UsageUpdate,
)
from core.kernel.values.settings import ServerSettings
from core.kernel.values.stack import Segment, ToolSchema
from core.kernel.values.usage import Usage
from core.kernel.web_addresses import is_loopback
from core.services.providers.compatible.body import join_texts
from core.services.providers.door import counted_usage, figure, is_absurd, price, status_of, total
from core.services.providers.endings import stop_at
from core.services.providers.failures import kind_of_status, provider_error
from core.services.providers.http import run_call, sensible
from core.services.providers.profiles import find_profile, nearest_effort
from core.services.providers.protocol import CancelToken, ReadBlob
from core.services.providers.wire import attached, shown_in_result

# The stack as one prompt for Claude Code, which takes a single message of the user: canonical frames, wire
# order.

Block = dict[str, Any]


def claude_system(request: ProviderRequest) -> str:
    """The system segments as one text."""
    return join_texts(segment.text for segment in request.system)


def claude_input(request: ProviderRequest, profile: ModelProfile, read_blob: ReadBlob) -> str:
    """The line for standard input: one message that holds a block for each message of the conversation.

    Every message stands between tags, the newest too: its bytes do not change when it becomes an earlier one, layer 8
    apart. Pictures follow the block that they belong to.

    Raises:
        ProviderError: an attachment that the model does not take, or that is gone.
    """
    content = [block for message in request.messages for block in _blocks(message, profile, read_blob)]
    line = {"type": "user", "message": {"role": "user", "content": content}}
    return canonical_json(line) + "\n"


def _blocks(message: RequestMessage, profile: ModelProfile, read_blob: ReadBlob) -> list[Block]:
    texts: list[str] = []
    images: list[Block] = []
    for part in message.parts:
        if not isinstance(part, AttachmentPart):
            texts.append(_text(part))
        is_own = isinstance(part, AttachmentPart)
        for file in files_of((part,)):
            data = (attached if is_own else shown_in_result)(file, read_blob, profile)
            if isinstance(data, str):
                texts.append(data)
            else:
                encoded = base64.b64encode(data).decode("ascii")
                source = {"type": "base64", "media_type": file.media_type, "data": encoded}
                images.append({"type": "image", "source": source})
    return [{"type": "text", "text": frame(message.role.value, join_texts(texts))}, *images]


def _text(part: RequestPart) -> str:
    match part:
        case Segment(text=text):
            return text
        case ToolCallPart(call_id, name, arguments):
            return frame("call", arguments, id=call_id, name=name)
        case ToolResultPart(call_id, text, is_error):
            return frame("result", text, id=call_id, error="yes" if is_error else "")
        case ReasoningPart() | AttachmentPart():
            return ""


# Claude Code as a subprocess: one run of `claude -p` for each call, with its own login and none of its own
# context.

# A child process that is given its whole input and read line by line, in a process group of its own.

_LAST_LINES = 20


class SilenceError(Exception):
    """The child process printed nothing for too long, so the program ended it."""


class ChildLines:
    """Starts at once. Standard input is written by a thread of its own, so that a child that answers early, or never
    reads, blocks nobody.

    Args:
        program: absolute; arguments: paths among them absolute; text: its whole standard input.
        folder: where it works; env: its whole environment.

    Raises:
        OSError: the program cannot be started.
    """

    def __init__(
        self, program: Path, arguments: Sequence[str], text: str, *, folder: Path, env: Mapping[str, str]
    ) -> None:
        self._process = start_program(
            program,
            arguments,
            environment=env,
            folder=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        assert self._process.stderr is not None
        self._last_words = LastWords(self._process.stderr, "child-words")
        self._threads = [
            threading.Thread(target=work, args=args, name="child-io", daemon=True)
            for work, args in ((self._write, (text,)), (self._read, ()))
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """The child's process id, which is its group's too."""
        return self._process.pid

    @property
    def ending(self) -> str:
        """End of the process in words: exit code or signal, and what it last wrote to standard error."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        words = " ".join(line.strip() for line in self._last_words.lines(END_S)[-_LAST_LINES:])
        return ": ".join(filter(None, (exit_words(self._process.returncode), words)))

    def lines(self, timeout_s: float) -> Iterator[str]:
        """Its lines as they come, until it closes its output.

        Raises:
            SilenceError: nothing came for `timeout_s` seconds.
        """
        while True:
            try:
                line = self._lines.get(timeout=timeout_s)
            except Empty:
                self.kill()
                raise SilenceError from None
            if line is None:
                return
            yield line

    def kill(self) -> None:
        """End the child and everything that it started, without waiting. Idempotent, thread-safe."""
        end_tree(self._process)

    def close(self) -> None:
        """End the child and wait until nothing of it is left here."""
        self.kill()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        for thread in self._threads:
            thread.join(1)
        self._last_words.lines(END_S)

    def _write(self, text: str) -> None:
        assert self._process.stdin is not None
        with suppress(OSError), self._process.stdin:
            self._process.stdin.write(text.encode("utf-8", "replace"))

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout:
            for line in self._process.stdout:
                self._lines.put(line.decode("utf-8", "replace"))
        self._lines.put(None)


# Reading of Claude Code's stream-json lines.

Json = Mapping[str, Any]

_KIND_OF_ERROR = {
    "authentication_failed": FailureKind.BAD_KEY,
    "billing_error": FailureKind.NO_QUOTA,
    "invalid_request": FailureKind.BAD_REQUEST,
    "model_not_found": FailureKind.UNKNOWN_MODEL,
    "overloaded": FailureKind.OVERLOADED,
    "rate_limit": FailureKind.RATE_LIMITED,
    "server_error": FailureKind.SERVER_FAULT,
}
MAX_CALL_CHARS = 500
"""Characters of a call that are shown among the reasoning."""

_LOGIN_REMEDY = tr("Run `claude` in a terminal and log in, or set ANTHROPIC_API_KEY")
_SPENT = late(r"(?i)limit reached|hit your .*limit|usage limit")


def is_known(line: str) -> bool:
    """True if a line is an event of a run, be it one that says nothing of the reply."""
    return isinstance(_object(line).get("type"), str)


class ClaudeReader:
    """Reads line by line. The run is over when `stop` is set; without it the run has failed.

    A call that the CLI itself made of a tool of ours stands in the reasoning, as a line.

    Args:
        has_schema: the reply is the result's structured output, not the text that comes before it.

    Attributes:
        stop: how the reply ended; result: the last line's object where it told of a failure.
    """

    def __init__(self, *, has_schema: bool = False) -> None:
        self.stop: Stopped | None = None
        self.result: Json | None = None
        self.error_word = ""
        self.has_begun = False
        self.request_id = ""
        self._has_schema = has_schema
        self._has_text = False
        self._stop_reason = ""
        self._usage: dict[str, Any] = {}
        self._call = ""

    def read(self, line: str) -> Iterator[StreamItem]:
        """Read a line's events; lines that are no JSON objects are passed over."""
        event = _object(line)
        if event.get("parent_tool_use_id"):
            return
        match event.get("type"):
            case "stream_event":
                yield from self._read_stream(_mapping(event.get("event")))
            case "assistant":
                self.request_id = str(event.get("request_id") or self.request_id)
                self.error_word = str(event.get("error") or self.error_word)
            case "result":
                yield from self._read_result(event)
            case _:
                pass

    def _read_stream(self, event: Json) -> Iterator[StreamItem]:
        match event.get("type"):
            case "content_block_start" if _mapping(event.get("content_block")).get("type") == "text":
                if self._has_text and not self._has_schema:
                    yield TextDelta("\n\n")
            case "content_block_start":
                name = str(_mapping(event.get("content_block")).get("name") or "")
                self._call = f"{name.rpartition('__')[2]} " if name.startswith("mcp__") else ""
            case "content_block_stop" if self._call:
                self.has_begun = True
                yield ReasoningDelta(f"{self._call.rstrip()}\n")
                self._call = ""
            case "content_block_delta":
                yield from self._read_delta(_mapping(event.get("delta")))
            case "message_start":
                self._usage = dict(_mapping(_mapping(event.get("message")).get("usage")))
                self._usage.pop(
                    "output_tokens", None
                )  # a placeholder: the length is not known before the end
                begun = claude_usage(self._usage, None, self.request_id)
                if begun.input_tokens:
                    yield UsageUpdate(begun)
            case "message_delta":
                self._stop_reason = str(_mapping(event.get("delta")).get("stop_reason") or "")
                if self._stop_reason == "max_tokens":
                    # The CLI would ask again and again for the rest, each time at full price.
                    usage = self._usage | dict(_mapping(event.get("usage")))
                    yield UsageUpdate(claude_usage(usage, None, self.request_id))
                    self.stop = stop_at(self._stop_reason)
            case _:
                pass

    def _read_delta(self, delta: Json) -> Iterator[StreamItem]:
        match delta.get("type"):
            case "text_delta" if not self._has_schema:
                self._has_text = self.has_begun = True
                yield TextDelta(delta.get("text", ""))
            case "input_json_delta" if self._call:
                self._call = (self._call + str(delta.get("partial_json", "")))[:MAX_CALL_CHARS]
            case "thinking_delta":
                self.has_begun = True
                yield ReasoningDelta(delta.get("thinking", ""))
            case _:
                pass

    def _read_result(self, event: Json) -> Iterator[StreamItem]:
        cost = event.get("total_cost_usd")
        usage = claude_usage(_mapping(event.get("usage")), cost, self.request_id)
        if usage.input_tokens or usage.cost_usd:
            yield UsageUpdate(usage)
        reason = str(event.get("stop_reason") or self._stop_reason)
        is_failed = event.get("is_error") is True and reason != "refusal"
        if is_failed or not reason or event.get("subtype") != "success":
            self.result = event
            return
        if self._has_schema and reason != "refusal":
            if "structured_output" not in event:
                self.result = event
                return
            output = event["structured_output"]
            yield TextDelta(canonical_json(output))
        self.stop = stop_at(reason)


def claude_usage(usage: Json, cost: object, request_id: str) -> Usage:
    """Usage in our one meaning: the CLI reports Anthropic's, whose `input_tokens` leaves out what was cached.

    Writes by TTL are taken only where they account for all writes: the CLI also reports them as zeros. Where a part
    is absurd, nobody knows how much was sent.
    """
    parts = [usage.get(f"cache_{name}_input_tokens") for name in ("read", "creation")]
    read, written = map(figure, parts)
    by_ttl = _mapping(usage.get("cache_creation"))
    lives = [by_ttl.get(f"ephemeral_{name}_input_tokens") for name in ("5m", "1h")]
    accounts = written is not None and sum(figure(one) or 0 for one in lives) == written
    five, hour = lives if accounts else [one if is_absurd(one) else None for one in lives]
    said = counted_usage(
        input_tokens=total(usage.get("input_tokens"), *parts)
        if figure(usage.get("input_tokens")) is not None
        else None,
        output_tokens=usage.get("output_tokens"),
        cache_read_tokens=read,
        cache_write_tokens=written,
        cache_write_5m_tokens=five,
        cache_write_1h_tokens=hour,
        request_id=request_id,
    )
    # The CLI's own sum is a guess: it books a model that it does not know at another one's price.
    guess = None if said.is_estimate else price(cost)
    return said if guess is None else replace(said, cost_usd=guess, is_estimate=True, is_told=True)


def claude_failure(
    server: ServerSettings, reader: ClaudeReader, ending: str, *, model: str, key: str | None
) -> ProviderError:
    """Reason why a run gave no whole reply: what its result said, or how the process ended."""
    if reader.result is None:
        remedy = tr("Update Claude Code (`claude update`)") if "unknown option" in ending else ""
        kind = FailureKind.STREAM_DROPPED if reader.has_begun else FailureKind.SERVER_FAULT
        detail = tr("the process ended with {ending}", ending=ending)
        return provider_error(kind, server, detail=detail, remedy=remedy, model=model, key=key)
    told = reader.result.get("result") or reader.result.get("subtype")
    detail = str(told) if reader.result.get("is_error") or reader.result.get("subtype") != "success" else ""
    status = status_of(reader.result.get("api_error_status"))
    kind = _kind(reader, detail, status)
    is_login = kind in {FailureKind.NO_KEY, FailureKind.BAD_KEY}
    return provider_error(
        kind,
        server,
        model=model,
        detail=detail,
        remedy=_LOGIN_REMEDY if is_login else "",
        key=key,
        status=status,
        request_id=reader.request_id,
    )


def _kind(reader: ClaudeReader, detail: str, status: int | None) -> FailureKind:
    result = reader.result or {}
    if not result.get("is_error") and result.get("subtype") == "success":
        return FailureKind.STREAM_DROPPED if reader.has_begun else FailureKind.BAD_REPLY
    if result.get("terminal_reason") == "prompt_too_long" or detail.lower().startswith("prompt is too long"):
        return FailureKind.CONTEXT_TOO_LONG
    if "not logged in" in detail.lower():
        return FailureKind.NO_KEY
    if reader.error_word == "rate_limit" and _SPENT.search(detail):
        return FailureKind.NO_QUOTA
    if status in {503, 529}:
        return FailureKind.OVERLOADED
    known = _KIND_OF_ERROR.get(reader.error_word)
    if known is not None:
        return known
    if status is not None:
        return kind_of_status(status)
    is_connection = re.search(r"(?i)connection error|unable to connect|ECONNREFUSED|ENOTFOUND", detail)
    return FailureKind.NO_NETWORK if is_connection else FailureKind.SERVER_FAULT


def _object(line: str) -> Json:
    try:
        value = read_json(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}


# Our own server as Claude Code is told of it: `search_notes` and `read_note`, and nothing else of ours or
# its own.

SERVER = "notes"
"""Name of the server in Claude Code: its tools are `mcp__notes__search_notes` and `mcp__notes__read_note` there."""

_SETTINGS = ("MANUAL_SLOP_CONFIG", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
"""Variables that say where settings and indexes are."""


def notes_command(home: Path, root: str) -> tuple[str, ...]:
    """Command line of the server. `root`: of the project, absolute, empty for none."""
    project = ("--project", root) if root else ()
    return (
        sys.executable,
        "-P",
        "-m",
        "core.front.cli",
        "mcp",
        "--home",
        str(home),
        *project,
        "--only-notes",
    )


def mcp_config(command: tuple[str, ...]) -> str:
    """JSON for `--mcp-config`. It holds no key: the server's environment is made by allow-list.

    Source: 2.1.197, `alwaysLoad`: the first request waits for the server and holds its tools (seen 2026-11-23).
    """
    found = os.environ
    passed = {**child_environment(found), **{name: found[name] for name in _SETTINGS if name in found}}
    program, *arguments = command
    server = {"type": "stdio", "command": program, "args": arguments, "env": passed, "alwaysLoad": True}
    return canonical_json({"mcpServers": {SERVER: server}})


def allowed_tools(tools: Iterable[ToolSchema]) -> str:
    """Names of tools as `--allowedTools` takes them."""
    return ",".join(f"mcp__{SERVER}__{one.name}" for one in tools)


PROGRAM = "claude"
INSTALL_REMEDY = tr("Run `npm install -g @anthropic-ai/claude-code`, then run `claude` once to log in")

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
        """Return None: the CLI cannot count tokens before a call."""
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
            detail = tr("the program did not start ({strerror})", strerror=error.strerror)
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
            detail = tr("no data for {timeout_s}", timeout_s=time_limit(self._server.timeout_s))
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
