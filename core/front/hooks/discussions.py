"""Discussions over HTTP: the list, a new one, and the preset of each."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from core.agent.agent_pages import mode_of
from core.front.hooks.conversation import MessageData
from core.front.hooks.fields import Body, Count, Data, Name, Time, UpkeepData, UsageData, filled, unknown
from core.front.hooks.operation import READ_ONLY, Answer, Request, Resource, choice_forms, operation
from core.kernel.ids import make_id
from core.kernel.language import tr
from core.kernel.values.agent import Mode
from core.kernel.values.discussion import (
    CHOICES,
    FLAGS,
    DiscussionSummary,
    OpenDiscussion,
)
from core.kernel.values.messages import Message, Role
from core.kernel.values.state import AppState
from core.kernel.values.updates import is_busy
from core.services.settings.settings_rules import closed_models, starting_model
from core.talk.discussion.discussion_messages import (
    ChangeDiscussion,
    ChooseVersion,
    CreateDiscussion,
    DeleteDiscussion,
    DiscardDiscussion,
    ExportDiscussion,
    ExportUsage,
    ReadDiscussion,
    SearchDiscussions,
    SelectDiscussion,
    UndoDelete,
)


class DiscussionData(Data, frozen=True):
    """A row of the list. `parent_id`: of a branch or a task; `delegated_by`: the parent's call that a task is for."""

    id: str
    name: str
    folder: str
    created_at: Time
    updated_at: Time
    provider: str
    model: str
    effort: str
    preset: str
    persona: str
    system_preset: str
    is_pinned: bool
    is_archived: bool
    turns: Count
    preview: str
    problem: str
    usage: UsageData
    upkeep: UpkeepData
    is_busy: bool
    has_tools: bool
    mode: Mode
    parent_id: str
    delegated_by: str

    @classmethod
    def of(cls, state: AppState, row: DiscussionSummary) -> DiscussionData:
        """The row as it is answered with."""
        return filled(
            cls,
            row.meta,
            updated_at=row.updated_at,
            **{CHOICES[name].key: getattr(row.meta, name) for name in FLAGS},
            turns=row.turns,
            preview=row.preview,
            problem=row.problem,
            usage=UsageData.of(row.usage),
            upkeep=UpkeepData.of(row.upkeep),
            is_busy=is_busy(state, row.meta.id),
            mode=mode_of(state, row.meta.id),
        )


class DiscussionsData(Data, frozen=True):
    """The list, newest first."""

    discussions: list[DiscussionData]


class DiscussionBody(Body, frozen=True):
    """A new discussion. What is left out is as the settings say."""

    name: Name = ""
    provider: Name = ""
    model: Name = ""
    preset: Name = ""


class PresetChoiceBody(Body, frozen=True):
    """The preset of a discussion; empty: none."""

    name: Name


async def list_discussions(request: Request[None]) -> Answer:
    """All discussions, newest first."""
    state = request.state
    return Answer(data=DiscussionsData([DiscussionData.of(state, row) for row in request.rows()]))


async def create_discussion(request: Request[DiscussionBody]) -> Answer:
    """Start a discussion; the window shows it."""
    request.check_writable()
    body, state = request.fields, request.state
    if body.provider and body.provider not in state.config.providers:
        raise unknown(
            "provider", body.provider, tr("Known: {providers}", providers=", ".join(state.config.providers))
        )
    _check_preset(state, body.preset)
    closed = closed_models(state, starting_model(state, body.provider).provider)
    if body.model and closed and body.model not in closed:
        raise unknown("model", body.model, tr("Known: {closed}", closed=", ".join(closed)))
    chosen = make_id(state.now or datetime.now(UTC), secrets.token_hex(8))
    state = await request.do(
        CreateDiscussion(
            name=" ".join(body.name.split()),
            provider=body.provider,
            model=body.model,
            preset=body.preset,
            id=chosen,
        ),
        lambda now: chosen in now.discussions.summaries,
    )
    headers = {"Location": f"/api/discussions/{chosen}/messages"}
    return Answer(
        data=DiscussionData.of(state, state.discussions.summaries[chosen]), status=201, headers=headers
    )


