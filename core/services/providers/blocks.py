"""A request as the run of blocks that a provider hashes: keys, cumulative hashes, tokens, places for marks."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping
from enum import Enum
from itertools import accumulate

import msgspec

from core.kernel.structures import shared_run
from core.kernel.values.cache import TOOLS_KEY, LedgerScope
from core.kernel.values.messages import (
    AttachmentPart,
    ReasoningPart,
    Role,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.provider import ProviderRequest, RequestMessage, RequestPart
from core.kernel.values.stack import LayerId, Segment, ToolSchema

CountTokens = Callable[[RequestPart | ToolSchema], int]
"""Tokens of a part for the model in use."""

TRANSIENT_KEYS = frozenset({"12/rag"})
"""Segments of the current message that the next turn does not repeat."""

SWITCH = "/switch"
"""End of the key of a segment that is a switch (`switches.py`)."""

RUNNING_RAG = "running-rag"
"""End of the key of what was retrieved for the message of a running turn, which the next turn does not repeat: where a view
keeps it, it stands there under another key."""

_BASE = frozenset({str(int(LayerId.FILE_SET)), str(int(LayerId.FILE_DETAILS))})


REASONING_KEY = "reasoning"
"""Key of a part that is a model's reasoning."""


class MarkPlace(Enum):
    """Part of the stack that a block belongs to."""

    STABLE = "stable"
    BASE = "base"
    TALK = "talk"
    TRANSIENT = "transient"
    TAIL = "tail"


_PASSING = frozenset({MarkPlace.TRANSIENT, MarkPlace.TAIL})
"""Places of what the next turn does not repeat there; the end of a request apart, only a running turn has such."""


class Block(msgspec.Struct, frozen=True, gc=False):
    """One block of a request.

    Args:
        sha256: of its role and content; run: blocks of one run (`call`, `result`) are one position together.
        can_be_marked: thinking cannot.
    """

    key: str
    sha256: str
    place: MarkPlace
    run: str = ""
    can_be_marked: bool = True


class Wire(msgspec.Struct, frozen=True):
    """A request in wire order, one row a block.

    Args:
        hashes: of the prefix that ends with the block, its scope included; ends: tokens up to there.
        positions: for lookback, 1-based; a run of tool calls, or of results, is one.
        head: index of the last block that the next turn will repeat in its place, -1 for none.
        turn_head: the same for the next request of this turn.
        ends_of: index of the last block at each place that there is.
    """

    blocks: tuple[Block, ...]
    hashes: tuple[str, ...]
    ends: tuple[int, ...]
    positions: tuple[int, ...]
    ends_of: Mapping[MarkPlace, int]
    head: int = -1
    turn_head: int = -1

    @property
    def total_tokens(self) -> int:
        """Everything sent."""
        return self.ends[-1] if self.ends else 0

    def last(self, *places: MarkPlace) -> int:
        """Index of the last block at one of these places, -1 for none."""
        return max([self.ends_of.get(place, -1) for place in places], default=-1)


class WireMemo(msgspec.Struct):
    """Blocks of a discussion's last request: their leading run is taken over. One thread at a time.

    `head`: how many of the parts are tools and system; `keeps`: whether reasoning is repeated, and layer 8.
    """

    scope: LedgerScope | None = None
    revision: Hashable = None
    messages: tuple[RequestMessage, ...] = ()
    parts: list[RequestPart | ToolSchema] = msgspec.field(default_factory=list)
    head: int = 0
    wire: Wire = msgspec.field(
        default_factory=lambda: Wire(blocks=(), hashes=(), ends=(), positions=(), ends_of={})
    )
    transient: int = -1
    keeps: tuple[bool, bool] = (True, False)


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
            return REASONING_KEY


