"""Settings of the harvest: which model reads, what is left alone, where else conversations lie."""

from __future__ import annotations

from core.kernel import figures as fmt
from core.kernel.language import capital, tr
from core.kernel.values.knowledge import CATEGORY_WORDS, Category
from core.kernel.values.settings import MemoryMode
from core.knowledge.harvest.modes import NOTHING_AUTOMATIC, harvest_reader, writes_nothing_itself
from core.services.settings.settings_messages import ChangeSetting
from panels.base import view
from panels.base.desk import Desk
from panels.base.gauge import model_value, remembered_options
from panels.base.ui import Option
from panels.base.view import Dialog
from panels.harvest.harvest_room import HarvestView
from panels.knowledge.rows import reader_fault, where_it_goes

TABLE = "ai_settings.knowledge"
MODES = (
    Option(value=MemoryMode.RECALL.value, label=tr("Recall only")),
    Option(value=MemoryMode.CONFIRM.value, label=tr("Confirm each write")),
    Option(value=MemoryMode.AUTOMATIC.value, label=tr("Automatic for some categories")),
)
ABOUT_MODE = {
    MemoryMode.RECALL: tr(
        "No harvest reads or writes. Existing knowledge is used as before, and you write by hand."
    ),
    MemoryMode.CONFIRM: tr("You tick the items to write."),
    MemoryMode.AUTOMATIC: tr(
        "Conversations with only these categories are written after a preview, without asking you. Items that contradict or resemble known items wait for you. So do all items of the built-in model."
    ),
}
NUMBER_PX = 96.0
MOST_DAYS = 3_650
MOST_KIB = 1_048_576
KIB = 1_024
"""The limit is 1 MiB by default, which is no round figure in KB."""


def settings_section(desk: Desk) -> None:
    """Draw the settings in place of the conversations. Sends ChangeSetting."""
    ui, settings = desk.ui, desk.state.config.settings.knowledge
    with ui.row("head"):
        if ui.button(
            "back",
            tr("Back"),
            icon="chevron-left",
            kind="ghost",
            is_small=True,
            tip=tr("Back to the conversations"),
        ):
            desk.view.of(HarvestView).are_settings_open = False
        ui.text("title", tr("Harvest settings"), style="strong", width=0)
    with ui.surface("settings", "clear", height=0, padding=(0, 0), scrolls=True), ui.group("lines", gap=10):
        _reader(desk)
        ui.divider("reader line")
        _mode(desk)
        ui.divider("mode line")
        _number(desk, "live_days", tr("Skip if changed within (days)"), f"{settings.live_days:g}",
                tr("The harvest skips conversations that changed within this many days"))  # fmt: skip
        _number(desk, "max_source_bytes", tr("Largest size (KiB)"), f"{settings.max_source_bytes / KIB:.10g}",
                tr("Larger conversations are not read; now {max_source_bytes}", max_source_bytes=fmt.size(settings.max_source_bytes)))  # fmt: skip
        ui.divider("sources line")
        _sources(desk)


def _reader(desk: Desk) -> None:
    """The choice of the model that reads, and why it cannot where it cannot."""
    ui, state = desk.ui, desk.state
    settings = state.config.settings.knowledge
    provider, model = harvest_reader(state)
    own = tr("Default model ({state})", state=view.model_label(state, provider, model))
    is_own = not settings.harvest_provider and not settings.harvest_model
    listed = remembered_options(state, desk.view.memo)
    value = "" if is_own else model_value(provider, model)
    options = [Option(value="", label=own if is_own else tr("Usual model")), *listed]
    if value not in {option.value for option in options}:
        options.append(Option(value=value, label=model or provider, detail="unknown"))
    ui.text("label", tr("Reading model"), tone="muted")
    chosen = ui.combo(
        "model",
        options,
        value,
        width=0,
        is_enabled=not state.harvest.is_busy,
        tip=tr("Model that reads the conversations"),
    )
    if chosen is not None and chosen != value:
        name, _, found = chosen.partition("\n")
        desk.send(ChangeSetting(f"{TABLE}.harvest_provider", name))
        desk.send(ChangeSetting(f"{TABLE}.harvest_model", found))
    ui.text("goes", where_it_goes(state), tone="muted", style="small", wraps=True)
    if fault := reader_fault(state):
        ui.text("fault", fault, tone="warn", style="small", wraps=True)
        if ui.button(
            "set up", tr("Set up providers"), is_small=True, tip=tr("Open keys and servers in the settings")
        ):
            desk.view.show_settings("providers")


