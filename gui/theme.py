"""Design tokens of `assets/theme.toml` as values, dark and light."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import msgspec

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
    return Palette(name, tokens, code, tuple(map(parse_color, table["layer"]["fills"])), plot)


def load_theme(path: Path = ASSETS / "theme.toml") -> Theme:
    """Read the tokens.

    Raises:
        OSError, tomllib.TOMLDecodeError, KeyError, ValueError: the program's own file is broken.
    """
    data = tomllib.loads(path.read_text("utf-8"))
    fonts = {style: FontSpec(spec["file"], spec["size"]) for style, spec in data["font"].items()}
    fonts.setdefault("icon_large", FontSpec(fonts["body"].file, 22))
    palettes = {name: _palette(name, data[name]) for name in ("dark", "light")}
    return Theme(fonts, data["space"], data["radius"], palettes)
