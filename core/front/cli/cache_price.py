"""Price of a warm cache on the command line: `why`, and a change that leaves it, said before it is made."""

from __future__ import annotations

import secrets
from typing import Any

from core.app.app_messages import Command
from core.app.execution import act
from core.app.warm_loss import warm_loss
from core.front.cli.arguments import Options
from core.front.cli.output import Console
from core.front.cli.questions import can_ask, confirm
from core.front.cli.session import FrontEnd, find_discussion, session
from core.kernel import figures as fmt
from core.kernel.errors import SlopError
from core.kernel.language import tr
from core.kernel.values.state import AppState
from core.services.settings.settings_messages import PriceModels
from core.talk.caching.warmth import CacheStatus, CacheWhy, next_words, standing_of, why_of
from core.talk.context.context_messages import MeasureContext
from core.talk.discussion.discussion_messages import SelectDiscussion

PLAN_S = 5.0
"""Longest wait for the plan of the next request, from which its cost is known."""


def measured(front: FrontEnd, chosen: str) -> AppState:
    """The state with the plan of a discussion's next request, or as it is where none comes in time."""
    front.send(MeasureContext(chosen, secrets.token_hex(8)))
    return front.wait_for(lambda s: chosen in s.caching.plans, PLAN_S) or front.snapshot()


def is_priced(state: AppState) -> bool:
    """True once the price of every model that is offered was looked up."""
    known = state.config.prices
    offered = ((name, model.id) for name, models in state.config.models.items() for model in models)
    return state.config.is_settled and all(key in known for key in offered)


def change(front: FrontEnd, console: Console, chosen: str, command: Command) -> None:
    """Change a discussion. Where that leaves a warm cache unused, its price is said first, and asked about on a terminal.

    Raises:
        SlopError: the person says no; nothing was changed.
    """
    state = front.snapshot()
    if standing_of(state, chosen).status is CacheStatus.HELD:
        front.send(PriceModels())
        state = state if chosen in state.caching.plans else measured(front, chosen)
        state = front.wait_for(is_priced, PLAN_S) or state
        loss = warm_loss(state, command)
        if loss is not None:
            agree(console, loss.sentence, loss.verb)
    act(front, command)


def agree(console: Console, sentence: str, verb: str) -> None:
    """Say what a change costs, and ask on a terminal. Who asked for it elsewhere, a script, has said yes.

    Raises:
        SlopError: the person says no.
    """
    if not can_ask(console):
        console.note(tr("manual-slop: {sentence}", sentence=sentence))
        return
    if not confirm(console, f"{sentence} {verb}?", is_yes=False):
        raise SlopError(
            tr("The program changed nothing and sent nothing"),
            remedy=tr("Send the message without that option"),
        )


def run_why(options: Options, front: FrontEnd, console: Console) -> int:
    """Print why a discussion's cache was missed, and what the next message will cost. Sends nothing. Returns 0."""
    with session(front, console) as found:
        chosen = find_discussion(found, options.given.id)
        act(front, SelectDiscussion(chosen))
        with console.waiting(tr("Planning the next request")):
            state = measured(front, chosen)
    why, name = why_of(state, chosen), state.discussions.summaries[chosen].meta.name
    if console.is_json:
        console.json(_data(chosen, why))
        return 0
    console.line(name)
    for line in why_lines(state, why):
        console.line(line)
    return 0


def why_lines(state: AppState, why: CacheWhy) -> list[str]:
    """The same value as the Caching panel shows, a line each, newest break last."""
    lines = [f"{fmt.moment(one.at, state.now)}, {one.model}: {one.text}" for one in why.breaks] or [
        tr("Every request in this log began with the whole request before it.")
    ]
    if why.missed:
        lines.append(tr("Cache miss last time: {missed}", missed=why.missed))
    if why.coming is not None:
        lines.append(why.coming.text)
    return [*lines, *filter(None, (next_words(why),)), *why.reasons]


def _data(chosen: str, why: CacheWhy) -> dict[str, Any]:
    request = why.request
    return {
        "discussion": chosen,
        "breaks": [{"at": one.at.isoformat(), "model": one.model, "text": one.text} for one in why.breaks],
        "missed": why.missed,
        "coming": None if why.coming is None else why.coming.text,
        "next": None
        if request is None
        else {
            "tokens_est": request.tokens_est,
            "read_tokens_est": request.read_tokens_est,
            "write_tokens_est": request.write_tokens_est,
            "fresh_tokens_est": request.fresh_tokens_est,
            "cost_usd": request.cost_usd,
        },
        "reasons": list(why.reasons),
    }
