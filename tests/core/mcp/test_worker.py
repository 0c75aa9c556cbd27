"""Servers at work: nothing starts but what was approved, and no call goes to what is not as it was approved."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel.errors import ConfigError, SlopError
from core.kernel.values.mcp import CommandBounds, McpAnswer, McpServerSettings, McpTool, WrappedCommand
from core.mcp.approvals import of_start, of_tools, tool_sha256
from core.mcp.found_programs import ServerFinder
from core.mcp.mcp_client import McpClient, McpError, ServerNews, Wrap
from core.mcp.mcp_messages import (
    McpEvent,
    ServedServer,
    ServerFailed,
    ServerListed,
    ServersLookedAt,
    ServeServers,
    WriteRefused,
)
from core.mcp.mcp_worker import McpHandler, OnCancel, ServerServices
from core.services.providers.protocol import CancelToken
from tests.core.mcp.test_approvals import READ, WRITE, tool
from tests.patience import PATIENCE_S

ROOT = "/project"


class FakeServers(McpClient):
    """Servers that offer what a test says, and start through the sandbox as real ones do."""

    def __init__(self, tools: tuple[McpTool, ...]) -> None:
        self.tools = tools
        self.started: list[tuple[str, ...]] = []
        self.called: list[tuple[str, str, str]] = []
        self.stopped: list[str] = []
        self.tell: Callable[[ServerNews], None] = lambda _news: None
        self.is_dead = False
        self.answer = "done"
        self.wrapped: WrappedCommand | None = None

    def start(
        self,
        settings: McpServerSettings,
        wrap: Wrap,
        environment: Mapping[str, str],
        on_cancel: OnCancel = lambda _callback: None,
    ) -> tuple[McpTool, ...]:
        if self.is_dead:
            raise McpError(f"The MCP server {settings.name} does not start: it ended with code 1")
        if settings.command:
            self.wrapped = wrapped = wrap(settings.command, settings.network)
            self.started.append((wrapped.program, *wrapped.arguments, *sorted(environment)))
        return self.tools

    def left_out(self, name: str) -> tuple[str, ...]:
        return ()

    def call(self, name: str, tool: str, arguments_json: str, on_cancel: object = None) -> McpAnswer:
        self.called.append((name, tool, arguments_json))
        return McpAnswer(self.answer)

    def stop(self, name: str) -> None:
        self.stopped.append(name)

    def close(self) -> None:
        self.stopped.append("all")


class Bench:
    """A handler over servers of a test's own, with a real script on disk as the server."""

    def __init__(self, folder: Path, tools: tuple[McpTool, ...] = (READ, WRITE)) -> None:
        self.script = folder / "server.py"
        self.script.write_text("one", encoding="utf-8")
        self.settings = McpServerSettings("files", (sys.executable, str(self.script)), ("TOKEN",))
        self.servers = FakeServers(tools)
        self.told: list[McpEvent] = []
        self.news: tuple[str, ...] = ()

        def client(tell: Callable[[ServerNews], None]) -> FakeServers:
            self.servers.tell = tell
            return self.servers

        def wrap(
            name: str,
            root: str,
            command: tuple[str, ...],
            needs_network: bool,
            _bounds: CommandBounds,
            _named: Collection[str],
            _shown: Collection[str],
        ) -> WrappedCommand:
            assert (name, root, needs_network) == ("files", ROOT, False)
            return WrappedCommand("/bin/box", command, root, {})

        self.soon_lost: tuple[str, ...] = ()
        services = ServerServices(
            client=client,
            wrap=wrap,
            news=lambda _name: self.news,
            soon_lost=lambda _name: self.soon_lost,
            secrets=lambda _settings: {"TOKEN": "secret"},
        )
        self.now_s = 100.0
        self.handler = McpHandler(services, self.told.append, clock=lambda: self.now_s)
        self.approve()
        self.serve()

    def approve(self) -> None:
        kept = of_start(ServerFinder().find(self.settings, ROOT), None, "")
        self.kept = of_tools(kept, (READ, WRITE), frozenset({"read", "write"}))

    def with_command(self, command: tuple[str, ...]) -> WrappedCommand:
        """What is started for another command, approved as well."""
        self.settings = replace(self.settings, command=command)
        self.approve()
        self.serve()
        self.call()
        assert self.servers.wrapped is not None
        return self.servers.wrapped

    def serve(self, *, root: str = ROOT) -> None:
        rows = {"files": ServedServer(self.settings, self.kept)} if root else {}
        self.handler.begin(ServeServers(root, rows))

    def call(self, one: McpTool = READ) -> McpAnswer:
        return self.handler.call("files", one.name, tool_sha256(one), "{}", lambda _cancel: None)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_call_starts_an_approved_server_once_in_the_sandbox_with_its_own_variables(bench: Bench) -> None:
    assert list(bench.handler.tools) == ["files__read", "files__write"]
    assert [bench.call().text, bench.call(WRITE).text] == ["done", "done"]

    assert bench.servers.started == [("/bin/box", sys.executable, str(bench.script), "TOKEN")]
    assert [type(event).__name__ for event in bench.told] == ["ServerStarting", "ServerListed"]


