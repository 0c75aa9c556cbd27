"""Prompt caching as values: prices, the ledger of what providers hold, plans, gaps and spend limits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

import msgspec

from core.kernel.values.stack import ToolSchema

# Rent that is to be written into the log of the discussion that it was paid for.


class OwedRent(msgspec.Struct, frozen=True):
    """Rent that was settled and is not known to stand in the discussion's log: it is written, again if need be.

    `record_id`: of its record, whoever writes it; `is_estimate`: the provider did not say when it ended.
    """

    record_id: str
    at: datetime
    cost_usd: float
    is_estimate: bool = False


TOOLS_KEY = "3"
"""`CacheMark.after_key` of a mark behind the last tool."""


class DiscussionCacheState(msgspec.Struct, frozen=True):
    """State of a discussion's cache, as the panel and the Hook API show it."""

    discussion_id: str
    provider: str
    cached_at: datetime
    expires_at: datetime | None = None
    """None: the provider manages it."""
    hit_count: int = 0
    tokens_cached: int = 0
    last_invalidated_at: datetime | None = None
    caching_enabled: bool = True
    """The person can turn it off for this discussion."""
    long_until: datetime | None = None
    """End of the part that lives longer than `expires_at` says; None where all ends then."""
    long_tokens: int = 0
    """Tokens of that part, of `tokens_cached`."""


class Mechanism(StrEnum):
    """Mechanism by which a provider is asked to cache."""

    MARKS = "marks"
    """Anthropic's `cache_control`: written only where marked, found at most a lookback before a mark."""
    BREAKPOINTS = "breakpoints"
    """OpenAI from GPT-5.6 on: explicit breakpoints, or none at all."""
    CONTENTS = "contents"
    """Gemini 2.5 to 3.x: `cachedContents` for the stable prefix, with rent."""
    IMPLICIT = "implicit"
    """The provider or the server decides; nothing can be marked."""


class TtlPrice(msgspec.Struct, frozen=True):
    """A lifetime on offer: its seconds, and what writing costs, as a multiple of fresh input."""

    ttl_s: int
    write: float


class CachePrices(msgspec.Struct, frozen=True):
    """Prices of caching with a model, and its rules.

    Args:
        input_usd: a fresh input token, None where unknown (the plan then counts in multiples alone).
        read: a token read from the cache, as a multiple of fresh input.
        writes: lifetimes on offer, short first; empty where there is nothing to mark.
        minimum_tokens: a shorter prefix is silently not cached.
        lookback: positions, the mark's own included, in which a mark finds an earlier entry; 0: no limit.
        storage_usd: for a token and an hour (Gemini), else 0.
        holds_replies: a reply stays held behind the very request that it answers.
        is_local: the model runs on this machine: where no price is known, nobody is paid.
    """

    provider: str
    model: str
    mechanism: Mechanism
    input_usd: float | None
    read: float
    writes: tuple[TtlPrice, ...] = ()
    minimum_tokens: int = 0
    lookback: int = 0
    max_marks: int = 0
    storage_usd: float = 0.0
    holds_replies: bool = False
    is_local: bool = False

    def write_at(self, ttl_s: int) -> float:
        """Price of writing at a lifetime; that of the nearest lifetime on offer, 1 where there is none."""
        if not self.writes:
            return 1.0
        return min(self.writes, key=lambda offer: abs(offer.ttl_s - ttl_s)).write


class LedgerScope(msgspec.Struct, frozen=True):
    """Caches are apart by these.

    Args:
        key_id: names the provider's key without telling it (a short digest).
        settings: all that enters the prefix beside its text: thinking, effort, tool choice, canonical JSON.
    """

    provider: str
    key_id: str
    model: str
    settings: str = ""


class CacheLedgerEntry(msgspec.Struct, frozen=True):
    """A prefix that a provider holds.

    Args:
        prefix_hash: of everything up to the mark; tokens: of the same.
        expires_at: counted from the start of the request that wrote or last used it.
        discussion_id: who wrote or used it last; its `cache.json` keeps the entry.
        is_extended: it lives long only if a long mark behind a hit that lived short keeps the whole prefix.
        front_s: lifetime of that hit, 0 where it is not known.
        name: of a cached content (Gemini).
        is_unsure: its mark stood in front of a deeper hit. Whether a vendor writes an entry there is not documented.
    """

    prefix_hash: str
    tokens: int
    ttl_s: int
    expires_at: datetime
    discussion_id: str = ""
    is_extended: bool = False
    name: str = ""
    is_unsure: bool = False
    front_s: int = 0


