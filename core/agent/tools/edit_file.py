"""`edit_file`: a text in a file replaced by another."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core.agent.guarded_files import MAX_FILE_BYTES, judge_path
from core.agent.tool import Judged, Tool, ToolDesk, schema_of
from core.agent.tools.arguments import Described, arguments_of, refused
from core.agent.tools.file_change import judge_write, run_write, text_to_write
from core.base.text import clean
from core.values.agent import ActKind


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
    schema_of(
        "edit_file",
        "Replaces a text in a file of the project that was read before.",
        EditFile,
    ),
    ActKind.EDIT,
    _judge,
    run_write,
    keeps_order=True,  # only what was read may be written
)
