"""Containers without looks: column, row, spring, gap. The layout of the window is made here."""

from __future__ import annotations

from itertools import pairwise

from gui.elements.base import Element
from gui.metrics import Measure

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
        return min(m.px(kid.wide), w) if kid.wide > 0 else max(1.0, w + m.px(kid.wide))
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
    """Leave only the icons of labelled buttons, from the left, until the excess is gone."""
    for index, kid in enumerate(kids):
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
