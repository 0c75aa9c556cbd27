"""`journal`: an entry in the project's journal, which stays when the conversation's beginning leaves the view."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from core.agent.delegation import NAME, NAME_CHARS, DelegateTask
from core.agent.guarded_files import judge_path
from core.agent.journal_text import MAX_ENTRY_CHARS, new_entry, written
from core.agent.tool import Described, Judged, Tool, ToolAnswer, ToolDesk, arguments_of, refused, schema_of
from core.kernel.disk import append_file, make_dirs
from core.kernel.frame import one_line
from core.kernel.values.agent import ActKind

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
    return Judged(kind=ActKind.OWN, title=_TITLE, detail=desk.places.journal, plan=asked)


def _run(judged: Judged, desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    asked: WriteJournal = judged.plan
    entry = new_entry(desk.now, asked.title, asked.text, desk.discussion_id)
    journal = Path(desk.places.journal)
    make_dirs(journal.parent)
    append_file(journal, written(entry).encode("utf-8", "replace"))
    return ToolAnswer(text="Written to the journal.")


JOURNAL = Tool(
    schema=schema_of(
        "journal",
        "Writes an entry to the journal. Older messages leave your view; the journal stays: write down what you will "
        "need.",
        WriteJournal,
    ),
    kind=ActKind.OWN,
    judge=_judge,
    run=_run,
    keeps_order=True,  # entries stand as they were written
)


# `delegate`: a task for a discussion of its own, whose last words are the result.

_DELEGATE_TITLE = "Give a task away"


def _delegate_judge(arguments_json: str, desk: ToolDesk) -> Judged:
    """Nothing is done before the child's own calls are judged: paths are only looked at."""
    asked = arguments_of(ActKind.OWN, _DELEGATE_TITLE, arguments_json, DelegateTask)
    if isinstance(asked, Judged):
        return asked
    if asked.files and not desk.places.is_trusted:
        return refused(
            ActKind.OWN, _DELEGATE_TITLE, "The person does not trust this folder: no file of it is read."
        )
    for path in asked.files:
        if problem := judge_path(path, desk.places).problem:
            return refused(ActKind.OWN, _DELEGATE_TITLE, problem)
    title = f"Give away: {one_line(asked.task, NAME_CHARS)}"
    return Judged(kind=ActKind.OWN, title=title, detail=asked.task, plan=asked)


def _delegate_run(_judged: Judged, _desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    return ToolAnswer(text="Not done: the program itself does this, not a tool.", is_error=True)


DELEGATE = Tool(
    schema=schema_of(
        NAME,
        "Gives a task to a model in a conversation of its own, which sees nothing of this one. Its last words are the "
        "result. Ask for several at once where they are independent.",
        DelegateTask,
    ),
    kind=ActKind.OWN,
    judge=_delegate_judge,
    run=_delegate_run,
)
