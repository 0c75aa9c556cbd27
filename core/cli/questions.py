"""Questions before tool calls, on the terminal of a command."""

from __future__ import annotations

from core.agent.delegation import questions_of
from core.agent.escapes import escaped
from core.agent.messages import ApproveCall, RefuseCall
from core.cli.confirmation import ask, can_ask
from core.cli.output import Console
from core.cli.session import FrontEnd
from core.values.agent import Approval, ToolCall

NOBODY = "There is no terminal to ask on, so nobody was asked."
_INDENT = "    "


def ask_all(front: FrontEnd, console: Console, discussion_id: str, told: set[str]) -> None:
    """Ask the person about each call that waits and was not asked about; where nobody can be asked it is a no.

    Args:
        told: questions that were answered, by `question_key`; grows.
    """
    state = front.snapshot()
    for asker, call in questions_of(state, discussion_id):
        approval, key = call.approval, question_key(asker, call)
        if approval is None or key in told:
            continue
        told.add(key)
        if asker != discussion_id:
            console.note(
                f"manual-slop: asked by the task {escaped(state.discussions.summaries[asker].meta.name)!r}"
            )
        if not can_ask(console):
            console.note(f"manual-slop: refused, nobody could be asked: {escaped(approval.title)}")
            front.send(RefuseCall(asker, call.id, NOBODY))
            continue
        answer = ask(console, question(approval), "[y/a/N]" if approval.grant else "[y/N]").lower()
        if answer in {"y", "yes"} or (answer in {"a", "all"} and approval.grant):
            always = answer.startswith("a")
            front.send(ApproveCall(asker, call.id, approval.id, for_discussion=always))
        else:
            front.send(RefuseCall(asker, call.id))


def question_key(discussion_id: str, call: ToolCall) -> str:
    """Key of a question among those of several discussions."""
    return f"{discussion_id}/{call.question_id}"


def question(approval: Approval) -> str:
    """Question about a call: what it would do, whole, every control character shown, and why it is asked."""
    rows = [f"\n{_one_line(approval.title)}"]
    shown = (approval.detail, *(hunk.text.rstrip("\n") for hunk in approval.hunks))
    rows += [_INDENT + escaped(row) for text in filter(None, shown) for row in text.split("\n")]
    rows += [f"({_one_line(reason)})" for reason in approval.reasons]
    if not approval.grant:
        return "\n".join((*rows, "Let it?"))
    grant = "; ".join(escaped(row) for row in approval.grant.split("\n"))
    return "\n".join((*rows, f"a: from now on in this discussion: {grant}", "Let it?"))


def _one_line(text: str) -> str:
    return escaped(" ".join(text.split()))
