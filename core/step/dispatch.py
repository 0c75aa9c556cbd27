"""The closed match from each command and event to the function that decides it."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from core.step import (
    caching,
    discussions,
    durable,
    harvest,
    knowledge,
    presets,
    replies,
    rewrites,
    sending,
    setup,
)
from core.step.base import Input, Result, dismiss, notify, with_open
from core.step.context import context_effects
from core.step.notices import expire
from core.text import clean
from core.values import commands as c
from core.values import events as e
from core.values.discussion import Draft
from core.values.effects import (
    Effect,
    IndexDiscussion,
    ListModels,
    LoadSettings,
    LookAtDiscussions,
    MakeDigest,
    RemoveDigest,
    SearchCatalog,
    StoreAttachment,
    WriteDraft,
    WriteExport,
    WriteServer,
    WriteWindow,
)
from core.values.messages import AttachmentPart
from core.values.state import AppState, Level, SearchHits


def step(state: AppState, given: Input) -> Result:
    """Decide what follows from one command or event.

    Args:
        state: the state before.
        given: the command or event, stamped with time and a seed for ids.

    Returns:
        The state after, and the effects in the order in which they must be begun.

    Raises:
        Nothing. Commands that name what is not there are ignored; I/O is the workers'.
    """
    before = replace(state, now=given.at)
    body = given.body
    after, effects = (
        _event(before, given, body) if isinstance(body, e.Event) else _command(before, given, body)
    )
    return after, (*effects, *_follow_ups(before, after))


def _follow_ups(before: AppState, after: AppState) -> tuple[Effect, ...]:
    effects: tuple[Effect, ...] = (*context_effects(before, after), *setup.watch_effects(before, after))
    effects = (*effects, *setup.warm_up_effects(before, after), *caching.prewarm_effects(before, after))
    effects = (*effects, *knowledge.knowledge_effects(before, after), *harvest.limit_effects(before, after))
    effects = (*effects, *rewrites.rewrite_effects(before, after))
    if before.selected_id != after.selected_id and after.home and not after.is_loading:
        effects = (*effects, WriteWindow(after.window_toml, after.selected_id))
    return effects


def _command(state: AppState, given: Input, command: c.Command) -> Result:  # noqa: PLR0915 (a table)
    match command:
        case c.CreateDiscussion():
            return discussions.create(state, given, command)
        case c.SelectDiscussion():
            return discussions.select(state, command.discussion_id)
        case c.ReadDiscussion():
            return discussions.read(state, command.discussion_id)
        case c.MeasureContext():
            return discussions.measure(state, command.discussion_id)
        case c.RenameDiscussion():
            return discussions.rename(state, command)
        case c.PinDiscussion():
            return discussions.pin(state, command)
        case c.ArchiveDiscussion():
            return discussions.archive(state, command)
        case c.DeleteDiscussion():
            return discussions.delete(state, command)
        case c.UndoDelete():
            return discussions.undo_delete(state, command)
        case c.BranchDiscussion():
            return discussions.branch(state, given, command)
        case c.SetModel():
            return discussions.set_model(state, given, command)
        case c.SetEffort():
            return discussions.set_effort(state, command)
        case c.SetDiscussionPreset():
            return discussions.set_preset(state, command)
        case c.SetPersona():
            return discussions.set_persona(state, command)
        case c.SetSystemPreset():
            return discussions.set_system_preset(state, command)
        case c.SendPrompt():
            return sending.send(state, given, command)
        case c.CancelReply():
            return sending.cancel(state, command.discussion_id)
        case c.RetrySend():
            return sending.retry(state, given, command)
        case c.RegenerateReply():
            return sending.regenerate(state, given, command.discussion_id)
        case c.EditMessage():
            return durable.edit_message(state, given, command)
        case c.DeleteMessage():
            return durable.delete_message(state, given, command)
        case c.RestoreMessage():
            return durable.restore_message(state, given, command)
        case c.SetDraft():
            return _set_draft(state, command.discussion_id, text=clean(command.text))
        case c.AttachFile():
            return state, (StoreAttachment(command.discussion_id, path=command.path),)
        case c.AttachText():
            text = clean(command.text)
            return state, (StoreAttachment(command.discussion_id, text=text, name=command.name),)
        case c.Detach():
            return _detach(state, command)
        case c.ExportDiscussion():
            return state, (WriteExport(command.discussion_id, command.form, command.path),)
        case c.SearchDiscussions():
            return _search(state, command.query)
        case c.InvalidateCache() | c.DisableCaching() | c.EnableCaching():
            return caching.decide(state, command)
        case c.DeleteOrphanedCaches():
            return caching.delete_orphans(state, command)
        case c.CreatePreset():
            return presets.create(state, command)
        case c.ChangePreset():
            return presets.change(state, command)
        case c.SavePreset():
            return presets.save(state, command)
        case c.RevertPreset():
            return presets.revert(state, command)
        case c.RenamePreset():
            return presets.rename(state, command)
        case c.DeletePreset():
            return presets.delete(state, command)
        case c.InspectFile():
            return setup.inspect(state, command.path)
        case c.TrustProject():
            return setup.trust(state, command)
        case c.OpenProject():
            return setup.open_project(state, command)
        case c.ChangeSetting():
            return setup.change_setting(state, command)
        case c.StoreKey():
            return setup.store_key(caching.forget_adopted(state, command.provider), command)
        case c.SaveServer():
            return setup.save_server(state, command)
        case c.RemoveServer():
            return state, (WriteServer(command.id, "", ""),)
        case c.RefreshModels():
            return state, (ListModels(command.provider),)
        case c.FindLocalServers():
            return setup.probe_servers(state)
        case c.RegenerateDigest():
            return state, (MakeDigest(state.settings.knowledge),)
        case c.DeleteDigest():
            return state, (RemoveDigest(state.settings.knowledge),)
        case (
            c.AddKnowledgeItem()
            | c.EditKnowledgeItem()
            | c.DeleteKnowledgeItem()
            | c.SetTaskDone()
            | c.AttachNotes()
        ):
            return knowledge.change(state, command)
        case c.LookForHarvest() | c.PreviewHarvest() | c.ApplyHarvest() | c.UndoHarvest() | c.CancelHarvest():
            return harvest.run(state, command)
        case c.TickHarvestItems() | c.EditHarvestItem() | c.MoveHarvestItem() | c.DiscardPreview():
            return harvest.review(state, command)
        case c.DismissNotice():
            return dismiss(state, command.notice_id), ()
        case c.SaveWindow():
            return _save_window(state, command.data_toml)
        case c.Quit():
            return setup.quit_program(state)
        case _:
            assert_never(command)


def _event(state: AppState, given: Input, event: e.Event) -> Result:  # noqa: PLR0915 (a table)
    match event:
        case e.HomeOpened():
            return setup.home_opened(state, event)
        case e.SettingsLoaded():
            return setup.settings_loaded(state, event)
        case e.SummariesLoaded():
            return discussions.listed(state, event)
        case e.TrashListed():
            return replace(state, trash=event.items), ()
        case e.DiscussionLoaded():
            return discussions.loaded(state, event)
        case e.DiscussionCreated():
            return discussions.created(state, event)
        case e.DiscussionTrashed():
            return discussions.trashed(state, event)
        case e.DiscussionRestored():
            return discussions.restored(state, event)
        case e.MetaWritten():
            return state, (IndexDiscussion(event.discussion_id),)
        case e.DiscussionsTouched():
            return state, (LookAtDiscussions(event.discussion_ids),)
        case e.DiscussionChangedOutside():
            return discussions.changed_outside(state, event)
        case e.DiscussionVanished():
            return discussions.vanished(state, event.discussion_id)
        case e.WritesCaughtUp():
            return (state if state.pending else dismiss(state, event.subject)), ()
        case e.RecordsAppended():
            return durable.appended(state, given, event)
        case e.WriteFailed():
            return durable.write_failed(state, given, event)
        case e.OperationFailed():
            return notify(state, event.subject, Level.ERROR, event.text, event.detail), ()
        case e.OperationDone():
            return notify(state, event.subject, Level.INFO, event.text, event.detail), ()
        case e.AttachmentStored():
            return _attach(state, event)
        case e.SearchFound():
            current = event.hits.query == state.search.query
            return (replace(state, search=event.hits) if current else state), ()
        case e.RequestBuilt():
            return sending.request_built(state, event)
        case e.ReplyArrived():
            return sending.arrived(state, given, event)
        case e.CallRetrying():
            return sending.retrying(state, given, event)
        case e.CallEnded():
            return replies.ended(state, given, event)
        case e.CallFailed():
            return replies.failed(state, given, event)
        case e.FilesRead():
            return presets.files_read(state, event)
        case e.FilesChanged():
            return replace(state, files_revision=state.files_revision + 1), ()
        case e.SettingsFilesChanged():
            return state, (LoadSettings(),)
        case e.KnowledgeFilesChanged():
            return state, knowledge.read_again(state)
        case e.KnowledgeRead():
            return knowledge.knowledge_read(state, event)
        case e.HarvestProgressed() | e.HarvestProposed() | e.HarvestPaid():
            return harvest.got_on(state, event), ()
        case (
            e.HarvestLooked() | e.HarvestEnded() | e.HarvestApplied() | e.HarvestUndone() | e.HarvestFailed()
        ):
            return harvest.ended(state, event)
        case e.FileInspected():
            return replace(state, inspected=event.snapshot), ()
        case e.ContextAssembled():
            return caching.assembled(state, event), ()
        case e.CacheRead():
            return caching.read(state, given, event)
        case e.CacheReported():
            return rewrites.over(caching.reported(state, event)), ()
        case e.OrphansFound():
            return caching.orphans_found(state, event), ()
        case e.ContentsDeleted():
            return caching.contents_deleted(state, event), ()
        case e.RewritesChecked():
            return rewrites.checked(state, event), ()
        case e.ModelsListed():
            return setup.models_listed(state, event)
        case e.ServersFound():
            return replace(state, found_servers=event.servers), ()
        case e.PresetStored():
            return presets.stored(state, event)
        case e.RaiseRequested():
            return replace(state, raise_count=state.raise_count + 1), ()
        case e.WorkerReported():
            return setup.worker_reported(state, event)
        case e.Tick():
            state, effects = durable.retry_pending(durable.new_day(expire(state)), given)
            state, more = caching.tick(rewrites.over(state))
            return state, (*effects, *more)
        case e.SpentCounted():
            return replace(state, day_start=event.day_start, spent_today_usd=event.usd), ()
        case _:
            assert_never(event)


def _set_draft(state: AppState, discussion_id: str, *, text: str) -> Result:
    opened = state.open.get(discussion_id)
    if opened is None or opened.draft.text == text:
        return state, ()
    return _put_draft(state, discussion_id, replace(opened.draft, text=text))


def _put_draft(state: AppState, discussion_id: str, draft: Draft) -> Result:
    opened = state.open[discussion_id]
    return with_open(state, replace(opened, draft=draft)), (WriteDraft(discussion_id, draft),)


def _attach(state: AppState, event: e.AttachmentStored) -> Result:
    opened = state.open.get(event.discussion_id)
    if opened is None or event.part in opened.draft.attachments:
        return state, ()
    draft = replace(opened.draft, attachments=(*opened.draft.attachments, event.part))
    return _put_draft(state, event.discussion_id, draft)


def _detach(state: AppState, command: c.Detach) -> Result:
    opened = state.open.get(command.discussion_id)
    if opened is None:
        return state, ()
    kept: tuple[AttachmentPart, ...] = tuple(
        a for a in opened.draft.attachments if a.sha256 != command.sha256
    )
    return _put_draft(state, command.discussion_id, replace(opened.draft, attachments=kept))


def _search(state: AppState, query: str) -> Result:
    query = query.strip()
    if not query:
        return replace(state, search=SearchHits()), ()
    return replace(state, search=SearchHits(query, is_complete=False)), (SearchCatalog(query),)


def _save_window(state: AppState, window_toml: str) -> Result:
    if window_toml == state.window_toml:
        return state, ()
    return replace(state, window_toml=window_toml), (WriteWindow(window_toml, state.selected_id),)
