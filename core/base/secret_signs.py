"""A text as a reader takes it: signs without width are left out, signs of other scripts are those of ASCII."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import chain

import msgspec

LONG_CHARS = 4_096
"""From here on a text is looked through by numpy: a few hundred megabytes a second, and nothing is imported for less."""

_NO_WIDTH = frozenset(
    map(
        chr,
        (
            *(0xAD, 0x34F, 0x61C, 0x180E, 0xFEFF),
            *range(0x200B, 0x2010),
            *range(0x202A, 0x202F),
            *range(0x2060, 0x2070),
        ),
    )
)

_SIGNS = dict(
    chain(
        zip("\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d\u300e\u300f", '"' * 10, strict=True),
        zip("\u2018\u2019\u201a\u201b\u2039\u203a", "'" * 6, strict=True),
        ((chr(code), " ") for code in (0xA0, 0x202F, 0x3000, *range(0x2000, 0x200B))),
        ((chr(code), chr(code - 0xFEE0)) for code in range(0xFF01, 0xFF5F)),
        (("\u3002", "."), ("\u3001", ",")),
    )
)


class Reading(msgspec.Struct, frozen=True):
    """A text that was read.

    Args:
        signs: all beyond ASCII that the original holds.
        left_out: where signs are missing, in order; one place for each of them.
    """

    text: str
    signs: frozenset[str] = frozenset()
    left_out: tuple[int, ...] = ()

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original of one that is here."""
        return self._before(start), self._before(end - 1) + 1

    def _before(self, at: int) -> int:
        return at + bisect_right(self.left_out, at)


def read(text: str) -> Reading:
    """Read a text; every sign is one for one, save those that are left out. O(n), and nothing for ASCII."""
    signs = signs_of(text)
    for sign in sorted(signs & _SIGNS.keys()):
        text = text.replace(sign, _SIGNS[sign])
    without = signs & _NO_WIDTH
    if not without:
        return Reading(text, signs)
    mark = re.compile(f"[{''.join(sorted(without))}]")
    left_out = tuple(found.start() - before for before, found in enumerate(mark.finditer(text)))
    return Reading(mark.sub("", text), signs, left_out)


def signs_of(text: str) -> frozenset[str]:
    """The signs beyond ASCII that a text holds, as far as UTF-16 has one number for each. O(n)."""
    if text.isascii():
        return frozenset()
    if len(text) < LONG_CHARS:
        return frozenset(sign for sign in set(text) if sign > _LAST_ASCII)
    import numpy as np

    seen = np.zeros(1 << 16, np.bool_)
    seen[np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)] = True
    seen[: ord(_LAST_ASCII) + 1] = False
    return frozenset(map(chr, np.flatnonzero(seen).tolist()))


_LAST_ASCII = "\x7f"
