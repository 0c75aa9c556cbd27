"""`edit_file`: a text in a file replaced by another."""

from __future__ import annotations

import hashlib
import os
from typing import Annotated

import msgspec

from core.agent.guarded_files import MAX_FILE_BYTES, ToolPath, judge_path, read_guarded, write_guarded
from core.agent.hunks import Difference, counts, difference, in_own_form, unified
from core.agent.tool import Described, Judged, Tool, ToolAnswer, ToolDesk, arguments_of, refused, schema_of
from core.agent.tool_policy import EDIT_GRANT
from core.kernel.figures import count
from core.kernel.frame import clean
from core.kernel.values.agent import ActKind, FileChange
from core.talk.context.file_reader import read_content

# Writing of one file for `edit_file` and `write_file`: judged as a difference, done as far as it was taken.

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
    """Text of a file as models read it, with the details to write it back in its own form.

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
    """Read a file that is to be changed: only one that the model has read as it is now may be. Raises nothing."""
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
    return FileText(text=content.text, sha256=found.sha256, raw=raw.removeprefix(_BOM), start=start)


def judge_write(place: ToolPath, file: FileText, new: str, title: str, desk: ToolDesk) -> Judged:
    """Judge a change of a file. `new`: its text, LF. Only one inside the project may be granted for the discussion."""
    change = difference(file.text, clean(new))
    if file.sha256 and not change.changes:
        return refused(ActKind.EDIT, title, f"{place.shown} would stay as it is: nothing to write.")
    return Judged(
        kind=ActKind.EDIT,
        title=title,
        detail=place.path,
        reasons=place.write_reasons,
        path=place.path,
        base_sha256=file.sha256,
        hunks=change.hunks,
        grant=EDIT_GRANT if place.root == os.path.realpath(desk.places.root) else "",
        plan=WritePlan(
            place=place, base_sha256=file.sha256, change=in_own_form(change, file.raw), start=file.start
        ),
    )


def run_write(judged: Judged, desk: ToolDesk, taken: tuple[int, ...] | None) -> ToolAnswer:
    """Write what was judged, as far as it was taken."""
    plan: WritePlan = judged.plan
    hunks = judged.hunks
    if taken is not None and hunks:
        hunks = tuple(hunk for at, hunk in enumerate(hunks) if at in taken)
        if not hunks:
            return ToolAnswer(
                text="The person took none of these changes: nothing was written.", is_error=True
            )
    data = f"{plan.start}{plan.change.taken(taken)}".encode("utf-8", "replace")
    before = read_guarded(plan.place)
    if before.problem or before.sha256 != plan.base_sha256:
        said = before.problem or f"{plan.place.shown} has changed since this was asked: nothing was written."
        return ToolAnswer(text=said, is_error=True)
    sha256 = hashlib.sha256(data).hexdigest()
    added, removed = counts(hunks)
    change = FileChange(
        path=plan.place.path,
        turn_id=desk.turn_id,
        before_sha256=plan.base_sha256,
        after_sha256=sha256,
        added=added,
        removed=removed,
        difference=unified(hunks),
    )
    desk.keep_before(change, before.data)
    problem = write_guarded(plan.place, data, plan.base_sha256)
    desk.note_written(change, is_made=not problem)
    if problem:
        return ToolAnswer(text=problem, is_error=True)
    desk.note_seen(plan.place.path, sha256)
    verb = "changed" if plan.base_sha256 else "written"
    said = f"{plan.place.shown} is {verb}: {count(added, 'line')} added, {removed:,} removed."
    if len(hunks) < len(judged.hunks):
        left = [f"{hunk.first_line}" for hunk in judged.hunks if hunk not in hunks]
        where = f"change at line {left[0]}" if len(left) == 1 else f"changes at lines {', '.join(left)}"
        said += f" The person left out the {where}: read the file before you change it again."
    return ToolAnswer(text=said, changes=(change,))


class EditFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `edit_file`."""

    path: Annotated[str, Described(description="Relative to the project, or absolute.", min_length=1)]
    old_text: Annotated[
        str,
        Described(
            description="As it stands in the file, without line numbers, long enough to stand there once."
        ),
    ]
    new_text: Annotated[str, Described(description="What takes its place; may be empty.")]
    every_place: Annotated[bool, Described(description="Replace it wherever it stands.")] = False


