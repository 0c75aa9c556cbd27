"""Exports that are damaged: what is whole by itself is read, and the place of what is not is named."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from core.kernel.values.imports import Transcript, TranscriptKind, Unread
from core.kernel.values.messages import TextPart
from core.talk.transcripts import text as arrays
from core.talk.transcripts import transcript_reader


def talk(key: str, text: str = "Why?", **more: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    message = {"author": {"role": "user"}, "create_time": 1.7e9, "content": content}
    return {"id": key, "title": key, "mapping": {"m": {"parent": None, "message": message}}, **more}


def read(data: bytes, *, by_stream: bool = False) -> tuple[list[str], list[Unread]]:
    found = (
        transcript_reader.read_stream(TranscriptKind.CHATGPT, io.BytesIO(data))
        if by_stream
        else transcript_reader.read_transcripts(TranscriptKind.CHATGPT, data)
    )
    every = list(found)
    return [one.id for one in every if isinstance(one, Transcript)], [
        one for one in every if isinstance(one, Unread)
    ]


ONE, TWO, THREE = (json.dumps(talk(key)) for key in "abc")
NAN = json.dumps(talk("n", create_time=float("nan")))
DEEP = '{"id": "deep", "mapping": ' + '{"a":' * 5_000 + "1" + "}" * 5_000 + "}"


@pytest.mark.parametrize("by_stream", [False, True])
@pytest.mark.parametrize(
    ("text", "known", "told"),
    [
        (f"{ONE}\n{TWO}\n{THREE}\n", ["a", "b", "c"], []),
        (f"[{ONE}][{TWO}]", ["a", "b"], []),
        (f"[{ONE},{NAN},{TWO}]", ["a", "n", "b"], []),
        (f"[{ONE},{DEEP},{TWO}]", ["a", "b"], ["conversation 2, near byte"]),
        (f'[{ONE},{ONE[:-9]}oops"}}}}}}]}}}},{TWO}]', ["a", "b"], ["conversation 2, near byte"]),
        (f"[{ONE}, nonsense, {TWO}]", ["a", "b"], ["after conversation 1, near byte"]),
        (f"[{ONE},{TWO[:-40]}", ["a"], ["after conversation 1, near byte"]),
        (ONE[:-5], [], ["after conversation 0, near byte"]),
    ],
)
def test_what_is_whole_is_read_and_the_place_of_the_rest_is_named(
    text: str, known: list[str], told: list[str], by_stream: bool
) -> None:
    found, unread = read(text.encode(), by_stream=by_stream)

    assert found == known
    assert [one.place.rpartition(" ")[0] for one in unread] == told


def test_a_break_is_named_with_its_place_and_what_to_do() -> None:
    data = f"[{ONE},{TWO[:-40]}".encode()
    _, (unread,) = read(data)

    assert unread.is_cut
    assert f"near byte {len(data):,}" in unread.place
    assert "ends in the middle of conversation 2" in unread.why
    assert unread.remedy


def test_bytes_that_are_no_utf8_are_read_as_windows_1252_and_counted() -> None:
    data = json.dumps([talk("a", "café?")], ensure_ascii=False).encode("latin-1")
    (found,) = [
        one
        for one in transcript_reader.read_transcripts(TranscriptKind.CHATGPT, data)
        if isinstance(one, Transcript)
    ]

    assert found.messages[0].parts == (TextPart("café?"),)
    assert found.skipped[transcript_reader.NO_UTF8] == 1


def test_elements_are_cut_right_wherever_a_piece_of_the_stream_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "READ_BYTES", 7)
    odd = json.dumps(talk("a", 'brackets ]}" and \\ and "quotes" {['))
    found, unread = read(f"[{odd},{odd}]\n{odd}".encode(), by_stream=True)

    assert (found, unread) == (["a", "a", "a"], [])


def test_an_element_that_is_too_large_is_passed_over_and_the_next_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arrays, "READ_BYTES", 64)
    monkeypatch.setattr(arrays, "MAX_ELEMENT_BYTES", 1_000)
    found, unread = read(f"[{json.dumps(talk('a', 'x' * 5_000))},{ONE}]".encode(), by_stream=True)

    assert found == ["a"]
    assert [one.place for one in unread] == ["conversation 1"]


@pytest.mark.usefixtures("german")
def test_an_unread_conversation_is_counted_in_every_language() -> None:
    known, unread = read(f'[{ONE}, {DEEP}, {{"id": 1}}]'.encode())

    assert known == ["a"]
    assert [one.place.split(",")[0] for one in unread] == ["Gespräch 2", "Gespräch 3"]
