"""The discussions' part of the step: which function decides each command and event."""

from __future__ import annotations

from msgspec.structs import replace

from core.kernel.frame import clean
from core.kernel.ids import Stamp
from core.kernel.language import tr
from core.kernel.values.discussion import Draft
from core.kernel.values.state import AppState, Level, SearchHits
from core.kernel.values.updates import (
    Handlers,
    Result,
    dismiss,
    keep,
    notify,
    on,
    on_stamped,
    refused_files,
    with_open,
)
from core.services.spending.spending_messages import CountUsage
from core.services.spending.spending_step import count_usage
from core.services.spending.usage_table import report_csv
from core.talk.discussion import durability, lifecycle
from core.talk.discussion.discussion_messages import (
    AttachFile,
    AttachmentStored,
    AttachPicture,
    AttachText,
    BranchDiscussion,
    ChangeDiscussion,
    ChooseVersion,
    CreateDiscussion,
    DeleteDiscussion,
    DeleteMessage,
    Detach,
    DiscardDiscussion,
    DiscussionChangedOutside,
    DiscussionCreated,
    DiscussionLoaded,
    DiscussionRestored,
    DiscussionTrashed,
    DiscussionVanished,
    DraftEdited,
    EditDraft,
    EditMessage,
    ExportDiscussion,
    ExportUsage,
    IndexDiscussion,
    LookAtDiscussions,
    MetaWritten,
    PromptGone,
    QueueWritten,
    ReadDiscussion,
    RecordsAppended,
    RestoreMessage,
    SearchDiscussions,
    SearchFound,
    SelectDiscussion,
    SetDraft,
    StoreAttachment,
    SummariesChanged,
    SummariesLoaded,
    TrashListed,
    UndoDelete,
    WriteDraft,
    WriteFailed,
)


def _attach_file(state: AppState, asked: AttachFile) -> Result:
    most = state.config.settings.files.max_attachment_bytes
    shown = state.config.project.policies.shown
    return state, (
        StoreAttachment(discussion_id=asked.discussion_id, max_bytes=most, path=asked.path, shown=shown),
    )


def _attach_text(state: AppState, asked: AttachText) -> Result:
    most, text = state.config.settings.files.max_attachment_bytes, clean(asked.text)
    return state, (
        StoreAttachment(discussion_id=asked.discussion_id, max_bytes=most, text=text, name=asked.name),
    )


def _attach_picture(state: AppState, asked: AttachPicture) -> Result:
    most = state.config.settings.files.max_attachment_bytes
    return state, (
        StoreAttachment(discussion_id=asked.discussion_id, max_bytes=most, data=asked.data, name=asked.name),
    )


def _export_discussion(state: AppState, asked: ExportDiscussion) -> Result:
    return state, (replace(asked, kept=_no_places(state)),)


def _export_usage(state: AppState, asked: ExportUsage) -> Result:
    report = state.spending.usage
    if report is None:
        return notify(state, "export", Level.WARNING, tr("There is no usage to save yet.")), ()
    return state, (replace(asked, kept=_no_places(state), table=report_csv(report)),)


def _no_places(state: AppState) -> tuple[str, ...]:
    """Folders and files that no export goes to."""
    return (state.program.home, *sorted(state.config.settings_paths))


def _trash_listed(state: AppState, happened: TrashListed) -> Result:
    return replace(state, discussions=replace(state.discussions, trash=happened.items)), ()


def _write_failed(state: AppState, given: Stamp, happened: WriteFailed) -> Result:
    return durability.write_failed(state, given, happened), ()


def _search_found(state: AppState, happened: SearchFound) -> Result:
    current = happened.hits.query == state.discussions.search.query
    return (
        replace(state, discussions=replace(state.discussions, search=happened.hits)) if current else state
    ), ()


def models_listed(state: AppState, provider: str) -> Result:
    """Take in a server's list of models."""
    return lifecycle.take_models(state, provider)


def tick(state: AppState) -> tuple[LookAtDiscussions, ...]:
    """Look whether programs that have calls in what is open still live: nothing on disk tells of a kill."""
    held = tuple(name for name, opened in state.discussions.open.items() if opened.held_calls)
    return (LookAtDiscussions(held),) if held else ()


