"""Drawing of text and small pictures."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from gui.describe import Tree
from gui.elements.plot import Plot
from gui.elements.text import Badge, Icon, Progress, StackedBar, Text
from gui.icons import glyph
from gui.visible_text import taken, visible
from panels.base import widgets as w
from panels.base.file_button import OPENED


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
    tree.said = "Copied"


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
        tree.said = f"Opened {visible(path.name)}"
        return
    tree.clipboard.copy(taken(name))
    tree.said = "No program opened it: its path is copied"


HANDLERS = w.table(
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