def _check_preset(state: AppState, name: str) -> None:
    if name and name not in state.config.project.presets:
        raise unknown("preset", name, tr("See GET /api/presets"))


async def choose_preset(request: Request[PresetChoiceBody]) -> Answer:
    """Choose the context preset of a discussion; an empty name chooses none."""
    chosen, name = request.row().meta.id, request.fields.name
    request.check_writable()
    _check_preset(request.state, name)
    state = await request.do(
        ChangeDiscussion(discussion_id=chosen, changes={"preset": name}),
        lambda now: (
            chosen not in now.discussions.summaries or now.discussions.summaries[chosen].meta.preset == name
        ),
    )
    row = state.discussions.summaries.get(chosen)
    if row is None:
        raise unknown("discussion", chosen, tr("The discussion was deleted meanwhile"))
    return Answer(data=DiscussionData.of(state, row))


_ALL = "/api/discussions"
_ERRORS = {404: "no such discussion, provider or preset", 409: READ_ONLY}

RESOURCE = Resource(
    operations=(
        operation("GET", _ALL, list_discussions, {200: DiscussionsData}),
        operation("POST", _ALL, create_discussion, {201: DiscussionData}, _ERRORS),
        operation("POST", f"{_ALL}/{{discussion_id}}/preset", choose_preset, {200: DiscussionData}, _ERRORS),
    ),
    panels={
        "discussions": (
            CreateDiscussion,
            SelectDiscussion,
            ReadDiscussion,
            *choice_forms("discussions"),
            DeleteDiscussion,
            DiscardDiscussion,
            UndoDelete,
            SearchDiscussions,
            ExportDiscussion,
            ExportUsage,
        )
    },
)


# Versions of a reply over HTTP: what there are, and choosing the one that goes to the model.


class VersionsData(Data, frozen=True):
    """Versions of a reply in the order in which they came, and the one that goes to the model."""

    discussion_id: str
    chosen_id: str
    versions: list[MessageData]


async def list_versions(request: Request[None]) -> Answer:
    """Versions of a reply, by the id of any of them; deleted ones are left out."""
    return Answer(data=_versions(await request.opened(), request.names["message_id"]))


async def choose_version(request: Request[None]) -> Answer:
    """Choose a version of a reply: it stands in the discussion and goes to the model from now on."""
    request.check_writable()
    opened, wanted = await request.opened(), request.names["message_id"]
    if len(_versions(opened, wanted).versions) > 1:
        state = await request.do(
            ChooseVersion(discussion_id=opened.id, message_id=wanted),
            lambda now: (
                opened.id not in now.discussions.open
                or any(entry.id == wanted for entry in now.discussions.open[opened.id].entries)
            ),
        )
        opened = state.discussions.open.get(opened.id, opened)
    return Answer(data=_versions(opened, wanted))


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
        return VersionsData(discussion_id=opened.id, chosen_id=known.chosen_id, versions=said)
    if one is None or one.is_deleted or one.role is Role.USER:
        raise unknown("reply", message_id, tr("See GET /api/discussions/{discussion_id}/messages"))
    return VersionsData(discussion_id=opened.id, chosen_id=one.id, versions=[MessageData.of(one)])


def _of(opened: OpenDiscussion, run: tuple[object, ...] | None, message_id: str) -> Message | None:
    entries = opened.entries if run is None else run
    found = (entry for entry in entries if isinstance(entry, Message) and entry.id == message_id)
    return next((message for message in found if not message.is_deleted), None)


_ONE = "/api/discussions/{discussion_id}/messages/{message_id}"
_GONE = {404: "no such discussion or reply"}

VERSIONS = Resource(
    operations=(
        operation("GET", f"{_ONE}/versions", list_versions, {200: VersionsData}, _GONE),
        operation(
            "POST",
            f"{_ONE}/choose",
            choose_version,
            {200: VersionsData},
            {**_GONE, 409: "the data folder is read-only"},
        ),
    ),
)