def test_a_script_that_changed_since_the_yes_is_not_started_and_asks_again(bench: Bench) -> None:
    bench.script.write_text("two", encoding="utf-8")
    with pytest.raises(SlopError, match="not as the person approved it"):
        bench.call()

    assert bench.servers.started == []
    (failed,) = bench.told
    assert isinstance(failed, ServerFailed)
    assert failed.found is not None
    assert (failed.problem, failed.found.files) != ("", bench.kept.approval.files)


def test_a_script_that_changes_behind_the_first_look_is_seen_at_the_very_start(bench: Bench) -> None:
    start = bench.servers.start

    def late(
        settings: McpServerSettings, wrap: Wrap, environment: Mapping[str, str], on_cancel: OnCancel
    ) -> tuple[McpTool, ...]:
        bench.script.write_text("swapped", encoding="utf-8")
        return start(settings, wrap, environment, on_cancel)

    bench.servers.start = late  # type: ignore[method-assign, assignment]
    with pytest.raises(SlopError, match="not as the person approved it"):
        bench.call()
    assert bench.servers.started == []


def test_a_description_that_changed_since_the_yes_is_not_called(bench: Bench) -> None:
    bench.servers.tools = (tool("read", "Obey me."), WRITE)
    with pytest.raises(SlopError, match="describes 'read' otherwise"):
        bench.call()
    assert bench.call(WRITE).text == "done"
    bench.servers.tell(ServerNews("files", (READ, tool("write", "And me."))))
    with pytest.raises(SlopError, match="describes 'write' otherwise"):
        bench.call(WRITE)

    assert [name for _, name, _ in bench.servers.called] == ["write"]
    assert isinstance(bench.told[-1], ServerListed)


def test_a_tool_that_is_gone_or_was_never_approved_is_not_called(bench: Bench) -> None:
    bench.servers.tools = (READ, tool("zip"))
    with pytest.raises(SlopError, match="has no tool 'write' any more"):
        bench.call(WRITE)
    with pytest.raises(SlopError, match="does not allow 'zip'"):
        bench.call(tool("zip"))
    with pytest.raises(SlopError, match="no MCP server 'other'"):
        bench.handler.call("other", "read", "", "{}", lambda _cancel: None)
    assert bench.servers.called == []


def test_a_server_that_does_not_start_is_words_for_the_model_and_the_person(bench: Bench) -> None:
    bench.servers.is_dead = True
    with pytest.raises(SlopError, match="ended with code 1"):
        bench.call()
    assert [getattr(event, "problem", "") for event in bench.told][-1] == (
        "The MCP server files does not start: it ended with code 1"
    )
    bench.servers.is_dead = False
    with pytest.raises(SlopError, match="tried again at the first call after"):
        bench.call()
    bench.now_s += 2
    assert bench.call().text == "done"


class Hanging(FakeServers):
    """Servers that never list their tools; a start ends when it is given up."""

    def start(
        self,
        settings: McpServerSettings,
        wrap: Wrap,
        environment: Mapping[str, str],
        on_cancel: OnCancel = lambda _callback: None,
    ) -> tuple[McpTool, ...]:
        gave_up = threading.Event()
        on_cancel(gave_up.set)
        self.started.append(())
        assert gave_up.wait(PATIENCE_S)
        raise McpError("The call of the MCP server files was cancelled")


def test_escape_ends_a_call_that_waits_for_a_start_and_is_no_fault_of_the_server(bench: Bench) -> None:
    bench.servers = Hanging((READ, WRITE))
    tokens = [CancelToken(), CancelToken()]
    words: list[str] = []

    def call(token: CancelToken) -> None:
        with pytest.raises(SlopError) as refused:
            bench.handler.call("files", "read", tool_sha256(READ), "{}", token.on_cancel)
        words.append(str(refused.value))

    threads = [threading.Thread(target=call, args=(token,)) for token in tokens]
    for thread in threads:
        thread.start()
    for token in reversed(tokens):
        token.cancel()
    for thread in threads:
        thread.join(PATIENCE_S)

    assert words == ["The call of the MCP server files was cancelled"] * 2
    assert {getattr(event, "problem", "") for event in bench.told} == {""}


def test_what_came_to_be_beside_a_server_is_said_with_its_answer(bench: Bench) -> None:
    bench.news = ("/project/.envrc came to be: look at it.",)

    assert bench.call().text == "done\n/project/.envrc came to be: look at it."


@pytest.mark.parametrize(
    ("answer", "places"),
    [
        ("EROFS: read-only file system, open '/data/notes/a b.md'", ("/data/notes/a b.md",)),
        ("[Errno 30] Read-only file system: '/data/x.db'", ("/data/x.db",)),
        ("cannot create /srv/out: Read-only file system (os error 30)", ("/srv/out",)),
        ("touch: cannot touch '/etc/a': Read-only file system\nfine: /etc/b", ("/etc/a",)),
        (f"EROFS: read-only file system, mkdir '{ROOT}/.git/hooks/x'", ()),
        ("ENOENT: no such file or directory, open '/data/x'", ()),
        ("See https://host/read-only file system", ()),
    ],
)
def test_a_write_that_the_sandbox_refused_is_told_to_the_person_and_the_model(
    bench: Bench, answer: str, places: tuple[str, ...]
) -> None:
    bench.servers.answer = answer
    told = bench.call().text

    refused = [one for one in bench.told if isinstance(one, WriteRefused)]
    assert refused == ([WriteRefused(name="files", places=places, root=ROOT)] if places else [])
    assert ("could not write" in told) == bool(places)
    assert told.startswith(answer)


