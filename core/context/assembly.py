"""Assembly of stacks: reads the preset's files, builds, measures, compares with what was sent last."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import msgspec
from msgspec.structs import replace

from core.base.errors import FailureKind, ProviderError
from core.base.tokens import recalibrated, scaled
from core.context.difference import as_sent, base_reasons, compare, prefix_change, prefix_reasons
from core.context.file_reader import FileCache, Outliner, read_items
from core.context.memo import StackMemo
from core.context.report import layer_report, recorded
from core.context.stack import AggregateStack, build_stack
from core.context.wire import based_layers
from core.spending.estimates import expected_input, is_far_below
from core.values.cache import RewriteCosts
from core.values.curation import ItemFiles, NamedText
from core.values.provider import ModelProfile, ProviderRequest
from core.values.records import RequestRecord, ViewRecord
from core.values.spec import PREVIEW_ID, CallToBuild, PlannedRequest, StackSpec
from core.values.stack import (
    LAYER_TITLES,
    ContextChange,
    ContextReport,
    LayerId,
    LayerReport,
    StackInputs,
)
from core.values.usage import Usage
from core.values.view import ContextView

SINCE_LAST_START = "changed since the program was last open"
REPLY_RESERVE_TOKENS = 1024
"""Room that is kept free for the reply when a request is judged, at most an eighth of the window."""


class TokenCounter(Protocol):
    """Counts tokens off this thread and remembers them by the text's sha256."""

    def known(self) -> Mapping[str, int]:
        """o200k tokens by sha256, of everything counted so far."""
        ...

    def count(self, texts: Mapping[str, str]) -> None:
        """Count texts by their sha256; returns when done."""
        ...


ReadLayer7 = Callable[[StackSpec, tuple[ItemFiles, ...]], tuple[str, tuple[NamedText, ...], int]]
"""The digest's text and the notes on files in scope, as they are now; both empty where knowledge is off.

With them how often something was taken out of knowledge."""


