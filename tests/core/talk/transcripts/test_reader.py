"""Conversations of all programs through one reader: words, times, trees, tools, files, and what is damaged."""

from __future__ import annotations

import codecs
import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.kernel.values.imports import Transcript, TranscriptKind, TranscriptMessage, Unread
from core.kernel.values.messages import AttachmentPart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from core.talk.transcripts.text import decoded, lines, moment
from core.talk.transcripts.transcript_reader import (
    paths,
    read_stream,
    read_transcripts,
    recognised,
    seen_last,
)

KINDS = sorted(set(TranscriptKind) - {TranscriptKind.TEMPORARY, TranscriptKind.UNKNOWN})


def node(parent: str | None, role: str, *parts: object, at: object = 1.5, **more: object) -> dict[str, Any]:
    message = {"author": {"role": role}, "create_time": at, "content": {"parts": list(parts)}, **more}
    return {"parent": parent, "message": message, "children": []}


def conversation(number: int = 1, **more: object) -> dict[str, Any]:
    mapping = {
        "root": {"parent": None, "message": None},
        f"q{number}": node("root", "user", "Which datum?"),
        f"old{number}": node(f"q{number}", "assistant", "Mean sea level."),
        f"new{number}": node(f"q{number}", "assistant", "Chart datum.", metadata={"model_slug": "gpt-9"}),
    }
    made = {"id": f"c{number}", "title": f"Tides {number}", "create_time": 1.7e9, "mapping": mapping}
    return made | {"current_node": f"new{number}"} | more


CLAUDE = {
    "uuid": "c1",
    "name": "Moon",
    "created_at": "2026-03-01T10:00:00.5Z",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "Why?", "created_at": "2026-03-01T10:00:00Z",
         "parent_message_uuid": "00000000-0000-4000-8000-000000000000",
         "attachments": [{"file_name": "a.txt", "file_size": 5, "file_type": "text/plain", "extracted_content": "words"}]},
        {"uuid": "m2", "sender": "assistant", "text": "", "parent_message_uuid": "m1",
         "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "It pulls."},
                     {"type": "tool_use", "id": "t", "name": "calc", "input": {"b": 1, "a": 2}},
                     {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "3"}]},
                     {"type": "hologram"}]},
        {"uuid": "m3", "sender": "assistant", "text": "Anew.", "parent_message_uuid": "m1"},
        {"sender": "robot"},
    ],
}  # fmt: skip


def read(kind: TranscriptKind, data: bytes | str | object) -> tuple[list[Transcript], list[Unread]]:
    raw = (
        data
        if isinstance(data, bytes)
        else data.encode()
        if isinstance(data, str)
        else json.dumps(data).encode()
    )
    found = list(read_transcripts(kind, raw))
    return [one for one in found if isinstance(one, Transcript)], [
        one for one in found if isinstance(one, Unread)
    ]


def words(messages: tuple[TranscriptMessage, ...]) -> list[tuple[str, str]]:
    return [(one.role, "|".join(p.text for p in one.parts if isinstance(p, TextPart))) for one in messages]


def test_chatgpt_gives_the_tree_with_its_branches_and_the_path_that_was_seen_last() -> None:
    (found,), unread = read(TranscriptKind.CHATGPT, [conversation()])

    assert unread == []
    assert (found.id, found.title, found.current) == ("c1", "Tides 1", "new1")
    assert found.at == datetime.fromtimestamp(1.7e9, UTC)
    assert words(seen_last(found)) == [("user", "Which datum?"), ("assistant", "Chart datum.")]
    assert [words(path)[-1][1] for path in paths(found).paths] == ["Chart datum.", "Mean sea level."]
    assert found.messages[-1].model == "gpt-9"


def test_chatgpt_tools_pictures_files_and_hidden_messages_are_told_apart() -> None:
    mapping = {
        "s": node(None, "system", "You are a tide table."),
        "a": node("s", "user", "See", {"content_type": "image_asset_pointer", "asset_pointer": "file://x", "size_bytes": 7},
                  metadata={"attachments": [{"name": "t.pdf", "mime_type": "application/pdf", "size": 9}]}),
        "b": node("a", "assistant", "print(1)", recipient="python"),
        "c": node("b", "tool", "1"),
        "d": {"parent": "c", "message": {"author": {"role": "assistant"}, "content": {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}}},
        "e": {"parent": "d", "message": "odd"},
        "f": node("e", "assistant", "One."),
    }  # fmt: skip
    (found,), _ = read(TranscriptKind.CHATGPT, {"mapping": mapping, "current_node": "f", "title": 5})

    by_id = {one.id: one for one in found.messages}
    assert by_id["s"].is_aside
    assert by_id["a"].parts[1:] == (
        AttachmentPart("", "image/png", "x", 7),
        AttachmentPart("", "application/pdf", "t.pdf", 9),
    )
    assert by_id["b"].parts == (ToolCallPart("", "python", "print(1)"),)
    assert by_id["c"].parts == (ToolResultPart("", "1"),)
    assert by_id["d"].parts == (ReasoningPart("hm"),)
    assert by_id["f"].parent == "d"  # the odd one between them is passed over
    assert found.skipped == {"messages that cannot be read": 1}
    assert found.title == ""


