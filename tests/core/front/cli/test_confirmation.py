"""One place asks a person on the terminal: found in the source, and seen with a key that is typed without echo."""

from __future__ import annotations

import ast
import io
import os
import re
import sys
from collections.abc import Iterator

import pytest

from core.front.cli.arguments import UsageError
from core.front.cli.output import Console
from core.front.cli.questions import ask, can_ask, confirm, confirm_final
from tests.core.front.cli.conftest import Screen, World, terminal
from tests.test_repository import PROGRAM, texts

ASKER = "core/front/cli/questions.py"
WAYS = {
    "getpass",
    "termios",
    "msvcrt",
    "readline",
    "curses",
    "tty",
    "fileinput",
    "rich.prompt",
    "prompt_toolkit",
}
"""Modules by which a program asks on a terminal or takes what is typed there."""

READS = {
    ("core/front/cli/send.py", "sys.stdin.buffer"): "the message, to the end of the input",
    ("core/front/cli/send.py", "sys.stdin"): "whether there is any",
    ("core/front/cli/servers.py", "sys.stdin"): "whether there is any",
    ("core/front/cli/servers.py", "sys.stdin.isatty"): "whether it is a file or a pipe",
    ("core/front/cli/servers.py", "sys.stdin.read"): "servers as JSON, to the end of the input",
    ("core/app/outside.py", "sys.stdin.buffer"): "what `import -` reads",
    ("core/knowledge/mcp_server/mcp_server.py", "sys.stdin.buffer"): "messages of a client",
    ("core/app/crunch_child.py", "sys.stdin.buffer"): "its parent's jobs",
    ("core/kernel/command_guard.py", "sys.stdin.fileno"): "its parent's end",
    ("core/kernel/command_guard.py", "os.read(0, 1)"): "its parent's end",
    ("core/mcp/mcp_host.py", "sys.stdin.buffer"): "its parent's calls",
    ("core/services/providers/embedded/child.py", "sys.stdin.read"): "its parent's end",
    ("core/services/providers/embedded/child.py", "sys.stdin.readline"): "its parent's settings",
}
"""Readings of standard input that answer no question, with what each reads."""


_NAMED = re.compile(
    rf"stdin|\b(?:{'|'.join(re.escape(one) for one in WAYS)})\b|rich|input\(|breakpoint\(|\(\s*0\b|/dev/tty|CONIN"
)
"""Every way names one of these. To parse a module without any takes seconds, over all modules."""


def ways_to_ask(source: str) -> Iterator[str]:
    """Every way in which a module could take what a person types, in the words of the source."""
    if _NAMED.search(source) is None:
        return
    tree = ast.parse(source)
    below = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute() if id(node) not in below:
                chain = ast.unparse(node)
                if chain.startswith(("sys.stdin", "sys.__stdin__")):
                    yield chain
            case ast.Import():
                yield from (alias.name for alias in node.names if alias.name in WAYS)
            case ast.ImportFrom(module=str(module)):
                names = {alias.name for alias in node.names}
                if module in WAYS or (module == "sys" and names & {"stdin", "__stdin__"}):
                    yield f"from {module}"
                yield from (f"{module}.{name}" for name in names if f"{module}.{name}" in WAYS)
            case ast.Call(func=ast.Name(id="input" | "breakpoint")):
                yield ast.unparse(node.func)
            case ast.Call(args=[ast.Constant(value=0), *_]) if ast.unparse(node.func).endswith(
                ("open", "os.read", "FileIO")
            ):
                yield ast.unparse(node)
            case ast.Constant(value="/dev/tty" | "/dev/stdin" | "CONIN$"):
                yield str(node.value)
            case _:
                pass


@pytest.mark.slow
def test_no_other_place_takes_what_a_person_types() -> None:
    found = {
        (name, way)
        for name, text in texts().items()
        if name.endswith(".py") and name.startswith(PROGRAM) and name != ASKER
        for way in ways_to_ask(text)
    }
    assert found == {*READS}


