"""The thin layer over Dear PyGui: panes, drawing primitives, fonts and themes. Everything else asks it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any, Protocol

import dearpygui.dearpygui as dpg
import msgspec

from core.kernel.errors import SlopError
from core.kernel.language import tr
from gui.metrics import ASSETS, Color, Drawing, Measure, Palette, Theme
from gui.skins import Skins

# Primitives that the canvas draws, as plain tuples, and who keeps which of them.

Spec = tuple[Any, ...]
"""A drawing primitive: its kind, then what it needs. See `gui.canvas.Canvas.sync`."""


class Press(msgspec.Struct, frozen=True):
    """A press of the left button at a point of the viewport; `count`: 2 for the second of a double click."""

    x: float
    y: float
    count: int = 1
    is_extending: bool = False


class Painted(Protocol):
    """Element that is on the screen by primitives of its own, in `plane` or (0) in its pane's drawlist itself."""

    prims: list[Spec]
    prim_ids: list[int]
    plane: int


class PaneOwner(Protocol):
    """Owner of a pane: its kids in the order in which the toolkit must hold their items."""

    @property
    def order(self) -> Sequence[Any]:
        """The kids, elements with `inner_items`."""
        ...


class Pictures(Protocol):
    """Formulas and diagrams that are drawn off the frame; see `gui.drawings.Drawings`."""

    def texture(self, canvas: Canvas, drawing: Drawing) -> int:
        """The texture of what was drawn, 0 where there is none."""
        ...

    def hold(self, before: Collection[Drawing], after: Collection[Drawing], canvas: Canvas) -> None:
        """A text shows other drawings than before."""
        ...

    def drawn(self) -> int:
        """The number of finished drawings."""
        ...

    def is_busy(self) -> bool:
        """True while something is being drawn."""
        ...


class NoPictures:
    """No formula and no diagram is drawn."""

    def texture(self, canvas: Canvas, drawing: Drawing) -> int:
        """See `Pictures`."""
        return 0

    def hold(self, before: Collection[Drawing], after: Collection[Drawing], canvas: Canvas) -> None:
        """See `Pictures`."""

    def drawn(self) -> int:
        """See `Pictures`."""
        return 0

    def is_busy(self) -> bool:
        """See `Pictures`."""
        return False


# Dear PyGui fonts of the text styles, at the size that the UI scale asks for.

FONT_DIR = ASSETS / "fonts"


class Fonts:
    """Dear PyGui fonts of the text styles, made when first asked for: for controls one of each size, for drawn text one of each file.

    Each font holds its whole file in memory. A drawn text says its own size, so it needs no font of that size.
    Glyphs are drawn at their exact size and only when shown (Dear ImGui 1.92), so any scale is crisp and
    the files' tens of thousands of glyphs cost nothing until used.
    """

    def __init__(self, theme: Theme, measure: Measure) -> None:
        self._theme = theme
        self._measure = measure
        self._made: dict[str, int] = {}
        self._by_file: dict[tuple[str, int], int] = {}
        self._registry = int(dpg.add_font_registry())
        dpg.bind_font(self["body"])

    def __getitem__(self, style: str) -> int:
        found = self._made.get(style)
        if found is None:
            spec = (self._theme.fonts[style].file, self._measure.sizes[style])
            found = self._by_file.get(spec)
            if found is None:
                path = FONT_DIR / spec[0]
                if not path.is_file():
                    raise SlopError(
                        tr("The font {name} is missing", name=spec[0]), remedy=tr("Install Manual Slop again")
                    )
                found = int(dpg.add_font(str(path), spec[1], parent=self._registry))
                self._by_file[spec] = found
            self._made[style] = found
        return found

    def drawn(self, style: str) -> int:
        """A font with the glyphs of the style, for text that is drawn with its size."""
        file = self._theme.fonts[style].file
        made = next((font for (name, _), font in self._by_file.items() if name == file), None)
        return self[style] if made is None else made

    def rescale(self) -> None:
        """Take the sizes that the measure has now."""
        self._made.clear()
        dpg.bind_font(self["body"])


CLEAR: Color = (0, 0, 0, 0)
WHITE: Color = (255, 255, 255, 255)
"""Tint of a picture that keeps its colours."""


class Pane:
    """A Dear PyGui window or child window with its own origin: controls, and one drawlist above them.

    A drawlist takes the mouse from what was submitted after it, so it is the last item and everything that
    stands under a control (the fill of a surface) is the pane's own background.
    """

    __slots__ = (
        "clip",
        "drawlist",
        "is_order_stale",
        "item",
        "last",
        "owner",
        "parent",
        "pos",
        "scroll",
        "size",
    )

    def __init__(self, item: int, last: int, drawlist: int, parent: Pane | None, owner: PaneOwner) -> None:
        self.item = item
        self.last = last
        self.drawlist = drawlist
        self.parent = parent
        self.owner = owner
        self.pos = (0, 0)
        self.size = (1, 1)
        self.scroll = (0.0, 0.0)
        self.clip = (0, 0)
        self.is_order_stale = False

    def origin(self) -> tuple[float, float]:
        """Corner of its content in the viewport."""
        x, y = self.parent.origin() if self.parent is not None else (0.0, 0.0)
        return x + self.pos[0] - self.scroll[0], y + self.pos[1] - self.scroll[1]