class CacheLedger(msgspec.Struct, frozen=True):
    """Ledger of what providers hold, as far as is known. Copied on write.

    Args:
        entries: by scope, then by prefix hash.
        extensions: by provider and model, whether a long mark behind a short-lived hit was seen to keep the prefix.
    """

    entries: Mapping[LedgerScope, Mapping[str, CacheLedgerEntry]] = msgspec.field(default_factory=dict)
    extensions: Mapping[tuple[str, str], ExtensionEvidence] = msgspec.field(default_factory=dict)


class CacheMark(msgspec.Struct, frozen=True):
    """Mark where a provider is asked to write: behind the last part with this key (`part_key`), `TOOLS_KEY` for tools."""

    after_key: str
    ttl_s: int


class ContentsUse(StrEnum):
    """Use of Gemini's cached contents in a plan."""

    NONE = "none"
    USE = "use"
    CREATE = "create"


class ContentsPlan(msgspec.Struct, frozen=True):
    """Plan for cached contents.

    Args:
        through_key: the last part that the content holds (system and tools always inside); name: of the content
            to use, empty where it is to be made.
        ttl_s: of a new one; seconds from now that the used one is to live on, 0: as long as it does.
    """

    use: ContentsUse
    through_key: str = ""
    prefix_hash: str = ""
    ttl_s: int = 0
    name: str = ""


class PlannedWrite(msgspec.Struct, frozen=True):
    """An entry that a request will write, or renew where it is not new, for the ledger. The rest: as of the entry."""

    prefix_hash: str
    tokens: int
    ttl_s: int
    is_new: bool = True
    is_extended: bool = False
    is_unsure: bool = False
    front_s: int = 0


class CachePlan(msgspec.Struct, frozen=True):
    """Plan of one request's caching, and its expected cost.

    Args:
        marks: in wire order, long lifetimes before short ones.
        is_enabled: False: no caching was asked for (the client uses the vendor's way to turn it off).
        openai_mode: `explicit` or `implicit`, empty for other vendors; prompt_cache_key: for OpenAI.
        read_tokens, write_tokens, fresh_tokens: how the request's input is expected to be billed.
        cost_usd: of this request's input; read_cost_usd: the part of it that is read; cost_without_usd: without caching;
            None where the price is unknown.
        outlook, outlook_without: this request and the turns expected after it, in fresh input tokens' price:
            what the choice was made by. `outlook` is never above `outlook_without`.
        hit_hash: the prefix that is expected to be read, empty for none; hit_ttl_s: its lifetime.
        tests_extension: the hit lives only if a long mark behind a short-lived hit keeps the whole prefix.
        writes: what the ledger records when the answer begins.
        superseded_tokens: earlier versions of files and presets that the request still carries.
        sentences: one for each choice.
        prices: by which it was made, None where that is not kept.
    """

    marks: tuple[CacheMark, ...] = ()
    is_enabled: bool = True
    openai_mode: str = ""
    prompt_cache_key: str = ""
    contents: ContentsPlan | None = None
    read_tokens: int = 0
    write_tokens: int = 0
    fresh_tokens: int = 0
    cost_usd: float | None = None
    read_cost_usd: float | None = None
    cost_without_usd: float | None = None
    outlook: float = 0.0
    outlook_without: float = 0.0
    hit_hash: str = ""
    hit_ttl_s: int = 0
    tests_extension: bool = False
    writes: tuple[PlannedWrite, ...] = ()
    superseded_tokens: int = 0
    sentences: tuple[str, ...] = ()
    prices: CachePrices | None = None


class TurnGap(msgspec.Struct, frozen=True):
    """Seconds between two turns, and the Unix time of the second, 0.0 where it was not kept."""

    seconds: float
    ended_s: float = 0.0


class Talk(msgspec.Struct, frozen=True):
    """A discussion as far as its length is concerned: turns so far, and the Unix time of the last."""

    turns: int
    last_s: float


class Habits(msgspec.Struct, frozen=True):
    """Habits of the person: times of asking, learned over all discussions as it goes.

    Args:
        own: between turns of one discussion, whichever; shared: between turns of any; newest last.
        talks: by discussion id, the newest.
        starts: of discussions, lately, after others; strange: those of them that no other's shared prefix was of use to.
    """

    own: tuple[TurnGap, ...] = ()
    shared: tuple[TurnGap, ...] = ()
    talks: Mapping[str, Talk] = msgspec.field(default_factory=dict)
    starts: int = 0
    strange: int = 0


