"""Letting go of discussions: what may leave, and that a person finds all of it again, whatever they did in between."""

from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from core.agent.agent_messages import StartAutonomy
from core.app import home as store_home
from core.app import lifecycle
from core.app.app_messages import Command, Effect, Event
from core.app.lifecycle import KEPT_OPEN, RESTS
from core.kernel.errors import FailureKind
from core.kernel.values.cache import DiscussionCacheState
from core.kernel.values.discussion import DiscussionSummary, Draft, OpenDiscussion
from core.kernel.values.messages import AttachmentPart, TextPart
from core.kernel.values.provider import Failure, StopKind, Stopped
from core.kernel.values.state import AppState, PendingWrite
from core.kernel.values.updates import Tick, with_open
from core.kernel.values.usage import Reservation, Usage
from core.talk.context.context_messages import LeaveStack
from core.talk.discussion.discussion_messages import (
    ChooseVersion,
    CreateDiscussion,
    CreateOnDisk,
    DeleteMessage,
    DiscussionCreated,
    DiskEffect,
    EditMessage,
    ReadDiscussion,
    RestoreMessage,
    SelectDiscussion,
    SetDraft,
)
from core.talk.discussion.discussion_worker import DiscussionHandler
from core.talk.turn.turn_messages import CallEnded, CallProvider, RegenerateReply, SendPrompt
from tests.core.app.playbook import Playbook, of

MANY = KEPT_OPEN + 4


def visited() -> tuple[Playbook, list[str]]:
    """A home in which many discussions were made and shown, one a minute."""
    book = Playbook().ready()
    return book, [book.later(60).discussion(f"Talk {number}") for number in range(MANY)]


def opened(book: Playbook) -> set[str]:
    return set(book.state.discussions.open)


def test_the_newest_stay_and_the_others_leave_with_their_stacks() -> None:
    book, made = visited()
    assert opened(book) == {*made[-KEPT_OPEN:]}

    book.play(SetDraft(made[-1], "half a thought"))
    effects = (*book.later(60).play(CreateDiscussion("Next")), *book.later(60).play(Tick()))
    (create,) = of(effects, CreateOnDisk)
    effects = book.play(
        DiscussionCreated(DiscussionSummary(create.meta, book.at), OpenDiscussion(create.meta.id))
    )
    assert [one.discussion_id for one in of(effects, LeaveStack)] == [made[-KEPT_OPEN]]
    made.append(create.meta.id)
    assert set(book.state.discussions.summaries) == {*made}
    assert not book.state.context.reports.keys() - opened(book)


def test_one_that_is_shown_again_is_the_newest() -> None:
    book, made = visited()
    first = made[-KEPT_OPEN]
    book.play(SelectDiscussion(first))
    book.play(SelectDiscussion(made[-1]))
    other = book.later(60).discussion("One more")
    book.later(60).play(Tick())

    assert opened(book) == {first, other, *made[-KEPT_OPEN + 2 :]}


def test_what_was_just_read_stays_until_whoever_asked_has_seen_it() -> None:
    book, made = visited()
    book.later(60)
    read = [name for name in made if name not in opened(book)]
    for name in read:
        assert book.play(ReadDiscussion(discussion_id=name))
        book.state = with_open(book.state, OpenDiscussion(name))
    book.play(Tick())
    assert {*read} <= opened(book)

    book.later(RESTS.total_seconds()).play(Tick())
    assert len(opened(book)) == KEPT_OPEN


LIMITED = Failure(kind=FailureKind.RATE_LIMITED, what="Too many", remedy="Wait")
PICTURE = AttachmentPart(sha256="0" * 64, media_type="image/png", name="a.png", size_bytes=1)
HERE_ALONE = [
    {"draft": Draft("half a thought")},
    {"draft": Draft("", (PICTURE,))},
    {"failure": LIMITED},
    {"queue_hold": "It waits"},
    {"kept_out": ("notes.md",)},
    {"held_calls": ("c1",)},
    {"left_calls": ("c1",)},
]


@pytest.mark.parametrize("fields", HERE_ALONE, ids=lambda one: next(iter(one)))
def test_what_stands_in_memory_alone_keeps_its_discussion(fields: dict[str, object]) -> None:
    book, made = visited()
    kept = made[-1]
    book.state = with_open(book.state, replace(book.state.discussions.open[kept], **fields))  # type: ignore[arg-type]
    for number in range(MANY):
        book.later(60).discussion(f"Later {number}")
    book.later(60).play(Tick())

    assert kept in opened(book)
    assert len(opened(book)) == KEPT_OPEN


def _pending(state: AppState, name: str) -> AppState:
    write = PendingWrite(discussion_id=name, records=(), retry_at=state.now or AT_ONCE)
    return replace(state, discussions=replace(state.discussions, pending={"t": write}))


def _paid(state: AppState, name: str) -> AppState:
    return replace(
        state, spending=replace(state.spending, reserved={"k": Reservation(usd=0.1, discussion_id=name)})
    )


