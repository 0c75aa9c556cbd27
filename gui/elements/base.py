"""Base of every element: identity, properties, a place, a way to the screen; containers without looks; the one text selection."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from gui.canvas import Press, Spec
from gui.metrics import Measure

# Base of every element: identity, properties, a place, and a way to the screen.

if TYPE_CHECKING:
    from gui.canvas import Canvas, Pane

__all__ = ["Element", "Spec", "chain_at", "whole"]


class Element:
    """A node of the retained tree. Lives as long as the panel asks for its key.

    `plane`: where its primitives lie, 0 for the pane's drawlist itself. `stale`: its layout must be computed again. `touched`: it, or something in it, must be painted again.
    """

    __slots__ = (
        "asked",
        "box",
        "fill",
        "h",
        "is_hovered",
        "key",
        "kids",
        "nat",
        "order",
        "pane",
        "parent",
        "plane",
        "prim_ids",
        "prims",
        "props",
        "quiet_frames",
        "seen",
        "spot",
        "stale",
        "tall",
        "tip",
        "touched",
        "w",
        "was",
        "wide",
        "x",
        "y",
    )
    is_spring: ClassVar[bool] = False
    is_gap: ClassVar[bool] = False
    is_ghost: ClassVar[bool] = False
    polls: ClassVar[bool] = False
    repaints: ClassVar[bool] = False
    stretches: ClassVar[bool] = False
    shrinks: ClassVar[bool] = False
    QUIET_FRAMES: ClassVar[int] = 3

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        self.key = key
        self.parent = parent
        self.kids: dict[Hashable, Element] = {}
        self.order: list[Element] = []
        self.was: list[Element] = []
        self.asked: object = None
        self.props: tuple[Any, ...] = ()
        self.seen = 0
        self.x = self.y = self.w = self.h = 0.0
        self.nat: float | None = None
        self.fill: tuple[bool, bool] | None = None
        self.box: tuple[float, float | None] | None = None
        self.spot: tuple[int, int, int, int] | None = None
        self.stale = self.touched = True
        self.wide: float | None = None
        self.tall: float | None = None
        self.tip = ""
        self.is_hovered = False
        self.prims: list[Spec] = []
        self.prim_ids: list[int] = []
        self.pane: Pane | None = None
        self.plane = 0
        self.quiet_frames = 0

    # change
    def invalidate(self) -> None:
        """Lay out and paint this element and its parents again, because its size may have changed."""
        node: Element | None = self
        while node is not None and not (node.stale and node.touched and node.nat is None):
            node.stale = node.touched = True
            node.nat = node.fill = None
            node = node.parent

    def touch(self) -> None:
        """Only its looks changed: paint it again."""
        node: Element | None = self
        while node is not None and not node.touched:
            node.touched = True
            node = node.parent

    def differs(self, asked: object) -> bool:
        """True if a widget asks for something else than in the last frame."""
        if asked == self.asked:
            return False
        self.asked = asked
        return True

    def update(self, props: tuple[Any, ...]) -> bool:
        """Take properties; whether they differ from those of the last frame."""
        if props == self.props:
            return False
        self.props = props
        self.invalidate()
        return True

    # clicks
    def is_meant(self) -> bool:
        """True if a click or key may be meant for it: the dialog that it is in, if any, has stood long enough."""
        return self.parent is None or self.parent.is_meant()

    def is_key_meant(self) -> bool:
        """True if a key that presses or answers may be meant for it."""
        return self.parent is None or self.parent.is_key_meant()

    def refuse_click(self) -> bool:
        """Called in place of its callback while it is not meant; False: its callback answers nothing, and runs."""
        return True

    # layout
    def grows(self) -> tuple[bool, bool]:
        """True if it takes free width, and free height."""
        if self.fill is None:
            self.fill = self.wants_space()
        return self.fill

    def wants_space(self) -> tuple[bool, bool]:
        """See `grows`; computed when something changed."""
        return self.wide is not None and self.wide <= 0, self.tall is not None and self.tall <= 0

    def natural(self, m: Measure) -> float:
        """The width it would like, in pixels."""
        if self.nat is None:
            self.nat = m.px(self.wide) if self.wide is not None and self.wide > 0 else self.measure(m)
        return self.nat

    @property
    def is_quiet(self) -> bool:
        """True if its words may go before those of others in a row that is too narrow."""
        return False

    def collapsed(self, m: Measure) -> float:
        """The width it can do with in a row that is too narrow."""
        return self.natural(m)

    def measure(self, m: Measure) -> float:
        """The width of its content in pixels."""
        return 0.0

    def layout(self, m: Measure, w: float, h: float | None) -> None:
        """Take a width, and a height where one is given; decide the place of everything inside."""
        if self.stale or self.box != (w, h):
            self.box = (w, h)
            self.w = w
            self.arrange(m, w, h)
            self.stale = False
            self.touch()

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        """Set `h` and the places of the kids for a width."""
        self.h = h or 0.0

    # paint
    def paint(self, c: Canvas, pane: Pane, x: float, y: float) -> None:
        """Bring it to the screen at `x`, `y` of the pane."""
        spot = (round(x), round(y), round(x + self.w), round(y + self.h))
        if not self.touched and spot == self.spot:
            return
        self.spot, self.pane = spot, pane
        self.show(c, pane, spot)
        for kid in self.order:
            kid.paint(c, pane, x + kid.x, y + kid.y)
        self.finish(c, pane, spot)
        self.touched = False

    def show(self, c: Canvas, pane: Pane, spot: tuple[int, int, int, int]) -> None:
        """Paint itself, before its kids."""
        c.sync(pane, self, self.draw(c, spot))

    def finish(self, c: Canvas, pane: Pane, spot: tuple[int, int, int, int]) -> None:
        """Paint what comes after its kids."""

    def draw(self, c: Canvas, spot: tuple[int, int, int, int]) -> list[Spec]:
        """The primitives that make its looks."""
        return []

    def drop(self, c: Canvas) -> None:
        """Take it off the screen, with everything inside."""
        for kid in self.kids.values():
            kid.drop(c)
        c.drop_prims(self)
        self.spot = None

    def drop_pane(self, c: Canvas, inner: Pane | None) -> None:
        """Take it off the screen with the pane that holds everything inside."""
        if inner is not None:
            c.delete(inner.item)
            if self.pane is not None:
                c.created(self.pane)
        self.forget()

    def forget(self) -> None:
        """Its items are gone already (with their window): keep no ids of them."""
        for kid in self.kids.values():
            kid.forget()
        self.prims, self.prim_ids, self.spot, self.pane = [], [], None, None
        self.touched = True

    # items and search
    def items(self) -> list[int]:
        """Dear PyGui items it owns directly in its pane, in the order of the keyboard."""
        return []

    def inner_items(self) -> Iterator[int]:
        """Its items and those of its kids, in order, down to the panes inside."""
        for kid in self.order:
            yield from kid.inner_items()
        yield from self.items()

    def poll(self, c: Canvas) -> None:
        """Look at the toolkit's state before a frame is described (focus, drags)."""

    def rest_s(self) -> float:
        """Seconds until it needs a frame without any input, for an element that polls."""
        return float("inf")

    def on_press(self, press: Press, m: Measure) -> bool:
        """The left button went down over it; whether it takes that and wants to hear of drags."""
        return False

    def on_drag(self, x: float, y: float, m: Measure) -> None:
        """The mouse is at a point of the viewport, with the button that went down over it still held."""

    def on_release(self) -> None:
        """The button that went down over it is up."""

    def on_wheel(self, delta: float, m: Measure) -> bool:
        """Handle the wheel over this element. Returns True if the element used it."""
        return False

    def on_right_click(self) -> bool:
        """Handle a press of the right button. Returns True if the element used it."""
        return False

    def stop_item(self) -> int:
        """The item that has the keyboard where the Tab key stops at it; 0: it does not stop there."""
        return 0

    def take_focus(self, c: Canvas) -> None:
        """Get the keyboard. The toolkit presses what it focuses: that press is not a person's."""
        item = self.stop_item()
        if item:
            self.quiet_frames = self.QUIET_FRAMES
            c.focus(item)

    def press(self) -> None:
        """Do what a click on it does, where the Tab key stops at it; the toolkit's own press of it is not heard."""
        self.quiet_frames = self.QUIET_FRAMES

    def walk(self) -> Iterator[Element]:
        """Itself and everything inside that is shown."""
        yield self
        for kid in self.order:
            yield from kid.walk()

    def tooltip(self) -> str:
        """Text of its tooltip."""
        return self.tip

    def label(self) -> str:
        """The visible label, by which tests find the element."""
        return ""

    def path(self) -> tuple[Hashable, ...]:
        """The keys from the root."""
        return (*self.parent.path(), self.key) if self.parent is not None else ()


