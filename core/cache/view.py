"""Append, don't edit: layers 9 and 10 as a frozen base with deltas, and the request that shows them to a model.

A view is a value. `base_data` and `delta_data` are what `view` records of the log hold; `replay` rebuilds the same
view from them, byte for byte.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.aggregate import AggregateStack
from core.stack.frame import empty_frame, frame
from core.stack.pieces import AS_TEXT, Layer, Piece, digest
from core.stack.wire import system_segments
from core.values.cache import BaseFile, ContextView, FrozenBase, ViewDelta
from core.values.messages import Role
from core.values.provider import Effort, ProviderRequest, RequestMessage, RequestPart
from core.values.stack import LayerId, Segment

DELTA_NOTE = (
    "The context has changed. What stands here replaces what was said before of the same files; files that are "
    "named as removed are no longer part of the context.\n"
)
_SET, _DETAILS = str(int(LayerId.FILE_SET)), str(int(LayerId.FILE_DETAILS))
_ROLES = {role.value: role for role in Role}


@dataclass(slots=True)
class MadeMessages:
    """The turns of the last request through a view: the leading run that is the same is taken over.

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


_Runs = list[tuple[Role, list[RequestPart]]]
"""Roles that alternate, each with its parts."""


def canonical_view(stack: AggregateStack) -> ContextView:
    """The view of a canonical rewrite: the stack's own layers 9 and 10 as the base, nothing appended."""
    files = tuple(BaseFile(p.key, p.sha256, p.text) for p in stack.layer(LayerId.FILE_DETAILS).pieces)
    return ContextView(FrozenBase(stack.layer(LayerId.FILE_SET).text, files))


def view_for(view: ContextView, stack: AggregateStack, message_id: str) -> ContextView:
    """The view with what has changed since, appended to the turn of `message_id`.

    Deltas of messages that are no longer among the turns are left out, and what they said is said again.

    Args:
        view: as the last request showed it; stack: as it is now; message_id: the user's message being sent.

    Returns:
        The same object when nothing changed.
    """
    kept = pruned(view, stack, message_id)
    fresh = _difference(kept, stack, message_id)
    if fresh is None:
        return kept
    return replace(kept, deltas=(*kept.deltas, fresh))


def pruned(view: ContextView, stack: AggregateStack, message_id: str) -> ContextView:
    """The view without deltas whose message is gone; what a running turn is sent with, which must not change."""
    if not view.deltas:
        return view
    wanted = {_turn_key(delta.message_id) for delta in view.deltas}
    said = {piece.key for piece in stack.layer(LayerId.TURNS).pieces if piece.key in wanted}
    if stack.layer(LayerId.USER).pieces:
        said.add(_turn_key(message_id))
    kept = tuple(delta for delta in view.deltas if _turn_key(delta.message_id) in said)
    return view if len(kept) == len(view.deltas) else replace(view, deltas=kept)


def visible_files(view: ContextView) -> dict[str, str]:
    """What a model takes as current: the newest text of each file by its key, removed ones left out."""
    return {key: file.text for key, file in _visible(view).items()}


def visible_file_set(view: ContextView) -> str:
    """The newest layer 9."""
    texts = [delta.file_set for delta in view.deltas if delta.file_set is not None]
    return texts[-1] if texts else view.base.file_set


def superseded(view: ContextView) -> tuple[Segment, ...]:
    """What is still carried although later text replaces it, for counting its tokens."""
    current = {(key, file.sha256) for key, file in _visible(view).items()}
    files = [*view.base.files, *(file for delta in view.deltas for file in delta.files)]
    stale = [f for f in files if (f.key, f.sha256) not in current]
    sets = [view.base.file_set, *(d.file_set for d in view.deltas if d.file_set is not None)]
    return (
        *(Segment(LayerId.FILE_DETAILS, file.key, file.text, file.sha256) for file in stale),
        *(Segment(LayerId.FILE_SET, _SET, text, digest(text)) for text in sets[:-1] if text),
    )


def delta_text(delta: ViewDelta) -> str:
    """What a delta says on the wire."""
    removed = (empty_frame("removed", path=key.partition("/")[2]) for key in delta.removed)
    body = "".join([DELTA_NOTE, delta.file_set or "", *(f.text for f in delta.files), *removed])
    return frame("context-update", body)


def view_request(
    stack: AggregateStack,
    view: ContextView,
    message_id: str,
    effort: Effort = Effort.AUTO,
    max_output_tokens: int | None = None,
    discussion_id: str = "",
    made: MadeMessages | None = None,
) -> ProviderRequest:
    """The request that shows a stack through a view: its base, its turns with their deltas, metadata last.

    With `canonical_view(stack)` it differs from `stack.request` only where a turn is running: metadata then stands
    behind the tool results, not before them, so that they can be cached.

    Args:
        message_id: of the user's message that layer 12 renders, for its delta.
        made: messages of earlier requests, as for `view_messages`.
    """
    return ProviderRequest(
        provider=stack.provider,
        model=stack.model,
        system=system_segments(stack.layers, takes_long_system=stack.takes_long_system),
        messages=view_messages(stack, view, message_id, made),
        tools=stack.tools,
        effort=effort,
        max_output_tokens=max_output_tokens,
        discussion_id=discussion_id,
    )


