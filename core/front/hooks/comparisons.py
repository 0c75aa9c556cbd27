"""A comparison over HTTP: one message put to several models at once, and what each said, cost and failed on."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from core.front.hooks.conversation import BUSY, MAX_TEXT_CHARS, REPLY_S, MessageData, pay
from core.front.hooks.fields import Body, Data, Name, RefusedError, filled, unknown
from core.front.hooks.operation import NO_DISCUSSION, Answer, Request, Resource, operation
from core.kernel.language import tr
from core.kernel.values.discussion import ComparedModel, ComparedReply, OpenDiscussion
from core.kernel.values.state import AppState
from core.kernel.values.updates import is_busy
from core.talk.turn.comparison import MOST
from core.talk.turn.turn_messages import CompareReplies


class ComparedModelBody(Body, frozen=True):
    """A model to ask. `has_memory`: knowledge, facts and recall go along, where they are on."""

    provider: Name
    model: Name
    has_memory: bool = True


class CompareBody(Body, frozen=True):
    """Models to put one message to.

    `text`: of a new message; empty: a message that was sent (`message_id`, or the last one), whose reply is a column, too.
    `wait`: answer when all replies are there; `over_limit`: send past a spend limit, with the approval token alone.
    """

    models: Annotated[tuple[ComparedModelBody, ...], Meta(min_length=1, max_length=MOST)]
    text: Annotated[str, Meta(max_length=MAX_TEXT_CHARS)] = ""
    message_id: Name = ""
    wait: bool = False
    over_limit: bool = False


class ComparedReplyData(Data, frozen=True):
    """A column: who was asked, the reply with its usage, and why it is not whole."""

    provider: str
    model: str
    has_memory: bool
    problem: str
    is_over: bool
    reply: MessageData | None


class ComparisonData(Data, frozen=True):
    """The last comparison of a discussion. `is_over`: nothing more comes; `POST …/messages/{id}/choose` keeps a reply."""

    discussion_id: str
    message_id: str
    is_over: bool
    replies: list[ComparedReplyData]


async def compare_models(request: Request[CompareBody]) -> Answer:
    """Put a message to several models at once; answer when it is on disk, or with all replies."""
    chosen, body = request.row().meta.id, request.fields
    request.check_writable()
    async with request.desk.lock(chosen):
        await request.opened()
        if is_busy(request.state, chosen):
            raise RefusedError(409, "busy", tr("A reply is still arriving in this discussion"), BUSY)
        models = tuple(
            ComparedModel(provider=one.provider, model=one.model, has_memory=one.has_memory)
            for one in body.models
        )
        command = CompareReplies(
            discussion_id=chosen,
            models=models,
            text=body.text,
            message_id=body.message_id,
            over_limit=body.over_limit,
        )
        outcome = await pay(request.desk, command)
    if not outcome.is_done:
        raise RefusedError(409, "not_compared", outcome.problem, outcome.remedy)
    if not body.wait:
        return Answer(data=_data(request.state, chosen), status=202)
    state = await request.desk.watch.until(lambda now: not is_busy(now, chosen), REPLY_S)
    return Answer(data=_data(state or request.state, chosen))


async def last_comparison(request: Request[None]) -> Answer:
    """The last comparison of a discussion since the program started."""
    opened = await request.opened()
    return Answer(data=_data(request.state, opened.id))


def _data(state: AppState, chosen: str) -> ComparisonData:
    opened = state.discussions.open.get(chosen)
    if opened is None or opened.comparison is None:
        raise unknown("comparison", chosen, tr("Start a comparison with POST to the same path"))
    return ComparisonData(
        discussion_id=chosen,
        message_id=opened.comparison.prompt_id,
        is_over=opened.comparison.is_over,
        replies=[_column(opened, one) for one in opened.comparison.replies],
    )


def _column(opened: OpenDiscussion, one: ComparedReply) -> ComparedReplyData:
    reply = opened.message_anywhere(one.reply_id) if one.reply_id else None
    data = None if reply is None else MessageData.of(reply)
    return filled(ComparedReplyData, one.asked, problem=one.problem, is_over=one.is_over, reply=data)


_PATH = "/api/discussions/{discussion_id}/compare"
_ERRORS = {
    404: NO_DISCUSSION,
    409: "a reply is still arriving, a limit is reached, or these models cannot be compared",
}

RESOURCE = Resource(
    operations=(
        operation(
            "GET", _PATH, last_comparison, {200: ComparisonData}, {404: "no discussion, or no comparison"}
        ),
        operation("POST", _PATH, compare_models, {200: ComparisonData, 202: ComparisonData}, _ERRORS),
    )
)
