"""What a front end may ask of the controller: a closed union, imperative names.

The window, the CLI, the Hook API and the tests all send these and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.values.curation import FileItem
from core.values.knowledge import Category, Item


@dataclass(frozen=True, slots=True)
class CreateDiscussion:
    """Start a discussion and select it. Empty fields take the settings' defaults.

    `id` is given by a front end that must tell its discussion from others made at the same time; else empty.
    """

    name: str = ""
    provider: str = ""
    model: str = ""
    preset: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class SelectDiscussion:
    """Show a discussion; its log is loaded when it is not yet."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class ReadDiscussion:
    """Load a discussion's log, when it is not yet, without showing it."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class MeasureContext:
    """Assemble a discussion's stack as it is now, also when it is not the one shown. Its log must be loaded."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class RenameDiscussion:
    """Give a discussion another name. Empty names are ignored."""

    discussion_id: str
    name: str


@dataclass(frozen=True, slots=True)
class PinDiscussion:
    """Pin a discussion to the head of the list, or unpin it."""

    discussion_id: str
    is_pinned: bool


@dataclass(frozen=True, slots=True)
class ArchiveDiscussion:
    """Put a discussion into the archive, or take it back."""

    discussion_id: str
    is_archived: bool


@dataclass(frozen=True, slots=True)
class DeleteDiscussion:
    """Move a discussion to the trash; `UndoDelete` brings it back."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class UndoDelete:
    """Bring a discussion back from the trash. Empty id: the one deleted last."""

    discussion_id: str = ""


@dataclass(frozen=True, slots=True)
class BranchDiscussion:
    """Copy a discussion up to and including a message into a new one, and select it."""

    discussion_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class SetModel:
    """Answer with another provider or model from now on. Empty model: the provider's default."""

    discussion_id: str
    provider: str
    model: str


@dataclass(frozen=True, slots=True)
class SetEffort:
    """Choose how hard the model thinks; one of `Effort`."""

    discussion_id: str
    effort: str


@dataclass(frozen=True, slots=True)
class SetDiscussionPreset:
    """Choose the context preset of a discussion. Empty: none."""

    discussion_id: str
    preset: str


@dataclass(frozen=True, slots=True)
class SetPersona:
    """Choose the persona. Empty: none."""

    discussion_id: str
    persona: str


@dataclass(frozen=True, slots=True)
class SetSystemPreset:
    """Choose the system prompt preset. Empty: none."""

    discussion_id: str
    system_preset: str


@dataclass(frozen=True, slots=True)
class SendPrompt:
    """Send text and the draft's attachments. The draft is emptied once the words are on disk."""

    discussion_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CancelReply:
    """Stop the reply that is under way; what has arrived is kept."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class RetrySend:
    """Send again the message whose call failed; nothing is retyped."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class RegenerateReply:
    """Ask again for the reply to the last user message; the old reply is deleted (it stays in the log)."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class EditMessage:
    """Replace a message's text; its attachments stay."""

    discussion_id: str
    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class DeleteMessage:
    """Take a message out of the discussion; it stays in the log."""

    discussion_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class RestoreMessage:
    """Put a deleted message back."""

    discussion_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class SetDraft:
    """What stands in the composer now; written to disk soon after."""

    discussion_id: str
    text: str


@dataclass(frozen=True, slots=True)
class AttachFile:
    """Attach a file by its path to the draft."""

    discussion_id: str
    path: str


@dataclass(frozen=True, slots=True)
class AttachText:
    """Attach a text (a long paste) to the draft."""

    discussion_id: str
    text: str
    name: str = "pasted.txt"


@dataclass(frozen=True, slots=True)
class Detach:
    """Take an attachment out of the draft."""

    discussion_id: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ExportDiscussion:
    """Write a discussion to a file. `form` is `markdown` or `json`."""

    discussion_id: str
    form: str
    path: str


@dataclass(frozen=True, slots=True)
class SearchDiscussions:
    """Find text in names and messages of all discussions. Empty: show all."""

    query: str


@dataclass(frozen=True, slots=True)
class InvalidateCache:
    """Let a discussion's next request share no prefix with what was sent before. Source: 20-caching.md."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class DisableCaching:
    """Ask the provider to cache nothing more of a discussion, where it lets itself be asked."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class EnableCaching:
    """Let the planner cache a discussion again."""

    discussion_id: str


@dataclass(frozen=True, slots=True)
class DeleteOrphanedCaches:
    """Delete stored prefixes whose discussions are gone: the one that is named, or all. Others are never touched."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class CreatePreset:
    """A new preset; `copy_of` duplicates another, and its items are taken where `items` is empty.

    The selected discussion uses it, unless `is_used` is False.
    """

    name: str
    items: tuple[FileItem, ...] = ()
    copy_of: str = ""
    is_used: bool = True


@dataclass(frozen=True, slots=True)
class ChangePreset:
    """Replace the items of a preset; works at once, saved by `SavePreset`."""

    name: str
    items: tuple[FileItem, ...]


@dataclass(frozen=True, slots=True)
class SavePreset:
    """Write a preset to the project's `manual_slop.toml`."""

    name: str


@dataclass(frozen=True, slots=True)
class RevertPreset:
    """Take a preset back to what the file says."""

    name: str


@dataclass(frozen=True, slots=True)
class RenamePreset:
    """Rename a preset, in the file and in the discussions that use it."""

    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class DeletePreset:
    """Delete a preset from the project's file."""

    name: str


@dataclass(frozen=True, slots=True)
class InspectFile:
    """Read a file for the structure view: outline, slices, tokens. Empty path closes the view."""

    path: str


@dataclass(frozen=True, slots=True)
class TrustProject:
    """Let the project's `manual_slop.toml` count, or stop it from counting."""

    is_trusted: bool


