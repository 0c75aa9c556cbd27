"""The `Ui` calls that only show."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from urllib.parse import urlsplit

import dearpygui.dearpygui as dpg

from gui.elements.plot import Plot
from gui.elements.text import Badge, Icon, Progress, StackedBar, Text
from gui.icons import glyph
from gui.ui_boxes import Boxes
from gui.visible import taken, visible
from panels.ui import Length, Series, Share, Style, Tone


class Output(Boxes):
    """Text and pictures."""

    def text(
        self,
        key: Hashable,
        value: str,
        *,
        tone: Tone = "text",
        style: Style = "body",
        wraps: bool = False,
        width: Length = None,
        tip: str = "",
    ) -> None:
        """A line of text; with `wraps` a paragraph, with `width` cut with an ellipsis to fit."""
        text = self.take(Text, key)
        text.wide, text.tip = width, tip
        props = (value, tone, style, wraps, width)
        if props != text.source:
            text.source = props
            text.update((visible(value), tone, style, wraps, width))

    def icon(self, key: Hashable, name: str, *, tone: Tone = "muted", tip: str = "") -> None:
        """An icon by its Font Awesome name (`assets/icons.toml`)."""
        icon = self.take(Icon, key)
        icon.tip = tip
        icon.update((glyph(name), tone, "body"))

    def progress(
        self,
        key: Hashable,
        fraction: float,
        *,
        tone: Tone = "accent",
        width: Length = 0,
        height: float = 6,
        fill: int | None = None,
    ) -> None:
        """A bar; fraction is clamped to 0..1. `fill` as in `Share`."""
        bar = self.take(Progress, key)
        bar.wide = width
        bar.update((min(1.0, max(0.0, fraction)), tone, height, width, fill))

    def stacked_bar(self, key: Hashable, shares: Sequence[Share], *, height: float = 10) -> None:
        """Shares of a whole side by side, full width."""
        bar = self.take(StackedBar, key)
        bar.update((tuple(shares), height))

    def plot(
        self,
        key: Hashable,
        series: Sequence[Series],
        *,
        height: float = 200,
        x_label: str = "",
        y_label: str = "",
    ) -> None:
        """Curves over a common x, full width, of at most two units. Hover shows the values of the nearest x."""
        plot = self.take(Plot, key)
        plot.update((tuple(series), height, visible(x_label), visible(y_label)))

    def badge(self, key: Hashable, value: str, *, tone: Tone = "muted", tip: str = "") -> None:
        """A small rounded label."""
        badge = self.take(Badge, key)
        badge.tip = tip
        badge.update((visible(value), tone))

    # effects on the desktop
    def copy(self, text: str) -> None:
        """Put text on the clipboard, after the frame."""
        self.effects.append(lambda: dpg.set_clipboard_text(taken(text)))

    def open_url(self, url: str) -> None:
        """Open a web address in the person's browser; other schemes are ignored."""
        if urlsplit(url).scheme in ("http", "https"):
            self.effects.append(lambda: self.open_address(url))
