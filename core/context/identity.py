"""Identity and memory files that a model gets: the first by its family, the others as far as their budget reaches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from core.base.text import one_line, size_bytes
from core.base.tokens import estimate_tokens
from core.values.curation import NamedText

MEMORY_TOKENS = 20_000
"""Budget of memory files. Source: 60-agent.md, "Identity and memory files"."""

MANIFEST = "memory-manifest"

PREFERENCE = {
    "claude": ("CLAUDE.md", "AGENTS.md", "POC.md"),
    "": ("POC.md", "AGENTS.md", "CLAUDE.md"),
}
"""Names in order of preference: Anthropic's models and all others. Source: 60-agent.md, "Identity and memory files"."""


def identity_for(family: str, found: Sequence[NamedText]) -> tuple[NamedText, ...]:
    """Choose one file of each directory: the family's favourite, or what stands in for it.

    Args:
        family: `ModelProfile.family`.
        found: the files that exist, outermost directory first, `source` their path.

    Returns:
        One text a directory, in the order in which the directories were found.
    """
    ranks = PREFERENCE.get(family, PREFERENCE[""])
    best: dict[str, NamedText] = {}
    for text in found:
        path = PurePath(text.source)
        present = best.get(str(path.parent))
        if present is None or _rank(path.name, ranks) < _rank(PurePath(present.source).name, ranks):
            best[str(path.parent)] = text
    return tuple(best.values())


def _rank(name: str, ranks: Sequence[str]) -> int:
    return ranks.index(name) if name in ranks else len(ranks)


def memory_for(found: Sequence[NamedText], budget: int = MEMORY_TOKENS) -> tuple[NamedText, ...]:
    """Memory files whole within a budget of tokens, and a manifest of all of them; nothing where there are none.

    Args:
        found: sorted by name. One that does not fit is passed over, the next may.
    """
    room, whole = budget, []
    rows = []
    for text in found:
        tokens = estimate_tokens(size_bytes(text.text))
        is_here = tokens <= room
        if is_here:
            room -= tokens
            whole.append(text)
        state = "in full above" if is_here else "not here, the budget of memory files is used up"
        heading = f", “{title}”" if (title := _heading(text.text)) else ""
        rows.append(f"- {text.name}{heading}, {size_bytes(text.text):,} bytes: {state}\n")
    return (*whole, NamedText(MANIFEST, "".join(rows))) if rows else ()


def _heading(text: str) -> str:
    """First heading of a Markdown text, one line, empty where it has none."""
    lines = (line.strip() for line in text.split("\n"))
    return next((one_line(line.lstrip("#"), 120) for line in lines if line.startswith("#")), "")
