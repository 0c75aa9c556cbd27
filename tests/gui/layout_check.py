"""Finds what no window may show: things outside of what holds them, neighbours that overlap, words that are cut, a
composer, or answers to a question, that something floats over.
"""

from __future__ import annotations

import re

from gui.describe import Tree
from gui.elements.base import Element
from gui.elements.controls import Button, Combo
from gui.elements.lists import VirtualList
from gui.elements.popups import FloatLayer, MenuButton, PopupItem, anchor_of
from gui.elements.prose import Markdown
from gui.elements.surfaces import Surface, SurfaceLayer
from gui.elements.text import Badge, Text

SLACK_PX = 2
ANSWERS = frozenset({"answers", "grant yes", "no"})
"""Rows of answers to a question, by their keys."""
_SUM = re.compile(r"\$[\d.,]*\d")
FEWEST_CHARS, FEWEST_OF_TEXT = 3, 5
"""Of a name that is cut, and of any other words; the tooltip says them whole."""


def faults(tree: Tree) -> list[str]:
    """Sentences about everything that is clipped, cut or overlaps, in the order it was described."""
    found: list[str] = []
    for top in (tree.root, *tree.top.order):
        _check(top, found)
    return found + _covered(tree)


def _covered(tree: Tree) -> list[str]:
    floats = [one for one in tree.top.order if isinstance(one, FloatLayer) and not one.is_of_page]
    shown = [one for one in floats if not one.is_hidden]
    cards = [one for one in tree.root.walk() if isinstance(one.key, tuple) and one.key[0] == "composer"]
    over_page = [one for one in tree.top.order if isinstance(one, FloatLayer) and one.is_of_page]
    answers = [one for one in tree.root.walk() if one.key in ANSWERS and one.spot is not None]
    pairs = [(one, card) for card in cards for one in shown]
    pairs += [(one, answer) for answer in answers for one in over_page]
    return [
        f"{_name(one)} lies over {_name(other)}"
        for one, other in pairs
        if _meet((one.x, one.y, one.w, one.h), anchor_of(other))
    ]


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    across = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    down = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    return across > SLACK_PX and down > SLACK_PX


def _name(element: Element) -> str:
    return f"{type(element).__name__} {element.path()} {element.label()[:30]!r}"


def _check(element: Element, found: list[str]) -> None:
    kids = [kid for kid in element.order if kid.spot is not None and not kid.is_ghost and _has_area(kid)]
    for kid in kids:
        _check_inside(element, kid, found)
        _check_words(kid, found)
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


def _check_words(element: Element, found: list[str]) -> None:
    """The words of a button stand whole, or its icon in their place; of a name enough is left to know it by. Sums of
    money stand whole wherever they stand.
    """
    if isinstance(element, Text) and not element.props[3]:
        lost = [sum_ for sum_ in _SUM.findall(element.label()) if sum_ not in element.lines[0]]
        found += [f"{_name(element)} is cut to {element.lines[0]!r}, without {sum_}" for sum_ in lost]
        if element.is_cut and len(element.lines[0].rstrip("…")) <= FEWEST_OF_TEXT:
            found.append(f"{_name(element)} is cut to {element.lines[0]!r}")
    if not isinstance(element, Button | Badge) or isinstance(element, PopupItem) or not element.is_cut:
        return
    is_name = isinstance(element, Combo | MenuButton | Badge) or element.props[2] == "link"
    if not is_name or len(element.shown) <= FEWEST_CHARS:
        found.append(f"{_name(element)} is cut to {element.shown!r}")


def _overlap(one: Element, other: Element) -> bool:
    if isinstance(one.parent, SurfaceLayer):
        return False
    return _meet((one.x, one.y, one.w, one.h), (other.x, other.y, other.w, other.h))