def _warm(state: AppState, name: str) -> AppState:
    assert state.now is not None
    cache = DiscussionCacheState(
        discussion_id=name,
        provider="anthropic",
        cached_at=state.now,
        expires_at=state.now + timedelta(days=1),
        tokens_cached=9,
    )
    return replace(state, caching=replace(state.caching, caches={name: cache}))


AT_ONCE = Playbook().at


@pytest.mark.parametrize("work", [_pending, _paid, _warm], ids=["unwritten", "paid", "warm"])
def test_what_is_under_way_keeps_its_discussion(work: object) -> None:
    book, made = visited()
    kept = made[-1]
    assert callable(work)
    book.state = work(book.state, kept)
    for number in range(MANY):
        book.later(60).discussion(f"Later {number}")

    assert not lifecycle.may_leave(book.state, kept)
    assert kept in opened(book)


def test_a_running_call_and_autonomy_keep_their_discussions() -> None:
    book, made = visited()
    calling, alone = made[-1], made[-2]
    book.ask(calling, "Why?")
    book.play(StartAutonomy(alone))
    for number in range(MANY):
        book.later(60).discussion(f"Later {number}")
    book.later(60).play(Tick())

    assert book.state.attention.autonomy is not None
    assert {calling, alone} <= opened(book)


class Person:
    """A person at a window on a home of their own: each effect of the disk is done at once, each call is answered.

    Args:
        kept: discussions that stay loaded.
    """

    def __init__(self, home: Path, kept: int) -> None:
        self.kept = kept
        self.book = Playbook().ready()
        self.events: list[Event] = []
        store_home.open_home(home, self.book.at)
        self.disk = DiscussionHandler(home, lambda: self.book.at, self.events.append, self)
        self.made: list[str] = []
        self.left = self.acts = 0

    def drop(self, discussion_id: str, call_id: str) -> None:
        """The journal of a reply goes: there is none."""

    def do(self, command: Command | Event) -> None:
        self.acts += 1
        self.book.count = 1_000 * self.acts  # the same ids, however many events an act takes
        with mock.patch.object(lifecycle, "KEPT_OPEN", self.kept):
            self._carry_out(self.book.later(61).play(command))

    def _carry_out(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            self.left += isinstance(effect, LeaveStack)
            if isinstance(effect, CallProvider):
                ended = CallEnded(
                    call_id=effect.call_id,
                    stopped=Stopped(StopKind.COMPLETED),
                    parts=(TextPart(f"Answer {self.book.count}"),),
                    usage=Usage(input_tokens=10),
                )
                self._carry_out(self.book.play(ended))
            elif isinstance(effect, DiskEffect):
                if isinstance(effect, CreateOnDisk):
                    self.made.append(effect.meta.id)
                self.disk.handle(effect)
                told, self.events[:] = tuple(self.events), []
                for event in told:
                    self._carry_out(self.book.play(event))

    def act(self, kind: str, which: int, text: str) -> None:
        """One act in the discussion that is looked at, or on the way to another."""
        chosen = self.book.state.discussions.selected_id
        now = self.book.state.discussions.open.get(chosen)
        said = [one for one in now.entries if one.id] if now is not None else []
        message = said[which % len(said)].id if said else ""
        acts: dict[str, Command | Event] = {
            "make": CreateDiscussion(text),
            "go": SelectDiscussion(self.made[which % len(self.made)] if self.made else ""),
            "draft": SetDraft(chosen, text),
            "undraft": SetDraft(chosen, ""),
            "send": SendPrompt(chosen, text or "Why?"),
            "edit": EditMessage(chosen, message, text),
            "delete": DeleteMessage(chosen, message),
            "restore": RestoreMessage(chosen, message),
            "again": RegenerateReply(chosen, message),
            "choose": ChooseVersion(chosen, message, -1),
            "wait": Tick(),
        }
        self.do(acts[kind])


ACTS = [
    "make",
    "go",
    "go",
    "go",
    "draft",
    "undraft",
    "send",
    "edit",
    "delete",
    "restore",
    "again",
    "choose",
    "wait",
]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(ACTS), st.integers(0, 20), st.sampled_from(["", "Why?", "So it is.", "Ümläut"])
    ),
    max_size=30,
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
def test_whatever_a_person_does_all_is_found_again_as_if_nothing_had_left(
    steps: list[tuple[str, int, str]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        forgetful, keeping = Person(Path(folder, "a"), kept=1), Person(Path(folder, "b"), kept=1_000)
        begin = [("make", 0, "One"), ("make", 0, "Two"), ("make", 0, "Three"), ("go", 0, "")]
        for step in (*begin, *steps, *(("wait", 0, ""),)):
            forgetful.act(*step)
            keeping.act(*step)
        assert forgetful.made == keeping.made
        assert forgetful.left
        assert not keeping.left
        for name in keeping.made:
            forgetful.do(SelectDiscussion(name))
            keeping.do(SelectDiscussion(name))
            ours, theirs = (
                replace(one.book.state.discussions.open[name], attachments_dir="")
                for one in (forgetful, keeping)
            )
            assert ours == theirs
        mine, others = forgetful.book.state, keeping.book.state
        assert mine.discussions.summaries == others.discussions.summaries
        assert mine.discussions.drafted == others.discussions.drafted
        assert mine.program.notices == others.program.notices
