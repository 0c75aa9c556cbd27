"""The ledger of providers' caches: living entries, expected hits, writes, and corrections by reported usage."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from operator import attrgetter

import msgspec
from msgspec.structs import replace

from core.kernel.language import tr
from core.kernel.stored_texts import retold
from core.kernel.values.cache import (
    CacheLedger,
    CacheLedgerEntry,
    CachePlan,
    CachePrices,
    ExtensionEvidence,
    LedgerScope,
    Mechanism,
    PlannedWrite,
)
from core.kernel.values.provider import StoredContent
from core.kernel.values.usage import Usage
from core.services.providers.blocks import Wire

CLOCK_SLACK = timedelta(seconds=90)
_LOST_OF_KEPT = 0.1
"""So many losses for each time that an extended prefix was kept are put down to something else."""
_TOLERANCE = 0.1
_TOLERANCE_TOKENS = 64


class CacheHit(msgspec.Struct, frozen=True):
    """Hit that a request is expected to have.

    Args:
        index: the block that the entry ends with, -1 for no hit; tokens: up to there.
        is_extended, expires_at, front_s: of the entry.
    """

    index: int = -1
    tokens: int = 0
    ttl_s: int = 0
    prefix_hash: str = ""
    is_extended: bool = False
    expires_at: datetime | None = None
    front_s: int = 0


class Correction(msgspec.Struct, frozen=True):
    """The ledger after a report, and what was wrong with it.

    Args:
        reason: a plain sentence when prediction and report differ, empty when they agree.
    """

    ledger: CacheLedger
    dropped: tuple[CacheLedgerEntry, ...] = ()
    reason: str = ""


NO_HIT = CacheHit()
_INDEX = attrgetter("index")


def live_entries(ledger: CacheLedger, scope: LedgerScope, now: datetime) -> Mapping[str, CacheLedgerEntry]:
    """The entries that live at `now`. One that claims to live longer than its lifetime is not believed.

    (The clock was set back, or the file comes from another machine.) With a model that is known not to extend, what
    stands behind a shorter-lived hit lives as long as that.
    """
    entries = ledger.entries.get(scope, {})
    if entries and not can_extend(ledger, scope.provider, scope.model):
        entries = {key: _unextended(entry) for key, entry in entries.items()}
    latest = {ttl_s: _latest_end(ttl_s, now) for ttl_s in {e.ttl_s for e in entries.values()}}
    return {key: e for key, e in entries.items() if now < e.expires_at <= latest[e.ttl_s]}


def is_live(entry: CacheLedgerEntry, now: datetime) -> bool:
    """True if an entry lives."""
    return now < entry.expires_at <= _latest_end(entry.ttl_s, now)


def _unextended(entry: CacheLedgerEntry) -> CacheLedgerEntry:
    if not entry.is_extended or not entry.front_s:
        return entry
    expires_at = entry.expires_at - timedelta(seconds=entry.ttl_s - entry.front_s)
    return replace(entry, ttl_s=entry.front_s, expires_at=expires_at, is_extended=False, front_s=0)


def _latest_end(ttl_s: int, now: datetime) -> datetime:
    return now + timedelta(seconds=ttl_s) + CLOCK_SLACK


def hits(live: Mapping[str, CacheLedgerEntry], wire: Wire) -> tuple[CacheHit, ...]:
    """Every live prefix of a request, deepest first. O(blocks), the wire's hashes are looked up."""
    if not live:
        return ()
    hashes, ends, found = wire.hashes, wire.ends, []
    count = len(hashes)
    for prefix in set(live).intersection(hashes):
        entry = live[prefix]
        place = bisect_left(ends, entry.tokens)  # where it ends, as long as tokens are counted alike
        if place == count or hashes[place] != prefix:
            place = hashes.index(prefix)
        until, front_s = entry.expires_at, entry.front_s
        found.append(
            CacheHit(
                index=place,
                tokens=ends[place],
                ttl_s=entry.ttl_s,
                prefix_hash=prefix,
                is_extended=entry.is_extended,
                expires_at=until,
                front_s=front_s,
            )
        )
    found.sort(key=_INDEX, reverse=True)
    return tuple(found)


