"""Rules of one fact, each broken one as a sentence with its field; places of facts: file, front matter, headings, ids."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

import msgspec

from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.facts import GLOBAL, MAX_FACT_CHARS, Fact, FactCategory, is_domain

# Places of facts: the file of a domain and category, its front matter and headings, and what a new one
# starts with.

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


# Rules of one fact: what of its fields is wrong, each as a sentence with the field that it is about.

Flaw = tuple[str, str]
"""Field that is wrong, empty for the item as a whole, and a sentence about it."""

MAX_TAGS, MAX_RELATED = 64, 64
_MAX_COUNT = 1_000_000_000
_CATEGORIES: Mapping[str, FactCategory] = {category.value: category for category in FactCategory}
_ID = late(rf"([a-z0-9][a-z0-9._-]{{0,99}}):({'|'.join(_CATEGORIES)}):([0-9]{{3,9}})")
_TAG = late(r"[a-z0-9-]{1,100}")
_DAY = late(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BREAK = late(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_ONE_LINE_OF = tr("write the text on one line")


def id_parts(fact_id: str) -> tuple[str, FactCategory, int] | None:
    """Domain, category and number of an id, None for what is no id."""
    match = _ID.fullmatch(fact_id)
    if match is None or match[3] != f"{int(match[3]):03d}":
        return None
    return match[1], _CATEGORIES[match[2]], int(match[3])


@lru_cache(maxsize=8192)
def _is_day(text: str) -> bool:
    if not _DAY.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def flaws_of(fact: Fact, place: FactPlace) -> list[Flaw]:
    """Everything that is wrong with a fact at its place; nothing for a fact that may enter the index."""
    return list(_flaws(fact, place)) if not _is_well(fact, place) else []


def _is_well(fact: Fact, place: FactPlace) -> bool:
    """The same in one pass, for the many that are well."""
    prefix = f"{place.domain}:{fact.category._value_}:"
    number = fact.id[len(prefix) :]
    first, last = fact.first_seen, fact.last_confirmed
    return (
        fact.id.startswith(prefix)
        and fact.domain == place.domain
        and place.category in {None, fact.category}
        and 3 <= len(number) <= 9
        and number.isascii()
        and number.isdigit()
        and (len(number) == 3 or number[0] != "0")
        and 0 < len(fact.text) <= MAX_FACT_CHARS
        and not fact.text.isspace()
        and _BREAK.search(fact.text) is None
        and 0.0 <= fact.confidence <= 1.0
        and (not fact.tags or _are_tags(fact.tags))
        and 0 < fact.source_count <= _MAX_COUNT
        and (not first or _is_day(first))
        and (not last or _is_day(last))
        and (not first or not last or first <= last)
        and (not fact.expires or _is_day(fact.expires))
        and (not fact.related or all(id_parts(one) is not None for one in fact.related))
        and len(fact.related) <= MAX_RELATED
    )


@lru_cache(maxsize=8192)
def _are_tags(tags: tuple[str, ...]) -> bool:
    return len(set(tags)) == len(tags) <= MAX_TAGS and all(_TAG.fullmatch(tag) is not None for tag in tags)


def _flaws(fact: Fact, place: FactPlace) -> Iterator[Flaw]:
    yield from _place_flaws(fact, place)
    yield from text_flaws(fact.text)
    if not (math.isfinite(fact.confidence) and 0 <= fact.confidence <= 1):
        yield (
            "confidence",
            tr("confidence is {confidence}; it must be a number from 0.0 to 1.0", confidence=fact.confidence),
        )
    yield from _tag_flaws(fact.tags)
    if not 1 <= fact.source_count <= _MAX_COUNT:
        yield (
            "source_count",
            tr("source_count is {source_count}; it must be at least 1", source_count=fact.source_count),
        )
    days = {"first_seen": fact.first_seen, "last_confirmed": fact.last_confirmed, "expires": fact.expires}
    for key, day in days.items():
        if day and not _is_day(day):
            yield (
                key,
                tr("The field {key} is {day!r}; it must be a day such as 2026-11-23", key=key, day=day[:40]),
            )
    first, last = fact.first_seen, fact.last_confirmed
    if first and last and _is_day(first) and _is_day(last) and first > last:
        yield (
            "first_seen",
            tr("first_seen ({first}) is after last_confirmed ({last})", first=first, last=last),
        )
    for one in fact.related:
        if id_parts(one) is None:
            yield (
                "related",
                tr(
                    "the field `related` names {one!r}, which is not an id (domain:category:001)",
                    one=one[:60],
                ),
            )
    if len(fact.related) > MAX_RELATED:
        yield (
            "related",
            tr(
                "the field `related` names {related:,} facts, more than {MAX_RELATED}",
                related=len(fact.related),
                MAX_RELATED=MAX_RELATED,
            ),
        )


def _place_flaws(fact: Fact, place: FactPlace) -> Iterator[Flaw]:
    parts = id_parts(fact.id)
    if fact.domain != place.domain:
        yield (
            "domain",
            tr(
                "domain is {domain!r}, but this file holds {domain2!r}",
                domain=fact.domain[:60],
                domain2=place.domain,
            ),
        )
    if place.category is not None and place.category is not fact.category:
        yield (
            "category",
            tr(
                "category is {value!r}, but this file holds {value2!r}",
                value=fact.category.value,
                value2=place.category.value,
            ),
        )
    if parts is None:
        yield (
            "id",
            tr(
                "id is {id!r}; it must be domain:category:sequence, like {domain}:fact:001",
                id=fact.id[:60],
                domain=place.domain,
            ),
        )
        return
    if parts[0] != fact.domain:
        yield (
            "id",
            tr("id begins with {parts!r}, but domain is {domain!r}", parts=parts[0], domain=fact.domain[:60]),
        )
    if parts[1] is not fact.category:
        yield (
            "id",
            tr(
                "id names the category {value!r}, but category is {value2!r}",
                value=parts[1].value,
                value2=fact.category.value,
            ),
        )


def text_flaws(text: str) -> Iterator[Flaw]:
    """Everything that is wrong with the words of a fact."""
    if not text or text.isspace():
        yield "fact", tr("fact is empty; write one sentence")
    elif len(text) > MAX_FACT_CHARS:
        yield (
            "fact",
            tr(
                "fact has {text:,} characters, more than {MAX_FACT_CHARS}",
                text=len(text),
                MAX_FACT_CHARS=MAX_FACT_CHARS,
            ),
        )
    if _BREAK.search(text):
        yield "fact", tr("fact has a line break; {ONE_LINE_OF}", ONE_LINE_OF=_ONE_LINE_OF)


def _tag_flaws(tags: tuple[str, ...]) -> Iterator[Flaw]:
    for tag in tags:
        if _TAG.fullmatch(tag) is None:
            yield "tags", tr("the tag {tag!r} has characters other than a-z, 0-9 and hyphens", tag=tag[:60])
    doubled = sorted({tag for tag in tags if tags.count(tag) > 1}) if len(tags) <= MAX_TAGS else []
    for tag in doubled:
        yield "tags", tr("the tag {tag!r} occurs twice", tag=tag[:60])
    if len(tags) > MAX_TAGS:
        yield (
            "tags",
            tr("the fact has {tags:,} tags, more than {MAX_TAGS}", tags=len(tags), MAX_TAGS=MAX_TAGS),
        )


REQUIRED = ("id", "fact", "category", "domain", "confidence")


INHERITED = ("domain", "category")
"""Fields that an item leaves to the front matter of its file."""


def inherited_fields(head: Any, place: FactPlace) -> Mapping[str, Any]:
    """Fields that items have of their file where they say nothing else. `head`: the front matter as YAML gave it, of any kind."""
    said = head.get("category") if isinstance(head, Mapping) else None
    return {"domain": place.domain, "category": said if place.category is None else place.category.value}


def fact_of(row: Mapping[Any, Any], inherited: Mapping[str, Any]) -> tuple[Fact | None, list[Flaw]]:
    """Make a fact of a mapping as YAML gives it. Values are judged by kind here, by `flaws_of` for the rest.

    Args:
        inherited: `inherited_fields` of the file.

    Returns:
        The fact, None where a field cannot be what it must; and what is wrong.
    """
    row = {**row, **{key: inherited.get(key) for key in INHERITED if row.get(key) is None}}
    flaws: list[Flaw] = [("", _missing(key)) for key in REQUIRED if row.get(key) is None]
    texts = {key: _text(row, key, flaws) for key in ("id", "fact", "category", "domain")}
    category = _CATEGORIES.get(texts["category"])
    if category is None and isinstance(row.get("category"), str):
        known = ", ".join(_CATEGORIES)
        flaws.append(
            (
                "category",
                tr(
                    "category is {texts!r}; it must be one of {known}",
                    texts=texts["category"][:40],
                    known=known,
                ),
            )
        )
    confidence = row.get("confidence")
    if confidence is not None and (isinstance(confidence, bool) or not isinstance(confidence, int | float)):
        flaws.append(
            (
                "confidence",
                tr(
                    "confidence is {confidence}; it must be a number from 0.0 to 1.0",
                    confidence=_shown(confidence),
                ),
            )
        )
    count = row.get("source_count", 1)
    if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
        flaws.append(
            ("source_count", tr("source_count is {count}; it must be a whole number", count=_shown(count)))
        )
    days = {key: _day(row, key, flaws) for key in ("first_seen", "last_confirmed", "expires")}
    tags, related = _list(row, "tags", flaws), _list(row, "related", flaws)
    if flaws or category is None:
        return None, flaws
    try:
        number = float(confidence)  # type: ignore[arg-type]
    except OverflowError:
        return None, [("confidence", tr("confidence is too large; it must be a number from 0.0 to 1.0"))]
    return Fact(
        id=texts["id"], text=texts["fact"], category=category, domain=texts["domain"], confidence=number, tags=tags, source_count=1 if count is None else int(count),
        first_seen=days["first_seen"], last_confirmed=days["last_confirmed"], expires=days["expires"], related=related,
    ), []  # fmt: skip


def _missing(key: str) -> str:
    if key in INHERITED:
        return tr("{key} is missing in this fact and in the front matter: write it in one of them", key=key)
    return tr("{key} is missing", key=key)


def _text(row: Mapping[Any, Any], key: str, flaws: list[Flaw]) -> str:
    value = row.get(key)
    if value is None or isinstance(value, str):
        return value or ""
    flaws.append(
        (key, tr("{key} is {shown}, which is not text; put it in quotes", key=key, shown=_shown(value)))
    )
    return ""


def _day(row: Mapping[Any, Any], key: str, flaws: list[Flaw]) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str) and value:
        return value
    flaws.append(
        (
            key,
            tr(
                "The field {key} is {shown}; it must be a day such as 2026-11-23",
                key=key,
                shown=_shown(value),
            ),
        )
    )
    return ""


def _list(row: Mapping[Any, Any], key: str, flaws: list[Flaw]) -> tuple[str, ...]:
    value = row.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        flaws.append(
            (key, tr("{key} is {shown}; it must be a list, like [a, b]", key=key, shown=_shown(value)))
        )
        return ()
    wrong = [one for one in value if not isinstance(one, str)]
    if wrong:
        flaws.append(
            (
                key,
                tr(
                    "{key} holds {wrong}, which is not text; put it in quotes",
                    key=key,
                    wrong=_shown(wrong[0]),
                ),
            )
        )
        return ()
    return tuple(value)


def _shown(value: Any) -> str:
    """A value of YAML as a person says it."""
    match value:
        case bool():
            return "yes" if value else "no"
        case int() | float() | date():
            return str(value)[:60]
        case str():
            return tr("the text {value!r}", value=value[:40])
        case list():
            return "a list"
        case None:
            return "empty"
        case _:
            return tr("several fields")


def head_flaws(row: Any, place: FactPlace) -> list[Flaw]:
    """Everything that is wrong with a file's front matter, as YAML gave it."""
    if not isinstance(row, Mapping):
        return [("", tr("the text between the --- lines is not a list of fields (domain: …)"))]
    flaws: list[Flaw] = []
    domain = row.get("domain")
    if domain is None:
        flaws.append(
            ("", tr("the front matter has no domain; write `domain: {domain}`", domain=place.domain))
        )
    elif not isinstance(domain, str) or not is_domain(domain):
        flaws.append(
            (
                "domain",
                tr(
                    "the front matter's domain is {domain}, which is not a valid domain",
                    domain=_shown(domain),
                ),
            )
        )
    elif domain != place.domain:
        flaws.append(
            (
                "domain",
                tr(
                    "the front matter's domain is {domain!r}, but this is the file of {domain2!r}",
                    domain=domain,
                    domain2=place.domain,
                ),
            )
        )
    if place.category is not None and row.get("category") != place.category.value:
        flaws.append(
            ("category", tr("the front matter must say `category: {value}`", value=place.category.value))
        )
    version = row.get("version", FORMAT_VERSION)
    if isinstance(version, bool) or not isinstance(version, int):
        flaws.append(
            (
                "version",
                tr(
                    "the front matter's version is {version}; it must be {FORMAT_VERSION}",
                    version=_shown(version),
                    FORMAT_VERSION=FORMAT_VERSION,
                ),
            )
        )
    elif version > FORMAT_VERSION:
        flaws.append(
            (
                "version",
                tr("the file has version {version} of a newer program; update Manual Slop", version=version),
            )
        )
    _day(row, "last_updated", flaws)
    return flaws
