"""Tokens are colours, and icons are glyphs."""

from __future__ import annotations

import pytest

from gui.canvas import glyph
from gui.metrics import blend, faded, load_theme, parse_color
from gui.skins import SURFACES


def test_colours_are_read_with_and_without_alpha() -> None:
    assert parse_color("#0a0b0c") == (10, 11, 12, 255)
    assert parse_color("#0a0b0c80") == (10, 11, 12, 128)


@pytest.mark.parametrize("text", ["red", "#12", "#12345", "#zzzzzz"])
def test_what_is_no_colour_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"colour|base 16"):
        parse_color(text)


def test_blending_takes_as_much_as_the_alpha_says() -> None:
    assert blend((0, 0, 0, 255), (255, 255, 255, 51)) == (51, 51, 51, 255)
    assert faded((1, 2, 3, 200), 0.5) == (1, 2, 3, 100)


def test_both_themes_have_the_same_tokens() -> None:
    dark, light = (load_theme().palettes[name] for name in ("dark", "light"))
    assert dark.tokens.keys() == light.tokens.keys()
    assert dark.code.keys() == light.code.keys()
    assert len(dark.layers) == len(light.layers) == 12


def test_every_surface_has_its_tokens() -> None:
    tokens = load_theme().palettes["dark"].tokens
    assert {token for pair in SURFACES.values() for token in pair if token} <= tokens.keys() | {"code"}


def test_icons_have_names() -> None:
    assert glyph("gear") == "\uf013"
    assert glyph("") == ""
    with pytest.raises(KeyError):
        glyph("no-such-icon")
