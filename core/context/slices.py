"""Parts of a file: slices by lines or symbols with their numbers stated, and outlines."""

from __future__ import annotations

from collections.abc import Iterable

from core.base.frame import empty_frame, frame
from core.values.curation import FileItem, FileSnapshot, LineRange


def sliced_text(item: FileItem, file: FileSnapshot) -> str:
    """The chosen lines, in file order, overlapping ranges joined, each with its line numbers.

    A symbol or a range that the file does not have is a visible gap.
    """
    lines = file.text.split("\n")
    count = len(lines) - 1 if file.text.endswith("\n") else len(lines)
    by_name = {symbol.name: symbol.lines for symbol in reversed(file.symbols)}
    missing = [empty_frame("missing", symbol=name) for name in item.symbols if name not in by_name]
    wanted = [*item.slices, *(by_name[name] for name in item.symbols if name in by_name)]
    missing += [empty_frame("missing", lines=_numbers(r)) for r in wanted if r.first > count or r.first < 1]
    ranges = joined_ranges(
        LineRange(r.first, min(r.last, count)) for r in wanted if 1 <= r.first <= min(count, r.last)
    )
    shown = [frame("lines", _taken(lines, r), at=f"{_numbers(r)} of {count}") for r in ranges]
    return "".join([*shown, *missing])


def outline_text(file: FileSnapshot) -> str:
    """One line for each symbol: its line numbers and signature, indented by depth."""
    if not file.symbols:
        return empty_frame("missing", outline="no symbols were found in this file")
    return "".join(f"{'  ' * s.depth}{_numbers(s.lines)}: {s.signature}\n" for s in file.symbols)


def joined_ranges(ranges: Iterable[LineRange]) -> list[LineRange]:
    """Ranges sorted, those that overlap or touch made one."""
    joined: list[LineRange] = []
    for current in sorted(ranges):
        if joined and current.first <= joined[-1].last + 1:
            joined[-1] = LineRange(joined[-1].first, max(joined[-1].last, current.last))
        else:
            joined.append(current)
    return joined


def _numbers(lines: LineRange) -> str:
    return str(lines.first) if lines.first == lines.last else f"{lines.first}-{lines.last}"


def _taken(lines: list[str], chosen: LineRange) -> str:
    return "\n".join(lines[chosen.first - 1 : chosen.last]) + "\n"
