"""The picker of a discussion's model: prices, effort, temperature and the longest reply."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.values.provider import Effort, ModelPrice, ModelProfile
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import PriceModels
from core.talk.discussion.discussion_messages import ChangeDiscussion
from panels.discussion.model_picker import effort_options
from tests.panels import states
from tests.panels.screen import Screen


def _picker(state: AppState | None = None) -> Screen:
    screen = Screen(state or states.working())
    screen.ui.click("Model…")
    return screen


def _with_meta(state: AppState, **fields: object) -> AppState:
    chosen = state.discussions.selected_id
    row = state.discussions.summaries[chosen]
    meta = replace(row.meta, **fields)  # type: ignore[arg-type]
    rows = {**state.discussions.summaries, chosen: replace(row, meta=meta)}
    return replace(state, discussions=replace(state.discussions, summaries=rows))


def _taking(state: AppState, highest: float | None) -> AppState:
    meta = state.discussions.summaries[state.discussions.selected_id].meta
    models = tuple(
        replace(model, max_temperature=highest) if model.id == meta.model else model
        for model in state.config.models[meta.provider]
    )
    return replace(state, config=replace(state.config, models={**state.config.models, meta.provider: models}))


def test_prices_are_asked_for_when_it_opens_and_stand_beside_each_model() -> None:
    screen = _picker()
    assert screen.asked == [PriceModels()]
    assert screen.ui.shows("The program is looking up the price.")

    meta = screen.state.discussions.summaries[screen.state.discussions.selected_id].meta
    prices = {(meta.provider, meta.model): ModelPrice(5.0, 25.0)}
    screen.show(replace(screen.state, config=replace(screen.state.config, prices=prices)))

    assert screen.ui.shows("Input $5, output $25 per million tokens.")
    options = screen.ui.find("Model; you can change the model during a discussion", kind="combo").props[
        "options"
    ]
    detail = next(option.detail for option in options if option.value == f"{meta.provider}\n{meta.model}")
    assert "input $5, output $25" in detail


def test_a_price_that_nobody_knows_is_said() -> None:
    state = states.working()
    meta = state.discussions.summaries[state.discussions.selected_id].meta
    unknown = replace(state.config, prices={(meta.provider, meta.model): None})

    assert _picker(replace(state, config=unknown)).ui.shows("The price is unknown.")


def test_temperature_is_offered_only_where_the_model_takes_one() -> None:
    assert not _picker(_taking(_with_meta(states.working(), temperature=0.5), None)).ui.shows("Temperature")

    screen = _picker(_taking(states.working(), 2.0))
    screen.ui.click("Set a value", within="Temperature")
    assert screen.asked[-1] == ChangeDiscussion(discussion_id="d1", changes={"temperature": 1.0})
    screen.show(_with_meta(screen.state, temperature=1.0))
    screen.ui.click("Set a value", within="Temperature")
    assert screen.asked[-1] == ChangeDiscussion(discussion_id="d1", changes={"temperature": None})


def test_top_p_is_offered_beside_the_temperature_and_keeps_to_its_own_key() -> None:
    assert not _picker(_taking(_with_meta(states.working(), top_p=0.5), None)).ui.shows("Top-p")

    screen = _picker(_taking(_with_meta(states.working(), top_p=0.5), 2.0))
    assert screen.ui.shows("Top-p")
    assert [node.value for node in screen.ui.nodes("slider")] == [0.5]
    screen.ui.click("Set a value", within="Top-p")
    assert screen.asked[-1] == ChangeDiscussion(discussion_id="d1", changes={"top_p": None})


def test_the_longest_reply_is_a_number_of_tokens_or_left_to_the_model() -> None:
    screen = _picker(_with_meta(states.working(), max_output_tokens=500))

    hint = next(node.props["hint"] for node in screen.ui.nodes("text_input") if node.value == "500")
    screen.ui.type(hint, "2,000")
    assert screen.asked[-1] == ChangeDiscussion(discussion_id="d1", changes={"max_output_tokens": 2_000})
    screen.ui.type(hint, "many")
    assert screen.ui.shows("'many' is not a number of tokens.")
    screen.ui.type(hint, "")
    assert screen.asked[-1] == ChangeDiscussion(discussion_id="d1", changes={"max_output_tokens": None})
    assert not screen.ui.shows("is not a number")


def test_each_level_of_effort_has_words_of_its_own() -> None:
    labels = [
        option.label for option in effort_options(ModelProfile(provider="x", id="m", efforts=tuple(Effort)))
    ]
    assert labels[:3] == ["Auto effort", "No thinking", "Minimal effort"]
    assert len({*labels}) == len(Effort)


def test_effort_is_chosen_there_too_and_done_closes_it() -> None:
    screen = _picker()
    screen.ui.choose("How much the model thinks before it replies", "High effort")
    assert screen.asked[1:] == [ChangeDiscussion(discussion_id="d1", changes={"effort": "high"})]

    screen = _picker()
    screen.ui.click("Done")
    assert screen.view.dialog is None
