"""Tools, effort, system prompt and persona of a discussion's view: what stands at the head of its requests, and what was added in the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import canonical_json, read_json
from core.kernel.values.provider import Effort
from core.kernel.values.stack import LayerId, ToolSchema
from core.kernel.values.window import BaseFile, ContextView, TurnSwitch
from core.services.providers.switches import InstructionChange, Switch, read_switch, switch_text, takes_effort
from core.talk.context.pieces import Layer, digest
from core.talk.context.wire import INSTRUCTED, layer_of, pieces_of, switch_segment


class InForce(msgspec.Struct, frozen=True):
    """Tools, as pieces of layer 3, effort, and pieces of layers 4 and 5 that the next request of a view has without another
    word.
    """

    tools: tuple[BaseFile, ...]
    effort: str
    instructions: tuple[BaseFile, ...]


class Wanted(msgspec.Struct, frozen=True):
    """Tools, effort, and pieces of layers 4 and 5 that a request shall have.

    Args:
        head: effort that stands at the head of the request, which its cache is apart by.
        may_switch: the model takes additions in the conversation; tells: the request has words to add them behind.
    """

    tools: tuple[BaseFile, ...]
    effort: Effort
    head: Effort
    instructions: tuple[BaseFile, ...] = ()
    may_switch: bool = False
    tells: bool = False


def wanted_of(
    layers: Sequence[Layer], effort: Effort, head: Effort, *, may_switch: bool, tells: bool
) -> Wanted:
    """Tools and effort that a stack's request shall have."""
    tools = pieces_of(layers, LayerId.TOOLS) if may_switch else ()
    told = pieces_of(layers, *INSTRUCTED) if may_switch else ()
    return Wanted(
        tools=tools, effort=effort, head=head, instructions=told, may_switch=may_switch, tells=tells
    )


def in_force(view: ContextView, but: str = "") -> InForce | None:
    """Tools and effort in force in a view; None where it does not tell. `but`: a message whose switch does not count."""
    base = view.base
    if base.tools is None or base.effort is None or base.instructions is None:
        return None
    tools, effort = {piece.key: piece for piece in base.tools}, base.effort
    instructions = {layer_of(piece.key): piece for piece in base.instructions}
    for told in view.switches:
        switch = read_switch(switch_segment(told)) if told.message_id != but else None
        if switch is None:
            continue
        for name in switch.removed:
            tools.pop(_key(name), None)
        tools |= {piece.key: piece for piece in map(_piece, switch.added)}
        effort = switch.effort or effort
        for one in switch.told:
            instructions.pop(one.layer, None)
            if one.text:
                instructions[one.layer] = BaseFile(key=one.key, sha256=digest(one.text), text=one.text)
    return InForce(
        tools=tuple([tools[key] for key in sorted(tools)]),
        effort=effort,
        instructions=tuple([instructions[layer] for layer in sorted(instructions)]),
    )


def with_switches(view: ContextView, wanted: Wanted, message_id: str) -> ContextView:
    """The view with what a request shall have: added behind its words where that can be said, else at its head, where it
    rewrites all.

    Returns:
        The same object where it is in force.
    """
    if not wanted.may_switch:
        return _headed(view, None, None, None)
    now, said = in_force(view, message_id), in_force(view)
    if now is not None and not wanted.tells:
        return view  # what changed waits for the next message: a running turn is bound to all before it
    if now is None or said is None or view.base.effort != wanted.head.value:
        return _with_wanted(view, wanted, message_id)
    if _switch(said, wanted) is None:
        return view
    kept = tuple(one for one in view.switches if one.message_id != message_id)
    switch = _switch(now, wanted)
    if switch is None:
        return view if kept == view.switches else replace(view, switches=kept)
    if not _can_be_said(now, wanted):
        return _with_wanted(view, wanted, message_id)
    told = (*kept, TurnSwitch(message_id=message_id, text=switch_text(switch)))
    return view if told == view.switches else replace(view, switches=told)


