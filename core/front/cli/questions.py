"""Questions on the terminal of a command: before tool calls, where a spend limit stands against a send, over a harvest's money."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import Protocol

from core.agent.agent_messages import ApproveCall, RefuseCall
from core.agent.delegation import questions_of, unpriced_task
from core.agent.tool import escaped
from core.app.controller import wall_clock
from core.front.cli.arguments import UsageError
from core.front.cli.output import Console
from core.front.cli.session import FrontEnd
from core.front.cli.stops import in_terminal
from core.kernel.errors import SlopError
from core.kernel.language import tr
from core.kernel.values.agent import Approval, ToolCall
from core.kernel.values.harvest import HarvestUse
from core.kernel.values.state import CommandOutcome
from core.kernel.values.usage import UNPRICED_REMEDY, LimitScope, Payment, SpendRefusal
from core.knowledge.harvest.harvest_messages import HarvestRun
from core.services.spending.harvest_costs import Payments
from core.services.spending.limits import past_limit, reached, unpriced_limits
from core.services.spending.pricing import model_price
from core.services.spending.shared_reserves import SharedReserves
from core.talk.discussion.log import spent_today_usd
from core.talk.turn.turn_messages import PaidCommand

# Questions before tool calls, on the terminal of a command.

# The one place where a command asks a person on the terminal: what was pressed before the question stood
# there is no answer.


def can_ask(console: Console) -> bool:
    """True if a person reads standard error, where questions stand, and types into standard input."""
    return sys.stdin is not None and sys.stdin.isatty() and console.err.isatty()


def check_terminal(console: Console, why: str, remedy: str = tr("Add --yes to confirm beforehand")) -> None:
    """Raise UsageError where nobody can be asked, before work is done that would be in vain."""
    if not can_ask(console):
        raise UsageError(tr("{why}, but there is no terminal to ask on", why=why), remedy=remedy)


def confirm(console: Console, question: str, *, is_yes: bool) -> bool:
    """Ask for a yes to what was shown before (`Console.shown`).

    Args:
        question: one line; is_yes: whether `--yes` was given.

    Raises:
        UsageError: nobody can be asked.
    """
    if is_yes:
        return True
    check_terminal(console, tr("This command needs your confirmation"))
    return ask(console, question, "[y/N]").lower() in {"y", "yes"}


def confirm_final(console: Console, question: str, word: str, *, is_yes: bool) -> bool:
    """Ask for a yes to what cannot be undone: the person types a word, for which no single key stands. Else as `confirm`."""
    if is_yes:
        return True
    check_terminal(console, tr("This command needs your confirmation"))
    return ask(console, question, tr("Type `{word}` to confirm:", word=word)).lower() == word


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


def ask_all(
    front: FrontEnd, console: Console, discussion_id: str, told: set[str], *, over_limit: bool = False
) -> None:
    """Ask the person about each call that waits and was not asked about; where nobody can be asked it is a no.

    Args:
        told: questions that were answered, by `question_key`; grows.
        over_limit: whether `--over-limit` was given: a yes to every request of the turn, and to those of its tasks.
    """
    state = front.snapshot()
    for asker, call in questions_of(state, discussion_id):
        approval, key = call.approval, question_key(asker, call)
        if approval is None or key in told:
            continue
        told.add(key)
        if over_limit and unpriced_task(state, asker, call) is not None:
            front.send(ApproveCall(discussion_id=asker, call_id=call.id, approval_id=approval.id))
            continue
        if asker != discussion_id:
            console.note(
                tr(
                    "manual-slop: the task {name!r} asks",
                    name=escaped(state.discussions.summaries[asker].meta.name),
                )
            )
        if not can_ask(console):
            console.note(
                tr(
                    "manual-slop: refused, as no terminal was there to ask you: {title}",
                    title=escaped(approval.title),
                )
            )
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
        return "\n".join((*rows, tr("Allow this?")))
    grant = "; ".join(escaped(row) for row in approval.grant.split("\n"))
    return "\n".join((*rows, tr("a: always in this discussion: {grant}", grant=grant), tr("Allow this?")))


def _one_line(text: str) -> str:
    return escaped(" ".join(text.split()))


# A send that a spend limit stands against: asked about on a terminal, else refused with the remedy.

_PAST_LIMIT = tr("Send the message with --over-limit, or raise the limit in the settings")
_PAST_UNREAD = tr("Correct the settings file, which holds your limits, or add --over-limit")
_UNPRICED = tr(
    "Send the message with --over-limit. {UNPRICED_REMEDY}", UNPRICED_REMEDY=in_terminal(UNPRICED_REMEDY)
)


def agreed(console: Console, refusal: SpendRefusal) -> PaidCommand | None:
    """The refused send with the person's yes; None where they say no, or nobody can be asked."""
    if not isinstance(refusal.confirmed, PaidCommand) or not can_ask(console):
        return None
    is_yes = confirm(console, tr("{sentence} Send anyway?", sentence=refusal.sentence), is_yes=False)
    return refusal.confirmed if is_yes else None


