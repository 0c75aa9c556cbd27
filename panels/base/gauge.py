"""Gauge of the model's context window, in words and in a colour."""

from __future__ import annotations

from core.base import figures as fmt
from core.values.stack import ContextReport
from panels.base.ui import Tone


def gauge(report: ContextReport) -> str:
    """Tokens of the next request against the model's window: `≈18.4k / 200k`."""
    total = fmt.tokens_est(report.total_tokens_est, is_exact=report.is_exact)
    limit = "window unknown" if report.limit_tokens is None else fmt.tokens(report.limit_tokens)
    return f"{total} / {limit}"


def gauge_tone(report: ContextReport) -> Tone:
    """Red where the request does not fit, amber from four fifths of the window."""
    if not report.fits:
        return "error"
    is_near = report.limit_tokens is not None and report.total_tokens_est > 0.8 * report.limit_tokens
    return "warn" if is_near else "muted"
