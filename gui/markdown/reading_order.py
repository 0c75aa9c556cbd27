"""Order in which a line is read: right-to-left letters in their order and joined. Pure; offsets stay those of the text.

Source: Unicode Standard Annex #9 (read 2026-11-29), by python-bidi; letters are joined by arabic-reshaper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any

import msgspec
from msgspec.structs import replace

from gui.markdown.blocks import Link, Op, Run, joined
from gui.row_order import leftwards, paragraph_levels, shaped, visual_order
from gui.text_buffer import has_rtl


class ReadingOrder(msgspec.Struct, frozen=True):
    """Order of a text that has right-to-left letters.

    Args:
        runs: with their letters joined, each as long as it was; levels: of each character, odd ones read leftwards.
        bases: starts of the paragraphs, each with the level that it begins at.
        start: place of the text's first character.
    """

    runs: tuple[Run, ...]
    levels: tuple[int, ...]
    bases: tuple[tuple[int, int], ...]
    start: int = 0

    def base_at(self, at: int) -> int:
        """Level of the paragraph around a place."""
        return next((base for start, base in reversed(self.bases) if start <= at - self.start), 0)

    def levels_of(self, op: Op, end: int, base: int) -> list[int]:
        """Levels of an operation's characters. Blanks at the end of a line, at `end`, have that of the paragraph."""
        found = list(self.levels[op.at - self.start : op.at - self.start + op.size])
        if op.at + op.size == end and op.drawing is None:
            blanks = len(op.text) - len(op.text.rstrip())
            found[op.size - min(blanks, op.size) :] = [base] * min(blanks, op.size)
        return found


def reading_order(runs: tuple[Run, ...], start: int = 0) -> ReadingOrder | None:
    """The order of a text, None where all of it is read to the right."""
    if not any(has_rtl(run.text) for run in runs):
        return None
    text = joined(runs)
    levels, bases = _levels(text)
    letters, at, found = shaped(text), 0, []
    for run in runs:
        end = at + len(run.text)
        found.append(run if run.style == "math" else replace(run, text=letters[at:end]))
        at = end
    return ReadingOrder(runs=tuple(found), levels=levels, bases=bases, start=start)


@lru_cache(maxsize=256)
def _levels(text: str) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    levels: list[int] = []
    bases: list[tuple[int, int]] = []
    for line in text.split("\n"):
        base, own = paragraph_levels(line)
        bases.append((len(levels), base))
        levels += [*own, base]
    return tuple(levels[: len(text)]), tuple(bases)


def reordered(
    order: ReadingOrder, ops: Sequence[Op], links: Sequence[Link], width: float, measure: Any
) -> tuple[list[Op], list[Link]]:
    """The operations and links of one line, in the order in which it is read; a paragraph that begins rightmost stands right.

    Args:
        width: of the place; measure: pixels of a text in a style.
    """
    said = [op for op in ops if op.size]
    if not said:
        return list(ops), list(links)
    base, end = order.base_at(said[0].at), said[-1].at + said[-1].size
    levels = [order.levels_of(op, end, base) for op in said]
    if not base and not any(map(any, levels)):
        return list(ops), list(links)
    pieces = [
        piece for op, own in zip(said, levels, strict=True) for piece in _pieces(op, own, base, measure)
    ]
    gaps = _gaps(said)
    placed: list[tuple[Op, Op]] = []
    x = max(0.0, width - sum(op.w for _, op, _ in pieces) - sum(gaps.values())) if base else said[0].x
    for owner, op, _ in _visual(pieces):
        placed.append((owner, replace(op, x=x + gaps.get(op.at, 0.0) / 2)))
        x += op.w + gaps.get(op.at, 0.0)
    moved = {owner.x: (owner, [op for one, op in placed if one is owner]) for owner in said}
    rest = [_moved(op, moved) for op in ops if not op.size]
    return [*(op for _, op in placed), *rest], [_moved(link, moved) for link in links]


def _gaps(said: Sequence[Op]) -> dict[int, float]:
    """Free space in front of operations, by their places: inline code has some."""
    return {b.at: gap for a, b in pairwise(said) if (gap := b.x - a.x - a.w) > 0.01}


def _moved(one: Any, moved: dict[float, tuple[Op, list[Op]]]) -> Any:
    """A line under or through words, or a link, where its words went."""
    found = moved.get(one.x)
    if found is None or not found[1]:
        return one
    parts = found[1]
    left = min(part.x for part in parts)
    return replace(one, x=left, w=max(part.x + part.w for part in parts) - left)


_Piece = tuple[Op, Op, int]
"""An operation, the part of it that has one level, and that level."""


def _pieces(op: Op, own: Sequence[int], base: int, measure: Any) -> Iterator[_Piece]:
    if op.drawing is not None or op.size != len(op.text):
        yield op, op, own[0] if own else base
        return
    for level, places in groupby(range(op.size), lambda at: own[at]):
        first, *more = places
        text = op.text[first : (more[-1] if more else first) + 1]
        is_rtl = level % 2 == 1
        part = replace(
            op,
            text=leftwards(text) if is_rtl else text,
            at=op.at + first,
            size=len(text),
            w=measure(text, op.style),
            is_rtl=is_rtl,
        )
        yield op, part, level


def _visual(pieces: list[_Piece]) -> list[_Piece]:
    """The pieces of a line from left to right."""
    return [pieces[place] for place in visual_order([level for *_, level in pieces])]
