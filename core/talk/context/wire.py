"""The one author of the wire: system blocks, then messages whose roles alternate, volatile metadata last.

Layers 6, 7, 9 and 10 stand as a view shows them: its base in the system blocks and at the head of the first message,
each delta before the words of its message. The canonical view shows the stack's own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import compress
from operator import attrgetter
from typing import NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import canonical_json, read_json
from core.kernel.frame import empty_frame, frame
from core.kernel.structures import shared_run
from core.kernel.values.messages import Role
from core.kernel.values.provider import Effort, RequestMessage, RequestPart, Switching
from core.kernel.values.stack import LayerId, Segment, ToolSchema
from core.kernel.values.window import (
    BaseFile,
    ContextView,
    FrozenBase,
    TurnSwitch,
    TurnTail,
    ViewDelta,
    is_line_key,
)
from core.services.providers.blocks import RUNNING_RAG, SWITCH
from core.services.providers.switches import InstructionChange, Switch, read_switch, switch_text, takes_effort
from core.talk.context.history_turns import message_key, running_pieces, wire_pieces
from core.talk.context.pieces import AS_TEXT, Layer, Piece, digest, make_layer, text_piece
from core.talk.context.update import is_diff

DELTA_NOTE = (
    "The context has changed. What stands here replaces what was said before of the same files; files that are "
    "named as removed are no longer part of the context.\n"
)
KNOWN_NOTE = (
    "The same goes for knowledge, notes and documents: the newest of a name replaces all earlier ones.\n"
)
"""Behind `DELTA_NOTE`, where layers 6 or 7 changed."""
DIFF_NOTE = (
    "A tag with -diff in its name holds a unified diff against what was shown last under its name without -diff and "
    "with the same attributes, lines counted from 1 behind the opening tag: lines with - are gone, lines with + are "
    "new, and every line that the diff does not touch stays as it was shown.\n"
)
"""Behind them, where a piece is told as a diff."""

INSTRUCTED = (LayerId.SYSTEM_PRESET, LayerId.PERSONA)
"""Layers whose text a switch may change in the conversation."""
_BEFORE_PROJECT = (LayerId.ROLE, *INSTRUCTED)
_CURATED = (LayerId.FILE_SET, LayerId.FILE_DETAILS)
_KNOWN = (LayerId.PROJECT, LayerId.KNOWLEDGE)
_SET, _DETAILS = str(int(LayerId.FILE_SET)), str(int(LayerId.FILE_DETAILS))
_REMOVED = {str(int(LayerId.PROJECT)): "document", str(int(LayerId.KNOWLEDGE)): "note"}
"""Name of a removed piece, by its layer; else it is the path of a file."""
RECALLED_BEHIND, TOLD_BEHIND = "/recalled", "/told"
"""Ends of the keys of a block that was recalled for an earlier turn, and of its layer 8."""
DELTA = f"{_DETAILS}/delta/"
"""Begin of the key of what a message told of changed files and knowledge."""

_ROLES = {role.value: role for role in Role}

_PARTS = attrgetter("parts")

_Told = TypeVar("_Told")

_Runs = list[tuple[Role, list[RequestPart]]]
"""Roles that alternate, each with its parts."""


class MadeMessages(msgspec.Struct):
    """The turns of a discussion's last request: the leading run that is the same is taken over. It only saves time.

    Args:
        pieces: of layer 11; deltas: what stood before them, by their keys; tails: behind messages, by their keys.
        reasoned: messages of finished turns whose reasoning goes back, by their keys.
        starts: of each message behind the first the piece that it begins with; messages: those messages.
        first: the message that begins with the files; told: the view's deltas that `deltas` were made of.
    """

    pieces: tuple[Piece, ...] = ()
    deltas: Mapping[str, Segment] = msgspec.field(default_factory=dict)
    tails: Mapping[str, tuple[Segment, ...]] = msgspec.field(default_factory=dict)
    starts: list[int] = msgspec.field(default_factory=list)
    messages: list[RequestMessage] = msgspec.field(default_factory=list)
    first: RequestMessage | None = None
    told: tuple[ViewDelta, ...] = ()
    reasoned: frozenset[str] = frozenset()


def wire_layers(*, takes_long_system: bool) -> tuple[LayerId, ...]:
    """All layers in the order of the wire: tools, system, files, turns, the user's message, metadata.

    Args:
        takes_long_system: False puts layer 6 behind layer 7, at the head of the first user message.
    """
    tools = (LayerId.TOOL_FORMAT, LayerId.TOOLS)
    project, knowledge = LayerId.PROJECT, LayerId.KNOWLEDGE
    context = (project, knowledge) if takes_long_system else (knowledge, project)
    tail = (LayerId.TURNS, LayerId.USER, LayerId.METADATA)
    return (*tools, *_BEFORE_PROJECT, *context, *_CURATED, *tail)


def system_segments(
    layers: Sequence[Layer], view: ContextView, *, takes_long_system: bool
) -> tuple[Segment, ...]:
    """Layers 1 and 4 to 7 as blocks, 4 to 7 as the view's base has them; 6 only where the model takes long system prompts."""
    told = view.base.instructions
    head = _BEFORE_PROJECT if told is None else (LayerId.ROLE,)
    own = [segment for layer in head for segment in layers[layer - 1].segments]
    own += [
        Segment(layer=LayerId(layer_of(one.key)), key=one.key, text=one.text, sha256=one.sha256)
        for one in told or ()
    ]
    known = [LayerId.PROJECT] if takes_long_system else []
    frozen = (
        Segment(layer=layer, key=piece.key, text=piece.text, sha256=piece.sha256)
        for layer in (*known, LayerId.KNOWLEDGE)
        for piece in _known_of(layers, view, layer)
    )
    return (*own, *frozen)


