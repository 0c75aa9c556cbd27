"""Notifications: told by one way, only to who is away, held while it is quiet, in words of ours alone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.app.app_messages import Effect
from core.kernel.errors import FailureKind
from core.kernel.values.agent import ActKind, AgentState, AgentTurn, AttentionState, CallState, Delegation
from core.kernel.values.messages import Message, Role, TextPart
from core.kernel.values.provider import Failure
from core.kernel.values.settings import ChannelSettings, NotificationSettings
from core.kernel.values.signals import NotificationKind, Signal, SignalSource
from core.kernel.values.state import AppState
from core.signals.signals_messages import SayInChannel, SetQuiet, ShowNotification
from core.signals.signals_step import AWAY, HELD_KEPT, channel_words, news_followed
from core.talk.discussion.discussion_messages import SelectDiscussion
from tests.core.signals.moments import D1, NOW, after, asking, autonomous, call, day

TURN = AgentTurn(D1, "t1", calls=(call(ActKind.READ, CallState.RUNNING),))


def away(state: AppState, by: timedelta = AWAY) -> AppState:
    return replace(state, attention=replace(state.attention, active_at=NOW - by))


def at_work(state: AppState, turn: AgentTurn | None) -> AppState:
    return replace(state, agent=AgentState(turns={} if turn is None else {D1: turn}))


def told(before: AppState, now: AppState) -> list[str]:
    return [one.text for one in news_followed(before, now)[1] if isinstance(one, ShowNotification)]


@pytest.mark.parametrize(
    ("turn", "then", "words"),
    [
        (TURN, None, ["The reply has arrived"]),
        (TURN, TURN, []),
        (TURN, asking(), ["The discussion asks for your approval"]),
        (asking(), asking(), []),
        (replace(TURN, has_yielded=True), None, ["The discussion waits for your answer"]),
        (replace(TURN, is_stopping=True), None, []),
    ],
)
def test_a_person_who_is_away_is_told_of_what_waits(
    turn: AgentTurn, then: AgentTurn | None, words: list[str]
) -> None:
    state = away(day())

    assert told(at_work(state, turn), at_work(state, then)) == words


def test_who_sits_at_the_window_has_none_or_wants_none_is_not_told() -> None:
    here = away(day(), AWAY - timedelta(seconds=1))
    off = away(day())
    off = replace(
        off,
        config=replace(
            off.config,
            settings=replace(off.config.settings, notifications=NotificationSettings(desktop=False)),
        ),
    )
    for state in (here, off, replace(day(), attention=AttentionState())):
        assert told(at_work(state, TURN), at_work(state, None)) == []


def test_a_turn_of_an_autonomous_discussion_is_no_news_and_its_stop_is() -> None:
    state = away(autonomous(day()))
    stopped = away(autonomous(day(), stopped="The day's limit is reached"))

    assert told(at_work(state, TURN), at_work(state, None)) == []
    assert told(state, stopped) == ["The autonomous discussion stopped"]
    assert told(stopped, stopped) == []


def test_a_task_that_ends_is_news_to_its_parent_alone() -> None:
    working = at_work(away(day()), TURN)
    tasks = {D1: Delegation(D1, "parent", "t9", "Count.", has_begun=True)}
    task = replace(working, agent=replace(working.agent, delegations=tasks))

    assert told(task, at_work(away(day()), None)) == []


def test_a_discussion_that_is_gone_is_not_told_of() -> None:
    state = away(day())
    gone = replace(state, discussions=replace(state.discussions, summaries={}))

    assert told(at_work(state, TURN), at_work(gone, None)) == []


def test_quiet_holds_them_and_gives_them_together_once() -> None:
    state = away(day())
    state, _ = after(state, SetQuiet(is_quiet=True))
    for _ in range(HELD_KEPT + 5):
        state, effects = news_followed(at_work(state, TURN), at_work(state, None))
        assert effects == ()
    state, _ = news_followed(at_work(state, None), at_work(state, asking()))
    assert (len(state.signals.held), state.signals.missed) == (HELD_KEPT, 6)
    state, effects = after(state, SetQuiet(is_quiet=False))

    assert _shown(effects) == [
        f"While notifications were held back: {HELD_KEPT} replies have arrived, 6 more notifications"
    ]
    (notice,) = [one for one in state.program.notices if one.id == "notifications"]
    assert notice.action == SelectDiscussion(D1)
    assert (state.signals.held, state.signals.missed) == ((), 0)
    assert _shown(after(state, SetQuiet(is_quiet=True), SetQuiet(is_quiet=False))[1]) == []


def _shown(effects: tuple[Effect, ...]) -> list[str]:
    return [one.text for one in effects if isinstance(one, ShowNotification)]


def test_a_channel_hears_channel_words_and_no_name() -> None:
    ops = ChannelSettings("ops", "irc.example", "#ops", announces=True)
    mute = ChannelSettings("mute", "irc.example", "#mute")
    state = day()
    settings = replace(state.config.settings, channels={"ops": ops, "mute": mute})
    state = replace(state, config=replace(state.config, settings=settings))
    _, effects = news_followed(at_work(state, TURN), at_work(state, asking()))

    assert effects == (SayInChannel("ops", NotificationKind.APPROVAL),)
    assert channel_words(NotificationKind.APPROVAL) == "Manual Slop: The discussion asks for your approval."
    quiet, _ = after(state, SetQuiet(is_quiet=True))
    for _ in range(2):
        quiet, held = news_followed(at_work(quiet, TURN), at_work(quiet, asking()))
        assert held == ()
    assert after(quiet, SetQuiet(is_quiet=False))[1] == effects


def test_the_channel_that_asked_is_told_of_its_turn_and_no_other_turn() -> None:
    ops = ChannelSettings("ops", "irc.example", "#ops")
    state = autonomous(day())
    settings = replace(state.config.settings, channels={"ops": ops})
    state = replace(state, config=replace(state.config, settings=settings))
    loop = state.attention.autonomy
    assert loop is not None
    line = Signal("s1", SignalSource.CHANNEL, "ops/alice", "Is it green?", NOW, D1)
    asked = replace(state, attention=AttentionState(replace(loop, signals=(line,))))
    yielding = replace(TURN, has_yielded=True)

    assert news_followed(at_work(asked, TURN), at_work(asked, None))[1] == (
        SayInChannel("ops", NotificationKind.TURN_FINISHED),
    )
    assert news_followed(at_work(asked, yielding), at_work(asked, None))[1] == (
        SayInChannel("ops", NotificationKind.QUESTION),
    )
    assert news_followed(at_work(state, yielding), at_work(state, None))[1] == ()


def test_a_text_of_a_model_goes_only_where_it_was_asked_for_and_let_out() -> None:
    key = "sk-ant-api03-" + "aB3x" * 20
    state = autonomous(day())
    channels = {
        "open": ChannelSettings("open", "irc.example", "#open", answers=True),
        "shut": ChannelSettings("shut", "irc.example", "#shut"),
        "other": ChannelSettings("other", "irc.example", "#other", announces=True, answers=True),
    }
    settings = replace(state.config.settings, channels=channels)
    words = Message("m9", NOW, Role.ASSISTANT, (TextPart(f"It is green.\nThe key is {key}"),))
    opened = state.discussions.open[D1]
    state = replace(
        state,
        config=replace(state.config, settings=settings),
        discussions=replace(state.discussions, open={D1: replace(opened, entries=(*opened.entries, words))}),
    )
    loop = state.attention.autonomy
    assert loop is not None
    lines = tuple(
        Signal(name, SignalSource.CHANNEL, f"{name}/alice", "Is it green?", NOW) for name in ("open", "shut")
    )
    state = replace(state, attention=AttentionState(replace(loop, signals=lines)))

    said = {
        one.name: one.reply
        for one in news_followed(at_work(state, TURN), at_work(state, None))[1]
        if isinstance(one, SayInChannel)
    }
    assert (said["shut"], said["other"]) == ("", "")
    assert said["open"].startswith("It is green. The key is")
    assert key not in said["open"]
    assert (
        channel_words(NotificationKind.TURN_FINISHED, "It is green.")
        == "Manual Slop: The reply has arrived: It is green."
    )


def test_a_stop_is_said_in_the_window_by_the_same_way_and_quiet_holds_it() -> None:
    state, stopped = autonomous(day()), autonomous(day(), stopped="The day's limit is reached")

    told_now, _ = news_followed(state, stopped)
    assert [one.text for one in told_now.program.notices] == ["The day's limit is reached"]
    quiet, _ = after(state, SetQuiet(is_quiet=True))
    held, _ = news_followed(quiet, replace(stopped, signals=quiet.signals))
    assert held.program.notices == state.program.notices
    given, _ = after(held, SetQuiet(is_quiet=False))
    assert "1 autonomous discussion stopped" in given.program.notices[-1].text


def test_a_turn_that_failed_is_not_called_a_reply_and_a_task_of_another_is_no_news() -> None:
    state = away(day())
    failure = Failure(FailureKind.STREAM_DROPPED, "The stream was dropped")
    opened = {D1: replace(state.discussions.open[D1], failure=failure)}
    failed = replace(state, discussions=replace(state.discussions, open=opened))
    assert told(at_work(failed, TURN), at_work(failed, None)) == ["The reply failed"]

    task = at_work(state, TURN)
    task = replace(task, agent=replace(task.agent, delegations={D1: Delegation(D1, "d2", "c1", "Look.")}))
    assert told(task, at_work(state, None)) == []
