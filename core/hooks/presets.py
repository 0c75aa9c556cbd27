"""Context presets over HTTP: the list, and putting one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from core.context.messages import (
    ChangePreset,
    CreatePreset,
    DeletePreset,
    InspectFile,
    RenamePreset,
    RevertPreset,
    SavePreset,
)
from core.hooks.fields import Body, Data, PathText
from core.hooks.operation import Resource, operation
from core.hooks.refusals import RefusedError
from core.hooks.request import Answer, Request
from core.settings.asked_values import may_not_write
from core.settings.preset_table import MAX_ITEMS, item_table, name_flaw, read_preset
from core.values.curation import FileMode, Preset
from core.values.state import AppState

LineNumber = Annotated[int, Meta(ge=1)]


class PresetItem(Body, frozen=True):
    """An item of a preset. An answer says every field."""

    path: PathText
    mode: FileMode = FileMode.WHOLE
    slices: list[Annotated[list[LineNumber], Meta(min_length=2, max_length=2)]] = msgspec.field(
        default_factory=list
    )
    symbols: list[str] = msgspec.field(default_factory=list)
    notes: str = ""
    pinned: bool = False
    enabled: bool = True
    include_ignored: bool = False


PresetItems = Annotated[tuple[PresetItem, ...], Meta(max_length=MAX_ITEMS)]


class PresetBody(Body, frozen=True):
    """The items of a preset in order; `save`: into the project's file too."""

    items: PresetItems
    save: bool = False


class PresetData(Data, frozen=True):
    """A preset with its items in order."""

    name: str
    is_saved: bool
    items: list[PresetItem]

    @classmethod
    def of(cls, state: AppState, preset: Preset) -> PresetData:
        """The preset as it is answered with."""
        items = [PresetItem(**item_table(item)) for item in preset.items]
        return cls(preset.name, preset.name not in state.config.project.unsaved_presets, items)


class PresetsData(Data, frozen=True):
    """The project's presets."""

    presets: list[PresetData]


async def list_presets(request: Request[None]) -> Answer:
    """The project's context presets, unsaved work included."""
    state = request.state
    return Answer(
        PresetsData([PresetData.of(state, preset) for preset in state.config.project.presets.values()])
    )


async def put_preset(request: Request[PresetBody]) -> Answer:
    """Make a preset or replace its items. It works at once; `save` writes the project's file too."""
    request.check_writable()
    name, body = request.names["name"], request.fields
    padded = "a name must not begin or end with a space" if name != name.strip() else ""
    if reason := padded or name_flaw(name):
        raise RefusedError(422, "wrong_name", f"{name[:80]!r}: {reason}", "Choose another name")
    wanted = preset_of(name, body.items)
    project = request.state.config.project
    if body.save and may_not_write(project, "presets", name):
        text = "The folder's manual_slop.toml asks for what its person was not shown yet"
        raise RefusedError(409, "not_trusted", text, "Trust it first")
    wanted = replace(wanted, items=tuple(sorted(wanted.items, key=lambda item: not item.pinned)))
    is_new = name not in project.presets
    command = CreatePreset(name, wanted.items, is_used=False) if is_new else ChangePreset(name, wanted.items)
    state = await request.do(command, lambda now: now.config.project.presets.get(name) == wanted)
    if body.save:
        state = await request.do(SavePreset(name), lambda now: name not in now.config.project.unsaved_presets)
    return Answer(PresetData.of(state, wanted), status=201 if is_new else 200)


def preset_of(name: str, items: Sequence[PresetItem]) -> Preset:
    """The preset that a request describes, judged as one of a file. Raises RefusedError (422)."""
    preset, flaws = read_preset(name, {"items": [msgspec.to_builtins(item) for item in items]})
    if preset is None or flaws:
        raise RefusedError(422, "wrong_body", flaws[0].reason, "See docs/openapi.json")
    return preset


_PUT = {200: PresetData, 201: PresetData}
_PUT_ERRORS = {409: "the home is read-only, or `save` where the folder is not trusted"}

RESOURCE = Resource(
    (
        operation("GET", "/api/presets", list_presets, {200: PresetsData}),
        operation("PUT", "/api/presets/{name}", put_preset, _PUT, _PUT_ERRORS),
    ),
    {
        "presets": (
            CreatePreset,
            ChangePreset,
            SavePreset,
            RevertPreset,
            RenamePreset,
            DeletePreset,
            InspectFile,
        )
    },
)
