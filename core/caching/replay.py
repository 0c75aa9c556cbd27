"""A view as `view` records of a log, and from them back to the view, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.base.json_text import read_json
from core.caching.view import Place, built_on, visible_pieces
from core.context.update import applied, is_diff
from core.discussion.told_turns import RECALLED
from core.values.records import Record, ViewRecord
from core.values.view import BaseFile, ContextView, FrozenBase, TurnTail, ViewDelta, base_pieces

BASE_KIND = "base"
DELTA_KIND = "delta"
TAIL_KIND = "tail"
_KINDS = frozenset({BASE_KIND, DELTA_KIND, TAIL_KIND})


class Replayed(msgspec.Struct, frozen=True):
    """A view as a log tells it.

    Args:
        view: None where no base was recorded, or it cannot be read: the next request is canonical.
        told: digests of all files in the records: later records only name them.
    """

    view: ContextView | None = None
    told: frozenset[str] = frozenset()


def records_for(
    before: Replayed, after: ContextView, at: datetime, ids: Iterable[str]
) -> tuple[ViewRecord, ...]:
    """The records that take a log's view to the one that is about to be sent. None where it is the same.

    Args:
        ids: ids for the records, as many as are taken.
    """
    old = before.view
    if old == after:
        return ()
    known, names, bases = set(before.told), iter(ids), built_on(after)
    found: list[ViewRecord] = []
    deltas, tails = after.deltas, after.tails
    if old is not None and _begins_with(after, old):
        deltas, tails = deltas[len(old.deltas) :], tails[len(old.tails) :]
    else:
        found.append(ViewRecord(next(names), at, BASE_KIND, _json(_base_data(after, known))))
        known.update(file.sha256 for file in base_pieces(after.base))
    for delta in deltas:
        found.append(ViewRecord(next(names), at, DELTA_KIND, _json(_delta_data(delta, known, bases))))
        known.update(file.sha256 for file in delta.files)
    for tail in tails:
        data = {"message_id": tail.message_id, "text": tail.text}
        if tail.retrieved:
            data[RECALLED] = tail.retrieved
        if tail.cut_id:
            data["cut_id"] = tail.cut_id
        found.append(ViewRecord(next(names), at, TAIL_KIND, _json(data)))
    return tuple(found)


def _begins_with(after: ContextView, before: ContextView) -> bool:
    """True if a view is another with something appended."""
    return (
        before.base == after.base
        and after.deltas[: len(before.deltas)] == before.deltas
        and after.tails[: len(before.tails)] == before.tails
    )


def replay(records: Iterable[Record]) -> Replayed:
    """Read a log's view. Records of other kinds are passed over; an unreadable one ends the view it belongs to."""
    view: ContextView | None = None
    texts: dict[str, str] = {}
    for record in records:
        if not isinstance(record, ViewRecord) or record.kind not in _KINDS:
            continue
        try:
            view = _added(view, record, texts)
        except (ValueError, KeyError, TypeError):
            view = None
    return Replayed(view, frozenset(texts))


def _base_data(view: ContextView, known: Collection[str]) -> dict[str, object]:
    """Data of a `view` record of kind `base`. Texts that an earlier record of the log holds are named only.

    Args:
        known: digests of texts of earlier view records.
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


def _delta_data(delta: ViewDelta, known: Collection[str], bases: Mapping[Place, str]) -> dict[str, object]:
    """Data of a `view` record of kind `delta`. A text that a diff leads to is not repeated.

    Args:
        bases: `built_on` of the view that the delta stands in.
    """
    files = [_file_data(file, known, bases[delta.message_id, file.key]) for file in delta.files]
    data: dict[str, object] = {
        "message_id": delta.message_id,
        "files": files,
        "removed": list(delta.removed),
    }
    return data if delta.file_set is None else {**data, "file_set": delta.file_set}


def _added(view: ContextView | None, record: ViewRecord, texts: dict[str, str]) -> ContextView | None:
    data = read_json(record.data_json)
    if record.kind == TAIL_KIND:
        more = str(data.get(RECALLED, "")), str(data.get("cut_id", ""))
        told = TurnTail(str(data["message_id"]), str(data["text"]), *more)
        return None if view is None else replace(view, tails=(*view.tails, told))
    shown = {} if view is None or record.kind == BASE_KIND else visible_pieces(view)
    files = tuple(_file(row, texts, shown) for row in data["files"])
    texts.update({file.sha256: file.text for file in files})
    if record.kind == BASE_KIND:
        pieces = tuple(_file(row, texts, shown) for row in data["known"]) if "known" in data else None
        texts.update({piece.sha256: piece.text for piece in pieces or ()})
        return ContextView(FrozenBase(str(data["file_set"]), files, pieces, int(data.get("withdrawals", 0))))
    if view is None:
        return None
    file_set = data.get("file_set")
    removed = tuple(str(key) for key in data["removed"])
    delta = ViewDelta(str(data["message_id"]), files, removed, None if file_set is None else str(file_set))
    return replace(view, deltas=(*view.deltas, delta))


def _file(row: Mapping[str, str], texts: Mapping[str, str], shown: Mapping[str, BaseFile]) -> BaseFile:
    """A piece of a record. Raises KeyError, ValueError: its text is not in the log."""
    key, sha256, sent = row["key"], row["sha256"], str(row.get("sent", ""))
    if "text" in row:
        return BaseFile(key, sha256, row["text"], sent)
    if sha256 in texts:
        return BaseFile(key, sha256, texts[sha256], sent)
    base = shown[key]
    text = applied(sent, base.text, None) if row["from"] == base.sha256 else None
    if text is None:
        raise ValueError(f"what {key!r} was built on is not in the log")
    return BaseFile(key, sha256, text, sent)


def _file_data(file: BaseFile, known: Collection[str], base: str = "") -> dict[str, str]:
    data = {"key": file.key, "sha256": file.sha256}
    if file.sent:
        data["sent"] = file.sent
    if file.sha256 in known:
        return data
    return {**data, "from": base} if is_diff(file.sent) else {**data, "text": file.text}


def _json(data: Mapping[str, object]) -> str:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