def _mode(desk: Desk) -> None:
    """The choice of who may write, and of the categories that are not asked about."""
    ui, settings = desk.ui, desk.state.config.settings.knowledge
    with ui.group("mode", gap=6):
        ui.text("label", tr("Found items"), tone="muted")
        chosen = ui.combo(
            "mode",
            MODES,
            settings.mode,
            width=0,
            tip=tr("Choose whether a harvest may write to knowledge without asking you"),
        )
        if chosen is not None and chosen != settings.mode:
            desk.send(ChangeSetting(f"{TABLE}.mode", chosen))
        ui.text("about", ABOUT_MODE[MemoryMode(settings.mode)], tone="muted", style="small", wraps=True)
        if settings.mode != MemoryMode.AUTOMATIC:
            return
        for category in Category:
            label = capital(CATEGORY_WORDS[category][1])
            is_on = category.value in settings.automatic_categories
            changed = ui.checkbox(category.value, label, is_on)
            if changed is not None:
                kept = {*settings.automatic_categories, category.value} - (
                    set() if changed else {category.value}
                )
                ordered = tuple(one.value for one in Category if one.value in kept)
                desk.send(ChangeSetting(f"{TABLE}.automatic_categories", ordered))
        if writes_nothing_itself(settings):
            ui.text("nothing", NOTHING_AUTOMATIC, tone="warn", style="small", wraps=True)


def _number(desk: Desk, name: str, label: str, shown: str, tip: str) -> None:
    ui, own = desk.ui, desk.view.of(HarvestView)
    with ui.row(name):
        ui.text("label", label, tone="muted", width=0, tip=tip)
        typed = ui.text_input("value", shown, width=NUMBER_PX, submits=True, tip=label)
    if typed is not None and typed.strip() != shown:
        found = _parsed(name, typed.strip())
        own.error = (name, found) if isinstance(found, str) else ("", "")
        if not isinstance(found, str):
            desk.send(ChangeSetting(f"{TABLE}.{name}", found))
    if own.error[0] == name:
        ui.text((name, "error"), own.error[1], tone="error", style="small", wraps=True)


def _parsed(name: str, text: str) -> float | int | str:
    """The number that was typed, or why it is not taken."""
    whole, _, part = text.replace(",", "").partition(".")
    if not whole.isdecimal() or len(whole) > 9 or (part and not part.isdecimal()):
        return tr("{text!r} is not a number", text=text)
    value = float(f"{whole}.{part or 0}")
    if name == "live_days":
        return (
            value
            if value <= MOST_DAYS
            else tr("{text} is out of range: enter 0 to {MOST_DAYS:,}", text=text, MOST_DAYS=MOST_DAYS)
        )
    if not 1 <= value <= MOST_KIB:
        return tr("{text} is out of range: enter 1 to {MOST_KIB:,}", text=text, MOST_KIB=MOST_KIB)
    return round(value * KIB)


def _sources(desk: Desk) -> None:
    ui, settings = desk.ui, desk.state.config.settings.knowledge
    with ui.row("sources head"):
        ui.text("title", tr("Conversations of other programs"), style="small_strong", width=0)
        if ui.button("folder", "", icon="folder-plus", kind="ghost", is_small=True, tip=tr("Add a folder…")):
            desk.view.dialog = Dialog(kind="harvest_folder")
        if ui.button("file", "", icon="file-circle-plus", kind="ghost", is_small=True, tip=tr("Add files…")):
            desk.view.dialog = Dialog(kind="harvest_files")
    ui.text(
        "note",
        tr("The program reads the conversations in these places and never removes them."),
        tone="muted",
        style="small",
        wraps=True,
    )
    for path in settings.harvest_sources:
        with ui.row(("source", path)):
            ui.text("path", path, style="mono_small", width=0, tip=path)
            if ui.button(
                "remove",
                "",
                icon="xmark",
                kind="ghost",
                is_small=True,
                tip=tr("Stop looking in {path}", path=path),
            ):
                change_sources(desk, tuple(one for one in settings.harvest_sources if one != path))


def change_sources(desk: Desk, paths: tuple[str, ...]) -> None:
    """Ask for other sources, each once."""
    desk.send(ChangeSetting(f"{TABLE}.harvest_sources", tuple(dict.fromkeys(paths))))
