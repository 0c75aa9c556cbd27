"""Questions before tool calls, on the terminal of a command."""

from __future__ import annotations

import getpass
import sys

from core.agent.agent_messages import ApproveCall, RefuseCall
from core.agent.delegation import questions_of
from core.agent.tool import escaped
from core.front.cli.output import Console
from core.front.cli.session import FrontEnd, UsageError
from core.kernel.values.agent import Approval, ToolCall

# The one place where a command asks a person on the terminal: what was pressed before the question stood
# there is no answer.


def can_ask(console: Console) -> bool:
    """True if a person reads standard error, where questions stand, and types into standard input."""
    return sys.stdin is not None and sys.stdin.isatty() and console.err.isatty()


def check_terminal(console: Console, why: str, remedy: str = "Add --yes to say it beforehand") -> None:
    """Raise UsageError where nobody can be asked, before work is done that would be in vain."""
    if not can_ask(console):
        raise UsageError(f"{why}, and there is no terminal to ask on", remedy=remedy)


def confirm(console: Console, question: str, *, is_yes: bool) -> bool:
    """Ask for a yes to what was shown before (`Console.shown`).

    Args:
        question: one line; is_yes: whether `--yes` was given.

    Raises:
        UsageError: nobody can be asked.
    """
    if is_yes:
        return True
    check_terminal(console, "This needs your yes")
    return ask(console, question, "[y/N]").lower() in {"y", "yes"}


def confirm_final(console: Console, question: str, word: str, *, is_yes: bool) -> bool:
    """Ask for a yes to what cannot be undone: the person types a word, for which no single key stands. Else as `confirm`."""
    if is_yes:
        return True
    check_terminal(console, "This needs your yes")
    return ask(console, question, f"Type `{word}` to do it:").lower() == word


def ask(console: Console, question: str, mark: str) -> str:
    """Ask on the terminal, which must be one (`can_ask`).

    Args:
        question: what is asked, whole; mark: what stands behind it once an answer counts.

    Returns:
        The line that was typed since then, stripped; empty where none can be had: no answer is a no.
    """
    try:
        with console.resting():
            console.aside(f"{question} ")
            _drop_typed()
            console.aside(f"{mark} ")
            return sys.stdin.readline().strip()
    except (
        OSError,
        UnicodeDecodeError,
    ):  # the terminal has gone, or is another program's; or no text was typed
        return ""


def secret_line(console: Console, question: str, most_chars: int) -> str:
    """A secret that is typed without echo, or the first line of a pipe; empty where none can be had.

    Args:
        question: asked on a terminal alone; most_chars: of a line that is read from a pipe.
    """
    try:
        if sys.stdin is None or not sys.stdin.isatty():
            return "" if sys.stdin is None else sys.stdin.readline(most_chars)
        with console.resting():
            console.aside(question)
            _drop_typed()
            return getpass.getpass(": ")
    except (OSError, UnicodeDecodeError, EOFError):
        return ""


def _drop_typed() -> None:
    """Forget what was typed before the question stood there. Raises OSError: that cannot be forgotten."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
        return
    import termios

    try:
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    except termios.error as error:
        raise OSError(*error.args) from error


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
            front.send(RefuseCall(discussion_id=asker, call_id=call.id, words=NOBODY))
            continue
        answer = ask(console, question(approval), "[y/a/N]" if approval.grant else "[y/N]").lower()
        if answer in {"y", "yes"} or (answer in {"a", "all"} and approval.grant):
            always = answer.startswith("a")
            front.send(
                ApproveCall(
                    discussion_id=asker, call_id=call.id, approval_id=approval.id, for_discussion=always
                )
            )
        else:
            front.send(RefuseCall(discussion_id=asker, call_id=call.id))


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
