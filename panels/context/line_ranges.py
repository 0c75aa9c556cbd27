"""Line ranges as a person types them: `10-40, 55`."""

from __future__ import annotations

import re

from core.values.curation import LineRange

_RANGE = re.compile(r"(\d{1,9})(?:\s*(?:-|–|:|\.\.)\s*(\d{1,9}))?")


def parse_lines(text: str) -> tuple[tuple[LineRange, ...], str]:
    """Read line ranges.

    Returns:
        The ranges sorted, overlapping ones joined; and what is wrong in a sentence, empty when all is well.
    """
    ranges = []
    for piece in (p.strip() for p in re.split(r"[,;\n]", text) if p.strip()):
        found = _RANGE.fullmatch(piece)
        if found is None:
            return (), f"{piece!r} is no range of lines; write 10-40, 55"
        first, last = int(found[1]), int(found[2] or found[1])
        if not 1 <= first <= last:
            return (), f"{piece!r} must start at 1 or later and end after it starts"
        ranges.append(LineRange(first, last))
    return _joined(sorted(ranges)), ""


def _joined(ranges: list[LineRange]) -> tuple[LineRange, ...]:
    out: list[LineRange] = []
    for one in ranges:
        if out and one.first <= out[-1].last + 1:
            out[-1] = LineRange(out[-1].first, max(out[-1].last, one.last))
        else:
            out.append(one)
    return tuple(out)


def format_lines(ranges: tuple[LineRange, ...]) -> str:
    """The ranges as they are typed."""
    return ", ".join(str(r.first) if r.first == r.last else f"{r.first}-{r.last}" for r in ranges)