def test_a_claude_export_gives_tools_thoughts_and_the_words_of_attachments() -> None:
    assert recognised(json.dumps([CLAUDE]).encode()) is TranscriptKind.CLAUDE
    (found,), _ = read(TranscriptKind.CLAUDE, [CLAUDE])

    assert (found.id, found.title, found.current) == ("c1", "Moon", "m3")
    assert found.messages[0].parts == (
        TextPart("Why?"), AttachmentPart("", "text/plain", "a.txt", 5), TextPart("words"),
    )  # fmt: skip
    assert found.messages[1].parts == (
        ReasoningPart("hm"), TextPart("It pulls."), ToolCallPart("t", "calc", '{"a": 2, "b": 1}'), ToolResultPart("t", "3"),
    )  # fmt: skip
    assert [words(path)[-1][1] for path in paths(found).paths] == ["Anew.", "It pulls."]
    assert found.skipped == {"parts of an unknown kind": 1, "messages that cannot be read": 1}


def test_claude_code_follows_what_was_said_anew_and_names_its_torn_line() -> None:
    def row(key: str, parent: str | None, kind: str, text: str, **more: object) -> str:
        said = {"role": kind, "content": text}
        return json.dumps(
            {"type": kind, "uuid": key, "parentUuid": parent, "sessionId": "s", "cwd": "/w", "message": said}
            | more
        )

    rows = [
        row("1", None, "user", "Hi", timestamp="2026-02-01T00:00:00Z"),
        row("2", "1", "assistant", "Yes?"),
        row("3", "2", "user", "mechanics", isMeta=True),
        row("4", "3", "user", "Go on"),
        row("5", "2", "user", "Or not"),
        row("6", "5", "assistant", "Fine.", isSidechain=True),
        json.dumps({"type": "summary", "summary": "A talk", "leafUuid": "5"}),
        '{"type": "assist',
    ]
    (found,), unread = read(TranscriptKind.CLAUDE_CODE, "\n".join(rows))

    assert (found.id, found.former_id, found.title, found.folder, found.current) == (
        "1",
        "s",
        "A talk",
        "/w",
        "5",
    )
    assert [words(path)[-1][1] for path in paths(found).paths][:2] == [
        "Or not",
        "Go on",
    ] or found.messages[2].parent == "2"
    assert [one.id for one in found.messages if one.is_aside] == ["6"]
    assert [one.place for one in unread] == ["line 8, the last"]


def test_each_start_of_aider_in_which_something_was_said_is_a_conversation() -> None:
    text = (
        "\n# aider chat started at 2025-10-20 21:49:17\n\n> Aider\n\n# aider chat started at 2025-10-20 21:49:22\n"
        "\n#### Which\n#### datum?\n\nChart datum.\n\n> Tokens\n# aider chat started at 2025-10-20 21:49:22\n#### Hi\n"
    )
    found, unread = read(TranscriptKind.AIDER, text)

    assert unread == []
    assert [one.id for one in found] == ["2025-10-20 21:49:22", "2025-10-20 21:49:22 (2)"]
    assert words(found[0].messages) == [("user", "Which\ndatum?"), ("assistant", "Chart datum.")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Just a note.\n\nUser: is a word.", [("user", "Just a note.\n\nUser: is a word.")]),
        ("## User\n\nHi\n\n## Assistant\n\nHello\n", [("user", "Hi"), ("assistant", "Hello")]),
        ("**You:** Hi\n**ChatGPT:** Hello\nthere", [("user", "Hi"), ("assistant", "Hello\nthere")]),
        (
            "Human: a\n\nAssistant: b\n```\nUser: c\n```",
            [("user", "a"), ("assistant", "b\n```\nUser: c\n```")],
        ),
    ],
)
def test_plain_text_is_a_conversation_where_two_sides_speak(text: str, said: list[tuple[str, str]]) -> None:
    (found,), _ = read(TranscriptKind.PLAIN, text)

    assert words(found.messages) == said


WHOLE = json.dumps([conversation(n) for n in (1, 2, 3)]).encode()