def _with_wanted(view: ContextView, wanted: Wanted, message_id: str) -> ContextView:
    """All at the head, but for an effort that another one stands there for."""
    view = _headed(view, wanted.tools, wanted.head.value, wanted.instructions)
    if wanted.effort is wanted.head or not wanted.tells or not takes_effort(wanted.head, wanted.effort):
        return view
    told = TurnSwitch(message_id=message_id, text=switch_text(Switch(effort=wanted.effort.value)))
    return replace(view, switches=(told,))


def _headed(
    view: ContextView,
    tools: tuple[BaseFile, ...] | None,
    effort: str | None,
    instructions: tuple[BaseFile, ...] | None,
) -> ContextView:
    base = view.base
    if (base.tools, base.effort, base.instructions, view.switches) == (tools, effort, instructions, ()):
        return view
    return replace(
        view, base=replace(base, tools=tools, effort=effort, instructions=instructions), switches=()
    )


def _switch(now: InForce, wanted: Wanted) -> Switch | None:
    """The difference, None where there is none."""
    old, new = ({piece.key: piece for piece in tools} for tools in (now.tools, wanted.tools))
    added = tuple(
        schema_of(new[key]) for key in sorted(new) if key not in old or old[key].sha256 != new[key].sha256
    )
    removed = tuple(_name(key) for key in sorted(old) if key not in new)
    effort = "" if now.effort == wanted.effort.value else wanted.effort.value
    told = _told(now.instructions, wanted.instructions)
    is_none = not (added or removed or effort or told)
    return None if is_none else Switch(effort=effort, added=added, removed=removed, told=told)


def _told(before: tuple[BaseFile, ...], after: tuple[BaseFile, ...]) -> tuple[InstructionChange, ...]:
    """Changes of layers 4 and 5, which have one piece at most."""
    if before == after:
        return ()
    old, new = ({layer_of(piece.key): piece for piece in pieces} for pieces in (before, after))
    gone = [InstructionChange(key=one.key, text="") for layer, one in old.items() if layer not in new]
    return (
        *gone,
        *(InstructionChange(key=o.key, text=o.text) for layer, o in new.items() if old.get(layer) != o),
    )


def _can_be_said(now: InForce, wanted: Wanted) -> bool:
    """True if a difference can be told behind words: no tool has another meaning, and the effort has a name."""
    new = {piece.key: piece.sha256 for piece in wanted.tools}
    is_same = all(new.get(piece.key, piece.sha256) == piece.sha256 for piece in now.tools)
    has_effort = now.effort == wanted.effort.value or takes_effort(Effort(now.effort), wanted.effort)
    return wanted.tells and is_same and has_effort


def head_tools(
    view: ContextView, tools: tuple[ToolSchema, ...], layers: Sequence[Layer]
) -> tuple[ToolSchema, ...]:
    """Tools at the head of a request through a view; the stack's own objects where they are the same."""
    base = view.base.tools
    if base is None or [p.sha256 for p in base] == [p.sha256 for p in layers[LayerId.TOOLS - 1].pieces]:
        return tools
    return tuple(map(schema_of, base))


@lru_cache(maxsize=512)
def schema_of(piece: BaseFile) -> ToolSchema:
    """The tool that a piece of layer 3 is."""
    data = read_json(piece.text)
    parameters = canonical_json(data["parameters"])
    return ToolSchema(name=data["name"], description=data["description"], parameters_json=parameters)


def _piece(tool: ToolSchema) -> BaseFile:
    value = {
        "description": tool.description,
        "name": tool.name,
        "parameters": read_json(tool.parameters_json),
    }
    text = canonical_json(value) + "\n"
    return BaseFile(key=_key(tool.name), sha256=digest(text), text=text)


def _key(name: str) -> str:
    return f"{int(LayerId.TOOLS)}/{name}"


def _name(key: str) -> str:
    return key.partition("/")[2]
