"""Every widget in one window, to look at and to drive: `python -m tests.gui.gallery out.png light`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import dearpygui.dearpygui as dpg

from gui.binding import DpgUi
from gui.loop import Loop
from gui.markdown.document import load
from gui.metrics import load_theme
from gui.screen import screenshot
from gui.window import Placement, open_viewport
from panels.base.ui import ButtonKind, Option, Share, Surface, Tone, Ui
from tests.gui.gallery_pages import LongView, Messages, conversation, long_page

MODELS = tuple(Option(f"model-{n}", f"claude-opus-4.{n}", f"{n * 100}k") for n in range(20))


@dataclass
class View:
    """What the gallery remembers."""

    text: str = ""
    query: str = ""
    name: str = "workbench"
    model: str = "model-8"
    theme: str = "dark"
    is_on: bool = True
    level: float = 0.4
    tab: str = "context"
    widths: tuple[float, ...] = (300, 0, 470)
    dialog: bool = False
    clicked: list[str] = field(default_factory=list)
    revision: int = 0
    page: str = "widgets"
    messages: Messages = field(default_factory=lambda: conversation(200))
    long: LongView = field(default_factory=LongView)


LIST: tuple[tuple[str, str, str, Tone], ...] = (
    ("Cache TTL policy", "claude-opus · 42 turns", "18.4k  $0.42", "accent"),
    ("Harvest worker design", "gemini-pro · 17 turns", "9.1k  $0.08", "warn"),
    ("Parser regressions", "gpt-5 · 8 turns", "3.3k  $0.05", "muted"),
    ("Fork: TTL policy / lazy", "claude-opus · 12 turns", "11.0k  $0.19", "muted"),
    ("Release checklist", "claude-sonnet · 5 turns", "1.2k  $0.01", "muted"),
    ("Knowledge import with a title that is far too long to fit", "gemini-flash · 31 turns", "22.7k  $0.03", "muted"),
)  # fmt: skip
FILLINGS: tuple[Surface, ...] = ("inset", "code", "card_selected")
KINDS: tuple[ButtonKind, ...] = ("plain", "primary", "ghost", "danger", "link")
LAYERS: tuple[tuple[str, int, Tone], ...] = (
    ("System · coding-strict", 1900, "accent"),
    ("Project rules (AGENTS.md)", 3100, "ok"),
)
STATS: tuple[tuple[str, str, Tone], ...] = (
    ("87%", "hit rate", "ok"),
    ("94%", "read again", "accent"),
    ("3m 12s", "TTL left", "warn"),
)


def draw(ui: Ui, view: View) -> None:
    """Draw the gallery."""
    with ui.row("main", gap=0, height=-28):
        with ui.surface("rail", "base", width=56, height=0, padding=(8, 8)):
            for index, icon in enumerate(("comments", "layer-group", "book", "database", "bolt", "gear")):
                if ui.button(
                    icon, "", icon=icon, kind="rail_active" if index == 0 else "rail", tip=icon, width=40
                ):
                    view.clicked.append(icon)
        with ui.split("split", view.widths) as split:
            with split.pane(0), ui.surface("left", "pane", height=0):
                left(ui, view)
            with split.pane(1), ui.surface("middle", "pane", height=0):
                middle(ui, view)
            with split.pane(2), ui.surface("right", "pane", height=0, scrolls=True):
                right(ui, view)
        if split.dragged:
            view.widths = split.dragged
    with ui.surface("status", "base", height=28, padding=(12, 6)), ui.row("row", gap=16):
        ui.icon("dot", "circle", tone="ok")
        ui.text("model", "connected", tone="ok", style="small")
        ui.text("cache", "cache warm · 11.9k reused", tone="muted", style="small")
        ui.push()
        ui.text("saved", "saved 14:03:12", tone="muted", style="small")


def left(ui: Ui, view: View) -> None:
    """A search and a list of cards."""
    with ui.row("search"):
        query = ui.text_input("query", view.query, hint="Search discussions", icon="magnifying-glass")
        if query is not None:
            view.query = query
        if ui.button("new", "", icon="plus", kind="primary", tip="New discussion", shortcut="Ctrl+N"):
            view.clicked.append("new")
    for index, (title, meta, cost, tone) in enumerate(LIST):
        kind: Surface = "card_selected" if index == 0 else "card"
        with ui.clickable(("card", index), kind) as card:
            with ui.row("head"):
                ui.icon("icon", "comments", tone=tone)
                ui.text("title", title, style="strong")
                ui.push()
                if ui.button(
                    "more", "", icon="ellipsis", kind="ghost", is_small=True, tip=f"Actions {index}"
                ):
                    view.clicked.append(f"more {index}")
            with ui.row("meta"):
                ui.text("meta", meta, tone="muted", style="small")
                ui.push()
                ui.text("cost", cost, tone="muted", style="small")
        if card.clicked:
            view.clicked.append(f"card {index}")


def middle(ui: Ui, view: View) -> None:
    """A header, a conversation, a composer."""
    with ui.row("head"):
        ui.text("title", "Cache TTL policy", style="h2")
        ui.gap(8)
        model = ui.combo("model", MODELS, view.model, width=190, tip="Model")
        view.model = model or view.model
        ui.push()
        ui.button("fork", "Fork", icon="code-branch", kind="ghost")
        ui.button("again", "Regenerate", icon="rotate", kind="ghost")
        with ui.menu("more", "", icon="ellipsis", tip="More actions") as is_open:
            if is_open:
                if ui.menu_item("rename", "Rename", icon="pen", shortcut="F2"):
                    view.clicked.append("rename")
                with ui.menu("export", "Export", icon="file-export") as is_sub:
                    if is_sub:
                        if ui.menu_item("md", "Markdown"):
                            view.clicked.append("markdown")
                        ui.menu_item("json", "JSON", is_checked=True)
                ui.divider("line")
                ui.menu_item("off", "Not now", is_enabled=False)
                if ui.menu_item("delete", "Delete…", icon="trash", tone="error"):
                    view.dialog = True
    if view.page == "chat":
        ui.virtual_list("messages", view.messages, follows_end=True)
    elif view.page == "long":
        with ui.surface("long", "clear", height=0, scrolls=view.long.tab in ("sort", "text")):
            long_page(ui, view.long)
    else:
        widgets(ui, view)
    composer(ui, view)


def widgets(ui: Ui, view: View) -> None:
    """Buttons, fields, badges."""
    with ui.surface("chat", "clear", height=0, scrolls=True, padding=(0, 0)):
        with ui.surface("m0", "card"):
            with ui.row("head"):
                ui.icon("who", "user")
                ui.text("name", "You", style="strong")
                ui.text("meta", "14:02 · 64 tok", tone="muted", style="small")
                ui.push()
                for icon in ("copy", "pen", "code-branch"):
                    ui.button(icon, "", icon=icon, kind="ghost", is_small=True, tip=icon)
            ui.text(
                "body", "Should the cache slot keep its TTL when a discussion is forked? " * 4, wraps=True
            )
        for filling in FILLINGS:
            with ui.surface(filling, filling):
                ui.text("t", f"surface {filling}")
        with ui.row("kinds"):
            for kind in KINDS[:3]:
                if ui.button(kind, kind.capitalize(), kind=kind):
                    view.clicked.append(kind)
        with ui.row("more kinds"):
            for kind in KINDS[3:]:
                if ui.button(kind, kind.capitalize(), kind=kind):
                    view.clicked.append(kind)
            ui.button("off", "Disabled", is_enabled=False)
        with ui.row("small"):
            for kind in KINDS:
                ui.button(kind, kind.capitalize(), kind=kind, is_small=True, icon="check")
        with ui.row("fields"):
            on = ui.checkbox("on", "Include files", view.is_on)
            view.is_on = view.is_on if on is None else on
            ui.checkbox("off", "Disabled", False, is_enabled=False)
            level = ui.slider("level", view.level, 0, 1, label="Temperature")
            view.level = view.level if level is None else level
        with ui.row("names"):
            name = ui.text_input("name", view.name, label="Name", width=200)
            view.name = view.name if name is None else name
            ui.text_input("secret", "hunter2", label="Key", is_secret=True, width=200)
        tones: tuple[Tone, ...] = ("muted", "accent", "ok", "warn", "error", "purple", "cyan")
        for part in (tones[:4], tones[4:]):
            with ui.row(("badges", part[0])):
                for tone in part:
                    ui.badge(tone, tone, tone=tone)
        with ui.row("harvest"):
            ui.icon("bolt", "bolt", tone="warn")
            ui.text("name", "Harvest worker", style="strong")
            ui.text("meta", "running · 2 queued · 0 failed", tone="muted", style="small")
            ui.push()
            ui.progress("p", 0.62, tone="warn", width=200)
            ui.button("pause", "Pause", icon="pause", kind="ghost")


def composer(ui: Ui, view: View) -> None:
    """Where a message is written."""
    with ui.surface("composer", "card", padding=(10, 10)):
        edited = ui.editor(
            "text", view.text, hint="Ask something", revision=view.revision, paste_limit_chars=200
        )
        if edited is not None:
            view.text = edited.text
            if edited.pasted:
                view.clicked.append(f"pasted {len(edited.pasted)}")
        with ui.row("actions"):
            ui.button("attach", "", icon="paperclip", kind="ghost", tip="Attach")
            ui.text("est", "18.4k of 200k tokens", tone="muted", style="small")
            ui.push()
            if ui.button("send", "Send", icon="paper-plane", kind="primary", shortcut="Ctrl+Enter"):
                view.clicked.append(f"send {view.text}")
                view.text, view.revision = "", view.revision + 1
    if view.dialog:
        with ui.dialog("confirm", "Delete this discussion?") as closed:
            ui.text(
                "why",
                "It goes to the trash and can be brought back for thirty days.",
                wraps=True,
                tone="muted",
            )
            with ui.row("buttons"):
                ui.push()
                if ui.button("no", "Cancel"):
                    view.dialog = False
                if ui.button("yes", "Delete", kind="danger"):
                    view.dialog = False
                    view.clicked.append("deleted")
        if closed.clicked:
            view.dialog = False


def right(ui: Ui, view: View) -> None:
    """Stack, stats, bars."""
    with ui.row("head"):
        ui.text("t", "Aggregate stack", style="strong")
        ui.text("n", "5 layers · 12.8k tokens", tone="muted", style="small")
    ui.stacked_bar(
        "bar", [Share(0.2, "accent", "system"), Share(0.3, "ok", "rules"), Share(0.4, "warn", "files")]
    )
    for name, tokens, tone in LAYERS:
        with ui.surface(name, "card"):
            with ui.row("head"):
                ui.checkbox("on", name, True)
                ui.push()
                ui.text("n", f"{tokens:,}", tone="muted", style="small")
            ui.progress("p", tokens / 12800, tone=tone)
    with ui.row("stats"):
        for value, label, tone in STATS:
            with ui.surface(label, "card"):
                ui.text("v", value, style="h1", tone=tone, wraps=True)
                ui.text("l", label, tone="muted", style="small", wraps=True)


def make(theme: str = "dark", scale: float = 1.0, size: tuple[int, int] = (1600, 1000)) -> tuple[Loop, View]:
    """Open the window with a gallery in it."""
    view = View()
    dpg.create_context()
    dpg.configure_app(manual_callback_management=True, keyboard_navigation=True)
    ui = DpgUi(load_theme(), theme, scale)
    open_viewport(Placement(0, 0, *size))
    return Loop(ui, lambda u: draw(u, view), lambda: 0, on_close=lambda: None), view


def main(arguments: list[str], more: Callable[[Loop, View], None] = lambda *_: None) -> None:
    """Write a picture of the gallery."""
    theme = arguments[1] if len(arguments) > 1 else "dark"
    loop, view = make(theme, float(arguments[2]) if len(arguments) > 2 else 1.0)
    view.page = arguments[3] if len(arguments) > 3 else "widgets"
    view.long.tab = arguments[4] if len(arguments) > 4 else "table"
    if view.page != "widgets":
        load()
    for _ in range(5):
        loop.frame()
    more(loop, view)
    screenshot(Path(arguments[0]), loop.frame)


if __name__ == "__main__":
    main(sys.argv[1:])
