"""The spec of what would be sent next is made once, and made anew whenever anything is another that it is read from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from core.app.app_messages import Command, Event
from core.kernel.values.discussion import QueuedPrompt
from core.kernel.values.records import RequestRecord
from core.kernel.values.updates import PathsChanged, Tick, Watched, with_open
from core.talk.context.context_messages import KeepOut
from core.talk.context.context_spec import shown_spec, stack_spec
from core.talk.discussion.discussion_messages import ChangeDiscussion, SetDraft
from core.talk.turn.turn_messages import SendPrompt
from tests.core.app.playbook import START, Playbook


@pytest.fixture
def book() -> Playbook:
    return Playbook().ready()


def test_while_nothing_changes_it_is_the_same_object(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    spec = shown_spec(book.state, chosen)
    book.later(3).play(Tick())
    assert shown_spec(book.state, chosen) is spec


@pytest.mark.parametrize(
    "given",
    [
        lambda chosen: SetDraft(chosen, "Why?"),
        lambda chosen: KeepOut(chosen, "knowledge:b.md"),
        lambda chosen: ChangeDiscussion(chosen, {"effort": "high"}),
        lambda chosen: ChangeDiscussion(chosen, {"name": "Sea"}),
        lambda chosen: SendPrompt(chosen, "Why?"),
        lambda _chosen: PathsChanged(Watched.CONTEXT),
    ],
)
def test_a_message_that_changes_what_is_sent_makes_it_anew(
    book: Playbook, given: Callable[[str], Command | Event]
) -> None:
    chosen = book.discussion("Sky")
    spec = shown_spec(book.state, chosen)
    book.play(given(chosen))
    assert shown_spec(book.state, chosen) is not spec
    assert shown_spec(book.state, chosen) == stack_spec(book.state, chosen)


def test_every_part_of_a_discussion_that_it_is_read_from_makes_it_anew(book: Playbook) -> None:
    chosen = book.discussion("Sky")
    record = RequestRecord("r", START, "m", "p", "m", "auto", (), (), 0)
    parts: tuple[dict[str, Any], ...] = (
        {"last_request": record},
        {"queue": (QueuedPrompt("q", START, "And then?"),)},
        {"retrieved": {"m": "passage"}},
        {"gone_calls": frozenset({"c"})},
        {"lines": {}},
    )
    for part in parts:
        spec = shown_spec(book.state, chosen)
        book.state = with_open(book.state, replace(book.state.discussions.open[chosen], **part))
        assert shown_spec(book.state, chosen) is not spec, part
        assert shown_spec(book.state, chosen) == stack_spec(book.state, chosen)
