"""Drawing of long text and pictures: Markdown, code, images."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from core.base.figures import size
from gui.describe import Tree
from gui.elements.code import CodeLines
from gui.elements.pictures import Picture
from gui.elements.prose import Markdown
from gui.elements.surfaces import Surface
from gui.markdown.places import wanted
from gui.visible_text import visible
from panels.base import widgets as w

PAGE_CHARS = 24_000
"""Size of a long text's first part, and of each that a press of its button adds."""
CODE_MOST_PX = 480.0


def _markdown(tree: Tree, it: w.MarkdownWidget) -> None:
    source = it.source
    if len(source) <= PAGE_CHARS:
        _page(tree, it, it.key, source)
        return
    with tree.ui.group(it.key):
        place = tree.at.path()
        pages = max(tree.pages.get(place, 1), _pages_to(source, it.terms, it.found_at))
        tree.pages[place] = pages
        shown = page_end(source, pages * PAGE_CHARS)
        _page(tree, it, "text", source[:shown])
        if shown < len(source):
            left = f"Show more ({size(len(source) - shown)} left)"
            if tree.ui.button("more", left, icon="angles-down", is_small=True):
                tree.pages[place] = pages + 1


def _pages_to(source: str, terms: tuple[str, ...], found_at: int) -> int:
    """Pages that have to be shown for an occurrence to be among them."""
    pattern = wanted(terms) if found_at >= 0 else None
    if pattern is None:
        return 1
    found = next(islice(pattern.finditer(source), found_at, None), None)
    return 1 if found is None else 1 + (found.end() + 2000) // PAGE_CHARS


def _page(tree: Tree, it: w.MarkdownWidget, key: Hashable, source: str) -> None:
    text = tree.take(Markdown, key)
    text.update((source, it.is_streaming, it.is_written, it.terms, it.found_at))
    for copy in text.copies:
        if copy.is_clicked:
            copy.is_clicked, copy.is_done = False, True
            copy.touch()
            tree.ui.copy(copy.payload)
    for wrap in text.wraps:
        if wrap.is_clicked:
            wrap.is_clicked = False
            text.document.toggle_wrap(wrap.block)
            text.invalidate()
    for fold in text.folds:
        if fold.is_clicked:
            fold.is_clicked = False
            text.document.toggle_fold(fold.fold)
            text.invalidate()
    for link in text.links:
        if link.is_clicked:
            link.is_clicked = False
            if tree.prose.span() is None:
                tree.asked_address = (text.path(), link.tip)
    if tree.asked_address is not None and tree.asked_address[0] == text.path():
        _ask(tree, tree.asked_address[1])


def _ask(tree: Tree, address: str) -> None:
    """Show where a link leads and let the person decide: its text may say something else."""
    is_web = urlsplit(address).scheme in ("http", "https")
    title = "Open this address?" if is_web else "This link leads to no web page"
    ui = tree.ui
    with ui.dialog("address", title, width=560) as closed:
        ui.text("address", visible(address)[:2000], wraps=True, style="mono")
        with ui.row("buttons"):
            ui.push()
            if ui.button("copy", "Copy address", icon="copy"):
                ui.copy(address)
                closed.clicked = True
            if ui.button("open", "Open", kind="primary", is_enabled=is_web, shortcut="Ctrl+Enter"):
                ui.open_url(address)
                closed.clicked = True
    if closed.clicked:
        tree.asked_address = None


def _code(tree: Tree, it: w.CodeWidget) -> None:
    box = tree.take(Surface, it.key)
    box.wide, box.tall = 0, it.height
    box.update(("code", None, True, 0.0, it.height))
    box.most_px = CODE_MOST_PX if it.height is None else None
    tree.enter(box)
    tree.take(CodeLines, "lines").update((it.text, it.language, it.first_line))
    tree.leave()


def _image(tree: Tree, it: w.ImageWidget) -> None:
    picture = tree.take(Picture, it.key)
    picture.tip = it.path
    is_other = picture.update((it.path, it.max_height, it.name or Path(it.path).name))
    if is_other and (not picture.found or picture.shown_path != it.path):
        picture.shown_path = it.path
        picture.begin()


def page_end(source: str, limit: int) -> int:
    """Place to cut a text after about `limit` characters: at a line's end, when there is one near."""
    if len(source) <= limit:
        return len(source)
    at = source.rfind("\n", limit - 2000, limit)
    return at + 1 if at > 0 else limit


HANDLERS = w.table(
    w.MarkdownWidget.handled_by(_markdown),
    w.CodeWidget.handled_by(_code),
    w.ImageWidget.handled_by(_image),
)
