"""Every reply of the table of the world is read as its row says: one test a class."""

from __future__ import annotations

import json

import pytest

from core.agent.leaked_calls import elsewhere, with_recovered
from core.kernel.values.messages import Part, ReasoningPart, TextPart, ToolCallPart
from core.kernel.values.provider import ReasoningDelta, StopKind, Stopped, TextDelta, ToolCallReady
from core.services.providers.thought_tags import parted
from tests.core.services.providers.outcomes import TOOLS, Outcome, ask, run
from tests.core.services.providers.vendors import VENDORS
from tests.vendors.loopback import Captured, LoopbackServer, Reply
from tests.vendors.world.eighteenth_round import EIGHTEENTH
from tests.vendors.world.fifteenth_round import FIFTEENTH
from tests.vendors.world.fourteenth_round import FOURTEENTH
from tests.vendors.world.later_rounds import LATER_ROUNDS
from tests.vendors.world.nineteenth_round import NINETEENTH
from tests.vendors.world.reports import MORE
from tests.vendors.world.rounds import ROUNDS
from tests.vendors.world.seventeenth_round import SEVENTEENTH
from tests.vendors.world.sixteenth_round import SIXTEENTH
from tests.vendors.world.table import CLASSES, Row
from tests.vendors.world.thirteenth_round import TALK, THIRTEENTH
from tests.vendors.world.twentieth_round import TWENTIETH
from tests.vendors.world.twentyfirst_round import TWENTY_FIRST
from tests.vendors.world.twentysecond_round import TWENTY_SECOND


class World(LoopbackServer):
    """Answers everything with one row."""

    def __init__(self, row: Row) -> None:
        super().__init__()
        self._row = row

    def answer(self, captured: Captured) -> Reply:
        sent = self._row.sent
        body = sent.encode() if isinstance(sent, str) else sent
        return Reply(self._row.status, body, {"content-type": self._row.content_type})


def seen(row: Row) -> Outcome:
    vendor = next(one for one in VENDORS if one.kind == row.api)
    with World(row) as server:
        return run(vendor.client(server), ask(vendor.model, tools=TOOLS))


def kept_of(got: Outcome) -> tuple[Part, ...]:
    """The parts that a turn keeps of the outcome, with thoughts before a tag that only closes as thoughts."""
    text, reasoning = TextPart(got.text), ReasoningPart(got.reasoning)
    made = [one.part for one in got.items if isinstance(one, ToolCallReady)]
    return parted([*(one for one in (reasoning, text) if one.text), *made])


def with_leaked(got: Outcome, model: str = "") -> Outcome:
    """The outcome as a turn keeps it, where calls that stand in the text or the reasoning are real ones."""
    kept = with_recovered(kept_of(got), TOOLS, elsewhere([]), model)
    calls = [ToolCallReady(one) for one in kept if isinstance(one, ToolCallPart)]
    if not calls:
        return got
    thoughts = [ReasoningDelta(one.text) for one in kept if isinstance(one, ReasoningPart)]
    texts = [TextDelta(one.text) for one in kept if isinstance(one, TextPart)]
    rest = [
        one for one in got.items if not isinstance(one, TextDelta | ReasoningDelta | ToolCallReady | Stopped)
    ]
    return Outcome([*thoughts, *texts, *calls, *rest, Stopped(kind=StopKind.TOOL_CALLS)], got.error)


def check(row: Row, got: Outcome | None = None) -> None:
    got = got or seen(row)

    assert (got.text, got.reasoning) == (row.text, row.reasoning), got.error
    if row.fails:
        told = f"{got.failure.what} {got.failure.remedy}"
        assert got.failure.kind.value in row.fails.split("|"), told
        assert [word for word in row.words if word not in told] == [], told
        assert [word for word in row.words_not if word in told] == []
        return
    assert got.error is None
    last = got.items[-1]
    assert isinstance(last, Stopped)
    assert last.kind.value in row.ends.split("|")
    made = [one.part for one in got.items if isinstance(one, ToolCallReady)]
    assert [(one.name, json.loads(one.arguments_json)) for one in made] == [
        (name, json.loads(arguments)) for name, arguments in row.calls
    ]
    for name, value in row.usage.items():
        told_value = getattr(got.usage, name)
        assert told_value == (pytest.approx(value) if isinstance(value, float) else value), name


def rows(name: str) -> pytest.MarkDecorator:
    several = (
        CLASSES,
        MORE,
        *ROUNDS,
        *LATER_ROUNDS,
        THIRTEENTH,
        FOURTEENTH,
        FIFTEENTH,
        SIXTEENTH,
        SEVENTEENTH,
        EIGHTEENTH,
        NINETEENTH,
        TWENTIETH,
        TWENTY_FIRST,
        TWENTY_SECOND,
    )
    listed = [row for one in several for row in one.get(name, [])]
    return pytest.mark.parametrize("row", listed, ids=lambda row: f"{row.api}-{row.name}")


@rows("frames")
def test_frames_of_any_server_are_passed_over_or_read(row: Row) -> None:
    check(row)


@rows("whole replies")
def test_a_whole_reply_in_place_of_a_stream_counts(row: Row) -> None:
    check(row)


@rows("errors")
def test_an_error_keeps_the_servers_words(row: Row) -> None:
    check(row)


@rows("kinds of failure")
def test_a_failure_is_told_by_its_meaning(row: Row) -> None:
    check(row)


@rows("shapes of text")
def test_text_is_read_in_any_dress(row: Row) -> None:
    got = seen(row)
    kept = kept_of(got)
    if any(isinstance(one, ReasoningPart) for one in kept) and not got.reasoning:
        words = [TextDelta(one.text) for one in kept if isinstance(one, TextPart)]
        thoughts = [ReasoningDelta(one.text) for one in kept if isinstance(one, ReasoningPart)]
        rest = [one for one in got.items if not isinstance(one, TextDelta)]
        got = Outcome([*thoughts, *words, *rest], got.error)
    check(row, got)


@rows("tool calls")
def test_a_tool_call_is_read_in_any_dress(row: Row) -> None:
    check(row)


@rows("leaked calls")
def test_a_call_that_a_server_left_in_the_text_is_one(row: Row) -> None:
    check(row, with_leaked(seen(row), row.model))


@pytest.mark.parametrize(("name", "text"), TALK, ids=[name for name, _ in TALK])
@pytest.mark.parametrize("model", ["", "llama3.1"])
def test_a_reply_that_explains_how_a_call_is_written_calls_nothing(name: str, text: str, model: str) -> None:
    said = (TextPart(text),)

    assert with_recovered(said, TOOLS, elsewhere([]), model) == said, name


@rows("usage")
def test_usage_is_read_in_any_place(row: Row) -> None:
    check(row)


@rows("endings")
def test_an_end_is_told_truly(row: Row) -> None:
    check(row)


def _remarks(name: str) -> tuple[str, ...]:
    row = next(one for one in CLASSES["shapes of text"] if one.name == name)
    return seen(row).stopped.remarks


@pytest.mark.parametrize("name", ["several-in-one", "several-in-turn", "several-behind"])
def test_several_replies_to_one_request_are_said(name: str) -> None:
    (remark,) = _remarks(name)

    assert "several replies" in remark


@pytest.mark.parametrize(
    "name", ["index-counts-up", "index-counts-longer", "index-one-alone", "no-index", "role-each"]
)
def test_one_reply_in_odd_places_is_not_said_to_be_several(name: str) -> None:
    assert _remarks(name) == ()
