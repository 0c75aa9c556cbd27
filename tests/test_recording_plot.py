"""The recording Ui holds panels to what a plot can draw."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from panels.base.ui import Series, Ui
from tests.recording_nodes import ProtocolError
from tests.recording_ui import RecordingUi

GOOD = Series("hit rate", (1.0, 2.0), (0.0, None), "area", "accent", "%")


def _draw(*series: Series) -> RecordingUi:
    def describe(ui: Ui) -> None:
        ui.plot("plot", series, x_label="turn")

    drawn = RecordingUi(describe)
    drawn.frame()
    return drawn


def test_a_plot_is_recorded_with_its_legend() -> None:
    (plot,) = _draw(GOOD, replace(GOOD, label="cost", unit="$")).nodes("plot")

    assert plot.value == "hit rate · cost"
    assert plot.props["series"][0] == GOOD
    assert plot.props["x_label"] == "turn"


@pytest.mark.parametrize(
    "bad",
    [
        replace(GOOD, label=" "),
        replace(GOOD, ys=(1.0,)),
        replace(GOOD, xs=(2.0, 1.0)),
        replace(GOOD, xs=(1.0, 1.0)),
        replace(GOOD, ys=(float("nan"), 1.0)),
        replace(GOOD, ys=(float("inf"), 1.0)),
        replace(GOOD, kind="pie"),  # type: ignore[arg-type]
        replace(GOOD, tone="pink"),  # type: ignore[arg-type]
        replace(GOOD, unit="m"),  # type: ignore[arg-type]
    ],
)
def test_a_series_that_cannot_be_drawn_is_refused(bad: Series) -> None:
    with pytest.raises(ProtocolError):
        _draw(bad)


def test_three_units_have_no_room_for_their_axes() -> None:
    with pytest.raises(ProtocolError):
        _draw(GOOD, replace(GOOD, unit="$"), replace(GOOD, unit=""))
