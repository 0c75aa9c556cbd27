"""Parts of an apply beside category lines: blocks under a heading, texts put in place of others, rows of a log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from core.knowledge.hunks import Hunk, patched, reversed_hunks

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
    """A part that failed and is to leave nothing, not even rows that an undo would leave."""
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
