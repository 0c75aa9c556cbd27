"""Difference between the last request and the stack about to be sent, in wire order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

import msgspec

from core.context.pieces import Layer, digest_of_pieces
from core.context.report import layer_report
from core.context.stack import AggregateStack
from core.context.turns import wire_pieces
from core.context.wire import based_layers, layer_of
from core.values.spec import PlannedRequest
from core.values.stack import (
    LAYER_TITLES,
    STABLE_LAYERS,
    ContextChange,
    LayerId,
    LayerReport,
    SegmentReport,
    StackInputs,
)
from core.values.view import ContextView

_KNOWN = (LayerId.PROJECT, LayerId.KNOWLEDGE)
_TURNS, _USER, _METADATA = LayerId.TURNS, LayerId.USER, LayerId.METADATA

FOLDED = "what had been appended was put in its place"
CUT = "the beginning of the conversation left the view, to make room"
TAKEN = "the state that other discussions keep warm was taken"


class PrefixChange(msgspec.Struct, frozen=True):
    """A change of layers 1 to 7 between two consecutive requests.

    Args:
        layer: the first that differs, in wire order.
        byte_offset: first differing byte of its UTF-8 text, None where the earlier text is not at hand.
        reason: the recorded cause; empty: unexplained, which is a fault of the program.
    """

    layer: LayerId
    byte_offset: int | None
    reason: str

    @property
    def is_explained(self) -> bool:
        """True if a cause was recorded."""
        return bool(self.reason)

    def __str__(self) -> str:
        where = "" if self.byte_offset is None else f" at byte {self.byte_offset}"
        why = self.reason or "no cause was recorded"
        return f"Layer {int(self.layer)} ({LAYER_TITLES[self.layer]}) differs{where}: {why}"


def compare(
    previous: Sequence[LayerReport],
    stack: AggregateStack,
    report: Sequence[LayerReport],
    *,
    sent: Mapping[LayerId, Layer] | None = None,
    reason: str = "",
) -> ContextChange:
    """Measure how far the last request is a prefix of the next one.

    The last request's volatile tail (layer 8) is left out: it is sent anew each turn, behind everything
    else. Its user's message (12) is looked for at the end of the prior turns (11).

    Args:
        previous: layers of the last request, canonical order, as its record keeps them (`recorded`).
        stack: about to be sent; report: its `report`, with tokens for the model in use.
        sent: layers of the last request where they are still at hand.

    Returns:
        The first layer that differs in wire order, None where the last request is a prefix of this one;
        tokens before that point, and tokens from there on.
    """
    old = {layer.layer: layer for layer in previous}
    new = {layer.layer: layer for layer in report}
    same, broken = 0, None
    for layer in stack.wire_layers[:-3]:
        same += _kept_tokens(old.get(layer), new[layer])
        if _sha(old.get(layer)) != new[layer].sha256 and _has_text(old.get(layer), new[layer]):
            broken = layer
            break
    else:
        turns, broken = _kept_turns(old, new, stack)
        same += turns
    total = sum(layer.tokens_est for layer in report)
    again = total - same
    return ContextChange(
        layer=broken,
        byte_offset=_byte(broken, stack, sent),
        same_tokens_est=same,
        rewritten_tokens_est=again,
        reason=reason,
    )


def is_as_before(
    previous: Sequence[LayerReport], stack: AggregateStack, before: ContextView | None, view: ContextView
) -> bool:
    """True if the stable layers are those of the last request and go out through the same base: most rounds of a turn.

    Args:
        previous: layers of the last request; before: its view, None where it is not known; view: of this one.
    """
    if before is None or view.base is not before.base:
        return False
    old = {one.layer: one.sha256 for one in previous}
    return all(old.get(layer, "") == stack.layer(layer).sha256 for layer in STABLE_LAYERS)


def prefix_change(
    previous: Sequence[LayerReport],
    stack: AggregateStack,
    reasons: Mapping[LayerId, str],
    sent: Mapping[LayerId, Layer] | None = None,
) -> PrefixChange | None:
    """The guard of the byte contract: the first of layers 1 to 7 that differs from the last request.

    Args:
        previous: layers of the last request; reasons: recorded causes by layer (`prefix_reasons` and what
            the controller knows); sent: its layers where they are still at hand.

    Returns:
        None where the stable prefix is the same; otherwise the change, explained or not.
    """
    old = {layer.layer: layer.sha256 for layer in previous}
    for layer in stack.wire_layers:
        if layer.is_stable and old.get(layer, "") != stack.layer(layer).sha256:
            return PrefixChange(layer, _byte(layer, stack, sent), reasons.get(layer, ""))
    return None


def prefix_reasons(previous: StackInputs, current: StackInputs) -> dict[LayerId, str]:
    """Reasons why layers may differ: changes of the inputs of 1 to 7, and a cut of the turns, in words, by layer.

    A layer that differs although none of its inputs did is not in it: nothing explains that.
    """
    return {layer: reason for layer, reason, differs in _causes(previous, current) if differs}


def base_reasons(before: ContextView, after: ContextView, canonical: ContextView) -> dict[LayerId, str]:
    """Reasons why layers 6 and 7 may go out otherwise than in the last request, the same as they are: by the
    view.

    Args:
        before: of the last request; after: of this one; canonical: as the stack is.
    """
    if after.base.known != canonical.base.known:
        return dict.fromkeys(_KNOWN, TAKEN)
    told = {layer_of(f.key) for delta in before.deltas for f in delta.files}
    told |= {layer_of(key) for delta in before.deltas for key in delta.removed}
    taken = before.base.withdrawals != after.base.withdrawals
    return {layer: FOLDED for layer in _KNOWN if layer in told or taken}


def as_sent(previous: Sequence[LayerReport], view: ContextView | None) -> tuple[LayerReport, ...]:
    """Layers of a recorded request with 6, 7, 9 and 10 as its view's base carried them.

    Args:
        previous: layers as the stack had them; view: of that request, None where it is not known.
    """
    if view is None or view.base.known is None:
        return tuple(previous)
    base = {layer.id: layer for layer in based_layers(view)}
    return tuple(
        layer_report(base[one.layer], one.offset_chars, {}, 1.0)
        if one.layer in base and base[one.layer].sha256 != one.sha256
        else one
        for one in previous
    )


def first_difference(first: str, second: str) -> int | None:
    """The first byte at which two texts differ as UTF-8, None where they are the same. O(n), in C."""
    if first == second:
        return None
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return _bytes_before(first, second, low)


def _bytes_before(first: str, second: str, same_chars: int) -> int:
    """UTF-8 bytes in the common run, the leading bytes that two differing characters share included."""
    offset = len(first[:same_chars].encode("utf-8", "surrogatepass"))
    one = first[same_chars : same_chars + 1].encode("utf-8", "surrogatepass")
    two = second[same_chars : same_chars + 1].encode("utf-8", "surrogatepass")
    pairs = zip(one, two, strict=False)
    return offset + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _causes(old: StackInputs, new: StackInputs) -> Iterator[tuple[LayerId, str, bool]]:
    yield LayerId.ROLE, _role_reason(old, new), (old.epoch, old.role_text) != (new.epoch, new.role_text)
    yield LayerId.TOOL_FORMAT, "tool format changed", old.tool_format_text != new.tool_format_text
    yield LayerId.TOOLS, "tools changed", old.tools != new.tools
    yield LayerId.SYSTEM_PRESET, "system prompt preset changed", old.system_text != new.system_text
    yield LayerId.PERSONA, "persona changed", old.persona != new.persona
    yield LayerId.PROJECT, "project context changed", old.project != new.project
    knowledge = [(one.digest, one.domain_facts, one.notes) for one in (old, new)]
    yield LayerId.KNOWLEDGE, _knowledge_reason(old, new), knowledge[0] != knowledge[1]
    yield LayerId.TURNS, CUT, old.cut_id != new.cut_id


def _knowledge_reason(old: StackInputs, new: StackInputs) -> str:
    if old.digest == new.digest:
        if old.domain_facts != new.domain_facts:
            return "facts changed"
        return "notes of files in scope changed"
    if not new.digest:
        return "knowledge switched off"
    return "digest regenerated" if old.digest else "knowledge switched on"


def _role_reason(old: StackInputs, new: StackInputs) -> str:
    if old.epoch != new.epoch:
        return "cache invalidated"
    is_same_model = (old.provider, old.model) == (new.provider, new.model)
    return "role instructions changed" if is_same_model else "model changed"


def _sha(report: LayerReport | None) -> str:
    return report.sha256 if report else ""


def _has_text(old: LayerReport | None, new: LayerReport) -> bool:
    """True if there is anything to differ: a layer that was not there and is empty does not."""
    return bool(new.length_chars or (old and old.length_chars))


def _kept_tokens(old: LayerReport | None, new: LayerReport) -> int:
    """Tokens of the layer that were sent before, at the same place: all of it, or its leading segments."""
    if old is None:
        return 0
    if old.sha256 == new.sha256:
        return new.tokens_est
    return _common(old.segments, new.segments)[1]


def _common(old: Sequence[SegmentReport], new: Sequence[SegmentReport]) -> tuple[int, int]:
    """Number of leading segments that two sequences share, and their tokens."""
    pairs = takewhile(lambda pair: pair[0].sha256 == pair[1].sha256, zip(old, new, strict=False))
    shared = [pair[1].tokens_est for pair in pairs]
    return len(shared), sum(shared)


def _kept_turns(
    old: Mapping[LayerId, LayerReport], new: Mapping[LayerId, LayerReport], stack: AggregateStack
) -> tuple[int, LayerId | None]:
    """Tokens of turns and message that were sent before, and the layer where the runs part."""
    now = (*new[_TURNS].segments, *wire_pieces(new[_USER].segments))
    taken = _recorded_turns(old.get(_TURNS), stack)
    if taken is None:
        before = old[_TURNS].segments if _TURNS in old else ()
        return _common(before, now)[1], _TURNS
    kept = sum(segment.tokens_est for segment in now[:taken])
    message = wire_pieces(old[_USER].segments) if _USER in old else []
    count, tokens = _common(message, now[taken:])
    return kept + tokens, None if count == len(message) else _USER


def _recorded_turns(old: LayerReport | None, stack: AggregateStack) -> int | None:
    """Number of the current turns' pieces that are the recorded ones, None where these are no leading run."""
    if old is None or not old.length_chars:
        return 0
    pieces = stack.layer(_TURNS).pieces
    last = old.segments[-1].key if old.segments else ""
    keys = [piece.key for piece in pieces]
    end = keys.index(last) + 1 if last in keys else 0
    return end if end and digest_of_pieces(pieces[:end]) == old.sha256 else None


def _byte(layer: LayerId | None, stack: AggregateStack, sent: Mapping[LayerId, Layer] | None) -> int | None:
    if layer is None or sent is None or layer not in sent:
        return None
    return first_difference(sent[layer].text, stack.layer(layer).text)


def reasons_of(
    before: StackInputs, now: StackInputs, planned: PlannedRequest | None, stack: AggregateStack
) -> dict[LayerId, str]:
    """Reasons why layers may differ from the last request: their inputs changed, or the view shows them anew."""
    found = prefix_reasons(before, now)
    if planned is None or planned.before is None:
        return found
    return {**base_reasons(planned.before, planned.view, stack.canonical_view), **found}


def sent_layers(
    layers: dict[LayerId, Layer], view: ContextView | None, stack: AggregateStack
) -> dict[LayerId, Layer]:
    """Layers of the last request, those of its view's base as they went out, where they differ now."""
    if view is None or view.base.known is None:
        return layers
    based = (layer for layer in based_layers(view) if layer.sha256 != stack.layer(layer.id).sha256)
    return {**layers, **{layer.id: layer for layer in based}}
