"""Entry of one discussion in the derived index: its figures and words from new lines of its log, calls that were paid."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.codecs import decoder_of, read_json
from core.kernel.frame import one_line
from core.kernel.opener import open_file
from core.kernel.patterns import late
from core.kernel.secrets import scrub, scrubbed_head
from core.kernel.values.discussion import (
    DiscussionMeta,
    DiscussionSummary,
    OpenDiscussion,
    has_last_word,
    is_partial,
)
from core.kernel.values.messages import Part, Role, TextPart, ToolCallPart
from core.kernel.values.records import (
    IMPORTED,
    ChooseRecord,
    DeleteRecord,
    EditRecord,
    MarkRecord,
    MessageRecord,
    Record,
    RequestRecord,
    RestoreRecord,
    UsageRecord,
)
from core.kernel.values.usage import UPKEEP_KINDS, PaidKind, Upkeep, Usage, UsageKind, add_usage
from core.services.spending.usage_table import pack_call
from core.talk.discussion import log
from core.talk.discussion.catalog_file import CatalogConnection
from core.talk.discussion.discussion_meta import MetaRead, read_meta
from core.talk.discussion.log_codec import ForeignLine, from_json_value, to_json_value
from core.talk.discussion.log_content import FoldedLog
from core.talk.discussion.open_calls import left_calls

# Calls that a log tells of, in order: who was paid, and for what kind of work.

PayerNumber = Callable[[str, str], int]
"""Number of a provider and its model."""


class PaidCalls:
    """Packs the calls of one log.

    Args:
        discussion: its number; mark: as of `mark` when its beginning was read, 0 for none; is_task: a model gave it.
    """

    def __init__(self, discussion: int, mark: int, number_of: PayerNumber, *, is_task: bool) -> None:
        self._discussion, self._number_of, self._is_task = discussion, number_of, is_task
        self._payer, self._with_tools = mark >> 1, bool(mark & 1)
        self._packed: list[bytes] = []

    def take(self, record: Record) -> None:
        """Read the next record."""
        if isinstance(record, RequestRecord | MessageRecord) and record.model:
            self._payer = self._number_of(record.provider, record.model)
        match record:
            case MessageRecord():
                asks = any(isinstance(part, ToolCallPart) for part in record.parts)
                self._with_tools = asks or (self._with_tools and record.role is not Role.USER)
            case UsageRecord(is_inherited=False):
                payer = (
                    self._number_of(record.paid_provider, record.paid_model)
                    if record.paid_model
                    else self._payer
                )
                self._packed.append(
                    pack_call(record.at, payer, self._discussion, self._kind(record), record.usage)
                )
            case _:
                pass

    def _kind(self, record: UsageRecord) -> PaidKind:
        if record.kind in UPKEEP_KINDS:
            return PaidKind.UPKEEP
        if record.kind is UsageKind.COMPACTION:
            return PaidKind.SUMMARY
        if self._is_task:
            return PaidKind.DELEGATION
        return PaidKind.TOOLS if self._with_tools else PaidKind.CHAT

    @property
    def mark(self) -> int:
        """The last payer, and whether tools were used since the person's last words: what the next part needs to know."""
        return self._payer << 1 | self._with_tools

    def packed(self) -> bytes:
        """The calls that were taken so far, in the bytes of the catalog's table."""
        return b"".join(self._packed)


# Entry of one discussion in the derived index: its figures and words, taken from new log lines only.

# Versions of messages in the derived index: the chosen one is found and counted, by the rules of
# `log_content`.


class VersionPlace(msgspec.Struct, frozen=True):
    """Place of a new version: of the chosen one; `aside` as in the table `entry`."""

    position: int
    first: str
    aside: str


