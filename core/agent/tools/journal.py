"""`journal`: an entry in the project's journal, which stays when the conversation's beginning leaves the view."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from core.agent.journal_text import MAX_ENTRY_CHARS, new_entry, written
from core.agent.tool import Judged, Tool, ToolAnswer, ToolDesk, schema_of
from core.agent.tools.arguments import Described, arguments_of, refused
from core.base.disk import append_file, make_dirs
from core.values.agent import ActKind

_TITLE = "Write to the journal"


class WriteJournal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `journal`."""

    text: Annotated[
        str,
        Described(
            description="What was done, found and decided, and what comes next.",
            min_length=1,
            max_length=MAX_ENTRY_CHARS,
        ),
    ]
    title: Annotated[str, Described(description="A few words.", max_length=120)] = ""


def _judge(arguments_json: str, desk: ToolDesk) -> Judged:
    asked = arguments_of(ActKind.OWN, _TITLE, arguments_json, WriteJournal)
    if isinstance(asked, Judged):
        return asked
    if not desk.places.journal:
        return refused(ActKind.OWN, _TITLE, "This discussion has no journal.")
    return Judged(ActKind.OWN, _TITLE, detail=desk.places.journal, plan=asked)


def _run(judged: Judged, desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    asked: WriteJournal = judged.plan
    entry = new_entry(desk.now, asked.title, asked.text, desk.discussion_id)
    journal = Path(desk.places.journal)
    make_dirs(journal.parent)
    append_file(journal, written(entry).encode("utf-8", "replace"))
    return ToolAnswer("Written to the journal.")


TOOL = Tool(
    schema_of(
        "journal",
        "Writes an entry to the journal. Older messages leave your view; the journal stays: write down what you will "
        "need.",
        WriteJournal,
    ),
    ActKind.OWN,
    _judge,
    _run,
    keeps_order=True,  # entries stand as they were written
)
