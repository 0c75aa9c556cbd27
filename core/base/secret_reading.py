"""A text as a reader takes it: signs without width are left out, signs of other scripts are those of ASCII."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import chain

import msgspec

_NO_WIDTH = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")

_SIGNS = dict(
    chain(
        zip("\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d\u300e\u300f", '"' * 10, strict=True),
        zip("\u2018\u2019\u201a\u201b\u2039\u203a", "'" * 6, strict=True),
        ((chr(code), " ") for code in (0xA0, 0x202F, 0x3000, *range(0x2000, 0x200B))),
        ((chr(code), chr(code - 0xFEE0)) for code in range(0xFF01, 0xFF5F)),
        (("\u3002", "."), ("\u3001", ",")),
    )
)
_SIGN = re.compile(f"[{''.join(map(re.escape, _SIGNS))}]")


class Reading(msgspec.Struct, frozen=True):
    """A text that was read. `left_out`: where signs are missing in it, in order; one place for each of them."""

    text: str
    left_out: tuple[int, ...] = ()

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original of one that is here."""
        return self._before(start), self._before(end - 1) + 1

    def _before(self, at: int) -> int:
        return at + bisect_right(self.left_out, at)


def read(text: str) -> Reading:
    """Read a text; every sign is one for one, save those that are left out. O(n), and nothing for ASCII."""
    if text.isascii():
        return Reading(text)
    text = _SIGN.sub(lambda sign: _SIGNS[sign[0]], text)
    left_out = tuple(found.start() - before for before, found in enumerate(_NO_WIDTH.finditer(text)))
    return Reading(_NO_WIDTH.sub("", text) if left_out else text, left_out)
