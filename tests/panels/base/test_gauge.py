"""How full the context window is."""

from __future__ import annotations

from msgspec.structs import replace

from panels.base.gauge import gauge, gauge_tone
from tests.panels import states


def test_the_gauge_warns_before_the_window_is_full() -> None:
    report = states.report()

    assert gauge_tone(report) == "muted"
    assert gauge_tone(replace(report, total_tokens_est=170_000)) == "warn"
    assert gauge_tone(replace(report, fits=False)) == "error"
    assert gauge(replace(report, limit_tokens=None, is_exact=True)) == "12.4k / window unknown"
