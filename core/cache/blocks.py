"""A request as the run of blocks that a provider hashes: keys, cumulative hashes, tokens, places for marks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from core.values.cache import TOOLS_KEY, LedgerScope
from core.values.messages import AttachmentPart, ReasoningPart, Role, ToolCallPart, ToolResultPart
from core.values.provider import ProviderRequest, RequestPart
from core.values.stack import LayerId, Segment, ToolSchema

CountTokens = Callable[[RequestPart | ToolSchema], int]
"""Tokens of a part for the model in use."""

TRANSIENT_KEYS = frozenset({"12/rag"})
"""Segments of the current message that the next turn does not repeat."""

_BASE = frozenset({str(int(LayerId.FILE_SET)), str(int(LayerId.FILE_DETAILS))})


class Place(Enum):
    """Which part of the stack a block belongs to."""

    STABLE = "stable"
    BASE = "base"
    TALK = "talk"
    TRANSIENT = "transient"
    TAIL = "tail"


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a request.

    Args:
        sha256: of its role and content; run: blocks of one run (`call`, `result`) are one position together.
        can_be_marked: thinking cannot.
    """

    key: str
    sha256: str
    place: Place
    run: str = ""
    can_be_marked: bool = True


@dataclass(frozen=True, slots=True)
class Wire:
    """A request in wire order, one row a block.

    Args:
        hashes: of the prefix that ends with the block, its scope included; ends: tokens up to there.
        positions: for lookback, 1-based; a run of tool calls, or of results, is one.
        is_running: the model is in the middle of a turn: the request ends in tool results.
    """

    blocks: tuple[Block, ...]
    hashes: tuple[str, ...]
    ends: tuple[int, ...]
    positions: tuple[int, ...]
    is_running: bool = False

    @property
    def total_tokens(self) -> int:
        """Everything sent."""
        return self.ends[-1] if self.ends else 0

    def last(self, *places: Place) -> int:
        """Index of the last block at one of these places, -1 for none."""
        return next((i for i in range(len(self.blocks) - 1, -1, -1) if self.blocks[i].place in places), -1)

    def head(self) -> int:
        """Index of the last block that the next turn will repeat in its place, -1 for none."""
        end = self.turn_head()
        for index in range(end + 1):
            if self.blocks[index].place is Place.TRANSIENT:
                return self._markable(index - 1)
        return end

    def turn_head(self) -> int:
        """Index of the last block that the next request of the same turn will repeat, -1 for none."""
        end = len(self.blocks) - 1
        while end >= 0 and self.blocks[end].place is Place.TAIL:
            end -= 1
        return self._markable(end)

    def _markable(self, index: int) -> int:
        while index >= 0 and not self.blocks[index].can_be_marked:
            index -= 1
        return index


@dataclass(slots=True)
class WireMemo:
    """What was made of the last request of a discussion, so that a block is looked at once. One thread at a time."""

    blocks: dict[int, tuple[object, Block]] = field(default_factory=dict)
    wire: Wire | None = None
    scope: LedgerScope | None = None


def part_key(part: RequestPart) -> str:
    """The key by which a `CacheMark` names a part of a request."""
    match part:
        case Segment():
            return part.key
        case ToolCallPart():
            return f"call/{part.call_id}"
        case ToolResultPart():
            return f"result/{part.call_id}"
        case AttachmentPart():
            return f"attachment/{part.sha256}"
        case ReasoningPart():
            return "reasoning"


def wire_of(
    request: ProviderRequest, scope: LedgerScope, count: CountTokens, memo: WireMemo | None = None
) -> Wire:
    """Lay a request out as blocks with cumulative hashes.

    Args:
        scope: whose cache; part of every hash.
        count: tokens of a part; called once for each part, cheap.
        memo: of the same discussion; hashes of blocks in front of the first that changed are taken over.
    """
    memo = memo or WireMemo()
    rows = list(_parts(request))
    blocks = tuple(_block(role, part, memo) for role, part in rows)
    kept = memo.wire if memo.wire is not None and memo.scope == scope else None
    same = _common(kept.blocks, blocks) if kept is not None else 0
    hashes = _hashes(blocks, scope, kept.hashes[:same] if kept is not None else ())
    ends, total = [], 0
    for _, part in rows:
        total += count(part)
        ends.append(total)
    is_running = bool(request.messages) and _is_running(request)
    wire = Wire(blocks, hashes, tuple(ends), _positions(blocks), is_running)
    memo.wire, memo.scope = wire, scope
    memo.blocks = {id(part): memo.blocks[id(part)] for _, part in rows}
    return wire


