"""Markdown on the screen: drawn, with buttons that copy code and links that can be pressed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import ClassVar, TypeVar

import dearpygui.dearpygui as dpg

from core.kernel.language import tr
from gui.canvas import CLEAR, WHITE, Canvas, Pane
from gui.elements.base import Element, Spec
from gui.elements.controls import Hit
from gui.elements.lists import VirtualList
from gui.elements.surfaces import Surface
from gui.elements.text import filled
from gui.markdown.blocks import HEAD_PX, TAB, Laid, Op
from gui.markdown.document import Document, is_ready
from gui.markdown.excerpt import Box, Place, block_at
from gui.markdown.layout import BAR_PX, Line, columns_of, highlight, plain_lines, wrap_code
from gui.metrics import Color, Drawing, Measure
from gui.text_buffer import visible

Spot = tuple[int, int, int, int]
COPY_GLYPH = "\uf0c5"
DONE_GLYPH = "\uf00c"
LOADING_S = 0.05
"""Rest between two looks whether the parser is there."""


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
        """The text on the screen."""
        return f"{DONE_GLYPH}  {tr('Copied')}" if self.is_done else f"{COPY_GLYPH}  {tr('Copy')}"

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
        return tr("Copy code")


class WrapHit(CopyHit):
    """The button of a code that wraps its lines, or lets them be scrolled again."""

    __slots__ = ("block",)

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.block = 0

    def text(self) -> str:
        return tr("Scroll") if self.is_done else tr("Wrap")

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        was_done, specs = self.is_done, super().draw(c, spot)
        self.is_done = was_done
        return specs

    def label(self) -> str:
        return tr("Scroll long lines") if self.is_done else tr("Wrap long lines")


class SourceHit(WrapHit):
    """The button of a diagram that shows its source, or its drawing again."""

    __slots__ = ()

    def text(self) -> str:
        return tr("Drawing") if self.is_done else tr("Source")

    def label(self) -> str:
        return tr("Show the drawing") if self.is_done else tr("Show the source")


class BarHit(Hit):
    """The scrollbar below code that is wider than its box."""

    __slots__ = ("block", "grabbed")
    repaints: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.props = ("none",)
        self.block = 0
        self.grabbed: tuple[float, float] | None = None

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        tone = "muted" if self.grabbed else "border_strong" if self.is_hovered else "scroll_thumb"
        return [filled(*spot, c.color(tone), (spot[3] - spot[1]) / 2)]


class FoldHit(Hit):
    """The line that opens or closes what is folded."""

    __slots__ = ("fold", "text")

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.props = ("none",)
        self.fold = 0
        self.text = ""

    def label(self) -> str:
        return self.text


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


class Ground(Element):
    """Ground under a text: fills of code, bars of quotes, lines of tables. Takes no space and no mouse."""

    __slots__ = ()

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        text = self.parent
        assert isinstance(text, Markdown)
        x, y = spot[0], spot[1]
        return [spec(c, op, x, y + top) for top, laid in text.tops for op in laid.ops if not op.text]


class Shade(Element):
    """Tints under a text: what is selected, what a search found. Takes no space and no mouse."""

    __slots__ = ()

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        text = self.parent
        assert isinstance(text, Markdown)
        found: list[Spec] = []
        for number, (block, start, end) in enumerate(text.found()):
            tone = "search_here" if number == text.found_at() else "search_match"
            found += _tinted(c, text, (block, start), (block, end), tone, spot)
        if text.selected is not None:
            found += _tinted(c, text, *text.selected, "selection", spot)
        return found


class Markdown(Element):
    """A text. `props`: the source, whether it streams, whether it shows as it was written, the terms to be found,
    the number of the occurrence that the search stands on (-1: none).
    """

    __slots__ = (
        "bars",
        "copies",
        "document",
        "drawn",
        "folds",
        "ground",
        "held",
        "is_plain",
        "links",
        "looks_out",
        "planes",
        "revealed",
        "selected",
        "shade",
        "sources",
        "wraps",
    )
    polls: ClassVar[bool] = True
    MOST_LINKS: ClassVar[int] = 200
    WHEEL_PX: ClassVar[float] = 60.0

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.document = Document()
        self.is_plain = False
        self.copies: list[CopyHit] = []
        self.wraps: list[WrapHit] = []
        self.sources: list[SourceHit] = []
        self.drawn = 0
        self.looks_out = False
        self.held: frozenset[Drawing] = frozenset()
        self.bars: list[BarHit] = []
        self.folds: list[FoldHit] = []
        self.links: list[LinkHit] = []
        self.ground = Ground("ground", self)
        self.shade = Shade("shade", self)
        self.planes: list[int] = []
        self.selected: tuple[Place, Place] | None = None
        self.revealed: object = None

    @property
    def tops(self) -> list[tuple[float, Laid]]:
        """Every block with its top."""
        return self.document.tops

    def wants_space(self) -> tuple[bool, bool]:
        return True, False

    def measure(self, m: Measure) -> float:
        return m.px(400)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        source, is_streaming, is_written, *_ = self.props
        self.document.set_source(source, is_streaming=is_streaming, is_written=is_written)
        self.is_plain = not is_streaming and not self.document.is_final
        self.h = self.document.lay_out(m, w)
        self._place_copies(m, w)
        self._place_bars(m)
        self._place_links(m)
        self._place_folds(m, w)
        self.ground.touched = self.shade.touched = True
        hits = [*self.links, *self.folds, *self.copies, *self.wraps, *self.sources, *self.bars]
        self.order = [self.ground, self.shade, *hits]
        self.kids = {kid.key: kid for kid in self.order} | {
            key: kid for key, kid in self.kids.items() if kid.pane is not None
        }

    def _place_copies(self, m: Measure, w: float) -> None:
        found = [(top, laid, index) for index, (top, laid) in enumerate(self.tops) if laid.copy]
        self.copies = [_kept(self, CopyHit, ("copy", index)) for index in range(len(found))]
        head, width, right = m.px(HEAD_PX), m.px(78), w - m.px(6)
        for hit, (top, laid, _) in zip(self.copies, found, strict=True):
            hit.payload = laid.copy
            _put(hit, m, right - width, top + (head - m.px(24)) / 2, width, m.px(24))
        wide = [one for one in found if one[1].can_wrap]
        self.wraps = [_kept(self, WrapHit, ("wrap", index)) for index in range(len(wide))]
        for wrap, (top, _, index) in zip(self.wraps, wide, strict=True):
            wrap.block, was_done = index, wrap.is_done
            wrap.is_done = self.document.look(index, self.document.blocks[index]).wraps
            if wrap.is_done != was_done:
                wrap.touch()
            least = m.px(64)
            _put(wrap, m, right - width - least, top + (head - m.px(24)) / 2, least, m.px(24))
        drawn = [one for one in found if one[1].has_drawing]
        self.sources = [_kept(self, SourceHit, ("source", index)) for index in range(len(drawn))]
        for source, (top, laid, index) in zip(self.sources, drawn, strict=True):
            source.block, was_done = index, source.is_done
            source.is_done = self.document.look(index, self.document.blocks[index]).is_source
            if source.is_done != was_done:
                source.touch()
            x = right - width - m.px(78) - (m.px(64) if laid.can_wrap else 0.0)
            _put(source, m, x, top + (head - m.px(24)) / 2, m.px(78), m.px(24))

    def _place_bars(self, m: Measure) -> None:
        found = [
            (top, laid.reach, index) for index, (top, laid) in enumerate(self.tops) if laid.reach is not None
        ]
        self.bars = [_kept(self, BarHit, ("bar", index)) for index in range(len(found))]
        for bar, (top, reach, index) in zip(self.bars, found, strict=True):
            bar.block = index
            length = max(m.px(28), reach.w * reach.w / reach.content)
            x = reach.x + (reach.w - length) * reach.shift / max(1.0, reach.content - reach.w)
            _put(bar, m, x, top + reach.y + reach.h + m.px(5), length, m.px(BAR_PX - 2))

    def _place_links(self, m: Measure) -> None:
        found = [(top, link) for top, laid in self.tops for link in laid.links][: self.MOST_LINKS]
        self.links = [_kept(self, LinkHit, ("link", index)) for index in range(len(found))]
        for hit, (top, link) in zip(self.links, found, strict=True):
            hit.tip, hit.text = link.href, link.text.strip()
            _put(hit, m, link.x, top + link.y, link.w, link.h)

    def _place_folds(self, m: Measure, w: float) -> None:
        found = [(top, laid) for top, laid in self.tops if laid.fold]
        self.folds = [_kept(self, FoldHit, ("fold", index)) for index in range(len(found))]
        for hit, (top, laid) in zip(self.folds, found, strict=True):
            hit.fold = laid.fold
            hit.text = " ".join(op.text for op in laid.ops[1:]).strip()
            _put(hit, m, 0.0, top, w, laid.height)

    def paint(self, c: Canvas, pane: Pane, x: float, y: float) -> None:
        if not self.planes:
            self.planes = c.planes(pane, 3)
            self.ground.plane, self.shade.plane, self.plane = self.planes
        super().paint(c, pane, x, y)
        for key in [key for key, kid in self.kids.items() if kid not in self.order]:
            self.kids.pop(key).drop(c)

    def drop(self, c: Canvas) -> None:
        super().drop(c)
        for plane in self.planes:
            c.delete(plane)
        self.planes = []
        self._hold(c, frozenset())

    def forget(self) -> None:
        super().forget()
        self.planes = []

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        x, y = spot[0], spot[1]
        specs: list[Spec] = []
        drawings: list[Drawing] = []
        for top, laid in self.tops:
            for op in laid.ops:
                if op.drawing is not None:
                    drawings.append(op.drawing)
                    specs += picture(c, op, x, y + top)
                elif is_shown(op):
                    specs.append(spec(c, op, x, y + top))
        self._hold(c, frozenset(drawings))
        return specs

    def _hold(self, c: Canvas, drawings: frozenset[Drawing]) -> None:
        """Keep what is shown, and let go of what is not any more."""
        if drawings != self.held:
            c.drawings.hold(self.held, drawings, c)
            self.held = drawings

    def label(self) -> str:
        return str(self.props[0])

    # what the person does
    def poll(self, c: Canvas) -> None:
        if self.is_plain and is_ready():
            self.invalidate()
        self._take_drawn(c)
        for bar in self.bars:
            self._drag(bar)
        self._reveal(c.m)

    def _take_drawn(self, c: Canvas) -> None:
        """Take in what was drawn for it since it looked last: its sizes, or the same for another theme."""
        awaits = self.document.awaits
        self.looks_out = (awaits or bool(self.held)) and c.drawings.is_busy()
        if self.drawn == c.drawings.drawn():
            return
        self.drawn = c.drawings.drawn()
        if awaits:
            self.invalidate()
        elif self.held:
            self.touch()

    def _reveal(self, m: Measure) -> None:
        """Bring the occurrence that a search stands on into view, once."""
        asked = (self.props[3], self.props[4]) if self.props[4] >= 0 else None
        if asked == self.revealed or self.spot is None or self.pane is None:
            return
        at = self.found_at()
        if at >= 0 and self.document.bring(m, *self.found()[at][:2]):
            self.invalidate()
            return
        self.revealed = asked
        box, holder = self.found_box(m), self.parent
        while holder is not None and not isinstance(holder, VirtualList):
            holder = holder.parent
        if box is None or holder is None or holder.spot is None or holder.pane is None:
            return
        y = self.pane.origin()[1] + self.spot[1] + box[1]
        top = holder.pane.origin()[1] + holder.spot[1]
        margin = min(m.px(60), holder.h / 4)
        if not top + margin <= y <= top + holder.h - margin - box[3]:
            holder.scroll_by(y - top - holder.h / 3)

    def rest_s(self) -> float:
        return LOADING_S if self.is_plain or self.looks_out else super().rest_s()

    def _drag(self, bar: BarHit) -> None:
        if not bar.is_held():
            bar.grabbed = None
            return
        x, reach = dpg.get_mouse_pos(local=False)[0], self.tops[bar.block][1].reach
        if reach is None:
            return
        if bar.grabbed is None:
            bar.grabbed = (x, reach.shift)
        start, shift = bar.grabbed
        share = (reach.content - reach.w) / max(1.0, reach.w - bar.w)
        if self.document.shift(bar.block, shift + (x - start) * share):
            self.invalidate()

    def on_wheel(self, delta: float, m: Measure) -> bool:
        """Shift and the wheel scroll the code under the mouse sideways."""
        if not is_shift_down() or self.spot is None or self.pane is None or not self.tops:
            return False
        y = dpg.get_mouse_pos(local=False)[1] - self.pane.origin()[1] - self.spot[1]
        index = block_at(self.tops, y)
        reach = self.tops[index][1].reach
        if reach is None or not self.document.shift(index, reach.shift - delta * m.px(self.WHEEL_PX)):
            return False
        self.invalidate()
        return True

    # selection and search
    def select(self, selected: tuple[Place, Place] | None) -> None:
        """Show its selected part."""
        if selected != self.selected:
            self.selected = selected
            self.shade.touch()

    def found(self) -> list[tuple[int, int, int]]:
        """The occurrences of what is searched."""
        terms = self.props[3]
        return self.document.occurrences(terms) if terms else []

    def found_at(self) -> int:
        """Number of the occurrence that the search stands on, as far as it is shown; -1 for none."""
        return min(int(self.props[4]), len(self.found()) - 1) if self.props[4] >= 0 else -1

    def found_box(self, m: Measure) -> Box | None:
        """Place of the occurrence that the search stands on."""
        at = self.found_at()
        if at < 0:
            return None
        block, start, end = self.found()[at]
        boxes = self.document.boxes(m, (block, start), (block, end))
        return boxes[0] if boxes else None


def is_shift_down() -> bool:
    """True while a Shift key is held."""
    return bool(dpg.is_key_down(dpg.mvKey_LShift) or dpg.is_key_down(dpg.mvKey_RShift))


def _put(hit: Hit, m: Measure, x: float, y: float, w: float, h: float) -> None:
    """Place a hit in its text."""
    hit.layout(m, w, h)
    hit.h, hit.x, hit.y = h, x, y


def _tinted(c: Canvas, text: Markdown, start: Place, end: Place, tone: str, spot: Spot) -> list[Spec]:
    color = c.color(tone)
    return [
        filled(
            round(spot[0] + x), round(spot[1] + y), round(spot[0] + x + w), round(spot[1] + y + h), color, 0
        )
        for x, y, w, h in text.document.boxes(c.m, start, end)
    ]


H = TypeVar("H", bound=Hit)


def _kept(owner: Element, cls: type[H], key: Hashable) -> H:
    """The kid with that key from the last time, or a new one."""
    kid = owner.kids.get(key)
    if not isinstance(kid, cls):
        kid = cls(key, owner)
    return kid


def is_shown(op: Op) -> bool:
    """True if there is a text to see."""
    return bool(op.text) and not op.text.isspace()


def tone_color(c: Canvas, tone: str) -> Color:
    """The colour of an operation's tone."""
    family, _, name = tone.partition(".")
    return c.palette.code.get(name, c.palette.code["text"]) if family == "code" else c.color(tone)


