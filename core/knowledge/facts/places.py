"""Places of facts: the file of a domain and category, its front matter and headings, and what a new one starts with."""

from __future__ import annotations

from pathlib import PurePosixPath

import msgspec

from core.kernel.values.facts import GLOBAL, FactCategory, is_domain

GLOBAL_FOLDER, REPOSITORIES_FOLDER, AGENTS_FOLDER = GLOBAL, "repos", "agents"
FOLDERS = (GLOBAL_FOLDER, REPOSITORIES_FOLDER, AGENTS_FOLDER)
INDEX_FILE, SCHEMA_FILE = "index.json", "SCHEMA.md"
FORMAT_VERSION = 1

HEADINGS = {
    FactCategory.FACT: "Facts",
    FactCategory.PITFALL: "Pitfalls",
    FactCategory.PATTERN: "Patterns",
    FactCategory.TOOL_QUIRK: "Tool quirks",
    FactCategory.QUESTION: "Questions",
}
"""Heading of each category in a file that holds several."""

GLOBAL_STEMS = {
    "facts": FactCategory.FACT,
    "pitfalls": FactCategory.PITFALL,
    "patterns": FactCategory.PATTERN,
    "tool-quirks": FactCategory.TOOL_QUIRK,
    "questions": FactCategory.QUESTION,
}
"""Names of the files of `global`, without their ending."""

_STEM_OF = {category: stem for stem, category in GLOBAL_STEMS.items()}


class FactPlace(msgspec.Struct, frozen=True):
    """A file of facts. `name`: below the knowledge directory; `category` None: it holds all five."""

    name: str
    domain: str
    category: FactCategory | None = None


def place_of(name: str) -> FactPlace | None:
    """The place that a file below the knowledge directory is, None where no facts belong there."""
    path = PurePosixPath(name)
    if len(path.parts) != 2 or path.suffix != ".yaml":
        return None
    folder, stem = path.parts[0], path.stem
    if folder == GLOBAL_FOLDER:
        category = GLOBAL_STEMS.get(stem)
        return None if category is None else FactPlace(name=name, domain=GLOBAL, category=category)
    if folder in {REPOSITORIES_FOLDER, AGENTS_FOLDER} and is_domain(stem) and stem != GLOBAL:
        return FactPlace(name=name, domain=stem)
    return None


def file_of(domain: str, category: FactCategory, *, folder: str = REPOSITORIES_FOLDER) -> str:
    """The file of a domain's category, below the knowledge directory. `folder`: of a domain that is not global."""
    return f"{GLOBAL_FOLDER}/{_STEM_OF[category]}.yaml" if domain == GLOBAL else f"{folder}/{domain}.yaml"


def heading_of(place: FactPlace, category: FactCategory) -> str:
    """Heading under which a new fact goes in a file, empty for the end of a file of one category."""
    return "" if place.category is not None else HEADINGS[category]


def new_file(place: FactPlace, day: str) -> str:
    """Text of a file that is not there yet, up to where its first fact goes. `day`: ISO 8601."""
    category = "" if place.category is None else f"category: {place.category.value}\n"
    if place.category is not None:
        title = f"{HEADINGS[place.category]} that hold everywhere"
    else:
        what = "the agent" if place.name.startswith(f"{AGENTS_FOLDER}/") else "the repository"
        title = f"What is known of {what} {place.domain}"
    return (
        f"---\ndomain: {plain(place.domain)}\n{category}version: {FORMAT_VERSION}\nlast_updated: {day}\n---\n\n"
        f"# {title}\n\nEdit freely: the format is described in {SCHEMA_FILE}, one folder up.\n"
    )


_WORDS = frozenset({"yes", "no", "on", "off", "true", "false", "null", "y", "n"})


def plain(word: str) -> str:
    """A domain or a tag as YAML: as it is, or in quotes where YAML would read a number, a date or a switch."""
    return word if word[:1].isalpha() and word not in _WORDS else f'"{word}"'
