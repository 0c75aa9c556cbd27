"""Table of the tools that a model can be given."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

from core.agent.tool import Judged, Tool, ToolAnswer, ToolDesk
from core.agent.tools import bash, edit_file, journal, read_file, search_files, turn_tools, web_fetch
from core.kernel.language import tr
from core.kernel.values.agent import ActKind
from core.kernel.values.stack import ToolSchema
from core.retrieval.retrieval_tools import TOOLS as SCHEMAS

# `search_notes` and `read_note`, as tools of a turn: answered by the retrieval's own.

_TITLES = {"search_notes": tr("Search notes and past discussions"), "read_note": tr("Read a note")}


def _judge(schema: ToolSchema, arguments_json: str, _desk: ToolDesk) -> Judged:
    return Judged(kind=ActKind.OWN, title=_TITLES[schema.name], plan=arguments_json)


def _run(schema: ToolSchema, judged: Judged, desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    answer = desk.use_memory(schema.name, judged.plan)
    return ToolAnswer(text=answer.text, is_error=answer.is_error)


MEMORY_TOOLS = tuple(
    Tool(schema=each, kind=ActKind.OWN, judge=partial(_judge, each), run=partial(_run, each))
    for each in SCHEMAS
)
"""Both of them, by name. They read what is ours, and never ask."""


TOOLS: Mapping[str, Tool] = MappingProxyType(
    {
        tool.schema.name: tool
        for tool in (
            read_file.TOOL,
            edit_file.WRITE_FILE,
            edit_file.TOOL,
            search_files.TOOL,
            search_files.GLOB,
            journal.JOURNAL,
            turn_tools.YIELD_TO_USER,
            turn_tools.TODO,
            read_file.VIEW_IMAGE,
            web_fetch.TOOL,
            journal.DELEGATE,
            *bash.TOOLS,
            *MEMORY_TOOLS,
        )
    }
)
"""Every tool by name; the order counts for nothing, since the wire has them sorted."""
