"""Append, don't edit: what of layers 6, 7, 9 and 10 stays as it was sent, and what a turn appends because it changed.

A view is a value; `replay` rebuilds the same from the log, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import canonical_json, read_json
from core.kernel.language import tr
from core.kernel.values.cache import SentPart
from core.kernel.values.messages import ReasoningPart
from core.kernel.values.records import Record, ViewRecord
from core.kernel.values.spec import PREVIEW_ID
from core.kernel.values.stack import LayerId, Segment
from core.kernel.values.window import (
    BaseFile,
    ContextView,
    FrozenBase,
    TurnSwitch,
    TurnTail,
    ViewDelta,
    base_pieces,
)
from core.services.providers.blocks import REASONING_KEY, RUNNING_RAG, TRANSIENT_KEYS, CountTokens, Wire
from core.talk.context.history_turns import message_key, running_pieces
from core.talk.context.pieces import Piece, digest
from core.talk.context.stack import AggregateStack
from core.talk.context.update import applied, is_diff, sent_form
from core.talk.context.wire import delta_around, layer_of, pieces_of, tail_segments, turn_key
from core.talk.discussion.cuts import RECALLED

_SET, _FILES, _PROJECT = (
    str(int(layer)) for layer in (LayerId.FILE_SET, LayerId.FILE_DETAILS, LayerId.PROJECT)
)
_FILE_KEYS = f"{_FILES}/"
_KNOWN = (LayerId.PROJECT, LayerId.KNOWLEDGE)
_APPENDED = (*_KNOWN, LayerId.FILE_DETAILS)
"""Layers of which single pieces are appended, in the order in which a delta tells them."""

DIGEST_KEY = "7/digest"
"""Layer 7a."""

TAKEN_OUT = tr("a part of your knowledge was removed")
"""Reason for a rewrite."""

Place = tuple[str, str]
"""Place where a delta tells a piece: the id of its message, the key."""


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

    Deltas of messages that are no longer among the turns are left out, and what they said is said again. What this
    message said before (a call that failed) is said anew, as the files are now: a message has one delta.

    Args:
        view: as the last request showed it; stack: as it is now; message_id: the user's message being sent.

    Returns:
        The same object when nothing changed.
    """
    kept = pruned(_told(view, stack), stack, message_id)
    others = tuple(delta for delta in kept.deltas if delta.message_id != message_id)
    if len(others) < len(kept.deltas):
        if _difference(kept, stack, message_id) is None:
            return kept
        kept = replace(kept, deltas=others)
    fresh = _difference(kept, stack, message_id)
    return kept if fresh is None else replace(kept, deltas=(*kept.deltas, fresh))


def pruned(view: ContextView, stack: AggregateStack, message_id: str) -> ContextView:
    """The view without deltas whose message is gone, and without what was recalled before the turns were cut; what a
    running turn is sent with, which must not change.

    What was told as a diff of a text that is gone with them is told whole, where it stands: what follows the message
    that is gone is sent anew anyway.
    """
    if not (view.deltas or view.tails or view.reasoned or view.switches):
        return view
    told = (delta.message_id for delta in view.deltas)
    behind = (*(tail.message_id for tail in view.tails), *(one.message_id for one in view.switches))
    wanted = set(map(turn_key, (*told, *behind, *view.reasoned)))
    said = wanted.intersection([piece.key for piece in stack.layer(LayerId.TURNS).pieces])
    tails = tuple(
        tail
        for tail in view.tails
        if turn_key(tail.message_id) in said and not (tail.retrieved and tail.cut_id != stack.cut_id)
    )
    reasoned = tuple(one for one in view.reasoned if turn_key(one) in said)
    if len(tails) < len(view.tails) or len(reasoned) < len(view.reasoned):
        view = replace(view, tails=tails, reasoned=reasoned)
    if stack.layer(LayerId.USER).pieces:
        said.add(turn_key(message_id))
    switches = tuple(one for one in view.switches if turn_key(one.message_id) in said)
    view = view if len(switches) == len(view.switches) else replace(view, switches=switches)
    kept = tuple(delta for delta in view.deltas if turn_key(delta.message_id) in said)
    return _without(view, kept)


