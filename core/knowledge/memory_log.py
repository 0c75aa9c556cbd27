"""History of an item from the logs of evidence and events, and the keeping of what entered requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk, append_file, make_dirs, reported
from core.kernel.errors import SlopError, StorageError
from core.kernel.frame import clean, flat, size_bytes
from core.kernel.language import tr
from core.kernel.opener import read_file
from core.kernel.secrets import scrub
from core.kernel.tokens import estimate_tokens
from core.kernel.values.facts import (
    EvidenceRow,
    IndexedFact,
    ItemEvent,
    ItemEventKind,
    ItemHistory,
    ItemWords,
    MemoryUse,
    SeenItems,
    TurnPlace,
    Witness,
)
from core.kernel.values.imports import Transcript
from core.kernel.values.knowledge import Item, KnowledgeState
from core.kernel.values.messages import Part, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.records import Record
from core.kernel.values.state import TrashItem
from core.knowledge.evidence_parts import outside_edits
from core.knowledge.evidence_rows import (
    EVENTS_FILE,
    EVIDENCE_FILE,
    LogRows,
    holds,
    item_hash,
    read_rows,
    row_text,
)
from core.knowledge.history_text import (
    evidence_for,
    evidence_for_fact,
    history,
    history_of_fact,
    seen,
    successors,
)
from core.knowledge.knowledge_messages import NoteInjection, NoteUse
from core.knowledge.layer7 import entered, entered_facts
from core.knowledge.ledger import timestamp
from core.knowledge.memory_use import Likeness, meant, memory_use, quoted
from core.talk.discussion import log, log_content, trash
from core.talk.discussion.discussion_meta import read_meta
from core.talk.discussion.log_codec import ForeignLine
from core.talk.transcripts import transcript_reader

# The two logs on disk: read whole, and added to.


def read_logs(home: Path) -> LogRows:
    """Everything that the logs of a home say.

    Raises:
        StorageError: one is there and cannot be read.
    """
    return read_rows(_read(home, EVIDENCE_FILE), _read(home, EVENTS_FILE))


def add_events(home: Path, events: Iterable[ItemEvent], *, disk: Disk = OS_DISK) -> None:
    """Add events behind the last whole line, fsynced.

    Raises:
        StorageError: some may be missing.
    """
    data = b"".join(row_text(event).encode() + b"\n" for event in events)
    if not data:
        return
    path = paths.knowledge_dir(home) / EVENTS_FILE
    make_dirs(path.parent, disk=disk)
    append_file(path, (b"" if _ends_whole(home) else b"\n") + data, disk=disk)


def _ends_whole(home: Path) -> bool:
    data = _read(home, EVENTS_FILE)
    return not data or data.endswith(b"\n")


def _read(home: Path, name: str) -> bytes:
    path = paths.knowledge_dir(home) / name
    with reported("read", path):
        try:
            return read_file(path, None)
        except FileNotFoundError:
            return b""


# The turn that a quote stands in, read where its conversation is now: the list, the trash, a file, or gone.

SHOWN_CHARS = 4_000
"""Characters of a turn beside its quote."""

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Bytes of another program's file that is searched for a turn, at most."""


def witnesses(home: Path, rows: Iterable[EvidenceRow]) -> tuple[Witness, ...]:
    """The turns of these rows as they can be read now. Never fails: what cannot be read is gone."""
    try:
        binned = {item.discussion_id: item for item in reversed(trash.items(home))}
    except SlopError:
        binned = {}
    return tuple(_witness(home, row, binned) for row in rows)


def _witness(home: Path, row: EvidenceRow, binned: dict[str, TrashItem]) -> Witness:
    if not row.discussion:
        return _in_file(row)
    item = binned.get(row.discussion)
    try:
        if paths.log_file(home, row.discussion).exists():
            name = read_meta(home, row.discussion).meta.name
            return _turns_read(row, TurnPlace.LIST, name, paths.log_file(home, row.discussion))
        if item is not None:
            return _turns_read(row, TurnPlace.TRASH, item.name, Path(item.path) / paths.LOG_FILE)
    except SlopError:
        pass
    return Witness(row=row, place=TurnPlace.GONE, name=row.source)


def _in_file(row: EvidenceRow) -> Witness:
    """A turn in a conversation of another program, as far as its file can still be read."""
    name = Path(row.path).name
    try:
        data = read_file(row.path, MAX_FILE_BYTES)
    except FileNotFoundError:
        return Witness(row=row, place=TurnPlace.GONE, name=name)
    except OSError:
        return Witness(row=row, place=TurnPlace.FILE, name=name)
    wanted = frozenset(row.turns)
    try:
        read = transcript_reader.read_transcripts(transcript_reader.recognised(data), data)
        messages = [one for found in read if isinstance(found, Transcript) for one in found.messages]
    except ValueError:
        messages = []
    texts = [(one.role, _words(one.parts)) for one in messages if one.id in wanted]
    return _witnessed(row, TurnPlace.FILE, name, texts)


