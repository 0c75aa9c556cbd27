"""Words as a reader, a model among them, may read them: in other letters that look alike, with what nobody sees between."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache

UNSEEN = (
    r"\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Blanks, control characters, and all that nobody sees: `Default_Ignorable_Code_Point` of Unicode 16, and what annotates."""

GAP = f"[{UNSEEN}]*+"
"""Taken whole or not at all: a long run of blanks was tried from each of its places."""

DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
SLASHES = "/\uff0f\u2215\u2044\u29f8\u2571\u27cb\u3033"

_BETWEEN = rf"[{UNSEEN}\u0300-\u036f]++"
"""Gaps between letters, and marks above, below and through the letter before."""

_RANGES = (
    (0x00C0, 0x0250), (0x1D2C, 0x1D6B), (0x1E00, 0x1F00), (0x2070, 0x20A0), (0x2100, 0x2190), (0x249C, 0x24EA),
    (0xFB00, 0xFB07), (0xFF01, 0xFF5F), (0x1D400, 0x1D6A4), (0x1F110, 0x1F18A),
)  # fmt: skip
"""Places where Unicode holds letters of ASCII in another width, font, ring or place, joined, and with marks."""

_SHAPES = {
    "a": "аɑαᴀ", "b": "ьƅвʙ", "c": "сϲᴄ", "d": "ԁɗᴅ", "e": "еҽєεᴇ", "f": "ϝƒꜰ", "g": "ɡցɢ", "h": "һнʜ", "i": "іıιɩɪӏl1|",
    "j": "јϳᴊ", "k": "кκᴋ", "l": "ӏιіɩʟi1|", "m": "мᴍ", "n": "пոηɴ", "o": "оοօσᴏ0", "p": "рρᴘ", "q": "ԛգǫ", "r": "гᴦʀ",
    "s": "ѕꜱ", "t": "тτᴛ", "u": "υսцᴜ", "v": "ѵνᴠ", "w": "ԝшωᴡ", "x": "хχ×", "y": "уүγʏ", "z": "ᴢ", "-": DASHES,
}  # fmt: skip
"""Letters of other scripts, small capitals and figures, by what they look like; in small letters, for case is folded.

Source: Unicode Technical Standard 39, confusables.txt (read 2026-11-24), as far as it concerns small letters of ASCII.
"""


_FOLDED = "\u0345\u03c2\u03f0\u03f1\u03f5\u1c80\u1c82\u1c83\u1c84\u1c85\u1fbe"
"""Further forms of the shapes, which case folding makes one of them. A test looks through all of Unicode for more."""


def spelling(word: str) -> str:
    """Pattern of a word as a reader may read it, for `re`. A text of look-alikes alone costs no more than its length.

    Args:
        word: small letters of ASCII, and dashes.
    """
    if not word:
        return ""
    by_length: dict[int, str] = {}
    for reading, characters in _readings().items():
        if word.startswith(reading):
            by_length[len(reading)] = by_length.get(len(reading), "") + characters
    ways = []
    for length, characters in sorted(by_length.items()):
        one = f"[{re.escape(characters)}]"
        ways.append(f"(?:{one}|{_BETWEEN}{one}){spelling(word[length:])}")
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


@cache
def _readings() -> Mapping[str, str]:
    """Characters that may be read as a letter, or as some letters, by what is read."""
    shapes = "".join(_SHAPES.values())
    points = (point for start, end in ((0x21, 0x7F), *_RANGES) for point in range(start, end))
    found: dict[str, str] = {}
    for one in dict.fromkeys((*map(chr, points), *shapes, *shapes.upper(), *_FOLDED)):
        folded = one.casefold()
        for reading in _looks().get(folded, (folded,)):
            if reading.isascii():
                found[reading] = found.get(reading, "") + one
    return found


@cache
def _looks() -> Mapping[str, tuple[str, ...]]:
    """All that a character may be read as, itself first; letters joined in one are several."""
    found: dict[str, list[str]] = {}
    for letter, shapes in _SHAPES.items():
        for shape in shapes:
            found.setdefault(shape, [shape]).append(letter)
    for start, end in _RANGES:
        for point in range(start, end):
            plain = "".join(
                one for one in unicodedata.normalize("NFKD", chr(point)) if not unicodedata.combining(one)
            ).casefold()
            if plain.isascii() and plain.isalpha():
                found.setdefault(chr(point).casefold(), [chr(point)]).append(plain)
    return {shape: tuple(dict.fromkeys(letters)) for shape, letters in found.items()}