def predict(found: tuple[CacheHit, ...], wire: Wire, marks: Iterable[int], prices: CachePrices) -> CacheHit:
    """Predict what marks at these blocks will read: the deepest entry within the lookback of one of them.

    A breakpoint looks back at nothing: it reads the entry that ends where it stands.

    Source: Anthropic "Prompt caching", lookback of 20 positions, the mark's own first (read 2026-08, 2026-10); OpenAI
    "Prompt caching", explicit mode: only explicit breakpoints are looked up (read 2026-10).
    """
    places = [mark for mark in marks if wire.ends[mark] >= prices.minimum_tokens]
    if prices.mechanism is Mechanism.BREAKPOINTS:
        return next((hit for hit in found if hit.index in places), NO_HIT)
    for hit in found:
        for mark in places:
            distance = wire.positions[mark] - wire.positions[hit.index]
            if hit.index <= mark and (not prices.lookback or distance < prices.lookback):
                return hit
    return NO_HIT


def record(
    ledger: CacheLedger, scope: LedgerScope, plan: CachePlan, started_at: datetime, discussion_id: str
) -> CacheLedger:
    """Note what a request wrote and renewed, when its answer begins. Entries that are dead by then are forgotten.

    Args:
        started_at: start of the request: lifetimes count from there.
    """
    entries = dict(live_entries(ledger, scope, started_at))
    hit = entries.get(plan.hit_hash)
    renewed = (
        [PlannedWrite(prefix_hash=hit.prefix_hash, tokens=hit.tokens, ttl_s=hit.ttl_s)]
        if hit is not None
        else []
    )
    for write in (*renewed, *plan.writes):
        known = entries.get(write.prefix_hash)
        ttl_s = known.ttl_s if known is not None else write.ttl_s
        expires_at = started_at + timedelta(seconds=ttl_s)
        if known is not None and known.name:
            expires_at = known.expires_at  # what is stored under a name is not renewed by use
        is_extended = known.is_extended if known is not None else write.is_extended
        is_unsure = known.is_unsure if known is not None else write.is_unsure
        front_s = known.front_s if known is not None else write.front_s
        name = known.name if known is not None else ""
        entries[write.prefix_hash] = CacheLedgerEntry(
            prefix_hash=write.prefix_hash,
            tokens=write.tokens,
            ttl_s=ttl_s,
            expires_at=expires_at,
            discussion_id=discussion_id,
            is_extended=is_extended,
            name=name,
            is_unsure=is_unsure,
            front_s=front_s,
        )
    return replace(ledger, entries={**ledger.entries, scope: entries})


def correct(
    ledger: CacheLedger,
    scope: LedgerScope,
    wire: Wire,
    plan: CachePlan,
    usage: Usage,
    provider: str,
    discussion_id: str = "",
    at: datetime | None = None,
) -> Correction:
    """Hold the ledger against what a provider reports. The provider is right.

    Args:
        wire: of the request; plan: what was expected of it; provider: its name, for the sentence.
        discussion_id: whose request it was; at: its start; both are kept as evidence.

    Returns:
        The ledger without the entries that the report disproves, and why. A report without cache fields says
        nothing and changes nothing. What was expected is estimated, what is reported is counted: the input of
        the same report tells by how much the estimate is off, so that this is not taken for a miss.
    """
    reported = usage.cache_read_tokens
    if reported is None:
        return Correction(ledger=ledger)
    scale = scale_of(wire, usage)
    expected = round(plan.read_tokens * scale)
    slack = max(_TOLERANCE_TOKENS, _TOLERANCE * expected)
    if reported >= expected - slack:
        if plan.tests_extension:
            ledger = with_extension(
                ledger, ExtensionEvidence(provider=scope.provider, model=scope.model, kept=1)
            )
        ledger = _read_once(ledger, scope, plan.hit_hash) if expected else ledger
        return _check_writes(ledger, scope, plan, usage, provider)
    entries = dict(ledger.entries.get(scope, {}))
    written = {write.prefix_hash for write in plan.writes} - {plan.hit_hash}
    was_written = bool(usage.cache_write_tokens or 0)
    dropped = [
        entries.pop(prefix)
        for prefix, end in zip(wire.hashes, wire.ends, strict=True)
        if prefix in entries and end * scale > reported + slack and not (prefix in written and was_written)
    ]
    if was_written and not reported:  # whole, whatever it was expected to stand behind
        for prefix in written & entries.keys():
            entries[prefix] = replace(entries[prefix], is_extended=False, front_s=0)
    why = retold(usage.miss_reason) or tr("the provider gave no reason")
    reason = tr(
        "{provider} read {reported:,} tokens from its cache instead of about {expected:,}: {why}.",
        provider=provider,
        reported=reported,
        expected=expected,
        why=why,
    )
    corrected = replace(ledger, entries={**ledger.entries, scope: entries})
    if plan.tests_extension:
        lost = ExtensionEvidence(
            provider=scope.provider,
            model=scope.model,
            kept=0,
            lost=1,
            at=at,
            discussion_id=discussion_id,
            expected_tokens=expected,
            read_tokens=reported,
        )
        corrected = with_extension(corrected, lost)
    return Correction(ledger=corrected, dropped=tuple(dropped), reason=reason)


