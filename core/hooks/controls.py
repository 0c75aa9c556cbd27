"""What `POST /api/ui` can ask for: the commands that the widgets of each panel send, by name."""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, Union, get_args, get_origin, get_type_hints

from core.config.preset_table import read_preset
from core.hooks.building import one_of
from core.hooks.pointed import check_apply, check_candidates, check_notes, check_proposed, stored_item
from core.hooks.refusals import RefusedError, unknown
from core.hooks.schema import Schema, flaw
from core.hooks.shapes import ITEMS
from core.hooks.shapes_of_knowledge import ITEM_PLACE, TEXTS
from core.hooks.talking import check_limit
from core.values import commands as c
from core.values.commands import Command
from core.values.curation import FileItem
from core.values.knowledge import Category, Item
from core.values.state import AppState

PANELS: Mapping[str, tuple[type[Any], ...]] = {
    "discussions": (
        c.CreateDiscussion,
        c.SelectDiscussion,
        c.ReadDiscussion,
        c.RenameDiscussion,
        c.PinDiscussion,
        c.ArchiveDiscussion,
        c.DeleteDiscussion,
        c.UndoDelete,
        c.SearchDiscussions,
        c.ExportDiscussion,
    ),
    "conversation": (
        c.CancelReply,
        c.RetrySend,
        c.RegenerateReply,
        c.EditMessage,
        c.DeleteMessage,
        c.RestoreMessage,
        c.BranchDiscussion,
    ),
    "composer": (
        c.SendPrompt,
        c.SetDraft,
        c.AttachFile,
        c.AttachText,
        c.Detach,
        c.SetModel,
        c.SetEffort,
        c.SetDiscussionPreset,
        c.SetPersona,
        c.SetSystemPreset,
    ),
    "presets": (
        c.CreatePreset,
        c.ChangePreset,
        c.SavePreset,
        c.RevertPreset,
        c.RenamePreset,
        c.DeletePreset,
        c.InspectFile,
    ),
    "context": (c.MeasureContext,),
    "caching": (c.InvalidateCache, c.DisableCaching, c.EnableCaching, c.DeleteOrphanedCaches),
    "knowledge": (
        c.RegenerateDigest,
        c.DeleteDigest,
        c.AddKnowledgeItem,
        c.EditKnowledgeItem,
        c.DeleteKnowledgeItem,
        c.SetTaskDone,
        c.AttachNotes,
    ),
    "harvest": (
        c.LookForHarvest,
        c.PreviewHarvest,
        c.TickHarvestItems,
        c.EditHarvestItem,
        c.MoveHarvestItem,
        c.DiscardPreview,
        c.ApplyHarvest,
        c.CancelHarvest,
        c.UndoHarvest,
    ),
    "settings": (
        c.ChangeSetting,
        c.SaveServer,
        c.RemoveServer,
        c.RefreshModels,
        c.FindLocalServers,
        c.TrustProject,
        c.OpenProject,
    ),
    "notices": (c.DismissNotice,),
    "program": (c.Quit,),
}
"""Commands by the panel whose widgets send them."""

HELD_BACK: tuple[type[Any], ...] = (c.StoreKey, c.SaveWindow)
"""Keys never pass through the Hook API; the window keeps its own places."""


def action_name(kind: type[Any]) -> str:
    """A command's name as an action: `rename_discussion`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def make_command(state: AppState, panel: str, action: str, body: Mapping[str, Any]) -> Command:
    """The command that a body asks for.

    Args:
        body: with the command's fields beside `panel` and `action`.

    Raises:
        RefusedError: 404 no such panel, action or thing that a field names; 409 it cannot be done with that thing;
            422 wrong fields.
    """
    kinds = PANELS.get(panel)
    if kinds is None:
        raise unknown("panel", panel, f"There are: window, {', '.join(PANELS)}")
    kind = next((kind for kind in kinds if action_name(kind) == action), None)
    if kind is None:
        raise unknown("action", action, f"There are: {', '.join(map(action_name, kinds))}")
    given = {name: value for name, value in body.items() if name not in {"panel", "action"}}
    if reason := flaw(fields_schema(kind), given):
        raise RefusedError(422, "wrong_body", reason, f"See the fields of {kind.__name__}")
    wanted = given.get("discussion_id", "")
    if wanted and wanted not in state.summaries and kind is not c.UndoDelete:
        raise unknown("discussion", wanted, "See GET /api/discussions")
    hints = get_type_hints(kind)
    command: Command = kind(**{name: _value(state, hints[name], value) for name, value in given.items()})
    if isinstance(command, c.SendPrompt | c.RetrySend | c.RegenerateReply):
        check_limit(state, command.discussion_id, "Raise it in Caching, Settings")
    _check_pointed(state, command)
    return command


def _value(state: AppState, hint: Any, value: Any) -> Any:
    """A field's value from plain data that satisfies its schema. Raises RefusedError."""
    if hint is Category:
        return Category(value)
    if hint is Item:
        return stored_item(state, value["file"], value["first_line"], value["text"])
    if get_origin(hint) is tuple:
        return _items(value) if get_args(hint)[0] is FileItem else tuple(value)
    return tuple(value) if isinstance(value, list) else value


def _check_pointed(state: AppState, command: Command) -> None:
    """Whether what a command of knowledge or the harvest names is there. Raises RefusedError."""
    match command:
        case c.AddKnowledgeItem(category=Category.FILES):
            raise RefusedError(
                422, "wrong_body", "Notes on files are placed by a harvest", "See the other categories"
            )
        case c.AttachNotes():
            check_notes(state, command.file_id, command.path)
        case c.PreviewHarvest() | c.ApplyHarvest():
            check_candidates(state, command.paths)
        case c.TickHarvestItems():
            check_proposed(state.harvest.preview, command.item_ids)
        case c.EditHarvestItem() | c.MoveHarvestItem():
            check_proposed(state.harvest.preview, (command.item_id,))
        case c.UndoHarvest():
            check_apply(state, command.apply_id)
        case _:
            pass


def _items(rows: Any) -> tuple[FileItem, ...]:
    found, flaws = read_preset("items", {"items": rows})
    if found is None or flaws:
        raise RefusedError(422, "wrong_body", flaws[0].reason, "See docs/openapi.json")
    return found.items


def fields_schema(kind: type[Any]) -> Schema:
    """The schema of a command's fields, from their types."""
    hints = get_type_hints(kind)
    return {
        "type": "object",
        "properties": {field.name: _field_schema(hints[field.name]) for field in fields(kind)},
        "required": [field.name for field in fields(kind) if field.default is MISSING],
        "additionalProperties": False,
    }


_NAMES: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


def _field_schema(hint: Any) -> Schema:
    if get_origin(hint) in {Union, types.UnionType}:
        kinds = [_NAMES.get(part, "array") for part in get_args(hint)]
        return {**(TEXTS if "array" in kinds else {}), "type": kinds}
    if get_origin(hint) is tuple:
        return ITEMS if get_args(hint)[0] is FileItem else TEXTS
    if hint is Item:
        return ITEM_PLACE
    return one_of(*Category) if hint is Category else {"type": _NAMES[hint]}
