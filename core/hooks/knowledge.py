"""Knowledge over HTTP: the files with their items, and the digest."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, get_args

from msgspec import Meta

from core.app.messages import Command
from core.base.decoders import from_builtins
from core.hooks.fields import Body, Count, Data, Rows, filled
from core.hooks.operation import READ_ONLY, Resource, operation
from core.hooks.queries import PageQuery
from core.hooks.refusals import RefusedError, unknown
from core.hooks.request import Answer, Request
from core.knowledge.categories import note_name
from core.knowledge.digest import digest_file
from core.knowledge.messages import (
    AddKnowledgeItem,
    AttachNotes,
    KnowledgeCommand,
    RegenerateDigest,
)
from core.mcp_server.messages import RefuseProposals
from core.values.knowledge import (
    Category,
    CategoryFile,
    DigestSwitch,
    Item,
    NoteFile,
    NoteStatus,
    item_data,
)
from core.values.state import AppState

FEW = 20
"""Items of each note file where notes are listed; the query's `file` gives all of one."""


class KnowledgeQuery(PageQuery, frozen=True):
    """Rows, of all files or of one."""

    file: Annotated[
        str, Meta(max_length=200, description="Only this file: `facts.md`, or the `file` of notes.")
    ] = ""


class ItemPlace(Body, frozen=True):
    """Place of an item for `POST /api/ui`, as `GET /api/knowledge` gives it: none that has changed is hit."""

    file: str
    first_line: Count
    text: str


class OriginData(Data, frozen=True):
    """Conversation that an item came from."""

    source: str
    date: str


class KnowledgeItemData(Data, frozen=True):
    """An item. Null source and date: none is written there; `also`: of a merged one, where it came from besides."""

    category: Category
    file: str
    first_line: Count
    last_line: Count
    section: str
    text: str
    source: str | None
    date: str | None
    also: list[OriginData]


class DigestData(Data, frozen=True):
    """The digest as it is injected while knowledge is on."""

    switch: DigestSwitch
    is_on: bool
    path: str
    size_bytes: Count
    text: str

    @classmethod
    def of(cls, state: AppState) -> DigestData:
        """The digest as it is answered with."""
        known, path = state.knowledge, str(digest_file(Path(state.program.home)))
        return filled(cls, known, path=path, size_bytes=known.digest_bytes, text=known.digest)


class CategoryData(Data, frozen=True):
    """A category's file."""

    file: str
    problem: str
    total: Count
    items: list[KnowledgeItemData]


class NoteData(Data, frozen=True):
    """Notes on a file."""

    file: str
    file_id: str
    heading: str
    path: str
    status: NoteStatus
    proposal: str
    problem: str
    total: Count
    items: list[KnowledgeItemData]


class ProposalData(Data, frozen=True):
    """An item that another program proposes, and that a person has not decided about. `near`: known items like it."""

    id: str
    category: Category
    text: str
    detail: str
    name: str
    source: str
    at: str
    near: list[str]


class KnowledgeData(Data, frozen=True):
    """Knowledge as it is now. `drafts`: paths of those that were made of playbooks and are not renamed.

    `proposals`: nothing of them is known; a person alone takes one.
    """

    switch: DigestSwitch
    is_on: bool
    digest: DigestData
    categories: list[CategoryData]
    notes: Rows[NoteData]
    drafts: list[str]
    proposals: list[ProposalData]
    problems: list[str]


async def get_knowledge(request: Request[KnowledgeQuery]) -> Answer:
    """All knowledge: category files and notes with their items, the digest as it is injected, the switch."""
    state, query = request.state, request.fields
    categories = [one for one in state.knowledge.categories if query.file in {"", one.name}]
    notes = [one for one in state.knowledge.notes if query.file in {"", note_name(one.file_id)}]
    if query.file and not categories and not notes:
        raise unknown("file of knowledge", query.file, "See GET /api/knowledge")
    few = query if query.file else PageQuery(FEW)
    listed = PageQuery() if query.file else query
    return Answer(
        filled(
            KnowledgeData,
            state.knowledge,
            digest=DigestData.of(state),
            categories=[_category_data(one, query) for one in categories],
            notes=Rows(len(notes), [_note_data(one, few) for one in listed.of(notes)]),
            drafts=sorted(set(state.knowledge.drafts.values())),
            proposals=[
                filled(ProposalData, one, near=list(state.proposals.near.get(one.id, ())))
                for one in state.proposals.waiting
            ],
        )
    )


def _category_data(file: CategoryFile, page: PageQuery) -> CategoryData:
    items = [_item_data(item) for item in page.of(file.items)]
    return filled(CategoryData, file, file=file.name, total=len(file.items), items=items)


def _note_data(note: NoteFile, page: PageQuery) -> NoteData:
    items = [_item_data(item) for item in page.of(note.items)]
    return filled(NoteData, note, file=note_name(note.file_id), total=len(note.items), items=items)


def _item_data(item: Item) -> KnowledgeItemData:
    return from_builtins(item_data(item), KnowledgeItemData)


async def make_digest(request: Request[None]) -> Answer:
    """Make the digest from the category files, which turns knowledge on."""
    request.check_writable()
    state = await request.do(RegenerateDigest())
    return Answer(DigestData.of(state))


def stored_item(state: AppState, place: ItemPlace) -> Item:
    """The item that stands there and says this. Raises RefusedError (404)."""
    known = state.knowledge
    held = [one.items for one in known.categories] + [one.items for one in known.notes]
    for item in (item for items in held for item in items):
        if (item.first_line, item.file, item.text) == (place.first_line, place.file, place.text):
            return item
    raise unknown("such item in", place.file, "See GET /api/knowledge")


def _check(state: AppState, command: Command) -> None:
    if isinstance(command, AddKnowledgeItem) and command.category is Category.FILES:
        raise RefusedError(
            422, "wrong_body", "Notes on files are placed by a harvest", "See the other categories"
        )
    if isinstance(command, AttachNotes):
        _check_notes(state, command.file_id, command.path)


def _check_notes(state: AppState, file_id: str, path: str) -> None:
    """Check that these notes are there and the path is an absolute one. Raises RefusedError (404, 422)."""
    if all(note.file_id != file_id for note in state.knowledge.notes):
        raise unknown("notes", file_id, "See `notes` of GET /api/knowledge")
    if not os.path.isabs(path) or os.path.normpath(path) != path:
        raise RefusedError(422, "wrong_body", f"{path[:80]!r} is no absolute path", "Give it without dots")


_ALL = "/api/knowledge"

RESOURCE = Resource(
    (
        operation("GET", _ALL, get_knowledge, {200: KnowledgeData}, {404: "no such file of knowledge"}),
        operation("POST", f"{_ALL}/digest", make_digest, {200: DigestData}, {409: READ_ONLY}),
    ),
    {"knowledge": (*get_args(KnowledgeCommand), RefuseProposals)},
    _check,
)