def _read_once(ledger: CacheLedger, scope: LedgerScope, prefix_hash: str) -> CacheLedger:
    """An entry was read: it is there for sure."""
    entries = ledger.entries.get(scope, {})
    entry = entries.get(prefix_hash)
    if entry is None or not entry.is_unsure:
        return ledger
    known = {**entries, prefix_hash: replace(entry, is_unsure=False)}
    return replace(ledger, entries={**ledger.entries, scope: known})


def scale_of(wire: Wire, usage: Usage) -> float:
    """The vendor's tokens over ours for the same request, 1 where either is not known."""
    return usage.input_tokens / wire.total_tokens if usage.input_tokens and wire.total_tokens else 1.0


def rests_on_extension(hit: CacheHit, short_ttl_s: int, now: datetime) -> bool:
    """True if a hit lives only if a long mark behind a short-lived one keeps the whole prefix.

    Args:
        short_ttl_s: the shortest lifetime on offer: until then it lives in any case.
    """
    if not hit.is_extended or hit.expires_at is None:
        return False
    used_at = hit.expires_at - timedelta(seconds=hit.ttl_s)
    return now - used_at > timedelta(seconds=short_ttl_s) + CLOCK_SLACK


def with_extension(ledger: CacheLedger, seen: ExtensionEvidence) -> CacheLedger:
    """Remember whether with this model a long mark behind a short-lived hit kept the prefix: counts are added up."""
    key = (seen.provider, seen.model)
    return replace(ledger, extensions={**ledger.extensions, key: _added(ledger.extensions.get(key), seen)})


def can_extend(ledger: CacheLedger, provider: str, model: str) -> bool:
    """True if a long mark behind a short-lived hit is counted on. One miss ends that.

    But a model that was seen to keep such prefixes often is not distrusted for one of many.
    """
    known = ledger.extensions.get((provider, model))
    return known is None or known.lost <= known.kept * _LOST_OF_KEPT


def lifted_s(prices: CachePrices, ledger: CacheLedger) -> int:
    """Lifetime that a mark behind a shorter-lived entry gives the whole prefix with a model, 0 where it gives none."""
    if prices.mechanism is not Mechanism.MARKS or not can_extend(ledger, prices.provider, prices.model):
        return 0
    return max((offer.ttl_s for offer in prices.writes), default=0)


def lost_extensions(ledger: CacheLedger) -> tuple[ExtensionEvidence, ...]:
    """Models with which long marks behind short-lived hits are not counted on, with the evidence."""
    pairs = sorted(pair for pair in ledger.extensions if not can_extend(ledger, *pair))
    return tuple(ledger.extensions[pair] for pair in pairs)


def _added(known: ExtensionEvidence | None, seen: ExtensionEvidence) -> ExtensionEvidence:
    if known is None:
        return seen
    newest = seen if seen.at is not None and (known.at is None or seen.at >= known.at) else known
    return replace(newest, kept=known.kept + seen.kept, lost=known.lost + seen.lost)


def forget_discussion(ledger: CacheLedger, discussion_id: str) -> CacheLedger:
    """Drop what a discussion wrote or used last (its cache was invalidated, or it was deleted)."""
    kept = {
        scope: {key: e for key, e in entries.items() if e.discussion_id != discussion_id}
        for scope, entries in ledger.entries.items()
    }
    return replace(ledger, entries={scope: entries for scope, entries in kept.items() if entries})


def drop_named(ledger: CacheLedger, names: Collection[str]) -> CacheLedger:
    """Drop stored contents that are gone, by their names."""
    kept = {
        scope: {key: e for key, e in entries.items() if not (e.name and e.name in names)}
        for scope, entries in ledger.entries.items()
    }
    return replace(ledger, entries={scope: entries for scope, entries in kept.items() if entries})


