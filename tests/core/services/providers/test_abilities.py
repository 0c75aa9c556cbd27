"""What each provider's cache can be asked, and why not."""

from __future__ import annotations

import pytest

from core.kernel.values.cache import Mechanism
from core.kernel.values.provider import ProviderKind
from core.services.providers.profiles import cache_abilities
from core.talk.caching.offers import cache_prices
from tests.core.talk.caching.requests import NOW

CAN_DISABLE = [
    (ProviderKind.ANTHROPIC, "claude-opus-5-5"),
    (ProviderKind.GEMINI, "gemini-2.5-flash"),
    (ProviderKind.GEMINI, "models/gemini-3.8-flash"),
    (ProviderKind.GEMINI, "gemini-3.1-pro-preview"),
    (ProviderKind.OPENAI, "gpt-5.6-sol"),
    (ProviderKind.OPENAI, "gpt-6-astra"),
    (ProviderKind.EMBEDDED, "smollm2-135m"),
]
CANNOT_DISABLE = [
    (ProviderKind.GEMINI, "gemini-4-argon"),
    (ProviderKind.GEMINI, "gemini-2.0-flash"),
    (ProviderKind.GEMINI, "gemini-flash-latest"),
    (ProviderKind.OPENAI, "gpt-5.5"),
    (ProviderKind.OPENAI, "gpt-4o"),
    (ProviderKind.OPENAI, "o3"),
    (ProviderKind.OPENAI, "gpt-5.4-mini"),
    (ProviderKind.OPENAI, ""),
    (ProviderKind.COMPATIBLE, "qwen3:8b"),
    (ProviderKind.COMPATIBLE, "gpt-6-astra"),
    (ProviderKind.CLAUDE_CODE, "opus"),
]


@pytest.mark.parametrize(
    ("kind", "model"), [*CAN_DISABLE, *CANNOT_DISABLE, (ProviderKind.OPENAI, "gpt-7-nova")]
)
def test_what_the_buttons_promise_is_what_the_planner_does(kind: ProviderKind, model: str) -> None:
    """Also of a model that no list of prices knows yet."""
    mechanism = cache_prices(kind.value, kind, model, NOW).mechanism
    is_told = mechanism is not Mechanism.IMPLICIT or kind is ProviderKind.EMBEDDED

    assert cache_abilities(kind, model).can_disable is is_told


@pytest.mark.parametrize(("kind", "model"), CAN_DISABLE)
def test_caching_can_be_turned_off_where_the_provider_lets_itself_be_told(
    kind: ProviderKind, model: str
) -> None:
    assert cache_abilities(kind, model).can_disable


@pytest.mark.parametrize(("kind", "model"), CANNOT_DISABLE)
def test_where_caching_cannot_be_turned_off_the_reason_is_said(kind: ProviderKind, model: str) -> None:
    found = cache_abilities(kind, model)

    is_compatible = kind is ProviderKind.COMPATIBLE
    said = "no known setting turns this off" if is_compatible else "no way to turn caching off"
    assert not found.can_disable
    assert said in found.disable_text


@pytest.mark.parametrize("kind", list(ProviderKind))
def test_every_provider_can_be_invalidated_and_says_how(kind: ProviderKind) -> None:
    found = cache_abilities(kind, "any")

    assert found.can_invalidate
    assert found.invalidate_text.endswith(".")
    assert found.disable_text.endswith(".")


def test_the_person_sets_the_lifetime_where_there_is_one_to_set() -> None:
    able = {
        kind: cache_abilities(kind, model).can_set_ttl for kind, model in (*CAN_DISABLE, *CANNOT_DISABLE[:1])
    }

    assert able == {
        ProviderKind.ANTHROPIC: True,
        ProviderKind.GEMINI: False,
        ProviderKind.OPENAI: True,
        ProviderKind.EMBEDDED: False,
    }
    assert cache_abilities(ProviderKind.GEMINI, "gemini-3.8-flash").can_set_ttl


def test_a_server_that_is_known_to_take_cache_prompt_can_be_told() -> None:
    assert cache_abilities(ProviderKind.COMPATIBLE, "qwen", takes_cache_prompt=True).can_disable
