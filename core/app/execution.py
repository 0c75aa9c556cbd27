"""One command carried out for a front end that waits: its own outcome says how it ended; and what counts only from a person."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Protocol

from core.agent.agent_messages import UndoTurn
from core.app.app_messages import PERSON_ONLY, Command, awaited
from core.app.forgetting.forgetting_messages import ForgetDiscussion, ForgetItem
from core.imports.imports_messages import ImportConversations
from core.kernel.errors import SlopError
from core.kernel.language import tr
from core.kernel.values.curation import FileItem, Preset
from core.kernel.values.harvest import HarvestState
from core.kernel.values.settings import AfterHarvest, Project
from core.kernel.values.state import AppState
from core.kernel.values.updates import outcome_of
from core.knowledge.harvest.harvest_messages import (
    ApplyHarvest,
    DiscardMerge,
    DiscardPreview,
    EditHarvestItem,
    EditMergeGroup,
    MergeCommand,
    ProposeMerge,
    ReviewCommand,
)
from core.knowledge.mcp_server.proposal_messages import RefuseProposals
from core.services.settings.settings_messages import (
    ChangeProjectSetting,
    ChangeSetting,
    OpenProject,
    RemoveServer,
    ResetPrompt,
    SavePrompt,
    SaveServer,
    UpdatePrices,
)
from core.services.spending.limits import loosens
from core.signals.signals_messages import SetQuiet
from core.talk.context.context_messages import (
    ChangePreset,
    DeleteNamedText,
    DeletePreset,
    RenamePreset,
    RevertPreset,
    SaveNamedText,
    SavePreset,
)
from core.talk.discussion.discussion_messages import (
    AttachFile,
    DeleteDiscussion,
    Detach,
    EditDraft,
    ExportUsage,
    SetDraft,
)

ACT_S = 30.0
"""Longest wait for one thing that was asked for."""


class Sender(Protocol):
    """The controller, as far as asking needs it."""

    def send(self, command: Command) -> None:
        """Ask for a change."""
        ...


class Waiter(Sender, Protocol):
    """The controller, as far as waiting needs it."""

    def wait_for(self, predicate: Callable[[AppState], bool], timeout_s: float) -> AppState | None:
        """The first state that satisfies `predicate`, None after the timeout."""
        ...


def begin(front: Sender, command: Command) -> str:
    """Ask for a change whose outcome is waited for. Returns the outcome's id."""
    command_id = os.urandom(8).hex()
    front.send(awaited(command, command_id))
    return command_id


def is_over(state: AppState, command_id: str, is_shown: Callable[[AppState], bool] | None = None) -> bool:
    """True if a command has ended: it was not carried out, or it was and the state shows what it should."""
    outcome = outcome_of(state, command_id)
    return outcome is not None and (not outcome.is_done or is_shown is None or is_shown(state))


def act(front: Waiter, command: Command, timeout_s: float = ACT_S) -> AppState:
    """Have a command carried out.

    Returns:
        The state that shows it.

    Raises:
        SlopError: it could not be, or it took longer than `timeout_s` seconds.
    """
    command_id = begin(front, command)
    state = front.wait_for(lambda now: is_over(now, command_id), timeout_s)
    outcome = outcome_of(state, command_id) if state is not None else None
    if state is None or outcome is None:
        raise too_slow(timeout_s)
    if not outcome.is_done:
        raise SlopError(outcome.problem.removesuffix("."), remedy=outcome.remedy)
    return state


def too_slow(timeout_s: float) -> SlopError:
    """Nothing happened in time."""
    return SlopError(
        tr("The program did not answer within {timeout_s:g} seconds", timeout_s=timeout_s),
        remedy=tr("Run `manual-slop doctor`, then try again"),
    )


# The rule of what counts only from a person, whichever front end hands it over: a program's token gives
# none of it.

FINAL: tuple[type[Any], ...] = (
    ForgetDiscussion,
    ForgetItem,
    RefuseProposals,
    DeletePreset,
    RevertPreset,
    Detach,
    UndoTurn,
)
"""Commands that take away what no trash, log or other file brings back."""

SAYS_YES = ("over_limit", "is_agreed", "replaces")
"""Fields that answer a question in a person's place: past a limit, much out of knowledge, over a file that stands there."""

ALWAYS: tuple[type[Any], ...] = (
    *PERSON_ONLY,
    *FINAL,
    SaveServer,
    RemoveServer,
    OpenProject,
    SavePrompt,
    ResetPrompt,
    SaveNamedText,
    DeleteNamedText,
    AttachFile,
    EditDraft,
    ExportUsage,
    ImportConversations,
    UpdatePrices,
)
"""Commands that count only from a person whatever they hold: beside approvals the servers that words and keys go to, folders
and files of the machine that are read, texts that every later conversation obeys, prices by which limits hold, and what no
trash brings back."""

