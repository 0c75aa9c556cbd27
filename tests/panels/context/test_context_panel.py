"""The Context view as a person meets it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.stack import LAYER_TITLES, ContextChange, LayerId, SegmentReport
from core.kernel.values.state import AppState, ProgramState
from panels.base.view import WindowView
from tests.panels import states
from tests.panels.screen import Screen
from tests.state_fields import with_fields


def _screen(state: AppState | None = None, **view: object) -> Screen:
    return Screen(state or states.working(), WindowView(panel="context", **view))  # type: ignore[arg-type]


def _titles(screen: Screen) -> list[str]:
    known = set(LAYER_TITLES.values())
    return [
        node.value for node in screen.ui.nodes("text") if node.value in known and node.path[-1] == "title"
    ]


def test_the_layers_stand_in_canonical_order_and_the_empty_ones_in_one_line() -> None:
    empty = {LayerId.TOOLS, LayerId.KNOWLEDGE}
    screen = _screen()

    assert _titles(screen) == [LAYER_TITLES[layer] for layer in LayerId if layer not in empty]
    assert "2 of the twelve layers are empty: Tools, Knowledge" in screen.ui.texts()


def test_as_sent_tools_come_first_and_the_volatile_metadata_last() -> None:
    screen = _screen()

    screen.ui.click("Sending order")

    assert _titles(screen)[:3] == ["Function-calling schema", "Role instructions", "System prompt"]
    assert _titles(screen)[-2:] == ["Your message", "Discussion metadata"]


def test_every_figure_that_is_estimated_is_marked_and_an_exact_one_is_not() -> None:
    assert _screen().ui.shows("≈12.4k / 200k · est. $0.031")

    exact = replace(states.report(), is_exact=True)
    screen = _screen(with_fields(states.working(), reports={"d1": exact}))

    assert not any("≈" in text for text in screen.ui.texts() if "tokens" in text)


@pytest.mark.parametrize(
    ("layer", "state"),
    [
        (LayerId.ROLE, "unchanged"),
        (LayerId.PROJECT, "changed"),
        (LayerId.METADATA, "new"),
    ],
)
def test_each_layer_says_how_it_stands_to_the_last_request(layer: LayerId, state: str) -> None:
    card = next(node for node in _screen().ui.nodes("clickable") if node.path[-1] == ("layer", int(layer)))

    assert [node.value for node in card.walk() if node.kind == "badge"] == [state]


def test_before_the_first_request_no_layer_claims_a_state() -> None:
    screen = _screen(states.with_opened(states.working(), last_request=None))

    assert not [node for node in screen.ui.nodes("badge") if "layer" in str(node.path)]


def test_a_layer_opens_to_its_text_bytes_share_and_hash() -> None:
    screen = _screen()

    screen.ui.click("Project context")

    assert screen.ui.shows("25 % of the context · 15,510 bytes · sha256 060606060606")
    assert [n for n in screen.ui.nodes("selectable_text") if n.value.startswith("[project] word")]
    screen.ui.click("Project context")
    assert not screen.ui.nodes("selectable_text")


def test_the_parts_of_a_layer_are_listed_with_their_tokens_as_far_as_a_page_goes() -> None:
    parts = tuple(SegmentReport(f"10/src/f{n}.py", "aa", 10, 7) for n in range(60))
    report = states.report()
    layers = tuple(
        replace(la, segments=parts) if la.layer is LayerId.FILE_DETAILS else la for la in report.layers
    )
    screen = _screen(with_fields(states.working(), reports={"d1": replace(report, layers=layers)}))

    screen.ui.click("File details")

    assert screen.ui.shows("src/f39.py")
    assert not screen.ui.shows("src/f40.py")
    assert screen.ui.shows("and 20 more parts")


def test_the_bar_shares_the_request_and_tells_each_layer_apart() -> None:
    (bar,) = _screen().ui.nodes("stacked_bar")
    shares = bar.props["shares"]

    assert abs(sum(share.fraction for share in shares) - 1) < 1e-9
    assert [share.fill for share in shares] == [0, 1, 3, 4, 5, 7, 8, 9, 10, 11]
    assert shares[0].tip == "Role instructions: ≈180, 1 %"


def test_what_changed_since_the_last_request_is_said_with_layer_byte_tokens_and_cost() -> None:
    screen = _screen()

    assert screen.ui.shows("First difference in 6 · Project context at byte 412.")
    assert screen.ui.shows("The ≈2.4k tokens before this place are the same.")
    assert screen.ui.shows("≈10.0k tokens are new to the model · $0.025"), "their share of the estimate"
    assert screen.ui.shows("Why: AGENTS.md was edited")


def test_an_unchanged_prefix_is_said_to_be_so() -> None:
    report = replace(states.report(), change=ContextChange(None, None, 12_000, 64))
    screen = _screen(with_fields(states.working(), reports={"d1": report}))

    assert screen.ui.shows(
        "The next request repeats the last one unchanged (≈12.0k tokens), then adds to it."
    )
    assert screen.ui.shows("≈64 tokens are new to the model · <$0.001")
    assert not [
        node for node in screen.ui.nodes("badge") if node.value == "changed" and node.props["tone"] == "warn"
    ]


@pytest.mark.parametrize(
    ("first", "layer", "told"),
    [
        (None, LayerId.TURNS, ("grown", "muted")),
        (None, LayerId.USER, ("new", "accent")),
        (None, LayerId.FILE_SET, ("changed", "muted")),
        (LayerId.PROJECT, LayerId.METADATA, ("new each turn", "muted")),
        (LayerId.PROJECT, LayerId.FILE_SET, ("changed", "warn")),
        (LayerId.FILE_DETAILS, LayerId.FILE_SET, ("changed", "muted")),
        (LayerId.TURNS, LayerId.TURNS, ("changed", "warn")),
    ],
)
def test_a_layer_is_amber_only_where_its_change_costs(
    first: LayerId | None, layer: LayerId, told: tuple[str, str]
) -> None:
    report = replace(states.report(), change=ContextChange(first, None, 12_000, 64))
    before = states.last_request()
    layers = tuple(
        replace(one, sha256="ff" * 32, length_chars=9) if one.layer is layer else one for one in report.layers
    )
    state = states.with_opened(states.working(), last_request=replace(before, layers=layers))
    screen = _screen(with_fields(state, reports={"d1": report}))

    card = next(node for node in screen.ui.nodes("clickable") if node.path[-1] == ("layer", int(layer)))

    badges = [(node.value, node.props["tone"]) for node in card.walk() if node.kind == "badge"]
    assert badges == [told]


def test_a_stack_that_does_not_fit_says_by_how_much_and_what_to_leave_out() -> None:
    screen = _screen(with_fields(states.working(), reports={"d1": states.report(fits=False)}))

    assert screen.ui.shows("The request does not fit the model: ≈4.2k tokens too many")
    assert screen.ui.shows("leave out docs/index.md (120k)")
    (bar,) = screen.ui.nodes("stacked_bar")
    assert sum(share.fraction for share in bar.props["shares"]) <= 1


def test_a_stack_not_yet_assembled_says_so() -> None:
    assert _screen(with_fields(states.working(), reports={})).ui.shows(
        "The program is assembling the context…"
    )
    assert _screen(AppState(program=ProgramState(home="/h", is_loading=False))).ui.shows(
        "No discussion is selected."
    )


def test_the_panel_reads_only() -> None:
    screen = _screen()
    for layer in ("Role instructions", "Persona", "Earlier turns"):
        screen.ui.click(layer)

    assert screen.asked == []