def place_for(db: sqlite3.Connection, number: int, record: MessageRecord) -> VersionPlace | None:
    """Make room for a message; None where it is no version of one that the index knows.

    Args:
        number: of the discussion.
    """
    if not record.version_of:
        return None
    is_prompt = record.role is Role.USER
    target = db.execute(
        "SELECT first, position, aside FROM entry WHERE discussion = ? AND message_id = ? AND (role = ?) = ?",
        (number, record.version_of, Role.USER.value, is_prompt),
    ).fetchone()
    if target is None:
        return None
    chosen = _chosen(db, number, target[0])
    if chosen is None:
        return VersionPlace(position=target[1], first=target[0], aside=record.id)
    version_id, position = chosen
    if not is_prompt and _run_end(db, number, position) is not None:
        return VersionPlace(position=position, first=target[0], aside=record.id)
    _put_aside(db, number, version_id, position)
    return VersionPlace(position=position, first=target[0], aside="")


def choose(db: sqlite3.Connection, number: int, message_id: str) -> None:
    """Let a version be seen that was put aside, and put the one aside that was."""
    target = db.execute(
        "SELECT first FROM entry WHERE discussion = ? AND message_id = ? AND aside = message_id",
        (number, message_id),
    ).fetchone()
    chosen = _chosen(db, number, target[0]) if target is not None else None
    if chosen is None:
        return
    _put_aside(db, number, *chosen)
    db.execute("UPDATE entry SET aside = '' WHERE discussion = ? AND aside = ?", (number, message_id))


def _chosen(db: sqlite3.Connection, number: int, first: str) -> tuple[str, int] | None:
    """Id and position of the version that is seen."""
    row = db.execute(
        "SELECT message_id, position FROM entry WHERE discussion = ? AND first = ? AND aside = ''",
        (number, first),
    ).fetchone()
    return None if row is None else (str(row[0]), int(row[1]))


def _run_end(db: sqlite3.Connection, number: int, position: int) -> int | None:
    """Position of the person's next message behind a reply, None where there is none."""
    row = db.execute(
        "SELECT min(position) FROM entry WHERE discussion = ? AND position > ? AND role = ? AND NOT is_deleted"
        " AND aside = ''",
        (number, position, Role.USER.value),
    ).fetchone()
    return None if row[0] is None else int(row[0])


def _put_aside(db: sqlite3.Connection, number: int, version_id: str, position: int) -> None:
    """Put aside a version, with what follows it: of a reply up to the person's next message, of a person's to the end."""
    is_prompt = db.execute(
        "SELECT 1 FROM entry WHERE discussion = ? AND message_id = ? AND role = ?",
        (number, version_id, Role.USER.value),
    ).fetchone()
    end = None if is_prompt else _run_end(db, number, position)
    db.execute(
        "UPDATE entry SET aside = ? WHERE discussion = ? AND aside = '' AND position >= ? AND (? IS NULL OR position < ?)",
        (version_id, number, position, end, end),
    )


# End of a talk in the derived index: whether the model has had the last word, and which tool calls were
# never begun.


class TalkEnd(msgspec.Struct, frozen=True):
    """End of a talk: fields of `DiscussionSummary`."""

    is_unanswered: bool = False
    is_partial: bool = False
    left_calls: int = 0


def read_end(db: sqlite3.Connection, number: int, path: Path, end: int, now: datetime) -> TalkEnd:
    """Read the end of a talk, by the rules of a load: its last reply, and the results of tools behind it.

    Args:
        number: of the discussion; path, end: its log, as far as it is indexed; now: time for marks, of no account here.
    """
    last = db.execute(_LAST, (number, Role.TOOL.value)).fetchone()
    if last is None:
        return TalkEnd()
    if last[0] == Role.USER.value:
        return TalkEnd(is_unanswered=True)
    records: tuple[Record, ...] = tuple(
        line.content
        for line in log.scan(path, start=last[1], end=end)
        if not isinstance(line.content, ForeignLine)
    )
    left = left_calls(records, now)
    folded = FoldedLog(OpenDiscussion(id=""))
    for record in (*records, *left.results):
        folded.add(record)
    entries = folded.close()
    asked = {part.call_id for message in entries.messages for part in message.parts
             if isinstance(part, ToolCallPart)} & {*left.asked}  # fmt: skip
    has_asked = db.execute(_ASKED, (number, Role.USER.value)).fetchone() is not None
    return TalkEnd(
        is_unanswered=has_asked and not has_last_word(entries.entries),
        is_partial=is_partial(entries.entries),
        left_calls=len(asked),
    )