def canonical_view(layers: Sequence[Layer], withdrawals: int = 0) -> ContextView:
    """The view of a canonical rewrite: the stack's own layers 6, 7, 9 and 10 as the base, nothing appended."""
    files = pieces_of(layers, LayerId.FILE_DETAILS)
    known = pieces_of(layers, *_KNOWN)
    return ContextView(
        base=FrozenBase(
            file_set=layers[LayerId.FILE_SET - 1].text, files=files, known=known, withdrawals=withdrawals
        )
    )


def pieces_of(layers: Sequence[Layer], *ids: LayerId) -> tuple[BaseFile, ...]:
    """The pieces of layers as a base holds them."""
    if len(ids) == 1:
        return layers[ids[0] - 1].as_files
    return tuple([file for layer in ids for file in layers[layer - 1].as_files])


def shown_layers(layers: Sequence[Layer], view: ContextView, message_id: str) -> tuple[Layer, ...]:
    """The layers as they go out: 3 to 7, 9 and 10 as the base has them, what the message's delta says in layer 12.

    What earlier turns appended stands in none of them: it goes on as it was sent.
    """
    found = list(layers)
    for layer in based_layers(view):
        if layer.sha256 != layers[layer.id - 1].sha256:
            found[layer.id - 1] = layer
    delta = next((delta for delta in view.deltas if delta.message_id == message_id), None)
    if delta is not None:
        appended = text_piece(LayerId.USER, "changes", delta_text(delta))
        found[LayerId.USER - 1] = make_layer(LayerId.USER, [*layers[LayerId.USER - 1].pieces, appended])
    return tuple(found)


def based_layers(view: ContextView) -> tuple[Layer, ...]:
    """Layers 3 to 7, 9 and 10 of a view's base, those aside that it does not tell."""
    base = view.base
    known = [] if base.known is None else [_as_layer(layer, base.known) for layer in _KNOWN]
    known += [] if base.tools is None else [_as_layer(LayerId.TOOLS, base.tools)]
    known += [] if base.instructions is None else [_as_layer(one, base.instructions) for one in INSTRUCTED]
    file_set = [text_piece(LayerId.FILE_SET, "", base.file_set)] if base.file_set else []
    return (
        *known,
        make_layer(LayerId.FILE_SET, file_set),
        _as_layer(LayerId.FILE_DETAILS, base.files),
    )


def _as_layer(layer: LayerId, pieces: Sequence[BaseFile]) -> Layer:
    own = (piece for piece in pieces if layer_of(piece.key) == layer)
    return make_layer(
        layer, [Piece(key=one.key, parts=(one.text,), sha256=one.sha256, wire=AS_TEXT) for one in own]
    )