def view_messages(
    stack: AggregateStack, view: ContextView, message_id: str, made: MadeMessages | None = None
) -> tuple[RequestMessage, ...]:
    """The messages of `view_request`; roles alternate, a tool's results and a user's words are apart.

    Args:
        made: of the last request; messages that are the same are taken over, as the same objects.
    """
    made = MadeMessages() if made is None else made
    layer = stack.layer(LayerId.TURNS)
    deltas = {_turn_key(delta.message_id): _delta_segment(delta) for delta in view.deltas}
    kept = _kept(made, layer.pieces, deltas)
    runs: _Runs = [(Role.USER, list(_head(stack, view)))]
    starts = _add_turns(runs, layer, deltas, 0, made.starts[0] if kept else len(layer.pieces))
    if kept:
        runs.append((made.messages[kept - 1].role, []))
        starts = [
            *made.starts[:kept],
            *_add_turns(runs, layer, deltas, made.starts[kept], len(layer.pieces)),
        ]
        del runs[1]
    last = [
        *_current(stack.layer(LayerId.USER), deltas.get(_turn_key(message_id))),
        *stack.layer(LayerId.METADATA).segments,
    ]
    if runs[-1][0] is Role.USER:
        runs[-1][1].extend(last)
    else:
        runs.append((Role.USER, last))
        starts.append(len(layer.pieces))
    return _remembered(made, layer.pieces, deltas, starts, kept, runs)


def turn_texts(messages: Iterable[RequestMessage]) -> tuple[tuple[str, RequestPart | str], ...]:
    """What a model sees of the talk: role and content of each part, files, deltas and metadata left out."""
    return tuple(
        (message.role.value, part.text if isinstance(part, Segment) else part)
        for message in messages
        for part in message.parts
        if not (isinstance(part, Segment) and part.layer not in {LayerId.TURNS, LayerId.USER})
    )


def base_data(view: ContextView, known: Mapping[str, str]) -> dict[str, object]:
    """What a `view` record of kind `base` holds. Texts that an earlier record of the log holds are named only.

    Args:
        known: texts by their digest, of earlier view records.
    """
    files = [_file_data(file, known) for file in view.base.files]
    return {"file_set": view.base.file_set, "files": files}


def delta_data(delta: ViewDelta, known: Mapping[str, str]) -> dict[str, object]:
    """What a `view` record of kind `delta` holds."""
    data: dict[str, object] = {
        "message_id": delta.message_id,
        "files": [_file_data(file, known) for file in delta.files],
        "removed": list(delta.removed),
    }
    return data if delta.file_set is None else {**data, "file_set": delta.file_set}


def _head(stack: AggregateStack, view: ContextView) -> Iterator[Segment]:
    if not stack.takes_long_system and stack.layer(LayerId.PROJECT).pieces:
        project = stack.layer(LayerId.PROJECT)
        yield Segment(LayerId.PROJECT, str(int(LayerId.PROJECT)), project.text, project.sha256)
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


def _turn_key(message_id: str) -> str:
    """The key of a message's first piece in layer 11."""
    return f"{int(LayerId.TURNS)}/{message_id}"


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


def _visible(view: ContextView) -> dict[str, BaseFile]:
    files = {file.key: file for file in view.base.files}
    for delta in view.deltas:
        for key in delta.removed:
            files.pop(key, None)
        files.update({file.key: file for file in delta.files})
    return files


def _difference(view: ContextView, stack: AggregateStack, message_id: str) -> ViewDelta | None:
    seen = _visible(view)
    pieces = stack.layer(LayerId.FILE_DETAILS).pieces
    changed = tuple(
        BaseFile(p.key, p.sha256, p.text)
        for p in pieces
        if p.key not in seen or seen[p.key].sha256 != p.sha256
    )
    keys = {piece.key for piece in pieces}
    removed = tuple(key for key in seen if key not in keys)
    file_set = stack.layer(LayerId.FILE_SET).text
    new_set = file_set if file_set != visible_file_set(view) else None
    if not changed and not removed and new_set is None:
        return None
    return ViewDelta(message_id, changed, removed, new_set)


def _file_data(file: BaseFile, known: Mapping[str, str]) -> dict[str, str]:
    data = {"key": file.key, "sha256": file.sha256}
    return data if file.sha256 in known else {**data, "text": file.text}
