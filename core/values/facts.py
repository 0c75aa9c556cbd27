"""Structured facts as values: a fact, its row in the index, problems of the files, and what a front end reads of them."""

from __future__ import annotations

from enum import StrEnum

import msgspec

MAX_FACT_CHARS = 280
SHOWN_CONFIDENCE = 0.5
"""Facts under it enter no prompt."""


class FactCategory(StrEnum):
    """The five kinds of structured facts, in the order of their headings. Markdown items have `Category`."""

    FACT = "fact"
    PITFALL = "pitfall"
    PATTERN = "pattern"
    TOOL_QUIRK = "tool-quirk"
    QUESTION = "question"


class Fact(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One fact as it stands in its YAML file. Field names in files: `text` is `fact`.

    Args:
        id: `{domain}:{category}:{sequence}`; text: one sentence, 1 to 280 characters.
        domain: a repository's, an agent's, or `global`; confidence: 0.0 to 1.0.
        source_count: conversations that confirmed it, at least 1.
        first_seen, last_confirmed, expires: ISO 8601 days, empty where not given.
        related: ids of other facts.
    """

    id: str
    text: str = msgspec.field(name="fact")
    category: FactCategory
    domain: str
    confidence: float
    tags: tuple[str, ...] = ()
    source_count: int = 1
    first_seen: str = ""
    last_confirmed: str = ""
    expires: str = ""
    related: tuple[str, ...] = ()


class IndexedFact(Fact, frozen=True, gc=False, omit_defaults=True):
    """A fact in the index: with what time and harvests made of it.

    Args:
        effective_confidence: after decay, two decimals; harvests_since_confirmed: of its domain.
        stale: in no prompt since the last sync: past `expires`, or withdrawn; held: its item is broken now, and this is
            what it said last; withdrawn: the items that it was made of stand in no category file any more.
    """

    source_count: int = msgspec.field(
        default_factory=lambda: 1
    )  # a default by value would be left out of the file
    effective_confidence: float = -1.0  # no value that occurs: both always stand in the file
    harvests_since_confirmed: int = -1
    stale: bool = False
    held: bool = False
    withdrawn: bool = False


class FactProblem(msgspec.Struct, frozen=True, gc=False):
    """Sentence about a place in a file of facts. `file`: below the knowledge directory; `line`: 1-based.

    `is_warning`: worth a word, and no error.
    """

    file: str
    line: int
    text: str
    is_warning: bool = False

    @property
    def sentence(self) -> str:
        """`file:line: what is wrong`."""
        said = f"warning: {self.text}" if self.is_warning else self.text
        return f"{self.file}:{self.line}: {said}"

    @property
    def told(self) -> str:
        """`file, line 14: what is wrong`, as it is said to a person."""
        return f"{self.file}, line {self.line:,}: {self.text}."


class FactsState(msgspec.Struct, frozen=True):
    """Structured facts as the index holds them.

    Args:
        facts: sorted by id, stale and held ones included; problems: of the last sync.
    """

    facts: tuple[IndexedFact, ...] = ()
    problems: tuple[FactProblem, ...] = ()


NO_FACTS = FactsState()
"""Facts where there are none."""


def fact_data(fact: IndexedFact) -> dict[str, object]:
    """A fact as plain data: what `--json` and the Hook API say, every field named."""
    return {
        "id": fact.id,
        "fact": fact.text,
        "category": fact.category.value,
        "domain": fact.domain,
        "confidence": fact.confidence,
        "effective_confidence": fact.effective_confidence,
        "harvests_since_confirmed": fact.harvests_since_confirmed,
        "tags": list(fact.tags),
        "source_count": fact.source_count,
        "first_seen": fact.first_seen or None,
        "last_confirmed": fact.last_confirmed or None,
        "expires": fact.expires or None,
        "related": list(fact.related),
        "stale": fact.stale,
        "held": fact.held,
        "withdrawn": fact.withdrawn,
    }