def _known_of(layers: Sequence[Layer], view: ContextView, layer: LayerId) -> tuple[BaseFile, ...]:
    """The pieces of layer 6 or 7 as the view's base has them; the stack's own where it does not tell."""
    if view.base.known is None:
        return pieces_of(layers, layer)
    return tuple(piece for piece in view.base.known if layer_of(piece.key) == layer)


@lru_cache(maxsize=1024)
def layer_of(key: str) -> int:
    """The layer of a piece, by its key."""
    return int(key.partition("/")[0])


def wire_messages(
    layers: Sequence[Layer],
    view: ContextView,
    message_id: str,
    made: MadeMessages | None = None,
    *,
    takes_long_system: bool,
) -> tuple[RequestMessage, ...]:
    """The messages: files at the head of the first, prior turns, the user's message, layer 8 at the end.

    Each of layers 6, 9 and 10 is one segment, however many files it holds: a vendor looks only a few blocks
    back for what it has cached. Layer 8 and what was recalled stay behind the words that began a running turn (`turns_layer`),
    and for good where the view says so, as does the reasoning of finished turns.

    Args:
        message_id: of the user's message that layer 12 renders, for its delta.
        made: of the last request; messages that are the same are taken over, as the same objects.
    """
    made = MadeMessages() if made is None else made
    layer = layers[LayerId.TURNS - 1]
    deltas = made.deltas
    if made.told is not view.deltas:
        deltas = {turn_key(delta.message_id): _delta_segment(delta) for delta in view.deltas}
        made.told = view.deltas
    metadata = layers[LayerId.METADATA - 1].segments
    is_said_on = bool(layers[LayerId.USER - 1].pieces)  # a turn that nobody answers any more is over
    running = running_pieces(layer) if metadata and not is_said_on else ()
    tails = _tails(view, running, metadata)
    reasoned = frozenset(map(turn_key, view.reasoned))
    kept = _kept(made, layer.pieces, deltas, tails, reasoned)
    runs: _Runs = [(Role.USER, list(_head(layers, view, takes_long_system=takes_long_system)))]
    behind = _Behind(deltas=deltas, tails=tails, reasoned=reasoned)
    starts = _add_turns(runs, layer, behind, 0, made.starts[0] if kept else len(layer.pieces))
    if kept:
        runs.append((made.messages[kept - 1].role, []))
        starts = [
            *made.starts[:kept],
            *_add_turns(runs, layer, behind, made.starts[kept], len(layer.pieces)),
        ]
        del runs[1]
    key = turn_key(message_id)
    is_said = key in deltas and any(piece.key == key for piece in layer.pieces)
    current = _current(layers[LayerId.USER - 1], None if is_said else deltas.get(key))
    told = [switch_segment(one) for one in view.switches if current and one.message_id == message_id]
    last = [*current, *(() if is_said else told), *(() if running else metadata)]
    if not last:
        pass
    elif runs[-1][0] is Role.USER:
        runs[-1][1].extend(last)
    else:
        runs.append((Role.USER, last))
        starts.append(len(layer.pieces))
    made.deltas, made.tails, made.reasoned = deltas, tails, reasoned
    return _remembered(made, layer.pieces, starts, kept, runs)


def turn_key(message_id: str) -> str:
    """The key of a message's first piece in layer 11."""
    return f"{int(LayerId.TURNS)}/{message_id}"


def tail_segments(tail: TurnTail) -> tuple[Segment, ...]:
    """Passages that were recalled for an earlier turn, and its layer 8, as both stand on the wire behind the person's words."""
    key = turn_key(tail.message_id)
    told = Segment(layer=LayerId.TURNS, key=f"{key}{TOLD_BEHIND}", text=tail.text, sha256=digest(tail.text))
    if not tail.retrieved:
        return (told,)
    return Segment(
        layer=LayerId.TURNS, key=f"{key}{RECALLED_BEHIND}", text=tail.retrieved, sha256=digest(tail.retrieved)
    ), told


def delta_text(delta: ViewDelta) -> str:
    """Text of a delta on the wire."""
    return _framed(delta, "".join([delta.file_set or "", *(file.wire_text for file in delta.files)]))


def delta_around(delta: ViewDelta) -> str:
    """Text that a delta takes beside its pieces: its frame, how to read it, and the names of what was removed."""
    return _framed(delta, "")


