"""`cache.json` of a discussion: what providers hold for it, kept over a restart. A cache: its loss costs money only."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.codecs import canonical_json, read_json, to_json
from core.kernel.disk import OS_DISK, Disk, discussion_lock, write_file
from core.kernel.frame import size_bytes
from core.kernel.language import tr
from core.kernel.opener import read_file, reason_of
from core.kernel.values.cache import (
    Balance,
    CacheLedger,
    CacheLedgerEntry,
    DiscussionCache,
    DiscussionCacheState,
    ExtensionEvidence,
    Habits,
    LedgerScope,
    OwedRent,
    SentKnowledge,
    StoredRent,
    Talk,
    TurnGap,
)
from core.kernel.values.records import ViewRecord
from core.kernel.values.stack import ToolSchema
from core.services.providers.door import MOST_TOKENS
from core.talk.caching.cache_ledger import merge
from core.talk.caching.economy import KEPT_TALKS
from core.talk.discussion import log as store_log
from core.talk.discussion.log import is_booked
from core.talk.discussion.log_codec import from_json_value, to_json_value

FORMAT = 1
KEPT_ENTRIES = 64
MOST_OFFERED_BYTES = 2_000_000
"""Bytes of servers' tools that are kept: a larger set is offered as it is approved after a restart."""
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
    """Read from files that were written before the hours of gaps were kept."""
    cannot_extend: tuple[LedgerScope, ...] = ()
    """Read from files that were written before `caching.json` kept this for all discussions."""


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
        return LoadedCache(
            problem=tr("The program could not read its cache record: {error}.", error=reason_of(error))
        )
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
        return to_json(file, order="sorted") + b"\n"
    except (UnicodeEncodeError, OverflowError):  # half a character in a name, a figure without bounds
        return canonical(file)


