"""A review that was begun and not finished: the Harvest panel says so and leads back to it, with an honest cost."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.harvest import HarvestPhase, ReviewChoice
from core.kernel.values.state import AppState
from core.knowledge.harvest.harvest_messages import PreviewHarvest
from panels.base.view import WindowView
from panels.harvest.harvest_room import HarvestView
from tests.panels.harvest import harvest_states as hs
from tests.panels.screen import Screen
from tests.state_fields import with_fields


def screen(state: AppState) -> Screen:
    view = WindowView(panel="harvest", hub_px=424.0)
    view.of(HarvestView).looked_with = state.config.settings.knowledge
    return Screen(state, view)


def test_it_is_gone_on_with_for_nothing_while_every_reply_is_kept() -> None:
    shown = screen(hs.begun(0, 1))
    assert shown.ui.shows("You began a review of 2 conversations.")
    assert shown.ui.shows("replies kept, free")

    shown.ui.click("Continue (free)")

    paths = tuple(one.facts.path for one in hs.artifacts()[:2])
    assert shown.asked == [PreviewHarvest(paths)]
    assert shown.view.of(HarvestView).tab == "preview"


def test_what_must_be_read_again_is_in_the_cost() -> None:
    assert screen(hs.begun(0)).ui.has("Continue (est. $0.05)", kind="button")
    assert "read again" in screen(hs.begun()).ui.find("Continue (est. $0.09)").tip


def test_a_model_that_costs_nothing_reads_again_all_the_same() -> None:
    state = hs.begun(0)
    look = state.harvest.look
    local = replace(look, estimate=replace(look.estimate, cost_usd=0.0))

    shown = screen(replace(state, harvest=replace(state.harvest, look=local)))

    assert "read again" in shown.ui.find("Continue (free)").tip
    assert "no model is asked again" in screen(hs.begun(0, 1)).ui.find("Continue (free)").tip


def test_what_is_kept_is_not_in_the_cost_of_a_preview_of_everything() -> None:
    assert screen(hs.begun()).ui.has("Preview 4 conversations (est. $0.42)", kind="button")
    assert screen(hs.begun(0, 1)).ui.has("Preview 4 conversations (est. $0.05)", kind="button")


def test_it_says_nothing_while_a_preview_is_there_or_a_run_goes_on_or_nothing_waits() -> None:
    for state in (
        hs.begun(preview=hs.preview()),
        hs.begun(phase=HarvestPhase.LOOKING),
        hs.begun(review={}),
        hs.begun(review={f"{'c' * 16}-0/1": ReviewChoice(False)}),
    ):
        assert not screen(state).ui.shows("began a review")


def test_without_a_model_or_on_a_read_only_home_it_cannot_be_gone_on_with() -> None:
    read_only = with_fields(hs.begun(0, 1), is_home_read_only=True)
    settings = replace(read_only.config.settings, ai=replace(read_only.config.settings.ai, provider="nobody"))
    for state in (read_only, with_fields(hs.begun(0, 1), settings=settings)):
        assert not screen(state).ui.find("Continue (free)").is_enabled
