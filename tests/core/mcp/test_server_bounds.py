"""Servers over stdio are bounded as commands are, and end with the program and with the host, however those end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest

from core.agent.commands import Commands
from core.agent.sandbox import Confinement, find_confinement
from core.agent.server_sandbox import ServerSandbox
from core.kernel.command_start import HOST_LIFELINE
from core.kernel.values.mcp import CommandBounds, McpServerSettings, WrappedCommand
from core.mcp.mcp_client import McpClient, McpError
from tests.core.agent.desks import bare, marked, wait_for
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[3]
SOURCE = (ROOT / "tests" / "vendors" / "mcp_hostile_server.py").read_text(encoding="utf-8")
PYTHON = str(Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}"))
FINDERS: dict[str, Callable[[], Confinement]] = {"found": find_confinement, "bare": bare}
PROGRAM = """
import sys
from pathlib import Path
from tests.core.mcp.test_server_bounds import FINDERS, Bounded
home, root, find, marker = sys.argv[1:]
one = Bounded(Path(home), root, FINDERS[find])
one.start(marker)
one.call("escape", marker=marker)
print(one.client.pid, flush=True)
sys.stdin.read()
"""


class Bounded:
    """A program with one server that has an attacker's mind, in a sandbox or below a guard."""

    def __init__(self, home: Path, root: str, find: Callable[[], Confinement]) -> None:
        self.root = root
        self.commands = Commands(home, lambda *_: None, lambda *_: None, find=find)
        self.sandbox = ServerSandbox(home, self.commands)
        self.client = McpClient()
        self.client.start_s = PATIENCE_S

    def start(
        self,
        marker: str = "",
        bounds: CommandBounds = CommandBounds(),  # noqa: B008 (frozen)
        named: Collection[str] = (),
    ) -> None:
        settings = McpServerSettings("bad", (PYTHON, "-c", SOURCE, "plain", marker), timeout_s=PATIENCE_S)

        def wrap(command: tuple[str, ...], needs_network: bool) -> WrappedCommand:
            return self.sandbox.wrap("bad", self.root, command, needs_network, bounds, named)

        self.client.start(settings, wrap, {})

    def call(self, tool: str, **arguments: object) -> str:
        return self.client.call("bad", tool, json.dumps(arguments)).text

    def close(self) -> None:
        self.client.close()
        self.sandbox.close()
        self.commands.close()


@pytest.fixture(params=sorted(FINDERS))
def bounded(request: pytest.FixtureRequest, isolated_home: Path, tmp_path: Path) -> Iterator[Bounded]:
    root = tmp_path / "project"
    root.mkdir()
    one = Bounded(isolated_home, str(root), FINDERS[request.param])
    yield one
    one.close()


def test_a_server_that_takes_too_much_memory_is_ended_and_it_is_said(bounded: Bounded) -> None:
    bounded.start(bounds=CommandBounds(memory_mib=64))
    assert bounded.call("echo", a=1) == '{"a": 1}'

    with pytest.raises(McpError, match=r"it took more than 67\.1 MB of memory"):
        bounded.call("hog", size_bytes=200_000_000)


def test_a_file_of_a_server_does_not_grow_beyond_its_bound_and_what_ended_it_is_said(
    bounded: Bounded,
) -> None:
    bounded.start(bounds=CommandBounds(file_mib=2))
    file = Path(bounded.root, "large")

    with pytest.raises(McpError) as error:
        bounded.call("fill", path=str(file))

    assert file.stat().st_size <= 2 * 1_048_576
    assert "File too large" in str(error.value) or "A file grew to" in str(error.value)


@pytest.mark.parametrize("bounded", ["found"], indirect=True)
def test_a_server_meets_secrets_of_the_project_shut_but_for_those_that_the_yes_names(
    bounded: Bounded,
) -> None:
    root = Path(bounded.root)
    (root / ".aws").mkdir()
    files = [root / name for name in (".env", ".aws/credentials", "notes.txt", ".npmrc", "plain.txt")]
    for file in files:
        if file.name != "notes.txt":
            file.write_text(f"words of {file.name}")
    (root / "notes.txt").hardlink_to(root / ".env")
    bounded.start(named={str(root / ".npmrc")})

    found = json.loads(bounded.call("look", paths=[str(file) for file in files]))

    assert found == [
        "PermissionError",
        "FileNotFoundError",
        "PermissionError",
        "words of .npmrc",
        "words of plain.txt",
    ]
    (note,) = bounded.sandbox.news("bad")
    assert note.startswith(".aws, .env, notes.txt may hold keys or passwords and were shut to this server")
    assert bounded.sandbox.news("bad") == (), "it is said once"


@pytest.mark.parametrize("find", sorted(FINDERS))
@pytest.mark.parametrize("ended", ["program", "host"])
def test_a_server_and_all_it_started_end_with_the_program_and_with_the_host_that_are_killed(
    isolated_home: Path, tmp_path: Path, find: str, ended: str
) -> None:
    marker = f"server-mark-{os.getpid()}-{find}-{ended}"
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, isolated_home, tmp_path, find, marker],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    try:
        assert program.stdout is not None
        host = int(program.stdout.readline())
        assert wait_for(lambda: len(marked(marker)) >= 3, PATIENCE_S)

        os.kill(program.pid if ended == "program" else host, 9)

        assert wait_for(lambda: set(marked(marker)) <= {program.pid}, PATIENCE_S)
    finally:
        program.kill()
        program.communicate()


def test_a_server_does_not_begin_where_its_host_is_gone_while_its_sandbox_is_made(
    isolated_home: Path, tmp_path: Path
) -> None:
    """The kernel binds the sandbox to the host when it is whole, and not before."""
    one = Bounded(isolated_home, str(tmp_path), find_confinement)
    wrapped = one.sandbox.wrap("bad", str(tmp_path), ("/bin/echo", "begun"), needs_network=False)
    read, ours = os.pipe()
    os.close(ours)
    # The descriptor of the host's lifeline, at its end.
    code = f"import os, sys; os.dup2({read}, {HOST_LIFELINE}); os.execv(sys.argv[1], sys.argv[1:])"
    ended = subprocess.run(
        [sys.executable, "-c", code, wrapped.program, *wrapped.arguments],
        pass_fds=(read,), capture_output=True, env=dict(wrapped.environment), check=False,
    )  # fmt: skip
    os.close(read)
    one.close()
    assert (ended.returncode, ended.stdout) == (125, b"")
