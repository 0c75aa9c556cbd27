"""Our widths are those that the toolkit draws."""

from __future__ import annotations

import pytest

from gui.metrics import Measure, load_theme
from tests.gui.conftest import Screen

STYLES = sorted(load_theme().fonts)


@pytest.mark.gui
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "sample", ["Hello, WAVE types!", "漢字 かな 한글", "\uf021\uf0c5 -> 0123", "é ü ß ∑ ☑ •"]
)
def test_widths_are_what_the_toolkit_measures(screen: Screen, style: str, sample: str) -> None:
    import dearpygui.dearpygui as dpg

    font = screen.ui.canvas.fonts[style]
    screen.driver.step(2)
    text = sample * 16
    drawn = dpg.get_text_size(text, font=font)[0]
    assert screen.ui.tree.m.width(text, style) == pytest.approx(drawn, abs=1.01)


def test_an_ellipsis_makes_it_fit(measure: Measure) -> None:
    full = "A title that is too long"
    for width in range(0, 200, 7):
        shown = measure.ellipsized(full, "body", width)
        assert measure.width(shown, "body") <= max(width, 0)
        assert shown == full or shown.endswith("…") or not shown
    assert measure.ellipsized(full, "body", 1000) == full


def test_scales_change_sizes_and_widths(measure: Measure) -> None:
    other = Measure(measure._fonts, measure._directory, 2.0)
    assert other.sizes["body"] == 2 * measure.sizes["body"]
    assert other.width("width", "body") == pytest.approx(2 * measure.width("width", "body"))


def test_a_character_no_font_has_is_as_wide_as_its_substitute(measure: Measure) -> None:
    assert measure.width("\U0001f9ff\U000f0000", "body") > 0