def _set_draft(state: AppState, discussion_id: str, *, text: str) -> Result:
    opened = state.discussions.open.get(discussion_id)
    if opened is None or opened.draft.text == text:
        return state, ()
    return _put_draft(state, discussion_id, replace(opened.draft, text=text))


def _edit_draft(state: AppState, asked: EditDraft) -> Result:
    if asked.discussion_id not in state.discussions.open:
        return state, ()
    state, written = _set_draft(state, asked.discussion_id, text=clean(asked.text))
    text = tr("Your draft is open in your editor. Save and close the editor to go on here.")
    state = notify(
        state,
        _in_editor(asked.discussion_id),
        Level.INFO,
        text,
        discussion_id=asked.discussion_id,
        is_standing=True,
    )
    return dismiss(state, f"draft-editor/{asked.discussion_id}"), (*written, asked)


def _draft_edited(state: AppState, edited: DraftEdited) -> Result:
    """Take over what the editor saved; words that were typed meanwhile stand behind it."""
    state = dismiss(state, _in_editor(edited.discussion_id))
    opened = state.discussions.open.get(edited.discussion_id)
    if opened is None or edited.text == edited.began:
        return state, ()
    now = opened.draft.text
    text = edited.text if now in {edited.began, edited.text} else "\n".join(filter(None, (edited.text, now)))
    return _set_draft(state, edited.discussion_id, text=text)


def _in_editor(discussion_id: str) -> str:
    return f"draft-in-editor/{discussion_id}"


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
    ), (SearchDiscussions(query),)


HANDLERS = Handlers(
    on_stamped(CreateDiscussion, lifecycle.create),
    on(SelectDiscussion, lambda state, asked: lifecycle.select(state, asked.discussion_id)),
    on(ReadDiscussion, lambda state, asked: lifecycle.read(state, asked.discussion_id)),
    on_stamped(ChangeDiscussion, lifecycle.change),
    on(DeleteDiscussion, lifecycle.delete),
    on(DiscardDiscussion, lifecycle.discard),
    on(UndoDelete, lifecycle.undo_delete),
    on_stamped(BranchDiscussion, lifecycle.branch),
    on_stamped(EditMessage, durability.edit_message),
    on_stamped(DeleteMessage, durability.delete_message),
    on_stamped(RestoreMessage, durability.restore_message),
    on_stamped(ChooseVersion, durability.choose_version),
    on(SetDraft, lambda state, asked: _set_draft(state, asked.discussion_id, text=clean(asked.text))),
    on(EditDraft, _edit_draft),
    on(DraftEdited, _draft_edited),
    on(AttachFile, _attach_file),
    on(AttachText, _attach_text),
    on(AttachPicture, _attach_picture),
    on(Detach, _detach),
    on(ExportDiscussion, _export_discussion),
    on(ExportUsage, _export_usage),
    on(CountUsage, count_usage),
    on(SearchDiscussions, lambda state, asked: _search(state, asked.query)),
    on(SummariesLoaded, lifecycle.listed),
    on(SummariesChanged, lambda state, happened: (lifecycle.listed_anew(state, happened), ())),
    on(TrashListed, _trash_listed),
    on(DiscussionLoaded, lambda state, happened: (lifecycle.loaded(state, happened), ())),
    on(DiscussionCreated, lifecycle.created),
    on(DiscussionTrashed, lifecycle.trashed),
    on(DiscussionRestored, lifecycle.restored),
    on(MetaWritten, lambda state, happened: (state, (IndexDiscussion(happened.discussion_id),))),
    on(DiscussionChangedOutside, lifecycle.changed_outside),
    on(DiscussionVanished, lambda state, happened: lifecycle.vanished(state, happened.discussion_id)),
    on_stamped(RecordsAppended, durability.appended),
    on_stamped(WriteFailed, _write_failed),
    on(QueueWritten, keep),  # the room of turns decides what goes next
    on(PromptGone, keep),  # the room of turns decides what goes next
    on(AttachmentStored, _attach),
    on(SearchFound, _search_found),
)
"""Each message of this room, with the function that decides what follows from it."""