def _turns_read(row: EvidenceRow, place: TurnPlace, name: str, path: Path) -> Witness:
    wanted = frozenset(row.turns)
    messages = (one for one in log_content.fold("", _records(path)).messages if one.id in wanted)
    return _witnessed(row, place, name, [(one.role.value, _words(one.parts)) for one in messages])


def _witnessed(row: EvidenceRow, place: TurnPlace, name: str, texts: Sequence[tuple[str, str]]) -> Witness:
    best = next((one for one in texts if holds(one[1], row.quote)), texts[0] if texts else ("", ""))
    is_there = holds(best[1], row.quote)
    return Witness(
        row=row,
        place=place,
        name=name,
        role=best[0],
        turn=_around(best[1], row.quote if is_there else ""),
        is_there=is_there,
    )


def _records(path: Path) -> Iterator[Record]:
    for line in log.scan(path, end=log.settled_size(path)):
        if not isinstance(line.content, ForeignLine):
            yield line.content


def _words(parts: Iterable[Part]) -> str:
    """Words of a message as its quote was scrubbed."""
    return scrub(clean("\n\n".join(filter(None, map(_part_text, parts)))))


def _part_text(part: Part) -> str:
    match part:
        case TextPart() | ToolResultPart():
            return part.text
        case ToolCallPart():
            return part.arguments_json
        case _:
            return ""


