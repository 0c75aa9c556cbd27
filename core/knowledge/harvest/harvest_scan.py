"""Looks for conversations on disk and says what they are; reads, and changes nothing."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import reported
from core.kernel.language import tr, words_of
from core.kernel.opener import open_file, read_file, read_start, reason_of
from core.kernel.patterns import late
from core.kernel.values.harvest import Artifact, ArtifactClass, ArtifactFacts
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.knowledge import LedgerStatus
from core.kernel.values.records import IMPORTED, MarkRecord
from core.knowledge.categories import source_name
from core.knowledge.harvest.modes import LIVE_FOR, MAX_HARVEST_SOURCE_BYTES, classify
from core.knowledge.harvest.transcript_sources import messages_of, sent_share
from core.knowledge.ledger import HarvestLedger, SourceHash
from core.talk.discussion import log_codec
from core.talk.discussion.discussion_meta import read_meta
from core.talk.discussion.reply_journal import has_journal
from core.talk.transcripts.transcript_reader import SHAPE_BYTES, recognised

MAX_SOURCES = 100_000
STAGING_AGE = timedelta(hours=1)

_TAIL_BYTES = 4_096
_HASHERS = 2
_EMPTY_BYTES = 16 * 1024
_MESSAGE = b'"type":"message"'
_DATED = late(r"(\d{4})-(\d{2})-(\d{2})[_T ]?[\d-]*Z?[-_ ]*(.*)")

Progress = Callable[[int, int, str], None]
"""Told how many conversations of how many are done, and the name of the one in work, empty where several are.