_LAST = (
    "SELECT role, began FROM entry WHERE discussion = ? AND position > 0 AND NOT is_deleted AND aside = '' AND role <> ?"
    " ORDER BY position DESC LIMIT 1"
)
_ASKED = "SELECT 1 FROM entry WHERE discussion = ? AND role = ? AND NOT is_deleted AND aside = '' LIMIT 1"


PREVIEW_CHARS = 160
MAX_WORDS_CHARS = 1_000_000
"""Characters of one message that search finds; what lies behind is not indexed."""

_TAIL_BYTES = 256
_SPACELESS = late("([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff])")


class EntryKeys(msgspec.Struct, frozen=True):
    """Marks that change with a discussion's files: size, time of meta.toml and log.jsonl, empty if absent."""

    meta: str
    log: str


def keys_of(directory: str) -> EntryKeys:
    """Look at the two files of a discussion. Takes text: thousands are looked at, and a `Path` of each takes longer than
    the look.
    """
    return EntryKeys(_key(f"{directory}{os.sep}{paths.META_FILE}"), log_key_of(directory))


def log_key_of(directory: str) -> str:
    """Mark of a discussion's log alone."""
    return _key(f"{directory}{os.sep}{paths.LOG_FILE}")


def index_some(
    db: CatalogConnection, home: Path, discussion_id: str, keys: EntryKeys, limit_bytes: int
) -> tuple[DiscussionSummary, bool]:
    """Bring the index nearer to a discussion's files, reading at most about `limit_bytes` of its log.

    Args:
        keys: of the files before this call.

    Returns:
        The row as far as it is known, and whether that is all.

    Raises:
        StorageError: the log cannot be read.
    """
    db.execute("INSERT OR IGNORE INTO discussion(id) VALUES(?)", (discussion_id,))
    number = int(db.execute("SELECT number FROM discussion WHERE id = ?", (discussion_id,)).fetchone()[0])
    path = paths.log_file(home, discussion_id)
    read = read_meta(home, discussion_id)
    is_done = _read_on(db, number, path, limit_bytes, is_task=bool(read.meta.delegated_by))
    _index_name(db, number, read.meta.name)
    summary = _summary(db, number, path, read)
    db.execute(
        "UPDATE discussion SET meta_key = ?, log_key = ?, parent = ?, summary = ? WHERE number = ?",
        (
            keys.meta,
            keys.log if is_done else "",
            read.meta.parent_id,
            json.dumps(to_json_value(summary)),
            number,
        ),
    )
    return summary, is_done


def forget(db: sqlite3.Connection, ids: Iterable[str]) -> None:
    """Take discussions out of the index."""
    for discussion_id in ids:
        row = db.execute("SELECT number FROM discussion WHERE id = ?", (discussion_id,)).fetchone()
        if row is not None:
            db.execute("DELETE FROM entry WHERE discussion = ?", row)
            db.execute("DELETE FROM paid WHERE discussion = ?", row)
            db.execute("DELETE FROM discussion WHERE number = ?", row)


def stored_summary(text: str) -> DiscussionSummary | None:
    """Read a summary back; None where it is of another version of this program."""
    with suppress(msgspec.DecodeError):  # such as half a character, which the slow reader mends
        found = decoder_of(DiscussionSummary).decode(text)
        if all(
            at is None or at.tzinfo is UTC
            for at in (found.updated_at, found.upkept_at, found.meta.created_at)
        ):
            return found
    try:
        return from_json_value(DiscussionSummary, read_json(text))
    except ValueError:
        return None


