"""Widths of text, read from the font files: exact, without a window, so that layout is pure."""

from __future__ import annotations

import mmap
import struct
import tomllib
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec

from core.kernel.language import tr

# Design tokens of `assets/theme.toml` as values, dark and light.

Color = tuple[int, int, int, int]
ASSETS = Path(__file__).resolve().parent.parent / "assets"
PLOT_TONES = ("accent", "warn", "ok", "purple", "cyan", "error")
"""The tones of a plot's curves, in the order of the theme's `plot.series`."""


class FontSpec(msgspec.Struct, frozen=True):
    """File and line height in design pixels of a text style."""

    file: str
    size: int


class Palette(msgspec.Struct, frozen=True):
    """Colours of one theme: surfaces and tones by token name, and those of code, layers and plots.

    `plot`: curves by tone, `grid` and `axis`.
    """

    name: str
    tokens: dict[str, Color]
    code: dict[str, Color]
    layers: tuple[Color, ...]
    plot: dict[str, Color]

    def __getitem__(self, token: str) -> Color:
        return self.tokens[token]


class Theme(msgspec.Struct, frozen=True):
    """All tokens of the design."""

    fonts: dict[str, FontSpec]
    space: dict[str, float]
    radius: dict[str, float]
    palettes: dict[str, Palette]


def parse_color(text: str) -> Color:
    """`#rrggbb` or `#rrggbbaa` to four bytes.

    Raises:
        ValueError: it is neither.
    """
    digits = text.removeprefix("#")
    if len(digits) not in (6, 8):
        raise ValueError(f"not a colour: {text!r}")
    red, green, blue = (int(digits[at : at + 2], 16) for at in (0, 2, 4))
    return red, green, blue, int(digits[6:8], 16) if len(digits) == 8 else 255


def blend(under: Color, over: Color) -> Color:
    """The opaque colour that `over` with its alpha makes on `under`."""
    share = over[3] / 255
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(under[:3], over[:3], strict=True))
    return red, green, blue, 255


def faded(color: Color, share: float) -> Color:
    """The colour with its alpha multiplied by `share`, 0 to 1."""
    return color[0], color[1], color[2], round(color[3] * share)


def _palette(name: str, table: dict[str, Any]) -> Palette:
    tokens = {key: parse_color(value) for key, value in table.items() if isinstance(value, str)}
    code = {key: parse_color(value) for key, value in table["code"].items()}
    curves = dict(zip(PLOT_TONES, map(parse_color, table["plot"]["series"]), strict=True))
    plot = curves | {token: parse_color(table["plot"][token]) for token in ("grid", "axis")}
    return Palette(
        name=name,
        tokens=tokens,
        code=code,
        layers=tuple(map(parse_color, table["layer"]["fills"])),
        plot=plot,
    )


def load_theme() -> Theme:
    """Read the tokens.

    Raises:
        OSError, tomllib.TOMLDecodeError, KeyError, ValueError: the program's own file is broken.
    """
    data = tomllib.loads((ASSETS / "theme.toml").read_text("utf-8"))
    fonts = {style: FontSpec(spec["file"], spec["size"]) for style, spec in data["font"].items()}
    fonts.setdefault("icon_large", FontSpec(fonts["body"].file, 22))
    palettes = {name: _palette(name, data[name]) for name in ("dark", "light")}
    return Theme(fonts=fonts, space=data["space"], radius=data["radius"], palettes=palettes)


_CACHE_LIMIT = 40_000


