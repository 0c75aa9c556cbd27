"""Gauge of the next request, in words and in a colour: the same figure under the same name wherever it stands."""

from __future__ import annotations

from core.base import figures as fmt
from core.spending.estimates import NextRequest
from panels.base.ui import Tone, Ui

NAME = "Next request"
TITLED_FROM_PX = 300
"""Width from which the estimate has room beside its name."""


def gauge(request: NextRequest) -> str:
    """Tokens of the next request against the model's window: `≈18.4k / 200k`; `≈18.4k tokens` where that is unknown."""
    total = fmt.tokens_est(request.tokens_est, is_exact=request.is_exact)
    return (
        f"{total} tokens" if request.limit_tokens is None else f"{total} / {fmt.tokens(request.limit_tokens)}"
    )


def estimate(request: NextRequest) -> str:
    """Tokens and cost of the next request: `≈18.4k / 200k · est. $0.031`."""
    return f"{gauge(request)} · {fmt.estimated(request.cost_usd)}"


def estimate_tip(request: NextRequest) -> str:
    """Meaning of the figures, on hover."""
    limit = "" if request.limit_tokens is None else f" of the {request.limit_tokens:,} that the model takes"
    lines = [
        f"{NAME}: {'' if request.is_exact else 'about '}{request.tokens_est:,} tokens{limit}",
        f"{fmt.estimated(request.cost_usd).capitalize()}, without its reply",
    ]
    if request.cost_without_usd is not None and request.cost_without_usd != request.cost_usd:
        lines.append(f"Without any cache {fmt.money(request.cost_without_usd)}")
    return "\n".join(lines)


def titled_estimate(ui: Ui, request: NextRequest) -> None:
    """Draw the estimate behind its name, where that is too narrow below it: what a send costs is never cut."""

    def figures() -> None:
        tone, tip = gauge_tone(request), estimate_tip(request)
        ui.text("estimate", estimate(request), tone=tone, style="small_strong", tip=tip)

    if 0 < ui.width() < TITLED_FROM_PX:
        ui.text("name", NAME, style="strong")
        figures()
        return
    with ui.row("next"):
        ui.text("name", NAME, style="strong")
        ui.push()
        figures()


def gauge_tone(request: NextRequest) -> Tone:
    """Red where the request does not fit, amber from four fifths of the window."""
    if not request.fits:
        return "error"
    is_near = request.limit_tokens is not None and request.tokens_est > 0.8 * request.limit_tokens
    return "warn" if is_near else "muted"
