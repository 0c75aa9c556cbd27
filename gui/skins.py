"""Widths of text, read from the font files: exact, without a window, so that layout is pure."""

from __future__ import annotations

import mmap
import struct
import tomllib
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import dearpygui.dearpygui as dpg
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


def load_theme(path: Path = ASSETS / "theme.toml") -> Theme:
    """Read the tokens.

    Raises:
        OSError, tomllib.TOMLDecodeError, KeyError, ValueError: the program's own file is broken.
    """
    data = tomllib.loads(path.read_text("utf-8"))
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


# Dear PyGui themes ("skins") of surfaces and controls, made from the design tokens.

CLEAR: Color = (0, 0, 0, 0)
CONTROL_PX = 30.0
"""Height of buttons and fields in design pixels."""
SURFACES = {
    "base": ("base", ""),
    "pane": ("pane", ""),
    "card": ("card", "border"),
    "card_selected": ("card_selected", "focus"),
    "row_selected": ("accent_tint", ""),
    "code": ("code", ""),
    "clear": ("", ""),
    "inset": ("inset", "border"),
    "popup": ("card", "border_strong"),
    "dialog": ("pane", "border_strong"),
    "field_idle": ("inset", "border_strong"),
    "field_active": ("inset", "focus"),
    "field_off": ("inset", "border"),
}
"""Fill and border token of each surface; an empty one is not drawn."""

LEFT_ALIGNED = frozenset({"item", "item_on", "item_danger", "combo"})
"""Kinds of buttons whose label begins at the left."""


