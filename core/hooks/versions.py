"""Versions of a reply over HTTP: what there are, and choosing the one that goes to the model."""

from __future__ import annotations

from core.discussion.messages import ChooseVersion
from core.hooks.fields import Data
from core.hooks.message_data import MessageData
from core.hooks.operation import Resource, operation
from core.hooks.refusals import unknown
from core.hooks.request import Answer, Request
from core.values.discussion import OpenDiscussion
from core.values.messages import Message, Role


class VersionsData(Data, frozen=True):
    """Versions of a reply in the order in which they came, and the one that goes to the model."""

    discussion_id: str
    chosen_id: str
    versions: list[MessageData]


async def list_versions(request: Request[None]) -> Answer:
    """Versions of a reply, by the id of any of them; deleted ones are left out."""
    return Answer(_versions(await request.opened(), request.names["message_id"]))


async def choose_version(request: Request[None]) -> Answer:
    """Choose a version of a reply: it stands in the discussion and goes to the model from now on."""
    request.check_writable()
    opened, wanted = await request.opened(), request.names["message_id"]
    if len(_versions(opened, wanted).versions) > 1:
        state = await request.do(
            ChooseVersion(opened.id, wanted),
            lambda now: (
                opened.id not in now.discussions.open
                or any(entry.id == wanted for entry in now.discussions.open[opened.id].entries)
            ),
        )
        opened = state.discussions.open.get(opened.id, opened)
    return Answer(_versions(opened, wanted))


def _versions(opened: OpenDiscussion, message_id: str) -> VersionsData:
    """Raises RefusedError: 404 there is no such reply."""
    shown = (entry for entry in opened.entries if isinstance(entry, Message) and entry.id == message_id)
    one = next(shown, None)
    known = opened.versions_of(one) if one is not None else None
    if known is None:
        known = next((some for some in opened.versions.values() if message_id in some.ids), None)
    if known is not None:
        listed = [_of(opened, known.aside.get(name), name) for name in known.ids]
        said = [MessageData.of(message) for message in listed if message is not None]
        return VersionsData(opened.id, known.chosen_id, said)
    if one is None or one.is_deleted or one.role is Role.USER:
        raise unknown("reply", message_id, "See GET /api/discussions/{discussion_id}/messages")
    return VersionsData(opened.id, one.id, [MessageData.of(one)])


def _of(opened: OpenDiscussion, run: tuple[object, ...] | None, message_id: str) -> Message | None:
    entries = opened.entries if run is None else run
    found = (entry for entry in entries if isinstance(entry, Message) and entry.id == message_id)
    return next((message for message in found if not message.is_deleted), None)


_ONE = "/api/discussions/{discussion_id}/messages/{message_id}"
_GONE = {404: "no such discussion or reply"}

RESOURCE = Resource(
    (
        operation("GET", f"{_ONE}/versions", list_versions, {200: VersionsData}, _GONE),
        operation(
            "POST",
            f"{_ONE}/choose",
            choose_version,
            {200: VersionsData},
            {**_GONE, 409: "the home is read-only"},
        ),
    ),
)
