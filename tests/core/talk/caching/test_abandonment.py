"""Warm prefixes that no turn asks for any more: what a person deletes never goes out again, not even to be kept warm."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from core.app.app_messages import Command
from core.kernel.values.messages import Message
from core.kernel.values.state import TrashItem
from core.talk.caching.caching_messages import StopPings
from core.talk.caching.rewrites import stop_effects
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    ChangeDiscussion,
    ChooseVersion,
    DeleteMessage,
    DiscussionTrashed,
    EditMessage,
    RestoreMessage,
    SetDraft,
)
from core.talk.turn.turn_messages import CallProvider, RegenerateReply
from tests.core.app.playbook import START, Playbook, of

Give = Callable[[str, tuple[Message, ...]], Command]


@pytest.fixture
def book() -> Playbook:
    return Playbook().ready()


def two_turns(book: Playbook) -> str:
    chosen = book.discussion("Sky")
    book.answer(book.ask(chosen, "one"), "first")
    book.answer(book.ask(chosen, "two"), "second")
    return chosen


def stopped(book: Playbook, command: Command) -> tuple[StopPings, ...]:
    effects = book.play(command)
    later = (effect for write in of(effects, AppendRecords) for effect in book.append(write))
    return of((*effects, *later), StopPings)


@pytest.mark.parametrize(
    "give",
    [
        lambda chosen, said: DeleteMessage(chosen, said[0].id),
        lambda chosen, said: DeleteMessage(chosen, said[1].id),
        lambda chosen, said: EditMessage(chosen, said[2].id, "other words"),
        lambda chosen, _said: ChangeDiscussion(
            discussion_id=chosen, changes={"provider": "anthropic", "model": "another-model"}
        ),
        lambda chosen, _said: ChangeDiscussion(discussion_id=chosen, changes={"archived": True}),
    ],
)
def test_what_the_last_request_sent_and_the_next_would_not_is_not_kept_warm(
    book: Playbook, give: Give
) -> None:
    chosen = two_turns(book)
    command = give(chosen, book.state.discussions.open[chosen].messages)

    assert stopped(book, command) == (StopPings((chosen,)),)


def test_a_discussion_in_the_trash_is_not_kept_warm(book: Playbook) -> None:
    chosen = two_turns(book)
    assert of(
        book.play(DiscussionTrashed(TrashItem(chosen, "Sky", START, "deleted", "/trash"))), StopPings
    ) == (StopPings((chosen,)),)


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_rows_that_go_or_move_hide_none_that_is_left(book: Playbook, gone: int) -> None:
    """Rows of the list are compared in their order: another one may come, go or move in the same step."""
    first, second, third = (two_turns(book) for _ in range(3))
    before = book.state
    rows = dict(before.discussions.summaries)
    row = rows[second]
    rows[second] = replace(row, meta=replace(row.meta, model="another-model"))
    removed = (first, second, third)[gone]
    del rows[removed]
    moved = {name: rows[name] for name in reversed(rows)}
    for kept in (rows, moved, {"new": row, **rows}):
        after = replace(before, discussions=replace(before.discussions, summaries=kept))
        assert stop_effects(before, after) == (StopPings(tuple(sorted({second, removed}))),)


def test_a_message_that_is_back_is_asked_for_in_its_place_and_what_was_sent_without_it_is_not(
    book: Playbook,
) -> None:
    chosen = two_turns(book)
    first = book.state.discussions.open[chosen].messages[0].id
    stopped(book, DeleteMessage(chosen, first))

    assert stopped(book, RestoreMessage(chosen, first)) == (StopPings((chosen,)),)


def test_turns_their_versions_and_what_says_nothing_to_the_model_leave_a_prefix_warm(book: Playbook) -> None:
    chosen = two_turns(book)
    (call,) = of(book.play(RegenerateReply(chosen)), CallProvider)
    book.answer(call, "other")
    versions = next(iter(book.state.discussions.open[chosen].versions.values())).ids

    assert stopped(book, ChooseVersion(chosen, versions[0])) == ()
    assert stopped(book, DeleteMessage(chosen, versions[0])) == ()
    assert stopped(book, SetDraft(chosen, "three")) == ()
    assert stopped(book, ChangeDiscussion(discussion_id=chosen, changes={"name": "Tides"})) == ()
    assert of(book.play(RegenerateReply(chosen)), StopPings) == ()
