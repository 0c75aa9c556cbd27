"""Lines of an index file within a token budget: whole, else on pages by first letter, and pages of pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, groupby

import msgspec

Tokens = Callable[[str], int]
"""Tokens of a text; those of lines, added up, are those of the lines together."""


class Row(msgspec.Struct, frozen=True):
    """A line of an index file.

    Args:
        line: ends in LF; key: what it is sorted by; entries: notes or folders that it stands for.
    """

    line: str
    key: str
    entries: int = 1

    @property
    def letter(self) -> str:
        """First letter or digit of the key in upper case, `#` where it has none."""
        return next((char for char in self.key if char.isalnum()), "#").upper()[:1]


class Page(msgspec.Struct, frozen=True):
    """Rows that stand in a file of their own; label: its first letters (`A–C`)."""

    name: str
    label: str
    rows: tuple[Row, ...]


class Paging:
    """Names of pages beside one index file, given out once each.

    Args:
        taken: file names that are a person's; tokens: measure; budget: tokens of the rows of a page.
    """

    def __init__(self, taken: Iterable[str], tokens: Tokens, budget: int) -> None:
        self._taken = frozenset(name.casefold() for name in taken)
        self._tokens, self._budget = tokens, budget
        self._numbers = count(1)
        self.pages: list[Page] = []

    def fitted(self, rows: Sequence[Row], room: int) -> tuple[Row, ...]:
        """The rows where they fit into `room` tokens, else a row for each page that they were put on."""
        while len(rows) > 1 and self.cost(rows) > room:
            packs = list(self._packs(rows))
            if len(packs) >= len(rows):
                break
            rows = [self._page(pack, label) for pack, label in zip(packs, _labels(packs), strict=True)]
        return tuple(rows)

    def cost(self, rows: Iterable[Row]) -> int:
        """Tokens of rows."""
        return sum(self._tokens(row.line) for row in rows)

    def _packs(self, rows: Sequence[Row]) -> Iterator[tuple[Row, ...]]:
        """Runs of rows that fill a page each. A letter is cut only where it is larger than a page."""
        pack: list[Row] = []
        used = 0
        for _, group in groupby(rows, key=lambda row: row.letter):
            letter = list(group)
            cost = self.cost(letter)
            if pack and used + cost > self._budget:
                yield tuple(pack)
                pack, used = [], 0
            if cost <= self._budget:
                pack, used = pack + letter, used + cost
                continue
            for row in letter:
                one = self._tokens(row.line)
                if pack and used + one > self._budget:
                    yield tuple(pack)
                    pack, used = [], 0
                pack.append(row)
                used += one
            yield tuple(pack)
            pack, used = [], 0
        if pack:
            yield tuple(pack)

    def _page(self, rows: tuple[Row, ...], label: str) -> Row:
        name = next(name for number in self._numbers if (name := f"index.{number}.md") not in self._taken)
        self.pages.append(Page(name, label, rows))
        entries = sum(row.entries for row in rows)
        return Row(f"- [{label}]({name}): {entries:,}\n", rows[0].key, entries)


def _labels(packs: Sequence[tuple[Row, ...]]) -> list[str]:
    """Letters of each pack, numbered where a letter goes over several."""
    spans = [tuple(dict.fromkeys((pack[0].letter, pack[-1].letter))) for pack in packs]
    plain = ["–".join(span) for span in spans]
    numbered: list[str] = []
    for at, label in enumerate(plain):
        same = plain.count(label)
        numbered.append(f"{label} {plain[: at + 1].count(label)}" if same > 1 else label)
    return numbered