def _around(text: str, quote: str) -> str:
    """A turn, or of a long one the part around the quote."""
    if len(text) <= SHOWN_CHARS:
        return text.strip()
    words = flat(text)
    at = max(0, words.find(quote) - SHOWN_CHARS // 2) if quote else 0
    head = "…" if at else ""
    tail = "…" if at + SHOWN_CHARS < len(words) else ""
    return f"{head}{words[at : at + SHOWN_CHARS]}{tail}"


def linked_logs(home: Path, items: Iterable[Item], *, may_write: bool = True) -> LogRows:
    """Both logs, where items whose words were changed outside stand on what they stood on before.

    Args:
        items: all that stand in the files; may_write: what was found is noted in `events.jsonl`.

    Raises:
        StorageError: a log is there and cannot be read, or written.
    """
    rows = read_logs(home)
    found = outside_edits(items, rows, timestamp(datetime.now(UTC)))
    if found and may_write:
        add_events(home, found)
    return replace(rows, events=(*rows.events, *found))


def item_history(
    home: Path, item: Item, known: Iterable[Item] = (), *, may_write: bool = True
) -> ItemHistory:
    """History of an item, with the turns that it stands on as they can be read now.

    Args:
        known: all that stand in the files; may_write: as for `linked_logs`.

    Returns:
        It, or that of the item which stands in its place since its words were changed.

    Raises:
        StorageError: a log is there and cannot be read.
    """
    standing = tuple(known)
    rows = linked_logs(home, standing, may_write=may_write)
    now = _standing(item, standing, rows)
    told = history(now.category, now.text, rows)
    source = "" if now.provenance is None else now.provenance.source
    asked = "" if now is item else item_hash(item.category, item.text)
    return replace(told, witnesses=witnesses(home, evidence_for(told.item, rows)), source=source, asked=asked)


def _standing(item: Item, known: Iterable[Item], rows: LogRows) -> Item:
    """The item where it stands in its file, else the newest of those that it became, else the item again."""
    names = {item_hash(one.category, one.text): one for one in known}
    name = item_hash(item.category, item.text)
    if not names or name in names:
        return item
    return next((names[one] for one in reversed(successors(name, rows)) if one in names), item)


def fact_history(home: Path, fact_id: str, facts: Iterable[IndexedFact]) -> ItemHistory:
    """History of a structured fact, with the turns that it stands on as they can be read now.

    Args:
        facts: of the index.

    Raises:
        StorageError: there is no such fact, or a log is there and cannot be read.
    """
    fact = next((one for one in facts if one.id == fact_id), None)
    if fact is None:
        raise StorageError(
            tr("There is no fact {fact_id!r} any more", fact_id=fact_id), remedy=tr("Look at the list again")
        )
    rows = read_logs(home)
    told = history_of_fact(fact_id, fact.category.value, fact.text, rows)
    return replace(told, witnesses=witnesses(home, evidence_for_fact(fact_id, rows)))


def seen_items(
    home: Path, known: Iterable[Item], discussion_id: str = "", facts: Iterable[IndexedFact] = ()
) -> tuple[SeenItems, ...]:
    """Items and structured facts that entered requests, newest first, each change once, in the words of now or else of the logs.

    Args:
        known: all that is known now; facts: of the index; discussion_id: empty for all discussions.

    Raises:
        StorageError: a log is there and cannot be read.
    """
    rows = read_logs(home)
    words = {e.item: ItemWords(e.category, e.text) for e in rows.events if e.text and e.item}
    words |= {item_hash(one.category, one.text): ItemWords(one.category, one.text) for one in known}
    said = {one.id: ItemWords(one.category.value, one.text) for one in facts}
    return tuple(
        SeenItems(
            event=event,
            items=tuple(words[item] for item in event.items if item in words),
            missing=sum(item not in words for item in event.items)
            + sum(one not in said for one in event.facts),
            facts=tuple(said[one] for one in event.facts if one in said),
        )
        for event in seen(rows, discussion_id)
    )


def counted_use(home: Path, known: Iterable[Item], facts: Iterable[IndexedFact]) -> MemoryUse:
    """Use of memory from the logs, with the words of what is proposed for the archive."""
    use = memory_use(read_logs(home).events)
    unused = frozenset(use.unused)
    words = [
        ItemWords(category=item.category, text=item.text)
        for item in known
        if item_hash(item.category, item.text) in unused
    ]
    words += [ItemWords(category=one.category, text=one.text) for one in facts if one.id in unused]
    return replace(use, proposed=tuple(words))


class Injections:
    """Keeps what entered the requests of each discussion, once for each change. One thread's.

    Args:
        read: all that is known now; facts: the structured facts that may enter a prompt, best first.
        like: tells how near texts are in meaning, on this machine alone; without it items are found by their words.
    """

    def __init__(
        self,
        home: Path,
        read: Callable[[], KnowledgeState],
        facts: Callable[[], Iterable[IndexedFact]] = tuple,
        like: Likeness = lambda _said, _known: (),
    ) -> None:
        self._home, self._read, self._facts, self._like = home, read, facts, like
        self._texts: dict[str, str] = {}
        self._held: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}

    def note(self, effect: NoteInjection) -> None:
        """Add an event where a request holds other items or facts than the one before it in its discussion.

        Raises:
            StorageError: it could not be kept; the next request tries again.
        """
        where = effect.discussion_id
        if self._texts.get(where) == effect.text:
            return
        items = entered(effect.text, self._read().items)
        facts = entered_facts(effect.text, self._facts())
        if (items, facts) != self._last(where):
            event = ItemEvent(
                kind=ItemEventKind.INJECTED,
                at=timestamp(effect.at),
                discussion=where,
                message=effect.message_id,
                model=effect.model,
                items=items,
                facts=facts,
            )
            add_events(self._home, [event])
        self._texts[where], self._held[where] = effect.text, (items, facts)

    def note_use(self, effect: NoteUse) -> None:
        """Add an event for a reply whose request held something of memory: what the reply quotes of it.

        Raises:
            StorageError: it could not be kept; the reply counts for none then.
        """
        text = self._texts.get(effect.discussion_id, "")
        items, facts = self._held.get(effect.discussion_id, ((), ()))
        if not text and not effect.recall_tokens:
            return
        words = {item_hash(one.category, one.text): one.text for one in self._read().items}
        told = {name: words[name] for name in items if name in words}
        known = {one.id: one.text for one in self._facts() if one.id in facts}
        used = _used(effect, told | known, self._like)
        event = ItemEvent(
            kind=ItemEventKind.USED,
            at=timestamp(effect.at),
            discussion=effect.discussion_id,
            message=effect.message_id,
            model=effect.model,
            items=tuple(name for name in used if name in told),
            facts=tuple(name for name in used if name in known),
            tokens=estimate_tokens(size_bytes(text)) + effect.recall_tokens,
        )
        add_events(self._home, [event])

    def _last(self, discussion_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if discussion_id not in self._held:
            known = seen(read_logs(self._home), discussion_id)
            self._held[discussion_id] = (known[0].items, known[0].facts) if known else ((), ())
        return self._held[discussion_id]


def _used(effect: NoteUse, texts: Mapping[str, str], like: Likeness) -> tuple[str, ...]:
    """Items and facts that a reply quotes, and of the others those that it says in its own words."""
    by_words = quoted(effect.reply, effect.asked, texts)
    others = {name: text for name, text in texts.items() if name not in by_words}
    return tuple(sorted((*by_words, *meant(effect.reply, effect.asked, others, like))))