class GapStats(msgspec.Struct, frozen=True):
    """Gaps that tell when the next turn of one discussion comes.

    Args:
        own: between turns of this discussion; person: of one discussion, whichever; shared: of any; newest last.
        turns: of this discussion so far; talks: the person's other discussions; starts, strange: as of `Habits`.
    """

    own: tuple[TurnGap, ...] = ()
    person: tuple[TurnGap, ...] = ()
    shared: tuple[TurnGap, ...] = ()
    turns: int = 1
    talks: tuple[Talk, ...] = ()
    starts: int = 0
    strange: int = 0

    def __hash__(self) -> int:
        """A cheap one: the newest gaps tell one from another."""
        newest = (self.own[-1:], self.person[-1:], self.shared[-1:], self.talks[-1:])
        return hash((self.turns, len(self.own), len(self.person), newest))


class Balance(msgspec.Struct, frozen=True):
    """Worth of caching for one discussion so far, in tokens of fresh input. Pings are counted.

    Args:
        saved: what its requests would have cost without, less what they cost; below zero it has lost.
        largest_tokens: of its requests.
    """

    saved: float = 0.0
    largest_tokens: int = 0


class ExtensionEvidence(msgspec.Struct, frozen=True):
    """Evidence on whether a long mark behind a short-lived hit keeps the whole prefix with a model.

    Args:
        kept: how often such a prefix outlived the short lifetime; lost: how often it did not.
        at, discussion_id, expected_tokens, read_tokens: of the newest that did not.
    """

    provider: str
    model: str
    kept: int = 0
    lost: int = 0
    at: datetime | None = None
    discussion_id: str = ""
    expected_tokens: int = 0
    read_tokens: int = 0


class SentPart(msgspec.Struct, frozen=True):
    """A piece of layer 6 or 7 as a request sent it: a document, the digest, or the notes on a file."""

    key: str
    sha256: str


class SentPlace(msgspec.Struct, frozen=True):
    """Block of a request that was sent, of those with which something is held, ends or may change.

    Args:
        prefix_hash, tokens: of all up to its end; position: for lookback; place: of the stack, a `MarkPlace`.
    """

    key: str
    prefix_hash: str
    tokens: int
    position: int
    place: str


class SentDelta(msgspec.Struct, frozen=True):
    """Delta of a request that was sent.

    Args:
        key: of its block; parts: of layers 6 and 7; others: tokens of what it tells of layers 9 and 10.
        has_set, has_files: it tells layer 9, layer 10.
    """

    key: str
    parts: tuple[SentPart, ...] = ()
    others: int = 0
    has_set: bool = False
    has_files: bool = False


class SentKnowledge(msgspec.Struct, frozen=True):
    """Layers 6 and 7 as the model knows them since a discussion's last request, and that request as far as it prices
    another telling of them.

    Args:
        scope: whose cache it was sent to; parts: of layer 7, the newest of each.
        ttl_s: of the deepest entry, 0 where none was left alive; expires_at: when that ends.
        documents: of layer 6, None where an older version of this program did not keep them.
        superseded: of layer 7, carried on though newer parts replace them.
        withdrawals: how often something had been taken out of knowledge.
        base: of layers 6 and 7 as the request's base told them; deltas: what it appended since.
        places: of the request, in wire order; empty where an older version did not keep them.
        superseded_tokens: carried, which a canonical rewrite would leave out.
        reply_tokens: of the answer, which the next request repeats.
        folded_tokens: what layers 9 and 10 take more once what was appended of them stands in its place.
        has_recalled: what was recalled for an earlier turn with tools stands in it.
    """

    scope: LedgerScope
    parts: tuple[SentPart, ...] = ()
    ttl_s: int = 0
    expires_at: datetime | None = None
    documents: tuple[SentPart, ...] | None = None
    superseded: tuple[SentPart, ...] = ()
    withdrawals: int = 0
    base: tuple[SentPart, ...] = ()
    deltas: tuple[SentDelta, ...] = ()
    places: tuple[SentPlace, ...] = ()
    superseded_tokens: int = 0
    reply_tokens: int = 0
    folded_tokens: int = 0
    has_recalled: bool = False


