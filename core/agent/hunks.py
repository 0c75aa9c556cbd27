"""Differences of a file as hunks, and the bytes that follow from those that a person took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from difflib import SequenceMatcher

import msgspec
from msgspec.structs import replace

from core.kernel.figures import count
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.agent import EditHunk, FileChange

CONTEXT_LINES = 3
MAX_COMPARED_LINES = 4_000
"""Lines of the part that differs, old and new together, that are matched line by line; a larger one is one hunk."""
MAX_DIFFERENCE_CHARS = 64_000
_RAW_LINE = late(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_NO_END = "\\ No newline at end of file\n"


class Change(msgspec.Struct, frozen=True):
    """Lines that take the place of others, each with its line end where it has one.

    Args:
        first, last: of the old lines, from 0, the last one not included; lines: the new ones.
    """

    first: int
    last: int
    lines: tuple[str, ...]


class Difference(msgspec.Struct, frozen=True):
    """Way from one text to another.

    Args:
        old: lines of the old text, each with its line end where it has one; changes: in order, apart from each other.
    """

    old: tuple[str, ...]
    changes: tuple[Change, ...]

    @property
    def hunks(self) -> tuple[EditHunk, ...]:
        """The changes as a person sees them, with some lines around each, none of which is shown twice."""
        return tuple(self._hunk(at) for at in range(len(self.changes)))

    def taken(self, numbers: Collection[int] | None = None) -> str:
        """The text with some of the changes made. `numbers`: of the changes, from 0; None for all."""
        parts: list[str] = []
        at = 0
        for number, change in enumerate(self.changes):
            if numbers is not None and number not in numbers:
                continue
            parts += self.old[at : change.first]
            parts += change.lines
            at = change.last
        return "".join((*parts, *self.old[at:]))

    def _hunk(self, at: int) -> EditHunk:
        change = self.changes[at]
        before = self.changes[at - 1].last if at else 0
        floor = min(before + CONTEXT_LINES, change.first) if at else 0
        ceiling = self.changes[at + 1].first if at + 1 < len(self.changes) else len(self.old)
        first = max(floor, change.first - CONTEXT_LINES)
        last = min(ceiling, change.last + CONTEXT_LINES)
        text = "".join(
            (
                *_signed(" ", self.old[first : change.first]),
                *_signed("-", self.old[change.first : change.last]),
                *_signed("+", change.lines),
                *_signed(" ", self.old[change.last : last]),
            )
        )
        return EditHunk(first + 1, text)


def difference(old: str, new: str) -> Difference:
    """Find what leads from one text to another. O(n) but for the part that differs, which is bounded."""
    before, after = lines_of(old), lines_of(new)
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    middle_old, middle_new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not middle_old and not middle_new:
        return Difference(before, ())
    if len(middle_old) + len(middle_new) > MAX_COMPARED_LINES:
        whole = Change(first=head, last=head + len(middle_old), lines=middle_new)
        return Difference(before, (whole,))
    matcher = SequenceMatcher(None, middle_old, middle_new, autojunk=False)
    changes = [
        Change(first=head + first, last=head + last, lines=middle_new[new_first:new_last])
        for kind, first, last, new_first, new_last in matcher.get_opcodes()
        if kind != "equal"
    ]
    return Difference(before, _joined(before, changes))


def in_own_form(change: Difference, raw: str) -> Difference:
    """A difference of cleaned text as one of the text as it stands: lines that stay keep their ends, new ones take the
    end that most have.

    Args:
        change: from the text with LF line ends; raw: the same text with CR, LF or CRLF.
    """
    if "\r" not in raw:
        return change
    lines = tuple(_RAW_LINE.findall(raw))
    ends = Counter(line[len(line.rstrip("\r\n")) :] for line in lines)
    end = max((one for one in ("\n", "\r\n", "\r")), key=lambda one: ends[one])
    return Difference(
        lines,
        tuple(
            Change(first=one.first, last=one.last, lines=tuple(_ended(line, end) for line in one.lines))
            for one in change.changes
        ),
    )


def lines_of(text: str) -> tuple[str, ...]:
    """Lines of a text, each with its LF where it has one; other line ends are characters like any."""
    lines = text.split("\n")
    return (*(f"{line}\n" for line in lines[:-1]), *((lines[-1],) if lines[-1] else ()))


def counts(hunks: Sequence[EditHunk]) -> tuple[int, int]:
    """Lines that hunks add and remove."""
    lines = [line for hunk in hunks for line in hunk.text.split("\n")]
    return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)


def unified(hunks: Sequence[EditHunk]) -> str:
    """Hunks as one text, each under the number of its first line, cut at `MAX_DIFFERENCE_CHARS` and said so."""
    return _cut("".join(f"@@ line {hunk.first_line} @@\n{hunk.text}" for hunk in hunks))


def joined_differences(earlier: str, later: str) -> str:
    """Differences of one file by two writes, one after the other, cut as one."""
    return _cut("\n".join(filter(None, (earlier.rstrip("\n"), later))))


def _cut(text: str) -> str:
    if len(text) <= MAX_DIFFERENCE_CHARS:
        return text
    return f"{text[:MAX_DIFFERENCE_CHARS]}\n… {count(len(text) - MAX_DIFFERENCE_CHARS, tr('more character'), tr('more characters'))}\n"


def _joined(old: Sequence[str], changes: Sequence[Change]) -> tuple[Change, ...]:
    """Changes with hardly a line between them made one: a person decides about places, not about lines."""
    joined: list[Change] = []
    for change in changes:
        if joined and change.first - joined[-1].last < CONTEXT_LINES:
            last = joined.pop()
            between = tuple(old[last.last : change.first])
            change = Change(first=last.first, last=change.last, lines=(*last.lines, *between, *change.lines))  # noqa: PLW2901
        joined.append(change)
    return tuple(joined)


def _signed(sign: str, lines: Sequence[str]) -> list[str]:
    return [f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n{_NO_END}" for line in lines]


def _ended(line: str, end: str) -> str:
    return line[:-1] + end if line.endswith("\n") else line


# Changes of files as the person sees them: the writes of a turn to one file are one change. Pure.


def joined(earlier: FileChange, later: FileChange) -> FileChange:
    """Two changes of one file by one turn as one; of one that was undone the later alone counts."""
    if earlier.is_undone:
        return later
    return replace(
        later,
        before_sha256=earlier.before_sha256,
        added=earlier.added + later.added,
        removed=earlier.removed + later.removed,
        difference=joined_differences(earlier.difference, later.difference),
    )


def with_changes(known: Sequence[FileChange], new: Iterable[FileChange]) -> tuple[FileChange, ...]:
    """Changes with newer ones behind them, one for each file of a turn."""
    told = {(one.path, one.turn_id): one for one in known}
    for change in new:
        earlier = told.pop((change.path, change.turn_id), None)
        told[change.path, change.turn_id] = change if earlier is None else joined(earlier, change)
    return tuple(told.values())
