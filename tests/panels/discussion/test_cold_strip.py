"""The note over the composer when a cache has ended and the next send pays for the prefix once more."""

from __future__ import annotations

from msgspec.structs import replace

from core.agent.agent_messages import CompactDiscussion
from core.kernel.values.discussion import Draft, OpenDiscussion
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import ChangeSetting
from core.talk.discussion.discussion_messages import CreateDiscussion, SetDraft
from core.talk.discussion.lifecycle import is_empty
from core.talk.turn.turn_messages import SendPrompt
from tests.core.talk.caching.test_warmth import cold
from tests.panels import states
from tests.panels.screen import Screen

KEY = "ai_settings.caching.cold_send_usd"
NOTE = "The cache went cold at 12:05. The next send pays for ≈120k tokens again, for about $0.90."


def _screen(amount: float | None = 0.5) -> Screen:
    return Screen(states.with_opened(cold(amount), draft=Draft("and then?")))


def _has_note(screen: Screen) -> bool:
    return any(word.startswith("The cache went cold") for word in screen.ui.texts())


def test_the_composer_says_tokens_and_dollars_and_offers_three_ways() -> None:
    screen = _screen()

    assert any(word.endswith("≈120k tokens again, for about $0.90.") for word in screen.ui.texts())
    screen.ui.click("Compact first")
    screen.ui.click("Send anyway")

    assert [type(one) for one in screen.asked if isinstance(one, CompactDiscussion | SendPrompt)] == [
        CompactDiscussion,
        SendPrompt,
    ]


def test_the_words_go_on_in_a_new_discussion_and_stay_where_they_were() -> None:
    screen = _screen()
    screen.ui.click("New discussion", within="The cache went cold")
    assert CreateDiscussion(keeps_empty=True) in screen.asked

    screen.show(_with_new(screen.state))

    assert SetDraft("d9", "and then?") in screen.asked
    assert screen.state.discussions.open["d1"].draft.text == "and then?"


def test_the_first_time_the_person_is_asked_whether_to_hear_of_it() -> None:
    screen = _screen(None)

    screen.ui.click("Warn me above $0.25")
    screen.ui.click("Never warn")

    assert [one for one in screen.asked if isinstance(one, ChangeSetting)] == [
        ChangeSetting(KEY, 0.25),
        ChangeSetting(KEY, 0),
    ]
    assert not _screen(0.5).ui.has("Never warn")


def test_who_said_never_and_who_pays_less_reads_nothing() -> None:
    assert not _has_note(_screen(0))
    assert not _has_note(_screen(2.0))


def _with_new(state: AppState) -> AppState:
    """The controller has made a discussion and shows it."""
    row = state.discussions.summaries["d1"]
    meta = replace(
        row.meta,
        id="d9",
        name="New discussion",
        parent_id="",
        archived=False,
        folder=state.config.project.root,
    )
    shown = replace(
        state.discussions,
        summaries={**state.discussions.summaries, "d9": replace(row, meta=meta)},
        open={**state.discussions.open, "d9": OpenDiscussion("d9")},
        selected_id="d9",
    )
    changed = replace(state, discussions=shown)
    assert is_empty(changed, "d9")
    return changed
