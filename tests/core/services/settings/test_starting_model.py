"""The model that a new discussion takes, as data."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary
from core.kernel.values.provider import KeySource, ModelProfile, ProviderKind, ProviderStatus
from core.kernel.values.settings import AiSettings, Settings
from core.kernel.values.state import AppState
from core.services.settings.settings_rules import StartingModel, named_provider, starting_model
from core.talk.discussion.discussion_messages import CreateDiscussion, CreateOnDisk, SummariesLoaded
from tests.core.app.playbook import START, Playbook, of, settings_loaded, with_ai

OPUS = StartingModel("anthropic", "opus")
SMALL = StartingModel("embedded", "small")
GPT = StartingModel("openai", "gpt")
OWN = StartingModel("ollama", "qwen")


def state(*ready: str, ai: AiSettings | None = None, used: tuple[tuple[str, str, int], ...] = ()) -> AppState:
    """Providers of which some have a key; discussions by provider, model and the minute of their last turn."""
    keyed = (("anthropic", ProviderKind.ANTHROPIC, "opus"), ("openai", ProviderKind.OPENAI, "gpt"))
    providers = {
        name: ProviderStatus(
            name,
            kind,
            name,
            KeySource.KEYRING if name in ready else KeySource.MISSING,
            is_ready=name in ready,
        )
        for name, kind, _ in keyed
    }
    providers["ollama"] = ProviderStatus("ollama", ProviderKind.COMPATIBLE, "Ollama", KeySource.NOT_NEEDED)
    providers["embedded"] = ProviderStatus(
        "embedded", ProviderKind.EMBEDDED, "Built in", KeySource.NOT_NEEDED
    )
    models = {"anthropic": "opus", "openai": "gpt", "embedded": "small", "ollama": "qwen"}
    rows = {
        f"d{minute}": DiscussionSummary(
            DiscussionMeta(f"d{minute}", "x", START, provider, model),
            START + timedelta(minutes=minute),
            turns=1,
        )
        for provider, model, minute in used
    }
    base = AppState()
    return replace(
        base,
        config=replace(
            base.config,
            settings=Settings(ai=ai or AiSettings()),
            providers=providers,
            models={name: (ModelProfile(name, model),) for name, model in models.items()},
        ),
        discussions=replace(base.discussions, summaries=rows),
    )


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (state(), SMALL),
        (state("openai"), GPT),
        (state("anthropic", "openai"), OPUS),
        (state("anthropic", used=(("ollama", "qwen", 1),)), OWN),
        (state("anthropic", used=(("anthropic", "sonnet", 2), ("ollama", "qwen", 1))), StartingModel("anthropic", "sonnet")),
        (state("openai", used=(("anthropic", "opus", 1),)), GPT),
        (state("openai", used=(("gone", "m", 1),)), GPT),
        (state("anthropic", used=(("embedded", "small", 1),)), SMALL),
        (state("anthropic", ai=AiSettings(provider="ollama"), used=(("anthropic", "opus", 1),)), OWN),
        (state("anthropic", ai=AiSettings(provider="anthropic", model="sonnet")), StartingModel("anthropic", "sonnet")),
        (state("openai", ai=AiSettings(provider="anthropic")), StartingModel("openai", "gpt", "anthropic")),
        (state(ai=AiSettings(provider="anthropic")), StartingModel("embedded", "small", "anthropic")),
        (state("anthropic", "openai", ai=AiSettings(model="gpt")), GPT),
    ],
)  # fmt: skip
def test_set_then_last_used_then_a_keyed_one_then_the_built_in_one(
    known: AppState, expected: StartingModel
) -> None:
    assert starting_model(known) == expected


def test_a_discussion_without_a_turn_used_nothing() -> None:
    known = state("anthropic", used=(("ollama", "qwen", 1),))
    row = replace(known.discussions.summaries["d1"], turns=0)

    assert (
        starting_model(replace(known, discussions=replace(known.discussions, summaries={"d1": row}))) == OPUS
    )


def test_what_is_asked_for_is_taken_ready_or_not() -> None:
    known = state("openai")

    assert starting_model(known, "anthropic") == OPUS
    assert starting_model(known, "anthropic", "sonnet") == StartingModel("anthropic", "sonnet")


def test_where_nothing_may_stand_in_the_provider_that_is_set_is_named() -> None:
    assert named_provider(state("openai", ai=AiSettings(provider="anthropic"))) == "anthropic"
    assert named_provider(state("openai")) == "openai"


def test_a_new_discussion_takes_the_model_that_was_used_last_and_says_what_stands_in() -> None:
    book = Playbook().ready()
    used = DiscussionSummary(DiscussionMeta("a", "Sky", START, "embedded", "smollm2-135m"), START, turns=3)
    book.play(settings_loaded(settings=with_ai(Settings(), provider="anthropic")))
    book.play(SummariesLoaded((used,), True))

    (made,) = of(book.play(CreateDiscussion("x")), CreateOnDisk)

    assert (made.meta.provider, made.meta.model) == ("embedded", "smollm2-135m")
    assert book.state.program.notices[-1].text == "Embedded answers instead of anthropic."