class Rewrite(msgspec.Struct, frozen=True):
    """A warm discussion whose layers 6 or 7 are no longer what its model knows.

    Args:
        why: in words; tokens: to be sent anew on the next turn: cached now, or new in the layer.
        cost_usd: what the next turn costs more for it, None where the price is unknown; most_usd: where entries that
            nobody has read yet are not there, None where that is the same.
        until: when the cache is cold anyway, None where the provider manages that.
        is_appended: it joins the next message; is_deletion: something that the last request sent was deleted.
    """

    discussion_id: str
    why: str
    tokens: int
    cost_usd: float | None
    until: datetime | None = None
    is_appended: bool = False
    most_usd: float | None = None
    is_deletion: bool = False


def has_price(rewrite: Rewrite) -> bool:
    """True if it may cost something: a model on this machine rewrites for nothing, which is no warning."""
    return rewrite.cost_usd is None or rewrite.cost_usd > 0 or rewrite.most_usd is not None


class RewriteCosts(msgspec.Struct, frozen=True):
    """Costs of changes of layers 6 and 7 in a discussion's next turn.

    Args:
        due: for those that were made, None where there are none or the cache is cold.
        withdrawal: for taking something out of knowledge, over what is due; None where nothing of it is cached.
        switch_off: for taking all of layer 7 away, likewise.
    """

    discussion_id: str
    due: Rewrite | None = None
    withdrawal: Rewrite | None = None
    switch_off: Rewrite | None = None


class CacheOrphan(msgspec.Struct, frozen=True):
    """A prefix that a provider stores for this program and bills, though its discussion is gone.

    Args:
        name: the vendor's; usd_per_hour: its rent, None where the price is unknown.
    """

    provider: str
    name: str
    discussion_id: str
    model: str
    tokens: int
    expires_at: datetime
    usd_per_hour: float | None = None


class StoredRent(msgspec.Struct, frozen=True):
    """A content that a provider stores for rent, and how far its rent is in the books.

    Args:
        name: the vendor's; tokens: as the vendor counts them.
        paid_until: its rent up to here is booked; expires_at: when it ends, earlier where it was deleted.
        used_at: start of the request that last used it; asked_at: when the provider was last asked to keep or end it.
        ending_at: when the program's end asked for its deletion and got no answer: it most likely ended then.
    """

    provider: str
    model: str
    name: str
    tokens: int
    paid_until: datetime
    expires_at: datetime
    used_at: datetime | None = None
    asked_at: datetime | None = None
    ending_at: datetime | None = None


class DiscussionCache(msgspec.Struct, frozen=True):
    """Content of a discussion's `cache.json`.

    Args:
        state: None until something was cached; ledger: the entries that this discussion wrote or used last.
        epoch: the salt, counted up by each invalidation; gaps: between its turns, newest last; turns: so far.
        sent: layers 6 and 7 of its last request, None where none was sent; balance: what caching was worth so far.
        mode: whose layers 1 to 7a that request shared, empty where not known.
        changed: how many of its turns found layers 6 or 7 changed.
        rents: what is stored for it, or was and is not booked to its end; owed: rent that its log may not hold yet.
        offered: tools of servers that its last request offered, None where it offered no tools or an older version did not
            keep them.
        in_habits: its gaps are among the person's habits; not so those of a file from before these were kept.
    """

    state: DiscussionCacheState | None = None
    ledger: CacheLedger = msgspec.field(default_factory=CacheLedger)
    epoch: int = 0
    gaps: tuple[TurnGap, ...] = ()
    last_turn_at: datetime | None = None
    sent: SentKnowledge | None = None
    mode: str = ""
    changed: int = 0
    rents: tuple[StoredRent, ...] = ()
    turns: int = 0
    balance: Balance = Balance()
    in_habits: bool = True
    offered: tuple[ToolSchema, ...] | None = None
    owed: tuple[OwedRent, ...] = ()


class CacheSettings(msgspec.Struct, frozen=True):
    """Choices of the person for one provider and discussion.

    Args:
        ttl_s: a fixed lifetime, None lets the planner choose; longest_ttl_s: the longest it may choose.
        may_store: whether contents may be made that are stored for rent (not by a command that ends at once);
            has_answered: the model was seen to answer: for one that never was, nothing is stored.
        appends_changes: rule 2; off rewrites the context whenever it changes.
        keepalive: rule 4; keepalive_cap_usd: for one discussion and one idle time.
        all_marks, pays_only, extends: other rules, each of which can be switched off to measure it.
    """

    is_enabled: bool = True
    ttl_s: int | None = None
    longest_ttl_s: int = 3600
    appends_changes: bool = True
    keepalive: bool = False
    keepalive_cap_usd: float = 1.0
    may_store: bool = True
    has_answered: bool = True
    all_marks: bool = True
    pays_only: bool = True
    extends: bool = True