class Planner(Protocol):
    """Plans how requests are cached; `core.caching.keeper` does."""

    def preview(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> PlannedRequest:
        """Plan of the next request."""
        ...

    def rewrite(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> RewriteCosts:
        """Cost of a change of layers 6 and 7 in the next turn."""
        ...

    def prewarm_request(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> ProviderRequest:
        """Request to read when a discussion opens."""
        ...

    def plan_call(
        self, call: CallToBuild, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> PlannedRequest:
        """The request of a call with its plan, and the records that the log needs to rebuild its view."""
        ...


class Prices(msgspec.Struct, frozen=True):
    """Prices that assembly asks for: of a provider's model at a time, None where unknown."""

    input_usd_per_token: Callable[[str, str, datetime], float | None]
    output_usd_per_token: Callable[[str, str, datetime], float | None] = lambda _provider, _model, _at: None


class Assembly(msgspec.Struct, frozen=True):
    """A stack with what was measured of it. `read_at`: when its files began to be read."""

    spec: StackSpec
    stack: AggregateStack
    items: tuple[ItemFiles, ...]
    layers: tuple[LayerReport, ...]
    profile: ModelProfile
    is_counted: bool
    read_at: datetime | None = None

    @property
    def total_tokens(self) -> int:
        """The whole request, estimated for the model in use."""
        return sum(layer.tokens_est for layer in self.layers)


class BuiltCall(msgspec.Struct, frozen=True):
    """A request that may be sent, with its record for the log."""

    request: ProviderRequest
    record: RequestRecord
    warning: str
    views: tuple[ViewRecord, ...] = ()


@dataclass(slots=True)
class _Desk:
    """Desk of one discussion between assemblies."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    memo: StackMemo = field(default_factory=StackMemo)
    sent: AggregateStack | None = None
    sent_inputs: StackInputs | None = None


class Assembler:
    """Thread-safe. One memo a discussion, one cache of files.

    Args:
        counter: counts tokens; outline: makes outlines; prices: for costs; clock: UTC.
        keeper: plans the caching, None plans nothing.
        knowledge: reads layer 7.
    """

    def __init__(
        self,
        counter: TokenCounter,
        outline: Outliner,
        prices: Prices,
        clock: Callable[[], datetime],
        keeper: Planner | None = None,
        knowledge: ReadLayer7 | None = None,
    ) -> None:
        self._counter = counter
        self._knowledge = knowledge
        self._outline = outline
        self._prices = prices
        self._clock = clock
        self._keeper = keeper
        self._lock = threading.Lock()
        self._files_lock = threading.Lock()
        self._files = FileCache()
        self._desks: dict[str, _Desk] = {}
        self._factors: dict[tuple[str, str], float] = {}

    def inputs(self, spec: StackSpec) -> StackInputs:
        """Everything that the stack is built from, files and knowledge read as they are now."""
        items = self.read(spec)
        return replace(self._known(spec, items).inputs, items=items)

    def _known(self, spec: StackSpec, items: tuple[ItemFiles, ...]) -> StackSpec:
        if self._knowledge is None:
            return spec
        digest, notes, withdrawals = self._knowledge(spec, items)
        inputs = replace(spec.inputs, digest=digest, notes=notes, withdrawals=withdrawals)
        return replace(spec, inputs=inputs)

    def assemble(self, spec: StackSpec) -> Assembly:
        """Read the files and build the stack. Tokens that are not counted yet are estimated."""
        at = self._clock()
        items = self.read(spec)
        spec = self._known(spec, items)
        desk = self._desk(spec.discussion_id)
        with desk.lock:
            stack = build_stack(replace(spec.inputs, items=items), desk.memo)
        return replace(self._measured(spec, stack, items), read_at=at)

    def recount(self, assembly: Assembly) -> Assembly:
        """Count the texts that were only estimated; blocks until they are. O(bytes not yet counted)."""
        known = self._counter.known()
        texts = {s.sha256: s.text for s in assembly.stack.segments if s.sha256 not in known}
        if texts:
            self._counter.count(texts)
        counted = self._measured(assembly.spec, assembly.stack, assembly.items)
        return replace(counted, read_at=assembly.read_at)

    def read(self, spec: StackSpec) -> tuple[ItemFiles, ...]:
        """The preset's files as they are now; what did not change is not read again."""
        with self._files_lock:
            return read_items(
                spec.root,
                spec.preset.items,
                spec.limits,
                spec.allowed_roots,
                cache=self._files,
                outline=self._outline,
            )

    def report(self, assembly: Assembly, planned: PlannedRequest | None = None) -> ContextReport:
        """Report on a stack for the window. `planned`: how its next request would be sent, None as it stands."""
        spec, stack = assembly.spec, assembly.stack
        price = self._price(spec.inputs)
        total, limit = assembly.total_tokens, assembly.profile.context_tokens
        change = self._change(assembly, price, planned)
        too_large = _too_large(assembly)
        return ContextReport(
            layers=assembly.layers,
            texts=tuple(layer.text for layer in stack.layers),
            stable_length_chars=stack.stable_prefix_length,
            total_tokens_est=total,
            limit_tokens=limit,
            cost_usd=None if price is None else price * total,
            change=change,
            problems=(*((too_large,) if too_large else ()), *_problems(assembly.items)),
            is_exact=assembly.is_counted and assembly.profile.family == "gpt",
            fits=not too_large,
            read_at=assembly.read_at,
            output_usd_per_token=self._prices.output_usd_per_token(
                spec.inputs.provider, spec.inputs.model, self._clock()
            ),
        )

    def _change(
        self, assembly: Assembly, price: float | None, planned: PlannedRequest | None
    ) -> ContextChange | None:
        """Change since the last request; by the byte and with its reason where this process sent that one."""
        spec = assembly.spec
        if spec.previous is None:
            return None
        desk = self._desk(spec.discussion_id)
        stack, layers, before = assembly.stack, assembly.layers, None
        if planned is not None and planned.before is not None:
            before = planned.before
            stack = stack.shown(planned.view, PREVIEW_ID)
            layers = self._shown_report(assembly, stack)
        recorded_sha = {layer.layer: layer.sha256 for layer in spec.previous.layers}
        sent = desk.sent.layers if desk.sent is not None else ()
        texts = {
            layer.id: layer.text
            for layer in sent
            if recorded_sha.get(layer.id) == layer.sha256 != stack.layer(layer.id).sha256
        }
        change = compare(
            as_sent(spec.previous.layers, before),
            stack,
            layers,
            previous_texts=_based_texts(texts, before, stack),
            input_usd_per_token=price,
        )
        if change.layer is None or desk.sent_inputs is None:
            return change
        reasons = _reasons(desk.sent_inputs, spec.inputs, planned, assembly.stack)
        return replace(change, reason=reasons.get(change.layer, ""))

    def _shown_report(self, assembly: Assembly, shown: AggregateStack) -> tuple[LayerReport, ...]:
        """The report of a stack as it goes out; what it has in common with the assembly's is taken over."""
        known, factor = self._counter.known(), self._factor(assembly.profile)
        pairs = zip(assembly.layers, assembly.stack.layers, shown.layers, strict=True)
        return tuple(
            report if one is two else layer_report(two, report.offset_chars, known, factor)
            for report, one, two in pairs
        )

    def build(self, call: CallToBuild) -> BuiltCall:
        """Assemble a call, judge whether it fits, and guard the prefix.

        Raises:
            ProviderError: the request is larger than the model's window; names sizes and what to leave out.
        """
        assembly = self.assemble(call.spec)
        if _too_large(assembly):
            assembly = self.recount(assembly)
        if sentence := _too_large(assembly):
            raise ProviderError(
                FailureKind.CONTEXT_TOO_LONG,
                sentence,
                remedy=f"{_what_to_leave_out(assembly)} or choose a model with a larger window. Nothing was sent.",
            )
        spec, stack = assembly.spec, assembly.stack
        planned = self._planned(call, assembly)
        reason, warning = self._guard(spec, stack, planned)
        plan = None if planned is None else planned.plan
        request = self._request(assembly) if planned is None else planned.request
        record = RequestRecord(
            id=call.request_id,
            at=self._clock(),
            message_id=call.user_message_id,
            provider=spec.inputs.provider,
            model=spec.inputs.model,
            effort=spec.effort.value,
            layers=recorded(assembly.layers),
            wire_order=stack.wire_order,
            stable_length_chars=stack.stable_prefix_length,
            prefix_reason=reason,
            cache=() if plan is None else tuple(f"{mark.after_key}@{mark.ttl_s}" for mark in plan.marks),
            expected_read_tokens=None if plan is None else plan.read_tokens,
            estimate=expected_input(plan, assembly.total_tokens),
        )
        return BuiltCall(request, record, warning, () if planned is None else planned.records)

    def plan(self, assembly: Assembly) -> PlannedRequest | None:
        """Plan of the next request's sending and caching, None where nothing plans."""
        if self._keeper is None:
            return None
        spec, profile = assembly.spec, assembly.profile
        return self._keeper.preview(spec, assembly.stack, profile, self._factor(profile))

    def rewrite(self, spec: StackSpec) -> RewriteCosts:
        """Cost of a change of layers 6 and 7 in a warm discussion's next turn, and that of a deletion."""
        if self._keeper is None:
            return RewriteCosts(spec.discussion_id)
        items = self.read(spec)
        spec = replace(self._known(spec, items), previous=None)
        known = build_stack(replace(spec.inputs, turns=(), items=items, user_text="", attachments=()))
        return self._keeper.rewrite(spec, known, spec.profile, self._factor(spec.profile))

    def prewarm_request(self, spec: StackSpec) -> ProviderRequest | None:
        """Request to read when a discussion opens, None where nothing plans or it would not fit."""
        assembly = self.assemble(spec)
        if self._keeper is None or _too_large(assembly):
            return None
        profile = assembly.profile
        return self._keeper.prewarm_request(spec, assembly.stack, profile, self._factor(profile))

    def _planned(self, call: CallToBuild, assembly: Assembly) -> PlannedRequest | None:
        """The request of a call through the view that costs least, None where nothing plans."""
        if self._keeper is None:
            return None
        spec, stack, profile = assembly.spec, assembly.stack, assembly.profile
        return self._keeper.plan_call(replace(call, spec=spec), stack, profile, self._factor(profile))

    def reply_tokens(self, profile: ModelProfile, texts: Iterable[str]) -> int:
        """Tokens of a model's own words, for a reply whose provider did not count it."""
        by_hash = {hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(): text for text in texts}
        self._counter.count(by_hash)
        known = self._counter.known()
        return scaled(sum(known.get(key, 0) for key in by_hash), self._factor(profile))

    @staticmethod
    def _request(assembly: Assembly) -> ProviderRequest:
        spec = assembly.spec
        return assembly.stack.request(spec.effort, spec.max_output_tokens, spec.discussion_id)

    def learn(self, spec: StackSpec, usage: Usage) -> None:
        """Move the model's token factor towards what a call reported, when everything of it was counted."""
        desk = self._desk(spec.discussion_id)
        if usage.input_tokens is None or desk.sent is None:
            return
        known = self._counter.known()
        counts = [known.get(segment.sha256) for segment in desk.sent.segments]
        if any(count is None for count in counts):
            return
        key = (spec.inputs.provider, spec.inputs.model)
        counted = sum(count or 0 for count in counts)
        if is_far_below(usage.input_tokens, counted):
            return  # the report is wrong
        self._factors[key] = recalibrated(self._factor(spec.profile), counted, usage.input_tokens)

    def forget(self, discussion_id: str) -> None:
        """Drop what is kept of a discussion."""
        with self._lock:
            self._desks.pop(discussion_id, None)

    def _measured(self, spec: StackSpec, stack: AggregateStack, items: tuple[ItemFiles, ...]) -> Assembly:
        known = self._counter.known()
        profile = spec.profile
        layers = stack.report(known, self._factor(profile))
        is_counted = all(segment.sha256 in known for segment in stack.segments)
        return Assembly(spec, stack, items, layers, profile, is_counted)

    def _factor(self, profile: ModelProfile) -> float:
        return self._factors.get((profile.provider, profile.id), profile.token_factor)

    def _price(self, inputs: StackInputs) -> float | None:
        return self._prices.input_usd_per_token(inputs.provider, inputs.model, self._clock())

    def _desk(self, discussion_id: str) -> _Desk:
        with self._lock:
            return self._desks.setdefault(discussion_id, _Desk())

    def _guard(
        self, spec: StackSpec, stack: AggregateStack, planned: PlannedRequest | None
    ) -> tuple[str, str]:
        """The recorded reason of a change of the stable prefix as it goes out, and a warning when there is none."""
        desk = self._desk(spec.discussion_id)
        previous, before, inputs = spec.previous, desk.sent, desk.sent_inputs
        desk.sent, desk.sent_inputs = stack, replace(spec.inputs, turns=(), items=())
        if previous is None:
            return "", ""
        if inputs is None:
            reasons: Mapping[LayerId, str] = dict.fromkeys(LayerId, SINCE_LAST_START)
        else:
            reasons = _reasons(inputs, spec.inputs, planned, stack)
        texts = (
            {}
            if before is None
            else {layer: before.layer(layer).text for layer in LayerId if layer.is_stable}
        )
        shown, view = (stack, None) if planned is None else (stack.shown(planned.view), planned.before)
        change = prefix_change(
            as_sent(previous.layers, view), shown, reasons, _based_texts(texts, view, shown)
        )
        if change is None:
            return "", ""
        if change.is_explained:
            return change.reason, ""
        return str(change), f"The stable prefix changed and nothing explains it. {change}"


def _reasons(
    before: StackInputs, now: StackInputs, planned: PlannedRequest | None, stack: AggregateStack
) -> dict[LayerId, str]:
    """Reasons why layers may differ from the last request: their inputs changed, or the view shows them anew."""
    found = prefix_reasons(before, now)
    if planned is None or planned.before is None:
        return found
    return {**base_reasons(planned.before, planned.view, stack.canonical_view), **found}


def _based_texts(
    texts: dict[LayerId, str], view: ContextView | None, stack: AggregateStack
) -> dict[LayerId, str]:
    """Texts of the layers of the last request, those of its view's base as they went out, where they differ now."""
    if view is None or view.base.known is None:
        return texts
    based = (layer for layer in based_layers(view) if layer.sha256 != stack.layer(layer.id).sha256)
    return {**texts, **{layer.id: layer.text for layer in based}}


def _too_large(assembly: Assembly) -> str:
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
    parts = ", ".join(f"{LAYER_TITLES[layer.layer].lower()} {layer.tokens_est:,}" for layer in layers)
    return (
        f"The request has about {total:,} tokens; {assembly.profile.label or assembly.profile.id} takes "
        f"{room:,} beside its reply. Largest: {parts}{_largest_files(assembly)}"
    )


def _largest_layers(assembly: Assembly) -> list[LayerReport]:
    return sorted(assembly.layers, key=lambda layer: -layer.tokens_est)[:2]


def _what_to_leave_out(assembly: Assembly) -> str:
    layer = _largest_layers(assembly)[0].layer
    match layer:
        case LayerId.FILE_SET | LayerId.FILE_DETAILS:
            return "Leave files out of the preset"
        case LayerId.TURNS:
            return "Delete long messages, branch from an earlier one, start a new discussion"
        case LayerId.USER:
            return "Shorten the message or its attachments"
        case _:
            return f"Shorten the {LAYER_TITLES[layer].lower()}"


def _largest_files(assembly: Assembly) -> str:
    details = next((x for x in _largest_layers(assembly) if x.layer is LayerId.FILE_DETAILS), None)
    files = sorted(details.segments, key=lambda segment: -segment.tokens_est)[:3] if details else []
    if not files:
        return "."
    named = ", ".join(f"{segment.key.partition('/')[2]} ({segment.tokens_est:,})" for segment in files)
    return f". Largest files: {named}."


def _problems(items: Iterable[ItemFiles]) -> tuple[str, ...]:
    """Problems of the preset's items that cannot be sent as asked, one sentence each."""
    found: list[str] = []
    for item in items:
        if item.problem is not None:
            found.append(f"{item.item.path}: {item.problem.detail}")
        found.extend(f"{f.path}: {f.problem.detail}" for f in item.files if f.problem is not None)
    return tuple(found)