def whole(words: str, tip: str, *, is_cut: bool) -> str:
    """The tooltip of words: where they were cut, all of them before the tip, unless that says them."""
    return "\n".join(filter(None, (words, tip))) if is_cut and words not in tip else tip


def chain_at(element: Element, x: float, y: float) -> list[Element]:
    """The elements under a point of the viewport, from the outermost in."""
    chain: list[Element] = []
    kids = element.order
    while True:
        for kid in reversed(kids):
            if _contains(kid, x, y):
                chain.append(kid)
                kids = kid.order
                break
        else:
            return chain


def _contains(element: Element, x: float, y: float) -> bool:
    if element.spot is None or element.pane is None:
        return False
    ox, oy = element.pane.origin()
    x0, y0, x1, y1 = element.spot
    return ox + x0 <= x < ox + x1 and oy + y0 <= y < oy + y1


# Containers without looks: column, row, spring, gap. The layout of the window is made here.

MIN_FLEX_PX = 40.0
READABLE_TEXT_PX = 110.0
MIN_TEXT_PX = 24.0
DEFAULT_FILL_PX = 240.0


class ColumnBox(Element):
    """A vertical run. `props`: gap in design px."""

    __slots__ = ()
    GAP = 8.0

    def gap_px(self, m: Measure) -> float:
        """Pixels between two kids."""
        return m.px(self.props[0] if self.props else self.GAP)

    def wants_space(self) -> tuple[bool, bool]:
        wide, tall = super().wants_space()
        for kid in self.order:
            kid_wide, kid_tall = kid.grows()
            wide, tall = wide or kid_wide, tall or kid_tall
        return wide, tall

    def measure(self, m: Measure) -> float:
        return max((kid.natural(m) for kid in self.order), default=0.0)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = place_column(self.order, m, w, h, self.gap_px(m))


