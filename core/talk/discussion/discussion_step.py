"""The discussions' part of the step: which function decides each command and event."""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from core.kernel.frame import clean
from core.kernel.ids import Stamp
from core.kernel.values.discussion import Draft
from core.kernel.values.state import AppState, SearchHits
from core.kernel.values.updates import Result, dismiss, refused_files, with_open
from core.talk.discussion import discussion_choices, durability, lifecycle
from core.talk.discussion.discussion_messages import (
    ArchiveDiscussion,
    AttachFile,
    AttachmentStored,
    AttachPicture,
    AttachText,
    BranchDiscussion,
    ChooseVersion,
    CreateDiscussion,
    DeleteDiscussion,
    DeleteMessage,
    Detach,
    DiscardDiscussion,
    DiscussionChangedOutside,
    DiscussionCommand,
    DiscussionCreated,
    DiscussionEvent,
    DiscussionLoaded,
    DiscussionRestored,
    DiscussionsTouched,
    DiscussionTrashed,
    DiscussionVanished,
    EditMessage,
    ExportDiscussion,
    IndexDiscussion,
    LookAtDiscussions,
    MetaWritten,
    PinDiscussion,
    PromptGone,
    QueueWritten,
    ReadDiscussion,
    RecordsAppended,
    RenameDiscussion,
    RestoreMessage,
    SearchCatalog,
    SearchDiscussions,
    SearchFound,
    SelectDiscussion,
    SetDiscussionPreset,
    SetDraft,
    SetEffort,
    SetMaxOutput,
    SetModel,
    SetPersona,
    SetSystemPreset,
    SetTemperature,
    StoreAttachment,
    SummariesChanged,
    SummariesLoaded,
    TrashListed,
    UndoDelete,
    WriteDraft,
    WriteExport,
    WriteFailed,
)


def command(state: AppState, given: Stamp, asked: DiscussionCommand) -> Result:
    """Decide what follows from a command."""
    match asked:
        case CreateDiscussion():
            return lifecycle.create(state, given, asked)
        case SelectDiscussion():
            return lifecycle.select(state, asked.discussion_id)
        case ReadDiscussion():
            return lifecycle.read(state, asked.discussion_id)
        case RenameDiscussion():
            return discussion_choices.rename(state, asked)
        case PinDiscussion():
            return discussion_choices.pin(state, asked)
        case ArchiveDiscussion():
            return discussion_choices.archive(state, asked)
        case DeleteDiscussion():
            return lifecycle.delete(state, asked)
        case DiscardDiscussion():
            return lifecycle.discard(state, asked)
        case UndoDelete():
            return lifecycle.undo_delete(state, asked)
        case BranchDiscussion():
            return lifecycle.branch(state, given, asked)
        case SetModel():
            return discussion_choices.set_model(state, given, asked)
        case SetEffort():
            return discussion_choices.set_effort(state, asked)
        case SetTemperature():
            return discussion_choices.set_temperature(state, asked)
        case SetMaxOutput():
            return discussion_choices.set_max_output(state, asked)
        case SetDiscussionPreset():
            return discussion_choices.set_preset(state, asked)
        case SetPersona():
            return discussion_choices.set_persona(state, asked)
        case SetSystemPreset():
            return discussion_choices.set_system_preset(state, asked)
        case EditMessage():
            return durability.edit_message(state, given, asked)
        case DeleteMessage():
            return durability.delete_message(state, given, asked)
        case RestoreMessage():
            return durability.restore_message(state, given, asked)
        case ChooseVersion():
            return durability.choose_version(state, given, asked)
        case SetDraft():
            return _set_draft(state, asked.discussion_id, text=clean(asked.text))
        case AttachFile():
            most = state.config.settings.files.max_attachment_bytes
            shown = state.config.project.policies.shown
            return state, (
                StoreAttachment(
                    discussion_id=asked.discussion_id, max_bytes=most, path=asked.path, shown=shown
                ),
            )
        case AttachText():
            most, text = state.config.settings.files.max_attachment_bytes, clean(asked.text)
            return state, (
                StoreAttachment(
                    discussion_id=asked.discussion_id, max_bytes=most, text=text, name=asked.name
                ),
            )
        case AttachPicture():
            most = state.config.settings.files.max_attachment_bytes
            return state, (
                StoreAttachment(
                    discussion_id=asked.discussion_id, max_bytes=most, data=asked.data, name=asked.name
                ),
            )
        case Detach():
            return _detach(state, asked)
        case ExportDiscussion():
            kept = (state.program.home, *sorted(state.config.settings_paths))
            return state, (
                WriteExport(
                    discussion_id=asked.discussion_id,
                    form=asked.form,
                    path=asked.path,
                    kept=kept,
                    replaces=asked.replaces,
                ),
            )
        case SearchDiscussions():
            return _search(state, asked.query)
        case _:
            assert_never(asked)


