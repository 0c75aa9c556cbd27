"""Questions before money is lost: leaving a warm prefix, and the spend limits."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.app.app_messages import Effect, Input, SaveWindow
from core.app.dispatch import step
from core.kernel.values.settings import AiSettings, CachingSettings, Settings
from core.kernel.values.state import AppState
from core.talk.discussion.discussion_messages import AddToQueue, AppendRecords, ChangeDiscussion, SetDraft
from core.talk.turn.turn_messages import RegenerateReply, SendPrompt
from panels.base.view import WindowView
from panels.discussion.view import DiscussionView
from tests.panels import states
from tests.panels.caching import cache_states
from tests.panels.screen import Screen


def _screen(state: AppState | None = None) -> Screen:
    return Screen(state or cache_states.caching(), WindowView())


def test_switching_the_model_of_a_warm_discussion_asks_first() -> None:
    screen = _screen()

    screen.ui.choose("Model; you can change the model during a discussion", "Claude Haiku 4.8")

    assert screen.asked == []
    assert screen.ui.shows("sending them again costs about $0.060")
    screen.ui.click("Switch anyway")
    assert screen.asked == [
        ChangeDiscussion(discussion_id="d1", changes={"provider": "anthropic", "model": "claude-haiku-4.8"})
    ]
    assert screen.view.dialog is None


@pytest.mark.parametrize("answer", ["Keep", "Escape", "cross"])
def test_a_no_keeps_the_model(answer: str) -> None:
    screen = _screen()
    screen.ui.choose("Model; you can change the model during a discussion", "Claude Haiku 4.8")

    if answer == "Escape":
        screen.ui.press("Escape")
    elif answer == "cross":
        screen.ui.close_dialog()
    else:
        screen.ui.click(answer)

    assert screen.asked == []
    assert screen.view.dialog is None


def test_the_effort_and_the_persona_ask_too() -> None:
    screen = _screen()

    screen.ui.choose("How much the model thinks before it replies", "High effort")
    assert screen.ui.shows("Changing the effort level leaves them unused")
    screen.ui.click("Keep")
    screen.ui.click("More", within="Regenerate")
    screen.ui.click("Persona")
    screen.ui.click("terse reviewer")

    assert screen.ui.shows("Changing the persona leaves 9.8k of them unused")
    assert screen.asked == []


def test_who_does_not_want_to_be_asked_again_is_not_asked_in_this_discussion() -> None:
    screen = _screen()
    screen.ui.choose("How much the model thinks before it replies", "High effort")
    screen.ui.click("Do not ask again for this discussion")
    screen.ui.click("Change anyway")

    screen.ui.choose("Model; you can change the model during a discussion", "Claude Haiku 4.8")

    assert screen.asked == [
        ChangeDiscussion(discussion_id="d1", changes={"effort": "high"}),
        ChangeDiscussion(discussion_id="d1", changes={"provider": "anthropic", "model": "claude-haiku-4.8"}),
    ]


def test_a_no_does_not_switch_the_question_off() -> None:
    screen = _screen()
    screen.ui.choose("How much the model thinks before it replies", "High effort")
    screen.ui.click("Do not ask again for this discussion")
    screen.ui.click("Keep")

    screen.ui.choose("How much the model thinks before it replies", "Low effort")

    assert screen.ui.has("Keep")


def test_a_cold_discussion_is_switched_at_once() -> None:
    screen = _screen(cache_states.caching(caches={}))

    screen.ui.choose("Model; you can change the model during a discussion", "Claude Haiku 4.8")

    assert screen.asked == [
        ChangeDiscussion(discussion_id="d1", changes={"provider": "anthropic", "model": "claude-haiku-4.8"})
    ]


def test_a_cache_that_expires_while_asked_is_said_to_be_lost_already() -> None:
    screen = _screen()
    screen.ui.choose("How much the model thinks before it replies", "High effort")

    screen.show(cache_states.caching(now=states.NOW + timedelta(hours=1)))

    assert screen.ui.shows("this change costs nothing")
    assert screen.asked == []
    screen.ui.click("Change it")
    assert screen.asked == [ChangeDiscussion(discussion_id="d1", changes={"effort": "high"})]


def _at_limit() -> AppState:
    limits = Settings(ai=AiSettings(spend_limit_usd=0.4), caching=CachingSettings(day_limit_usd=1.0))
    return cache_states.caching(settings=limits)


WORDS = "Compare the lazy fork with the eager one."


def _step(screen: Screen) -> tuple[Effect, ...]:
    """Let the real step decide what the person's acts have sent; the window shows what came of it."""
    state, effects = screen.state, ()
    for command in [one for one in screen.sent if not isinstance(one, SaveWindow)]:
        state, more = step(state, Input(states.NOW, "seed", command))
        effects = (*effects, *more)
    screen.sent.clear()
    screen.show(state)
    return effects


