"""Merging fonts: glyphs keep or change their width as asked, and what is there is never replaced."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

from scripts.build_fonts import common_cjk, everyday_cjk, wide_cjk
from scripts.fontmerge import Merged, Source, celled, centred, natural


def made(path: Path, glyphs: dict[str, int], upm: int = 2000) -> Path:
    """Write a font whose glyphs are boxes of the given advance, from 0 to that advance."""
    builder = FontBuilder(upm, isTTF=True)
    names = [".notdef", *(f"c{ord(char):x}" for char in glyphs)]
    widths = [500, *glyphs.values()]
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord(char): f"c{ord(char):x}" for char in glyphs})
    boxes = {}
    for name, width in zip(names, widths, strict=True):
        pen = TTGlyphPen(None)
        pen.moveTo((0, 0))
        for corner in ((0, 1000), (width, 1000), (width, 0)):
            pen.lineTo(corner)
        pen.closePath()
        boxes[name] = pen.glyph()
    builder.setupGlyf(boxes)
    builder.setupHorizontalMetrics({name: (width, 0) for name, width in zip(names, widths, strict=True)})
    builder.setupHorizontalHeader(ascent=1800, descent=-200)
    builder.setupPost()
    builder.save(path)
    return path


def test_the_first_source_of_a_character_wins_and_units_are_brought_to_one_size(tmp_path: Path) -> None:
    first = Source(made(tmp_path / "one.ttf", {"a": 1000}), lambda _: True, natural)
    second = Source(made(tmp_path / "two.ttf", {"a": 600, "b": 600}, upm=1000), lambda _: True, natural)
    merged = Merged()
    assert (merged.add(first), merged.add(second)) == (1, 1)
    merged.add_empty([0x200D])
    out = tmp_path / "out.ttf"
    merged.save(out, like=first, family="Slop Test", style="Regular", copyrights="nobody")

    font = TTFont(io.BytesIO(out.read_bytes()))
    widths = {chr(code): font["hmtx"][name][0] for code, name in font.getBestCmap().items()}
    assert widths == {"a": 500, "b": 600, "\u200d": 0}
    assert (font["head"].unitsPerEm, font["hhea"].ascent, font["hhea"].descent) == (1000, 900, -100)
    assert font["name"].getDebugName(4) == "Slop Test Regular"


def test_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    source = Source(made(tmp_path / "one.ttf", {"a": 1000}), lambda _: True, natural)
    written = []
    for name in ("x.ttf", "y.ttf"):
        merged = Merged()
        merged.add(source)
        merged.save(tmp_path / name, like=source, family="F", style="S", copyrights="")
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]


def test_icons_are_centred_in_one_width_and_shrunk_only_when_too_wide() -> None:
    fit = centred(1000)
    assert fit(0xF000, 500.0, (0.0, 500.0)) == (1.0, 250.0, 1000)
    scale, shift, width = fit(0xF000, 2000.0, (0.0, 1960.0))
    assert (scale, width) == (0.5, 1000)
    assert shift == pytest.approx(10.0)


def test_a_fixed_width_font_gives_a_glyph_no_cell_one_or_two() -> None:
    fit = celled(600)
    assert [fit(0x20, advance, None)[2] for advance in (0, 500, 700, 1000)] == [0, 600, 600, 1200]


def test_everyday_cjk_is_a_part_of_the_wide_one_and_large_enough_to_read() -> None:
    common, everyday = common_cjk(), everyday_cjk()
    assert 8_000 < len(common) < 12_000
    assert all(everyday(ord(char)) and wide_cjk(ord(char)) for char in "漢字语國한글ひカ。")
    assert all(wide_cjk(code) for code in common if everyday(code))