def _framed(delta: ViewDelta, pieces: str) -> str:
    removed = "".join([_removed(key) for key in delta.removed])
    return frame("context-update", delta_note(delta) + pieces + removed)


@lru_cache(maxsize=64)
def delta_note(delta: ViewDelta) -> str:
    """Note that tells the model how to read a delta."""
    keys = (*(file.key for file in delta.files), *delta.removed)
    known = KNOWN_NOTE if any(layer_of(key) in _KNOWN for key in keys) else ""
    diffs = DIFF_NOTE if any(is_diff(file.sent) for file in delta.files) else ""
    return DELTA_NOTE + known + diffs


def _removed(key: str) -> str:
    layer, _, name = key.partition("/")
    return empty_frame("removed", **{_REMOVED.get(layer, "path"): name})


def _head(layers: Sequence[Layer], view: ContextView, *, takes_long_system: bool) -> Iterator[Segment]:
    base, project = view.base, _known_of(layers, view, LayerId.PROJECT)
    if not takes_long_system and project:
        yield _joined(LayerId.PROJECT, project)
    if base.file_set:
        yield Segment(layer=LayerId.FILE_SET, key=_SET, text=base.file_set, sha256=digest(base.file_set))
    if base.files:
        yield _joined(LayerId.FILE_DETAILS, base.files)


def _joined(layer: LayerId, pieces: Sequence[BaseFile]) -> Segment:
    """A layer as one segment, under the digest that the stack makes of those of its pieces."""
    one = pieces[0].sha256 if len(pieces) == 1 else digest("\n".join([piece.sha256 for piece in pieces]))
    return Segment(
        layer=layer, key=str(int(layer)), text="".join([piece.text for piece in pieces]), sha256=one
    )


def _tails(
    view: ContextView, running: Sequence[Piece], metadata: tuple[Segment, ...]
) -> dict[str, tuple[Segment, ...]]:
    """Segments behind messages, by the key of the message: of earlier turns, and of the one that runs."""
    found = {turn_key(tail.message_id): tail_segments(tail) for tail in view.tails}
    if running:
        found.setdefault(running[0].key, metadata)
    for switch in view.switches:  # before layer 8, which goes with the next turn
        key = turn_key(switch.message_id)
        tail = found.get(key, ())
        found[key] = (*tail[:-1], switch_segment(switch), *tail[-1:])
    return found


def switch_segment(switch: TurnSwitch) -> Segment:
    """A switch as it stands on the wire behind the person's words."""
    key = f"{turn_key(switch.message_id)}{SWITCH}"
    return Segment(layer=LayerId.TURNS, key=key, text=switch.text, sha256=digest(switch.text))


def _changed(one: Mapping[str, _Told], two: Mapping[str, _Told]) -> set[str]:
    """Keys under which two hold something else."""
    if one is two or one == two:
        return set()
    return {key for key in (*one, *two) if one.get(key) != two.get(key)}


def _kept(
    made: MadeMessages,
    pieces: tuple[Piece, ...],
    deltas: Mapping[str, Segment],
    tails: Mapping[str, tuple[Segment, ...]],
    reasoned: frozenset[str],
) -> int:
    """Messages behind the first that are sure to be as they were, counted: all their pieces are, and the next
    begins.
    """
    same = shared_run(made.pieces, pieces)
    if changed := _changed(made.deltas, deltas) | _changed(made.tails, tails) | (made.reasoned ^ reasoned):
        is_changed = map(changed.__contains__, map(attrgetter("key"), pieces))
        same = next(compress(range(same), is_changed), same)
    return max(0, bisect_left(made.starts, same) - 1)


class _Behind(NamedTuple):
    """Shape of a view around the turns: what stands before and behind messages, and whose reasoning goes back, by their keys."""

    deltas: Mapping[str, Segment]
    tails: Mapping[str, tuple[Segment, ...]]
    reasoned: frozenset[str]


