"""What reaches a terminal is harmless, and a program reads one JSON value, an error too."""

from __future__ import annotations

import io
import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.front.cli.output import Console, harmless


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@given(st.text())
def test_no_text_can_command_a_terminal(text: str) -> None:
    shown = harmless(text)

    assert all(mark in "\n\t" or unicodedata.category(mark) != "Cc" for mark in shown)
    assert not {"\u202e", "\u2066", "\u2069", "\u200f"} & set(shown)
    assert len(shown) == len(text)


def test_ordinary_text_stays() -> None:
    assert harmless("né 日本 🙂 e\u0301\n\tx") == "né 日本 🙂 e\u0301\n\tx"


def test_a_pipe_gets_text_as_it_is_and_a_terminal_harmless() -> None:
    pipe, terminal = io.StringIO(), Terminal()
    Console(pipe, pipe).line("\x1b[1m")
    Console(terminal, terminal).line("\x1b[1m")
    Console(terminal, terminal).note("\x07")

    assert pipe.getvalue() == "\x1b[1m\n"
    assert terminal.getvalue() == "␛[1m\n␇\n"


def test_json_is_in_order_and_keeps_letters() -> None:
    out = io.StringIO()
    Console(out, out).json({"b": "é", "a": None})

    assert out.getvalue() == '{\n  "a": null,\n  "b": "é"\n}\n'
    assert json.loads(out.getvalue()) == {"a": None, "b": "é"}


def test_progress_is_drawn_on_a_terminal_only(monkeypatch: object) -> None:
    pipe, terminal = io.StringIO(), Terminal()
    with Console(pipe, pipe).waiting("Reading"):
        pass
    with Console(terminal, terminal).waiting("Reading [bold]all"):
        pass

    assert pipe.getvalue() == ""
    assert "Reading [bold]all" in terminal.getvalue()


def test_json_on_a_terminal_obeys_no_mark_and_says_the_same() -> None:
    hostile = {"na\u202eme": "a\x9b31mred\x7f \u2066x\u200e\u061c \x1b]0;t\x07 Grüße 😀"}
    terminal, pipe = Terminal(), io.StringIO()

    Console(terminal, io.StringIO()).json(hostile)
    Console(pipe, io.StringIO()).json(hostile)

    shown = terminal.getvalue()
    assert json.loads(shown) == json.loads(pipe.getvalue()) == hostile
    assert not set(shown) & set("\x9b\x7f\u202e\u2066\u200e\u061c\x1b\x07")
    assert "Grüße 😀" in shown
    assert "\u202e" in pipe.getvalue()


def test_an_export_as_json_on_a_terminal_is_still_that_export() -> None:
    terminal = Terminal()
    Console(terminal, io.StringIO()).json_text('{"a":"\x9b\u202e"}\n')
    assert json.loads(terminal.getvalue()) == {"a": "\x9b\u202e"}


def _json_console() -> tuple[Console, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    return Console(out, err, is_json=True), out, err


def test_prose_for_a_program_stands_beside_and_one_value_at_the_end() -> None:
    console, out, err = _json_console()
    console.line("renamed: a")
    console.note("manual-slop: note: b")
    console.conclude(0)

    assert json.loads(out.getvalue()) == {"said": "renamed: a"}
    assert err.getvalue() == "renamed: a\nmanual-slop: note: b\n"


def test_what_has_printed_its_value_prints_no_other() -> None:
    console, out, _ = _json_console()
    console.outcome("It is so.", {"id": "a"})
    console.conclude(1)
    plain = io.StringIO()
    Console(plain, plain).outcome("It is so.", {"id": "a"})

    assert json.loads(out.getvalue()) == {"id": "a", "said": "It is so."}
    assert plain.getvalue() == "It is so.\n"


@pytest.mark.parametrize(
    ("code", "kind", "said", "message"),
    [
        (1, "failed", "manual-slop: nothing was written\n", "nothing was written"),
        (130, "interrupted", "", "The command ended with exit code 130"),
    ],
)
def test_a_command_that_ends_without_a_value_is_an_error_by_its_last_line(
    code: int, kind: str, said: str, message: str
) -> None:
    console, out, _ = _json_console()
    console.write(said)
    console.conclude(code)

    error = json.loads(out.getvalue())["error"]
    assert (error["code"], error["message"]) == (kind, message)