def with_tail(view: ContextView, stack: AggregateStack) -> ContextView:
    """The view of a running turn with what stands behind the words that began it, what was recalled for them and layer 8:
    the next turns repeat it there, and all behind it.
    """
    running, metadata = running_pieces(stack.layer(LayerId.TURNS)), stack.layer(LayerId.METADATA).segments
    if not running or not metadata:
        return view
    message_id = running[0].key.partition("/")[2]
    retrieved = next((piece.text for piece in running if piece.key.endswith(RUNNING_RAG)), "")
    return _tailed(view, stack, message_id, retrieved)


def with_own_tail(view: ContextView, stack: AggregateStack, message_id: str) -> ContextView:
    """The view with what stands at the end of a request that begins a turn, what was recalled for it and layer 8: the next
    turns repeat it there.
    """
    said = stack.layer(LayerId.USER).pieces
    if not stack.layer(LayerId.METADATA).segments or not said or message_id == PREVIEW_ID:
        return view
    return _tailed(view, stack, message_id, recalled_text(stack))


def recalled_text(stack: AggregateStack) -> str:
    """Text that was recalled for a request's words, and goes with the turn if nothing keeps it; empty for none."""
    return next((one.text for one in stack.layer(LayerId.USER).pieces if one.key in TRANSIENT_KEYS), "")


def _tailed(view: ContextView, stack: AggregateStack, message_id: str, retrieved: str) -> ContextView:
    if message_id in [tail.message_id for tail in view.tails]:
        return view
    if retrieved and view.base.withdrawals != stack.withdrawals:
        return view  # what was taken out meanwhile may stand in it: it goes with the turn
    told = TurnTail(
        message_id=message_id,
        text=stack.layer(LayerId.METADATA).segments[0].text,
        retrieved=retrieved,
        cut_id=stack.cut_id if retrieved else "",
    )
    return replace(view, tails=(*view.tails, told))


def with_reasoned(view: ContextView, stack: AggregateStack) -> ContextView:
    """The view of a running turn with the reasoning that its request holds: the next turns repeat it there.

    The reasoning of a turn's last reply is in no request: nothing is lost where it never goes back.
    """
    running = running_pieces(stack.layer(LayerId.TURNS))
    own = dict.fromkeys(message_id_of(piece) for piece in running if isinstance(piece.wire, ReasoningPart))
    new = tuple(one for one in own if one not in view.reasoned)
    return replace(view, reasoned=(*view.reasoned, *new)) if new else view


def with_held(view: ContextView, stack: AggregateStack, wire: Wire, held_tokens: int) -> ContextView:
    """The view of a request that begins a turn without the reasoning of finished turns that nobody holds any more.

    It would have to be paid for anew, and a vendor that binds it to what stands before it may refuse it: what it stands
    behind may be another than when it was written.

    Args:
        wire: of the request through this view; held_tokens: so many of its first are read from a cache.
    """
    last = next((n for n in range(len(wire.blocks) - 1, -1, -1) if wire.blocks[n].key == REASONING_KEY), -1)
    if not view.reasoned or last < 0 or wire.ends[last] <= held_tokens:
        return view
    sent = set(view.reasoned)
    pieces = (piece for piece in stack.layer(LayerId.TURNS).pieces if not piece.parts)
    ids = [one for one in map(message_id_of, pieces) if one in sent]
    ends = [end for block, end in zip(wire.blocks, wire.ends, strict=True) if block.key == REASONING_KEY]
    lost = {one for one, end in zip(ids, ends, strict=False) if end > held_tokens}
    return replace(view, reasoned=tuple(one for one in view.reasoned if one not in lost)) if lost else view


