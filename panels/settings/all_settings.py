"""Every setting of the person's in one list that can be searched: what it does, its value, the way back to what is usual."""

from __future__ import annotations

import re
from operator import attrgetter

from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.search_terms import begins_words
from core.kernel.values.settings import Settings
from core.services.settings.settings_checks import value_flaw
from core.services.settings.settings_messages import ChangeSetting
from core.services.settings.settings_schema import SETTINGS, Kind, Setting, SettingScope, Value
from panels.base.desk import Desk, action_tip, run_action
from panels.base.ui import Option
from panels.settings.settings_room import ACTIONS, PAGES, SettingsView

SHOWN = 60
"""Settings that are drawn at once; of more, the search finds the rest."""
VALUE_PX = 220.0
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)b?", re.IGNORECASE)
_SECTIONS = {
    "ai_settings": tr("Models and spend limits"),
    "ai_settings.caching": tr("Caching"),
    "ai_settings.knowledge": tr("Knowledge and harvest"),
    "appearance": tr("Appearance"),
    "agent": tr("Agent"),
    "attention": tr("Autonomy"),
    "files": tr("Files"),
    "notifications": tr("Notifications"),
    "retrieval": tr("Search"),
    "tools": tr("Permissions"),
    "mcp": "MCP",
}
LISTED: tuple[Setting, ...] = tuple(
    one for one in SETTINGS if one.field and "<" not in one.key and one.scope is not SettingScope.PROJECT
)
"""Settings with one value, which a person may set for every project."""


def all_section(desk: Desk) -> None:
    """Draw the list. Sends ChangeSetting."""
    ui, own = desk.ui, desk.view.of(SettingsView)
    ui.text("title", tr("All settings"), style="h2")
    found, is_elsewhere = found_settings(own.query), _elsewhere(desk, own.query)
    if not (found or is_elsewhere):
        ui.text(
            "none", tr("No setting matches {query!r}.", query=own.query.strip()), tone="muted", wraps=True
        )
    section = None
    for one in found[:SHOWN]:
        if one.section != section:
            section = one.section
            ui.text(("section", section), _SECTIONS.get(section, section), style="strong")
        _setting(desk, one)
    if len(found) > SHOWN:
        ui.text(
            "more",
            tr(
                "and {found:,} more of the settings: type in the search field to find more",
                found=len(found) - SHOWN,
            ),
            tone="muted",
            style="small",
        )


def _elsewhere(desk: Desk, query: str) -> bool:
    """Lead to the pages and commands that a query means and that can be used now; whether there are any."""
    ui, view = desk.ui, desk.view
    pages = [page for page in PAGES if page.id != "all" and begins_words(query, f"{page.label} {page.words}")]
    others = [
        one
        for one in desk.actions.values()
        if one.id != "settings" and begins_words(query, one.words) and one.is_enabled(desk)
    ]
    if not (pages or others):
        return False
    with ui.group("elsewhere"):
        ui.text("title", tr("On other pages"), style="strong")
        for page in pages:
            if ui.button(("page", page.id), page.label, icon=page.icon, is_small=True):
                view.settings_section = page.id
        for action in others:
            if ui.button(
                ("action", action.id), action.shown_label(desk), icon=action.icon, is_small=True,
                tip=action_tip(desk, action.id),
            ):  # fmt: skip
                if action not in ACTIONS:  # those of the settings are done where the person is
                    view.page = "chat"
                run_action(action.id, desk)
    return True


def search_field(desk: Desk) -> None:
    """Draw the field that searches all settings: what is typed shows them, whatever section was shown."""
    own = desk.view.of(SettingsView)
    typed = desk.ui.text_input("search", own.query, hint=tr("Search settings"), icon="magnifying-glass")
    if typed is not None:
        own.query, desk.view.settings_section = typed, "all"


def found_settings(query: str) -> tuple[Setting, ...]:
    """Settings in whose key or words every word stands, in the order of the table."""
    words = query.casefold().split()
    if not words:
        return LISTED
    return tuple(one for one in LISTED if all(word in _words(one) for word in words))


def _words(one: Setting) -> str:
    return f"{one.key} {one.key.replace('_', ' ')} {one.doc} {' '.join(one.choices)}".casefold()


def value_of(settings: Settings, one: Setting) -> Value | None:
    """Value of a setting as it counts now."""
    value: Value | None = attrgetter(one.field)(settings)
    return value


