"""The estimate of the next request: one figure, under one name, wherever it stands."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.cache import CachePlan
from core.kernel.values.state import AppState
from core.services.spending.estimates import NextRequest, next_input_usd, next_request
from panels.base.gauge import NAME, estimate, gauge, gauge_tone
from panels.base.view import WindowView
from tests.panels import states
from tests.panels.screen import Screen
from tests.recording_nodes import Node
from tests.state_fields import with_fields

REQUEST = NextRequest(12_354, 200_000, cost_usd=0.031)
PLAN = CachePlan(
    read_tokens=24_000, write_tokens=600, fresh_tokens=400, cost_usd=0.004, cost_without_usd=0.031
)
"""Its count is another than that of the layers, as a plan's of the wire is."""


def test_the_gauge_warns_before_the_window_is_full() -> None:
    assert gauge_tone(REQUEST) == "muted"
    assert gauge_tone(replace(REQUEST, tokens_est=170_000)) == "warn"
    assert gauge_tone(replace(REQUEST, fits=False)) == "error"
    assert gauge(replace(REQUEST, limit_tokens=None, is_exact=True)) == "12.4k tokens"
    assert estimate(replace(REQUEST, cost_usd=None)) == "≈12.4k / 200k · price unknown"


def _estimates(screen: Screen) -> list[Node]:
    return [n for n in screen.ui.nodes("text") if n.path[-1] in {"gauge", "estimate"}]


@pytest.mark.parametrize("plan", [None, PLAN, replace(PLAN, cost_usd=None)])
def test_composer_context_and_caching_show_one_estimate_under_one_name(plan: CachePlan | None) -> None:
    state = states.working(plans={} if plan is None else {"d1": plan})
    request = next_request(state, "d1")
    assert request is not None
    for panel in ("context", "caching"):
        screen = Screen(state, WindowView(panel=panel, hub_px=448))
        composer, hub = _estimates(screen)

        assert {composer.value, hub.value} == {estimate(request)}
        assert composer.tip == hub.tip
        assert composer.tip.startswith(NAME)
        assert [text for text in screen.ui.texts() if text == NAME] == [NAME, NAME]
        assert not [text for text in screen.ui.texts() if "est. $" in text and estimate(request) not in text]


def test_the_parts_of_an_estimate_add_up_to_it() -> None:
    request = next_request(states.working(plans={"d1": PLAN}), "d1")

    assert request is not None
    parts = request.read_tokens_est, request.write_tokens_est, request.fresh_tokens_est
    assert sum(parts) == request.tokens_est == 12_354
    assert parts[0] == 11_860


def _without(state: AppState) -> AppState:
    return with_fields(state, reports={})


def test_a_plan_alone_is_an_estimate_and_nothing_is_none() -> None:
    planned = next_request(_without(states.working(plans={"d1": PLAN})), "d1")

    assert planned == NextRequest(25_000, None, False, True, 0.004, 0.004, 0.031, 24_000, 600, 400)
    assert next_request(_without(states.working()), "d1") is None
    assert next_input_usd(_without(states.working()), "d1") is None
