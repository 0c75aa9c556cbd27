"""The order of the Tab key, where a key is not the toolkit's: what comes before or after an editor."""

from __future__ import annotations

from collections.abc import Iterator

from gui.elements.base import Element
from gui.elements.controls import Button
from gui.elements.editor import Editor
from gui.elements.fields import Field


def stop_beside(layer: Element, editor: Editor, direction: int) -> Element | None:
    """The next control that takes the keyboard, -1 before and 1 after an editor, around the ends of its layer."""
    stops = [stop for stop in _in_order(layer) if isinstance(stop, Button | Field | Editor)]
    if editor not in stops or len(stops) < 2:
        return None
    return stops[(stops.index(editor) + direction) % len(stops)]


def _in_order(element: Element) -> Iterator[Element]:
    for kid in element.order:
        yield from _in_order(kid)
    yield element