FOCUS_FRAMES = 30


class Canvas:
    """Everything that touches Dear PyGui items.

    Args:
        theme: the design tokens; palette: the colours in use.
    """

    def __init__(self, theme: Theme, palette: Palette, measure: Measure) -> None:
        self.theme = theme
        self.palette = palette
        self.m = measure
        self.fonts = Fonts(theme, measure)
        self.skins = Skins(theme, palette, measure)
        self.order_jobs: set[Pane] = set()
        self.focus_sink = 0
        self.drawings: Pictures = NoPictures()
        self._unflattened: dict[int, int] = {}
        self._textures = 0
        self.calls = 0

    def restyle(self, palette: Palette) -> None:
        """Take other colours or another scale. The owner rebuilds all items afterwards."""
        self.palette = palette
        self.fonts.rescale()
        self.skins.rebuild(palette)

    def clear(self) -> None:
        """Let the viewport have the colour of the root: a window's fill would draw every pixel once more."""
        dpg.set_viewport_clear_color(list(self.palette["base"]))

    # panes
    def child_pane(
        self,
        owner: PaneOwner,
        parent: Pane,
        skin: str,
        *,
        scrolls: bool = False,
        has_border: bool = False,
    ) -> Pane:
        """Make a child window with its drawlist."""
        item = dpg.add_child_window(
            parent=parent.item,
            before=parent.last,
            border=has_border,
            width=1,
            height=1,
            pos=(0, 0),
            no_scrollbar=not scrolls,
            no_scroll_with_mouse=not scrolls,
        )
        dpg.bind_item_theme(item, self.skins[skin])
        pane = Pane(item, *self._drawlist(item), parent, owner)
        self.created(parent)
        return pane

    def window_pane(self, owner: PaneOwner, item: int) -> Pane:
        """Make the pane of a window that exists."""
        return Pane(item, *self._drawlist(item), None, owner)

    def _drawlist(self, parent: int) -> tuple[int, int]:
        """A drawlist in a disabled group: else it would be a stop of the Tab key."""
        self.calls += 3
        group = int(dpg.add_group(enabled=False, pos=(0, 0), parent=parent))
        return group, int(dpg.add_drawlist(width=1, height=1, parent=group))

    def place_pane(self, pane: Pane, x: int, y: int, w: int, h: int) -> None:
        """Move and size a pane's child window."""
        if (x, y) != pane.pos or (w, h) != pane.size:
            dpg.configure_item(pane.item, pos=(x, y), width=max(1, w), height=max(1, h))
            pane.pos, pane.size = (x, y), (w, h)
            self.calls += 1

    def set_content(self, pane: Pane, w: int, h: int) -> None:
        """The size of what is drawn in a pane: its drawlist clips to it, its scrollbars follow it."""
        w, h = max(1, w), max(1, h)
        if (w, h) != pane.clip:
            dpg.configure_item(pane.drawlist, width=w, height=h)
            pane.clip = (w, h)
            self.calls += 1

    def created(self, pane: Pane) -> None:
        """Something was added to or taken from a pane: its order may differ from the described one."""
        self.calls += 1
        if not pane.is_order_stale:
            pane.is_order_stale = True
            self.order_jobs.add(pane)

    def focus(self, item: int) -> None:
        """Give the keyboard to an item. A focus request is lost in panes that share their navigation with the
        window around them (seen with Dear PyGui 2), so for some frames its panes do not.
        """
        pane = dpg.get_item_parent(item)
        while pane and "mvChildWindow" in dpg.get_item_type(pane):
            dpg.configure_item(pane, flattened_navigation=False)
            self._unflattened[pane] = FOCUS_FRAMES
            pane = dpg.get_item_parent(pane)
        dpg.focus_item(item)

    @property
    def is_focusing(self) -> bool:
        """True in the frames after `focus`."""
        return bool(self._unflattened)

    def tick_focus(self) -> None:
        """A frame has passed: the panes of an item that got the keyboard share their navigation again."""
        for pane, frames in list(self._unflattened.items()):
            self._unflattened[pane] = frames - 1
            if frames > 1:
                continue
            del self._unflattened[pane]
            if dpg.does_item_exist(pane):
                dpg.configure_item(pane, flattened_navigation=True)

    def settle_order(self) -> None:
        """Put the items of changed panes into the order they were described in: it is that of the Tab key."""
        for pane in self.order_jobs:
            pane.is_order_stale = False
            if not dpg.does_item_exist(pane.item):
                continue
            owner = pane.owner
            wanted = [item for kid in owner.order for item in kid.inner_items()]
            wanted += [*owner.items_after(), pane.last]  # type: ignore[attr-defined]
            have = dpg.get_item_children(pane.item, 1) or []
            if list(have) != wanted and set(have) == set(wanted):
                dpg.reorder_items(pane.item, 1, wanted)
                self.calls += 1
        self.order_jobs.clear()

    def delete(self, item: int) -> None:
        """Remove an item with its children."""
        if item and dpg.does_item_exist(item):
            dpg.delete_item(item)
        self.calls += 1

    # primitives
    def planes(self, pane: Pane, count: int) -> list[int]:
        """Layers of primitives above what a pane shows so far, the lowest first: each keeps an order of its own."""
        self.calls += count
        return [int(dpg.add_draw_node(parent=pane.drawlist)) for _ in range(count)]

    def sync(self, pane: Pane, element: Painted, specs: list[Spec]) -> None:
        """Make an element's primitives on the drawlist equal to `specs`, changing only what differs."""
        old, ids = element.prims, element.prim_ids
        if specs == old:
            return
        plane = element.plane or pane.drawlist
        shared = min(len(old), len(specs))
        for index in range(shared):
            before, now = old[index], specs[index]
            if before == now:
                continue
            if before[0] == now[0] and _CAN_PATCH[now[0]](before, now):
                self._patch(ids[index], now)
            else:
                dpg.delete_item(ids[index])
                following = ids[index + 1] if index + 1 < len(ids) else 0
                ids[index] = self._make(plane, now, following)
            self.calls += 1
        for index in range(shared, len(old)):
            dpg.delete_item(ids[index])
        del ids[shared:]
        ids.extend(self._make(plane, spec, 0) for spec in specs[shared:])
        self.calls += len(old) + len(specs) - 2 * shared
        element.prims = specs

    def texture(self, width: int, height: int, pixels: Any) -> int:
        """Make a picture of floats, four a pixel."""
        if not self._textures:
            self._textures = int(dpg.add_texture_registry())
        return int(dpg.add_static_texture(width, height, pixels, parent=self._textures))

    def drop_prims(self, element: Painted) -> None:
        """Remove an element's primitives."""
        for item in element.prim_ids:
            if dpg.does_item_exist(item):
                dpg.delete_item(item)
        self.calls += len(element.prim_ids)
        element.prims, element.prim_ids = [], []

    def _make(self, plane: int, spec: Spec, before: int) -> int:
        match spec:
            case ("text", x, y, text, style, color):
                size = self.m.sizes[style]
                item = dpg.draw_text((x, y), text, size=size, color=color, parent=plane, before=before)
                dpg.bind_item_font(item, self.fonts.drawn(style))
            case ("rect", x0, y0, x1, y1, fill, border, rounding):
                item = dpg.draw_rectangle(
                    (x0, y0),
                    (x1, y1),
                    fill=fill,
                    color=border,
                    rounding=rounding,
                    parent=plane,
                    before=before,
                )
            case ("line", x0, y0, x1, y1, color, thickness):
                item = dpg.draw_line(
                    (x0, y0),
                    (x1, y1),
                    color=color,
                    thickness=thickness,
                    parent=plane,
                    before=before,
                )
            case ("quad", p1, p2, p3, p4, fill):
                item = dpg.draw_quad(p1, p2, p3, p4, color=CLEAR, fill=fill, parent=plane, before=before)
            case ("image", x0, y0, x1, y1, texture, tint):
                item = dpg.draw_image(texture, (x0, y0), (x1, y1), color=tint, parent=plane, before=before)
            case _:
                raise AssertionError(spec)
        return int(item)

    def _patch(self, item: int, spec: Spec) -> None:
        match spec:
            case ("text", x, y, text, _, color):
                dpg.configure_item(item, pos=(x, y), text=text, color=color)
            case ("rect", x0, y0, x1, y1, fill, border, rounding):
                dpg.configure_item(
                    item, pmin=(x0, y0), pmax=(x1, y1), fill=fill, color=border, rounding=rounding
                )
            case ("line", x0, y0, x1, y1, color, thickness):
                dpg.configure_item(item, p1=(x0, y0), p2=(x1, y1), color=color, thickness=thickness)
            case ("quad", p1, p2, p3, p4, fill):
                dpg.configure_item(item, p1=p1, p2=p2, p3=p3, p4=p4, fill=fill)
            case ("image", x0, y0, x1, y1, _, tint):
                dpg.configure_item(item, pmin=(x0, y0), pmax=(x1, y1), color=tint)
            case _:
                raise AssertionError(spec)

    # colours
    def color(self, token: str) -> Color:
        """A colour of the palette in use."""
        return self.palette[token]


_CAN_PATCH: dict[str, Callable[[Any, Any], bool]] = {
    "text": lambda old, new: bool(old[4] == new[4]),
    "rect": lambda old, new: True,
    "line": lambda old, new: True,
    "quad": lambda old, new: True,
    "image": lambda old, new: bool(old[5] == new[5]),
}


# Icon names to glyphs, from `assets/icons.toml`.


@cache
def _table() -> dict[str, str]:
    data = tomllib.loads((ASSETS / "icons.toml").read_text("utf-8"))
    return {name: chr(code) for name, code in data.items()}


def glyph(name: str) -> str:
    """The character of an icon, empty for an empty name.

    Raises:
        KeyError: the program does not have that icon.
    """
    return _table()[name] if name else ""