def models_listed(state: AppState, provider: str) -> Result:
    """A server has said which models it has."""
    return discussion_choices.take_models(state, provider)


def tick(state: AppState) -> tuple[LookAtDiscussions, ...]:
    """Look whether programs that have calls in what is open still live: nothing on disk tells of a kill."""
    held = tuple(name for name, opened in state.discussions.open.items() if opened.held_calls)
    return (LookAtDiscussions(held),) if held else ()


def event(state: AppState, given: Stamp, happened: DiscussionEvent) -> Result:
    """Decide what follows from an event."""
    match happened:
        case SummariesLoaded():
            return lifecycle.listed(state, happened)
        case SummariesChanged():
            return lifecycle.listed_anew(state, happened), ()
        case TrashListed():
            return replace(state, discussions=replace(state.discussions, trash=happened.items)), ()
        case DiscussionLoaded():
            return lifecycle.loaded(state, happened), ()
        case DiscussionCreated():
            return lifecycle.created(state, happened)
        case DiscussionTrashed():
            return lifecycle.trashed(state, happened)
        case DiscussionRestored():
            return lifecycle.restored(state, happened)
        case MetaWritten():
            return state, (IndexDiscussion(happened.discussion_id),)
        case DiscussionsTouched():
            return state, (LookAtDiscussions(happened.discussion_ids),)
        case DiscussionChangedOutside():
            return lifecycle.changed_outside(state, happened)
        case DiscussionVanished():
            return lifecycle.vanished(state, happened.discussion_id)
        case RecordsAppended():
            return durability.appended(state, given, happened)
        case WriteFailed():
            return durability.write_failed(state, given, happened), ()
        case QueueWritten() | PromptGone():
            return state, ()  # the room of turns decides what goes next
        case AttachmentStored():
            return _attach(state, happened)
        case SearchFound():
            current = happened.hits.query == state.discussions.search.query
            return (
                replace(state, discussions=replace(state.discussions, search=happened.hits))
                if current
                else state
            ), ()
        case _:
            assert_never(happened)


def _set_draft(state: AppState, discussion_id: str, *, text: str) -> Result:
    opened = state.discussions.open.get(discussion_id)
    if opened is None or opened.draft.text == text:
        return state, ()
    return _put_draft(state, discussion_id, replace(opened.draft, text=text))


def _put_draft(state: AppState, discussion_id: str, draft: Draft) -> Result:
    opened = state.discussions.open[discussion_id]
    return with_open(state, replace(opened, draft=draft)), (WriteDraft(discussion_id, draft),)


def _attach(state: AppState, stored: AttachmentStored) -> Result:
    opened = state.discussions.open.get(stored.discussion_id)
    if opened is None or stored.part in opened.draft.attachments:
        return state, ()
    draft = replace(opened.draft, attachments=(*opened.draft.attachments, stored.part))
    return _put_draft(dismiss(state, refused_files(opened.id)), opened.id, draft)


def _detach(state: AppState, asked: Detach) -> Result:
    opened = state.discussions.open.get(asked.discussion_id)
    if opened is None:
        return state, ()
    rest = tuple(
        part
        for part in opened.draft.attachments
        if part.sha256 != asked.sha256 or asked.name not in {"", part.name}
    )
    state = dismiss(state, refused_files(opened.id))
    return _put_draft(state, opened.id, replace(opened.draft, attachments=rest))


def _search(state: AppState, query: str) -> Result:
    query = query.strip()
    if not query:
        return replace(state, discussions=replace(state.discussions, search=SearchHits())), ()
    return replace(
        state, discussions=replace(state.discussions, search=SearchHits(query=query, is_complete=False))
    ), (SearchCatalog(query),)
