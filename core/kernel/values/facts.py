"""Structured facts and the evidence of items as values: facts, their domains, quotes, and what became of an item."""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec

from core.kernel.language import tr
from core.kernel.patterns import late

# Structured facts as values: a fact, its row in the index, problems of the files, and what a front end
# reads of them.

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
    """A fact in the index, with its confidence after aging and later harvests.

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
        said = tr("warning: {text}", text=self.text) if self.is_warning else self.text
        return f"{self.file}:{self.line}: {said}"

    @property
    def told(self) -> str:
        """`file, line 14: what is wrong`, as it is said to a person."""
        return tr("{file}, line {line:,}: {text}.", file=self.file, line=self.line, text=self.text)


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


# Evidence as values: where an item was said, what became of it, and which requests it entered.


class Quote(msgspec.Struct, frozen=True, gc=False):
    """Words of a conversation that an item stands on.

    Args:
        turns: ids of the messages that hold it; text: at most 300 characters, scrubbed; both empty where none was named.
        is_unfound: one was named that stands nowhere in what the model was shown, and was left out.
    """

    turns: tuple[str, ...] = ()
    text: str = ""
    is_unfound: bool = False


class ItemWords(msgspec.Struct, frozen=True):
    """Category and text of an item, as they would stand in a file."""

    category: str
    text: str


class EvidenceRow(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One line of `evidence.jsonl`: an item, and the conversation that it came from.

    Args:
        item: sha256 (hex) of its category and text; fact: id of its structured fact, empty where there is none.
        at: ISO 8601 UTC; source: the conversation as provenance names it; path: of its file.
        discussion: its id, empty for a conversation of another program; sha256: of the bytes that were read.
        turns, quote: as in `Quote`; quote_sha256: of the quote (hex), empty without one.
        talks: marks of the conversations that were read, the same whatever program keeps them.
        is_unfound: as in `Quote`.
    """

    item: str
    at: str
    source: str
    path: str
    sha256: str
    discussion: str = ""
    fact: str = ""
    turns: tuple[str, ...] = ()
    quote: str = ""
    quote_sha256: str = ""
    talks: tuple[str, ...] = ()
    is_unfound: bool = False


class ItemEventKind(StrEnum):
    """Kinds of what happens to an item. An undo takes an apply's words back.

    `deleted` and `restored` are of an item, or of a fact that left prompts with its items; `held` is of a fact that waits
    for its file to be readable.
    """

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    EDITED = "edited"
    CONFIRMED = "confirmed"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    FORGOTTEN = "forgotten"
    INJECTED = "injected"
    UNDONE = "undone"
    DELETED = "deleted"
    RESTORED = "restored"
    HELD = "held"
    USED = "used"