class RowBox(Element):
    """A horizontal run, vertically centred. `props`: gap in design px."""

    __slots__ = ()

    def wants_space(self) -> tuple[bool, bool]:
        wide, tall = False, self.tall is not None and self.tall <= 0
        for kid in self.order:
            kid_wide, kid_tall = kid.grows()
            wide = wide or kid_wide or kid.is_spring
            tall = tall or (kid_tall and self.tall is None)
        return wide, tall

    def measure(self, m: Measure) -> float:
        return sum(kid.natural(m) for kid in self.order) + sum(gaps(self.order, m.px(self.props[0])))

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        if self.tall is not None:
            h = m.px(self.tall) if self.tall > 0 else h
        place_row(self, m, w, h)


class Spring(Element):
    """Takes the free width of a row."""

    __slots__ = ()
    is_spring = True


class Gap(Element):
    """Empty space. `props`: design px along the container."""

    __slots__ = ()
    is_gap = True

    def measure(self, m: Measure) -> float:
        return m.px(self.props[0]) if isinstance(self.parent, RowBox) else 0.0

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.h = 0.0 if isinstance(self.parent, RowBox) else m.px(self.props[0])


def gaps(kids: list[Element], gap: float) -> list[float]:
    """Space before each kid but the first: none around an explicit gap."""
    return [0.0 if left.is_gap or right.is_gap or left.is_spring else gap for left, right in pairwise(kids)]


def column_width(kid: Element, m: Measure, w: float) -> float:
    """The width a kid gets in a column of width `w`."""
    if kid.wide is not None:
        return min(kid.natural(m), w) if kid.wide > 0 else max(1.0, w + m.px(kid.wide))
    if isinstance(kid, ColumnBox | RowBox) or kid.grows()[0]:
        return w
    return min(kid.natural(m), w)


def place_column(kids: list[Element], m: Measure, w: float, h: float | None, gap: float) -> float:
    """Stack kids from the top; those that grow share what is left of `h`. Returns the height used."""
    kids = [kid for kid in kids if not kid.is_ghost]
    if not kids:
        return h or 0.0
    between = [0.0, *gaps(kids, gap)]
    used, growing = sum(between), []
    for kid in kids:
        if kid.grows()[1]:
            growing.append(kid)
        else:
            kid.layout(m, column_width(kid, m, w), None)
            used += kid.h
    if growing:
        left = (h - used) if h is not None else m.px(DEFAULT_FILL_PX) * len(growing)
        for kid in growing:
            less = -m.px(kid.tall) if kid.tall is not None and kid.tall < 0 else 0.0
            room = left / len(growing)
            if less and h is not None:
                room = min(room, h - less)
            kid.layout(m, column_width(kid, m, w), max(room, m.px(24)))
    y = 0.0
    for kid, space in zip(kids, between, strict=True):
        y += space
        kid.x, kid.y = 0.0, y
        y += kid.h
    return max(y, h) if h is not None and growing else y


