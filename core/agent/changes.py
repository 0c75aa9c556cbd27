"""Changes of files as the person sees them: the writes of a turn to one file are one change. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from core.agent.hunks import joined_differences
from core.values.agent import FileChange


def joined(earlier: FileChange, later: FileChange) -> FileChange:
    """Two changes of one file by one turn as one; of one that was undone the later alone counts."""
    if earlier.is_undone:
        return later
    return replace(
        later,
        before_sha256=earlier.before_sha256,
        added=earlier.added + later.added,
        removed=earlier.removed + later.removed,
        difference=joined_differences(earlier.difference, later.difference),
    )


def with_changes(known: Sequence[FileChange], new: Iterable[FileChange]) -> tuple[FileChange, ...]:
    """Changes with newer ones behind them, one for each file of a turn."""
    told = {(one.path, one.turn_id): one for one in known}
    for change in new:
        earlier = told.pop((change.path, change.turn_id), None)
        told[change.path, change.turn_id] = change if earlier is None else joined(earlier, change)
    return tuple(told.values())