def _judge(arguments_json: str, desk: ToolDesk) -> Judged:
    asked = arguments_of(ActKind.EDIT, "Change a file", arguments_json, EditFile)
    if isinstance(asked, Judged):
        return asked
    place = judge_path(asked.path, desk.places)
    title = f"Change {place.shown or asked.path}"
    if place.problem:
        return refused(ActKind.EDIT, title, place.problem)
    file = text_to_write(place, desk)
    if file.problem or not file.sha256:
        problem = file.problem or f"There is no file {place.shown!r}: write_file makes one."
        return refused(ActKind.EDIT, title, problem)
    old, new = clean(asked.old_text), clean(asked.new_text)
    problem = _misfit(file.text, old, asked, place.shown)
    if problem:
        return refused(ActKind.EDIT, title, problem)
    places = file.text.count(old) if asked.every_place else 1
    if len(file.text) + places * (len(new) - len(old)) > MAX_FILE_BYTES:
        return refused(ActKind.EDIT, title, f"A file may have {MAX_FILE_BYTES:,} bytes.")
    return judge_write(place, file, file.text.replace(old, new, places), title, desk)


def _misfit(text: str, old: str, asked: EditFile, shown: str) -> str:
    if not old:
        return "`old_text` is empty."
    found = text.count(old)
    if found == 0:
        hint = _nearly(text, old)
        return f"`old_text` does not stand in {shown}{hint}."
    if found > 1 and not asked.every_place:
        lines = _lines_of(text, old)
        return f"`old_text` stands in {shown} {found:,} times (lines {lines}): give more of it, or set `every_place`."
    return ""


def _nearly(text: str, old: str) -> str:
    """Hint at the line that is like the first of a text which does not match as a whole; empty where that says nothing."""
    first = next((line.strip() for line in old.split("\n") if line.strip()), "")
    if len(first) < 4:
        return ""
    rows = [number for number, line in enumerate(text.split("\n"), 1) if line.strip() == first]
    return f"; its first line is like line {rows[0]:,}: compare white space and what follows" if rows else ""


def _lines_of(text: str, old: str) -> str:
    numbers: list[int] = []
    at = text.find(old)
    while at >= 0 and len(numbers) < 10:
        numbers.append(text.count("\n", 0, at) + 1)
        at = text.find(old, at + len(old))
    return ", ".join(f"{number:,}" for number in numbers)


TOOL = Tool(
    schema=schema_of(
        "edit_file",
        "Replaces a text in a file of the project that was read before.",
        EditFile,
    ),
    kind=ActKind.EDIT,
    judge=_judge,
    run=run_write,
    keeps_order=True,  # only what was read may be written
)


# `write_file`: a file written whole.


class WriteFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `write_file`."""

    path: Annotated[str, Described(description="Relative to the project, or absolute.", min_length=1)]
    text: Annotated[str, Described(description="The whole file.")]


def _write_file_judge(arguments_json: str, desk: ToolDesk) -> Judged:
    asked = arguments_of(ActKind.EDIT, "Write a file", arguments_json, WriteFile)
    if isinstance(asked, Judged):
        return asked
    place = judge_path(asked.path, desk.places)
    title = f"Write {place.shown or asked.path}"
    if place.problem or place.path == place.root:
        return refused(ActKind.EDIT, title, place.problem or "This is a folder.")
    if len(asked.text.encode("utf-8", "replace")) > MAX_FILE_BYTES:
        return refused(ActKind.EDIT, title, f"A file may have {MAX_FILE_BYTES:,} bytes.")
    file = text_to_write(place, desk)
    if file.problem:
        return refused(ActKind.EDIT, title, file.problem)
    return judge_write(place, file, asked.text, title, desk)


WRITE_FILE = Tool(
    schema=schema_of(
        "write_file",
        "Writes a text file of the project whole; missing folders are made. A file that is there must have been read "
        "before; to change parts of it use edit_file.",
        WriteFile,
    ),
    kind=ActKind.EDIT,
    judge=_write_file_judge,
    run=run_write,
    keeps_order=True,  # only what was read may be written
)