def decode_cache(data: bytes, discussion_id: str) -> LoadedCache:
    """Read the file's bytes, any bytes. Entries of another discussion, or with impossible figures, are left out."""
    try:
        file = from_json_value(_File, parsed(data))
    except (ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0][:120]
        return LoadedCache(
            problem=tr(
                "The program dropped its cache record: the file is unreadable ({reason}).", reason=reason
            )
        )
    if file.format != FORMAT:
        text = tr(
            "The program dropped its cache record: the file has format {format}, not {FORMAT}.",
            format=file.format,
            FORMAT=FORMAT,
        )
        return LoadedCache(problem=text)
    entries: dict[LedgerScope, dict[str, CacheLedgerEntry]] = {}
    for row in file.rows:
        if _is_possible(row.entry) and row.entry.discussion_id == discussion_id:
            entries.setdefault(row.scope, {})[row.entry.prefix_hash] = row.entry
    state = file.state if file.state is not None and file.state.discussion_id == discussion_id else None
    pairs = {
        (s.provider, s.model): ExtensionEvidence(provider=s.provider, model=s.model, lost=1)
        for s in file.cannot_extend
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
    text = canonical_json(to_json_value(file))
    return f"{text}\n".encode("utf-8", "replace")


def _bounded(offered: tuple[ToolSchema, ...] | None) -> tuple[ToolSchema, ...] | None:
    texts = (text for one in offered or () for text in (one.name, one.description, one.parameters_json))
    return offered if sum(size_bytes(text) for text in texts) <= MOST_OFFERED_BYTES else None


def _possible_balance(balance: Balance) -> Balance:
    is_possible = math.isfinite(balance.saved) and balance.largest_tokens >= 0
    return balance if is_possible else Balance()


def parsed(data: bytes) -> Any:
    """JSON, with null for infinite figures and for "not a number". Raises ValueError, RecursionError."""
    return read_json(data.decode("utf-8"), parse_constant=lambda _: None)


def _is_possible(entry: CacheLedgerEntry) -> bool:
    return bool(entry.prefix_hash) and 0 <= entry.tokens <= MOST_TOKENS and 0 < entry.ttl_s <= _LONGEST_S


# `caching.json` of a home: what was learned of the person's gaps and of models, kept when discussions are
# deleted.


class Learned(msgspec.Struct, frozen=True):
    """Content of the file.

    Args:
        extensions: by provider and model, as in `CacheLedger`.
        problem: why it could not be read, in a sentence; it is then learned anew.
        answered: providers and models that were seen to answer.
    """

    habits: Habits = msgspec.field(default_factory=Habits)
    extensions: Mapping[tuple[str, str], ExtensionEvidence] = msgspec.field(default_factory=dict)
    problem: str = ""
    answered: frozenset[tuple[str, str]] = frozenset()

    @property
    def ledger(self) -> CacheLedger:
        """The extensions as a ledger without entries."""
        return CacheLedger(extensions=self.extensions)


class _LearnedRow(msgspec.Struct, frozen=True):
    """A discussion's length, as the file holds it."""

    discussion_id: str
    talk: Talk


class _LearnedFile(msgspec.Struct, frozen=True):
    format: int
    own: tuple[TurnGap, ...]
    shared: tuple[TurnGap, ...]
    talks: tuple[_LearnedRow, ...]
    extensions: tuple[ExtensionEvidence, ...]
    answered: tuple[tuple[str, str], ...] = ()
    starts: int = 0
    strange: int = 0


def load_learned(home: Path) -> Learned:
    """Read the file. Never fails: a missing one is nothing learned, a bad one says why."""
    path = home / paths.CACHING_FILE
    try:
        return decode_learned(read_file(path, _MAX_BYTES))
    except FileNotFoundError:
        return Learned()
    except OSError as error:
        return Learned(
            problem=tr(
                "The program could not read its lessons about caching: {error}.", error=reason_of(error)
            )
        )


def save_learned(home: Path, learned: Learned) -> None:
    """Replace the file, whole or not at all.

    Raises:
        StorageError: it could not be written; the old file stands.
    """
    write_file(home / paths.CACHING_FILE, encode_learned(learned))


def encode_learned(learned: Learned) -> bytes:
    """The file's bytes: canonical JSON, ended by LF."""
    habits = learned.habits
    return canonical(
        _LearnedFile(
            format=FORMAT,
            own=possible_gaps(habits.own),
            shared=possible_gaps(habits.shared),
            talks=tuple(_LearnedRow(name, talk) for name, talk in sorted(_possible(habits.talks).items())),
            extensions=tuple(learned.extensions[pair] for pair in sorted(learned.extensions)),
            answered=tuple(sorted(learned.answered)),
            starts=habits.starts,
            strange=habits.strange,
        )
    )


def decode_learned(data: bytes) -> Learned:
    """Read the file's bytes, any bytes. Impossible figures are left out."""
    try:
        file = from_json_value(_LearnedFile, parsed(data))
    except (ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0][:120]
        return Learned(
            problem=tr(
                "The program dropped its lessons about caching: the file is unreadable ({reason}).",
                reason=reason,
            )
        )
    if file.format != FORMAT:
        text = tr(
            "The program dropped its lessons about caching: the file has format {format}, not {FORMAT}.",
            format=file.format,
            FORMAT=FORMAT,
        )
        return Learned(problem=text)
    talks = _possible({row.discussion_id: row.talk for row in file.talks})
    starts = max(0, min(file.starts, KEPT_TALKS))
    strange = max(0, min(file.strange, starts))
    habits = Habits(
        own=possible_gaps(file.own),
        shared=possible_gaps(file.shared),
        talks=talks,
        starts=starts,
        strange=strange,
    )
    return Learned(
        habits=habits, extensions=_possible_extensions(file.extensions), answered=frozenset(file.answered)
    )


def _possible(talks: Mapping[str, Talk]) -> dict[str, Talk]:
    return {name: t for name, t in talks.items() if t.turns > 0 and 0 <= t.last_s < math.inf}


def _possible_extensions(rows: Iterable[ExtensionEvidence]) -> dict[tuple[str, str], ExtensionEvidence]:
    return {(row.provider, row.model): row for row in rows if row.kept >= 0 and row.lost >= 0}


# Stores of a discussion's cache: its `cache.json`, and its log for the view.

log = logging.getLogger(__name__)


class HomeCacheStore:
    """`cache.json` and the log of each discussion of a home."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def load(self, discussion_id: str) -> DiscussionCache:
        """Never fails: what cannot be read costs one miss, and is logged."""
        loaded = load_cache(self._home, discussion_id)
        if loaded.problem:
            log.warning("%s (%s)", loaded.problem, discussion_id)
        return loaded.cache

    def mark(self, discussion_id: str) -> tuple[int, int, int] | None:
        """Time, size and inode of `cache.json`, None where there is none."""
        try:
            status = (paths.discussion_dir(self._home, discussion_id) / paths.CACHE_FILE).stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    def held(self, discussion_id: str) -> AbstractContextManager[None]:
        """Keep other programs from writing the discussion's files; a discussion that is gone needs it not. Raises SlopError."""
        directory = paths.discussion_dir(self._home, discussion_id)
        return discussion_lock(directory) if directory.is_dir() else nullcontext()

    def save(self, discussion_id: str, cache: DiscussionCache) -> None:
        """Replace `cache.json`; a discussion that is gone gets no folder anew. Raises StorageError."""
        if paths.discussion_dir(self._home, discussion_id).is_dir():
            save_cache(self._home, discussion_id, cache)

    def load_learned(self) -> Learned:
        """Never fails: what cannot be read is learned anew, and that is logged."""
        learned = load_learned(self._home)
        if learned.problem:
            log.warning("%s", learned.problem)
        return learned

    def save_learned(self, learned: Learned) -> None:
        """Replace `caching.json`; what another program learned of models meanwhile stays. Raises StorageError."""
        there = load_learned(self._home)
        both = merge((there.ledger, learned.ledger))
        answered = there.answered | learned.answered
        save_learned(self._home, replace(learned, extensions=both.extensions, answered=answered))

    def views(self, discussion_id: str) -> tuple[ViewRecord, ...]:
        """The view records of the log, in order. Raises StorageError."""
        return store_log.read_views(self._home, discussion_id)

    def is_booked(self, discussion_id: str, record_id: str) -> bool:
        """True if the log holds the record of a payment. O(bytes). Raises StorageError."""
        return is_booked(self._home, discussion_id, record_id)
