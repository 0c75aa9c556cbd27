"""Finds what no window may show: things outside of what holds them, and neighbours that overlap."""

from __future__ import annotations

from gui.describe import Tree
from gui.elements.base import Element
from gui.elements.lists import VirtualList
from gui.elements.prose import Markdown
from gui.elements.surfaces import Surface, SurfaceLayer

SLACK_PX = 2


def faults(tree: Tree) -> list[str]:
    """Sentences about everything that is clipped or overlaps, in the order it was described."""
    found: list[str] = []
    for top in (tree.root, *tree.top.order):
        _check(top, found)
    return found


def _name(element: Element) -> str:
    return f"{type(element).__name__} {element.path()} {element.label()[:30]!r}"


def _check(element: Element, found: list[str]) -> None:
    kids = [kid for kid in element.order if kid.spot is not None and not kid.is_ghost and _has_area(kid)]
    for kid in kids:
        _check_inside(element, kid, found)
        _check(kid, found)
    if isinstance(element, Markdown):
        return
    for index, kid in enumerate(kids):
        hidden = [other for other in kids[index + 1 :] if _overlap(kid, other)]
        found += [f"{_name(kid)} overlaps {_name(other)}" for other in hidden]


def _has_area(element: Element) -> bool:
    x0, y0, x1, y1 = element.spot or (0, 0, 0, 0)
    return x1 > x0 and y1 > y0


def _check_inside(holder: Element, kid: Element, found: list[str]) -> None:
    scrolls = isinstance(holder, VirtualList) or (isinstance(holder, Surface) and holder.scrolls)
    left, right = kid.x, kid.x + kid.w
    if left < -SLACK_PX or right > holder.w + SLACK_PX:
        found.append(
            f"{_name(kid)} at x {left:.0f}..{right:.0f} leaves {_name(holder)} of width {holder.w:.0f}"
        )
    top, bottom = kid.y, kid.y + kid.h
    if (
        not scrolls
        and not isinstance(holder, SurfaceLayer)
        and (top < -SLACK_PX or bottom > holder.h + SLACK_PX)
    ):
        found.append(
            f"{_name(kid)} at y {top:.0f}..{bottom:.0f} leaves {_name(holder)} of height {holder.h:.0f}"
        )


def _overlap(one: Element, other: Element) -> bool:
    if isinstance(one.parent, SurfaceLayer):
        return False
    across = min(one.x + one.w, other.x + other.w) - max(one.x, other.x)
    down = min(one.y + one.h, other.y + other.h) - max(one.y, other.y)
    return across > SLACK_PX and down > SLACK_PX
