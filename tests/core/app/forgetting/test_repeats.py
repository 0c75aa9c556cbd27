"""A passage of a conversation is found again where it was pasted, quoted or said once more, and common words are not."""

from __future__ import annotations

import json

import pytest

from core.app.forgetting.census import passages, repeats

SAID = "The northern gate opens at the third bell."


def log(*texts: str, kind: str = "message", part: str = "text") -> bytes:
    rows = [{"type": kind, "id": "m", "parts": [{"type": part, "text": text}]} for text in texts]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize(
    "again",
    [
        SAID,
        f"You said: nothing else. {SAID} Is that so?",
        f"> {SAID.upper()}\nWhy?",
        "- The  northern gate\topens at the third bell.",
        f"I was told: {SAID} Is it so?",
        f"He says “{SAID}”, and I doubt it.",
    ],
)
def test_a_passage_is_found_again(again: str) -> None:
    assert repeats(log("Other words first.", again), passages(log(f"Listen. {SAID}")))


@pytest.mark.parametrize(
    "other", ["The northern gate opens at noon, as ever it did.", "third bell", "Listen.", ""]
)
def test_other_words_are_none(other: str) -> None:
    assert not repeats(log(other), passages(log(f"Listen. {SAID}")))


def test_what_a_tool_read_was_not_said_and_torn_lines_tell_nothing() -> None:
    assert passages(log(SAID, part="tool_result")) == frozenset()
    assert passages(log(SAID)[:-20] + b"\n[1]\n\xff\n") == frozenset()
    assert not repeats(log(SAID), frozenset())


def test_no_full_stop_of_another_script_is_needed_to_be_ascii() -> None:
    said = "北の門は三つ目の鐘で開きます、それより前には決して開きません。"
    assert repeats(log(f"はい。{said}"), passages(log(said)))
