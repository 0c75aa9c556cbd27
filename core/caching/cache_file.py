"""`cache.json` of a discussion: what providers hold for it, kept over a restart. A cache: its loss costs money only."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from core.base import paths
from core.base.disk import OS_DISK, Disk, write_file
from core.base.json_text import read_json
from core.base.opener import read_file, reason_of
from core.base.text import size_bytes
from core.discussion.log_codec import from_json_value, to_json_value
from core.providers.usage import MOST_TOKENS
from core.values.cache import (
    Balance,
    CacheLedger,
    CacheLedgerEntry,
    DiscussionCache,
    DiscussionCacheState,
    ExtensionEvidence,
    LedgerScope,
    SentKnowledge,
    StoredRent,
    TurnGap,
)
from core.values.rent import OwedRent
from core.values.stack import ToolSchema

FORMAT = 1
KEPT_ENTRIES = 64
MOST_OFFERED_BYTES = 2_000_000
"""Of the tools of servers that are kept: a set that is larger is offered as it is approved after a restart."""
_LONGEST_S = 366 * 86_400
"""Longer is no lifetime of a cache, whatever it is."""
_MAX_BYTES = 4_000_000


class LoadedCache(msgspec.Struct, frozen=True):
    """Content of a `cache.json` as loaded.

    Args:
        problem: why it could not be read, in a sentence; the cache is then empty, and the next request misses.
    """

    cache: DiscussionCache = msgspec.field(default_factory=DiscussionCache)
    problem: str = ""


class _Row(msgspec.Struct, frozen=True):
    """An entry with its scope, as the file holds it."""

    scope: LedgerScope
    entry: CacheLedgerEntry


class _File(msgspec.Struct, frozen=True):
    format: int
    epoch: int
    rows: tuple[_Row, ...]
    gaps: tuple[TurnGap, ...] = ()
    state: DiscussionCacheState | None = None
    last_turn_at: datetime | None = None
    sent: SentKnowledge | None = None
    mode: str = ""
    changed: int = 0
    rents: tuple[StoredRent, ...] = ()
    turns: int | None = None
    balance: Balance = Balance()
    offered: tuple[ToolSchema, ...] | None = None
    owed: tuple[OwedRent, ...] = ()
    gaps_s: tuple[float, ...] = ()
    """Of files from before the hours of gaps were kept."""
    cannot_extend: tuple[LedgerScope, ...] = ()
    """Of files from before this was kept for all discussions, in `caching.json`."""


def cache_file(home: Path, discussion_id: str) -> Path:
    """Path of a discussion's `cache.json`.

    Raises:
        StorageError: the id is no name for a directory.
    """
    return paths.discussion_dir(home, discussion_id) / paths.CACHE_FILE


def load_cache(home: Path, discussion_id: str) -> LoadedCache:
    """Read a discussion's `cache.json`. Never fails: a missing file is an empty cache, a bad one says why.

    Raises:
        StorageError: the id is no name for a directory.
    """
    path = cache_file(home, discussion_id)
    try:
        data = read_file(path, _MAX_BYTES)
    except FileNotFoundError:
        return LoadedCache()
    except OSError as error:
        return LoadedCache(problem=f"What was known of the cache could not be read: {reason_of(error)}.")
    return decode_cache(data, discussion_id)


def save_cache(home: Path, discussion_id: str, cache: DiscussionCache, *, disk: Disk = OS_DISK) -> None:
    """Replace a discussion's `cache.json`, whole or not at all.

    Raises:
        StorageError: it could not be written; the old file stands.
    """
    write_file(cache_file(home, discussion_id), encode_cache(cache), disk=disk)


def encode_cache(cache: DiscussionCache) -> bytes:
    """The file's bytes: canonical JSON, ended by LF. Of more than 64 entries those that live longest are kept."""
    rows = [_Row(scope, entry) for scope, found in cache.ledger.entries.items() for entry in found.values()]
    rows.sort(key=lambda row: (row.entry.expires_at, row.entry.prefix_hash), reverse=True)
    file = _File(
        format=FORMAT,
        epoch=cache.epoch,
        rows=tuple(rows[:KEPT_ENTRIES]),
        gaps=possible_gaps(cache.gaps),
        state=cache.state,
        last_turn_at=cache.last_turn_at,
        sent=cache.sent,
        mode=cache.mode,
        changed=cache.changed,
        rents=cache.rents,
        turns=cache.turns,
        balance=_possible_balance(cache.balance),
        offered=_bounded(cache.offered),
        owed=cache.owed,
    )
    try:
        return msgspec.json.encode(file, order="sorted") + b"\n"
    except (UnicodeEncodeError, OverflowError):  # half a character in a name, a figure without bounds
        return canonical(file)


