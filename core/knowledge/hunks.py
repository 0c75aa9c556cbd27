"""Changes to lines of a file, found again by what stands around them: carried out whole or not at all, and taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count

import msgspec

from core.kernel.errors import SlopError
from core.kernel.figures import count as count_of_figures
from core.kernel.values.knowledge import Category, Item
from core.knowledge.evidence.evidence_rows import is_struck

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
            at=first,
            ahead=tuple(lines[max(0, first - CONTEXT_LINES) : first]),
            before=tuple(lines[first:last]),
            after=new,
            behind=tuple(lines[last : last + CONTEXT_LINES]),
        )
        for first, last, new in runs
    )


def reversed_hunks(hunks: Sequence[Hunk]) -> tuple[Hunk, ...]:
    """Hunks that lead back. Contexts that another hunk has changed are found by their place."""
    shift, back = 0, []
    for one in hunks:
        back.append(
            Hunk(at=one.at + shift, ahead=one.ahead, before=one.after, after=one.before, behind=one.behind)
        )
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


# The guard before much is taken out of a category at once: it asks, with the list, whoever gives the order.

MOST_ITEMS, MOST_SHARE = 3, 0.1
"""Items, or their share, that may go out of a category without a question."""

REMEDY = "Look at the list, and confirm it if that is what you want"


class RemovalError(SlopError):
    """Much would be taken out and nobody has agreed; nothing was. `items`: all that would go."""

    def __init__(self, what: str, items: tuple[Item, ...]) -> None:
        super().__init__(what, remedy=REMEDY)
        self.items = items


def removal_sentence(removed: Iterable[Item], known: Iterable[Item], *, merged: int = 0) -> str:
    """The question before items are taken out, empty where none is to be asked.

    Args:
        removed: what would go, struck through or out of its file; known: all items as they stand now.
        merged: how many items, that say what those say, take their place; 0 where none do.
    """
    totals = Counter(item.category for item in known if not is_struck(item.text))
    counts = Counter(item.category for item in removed)
    over = [c for c in Category if counts[c] > MOST_ITEMS and counts[c] > MOST_SHARE * totals[c]]
    told = (f"{counts[c]:,} of {totals[c]:,} {c.value.replace('_', ' ')}" for c in over)
    if not over:
        return ""
    if merged:
        words = f"This would put {count_of_figures(merged, 'item')} in the place of {', '.join(told)}"
        return f"{words}; the file as it was is kept, and Undo brings it back"
    return f"This would take out {', '.join(told)}"


def check_removal(
    removed: tuple[Item, ...], known: Iterable[Item], *, is_agreed: bool, merged: int = 0
) -> None:
    """Let an operation go on, or not. `merged`: as of `removal_sentence`.

    Raises:
        RemovalError: it would take out too much at once, and nobody has agreed.
    """
    sentence = "" if is_agreed else removal_sentence(removed, known, merged=merged)
    if sentence:
        raise RemovalError(sentence, removed)
