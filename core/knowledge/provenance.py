"""The tag that says where an item came from: written, read, and never forged by what an item says."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import datetime

from msgspec.structs import replace

from core.base.secrets import scrub
from core.values.knowledge import Provenance

Said = tuple[str, Provenance | None]
"""Words of an item, and where they come from."""

MOST_ORIGINS = 100
"""Of one item."""

_TAG = re.compile(r"\[from: ((?:\\.|[^\]\\\n])+), (\d{4}-\d{2}-\d{2})\][ \t]*$")
_ESCAPED = re.compile(r"\\(.)")
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
    r"""`[from: {source}, {date}]`, a `]` in the source as `\]`; one behind another where there are several."""
    return " ".join(map(_format_one, provenance.all))


def joined(origins: Iterable[Provenance | None]) -> Provenance | None:
    """One provenance of several, each origin once, the newest last; None for none."""
    every = dict.fromkeys(one for origin in origins if origin is not None for one in origin.all)
    ordered = sorted(every, key=lambda one: (one.date, one.source))
    return replace(ordered[-1], also=tuple(ordered[:-1])) if ordered else None


def without_origins(provenance: Provenance, sources: Collection[str]) -> Provenance | None:
    """The provenance without these sources, None where nothing of it is left."""
    return joined(one for one in provenance.all if one.source not in sources)


def _format_one(provenance: Provenance) -> str:
    source = _BREAKS.sub(" ", provenance.source).strip() or "unknown"
    return f"[from: {source.replace(chr(92), chr(92) * 2).replace(']', chr(92) + ']')}, {provenance.date}]"


def with_tag(text: str, provenance: Provenance | None) -> str:
    """An item's words with its tag, where it has one, at the end of the first line."""
    if provenance is None:
        return text
    line, end, rest = text.partition("\n")
    return f"{line} {format_tag(provenance)}{end}{rest}"


def split_tag(line: str) -> tuple[str, Provenance | None]:
    """A line without the tag at its end, and the tag; of several, the last one with the others in it. O(n)."""
    tags: list[Provenance] = []
    end = len(line)
    while (at := line.rfind("[from: ", 0, end)) >= 0 and len(tags) < MOST_ORIGINS:
        match = _TAG.match(line, at, end)
        if match is None:
            break
        source = _ESCAPED.sub(r"\1", match[1]) if "\\" in match[1] else match[1]
        tags.append(Provenance(source, match[2]))
        end = at
    line = line[:end].rstrip(" \t") if tags else line
    if len(tags) > 1:
        return line, replace(tags[0], also=tuple(reversed(tags[1:])))
    return line, tags[0] if tags else None
