"""Layers 11 and 12: prior turns and the user's message, as canonical text and as messages for the wire."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from sys import intern
from types import MappingProxyType
from typing import Protocol, TypeVar

from msgspec.structs import replace

from core.kernel.frame import empty_frame, frame_parts, may_hold_end, rag_block, safe_tag, size_bytes
from core.kernel.structures import shared_run
from core.kernel.tokens import estimate_tokens
from core.kernel.values.messages import (
    AttachmentPart,
    Message,
    Part,
    ReasoningPart,
    ReturnedReasoning,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.kernel.values.stack import LayerId, Segment
from core.kernel.values.window import is_line_key
from core.services.providers.blocks import RUNNING_RAG
from core.talk.context.pieces import (
    Layer,
    Piece,
    SaidTurns,
    StackMemo,
    digest,
    full_key,
    make_layer,
    text_piece,
)

_PREFIX = full_key(LayerId.TURNS, "-")[:-1]
_RAG, _KEPT_RAG = "rag", "kept-rag"
_RECALLED = frozenset({full_key(LayerId.USER, _RAG), full_key(LayerId.USER, _KEPT_RAG)})
_START = "(The beginning of this conversation was taken out.)"


def turns_layer(
    turns: tuple[Message, ...],
    *,
    has_user_text: bool,
    memo: StackMemo,
    kept: Mapping[str, str] = MappingProxyType({}),
    retrieved: str = "",
    maker: tuple[str, str] = ("", ""),
) -> Layer:
    """Layer 11: the conversation so far.

    Reasoning is part of the canonical text only while a turn is running (the messages after the last one of the user, when
    no new one is sent): vendors bind it to the bytes before it, and files and metadata before it may change. That of
    finished turns stands in the layer without a text: a view says which of it goes back (`wire_messages`).

    In a running turn that answers results of tools, all that stood behind the person's words when the turn began stays
    there: what was retrieved for them, and on the wire layer 8 (`wire_messages`). Each request of a turn begins with the whole one before
    it, and no words stand behind results, which teaches a model to wait for them.

    Args:
        kept: retrieved text that stays behind a message for good, by the message's id.
        retrieved: of a running turn, what was retrieved for it.
        maker: provider and model that the layer goes to: another's reasoning of a finished turn never goes back.

    Source: Anthropic, "Extended thinking", binding to the prefix (read 2026-11-20); "Handling stop
    reasons", empty replies (read 2026-11-23).
    """
    is_running = not has_user_text and answers_tools(turns)
    running_from = _after_last_user(turns) if is_running else len(turns)
    memo.said = said = _said_turns(turns, running_from, maker, memo.said)
    rows = _with_kept(turns, said.pieces, kept) if kept else said.pieces
    if is_running and 0 < running_from < len(turns):
        own = turns[running_from - 1]
        behind = () if own.id in kept else tuple(_passing(own, retrieved))
        rows = (*rows[: running_from - 1], (*rows[running_from - 1], *behind), *rows[running_from:])
    pieces = chain.from_iterable(rows)
    if not turns or turns[0].role is Role.USER:
        return memo.turns.make(LayerId.TURNS, pieces)
    canonical = f"<{Role.USER.value}>\n{_START}\n</{Role.USER.value}>\n"
    return memo.turns.make(LayerId.TURNS, (_said("start", _START, (canonical,), Role.USER), *pieces))


def user_layer(
    retrieved: str, user_text: str, attachments: tuple[AttachmentPart, ...], *, keeps_retrieved: bool = False
) -> Layer:
    """Layer 12: retrieved text, then the user's text, then what is attached to it.

    On the wire the retrieved text is the last of it (`wire_pieces`): all before it is repeated by the next turn.

    Args:
        keeps_retrieved: the next turn repeats it, too.
    """
    pieces: list[Piece] = []
    if retrieved.strip():
        key = _KEPT_RAG if keeps_retrieved else _RAG
        pieces.append(text_piece(LayerId.USER, key, rag_block(retrieved)))
    if user_text.strip():
        pieces.append(text_piece(LayerId.USER, "text", user_text))
    if attachments and user_text.strip() and not user_text.endswith("\n"):
        segment = Segment(layer=LayerId.USER, key="12/text", text=user_text, sha256=pieces[-1].sha256)
        pieces[-1] = replace(pieces[-1], parts=(user_text, "\n"), wire=segment)
    pieces += [
        Piece(key=f"12/{a.sha256}", parts=(_attachment(a),), sha256=a.sha256, wire=a) for a in attachments
    ]
    return make_layer(LayerId.USER, (replace(piece, mark=Role.USER.value) for piece in pieces))


class _Keyed(Protocol):
    @property
    def key(self) -> str: ...


_One = TypeVar("_One", bound=_Keyed)


def wire_pieces(pieces: Iterable[_One]) -> list[_One]:
    """Pieces of layer 12 in the order of the wire: what the person said, then what was retrieved for it."""
    return sorted(pieces, key=lambda piece: piece.key in _RECALLED)


def answers_tools(turns: Sequence[Message]) -> bool:
    """True if the turns end in results of tools, or in a line of the program's behind such: their turn is running."""
    return bool(turns) and (turns[-1].role is Role.TOOL or is_line_key(turns[-1].id))