def reasoning_tokens(
    view: ContextView, stack: AggregateStack, count: CountTokens, known: Mapping[str, int]
) -> Mapping[str, int]:
    """Tokens of the reasoning of messages of finished turns that goes back through a view, by message.

    Args:
        known: as counted before, by the same count.
    """
    missing = {one for one in view.reasoned if one not in known}
    if not missing:
        return known
    found: dict[str, int] = {}
    for piece in reversed(stack.layer(LayerId.TURNS).pieces):  # they are the newest
        own = message_id_of(piece)
        if own in missing:
            if isinstance(piece.wire, ReasoningPart) and not piece.parts:
                found[own] = found.get(own, 0) + count(piece.wire)
        elif len(found) == len(missing):
            break
    told = {**found, **{one: known[one] for one in view.reasoned if one in known}}
    return {
        one: tokens for one, tokens in told.items() if tokens
    }  # of a turn that runs nothing is counted yet


def message_id_of(piece: Piece) -> str:
    """The message that a piece of layer 11 belongs to."""
    return message_key(piece.key).partition("/")[2]


def shared_view(shared: SharedBase, stack: AggregateStack, message_id: str) -> ContextView | None:
    """The canonical view over the mode's warm layers 6 and 7a, with what changed of these appended.

    Returns:
        None where they carry what was deleted since.
    """
    known = (*shared.known, *(p for p in pieces_of(stack.layers, LayerId.KNOWLEDGE) if p.key != DIGEST_KEY))
    view = ContextView(base=replace(stack.canonical_view.base, known=known, withdrawals=shared.withdrawals))
    return None if withdrawn(view, stack) else view_for(view, stack, message_id)


def shared_base(view: ContextView, at: datetime) -> SharedBase | None:
    """Base that other discussions of the mode may read of a sent view, None where it does not tell."""
    known = view.base.known
    if known is None:
        return None
    common = tuple(p for p in known if p.key == DIGEST_KEY or layer_of(p.key) == LayerId.PROJECT)
    return SharedBase(known=common, withdrawals=view.base.withdrawals, at=at)


def withdrawn(view: ContextView, stack: AggregateStack) -> str:
    """Deleted things that a view still carries, in words; empty where nothing. It goes whatever it costs.

    A document or a digest that is not there any more, the notes of a file that still is; and, when something was
    taken out of knowledge, every text of layer 7 that is not said any more, and all that was recalled: nobody knows what
    of it stands there. Another text in its place is no deletion.
    """
    if words := deletion((piece.key for piece in visible_known(view)), stack):
        return words
    goes = goes_from(stack, view.base.withdrawals)
    if view.base.withdrawals != stack.withdrawals and holds_recalled(view):
        return TAKEN_OUT
    return TAKEN_OUT if any(goes(piece) for piece in carried_pieces(view)) else ""


def holds_recalled(view: ContextView) -> bool:
    """True if what was recalled for an earlier turn with tools still stands behind its words."""
    return any(tail.retrieved for tail in view.tails)


def spared_view(view: ContextView, stack: AggregateStack) -> ContextView | None:
    """The view on its own base, without what carries what was deleted, deltas or recalled text: all before it stays as
    it was sent.

    Returns:
        None where the base carries it.
    """
    goes = goes_from(stack, view.base.withdrawals)
    if any(goes(piece) for piece in base_pieces(view.base)):
        return None
    kept = tuple(delta for delta in view.deltas if not any(map(goes, delta.files)))
    spared = _without(view, kept)
    if spared.base.withdrawals != stack.withdrawals and holds_recalled(spared):
        spared = replace(spared, tails=tuple(tail for tail in spared.tails if not tail.retrieved))
    return None if withdrawn(spared, stack) else spared


def goes_from(stack: AggregateStack, withdrawals: int) -> Callable[[BaseFile | SentPart], bool]:
    """Rule that tells which pieces of layers 6 and 7 were deleted since so many withdrawals: nothing may carry them."""
    is_taken = withdrawals != stack.withdrawals
    said = {piece.sha256 for piece in stack.layer(LayerId.KNOWLEDGE).pieces}
    deletion_of = _deletion_in(stack)

    def goes(piece: BaseFile | SentPart) -> bool:
        layer = layer_of(piece.key)
        if layer not in _KNOWN:
            return False
        is_gone = layer == LayerId.KNOWLEDGE and is_taken and piece.sha256 not in said
        return is_gone or bool(deletion_of(piece.key))

    return goes


