"""Gauge of the next request, in words and in a colour: the same figure under the same name wherever it stands."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from core.kernel import figures as fmt
from core.kernel.language import capital, spliced, tr
from core.kernel.values.provider import ModelPrice, ModelProfile, ProviderKind, ProviderStatus
from core.kernel.values.state import AppState, Level
from core.services.providers.profiles import ending_words
from core.services.spending.estimates import NextRequest
from panels.base.ui import Option, Tone, Ui
from panels.base.view import Memo
from panels.base.widgets import OPENED

NAME = tr("Next request")
TITLED_FROM_PX = 300
"""Width from which the estimate has room beside its name."""


def gauge(request: NextRequest) -> str:
    """Tokens of the next request against the model's window: `≈18.4k / 200k`; `≈18.4k tokens` where that is unknown."""
    total = fmt.tokens_est(request.tokens_est, is_exact=request.is_exact)
    return (
        tr("{total} tokens", total=total)
        if request.limit_tokens is None
        else f"{total} / {fmt.tokens(request.limit_tokens)}"
    )


def estimate(request: NextRequest) -> str:
    """Tokens and cost of the next request: `≈18.4k / 200k · est. $0.031`."""
    return f"{gauge(request)} · {fmt.estimated(request.cost_usd)}"


def estimate_tip(request: NextRequest) -> str:
    """Meaning of the figures, on hover."""
    size = (
        tr("{tokens:,} tokens", tokens=request.tokens_est)
        if request.is_exact
        else tr("about {tokens:,} tokens", tokens=request.tokens_est)
    )
    if request.limit_tokens is not None:
        size = tr("{size} of the {limit:,} that the model takes", size=size, limit=request.limit_tokens)
    lines = [
        spliced("{}: {}", NAME, size),
        tr("{price}, without the reply", price=capital(fmt.estimated(request.cost_usd))),
    ]
    if request.cost_without_usd is not None and request.cost_without_usd != request.cost_usd:
        lines.append(
            tr("Without any cache: {cost_without_usd}", cost_without_usd=fmt.money(request.cost_without_usd))
        )
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


# Large figures of a panel, each on a card.

FIGURES_PX, USUAL_CHARS = 256, 5
"""Width that three figures of so many characters need side by side; longer ones need more."""


class Figure(msgspec.Struct, frozen=True):
    """A large figure: its value, what it counts, and what it means in full."""

    value: str
    label: str
    tone: Tone
    tip: str = ""


def figure_cards(ui: Ui, figures: Sequence[Figure]) -> None:
    """Draw them side by side, or one below the other where the figures would be cut."""
    longest = max(len(figure.value) for figure in figures)
    if ui.width() < FIGURES_PX * max(USUAL_CHARS, longest) // USUAL_CHARS:
        with ui.group("figures", gap=4):
            for figure in figures:
                with ui.row(figure.label):
                    ui.text("value", figure.value, tone=figure.tone, style="strong", tip=figure.tip)
                    ui.text("label", figure.label, tone="muted", style="small", tip=figure.tip)
        return
    with ui.row("figures"):
        for figure in figures:
            with ui.surface(figure.label, "card", padding=(12, 10)), ui.group("lines", gap=4):
                ui.text("value", figure.value, tone=figure.tone, style="h1", tip=figure.tip)
                ui.text("label", figure.label, tone="muted", style="small", wraps=True, tip=figure.tip)


# Levels of notices as they are shown: the same sign wherever one stands.

LEVEL_ICONS: dict[Level, tuple[str, Tone]] = {
    Level.INFO: ("circle-info", "accent"),
    Level.WARNING: ("triangle-exclamation", "warn"),
    Level.ERROR: ("circle-exclamation", "error"),
}


# Models as options of a combo, by provider.


def model_value(provider: str, model: str) -> str:
    """A model as the value of an option."""
    return f"{provider}\n{model}"


def model_options(state: AppState) -> tuple[Option, ...]:
    """Every model that could be chosen, by provider, those that are ready first."""
    known = sorted(state.config.providers.values(), key=lambda status: not status.is_ready)
    return tuple(
        Option(
            value=model_value(status.id, model.id),
            label=_named(model, state.now),
            detail=_detail(state, status, model),
            group=status.label if status.is_ready else tr("{label} (not ready)", label=status.label),
        )
        for status in known
        for model in state.config.models.get(status.id, ())
    )


def option_parts(state: AppState) -> tuple[object, ...]:
    """Parts of the state that the options follow from."""
    day = state.now.date() if state.now is not None else None
    return state.config.models, state.config.providers, state.config.prices, day


def remembered_options(state: AppState, memo: Memo) -> tuple[Option, ...]:
    """The options, made anew only where one of their parts changed."""
    return memo.get("models", option_parts(state), lambda: model_options(state))


def _named(model: ModelProfile, now: datetime | None) -> str:
    """A model's name, with the day that it ends where that is near."""
    ends = ending_words(model, now)
    return f"{model.label or model.id} ({ends})" if ends else model.label or model.id


def price_text(price: ModelPrice) -> str:
    """A price in words: for a million tokens in and out."""
    if price.is_free:
        return tr("free")
    return tr(
        "input {input_usd}, output {output_usd}",
        input_usd=fmt.rate(price.input_usd),
        output_usd=fmt.rate(price.output_usd),
    )


def told_price(price: ModelPrice | None, *, is_known: bool) -> str:
    """A price in words with who says so, and of which day. `is_known`: somebody has looked it up."""
    if price is None:
        return fmt.PRICE_UNKNOWN if is_known else tr("price not looked up")
    origin = f" ({price.origin})" if price.origin else ""
    return f"{price_text(price)}{origin}"


def _detail(state: AppState, status: ProviderStatus, model: ModelProfile) -> str:
    price = state.config.prices.get((status.id, model.id))
    window = (
        ""
        if model.context_tokens is None
        else tr("{context_tokens} window", context_tokens=fmt.tokens(model.context_tokens))
    )
    small = "small" if status.kind is ProviderKind.EMBEDDED else ""
    return " · ".join(part for part in (small, window, price_text(price) if price else "") if part)


# Button that leads from a path to the person's own program: a text file is opened there, of another the
# path is copied.


def file_button(ui: Ui, path: str, *, label: str = "") -> None:
    """Draw the button.

    Args:
        path: absolute, of a file that is there; label: words on the button, none for the icon alone.
    """
    name = path.replace("\\", "/").rpartition("/")[2]
    if name[name.rfind(".") :] in OPENED:
        tip = tr("Open {name} in editor", name=name) if not label else path
        if ui.button("open", label, icon="up-right-from-square", kind="ghost", is_small=True, tip=tip):
            ui.open_file(path)
    elif ui.button(
        "open", "", icon="copy", kind="ghost", is_small=True, tip=tr("Copy the path {path}", path=path)
    ):
        ui.copy(path)
