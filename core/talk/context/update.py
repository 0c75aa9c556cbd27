"""Updates of a changed piece: told as a unified diff, as restored, or whole; and what a telling makes of what was shown.

A piece is a frame of lines: an opening tag, its body, an end tag. Line numbers of a diff count the lines of the body.
A changed symbol whole is no form of its own: it repeats more than a diff whose hunks name what they stand in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec

from core.kernel.frame import safe_tag
from core.kernel.patterns import late

# Lines that two texts have in common, in order: as many as there are, or nothing where finding them takes
# too long.

MOST_STEPS = 120_000
"""Steps of the search, about a tenth of a second."""

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


CONTEXT_LINES = 3
"""Unchanged lines around a change."""

MOST_DIFFS = 2
"""In a row; the next change of a piece is told whole, so that a reader need not follow a long chain."""

_LEAST_SAVED_CHARS = 400
"""About what telling a model how to read a diff takes."""

_MOST_CHARS = 2_000_000
"""Larger pieces are told whole."""

_SECTION_CHARS, _SECTION_LINES = 80, 500
"""Length of the line that names what a hunk stands in, and how many lines above are searched for it."""

_OPENING = late(r"[<{]([a-z]+(?:-[a-z]+)*)(?:-[0-9]+)?( [^\n]*)?[>}]")
_DIFF = late(r"<[a-z-]+-diff(?:-[0-9]+)?(?: [^\n]*)?>\n")
_RESTORED = late(r'<[a-z-]+-restored(?: [^\n]*)? as="before the first update"/>\n')
_HUNK = late(r"@@ -([0-9]{1,9}),([0-9]{1,9}) \+([0-9]{1,9}),([0-9]{1,9}) @@(?: [^\n]*)?")
_HEADING = late(r"#{1,6} ")
_NAME = late(r"\s*[\w@$]")


class _Framed(msgspec.Struct, frozen=True):
    """A piece as lines without their ends. `tag` and `attributes` are those of the opening tag."""

    opening: str
    lines: list[str]
    end: str
    tag: str
    attributes: str

    @property
    def text(self) -> str:
        return "\n".join([self.opening, *self.lines, self.end, ""])


_Block = tuple[int, int, int, int]
"""A run of lines that changed: from, to in the old lines, from, to in the new ones."""


def sent_form(text: str, shown: str | None, first: str | None, diffs: int) -> str:
    """Form in which a piece that changed is sent.

    Args:
        text: as it is now; shown: as the model was told last, None where it is no part of the model's context.
        first: as it stood before the first update, None where it did not stand there.
        diffs: how many diffs of it in a row the model was told last.

    Returns:
        A diff or a mark, which `applied` turns into `text` exactly; empty: the whole text.
    """
    if max(len(text), len(shown or "")) > _MOST_CHARS:
        return ""
    if first is not None and text == first:
        sent = _restored(first)
    elif shown is not None and diffs < MOST_DIFFS:
        sent = _diff(shown, text)
    else:
        return ""
    is_shorter = 2 * len(sent) <= len(text) and (
        not is_diff(sent) or len(text) - len(sent) >= _LEAST_SAVED_CHARS
    )
    return sent if sent and is_shorter and applied(sent, shown, first) == text else ""


def applied(sent: str, shown: str | None, first: str | None) -> str | None:
    """Piece after a diff or a mark of `sent_form` was told. Raises nothing.

    Args:
        shown: the piece as it was told last; first: as it stood before the first update.

    Returns:
        Its whole text, None where what was sent does not fit what was shown.
    """
    if _RESTORED.fullmatch(sent):
        return first
    old = _framed(shown or "")
    if old is None or not is_diff(sent):
        return None
    lines = _patched(old.lines, sent.split("\n")[1:-2])
    return None if lines is None else msgspec.structs.replace(old, lines=lines).text


def is_diff(sent: str) -> bool:
    """True if a form is a diff, which a model must be told how to read."""
    return _DIFF.match(sent) is not None


def _framed(text: str) -> _Framed | None:
    lines = text.split("\n")
    opening = _OPENING.fullmatch(lines[0])
    if opening is None or len(lines) < 3 or lines[-1]:
        return None
    return _Framed(
        opening=lines[0], lines=lines[1:-2], end=lines[-2], tag=opening[1], attributes=opening[2] or ""
    )


def _restored(first: str) -> str:
    old = _framed(first)
    return "" if old is None else f'<{old.tag}-restored{old.attributes} as="before the first update"/>\n'


@lru_cache(maxsize=32)
def _diff(shown: str, text: str) -> str:
    """A unified diff in a tag of its own; empty where there is none. Kept, for a plan is often made several times."""
    old, new = _framed(shown), _framed(text)
    if old is None or new is None or (old.opening, old.end) != (new.opening, new.end):
        return ""
    runs = matching_runs(old.lines, new.lines)
    if runs is None:
        return ""
    blocks = _blocks(runs, old.lines, len(new.lines))
    body = "".join(f"{line}\n" for hunk in _hunks(blocks) for line in _hunk_lines(hunk, old.lines, new.lines))
    name = safe_tag(f"{old.tag}-diff", body)
    return f"<{name}{old.attributes}>\n{body}</{name}>\n"


def _blocks(runs: Sequence[Run], old: Sequence[str], new_count: int) -> list[_Block]:
    """Blocks between matching lines. One or two lines without a word between changes are no match worth telling."""
    worth = (run for run in runs if run[2] > 2 or run[0] in {0, len(old) - run[2]} or _has_words(old, run))
    edges = [(0, 0, 0), *worth, (len(old), new_count, 0)]
    blocks = ((a[0] + a[2], b[0], a[1] + a[2], b[1]) for a, b in pairwise(edges))
    return [block for block in blocks if block[0] < block[1] or block[2] < block[3]]


def _has_words(old: Sequence[str], run: Run) -> bool:
    return any(char.isalnum() for line in old[run[0] : run[0] + run[2]] for char in line)


def _hunks(blocks: Sequence[_Block]) -> Iterator[list[_Block]]:
    """Changes that are near one another stand in one hunk."""
    hunk: list[_Block] = []
    for block in blocks:
        if hunk and block[0] - hunk[-1][1] > 2 * CONTEXT_LINES:
            yield hunk
            hunk = []
        hunk.append(block)
    if hunk:
        yield hunk


def _hunk_lines(hunk: Sequence[_Block], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    before = min(CONTEXT_LINES, hunk[0][0])
    begin, end = hunk[0][0] - before, min(len(old), hunk[-1][1] + CONTEXT_LINES)
    new_begin, new_end = hunk[0][2] - before, hunk[-1][3] + end - hunk[-1][1]
    section = _section(old, begin, hunk[0][0], old[hunk[0][0] : hunk[0][1]] or new[hunk[0][2] : hunk[0][3]])
    yield f"@@ -{_range(begin, end)} +{_range(new_begin, new_end)} @@{section}"
    place = begin
    for first, last, new_first, new_last in hunk:
        yield from (f" {line}" for line in old[place:first])
        yield from (f"-{line}" for line in old[first:last])
        yield from (f"+{line}" for line in new[new_first:new_last])
        place = last
    yield from (f" {line}" for line in old[place:end])


def _range(begin: int, end: int) -> str:
    """Lines from `begin` to before `end`, as unified diffs count: from 1, and from the line before where there are none."""
    return f"{begin + 1 if end > begin else begin},{end - begin}"


def _section(old: Sequence[str], begin: int, place: int, changed: Sequence[str]) -> str:
    """The nearest line above a hunk that its first change stands in, by indentation; of flush text the heading."""
    first = next((line for line in changed if line.strip()), "")
    indent = _indent(first)
    is_flush = not indent
    for number in range(place - 1, max(0, begin - _SECTION_LINES) - 1, -1):
        line = old[number]
        stands_in = _indent(line) < indent and _NAME.match(line)
        if stands_in:
            indent = _indent(line)
        if number < begin and (stands_in or (is_flush and _HEADING.match(line))):
            return f" {line.strip()[:_SECTION_CHARS]}"
    return ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _patched(old: Sequence[str], diff: Sequence[str]) -> list[str] | None:
    """The lines that a diff makes of `old`; None where it was not made from these."""
    new: list[str] = []
    place = number = 0
    while number < len(diff):
        head = _HUNK.fullmatch(diff[number])
        if head is None:
            return None
        begin, count, new_begin, new_count = map(int, head.groups())
        begin, new_begin = begin - (count > 0), new_begin - (new_count > 0)
        number += 1
        own = _taken(diff, number, count, new_count)
        if own is None or not place <= begin <= len(old):
            return None
        new += old[place:begin]
        if (
            len(new) != new_begin
            or [line[1:] for line in own if line[0] != "+"] != old[begin : begin + count]
        ):
            return None
        new += [line[1:] for line in own if line[0] != "-"]
        place, number = begin + count, number + len(own)
    return [*new, *old[place:]]


def _taken(diff: Sequence[str], number: int, count: int, new_count: int) -> Sequence[str] | None:
    """The lines of a hunk, as many as its head says; None where they are others."""
    own: list[str] = []
    while count or new_count:
        line = diff[number + len(own)] if number + len(own) < len(diff) else ""
        mark = line[:1]
        if mark not in {" ", "-", "+"}:
            return None
        count -= mark != "+"
        new_count -= mark != "-"
        if count < 0 or new_count < 0:
            return None
        own.append(line)
    return own
