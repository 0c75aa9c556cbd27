"""Dear PyGui themes ("skins") of surfaces and controls, made from the design tokens."""

from __future__ import annotations

import dearpygui.dearpygui as dpg

from gui.metrics import Color, Measure, Palette, Theme, blend, faded

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
