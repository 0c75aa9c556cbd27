"""`read_file`: lines of a file with their numbers."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core.agent.guarded_files import ToolPath, judge_path, key_reasons, read_guarded
from core.agent.tool import Judged, Tool, ToolAnswer, ToolDesk, ToolPlaces, schema_of
from core.agent.tools.arguments import Described, arguments_of, refused
from core.base.figures import count
from core.base.frame import frame
from core.context.file_content import read_content
from core.context.key_gate import KeyGate
from core.values.agent import ActKind

MAX_LINES, MAX_LINE_CHARS, MAX_CHARS = 2_000, 2_000, 60_000
_HARD_LINK = "It has another name elsewhere (a hard link), where it may be something else."


class ReadFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `read_file`."""

    path: Annotated[str, Described(description="Relative to the project, or absolute.", min_length=1)]
    first_line: Annotated[int, Described(description="From 1.", ge=1)] = 1
    lines: Annotated[int, Described(description="Most lines.", ge=1, le=MAX_LINES)] = MAX_LINES


class ReadPlan(msgspec.Struct, frozen=True):
    """File and lines that are read."""

    place: ToolPath
    asked: ReadFile


def judge_read(kind: ActKind, title: str, place: ToolPath, plan: object, places: ToolPlaces) -> Judged:
    """Judge the reading of a file: those that hold secrets, and those with a second name, are asked about."""
    if place.problem:
        return refused(kind, title, place.problem)
    found = read_guarded(place)
    problem = found.problem or ("" if found.data is not None else f"There is no file {place.shown!r}.")
    if problem:
        return refused(kind, title, problem)
    reasons = key_reasons(place, found, KeyGate(place.root, places.shown))
    reasons = (*reasons, *((_HARD_LINK,) if found.has_other_names else ()))
    return Judged(kind, title, detail=place.path, reasons=reasons, path=place.path, plan=plan)


def _judge(arguments_json: str, desk: ToolDesk) -> Judged:
    asked = arguments_of(ActKind.READ, "Read a file", arguments_json, ReadFile)
    if isinstance(asked, Judged):
        return asked
    place = judge_path(asked.path, desk.places)
    return judge_read(
        ActKind.READ, f"Read {place.shown or asked.path}", place, ReadPlan(place, asked), desk.places
    )


def _run(judged: Judged, desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    plan: ReadPlan = judged.plan
    found = read_guarded(plan.place)
    if found.problem or found.data is None:
        return ToolAnswer(found.problem or f"{plan.place.shown} is gone.", is_error=True)
    content = read_content(found.data)
    if content.problem is not None:
        return ToolAnswer(f"{plan.place.shown} is no text. {content.problem.detail}", is_error=True)
    desk.note_seen(plan.place.path, found.sha256)
    lines = content.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    first = plan.asked.first_line - 1
    if lines and first >= len(lines):
        return ToolAnswer(f"{plan.place.shown} has {count(len(lines), 'line')}.", is_error=True)
    rows, last = _numbered(lines, first, plan.asked.lines)
    more = "" if last >= len(lines) else f"It goes on: read from line {last + 1:,}.\n"
    shown = f"{first + 1}-{last}" if lines else "none"
    body = frame("file", rows, path=plan.place.shown, lines=shown, of=f"{len(lines)}")
    return ToolAnswer(body + more)


def _numbered(lines: list[str], first: int, most: int) -> tuple[str, int]:
    """Lines with their numbers, and the number of the last one. At least one is given."""
    rows: list[str] = []
    room = MAX_CHARS
    for number, line in enumerate(lines[first : first + most], first + 1):
        cut = line[:MAX_LINE_CHARS]
        rest = len(line) - len(cut)
        row = f"{number:>6}\t{cut}" + (f" […{count(rest, 'more character')}]" if rest else "") + "\n"
        if rows and len(row) > room:
            break
        rows.append(row)
        room -= len(row)
    return "".join(rows), first + len(rows)


TOOL = Tool(
    schema_of(
        "read_file",
        "Reads a text file of the project. Lines come with their numbers, which are no part of the file.",
        ReadFile,
    ),
    ActKind.READ,
    _judge,
    _run,
)
