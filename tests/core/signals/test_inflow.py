"""What comes in is bounded and counted: nobody who floods takes another's place."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from core.kernel.values.signals import (
    SENDER_CHARS,
    SIGNAL_CHARS,
    SIGNALS_KEPT,
    Signal,
    SignalSource,
    SignalState,
)
from core.signals.signals_step import make_signal, room_of, with_signal, without_signals

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
SENT = st.lists(st.tuples(st.sampled_from(SignalSource), st.integers(0, 400)), max_size=400)


def one(source: SignalSource, number: int) -> Signal:
    return make_signal(f"s{number}", source, "somebody", f"thing {number}", NOW)


def test_a_signal_is_clean_and_bounded() -> None:
    signal = make_signal("s", SignalSource.API, "a\r\nb\0" + "n" * 500, "\r\n one\0\rtwo" + "x" * 50_000, NOW)

    assert signal.sender.startswith("a b")
    assert len(signal.sender) <= SENDER_CHARS
    assert signal.text.startswith("one\ntwo")
    assert len(signal.text) == SIGNAL_CHARS + 1


def test_a_flood_takes_its_own_place_alone() -> None:
    signals = SignalState()
    for number in range(10):
        signals = with_signal(signals, one(SignalSource.INBOX, number))
    for number in range(10, 1_010):
        signals = with_signal(signals, one(SignalSource.CHANNEL, number))

    assert len(signals.waiting) == SIGNALS_KEPT
    assert [s.id for s in signals.waiting if s.source is SignalSource.INBOX] == [f"s{n}" for n in range(10)]
    assert signals.waiting[-1].id == "s1009"
    assert signals.dropped == 10 + 1_000 - SIGNALS_KEPT


def test_the_same_said_again_is_one_thing_and_the_newest() -> None:
    first = make_signal("a", SignalSource.FILE, "plan.md", "It changed", NOW)
    other = make_signal("b", SignalSource.FILE, "todo.md", "It changed", NOW)
    again = make_signal("c", SignalSource.FILE, "plan.md", "It changed", NOW)
    signals = SignalState()
    for signal in (first, other, again):
        signals = with_signal(signals, signal)

    assert [s.id for s in signals.waiting] == ["b", "c"]
    assert signals.dropped == 0


def test_what_a_turn_took_is_still_shown() -> None:
    signals = SignalState()
    for number in range(3):
        signals = with_signal(signals, one(SignalSource.API, number))
    signals = without_signals(signals, ["s0", "s2", "never"])

    assert [s.id for s in signals.waiting] == ["s1"]
    assert [s.id for s in signals.seen] == ["s0", "s2"]


@settings(max_examples=30)
@given(SENT)
def test_none_is_lost_uncounted(sent: list[tuple[SignalSource, int]]) -> None:
    signals = SignalState()
    for source, number in sent:
        signals = with_signal(signals, one(source, number))

    assert len(signals.waiting) <= SIGNALS_KEPT
    assert len(signals.waiting) + signals.dropped <= len(sent)
    if sent:
        assert (signals.waiting[-1].source, signals.waiting[-1].id) == (sent[-1][0], f"s{sent[-1][1]}")
    if len(set(sent)) <= SIGNALS_KEPT:
        assert signals.dropped == 0
        assert len(signals.waiting) == len(set(sent))


@settings(max_examples=30)
@given(SENT, st.sampled_from(SignalSource))
def test_a_source_that_keeps_to_its_room_loses_nothing_by_it_and_one_more_takes_its_own_place(
    sent: list[tuple[SignalSource, int]], source: SignalSource
) -> None:
    signals = SignalState()
    for other, number in sent:
        signals = with_signal(signals, one(other, number))
    own = [s.id for s in signals.waiting if s.source is source]
    room = room_of(signals, source)
    for number in range(1_000, 1_000 + room):
        signals = with_signal(signals, one(source, number))

    ids = [s.id for s in signals.waiting if s.source is source]
    assert ids == [*own, *(f"s{number}" for number in range(1_000, 1_000 + room))]
    more = with_signal(signals, one(source, 2_000))
    assert room_of(signals, source) == 0
    assert [s.id for s in more.waiting if s.source is source] == [*ids[1:], "s2000"]
