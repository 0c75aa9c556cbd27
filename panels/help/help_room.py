"""Room of the help in the window: the guide's pages in a dialog, links between them, and the way back."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import ClassVar

import msgspec

from core.kernel.language import tr
from core.services.settings.settings_messages import ReadGuide
from panels.base.desk import Action, Desk, Room
from panels.base.ui import Option
from panels.base.view import Dialog
from panels.base.window_fields import Kept

# View of the help: the panel that has the keyboard, and the pages that were read.


class HelpView(msgspec.Struct):
    """The room's own state.

    Args:
        is_asked: F1 was pressed, and the pane that has the keyboard is looked for; pane: that one.
        page: the page that is shown; read: pages before it, the newest last; about: two sentences on the panel that asked.
        over: the dialog that asked, which comes back with what was typed in it.
    """

    kept: ClassVar[tuple[Kept, ...]] = ()

    is_asked: bool = False
    pane: str = ""
    page: str = ""
    read: tuple[str, ...] = ()
    about: str = ""
    over: Dialog | None = None


# Room of the help in the window.


def _ask(desk: Desk) -> None:
    """Have the pane looked for that has the keyboard: the shell knows panes, and opens its page."""
    own = desk.view.of(HelpView)
    own.is_asked, own.pane = True, ""


# The guide in a dialog: the page of the panel that has the keyboard, links between pages, and the way back.

WIDE_PX, HIGH_PX, CHOICE_PX = 760.0, 620.0, 300.0
PAGES = {"conversation": "context", "list": "search"}
"""Page of each pane of the window that is no panel of the hub."""
SECTION_PAGES = {
    "providers": "providers",
    "servers": "providers",
    "models": "providers",
    "appearance": "files",
    "notifications": "autonomy",
    "files": "context",
    "tools": "tools",
    "project": "security",
    "prompts": "context",
    "all": "files",
    "about": "privacy",
}
"""Page of each section of the settings."""
DIALOG_PAGES = {
    "attach": "context",
    "export_markdown": "files",
    "export_json": "files",
    "export_page": "files",
    "model": "providers",
    "regenerate_with": "providers",
    "compare": "providers",
    "template": "command-line",
    "import_files": "import",
    "import_folder": "import",
    "import": "import",
    "import_follow": "import",
    "forget": "privacy",
    "add_files": "context",
    "new_preset": "context",
    "duplicate_preset": "context",
    "rename_preset": "context",
    "delete_preset": "context",
    "lose_cache": "caching",
    "spend_limit": "caching",
    "usage_csv": "caching",
    "delete_item": "knowledge",
    "attach_notes": "knowledge",
    "item_history": "knowledge",
    "graduate_playbook": "knowledge",
    "harvest_give_up": "knowledge",
    "harvest_discard": "knowledge",
    "harvest_folder": "knowledge",
    "harvest_files": "knowledge",
    "harvest_cancel_batches": "knowledge",
    "notes_folder": "search",
    "undo_turn": "tools",
    "open_project": "security",
    "trust": "security",
}
"""Page of each dialog, by its kind; of any other, what stands under the dialog decides."""


def open_page(desk: Desk, page: str, about: str = "") -> None:
    """Show a page. `about`: sentences above it, until another page is shown. Sends ReadGuide."""
    own = desk.view.of(HelpView)
    under = desk.view.dialog
    if under is None or under.kind != "help":
        own.over, own.read = under, ()
    elif own.page and own.page != page:
        own.read = (*own.read, own.page)
    own.page, own.about = page, about
    desk.view.dialog = Dialog(kind="help")
    desk.send(ReadGuide(page))


def help_dialog(desk: Desk, _dialog: Dialog) -> None:
    """Draw the page. Sends ReadGuide."""
    ui, own, found = desk.ui, desk.view.of(HelpView), desk.state.program.guide
    title = found.titles.get(own.page, "") if found is not None else ""
    with ui.dialog("help", title or tr("Help"), width=WIDE_PX, height=HIGH_PX) as closed:
        _ways(desk, own)
        if own.about:
            ui.text("about", own.about, wraps=True)
        with ui.surface(("page", own.page), "clear", height=0, padding=(0, 0), scrolls=True):
            if found is None or found.name != own.page:
                ui.text("reading", tr("Reading the page…"), tone="muted", style="small")
            elif found.problem:
                ui.text("problem", found.problem, tone="error", wraps=True)
            elif pressed := ui.markdown("text", found.text, has_pages=True):
                open_page(desk, PurePosixPath(pressed.partition("#")[0]).stem)
    if closed.clicked or ui.shortcut("Escape"):
        desk.view.dialog, own.over, own.read, own.page = own.over, None, (), ""


def _ways(desk: Desk, own: HelpView) -> None:
    """All pages to choose from, and the way back."""
    ui, found = desk.ui, desk.state.program.guide
    with ui.row("ways"):
        if ui.button("back", tr("Back"), icon="arrow-left", is_small=True, is_enabled=bool(own.read)):
            page, own.read, own.page = own.read[-1], own.read[:-1], ""
            open_page(desk, page)
        ui.push()
        titles = found.titles if found is not None else {}
        options = tuple(Option(value=name, label=label) for name, label in titles.items())
        chosen = (
            ui.combo("page", options, own.page, width=CHOICE_PX, tip=tr("Choose a page of the guide"))
            if options
            else None
        )
        if chosen and chosen != own.page:
            open_page(desk, chosen)


ROOM = Room(
    actions=(
        Action(
            id="help",
            menu=tr("Help"),
            group=0,
            label=tr("Help on this panel"),
            run=_ask,
            icon="circle-question",
            chord="F1",
        ),
    ),
    view=HelpView,
    dialogs={"help": help_dialog},
)
