"""The stack in wire order: system blocks, then messages whose roles alternate, volatile metadata last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from core.stack.pieces import AS_TEXT, Layer, joined_segment
from core.values.messages import Role
from core.values.provider import RequestMessage, RequestPart
from core.values.stack import LayerId, Segment

_BEFORE_PROJECT = (LayerId.ROLE, LayerId.SYSTEM_PRESET, LayerId.PERSONA)
_CURATED = (LayerId.FILE_SET, LayerId.FILE_DETAILS)


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


def wire_messages(layers: Sequence[Layer], *, takes_long_system: bool) -> tuple[RequestMessage, ...]:
    """The messages: files at the head of the first, prior turns, the user's message, layer 8 at its end.

    Each of layers 6, 9 and 10 is one segment, however many files it holds: a vendor looks only a few blocks
    back for what it has cached.
    """
    head = _CURATED if takes_long_system else (LayerId.PROJECT, *_CURATED)
    base = [joined_segment(layers[layer - 1]) for layer in head if layers[layer - 1].pieces]
    said = [*_said(layers[LayerId.TURNS - 1]), *_said(layers[LayerId.USER - 1])]
    runs = _with_tail(_runs(base, said), layers[LayerId.METADATA - 1].segments)
    return tuple(RequestMessage(role, tuple(parts)) for role, parts in runs)


def _runs(
    base: Iterable[Segment], said: Iterable[tuple[Role, RequestPart]]
) -> list[tuple[Role, list[RequestPart]]]:
    """Parts by role; messages of one role in a row become one."""
    runs: list[tuple[Role, list[RequestPart]]] = []
    first = list(base)
    if first:
        runs.append((Role.USER, [*first]))
    for role, part in said:
        if runs and runs[-1][0] is role:
            runs[-1][1].append(part)
        else:
            runs.append((role, [part]))
    return runs


def _said(layer: Layer) -> Iterator[tuple[Role, RequestPart]]:
    """What each piece of a layer of turns is on the wire, with its role."""
    for piece in layer.pieces:
        if piece.wire is AS_TEXT:
            yield Role(piece.mark), Segment(layer.id, piece.key, piece.text, piece.sha256)
        elif piece.wire is not None:
            yield Role(piece.mark), piece.wire


def _with_tail(
    runs: list[tuple[Role, list[RequestPart]]], tail: tuple[Segment, ...]
) -> list[tuple[Role, list[RequestPart]]]:
    """Volatile metadata as the last segments of the last user message. No message, no metadata."""
    for role, parts in reversed(runs):
        if role is Role.USER:
            parts.extend(tail)
            break
    return runs