def spaced(text: str) -> str:
    """The text with blanks around letters of scripts that are written without, so that each is a word of its own."""
    return text if text.isascii() else _SPACELESS.sub(r" \1 ", text)


def folded_word(word: str) -> str:
    """A word without case and accents, as the index has it: FTS5 takes an accent off a Latin letter, not off the `й`."""
    if word.isascii():
        return word.lower()
    return "".join(map(_bare, word.lower()))


def _bare(letter: str) -> str:
    base = unicodedata.normalize("NFD", letter)[0]
    return base if base.isascii() else "" if unicodedata.combining(letter) else letter


def _add_words(db: CatalogConnection, words: Iterable[str]) -> None:
    """Add words that a mistyped one may be meant for to the vocabulary: no long numbers or hashes."""
    # a term folds to itself: words written as one that is known need no folding
    terms = db.new_words(set(map(folded_word, db.new_words(set(words)))))
    kept = sorted((t[0], len(t), t) for t in terms if len(t) <= (32 if t.isalpha() else 12))
    db.executemany("INSERT OR IGNORE INTO vocabulary VALUES(?, ?, ?)", kept)
    db.note_words({term for _, _, term in kept})


_WORD = late(r"(?:[^\W_][\u0300-\u036f]*){3,}")
_PLAIN_WORD = late(r"[^\W_]{3,}")  # finds the same in ASCII, at a fraction of the time


def parts_text(parts: tuple[Part, ...]) -> str:
    """The text parts of a message, joined with a blank line."""
    return "\n\n".join(part.text for part in parts if isinstance(part, TextPart))


