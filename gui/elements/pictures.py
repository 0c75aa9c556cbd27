"""Pictures from local files, made small off the frame loop."""

from __future__ import annotations

import struct
import threading
from collections.abc import Hashable
from pathlib import Path
from typing import Any, ClassVar

import dearpygui.dearpygui as dpg

from core.base.opener import open_file
from gui.canvas import Canvas
from gui.elements.base import Element, Spec
from gui.metrics import Measure

Spot = tuple[int, int, int, int]
MOST_PIXELS = 13_000_000
"""A picture is read as four floats a pixel: 200 MB while it is made small."""
LONGEST_SIDE = 1200


class PictureError(Exception):
    """Reason why a picture is not shown, in a few words."""


def picture_size(path: Path) -> tuple[int, int]:
    """Width and height from the head of a PNG, JPEG or GIF file.

    Raises:
        PictureError: it cannot be read, or is none of these.
    """
    try:
        with open_file(path) as file:
            head = file.read(64)
            if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
                width, height = struct.unpack(">II", head[16:24])
                return int(width), int(height)
            if head[:6] in (b"GIF87a", b"GIF89a"):
                width, height = struct.unpack("<HH", head[6:10])
                return int(width), int(height)
            if head.startswith(b"\xff\xd8"):
                file.seek(0)
                return _jpeg_size(file.read(1_000_000))
    except OSError as error:
        raise PictureError((error.strerror or str(error)).lower()) from error
    raise PictureError("not a PNG, JPEG or GIF picture")


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return int(width), int(height)
        at += 2 + int(struct.unpack(">H", data[at + 2 : at + 4])[0])
    raise PictureError("a damaged JPEG picture")


def load_small(path: Path) -> tuple[int, int, Any]:
    """Pixels of a picture as floats, no side longer than `LONGEST_SIDE`.

    Raises:
        PictureError: it cannot be shown.
    """
    width, height = picture_size(path)
    if width < 1 or height < 1:
        raise PictureError("an empty picture")
    if width * height > MOST_PIXELS:
        raise PictureError(f"{width} x {height} pixels, too large to preview")
    loaded = dpg.load_image(str(path))
    if loaded is None:
        raise PictureError("a damaged picture")
    import numpy as np

    width, height, _, data = loaded
    pixels = np.frombuffer(data, np.float32).reshape(height, width, 4)
    step = max(1, -(-max(width, height) // LONGEST_SIDE))
    small = np.ascontiguousarray(pixels[::step, ::step])
    return small.shape[1], small.shape[0], small.ravel()


class Picture(Element):
    """A picture. `props`: path, greatest height in design px, name."""

    __slots__ = ("found", "problem", "shown_path", "texture")
    polls: ClassVar[bool] = True

    def __init__(self, key: Hashable, parent: Element | None) -> None:
        super().__init__(key, parent)
        self.found: list[tuple[int, int, Any] | PictureError] = []
        self.problem = self.shown_path = ""
        self.texture: tuple[int, int, int] | None = None

    def begin(self) -> None:
        """Load the file of `props`, on a thread."""
        self.found, self.problem, self.texture = [], "", None
        path, found = Path(self.props[0]), self.found

        def load() -> None:
            try:
                found.append(load_small(path))
            except PictureError as error:
                found.append(error)

        threading.Thread(target=load, name="picture", daemon=True).start()

    def poll(self, c: Canvas) -> None:
        if not self.found or self.texture or self.problem:
            return
        match self.found[0]:
            case PictureError() as error:
                self.problem = str(error)
            case (width, height, pixels):
                item = c.texture(width, height, pixels)
                self.texture = (item, width, height)
        self.invalidate()

    def caption(self) -> str:
        """Caption where no picture is."""
        name = self.props[2]
        return f"{name}: {self.problem}" if self.problem else name

    def _size(self, m: Measure) -> tuple[float, float]:
        if self.texture is None:
            return m.width(self.caption(), "small") + m.px(24), float(m.sizes["small"])
        _, width, height = self.texture
        share = min(1.0, m.px(self.props[1]) / height)
        return width * share, height * share

    def measure(self, m: Measure) -> float:
        return self._size(m)[0]

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        width, height = self._size(m)
        self.h = height * min(1.0, w / width) if self.texture else height

    def draw(self, c: Canvas, spot: Spot) -> list[Spec]:
        if self.texture is not None:
            return [("image", *spot, self.texture[0])]
        caption = c.m.ellipsized(self.caption(), "small", self.w - c.m.px(24))
        tone = c.color("warn" if self.problem else "muted")
        text_x = spot[0] + round(c.m.px(24))
        return [
            ("text", spot[0], spot[1], "\uf03e", "small", tone),
            ("text", text_x, spot[1], caption, "small", tone),
        ]

    def drop(self, c: Canvas) -> None:
        super().drop(c)
        if self.texture is not None:
            c.delete(self.texture[0])
            self.texture = None

    def label(self) -> str:
        return self.caption()
