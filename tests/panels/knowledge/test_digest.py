"""The digest in the Knowledge panel: as it is injected, how full, and what switches it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.knowledge.knowledge_messages import DeleteDigest, RegenerateDigest
from core.services.settings.settings_messages import ChangeSetting
from tests.panels.caching import cache_states
from tests.panels.knowledge import knowledge_states as ks
from tests.panels.knowledge.knowledge_screen import open_panel, words_of


def test_the_digest_is_shown_exactly_as_it_is_injected() -> None:
    screen = open_panel(tab="digest")

    (text,) = [n.value for n in screen.ui.nodes("selectable_text")]
    assert text == "{knowledge}\n" + screen.state.knowledge.digest + "\n{/knowledge}\n"
    screen.ui.click("Copy the digest")
    assert screen.ui.copied == [text]


def test_a_digest_by_hand_is_shown_as_the_request_has_it_within_the_budget_and_without_tags_of_its_own() -> (
    None
):
    text = "# Mine\n- {/knowledge} out\n" + "- more of it\n" * 100
    state = ks.with_knowledge(ks.known(digest=text, digest_bytes=len(text)))
    settings = replace(
        state.config.settings, knowledge=replace(state.config.settings.knowledge, budget_bytes=400)
    )
    screen = open_panel(replace(state, config=replace(state.config, settings=settings)), tab="digest")

    (shown,) = [n.value for n in screen.ui.nodes("selectable_text")]
    assert shown.startswith("{knowledge}\n# Mine\n- (/knowledge) out\n")
    assert len(shown.encode()) <= 400
    assert shown.endswith("(truncated; see the category files for the rest)\n\n{/knowledge}\n")


def test_an_empty_digest_is_on_and_says_that_nothing_goes_out() -> None:
    screen = open_panel(ks.with_knowledge(ks.known(digest="", digest_bytes=0)), tab="digest")

    assert "Knowledge is on" in words_of(screen)
    assert "The program sends no knowledge, because the digest is empty." in words_of(screen)


def test_gauges_show_how_full_the_digest_and_layer_7_are() -> None:
    screen = open_panel(tab="digest")
    used = screen.state.knowledge.digest_bytes

    assert f"{used:,} of 4,096 bytes" in words_of(screen)
    assert f"{used + 940:,} of 8,192 bytes" in words_of(screen)
    bars = [n.props["fraction"] for n in screen.ui.nodes("progress")]
    assert used / 4096 in bars


def test_a_digest_over_its_bound_is_shown_as_too_full() -> None:
    screen = open_panel(ks.with_knowledge(ks.known(digest_bytes=5_000)), tab="digest")

    assert screen.ui.nodes("progress")[0].props["tone"] == "error"


def test_turning_off_deletes_the_file_that_is_named() -> None:
    screen = open_panel(tab="digest")
    assert f"{ks.FOLDER}/digest.md" in words_of(screen)

    screen.ui.click("Turn off")
    screen.ui.click("Open in editor")

    assert screen.asked == [DeleteDigest()]
    assert screen.ui.files == [f"{ks.FOLDER}/digest.md"]


def test_off_by_deletion_says_what_turns_it_on() -> None:
    screen = open_panel(ks.off_by_deletion(), tab="digest")

    assert "Knowledge is off" in words_of(screen)
    assert screen.ui.shows("There is no digest.md")
    assert not screen.ui.find("Turn off").is_enabled
    assert not screen.ui.has("Open in editor")
    assert screen.ui.nodes("selectable_text") == []
    screen.ui.click("Regenerate digest")
    assert screen.asked == [RegenerateDigest()]


def test_off_by_configuration_shows_what_waits_and_the_switch_turns_it_on() -> None:
    screen = open_panel(ks.off_by_configuration(), tab="digest")

    assert screen.ui.shows("ai_settings.knowledge.digest_enabled is off")
    assert [n.value for n in screen.ui.nodes("selectable_text")] == [screen.state.knowledge.digest]
    screen.ui.click("Send the digest while digest.md exists")
    assert screen.asked == [ChangeSetting("ai_settings.knowledge.digest_enabled", True)]


def test_the_configuration_turns_it_off_while_the_file_stays() -> None:
    screen = open_panel(tab="digest")

    screen.ui.click("Send the digest while digest.md exists")

    assert screen.asked == [ChangeSetting("ai_settings.knowledge.digest_enabled", False)]


def test_files_that_cannot_be_read_are_named_where_they_belong() -> None:
    screen = open_panel(ks.broken(), "decisions")
    words = words_of(screen)

    assert words.count("decisions.md is not UTF-8 text; save it as UTF-8 so the program can read it") == 1
    assert any(word.startswith("The program could not read") for word in words)
    assert words.index("Decisions") < words.index(
        "decisions.md is not UTF-8 text; save it as UTF-8 so the program can read it"
    )


def test_many_problems_are_counted_and_told_on_hover() -> None:
    problems = tuple(f"Problem {n}" for n in range(9))
    screen = open_panel(ks.with_knowledge(ks.known(problems=problems)))

    assert "and 6 more of these problems" in words_of(screen)
    assert any("Problem 8" in tip for tip in screen.ui.tips())


@pytest.mark.parametrize("door", ["Turn off", "Send the digest while digest.md exists"])
def test_before_the_digest_is_turned_off_its_price_is_said(door: str) -> None:
    price = "the next turn rewrites the cache of 1 warm discussion, ~11,400 tokens, est. $0.03"
    priced = open_panel(cache_states.with_price_of_deletion(ks.some()), tab="digest")
    free = open_panel(tab="digest")
    for screen in (priced, free):
        screen.ui.click(door)

    assert priced.ui.shows(price)
    assert priced.asked == []
    assert len(free.asked) == 1
    priced.ui.click("Turn off anyway")
    assert priced.asked == free.asked


def test_the_switch_removes_the_file_and_makes_it_anew() -> None:
    screen = open_panel()
    screen.ui.click("On")
    assert screen.asked == [DeleteDigest()]
    screen = open_panel(ks.off_by_deletion())
    screen.ui.click("On")
    assert screen.asked == [RegenerateDigest()]
    screen = open_panel(ks.off_by_configuration())
    screen.ui.click("On")
    assert screen.asked == [ChangeSetting("ai_settings.knowledge.digest_enabled", True)]