def picture(c: Canvas, op: Op, x: float, y: float) -> list[Spec]:
    """Picture that is drawn instead of an operation's text: a formula in the colour of the text, a diagram in its own."""
    assert op.drawing is not None
    texture = c.drawings.texture(c, op.drawing)
    if not texture:
        return []
    tint = WHITE if op.drawing.kind == "diagram" else tone_color(c, op.tone)
    left, top = round(x + op.x), round(y + op.y)
    return [("image", left, top, left + round(op.w), top + round(op.h), texture, tint)]


def spec(c: Canvas, op: Op, x: float, y: float) -> Spec:
    """An operation as a primitive of the drawlist."""
    color = tone_color(c, op.tone)
    left, top = round(x + op.x), round(y + op.y)
    if op.text:
        return ("text", left, top, op.text, op.style, color)
    return ("rect", left, top, round(x + op.x + op.w), round(y + op.y + op.h), color, CLEAR, op.rounding)


# Code in a box: highlighted, numbered, and only the lines in view are drawn.

STYLE = "mono"
MARGIN_LINES = 12


class CodeLines(Element):
    """The lines. `props`: text, language, number of the first line or 0."""

    __slots__ = ("first_shown", "gutter", "laid_for", "lines", "numbers", "step")
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.lines: list[Line] = []
        self.numbers: list[int] = []
        self.gutter = 0.0
        self.step = 1
        self.laid_for: tuple[object, ...] = ()
        self.first_shown = -1

    def wants_space(self) -> tuple[bool, bool]:
        return True, False

    def measure(self, m: Measure) -> float:
        return m.px(320)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        text, language, first = self.props
        self.step = round(m.sizes[STYLE] * 1.25)
        advance = m.width("M", STYLE)
        digits = len(str(first + text.count("\n"))) if first else 0
        self.gutter = digits * advance + m.px(14) if first else 0.0
        columns = max(8, int((w - self.gutter) / advance))
        if self.laid_for != (text, language, first, columns):
            self.laid_for = (text, language, first, columns)
            self._break_lines(columns, columns_of(m))
        self.h = len(self.lines) * self.step

    def _break_lines(self, columns: int, span: Callable[[str], float]) -> None:
        text, language, first = self.props
        shown = visible(text).replace("\t", TAB)
        lines = highlight(shown, language) if language else plain_lines(shown)
        self.lines, self.numbers = [], []
        for index, line in enumerate(lines):
            parts = wrap_code(line, columns, span)
            self.lines += parts
            self.numbers += [first + index, *[0] * (len(parts) - 1)]

    def _window(self) -> tuple[int, int]:
        """First and last line to draw: those in the scrolling surface around it, and some more."""
        box = self.parent
        if not isinstance(box, Surface) or box.inner is None or not box.scrolls:
            return 0, min(len(self.lines), 4000)
        first = int((box.inner.scroll[1] - self.y) / self.step)
        first = max(0, first // MARGIN_LINES * MARGIN_LINES - MARGIN_LINES)
        return first, min(len(self.lines), first + int(box.h / self.step) + 3 * MARGIN_LINES)

    def poll(self, c: Canvas) -> None:
        if self._window()[0] != self.first_shown and self.spot is not None:
            self.touch()

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        first, last = self._window()
        self.first_shown = first
        specs: list[Spec] = []
        colors = c.palette.code
        for index in range(first, last):
            x, y = spot[0] + self.gutter, spot[1] + index * self.step
            if self.gutter and self.numbers[index]:
                number = str(self.numbers[index])
                at = spot[0] + self.gutter - c.m.px(14) - c.m.width(number, STYLE)
                specs.append(("text", round(at), y, number, STYLE, colors["line_number"]))
            for text, kind in self.lines[index]:
                if not text.isspace():
                    specs.append(("text", round(x), y, text, STYLE, colors.get(kind, colors["text"])))
                x += c.m.width(text, STYLE)
        return specs

    def label(self) -> str:
        return str(self.props[0])
