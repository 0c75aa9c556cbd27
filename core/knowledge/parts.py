"""Parts of an apply beside category lines: blocks, texts put in place, and changes to lines found again by their surroundings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count

import msgspec
from msgspec.structs import replace

from core.kernel.errors import SlopError
from core.kernel.figures import count as count_of_figures
from core.kernel.language import tr
from core.kernel.values.knowledge import Category, Item
from core.knowledge.evidence_rows import is_struck

# Changes to lines of a file, found again by what stands around them: carried out whole or not at all, and
# taken back.

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
    """Hunks of changes; touching hunks become one.

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

REMEDY = tr("Check the list, and confirm it if you agree")


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
    told = (
        tr(
            "{removed:,} of {total:,} {category}",
            removed=counts[c],
            total=totals[c],
            category=c.value.replace("_", " "),
        )
        for c in over
    )
    if not over:
        return ""
    if merged:
        words = tr(
            "This would put {merged} in place of {items}",
            merged=count_of_figures(merged, tr("item"), tr("items")),
            items=", ".join(told),
        )
        return tr("{consequence}; the program keeps the old file, and Undo restores it", consequence=words)
    return tr("This would remove {items}", items=", ".join(told))


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


# Parts of an apply beside category lines: blocks under a heading, texts put in place of others, rows of a
# log.

_BOM = b"\xef\xbb\xbf"


class BlockPlan(msgspec.Struct, frozen=True, tag="blocks", tag_field="part"):
    """Blocks of lines that are added at the end of a section.

    Args:
        name: of the file, below the knowledge directory; head: what it starts with where it is not there.
        blocks: each without line end; the first line of each names it: where that line stands, the block is there.
        section: the `##` heading that they go under, made where it is missing; empty for the end of the file.
    """

    name: str
    head: str
    blocks: tuple[str, ...]
    section: str = ""


class SwapPlan(msgspec.Struct, frozen=True, tag="swap", tag_field="part"):
    """Lines that take the place of others. `before`, `after`: whole lines, without the last line's end."""

    name: str
    before: str
    after: str


class RowPlan(msgspec.Struct, frozen=True, tag="rows", tag_field="part"):
    """Lines that are added to a log of JSON. `stays`: an undo leaves them, for it is told by other rows."""

    name: str
    rows: tuple[str, ...]
    stays: bool = False


class PatchPlan(msgspec.Struct, frozen=True, tag="patch", tag_field="part"):
    """Lines of a file that is there, put in the place of others: all of them, or none where somebody changed one."""

    name: str
    hunks: tuple[Hunk, ...]


class DraftPlan(msgspec.Struct, frozen=True, tag="draft", tag_field="part"):
    """A whole new file. An undo removes it where it is as it was written."""

    name: str
    text: str


PartPlan = BlockPlan | SwapPlan | RowPlan | PatchPlan | DraftPlan
"""Anything that an apply writes beside the lines of category files."""


def with_part(data: bytes, part: PartPlan) -> bytes:
    """The file with a part in it, each block and row once; so it may be asked again after a crash.

    Args:
        data: the whole file, empty where there is none. A swap whose `before` is gone changes nothing.
    """
    match part:
        case BlockPlan():
            missing = [block for block in part.blocks if _find(data, block.partition("\n")[0]) is None]
            return _with_blocks(data or part.head.encode("utf-8", "replace"), part.section, missing)
        case SwapPlan():
            return data if has_text(data, part.after) else _swapped(data, part.before, part.after)
        case RowPlan():
            there = set(data.split(b"\n"))
            missing = [row for row in part.rows if row.encode("utf-8", "replace") not in there]
            return with_rows(data, missing)
        case PatchPlan():
            made, left = patched(data, part.hunks)
            return data if left else made
        case DraftPlan():
            return data or part.text.encode("utf-8", "replace")


def with_new_blocks(data: bytes, part: BlockPlan) -> bytes:
    """The file with blocks in it of which none can be there. `data`: as in `with_part`."""
    return _with_blocks(data or part.head.encode("utf-8", "replace"), part.section, part.blocks)


def without_part(data: bytes, part: PartPlan) -> tuple[bytes, tuple[str, ...]]:
    """The file with a part taken out again, where it stands as it was written.

    Returns:
        The file; the texts that a person has changed or removed since, which are left as they are.
    """
    match part:
        case BlockPlan():
            left = []
            for block in part.blocks:
                span = _find(data, block)
                if span is None:
                    left.append(block)
                else:
                    data = data[: span[0]] + data[span[1] :]
            return data, tuple(left)
        case SwapPlan():
            is_there = has_text(data, part.after)
            return _swapped(data, part.after, part.before), () if is_there else (part.after,)
        case RowPlan():
            if part.stays:
                return data, ()
            rows = {row.encode("utf-8", "replace") for row in part.rows}
            return b"\n".join(line for line in data.split(b"\n") if line not in rows), ()
        case PatchPlan():
            rest, changed = patched(data, reversed_hunks(part.hunks))
            return rest, tuple("\n".join(one.before) for one in changed)
        case DraftPlan():
            is_ours = data == part.text.encode("utf-8", "replace")
            return (b"", ()) if is_ours else (data, (part.name,))


