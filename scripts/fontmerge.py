"""Draws glyphs of several fonts into one TrueType font: Dear PyGui takes one file per font and has no fallback."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTCollection, TTFont

UPM = 1000  # coordinates of most strokes then fit one byte: a fifth smaller than 2048, exact to 0.01 px at 16 px
CURVE_ERROR = 3.0  # font units, when cubic outlines become quadratic
FIXED_DATE = 3_850_000_000  # seconds since 1904: the same sources give the same bytes

# An outline moved and scaled: (scale, x shift, advance), all in UPM units after scaling.
Cell = tuple[float, float, int]
Fit = Callable[[int, float, tuple[float, float] | None], Cell]


@dataclass(frozen=True, slots=True)
class Source:
    """One font to take glyphs from.

    Attributes:
        path: font file; `face` picks the member of a collection.
        wanted: which of its code points to take; those already present are never replaced.
        fit: how a glyph sits in its cell: (code point, advance, (xmin, xmax) or None) to a `Cell`.
    """

    path: Path
    wanted: Callable[[int], bool]
    fit: Fit
    face: int = 0

    def open(self) -> TTFont:
        """Open the font. Raises OSError when the file is missing."""
        if self.path.suffix == ".ttc":
            return TTCollection(self.path).fonts[self.face]
        return TTFont(self.path)


def natural(_code: int, advance: float, _extent: tuple[float, float] | None) -> Cell:
    """Keep the glyph as its designer drew it."""
    return 1.0, 0.0, round(advance)


def centred(width: int) -> Fit:
    """Give every glyph the same advance (`width` in UPM units), centred, shrunk only when it would not fit."""

    def fit(_code: int, advance: float, extent: tuple[float, float] | None) -> Cell:
        left, right = extent or (0.0, advance)
        scale = min(1.0, width * 0.98 / max(right - left, 1.0))
        return scale, (width - scale * (left + right)) / 2, width

    return fit


def celled(cell: int) -> Fit:
    """Fit a glyph into one or two cells of a fixed-width font, `cell` UPM units each; marks keep no width."""

    def fit(code: int, advance: float, extent: tuple[float, float] | None) -> Cell:
        if advance == 0:
            return 1.0, 0.0, 0
        return centred(cell if advance <= cell * 1.3 else 2 * cell)(code, advance, extent)

    return fit


@dataclass(slots=True)
class Merged:
    """A font being put together, glyph by glyph."""

    glyphs: dict[str, object] = field(default_factory=dict)
    metrics: dict[str, tuple[int, int]] = field(default_factory=dict)
    cmap: dict[int, str] = field(default_factory=dict)

    def add(self, source: Source) -> int:
        """Take the wanted glyphs of `source`. Returns how many code points it gave."""
        font = source.open()
        wanted = {
            c: n for c, n in sorted(font.getBestCmap().items()) if c not in self.cmap and source.wanted(c)
        }
        if not self.glyphs:
            self._draw(font, ".notdef", ".notdef", 0, source.fit)
        names: dict[str, str] = {}
        for code, name in wanted.items():
            if name not in names:
                names[name] = f"g{len(self.glyphs):05d}"
                self._draw(font, name, names[name], code, source.fit)
            self.cmap[code] = names[name]
        return len(wanted)

    def add_empty(self, codes: Iterable[int]) -> None:
        """Map characters that show nothing (joiners, variation selectors) to a glyph without ink or width."""
        self.glyphs["empty"], self.metrics["empty"] = TTGlyphPen(None).glyph(), (0, 0)
        self.cmap.update((code, "empty") for code in codes)

    def _draw(self, font: TTFont, name: str, new_name: str, code: int, fit: Fit) -> None:
        glyphset, ratio = font.getGlyphSet(), UPM / font["head"].unitsPerEm
        recording = DecomposingRecordingPen(glyphset)
        glyphset[name].draw(recording)
        bounds = BoundsPen(None)
        recording.replay(bounds)
        extent = (bounds.bounds[0] * ratio, bounds.bounds[2] * ratio) if bounds.bounds else None
        scale, shift, advance = fit(code, glyphset[name].width * ratio, extent)
        pen = TTGlyphPen(None)
        outer = Cu2QuPen(pen, CURVE_ERROR, reverse_direction=True) if "CFF " in font else pen
        size = scale * ratio
        recording.replay(TransformPen(outer, (size, 0, 0, size, shift, 0)))
        glyph = pen.glyph(dropImpliedOnCurves=True)
        glyph.recalcBounds(None)
        self.glyphs[new_name], self.metrics[new_name] = glyph, (advance, getattr(glyph, "xMin", 0))

    def save(self, path: Path, *, like: Source, family: str, style: str, copyrights: str) -> None:
        """Write the font with the line metrics of `like` under our own name: merged fonts may not keep reserved ones."""
        base = like.open()
        ratio = UPM / base["head"].unitsPerEm
        ascent, descent = round(base["hhea"].ascent * ratio), round(base["hhea"].descent * ratio)
        builder = FontBuilder(UPM, isTTF=True)
        builder.setupGlyphOrder(list(self.glyphs))
        builder.setupCharacterMap(self.cmap)
        builder.setupGlyf(self.glyphs)
        builder.setupHorizontalMetrics(self.metrics)
        builder.setupHorizontalHeader(ascent=ascent, descent=descent)
        builder.setupOS2(
            sTypoAscender=ascent, sTypoDescender=descent, usWinAscent=ascent, usWinDescent=-descent
        )
        builder.setupNameTable(
            {
                "copyright": copyrights,
                "familyName": family,
                "styleName": style,
                "uniqueFontIdentifier": f"{family} {style}",
                "fullName": f"{family} {style}",
                "psName": f"{family}-{style}".replace(" ", ""),
                "version": "Version 1.0",
                "licenseDescription": "SIL Open Font License, Version 1.1",
                "licenseInfoURL": "https://openfontlicense.org",
            }
        )
        builder.setupPost(keepGlyphNames=False)
        builder.font.recalcTimestamp = False
        builder.font["head"].created = builder.font["head"].modified = FIXED_DATE
        builder.save(path)
