"""Own shortcuts: one chord for one action, spelled one way, and never a key that types."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panels.base.desk import chord_of, flaw_of, normal_chord, own_chords, with_chord
from panels.shell.rooms import ACTIONS


@pytest.mark.parametrize(
    ("typed", "chord"),
    [
        ("ctrl+shift+k", "Ctrl+Shift+K"),
        (" Shift + ctrl + K ", "Ctrl+Shift+K"),
        ("f8", "F8"),
        ("ctrl+,", "Ctrl+,"),
        ("alt+pageup", "Alt+PageUp"),
        ("Ctrl+Ctrl+K", ""),
        ("Meta+K", ""),
        ("", ""),
        ("+", ""),
        ("Ctrl+é", ""),
    ],
)
def test_a_chord_is_spelled_one_way(typed: str, chord: str) -> None:
    assert normal_chord(typed) == chord


@pytest.mark.parametrize("chord", ["K", "Shift+K", "Ctrl+C", "Ctrl+Enter", "F3", "Up", ""])
def test_what_types_or_means_something_else_is_no_shortcut(chord: str) -> None:
    assert flaw_of(chord)


def test_an_own_chord_is_taken_from_the_action_that_had_it() -> None:
    own = ("palette=ctrl+b", "list=Ctrl+B", "quit=none", "broken", "x=Ctrl+C")

    assert own_chords(own) == {"palette": "Ctrl+B", "quit": ""}
    assert chord_of("palette", "Ctrl+Shift+P", own) == "Ctrl+B"
    assert chord_of("list", "Ctrl+B", own) == ""
    assert chord_of("quit", "Ctrl+Q", own) == ""
    assert chord_of("hub", "Ctrl+Shift+H", own) == "Ctrl+Shift+H"


@given(st.lists(st.tuples(st.sampled_from([a.id for a in ACTIONS]), st.text(max_size=12)), max_size=30))
def test_no_two_actions_share_a_chord_that_somebody_chose(lines: list[tuple[str, str]]) -> None:
    own: tuple[str, ...] = ()
    for action_id, chord in lines:
        own = with_chord(own, action_id, chord)
    chosen = {one for one in own_chords(own).values() if one}
    heard = [chord_of(one.id, one.chord, own) for one in ACTIONS if one.is_bound]

    assert all(heard.count(chord) <= 1 for chord in chosen)


def test_a_choice_is_written_once_and_taken_back() -> None:
    own = with_chord(with_chord((), "quit", "Ctrl+W"), "quit", "")

    assert own == ("quit=none",)
    assert with_chord(own, "quit", None) == ()
