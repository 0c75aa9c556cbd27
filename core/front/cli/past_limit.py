"""A send that a spend limit stands against: asked about on a terminal, else refused with the remedy."""

from __future__ import annotations

from core.front.cli.output import Console
from core.front.cli.questions import can_ask, confirm
from core.front.cli.stops import in_terminal
from core.kernel.errors import SlopError
from core.kernel.values.outcomes import CommandOutcome
from core.kernel.values.usage import UNPRICED_REMEDY, LimitScope, SpendRefusal
from core.talk.turn.turn_messages import PaidCommand

_PAST_LIMIT = "Send it with --over-limit, or raise the limit in the settings"
_PAST_UNREAD = "Correct the file, or send it with --over-limit"
_UNPRICED = f"Send it with --over-limit. {in_terminal(UNPRICED_REMEDY)}"


def agreed(console: Console, refusal: SpendRefusal) -> PaidCommand | None:
    """The refused send with the person's yes; None where they say no, or nobody can be asked."""
    if not isinstance(refusal.confirmed, PaidCommand) or not can_ask(console):
        return None
    is_yes = confirm(console, f"{refusal.sentence} Send it all the same?", is_yes=False)
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
