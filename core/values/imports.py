"""Imports as values: what stands in files of other programs, what of it is new, what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

from core.values.transcript import TranscriptKind


class ImportRow(msgspec.Struct, frozen=True):
    """One conversation of a source, and what an import of it does, or did.

    Args:
        path: the file that it stands in; kind: the program that wrote it; title: as the person sees it.
        messages: that would be kept; new: of those, that are not here yet; branches: beside the one that was seen last.
        discussion_id: it becomes, or is already; empty where nothing of it can be kept.
        why: it adds nothing, empty where it does.
        skipped: what is left out, by a plain word, and how often.
    """

    path: str
    kind: TranscriptKind
    title: str
    at: datetime | None
    messages: int
    new: int
    branches: int = 0
    discussion_id: str = ""
    why: str = ""
    skipped: Mapping[str, int] = msgspec.field(default_factory=dict)


class ImportFault(msgspec.Struct, frozen=True):
    """Something that could not be read or written. `place`: file, and where in it; `remedy` may be empty; `is_cut`: the
    file ends in the middle.
    """

    place: str
    why: str
    remedy: str = ""
    is_cut: bool = False


class ImportReport(msgspec.Struct, frozen=True):
    """Everything that an import found, and did where it was no dry run.

    Args:
        rows: the first `MAX_ROWS` conversations; count: of all; files: that were looked at; other_files: that hold none;
            other_names: of the first `MAX_NAMES` of those.
        made, grown: discussions; added: messages; stopped: why it ended early, empty where it did not.
    """

    is_dry: bool
    rows: tuple[ImportRow, ...] = ()
    faults: tuple[ImportFault, ...] = ()
    count: int = 0
    new_count: int = 0
    files: int = 0
    other_files: int = 0
    made: int = 0
    grown: int = 0
    added: int = 0
    new_messages: int = 0
    skipped: Mapping[str, int] = msgspec.field(default_factory=dict)
    stopped: str = ""
    other_names: tuple[str, ...] = ()


MAX_NAMES = 20
MAX_ROWS = 2_000
"""Conversations that a report lists; all of them are counted."""


class ImportState(msgspec.Struct, frozen=True):
    """The import under way, and the last report.

    Args:
        paths: of the run under way, or of the report; is_running: one is under way; is_dry: it writes nothing.
        count: conversations that it looked at; doing: the one in work; command_id: who waits for its end.
        problem, remedy: why the last run could not begin or go on.
    """

    paths: tuple[str, ...] = ()
    is_running: bool = False
    is_dry: bool = True
    count: int = 0
    doing: str = ""
    report: ImportReport | None = None
    problem: str = ""
    remedy: str = ""
    command_id: str = ""
