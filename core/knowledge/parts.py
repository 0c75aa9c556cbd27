"""Parts of an apply beside category lines: blocks under a heading, texts put in place of others, rows of a log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

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


PartPlan = BlockPlan | SwapPlan | RowPlan
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
    return b"".join(row.encode("utf-8", "replace") + b"\n" for row in rows)


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
    text = b"".join(block.encode("utf-8", "replace").replace(b"\n", end) + end for block in blocks)
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
    """Place behind a section's last item: before the blank lines and the heading that follow it."""
    at, found = 0, False
    for line in data.split(b"\n"):
        bare = line.strip().removeprefix(_BOM)
        if found and bare.startswith((b"## ", b"# ")):
            break
        found = found or bare == f"## {section}".encode("utf-8", "replace")
        at += len(line) + 1
    if not found:
        return None
    kept = data[: min(at, len(data))].rstrip(b" \t\r\n")
    is_bare = kept.rpartition(b"\n")[2].startswith(b"## ")
    end = data.find(b"\n", len(kept))
    first = len(data) if end < 0 else end + 1
    if not is_bare:
        return first
    return first + len(_line_end(data)) if data[first:].startswith((b"\n", b"\r\n")) else first


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
