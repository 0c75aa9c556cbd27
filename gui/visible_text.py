"""Control and bidi characters made visible: what a text hides is shown as a small mark."""

from __future__ import annotations

import re

_BIDI = {
    0x200E: "LRM",
    0x200F: "RLM",
    0x202A: "LRE",
    0x202B: "RLE",
    0x202C: "PDF",
    0x202D: "LRO",
    0x202E: "RLO",
    0x2066: "LRI",
    0x2067: "RLI",
    0x2068: "FSI",
    0x2069: "PDI",
    0x061C: "ALM",
    0x200B: "ZWSP",
    0x2060: "WJ",
    0xFEFF: "BOM",
    0x00AD: "SHY",
    0x2028: "LSEP",
    0x2029: "PSEP",
}
_MARKS = {
    **{code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)},
    0x7F: "\u2421",
    **{code: f"‹{code:02X}›" for code in range(0x80, 0xA0)},
    **{code: f"‹{name}›" for code, name in _BIDI.items()},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
    **{code: f"‹TAG {code - 0xE0000:02X}›" for code in range(0xE0001, 0xE0080)},
}
_ALONE = "".join(map(chr, _BIDI))
_HIDDEN = re.compile(f"[\0-\x08\x0b-\x1f\x7f-\x9f{_ALONE}\ud800-\udfff\U000e0001-\U000e007f]")
"""The keys of `_MARKS`, as ranges: each for itself would take as long to compile as a tenth of a frame's patterns."""


_UNTAKEN = re.compile("[\ud800-\udfff\\0]")


def taken(text: str) -> str:
    """The text as the toolkit can take it: a lone surrogate would end the process, a NUL would cut it off."""
    return text if text.isascii() and "\0" not in text else _UNTAKEN.sub("\ufffd", text)


def visible(text: str) -> str:
    """The text with control, bidi and other invisible characters as marks; tabs and line feeds stay.

    U+202E becomes `‹RLO›`, U+0007 `␇`. Text without such characters comes back as it is.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text  # ten times quicker than to search, and the common case
    return text.translate(_MARKS) if _HIDDEN.search(text) else text
