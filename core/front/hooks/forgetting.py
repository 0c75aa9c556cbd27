"""Forgetting over HTTP: a conversation or an item, only with its confirmation; and the receipt of the last one."""

from __future__ import annotations

from typing import Annotated, get_args

from msgspec import Meta

from core.app.execution import begin, is_over
from core.app.forgetting.forgetting_messages import (
    ForgetDiscussion,
    ForgetItem,
    ForgettingCommand,
    LookAtForget,
)
from core.app.forgetting.forgetting_places import CANNOT, place
from core.front.hooks.fields import Body, Count, Data, RefusedError, unknown
from core.front.hooks.knowledge import ItemPlace, stored_item
from core.front.hooks.operation import READ_ONLY, Answer, Request, Resource, operation
from core.kernel.language import tr
from core.kernel.values.knowledge import ForgetReceipt, ForgettingState
from core.kernel.values.state import AppState

RUN_S = 3_600.0
LOOK_S = 60.0
CONFIRMATION = "True: you know that nobody can undo this. Without it, the program forgets nothing."


class ForgetDiscussionBody(Body, frozen=True):
    """A yes to forgetting a conversation."""

    is_confirmed: Annotated[bool, Meta(description=CONFIRMATION)]
    with_branches: Annotated[bool, Meta(description="Its branches too, which begin with its records.")] = (
        False
    )


class ForgetItemBody(Body, frozen=True):
    """An item as `GET /api/knowledge` gives it, and a yes to forgetting it."""

    file: str
    first_line: Count
    text: str
    is_confirmed: Annotated[bool, Meta(description=CONFIRMATION)]


class ForgottenPlaceData(Data, frozen=True):
    """A place of copies. Empty `problem`: nothing is left there."""

    place: str
    label: str
    removed: Count
    checked: str
    problem: str


class ReceiptData(Data, frozen=True):
    """Receipt of a forgetting, without a word of what was forgotten."""

    id: str
    at: str
    discussion_ids: list[str]
    item: str
    items: Count
    facts: Count
    kept_items: Count
    places: list[ForgottenPlaceData]
    blended: Count
    holders: list[str]
    recalls: list[str]
    cannot: list[str]


class ForgetPreviewData(Data, frozen=True):
    """Figures of a forgetting before it is confirmed.

    `holders`: discussions that keep words of it; `problem`: why it cannot be told, empty where it can.
    """

    items: Count
    facts: Count
    kept_items: Count
    holders: list[str]
    problem: str


class ForgettingData(Data, frozen=True):
    """Forgetting now, and the last receipt. Null: none, or it was dismissed."""

    is_running: bool
    problem: str
    remedy: str
    receipt: ReceiptData | None

    @classmethod
    def of(cls, now: ForgettingState) -> ForgettingData:
        """Forgetting as it is answered with."""
        receipt = None if now.receipt is None else _receipt(now.receipt)
        return cls(is_running=now.is_running, problem=now.problem, remedy=now.remedy, receipt=receipt)


async def get_forgetting(request: Request[None]) -> Answer:
    """The receipt of the last forgetting, and whether one is under way."""
    return Answer(data=ForgettingData.of(request.state.forgetting))


async def look_at_forgetting(request: Request[None]) -> Answer:
    """Tell what forgetting a conversation would take. Nothing is touched."""
    discussion_id = _known(request, request.names["discussion_id"])
    command_id = begin(request.desk.front, LookAtForget(discussion_id=discussion_id))
    state = await request.desk.watch.until(lambda now: is_over(now, command_id), LOOK_S)
    preview = state.forgetting.preview if state is not None else None
    if preview is None:
        raise RefusedError(
            503, "slow", tr("The search for copies of the words to forget takes too long"), tr("Ask again")
        )
    return Answer(
        data=ForgetPreviewData(
            items=preview.items,
            facts=preview.facts,
            kept_items=preview.kept_items,
            holders=list(preview.holders),
            problem=preview.problem,
        )
    )


def _known(request: Request[None] | Request[ForgetDiscussionBody], discussion_id: str) -> str:
    binned = (item.discussion_id for item in request.state.discussions.trash)
    if discussion_id not in request.state.discussions.summaries and discussion_id not in binned:
        raise unknown("discussion", discussion_id, tr("See GET /api/discussions"))
    return discussion_id


async def forget_discussion(request: Request[ForgetDiscussionBody]) -> Answer:
    """Forget a conversation, in the list or in the trash, with all that came of it. Answered when it has ended."""
    discussion_id, fields = _known(request, request.names["discussion_id"]), request.fields
    asked = ForgetDiscussion(
        discussion_id=discussion_id, with_branches=fields.with_branches, is_confirmed=fields.is_confirmed
    )
    return Answer(data=ForgettingData.of((await _done(request, asked)).forgetting))


async def forget_item(request: Request[ForgetItemBody]) -> Answer:
    """Forget an item of knowledge; no harvest proposes it again. Answered when it has ended."""
    fields = request.fields
    item = stored_item(
        request.state, ItemPlace(file=fields.file, first_line=fields.first_line, text=fields.text)
    )
    return Answer(
        data=ForgettingData.of(
            (await _done(request, ForgetItem(item=item, is_confirmed=fields.is_confirmed))).forgetting
        )
    )


async def _done(
    request: Request[ForgetDiscussionBody] | Request[ForgetItemBody], asked: ForgetDiscussion | ForgetItem
) -> AppState:
    request.check_writable()
    slow = tr("Forgetting takes too long"), tr("The program finishes forgetting when you start it again")
    return (await request.carry_out(asked, RUN_S, slow=slow))[1]


def _receipt(receipt: ForgetReceipt) -> ReceiptData:
    return ReceiptData(
        id=receipt.id,
        at=receipt.at,
        discussion_ids=list(receipt.discussion_ids),
        item=receipt.item,
        items=receipt.items,
        facts=receipt.facts,
        kept_items=receipt.kept_items,
        places=[
            ForgottenPlaceData(
                place=row.place,
                label=place(row.place).label,
                removed=row.removed,
                checked=row.checked,
                problem=row.problem,
            )
            for row in receipt.places
        ],
        blended=receipt.blended,
        holders=list(receipt.holders),
        recalls=list(receipt.recalls),
        cannot=list(CANNOT),
    )


_REFUSED = {409: f"nobody confirmed this, the program is busy with something else, or {READ_ONLY}"}

RESOURCE = Resource(
    operations=(
        operation("GET", "/api/forgetting", get_forgetting, {200: ForgettingData}),
        operation(
            "GET",
            "/api/discussions/{discussion_id}/forget",
            look_at_forgetting,
            {200: ForgetPreviewData},
            {404: "no such discussion"},
        ),
        operation(
            "POST",
            "/api/discussions/{discussion_id}/forget",
            forget_discussion,
            {200: ForgettingData},
            {404: "no such discussion", **_REFUSED},
            needs_person=True,
        ),
        operation(
            "POST",
            "/api/knowledge/forget",
            forget_item,
            {200: ForgettingData},
            {404: "no such item", **_REFUSED},
            needs_person=True,
        ),
    ),
    panels={"forgetting": get_args(ForgettingCommand)},
)