def unwritten(part: PartPlan) -> PartPlan:
    """The part, to be taken back without a trace: its rows do not stay, as they would after an undo."""
    return replace(part, stays=False) if isinstance(part, RowPlan) else part


def with_rows(data: bytes, rows: Sequence[str]) -> bytes:
    """A log with rows behind its last whole line; a torn last line is closed first and stays torn."""
    if not rows:
        return data
    closed = data if not data or data.endswith(b"\n") else data + b"\n"
    return closed + rows_data(rows)


def rows_data(rows: Iterable[str]) -> bytes:
    """Bytes of rows, each with its line end."""
    return _as_lines(rows)


def _as_lines(texts: Iterable[str]) -> bytes:
    """Texts with an LF behind each."""
    return "".join([f"{text}\n" for text in texts]).encode("utf-8", "replace")


def has_text(data: bytes, text: str) -> bool:
    """True if these whole lines stand in a file, one after another."""
    return _find(data, text) is not None


def _swapped(data: bytes, before: str, after: str) -> bytes:
    span = _find(data, before)
    if span is None:
        return data
    end = _line_end(data)
    made = after.encode("utf-8", "replace").replace(b"\n", end)
    return data[: span[0]] + made + _end_of(data, span) + data[span[1] :]


def _with_blocks(data: bytes, section: str, blocks: Sequence[str]) -> bytes:
    if not blocks:
        return data
    end = _line_end(data)
    text = _as_lines(blocks).replace(b"\n", end)
    at = len(data)
    if section:
        place = _section_end(data, section)
        if place is None:
            gap = b"" if data.endswith(end + end) else end if data.endswith(end) else end + end
            return data + gap + f"## {section}".encode() + end + end + text
        at = place
    before = data[:at]
    gap = b"" if not before or before.endswith(b"\n") else end
    return before + gap + text + data[at:]


def _section_end(data: bytes, section: str) -> int | None:
    """Place where a section's last item ends: before the blank lines and the heading that follow it. O(n), in C."""
    head = _heading_end(data, b"## " + section.encode("utf-8", "replace"))
    if head < 0:
        return None
    ends = [at for mark in (b"\n## ", b"\n# ") if (at := data.find(mark, head)) >= 0]
    kept = data[: min(ends, default=len(data) - 1) + 1].rstrip(b" \t\r\n")
    is_bare = len(kept) <= head
    end = data.find(b"\n", len(kept))
    first = len(data) if end < 0 else end + 1
    if not is_bare:
        return first
    return first + len(_line_end(data)) if data[first:].startswith((b"\n", b"\r\n")) else first


def _heading_end(data: bytes, heading: bytes) -> int:
    """Place where a line that is this heading ends, its blanks and line end left out; -1 where there is none."""
    at = data.find(heading)
    while at >= 0:
        end = at + len(heading)
        line_end = data.find(b"\n", end)
        is_start = at == 0 or data[at - 1] == 10 or data[:at] == _BOM
        if is_start and not data[end : len(data) if line_end < 0 else line_end].strip():
            return end
        at = data.find(heading, end)
    return -1


def _find(data: bytes, text: str) -> tuple[int, int] | None:
    """Place of whole lines, with the end of the last one. O(n), in C."""
    needle = text.encode("utf-8", "replace").replace(b"\n", _line_end(data))
    at = data.find(needle)
    while at >= 0:
        stop = at + len(needle)
        is_start = at == 0 or data[at - 1] == 10 or data[:at] == _BOM
        for end in (b"\r\n", b"\n"):
            if is_start and data.startswith(end, stop):
                return at, stop + len(end)
        if is_start and stop == len(data):
            return at, stop
        at = data.find(needle, at + 1)
    return None


def _end_of(data: bytes, span: tuple[int, int]) -> bytes:
    found = data[span[0] : span[1]]
    return b"\r\n" if found.endswith(b"\r\n") else b"\n" if found.endswith(b"\n") else b""


def _line_end(data: bytes) -> bytes:
    first = data.find(b"\n")
    return b"\r\n" if first > 0 and data[first - 1] == 13 else b"\n"