class Skins:
    """Themes by name, made when first bound.

    Surfaces: `surface.<kind>`. Buttons: `button.<kind>`, and `.small`. Others: see `_build`.
    """

    def __init__(self, theme: Theme, palette: Palette, measure: Measure) -> None:
        self._theme = theme
        self._measure = measure
        self._palette = palette
        self._made: dict[str, int] = {}
        self._base = 0
        self.rebuild(palette)

    def rebuild(self, palette: Palette) -> None:
        """Make the themes again for other colours or another scale."""
        self._palette = palette
        old = [*self._made.values(), self._base]
        self._made = {}
        self._base = self._base_theme()
        dpg.bind_theme(self._base)
        for item in old:
            if item and dpg.does_item_exist(item):
                dpg.delete_item(item)

    def __getitem__(self, name: str) -> int:
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = self._build(name)
        return found

    def label(self, kind: str, *, is_enabled: bool) -> tuple[Color, int]:
        """Colour of a drawn label of a button, and its distance from the left; -1 for one in the middle."""
        color = self.button_colors(kind)[4] if is_enabled else self._palette["disabled"]
        return color, round(self._px("one")) if kind in LEFT_ALIGNED else -1

    def _px(self, token: str) -> float:
        table = self._theme.space if token in self._theme.space else self._theme.radius
        return float(round(table[token] * self._measure.scale))

    def _field_pad(self) -> float:
        """Padding above and below that makes a field as high as a button."""
        control = round(CONTROL_PX * self._measure.scale)
        return float((control - self._measure.sizes["body"]) // 2)

    def _base_theme(self) -> int:
        p, col, var = self._palette, dpg.add_theme_color, dpg.add_theme_style
        with dpg.theme() as theme, dpg.theme_component(dpg.mvAll):
            for target, token in _BASE_COLORS:
                col(target, p[token] if token else CLEAR)
            col(dpg.mvThemeCol_TextDisabled, p["muted"])
            var(dpg.mvStyleVar_WindowPadding, 0, 0)
            var(dpg.mvStyleVar_ItemSpacing, 0, 0)
            var(dpg.mvStyleVar_FramePadding, self._px("control_x"), self._px("control_y"))
            var(dpg.mvStyleVar_ItemInnerSpacing, self._px("one"), 0)
            var(dpg.mvStyleVar_FrameRounding, self._px("control"))
            var(dpg.mvStyleVar_ChildRounding, self._px("card"))
            var(dpg.mvStyleVar_WindowRounding, 0)
            var(dpg.mvStyleVar_WindowBorderSize, 0)
            var(dpg.mvStyleVar_ChildBorderSize, 1)
            var(dpg.mvStyleVar_FrameBorderSize, 1)
            var(dpg.mvStyleVar_ScrollbarSize, self._px("scrollbar"))
            var(dpg.mvStyleVar_ScrollbarRounding, self._px("scrollbar"))
            var(dpg.mvStyleVar_GrabRounding, self._px("control"))
            var(dpg.mvStyleVar_GrabMinSize, self._px("two"))
        return int(theme)

    def _build(self, name: str) -> int:
        family, _, rest = name.partition(".")
        match family:
            case "surface":
                return self._surface(rest)
            case "button":
                kind, _, size = rest.partition(".")
                return self._button(kind, is_small=size == "small")
            case "field":
                return self._field(rest)
            case "hit":
                return self._hit(rest)
            case "window":
                return self._window(rest)
            case "check":
                return self._check()
            case "slider":
                return self._slider()
            case _:
                raise AssertionError(name)

    def _surface(self, kind: str) -> int:
        fill, border = SURFACES[kind]
        p = self._palette
        color = p.code["background"] if kind == "code" else p[fill] if fill else CLEAR
        with dpg.theme() as theme, dpg.theme_component(dpg.mvChildWindow):
            dpg.add_theme_color(dpg.mvThemeCol_ChildBg, color)
            dpg.add_theme_color(dpg.mvThemeCol_Border, p[border] if border else CLEAR)
            rounding = {
                "base": 0.0,
                "pane": 0.0,
                "clear": 0.0,
                "popup": self._px("popup"),
                "dialog": self._px("popup"),
                **dict.fromkeys(("field_idle", "field_active", "field_off"), self._px("control")),
            }
            dpg.add_theme_style(dpg.mvStyleVar_ChildRounding, rounding.get(kind, self._px("card")))
        return int(theme)

    def _window(self, kind: str) -> int:
        fill = {"dim": self._palette["overlay"], "clear": CLEAR}[kind]
        with dpg.theme() as theme, dpg.theme_component(dpg.mvAll):
            dpg.add_theme_color(dpg.mvThemeCol_WindowBg, fill)
        return int(theme)

    def button_colors(self, kind: str) -> tuple[Color, Color, Color, Color, Color]:
        """Fill, hovered, pressed, border and text."""
        p = self._palette
        match kind:
            case "primary":
                fills = p["accent_fill"], p["accent_fill_hover"], p["accent_fill_active"]
                return *fills, CLEAR, p["on_accent"]
            case "danger":
                strong = p["error_fill"]
                return strong, blend(strong, faded(p["on_accent"], 0.1)), strong, CLEAR, p["on_accent"]
            case "ghost" | "rail":
                return CLEAR, p["hover"], p["active"], CLEAR, p["muted"]
            case "rail_active":
                return p["accent_tint"], p["accent_tint"], p["accent_tint"], CLEAR, p["accent"]
            case "tab" | "tab_on":
                return CLEAR, p["hover"], p["active"], CLEAR, p["text" if kind == "tab_on" else "muted"]
            case "link":
                return CLEAR, p["accent_tint"], p["accent_tint"], CLEAR, p["accent"]
            case "item" | "combo" | "menu":
                fill = CLEAR if kind != "combo" else p["inset"]
                border = p["border_strong"] if kind == "combo" else CLEAR
                return fill, p["hover"], p["active"], border, p["text"]
            case "item_on":
                return p["accent_tint"], p["accent_tint"], p["accent_tint"], CLEAR, p["text"]
            case "item_danger":
                return CLEAR, p["error_tint"], p["error_tint"], CLEAR, p["error"]
            case _:
                return p["raised"], p["hover"], p["active"], p["border"], p["text"]

    def _button(self, kind: str, *, is_small: bool) -> int:
        fill, hovered, pressed, border, text = self.button_colors(kind)
        p, col, var = self._palette, dpg.add_theme_color, dpg.add_theme_style
        left = kind in LEFT_ALIGNED
        with dpg.theme() as theme:
            for is_on in (True, False):
                with dpg.theme_component(dpg.mvButton, enabled_state=is_on):
                    off = p["raised"] if kind in ("primary", "danger") else faded(fill, 0.5)
                    col(dpg.mvThemeCol_Button, fill if is_on else off)
                    col(dpg.mvThemeCol_ButtonHovered, hovered if is_on else off)
                    col(dpg.mvThemeCol_ButtonActive, pressed if is_on else off)
                    col(dpg.mvThemeCol_Border, border if is_on else faded(border, 0.5))
                    col(dpg.mvThemeCol_Text, text if is_on else p["disabled"])
                    pad = self._px("one") if is_small or left else self._px("control_x")
                    var(dpg.mvStyleVar_FramePadding, pad if left else 0, 0)
                    var(dpg.mvStyleVar_ButtonTextAlign, 0.0 if left else 0.5, 0.5)
                    var(dpg.mvStyleVar_FrameBorderSize, 1 if border[3] else 0)
        return int(theme)

    def _hit(self, kind: str) -> int:
        """Buttons without looks of their own: whole cards, links, edges of panes, scroll thumbs."""
        p = self._palette
        fill, hovered, pressed = {
            "card": (CLEAR, faded(p["text"], 0.035), faded(p["text"], 0.06)),
            "none": (CLEAR, CLEAR, CLEAR),
            "edge": (p["pane"], p["hover"], p["active"]),
            "thumb": (p["scroll_thumb"], p["border_strong"], p["muted"]),
        }[kind]
        with dpg.theme() as theme, dpg.theme_component(dpg.mvButton):
            dpg.add_theme_color(dpg.mvThemeCol_Button, fill)
            dpg.add_theme_color(dpg.mvThemeCol_ButtonHovered, hovered)
            dpg.add_theme_color(dpg.mvThemeCol_ButtonActive, pressed)
            dpg.add_theme_style(dpg.mvStyleVar_FrameBorderSize, 0)
            rounding = {"card": self._px("card"), "edge": 0.0}.get(kind, self._px("small"))
            dpg.add_theme_style(dpg.mvStyleVar_FrameRounding, rounding)
        return int(theme)

    def _field(self, state: str) -> int:
        """Fields of text: `idle`, `active`, each with `_icon` for room at the left; `plain` without frame."""
        p, col, var = self._palette, dpg.add_theme_color, dpg.add_theme_style
        base, _, extra = state.partition("_")
        bare = base == "plain"
        border = CLEAR if bare else p["focus"] if base == "active" else p["border_strong"]
        with dpg.theme() as theme:
            for is_on in (True, False):
                with dpg.theme_component(dpg.mvInputText, enabled_state=is_on):
                    col(dpg.mvThemeCol_FrameBg, CLEAR if bare else p["inset"])
                    col(dpg.mvThemeCol_ChildBg, CLEAR)
                    col(dpg.mvThemeCol_Border, border if is_on else p["border"])
                    col(dpg.mvThemeCol_Text, p["text"] if is_on else p["disabled"])
                    col(dpg.mvThemeCol_TextDisabled, p["faint"])
                    pad_x = 0.0 if bare else self._px("control_x")
                    pad_x = self._px("four") if extra == "icon" else pad_x
                    var(dpg.mvStyleVar_FramePadding, pad_x, 0.0 if bare else self._field_pad())
                    var(dpg.mvStyleVar_FrameBorderSize, 0 if bare else 1)
        return int(theme)

    def _check(self) -> int:
        p = self._palette
        with dpg.theme() as theme:
            for is_on in (True, False):
                with dpg.theme_component(dpg.mvCheckbox, enabled_state=is_on):
                    dpg.add_theme_color(dpg.mvThemeCol_FrameBg, p["inset"])
                    dpg.add_theme_color(dpg.mvThemeCol_FrameBgHovered, p["hover"])
                    dpg.add_theme_color(dpg.mvThemeCol_FrameBgActive, p["active"])
                    dpg.add_theme_color(dpg.mvThemeCol_CheckMark, p["accent"] if is_on else p["disabled"])
                    dpg.add_theme_color(dpg.mvThemeCol_Border, p["border_strong"])
                    dpg.add_theme_color(dpg.mvThemeCol_Text, p["text"] if is_on else p["disabled"])
                    dpg.add_theme_style(dpg.mvStyleVar_FramePadding, 0, round(self._measure.scale))
                    dpg.add_theme_style(dpg.mvStyleVar_FrameRounding, self._px("small"))
        return int(theme)

    def _slider(self) -> int:
        p = self._palette
        with dpg.theme() as theme, dpg.theme_component(dpg.mvSliderFloat):
            dpg.add_theme_style(dpg.mvStyleVar_FramePadding, self._px("control_x"), self._field_pad())
            dpg.add_theme_color(dpg.mvThemeCol_FrameBg, p["inset"])
            dpg.add_theme_color(dpg.mvThemeCol_FrameBgHovered, p["hover"])
            dpg.add_theme_color(dpg.mvThemeCol_FrameBgActive, p["hover"])
            dpg.add_theme_color(dpg.mvThemeCol_SliderGrab, p["accent_fill"])
            dpg.add_theme_color(dpg.mvThemeCol_SliderGrabActive, p["accent_fill_hover"])
            dpg.add_theme_color(dpg.mvThemeCol_Border, p["border_strong"])
        return int(theme)


_BASE_COLORS = (
    (dpg.mvThemeCol_WindowBg, "base"),
    (dpg.mvThemeCol_ChildBg, ""),
    (dpg.mvThemeCol_PopupBg, "card"),
    (dpg.mvThemeCol_Border, "border"),
    (dpg.mvThemeCol_BorderShadow, ""),
    (dpg.mvThemeCol_Text, "text"),
    (dpg.mvThemeCol_FrameBg, "inset"),
    (dpg.mvThemeCol_FrameBgHovered, "hover"),
    (dpg.mvThemeCol_FrameBgActive, "inset"),
    (dpg.mvThemeCol_Button, "raised"),
    (dpg.mvThemeCol_ButtonHovered, "hover"),
    (dpg.mvThemeCol_ButtonActive, "active"),
    (dpg.mvThemeCol_ScrollbarBg, ""),
    (dpg.mvThemeCol_ScrollbarGrab, "scroll_thumb"),
    (dpg.mvThemeCol_ScrollbarGrabHovered, "border_strong"),
    (dpg.mvThemeCol_ScrollbarGrabActive, "muted"),
    (dpg.mvThemeCol_TextSelectedBg, "selection"),
    (dpg.mvThemeCol_NavHighlight, "focus"),
    (dpg.mvThemeCol_CheckMark, "accent"),
)