def deletion(keys: Iterable[str], stack: AggregateStack) -> str:
    """First of these pieces of layers 6 and 7 that was deleted, in words; empty where none was.

    A piece that is not there any more; notes only of a file that still is, for a file that left takes its own along.
    """
    return next(filter(None, map(_deletion_in(stack), keys)), "")


def _deletion_in(stack: AggregateStack) -> Callable[[str], str]:
    now = {piece.key for layer in _KNOWN for piece in stack.layer(layer).pieces}
    files = {piece.key for piece in stack.layer(LayerId.FILE_DETAILS).pieces}

    def deletion_of(key: str) -> str:
        layer, _, name = key.partition("/")
        if key in now:
            return ""
        if key == DIGEST_KEY:
            return tr("the digest is gone")
        if layer == _PROJECT:
            return tr("{name} is gone", name=name)
        return tr("the notes on {name} are gone", name=name) if f"{_FILES}/{name}" in files else ""

    return deletion_of


def visible_known(view: ContextView) -> tuple[BaseFile, ...]:
    """Texts that a model takes as current of layers 6 and 7."""
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


def superseded_tokens(view: ContextView, count: CountTokens) -> int:
    """Tokens that a rewrite would leave out: of each piece all that is carried of it, less its text as it is now.

    So a diff and what it is built on count as what they take more than the text that they lead to. What stands
    around the pieces of a delta counts, too.
    """
    carried: dict[str, list[BaseFile]] = {}
    for delta in view.deltas:
        for key in (*(file.key for file in delta.files), *delta.removed):
            carried[key] = []
    for file in carried_pieces(view) if carried else ():
        if file.key in carried:
            carried[file.key].append(file)
    current = visible_pieces(view) if carried else {}
    total = 0
    for key, files in carried.items():
        needed = _tokens(replace(current[key], sent=""), count) if key in current else 0
        total += max(0, sum(_tokens(file, count) for file in files) - needed)
    sets = [view.base.file_set, *(d.file_set for d in view.deltas if d.file_set is not None)]
    stale = [
        Segment(layer=LayerId.FILE_SET, key=_SET, text=text, sha256=digest(text))
        for text in sets[:-1]
        if text
    ]
    total += sum(count(segment) for tail in view.tails for segment in tail_segments(tail))
    return total + sum(map(count, stale)) + sum(_around_tokens(delta, count) for delta in view.deltas)


def delta_tokens(delta: ViewDelta, count: CountTokens) -> int:
    """Tokens of a delta as it is sent: its pieces, what tells how to read them, and the frame around both."""
    return _around_tokens(delta, count) + sum(_tokens(file, count) for file in delta.files)


def built_on(view: ContextView) -> dict[Place, str]:
    """For each piece that a delta told the digest of the piece as it was shown before, empty where it was not."""
    shown = {piece.key: piece.sha256 for piece in base_pieces(view.base)}
    found: dict[Place, str] = {}
    for delta in view.deltas:
        for key in delta.removed:
            shown.pop(key, None)
        for file in delta.files:
            found[delta.message_id, file.key] = shown.get(file.key, "")
            shown[file.key] = file.sha256
    return found


def updates(view: ContextView, pieces: Sequence[Piece]) -> tuple[BaseFile, ...]:
    """Those pieces that a view shows otherwise or not, each in the shortest form in which the next delta tells it."""
    seen = visible_pieces(view)
    told = [p for p in pieces if p.key not in seen or seen[p.key].sha256 != p.sha256]
    if not told:
        return ()
    first = {piece.key: piece.text for piece in base_pieces(view.base)}
    diffs: dict[str, int] = {}
    for file in (file for delta in view.deltas for file in delta.files):
        diffs[file.key] = diffs.get(file.key, 0) + 1 if is_diff(file.sent) else 0
    found = []
    for piece in told:
        key, text = piece.key, piece.text
        shown = seen[key].text if key in seen else None
        sent = sent_form(text, shown, first.get(key), diffs.get(key, 0))
        found.append(BaseFile(key=key, sha256=piece.sha256, text=text, sent=sent))
    return tuple(found)