def is_running(layer: Layer) -> bool:
    """True if layer 11 ends in results of tools, or in a line of the program's behind such: they are to be answered."""
    return bool(layer.pieces) and (layer.pieces[-1].mark == _TOOL or is_line_key(layer.pieces[-1].key))


def running_pieces(layer: Layer) -> tuple[Piece, ...]:
    """Pieces of a running turn, the person's last message first; none where no turn runs, or nobody began it."""
    if not is_running(layer):
        return ()
    pieces = layer.pieces
    own = (n for n in range(len(pieces) - 1, -1, -1) if _is_persons(pieces[n]))
    last = next(own, None)
    if last is None:
        return ()
    key = message_key(pieces[last].key)
    first = next((n for n in range(last, -1, -1) if pieces[n].key == key), last)
    return pieces[first:]


def _is_persons(piece: Piece) -> bool:
    return piece.mark == _USER and not is_line_key(piece.key)


_USER, _TOOL = Role.USER.value, Role.TOOL.value


def message_key(key: str) -> str:
    """Key of the first piece of a message, by that of any."""
    return "/".join(key.split("/", 2)[:2])


def _passing(message: Message, retrieved: str) -> Iterator[Piece]:
    """Pieces that stay behind a message until its turn is over."""
    if retrieved.strip():
        yield _said(f"{message.id}/{RUNNING_RAG}", block := rag_block(retrieved), (block,), message.role)


def _with_kept(
    turns: tuple[Message, ...], pieces: Sequence[tuple[Piece, ...]], kept: Mapping[str, str]
) -> list[tuple[Piece, ...]]:
    return [
        (*own, _said(f"{turn.id}/{_RAG}", block := rag_block(kept[turn.id]), (block,), turn.role))
        if own and turn.id in kept
        else own
        for turn, own in zip(turns, pieces, strict=True)
    ]


def _said_turns(
    turns: tuple[Message, ...], running_from: int, maker: tuple[str, str], known: SaidTurns
) -> SaidTurns:
    """Render turns. The leading run that is the same is taken over at once, behind it what is the same under its id."""
    known = known if known.maker == maker else SaidTurns()
    same = min(shared_run(known.turns, turns), known.running_from, running_from)
    pieces = list(known.pieces[:same])
    old = {message.id: place for place, message in enumerate(known.turns[same:], same)}
    for place, message in enumerate(turns[same:], same):
        is_running, before = place >= running_from, old.get(message.id)
        if (
            before is not None
            and is_running is (before >= known.running_from)
            and _is_same(message, known.turns[before])
        ):
            pieces.append(known.pieces[before])
        else:
            pieces.append(_message(message, maker, is_running=is_running))
    return SaidTurns(turns=turns, running_from=running_from, pieces=tuple(pieces), maker=maker)


def _is_same(one: Message, two: Message) -> bool:
    return one is two or (one.role, one.parts, one.usage) == (two.role, two.parts, two.usage)


def _after_last_user(turns: Sequence[Message]) -> int:
    for index in range(len(turns) - 1, -1, -1):
        if turns[index].role is Role.USER and not is_line_key(turns[index].id):
            return index + 1
    return 0


