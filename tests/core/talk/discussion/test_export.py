"""An export reads well as Markdown, whatever a message holds, and comes back whole from JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from msgspec.structs import replace

from core.kernel.errors import StorageError
from core.kernel.values.messages import (
    AttachmentPart,
    CallEnd,
    Role,
    Status,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.records import MessageRecord, Record, UsageRecord
from core.kernel.values.usage import Usage
from core.talk.discussion.discussion_export import close_fence, export_json, export_markdown, parse_export
from core.talk.discussion.log_content import fold
from tests.core.records import ID, NOW, delete, edit, mark, meta, records, reply, used, user


def markdown_of(*log: Record) -> str:
    return export_markdown(meta(), fold(ID, log))


def headings(text: str) -> list[str]:
    """The headings that a reader's Markdown program would show."""
    tokens = MarkdownIt("commonmark").parse(text)
    return [tokens[n + 1].content for n, t in enumerate(tokens) if t.type == "heading_open"]


@given(st.lists(records(), max_size=8))
def test_json_comes_back_whole(log: list[Record]) -> None:
    discussion = fold(ID, log)

    assert parse_export(export_json(meta(), discussion)) == (meta(), discussion.entries)


@given(st.lists(records(), max_size=8))
def test_markdown_can_be_written_of_anything(log: list[Record]) -> None:
    text = export_markdown(meta(), fold(ID, log))

    assert text.startswith("# A talk\n")
    assert text.encode()


def test_json_is_for_people_and_programs() -> None:
    text = export_json(meta(), fold(ID, [user("a", "Grüße"), delete("d", "a"), mark("m")]))
    data = json.loads(text)

    assert "Grüße" in text
    assert (data["format"], data["v"]) == ("manual-slop discussion", 1)
    assert [(e["type"], e.get("is_deleted")) for e in data["entries"]] == [("message", True), ("mark", None)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the file is not JSON"),
        ("[" * 100_000, "the file is not JSON"),
        ("[]", "the file is not an export"),
        ('{"format":"other"}', "the file is not an export"),
        ('{"format":"manual-slop discussion","v":9}', "the file has version 9"),
        ('{"format":"manual-slop discussion","v":1}', "no list of entries"),
        (
            '{"format":"manual-slop discussion","v":1,"entries":[],"meta":{"id":"x"}}',
            "meta: 'name' is missing",
        ),
    ],
)
def test_what_is_no_export_is_refused_with_a_reason(text: str, why: str) -> None:
    with pytest.raises(StorageError, match=why):
        parse_export(text)


@pytest.mark.parametrize(
    "entry", [None, 5, {}, {"type": "song"}, {"type": "mark"}, {"type": "message", "id": 5}]
)
def test_a_damaged_entry_is_named_by_its_number(entry: object) -> None:
    data = json.loads(export_json(meta(), fold(ID, [user("a")])))
    data["entries"].append(entry)

    with pytest.raises(StorageError, match="entry 2"):
        parse_export(json.dumps(data))


@given(st.text())
def test_any_text_is_refused_as_an_export(text: str) -> None:
    with pytest.raises(StorageError, match="The program cannot read the export"):
        parse_export(text)


def test_markdown_shows_who_said_what_when_and_for_how_much() -> None:
    text = markdown_of(
        user("a", "Why?"), reply("b", "Because."), used("u", "b", tokens_in=12_345, cost=0.0123)
    )

    assert headings(text) == ["A talk", "You", "Reply from `anthropic/claude-x`"]
    assert "- Model: `anthropic/claude-x`" in text
    assert "- Total: 12,345 tokens in, 5 tokens out, $0.0123" in text
    assert "2026-11-20 07:30:00 UTC" in text
    assert text.index("Why?") < text.index("Because.") < text.rindex("12,345 tokens in")


def test_usage_tells_cache_and_reasoning_and_leaves_out_what_was_not_reported() -> None:
    usage = Usage(100, 20, cache_read_tokens=80, cache_write_tokens=10, reasoning_tokens=7, duration_s=1.26)
    text = markdown_of(reply("b"), UsageRecord("u", NOW, "b", usage))

    assert (
        "*100 tokens in, 80 of them read from cache, 10 of them written to cache, 20 tokens out, "
        "7 of them reasoning, 1.3 s*"
    ) in text
    assert "*usage not reported*" in markdown_of(reply("b"), UsageRecord("u", NOW, "b", Usage()))


def test_deleted_messages_stay_out_but_their_cost_counts() -> None:
    text = markdown_of(user("a"), reply("b", "secret words"), used("u", "b"), delete("d", "b"))

    assert "secret words" not in text
    assert "- Total: 10 tokens in" in text