def _setting(desk: Desk, one: Setting) -> None:
    ui, own = desk.ui, desk.view.of(SettingsView)
    value = value_of(desk.state.config.settings, one)
    with ui.surface(one.key, "card", padding=(14, 10)), ui.group("lines", gap=6):
        with ui.row("head"):
            ui.text("key", one.key, style="mono_small", width=0, tip=one.key)
            if value != one.default and ui.button(
                "usual", tr("Reset"), kind="link", is_small=True, tip=f"{shown_value(one, one.default)}"
            ):
                own.setting_errors.pop(one.key, None)
                desk.send(ChangeSetting(one.key, None))
        _control(desk, one, value)
        ui.markdown("doc", one.doc)
        if error := own.setting_errors.get(one.key, ""):
            ui.text("error", error, tone="error", style="small", wraps=True)


def _control(desk: Desk, one: Setting, value: Value | None) -> None:
    ui, own = desk.ui, desk.view.of(SettingsView)
    if one.kind is Kind.SWITCH:
        is_on = ui.checkbox("value", tr("On"), bool(value), tip=one.key)
        if is_on is not None:
            desk.send(ChangeSetting(one.key, is_on))
        return
    if one.choices and one.kind is Kind.TEXT:
        options = tuple(Option(value=choice, label=choice or tr("none")) for choice in one.choices)
        chosen = ui.combo("value", options, str(value or ""), width=VALUE_PX, tip=one.key)
        if chosen is not None and chosen != value:
            desk.send(ChangeSetting(one.key, chosen))
        return
    shown = shown_value(one, value)
    width = 0 if one.kind in {Kind.TEXT, Kind.TEXTS} else VALUE_PX
    typed = ui.text_input("value", shown, hint=tr("not set"), width=width, submits=True, tip=one.key)
    if typed is None or typed.strip() == shown:
        return
    parsed, error = parsed_value(one, typed)
    own.setting_errors[one.key] = error
    if not error:
        desk.send(ChangeSetting(one.key, parsed))


def is_size(one: Setting) -> bool:
    """True of a setting that counts bytes."""
    return one.kind is Kind.WHOLE and one.key.endswith("_bytes")


def shown_value(one: Setting, value: Value | None) -> str:
    """A value as it is shown and typed: sizes in their unit, texts with commas between them."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(value)
    if is_size(one) and isinstance(value, int) and parse_size(fmt.size(value)) == value:
        return fmt.size(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def parsed_value(one: Setting, typed: str) -> tuple[Value | None, str]:
    """The typed text as a value, and what is wrong with it in a sentence; nothing typed takes the setting away."""
    text = typed.strip()
    if not text:
        return (() if one.kind is Kind.TEXTS else None), ""
    if one.kind is Kind.TEXT:
        return _checked(one, text)
    if one.kind is Kind.TEXTS:
        return _checked(one, tuple(part.strip() for part in text.split(",") if part.strip()))
    number = _number(one, text)
    if number is None:
        wanted = tr("a number") if one.kind is Kind.NUMBER else tr("a whole number")
        if is_size(one):
            wanted = tr("a size, for example 25 MB")
        return None, tr("{text!r} is not {kind}.", text=text, kind=wanted)
    low, high = one.minimum, one.maximum
    if (low is not None and number < low) or (high is not None and number > high):
        return None, tr("The value must be {one}.", one=_range(one))
    return _checked(one, number)


def _checked(one: Setting, value: Value) -> tuple[Value | None, str]:
    """The value by the rules that settings are read by, before it is sent."""
    flaw = value_flaw(one, value)
    return (None, tr("This value {flaw}.", flaw=flaw)) if flaw else (value, "")


def _number(one: Setting, text: str) -> int | float | None:
    if is_size(one):
        return parse_size(text)
    plain = text.replace(",", "").replace("_", "").removeprefix("$")
    try:
        return int(plain) if one.kind is Kind.WHOLE else float(plain)
    except ValueError:
        return None


def parse_size(text: str) -> int | None:
    """Bytes of `25 MB`, `800KB` or `4096`; a KB is 1,000 bytes. None for what is no size."""
    found = _SIZE.fullmatch(text.strip().replace(",", "").replace("_", ""))
    if found is None or len(found[1]) > 15:
        return None
    return round(float(found[1]) * {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}[found[2].lower()])


def _range(one: Setting) -> str:
    low, high = (shown_value(one, _whole(one, limit)) for limit in (one.minimum, one.maximum))
    return (
        tr("from {low} to {high}", low=low, high=high)
        if low and high
        else tr("at least {low}", low=low)
        if low
        else tr("at most {high}", high=high)
    )


def _whole(one: Setting, limit: float | None) -> Value | None:
    return None if limit is None else int(limit) if one.kind is Kind.WHOLE else limit
