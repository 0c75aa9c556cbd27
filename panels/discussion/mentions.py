"""Mentions of the composer: `@` completes files, folders, symbols and presets, and adds them to what the model sees."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from core.kernel import figures as fmt
from core.kernel.values.curation import FileItem, FileMode, HitKind
from core.kernel.values.discussion import OpenDiscussion
from core.talk.context.context_messages import AddItems, LookUpFiles
from core.talk.discussion.discussion_messages import ChangeDiscussion, SetDraft
from panels.base.desk import Desk
from panels.base.ui import Surface
from panels.discussion.view import ComposerView

ROW_PX = 26.0
PRESETS_SHOWN = 3
MOST_CHARS = 300
"""Of a mention: what is longer is text."""
_MENTION = re.compile(r"(?:^|(?<=[\s(\[{\"'“‘]))@([^\s@]*)\Z")

WayKind = Literal["file", "folder", "symbol", "preset"]
ICONS: dict[WayKind, str] = {
    "file": "file-lines",
    "folder": "folder-tree",
    "symbol": "code",
    "preset": "layer-group",
}


class Mention(msgspec.Struct, frozen=True):
    """A mention that is being typed: where its `@` stands, what is typed behind it, where that ends."""

    start: int
    text: str
    end: int


class Way(msgspec.Struct, frozen=True):
    """One way to go on: what it is, its words in the message, what stands muted beside them, a symbol's name."""

    kind: WayKind
    words: str
    detail: str = ""
    symbol: str = ""


def mention_of(text: str, caret: int) -> Mention | None:
    """The mention that ends at the caret, None where none does; -1 is the text's end."""
    end = len(text) if caret < 0 else caret
    from_ = max(0, end - MOST_CHARS)
    found = _MENTION.search(text, from_, end) if end else None
    if found is None:
        return None
    return Mention(start=found.start(), text=found[1], end=end)


def ways(desk: Desk, mention: Mention) -> tuple[Way, ...]:
    """Ways to go on, best first: what of the project was found last, and presets by their name."""
    wanted = mention.text.casefold()
    presets = [name for name in desk.state.config.project.presets if wanted and wanted in name.casefold()]
    named = tuple(Way(kind="preset", words=name, detail="preset") for name in presets[:PRESETS_SHOWN])
    found = desk.state.context.mentioned
    hits = found.hits if found is not None and _is_of(found.text, mention.text) else ()
    files = tuple(
        Way(
            kind=hit.kind.value,
            words=f"{hit.path}#{hit.symbol}" if hit.kind is HitKind.SYMBOL else hit.path,
            detail=hit.detail or ("all its files" if hit.kind is HitKind.FOLDER else ""),
            symbol=hit.symbol,
        )
        for hit in hits
    )
    return (*files, *named)


def _is_of(answered: str, typed: str) -> bool:
    """True of an answer to what is typed, or to what was typed a letter before: the list does not blink."""
    return answered == typed or (typed.startswith(answered) and "#" not in typed[len(answered) :])


def is_completing(composer: ComposerView) -> bool:
    """True while a mention is being completed."""
    mention = mention_of(composer.text, composer.caret)
    return mention is not None and composer.mention_left != mention.start


def leave(composer: ComposerView) -> None:
    """Leave the mention as the text that it is."""
    mention = mention_of(composer.text, composer.caret)
    composer.mention_left = mention.start if mention is not None else -1


def mention_strip(desk: Desk, opened: OpenDiscussion, composer: ComposerView) -> None:
    """Draw the ways to go on, and take Tab, Up, Down and Enter while the editor has the keyboard."""
    mention = mention_of(composer.text, composer.caret)
    if mention is None or composer.mention_left == mention.start:
        if mention is None:
            composer.mention_left, composer.mention_asked = -1, None
        return
    if composer.mention_asked != mention.text:
        composer.mention_asked = mention.text
        desk.send(LookUpFiles(text=mention.text))
    ui, known = desk.ui, ways(desk, mention)
    at = min(composer.mention_at, max(0, len(known) - 1))
    if known and ui.is_focused("editor"):
        down, up = (ui.shortcut(key, while_typing=True) for key in ("Down", "Up"))
        composer.mention_at = at = (at + int(down) - int(up)) % len(known)
        if ui.shortcut("Tab", while_typing=True) or ui.shortcut("Enter", while_typing=True):
            take(desk, opened, composer, mention, known[at])
            return
    chosen = -1
    with ui.surface("mentions", "inset", padding=(4, 4)), ui.group("rows", gap=0):
        for index, way in enumerate(known):
            if _row(desk, index, way, is_marked=index == at):
                chosen = index
        if said := _said(desk, mention, known):
            ui.text("said", said, tone="muted", style="small", wraps=True)
    if chosen >= 0:
        take(desk, opened, composer, mention, known[chosen])
        desk.view.focus = "composer"


def _said(desk: Desk, mention: Mention, known: tuple[Way, ...]) -> str:
    """Line under the ways: why there are none, or how to go on."""
    found = desk.state.context.mentioned
    if not desk.state.config.project.root:
        return "" if known else "No project is open: there are no files to name."
    if found is None or not _is_of(found.text, mention.text):
        return "" if known else "Looking through the project…"
    if found.problem:
        return found.problem
    if not known:
        return f"Nothing in the project is called like {mention.text!r}. Escape leaves it as text."
    if any(way.kind == "symbol" for way in known):
        return ""
    return (
        f"{fmt.count(found.total, 'name')} · Tab adds it to the context · # behind a file lists its symbols"
    )


def _row(desk: Desk, index: int, way: Way, *, is_marked: bool) -> bool:
    ui = desk.ui
    kind: Surface = "row_selected" if is_marked else "clear"
    with (
        ui.clickable(("way", index), kind, height=ROW_PX, padding=(8, 3)) as clicks,
        ui.row("line", height=ROW_PX - 6, gap=6),
    ):
        ui.icon("icon", ICONS[way.kind], tone="muted")
        folder, _, name = way.words.rstrip("/").rpartition("/")
        if way.kind == "symbol":
            folder, name = "", way.symbol
        ui.text("name", name + ("/" if way.kind == "folder" else ""), style="small_strong")
        ui.text(
            "detail", " · ".join(filter(None, (folder, way.detail))), tone="muted", style="small", width=0
        )
    return clicks.clicked


def take(desk: Desk, opened: OpenDiscussion, composer: ComposerView, mention: Mention, way: Way) -> None:
    """Name it in the message, and add it to what the model sees. Sends AddItems or ChangeDiscussion, SetDraft."""
    if way.kind == "preset":
        desk.send(ChangeDiscussion(discussion_id=opened.id, changes={"preset": way.words}))
    else:
        desk.send(AddItems(discussion_id=opened.id, items=(item_of(way),)))
    words = "" if way.kind == "preset" else f"@{way.words} "
    text = composer.text[: mention.start] + words + composer.text[mention.end :].lstrip(" ")
    composer.mention_at, composer.caret, composer.mention_asked = 0, -1, None
    composer.put(text)
    desk.send(SetDraft(opened.id, text))


def item_of(way: Way) -> FileItem:
    """Item of a preset that stands for it: the file, every file of the folder, or the lines of the symbol."""
    if way.kind == "folder":
        return FileItem(path=f"{way.words}**/*")
    if way.kind == "symbol":
        path = way.words.partition("#")[0]
        return FileItem(path=path, mode=FileMode.SLICES, symbols=(way.symbol,))
    return FileItem(path=way.words)
