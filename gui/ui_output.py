"""Drawing of text and small pictures."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from urllib.parse import unquote, urlsplit

from core.kernel.figures import size
from core.kernel.language import tr
from core.kernel.patterns import late
from gui.canvas import glyph
from gui.describe import Scope, Tree
from gui.elements.base import ColumnBox, Element, Gap, RowBox, Spring
from gui.elements.controls import Hit
from gui.elements.pictures import Picture, Plot
from gui.elements.prose import CodeLines, Markdown
from gui.elements.surfaces import Clickable, Surface
from gui.elements.tabs import SplitBox
from gui.elements.text import Badge, Divider, Icon, Progress, StackedBar, Text
from gui.markdown.excerpt import wanted
from gui.text_buffer import taken, visible
from panels.base import widgets as w
from panels.base.widgets import OPENED, Clicks


def _text(tree: Tree, it: w.TextWidget) -> None:
    text = tree.take(Text, it.key)
    if text.differs(it):
        text.wide, text.tip = it.width, it.tip
        text.update((visible(it.value), it.tone, it.style, it.wraps, it.width, it.terms))


def _icon(tree: Tree, it: w.IconWidget) -> None:
    icon = tree.take(Icon, it.key)
    if icon.differs(it):
        icon.tip = it.tip
        icon.update((glyph(it.name), it.tone, "body"))


def _progress(tree: Tree, it: w.ProgressWidget) -> None:
    bar = tree.take(Progress, it.key)
    bar.wide = it.width
    bar.update((min(1.0, max(0.0, it.fraction)), it.tone, it.height, it.width, it.fill, it.marks))


def _stacked_bar(tree: Tree, it: w.StackedBarWidget) -> None:
    tree.take(StackedBar, it.key).update((tuple(it.shares), it.height))


def _plot(tree: Tree, it: w.PlotWidget) -> None:
    plot = tree.take(Plot, it.key)
    plot.update((tuple(it.series), it.height, visible(it.x_label), visible(it.y_label)))


def _badge(tree: Tree, it: w.BadgeWidget) -> None:
    badge = tree.take(Badge, it.key)
    if badge.differs(it):
        badge.tip = it.tip
        badge.update((visible(it.value), it.tone))


def _copy(tree: Tree, it: w.CopyWish) -> None:
    tree.effects.append(lambda: tree.clipboard.copy(taken(it.text)))
    tree.said = tr("Copied")


def _selected_text(tree: Tree, _: w.SelectionQuery) -> str:
    return tree.prose.text()


def _open_url(tree: Tree, it: w.UrlWish) -> None:
    if urlsplit(it.url).scheme in ("http", "https"):
        tree.effects.append(lambda: tree.open_address(it.url))


def _open_file(tree: Tree, it: w.FileWish) -> None:
    tree.effects.append(lambda: _opened_or_copied(tree, it.path))


def _opened_or_copied(tree: Tree, name: str) -> None:
    path = Path(name)
    is_text = path.suffix in OPENED and path.is_absolute() and path.is_file()
    if is_text and tree.open_address(path.as_uri()):
        tree.said = tr("Opened {name}", name=visible(path.name))
        return
    tree.clipboard.copy(taken(name))
    tree.said = tr("No program opened the file: its path is copied")


OUTPUT_HANDLERS = w.table(
    w.TextWidget.handled_by(_text),
    w.IconWidget.handled_by(_icon),
    w.ProgressWidget.handled_by(_progress),
    w.StackedBarWidget.handled_by(_stacked_bar),
    w.PlotWidget.handled_by(_plot),
    w.BadgeWidget.handled_by(_badge),
    w.SelectionQuery.handled_by(_selected_text),
    w.CopyWish.handled_by(_copy),
    w.UrlWish.handled_by(_open_url),
    w.FileWish.handled_by(_open_file),
)


# Drawing of containers and space.


class SplitView:
    """View that `Ui.split` gives."""

    def __init__(self, tree: Tree, box: SplitBox) -> None:
        self._tree = tree
        self._box = box
        self.dragged = box.dragged
        box.dragged = None

    def pane(self, index: int) -> AbstractContextManager[None]:
        """Draw into pane `index`."""
        if index:
            edge = self._tree.take(Hit, ("edge", index))
            edge.update(("edge",))
        column = self._tree.take(ColumnBox, ("pane", index))
        column.wide = column.tall = 0
        column.update((0.0,))
        return Scope(self._tree, None, column)


def _group(tree: Tree, it: w.GroupWidget) -> Scope[None]:
    column = tree.take(ColumnBox, it.key)
    column.update((it.gap,))
    return Scope(tree, None, column)


def _row(tree: Tree, it: w.RowWidget) -> Scope[None]:
    row = tree.take(RowBox, it.key)
    row.tall = it.height
    row.update((it.gap, it.height))
    return Scope(tree, None, row)


def _surface(tree: Tree, it: w.SurfaceWidget) -> Scope[None]:
    surface = tree.take(Surface, it.key)
    surface.wide, surface.tall, surface.least_px = it.width, it.height, it.least_height
    surface.most_px = it.most_height
    surface.update(
        (it.kind, it.padding, it.scrolls, 8.0, it.width, it.height, it.least_height, it.most_height)
    )
    return Scope(tree, None, surface)


def _clickable(tree: Tree, it: w.ClickableWidget) -> Scope[Clicks]:
    card = tree.take(Clickable, it.key)
    card.wide, card.tall, card.tip = 0, it.height, it.tip
    card.update((it.kind, it.padding, False, 4.0, it.height))
    given = Clicks(
        clicked=card.clicks.clicked, right_clicked=card.clicks.right_clicked, is_hovered=card.is_hovered
    )
    card.clicks.clicked = card.clicks.right_clicked = False
    return Scope(tree, given, card)


def _split(tree: Tree, it: w.SplitWidget) -> Scope[SplitView]:
    box = tree.take(SplitBox, it.key)
    box.update((tuple(it.widths), it.min_px))
    return Scope(tree, SplitView(tree, box), box)


def _push(tree: Tree, _: w.PushWidget) -> None:
    tree.take(Spring, ("push", len(tree.at.order)))


def _gap(tree: Tree, it: w.GapWidget) -> None:
    tree.take(Gap, ("gap", len(tree.at.order))).update((it.px,))


def _divider(tree: Tree, it: w.DividerWidget) -> None:
    tree.take(Divider, it.key)


def _width(tree: Tree, _: w.WidthQuery) -> float:
    at = tree.at
    tree.assumed.append((at, at.w, at.h))
    return max(0.0, inner_width(tree, at) / tree.m.scale)


def _height(tree: Tree, _: w.HeightQuery) -> float:
    at = tree.at
    tree.assumed.append((at, at.w, at.h))
    around = 2 * at.pads(tree.m)[1] if isinstance(at, Surface) else 0.0
    return max(0.0, (at.h - around) / tree.m.scale)


def inner_width(tree: Tree, at: Element) -> float:
    """Pixels inside a container, less its padding."""
    return at.w - 2 * at.pads(tree.m)[0] if isinstance(at, Surface) else at.w


BOX_HANDLERS = w.table(
    w.GroupWidget.handled_by(_group),
    w.RowWidget.handled_by(_row),
    w.SurfaceWidget.handled_by(_surface),
    w.ClickableWidget.handled_by(_clickable),
    w.SplitWidget.handled_by(_split),
    w.PushWidget.handled_by(_push),
    w.GapWidget.handled_by(_gap),
    w.DividerWidget.handled_by(_divider),
    w.WidthQuery.handled_by(_width),
    w.HeightQuery.handled_by(_height),
)


# Drawing of long text and pictures: Markdown, code, images.

PAGE_CHARS = 24_000
"""Size of a long text's first part, and of each that a press of its button adds."""
CODE_MOST_PX = 480.0
_DOCUMENT = late(r"(?:\.\./)*[A-Za-z0-9_-]+\.md(?:#.*)?")
"""Link to a document beside the one that is shown."""


