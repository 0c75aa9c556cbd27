"""The tag that says where an item came from: written, read, and never forged by what an item says."""

from __future__ import annotations

import re
from datetime import datetime

from core.base.secrets import scrub
from core.values.knowledge import Provenance

Said = tuple[str, Provenance | None]
"""Words of an item, and where they come from."""

_TAG = re.compile(r"[ \t]*\[from: ((?:\\.|[^\]\\\n])+), (\d{4}-\d{2}-\d{2})\][ \t]*$")
_SLUG = re.compile(r"[^\w]+")
_BREAKS = re.compile(r"[\s\x1c-\x1f\x85\u2028\u2029]+")


def source_name(created_at: datetime, name: str) -> str:
    """The name of a conversation in provenance: `{created date}-{slug of the name}`.

    Args:
        created_at: aware or UTC; name: as the person sees it, may be empty.
    """
    slug = _SLUG.sub("-", scrub(name).lower()).strip("-_")[:60].rstrip("-") or "discussion"
    return f"{created_at.year:04d}-{created_at:%m-%d}-{slug}"


def format_tag(provenance: Provenance) -> str:
    r"""`[from: {source}, {date}]`, a `]` in the source as `\]`."""
    source = _BREAKS.sub(" ", provenance.source).strip() or "unknown"
    return f"[from: {source.replace(chr(92), chr(92) * 2).replace(']', chr(92) + ']')}, {provenance.date}]"


def with_tag(text: str, provenance: Provenance | None) -> str:
    """An item's words with its tag, where it has one, at the end of the first line."""
    if provenance is None:
        return text
    line, end, rest = text.partition("\n")
    return f"{line} {format_tag(provenance)}{end}{rest}"


def split_tag(line: str) -> tuple[str, Provenance | None]:
    """A line without the tag at its end, and the tag. O(n)."""
    if "[from: " not in line:
        return line, None
    match = _TAG.search(line, line.rfind("[from: "))
    if match is None:
        return line, None
    source = re.sub(r"\\(.)", r"\1", match[1])
    return line[: match.start()].rstrip(" \t"), Provenance(source, match[2])
