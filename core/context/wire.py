"""The one author of the wire: system blocks, then messages whose roles alternate, volatile metadata last.

Layers 9 and 10 stand as a view shows them: its base at the head of the first message, each delta before the words
of its message. The canonical view shows the stack's own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.base.frame import empty_frame, frame
from core.context.pieces import AS_TEXT, Layer, Piece, digest, joined_segment
from core.values.messages import Role
from core.values.provider import RequestMessage, RequestPart
from core.values.stack import LayerId, Segment
from core.values.view import BaseFile, ContextView, FrozenBase, ViewDelta

DELTA_NOTE = (
    "The context has changed. What stands here replaces what was said before of the same files; files that are "
    "named as removed are no longer part of the context.\n"
)

_BEFORE_PROJECT = (LayerId.ROLE, LayerId.SYSTEM_PRESET, LayerId.PERSONA)
_CURATED = (LayerId.FILE_SET, LayerId.FILE_DETAILS)
_SET, _DETAILS = str(int(LayerId.FILE_SET)), str(int(LayerId.FILE_DETAILS))
_ROLES = {role.value: role for role in Role}

_Runs = list[tuple[Role, list[RequestPart]]]
"""Roles that alternate, each with its parts."""


@dataclass(slots=True)
class MadeMessages:
    """The turns of a discussion's last request: the leading run that is the same is taken over. It only saves time.

    Args:
        pieces: of layer 11; deltas: what stood before them, by their keys.
        starts: of each message behind the first the piece that it begins with; messages: those messages.
        first: the message that begins with the files.
    """

    pieces: tuple[Piece, ...] = ()
    deltas: Mapping[str, Segment] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    messages: list[RequestMessage] = field(default_factory=list)
    first: RequestMessage | None = None


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


def system_segments(layers: Sequence[Layer], *, takes_long_system: bool) -> tuple[Segment, ...]:
    """Layers 1 and 4 to 7 as blocks; layer 6 only where the model takes long system prompts."""
    ids = [*_BEFORE_PROJECT, *([LayerId.PROJECT] if takes_long_system else []), LayerId.KNOWLEDGE]
    return tuple(segment for layer in ids for segment in layers[layer - 1].segments)


def canonical_view(layers: Sequence[Layer]) -> ContextView:
    """The view of a canonical rewrite: the stack's own layers 9 and 10 as the base, nothing appended."""
    pieces = layers[LayerId.FILE_DETAILS - 1].pieces
    files = tuple(BaseFile(piece.key, piece.sha256, piece.text) for piece in pieces)
    return ContextView(FrozenBase(layers[LayerId.FILE_SET - 1].text, files))


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
    back for what it has cached. Layer 8 stands behind a running turn's tool results, so that they can be cached.

    Args:
        message_id: of the user's message that layer 12 renders, for its delta.
        made: of the last request; messages that are the same are taken over, as the same objects.
    """
    made = MadeMessages() if made is None else made
    layer = layers[LayerId.TURNS - 1]
    deltas = {turn_key(delta.message_id): _delta_segment(delta) for delta in view.deltas}
    kept = _kept(made, layer.pieces, deltas)
    runs: _Runs = [(Role.USER, list(_head(layers, view, takes_long_system=takes_long_system)))]
    starts = _add_turns(runs, layer, deltas, 0, made.starts[0] if kept else len(layer.pieces))
    if kept:
        runs.append((made.messages[kept - 1].role, []))
        starts = [
            *made.starts[:kept],
            *_add_turns(runs, layer, deltas, made.starts[kept], len(layer.pieces)),
        ]
        del runs[1]
    last = [
        *_current(layers[LayerId.USER - 1], deltas.get(turn_key(message_id))),
        *layers[LayerId.METADATA - 1].segments,
    ]
    if runs[-1][0] is Role.USER:
        runs[-1][1].extend(last)
    else:
        runs.append((Role.USER, last))
        starts.append(len(layer.pieces))
    return _remembered(made, layer.pieces, deltas, starts, kept, runs)


def turn_key(message_id: str) -> str:
    """The key of a message's first piece in layer 11."""
    return f"{int(LayerId.TURNS)}/{message_id}"


def delta_text(delta: ViewDelta) -> str:
    """What a delta says on the wire."""
    removed = (empty_frame("removed", path=key.partition("/")[2]) for key in delta.removed)
    body = "".join([DELTA_NOTE, delta.file_set or "", *(f.wire_text for f in delta.files), *removed])
    return frame("context-update", body)


def _head(layers: Sequence[Layer], view: ContextView, *, takes_long_system: bool) -> Iterator[Segment]:
    project = layers[LayerId.PROJECT - 1]
    if not takes_long_system and project.pieces:
        yield joined_segment(project)
    base = view.base
    if base.file_set:
        yield Segment(LayerId.FILE_SET, _SET, base.file_set, digest(base.file_set))
    if base.files:
        yield Segment(LayerId.FILE_DETAILS, _DETAILS, "".join(f.text for f in base.files), _joined(base))


def _joined(base: FrozenBase) -> str:
    """The digest that the stack gives the joined segment of layer 10, from those of its pieces."""
    if len(base.files) == 1:
        return base.files[0].sha256
    return digest("\n".join(file.sha256 for file in base.files))


def _kept(made: MadeMessages, pieces: Sequence[Piece], deltas: Mapping[str, Segment]) -> int:
    """How many messages behind the first are sure to be as they were: all their pieces are, and the next begins."""
    same = 0
    for one, two in zip(made.pieces, pieces, strict=False):
        if one is not two:
            break
        same += 1
    changed = {key for key in (*made.deltas, *deltas) if made.deltas.get(key) != deltas.get(key)}
    if changed:
        same = next((n for n in range(same) if pieces[n].key in changed), same)
    return max(0, bisect_left(made.starts, same) - 1)


def _add_turns(runs: _Runs, layer: Layer, deltas: Mapping[str, Segment], begin: int, end: int) -> list[int]:
    """Add pieces of layer 11 by roles, each delta before the first part of its message.

    Returns:
        For each run that was added the piece that it begins with.
    """
    starts = []
    last, parts = runs[-1]
    for number in range(begin, end):
        piece = layer.pieces[number]
        if piece.wire is None:
            continue
        role = _ROLES[piece.mark]
        if role is not last:
            last, parts = role, []
            runs.append((role, parts))
            starts.append(number)
        if piece.key in deltas:
            parts.append(deltas[piece.key])
        parts.append(piece.wire if piece.wire is not AS_TEXT else _text(layer, piece))
    return starts


def _remembered(
    made: MadeMessages,
    pieces: tuple[Piece, ...],
    deltas: Mapping[str, Segment],
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
    made.pieces, made.deltas, made.starts, made.first = pieces, deltas, starts, first
    return tuple(message for message in (first, *made.messages) if message.parts)


def _current(layer: Layer, delta: Segment | None) -> list[RequestPart]:
    parts = [_text(layer, p) if p.wire is AS_TEXT else p.wire for p in layer.pieces if p.wire is not None]
    return [delta, *parts] if delta is not None and parts else parts


def _text(layer: Layer, piece: Piece) -> Segment:
    return Segment(layer.id, piece.key, piece.text, piece.sha256)


def _delta_segment(delta: ViewDelta) -> Segment:
    text = delta_text(delta)
    return Segment(LayerId.FILE_DETAILS, f"{_DETAILS}/delta/{delta.message_id}", text, digest(text))