def test_edits_marks_and_broken_off_replies_are_said() -> None:
    text = markdown_of(
        user("a"), edit("e", "a", "new"), mark("m", "now *gpt*"), reply("b", "hal", status=Status.INTERRUPTED),
        reply("c", "x", status=Status.PARTIAL),
    )  # fmt: skip

    assert "edited" in text
    assert r"*model: now \*gpt\** (" in text
    assert "interrupted" in text
    assert "not whole" in text


def test_reasoning_is_quoted_line_by_line() -> None:
    text = markdown_of(reply("b", "so", reasoning="one\n\n```py\nx = 1"))

    assert "> **Reasoning**\n>\n> one\n>\n> ```py\n> x = 1\n> ```\n\nso\n" in text


def test_attachments_and_tools_are_listed_with_their_content_fenced() -> None:
    part = AttachmentPart("ab" * 32, "image/png", "a `b`*c.png", 1234)
    call, result = (
        ToolCallPart("c1", "read", '{"p":"```"}'),
        ToolResultPart("c1", "# no heading", is_error=True),
    )
    text = markdown_of(
        MessageRecord("a", NOW, Role.USER, (TextPart("see"), part)),
        MessageRecord("b", NOW, Role.ASSISTANT, (call,)),
        MessageRecord("c", NOW, Role.TOOL, (result,)),
    )

    assert f"- Attachment: ``a `b`*c.png`` (image/png, 1,234 bytes, sha256 {'ab' * 32})" in text
    assert 'Tool call `read` (`c1`):\n\n````\n{"p":"```"}\n````' in text
    assert "Tool error (`c1`):\n\n```\n# no heading\n```" in text
    assert headings(text) == ["A talk", "You", "Reply", "Tool"]


@pytest.mark.parametrize(
    ("ended", "status", "words"),
    [
        (CallEnd.REFUSED, Status.COMPLETE, "Tool call refused (`c1`)"),
        (CallEnd.INTERRUPTED, Status.INTERRUPTED, "Tool call interrupted (`c1`)"),
        (None, Status.INTERRUPTED, "Tool call interrupted (`c1`)"),
        (None, Status.COMPLETE, "Tool error (`c1`)"),
    ],
)
def test_a_call_that_a_person_refused_or_that_was_stopped_is_not_told_as_one_that_failed(
    ended: CallEnd | None, status: Status, words: str
) -> None:
    """None: a log of an earlier version."""
    part = ToolResultPart("c1", "Not that.", is_error=True, ended=ended)
    assert words in markdown_of(MessageRecord("c", NOW, Role.TOOL, (part,), status))


@pytest.mark.parametrize(
    "text",
    [
        "```py\nprint(1)",
        "~~~\n```\nnot the end",
        "````\n```\n```",
        "   ```\nx",
        "```\nclosed\n```\n\n```js\nopen",
        "text\n``` info `with` ticks\nno fence",
        "```\na\n``` not a close",
    ],
)
def test_a_fence_that_a_message_leaves_open_swallows_nothing_of_what_follows(text: str) -> None:
    assert headings(markdown_of(reply("a", text), user("b"))) == [
        "A talk",
        "Reply from `anthropic/claude-x`",
        "You",
    ]


@given(st.text(alphabet="`~ a\n", max_size=40))
def test_after_closing_its_fence_a_text_ends_outside_of_code(text: str) -> None:
    """Against a Markdown parser: a heading behind the text is a heading."""
    shown = headings(close_fence(text) + "\n\n# END")

    assert shown[-1:] == ["END"]


def test_whole_fences_are_left_as_they_are() -> None:
    code = "before\n\n```py\nx = 1\n```\n\nafter"

    assert close_fence(code) == code
    assert code in markdown_of(reply("a", code))


def test_a_name_with_markup_stays_one_plain_heading() -> None:
    text = export_markdown(replace(meta(), name="# *evil*\n\n<script> `x`"), fold(ID, []))

    assert text.startswith(r"# \# \*evil\* \<script\> \`x\`" + "\n")
    assert export_markdown(replace(meta(), name=" "), fold(ID, [])).startswith(f"# {ID}\n")


def test_lone_surrogates_in_old_values_do_not_stop_an_export() -> None:
    discussion = fold(ID, [user("a", "x\ud800")])

    assert "x\ufffd" in export_markdown(meta(), discussion)
    assert "x\ufffd" in export_json(meta(), discussion)


def test_what_is_estimated_is_marked_and_pings_are_told_from_turns() -> None:
    cut = UsageRecord("u", NOW, "b", Usage(10, 5, cost_usd=0.25, is_estimate=True))
    found = fold(ID, [user("a"), reply("b"), cut, used("k", "keepalive")])

    text = export_markdown(meta(), found)

    assert "≈$0.2500" in text
    assert "- Total: 20 tokens in, 10 tokens out, ≈$0.5000, estimated in part" in text
    assert "keep the cache warm: 1 keepalive ping, 0 prewarms, 10 tokens in, 5 tokens out, $0.2500\n" in text
    assert json.loads(export_json(meta(), found))["upkeep"]["pings"] == 1