def wire_of(
    request: ProviderRequest,
    scope: LedgerScope,
    count: CountTokens,
    memo: WireMemo | None = None,
    revision: Hashable = None,
    *,
    keeps_reasoning: bool = True,
    keeps_tail: bool = False,
) -> Wire:
    """Lay a request out as blocks with cumulative hashes.

    Args:
        scope: whose cache; part of every hash.
        count: tokens of a part, cheap.
        memo: of the same discussion; rows of the leading parts that did not change are taken over.
        revision: stands for the state of `count`; another one counts every part again, and hashes none.
        keeps_reasoning: the next turn repeats the reasoning of the running one; keeps_tail: and its layer 8.
    """
    memo = memo or WireMemo()
    keeps = (keeps_reasoning, keeps_tail)
    kept = memo.parts if (memo.scope, memo.keeps) == (scope, keeps) else []
    is_counted = memo.revision == revision
    sure, roles, rest = _parts(request, kept, memo.head, memo.messages)
    same = sure + _common(kept[sure:], rest)
    parts = [*kept[:sure], *rest]
    old = memo.wire
    known = [one is two for one, two in zip(kept[same:], rest[same - sure :], strict=False)]
    known += [False] * (len(parts) - same - len(known))
    fresh = [
        old.blocks[place] if is_known else _made(role, part, keeps)
        for place, (is_known, role, part) in enumerate(
            zip(known, roles[same - sure :], rest[same - sure :], strict=True), same
        )
    ]
    hashes: list[str] = []
    ends: list[int] = []
    old_ends = old.ends[:same] if is_counted else tuple(accumulate(map(count, parts[:same])))
    last = old.hashes[same - 1] if same else scope_hash(scope)
    total = old_ends[-1] if old_ends else 0
    for place, (block, part) in enumerate(zip(fresh, parts[same:], strict=True), same):
        last = hashlib.sha256(f"{last}\n{block.sha256}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
        hashes.append(last)
        is_known = is_counted and known[place - same] and place > 0
        total += old.ends[place] - old.ends[place - 1] if is_known else count(part)
        ends.append(total)
    blocks = (*old.blocks[:same], *fresh)
    positions = _positions(blocks, old.positions[:same])
    turn_head = _markable(blocks, len(blocks) - 1)
    if not 0 <= memo.transient < same:
        memo.transient = next((same + n for n, b in enumerate(fresh) if b.place in _PASSING), -1)
    head = _markable(blocks, memo.transient - 1) if 0 <= memo.transient <= turn_head else turn_head
    wire = Wire(
        blocks=blocks,
        hashes=(*old.hashes[:same], *hashes),
        ends=(*old_ends, *ends),
        positions=positions,
        ends_of=ends_of(blocks, old.ends_of, same),
        head=head,
        turn_head=turn_head,
    )
    memo.scope, memo.revision, memo.keeps = scope, revision, keeps
    memo.messages, memo.parts, memo.wire = request.messages, parts, wire
    memo.head = len(request.tools) + len(request.system)
    return wire


def ends_of(
    blocks: tuple[Block, ...], known: Mapping[MarkPlace, int] | None = None, same: int = 0
) -> Mapping[MarkPlace, int]:
    """The last block at each place; `known`: of a wire whose first blocks, so many, are the same."""
    found: dict[MarkPlace, int] = {}
    last = None
    for number in range(
        len(blocks) - 1, same - 1, -1
    ):  # from behind: what a long run has in common is looked up once
        place = blocks[number].place
        if place is not last and place not in found:
            found[place] = number
        last = place
    for place, number in (known or {}).items():
        if place in found:
            continue
        if number >= same:
            number = next((n for n in range(same - 1, -1, -1) if blocks[n].place is place), -1)  # noqa: PLW2901
        if number >= 0:
            found[place] = number
    return found


def eve_of(wire: Wire) -> int:
    """The block before the last that the next turn repeats, -1 where a mark at either would not do for a ping.

    An attachment is not at hand when a ping is sent.
    """
    if wire.head < 1 or wire.blocks[wire.head].place is not MarkPlace.TALK:
        return -1
    pair = wire.blocks[wire.head - 1 : wire.head + 1]
    is_sent = all(block.can_be_marked and not block.key.startswith("attachment/") for block in pair)
    return wire.head - 1 if is_sent else -1


def scope_hash(scope: LedgerScope) -> str:
    """A short digest of a scope."""
    text = f"{scope.provider}\0{scope.key_id}\0{scope.model}\0{scope.settings}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _parts(
    request: ProviderRequest,
    kept: list[RequestPart | ToolSchema],
    kept_head: int,
    messages: tuple[RequestMessage, ...],
) -> tuple[int, list[str], list[RequestPart | ToolSchema]]:
    """Number of leading parts that are surely those kept, then the roles and parts of the rest.

    They are where tools and system are the same and the first messages are the same objects.
    """
    head: list[RequestPart | ToolSchema] = [*request.tools, *request.system]
    sure, first = 0, 0
    if kept and kept_head == len(head) and _common(kept, head) == len(head):
        sure = len(head)
        first = shared_run(messages, request.messages)
        sure = len(kept) - sum([len(message.parts) for message in messages[first:]])
    if sure:
        roles, parts = [], []
    else:
        roles, parts = ["tool"] * len(request.tools) + ["system"] * len(request.system), head
    for message in request.messages[first:]:
        parts.extend(message.parts)
        roles.extend(["assistant" if message.role is Role.ASSISTANT else "user"] * len(message.parts))
    return sure, roles, parts