def raise_unsent(outcome: CommandOutcome | None) -> None:
    """Raise what stood against the send: nothing was called. The words stay with the person."""
    if outcome is None or outcome.is_done:
        return
    problem, refusal = outcome.problem.removesuffix("."), outcome.refusal
    if refusal is None:
        raise SlopError(problem, remedy=outcome.remedy)
    is_unread = refusal.reached[0].scope is LimitScope.UNKNOWN
    remedy = _PAST_UNREAD if is_unread else _PAST_LIMIT
    raise SlopError(problem, remedy=_UNPRICED if refusal.is_unpriced else remedy)


# The day's money of a harvest from a shell, of which other programs on the home spend as well.

RESERVE = "harvest"
"""Key of the call under way, among what this program reserves."""


class PaidRun(Protocol):
    """A run, as far as its money goes."""

    @property
    def home(self) -> Path: ...  # noqa: D102
    @property
    def run(self) -> HarvestRun: ...  # noqa: D102
    @property
    def limit_usd(self) -> float | None: ...  # noqa: D102
    @property
    def unread(self) -> str: ...  # noqa: D102


class SharedMoney:
    """The day's money, of which other programs on the home spend as well: it is counted anew before each call."""

    def __init__(self, chosen: PaidRun, paid: Payments, console: Console) -> None:
        self.reserves = SharedReserves(chosen.home, wall_clock)
        self._chosen, self._paid, self._console = chosen, paid, console
        self._is_agreed = False

    def _unpriced(self, question: str) -> str:
        """Sentence that the limit cannot hold because nobody knows the price; empty where it can, or the person says go on.

        One yes holds for the run, as `--over-limit` does.
        """
        run, limit = self._chosen.run, self._chosen.limit_usd
        if limit is None or self._is_agreed or model_price(run.provider, run.model, wall_clock()) is not None:
            return ""
        (stop,) = unpriced_limits(run.model or run.provider, ((LimitScope.DAY, limit),))
        if can_ask(self._console) and confirm(self._console, f"{stop.sentence} {question}", is_yes=False):
            self._is_agreed = True
            return ""
        self._console.note(
            tr(
                "manual-slop: to go on, add --over-limit. {UNPRICED_REMEDY}",
                UNPRICED_REMEDY=in_terminal(UNPRICED_REMEDY),
            )
        )
        return stop.sentence

    def let_go(self, usd: float) -> str:
        """Reserve for a call. Returns why it is not to be made, empty where it is."""
        if self._chosen.unread:
            self._console.note(tr("manual-slop: to go on, add --over-limit, or correct the settings"))
            return self._chosen.unread
        others = self.reserves.claim(
            RESERVE, usd
        )  # first: what is paid after it is in the logs, or still reserved
        limit = self._chosen.limit_usd
        if limit is None:
            return ""
        spent = max(spent_today_usd(self._chosen.home, wall_clock()), self._paid.spent_usd)
        stop = reached(LimitScope.DAY, limit, spent, others.reserved_usd, is_estimate=False)
        if stop is None:
            if why := self._unpriced(tr("Read anyway?")):
                self.reserves.settle(RESERVE, {})
            return why
        self.reserves.settle(RESERVE, {})
        self._console.note(tr("manual-slop: to go on, add --over-limit, or raise the limit in the settings"))
        return stop.sentence

    def let_batch_go(self, usd: float) -> str:
        """Decide over a batch. One that would go past the limit needs a yes. Returns as `let_go`."""
        others = self.reserves.claim(RESERVE, 0.0)
        self.reserves.settle(RESERVE, {})
        spent = max(spent_today_usd(self._chosen.home, wall_clock()), self._paid.spent_usd)
        why = past_limit(self._chosen.limit_usd, spent, others.reserved_usd, usd)
        if not why:
            return self._unpriced(tr("Send the batch anyway?"))
        if can_ask(self._console) and confirm(
            self._console, tr("{why} Send the batch anyway?", why=why), is_yes=False
        ):
            return ""
        self._console.note(tr("manual-slop: to go on, add --over-limit, or raise the limit in the settings"))
        return why

    def paid(self, use: HarvestUse) -> None:
        """The call is over, and what it cost is on disk."""
        cost = use.cost_usd or 0.0
        payments = {use.payment_id: Payment(cost, use.usage.is_estimate)} if cost else {}
        self.reserves.settle(RESERVE, payments)
