"""Rounds of tools in the conversation: folded to a line that opens, what is asked or broken stays in view."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from core.kernel.values.messages import CallEnd, Message, Role, Status, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.usage import Usage
from panels.discussion.tool_rounds import Lead, Rounds, folded_rows
from tests.panels import states
from tests.panels.screen import Screen


def asked(message_id: str, *calls: tuple[str, str], text: str = "", usd: float | None = 0.01) -> Message:
    parts = (
        *((TextPart(text),) if text else ()),
        *(ToolCallPart(call_id, name, '{"path": "a.py"}') for call_id, name in calls),
    )
    usage = Usage(output_tokens=20, cost_usd=usd, duration_s=2.0)
    return replace(states.reply(message_id, ""), parts=parts, usage=usage)


def answered(message_id: str, *call_ids: str, after_s: float = 10.0, ended: CallEnd | None = None) -> Message:
    parts = tuple(
        ToolResultPart(one, f"bytes of {one}", is_error=ended is not None, ended=ended) for one in call_ids
    )
    first = states.reply("x", "")
    at = first.at + timedelta(seconds=after_s)
    return Message(id=message_id, at=at, role=Role.TOOL, parts=parts)


RUN = (
    asked("a1", ("c1", "read_file"), ("c2", "read_file")),
    answered("t1", "c1", "c2", after_s=1),
    asked("a2", ("c3", "edit_file")),
    answered("t2", "c3"),
)
SAID = states.user("u1", "Mend the slots")
END = states.reply("m9", "Mended.")


def shown(*entries: Message) -> Screen:
    return Screen(states.with_opened(states.working(), entries=entries))


def test_rounds_that_are_over_are_a_line_that_opens_and_folds_again() -> None:
    screen = shown(*RUN[:2])
    line = "2 reads · 3.0 s · $0.010"
    assert not screen.ui.shows("bytes of c2")
    screen.ui.click(line)
    assert screen.ui.shows("bytes of c2")
    screen.ui.click(line)
    assert not screen.ui.shows("bytes of c2")


def test_a_call_without_an_answer_stays_open() -> None:
    rows = folded_rows((SAID, *RUN[:3]), (), lambda _: False).rows
    assert [type(row) for row in rows] == [Message, Rounds, Message]


def test_an_unknown_price_never_counts_as_nothing() -> None:
    screen = shown(SAID, asked("a1", ("c1", "bash"), usd=None), answered("t1", "c1"), *RUN[2:], END)
    assert screen.ui.has("1 command, 1 edit · 12 s · price unknown")


def test_words_before_calls_stay_above_the_line() -> None:
    run = (asked("a1", ("c1", "grep"), text="Let me look."), answered("t1", "c1"), *RUN[2:])
    kinds = [type(row) for row in folded_rows((SAID, *run, END), (), lambda _: False).rows]
    assert kinds == [Message, Lead, Rounds, Message]


def test_what_failed_or_was_refused_is_said_beside_the_line() -> None:
    failed, refused = answered("t1", "c1", ended=CallEnd.FAILED), answered("t2", "c2", ended=CallEnd.REFUSED)
    screen = shown(SAID, asked("a1", ("c1", "bash")), failed, asked("a2", ("c2", "bash")), refused, END)
    assert screen.ui.has("1 failed, 1 refused")


def test_a_reply_that_was_stopped_and_one_that_a_branch_begins_at_stay_whole() -> None:
    stopped = replace(RUN[0], status=Status.INTERRUPTED)
    assert not any(isinstance(r, Rounds) for r in folded_rows((stopped, RUN[1]), (), lambda _: False).rows)
    rows = folded_rows(RUN, (), lambda message: message.id == "t1").rows
    assert [type(row) for row in rows] == [Message, Message, Rounds]


def test_a_find_inside_opens_the_run_and_places_go_both_ways() -> None:
    entries = (SAID, *RUN, END)
    for found in range(-1, len(entries)):
        for opened in ((), ("a1",)):
            folded = folded_rows(entries, opened, lambda _: False, found)
            if found >= 0:
                row = folded.rows[folded.row_of(found)]
                assert row is entries[found] or isinstance(row, Rounds)
                assert entries[found] in folded.rows or isinstance(row, Rounds)
            assert [folded.entry_of(row) for row in range(len(folded.rows) + 2)][-2:] == [6, 7]
            assert [folded.row_of(n) for n in (6, 7)] == [len(folded.rows), len(folded.rows) + 1]