@pytest.mark.parametrize(
    "source",
    [
        "input('Sure? ')",
        "import sys\nsys.stdin.readline()",
        "import sys\nfor line in sys.stdin: pass",
        "from sys import stdin",
        "import getpass",
        "from rich.prompt import Confirm",
        "from rich import prompt",
        "import msvcrt",
        "open(0)",
        "os.fdopen(0)",
        "os.read(0, 1)",
        "open('/dev/tty')",
    ],
)
def test_each_way_to_ask_is_seen(source: str) -> None:
    assert list(ways_to_ask(source)) != []


@pytest.mark.parametrize(
    ("typed", "yes", "final"),
    [(b"y\n", True, False), (b" YES\n", True, False), (b"n\n", False, False), (b"\n", False, False),
     (b"", False, False), (b"forget\n", False, True), (b"\xff\n", False, False)],
)  # fmt: skip
def test_only_what_is_typed_after_the_question_answers_it(
    monkeypatch: pytest.MonkeyPatch, typed: bytes, yes: bool, final: bool
) -> None:
    """Before each, the terminal holds every yes there is; a key is none where the word is asked for."""
    for is_final, said in ((False, yes), (True, final)):
        with terminal() as (source, keyboard):
            monkeypatch.setattr(sys, "stdin", source)
            console = Console(io.StringIO(), Screen(typed, keyboard))
            asked = (
                confirm_final(console, "Sure?", "forget", is_yes=False)
                if is_final
                else confirm(console, "Sure?", is_yes=False)
            )
            assert asked is said


def test_a_display_rests_while_a_question_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    told = []

    class Bar:
        def start(self) -> None:
            told.append("drawn")

        def stop(self) -> None:
            told.append("rests")

    class Watched(Screen):
        def write(self, text: str) -> int:
            told.append(text)
            return super().write(text)

    with terminal() as (source, keyboard):
        monkeypatch.setattr(sys, "stdin", source)
        console = Console(io.StringIO(), Watched(b"y\n", keyboard))
        with console.drawing(Bar()):
            assert confirm(console, "Go on?", is_yes=False)
    assert told == ["drawn", "rests", "Go on? ", "[y/N] ", "drawn", "rests"]


def test_nobody_is_asked_where_the_question_cannot_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal() as (source, keyboard):
        monkeypatch.setattr(sys, "stdin", source)
        blind = Console(io.StringIO(), io.StringIO())
        assert not can_ask(blind)
        with pytest.raises(UsageError, match="no terminal to ask on"):
            confirm(blind, "Sure?", is_yes=False)
        assert can_ask(Console(io.StringIO(), Screen(b"", keyboard)))
    monkeypatch.setattr(sys, "stdin", None)
    assert not can_ask(Console(io.StringIO(), Screen(b"", 0)))


def test_a_terminal_that_has_gone_says_no(monkeypatch: pytest.MonkeyPatch) -> None:
    keyboard, end = os.openpty()
    with os.fdopen(end, encoding="utf-8") as source:
        monkeypatch.setattr(sys, "stdin", source)
        os.close(keyboard)
        assert ask(Console(io.StringIO(), io.StringIO()), "Sure?", "[y/N]") == ""


@pytest.mark.slow
def test_a_key_is_what_was_typed_after_its_question_and_is_not_shown(world: World) -> None:
    """A process of its own, without the terminal of who runs the tests."""
    keyboard, end = os.openpty()
    os.write(keyboard, b"early\n")
    process = world.fork("key", "local", ends={0: end, 2: end})
    os.close(end)
    shown = b""
    while not shown.endswith(b": "):
        shown += os.read(keyboard, 1000)
    os.write(keyboard, b"sk-late\n")
    process.communicate()
    os.close(keyboard)

    assert (process.returncode, b"Key for local: " in shown.replace(b"\r\n", b"")) == (0, True)
    assert (world.home / "keys" / "local").read_text(encoding="utf-8").strip() == "sk-late"
