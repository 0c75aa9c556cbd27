"""The state machine of attention, by every road that hypothesis finds, with a clock that jumps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec.structs import replace

from core.agent import attention_machine as machine
from core.agent.attention_machine import INTERVAL_S, LONGEST_S, TurnEnd
from core.kernel.values.agent import Attention, Autonomy
from core.kernel.values.messages import Role, TextPart
from core.kernel.values.provider import KeySource, ProviderKind, ProviderStatus
from core.kernel.values.records import MessageRecord, UsageRecord
from core.kernel.values.settings import ServerSettings
from core.kernel.values.updates import with_open
from core.kernel.values.usage import Usage
from core.talk.discussion.log_content import apply
from tests.panels import states

START = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
MOST_TURNS = 20
PLAIN = TurnEnd()
TOOLS = TurnEnd(used_tools=True)
YIELD = TurnEnd(used_tools=True, has_yielded=True)
REST = TurnEnd(used_tools=True, has_yielded=True, is_stored=True)
FAILED = TurnEnd(has_failed=True)
STOPPED = TurnEnd(used_tools=True, is_interrupted=True)


def after(autonomy: Autonomy, *ends: TurnEnd, now: datetime = START) -> Autonomy:
    """The loop after turns of its own that ended so."""
    for end in ends:
        autonomy = machine.begun(autonomy, now, "message", "the interval is over", is_signal=False)
        autonomy = machine.ended(autonomy, now, end, MOST_TURNS)
    return autonomy


def seconds_left(autonomy: Autonomy, now: datetime = START) -> float | None:
    return None if autonomy.next_at is None else (autonomy.next_at - now).total_seconds()


@pytest.mark.parametrize(
    ("ends", "state", "left_s"),
    [
        ((), Attention.ENGAGED, 5),
        ((PLAIN,), Attention.FORAGING, 30),
        ((PLAIN, PLAIN), Attention.RESTING, 300),
        ((PLAIN, PLAIN, PLAIN), Attention.RESTING, 300),
        ((TOOLS,), Attention.WORKING, 3),
        ((TOOLS, PLAIN), Attention.FORAGING, 30),
        ((PLAIN, PLAIN, TOOLS), Attention.WORKING, 3),
        ((TOOLS, YIELD), Attention.RESTING, 300),
        ((TOOLS, REST), Attention.STORED, None),
        ((TOOLS, STOPPED), Attention.RESTING, 300),
        ((FAILED,), Attention.ENGAGED, 10),
        ((TOOLS, FAILED, FAILED), Attention.WORKING, 12),
        ((TOOLS, FAILED, FAILED, TOOLS), Attention.WORKING, 3),
        ((YIELD, FAILED, FAILED, FAILED, FAILED), Attention.RESTING, 3600),
    ],
)
def test_each_end_of_a_turn_leads_to_its_state_and_interval(
    ends: tuple[TurnEnd, ...], state: Attention, left_s: float | None
) -> None:
    autonomy = after(machine.started("a", START), *ends)

    assert (autonomy.state, seconds_left(autonomy)) == (state, left_s)


def test_the_guard_ends_in_rest_that_the_person_alone_ends() -> None:
    autonomy = after(machine.started("a", START), *[TOOLS] * MOST_TURNS)

    assert (autonomy.state, autonomy.next_at) == (Attention.RESTING, None)
    assert "20 turns ran without a message from you" in autonomy.stopped
    assert not machine.wakes(autonomy, START + timedelta(days=3))
    awake = machine.person_came(autonomy, START)
    assert (awake.state, awake.turns, awake.stopped, seconds_left(awake)) == (Attention.ENGAGED, 0, "", 5)


def test_a_signal_wakes_once_in_a_resting_interval_and_past_no_error() -> None:
    autonomy = after(machine.started("a", START), YIELD)
    assert machine.wakes(autonomy, START)
    woken = machine.begun(autonomy, START, "m", "a signal", is_signal=True)
    again = machine.ended(woken, START, YIELD, MOST_TURNS)
    assert not machine.wakes(again, START + timedelta(seconds=299))
    assert machine.wakes(again, START + timedelta(seconds=300))
    assert not machine.wakes(after(again, FAILED), START + timedelta(hours=1))
    assert not machine.wakes(after(again, REST), START + timedelta(hours=1))


def test_a_clock_that_was_set_back_delays_nothing_past_one_interval() -> None:
    autonomy = after(machine.started("a", START), YIELD)
    earlier = START - timedelta(days=400)

    assert seconds_left(machine.timed(autonomy, earlier), earlier) == 300
    assert machine.timed(autonomy, START) is autonomy


class Roads(RuleBasedStateMachine):
    """Every order of turns, signals, the person, dreams and time."""

    def __init__(self) -> None:
        super().__init__()
        self.now = START
        self.autonomy = machine.started("a", START)
        self.own_turns = 0
        self.woken: list[datetime] = []

    @property
    def is_running(self) -> bool:
        return bool(self.autonomy.message_id)

    @rule(seconds=st.one_of(st.integers(0, 400), st.integers(-(10**8), 10**8)))
    def time_passes(self, seconds: int) -> None:
        if seconds < 0:
            self.woken.clear()  # by this clock they never were
        self.now += timedelta(seconds=seconds)
        self.autonomy = machine.timed(self.autonomy, self.now)

    @precondition(lambda self: not self.is_running and machine.due(self.autonomy, self.now))
    @rule()
    def its_turn_comes(self) -> None:
        self.begin(is_signal=False)

    @precondition(lambda self: not self.is_running and machine.wakes(self.autonomy, self.now))
    @rule()
    def a_signal_comes(self) -> None:
        assert self.autonomy.state not in {Attention.STORED, Attention.DREAMING}
        self.woken.append(self.now)
        self.begin(is_signal=True)

    def begin(self, *, is_signal: bool) -> None:
        self.own_turns += 1
        self.autonomy = machine.begun(self.autonomy, self.now, "m", "why", is_signal=is_signal)

    @precondition(lambda self: self.is_running)
    @rule(end=st.sampled_from([PLAIN, TOOLS, YIELD, REST, FAILED, STOPPED]))
    def the_turn_ends(self, end: TurnEnd) -> None:
        self.autonomy = machine.ended(self.autonomy, self.now, end, MOST_TURNS)

    @rule(end=st.sampled_from([PLAIN, TOOLS, YIELD, FAILED]))
    def the_person_comes(self, end: TurnEnd) -> None:
        if self.is_running:
            self.autonomy = machine.ended(self.autonomy, self.now, PLAIN, MOST_TURNS)
        self.autonomy = machine.person_came(self.autonomy, self.now)
        assert (self.autonomy.state, self.autonomy.turns) == (Attention.ENGAGED, 0)
        self.own_turns = 0
        self.autonomy = machine.ended(self.autonomy, self.now, end, MOST_TURNS)

    @precondition(lambda self: not self.is_running and self.autonomy.state is Attention.RESTING)
    @rule()
    def it_dreams(self) -> None:
        if self.autonomy.next_at is not None:
            self.autonomy = machine.dreamt(machine.dreaming(self.autonomy, self.now), self.now, "nothing")

    @rule()
    def money_ends(self) -> None:
        if not self.is_running:
            self.autonomy = machine.stopped(self.autonomy, self.now, "No money is left.")

    @invariant()
    def it_waits_for_its_interval_or_for_the_person(self) -> None:
        loop = self.autonomy
        if loop.next_at is None:
            assert self.is_running or loop.stopped or loop.state is Attention.STORED
            return
        assert not loop.stopped
        assert loop.state in INTERVAL_S
        assert loop.next_at <= self.now + timedelta(seconds=LONGEST_S)

    @invariant()
    def never_past_the_guard(self) -> None:
        assert self.own_turns <= MOST_TURNS

    @invariant()
    def signals_wake_no_oftener_than_rest_would(self) -> None:
        between = zip(self.woken, self.woken[1:], strict=False)
        assert all(later - one >= timedelta(seconds=300) for one, later in between)


TestRoads = Roads.TestCase
TestRoads.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)


@pytest.mark.parametrize(
    ("usage", "is_free"),
    [
        (Usage(input_tokens=10), True),
        (Usage(input_tokens=10, cost_usd=0.0, is_told=True), True),
        (Usage(input_tokens=10, cost_usd=0.02, is_told=True), False),
    ],
)
def test_a_server_of_this_machine_that_told_a_cost_is_not_free(usage: Usage, is_free: bool) -> None:
    """It may pass requests on to one that is paid: a price that nobody knows ends autonomy there, too."""
    state, at = states.working(), datetime(2026, 11, 20, 12, tzinfo=UTC)
    chosen = state.discussions.selected_id
    status = ProviderStatus("own", ProviderKind.COMPATIBLE, "Own", KeySource.ENVIRONMENT)
    server = ServerSettings("own", "compatible", "Own", base_url="http://127.0.0.1:4000/v1")
    config = replace(
        state.config,
        providers={"own": status},
        settings=replace(state.config.settings, servers={"own": server}),
        prices={("own", "m"): None},
    )
    reply = MessageRecord("last", at, Role.ASSISTANT, (TextPart("so"),), provider="own", model="m")
    opened = apply(apply(state.discussions.open[chosen], reply), UsageRecord("used", at, "last", usage))
    state = with_open(replace(state, config=config), opened)

    assert (machine.unpriced(state, "own", "m") == "") is is_free
    assert machine.unpriced(state, "own", "another") == ""
