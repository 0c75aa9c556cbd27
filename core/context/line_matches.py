"""Lines that two texts have in common, in order: as many as there are, or nothing where finding them takes too long."""

from __future__ import annotations

from collections.abc import Sequence

MOST_STEPS = 120_000
"""Of the search, about a tenth of a second."""

Run = tuple[int, int, int]
"""Lines that match: the first in both texts, how many."""

_Path = tuple["_Path", int, int, int] | None
"""Runs, the last first: the runs before it, and the run."""


def matching_runs(
    old: Sequence[str], new: Sequence[str], most_steps: int = MOST_STEPS
) -> tuple[Run, ...] | None:
    """A longest common subsequence of lines.

    Lines that only one text has cannot match, so a block that was replaced costs nothing.

    Args:
        most_steps: comparisons at most.

    Returns:
        Runs of matching lines, rising, each as long as it goes; None where it would take more steps. The same for the
        same texts.

    Source: Myers, "An O(ND) Difference Algorithm and Its Variations", 1986.
    """
    head, tail = _common_ends(old, new)
    old_lines, new_lines = old[head : len(old) - tail], new[head : len(new) - tail]
    in_both = set(old_lines).intersection(new_lines)
    old_at = [n for n, line in enumerate(old_lines, head) if line in in_both]
    new_at = [n for n, line in enumerate(new_lines, head) if line in in_both]
    found = _searched([old[n] for n in old_at], [new[n] for n in new_at], most_steps)
    if found is None:
        return None
    middle = ((old_at[a + n], new_at[b + n], 1) for a, b, length in found for n in range(length))
    return tuple(_joined([(0, 0, head), *middle, (len(old) - tail, len(new) - tail, tail)]))


def _common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    rest = shorter - head
    return head, next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)


def _searched(old: Sequence[str], new: Sequence[str], most_steps: int) -> list[Run] | None:
    """The furthest that each number of edits reaches on each diagonal, until both ends are reached."""
    ends: dict[int, int] = {1: 0}
    paths: dict[int, _Path] = {1: None}
    steps = 0
    for edits in range(len(old) + len(new) + 1):
        for diagonal in range(-edits, edits + 1, 2):
            is_insertion = diagonal == -edits or (
                diagonal != edits and ends[diagonal - 1] < ends[diagonal + 1]
            )
            place = ends[diagonal + 1] if is_insertion else ends[diagonal - 1] + 1
            path = paths[diagonal + 1 if is_insertion else diagonal - 1]
            begin = place
            while place < len(old) and place - diagonal < len(new) and old[place] == new[place - diagonal]:
                place += 1
            if place > begin:
                path = (path, begin, begin - diagonal, place - begin)
            if place >= len(old) and place - diagonal >= len(new):
                return _runs(path)
            ends[diagonal], paths[diagonal] = place, path
            steps += 1 + place - begin
        if steps > most_steps:
            return None
    return []


def _runs(path: _Path) -> list[Run]:
    found = []
    while path is not None:
        path, old, new, length = path
        found.append((old, new, length))
    return found[::-1]


def _joined(runs: Sequence[Run]) -> list[Run]:
    """Runs that follow one another made one, empty ones left out."""
    found: list[Run] = []
    for old, new, length in runs:
        if found and (old, new) == (found[-1][0] + found[-1][2], found[-1][1] + found[-1][2]):
            found[-1] = (found[-1][0], found[-1][1], found[-1][2] + length)
        elif length:
            found.append((old, new, length))
    return found
