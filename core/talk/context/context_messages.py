"""Messages of presets and the context: commands, effects, and events of what was read."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core.kernel.values.cache import CachePlan
from core.kernel.values.curation import FileItem, FilesLookedUp, FileSnapshot, ItemFiles, TextTable
from core.kernel.values.settings import FileLimits
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import ContextReport
from core.kernel.values.updates import FILLED
from core.kernel.values.usage import OfferedCommand
from core.services.settings.settings_messages import NamedTextStored, PresetStored


class MeasureContext(msgspec.Struct, frozen=True):
    """Assemble a discussion's stack as it is now, also when it is not the one shown. Its log must be loaded."""

    discussion_id: str
    command_id: str = ""


class LookUpFiles(msgspec.Struct, frozen=True):
    """Find what a mention that is being typed could name, or count what a glob finds. `path#` asks for a file's symbols.

    The latest wins. `root` and what follows it: where files are looked for, as the step fills it in.
    """

    text: str
    is_glob: bool = False
    root: Annotated[str, FILLED] = ""
    allowed_roots: Annotated[tuple[str, ...], FILLED] = ()
    limits: Annotated[FileLimits, FILLED] = FileLimits()
    shown: Annotated[tuple[str, ...], FILLED] = ()


class AddItems(msgspec.Struct, frozen=True):
    """Add files to what a discussion's model sees: to its preset, or to a new one that it uses from then on."""

    discussion_id: str
    items: tuple[FileItem, ...]
    command_id: str = ""


class KeepOut(msgspec.Struct, frozen=True):
    """Keep a source out of what is recalled for a discussion's next message, or let it back in.

    Who wants it out for good adds it to the setting `retrieval.kept_out`.
    """

    discussion_id: str
    source: str
    is_out: bool = True
    command_id: str = ""


class CreatePreset(OfferedCommand, frozen=True):
    """A new preset; `copy_of` duplicates another, and its items are taken where `items` is empty.

    The selected discussion uses it, unless `is_used` is False.
    """

    name: str
    items: tuple[FileItem, ...] = ()
    copy_of: str = ""
    is_used: bool = True
    command_id: str = ""


class ChangePreset(msgspec.Struct, frozen=True):
    """Replace the items of a preset; works at once, saved by `SavePreset`."""

    name: str
    items: tuple[FileItem, ...]
    command_id: str = ""


class SavePreset(msgspec.Struct, frozen=True):
    """Write a preset to the project's `manual_slop.toml`."""

    name: str
    command_id: str = ""


class RevertPreset(msgspec.Struct, frozen=True):
    """Take a preset back to what the file says."""

    name: str


class RenamePreset(msgspec.Struct, frozen=True):
    """Rename a preset, in the file and in the discussions that use it."""

    name: str
    new_name: str


class DeletePreset(msgspec.Struct, frozen=True):
    """Delete a preset from the project's file."""

    name: str


class InspectFile(msgspec.Struct, frozen=True):
    """Read a file for the structure view: outline, slices, tokens. Empty path closes the view."""

    path: str


# context worker: latest wins for each discussion
class AssembleContext(msgspec.Struct, frozen=True):
    spec: StackSpec
    command_id: str = ""


class LeaveStack(msgspec.Struct, frozen=True):
    """Drop what is kept of a discussion that is open no more."""

    discussion_id: str


class InspectOnDisk(msgspec.Struct, frozen=True):
    """Read one file for the structure view."""

    root: str
    item: FileItem
    allowed_roots: tuple[str, ...]
    limits: FileLimits
    shown: tuple[str, ...] = ()


class FilesFound(msgspec.Struct, frozen=True):
    """A lookup has its answer."""

    found: FilesLookedUp


class GlobLoss(msgspec.Struct, frozen=True):
    """A glob that finds fewer files since it follows `.gitignore`. `files`: how many fewer, `is_more`: at least."""

    path: str
    files: int
    is_more: bool = False


class FilesRead(msgspec.Struct, frozen=True):
    """A preset's files as they are now. `losses`: what its globs lost to `.gitignore`, where that was never said."""

    preset: str
    items: tuple[ItemFiles, ...]
    losses: tuple[GlobLoss, ...] = ()


class FileInspected(msgspec.Struct, frozen=True):
    """A file was read for the structure view."""

    snapshot: FileSnapshot


class ContextAssembled(msgspec.Struct, frozen=True):
    """The stack of a discussion as it would be sent now."""

    discussion_id: str
    report: ContextReport
    plan: CachePlan | None = None


class SaveNamedText(OfferedCommand, frozen=True):
    """Write a persona or a system prompt to the project's `manual_slop.toml`, or to the file that it names.

    Args:
        old_name: of the one that is changed, under the same name or another; empty for a new one.
        base: the text that the person began with; where the file holds another by now, nothing is written.
        used_by: ids of discussions that are to use it.
    """

    table: TextTable
    name: str
    text: str
    old_name: str = ""
    base: str | None = None
    used_by: tuple[str, ...] = ()
    command_id: str = ""


class DeleteNamedText(msgspec.Struct, frozen=True):
    """Take a persona or a system prompt out of the project's file; discussions that used it use none."""

    table: TextTable
    name: str
    base: str | None = None
    command_id: str = ""


ContextCommand = (
    MeasureContext
    | KeepOut
    | CreatePreset
    | ChangePreset
    | SavePreset
    | RevertPreset
    | RenamePreset
    | DeletePreset
    | SaveNamedText
    | DeleteNamedText
    | InspectFile
    | LookUpFiles
    | AddItems
)
"""Commands that a front end may give this room."""

ContextEvent = FilesFound | FilesRead | FileInspected | ContextAssembled | PresetStored | NamedTextStored
"""Events of this room."""

ContextEffect = AssembleContext | LeaveStack | InspectOnDisk
"""The context worker's, the latest wins for each discussion."""