def row_widths(kids: list[Element], m: Measure, w: float, gap: float) -> list[float]:
    """Widths of the kids of a row: fixed ones first, the rest to those that grow, else to the springs."""
    free = w - sum(gaps(kids, gap))
    widths = [kid.natural(m) for kid in kids]
    flex = [index for index, kid in enumerate(kids) if kid.grows()[0] and not kid.is_spring]
    fixed = sum(width for index, width in enumerate(widths) if index not in flex)
    room_for_flex = m.px(MIN_FLEX_PX) * len(flex)
    if fixed + room_for_flex > free:
        _shrink(kids, widths, fixed + room_for_flex - free, m)
        fixed = sum(width for index, width in enumerate(widths) if index not in flex)
    springs = [index for index, kid in enumerate(kids) if kid.is_spring]
    for group in (flex, [] if flex else springs):
        for index in group:
            widths[index] = max(0.0, (free - fixed) / len(group))
            less = kids[index].wide
            if less is not None and less < 0 and index in flex:
                widths[index] = min(widths[index], max(m.px(MIN_FLEX_PX), w + m.px(less)))
    return widths


def _shrink(kids: list[Element], widths: list[float], excess: float, m: Measure) -> None:
    """Take `excess` pixels from the texts of a row, the widest first; then from the labels of buttons."""
    for soft_only, least in (
        (True, READABLE_TEXT_PX),
        (None, 0.0),
        (True, MIN_TEXT_PX),
        (False, MIN_TEXT_PX),
    ):
        if soft_only is None:
            excess = _collapse(kids, widths, excess, m)
            continue
        floor = m.px(least)
        soft = [i for i, kid in enumerate(kids) if (kid.shrinks or not soft_only) and widths[i] > floor]
        soft = [i for i in soft if not kids[i].grows()[0]]
        while excess > 0.5 and soft:
            widest = max(widths[i] for i in soft)
            top = [i for i in soft if widths[i] > widest - 1]
            below = max([widths[i] for i in soft if i not in top] + [floor])
            step = min(excess / len(top), widest - below + 0.01)
            for i in top:
                widths[i] = max(floor, widths[i] - step)
            excess -= step * len(top)
            soft = [i for i in soft if widths[i] > floor]


def _collapse(kids: list[Element], widths: list[float], excess: float, m: Measure) -> float:
    """Leave only the icons of labelled buttons, quiet ones first, from the left, until the excess is gone."""
    for index, kid in sorted(enumerate(kids), key=lambda one: not one[1].is_quiet):
        if excess > 0.5 and not kid.grows()[0]:
            least = min(widths[index], kid.collapsed(m))
            excess -= widths[index] - least
            widths[index] = least
    return excess


def place_row(row: Element, m: Measure, w: float, h: float | None) -> None:
    """Set kids side by side, centred; surfaces become as high as the row."""
    kids = [kid for kid in row.order if not kid.is_ghost]
    gap = m.px(row.props[0])
    widths = row_widths(kids, m, w, gap)
    height = h or 0.0
    for kid, width in zip(kids, widths, strict=True):
        if not kid.grows()[1] or h is not None:
            kid.layout(m, width, h if kid.grows()[1] else None)
            height = max(height, kid.h) if h is None else height
    if h is None and not height and any(kid.grows()[1] for kid in kids):
        height = m.px(DEFAULT_FILL_PX)
    x = 0.0
    spaces = [0.0, *gaps(kids, gap)]
    for kid, width, space in zip(kids, widths, spaces, strict=False):
        x += space
        if (kid.stretches and kid.tall is None) or (kid.grows()[1] and h is None):
            kid.layout(m, width, height)
        kid.x, kid.y = x, max(0.0, (height - kid.h) / 2)
        x += width
    row.h = height


# The window's one text selection: who holds it, and the old holder told to let go.


class SelectionOwner(Protocol):
    """Holder of selected text: a message, an editor."""

    def clear_selection(self) -> None:
        """Select nothing any more: another holds the window's selection, or nobody."""
        ...


class TextSelection:
    """One selection in a window: who claims it takes it from the one who held it."""

    __slots__ = ("owner",)

    def __init__(self) -> None:
        self.owner: SelectionOwner | None = None

    def claim(self, owner: SelectionOwner) -> None:
        """Make `owner` the holder; the one before clears its selection."""
        before, self.owner = self.owner, owner
        if before is not None and before is not owner:
            before.clear_selection()

    def release(self, owner: SelectionOwner) -> None:
        """Forget `owner`, whose selection is empty or gone; another's claim stays."""
        if self.owner is owner:
            self.owner = None

    def clear(self) -> None:
        """Select nothing in the window."""
        before, self.owner = self.owner, None
        if before is not None:
            before.clear_selection()