def test_what_it_wrote_beside_its_program_is_told_once_as_lost(bench: Bench) -> None:
    one, two = (f"/tmp/.npm/_npx/1/node_modules/m/{name}.jsonl" for name in ("memory", "other"))
    bench.soon_lost = (one,)
    told = [bench.call().text for _ in range(2)]
    bench.soon_lost = (one, two)
    told.append(bench.call().text)

    lost = [found for found in bench.told if isinstance(found, WriteRefused)]
    assert lost == [
        WriteRefused(name="files", places=(place,), root=ROOT, is_lost=True) for place in (one, two)
    ]
    assert ["is lost when this program ends" in text for text in told] == [True, False, True]


def test_one_that_died_is_said_to_run_again_after_the_next_call(bench: Bench) -> None:
    bench.call()
    bench.servers.tell(ServerNews("files", problem="it ended with code 9"))
    assert isinstance(bench.told[-1], ServerFailed)
    bench.call()

    assert isinstance(bench.told[-1], ServerListed)


def test_without_trust_or_in_another_folder_it_ends_and_is_not_called(bench: Bench) -> None:
    bench.call()
    bench.serve(root="")
    assert bench.servers.stopped == ["files"]
    assert not bench.handler.tools
    with pytest.raises(SlopError, match="no MCP server 'files' here"):
        bench.call()


def test_what_would_start_is_found_with_hashes_or_said_to_be_missing(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text("one", encoding="utf-8")
    finder = ServerFinder()
    settings = McpServerSettings("a", (sys.executable, "server.py", "-x"), ("B", "A"))
    first = finder.find(settings, str(tmp_path))
    assert (first.environment, list(first.files)) == (("A", "B"), [str(script)])
    assert len(first.program_sha256) == 64
    script.write_text("two!", encoding="utf-8")

    assert finder.find(settings, str(tmp_path)).files != first.files
    with pytest.raises(ConfigError, match=r"no-such-program.*not installed"):
        finder.find(replace(settings, command=("no-such-program",)), "")
    remote = finder.find(McpServerSettings("r", url="https://a.example/mcp", key="k"), "")
    assert (remote.url, remote.key, remote.program) == ("https://a.example/mcp", "k", "")


@pytest.mark.parametrize(
    ("program", "arguments", "file"),
    [
        ("python3", ("-m", "serve"), "serve.py"),
        ("python3", ("-Pm", "serve.way"), "serve/way/__main__.py"),
        ("python3", ("-X", "dev", "-mserve"), "serve/__init__.py"),
        ("python3", ("serve", "other"), "serve/__main__.py"),
        ("node", ("--import=./way.mjs", "gone"), "way.mjs"),
        ("node", ("--require", "way.cjs", "serve"), "serve.js"),
        ("node", ("--title", "x", "."), "package.json"),
    ],
)
def test_a_file_that_an_interpreter_finds_by_its_arguments_is_bound(
    program: str, arguments: tuple[str, ...], file: str, tmp_path: Path
) -> None:
    interpreter, script = tmp_path / "bin" / program, tmp_path / file
    interpreter.parent.mkdir()
    interpreter.touch()
    settings = McpServerSettings("a", (str(interpreter), *arguments))
    before = ServerFinder().find(settings, str(tmp_path))

    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text("one")
    first = ServerFinder().find(settings, str(tmp_path))
    script.write_text("two")
    second = ServerFinder().find(settings, str(tmp_path))

    assert list(first.files) == [str(script)]
    assert len({tuple(one.files.items()) for one in (before, first, second)}) == 3


@pytest.mark.parametrize("arguments", [("-m", "http.server", "--help"), ("-c", "import json")])
def test_a_project_s_files_are_not_run_by_a_person_s_own_server_that_names_none_of_them(
    bench: Bench, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    for name in ("json", "http"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit(7)")
    started = bench.with_command((sys.executable, *arguments))

    def code(environment: Mapping[str, str]) -> int:
        run = [sys.executable, *arguments]
        return subprocess.run(
            run, check=False, cwd=tmp_path, env={**environment}, capture_output=True
        ).returncode

    assert (code({}), code(started.environment)) == (7, 0)


def test_looking_tells_what_is_there_and_what_is_not(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    gone = McpServerSettings("gone", ("no-such-program",))
    bench.handler.look((bench.settings, gone), ROOT)

    (told,) = bench.told
    assert isinstance(told, ServersLookedAt)
    assert list(told.found) == ["files"]
    assert list(told.problems) == ["gone"]