def decode_cache(data: bytes, discussion_id: str) -> LoadedCache:
    """Read the file's bytes, any bytes. Entries of another discussion, or with impossible figures, are left out."""
    try:
        file = from_json_value(_File, parsed(data))
    except (ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0][:120]
        return LoadedCache(
            problem=f"What was known of the cache was dropped: the file cannot be read ({reason})."
        )
    if file.format != FORMAT:
        text = f"What was known of the cache was dropped: its file has format {file.format}, not {FORMAT}."
        return LoadedCache(problem=text)
    entries: dict[LedgerScope, dict[str, CacheLedgerEntry]] = {}
    for row in file.rows:
        if _is_possible(row.entry) and row.entry.discussion_id == discussion_id:
            entries.setdefault(row.scope, {})[row.entry.prefix_hash] = row.entry
    state = file.state if file.state is not None and file.state.discussion_id == discussion_id else None
    pairs = {
        (s.provider, s.model): ExtensionEvidence(s.provider, s.model, lost=1) for s in file.cannot_extend
    }
    gaps = possible_gaps((*map(TurnGap, file.gaps_s), *file.gaps))
    rents = tuple(rent for rent in file.rents if rent.name and 0 <= rent.tokens <= MOST_TOKENS)
    turns = file.turns
    if turns is None:
        turns = len(gaps) + (file.last_turn_at is not None)
    return LoadedCache(
        DiscussionCache(
            state=state,
            ledger=CacheLedger(dict(entries), pairs),
            epoch=max(0, file.epoch),
            gaps=gaps,
            last_turn_at=file.last_turn_at,
            sent=file.sent,
            mode=file.mode,
            changed=max(0, file.changed),
            rents=rents,
            turns=max(0, turns),
            balance=_possible_balance(file.balance),
            in_habits=file.turns is not None,
            offered=file.offered,
            owed=tuple(one for one in file.owed if one.record_id and 0 <= one.cost_usd < math.inf),
        )
    )


def possible_gaps(gaps: Iterable[TurnGap]) -> tuple[TurnGap, ...]:
    """Those that can have been."""
    return tuple(gap for gap in gaps if 0 <= gap.seconds < math.inf and 0 <= gap.ended_s < math.inf)


def canonical(file: msgspec.Struct) -> bytes:
    """Canonical JSON, ended by LF."""
    text = json.dumps(to_json_value(file), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"{text}\n".encode("utf-8", "replace")


def _bounded(offered: tuple[ToolSchema, ...] | None) -> tuple[ToolSchema, ...] | None:
    texts = (text for one in offered or () for text in (one.name, one.description, one.parameters_json))
    return offered if sum(size_bytes(text) for text in texts) <= MOST_OFFERED_BYTES else None


def _possible_balance(balance: Balance) -> Balance:
    is_possible = math.isfinite(balance.saved) and balance.largest_tokens >= 0
    return balance if is_possible else Balance()


def parsed(data: bytes) -> Any:
    """JSON, figures that are none as null. Raises ValueError, RecursionError."""
    return read_json(data.decode("utf-8"), parse_constant=lambda _: None)


def _is_possible(entry: CacheLedgerEntry) -> bool:
    return bool(entry.prefix_hash) and 0 <= entry.tokens <= MOST_TOKENS and 0 < entry.ttl_s <= _LONGEST_S