def _markdown(tree: Tree, it: w.MarkdownWidget) -> str:
    source = it.source
    if len(source) <= PAGE_CHARS:
        return _page(tree, it, it.key, source)
    with tree.ui.group(it.key):
        place = tree.at.path()
        pages = max(tree.pages.get(place, 1), _pages_to(source, it.terms, it.found_at))
        tree.pages[place] = pages
        shown = page_end(source, pages * PAGE_CHARS)
        pressed = _page(tree, it, "text", page_of(source, shown))
        if shown < len(source):
            left = tr("Show more ({rest} left)", rest=size(len(source) - shown))
            if tree.ui.button("more", left, icon="angles-down", is_small=True):
                tree.pages[place] = pages + 1
    return pressed


def _pages_to(source: str, terms: tuple[str, ...], found_at: int) -> int:
    """Pages that have to be shown for an occurrence to be among them."""
    pattern = wanted(terms) if found_at >= 0 else None
    if pattern is None:
        return 1
    found = next(islice(pattern.finditer(source), found_at, None), None)
    return 1 if found is None else 1 + (found.end() + 2000) // PAGE_CHARS


def _page(tree: Tree, it: w.MarkdownWidget, key: Hashable, source: str) -> str:
    """Draw it. Returns the document that a link leads to which was pressed, where the text has such; else nothing."""
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
    for toggle in text.sources:
        if toggle.is_clicked:
            toggle.is_clicked = False
            text.document.toggle_source(toggle.block)
            text.invalidate()
    for fold in text.folds:
        if fold.is_clicked:
            fold.is_clicked = False
            text.document.toggle_fold(fold.fold)
            text.invalidate()
    pressed = ""
    for link in text.links:
        if link.is_clicked:
            link.is_clicked = False
            if tree.prose.span() is not None:
                continue
            if it.has_pages and _DOCUMENT.fullmatch(link.tip):
                pressed = link.tip
            else:
                tree.asked_address = (text.path(), local_picture(link.tip, it.root) or link.tip)
    if tree.asked_address is not None and tree.asked_address[0] == text.path():
        _ask(tree, tree.asked_address[1])
    return pressed


PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif"})
PICTURE_PX = 520.0


def local_picture(address: str, root: str) -> str:
    """Path of the picture on this machine that an address names, below `root` where it is relative; empty for any other.

    Nothing is looked at. A name of another machine, which opening it would reach, does not count.
    """
    parts = urlsplit(address)
    is_file = parts.scheme == "file" and not parts.netloc
    if not is_file and ("://" in address or address.startswith(("//", "\\\\"))):
        return ""
    path = Path(unquote(parts.path if is_file else address))
    if path.suffix.lower() not in PICTURES or not (path.is_absolute() or root):
        return ""
    return str(path if path.is_absolute() else Path(root) / path)


def _show_picture(tree: Tree, path: str) -> None:
    """Show a picture that a person pressed the name of."""
    ui = tree.ui
    with ui.dialog("picture", tr("Picture"), width=760) as closed:
        ui.text("path", visible(path), tone="muted", style="small", wraps=True)
        ui.image("picture", path, max_height=PICTURE_PX)
        with ui.row("buttons"):
            ui.push()
            if ui.button("close", tr("Close"), kind="primary"):
                closed.clicked = True
    if closed.clicked:
        tree.asked_address = None


def _ask(tree: Tree, address: str) -> None:
    """Show where a link leads and let the person decide: its text may say something else."""
    if Path(address).is_absolute() and Path(address).suffix.lower() in PICTURES:
        _show_picture(tree, address)
        return
    is_web = urlsplit(address).scheme in ("http", "https")
    title = tr("Open this address?") if is_web else tr("This link is not a web page")
    ui = tree.ui
    with ui.dialog("address", title, width=560) as closed:
        ui.text("address", visible(address)[:2000], wraps=True, style="mono")
        with ui.row("buttons"):
            ui.push()
            if ui.button("copy", tr("Copy address"), icon="copy"):
                ui.copy(address)
                closed.clicked = True
            if ui.button("open", tr("Open"), kind="primary", is_enabled=is_web, shortcut="Ctrl+Enter"):
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


def page_of(source: str, end: int) -> str:
    """The text up to a place. A formula that the cut goes through is closed: its part is shown as what it is."""
    page = source[:end]
    begins = page.count("$$") % 2 == 1 and "\n\n" not in page[page.rfind("$$") :]
    return f"{page}$$" if begins and end < len(source) else page


PROSE_HANDLERS = w.table(
    w.MarkdownWidget.handled_by(_markdown),
    w.CodeWidget.handled_by(_code),
    w.ImageWidget.handled_by(_image),
)
