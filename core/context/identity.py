"""Identity and memory files that a model gets, by its family."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from core.values.curation import NamedText

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