@dataclass(frozen=True, slots=True)
class OpenProject:
    """Work in another folder."""

    root: str


@dataclass(frozen=True, slots=True)
class ChangeSetting:
    """Write one key of user settings (`appearance.theme`). `value` is a TOML value or None to remove it."""

    key: str
    value: str | int | float | bool | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class StoreKey:
    """Keep a provider's key in the keyring (or the file store). Never logged. Empty key removes it."""

    provider: str
    key: str

    def __repr__(self) -> str:
        return f"StoreKey(provider={self.provider!r}, key=<hidden>)"


@dataclass(frozen=True, slots=True)
class SaveServer:
    """Add or change an OpenAI-compatible server of user settings."""

    id: str
    label: str
    base_url: str


@dataclass(frozen=True, slots=True)
class RemoveServer:
    """Remove a compatible server from user settings."""

    id: str


@dataclass(frozen=True, slots=True)
class RefreshModels:
    """Ask a provider for its list of models."""

    provider: str


@dataclass(frozen=True, slots=True)
class FindLocalServers:
    """Look for Ollama, LM Studio, llama.cpp and vLLM on their usual loopback ports."""


@dataclass(frozen=True, slots=True)
class RegenerateDigest:
    """Make the digest from the category files, which turns layer 7 on."""


@dataclass(frozen=True, slots=True)
class DeleteDigest:
    """Remove `digest.md`: layer 7 is off."""


@dataclass(frozen=True, slots=True)
class AddKnowledgeItem:
    """Write an item into its category file. `name`: of a playbook. Not for notes, which a harvest places."""

    category: Category
    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class EditKnowledgeItem:
    """Give an item other words; its provenance stays. LF separates continued lines."""

    item: Item
    text: str


@dataclass(frozen=True, slots=True)
class DeleteKnowledgeItem:
    """Take an item out of its file."""

    item: Item


@dataclass(frozen=True, slots=True)
class SetTaskDone:
    """Move a task between its sections."""

    item: Item
    is_done: bool


@dataclass(frozen=True, slots=True)
class AttachNotes:
    """Bind orphaned notes to a file. `path`: absolute."""

    file_id: str
    path: str


@dataclass(frozen=True, slots=True)
class LookForHarvest:
    """Look at the conversations, the ledger and the applies; changes nothing on disk."""


@dataclass(frozen=True, slots=True)
class PreviewHarvest:
    """Have the model read conversations and propose items. `paths`: of artifacts, empty for all candidates."""

    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TickHarvestItems:
    """Take proposed items into the choice, or out of it."""

    item_ids: tuple[str, ...]
    is_ticked: bool


@dataclass(frozen=True, slots=True)
class EditHarvestItem:
    """Give a proposed item other words. `head`, `body`: as in `HarvestItem`."""

    item_id: str
    head: str
    body: str = ""


@dataclass(frozen=True, slots=True)
class MoveHarvestItem:
    """Give a proposed item another category."""

    item_id: str
    category: Category


@dataclass(frozen=True, slots=True)
class DiscardPreview:
    """Forget what was proposed. The paid replies stay on disk: another preview costs nothing anew."""


@dataclass(frozen=True, slots=True)
class ApplyHarvest:
    """Write what is ticked, prove it, reclaim the previewed conversations and prune the empty ones.

    `paths`: without a preview, the candidates that are to be reclaimed unharvested; empty otherwise.
    """

    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CancelHarvest:
    """Stop the harvest after what is being written."""


@dataclass(frozen=True, slots=True)
class UndoHarvest:
    """Take an apply back. `apply_id`: empty for the newest that is not undone."""

    apply_id: str = ""


@dataclass(frozen=True, slots=True)
class DismissNotice:
    """The person has read a notice."""

    notice_id: str


@dataclass(frozen=True, slots=True)
class SaveWindow:
    """Persist panes, tabs, scroll, theme and scale. `data_toml` is the window's own table."""

    data_toml: str


@dataclass(frozen=True, slots=True)
class Quit:
    """Stop workers, write what is pending, end."""


Command = (
    CreateDiscussion
    | SelectDiscussion
    | ReadDiscussion
    | MeasureContext
    | RenameDiscussion
    | PinDiscussion
    | ArchiveDiscussion
    | DeleteDiscussion
    | UndoDelete
    | BranchDiscussion
    | SetModel
    | SetEffort
    | SetDiscussionPreset
    | SetPersona
    | SetSystemPreset
    | SendPrompt
    | CancelReply
    | RetrySend
    | RegenerateReply
    | EditMessage
    | DeleteMessage
    | RestoreMessage
    | SetDraft
    | AttachFile
    | AttachText
    | Detach
    | ExportDiscussion
    | SearchDiscussions
    | InvalidateCache
    | DisableCaching
    | EnableCaching
    | DeleteOrphanedCaches
    | CreatePreset
    | ChangePreset
    | SavePreset
    | RevertPreset
    | RenamePreset
    | DeletePreset
    | InspectFile
    | TrustProject
    | OpenProject
    | ChangeSetting
    | StoreKey
    | SaveServer
    | RemoveServer
    | RefreshModels
    | FindLocalServers
    | RegenerateDigest
    | DeleteDigest
    | AddKnowledgeItem
    | EditKnowledgeItem
    | DeleteKnowledgeItem
    | SetTaskDone
    | AttachNotes
    | LookForHarvest
    | PreviewHarvest
    | TickHarvestItems
    | EditHarvestItem
    | MoveHarvestItem
    | DiscardPreview
    | ApplyHarvest
    | CancelHarvest
    | UndoHarvest
    | DismissNotice
    | SaveWindow
    | Quit
)
