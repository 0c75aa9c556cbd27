"""Replies side by side in the window: what each cost, why one is not whole, and which one is kept."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.discussion import CallPhase, ComparedModel, ComparedReply, Comparison
from core.kernel.values.provider import ModelProfile
from core.kernel.values.state import AppState
from core.kernel.values.updates import with_call
from core.kernel.values.usage import Usage
from core.talk.discussion.discussion_messages import ChooseVersion
from core.talk.turn.turn_messages import CompareReplies
from panels.base.view import Dialog
from panels.discussion.comparison_panel import speed_line, total_price
from panels.discussion.model_picker import OtherModel, other_models
from panels.discussion.view import DiscussionView
from tests.panels import states
from tests.panels.screen import Screen

ONE = ComparedModel(provider="anthropic", model="claude-opus-5-5")
TWO = ComparedModel(provider="openai", model="gpt-6.1-sol", has_memory=False)


def compared(*replies: ComparedReply) -> AppState:
    state = states.versioned()
    prompt = state.discussions.open["d1"].messages[-2].id
    return states.with_opened(state, comparison=Comparison(prompt_id=prompt, replies=replies))


def shown(state: AppState, width_px: float = 1440.0) -> Screen:
    screen = Screen(state, width_px=width_px)
    screen.view.of(DiscussionView).side_by_side["d1"] = ""
    screen.ui.settle()
    screen.sent.clear()
    return screen


def test_a_column_says_why_it_is_not_whole_and_that_memory_was_off() -> None:
    screen = shown(
        compared(ComparedReply(asked=ONE, is_over=True, problem="It failed."), ComparedReply(asked=TWO))
    )
    assert screen.ui.shows("Side by side")
    assert screen.ui.shows("It failed.")
    assert screen.ui.shows("without knowledge")


def test_a_column_that_failed_can_be_asked_for_again() -> None:
    screen = shown(
        compared(ComparedReply(asked=ONE, is_over=True, problem="It failed."), ComparedReply(asked=TWO))
    )
    screen.ui.click("Ask again")
    assert CompareReplies(discussion_id="d1", models=(ONE,), is_again=True) in screen.asked


def test_a_comparison_that_waited_for_a_yes_past_a_limit_stands_in_columns_once_it_begins() -> None:
    screen = shown(states.versioned())  # asked for, and held back
    assert not screen.ui.shows("Side by side")
    screen.show(compared(ComparedReply(asked=ONE, call_id="c"), ComparedReply(asked=TWO)))
    assert screen.ui.shows("Side by side")


def test_a_column_says_how_far_its_reply_is() -> None:
    state = states.streaming(phase=CallPhase.STORING)
    call = replace(state.turns.calls["d1"], compared=ONE)
    replies = (ComparedReply(asked=ONE, call_id=call.id), ComparedReply(asked=TWO))
    screen = shown(
        states.with_opened(with_call(state, call), comparison=Comparison(prompt_id="m8", replies=replies))
    )
    assert screen.ui.shows("saving the reply")


def test_the_one_that_is_kept_stands_in_the_conversation() -> None:
    opened = states.versioned().discussions.open["d1"]
    versions = next(v for v in opened.versions.values() if len(v.ids) == 2)
    kept = ComparedReply(asked=ONE, reply_id=versions.ids[0], is_over=True)
    screen = shown(compared(kept, ComparedReply(asked=TWO, is_over=True, problem="It failed.")))
    screen.ui.click("Keep this reply")
    assert ChooseVersion("d1", versions.ids[0]) in screen.asked
    assert "d1" not in screen.view.of(DiscussionView).side_by_side


def test_back_leads_to_the_conversation_and_nothing_is_sent() -> None:
    screen = shown(
        compared(ComparedReply(asked=ONE, is_over=True, problem="x"), ComparedReply(asked=TWO, is_over=True))
    )
    screen.ui.click("Back to the discussion")
    assert screen.asked == []
    assert not screen.ui.shows("Side by side")


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        ([0.5, 0.25], "About $0.75"),
        ([0.5, None], "About $0.50 and 1 reply of unknown price"),
        ([None, None], "2 replies of unknown price"),
    ],
)
def test_an_unknown_price_never_counts_as_nothing(prices: list[float | None], words: str) -> None:
    assert total_price(prices) == words


def test_speed_is_told_where_it_was_measured() -> None:
    usage = Usage(output_tokens=100, duration_s=3.0, time_to_first_token_s=1.0)
    assert speed_line(usage) == "50 tokens/s, first token after 1.0 s"
    assert speed_line(Usage(output_tokens=5)) == ""


def test_a_chosen_model_that_is_listed_no_more_stands_there_by_its_name() -> None:
    screen = Screen(states.working())
    screen.view.of(DiscussionView).comparing = ["anthropic\nclaude-old-1", "", "", ""]
    screen.view.dialog = Dialog(kind="compare")
    screen.show(states.working())
    assert screen.ui.shows("claude-old-1")
    assert not screen.ui.shows("anthropic\nclaude-old-1")


def test_the_small_built_in_model_is_offered_behind_all_others() -> None:
    state = states.working()
    small, large = ModelProfile("embedded", "small", "Small"), ModelProfile("anthropic", "large", "Large")
    ready = dict.fromkeys(("embedded", "anthropic"), state.config.providers["anthropic"])
    config = replace(state.config, providers=ready, models={"embedded": (small,), "anthropic": (large,)})
    offered = other_models(replace(state, config=config), "anthropic", "claude-opus-5-5")
    assert offered[-2:] == (OtherModel("anthropic", "large"), OtherModel("embedded", "small"))
