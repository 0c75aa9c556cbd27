"""History of an item from the logs of evidence and events, and the keeping of what entered requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from core.base.disk import OS_DISK, Disk
from core.base.errors import StorageError
from core.evidence.files import add_events, read_logs
from core.evidence.history import (
    evidence_for,
    evidence_for_fact,
    history,
    history_of_fact,
    seen,
    successors,
)
from core.evidence.quotes import item_hash
from core.evidence.rows import LogRows
from core.evidence.turns import witnesses
from core.knowledge.injection import entered, entered_facts
from core.knowledge.ledger import timestamp
from core.knowledge.messages import NoteInjection
from core.knowledge.outside_edits import outside_edits
from core.values.evidence import ItemEvent, ItemEventKind, ItemHistory, ItemWords, SeenItems
from core.values.facts import IndexedFact
from core.values.knowledge import Item, KnowledgeState


def all_items(state: KnowledgeState) -> list[Item]:
    """Every item, the category files in the order of the digest, then the notes."""
    files = [file.items for file in state.categories] + [note.items for note in state.notes]
    return [item for items in files for item in items]


def linked_logs(
    home: Path, items: Iterable[Item], *, may_write: bool = True, disk: Disk = OS_DISK
) -> LogRows:
    """Both logs, where items whose words were changed outside stand on what they stood on before.

    Args:
        items: all that stand in the files; may_write: what was found is noted in `events.jsonl`.

    Raises:
        StorageError: a log is there and cannot be read, or written.
    """
    rows = read_logs(home)
    found = outside_edits(items, rows, timestamp(datetime.now(UTC)))
    if found and may_write:
        add_events(home, found, disk=disk)
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
        raise StorageError(f"There is no fact {fact_id!r} any more", remedy="Look at the list again")
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
            event,
            tuple(words[item] for item in event.items if item in words),
            sum(item not in words for item in event.items) + sum(one not in said for one in event.facts),
            tuple(said[one] for one in event.facts if one in said),
        )
        for event in seen(rows, discussion_id)
    )


class Injections:
    """Keeps what entered the requests of each discussion, once for each change. One thread's.

    Args:
        read: all that is known now; facts: the structured facts that may enter a prompt, best first.
    """

    def __init__(
        self,
        home: Path,
        read: Callable[[], KnowledgeState],
        facts: Callable[[], Iterable[IndexedFact]] = tuple,
    ) -> None:
        self._home, self._read, self._facts = home, read, facts
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
        items = entered(effect.text, all_items(self._read()))
        facts = entered_facts(effect.text, self._facts())
        if (items, facts) != self._last(where):
            event = ItemEvent(
                ItemEventKind.INJECTED,
                timestamp(effect.at),
                discussion=where,
                message=effect.message_id,
                model=effect.model,
                items=items,
                facts=facts,
            )
            add_events(self._home, [event])
        self._texts[where], self._held[where] = effect.text, (items, facts)

    def _last(self, discussion_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if discussion_id not in self._held:
            known = seen(read_logs(self._home), discussion_id)
            self._held[discussion_id] = (known[0].items, known[0].facts) if known else ((), ())
        return self._held[discussion_id]
