"""`glob`: names of files that a pattern finds."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core.agent.guarded_files import judge_path
from core.agent.tool import Judged, Tool, ToolAnswer, ToolDesk, schema_of
from core.agent.tools.arguments import Described, arguments_of, refused
from core.agent.tools.walk import MAX_WALKED, Walk, walk
from core.base.frame import frame
from core.values.agent import ActKind

MAX_NAMES = 500


class GlobFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `glob`."""

    pattern: Annotated[
        str, Described(description="As `src/**/*.py`; `*` is one name, `**` any folders.", min_length=1)
    ]
    folder: Annotated[str, Described(description="Where to begin; empty: the project.")] = ""
    with_ignored: Annotated[bool, Described(description="Also what .gitignore leaves out.")] = False


def _judge(arguments_json: str, desk: ToolDesk) -> Judged:
    asked = arguments_of(ActKind.READ, "Find files", arguments_json, GlobFiles)
    if isinstance(asked, Judged):
        return asked
    title = f"Find files {asked.pattern}"
    place = judge_path(asked.folder or ".", desk.places)
    if place.problem:
        return refused(ActKind.READ, title, place.problem)
    return Judged(ActKind.READ, title, detail=place.path, plan=(place, asked))


def _run(judged: Judged, desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    place, asked = judged.plan
    walked = walk(place, asked.pattern, desk.places, with_ignored=asked.with_ignored)
    if isinstance(walked, str):
        return ToolAnswer(walked, is_error=True)
    return ToolAnswer(_text(walked, asked))


def _text(walked: Walk, asked: GlobFiles) -> str:
    names = [place.shown for place in walked.files[:MAX_NAMES]]
    rest = len(walked.files) - len(names)
    said = [f"{rest:,} more: narrow the pattern.\n"] if rest else []
    if walked.is_cut:
        return (
            f"More than {MAX_WALKED:,} files match, or it takes too long: narrow the pattern or the folder.\n"
        )
    if walked.ignored:
        said.append(f"{walked.ignored:,} are left out by .gitignore.\n")
    if not names:
        return "".join(["Nothing found. Hidden folders are entered only when named.\n", *said])
    return frame("files", "\n".join(names), pattern=asked.pattern) + "".join(said)


TOOL = Tool(
    schema_of(
        "glob",
        "Finds files of the project by their names. What .gitignore leaves out is left out; hidden folders are entered "
        "only when named.",
        GlobFiles,
    ),
    ActKind.READ,
    _judge,
    _run,
)
