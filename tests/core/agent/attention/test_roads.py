"""Autonomy by every road that hypothesis finds, through the whole step: turns, signals, the person, money, a clock that jumps."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from core.agent.agent_messages import NoteActivity, StartAutonomy, StopAutonomy
from core.app.app_messages import Command, Effect, Event
from core.kernel.values.agent import Attention
from core.kernel.values.messages import TextPart
from core.kernel.values.provider import StopKind, Stopped
from core.kernel.values.settings import AgentSettings, Settings
from core.kernel.values.signals import SIGNALS_KEPT, ChannelStatus
from core.kernel.values.usage import Usage
from core.signals.signals_messages import ChannelSaid, InboxFile, InboxRead, PostSignal, SetQuiet
from core.talk.context.context_spec import stack_spec
from core.talk.turn.turn_messages import CallEnded, CallProvider, CancelReply
from tests.core.agent.attention.autonomy_playbook import AutonomyPlaybook
from tests.core.app.playbook import of

MOST_TURNS = 4
LIMITED = Settings(agent=AgentSettings(MOST_TURNS, dreams=False))
AT_REST_S = 300


class Roads(RuleBasedStateMachine):
    """One discussion, autonomous most of the time; its model and the disk always answer."""

    @initialize()
    def begins(self) -> None:
        self.book = AutonomyPlaybook()
        self.chosen = self.book.autonomous(LIMITED)
        known = {"ops": ChannelStatus("ops", is_connected=True)}
        signals = replace(self.book.state.signals, channels=known)
        self.book.state = replace(self.book.state, signals=signals)
        self.call: CallProvider | None = None
        self.posted = self.own_turns = self.begun = 0
        self.woken_s: list[float] = []

    @property
    def is_alone(self) -> bool:
        return self.book.state.attention.autonomy is not None

    def took(self, effects: tuple[Effect, ...], *, is_person: bool = False, is_signal: bool = False) -> None:
        """At most one call begins, only while none runs, and of its own only where autonomy may."""
        calls = of(effects, CallProvider)
        assert len(calls) <= (self.call is None)
        for self.call in calls:
            self.begun += 1
            if is_person:
                self.own_turns = 0
                continue
            assert self.is_alone
            assert self.book.loop.message_id
            self.own_turns += 1
            if is_signal:
                self.woken_s.append(self.book.at.timestamp())

    @rule(seconds=st.one_of(st.integers(0, 400), st.integers(-(10**7), 10**7)))
    def time_passes(self, seconds: int) -> None:
        if seconds < 0:
            self.woken_s.clear()  # by this clock they never were
        self.took(self.book.after(seconds))

    @rule(source=st.sampled_from(["api", "inbox", "channel"]), many=st.sampled_from([1, 1, 3, 3, 110]))
    def signals_come(self, source: str, many: int) -> None:
        for _ in range(many):
            self.posted += 1
            text = f"News {self.posted}."
            ways: dict[str, Command | Event] = {
                "api": PostSignal(text, "a script"),
                "inbox": InboxRead((InboxFile("note.txt", text),)),
                "channel": ChannelSaid("ops", "alice", text),
            }
            was_due = self.is_alone and self.book.loop.next_at is not None
            was_due = was_due and self.book.at >= (self.book.loop.next_at or self.book.at)
            self.took(self.book.keep(self.book.play(ways[source])), is_signal=not was_due)

    @precondition(lambda self: self.call is not None)
    @rule(how=st.sampled_from(["words", "tools", "yields", "rests", "fails"]))
    def a_turn_ends(self, how: str) -> None:
        call, self.call = self.call, None
        assert call is not None
        if how == "words":
            self.book.says(call)
        elif how == "fails":
            self.book.fails(call)
        elif how == "tools":
            for again in of(self.book.uses(call), CallProvider):  # none where the money is gone
                self.book.says(again)
        else:
            self.book.uses(call, "yield_to_user", until_person=how == "rests")
        for live in self.book.state.turns.calls.values():  # signals that came meanwhile wake it at once
            spec = stack_spec(self.book.state, self.chosen)
            self.call = CallProvider(live.id, live.reply_id, "", live.user_message_id, spec)
            self.own_turns += 1
            self.woken_s.append(self.book.at.timestamp())
            assert how != "rests"
            assert self.book.loop.message_id

    @precondition(lambda self: self.call is None)
    @rule()
    def the_person_writes(self) -> None:
        self.the_limit_is(is_spent=False)
        self.call = self.book.writes(self.chosen)
        self.own_turns = 0
        if self.is_alone:
            loop = self.book.loop
            assert (loop.state, loop.turns, loop.errors, loop.stopped) == (Attention.ENGAGED, 0, 0, "")

    @rule()
    def the_person_presses_escape(self) -> None:
        self.took(self.book.keep(self.book.play(CancelReply(self.chosen))))
        self.cancelled()
        if self.is_alone:
            assert self.book.loop.state in {Attention.RESTING, Attention.STORED}

    @rule()
    def the_person_stops_it(self) -> None:
        was_own = self.is_alone and bool(self.book.loop.message_id)
        self.took(self.book.keep(self.book.play(StopAutonomy())))
        if was_own:
            self.cancelled()
        assert not self.is_alone

    def cancelled(self) -> None:
        """The provider ends the call that was cancelled."""
        if self.call is not None:
            call, self.call = self.call, None
            ended = CallEnded(call.call_id, Stopped(StopKind.CANCELLED), (TextPart("So"),), Usage())
            self.took(self.book.keep(self.book.play(ended)))

    @precondition(lambda self: not self.is_alone)
    @rule()
    def the_person_starts_it(self) -> None:
        self.the_limit_is(is_spent=False)
        self.took(self.book.keep(self.book.play(StartAutonomy(self.chosen))))
        self.own_turns = 0
        self.woken_s.clear()
        assert self.is_alone

    @rule(is_quiet=st.booleans())
    def the_person_is_here(self, *, is_quiet: bool) -> None:
        self.took(self.book.keep(self.book.play(NoteActivity())))
        self.took(self.book.keep(self.book.play(SetQuiet(is_quiet))))

    @rule(is_spent=st.booleans())
    def money_comes_and_goes(self, *, is_spent: bool) -> None:
        self.the_limit_is(is_spent=is_spent)

    def the_limit_is(self, *, is_spent: bool) -> None:
        """The day's limit is reached, or is not."""
        state = self.book.state
        caching = replace(state.config.settings.caching, day_limit_usd=100.0)
        spending = replace(state.spending, spent_today_usd=100.0 if is_spent else 0.0)
        config = replace(state.config, settings=replace(state.config.settings, caching=caching))
        self.book.state = replace(state, config=config, spending=spending)

    @invariant()
    def it_runs_waits_for_its_interval_or_for_the_person(self) -> None:
        assert set(self.book.state.turns.calls) <= {self.chosen}
        assert bool(self.book.state.turns.calls) == (self.call is not None)
        if not self.is_alone:
            return
        loop = self.book.loop
        if loop.next_at is None:
            assert loop.message_id or loop.stopped or loop.state is Attention.STORED or self.call
            return
        assert not loop.stopped
        assert loop.next_at <= self.book.at + timedelta(hours=1)

    @invariant()
    def never_past_its_turns(self) -> None:
        assert self.own_turns <= MOST_TURNS

    @invariant()
    def a_signal_wakes_no_oftener_than_rest_would(self) -> None:
        pairs = zip(self.woken_s, self.woken_s[1:], strict=False)
        assert all(later - one >= AT_REST_S for one, later in pairs)

    @invariant()
    def each_signal_waits_or_was_taken_once_and_none_is_lost_unsaid(self) -> None:
        signals = self.book.state.signals
        assert len(signals.waiting) <= SIGNALS_KEPT
        assert len({one.id for one in signals.waiting}) == len(signals.waiting)
        assert not {one.id for one in signals.waiting} & {one.id for one in signals.seen}
        told = "".join(one.text for one in self.book.own(self.chosen))
        taken = sum(f"News {number}.\n" in told for number in range(1, self.posted + 1))
        assert taken + len(signals.waiting) + signals.dropped >= self.posted


TestRoads = Roads.TestCase
TestRoads.settings = settings(max_examples=12, stateful_step_count=20, deadline=None, phases=[Phase.generate])
