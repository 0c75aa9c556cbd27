"""The log of one apply: what it was about to write and move, kept so that it can be finished after a crash or undone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.codecs import builtins_of, from_builtins, read_json
from core.kernel.disk import OS_DISK, Disk, append_file, make_dirs, reported
from core.kernel.errors import StorageError
from core.kernel.ids import is_id
from core.kernel.language import tr
from core.kernel.opener import BOOK_BYTES, read_file
from core.kernel.values.knowledge import (
    Category,
    HarvestLedgerEntry,
    Item,
    NewItem,
    NoteFile,
    NoteStatus,
    Placed,
)
from core.knowledge import categories
from core.knowledge.categories import CategoryLine, item_body, line_of, safe_value
from core.knowledge.ledger_text import to_entry, to_raw
from core.knowledge.merges import Known
from core.knowledge.note_files import file_id_for_path, notes_head
from core.knowledge.parts import PartPlan

# Places of new items: the file and line of each, what is known already left out.


class FilePlan(msgspec.Struct, frozen=True):
    """Lines for one file. `head`: what it starts with where it is not there."""

    name: str
    head: bytes
    lines: tuple[categories.CategoryLine, ...]


class AppendPlan(msgspec.Struct, frozen=True):
    """Plan of an append: lines by file, how many of each category are new, and where every item went, in order.

    `struck`: known items that were struck through with it, once it is written.
    """

    files: tuple[FilePlan, ...]
    counts: Mapping[str, int]
    placed: tuple[Placed, ...] = ()
    struck: int = 0

    @property
    def known(self) -> tuple[NewItem, ...]:
        """Items that were known already."""
        return tuple(one.raw for one in self.placed if not one.is_new)

    @property
    def items(self) -> tuple[Item, ...]:
        """The new items, as the files will hold them."""
        return tuple(one.item for one in self.placed if one.is_new)


def plan_append(
    items: Iterable[NewItem], known: Known, notes: Iterable[NoteFile], seen: Iterable[NewItem] = ()
) -> AppendPlan:
    """Decide the lines. Reads only whether paths of notes exist; `known` is left as it is.

    Args:
        items: raw, of one conversation; known: everything that the category files and notes hold, and what left them:
            what was forgotten never comes again, what was deleted only by a person's own tick.
        notes: the note files there are, settled; seen: what is not written, and only counts where it is known.
    """
    by_path = {note.path: note for note in notes if note.path}
    taken = {note.file_id: note for note in notes}
    lines: dict[str, list[categories.CategoryLine]] = {}
    heads: dict[str, bytes] = {}
    counts = dict.fromkeys((category.value for category in Category), 0)
    placed: list[Placed] = []
    fresh = Known()
    for raw, may_write in chain(((one, True) for one in items), ((one, False) for one in seen)):
        name, item = _place(raw, by_path, taken)
        body = item_body(item)
        if not body or known.is_forgotten(item.category, body):
            continue
        same = known.exact(item.category, name, body) or fresh.exact(item.category, name, body)
        if same is None and not raw.is_confirmed and known.deleted_on(item.category, body):
            continue
        if same is not None:
            placed.append(Placed(raw=raw, item=same, is_new=False))
        if same is not None or not may_write:
            continue
        new = Item(
            category=item.category,
            file=name,
            text=body,
            provenance=item.provenance,
            section=categories.section_of(item.category),
        )
        placed.append(Placed(raw=raw, item=new, is_new=True))
        fresh.add([new])
        lines.setdefault(name, []).append(
            categories.CategoryLine(line_of(body, item), categories.section_of(item.category))
        )
        heads.setdefault(name, _head(name, raw))
        counts[raw.category.value] += 1
    plans = tuple(FilePlan(name=name, head=heads[name], lines=tuple(lines[name])) for name in sorted(lines))
    return AppendPlan(files=plans, counts=counts, placed=tuple(placed))


def _place(
    item: NewItem, by_path: Mapping[str, NoteFile], taken: Mapping[str, NoteFile]
) -> tuple[str, NewItem]:
    """The file of an item; a note on a file that is not there becomes a fact that names it."""
    if item.category is not Category.FILES:
        return categories.FILE_OF[item.category], item
    path = item.name
    if (note := by_path.get(path)) is not None:
        return categories.note_name(note.file_id), item
    is_named = os.path.isabs(path) and ".." not in Path(path).parts and not item.is_outside
    file_id = file_id_for_path(path) if is_named else None
    if file_id is not None and (file_id not in taken or taken[file_id].status is NoteStatus.ATTACHED):
        return categories.note_name(file_id), item
    shown = safe_value(path)
    text = f"{shown}: {item.text}" if shown and item.text.strip() else item.text
    return categories.FACTS, replace(item, category=Category.FACTS, text=text, name="")


def _head(name: str, item: NewItem) -> bytes:
    return (
        notes_head(item.name) if name.startswith(f"{categories.NOTES_FOLDER}/") else categories.new_file(name)
    )


FOLDER = "applies"


class ApplyStep(msgspec.Struct, frozen=True):
    """One conversation's part in an apply.

    Args:
        files: the lines that were to be written; parts: what goes with them; is_written: all of it is on disk.
        entry: the ledger's; None for a merge or a draft, whose `source` is the file that they were made of.
        is_dropped: it failed and was taken back at once.
    """

    source: str
    entry: HarvestLedgerEntry | None
    files: tuple[FilePlan, ...]
    is_written: bool = False
    is_dropped: bool = False
    parts: tuple[PartPlan, ...] = ()


class ApplyRecord(msgspec.Struct, frozen=True):
    """An apply as its log tells it.

    Args:
        reclaimed: discussions that were about to go to the trash, by id, with the key of their entry in the ledger.
        is_ended: it came to its end; was_on: memory was on when it began (old logs do not say).
        undoing_at: when a person asked for it to be taken back; left: lines that had been changed by then, and stay.
        undone_at: when that was done; both empty while it stands.
    """

    id: str
    at: str = ""
    by: str = ""
    steps: tuple[ApplyStep, ...] = ()
    reclaimed: Mapping[str, str] = msgspec.field(default_factory=dict)
    is_ended: bool = False
    undoing_at: str = ""
    left: tuple[str, ...] = ()
    undone_at: str = ""
    was_on: bool = True

    @property
    def is_waiting(self) -> bool:
        """True if something of it, or of its undo, was interrupted."""
        return not self.is_ended or bool(self.undoing_at and not self.undone_at)

    @property
    def item_count(self) -> int:
        """The number of lines that it wrote."""
        return sum(len(plan.lines) for step in self.steps if not step.is_dropped for plan in step.files)


def log_path(home: Path, apply_id: str) -> Path:
    """Path of an apply's log."""
    return paths.knowledge_dir(home) / FOLDER / f"{apply_id}.jsonl"