def test_at_the_spend_limit_the_next_send_asks_with_the_sums() -> None:
    screen = _screen(_at_limit())

    screen.ui.press("Ctrl+Enter")
    assert _step(screen) == ()

    assert screen.ui.shows("This discussion: $0.42 of $0.40")
    assert screen.ui.shows("Today: $1.25 of $1.00")
    screen.ui.click("Send anyway")
    assert screen.asked == [SendPrompt("d1", WORDS, over_limit=True, may_queue=True)]
    assert [effect.discussion_id for effect in _step(screen) if isinstance(effect, AppendRecords)] == ["d1"]


@pytest.mark.parametrize("answer", ["Do not send", "Escape", "cross"])
def test_a_no_at_the_limit_sends_nothing_and_leaves_the_words_ready_to_send(answer: str) -> None:
    screen = _screen(_at_limit())
    screen.ui.press("Ctrl+Enter")
    _step(screen)

    if answer == "Escape":
        screen.ui.press("Escape")
    elif answer == "cross":
        screen.ui.close_dialog()
    else:
        screen.ui.click(answer)

    assert screen.asked == []
    assert screen.view.dialog is None
    assert screen.view.of(DiscussionView).composer("d1").text == WORDS
    assert screen.ui.find("Send", kind="button").is_enabled


def test_words_that_wait_for_the_limit_stand_in_the_queue_and_the_limits_are_shown() -> None:
    screen = _screen(_at_limit())
    screen.ui.press("Ctrl+Enter")
    _step(screen)

    screen.ui.click("Raise limit")
    asked = screen.only(SendPrompt)
    assert (asked.text, asked.awaits_limit, asked.over_limit) == (WORDS, True, False)
    assert screen.view.panel == "usage"
    (kept,) = [one for one in _step(screen) if isinstance(one, AddToQueue)]
    assert kept.prompt.text == WORDS
    assert screen.view.of(DiscussionView).composer("d1").text == ""


def test_a_regenerated_reply_waits_for_the_limit() -> None:
    screen = _screen(_at_limit())
    screen.ui.press("Ctrl+Shift+R")
    _step(screen)

    screen.ui.click("Raise limit")
    assert RegenerateReply("d1", awaits_limit=True) in screen.asked
    _step(screen)
    assert screen.ui.shows("The new version of the reply waits until you raise the limit")
    assert screen.view.dialog is None


def test_words_typed_before_the_refusal_was_seen_are_not_lost() -> None:
    screen = _screen(_at_limit())
    screen.ui.press("Ctrl+Enter")
    sent = list(screen.sent)
    screen.ui.type("Write a message", "And why?")
    screen.sent[:] = [*sent, *(one for one in screen.sent if isinstance(one, SetDraft))]

    _step(screen)

    assert screen.view.of(DiscussionView).composer("d1").text == f"{WORDS}\nAnd why?"
    assert screen.only(SetDraft).text == f"{WORDS}\nAnd why?"


def test_after_a_yes_the_same_words_are_not_sent_twice() -> None:
    screen = _screen(_at_limit())
    screen.ui.press("Ctrl+Enter")
    _step(screen)
    screen.ui.click("Send anyway")

    assert not screen.ui.find("Send", kind="button").is_enabled


def test_each_send_at_the_limit_asks_anew() -> None:
    screen = _screen(_at_limit())
    for _ in range(2):
        screen.ui.press("Ctrl+Shift+R")
        assert screen.asked == [RegenerateReply("d1")]
        assert _step(screen) == ()

        assert screen.ui.shows("Spend limit reached")
        screen.ui.click("Do not send")
        assert not screen.ui.shows("Spend limit reached")


def test_a_regenerated_reply_past_the_limit_is_asked_for_with_the_yes() -> None:
    screen = _screen(_at_limit())
    screen.ui.press("Ctrl+Shift+R")
    _step(screen)

    screen.ui.click("Send anyway")

    assert screen.asked == [RegenerateReply("d1", over_limit=True)]


def test_a_limit_that_was_raised_while_asked_stands_in_the_way_no_more() -> None:
    screen = _screen(_at_limit())
    screen.ui.press("Ctrl+Enter")
    _step(screen)

    screen.show(cache_states.caching())

    assert screen.ui.shows("You are below every limit again.")
    screen.ui.click("Send anyway")
    assert screen.asked == [SendPrompt("d1", WORDS, over_limit=True, may_queue=True)]
