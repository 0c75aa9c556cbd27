"""Messages of presets and the context: commands, effects, and events of what was read."""

from __future__ import annotations

import msgspec

from core.base.offer import OfferedCommand
from core.settings.messages import PresetStored
from core.values.cache import CachePlan
from core.values.curation import FileItem, FileSnapshot, ItemFiles
from core.values.settings import (
    FileLimits,
)
from core.values.spec import StackSpec
from core.values.stack import ContextReport


class MeasureContext(msgspec.Struct, frozen=True):
    """Assemble a discussion's stack as it is now, also when it is not the one shown. Its log must be loaded."""

    discussion_id: str
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


class InspectOnDisk(msgspec.Struct, frozen=True):
    """Read one file for the structure view."""

    root: str
    item: FileItem
    allowed_roots: tuple[str, ...]
    limits: FileLimits


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


class FilesChanged(msgspec.Struct, frozen=True):
    """Files that somebody watches have changed, been made or gone. Absolute paths."""

    paths: tuple[str, ...]


class FileInspected(msgspec.Struct, frozen=True):
    """A file was read for the structure view."""

    snapshot: FileSnapshot


class ContextAssembled(msgspec.Struct, frozen=True):
    """The stack of a discussion as it would be sent now."""

    discussion_id: str
    report: ContextReport
    plan: CachePlan | None = None


ContextCommand = (
    MeasureContext
    | CreatePreset
    | ChangePreset
    | SavePreset
    | RevertPreset
    | RenamePreset
    | DeletePreset
    | InspectFile
)
"""Commands that a front end may give this room."""

ContextEvent = FilesRead | FilesChanged | FileInspected | ContextAssembled | PresetStored
"""Events of this room."""

ContextEffect = AssembleContext | InspectOnDisk
"""The context worker's, the latest wins for each discussion."""