def _key(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return ""
    return f"{found.st_size}:{found.st_mtime_ns}"


def payer_number(db: sqlite3.Connection, provider: str, model: str) -> int:
    """Number of a provider and its model."""
    db.execute("INSERT OR IGNORE INTO payer(provider, model) VALUES(?, ?)", (provider, model))
    row = db.execute("SELECT number FROM payer WHERE provider = ? AND model = ?", (provider, model))
    return int(row.fetchone()[0])


def _read_on(db: CatalogConnection, number: int, path: Path, limit_bytes: int, *, is_task: bool) -> bool:
    """Take in new lines. Returns whether the end was reached."""
    read_to, tail, updated_at, upkept_at, usage_text, upkeep_text, paid_mark = db.execute(
        "SELECT read_to, tail, updated_at, upkept_at, usage, upkeep, paid_mark FROM discussion WHERE number = ?",
        (number,),
    ).fetchone()
    if tail != _tail(path, read_to):  # not the log that was read: start over
        db.execute("DELETE FROM entry WHERE discussion = ?", (number,))
        db.execute("DELETE FROM paid WHERE discussion = ?", (number,))
        db.execute("UPDATE discussion SET origin = '' WHERE number = ?", (number,))
        read_to, updated_at, upkept_at, usage_text, upkeep_text, paid_mark = 0, "", "", "", "", 0
    usage = from_json_value(Usage, read_json(usage_text)) if usage_text else Usage()
    upkeep = from_json_value(Upkeep, read_json(upkeep_text)) if upkeep_text else Upkeep()
    end, is_done = read_to, True
    words: set[str] = set()
    paid = PaidCalls(number, paid_mark, partial(payer_number, db), is_task=is_task)
    for line in log.scan(path, start=read_to):
        if line.is_torn:
            break  # perhaps being written at this moment; the next look sees it whole
        if line.offset - read_to >= limit_bytes:
            is_done = False
            break
        end = line.offset + line.size_bytes
        if isinstance(line.content, ForeignLine):
            continue
        if isinstance(line.content, UsageRecord) and line.content.is_upkeep:
            upkept_at = line.content.at.isoformat()
        else:
            updated_at = line.content.at.isoformat()
        if isinstance(line.content, UsageRecord) and not line.content.is_inherited:
            usage = add_usage(usage, line.content.usage)
            upkeep = upkeep.with_call(line.content.kind, line.content.usage)
        paid.take(line.content)
        words.update(_index_record(db, number, line.content, line.offset, line.size_bytes))
    _add_words(db, words)
    if calls := paid.packed():
        db.execute("INSERT INTO paid(discussion, calls) VALUES(?, ?)", (number, calls))
    db.execute(
        "UPDATE discussion SET read_to = ?, tail = ?, updated_at = ?, upkept_at = ?, usage = ?, upkeep = ?,"
        " paid_mark = ? WHERE number = ?",
        (
            end,
            _tail(path, end),
            updated_at,
            upkept_at,
            json.dumps(to_json_value(usage)),
            json.dumps(to_json_value(upkeep)),
            paid.mark,
            number,
        ),
    )
    return is_done


def _tail(path: Path, end: int) -> str:
    """A mark of the last bytes before `end`: an append leaves it alone, a rewrite does not."""
    if end == 0:
        return ""
    try:
        with open_file(path) as stream:
            stream.seek(max(0, end - _TAIL_BYTES))
            data = stream.read(min(end, _TAIL_BYTES))
    except OSError:
        return "gone"
    return hashlib.sha256(data).hexdigest()[:16] if len(data) == min(end, _TAIL_BYTES) else "short"


def _index_record(
    db: sqlite3.Connection, number: int, record: Record, start: int, size: int
) -> Iterable[str]:
    """Take in a record. Returns its words for the vocabulary."""
    match record:
        case MessageRecord():
            return _index_message(db, number, record, start, size)
        case EditRecord():
            return _replace(db, number, record, start, size)
        case ChooseRecord():
            choose(db, number, record.target_id)
        case DeleteRecord() | RestoreRecord():
            db.execute(
                "UPDATE entry SET is_deleted = ? WHERE discussion = ? AND message_id = ?",
                (isinstance(record, DeleteRecord), number, record.target_id),
            )
        case MarkRecord() if record.kind == IMPORTED:
            db.execute("UPDATE discussion SET origin = ? WHERE number = ?", (scrub(record.text), number))
        case _:
            pass
    return ()


def _index_message(
    db: sqlite3.Connection, number: int, record: MessageRecord, start: int, size: int
) -> Iterable[str]:
    row = db.execute("SELECT coalesce(max(position), 0) + 1 FROM entry WHERE discussion = ?", (number,))
    entry = _IndexedEntry(
        discussion=number,
        position=int(row.fetchone()[0]),
        message_id=record.id,
        role=record.role.value,
        first=record.id,
        start=start,
        size=size,
        began=start,
    )
    place = place_for(db, number, record)
    if place is not None:
        entry = replace(entry, position=place.position, first=place.first, aside=place.aside)
    return _insert(db, entry, parts_text(record.parts))


def _replace(db: sqlite3.Connection, number: int, record: EditRecord, start: int, size: int) -> Iterable[str]:
    old = db.execute(
        "SELECT number, position, role, first, is_deleted, aside, began FROM entry"
        " WHERE discussion = ? AND message_id = ?",
        (number, record.target_id),
    ).fetchone()
    if old is None:
        return []
    known, position, role, first, is_deleted, aside, began = old
    db.execute("DELETE FROM entry WHERE number = ?", (known,))
    entry = _IndexedEntry(
        discussion=number,
        position=position,
        message_id=record.target_id,
        role=role,
        first=first,
        start=start,
        size=size,
        began=began,
        is_deleted=bool(is_deleted),
        aside=aside,
    )
    return _insert(db, entry, parts_text(record.parts))


class _IndexedEntry(msgspec.Struct, frozen=True):
    """A row of the table `entry`, without its text."""

    discussion: int
    position: int
    message_id: str
    role: str
    first: str
    start: int
    size: int
    began: int
    is_deleted: bool = False
    aside: str = ""


def _insert(db: sqlite3.Connection, entry: _IndexedEntry, text: str) -> list[str]:
    """Index a text. Returns its words for the vocabulary, which takes those of many at once."""
    clean = scrubbed_head(text, MAX_WORDS_CHARS)
    row = db.execute(
        "INSERT INTO entry(discussion, position, message_id, role, first, start, size, began, is_deleted, aside, preview)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*msgspec.structs.astuple(entry), one_line(clean, PREVIEW_CHARS)),
    ).lastrowid
    text = spaced(clean)
    table = "words" if entry.position else "names"
    db.execute(f"INSERT INTO {table}(rowid, text) VALUES(?, ?)", (row, text))
    return (_PLAIN_WORD if text.isascii() else _WORD).findall(text)


def _index_name(db: CatalogConnection, number: int, name: str) -> None:
    """The name is the entry at position 0, and has no line in the log."""
    name = scrub(name)
    if db.execute("SELECT name FROM discussion WHERE number = ?", (number,)).fetchone()[
        0
    ] == name and _has_name(db, number):
        return
    db.execute("DELETE FROM entry WHERE discussion = ? AND position = 0", (number,))
    entry = _IndexedEntry(
        discussion=number, position=0, message_id="", role="name", first="", start=0, size=0, began=0
    )
    _add_words(db, _insert(db, entry, name))
    db.execute("UPDATE discussion SET name = ? WHERE number = ?", (name, number))


def _has_name(db: sqlite3.Connection, number: int) -> bool:
    found = db.execute("SELECT 1 FROM entry WHERE discussion = ? AND position = 0", (number,)).fetchone()
    return found is not None


def _summary(db: sqlite3.Connection, number: int, path: Path, read: MetaRead) -> DiscussionSummary:
    updated_at, upkept_at, usage, upkeep, origin, read_to = db.execute(
        "SELECT updated_at, upkept_at, usage, upkeep, origin, read_to FROM discussion WHERE number = ?",
        (number,),
    ).fetchone()
    turns = db.execute(
        "SELECT count(*) FROM entry WHERE discussion = ? AND role = ? AND NOT is_deleted AND aside = ''",
        (number, Role.USER.value),
    ).fetchone()[0]
    at = datetime.fromisoformat(updated_at) if updated_at else read.meta.created_at
    end = read_end(db, number, path, read_to, at)
    return DiscussionSummary(
        meta=_named(db, number, read.meta),
        updated_at=at,
        turns=turns,
        usage=from_json_value(Usage, read_json(usage)),
        upkeep=from_json_value(Upkeep, read_json(upkeep)),
        preview=_preview(db, number, "DESC"),
        problem=read.problem,
        is_unanswered=end.is_unanswered,
        is_partial=end.is_partial,
        left_calls=end.left_calls,
        origin=origin,
        upkept_at=datetime.fromisoformat(upkept_at) if upkept_at else None,
    )


def _named(db: sqlite3.Connection, number: int, meta: DiscussionMeta) -> DiscussionMeta:
    """A discussion that lost its name takes its first words."""
    first = _preview(db, number, "ASC") if meta.name == meta.id else ""
    return replace(meta, name=one_line(first, 60)) if first else meta


def _preview(db: sqlite3.Connection, number: int, order: str) -> str:
    row = db.execute(_PREVIEWS[order], (number,)).fetchone()
    return str(row[0]) if row is not None else ""


_PREVIEWS = {
    "ASC": "SELECT preview FROM entry WHERE discussion = ? AND position > 0 AND NOT is_deleted AND aside = '' AND preview <> ''"
    " ORDER BY position LIMIT 1",
    "DESC": "SELECT preview FROM entry WHERE discussion = ? AND position > 0 AND NOT is_deleted AND aside = '' AND preview <> ''"
    " ORDER BY position DESC LIMIT 1",
}
