"""The log of one apply: what it was about to write and move, kept so that it can be finished after a crash or undone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from core.base import paths
from core.base.decoders import from_builtins
from core.base.disk import OS_DISK, Disk, append_file, make_dirs, reported
from core.base.errors import StorageError
from core.base.ids import is_id
from core.base.json_text import read_json
from core.base.opener import BOOK_BYTES, read_file
from core.knowledge.categories import CategoryLine
from core.knowledge.ledger_text import to_entry, to_raw
from core.knowledge.parts import PartPlan
from core.knowledge.plan import FilePlan
from core.values.knowledge import HarvestLedgerEntry

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
        """Lines that it wrote."""
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
        "parts": msgspec.to_builtins(tuple(parts)),
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
            "The log of an apply holds a row that this program does not write",
            remedy="Move the file away; what it tells of can then not be undone",
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
        apply_id, at, by, tuple(steps), reclaimed, is_ended, undoing_at, left, undone_at, was_on
    )


def _step(row: Mapping[str, Any]) -> list[ApplyStep]:
    raw = row.get("entry")
    entry = None if raw is None else to_entry(str(row.get("sha256", "")), raw)
    if entry is None and raw is not None:
        return []
    files = tuple(
        FilePlan(plan["file"], plan["head"].encode(), tuple(CategoryLine(*line) for line in plan["lines"]))
        for plan in row.get("files", ())
    )
    parts = from_builtins(row.get("parts", []), tuple[PartPlan, ...])
    return [ApplyStep(str(row.get("source", "")), entry, files, parts=parts)]
