"""Dear PyGui fonts of the text styles, at the size that the UI scale asks for."""

from __future__ import annotations

import dearpygui.dearpygui as dpg

from gui.metrics import Measure
from gui.theme import ASSETS, Theme

FONT_DIR = ASSETS / "fonts"


class Fonts:
    """One Dear PyGui font for each text style, made when first asked for.

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
                path = str(FONT_DIR / spec[0])
                found = int(dpg.add_font(path, spec[1], parent=self._registry))
                self._by_file[spec] = found
            self._made[style] = found
        return found

    def rescale(self) -> None:
        """Take the sizes that the measure has now."""
        self._made.clear()
        dpg.bind_font(self["body"])