def _without(view: ContextView, kept: tuple[ViewDelta, ...]) -> ContextView:
    """The view with these of its deltas; what is a diff of a text that is gone is told whole."""
    if len(kept) == len(view.deltas):
        return view
    before, after = built_on(view), built_on(replace(view, deltas=kept))
    broken = {place for place, sha256 in after.items() if before[place] != sha256}
    return replace(view, deltas=tuple(_told_whole(delta, broken) for delta in kept))


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


def visible_pieces(view: ContextView) -> dict[str, BaseFile]:
    """Pieces that a model takes as current of layers 6, 7 and 10: the newest of each, by key."""
    files = {file.key: file for file in base_pieces(view.base)}
    for delta in view.deltas:
        for key in delta.removed:
            files.pop(key, None)
        files.update({file.key: file for file in delta.files})
    return files


def _difference(view: ContextView, stack: AggregateStack, message_id: str) -> ViewDelta | None:
    seen = visible_pieces(view)
    pieces = [piece for layer in _APPENDED for piece in stack.layer(layer).pieces]
    changed = updates(view, pieces)
    keys = {piece.key for piece in pieces}
    removed = tuple(key for key in seen if key not in keys)
    file_set = stack.layer(LayerId.FILE_SET).text
    new_set = file_set if file_set != visible_file_set(view) else None
    if not changed and not removed and new_set is None:
        return None
    return ViewDelta(message_id=message_id, files=changed, removed=removed, file_set=new_set)


def _told_whole(delta: ViewDelta, broken: Collection[Place]) -> ViewDelta:
    files = tuple(
        replace(file, sent="") if is_diff(file.sent) and (delta.message_id, file.key) in broken else file
        for file in delta.files
    )
    return delta if files == delta.files else replace(delta, files=files)


def _around_tokens(delta: ViewDelta, count: CountTokens) -> int:
    text = delta_around(delta)
    return count(Segment(layer=LayerId.FILE_DETAILS, key=_FILES, text=text, sha256=digest(text)))


def _tokens(file: BaseFile, count: CountTokens) -> int:
    sha256 = digest(file.sent) if file.sent else file.sha256
    return count(Segment(layer=LayerId(layer_of(file.key)), key=file.key, text=file.wire_text, sha256=sha256))


# A view as `view` records of a log, and from them back to the view, byte for byte.

BASE_KIND = "base"
DELTA_KIND = "delta"
TAIL_KIND = "tail"
REASONED_KIND = "reasoned"
SWITCH_KIND = "switch"
_KINDS = frozenset({BASE_KIND, DELTA_KIND, TAIL_KIND, REASONED_KIND, SWITCH_KIND})


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
    deltas, tails, reasoned, switches = after.deltas, after.tails, after.reasoned, after.switches
    if old is not None and _begins_with(after, old):
        deltas, tails = deltas[len(old.deltas) :], tails[len(old.tails) :]
        reasoned, switches = reasoned[len(old.reasoned) :], switches[len(old.switches) :]
    else:
        found.append(
            ViewRecord(
                id=next(names), at=at, kind=BASE_KIND, data_json=canonical_json(_base_data(after, known))
            )
        )
        known.update(file.sha256 for file in (*base_pieces(after.base), *_headed(after.base)))
    for delta in deltas:
        found.append(
            ViewRecord(
                id=next(names),
                at=at,
                kind=DELTA_KIND,
                data_json=canonical_json(_delta_data(delta, known, bases)),
            )
        )
        known.update(file.sha256 for file in delta.files)
    for tail in tails:
        data = {"message_id": tail.message_id, "text": tail.text}
        if tail.retrieved:
            data[RECALLED] = tail.retrieved
        if tail.cut_id:
            data["cut_id"] = tail.cut_id
        found.append(ViewRecord(id=next(names), at=at, kind=TAIL_KIND, data_json=canonical_json(data)))
    for switch in switches:
        data_json = canonical_json({"message_id": switch.message_id, "text": switch.text})
        found.append(ViewRecord(id=next(names), at=at, kind=SWITCH_KIND, data_json=data_json))
    if reasoned:
        data_json = canonical_json({"message_ids": reasoned})
        found.append(ViewRecord(id=next(names), at=at, kind=REASONED_KIND, data_json=data_json))
    return tuple(found)


