"""`search_notes` and `read_note`, as tools of a turn: answered by the retrieval's own."""

from __future__ import annotations

from functools import partial

from core.agent.tool import Judged, Tool, ToolAnswer, ToolDesk
from core.retrieval.tools import TOOLS as SCHEMAS
from core.values.agent import ActKind
from core.values.stack import ToolSchema

_TITLES = {"search_notes": "Search notes and past discussions", "read_note": "Read a note"}


def _judge(schema: ToolSchema, arguments_json: str, _desk: ToolDesk) -> Judged:
    return Judged(ActKind.OWN, _TITLES[schema.name], plan=arguments_json)


def _run(schema: ToolSchema, judged: Judged, desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    answer = desk.use_memory(schema.name, judged.plan)
    return ToolAnswer(answer.text, answer.is_error)


TOOLS = tuple(Tool(each, ActKind.OWN, partial(_judge, each), partial(_run, each)) for each in SCHEMAS)
"""Both of them, by name. They read what is ours, and never ask."""