_RECLAIMS = (AfterHarvest.TRASH, AfterHarvest.TRASH_ALL)

PROGRAMS_SETTINGS = frozenset(
    [
        "ai_settings.provider", "ai_settings.model", "ai_settings.effort", "ai_settings.max_output_tokens",
        "ai_settings.spend_limit_usd", "ai_settings.knowledge.digest_enabled", "ai_settings.knowledge.budget_bytes",
        "ai_settings.knowledge.live_days", "ai_settings.knowledge.max_source_bytes",
        "ai_settings.caching.anthropic_enabled", "ai_settings.caching.anthropic_ttl", "ai_settings.caching.gemini_enabled",
        "ai_settings.caching.gemini_ttl_minutes", "ai_settings.caching.openai_ttl", "ai_settings.caching.appends_changes",
        "ai_settings.caching.keepalive_cap_usd", "ai_settings.caching.prewarm", "ai_settings.caching.embedded_disk_mb",
        "ai_settings.caching.day_limit_usd", "retrieval.enabled", "retrieval.ambient", "retrieval.ambient_tokens",
        "retrieval.tag_fields", "retrieval.date_fields", "appearance.theme", "appearance.ui_scale", "appearance.send_key", "appearance.language",
        "files.max_file_bytes", "files.max_glob_files", "files.max_attachment_bytes", "files.paste_as_attachment_chars",
        "notifications.desktop",
    ]
)  # fmt: skip
"""Settings that any program with the ordinary token may change, limits of money only downwards. All others say what tools,
servers, channels and the Hook API may do, which folders are read, where words go, or what a model is told."""


def is_persons(state: AppState, command: Command) -> bool:
    """True if a command counts only from a person. Pure and total.

    A command that a model runs could read the ordinary token of the Hook API, so that token gives nothing by which more is
    spent than the person set, more of the machine is read, more is allowed, or something is lost for good.
    """
    if isinstance(command, ALWAYS) or any(getattr(command, name, False) for name in SAYS_YES):
        return True
    match command:
        case ChangeSetting() | ChangeProjectSetting():
            key = command.key
            return key not in PROGRAMS_SETTINGS or loosens(state.config.settings, key, command.value)
        case SetQuiet():
            return command.is_quiet
        case SetDraft():
            return _loses_words(state, command)
        case ChangePreset() | SavePreset() | RenamePreset():
            return _loses_items(state.config.project, command)
        case DeleteDiscussion():
            return state.config.settings.trash_days == 0
        case ApplyHarvest():
            settings = state.config.settings
            return (
                settings.trash_days == 0 and settings.knowledge.fate_of_harvested(command.after) in _RECLAIMS
            )
        case DiscardPreview() | EditHarvestItem() | DiscardMerge() | ProposeMerge() | EditMergeGroup():
            return _loses_edits(state.harvest, command)
        case _:
            return False


def _loses_edits(harvest: HarvestState, command: ReviewCommand | MergeCommand | ProposeMerge) -> bool:
    """True if words would go that a person wrote into what a harvest or a merge proposes: nothing else holds them."""
    items = () if harvest.preview is None else harvest.preview.items
    groups = () if harvest.merge is None else harvest.merge.groups
    match command:
        case DiscardPreview():
            return any(one.is_edited for one in items)
        case EditHarvestItem():
            return any(one.is_edited for one in items if one.id == command.item_id)
        case EditMergeGroup():
            return any(one.is_edited for one in groups if one.id == command.group_id)
        case _:
            return any(one.is_edited for one in groups)


def _loses_items(project: Project, command: ChangePreset | SavePreset | RenamePreset) -> bool:
    """True if items of a preset would go that nothing else holds: of one that is not saved, or of the file by writing over it."""
    now = project.presets.get(command.name)
    if now is None:
        return False
    filed = project.filed_presets.get(command.name)
    if isinstance(command, ChangePreset):
        held = (*command.items, *(() if filed is None else filed.items))
        return command.name in project.unsaved_presets and not _holds(held, now)
    return filed is not None and not _holds(now.items, filed)


def _holds(items: tuple[FileItem, ...], preset: Preset) -> bool:
    return all(one in items for one in preset.items)


def _loses_words(state: AppState, command: SetDraft) -> bool:
    """True if a draft would lose words that were not sent: a program may add to them."""
    opened = state.discussions.open.get(command.discussion_id)
    return opened is not None and opened.draft.text.strip() not in command.text