def _message(message: Message, maker: tuple[str, str], *, is_running: bool) -> tuple[Piece, ...]:
    """The pieces of one message; its tags stand around the first and the last of those that have a text."""
    only = message.parts[0] if len(message.parts) == 1 else None
    if isinstance(only, TextPart) and not may_hold_end(only.text):
        return _words(message, only.text)
    is_own = is_running or (message.provider, message.model) == maker
    parts = [part for part in message.parts if _is_sent(part, is_own)]
    shown = [n for n, part in enumerate(parts) if is_running or not isinstance(part, ReasoningPart)]
    if not shown:
        return ()
    bodies = [_canonical(part) for part in parts]
    if len(shown) < len(parts):
        bodies = [body if n in shown else () for n, body in enumerate(bodies)]
    name = safe_tag(message.role.value, *chain.from_iterable(bodies))
    bodies[shown[0]] = (intern(f"<{name}>\n"), *bodies[shown[0]])
    bodies[shown[-1]] = (*bodies[shown[-1]], intern(f"</{name}>\n"))
    pairs = zip(_weighed(parts, message), bodies, strict=True)
    return tuple(_piece(message, number, part, body) for number, (part, body) in enumerate(pairs))


def _weighed(parts: Sequence[Part], message: Message) -> Sequence[Part]:
    """Parts of a reply, its reasoning with the tokens that its vendor counted: what it shows of it may be a summary, or nothing.

    They are told apart from the rest of the reply where the vendor does so, else by what the rest takes by its size.
    Several parts share them by their length.
    """
    usage = message.usage
    thoughts = [part for part in parts if isinstance(part, ReasoningPart)]
    if usage is None or usage.is_estimate or not thoughts:
        return parts
    tokens = usage.reasoning_tokens
    if tokens is None and usage.output_tokens is not None:
        tokens = usage.output_tokens - sum(map(_said_tokens, message.parts))
    if tokens is None or tokens <= 0:
        return parts
    whole = sum(map(_length, thoughts))
    return [
        ReturnedReasoning(
            text=part.text,
            vendor_json=part.vendor_json,
            tokens=max(1, round(tokens * _length(part) / whole)),
        )
        if isinstance(part, ReasoningPart)
        else part
        for part in parts
    ]


def _length(part: ReasoningPart) -> int:
    return len(part.text) + len(part.vendor_json) or 1


def _said_tokens(part: Part) -> int:
    match part:
        case TextPart(text):
            return estimate_tokens(size_bytes(text))
        case ToolCallPart(_, name, arguments):
            return estimate_tokens(len(name) + len(arguments))
        case _:
            return 0


_AROUND = {
    (role, has_end): (f"<{role.value}>\n<text>\n", f"{'' if has_end else chr(10)}</text>\n</{role.value}>\n")
    for role in Role
    for has_end in (False, True)
}
"""Tags before and behind a text that no tag can end, by its role and whether it ends its last line."""


def _words(message: Message, text: str) -> tuple[Piece, ...]:
    """The piece of a message of nothing but a text without end tags: ten thousand at once are most often such."""
    if not text or text.isspace():
        return ()
    before, behind = _AROUND[message.role, text[-1] == "\n"]
    return (_said(message.id, text, (before, text, behind), message.role),)


def _is_sent(part: Part, keeps_reasoning: bool) -> bool:
    match part:
        case TextPart(text):
            return bool(text) and not text.isspace()
        case ReasoningPart():
            return keeps_reasoning
        case _:
            return True


def _piece(message: Message, number: int, part: Part, body: tuple[str, ...]) -> Piece:
    key = f"{message.id}/{number}" if number else message.id
    if isinstance(part, TextPart):
        return _said(key, part.text, body, message.role)
    name = part.sha256 if isinstance(part, AttachmentPart) else digest("".join(_canonical(part)))
    return Piece(key=f"11/{key}", parts=body, sha256=name, wire=part, mark=message.role.value)


def _said(key: str, text: str, canonical: tuple[str, ...], role: Role) -> Piece:
    key, sha256 = f"{_PREFIX}{key}", digest(text)
    return Piece(
        key=key,
        parts=canonical,
        sha256=sha256,
        wire=Segment(layer=LayerId.TURNS, key=key, text=text, sha256=sha256),
        mark=role.value,
    )


def _canonical(part: Part) -> tuple[str, ...]:
    match part:
        case TextPart(text):
            return frame_parts("text", text)
        case ReasoningPart(text):
            return frame_parts("reasoning", text)
        case AttachmentPart():
            return (_attachment(part),)
        case ToolCallPart(call_id, name, arguments):
            return frame_parts("call", arguments, id=call_id, name=name)
        case ToolResultPart(call_id, text, is_error, files):
            answer = frame_parts("result", text, id=call_id, error="yes" if is_error else "")
            return (*answer, *map(_attachment, files)) if files else answer


def _attachment(part: AttachmentPart) -> str:
    return empty_frame(
        "attachment", name=part.name, type=part.media_type, bytes=str(part.size_bytes), sha256=part.sha256
    )