class FontMetrics(dict[str, float]):
    """Advance of each character at size 1, as Dear ImGui lays it out: size spans ascent to descent.

    A dict from character to advance that fills itself; `sum(map(metrics.__getitem__, text))` is a width.

    Args:
        path: a TrueType file with a format-12 character map.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        tables = self._tables()
        hhea = tables["hhea"]
        ascent, descent = self._read(">hh", hhea + 4)
        self._unit = 1.0 / (ascent - descent)
        self._h_metrics = int(self._read(">H", hhea + 34)[0])
        self._hmtx = tables["hmtx"]
        self._groups_at, count = self._character_map(tables["cmap"])
        self._starts = self._read(f">{3 * count}I", self._groups_at)[::3]
        self._fallback = self._advance(self._glyph(0xFFFD))

    def _read(self, form: str, at: int) -> tuple[int, ...]:
        return struct.unpack_from(form, self._data, at)

    def _tables(self) -> dict[str, int]:
        count = self._read(">H", 4)[0]
        rows = (self._read(">4sIII", 12 + 16 * index) for index in range(count))
        return {bytes(row[0]).decode("latin-1"): row[2] for row in rows}

    def _character_map(self, at: int) -> tuple[int, int]:
        count = self._read(">H", at + 2)[0]
        for index in range(count):
            offset = at + self._read(">HHI", at + 4 + 8 * index)[2]
            if self._read(">H", offset)[0] == 12:
                return offset + 16, self._read(">I", offset + 12)[0]
        raise ValueError("the font has no format-12 character map")

    def _glyph(self, code: int) -> int:
        index = bisect_right(self._starts, code) - 1
        if index < 0:
            return 0
        first, last, glyph = self._read(">III", self._groups_at + 12 * index)
        return glyph + code - first if code <= last else 0

    def _advance(self, glyph: int) -> float:
        index = min(glyph, self._h_metrics - 1)
        return self._read(">H", self._hmtx + 4 * index)[0] * self._unit

    def __missing__(self, char: str) -> float:
        glyph = self._glyph(ord(char))
        advance = self._advance(glyph) if glyph else self._fallback
        self[char] = advance
        return advance


class Drawing(msgspec.Struct, frozen=True):
    """Something that is drawn off the frame: a formula inside a line or by itself, or a diagram.

    `size`: pixels of its letters; of a diagram the share of its own size.
    """

    kind: Literal["formula", "formula_block", "diagram"]
    text: str
    size: float


class DrawnSize(msgspec.Struct, frozen=True):
    """Pixels of a drawing, those above the line that text stands on, and why there is none: a few words."""

    width: float = 0.0
    height: float = 0.0
    above: float = 0.0
    problem: str = ""


def _not_drawn(_: Drawing) -> DrawnSize:
    """Without a window nothing is drawn."""
    return DrawnSize(problem=tr("there is no window"))


class Measure:
    """Widths of strings by style at one UI scale.

    Args:
        fonts: the style table of the theme.
        directory: where the font files are.
        scale: UI scale, 0.5 to 3.
    """

    def __init__(self, fonts: dict[str, FontSpec], directory: Path, scale: float = 1.0) -> None:
        self._fonts = fonts
        self._directory = directory
        self._files: dict[str, FontMetrics] = {}
        self.scale = scale
        self.sizes: dict[str, int] = {}
        self._tables: dict[str, FontMetrics] = {}
        self._widths: dict[tuple[str, str], float] = {}
        self.drawn: Callable[[Drawing], DrawnSize | None] = _not_drawn
        self.set_scale(scale)

    def set_scale(self, scale: float) -> None:
        """Take another UI scale; what was measured is forgotten."""
        self.scale = scale
        self.sizes = {style: max(6, round(spec.size * scale)) for style, spec in self._fonts.items()}
        self._widths.clear()

    def px(self, length: float) -> float:
        """Design pixels to pixels."""
        return length * self.scale

    def table(self, style: str) -> FontMetrics:
        """The advances of a style's font, at size 1. The file is opened when first asked for."""
        found = self._tables.get(style)
        if found is None:
            name = self._fonts[style].file
            found = self._files.get(name)
            if found is None:
                found = self._files[name] = FontMetrics(self._directory / name)
            self._tables[style] = found
        return found

    def width(self, text: str, style: str) -> float:
        """Width in pixels of one line of text."""
        key = (text, style)
        found = self._widths.get(key)
        if found is None:
            found = sum(map(self.table(style).__getitem__, text)) * self.sizes[style]
            if len(self._widths) > _CACHE_LIMIT:
                self._widths.clear()
            self._widths[key] = found
        return found

    def ellipsized(self, text: str, style: str, width: float) -> str:
        """The longest start of the text that fits `width` pixels, with an ellipsis when it was cut."""
        if self.width(text, style) <= width:
            return text
        table, size = self.table(style), self.sizes[style]
        room = width - table["…"] * size
        used = 0.0
        for index, char in enumerate(text):
            used += table[char] * size
            if used > room:
                return text[:index].rstrip() + "…" if room > 0 else ""
        return text