@pytest.mark.parametrize("cut", [len(WHOLE) - 1, len(WHOLE) - 20, len(WHOLE) * 3 // 5])
def test_of_an_export_that_breaks_off_the_whole_ones_are_read_and_the_place_is_named(cut: int) -> None:
    found, unread = read(TranscriptKind.CHATGPT, WHOLE[:cut])

    assert [one.id for one in found] == ["c1", "c2", "c3"][: len(found)]
    assert len(found) >= 1
    assert "after conversation" in unread[0].place
    assert "the file ends in the middle" in unread[0].why


def test_concatenated_exports_are_read_on() -> None:
    found, unread = read(TranscriptKind.CHATGPT, WHOLE + b"\n" + WHOLE)

    assert [one.id for one in found] == ["c1", "c2", "c3"] * 2
    assert unread == []


def test_a_pipe_gives_the_same_as_a_file() -> None:
    through = list(read_stream(TranscriptKind.CHATGPT, io.BytesIO(WHOLE)))

    assert through == list(read_transcripts(TranscriptKind.CHATGPT, WHOLE))


def test_one_odd_conversation_leaves_the_others() -> None:
    found, unread = read(TranscriptKind.CHATGPT, [conversation(1), {"mapping": 5}, "x", conversation(2)])

    assert [one.id for one in found] == ["c1", "c2"]
    assert [one.place for one in unread] == ["conversation 2", "conversation 3"]


def test_messages_in_a_circle_are_all_on_some_path() -> None:
    mapping = {
        "a": node("c", "user", "1"),
        "b": node("a", "user", "2"),
        "c": node("b", "user", "3"),
        "d": node(None, "user", "4"),
    }
    (found,), _ = read(TranscriptKind.CHATGPT, {"mapping": mapping, "current_node": "d"})

    assert {one.id for path in paths(found).paths for one in path} == {"a", "b", "c", "d"}


def test_deep_nesting_is_a_sentence() -> None:
    deep = b'[{"mapping": {}}, "[[[\\"' + b"[" * 900 + b'", ' + b'{"a":[' * 200_000
    found, unread = read(TranscriptKind.CHATGPT, deep)

    assert len(found) <= 1
    assert "nested" in unread[-1].why


@pytest.mark.parametrize(
    "data", [codecs.BOM_UTF8 + WHOLE, WHOLE.decode().encode("utf-16")], ids=["mark", "utf-16"]
)
def test_an_export_with_a_mark_or_in_utf_16_is_read_as_one_without(data: bytes) -> None:
    assert read(TranscriptKind.CHATGPT, data) == read(TranscriptKind.CHATGPT, WHOLE)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfcaf\xc3\xa9", "café"),
        ("é".encode("utf-16"), "é"),
        (b"caf\xe9\nna\xc3\xafve", "café\nnaïve"),
    ],
)
def test_mixed_encodings_become_text(data: bytes, text: str) -> None:
    assert decoded(data) == text


@pytest.mark.parametrize(
    "value",
    [1767312000, 1767312000.0, 1767312000000, 1767312000_000_000, "1767312000", "2026-01-02T00:00:00Z",
     "2026-01-02 00:00:00", "2026-01-02_00-00-00Z", "2026-01-02T01:00:00+01:00", "2026-01-02", "2026-01-02 00:00:00 UTC"],
)  # fmt: skip
def test_a_date_in_every_form_is_one_moment(value: object) -> None:
    assert moment(value) == datetime(2026, 1, 2, tzinfo=UTC)


@given(
    value=st.one_of(
        st.floats(), st.integers(), st.text(max_size=30), st.none(), st.booleans(), st.lists(st.none())
    )
)
def test_no_value_is_too_odd_for_a_date(value: object) -> None:
    found = moment(value)
    assert found is None or found.tzinfo is not None


@pytest.mark.parametrize(
    "text",
    [
        "2024-01-01T00:00:00+99:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "2024-13-41 25:61:61",
    ],
)
def test_a_date_that_no_calendar_has_is_none(text: str) -> None:
    assert moment(text) is None


@given(data=st.binary(max_size=200))
def test_lines_are_those_of_split(data: bytes) -> None:
    assert (
        list(lines(data))
        == [line.removesuffix(b"\r") for line in data.split(b"\n")][: len(list(lines(data)))]
    )


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(["", "x", "user", "a", "b", "c"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["mapping", "message", "author", "role", "content", "parts", "parent", "a", "b", "chat_messages", "uuid",
             "sender", "text", "type", "sessionId", "metadata", "attachments", "current_node", "create_time"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=25,
)  # fmt: skip


@settings(max_examples=150)
@given(odd=ODD, kind=st.sampled_from(KINDS))
def test_nothing_that_parses_stops_a_reader(odd: object, kind: TranscriptKind) -> None:
    for one in read_transcripts(kind, json.dumps(odd).encode()):
        assert isinstance(one, Unread) or paths(one).paths is not None


@settings(max_examples=150)
@given(
    data=st.binary(max_size=300),
    kind=st.sampled_from(KINDS),
)
def test_no_bytes_stop_a_reader(data: bytes, kind: TranscriptKind) -> None:
    recognised(data)
    for one in read_transcripts(kind, data):
        assert isinstance(one, (Transcript, Unread))
