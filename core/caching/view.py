"""Append, don't edit: what of layers 9 and 10 stays as it was sent, and what a turn appends because it changed.

A view is a value. `base_data` and `delta_data` are what `view` records of the log hold; `replay` rebuilds the same
view from them, byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from core.context.pieces import digest
from core.context.stack import AggregateStack
from core.context.wire import turn_key
from core.values.stack import LayerId, Segment
from core.values.view import BaseFile, ContextView, ViewDelta

_SET = str(int(LayerId.FILE_SET))


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
    wanted = {turn_key(delta.message_id) for delta in view.deltas}
    said = {piece.key for piece in stack.layer(LayerId.TURNS).pieces if piece.key in wanted}
    if stack.layer(LayerId.USER).pieces:
        said.add(turn_key(message_id))
    kept = tuple(delta for delta in view.deltas if turn_key(delta.message_id) in said)
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
        *(Segment(LayerId.FILE_DETAILS, file.key, file.wire_text, _wire_sha256(file)) for file in stale),
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


def _wire_sha256(file: BaseFile) -> str:
    return digest(file.sent) if file.sent else file.sha256


def _file_data(file: BaseFile, known: Mapping[str, str]) -> dict[str, str]:
    data = {"key": file.key, "sha256": file.sha256}
    if file.sha256 not in known:
        data["text"] = file.text
    return {**data, "sent": file.sent} if file.sent else data
