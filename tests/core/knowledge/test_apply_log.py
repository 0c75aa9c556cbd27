"""Logs of applies that somebody else wrote, or that a medium spoilt: a sentence, never a fault of the program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from core.kernel.errors import StorageError
from core.kernel.values.knowledge import HarvestLedgerEntry, LedgerStatus
from core.knowledge.apply_log import FilePlan, log_path, read, step_row
from core.knowledge.categories import CategoryLine
from core.knowledge.parts import RowPlan

APPLY = "20260101-000000-aaaaaa"
WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    float("inf"),
    "",
    "text",
    "a\ud800b",
    [],
    [5],
    [None],
    {},
    {"a": 1},
)
ROWS: dict[str, dict[str, Any]] = {
    "items": step_row(
        "talk",
        HarvestLedgerEntry(
            "a" * 64, "talk", LedgerStatus.HARVESTED, "2026-01-01T00:00:00.000001+00:00", items={"facts": 1}
        ),
        [FilePlan("facts.md", b"# Facts\n", (CategoryLine("- The tide turns.", ""),))],
        [RowPlan("evidence.jsonl", ("{}",))],
    ),
    "begun": {"kind": "begun", "at": "2026-01-01", "by": "a person", "on": True, "v": 1},
    "reclaimed": {"kind": "reclaimed", "discussion_id": "d", "sha256": "b" * 64},
    "undoing": {"kind": "undoing", "at": "2026-01-01", "left": ["talk"]},
}


def changed(value: Any, at: tuple[Any, ...], new: object) -> Any:
    if not at:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at[0]] = changed(value[at[0]], at[1:], new)
    return copy


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, (list, tuple))
        else ()
    )
    for key, one in inner:
        yield from places(one, (*at, key))


@pytest.mark.parametrize("kind", ROWS)
def test_a_row_with_a_field_of_another_type_is_read_or_said(tmp_path: Path, kind: str) -> None:
    path = log_path(tmp_path, APPLY)
    path.parent.mkdir(parents=True)
    row = msgspec.to_builtins(ROWS[kind])
    path.write_text(json.dumps(row) + "\n")
    whole = read(tmp_path, APPLY)
    assert bool(whole.steps) == (kind == "items")

    said = []
    for at in places(row):
        for value in WRONG:
            path.write_text(json.dumps(changed(row, at, value)) + "\n")
            try:
                read(tmp_path, APPLY)
            except StorageError as error:
                said.append(error)
    assert {error.where for error in said} <= {str(path)}
    assert all("Move the file away" in error.remedy for error in said)
    assert bool(said) == (kind in {"items", "undoing"})