class ItemEvent(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One line of `events.jsonl`.

    Args:
        item: sha256 of the item's category and text, empty for `injected` and `undone`.
        category, text: what it said then, for people; was: the items that it took the place of, by hash.
        source: the conversation, as provenance names it; apply: the id of the harvest's apply; reason: one sentence.
        fact: id of the structured fact that it is about, empty for none; of `held` its id without the number.
        discussion, message, model, items, facts: of `injected`: where, the message that was answered, by whom, the
            hashes of all items in the request, and the ids of all structured facts. Of `used` likewise, of a request that was
            answered: the items and facts that the reply quotes, and the tokens that memory added to it, about.
    """

    kind: ItemEventKind
    at: str
    item: str = ""
    category: str = ""
    text: str = ""
    was: tuple[str, ...] = ()
    source: str = ""
    apply: str = ""
    reason: str = ""
    discussion: str = ""
    model: str = ""
    items: tuple[str, ...] = ()
    message: str = ""
    fact: str = ""
    facts: tuple[str, ...] = ()
    tokens: int = 0


class TurnPlace(StrEnum):
    """Place of the turn that a quote stands in."""

    LIST = "list"
    TRASH = "trash"
    FILE = "file"
    GONE = "gone"


class Witness(msgspec.Struct, frozen=True):
    """Evidence of an item with the turn as it can be read now.

    Args:
        name: of the conversation as the person sees it; role, turn: who said it, and the words, scrubbed; empty where
            the turn cannot be read; is_there: the quote stands in it still.
    """

    row: EvidenceRow
    place: TurnPlace
    name: str = ""
    role: str = ""
    turn: str = ""
    is_there: bool = False


class HistoryKind(StrEnum):
    """Kinds of lines of a history, each as the item itself met it."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    EDITED = "edited"
    CONFIRMED = "confirmed"
    REPLACES = "replaces"
    REPLACED_BY = "replaced by"
    MERGED_FROM = "merged from"
    MERGED_INTO = "merged into"
    FORGOTTEN = "forgotten"
    DELETED = "deleted"
    RESTORED = "restored"
    HELD = "held"
    UNDONE = "undone"
    USED = "used"


class HistoryLine(msgspec.Struct, frozen=True):
    """One line of a history.

    Args:
        event: that it tells; objects: words of the other items that it names, as far as they are known.
        is_undone: it was taken back since, which a later line tells.
    """

    kind: HistoryKind
    event: ItemEvent
    objects: tuple[str, ...] = ()
    is_undone: bool = False


class ItemHistory(msgspec.Struct, frozen=True):
    """History of an item: its evidence, its changes, and the requests that contained it.

    Args:
        item: hash; category, text: as the item stands now; witnesses, lines: oldest first, also of the words that it
            had before; injected: the events whose requests held it, newest first.
        torn: lines of both logs that could not be read, and were passed over.
        source: the conversation that its provenance names, empty for one without; fact: id of a structured fact, whose
            `item` is empty and whose category is of facts; empty for an item.
        asked: hash of the item that was asked about, where another's words stand in its file by now; else empty.
    """

    item: str
    category: str
    text: str
    witnesses: tuple[Witness, ...] = ()
    lines: tuple[HistoryLine, ...] = ()
    injected: tuple[ItemEvent, ...] = ()
    torn: int = 0
    source: str = ""
    fact: str = ""
    asked: str = ""

    @property
    def events(self) -> tuple[ItemEvent, ...]:
        """Events that the lines tell, oldest first."""
        return tuple(line.event for line in self.lines)


class SeenItems(msgspec.Struct, frozen=True):
    """Items that a model saw from one request on.

    Args:
        event: of kind `injected`; items: what is still known of it, or is told in the logs; facts: structured ones
            that are known; missing: how many are known by their hash or id alone.
    """

    event: ItemEvent
    items: tuple[ItemWords, ...] = ()
    missing: int = 0
    facts: tuple[ItemWords, ...] = ()


class DiscussionMemory(msgspec.Struct, frozen=True):
    """Memory in one discussion: answered requests, tokens that memory added to them, about, and how often replies quoted of it."""

    discussion: str
    requests: int = 0
    tokens_est: int = 0
    quoted: int = 0


class MemoryUse(msgspec.Struct, frozen=True):
    """Use of memory. `unused`: names of items and facts that many requests held and no reply quoted.

    `proposed`: those of them that stand among the items, with their words.
    """

    discussions: tuple[DiscussionMemory, ...] = ()
    unused: tuple[str, ...] = ()
    proposed: tuple[ItemWords, ...] = ()


class EvidenceState(msgspec.Struct, frozen=True):
    """Evidence as a front end may read it.

    Args:
        shown: of the item that was last asked about, None before.
        seen: what entered requests, newest first, as it was last asked for; seen_in: of which discussion, empty for all.
        use: of memory, as it was last asked for, None before.
    """

    shown: ItemHistory | None = None
    seen: tuple[SeenItems, ...] = ()
    seen_in: str = ""
    use: MemoryUse | None = None


# Domains: names under which facts are kept, of repositories, agents and everything.

GLOBAL = "global"
"""Domain of what holds everywhere."""

MAX_DOMAIN_CHARS = 100
_DOMAIN = late(r"[a-z0-9][a-z0-9._-]{0,99}")
_OTHER = late(r"[^a-z0-9._-]")
_SCHEME = late(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def is_domain(name: str) -> bool:
    """True if a name can be a domain, and so a file's name."""
    return _DOMAIN.fullmatch(name) is not None


def domain_name(name: str) -> str:
    """Domain of a repository's or an agent's name: lower-cased, other characters as `-`; empty where nothing is left.

    One that is called `global` gets a name of its own: what holds everywhere is no single repository's.
    """
    folded = _OTHER.sub("-", name.strip().lower()).lstrip("._-")[:MAX_DOMAIN_CHARS].rstrip("-")
    return f"{folded}-repository" if folded == GLOBAL else folded


def origin_name(address: str) -> str:
    """Last part of a repository's `origin` address without `.git`; empty where it has none.

    Args:
        address: a URL, `host:path`, or a path, with either slash.
    """
    path = _SCHEME.sub("", address.strip())
    last = re.split(r"[/\\]", path.rstrip("/\\"))[-1]
    last = last.rpartition(":")[2] if "/" not in path and "\\" not in path else last
    return last.removesuffix(".git")
