"""Markdown on the screen: drawn, with buttons that copy code and links that can be pressed."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar, TypeVar

from gui.canvas import CLEAR, Canvas, Pane
from gui.elements.base import Element, Spec
from gui.elements.controls import Hit
from gui.elements.text import filled
from gui.markdown.code_layout import HEAD_PX
from gui.markdown.document import Document, is_ready
from gui.markdown.laid import Laid, Op
from gui.metrics import Measure
from gui.theme import Color

Spot = tuple[int, int, int, int]
COPY_GLYPH = "\uf0c5"
DONE_GLYPH = "\uf00c"


class CopyHit(Hit):
    """The button of a code that copies it. Drawn, because the fill of the code lies above controls."""

    __slots__ = ("is_done", "payload")
    repaints: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.props = ("none",)
        self.payload = ""
        self.is_done = False

    def text(self) -> str:
        """Text that it shows."""
        return f"{DONE_GLYPH}  Copied" if self.is_done else f"{COPY_GLYPH}  Copy"

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        x0, y0, x1, y1 = spot
        text, size = self.text(), c.m.sizes["small"]
        at = (round((x0 + x1 - c.m.width(text, "small")) / 2), y0 + (y1 - y0 - size) // 2)
        tone = "ok" if self.is_done else "text" if self.is_hovered else "muted"
        label: Spec = ("text", *at, text, "small", c.color(tone))
        if not self.is_hovered:
            self.is_done = False
            return [label]
        return [filled(x0, y0, x1, y1, c.color("hover"), c.m.px(5)), label]

    def label(self) -> str:
        return "Copy code"


class LinkHit(Hit):
    """A link. The address is its tooltip."""

    __slots__ = ("text",)
    repaints: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.props = ("none",)
        self.text = ""

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        if not self.is_hovered:
            return []
        y = spot[3] - round(c.m.px(2))
        return [("line", spot[0], y, spot[2], y, c.color("accent"), max(1, round(c.m.scale)))]

    def label(self) -> str:
        return self.text


class Markdown(Element):
    """A text. `props`: the source, whether it streams."""

    __slots__ = ("copies", "document", "is_plain", "links", "tops")
    polls: ClassVar[bool] = True
    MOST_LINKS: ClassVar[int] = 200

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.document = Document()
        self.is_plain = False
        self.copies: list[CopyHit] = []
        self.links: list[LinkHit] = []
        self.tops: list[tuple[float, Laid]] = []

    def wants_space(self) -> tuple[bool, bool]:
        return True, False

    def measure(self, m: Measure) -> float:
        return m.px(400)

    def poll(self, c: Canvas) -> None:
        if self.is_plain and is_ready():
            self.invalidate()

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        source, is_streaming = self.props
        self.document.set_source(source, is_streaming=is_streaming)
        self.is_plain = not is_streaming and not self.document.is_final
        self.h = self.document.lay_out(m, w)
        self.tops, y = [], 0.0
        for _, laid in self.document.laid:
            y += laid.above
            self.tops.append((y, laid))
            y += laid.height
        self._place_copies(m, w)
        self._place_links(m)
        self.order = [*self.links, *self.copies]
        self.kids = {kid.key: kid for kid in self.order} | {
            key: kid for key, kid in self.kids.items() if kid.pane is not None
        }

    def _place_copies(self, m: Measure, w: float) -> None:
        found = [(top, laid) for top, laid in self.tops if laid.copy]
        self.copies = [_kept(self, CopyHit, ("copy", index)) for index in range(len(found))]
        head, width = m.px(HEAD_PX), m.px(78)
        for hit, (top, laid) in zip(self.copies, found, strict=True):
            hit.payload = laid.copy
            hit.layout(m, width, m.px(24))
            hit.h = m.px(24)
            hit.x, hit.y = w - width - m.px(6), top + (head - hit.h) / 2

    def _place_links(self, m: Measure) -> None:
        found = [(top, link) for top, laid in self.tops for link in laid.links][: self.MOST_LINKS]
        self.links = [_kept(self, LinkHit, ("link", index)) for index in range(len(found))]
        for hit, (top, link) in zip(self.links, found, strict=True):
            hit.tip, hit.text = link.href, link.text.strip()
            hit.layout(m, link.w, link.h)
            hit.h = link.h
            hit.x, hit.y = link.x, top + link.y

    def paint(self, c: Canvas, pane: Pane, x: float, y: float) -> None:
        super().paint(c, pane, x, y)
        for key in [key for key, kid in self.kids.items() if kid not in self.order]:
            self.kids.pop(key).drop(c)

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        x, y = spot[0], spot[1]
        return [spec(c, op, x, y + top) for top, laid in self.tops for op in laid.ops if is_shown(op)]

    def label(self) -> str:
        return str(self.props[0])


H = TypeVar("H", bound=Hit)


def _kept(owner: Element, cls: type[H], key: Hashable) -> H:
    """The kid with that key from the last time, or a new one."""
    kid = owner.kids.get(key)
    if not isinstance(kid, cls):
        kid = cls(key, owner)
    return kid


def is_shown(op: Op) -> bool:
    """True if there is something to see."""
    return not op.text or not op.text.isspace()


def tone_color(c: Canvas, tone: str) -> Color:
    """The colour of an operation's tone."""
    family, _, name = tone.partition(".")
    return c.palette.code.get(name, c.palette.code["text"]) if family == "code" else c.color(tone)


def spec(c: Canvas, op: Op, x: float, y: float) -> Spec:
    """An operation as a primitive of the drawlist."""
    color = tone_color(c, op.tone)
    left, top = round(x + op.x), round(y + op.y)
    if op.text:
        return ("text", left, top, op.text, op.style, color)
    return ("rect", left, top, round(x + op.x + op.w), round(y + op.y + op.h), color, CLEAR, op.rounding)
