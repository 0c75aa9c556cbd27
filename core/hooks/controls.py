"""Controls of `POST /api/ui`: the commands that the widgets of each panel send, by name."""

from __future__ import annotations

import re
import types
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

from core.app.messages import PERSON_ONLY, Command, SaveWindow
from core.attention.messages import NoteActivity
from core.discussion.messages import UndoDelete
from core.hooks.bodies import taken
from core.hooks.fields import Body, Texts
from core.hooks.knowledge import ItemPlace, stored_item
from core.hooks.operation import Resource
from core.hooks.presets import PresetItem, PresetItems, preset_of
from core.hooks.refusals import for_a_person, unknown
from core.values.curation import FileItem
from core.values.knowledge import Item
from core.values.state import AppState

COMMAND_ID = "command_id"
"""The field by which we wait for a command; nobody else gives it."""

HELD_BACK: tuple[type[Any], ...] = (*PERSON_ONLY, SaveWindow, NoteActivity)
"""A person's own words never come through the Hook API; the window keeps its own places, and tells when it is used."""


def action_name(kind: type[Any]) -> str:
    """A command's name as an action: `rename_discussion`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def make_command(
    resources: Sequence[Resource], state: AppState, panel: str, action: str, body: Mapping[str, Any]
) -> Command:
    """The command that a body asks for.

    Args:
        resources: whose panels there are; body: with the command's fields beside `panel` and `action`.

    Raises:
        RefusedError: 403 a person alone may; 404 no such panel, action or thing that a field names; 409 it cannot be done with that thing;
            422 wrong fields.
    """
    if action in map(action_name, PERSON_ONLY):
        raise for_a_person()
    panels = panels_of(resources)
    if panel not in panels:
        raise unknown("panel", panel, f"There are: window, {', '.join(panels)}")
    resource, kinds = panels[panel]
    kind = next((kind for kind in kinds if action_name(kind) == action), None)
    if kind is None:
        raise unknown("action", action, f"There are: {', '.join(map(action_name, kinds))}")
    given = {name: value for name, value in body.items() if name not in {"panel", "action"}}
    fields = taken(fields_type(kind), given, f"See the fields of {kind.__name__}")
    wanted = given.get("discussion_id", "")
    if wanted and wanted not in state.discussions.summaries and kind is not UndoDelete:
        raise unknown("discussion", wanted, "See GET /api/discussions")
    values = {name: _value(state, getattr(fields, name)) for name in fields.__struct_fields__}
    command: Command = kind(**values)
    resource.check(state, command)
    return command


def panels_of(resources: Sequence[Resource]) -> Mapping[str, tuple[Resource, tuple[type[Any], ...]]]:
    """The commands of each panel, and the resource that offers them."""
    return {panel: (one, kinds) for one in resources for panel, kinds in one.panels.items()}


def fields_type(kind: type[Any]) -> type[Body]:
    """The type of a command's fields as a request says them."""
    hints = get_type_hints(kind)
    rows: list[tuple[str, Any] | tuple[str, Any, Any]] = [
        (name, _said(hints[name]))
        if found.default is found.empty
        else (name, _said(hints[name]), found.default)
        for name, found in signature(kind).parameters.items()
        if name != COMMAND_ID
    ]
    made = msgspec.defstruct(f"{kind.__name__}Fields", rows, bases=(Body,), kw_only=True, frozen=True)
    assert issubclass(made, Body)
    return made


def _said(hint: Any) -> Any:
    """The type of a field as a request says it: items of presets and of knowledge have a form of their own."""
    if get_origin(hint) in {Union, types.UnionType}:
        return Union[tuple(map(_said, get_args(hint)))]  # noqa: UP007
    if get_origin(hint) is tuple:
        return PresetItems if get_args(hint)[0] is FileItem else Texts
    return ItemPlace if hint is Item else hint


def _value(state: AppState, said: Any) -> Any:
    """A field's value from what the request says. Raises RefusedError."""
    if isinstance(said, ItemPlace):
        return stored_item(state, said)
    if isinstance(said, tuple) and said and isinstance(said[0], PresetItem):
        return preset_of("items", said).items
    return said