Of 0 while they are still being found. What it raises ends the run: HarvestCancelledError where the person stopped it.
"""


def no_progress(_done: int, _total: int, _doing: str) -> None:
    """For who does not want to know."""


class ScanRequest(msgspec.Struct, frozen=True):
    """Request for a look at the disk.

    Args:
        home: its discussions are looked at, always; sources: further files and folders, never reclaimed.
        open_ids: discussions that a window has open.
        live_for, max_bytes: as for `classify`.
    """

    home: Path
    now: datetime
    sources: tuple[Path, ...] = ()
    open_ids: frozenset[str] = frozenset()
    live_for: timedelta = LIVE_FOR
    max_bytes: int = MAX_HARVEST_SOURCE_BYTES

    def classified(self, facts: ArtifactFacts) -> Artifact:
        """A conversation with its class."""
        return classify(facts, self.now, live_for=self.live_for, max_bytes=self.max_bytes)


def scan(
    request: ScanRequest, ledger: HarvestLedger, on_progress: Progress = no_progress
) -> tuple[Artifact, ...]:
    """Find every conversation and give it its class. Only those that may be harvested or pruned are read.

    Args:
        ledger: read on this thread only; on_progress: called on this thread.

    Returns:
        Those of the home by id, then the other sources by path.

    Raises:
        ConfigError: the ledger does not parse. StorageError: it cannot be read.
    """
    found: list[ArtifactFacts] = []
    for facts in chain(_discussions(request), _foreign(request.sources)):
        found.append(facts)
        on_progress(0, 0, "")
    todo = [(facts, _lengths(facts, request, ledger)) for facts in found]
    made: list[Artifact] = []
    with ThreadPoolExecutor(_HASHERS) as pool:
        for facts, source in pool.map(_looked_into, todo):
            known = facts if source is None else with_ledger(facts, source, ledger)
            made.append(request.classified(known))
            on_progress(len(made), len(found), "")
    return tuple(made)


def look_again(facts: ArtifactFacts, ledger: HarvestLedger) -> tuple[ArtifactFacts, bytes]:
    """Read a conversation anew, before it is distilled or reclaimed.

    Returns:
        The facts with its hash and what the ledger says of it now, and its bytes.

    Raises:
        StorageError: it cannot be read, or the ledger cannot.
    """
    lengths = ledger.harvested_lengths(facts.path, facts.size_bytes)
    path = Path(facts.path)
    with reported("read", path):
        data = read_file(path, None) if path.exists() or not facts.is_empty else b""
    said_last, _ = imported_mark(data[-_TAIL_BYTES:]) if facts.id else (None, "")
    changed = facts.updated_at if said_last else max(facts.updated_at, _stat(path)[1] or facts.updated_at)
    looked, source = _with_content(replace(facts, updated_at=changed), data, lengths)
    return with_ledger(looked, source, ledger), data


def with_ledger(facts: ArtifactFacts, source: SourceHash, ledger: HarvestLedger) -> ArtifactFacts:
    """The facts with what the ledger says of exactly these bytes, or of the run that they begin with."""
    entry = ledger.get(source.sha256)
    is_back = entry is not None and entry.deleted and entry.path == facts.path
    is_unread = entry is not None and entry.status is LedgerStatus.DELETED_UNHARVESTED
    if entry is not None and entry.allows_reclaim and not (is_back and is_unread):
        return replace(
            facts, known_status=entry.status.value, new_bytes=0, is_restored=is_back, is_kept=entry.kept
        )
    return replace(facts, known_status="", new_bytes=facts.size_bytes - ledger.harvested_prefix(source))


_Todo = tuple[ArtifactFacts, tuple[int, ...] | None]


def _lengths(facts: ArtifactFacts, request: ScanRequest, ledger: HarvestLedger) -> tuple[int, ...] | None:
    """Lengths that a conversation may have had at an earlier harvest; None where it need not be read."""
    first = request.classified(facts)
    if (
        first.kind not in {ArtifactClass.HARVEST, ArtifactClass.PRUNE}
        or facts.kind is TranscriptKind.TEMPORARY
    ):
        return None
    return ledger.harvested_lengths(facts.path, facts.size_bytes)


def _looked_into(todo: _Todo) -> tuple[ArtifactFacts, SourceHash | None]:
    """Read and hash one conversation. On a thread of the pool; hashing lets go of the interpreter."""
    facts, lengths = todo
    if lengths is None:
        return facts, None
    try:
        data = read_file(facts.path, None) if facts.size_bytes else b""
    except OSError as error:
        return replace(facts, problem=tr("cannot be read: {error}", error=reason_of(error))), None
    return _with_content(facts, data, lengths)


def _with_content(
    facts: ArtifactFacts, data: bytes, lengths: tuple[int, ...]
) -> tuple[ArtifactFacts, SourceHash]:
    prefixes = {n: hashlib.sha256(memoryview(data)[:n]).hexdigest() for n in lengths if n < len(data)}
    source = SourceHash(sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data), prefixes=prefixes)
    share = sent_share(facts.kind, data)
    made = replace(facts, sha256=source.sha256, size_bytes=len(data), new_bytes=len(data), sent_share=share)
    return _with_emptiness(made, data), source


def _with_emptiness(facts: ArtifactFacts, data: bytes) -> ArtifactFacts:
    """Facts that say whether it is empty. A log without a single message of ours is not called empty when
    lines are foreign.
    """
    if facts.kind is not TranscriptKind.DISCUSSION or (len(data) > _EMPTY_BYTES and _MESSAGE in data):
        return facts
    try:
        return replace(facts, is_empty=not messages_of(facts.kind, data))
    except ValueError as error:
        return replace(facts, problem=words_of(error))


def _discussions(request: ScanRequest) -> Iterator[ArtifactFacts]:
    root = paths.discussions_dir(request.home)
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            yield from _staging(entry, request.now)
        elif not entry.is_dir(follow_symlinks=False) or not paths.is_directory_name(entry.name):
            yield _unknown(Path(entry.path))
        else:
            yield _discussion(request, Path(entry.path), entry.name)


def _discussion(request: ScanRequest, folder: Path, discussion_id: str) -> ArtifactFacts:
    log = folder / paths.LOG_FILE
    meta = read_meta(request.home, discussion_id).meta
    log_size, log_time = _stat(log)
    said_last, origin = _imported(log, log_size)
    times = [said_last] if said_last is not None else [log_time, _stat(folder / paths.META_FILE)[1]]
    unsent = (paths.DRAFT_FILE, paths.DRAFT_ATTACHMENTS_FILE, paths.QUEUE_FILE)
    drafts = [_stat(folder / name) for name in unsent]
    has_reply = has_journal(folder)
    seen = [time for time in (*times, *(at for _, at in drafts)) if time is not None]
    facts = ArtifactFacts(
        id=discussion_id,
        path=str(log),
        name=source_name(meta.created_at, meta.name),
        title=meta.name,
        kind=TranscriptKind.DISCUSSION if seen else TranscriptKind.UNKNOWN,
        size_bytes=log_size,
        updated_at=max(seen, default=meta.created_at),
        is_open=discussion_id in request.open_ids or has_reply,
        is_pinned=meta.pinned,
        has_draft=any(size for size, _ in drafts),
        new_bytes=log_size,
        folder=meta.folder,
        origin=origin,
    )
    return replace(facts, is_empty=True) if log_size == 0 and seen else facts


def _imported(log: Path, size: int) -> tuple[datetime | None, str]:
    """As `imported_mark`, of a log."""
    try:
        with open_file(log) as file:
            file.seek(max(0, size - _TAIL_BYTES))
            return imported_mark(file.read(_TAIL_BYTES))
    except OSError:
        return None, ""


def imported_mark(tail: bytes) -> tuple[datetime | None, str]:
    """Time of the last word of a talk that an import made and nobody went on with, and what it says of its origin.

    Such a talk is as old as its last word, not as the import: who imports a backlog can harvest it at once.

    Args:
        tail: the end of the log.

    Returns:
        None and an empty text where the log does not end with an import.
    """
    last = tail.rstrip(b"\n").rpartition(b"\n")[2]
    if b'"imported"' not in last:
        return None, ""
    record = log_codec.decode(last, 1)
    if not isinstance(record, MarkRecord) or record.kind != IMPORTED:
        return None, ""
    return record.at, record.text


def _staging(entry: os.DirEntry[str], now: datetime) -> Iterator[ArtifactFacts]:
    """Leftovers that a killed process left half made; other hidden names belong to others and stay."""
    if not (entry.name.startswith(".new-") and entry.name.endswith(".tmp")):
        return
    _, at = _stat(Path(entry.path))
    if at is not None and now - at > STAGING_AGE:
        size = sum(_stat(path)[0] for path in Path(entry.path).rglob("*") if path.is_file())
        yield ArtifactFacts(
            id="",
            path=entry.path,
            name=entry.name,
            kind=TranscriptKind.TEMPORARY,
            size_bytes=size,
            updated_at=at,
        )


def _foreign(sources: Iterable[Path]) -> Iterator[ArtifactFacts]:
    seen: set[Path] = set()
    for source in sources:
        for path in _files(source):
            if path not in seen and len(seen) < MAX_SOURCES:
                seen.add(path)
                yield _foreign_facts(path, is_named=path == source)


def _files(source: Path) -> Iterator[Path]:
    """The files of a source in a fixed order; links are not followed, hidden folders are passed over."""
    if not source.is_dir():
        yield source
        return
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (
            path for name in sorted(names) if (path := Path(folder, name)).is_file() and not path.is_symlink()
        )


def _foreign_facts(path: Path, *, is_named: bool) -> ArtifactFacts:
    """Facts of another program's file. A text file counts as a conversation where it is named itself, as for an import."""
    size, at = _stat(path)
    problem, kind = "", TranscriptKind.UNKNOWN
    try:
        kind = recognised(read_start(path, SHAPE_BYTES), path.name if is_named else "")
    except OSError as error:
        problem = tr("cannot be read: {error}", error=reason_of(error))
    changed = at or datetime.fromtimestamp(0, UTC)
    return ArtifactFacts(
        id="",
        path=str(path),
        name=foreign_name(path.stem, changed),
        kind=kind,
        size_bytes=size,
        updated_at=changed,
        title=path.name,
        new_bytes=size,
        problem=problem,
    )


def foreign_name(stem: str, changed: datetime) -> str:
    """The source's name for provenance: the date that the file's name starts with, else that of its last change."""
    match = _DATED.fullmatch(stem)
    if match is not None:
        with suppress(ValueError):
            return source_name(datetime(int(match[1]), int(match[2]), int(match[3]), tzinfo=UTC), match[4])
    return source_name(changed, stem)


def _unknown(path: Path) -> ArtifactFacts:
    size, at = _stat(path)
    changed = at or datetime.fromtimestamp(0, UTC)
    return ArtifactFacts(
        id="",
        path=str(path),
        name=path.name,
        kind=TranscriptKind.UNKNOWN,
        size_bytes=size,
        updated_at=changed,
        title=path.name,
    )


def _stat(path: Path) -> tuple[int, datetime | None]:
    try:
        found = path.stat()
    except OSError:
        return 0, None
    return found.st_size, datetime.fromtimestamp(found.st_mtime, UTC)
