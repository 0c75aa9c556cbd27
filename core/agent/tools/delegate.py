"""`delegate`: a task for a discussion of its own, whose last words are the result."""

from __future__ import annotations

from core.agent.delegation import NAME, NAME_CHARS, DelegateTask
from core.agent.guarded_files import judge_path
from core.agent.tool import Judged, Tool, ToolAnswer, ToolDesk, schema_of
from core.agent.tools.arguments import arguments_of, refused
from core.base.text import one_line
from core.values.agent import ActKind

_TITLE = "Give a task away"


def _judge(arguments_json: str, desk: ToolDesk) -> Judged:
    """Nothing is done before the child's own calls are judged: paths are only looked at."""
    asked = arguments_of(ActKind.OWN, _TITLE, arguments_json, DelegateTask)
    if isinstance(asked, Judged):
        return asked
    if asked.files and not desk.places.is_trusted:
        return refused(ActKind.OWN, _TITLE, "The person does not trust this folder: no file of it is read.")
    for path in asked.files:
        if problem := judge_path(path, desk.places).problem:
            return refused(ActKind.OWN, _TITLE, problem)
    title = f"Give away: {one_line(asked.task, NAME_CHARS)}"
    return Judged(ActKind.OWN, title, detail=asked.task, plan=asked)


def _run(_judged: Judged, _desk: ToolDesk, _taken: tuple[int, ...] | None) -> ToolAnswer:
    return ToolAnswer("Not done: the program itself does this, not a tool.", is_error=True)


TOOL = Tool(
    schema_of(
        NAME,
        "Gives a task to a model in a conversation of its own, which sees nothing of this one. Its last words are the "
        "result. Ask for several at once where they are independent.",
        DelegateTask,
    ),
    ActKind.OWN,
    _judge,
    _run,
)