def _add_turns(runs: _Runs, layer: Layer, view: _Behind, begin: int, end: int) -> list[int]:
    """Add pieces of layer 11 by roles, each delta before the first part of its message, each tail behind the last.

    Returns:
        For each run that was added the piece that it begins with.
    """
    starts = []
    deltas, tails, reasoned = view
    last, parts = runs[-1]
    tail: tuple[Segment, ...] = ()
    own = ""
    for number in range(begin, end):
        piece = layer.pieces[number]
        if piece.wire is None:
            continue
        if tail and (not piece.key.startswith(own) or is_line_key(piece.key)):
            parts.extend(tail)
            tail = ()
        if piece.key.endswith(RUNNING_RAG) and any(one.key.endswith(RECALLED_BEHIND) for one in tail):
            continue  # the tail holds it
        if not piece.parts and message_key(piece.key) not in reasoned:
            continue  # reasoning of a finished turn
        role = _ROLES[piece.mark]
        if role is not last:
            last, parts = role, []
            runs.append((role, parts))
            starts.append(number)
        if piece.key in deltas:
            parts.append(deltas[piece.key])
        parts.append(piece.wire if piece.wire is not AS_TEXT else _text(layer, piece))
        if piece.key in tails:
            tail, own = tails[piece.key], f"{piece.key}/"
    parts.extend(tail)
    return starts


def _remembered(
    made: MadeMessages,
    pieces: tuple[Piece, ...],
    starts: list[int],
    kept: int,
    runs: _Runs,
) -> tuple[RequestMessage, ...]:
    """All messages: the first, those that were kept, and what the other runs make; noted for the next request."""
    first = RequestMessage(runs[0][0], tuple(runs[0][1]))
    if first == made.first:
        first = made.first
    rest = [RequestMessage(role, tuple(parts)) for role, parts in runs[1:]]
    made.messages = [*made.messages[:kept], *rest]
    made.pieces, made.starts, made.first = pieces, starts, first
    # Only the first can be empty, and the last: the turns between have words.
    whole = (first, *made.messages)
    return whole if first.parts and whole[-1].parts else tuple(filter(_PARTS, whole))


def _current(layer: Layer, delta: Segment | None) -> list[RequestPart]:
    pieces = wire_pieces(layer.pieces)
    parts = [_text(layer, p) if p.wire is AS_TEXT else p.wire for p in pieces if p.wire is not None]
    return parts if delta is None else [delta, *parts]


def _text(layer: Layer, piece: Piece) -> Segment:
    return Segment(layer=layer.id, key=piece.key, text=piece.text, sha256=piece.sha256)


@lru_cache(maxsize=64)
def _delta_segment(delta: ViewDelta) -> Segment:
    text = delta_text(delta)
    return Segment(
        layer=LayerId.FILE_DETAILS, key=f"{DELTA}{delta.message_id}", text=text, sha256=digest(text)
    )


# Tools, effort, system prompt and persona of a discussion's view: what stands at the head of its requests,
# and what was added in the conversation.


class InForce(msgspec.Struct, frozen=True):
    """Tools, as pieces of layer 3, effort, and pieces of layers 4 and 5 that the next request of a view has without another
    word. None: the view does not tell, each request says it as it is.
    """

    tools: tuple[BaseFile, ...]
    effort: str | None
    instructions: tuple[BaseFile, ...] | None


class Wanted(msgspec.Struct, frozen=True):
    """Tools, effort, and pieces of layers 4 and 5 that a request shall have.

    Args:
        head: effort that stands at the head of the request, which its cache is apart by. Both, and the instructions, are None
            where no addition tells them.
        switching: what the model takes as additions in the conversation; tells: the request has words to add them behind.
    """

    tools: tuple[BaseFile, ...]
    effort: Effort | None
    head: Effort | None
    instructions: tuple[BaseFile, ...] | None = None
    switching: Switching = Switching.NONE
    tells: bool = False


def wanted_of(
    layers: Sequence[Layer], effort: Effort, head: Effort, *, switching: Switching, tells: bool
) -> Wanted:
    """Tools and effort that a stack's request shall have."""
    is_whole = switching is Switching.ALL
    return Wanted(
        tools=() if switching is Switching.NONE else pieces_of(layers, LayerId.TOOLS),
        effort=effort if is_whole else None,
        head=head if is_whole else None,
        instructions=pieces_of(layers, *INSTRUCTED) if is_whole else None,
        switching=switching,
        tells=tells,
    )