def write(home: Path, apply_id: str, row: Mapping[str, object], *, disk: Disk = OS_DISK) -> None:
    """Add a row, fsynced.

    Raises:
        StorageError: it was not added.
    """
    path = log_path(home, apply_id)
    make_dirs(path.parent, disk=disk)
    data = json.dumps(row, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")
    append_file(path, data + b"\n", disk=disk)


def step_row(
    source: str, entry: HarvestLedgerEntry | None, files: Iterable[FilePlan], parts: Iterable[PartPlan] = ()
) -> dict[str, object]:
    """The row that says what is about to be written."""
    plans = [
        {"file": f.name, "head": f.head.decode(), "lines": [[line.text, line.section] for line in f.lines]}
        for f in files
    ]
    return {
        "kind": "items",
        "source": source,
        "sha256": "" if entry is None else entry.sha256,
        "entry": None if entry is None else to_raw(entry),
        "files": plans,
        "parts": builtins_of(tuple(parts)),
    }


def apply_ids(home: Path) -> tuple[str, ...]:
    """Applies of a home, the newest first."""
    folder = paths.knowledge_dir(home) / FOLDER
    with reported("read", folder):
        names = [path.stem for path in folder.glob("*.jsonl")] if folder.is_dir() else []
    return tuple(sorted(filter(is_id, names), reverse=True))


def read(home: Path, apply_id: str) -> ApplyRecord:
    """Read an apply's log; a torn last row is as if it had not been written.

    Raises:
        StorageError: it cannot be read, or holds a row that this program does not write.
    """
    path = log_path(home, apply_id)
    with reported("read", path):
        lines = read_file(path, BOOK_BYTES).split(b"\n")
    rows = [row for line in lines if (row := _row(line)) is not None]
    try:
        return _folded(apply_id, rows)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise StorageError(
            tr("The log of a harvest holds a row that this program does not know"),
            remedy=tr("Move the file away; you cannot undo that harvest afterwards"),
            where=str(path),
        ) from error


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = read_json(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def _folded(apply_id: str, rows: Iterable[dict[str, Any]]) -> ApplyRecord:
    at = by = undoing_at = undone_at = ""
    left: tuple[str, ...] = ()
    steps: list[ApplyStep] = []
    reclaimed: dict[str, str] = {}
    is_ended, was_on = False, True
    for row in rows:
        match row.get("kind"):
            case "begun":
                at, by = str(row.get("at", "")), str(row.get("by", ""))
                was_on = row.get("on") is not False
            case "items":
                steps.extend(_step(row))
            case "written" | "dropped" if steps:
                last = steps[-1]
                is_dropped = row["kind"] == "dropped"
                steps[-1] = replace(last, is_written=not is_dropped, is_dropped=is_dropped)
            case "reclaimed":
                if discussion_id := str(
                    row.get("discussion_id", "")
                ):  # of one that was forgotten nothing is left
                    reclaimed[discussion_id] = str(row.get("sha256", ""))
            case "ended":
                is_ended = True
            case "undoing":
                undoing_at, left = str(row.get("at", "")), tuple(map(str, row.get("left", ())))
            case "undone":
                undone_at = str(row.get("at", ""))
            case _:
                pass
    return ApplyRecord(
        id=apply_id,
        at=at,
        by=by,
        steps=tuple(steps),
        reclaimed=reclaimed,
        is_ended=is_ended,
        undoing_at=undoing_at,
        left=left,
        undone_at=undone_at,
        was_on=was_on,
    )


def _step(row: Mapping[str, Any]) -> list[ApplyStep]:
    raw = row.get("entry")
    entry = None if raw is None else to_entry(str(row.get("sha256", "")), raw)
    if entry is None and raw is not None:
        return []
    files = tuple(
        FilePlan(
            name=plan["file"],
            head=plan["head"].encode(),
            lines=tuple(CategoryLine(*line) for line in plan["lines"]),
        )
        for plan in row.get("files", ())
    )
    parts = from_builtins(row.get("parts", []), tuple[PartPlan, ...])
    return [ApplyStep(source=str(row.get("source", "")), entry=entry, files=files, parts=parts)]
