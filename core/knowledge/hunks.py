"""Changes to lines of a file, found again by what stands around them: carried out whole or not at all, and taken back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count

import msgspec

CONTEXT_LINES = 3
_EDGE = "\0"
"""Stands for the lines before the first and behind the last one."""


class Hunk(msgspec.Struct, frozen=True):
    """Lines that take the place of others, each without its LF.

    Args:
        at: of the first one, 0-based, in the file as it was; ahead, behind: the lines around them, at most
            `CONTEXT_LINES` each, fewer at the file's ends.
        before, after: the lines, either may be none.
    """

    at: int
    ahead: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    behind: tuple[str, ...]


def hunks_of(data: bytes, changes: Sequence[tuple[int, int, tuple[str, ...]]]) -> tuple[Hunk, ...]:
    """Hunks of changes, those that touch made one.

    Args:
        changes: first line (0-based) and the one behind the last, and the new lines; in order, not overlapping.
    """
    lines = _texts(data)
    runs: list[tuple[int, int, tuple[str, ...]]] = []
    for first, last, new in changes:
        if runs and runs[-1][1] == first:
            runs[-1] = runs[-1][0], last, (*runs[-1][2], *new)
        else:
            runs.append((first, last, new))
    return tuple(
        Hunk(
            first,
            tuple(lines[max(0, first - CONTEXT_LINES) : first]),
            tuple(lines[first:last]),
            new,
            tuple(lines[last : last + CONTEXT_LINES]),
        )
        for first, last, new in runs
    )


def reversed_hunks(hunks: Sequence[Hunk]) -> tuple[Hunk, ...]:
    """Hunks that lead back. Contexts that another hunk has changed are found by their place."""
    shift, back = 0, []
    for one in hunks:
        back.append(Hunk(one.at + shift, one.ahead, one.after, one.before, one.behind))
        shift += len(one.after) - len(one.before)
    return tuple(back)


def patched(data: bytes, hunks: Sequence[Hunk]) -> tuple[bytes, tuple[Hunk, ...]]:
    """The file with the hunks carried out, as far as their lines stand there; so it may be asked again. O(lines × hunks).

    Returns:
        The file; the hunks whose lines somebody has changed since, which are left out.
    """
    lines = data.split(b"\n")
    left, shift = [], 0
    for one in hunks:
        texts = [line.decode("utf-8", "replace") for line in lines]
        expected = one.at + shift
        old, new = _best(texts, one, one.before, expected), _best(texts, one, one.after, expected)
        if new is not None and (old is None or new[:2] > old[:2]):
            shift = new[2] - one.at + len(one.after) - len(one.before)
        elif old is not None:
            at = old[2]
            lines[at : at + len(one.before)] = [line.encode("utf-8", "replace") for line in one.after]
            shift = at - one.at + len(one.after) - len(one.before)
        elif not one.before:
            at = _free_line(texts, expected)
            lines[at:at] = [line.encode("utf-8", "replace") for line in one.after]
            shift += len(one.after)
        elif one.after:
            left.append(one)
    return b"\n".join(lines), tuple(left)


def _best(texts: Sequence[str], hunk: Hunk, run: Sequence[str], expected: int) -> tuple[int, int, int] | None:
    """Place of a run, behind how much around it is as it was, and its length. None where it stands nowhere."""
    if run:
        length = len(run)
        places = [
            at for at, text in enumerate(texts) if text == run[0] and [*texts[at : at + length]] == [*run]
        ]
    else:
        near = (hunk.ahead[-1:] or (_EDGE,), hunk.behind[:1] or (_EDGE,))
        places = [
            at
            for at in range(len(texts) + 1)
            if (_around(texts, at - 1) == near[0][0]) or (_around(texts, at) == near[1][0])
        ]
    if not places:
        return None
    scored = [(_score(texts, hunk, at, at + len(run)), at) for at in places]
    score, at = max(scored, key=lambda one: (one[0], -abs(one[1] - expected)))
    return score, len(run), at


def _score(texts: Sequence[str], hunk: Hunk, first: int, last: int) -> int:
    ahead = (*(_EDGE,) * (CONTEXT_LINES - len(hunk.ahead)), *hunk.ahead)[::-1]
    behind = (*hunk.behind, *(_EDGE,) * (CONTEXT_LINES - len(hunk.behind)))
    return sum(
        _same(lines, (_around(texts, at) for at in places))
        for lines, places in ((ahead, count(first - 1, -1)), (behind, count(last)))
    )


def _same(lines: Iterable[str], there: Iterable[str]) -> int:
    """Number of lines that are the same from the first on; behind an edge nothing counts."""
    number = 0
    for line, other in zip(lines, there, strict=False):
        if line != other:
            break
        number += 1
        if line == _EDGE:
            break
    return number


def _around(texts: Sequence[str], at: int) -> str:
    return texts[at] if 0 <= at < len(texts) else _EDGE


def _free_line(texts: Sequence[str], expected: int) -> int:
    """The line before which lines may be put so that no item is torn."""
    at = max(0, min(expected, len(texts)))
    while at < len(texts) and texts[at][:1] in {" ", "\t"}:
        at += 1
    return at


def _texts(data: bytes) -> list[str]:
    return [line.decode("utf-8", "replace") for line in data.split(b"\n")]
