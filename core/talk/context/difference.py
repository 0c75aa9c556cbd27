"""Two requests held against each other: whether one begins with all of the other, and where they differ, in wire order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import takewhile

import msgspec
from msgspec.structs import replace

from core.kernel.figures import estimated
from core.kernel.frame import one_line
from core.kernel.language import as_sentences, joined, spliced, tr
from core.kernel.structures import shared_run
from core.kernel.values.cache import CachePlan
from core.kernel.values.curation import ItemFiles
from core.kernel.values.messages import AttachmentPart, Message, ReasoningPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import ModelProfile, ProviderRequest, RequestPart
from core.kernel.values.retrieval import Recalled
from core.kernel.values.spec import CallToBuild, PlannedRequest, StackSpec
from core.kernel.values.stack import (
    LAYER_TITLES,
    STABLE_LAYERS,
    ContextChange,
    LayerId,
    LayerReport,
    Segment,
    SegmentReport,
    StackInputs,
    ToolSchema,
)
from core.kernel.values.window import ContextView
from core.services.providers.blocks import RUNNING_RAG, SWITCH, is_passing
from core.talk.context.history_turns import wire_pieces
from core.talk.context.pieces import Layer, digest_of_pieces
from core.talk.context.report import layer_report
from core.talk.context.stack import AggregateStack
from core.talk.context.wire import DELTA, RECALLED_BEHIND, TOLD_BEHIND, based_layers, layer_of

# Difference between the last request and the stack about to be sent, in wire order.

_KNOWN = (LayerId.PROJECT, LayerId.KNOWLEDGE)
_TURNS, _USER = LayerId.TURNS, LayerId.USER

FOLDED = tr("the program moved changes from the end of the request to their usual places")
CUT = tr("the beginning of the discussion was compacted, to make room")
TAKEN = tr("the request used a context that other discussions keep warm")


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
        where = "" if self.byte_offset is None else tr(" at byte {byte_offset}", byte_offset=self.byte_offset)
        why = self.reason or tr("no reason was recorded")
        return tr(
            "Layer {layer} ({LAYER_TITLES}) differs{where}: {why}",
            layer=int(self.layer),
            LAYER_TITLES=LAYER_TITLES[self.layer],
            where=where,
            why=why,
        )


def compare(
    previous: Sequence[LayerReport],
    stack: AggregateStack,
    report: Sequence[LayerReport],
    *,
    sent: Mapping[LayerId, Layer] | None = None,
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
    )


def is_as_before(
    previous: Sequence[LayerReport], stack: AggregateStack, before: ContextView | None, view: ContextView
) -> bool:
    """True if the stable layers are those of the last request and go out through an equal base: most requests.

    Args:
        previous: layers of the last request; before: its view, None where it is not known; view: of this one.
    """
    if before is None or view.base != before.base:
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
            return PrefixChange(
                layer=layer, byte_offset=_byte(layer, stack, sent), reason=reasons.get(layer, "")
            )
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
    yield LayerId.TOOL_FORMAT, tr("tool format changed"), old.tool_format_text != new.tool_format_text
    yield LayerId.TOOLS, tr("tools changed"), old.tools != new.tools
    yield LayerId.SYSTEM_PRESET, tr("system prompt preset changed"), old.system_text != new.system_text
    yield LayerId.PERSONA, tr("persona changed"), old.persona != new.persona
    yield LayerId.PROJECT, tr("project context changed"), old.project != new.project
    knowledge = [(one.digest, one.domain_facts, one.notes) for one in (old, new)]
    yield LayerId.KNOWLEDGE, _knowledge_reason(old, new), knowledge[0] != knowledge[1]
    yield LayerId.TURNS, CUT, old.cut_id != new.cut_id


def _knowledge_reason(old: StackInputs, new: StackInputs) -> str:
    if old.digest == new.digest:
        if old.domain_facts != new.domain_facts:
            return tr("facts changed")
        return tr("notes of files in scope changed")
    if not new.digest:
        return tr("knowledge switched off")
    return tr("digest regenerated") if old.digest else tr("knowledge switched on")


def _role_reason(old: StackInputs, new: StackInputs) -> str:
    if old.epoch != new.epoch:
        return tr("cache invalidated")
    is_same_model = (old.provider, old.model) == (new.provider, new.model)
    return tr("role instructions changed") if is_same_model else tr("model changed")


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


# Measure of an assembled stack: whether it fits its model, what is large in it, and what could not be sent
# as asked.

REPLY_RESERVE_TOKENS = 1024
"""Room that is kept free for the reply when a request is judged, at most an eighth of the window."""


NAMED_CHARS = 120
"""Longest that a file is named in a sentence."""
SOME_CHARS = 250_000
"""Characters counted at a time while somebody may wait for a first report."""


class Assembly(msgspec.Struct, frozen=True):
    """A stack with what was measured of it. `read_at`: when its files began to be read; recalled: for its message."""

    spec: StackSpec
    stack: AggregateStack
    items: tuple[ItemFiles, ...]
    layers: tuple[LayerReport, ...]
    profile: ModelProfile
    is_counted: bool
    read_at: datetime | None = None
    recalled: Recalled = Recalled()

    @property
    def total_tokens(self) -> int:
        """The whole request, estimated for the model in use."""
        return sum([layer.tokens_est for layer in self.layers])


def some_uncounted(assembly: Assembly, known: Mapping[str, int]) -> dict[str, str]:
    """Texts of a stack that were not counted yet, by sha256: a few that are small, or one. Empty: none is left."""
    some: dict[str, str] = {}
    size = 0
    for segment in assembly.stack.segments:
        if segment.sha256 in known or segment.sha256 in some:
            continue
        some[segment.sha256] = segment.text
        size += len(segment.text)
        if size >= SOME_CHARS:
            break
    return some


def too_large(assembly: Assembly) -> str:
    """A sentence with sizes when the request exceeds the model's window, else empty."""
    limit = assembly.profile.context_tokens
    if limit is None:
        return ""
    wanted = assembly.spec.max_output_tokens or REPLY_RESERVE_TOKENS
    room = limit - min(wanted, limit // 8)
    total = assembly.total_tokens
    if total <= room:
        return ""
    layers = _largest_layers(assembly)
    parts = joined(
        ", ", [spliced("{} {:,}", LAYER_TITLES[layer.layer], layer.tokens_est) for layer in layers]
    )
    said = tr(
        "The request is too long: about {total:,} tokens. {model} takes {room:,} besides its reply. The largest layers are: {layers}.",
        total=total,
        model=assembly.profile.label or assembly.profile.id,
        room=room,
        layers=parts,
    )
    return as_sentences(said, _largest_files(assembly))


def _largest_layers(assembly: Assembly) -> list[LayerReport]:
    return sorted(assembly.layers, key=lambda layer: -layer.tokens_est)[:2]


def what_to_leave_out(assembly: Assembly) -> str:
    """Advice on what makes the request smaller, by its largest layer."""
    layer = _largest_layers(assembly)[0].layer
    match layer:
        case LayerId.FILE_SET | LayerId.FILE_DETAILS:
            return tr("Leave files out of the preset")
        case LayerId.TURNS:
            return tr("Delete long messages, branch from an earlier message, start a new discussion")
        case LayerId.TOOL_FORMAT | LayerId.TOOLS:
            return tr("Turn off the tools of this discussion")
        case LayerId.USER:
            return tr("Shorten the message or its attachments")
        case _:
            return tr("Shorten the {LAYER_TITLES}", LAYER_TITLES=LAYER_TITLES[layer].lower())


def _largest_files(assembly: Assembly) -> str:
    details = next((x for x in _largest_layers(assembly) if x.layer is LayerId.FILE_DETAILS), None)
    files = sorted(details.segments, key=lambda segment: -segment.tokens_est)[:3] if details else []
    if not files:
        return ""
    named = ", ".join(
        f"{one_line(segment.key.partition('/')[2], NAMED_CHARS)} ({segment.tokens_est:,})"
        for segment in files
    )
    return tr("The largest files are: {files}.", files=named)


def problems(items: Iterable[ItemFiles]) -> tuple[str, ...]:
    """Problems of the preset's items that cannot be sent as asked, one sentence each."""
    found: list[str] = []
    for item in items:
        if item.problem is not None:
            found.append(f"{one_line(item.item.path, NAMED_CHARS)}: {item.problem.detail}")
        found.extend(
            f"{one_line(f.path, NAMED_CHARS)}: {f.problem.detail}"
            for f in item.files
            if f.problem is not None
        )
    return tuple(found)


# Two requests held against each other: whether the second begins with all of the first, and if not, where
# and why. Pure.

_Part = tuple[str, RequestPart | ToolSchema]
"""A part with the role of what it stands in."""

_MODEL, _EFFORT = tr("the model changed"), tr("the effort or the tools changed")
_SHOWN_BY_VIEW = frozenset(
    {
        LayerId.PROJECT,
        LayerId.KNOWLEDGE,
        LayerId.FILE_SET,
        LayerId.FILE_DETAILS,
        LayerId.TURNS,
        LayerId.METADATA,
    }
)
_ENDS_EARLIER = tr("the request ends earlier than the one before it")
_CHOSEN = frozenset({_MODEL, _EFFORT})
_REASONS = {
    LayerId.TOOLS: tr("the tools changed"),
    LayerId.TURNS: tr("an earlier message was changed, removed or added"),
    LayerId.USER: tr("the last message was changed or removed"),
    LayerId.METADATA: tr("the text that the program adds after your message is at another place now"),
}


_APPENDED = {
    TOLD_BEHIND: tr("the program left out its notes behind an earlier message"),
    RECALLED_BEHIND: tr("the program left out what it had recalled for an earlier message"),
    f"/{RUNNING_RAG}": tr("the program left out what it had recalled for an earlier message"),
    SWITCH: tr("the program moved a change of tools, effort or instructions to the front"),
}
"""Fate of text that the program had added behind a message, by the end of its key."""
_SWITCHED = frozenset({LayerId.TOOLS, LayerId.SYSTEM_PRESET, LayerId.PERSONA})
_UPDATED = frozenset({LayerId.PROJECT, LayerId.KNOWLEDGE, LayerId.FILE_SET, LayerId.FILE_DETAILS})
_ROLES = {"tool": 0, "system": 1}


class PrefixBreak(msgspec.Struct, frozen=True):
    """Place where a request stops to be what the one before it sent.

    Args:
        layer: of the first part that differs; byte_offset: of the first byte that does, from the start of the request's texts.
        reason: in words.
        again: share of what stands behind that byte which the request before held too, 0 to 1; the rest is new.
    """

    layer: LayerId
    byte_offset: int
    reason: str
    again: float = 1.0

    def __str__(self) -> str:
        return tr(
            "Layer {layer} ({LAYER_TITLES}) differs at byte {byte_offset:,}: {reason}",
            layer=int(self.layer),
            LAYER_TITLES=LAYER_TITLES[self.layer],
            byte_offset=self.byte_offset,
            reason=self.reason,
        )


def first_break(before: ProviderRequest, after: ProviderRequest) -> PrefixBreak | None:
    """The first difference from the request before, None where the second extends it.

    What stands at the end of a request for one turn alone (layer 8, what was recalled) is no part of what is extended: no
    cache holds it. O(parts), texts that are the same object or have one digest are not read.
    """
    if (before.provider, before.model) != (after.provider, after.model):
        return PrefixBreak(layer=LayerId.ROLE, byte_offset=0, reason=_MODEL)
    old, new = _lasting(_parts(before)), _parts(after)
    same = next((n for n, (one, two) in enumerate(zip(old, new, strict=False)) if not _is_same(one, two)), -1)
    if same < 0 and len(old) <= len(new):
        return None
    place = min(len(old), len(new)) if same < 0 else same
    part, other = old[place], new[place] if place < len(new) else None
    if other is not None and _rank(other) < _rank(part):
        part = other  # it was put in before what stood there
    inside = first_difference(_text(old[place][1]), _text(other[1])) if other is not None else 0
    return PrefixBreak(
        layer=_layer(part[1]),
        byte_offset=sum([_size(one) for one in old[:place]]) + (inside or 0),
        reason=_ENDS_EARLIER if same < 0 else _reason(before, after, part[1]),
        again=_share_again(old[place:], new[place:]),
    )


def _share_again(old: Sequence[_Part], new: Sequence[_Part]) -> float:
    """Share of the texts behind a break that the request before held, what stands in the place of another text included."""
    held = set(map(_identity, old))
    sizes = [(_size(part), number == 0 or _identity(part) in held) for number, part in enumerate(new)]
    whole = sum([size for size, _ in sizes])
    return sum([size for size, is_held in sizes if is_held]) / whole if whole else 1.0


def _identity(part: _Part) -> RequestPart | ToolSchema | str:
    """Value by which two parts are the same text, wherever they stand."""
    return part[1].sha256 if isinstance(part[1], Segment) else part[1]


def _size(part: _Part) -> int:
    return len(_text(part[1]).encode("utf-8", "surrogatepass"))


def with_cause(found: PrefixBreak, reasons: Mapping[LayerId, str]) -> PrefixBreak:
    """The break with what changed of the inputs as its reason, where that is known.

    Args:
        reasons: of differences of the inputs, by layer. A compaction counts for each layer that a view shows: with it they are
            told anew.
    """
    if found.reason in _CHOSEN or found.reason == _ENDS_EARLIER:
        return found
    is_cut = found.layer in _SHOWN_BY_VIEW and reasons.get(LayerId.TURNS) == CUT
    why = CUT if is_cut else reasons.get(found.layer, "")
    return replace(found, reason=why) if why else found


SINCE_LAST_START = tr("changed since the program was last open")


def break_since(spec: StackSpec, request: ProviderRequest, layer: LayerId | None) -> PrefixBreak | None:
    """The break with the recorded request before, which no process holds any more, at the layer from which on it differs.

    Args:
        spec: with the record of that request; layer: None where it is a prefix of this one.
    """
    previous = spec.previous
    if previous is None:
        return None
    if (previous.provider, previous.model) != (request.provider, request.model):
        return PrefixBreak(layer=LayerId.ROLE, byte_offset=0, reason=_MODEL)
    if layer is None:
        return None
    before = takewhile(lambda part: _layer(part[1]) is not layer, _parts(request))
    offset = sum([len(_text(part).encode("utf-8", "surrogatepass")) for _, part in before])
    return PrefixBreak(layer=layer, byte_offset=offset, reason=SINCE_LAST_START)


def effort_break(before: str, request: ProviderRequest, plan: CachePlan | None) -> PrefixBreak | None:
    """The break of a request that parts from the one before it in its effort alone, at its first message.

    Vendors differ in what a change of effort at the head costs: it is a break where the plan finds nothing to read.

    Args:
        before: effort of the request before.
    """
    if plan is None or plan.read_tokens or before == request.effort.value:
        return None
    head = [part for role, part in _parts(request) if role in {"tool", "system"}]
    offset = sum([len(_text(part).encode("utf-8", "surrogatepass")) for part in head])
    return PrefixBreak(layer=LayerId.TURNS, byte_offset=offset, reason=_EFFORT)


class Basis(msgspec.Struct, frozen=True):
    """Material of a request, as far as it tells why the next one may differ.

    Args:
        turns: what was said, in order; view: through which it was shown, None where nothing plans.
        message_id, text, attachments: the message that it sends behind them; the last two are empty in a round of a turn.
        recalled: what stays behind earlier messages, each with the id of its message.
    """

    turns: tuple[Message, ...] = ()
    view: ContextView | None = None
    message_id: str = ""
    text: str = ""
    attachments: tuple[AttachmentPart, ...] = ()
    recalled: tuple[tuple[str, str], ...] = ()


def basis_of(call: CallToBuild, inputs: StackInputs, view: ContextView | None) -> Basis:
    """Material of a call's request."""
    return Basis(
        turns=inputs.turns,
        view=view,
        message_id=call.user_message_id,
        text=inputs.user_text,
        attachments=inputs.attachments,
        recalled=inputs.kept_retrieved,
    )


def is_asked(found: PrefixBreak, before: Basis, after: Basis, reasons: Mapping[LayerId, str]) -> bool:
    """True if something that a person did, or a plan chose by its price, explains a break; else it is a fault of ours.

    A person changes what was said, the model, how it thinks or what stands before the talk, and is told the price before;
    a plan shows layers 6 to 10 anew, or leaves earlier thinking out. Whatever else parts a request from the one before it
    is paid for without anybody's will.

    Args:
        reasons: of differences of the inputs, by layer.
    """
    if reasons or found.layer is LayerId.USER or found.reason in _CHOSEN:
        return True
    if not _is_said_on(before, after):
        return True
    if found.layer in _SWITCHED and before.view is not None and after.view is not None:
        return before.view.switches != after.view.switches
    if found.layer not in _SHOWN_BY_VIEW:
        return False
    return before.view is None or after.view is None or not _goes_on(before.view, after.view)


def _is_said_on(before: Basis, after: Basis) -> bool:
    """True if all that was said stands where it stood, message by message, the one that was sent last among them."""
    count = len(before.turns)
    if (
        shared_run(before.turns, after.turns) < count
        or after.recalled[: len(before.recalled)] != before.recalled
    ):
        return False
    if not before.text and not before.attachments:
        return True
    sent = (before.message_id, before.text, before.attachments)
    if len(after.turns) == count:
        return (after.message_id, after.text, after.attachments) == sent
    said = after.turns[count]
    return (said.id, said.text, said.attachments) == sent


_UNMARKED_S = 300
"""Least time that a vendor keeps a prefix which it caches by itself."""


def warm_until(request: ProviderRequest, sent_at: datetime) -> datetime:
    """End of the time in which what a request wrote may be held, its last use aside."""
    plan = request.cache
    if plan is None or not plan.is_enabled:
        return sent_at
    lives_s = max((mark.ttl_s for mark in plan.marks), default=_UNMARKED_S)
    return sent_at + timedelta(seconds=lives_s)


def _goes_on(before: ContextView, after: ContextView) -> bool:
    """True if a view shows all that the one before it did, where it stood."""
    pairs = (
        (before.deltas, after.deltas),
        (before.tails, after.tails),
        (before.reasoned, after.reasoned),
        (before.switches, after.switches),
    )
    return before.base == after.base and all(new[: len(old)] == old for old, new in pairs)


def break_text(found: PrefixBreak, plan: CachePlan | None, *, is_held: bool = True) -> str:
    """A break in words, with the plan's reason and what is paid anew.

    Args:
        is_held: the provider may still hold what was sent before; if not, the break itself costs nothing.
    """
    if plan is None:
        return as_sentences(str(found), is_closed=True)
    again = plan.write_tokens + plan.fresh_tokens
    usd = None
    if plan.cost_usd is not None and plan.read_cost_usd is not None:
        usd = plan.cost_usd - plan.read_cost_usd
    if is_held:
        again, usd = round(found.again * again), None if usd is None else found.again * usd
    why = spliced(" {}", plan.sentences[0]) if plan.sentences else ""
    if not again:
        return tr("{found}. The cache holds all of it: nothing is paid again.{why}", found=found, why=why)
    if not is_held:
        return tr(
            "{found}. The cache had already ended, so about {again:,} tokens are sent anew anyway, {usd}.{why}",
            found=found,
            again=again,
            usd=estimated(usd),
            why=why,
        )
    return tr(
        "{found}. You pay again for about {again:,} tokens, {usd}.{why}",
        found=found,
        again=again,
        usd=estimated(usd),
        why=why,
    )


def _reason(before: ProviderRequest, after: ProviderRequest, part: RequestPart | ToolSchema) -> str:
    if isinstance(part, ReasoningPart):
        return tr("the program left out earlier thinking")
    layer = _layer(part)
    if before.effort is not after.effort and layer is LayerId.TOOLS:
        return _EFFORT
    end = part.key[part.key.rfind("/") :] if isinstance(part, Segment) else ""
    if end in _APPENDED:
        return _APPENDED[end]
    told = [one.key for _, one in _parts(before) if isinstance(one, Segment)]
    if layer in _SWITCHED and any(key.endswith(SWITCH) for key in told):
        return _APPENDED[SWITCH]
    if layer in _UPDATED and any(key.startswith(DELTA) for key in told):
        return tr("the program put changes that it had added later in their place")
    return _REASONS.get(layer) or tr("the layer {layer} changed", layer=LAYER_TITLES[layer])


def _parts(request: ProviderRequest) -> list[_Part]:
    head: list[_Part] = [("tool", tool) for tool in request.tools]
    head += [("system", segment) for segment in request.system]
    return head + [(message.role.value, part) for message in request.messages for part in message.parts]


def _lasting(parts: Sequence[_Part]) -> Sequence[_Part]:
    end = len(parts)
    while end and is_passing(parts[end - 1][1]):
        end -= 1
    return parts[:end]


def _rank(part: _Part) -> tuple[int, int]:
    """Place of a part of the head among those of other layers, by role and layer; all of the talk stands behind them."""
    role, one = part
    is_base = isinstance(one, Segment) and one.layer in _UPDATED and one.key == str(int(one.layer))
    if isinstance(one, Segment) and (role == "system" or is_base):
        return _ROLES.get(role, len(_ROLES)), one.layer
    return (_ROLES[role] if isinstance(one, ToolSchema) else len(_ROLES), len(LayerId))


def _is_same(one: _Part, two: _Part) -> bool:
    first, second = one[1], two[1]
    if one[0] != two[0]:
        return False
    if isinstance(first, Segment) and isinstance(second, Segment):
        return first.sha256 == second.sha256
    return first is second or first == second


def _layer(part: RequestPart | ToolSchema) -> LayerId:
    match part:
        case Segment(layer=layer, key=key):
            return LayerId.METADATA if key.endswith(TOLD_BEHIND) else layer
        case ToolSchema():
            return LayerId.TOOLS
        case _:
            return LayerId.TURNS


def _text(part: RequestPart | ToolSchema) -> str:
    match part:
        case Segment(text=text):
            return text
        case ReasoningPart(text, vendor_json):
            return text + vendor_json
        case ToolCallPart(call_id, name, arguments):
            return f"{call_id}{name}{arguments}"
        case ToolResultPart(call_id, text):
            return call_id + text
        case AttachmentPart():
            return part.sha256
        case ToolSchema(name, description, parameters):
            return f"{name}{description}{parameters}"