def _headed(base: FrozenBase) -> tuple[BaseFile, ...]:
    """Pieces of layers 3 to 5 in a base."""
    return (*(base.tools or ()), *(base.instructions or ()))


def _begins_with(after: ContextView, before: ContextView) -> bool:
    """True if a view is another with something appended."""
    return (
        before.base == after.base
        and after.deltas[: len(before.deltas)] == before.deltas
        and after.tails[: len(before.tails)] == before.tails
        and after.reasoned[: len(before.reasoned)] == before.reasoned
        and after.switches[: len(before.switches)] == before.switches
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
    if base.tools is not None:
        tools = [_file_data(piece, known) for piece in base.tools]
        data = {**data, "tools": tools}
    if base.effort is not None:
        data = {**data, "effort": base.effort}
    if base.instructions is not None:
        data = {**data, "instructions": [_file_data(piece, known) for piece in base.instructions]}
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
    if record.kind == REASONED_KIND:
        ids = tuple(map(str, data["message_ids"]))
        return None if view is None else replace(view, reasoned=(*view.reasoned, *ids))
    if record.kind == SWITCH_KIND:
        switch = TurnSwitch(message_id=str(data["message_id"]), text=str(data["text"]))
        return None if view is None else replace(view, switches=(*view.switches, switch))
    if record.kind == TAIL_KIND:
        told = TurnTail(
            message_id=str(data["message_id"]),
            text=str(data["text"]),
            retrieved=str(data.get(RECALLED, "")),
            cut_id=str(data.get("cut_id", "")),
        )
        return None if view is None else replace(view, tails=(*view.tails, told))
    shown = {} if view is None or record.kind == BASE_KIND else visible_pieces(view)
    files = tuple(_file(row, texts, shown) for row in data["files"])
    texts.update({file.sha256: file.text for file in files})
    if record.kind == BASE_KIND:
        pieces = tuple(_file(row, texts, shown) for row in data["known"]) if "known" in data else None
        tools = tuple(_file(row, texts, shown) for row in data["tools"]) if "tools" in data else None
        own = [_file(row, texts, shown) for row in data.get("instructions", ())]
        texts.update({piece.sha256: piece.text for piece in (*(pieces or ()), *(tools or ()), *own)})
        return ContextView(
            base=FrozenBase(
                file_set=str(data["file_set"]),
                files=files,
                known=pieces,
                withdrawals=int(data.get("withdrawals", 0)),
                tools=tools,
                effort=str(data["effort"]) if "effort" in data else None,
                instructions=tuple(own) if "instructions" in data else None,
            )
        )
    if view is None:
        return None
    file_set = data.get("file_set")
    removed = tuple(str(key) for key in data["removed"])
    delta = ViewDelta(
        message_id=str(data["message_id"]),
        files=files,
        removed=removed,
        file_set=None if file_set is None else str(file_set),
    )
    return replace(view, deltas=(*view.deltas, delta))


def _file(row: Mapping[str, str], texts: Mapping[str, str], shown: Mapping[str, BaseFile]) -> BaseFile:
    """A piece of a record. Raises KeyError, ValueError: its text is not in the log."""
    key, sha256, sent = row["key"], row["sha256"], str(row.get("sent", ""))
    if "text" in row:
        return BaseFile(key=key, sha256=sha256, text=row["text"], sent=sent)
    if sha256 in texts:
        return BaseFile(key=key, sha256=sha256, text=texts[sha256], sent=sent)
    base = shown[key]
    text = applied(sent, base.text, None) if row["from"] == base.sha256 else None
    if text is None:
        raise ValueError(f"what {key!r} was built on is not in the log")
    return BaseFile(key=key, sha256=sha256, text=text, sent=sent)


def _file_data(file: BaseFile, known: Collection[str], base: str = "") -> dict[str, str]:
    data = {"key": file.key, "sha256": file.sha256}
    if file.sent:
        data["sent"] = file.sent
    if file.sha256 in known:
        return data
    return {**data, "from": base} if is_diff(file.sent) else {**data, "text": file.text}
