"""Temperature and the longest reply: chosen for a discussion, sent only where the model takes it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel.paths import discussion_dir
from core.kernel.values.cache import DiscussionCacheState
from core.kernel.values.provider import ModelPrice, ModelProfile, ProviderRequest
from core.kernel.values.updates import Tick, outcome_of
from core.services.providers.compatible.body import chat_body
from core.services.providers.gemini.wire import request_config
from core.services.providers.model_data import packaged_models
from core.services.providers.openai.body import responses_body
from core.services.providers.profiles import find_profile, fitting_temperature
from core.services.settings.settings_messages import FindPrices, ModelsListed, PriceModels, PricesFound
from core.talk.caching.caching_messages import CacheReported
from core.talk.discussion.discussion_messages import ChangeDiscussion
from core.talk.discussion.discussion_meta import read_meta, write_meta
from tests.core.app.playbook import START, Playbook, of, settings_loaded

REQUEST = ProviderRequest("p", "m", (), ())
PROFILE = ModelProfile("p", "m")


@pytest.mark.parametrize(("highest", "sent"), [(2.0, 0.7), (0.5, 0.5), (None, None)])
def test_a_temperature_reaches_the_models_that_take_one(highest: float | None, sent: float | None) -> None:
    book = Playbook().ready()
    chosen = book.discussion()
    loaded = settings_loaded()
    (model,) = loaded.models["embedded"]
    models = {**loaded.models, "embedded": (replace(model, max_temperature=highest),)}
    book.play(replace(loaded, models=models))
    book.play(ChangeDiscussion(discussion_id=chosen, changes={"temperature": 0.7}))

    assert book.ask(chosen, "hello").spec.temperature == sent


@pytest.mark.parametrize(("highest", "sent"), [(2.0, 0.4), (None, None)])
def test_a_top_p_reaches_the_models_that_take_one(highest: float | None, sent: float | None) -> None:
    book = Playbook().ready()
    chosen = book.discussion()
    loaded = settings_loaded()
    (model,) = loaded.models["embedded"]
    for most in (2.0, highest):
        taking = replace(model, label="SmolLM", max_temperature=most)
        book.play(replace(loaded, models={**loaded.models, "embedded": (taking,)}))
        if most is not None:
            book.play(ChangeDiscussion(discussion_id=chosen, changes={"top_p": 0.4}))
    assert book.ask(chosen, "hello").spec.top_p == sent

    book.play(ChangeDiscussion(discussion_id=chosen, changes={"top_p": 0.5}, command_id="c1"))
    outcome = outcome_of(book.state, "c1")
    if highest is None:
        assert outcome is not None
        assert outcome.problem == "SmolLM uses its own top-p; you cannot set one."


def test_the_longest_reply_of_a_discussion_goes_before_that_of_the_settings() -> None:
    book = Playbook().ready()
    chosen = book.discussion()
    book.play(ChangeDiscussion(discussion_id=chosen, changes={"max_output_tokens": 300}))

    assert book.ask(chosen, "hello").spec.max_output_tokens == 300


def test_what_cannot_be_is_refused() -> None:
    book = Playbook().ready()
    chosen = book.discussion()
    before = book.state.discussions.summaries[chosen].meta

    for command in (
        ChangeDiscussion(discussion_id=chosen, changes={"temperature": 2.1}),
        ChangeDiscussion(discussion_id=chosen, changes={"temperature": float("nan")}),
        ChangeDiscussion(discussion_id=chosen, changes={"max_output_tokens": 0}),
        ChangeDiscussion(discussion_id=chosen, changes={"top_p": 0.0}),
        ChangeDiscussion(discussion_id=chosen, changes={"top_p": 1.01}),
        ChangeDiscussion(discussion_id=chosen, changes={"top_p": float("nan")}),
    ):
        book.play(command)

    assert book.state.discussions.summaries[chosen].meta == before


def test_a_model_that_takes_no_temperature_says_so_and_one_that_was_set_can_be_taken_away() -> None:
    book = Playbook().ready()
    chosen = book.discussion()
    loaded = settings_loaded()
    (model,) = loaded.models["embedded"]
    for highest in (2.0, None):
        told = replace(model, label="SmolLM", max_temperature=highest)
        book.play(replace(loaded, models={**loaded.models, "embedded": (told,)}))
        if highest is not None:
            book.play(ChangeDiscussion(discussion_id=chosen, changes={"temperature": 0.7}))

    book.play(ChangeDiscussion(discussion_id=chosen, changes={"temperature": 0.3}, command_id="c1"))

    outcome = outcome_of(book.state, "c1")
    assert outcome is not None
    assert outcome.problem == "SmolLM uses its own temperature; you cannot set one."
    assert book.state.discussions.summaries[chosen].meta.temperature == 0.7
    book.play(ChangeDiscussion(discussion_id=chosen, changes={"temperature": None}))
    assert book.state.discussions.summaries[chosen].meta.temperature is None


def test_a_body_names_a_top_p_only_where_one_is_asked_for() -> None:
    warm = replace(REQUEST, top_p=0.4)
    for body in (chat_body, responses_body):
        assert body(warm, PROFILE, lambda _: b"")["top_p"] == 0.4
        assert "top_p" not in body(REQUEST, PROFILE, lambda _: b"")
    assert request_config(warm, PROFILE).top_p == 0.4
    assert request_config(REQUEST, PROFILE).top_p is None


def test_a_body_names_a_temperature_only_where_one_is_asked_for() -> None:
    warm = replace(REQUEST, temperature=0.4)
    for body in (chat_body, responses_body):
        assert body(warm, PROFILE, lambda _: b"")["temperature"] == 0.4
        assert "temperature" not in body(REQUEST, PROFILE, lambda _: b"")
    assert request_config(warm, PROFILE).temperature == 0.4
    assert request_config(REQUEST, PROFILE).temperature is None


@pytest.mark.parametrize(
    ("provider", "kind", "model", "takes"),
    [("gemini", "gemini", "gemini-3.8-flash", True), ("embedded", "embedded", "SmolLM2-135M-Instruct", True),
     ("ollama", "compatible", "qwen", True), ("anthropic", "anthropic", "claude-opus-5-5", False),
     ("openai", "openai", "gpt-6-luna", False), ("claude_code", "claude_code", "opus", False)],
)  # fmt: skip
def test_the_packaged_profiles_say_who_takes_one(
    provider: str, kind: str, model: str, *, takes: bool
) -> None:
    profile = find_profile(packaged_models(), provider, model, kind=kind)
    assert (fitting_temperature(profile, 0.3) == 0.3) is takes


def test_the_choices_stand_in_the_meta_and_what_is_wrong_there_is_named(tmp_path: Path) -> None:
    book = Playbook().ready()
    chosen = book.discussion()
    meta = book.state.discussions.summaries[chosen].meta
    meta = replace(meta, temperature=0.7, top_p=0.4, max_output_tokens=500, created_at=START)
    discussion_dir(tmp_path, meta.id).mkdir(parents=True)
    write_meta(tmp_path, meta)
    assert read_meta(tmp_path, meta.id).meta == meta

    file = tmp_path / "discussions" / meta.id / "meta.toml"
    file.write_text(file.read_text().replace("temperature = 0.7", "temperature = 7"))
    found = read_meta(tmp_path, meta.id)
    assert found.meta.temperature is None
    assert "'temperature'" in found.problem

    write_meta(tmp_path, replace(meta, temperature=None, max_output_tokens=None))
    assert "temperature" not in file.read_text()


def test_prices_are_looked_up_once() -> None:
    book = Playbook().ready()
    (asked,) = of(book.play(PriceModels()), FindPrices)
    assert ("anthropic", "claude-opus-5-5") in asked.models

    book.play(PricesFound({key: ModelPrice(1.0, 2.0) for key in asked.models}))

    assert not of(book.play(PriceModels()), FindPrices)
    assert book.state.config.prices["anthropic", "claude-opus-5-5"] == ModelPrice(1.0, 2.0)


def test_prices_are_looked_up_when_something_is_cached_for_the_price_of_a_switch_is_said_first() -> None:
    book = Playbook().ready()
    name = book.discussion()
    assert not of(book.play(Tick()), FindPrices)
    held = DiscussionCacheState(name, "anthropic", START, START + timedelta(minutes=5), tokens_cached=9)
    (asked,) = of(book.play(CacheReported(name, held)), FindPrices)
    assert ("anthropic", "claude-opus-5-5") in asked.models
    assert not of(book.play(Tick()), FindPrices)

    (more,) = of(book.play(ModelsListed("openai", (ModelProfile("openai", "gpt-7"),))), FindPrices)
    assert ("openai", "gpt-7") in more.models
