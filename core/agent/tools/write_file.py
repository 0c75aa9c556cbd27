"""`write_file`: a file written whole."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core.agent.guarded_files import MAX_FILE_BYTES, judge_path
from core.agent.tool import Judged, Tool, ToolDesk, schema_of
from core.agent.tools.arguments import Described, arguments_of, refused
from core.agent.tools.file_change import judge_write, run_write, text_to_write
from core.values.agent import ActKind


class WriteFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Arguments of `write_file`."""

    path: Annotated[str, Described(description="Relative to the project, or absolute.", min_length=1)]
    text: Annotated[str, Described(description="The whole file.")]


def _judge(arguments_json: str, desk: ToolDesk) -> Judged:
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


TOOL = Tool(
    schema_of(
        "write_file",
        "Writes a text file of the project whole; missing folders are made. A file that is there must have been read "
        "before; to change parts of it use edit_file.",
        WriteFile,
    ),
    ActKind.EDIT,
    _judge,
    run_write,
    keeps_order=True,  # only what was read may be written
)
