"""Append, don't edit: what of layers 6, 7, 9 and 10 stays as it was sent, and what a turn appends because it changed.

A view is a value. `base_data` and `delta_data` are what `view` records of the log hold; `replay` rebuilds the same
view from them, byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.context.pieces import digest
from core.context.stack import AggregateStack
from core.context.wire import layer_of, pieces_of, turn_key
from core.values.stack import LayerId, Segment
from core.values.view import BaseFile, ContextView, ViewDelta, base_pieces

_SET, _FILES, _PROJECT = (
    str(int(layer)) for layer in (LayerId.FILE_SET, LayerId.FILE_DETAILS, LayerId.PROJECT)
)
_FILE_KEYS = f"{_FILES}/"
_KNOWN = (LayerId.PROJECT, LayerId.KNOWLEDGE)
_APPENDED = (*_KNOWN, LayerId.FILE_DETAILS)
"""Layers of which single pieces are appended, in the order in which a delta tells them."""

DIGEST_KEY = "7/digest"
"""Layer 7a."""


class SharedBase(msgspec.Struct, frozen=True):
    """Layers 6 and 7a as discussions of one mode sent them last: their prefix may be warm.

    Args:
        known: the pieces; withdrawals: when they were frozen; at: when they were sent.
    """

    known: tuple[BaseFile, ...]
    withdrawals: int
    at: datetime


def view_for(view: ContextView, stack: AggregateStack, message_id: str) -> ContextView:
    """The view with what has changed since, appended to the turn of `message_id`.

    Deltas of messages that are no longer among the turns are left out, and what they said is said again.

    Args:
        view: as the last request showed it; stack: as it is now; message_id: the user's message being sent.

    Returns:
        The same object when nothing changed.
    """
    kept = pruned(_told(view, stack), stack, message_id)
    fresh = _difference(kept, stack, message_id)
    if fresh is None:
        return kept
    return replace(kept, deltas=(*kept.deltas, fresh))


def pruned(view: ContextView, stack: AggregateStack, message_id: str) -> ContextView:
    """The view without deltas whose message is gone; what a running turn is sent with, which must not change."""
    if not view.deltas:
        return view
    wanted = {turn_key(delta.message_id) for delta in view.deltas}
    said = {piece.key for piece in stack.layer(LayerId.TURNS).pieces if piece.key in wanted}
    if stack.layer(LayerId.USER).pieces:
        said.add(turn_key(message_id))
    kept = tuple(delta for delta in view.deltas if turn_key(delta.message_id) in said)
    return view if len(kept) == len(view.deltas) else replace(view, deltas=kept)


def shared_view(shared: SharedBase, stack: AggregateStack, message_id: str) -> ContextView | None:
    """The canonical view over the mode's warm layers 6 and 7a, with what changed of these appended.

    Returns:
        None where they carry what was deleted since.
    """
    known = (*shared.known, *(p for p in pieces_of(stack.layers, LayerId.KNOWLEDGE) if p.key != DIGEST_KEY))
    view = ContextView(replace(stack.canonical_view.base, known=known, withdrawals=shared.withdrawals))
    return None if withdrawn(view, stack) else view_for(view, stack, message_id)


def shared_base(view: ContextView, at: datetime) -> SharedBase | None:
    """What other discussions of the mode may read of a view that was sent, None where it does not tell."""
    known = view.base.known
    if known is None:
        return None
    common = tuple(p for p in known if p.key == DIGEST_KEY or layer_of(p.key) == LayerId.PROJECT)
    return SharedBase(common, view.base.withdrawals, at)


def withdrawn(view: ContextView, stack: AggregateStack) -> str:
    """What a view still carries though it was deleted since, in words; empty where nothing. It goes whatever it costs.

    A document or a digest that is not there any more, the notes of a file that still is; and, when something was
    taken out of knowledge, every text of layer 7 that is not said any more. Another text in its place is no deletion.
    """
    now = {piece.key for layer in _KNOWN for piece in stack.layer(layer).pieces}
    for piece in visible_known(view):
        layer, _, name = piece.key.partition("/")
        if piece.key in now:
            continue
        if piece.key == DIGEST_KEY:
            return "the digest is gone"
        if layer == _PROJECT:
            return f"{name} is gone"
        if any(one.key == f"{_FILES}/{name}" for one in stack.layer(LayerId.FILE_DETAILS).pieces):
            return f"the notes on {name} are gone"
    if view.base.withdrawals == stack.withdrawals:
        return ""
    said = {piece.sha256 for piece in stack.layer(LayerId.KNOWLEDGE).pieces}
    carried = (p for p in carried_pieces(view) if layer_of(p.key) == LayerId.KNOWLEDGE)
    return "something was taken out of knowledge" if any(p.sha256 not in said for p in carried) else ""


def visible_files(view: ContextView) -> dict[str, str]:
    """What a model takes as current of layers 6, 7 and 10: the newest text of each piece by its key."""
    return {key: file.text for key, file in _visible(view).items()}


def visible_known(view: ContextView) -> tuple[BaseFile, ...]:
    """What a model takes as current of layers 6 and 7."""
    known = {piece.key: piece for piece in view.base.known or ()}
    for delta in view.deltas:
        for key in delta.removed:
            known.pop(key, None)
        known.update({file.key: file for file in delta.files if not file.key.startswith(_FILE_KEYS)})
    return tuple(known.values())


def carried_pieces(view: ContextView) -> tuple[BaseFile, ...]:
    """Every piece that goes over the wire, superseded ones included."""
    return (*base_pieces(view.base), *(file for delta in view.deltas for file in delta.files))


def visible_file_set(view: ContextView) -> str:
    """The newest layer 9."""
    texts = [delta.file_set for delta in view.deltas if delta.file_set is not None]
    return texts[-1] if texts else view.base.file_set


def superseded(view: ContextView) -> tuple[Segment, ...]:
    """What is still carried although later text replaces it, for counting its tokens."""
    current = {(key, file.sha256) for key, file in _visible(view).items()}
    stale = [f for f in carried_pieces(view) if (f.key, f.sha256) not in current]
    sets = [view.base.file_set, *(d.file_set for d in view.deltas if d.file_set is not None)]
    return (
        *(Segment(LayerId(layer_of(f.key)), f.key, f.wire_text, _wire_sha256(f)) for f in stale),
        *(Segment(LayerId.FILE_SET, _SET, text, digest(text)) for text in sets[:-1] if text),
    )


def base_data(view: ContextView, known: Mapping[str, str]) -> dict[str, object]:
    """What a `view` record of kind `base` holds. Texts that an earlier record of the log holds are named only.

    Args:
        known: texts by their digest, of earlier view records.
    """
    base = view.base
    data: dict[str, object] = {
        "file_set": base.file_set,
        "files": [_file_data(file, known) for file in base.files],
    }
    if base.known is None:
        return data
    pieces = [_file_data(piece, known) for piece in base.known]
    return {**data, "known": pieces, "withdrawals": base.withdrawals}


def delta_data(delta: ViewDelta, known: Mapping[str, str]) -> dict[str, object]:
    """What a `view` record of kind `delta` holds."""
    data: dict[str, object] = {
        "message_id": delta.message_id,
        "files": [_file_data(file, known) for file in delta.files],
        "removed": list(delta.removed),
    }
    return data if delta.file_set is None else {**data, "file_set": delta.file_set}


def _told(view: ContextView, stack: AggregateStack) -> ContextView:
    """The view with layers 6 and 7, which old logs do not tell, and the count of withdrawals as they are now.

    Nothing that was withdrawn is in it: `withdrawn` was asked before.
    """
    known = view.base.known
    if known is None:
        known = pieces_of(stack.layers, *_KNOWN)
    elif view.base.withdrawals == stack.withdrawals:
        return view
    return replace(view, base=replace(view.base, known=known, withdrawals=stack.withdrawals))


def _visible(view: ContextView) -> dict[str, BaseFile]:
    files = {file.key: file for file in base_pieces(view.base)}
    for delta in view.deltas:
        for key in delta.removed:
            files.pop(key, None)
        files.update({file.key: file for file in delta.files})
    return files


def _difference(view: ContextView, stack: AggregateStack, message_id: str) -> ViewDelta | None:
    seen = _visible(view)
    pieces = [piece for layer in _APPENDED for piece in stack.layer(layer).pieces]
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


def _wire_sha256(file: BaseFile) -> str:
    return digest(file.sent) if file.sent else file.sha256


def _file_data(file: BaseFile, known: Mapping[str, str]) -> dict[str, str]:
    data = {"key": file.key, "sha256": file.sha256}
    if file.sha256 not in known:
        data["text"] = file.text
    return {**data, "sent": file.sent} if file.sent else data
