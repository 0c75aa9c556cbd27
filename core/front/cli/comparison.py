"""`send --compare`: one message to several models, each reply printed whole under the model's name."""

from __future__ import annotations

import secrets

from msgspec.structs import replace

from core.front.cli.arguments import Options
from core.front.cli.cache_price import measured
from core.front.cli.format import message_data, usage_line
from core.front.cli.output import Console
from core.front.cli.questions import agreed, raise_unsent
from core.front.cli.session import FrontEnd, UsageError
from core.kernel import figures as fmt
from core.kernel.language import tr
from core.kernel.values.discussion import ComparedModel, ComparedReply, OpenDiscussion
from core.kernel.values.state import AppState
from core.kernel.values.updates import is_busy, outcome_of
from core.services.settings.settings_messages import PriceModels
from core.services.spending.estimates import next_request, other_call_usd
from core.talk.turn.turn_messages import CancelReply, CompareReplies, PaidCommand

PRICES_S, STOP_S, NEVER_S = 2.0, 15.0, 1e9


def compared_models(state: AppState, given: str, *, without_memory: bool) -> tuple[ComparedModel, ...]:
    """The models that a person named: `PROVIDER/MODEL`, or a model that one provider has alone.

    Raises:
        UsageError: a name is not known, or several providers have it.
    """
    models = tuple(_named(state, name.strip()) for name in given.split(",") if name.strip())
    bare = (replace(models[0], has_memory=False),) if without_memory and models else ()
    return (*models, *bare)


def _named(state: AppState, name: str) -> ComparedModel:
    provider, slash, model = name.partition("/")
    if slash and model and provider in state.config.providers:
        return ComparedModel(provider=provider, model=model)
    owners = [key for key, models in state.config.models.items() if any(one.id == name for one in models)]
    if len(owners) == 1:
        return ComparedModel(provider=owners[0], model=name)
    what = (
        tr("Several providers have the model {name!r}", name=name)
        if owners
        else tr("No provider has the model {name!r}", name=name)
    )
    raise UsageError(
        what, remedy=tr("Write PROVIDER/{name}; `manual-slop models` lists the providers", name=name)
    )


def run_comparison(front: FrontEnd, console: Console, options: Options, chosen: str, text: str) -> int:
    """Put a message to the models, follow them to the end, and print what each said. Returns the exit code."""
    given = options.given
    models = compared_models(front.snapshot(), given.compare, without_memory=given.without_memory)
    _say_prices(front, console, chosen, models, text)
    asked: PaidCommand | None = CompareReplies(
        discussion_id=chosen, models=models, text=text, over_limit=given.over_limit
    )
    is_stopped, outcome = False, None
    while asked is not None:
        command_id = secrets.token_hex(8)
        front.send(replace(asked, command_id=command_id))
        try:
            with console.waiting(tr("Waiting for the replies")):
                state = front.wait_for(lambda s, name=command_id: _is_over(s, chosen, name), NEVER_S)  # type: ignore[misc]
        except KeyboardInterrupt:
            front.send(CancelReply(discussion_id=chosen))
            state, is_stopped = front.wait_for(lambda s: not is_busy(s, chosen), STOP_S), True
        outcome = None if state is None else outcome_of(state, command_id)
        refusal = outcome.refusal if outcome is not None else None
        asked = agreed(console, refusal) if refusal is not None and not is_stopped else None
    raise_unsent(outcome)
    return _print(console, options, front.snapshot().discussions.open[chosen], is_stopped=is_stopped)


def _is_over(state: AppState, chosen: str, command_id: str) -> bool:
    outcome = outcome_of(state, command_id)
    return outcome is not None and not (outcome.is_done and is_busy(state, chosen))


def _say_prices(
    front: FrontEnd, console: Console, chosen: str, models: tuple[ComparedModel, ...], text: str
) -> None:
    """Say what each is expected to cost before any of them is asked."""
    if next_request(front.snapshot(), chosen) is None:
        measured(front, chosen)
    front.send(PriceModels())
    keys = {(one.provider, one.model) for one in models}
    state = front.wait_for(lambda s: keys <= s.config.prices.keys(), PRICES_S) or front.snapshot()
    for one in models:
        usd = other_call_usd(state, chosen, one.provider, one.model, text)
        price = tr("price unknown") if usd is None else tr("about {usd}", usd=fmt.money(usd))
        console.note(tr("manual-slop: {one}: {price}", one=_name(one), price=price))


def _name(one: ComparedModel) -> str:
    return f"{one.provider}/{one.model}" + ("" if one.has_memory else tr(" without memory"))


def _print(console: Console, options: Options, opened: OpenDiscussion, *, is_stopped: bool) -> int:
    comparison = opened.comparison
    columns = comparison.replies if comparison is not None else ()
    if options.is_json:
        console.json({"discussion": opened.id, "replies": [_data(opened, one) for one in columns]})
    for one in () if options.is_json else columns:
        reply = opened.message_anywhere(one.reply_id) if one.reply_id else None
        if reply is not None:
            console.write(f"## {_name(one.asked)}\n\n{reply.text.rstrip(chr(10))}\n\n")
            console.note(f"{usage_line(reply)} · {opened.id}")
        if one.problem:
            console.note(tr("manual-slop: {asked}: {problem}", asked=_name(one.asked), problem=one.problem))
    return 130 if is_stopped else int(any(one.problem or not one.reply_id for one in columns))


def _data(opened: OpenDiscussion, one: ComparedReply) -> dict[str, object]:
    reply = opened.message_anywhere(one.reply_id) if one.reply_id else None
    return {
        "provider": one.asked.provider,
        "model": one.asked.model,
        "has_memory": one.asked.has_memory,
        "problem": one.problem,
        "reply": None if reply is None else message_data(reply),
    }