def in_force(view: ContextView, but: str = "") -> InForce | None:
    """Tools and effort in force in a view; None where it does not tell. `but`: a message whose switch does not count."""
    base = view.base
    if base.tools is None:
        return None
    tools, effort = {piece.key: piece for piece in base.tools}, base.effort
    instructions = {layer_of(piece.key): piece for piece in base.instructions or ()}
    for told in view.switches:
        switch = read_switch(switch_segment(told)) if told.message_id != but else None
        if switch is None:
            continue
        for name in switch.removed:
            tools.pop(_key(name), None)
        tools |= {piece.key: piece for piece in base.tools if _name(piece.key) in switch.restored}
        tools |= {piece.key: piece for piece in map(_piece, switch.added)}
        effort = switch.effort or effort
        for one in switch.told:
            instructions.pop(one.layer, None)
            if one.text:
                instructions[one.layer] = BaseFile(key=one.key, sha256=digest(one.text), text=one.text)
    return InForce(
        tools=tuple([tools[key] for key in sorted(tools)]),
        effort=effort,
        instructions=None
        if base.instructions is None
        else tuple([instructions[layer] for layer in sorted(instructions)]),
    )


def with_switches(view: ContextView, wanted: Wanted, message_id: str) -> ContextView:
    """The view with what a request shall have: added behind its words where that can be said, else at its head, where it
    rewrites all.

    Returns:
        The same object where it is in force.
    """
    if wanted.switching is Switching.NONE:
        return _headed(view, None, None, None)
    now, said = in_force(view, message_id), in_force(view)
    if now is not None and not wanted.tells:
        return view  # what changed waits for the next message: a running turn is bound to all before it
    if now is None or said is None or not _tells_of(view.base, wanted):
        return _with_wanted(view, wanted, message_id)
    if _switch(said, wanted) is None:
        return view
    kept = tuple(one for one in view.switches if one.message_id != message_id)
    switch = _switch(now, wanted)
    if switch is None:
        return view if kept == view.switches else replace(view, switches=kept)
    if not _can_be_said(now, wanted, view.base.tools or ()):
        return _with_wanted(view, wanted, message_id)
    told = (*kept, TurnSwitch(message_id=message_id, text=switch_text(switch)))
    return view if told == view.switches else replace(view, switches=told)


def _with_wanted(view: ContextView, wanted: Wanted, message_id: str) -> ContextView:
    """All at the head, but for an effort that another one stands there for."""
    head, effort = wanted.head, wanted.effort
    view = _headed(view, wanted.tools, None if head is None else head.value, wanted.instructions)
    if effort is None or head is effort or not wanted.tells or not _can_follow(head, effort):
        return view
    told = TurnSwitch(message_id=message_id, text=switch_text(Switch(effort=effort.value)))
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
    other = [key for key in sorted(new) if key not in old or old[key].sha256 != new[key].sha256]
    is_declared = wanted.switching is Switching.DECLARED
    removed = tuple(_name(key) for key in sorted(old) if key not in new)
    effort = "" if wanted.effort in {None, now.effort} else str(wanted.effort)
    told = _told(now.instructions or (), wanted.instructions or ())
    if not (other or removed or effort or told):
        return None
    return Switch(
        effort=effort,
        added=() if is_declared else tuple(schema_of(new[key]) for key in other),
        removed=removed,
        told=told,
        restored=tuple(map(_name, other)) if is_declared else (),
    )


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


def _can_be_said(now: InForce, wanted: Wanted, declared: Sequence[BaseFile]) -> bool:
    """True if a difference can be told behind words: no tool has another meaning, or is new to a model that takes none, and
    the effort has a name.
    """
    new = {piece.key: piece.sha256 for piece in wanted.tools}
    known = declared if wanted.switching is Switching.DECLARED else now.tools
    is_same = all(new.get(piece.key, piece.sha256) == piece.sha256 for piece in known)
    takes_tools = wanted.switching is Switching.ALL or new.keys() <= {piece.key for piece in declared}
    return wanted.tells and is_same and takes_tools and _can_follow(now.effort, wanted.effort)


def _can_follow(before: str | None, after: Effort | None) -> bool:
    """True if an effort stays, or can be told behind another one."""
    return before == after or (
        before is not None and after is not None and takes_effort(Effort(before), after)
    )


def _tells_of(base: FrozenBase, wanted: Wanted) -> bool:
    """True if a base tells what additions are to change, with the same effort at its head."""
    return base.effort == wanted.head and (base.instructions is None) is (wanted.instructions is None)


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