def adopt(ledger: CacheLedger, scope: LedgerScope, content: StoredContent, discussion_id: str) -> CacheLedger:
    """Note a content that a provider was found to store. Where its prefix is known, its scope is that entry's."""
    prefix = content.prefix_hash
    where = next((found for found, entries in ledger.entries.items() if prefix in entries), scope)
    entries = ledger.entries.get(where, {})
    entry = CacheLedgerEntry(
        prefix_hash=prefix,
        tokens=content.tokens,
        ttl_s=life_s(content),
        expires_at=content.expires_at,
        discussion_id=discussion_id,
        name=content.name,
    )
    return replace(ledger, entries={**ledger.entries, where: {**entries, prefix: entry}})


def extended(ledger: CacheLedger, content: StoredContent) -> CacheLedger:
    """Note that a content lives for longer, wherever it is known."""
    ttl_s = life_s(content)
    entries = {
        scope: {
            key: replace(e, ttl_s=ttl_s, expires_at=content.expires_at) if e.name == content.name else e
            for key, e in found.items()
        }
        for scope, found in ledger.entries.items()
    }
    return replace(ledger, entries=entries)


def life_s(content: StoredContent) -> int:
    """Seconds from its making to its end: at least as long as it can still live."""
    return max(1, math.ceil((content.expires_at - content.created_at).total_seconds()))


def of_discussion(ledger: CacheLedger, discussion_id: str) -> CacheLedger:
    """The part of a ledger that a discussion's `cache.json` keeps."""
    kept = {
        scope: {key: e for key, e in entries.items() if e.discussion_id == discussion_id}
        for scope, entries in ledger.entries.items()
    }
    return CacheLedger({scope: entries for scope, entries in kept.items() if entries})


def merge(ledgers: Iterable[CacheLedger]) -> CacheLedger:
    """Put the discussions' parts together; of an entry that two hold, the later expiry counts."""
    entries: dict[LedgerScope, dict[str, CacheLedgerEntry]] = {}
    extensions: dict[tuple[str, str], ExtensionEvidence] = {}
    for ledger in ledgers:
        for pair, seen in ledger.extensions.items():
            known = extensions.get(pair)
            if known is None or (seen.lost, seen.kept) > (known.lost, known.kept):
                extensions[pair] = seen
        for scope, found in ledger.entries.items():
            held = entries.setdefault(scope, {})
            for key, entry in found.items():
                if key not in held or held[key].expires_at < entry.expires_at:
                    held[key] = entry
    return CacheLedger(dict(entries), extensions)


def renewed(ledger: CacheLedger, there: CacheLedger) -> CacheLedger:
    """Take the later lifetimes of entries that both hold from another program's part. What it alone holds was dropped here."""

    def later(scope: LedgerScope, key: str, entry: CacheLedgerEntry) -> CacheLedgerEntry:
        other = there.entries.get(scope, {}).get(key, entry)
        if other.expires_at <= entry.expires_at:
            return entry
        return replace(
            entry,
            ttl_s=other.ttl_s,
            expires_at=other.expires_at,
            is_extended=other.is_extended,
            front_s=other.front_s,
        )

    entries = {
        scope: {key: later(scope, key, entry) for key, entry in found.items()}
        for scope, found in ledger.entries.items()
    }
    return replace(ledger, entries=entries)


def _check_writes(
    ledger: CacheLedger, scope: LedgerScope, plan: CachePlan, usage: Usage, provider: str
) -> Correction:
    """Marks were sent and the provider neither read nor wrote: it holds nothing (a prefix under its minimum)."""
    is_silent = usage.cache_read_tokens == 0 and usage.cache_write_tokens == 0
    if not (is_silent and plan.write_tokens > 0):
        return Correction(ledger=ledger)
    entries = dict(ledger.entries.get(scope, {}))
    dropped = [entries.pop(w.prefix_hash) for w in plan.writes if w.prefix_hash in entries]
    reason = tr(
        "{provider} cached none of the {write_tokens:,} tokens before the breakpoints.",
        provider=provider,
        write_tokens=plan.write_tokens,
    )
    return Correction(
        ledger=replace(ledger, entries={**ledger.entries, scope: entries}),
        dropped=tuple(dropped),
        reason=reason,
    )
