"""The slash command that is being typed: what completes it, over the composer's editor, with its keys."""

from __future__ import annotations

from core.discussion.messages import SetDraft
from core.values.composer import SlashInput, slash_input
from core.values.discussion import OpenDiscussion
from panels.base.desk import Desk
from panels.base.ui import Surface
from panels.discussion.slash import BY_NAME, Completion, completions, run_slash
from panels.discussion.view import ComposerView

ROW_PX = 26.0


def slash_strip(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    """Draw the ways to go on, and take Tab, Up, Down and Enter while the editor has the keyboard."""
    typed = slash_input(composer.text)
    if typed is None:
        return
    ui = desk.ui
    ways = completions(desk, typed)
    at = min(composer.slash_at, max(0, len(ways) - 1))
    if ui.is_focused("editor"):
        if len(ways) > 1:
            down, up = (ui.shortcut(key, while_typing=True) for key in ("Down", "Up"))
            composer.slash_at = at = (at + int(down) - int(up)) % len(ways)
        if ways and ui.shortcut("Tab", while_typing=True):
            write(desk, opened, composer, ways[at].text)
            return
        if ui.shortcut("Enter", while_typing=True):
            enter_slash(desk, opened, composer)
            return
    chosen = -1
    if ways:
        with ui.surface("ways", "inset", padding=(4, 4)), ui.group("rows", gap=0):
            for index, way in enumerate(ways):
                if _row(desk, index, way, is_marked=index == at):
                    chosen = index
    if composer.slash_problem:
        ui.text("problem", composer.slash_problem, tone="warn", style="small", wraps=True)
    if chosen >= 0:
        composer.slash_at = chosen
        enter_slash(desk, opened, composer)


def _row(desk: Desk, index: int, way: Completion, *, is_marked: bool) -> bool:
    ui = desk.ui
    kind: Surface = "row_selected" if is_marked else "clear"
    with (
        ui.clickable(("way", index), kind, height=ROW_PX, padding=(8, 3)) as clicks,
        ui.row("line", height=ROW_PX - 6),
    ):
        ui.text("text", way.text, style="small_strong")
        ui.text("what", way.what, tone="muted", style="small", width=0)
    return clicks.clicked


def enter_slash(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    """Do the command that is typed, or the marked one that completes it; where it wants an argument, ask for that."""
    typed = slash_input(composer.text)
    if typed is None:
        return
    ways = completions(desk, typed)
    is_whole = typed.argument is None and typed.name in BY_NAME
    if ways and not is_whole:
        way = ways[min(composer.slash_at, len(ways) - 1)].text
        if way.endswith(" "):
            write(desk, opened, composer, way)
            return
        typed = slash_input(way) or typed
    _do(desk, opened, composer, typed)


def _do(desk: Desk, opened: OpenDiscussion, composer: ComposerView, typed: SlashInput) -> None:
    problem = run_slash(desk, typed)
    if problem:
        composer.slash_problem = problem
    else:
        write(desk, opened, composer, "")


def write(desk: Desk, opened: OpenDiscussion, composer: ComposerView, text: str) -> None:
    """Put a text into the composer in place of what is typed."""
    composer.slash_at, composer.slash_problem = 0, ""
    composer.replace(text)
    composer.pending.append(text)
    desk.send(SetDraft(opened.id, text))
