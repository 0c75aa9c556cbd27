"""Models that their vendors end, and the efforts that vendors list."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from core.front.cli.format import model_data, models_text
from core.kernel.values.provider import Effort, KeySource, ModelProfile, ProviderKind, ProviderStatus
from core.services.providers.model_data import packaged_models
from core.services.providers.profiles import ending_words, find_profile, merge_models, nearest_effort
from tests.core.services.providers.vendors import VENDORS
from tests.vendors.loopback import Captured, LoopbackServer, Reply
from tests.vendors.world.table import ANTHROPIC, JSON, RESPONSES

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
ALL = (Effort.LOW, Effort.MEDIUM, Effort.HIGH, Effort.XHIGH, Effort.MAX)


class Lists(LoopbackServer):
    """Answers everything with one list of models."""

    def __init__(self, *models: dict[str, Any]) -> None:
        super().__init__()
        self._body = json.dumps({"object": "list", "data": models, "has_more": False}).encode()

    def answer(self, captured: Captured) -> Reply:
        del captured
        return Reply(200, self._body, {"content-type": JSON})


def listed(api: str, *models: dict[str, Any]) -> tuple[ModelProfile, ...]:
    vendor = next(one for one in VENDORS if one.kind == api)
    with Lists(*models) as server:
        client = vendor.client(server)
        found = client.list_models()
        client.close()
    return found


@pytest.mark.parametrize(
    ("said", "day"),
    [("2026-12-20T00:00:00Z", "2026-12-20"), (None, ""), ("soon", ""), ({"day": 1}, "")],
)
def test_anthropic_says_when_a_model_retires(said: object, day: str) -> None:
    (one,) = listed(ANTHROPIC, {"type": "model", "id": "claude-x", "display_name": "X", "retires_at": said})

    assert one.ends_on == day


@pytest.mark.parametrize(("said", "day"), [("2026-12-20", "2026-12-20"), (None, ""), ([], "")])
def test_openai_says_when_a_model_shuts_down(said: object, day: str) -> None:
    row = {"id": "gpt-6.1-sol", "object": "model", "created": 1, "owned_by": "openai", "shutdown_date": said}

    assert [one.ends_on for one in listed(RESPONSES, row)] == [day]


def profile(ends_on: str) -> ModelProfile:
    return ModelProfile(provider="anthropic", id="claude-x", label="Claude X", ends_on=ends_on)


@pytest.mark.parametrize(
    ("ends_on", "words"),
    [
        ("", ""),
        ("2027-01-28", "ends 2027-01-28"),
        ("2027-01-29", ""),
        ("2026-11-29", "ends 2026-11-29"),
        ("2026-11-28", "the provider planned to withdraw this model on 2026-11-28"),
    ],
)
def test_a_model_that_ends_within_60_days_says_so_beside_its_name(ends_on: str, words: str) -> None:
    status = ProviderStatus(
        id="anthropic",
        label="Anthropic",
        kind=ProviderKind.ANTHROPIC,
        is_ready=True,
        key_source=KeySource.FILE,
    )
    told = models_text([status], {"anthropic": (profile(ends_on),)}, now=NOW)

    assert ending_words(profile(ends_on), NOW) == words
    assert (f"claude-x ({words})" in told) == bool(words)
    assert model_data(profile(ends_on), None)["ends_on"] == ends_on


def test_what_the_server_lists_of_efforts_and_its_end_counts_for_a_known_model() -> None:
    can = {"effort": {"supported": True, **{level.value: {"supported": True} for level in ALL}},
           "thinking": {"supported": True, "types": {"adaptive": {"supported": True}}}}  # fmt: skip
    row = {
        "type": "model",
        "id": "claude-opus-5-5",
        "retires_at": "2026-12-20T00:00:00Z",
        "capabilities": can,
    }
    models = merge_models(packaged_models(), listed(ANTHROPIC, row), kind=ProviderKind.ANTHROPIC)
    known = find_profile(models, "anthropic", "claude-opus-5-5")

    assert known.efforts == ALL
    assert known.ends_on == "2026-12-20"


def test_openai_models_with_two_highest_levels_take_each_by_its_word() -> None:
    newer, older = (find_profile(packaged_models(), "openai", one) for one in ("gpt-5.6-sol", "gpt-5.4"))

    assert [nearest_effort(newer, level) for level in (Effort.XHIGH, Effort.MAX)] == [
        Effort.XHIGH,
        Effort.MAX,
    ]
    assert nearest_effort(older, Effort.XHIGH) is Effort.HIGH
