"""The rule of what counts only from a person, whichever front end hands it over: a program's token gives none of it."""

from __future__ import annotations

from typing import Any

from core.agent.messages import UndoTurn
from core.app.messages import PERSON_ONLY, Command
from core.context.messages import DeleteNamedText, DeletePreset, RevertPreset, SaveNamedText
from core.discussion.messages import AttachFile, Detach, SetDraft
from core.forgetting.messages import ForgetDiscussion, ForgetItem
from core.imports.messages import ImportConversations
from core.mcp_server.messages import RefuseProposals
from core.settings.messages import (
    ChangeProjectSetting,
    ChangeSetting,
    OpenProject,
    RemoveServer,
    ResetPrompt,
    SavePrompt,
    SaveServer,
    UpdatePrices,
)
from core.signals.messages import SetQuiet
from core.spending.limits import loosens
from core.values.state import AppState

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
    ImportConversations,
    UpdatePrices,
)
"""Commands that count only from a person whatever they hold: beside approvals the servers that words and keys go to, folders
and files of the machine that are read, texts that every later conversation obeys, prices by which limits hold, and what no
trash brings back."""

PROGRAMS_SETTINGS = frozenset(
    [
        "ai_settings.provider", "ai_settings.model", "ai_settings.effort", "ai_settings.max_output_tokens",
        "ai_settings.spend_limit_usd", "ai_settings.knowledge.digest_enabled", "ai_settings.knowledge.budget_bytes",
        "ai_settings.knowledge.live_days", "ai_settings.knowledge.max_source_bytes",
        "ai_settings.caching.anthropic_enabled", "ai_settings.caching.anthropic_ttl", "ai_settings.caching.gemini_enabled",
        "ai_settings.caching.gemini_ttl_minutes", "ai_settings.caching.openai_ttl", "ai_settings.caching.appends_changes",
        "ai_settings.caching.keepalive_cap_usd", "ai_settings.caching.prewarm", "ai_settings.caching.embedded_disk_mb",
        "ai_settings.caching.day_limit_usd", "retrieval.enabled", "retrieval.ambient", "retrieval.ambient_tokens",
        "retrieval.tag_fields", "retrieval.date_fields", "appearance.theme", "appearance.ui_scale", "appearance.send_key",
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
        case _:
            return False


def _loses_words(state: AppState, command: SetDraft) -> bool:
    """True if a draft would lose words that were not sent: a program may add to them."""
    opened = state.discussions.open.get(command.discussion_id)
    return opened is not None and opened.draft.text.strip() not in command.text
