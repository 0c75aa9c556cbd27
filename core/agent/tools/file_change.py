"""Writing of one file for `edit_file` and `write_file`: judged as a difference, done as far as it was taken."""

from __future__ import annotations

import hashlib
import os

import msgspec

from core.agent.guarded_files import ToolPath, read_guarded, write_guarded
from core.agent.hunks import Difference, counts, difference, in_own_form, unified
from core.agent.policy import EDIT_GRANT
from core.agent.tool import Judged, ToolAnswer, ToolDesk
from core.agent.tools.arguments import refused
from core.base.figures import count
from core.base.text import clean
from core.context.file_content import read_content
from core.values.agent import ActKind, FileChange

_BOM = "\ufeff"


class WritePlan(msgspec.Struct, frozen=True):
    """Bytes to be written, and their place.

    Args:
        base_sha256: of the bytes that were judged, empty for a new file; change: from them, in the file's own form.
        start: what stands before the text: a byte order mark, or nothing.
    """

    place: ToolPath
    base_sha256: str
    change: Difference
    start: str = ""


class FileText(msgspec.Struct, frozen=True):
    """Text of a file as models see it, and what it takes to write it in the file's own form.

    Args:
        text: LF, no byte order mark; sha256: of its bytes, empty where there is no file; raw: the text as it stands.
        start: its byte order mark, or nothing; problem: why it cannot be changed, a sentence.
    """

    text: str = ""
    sha256: str = ""
    raw: str = ""
    start: str = ""
    problem: str = ""


def text_to_write(place: ToolPath, desk: ToolDesk) -> FileText:
    """Read a file that is to be changed: only one that the model has read as it is now may be. Total."""
    found = read_guarded(place)
    if found.problem or found.data is None:
        return FileText(problem=found.problem)
    content = read_content(found.data)
    if content.problem is not None:
        return FileText(problem=f"{place.shown} is not changed. {content.problem.detail}")
    seen = desk.seen(place.path)
    if seen != found.sha256:
        why = (
            f"{place.shown} has changed since you read it" if seen else f"You have not read {place.shown} yet"
        )
        return FileText(problem=f"{why}: read it first, then change it.")
    raw = found.data.decode()
    start = _BOM if raw.startswith(_BOM) else ""
    return FileText(content.text, found.sha256, raw.removeprefix(_BOM), start)


def judge_write(place: ToolPath, file: FileText, new: str, title: str, desk: ToolDesk) -> Judged:
    """Judge a change of a file. `new`: its text, LF. Only one inside the project may be granted for the discussion."""
    change = difference(file.text, clean(new))
    if file.sha256 and not change.changes:
        return refused(ActKind.EDIT, title, f"{place.shown} would stay as it is: nothing to write.")
    return Judged(
        ActKind.EDIT,
        title,
        detail=place.path,
        reasons=place.write_reasons,
        path=place.path,
        base_sha256=file.sha256,
        hunks=change.hunks,
        grant=EDIT_GRANT if place.root == os.path.realpath(desk.places.root) else "",
        plan=WritePlan(place, file.sha256, in_own_form(change, file.raw), file.start),
    )


def run_write(judged: Judged, desk: ToolDesk, taken: tuple[int, ...] | None) -> ToolAnswer:
    """Write what was judged, as far as it was taken."""
    plan: WritePlan = judged.plan
    hunks = judged.hunks
    if taken is not None and hunks:
        hunks = tuple(hunk for at, hunk in enumerate(hunks) if at in taken)
        if not hunks:
            return ToolAnswer("The person took none of these changes: nothing was written.", is_error=True)
    data = f"{plan.start}{plan.change.taken(taken)}".encode("utf-8", "replace")
    before = read_guarded(plan.place)
    if before.problem or before.sha256 != plan.base_sha256:
        said = before.problem or f"{plan.place.shown} has changed since this was asked: nothing was written."
        return ToolAnswer(said, is_error=True)
    sha256 = hashlib.sha256(data).hexdigest()
    added, removed = counts(hunks)
    change = FileChange(
        plan.place.path, desk.turn_id, plan.base_sha256, sha256, added, removed, difference=unified(hunks)
    )
    desk.keep_before(change, before.data)
    problem = write_guarded(plan.place, data, plan.base_sha256)
    desk.note_written(change, is_made=not problem)
    if problem:
        return ToolAnswer(problem, is_error=True)
    desk.note_seen(plan.place.path, sha256)
    verb = "changed" if plan.base_sha256 else "written"
    said = f"{plan.place.shown} is {verb}: {count(added, 'line')} added, {removed:,} removed."
    if len(hunks) < len(judged.hunks):
        left = [f"{hunk.first_line}" for hunk in judged.hunks if hunk not in hunks]
        where = f"change at line {left[0]}" if len(left) == 1 else f"changes at lines {', '.join(left)}"
        said += f" The person left out the {where}: read the file before you change it again."
    return ToolAnswer(said, changes=(change,))