def _common(one: list[RequestPart | ToolSchema], two: list[RequestPart | ToolSchema]) -> int:
    """Number of leading parts that are the same: objects, or segments under the same key by their digest.

    The role of a part follows from what it is and what stands around it; a part that changes its role changes its key.
    """
    same = 0
    for first, second in zip(one, two, strict=False):
        if first is not second and not _is_same(first, second):
            break
        same += 1
    return same


def _is_same(one: RequestPart | ToolSchema, two: RequestPart | ToolSchema) -> bool:
    if isinstance(one, Segment) and isinstance(two, Segment):
        return one.sha256 == two.sha256 and one.key == two.key
    return one == two


def _markable(blocks: tuple[Block, ...], index: int) -> int:
    while index >= 0 and not blocks[index].can_be_marked:
        index -= 1
    return index


def _made(role: str, part: RequestPart | ToolSchema, keeps: tuple[bool, bool]) -> Block:
    keeps_reasoning, keeps_tail = keeps
    match part:
        case Segment():
            return Block(
                key=part.key,
                sha256=f"{role}:{part.sha256}",
                place=MarkPlace.TALK if keeps_tail and is_passing(part) else _place(part),
                can_be_marked=not part.key.endswith(SWITCH),
            )
        case ToolSchema(name, description, parameters):
            return Block(
                key=TOOLS_KEY, sha256=_digest("tool", name, description, parameters), place=MarkPlace.STABLE
            )
        case AttachmentPart():
            return Block(key=part_key(part), sha256=f"{role}:{part.sha256}", place=MarkPlace.TALK)
        case ReasoningPart(text, vendor):
            return Block(
                key=REASONING_KEY,
                sha256=_digest(role, text, vendor),
                place=MarkPlace.TALK if keeps_reasoning else MarkPlace.TRANSIENT,
                can_be_marked=False,
            )
        case ToolCallPart(call_id, name, arguments):
            return Block(
                key=part_key(part),
                sha256=_digest("call", call_id, name, arguments),
                place=MarkPlace.TALK,
                run="call",
            )
        case ToolResultPart(call_id, text, is_error, files):
            answer = _digest("result", call_id, text, str(is_error), *(file.sha256 for file in files))
            return Block(key=part_key(part), sha256=answer, place=MarkPlace.TALK, run="result")


def is_passing(part: RequestPart | ToolSchema) -> bool:
    """True for what goes with its turn where nothing keeps it: layer 8, and what was recalled for the current message."""
    return isinstance(part, Segment) and (part.layer is LayerId.METADATA or part.key in TRANSIENT_KEYS)


def _place(segment: Segment) -> MarkPlace:
    if segment.layer is LayerId.TURNS:
        return MarkPlace.TRANSIENT if segment.key.endswith(RUNNING_RAG) else MarkPlace.TALK
    if segment.layer.is_stable:
        return MarkPlace.STABLE
    if segment.layer is LayerId.METADATA:
        return MarkPlace.TAIL
    if segment.key in TRANSIENT_KEYS:
        return MarkPlace.TRANSIENT
    return MarkPlace.BASE if segment.key in _BASE else MarkPlace.TALK


def _positions(blocks: tuple[Block, ...], known: tuple[int, ...]) -> tuple[int, ...]:
    """Source: Anthropic "Prompt caching", a run of tool uses or results is one position (read 2026-08, 2026-10)."""
    positions = []
    number = known[-1] if known else 0
    run = blocks[len(known) - 1].run if known else ""
    for block in blocks[len(known) :]:
        if not block.run or block.run != run:
            number += 1
            run = block.run
        positions.append(number)
    return (*known, *positions)


def _digest(*texts: str) -> str:
    parts = "".join([f"{len(text)}:{text}" for text in texts])
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()
