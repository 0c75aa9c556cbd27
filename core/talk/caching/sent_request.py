"""Request that was sent, as far as it prices another telling of layers 6 and 7: what is kept of it, and what it becomes.

Rows are blocks with which something is held, ends or may change; what stands between two counts to the later one. A
`Wire` of rows is planned as the whole request would be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import enum_value
from core.kernel.values.cache import (
    CacheLedgerEntry,
    LedgerScope,
    SentDelta,
    SentKnowledge,
    SentPart,
    SentPlace,
)
from core.kernel.values.stack import LayerId, Segment
from core.kernel.values.window import BaseFile, ContextView, ViewDelta
from core.services.providers.blocks import Block, MarkPlace, Wire, ends_of
from core.talk.caching.cache_ledger import hits
from core.talk.caching.view import (
    carried_pieces,
    holds_recalled,
    visible_file_set,
    visible_known,
    visible_pieces,
)
from core.talk.context.pieces import Piece
from core.talk.context.wire import RECALLED_BEHIND, delta_text, layer_of

_SET, _FILES = str(int(LayerId.FILE_SET)), str(int(LayerId.FILE_DETAILS))
_PROJECT = str(int(LayerId.PROJECT))
_DELTA = f"{_FILES}/delta/"
_TURNS = f"{int(LayerId.TURNS)}/"
_KNOWN = (f"{int(LayerId.PROJECT)}/", f"{int(LayerId.KNOWLEDGE)}/")


class Told(msgspec.Struct, frozen=True):
    """Another telling of layers 6 and 7: the request, and where it leaves what was sent.

    Args:
        kept: the row up to which all is as it was sent, -1 for none; all rows where nothing changes.
    """

    wire: Wire
    kept: int


class _SentRow(msgspec.Struct, frozen=True):
    """A row and its own tokens. `prefix_hash`: empty where it is not as it was sent."""

    key: str
    place: MarkPlace
    tokens: int
    prefix_hash: str = ""
    positions: int = 1


def sent_knowledge(
    wire: Wire,
    view: ContextView,
    live: Mapping[str, CacheLedgerEntry],
    scope: LedgerScope,
) -> SentKnowledge:
    """A request as it was sent.

    Args:
        live: entries of its scope.
    """
    found = hits(live, wire)
    deepest = live[found[0].prefix_hash] if found else None
    known = visible_known(view)
    parts = _parts(known, LayerId.KNOWLEDGE)
    has_recalled = holds_recalled(view)
    has_more = bool(view.deltas) or has_recalled
    blocks, rows = wire.blocks, sorted(_telling(wire, {hit.index for hit in found}, has_more=has_more))
    return SentKnowledge(
        scope=scope,
        parts=parts,
        ttl_s=deepest.ttl_s if deepest is not None else 0,
        expires_at=deepest.expires_at if deepest is not None else None,
        documents=_parts(known, LayerId.PROJECT),
        superseded=tuple(
            part for part in _parts(carried_pieces(view), LayerId.KNOWLEDGE) if part not in parts
        ),
        withdrawals=view.base.withdrawals,
        base=sent_parts(view.base.known or ()),
        deltas=tuple(_sent_delta(delta, wire) for delta in view.deltas),
        places=tuple(
            [
                SentPlace(
                    key=blocks[row].key,
                    prefix_hash=wire.hashes[row],
                    tokens=wire.ends[row],
                    position=wire.positions[row],
                    place=enum_value(blocks[row].place),
                )
                for row in rows
            ]
        ),
        folded_tokens=round(_folded(view, wire)),
        has_recalled=has_recalled,
    )


def sent_parts(pieces: Sequence[Piece | Segment | BaseFile]) -> tuple[SentPart, ...]:
    """Pieces of layers 6 and 7 by what they say."""
    return tuple(SentPart(piece.key, piece.sha256) for piece in pieces)


def as_sent(sent: SentKnowledge) -> Wire:
    """The next request with nothing of this one changed."""
    return _wire(_next(sent, list(_rows(sent))))


def canonical(sent: SentKnowledge, now: Sequence[SentPart], tokens: Mapping[str, int]) -> Told:
    """The request with layers 6 and 7 in their place as they are now, nothing appended, and nothing recalled before.

    Args:
        now: in the order of the layers; tokens: of each, by its key.
    """
    rows = list(_rows(sent))
    place = next((n for n, row in enumerate(rows) if _is_known(row)), None)
    if place is None:
        place = next((n for n, row in enumerate(rows) if row.place is not MarkPlace.STABLE), len(rows))
    has_folded = {_SET: any(delta.has_set for delta in sent.deltas)}
    has_folded[_FILES] = any(delta.has_files for delta in sent.deltas)
    told: list[_SentRow] = []
    joined = any(row.key == _PROJECT for row in rows)  # layer 6 is one block, behind layer 7
    mine = [part for part in now if not (joined and part.key.startswith(f"{_PROJECT}/"))]
    before = [part for part in sent.base if not (joined and part.key.startswith(f"{_PROJECT}/"))]
    by_key = {row.key: row for row in rows}
    is_same = True
    told += rows[:place]
    for number, part in enumerate(mine):
        is_same = is_same and number < len(before) and before[number] == part
        row = by_key.get(part.key)
        told.append(
            row
            if is_same and row is not None
            else _SentRow(key=part.key, place=MarkPlace.STABLE, tokens=tokens.get(part.key, 0))
        )
    is_same = is_same and len(before) == len(mine)
    documents = [part for part in now if part.key.startswith(f"{_PROJECT}/")] if joined else []
    is_folded = False
    for row in rows[place:]:
        if _is_known(row) or row.key.startswith(_DELTA):
            is_same = is_same and not row.key.startswith(_DELTA)
            continue
        if _is_recalled(row):
            is_same = False
            continue
        size = row.tokens
        if row.key == _PROJECT:
            is_same = is_same and documents == [p for p in sent.base if p.key.startswith(f"{_PROJECT}/")]
            size = row.tokens if is_same else sum(tokens.get(part.key, 0) for part in documents)
        elif has_folded.get(row.key):
            is_same, is_folded = False, True
            if row.key == _FILES or not has_folded[_FILES]:
                size = max(0, size + sent.folded_tokens)
        elif not is_folded and row.place is not MarkPlace.STABLE and any(has_folded.values()):
            # what was appended was the first of its layer
            is_same, is_folded = False, True
            told.append(_SentRow(key=_FILES, place=MarkPlace.BASE, tokens=max(0, sent.folded_tokens)))
        told.append(
            _SentRow(
                key=row.key,
                place=row.place,
                tokens=size,
                prefix_hash=row.prefix_hash if is_same else "",
                positions=row.positions,
            )
        )
    return _told(sent, told)


def spared(
    sent: SentKnowledge,
    now: Sequence[SentPart],
    tokens: Mapping[str, int],
    note_tokens: int,
    goes: Callable[[SentPart], bool],
    *,
    drops_recalled: bool,
) -> Told | None:
    """The request on its base as it was, without the deltas that tell what goes, and the rest of these told anew.

    Args:
        now, tokens: as for `canonical`; note_tokens: of what tells how to read them; goes: tells what was deleted.
        drops_recalled: something was taken out of knowledge: what was recalled before goes too.

    Returns:
        None where the base tells such a thing.
    """
    if any(map(goes, sent.base)):
        return None
    bad = {delta.key: delta for delta in sent.deltas if any(map(goes, delta.parts))}
    kept = {part.key: part.sha256 for part in sent.base}
    for delta in sent.deltas:
        if delta.key not in bad:
            kept.update({part.key: part.sha256 for part in delta.parts})
    again = sum(delta.others for delta in bad.values())
    again += sum(tokens.get(part.key, 0) for part in now if kept.get(part.key) != part.sha256)
    if again:
        again += note_tokens
    told: list[_SentRow] = []
    is_same = True
    for row in _rows(sent):
        is_gone = row.key in bad or (drops_recalled and _is_recalled(row))
        is_same = is_same and not is_gone
        if not is_gone:
            told.append(
                _SentRow(
                    key=row.key,
                    place=row.place,
                    tokens=row.tokens,
                    prefix_hash=row.prefix_hash if is_same else "",
                    positions=row.positions,
                )
            )
    return _told(sent, told, again)


def _telling(wire: Wire, held: Collection[int], *, has_more: bool) -> set[int]:
    """Rows of a request.

    Args:
        has_more: deltas or recalled blocks stand in it. Without any O(blocks before the talk): thousands of messages
            behind them are not looked at.
    """
    blocks = wire.blocks
    rows = {*held, wire.head, wire.turn_head, len(blocks) - 1, wire.last(MarkPlace.TALK)}
    talk = wire.last(MarkPlace.TALK)
    rows.add(next((n for n in range(talk - 1, -1, -1) if blocks[n].key.startswith(_TURNS)), -1))
    before = wire.last(MarkPlace.STABLE, MarkPlace.BASE) + 1
    kept = MarkPlace.STABLE, MarkPlace.BASE
    rows.update(n for n, b in enumerate(blocks[:before]) if b.place in kept)
    for number, block in enumerate(blocks) if has_more else ():
        if block.place not in kept and (block.key.startswith(_DELTA) or _is_recalled(block)):
            rows |= {number - 1, number}
    return {row for row in rows if 0 <= row < len(blocks)}


def _rows(sent: SentKnowledge) -> Iterator[_SentRow]:
    tokens = position = 0
    for one in sent.places:
        place = MarkPlace(one.place)
        yield _SentRow(
            key=one.key,
            place=place,
            tokens=one.tokens - tokens,
            prefix_hash=one.prefix_hash,
            positions=one.position - position,
        )
        tokens, position = one.tokens, one.position


def _told(sent: SentKnowledge, rows: list[_SentRow], again: int = 0) -> Told:
    kept = next((n for n, row in enumerate(rows) if not row.prefix_hash), len(rows)) - 1
    return Told(_wire(_next(sent, rows, again)), kept)


def _next(sent: SentKnowledge, rows: list[_SentRow], again: int = 0) -> list[_SentRow]:
    """With the answer and the next message behind it, before which so many tokens are told anew."""
    tail = next((n for n, row in enumerate(rows) if row.place is MarkPlace.TAIL), len(rows))
    added = [_SentRow(key=f"{_TURNS}next", place=MarkPlace.TALK, tokens=sent.reply_tokens)]
    if again:
        added.append(_SentRow(key=f"{_DELTA}next", place=MarkPlace.TALK, tokens=again))
    words = _SentRow(key=f"{int(LayerId.USER)}/next", place=MarkPlace.TALK, tokens=0)
    return [*rows[:tail], *added, words, *(replace(row, prefix_hash="") for row in rows[tail:])]


def _wire(rows: list[_SentRow]) -> Wire:
    ends: list[int] = []
    positions: list[int] = []
    for row in rows:
        ends.append((ends[-1] if ends else 0) + row.tokens)
        positions.append((positions[-1] if positions else 0) + row.positions)
    blocks = tuple(Block(key=row.key, sha256="", place=row.place) for row in rows)
    hashes = tuple(row.prefix_hash or f"{number} anew" for number, row in enumerate(rows))
    head = max((n for n, row in enumerate(rows) if row.place is not MarkPlace.TAIL), default=-1)
    talk = next((n for n, row in enumerate(rows) if row.place is MarkPlace.TRANSIENT), -1)
    turn = talk - 1 if 0 <= talk <= head else head
    return Wire(
        blocks=blocks,
        hashes=hashes,
        ends=tuple(ends),
        positions=tuple(positions),
        ends_of=ends_of(blocks),
        head=turn,
        turn_head=head,
    )


def _is_known(row: _SentRow) -> bool:
    return row.key.startswith(_KNOWN)


def _is_recalled(row: _SentRow | Block) -> bool:
    return row.key.startswith(_TURNS) and row.key.endswith(RECALLED_BEHIND)


def _sent_delta(delta: ViewDelta, wire: Wire) -> SentDelta:
    key = f"{_DELTA}{delta.message_id}"
    text = delta_text(delta)
    own = [file for file in delta.files if layer_of(file.key) == LayerId.FILE_DETAILS]
    known = [file for file in delta.files if layer_of(file.key) != LayerId.FILE_DETAILS]
    chars = sum(len(file.wire_text) for file in own) + len(delta.file_set or "")
    has_files = bool(own) or any(layer_of(name) == LayerId.FILE_DETAILS for name in delta.removed)
    others = round(_size(wire, key) * chars / max(1, len(text)))
    return SentDelta(
        key=key,
        parts=sent_parts(known),
        others=others,
        has_set=delta.file_set is not None,
        has_files=has_files,
    )


def _folded(view: ContextView, wire: Wire) -> float:
    """Tokens that layers 9 and 10 take more in their place, by the tokens a character of what was appended takes."""
    chars = sum(len(delta_text(delta)) for delta in view.deltas)
    if not chars:
        return 0.0
    tokens = sum(_size(wire, f"{_DELTA}{delta.message_id}") for delta in view.deltas)
    now = sum(len(p.text) for p in visible_pieces(view).values() if layer_of(p.key) == LayerId.FILE_DETAILS)
    before = sum(len(file.text) for file in view.base.files)
    sets = len(visible_file_set(view)) - len(view.base.file_set)
    return (now - before + sets) * tokens / chars


def _size(wire: Wire, key: str) -> int:
    row = next((n for n, block in enumerate(wire.blocks) if block.key == key), -1)
    return 0 if row < 0 else wire.ends[row] - (wire.ends[row - 1] if row else 0)


def _parts(pieces: Sequence[BaseFile], layer: LayerId) -> tuple[SentPart, ...]:
    return sent_parts([piece for piece in pieces if layer_of(piece.key) == layer])
