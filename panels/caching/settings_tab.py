"""Global settings of prompt caching."""

from __future__ import annotations

import msgspec

from core.settings.messages import ChangeSetting
from core.values.settings import CachingSettings
from panels.base.desk import Desk
from panels.base.ui import Option
from panels.caching.view import CachingView

TABLE = "ai_settings.caching"
LONG_FROM_MINUTES = 60
NUMBER_PX = 88.0
CHOICE_PX = 152.0
CHARGES_FROM_PX = 340
"""Width from which what longer Gemini caches cost has room behind their switch; else it stands below."""
ANTHROPIC_TTLS = (Option("auto", "By your gaps"), Option("5m", "5 minutes"), Option("1h", "1 hour"))
OPENAI_TTLS = (Option("auto", "By your gaps"), Option("30m", "30 minutes"), Option("12h", "12 hours"))


class Amount(msgspec.Struct, frozen=True):
    """A number that the person types.

    Args:
        high: the largest that is taken; is_whole: no part after the point; may_be_empty: empty stands for none.
    """

    key: str
    label: str
    tip: str
    high: float
    is_whole: bool = False
    may_be_empty: bool = False


GEMINI_TTL = Amount(
    f"{TABLE}.gemini_ttl_minutes",
    "Gemini TTL (minutes)",
    "Longest that an explicit Gemini cache is held after a turn",
    10_080,
    is_whole=True,
)
CAP = Amount(
    f"{TABLE}.keepalive_cap_usd",
    "Keepalive cap ($)",
    "What keepalive may cost for one discussion and one idle time",
    1_000,
)
DISK = Amount(
    f"{TABLE}.embedded_disk_mb",
    "Saved prefixes (MB)",
    "What saved prefixes of the embedded model may take on disk",
    1_000_000,
    is_whole=True,
)


def settings_section(desk: Desk) -> None:
    """Draw the switches and lifetimes. Sends ChangeSetting."""
    ui, now = desk.ui, desk.state.config.settings.caching
    with ui.group("global settings", gap=8):
        ui.text("title", "Global settings", style="strong")
        _vendors(desk, now)
        ui.divider("keeping")
        _keeping(desk, now)


def _vendors(desk: Desk, now: CachingSettings) -> None:
    _switch(desk, "anthropic_enabled", "Enable Anthropic ephemeral caching", now.anthropic_enabled,
            "Requests to Anthropic carry cache marks")  # fmt: skip
    _choice(desk, "anthropic_ttl", "Anthropic TTL", ANTHROPIC_TTLS, now.anthropic_ttl)
    _switch(desk, "gemini_enabled", "Enable Gemini explicit caching", now.gemini_enabled,
            "Gemini 2.5 to 3.x store the files and the turns so far, for rent while that is expected to pay")  # fmt: skip
    label, charges = "Allow >1h Gemini caches", "charges may apply"
    is_wide = not 0 < desk.ui.width() < CHARGES_FROM_PX
    _switch(desk, "gemini_allow_long", f"{label} ({charges})" if is_wide else label, now.gemini_allow_long,
            "Storage is charged for as long as a cache is held")  # fmt: skip
    if not is_wide:
        desk.ui.text("charges", charges.capitalize(), tone="muted", style="small")
    amount_row(desk, GEMINI_TTL, now.gemini_ttl_minutes)
    if now.gemini_ttl_minutes > LONG_FROM_MINUTES and not now.gemini_allow_long:
        note = f"{LONG_FROM_MINUTES} minutes are used: longer caches are not allowed."
        desk.ui.text("gemini note", note, tone="warn", style="small", wraps=True)
    _choice(desk, "openai_ttl", "OpenAI TTL", OPENAI_TTLS, now.openai_ttl)


def _keeping(desk: Desk, now: CachingSettings) -> None:
    _switch(desk, "appends_changes", "Append changes while warm", now.appends_changes,
            "Changed files are added behind a warm prefix instead of rewriting it")  # fmt: skip
    _switch(desk, "prewarm", "Prewarm when a discussion opens", now.prewarm,
            "The prefix is read when a discussion opens; the embedded model always does, it is free")  # fmt: skip
    _switch(desk, "keepalive", "Keepalive", now.keepalive,
            "An idle prefix is read again to keep it, while that is expected to pay")  # fmt: skip
    amount_row(desk, CAP, now.keepalive_cap_usd)
    amount_row(desk, DISK, now.embedded_disk_mb)


def _switch(desk: Desk, name: str, label: str, value: bool, tip: str) -> None:
    changed = desk.ui.checkbox(name, label, value, tip=tip)
    if changed is not None:
        desk.send(ChangeSetting(f"{TABLE}.{name}", changed))


def _choice(desk: Desk, name: str, label: str, options: tuple[Option, ...], value: str) -> None:
    ui = desk.ui
    with ui.row(name):
        ui.text("label", label, tone="muted")
        ui.push()
        chosen = ui.combo("choice", options, value, width=CHOICE_PX, tip=f"{label}: default lifetime")
    if chosen is not None:
        desk.send(ChangeSetting(f"{TABLE}.{name}", chosen))


def amount_row(desk: Desk, amount: Amount, value: float | None) -> None:
    """Draw a number that the person types, and why it is not taken. Sends ChangeSetting."""
    ui, own = desk.ui, desk.view.of(CachingView)
    with ui.row(amount.key):
        ui.text("label", amount.label, tone="muted", tip=amount.tip)
        ui.push()
        shown = "" if value is None else f"{value:g}"
        typed = ui.text_input("value", shown, hint="No limit" if amount.may_be_empty else "", width=NUMBER_PX,
                              submits=True, tip=amount.label)  # fmt: skip
    if typed is not None and typed.strip() != shown:
        found = _parsed(desk, amount, typed.strip())
        own.error = (amount.key, found) if isinstance(found, str) else ("", "")
        if not isinstance(found, str):
            desk.send(ChangeSetting(amount.key, found))
    if own.error[0] == amount.key:
        ui.text((amount.key, "error"), own.error[1], tone="error", style="small", wraps=True)


def _parsed(desk: Desk, amount: Amount, text: str) -> float | int | str | None:
    """The number that was typed, None for no limit, or why it is not taken."""
    if not text and amount.may_be_empty:
        return None
    digits = text.removeprefix("$").replace(",", "").replace("_", "")
    whole, _, part = digits.partition(".")
    is_number = whole.isdecimal() and len(whole) < 16 and (not part or (part.isdecimal() and len(part) < 10))
    if not is_number or (amount.is_whole and part):
        return f"{text!r} is no {'whole ' if amount.is_whole else ''}number"
    value = float(digits)
    if value > amount.high or (amount is GEMINI_TTL and value < 1):
        return (
            f"{text} is outside of what is possible, {1 if amount is GEMINI_TTL else 0} to {amount.high:,.0f}"
        )
    if (
        amount is GEMINI_TTL
        and value > LONG_FROM_MINUTES
        and not desk.state.config.settings.caching.gemini_allow_long
    ):
        return "Over 60 minutes only when longer Gemini caches are allowed above"
    return int(value) if amount.is_whole else value