def scope_hash(scope: LedgerScope) -> str:
    """A short digest of a scope."""
    text = f"{scope.provider}\0{scope.key_id}\0{scope.model}\0{scope.settings}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _parts(request: ProviderRequest) -> Iterator[tuple[str, RequestPart | ToolSchema]]:
    for tool in request.tools:
        yield "tool", tool
    for segment in request.system:
        yield "system", segment
    for message in request.messages:
        role = "assistant" if message.role is Role.ASSISTANT else "user"
        for part in message.parts:
            yield role, part


def _block(role: str, part: RequestPart | ToolSchema, memo: WireMemo) -> Block:
    known = memo.blocks.get(id(part))
    if known is not None and known[0] is part:
        return known[1]
    block = _made(role, part)
    memo.blocks[id(part)] = (part, block)
    return block


def _made(role: str, part: RequestPart | ToolSchema) -> Block:
    match part:
        case ToolSchema(name, description, parameters):
            return Block(TOOLS_KEY, _digest("tool", name, description, parameters), Place.STABLE)
        case Segment():
            return Block(part.key, f"{role}:{part.sha256}", _place(part))
        case AttachmentPart():
            return Block(part_key(part), f"{role}:{part.sha256}", Place.TALK)
        case ReasoningPart(text, vendor):
            return Block("reasoning", _digest(role, text, vendor), Place.TRANSIENT, can_be_marked=False)
        case ToolCallPart(call_id, name, arguments):
            return Block(part_key(part), _digest("call", call_id, name, arguments), Place.TALK, "call")
        case ToolResultPart(call_id, text, is_error):
            return Block(
                part_key(part), _digest("result", call_id, text, str(is_error)), Place.TALK, "result"
            )


def _place(segment: Segment) -> Place:
    if segment.layer.is_stable:
        return Place.STABLE
    if segment.layer is LayerId.METADATA:
        return Place.TAIL
    if segment.key in TRANSIENT_KEYS:
        return Place.TRANSIENT
    return Place.BASE if segment.key in _BASE else Place.TALK


def _is_running(request: ProviderRequest) -> bool:
    """Whether tool results follow the last words of the person; metadata behind them does not count."""
    for message in reversed(request.messages):
        if all(isinstance(part, Segment) and part.layer is LayerId.METADATA for part in message.parts):
            continue
        return message.role is not Role.USER
    return False


def _common(one: tuple[Block, ...], two: tuple[Block, ...]) -> int:
    """How many leading blocks are the same objects, or equal ones."""
    if one == two:
        return len(one)
    pairs = zip(one, two, strict=False)
    same = 0
    for first, second in pairs:
        if first is not second and first.sha256 != second.sha256:
            break
        same += 1
    return same


def _hashes(blocks: tuple[Block, ...], scope: LedgerScope, known: Iterable[str]) -> tuple[str, ...]:
    hashes = list(known)
    last = hashes[-1] if hashes else scope_hash(scope)
    for block in blocks[len(hashes) :]:
        last = hashlib.sha256(f"{last}\n{block.sha256}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
        hashes.append(last)
    return tuple(hashes)


def _positions(blocks: tuple[Block, ...]) -> tuple[int, ...]:
    """Source: Anthropic "Prompt caching", a run of tool uses or results is one position (read 2026-08, 2026-10)."""
    positions, number, run = [], 0, ""
    for block in blocks:
        if not block.run or block.run != run:
            number += 1
            run = block.run
        positions.append(number)
    return tuple(positions)


def _digest(*texts: str) -> str:
    parts = "".join(f"{len(text)}:{text}" for text in texts)
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()
