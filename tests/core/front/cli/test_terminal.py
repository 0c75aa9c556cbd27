"""The command line on any output: full, closed, piped away; remedies that a terminal can follow; completion."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence

import pytest

from core.front.cli.grammar import make_parser
from core.front.cli.parser import Parser, script
from core.front.cli.stops import in_terminal
from tests.core.front.cli.conftest import ROOT, World
from tests.patience import PATIENCE_S

ENDS_AT_ONCE = (("--version",), ("--help",), ("help", "send"), ("completion", "bash"))
WINDOW_WORDS = re.compile(r"[Pp]ress |[Cc]lick |settings page|[Ii]n Settings, |[Ii]n Caching, | panel\b")


def run(world: World, *arguments: str, out: int) -> tuple[int, str]:
    forked = world.fork(*arguments, ends={1: out})
    said = forked.communicate(PATIENCE_S)[1].decode()
    return forked.wait(), said


@pytest.mark.parametrize("words", [*ENDS_AT_ONCE, ("discussions",), ("discussions", "--json")], ids=" ".join)
def test_a_full_output_is_one_sentence(world: World, words: tuple[str, ...]) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    code, said = run(world, *words, out=full)
    os.close(full)

    assert (code, said) == (1, "manual-slop: The program cannot write the output: No space left on device\n")


@pytest.mark.parametrize("words", [*ENDS_AT_ONCE, ("discussions",)], ids=" ".join)
def test_a_reader_that_has_gone_ends_it_without_a_word(world: World, words: tuple[str, ...]) -> None:
    read, write = os.pipe()
    os.close(read)
    code, said = run(world, *words, out=write)
    os.close(write)

    assert (code, said) == (141, "")


def test_an_output_that_is_closed_is_no_traceback(world: World) -> None:
    for words in ENDS_AT_ONCE:
        done = subprocess.run(
            ["sh", "-c", 'exec "$@" >&-', "sh", *world.command(*words)],
            stderr=subprocess.PIPE,
            cwd=world.project,
            env=world.environ,
            check=False,
            timeout=PATIENCE_S,
        )
        assert b"Traceback" not in done.stderr, words


@pytest.mark.slow
def test_errors_that_nobody_can_read_leave_the_reply_whole(world: World) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>/dev/full', "sh", *world.command("send", "Hello")],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        cwd=world.project,
        env=world.environ,
        check=False,
        timeout=PATIENCE_S,
    )

    assert (done.returncode, done.stdout) == (0, b"Hello there.\n")


@pytest.mark.slow
def test_a_complaint_that_nobody_can_read_leaves_the_exit_code(world: World) -> None:
    for words, code in (
        (("--version",), 1),
        (("send", "Hello", "--provider", "nowhere"), 2),
        (("--bogus",), 2),
        (("knowledge", "prompt", "--bogus"), 2),
    ):
        done = subprocess.run(
            ["sh", "-c", 'exec "$@" >/dev/full 2>&1', "sh", *world.command(*words)],
            stdin=subprocess.DEVNULL,
            cwd=world.project,
            env=world.environ,
            check=False,
            timeout=PATIENCE_S,
        )
        assert done.returncode == code, words


def test_wrong_usage_is_never_said_on_standard_output(world: World) -> None:
    """With standard error closed, argparse's words went there."""
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *world.command("--bogus")],
        stdout=subprocess.PIPE,
        cwd=world.project,
        env=world.environ,
        check=False,
        timeout=PATIENCE_S,
    )

    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.slow
def test_every_remedy_of_the_core_can_be_followed_at_a_terminal() -> None:
    """Whatever a room says of pages and buttons of the window has a terminal's words."""
    left = []
    for path in sorted((ROOT / "core").rglob("*.py")):
        if path.parent.name in {"hooks", "cli"} or path.name == "settings_schema.py":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        plain = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        left += [
            f"{path.relative_to(ROOT)}:{node.lineno}: {node.value!r}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in plain
            and WINDOW_WORDS.search(in_terminal(node.value))
        ]
    assert left == []


def test_a_missing_key_is_told_with_the_command_that_keeps_it(world: World) -> None:
    ended = world.run("send", "x", "--provider", "anthropic")

    assert ended.code == 1
    assert "manual-slop key" in ended.err
    assert not WINDOW_WORDS.search(ended.err)
    assert "manual-slop key" in world.run("models", "anthropic").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_holds_the_grammar(world: World, shell: str) -> None:
    ended = world.run("completion", shell)

    assert ended.code == 0
    for word in ("manual-slop", "discussions", "unpin", "effort", "medium"):
        assert word in ended.out


def completed_in_bash(script: str, lines: Sequence[str]) -> list[set[str]]:
    """Words that a shell that evaluated the script offers at the end of each line. It can start no program."""
    asked = "".join(f"ask {shlex.quote(line)}\n" for line in lines)
    code = f"""{script}
PATH=/nowhere
ask() {{
    local IFS=' '; COMP_LINE=$1; COMP_POINT=${{#1}}
    COMP_WORDS=($1); [[ $1 == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()
    local words=($(complete -p manual-slop)) at
    for at in "${{!words[@]}}"; do [[ ${{words[at]}} == -F ]] && "${{words[at + 1]}}" manual-slop "${{COMP_WORDS[COMP_CWORD]}}" ''; done
    echo "${{COMPREPLY[*]}}"
}}
{asked}"""
    done = subprocess.run(
        ["/bin/bash", "--norc", "--noprofile", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        stdin=subprocess.DEVNULL,
    )
    assert not done.stderr
    return [{*line.split()} for line in done.stdout.splitlines()]


def test_bash_completes_what_the_grammar_knows_and_starts_nothing() -> None:
    parser = make_parser()
    lines, known = [], []
    for words, command in commands_below(parser, ("manual-slop",)):
        options = {option for action in command._actions for option in action.option_strings}
        lines += [f"{' '.join(words)} -", f"{' '.join(words)} "]
        known += [options, {*command.commands()}]
    answers = completed_in_bash(script(parser, "bash"), lines)

    assert len(answers) == len(lines) > 80
    for line, offered, wanted in zip(lines, answers, known, strict=True):
        assert wanted <= offered, line
    values = completed_in_bash(
        script(parser, "bash"),
        ["manual-slop se", "manual-slop send --effort m", "manual-slop discussions un"],
    )
    assert values == [
        {"send", "search", "secrets", "servers"},
        {"minimal", "medium", "max"},
        {"unpin", "unarchive"},
    ]


def commands_below(parser: Parser, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Parser]]:
    yield words, parser
    for name, command in parser.commands().items():
        yield from commands_below(command, (*words, name))
