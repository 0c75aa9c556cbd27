"""Assembly of stacks: reads the preset's files, builds, measures, compares with what was sent last."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Protocol

import msgspec
from msgspec.structs import replace

from core.kernel.errors import FailureKind, ProviderError
from core.kernel.language import in_english, tr
from core.kernel.stored_texts import retold
from core.kernel.tokens import scaled
from core.kernel.values.cache import RewriteCosts
from core.kernel.values.curation import ItemFiles, NamedText
from core.kernel.values.provider import ModelPrice, ModelProfile, ProviderRequest
from core.kernel.values.records import RequestRecord, ViewRecord
from core.kernel.values.retrieval import Recalled
from core.kernel.values.spec import PREVIEW_ID, CallToBuild, OfferedTools, PlannedRequest, StackSpec
from core.kernel.values.stack import ContextChange, ContextReport, LayerId, LayerReport, Segment, StackInputs
from core.kernel.values.usage import Usage
from core.services.spending.estimates import expected_input, is_far_below
from core.talk.context.assembly_desk import (
    AssemblyDesk,
    HomeScaleStore,
    Recall,
    RecallDesk,
    begun_turn,
    told_inputs,
    told_records,
    turn_inputs,
)
from core.talk.context.difference import (
    SINCE_LAST_START,
    Assembly,
    as_sent,
    basis_of,
    break_since,
    break_text,
    compare,
    effort_break,
    first_break,
    is_as_before,
    is_asked,
    prefix_change,
    problems,
    reasons_of,
    sent_layers,
    too_large,
    warm_until,
    what_to_leave_out,
    with_cause,
)
from core.talk.context.file_reader import FileCache, Outliner, read_items
from core.talk.context.history_turns import running_pieces
from core.talk.context.pieces import AsText, digest
from core.talk.context.report import layer_report, recorded
from core.talk.context.stack import AggregateStack, build_stack
from core.talk.context.token_scale import (
    RequestCount,
    TokenScale,
    recounted,
    request_parts,
    texts_to_count,
    with_reply,
    with_request,
)

# The planner as assembly asks it: `core.talk.caching.keeper` is one, in a room above.


class Planner(Protocol):
    """Plans how requests are cached; `core.talk.caching.keeper` does."""

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

    def is_held(self, discussion_id: str) -> bool:
        """True while its provider may hold something of a discussion."""
        ...

    def recalled_behind(self, discussion_id: str) -> tuple[str, ...]:
        """Passages that stay in a discussion's view behind earlier messages."""
        ...

    def prewarm_request(
        self, spec: StackSpec, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> ProviderRequest | None:
        """Prewarm request for an opened discussion. None: it could cost too much."""
        ...

    def plan_call(
        self, call: CallToBuild, stack: AggregateStack, profile: ModelProfile, factor: float
    ) -> PlannedRequest:
        """The request of a call with its plan, and the records that the log needs to rebuild its view."""
        ...


_DESKS_KEPT = 8
"""Discussions beside the newest whose desks are kept though they only save time: a person goes back and forth between a few."""

_COUNTED_AT_ONCE_CHARS = 400_000
"""Characters of new texts that a call waits for: their count takes some ten milliseconds."""


class TokenCounter(Protocol):
    """Counts tokens off this thread and remembers them by the text's sha256."""

    def known(self) -> Mapping[str, int]:
        """o200k tokens by sha256, of everything counted so far."""
        ...

    def count(self, texts: Mapping[str, str]) -> None:
        """Count texts by their sha256; returns when done."""
        ...


ReadLayer7 = Callable[[StackSpec, tuple[ItemFiles, ...]], tuple[str, str, tuple[NamedText, ...], int]]
"""Digest, facts of the spec's domains and notes on files in scope, empty while knowledge is off; count of withdrawals."""


Prices = Callable[[str, str], ModelPrice | None]
"""Price of a provider's model now, in its lowest tier; None where it is unknown."""


class BuiltCall(msgspec.Struct, frozen=True):
    """A request that may be sent, with its record for the log. `reply_factor`: the model's tokens over o200k's in a reply;
    `knowledge`: layer 7 as it is now, in whatever form it is sent; None where nobody reads it; `recalled`: what goes along; `unasked`: a break of the warm
    prefix that nobody asked for, with its price, empty where there is none.
    """

    request: ProviderRequest
    record: RequestRecord
    warning: str
    views: tuple[ViewRecord, ...] = ()
    reply_factor: float = 1.0
    knowledge: str | None = None
    recalled: Recalled = Recalled()
    unasked: str = ""


def new_texts(stack: AggregateStack, counted: Mapping[str, int]) -> dict[str, str]:
    """Texts that a request says for the first time, by name: counted before it goes out, its cost is told as it is billed.

    Much text stays estimated, for the call would wait: then there is none.
    """
    running = (piece.wire for piece in running_pieces(stack.layer(LayerId.TURNS)))
    new = [one for one in running if one is not None and not isinstance(one, Segment | AsText)]
    texts = texts_to_count((*stack.tools, *stack.segments, *new), counted)
    return texts if sum(map(len, texts.values())) <= _COUNTED_AT_ONCE_CHARS else {}


class _Report(msgspec.Struct, frozen=True):
    """Usage that a provider reported of a request, not learned from yet. `texts`: of the reply, where it ended whole."""

    spec: StackSpec
    request: ProviderRequest | None
    usage: Usage
    texts: tuple[str, ...]


class Assembler:
    """Thread-safe. One memo a discussion, one cache of files.

    Args:
        counter: counts tokens; outline: makes outlines; prices: for costs; clock: UTC.
        keeper: plans the caching, None plans nothing.
        knowledge: reads layer 7; recall: finds what goes along with a message, None nothing.
        scales: keeps the scale of tokens, None keeps it for this run; tools: what a discussion with tools is given.
    """

    def __init__(
        self,
        counter: TokenCounter,
        outline: Outliner,
        prices: Prices,
        clock: Callable[[], datetime],
        keeper: Planner | None = None,
        knowledge: ReadLayer7 | None = None,
        scales: HomeScaleStore | None = None,
        recall: Recall | None = None,
        tools: OfferedTools = lambda _offer: (),
    ) -> None:
        self._tools = tools
        self._counter = counter
        self._knowledge = knowledge
        self._recall = RecallDesk(recall) if keeper is None else RecallDesk(recall, keeper.recalled_behind)
        self._outline = outline
        self._prices = prices
        self._clock = clock
        self._keeper = keeper
        self._lock = threading.Lock()
        self._files_lock = threading.Lock()
        self._files = FileCache()
        self._desks: dict[str, AssemblyDesk] = {}
        self._scales = scales
        self._known_scale: TokenScale | None = None if scales is not None else TokenScale()
        self._learning = threading.Lock()
        self._reports: list[_Report] = []

    def inputs(self, spec: StackSpec) -> StackInputs:
        """Everything that the stack is built from, files and knowledge read as they are now."""
        items = self.read(spec)
        return replace(self._recall.with_recalled(self._known(spec, items))[0].inputs, items=items)

    def _known(self, spec: StackSpec, items: tuple[ItemFiles, ...]) -> StackSpec:
        if spec.tools is not None:
            spec = replace(spec, inputs=replace(spec.inputs, tools=self._tools(spec.tools)))
        if self._knowledge is None:
            return spec
        digest, facts, notes, taken = self._knowledge(spec, items)
        inputs = replace(spec.inputs, digest=digest, domain_facts=facts, notes=notes, withdrawals=taken)
        return replace(spec, inputs=inputs)

    def assemble(self, spec: StackSpec, call: CallToBuild | None = None) -> Assembly:
        """Read the files and build the stack, of a call or of what would be sent. Tokens not counted yet are estimated."""
        at, asked = self._clock(), spec
        items = self.read(spec)
        spec, recalled = self._recall.with_recalled(self._known(spec, items))
        if call is not None:
            spec = replace(spec, inputs=told_inputs(call, spec.inputs))
        desk = self._desk(spec.discussion_id)
        with desk.lock:
            stack = build_stack(replace(spec.inputs, items=items), desk.memo)
            if call is None:
                desk.shown = asked, stack
        return replace(self._measured(spec, stack, items), read_at=at, recalled=recalled)

    def _assemble_call(self, call: CallToBuild) -> tuple[Assembly, tuple[ViewRecord, ...]]:
        desk = self._desk(call.spec.discussion_id)
        inputs = turn_inputs(call, desk.begun)
        if inputs is None:
            assembly = self.assemble(call.spec, call)
            began = assembly.spec.inputs
            self._desk(call.spec.discussion_id).begun = begun_turn(call, replace(began, items=assembly.items))
            return assembly, told_records(call, began, self._clock())
        with desk.lock:
            stack = build_stack(inputs, desk.memo)
        spec = replace(call.spec, inputs=replace(inputs, items=()))
        return replace(self._measured(spec, stack, inputs.items), read_at=self._clock()), ()

    def recount(self, assembly: Assembly) -> Assembly:
        """Count the texts that were only estimated; blocks until they are. O(bytes not yet counted)."""
        known = self._counter.known()
        texts = {s.sha256: s.text for s in assembly.stack.segments if s.sha256 not in known}
        if texts:
            self._counter.count(texts)
        counted = self._measured(assembly.spec, assembly.stack, assembly.items)
        return replace(assembly, layers=counted.layers, is_counted=counted.is_counted)

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
                shown=spec.shown,
            )

    def report(self, assembly: Assembly, planned: PlannedRequest | None = None) -> ContextReport:
        """Report on a stack for the window. `planned`: how its next request would be sent, None as it stands."""
        spec, stack = assembly.spec, assembly.stack
        price = self._prices(spec.inputs.provider, spec.inputs.model)
        total, limit = assembly.total_tokens, assembly.profile.context_tokens
        change = self._change(assembly, planned)
        too_large_text = too_large(assembly)
        return ContextReport(
            layers=assembly.layers,
            texts=tuple(layer.in_parts for layer in stack.layers),
            stable_length_chars=stack.stable_prefix_length,
            total_tokens_est=total,
            limit_tokens=limit,
            cost_usd=None if price is None else price.input_usd / 1e6 * total,
            change=change,
            problems=(*((too_large_text,) if too_large_text else ()), *problems(assembly.items)),
            is_exact=assembly.is_counted and assembly.profile.family == "gpt",
            fits=not too_large_text,
            read_at=assembly.read_at,
            recalled=assembly.recalled,
            output_usd_per_token=None if price is None else price.output_usd / 1e6,
            declared=tuple(tool.name for tool in (stack.tools if planned is None else planned.request.tools)),
        )

    def _change(
        self, assembly: Assembly, planned: PlannedRequest | None, message_id: str = PREVIEW_ID
    ) -> ContextChange | None:
        """Change since the last request; by the byte and with its reason where this process sent that one."""
        spec = assembly.spec
        if spec.previous is None:
            return None
        desk = self._desk(spec.discussion_id)
        stack, layers, before = assembly.stack, assembly.layers, None
        if planned is not None and planned.before is not None:
            before = planned.before
            stack = stack.shown(planned.view, message_id)
            layers = self._shown_report(assembly, stack)
        recorded_sha = {layer.layer: layer.sha256 for layer in spec.previous.layers}
        held = desk.sent.layers if desk.sent is not None else ()
        known = {
            layer.id: layer
            for layer in held
            if recorded_sha.get(layer.id) == layer.sha256 != stack.layer(layer.id).sha256
        }
        change = compare(
            as_sent(spec.previous.layers, before),
            stack,
            layers,
            sent=sent_layers(known, before, stack),
        )
        if change.layer is None or desk.sent_inputs is None:
            return change
        reasons = reasons_of(desk.sent_inputs, spec.inputs, planned, assembly.stack)
        return replace(change, reason=reasons.get(change.layer, ""))

    def _shown_report(self, assembly: Assembly, shown: AggregateStack) -> tuple[LayerReport, ...]:
        """The report of a stack as it goes out; what it has in common with the assembly's is taken over."""
        known, factor = self._counter.known(), self._factor(assembly.spec)
        pairs = zip(assembly.layers, assembly.stack.layers, shown.layers, strict=True)
        return tuple(
            report if one is two else layer_report(two, report.offset_chars, known, factor, assembly.profile)
            for report, one, two in pairs
        )

    def build(self, call: CallToBuild) -> BuiltCall:
        """Assemble a call, judge whether it fits, and guard the prefix.

        Raises:
            ProviderError: the request is larger than the model's window; names sizes and what to leave out.
        """
        assembly, told = self._assemble_call(call)
        if too_large(assembly):
            assembly = self.recount(assembly)
        if sentence := too_large(assembly):
            raise ProviderError(
                FailureKind.CONTEXT_TOO_LONG,
                sentence,
                remedy=tr(
                    "{remedy}, or choose a model with a larger window. Nothing was sent.",
                    remedy=what_to_leave_out(assembly),
                ),
            )
        spec, stack = assembly.spec, assembly.stack
        if new := new_texts(stack, self._counter.known()):
            self._counter.count(new)
        factor = self._factor(spec)
        planned = None
        if self._keeper is not None:  # the view that costs least
            planned = self._keeper.plan_call(replace(call, spec=spec), stack, assembly.profile, factor)
        plan = None if planned is None else planned.plan
        if planned is None:
            request = stack.request(spec.effort, spec.max_output_tokens, spec.discussion_id)
        else:
            request = planned.request
        request = replace(request, temperature=spec.temperature, top_p=spec.top_p)
        broken, unasked = self._broken(replace(call, spec=spec), request, assembly, planned)
        with in_english():  # the log keeps the reason
            reason, warning = self._guard(spec, stack, planned)
        desk = self._desk(spec.discussion_id)
        desk.request, desk.factor = request, factor
        desk.count = desk.counter.count(request, self._counter.known(), spec.profile)
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
            retrieved=spec.inputs.retrieved if spec.inputs.keeps_retrieved else "",
            broken=broken,
        )
        in_reply = self._scale.reply_factor(spec.profile, spec.discussion_id)
        views = (*(() if planned is None else planned.records), *told)
        knowledge = None if self._knowledge is None else assembly.stack.layer(LayerId.KNOWLEDGE).text
        return BuiltCall(
            request=request,
            record=record,
            warning=retold(warning) if warning else "",
            views=views,
            reply_factor=in_reply,
            knowledge=knowledge,
            recalled=assembly.recalled,
            unasked=unasked,
        )

    def _reasons(
        self, spec: StackSpec, stack: AggregateStack, planned: PlannedRequest | None
    ) -> dict[LayerId, str]:
        """Reasons why a request may differ from the last one of this process."""
        inputs = self._desk(spec.discussion_id).sent_inputs
        return {} if inputs is None else reasons_of(inputs, spec.inputs, planned, stack)

    def _broken(
        self,
        call: CallToBuild,
        request: ProviderRequest,
        assembly: Assembly,
        planned: PlannedRequest | None,
    ) -> tuple[str, str]:
        """Break of a request with the one before it in words, for the log; the same where it is warm and nobody asked for
        that: it is held then, and told once. Of one that an earlier process sent the layers are known, and no more.
        """
        spec = call.spec
        desk, now = self._desk(spec.discussion_id), self._clock()
        before, basis, sent_at = desk.request, desk.basis, desk.sent_at
        desk.basis = basis_of(call, spec.inputs, None if planned is None else planned.view)
        desk.sent_at = now
        if before is not None:
            found = first_break(before, request)
        else:
            change = self._change(assembly, planned, call.user_message_id)
            found = None if change is None else break_since(spec, request, change.layer)
        plan = None if planned is None else planned.plan
        is_cold = before is not None and sent_at is not None and warm_until(before, sent_at) <= now
        if found is None and spec.previous is not None and not is_cold:
            found = effort_break(spec.previous.effort, request, plan)
        told, desk.held = desk.held, ""
        if found is None:
            return told, ""
        reasons = self._reasons(spec, assembly.stack, planned)
        found = with_cause(found, reasons)
        is_held = self._keeper is None or self._keeper.is_held(spec.discussion_id)
        is_held = is_held or (plan is not None and plan.read_tokens > 0)
        with in_english():  # the log keeps it
            broken = break_text(found, plan, is_held=is_held) or told
        if before is None or sent_at is None or is_cold:
            return broken, ""
        keeps = spec.caching.appends_changes and spec.caching_enabled
        if not keeps or is_asked(found, basis, desk.basis, reasons):
            return broken, ""
        desk.held = broken
        return broken, broken

    def plan(self, assembly: Assembly) -> PlannedRequest | None:
        """Plan of the next request's sending and caching, None where nothing plans."""
        if self._keeper is None:
            return None
        factor = self._factor(assembly.spec)
        return self._keeper.preview(assembly.spec, assembly.stack, assembly.profile, factor)

    def ask_behind(self, spec: StackSpec, words: str) -> tuple[PlannedRequest, int] | None:
        """Request that asks something behind a discussion's conversation, as it would go on from what a cache holds, with its
        tokens. No log keeps the question. None where nothing plans, or it would not fit.
        """
        inputs = replace(spec.inputs, user_text=words, attachments=())
        assembly = self.assemble(replace(spec, inputs=inputs, recall=None))
        planned = None if too_large(assembly) else self.plan(assembly)
        if planned is None:
            return None
        request = replace(planned.request, temperature=spec.temperature, top_p=spec.top_p)
        return replace(planned, request=request), assembly.total_tokens

    def rewrite(self, spec: StackSpec) -> RewriteCosts:
        """Cost of a change of layers 6 and 7 in a warm discussion's next turn, and that of a deletion."""
        if self._keeper is None:
            return RewriteCosts(discussion_id=spec.discussion_id)
        with self._lock:
            desk = (
                self._desks.get(spec.discussion_id) or AssemblyDesk()
            )  # many are looked at that nobody opened
        shown = desk.shown
        if shown is not None and shown[0] is spec:
            known = shown[1]
        else:
            items = self.read(spec)
            inputs = self._known(spec, items).inputs
            with desk.lock:
                memo = desk.memo.aside()
            known = build_stack(replace(inputs, turns=(), items=items, user_text="", attachments=()), memo)
        return self._keeper.rewrite(spec, known, spec.profile, self._factor(spec))

    def prewarm_request(self, spec: StackSpec) -> ProviderRequest | None:
        """Request to read when a discussion opens, None where nothing plans or it would not fit. Blocks as `learn` does: one
        that is given up is booked by what it was to read.
        """
        self.learn()
        assembly = self.assemble(spec)
        if self._keeper is None or too_large(assembly):
            return None
        return self._keeper.prewarm_request(spec, assembly.stack, assembly.profile, self._factor(spec))

    def reply_tokens(self, spec: StackSpec, texts: Iterable[str]) -> int:
        """Tokens of a model's own words, for a reply whose provider did not count it. Blocks as `learn` does."""
        self.learn()
        return scaled(self._counted(texts), self._scale.reply_factor(spec.profile, spec.discussion_id))

    def _counted(self, texts: Iterable[str]) -> int:
        by_hash = {digest(text): text for text in texts}
        self._counter.count(by_hash)
        known = self._counter.known()
        return sum(known.get(key, 0) for key in by_hash)

    def recounted(self, spec: StackSpec, expected: Usage) -> Usage:
        """The expected input of a discussion's last call, with every text of it counted and all that was reported
        until now learned. Blocks until that is done.
        """
        self.learn()
        desk = self._desk(spec.discussion_id)
        if desk.request is None:
            return expected
        count, factor = self._counted_whole(desk, desk.request, spec.profile), self._factor(spec)
        return recounted(expected, desk.count, count, factor / desk.factor)

    def _counted_whole(
        self, desk: AssemblyDesk, request: ProviderRequest, profile: ModelProfile | None
    ) -> RequestCount:
        known = self._counter.known()
        count = desk.counter.count(request, known, profile)
        if count.is_whole:
            return count
        self._counter.count(texts_to_count(request_parts(request), known))
        return desk.counter.count(request, self._counter.known(), profile)

    def note_usage(self, spec: StackSpec, usage: Usage, texts: Iterable[str] = ()) -> None:
        """Note what a discussion's last call reported, to be learned from. O(1).

        Args:
            usage: as the provider said; texts: of its reply, none where it did not end whole.
        """
        desk = self._desk(spec.discussion_id)
        with self._lock:
            self._reports.append(_Report(spec=spec, request=desk.request, usage=usage, texts=tuple(texts)))

    def learn(self) -> None:
        """Move the models' factors towards what was reported. Blocks until all that was sent is counted, also where
        another call is at it: who estimates after this knows every report that was noted before.
        """
        with self._learning:
            with self._lock:
                reports, self._reports = self._reports, []
            before = self._scale
            for report in reports:
                self._learn(report)
            if self._scales is not None and self._scale is not before:
                self._scales.save(self._scale)

    def _learn(self, report: _Report) -> None:
        spec, usage = report.spec, report.usage
        profile, sent = spec.profile, usage.input_tokens or 0
        written = self._counted(report.texts) if usage.output_tokens else 0
        is_told = report.request is not None and sent > 0
        count = (
            self._counted_whole(self._desk(spec.discussion_id), report.request, profile)
            if is_told and report.request is not None
            else RequestCount(tokens=0)
        )
        with self._lock:
            if not is_far_below(sent, count.tokens + count.images):  # else the report is wrong
                self._known_scale = with_request(self._scale, profile, spec.discussion_id, count, sent)
            self._known_scale = with_reply(self._scale, profile, written, usage.output_tokens or 0)

    def forget(self, discussion_id: str) -> None:
        """Drop what is kept of a discussion."""
        with self._lock:
            self._desks.pop(discussion_id, None)
        self._recall.forget(discussion_id)

    def _measured(self, spec: StackSpec, stack: AggregateStack, items: tuple[ItemFiles, ...]) -> Assembly:
        known, turns = self._counter.known(), self._desk(spec.discussion_id).turns
        layers = stack.report(known, self._factor(spec), spec.profile, turns)
        others = (layer for layer in stack.layers if layer.id is not LayerId.TURNS)
        is_counted = all(segment.sha256 in known for layer in others for segment in layer.segments)
        is_counted = is_counted and turns.is_counted(stack.layer(LayerId.TURNS), known)
        return Assembly(
            spec=spec, stack=stack, items=items, layers=layers, profile=spec.profile, is_counted=is_counted
        )

    @property
    def _scale(self) -> TokenScale:
        """The scale; what was kept of it is read when it is first asked for."""
        if self._known_scale is None:
            self._known_scale = self._scales.load() if self._scales is not None else TokenScale()
        return self._known_scale

    def _factor(self, spec: StackSpec) -> float:
        return self._scale.request_factor(spec.profile, spec.discussion_id)

    def _desk(self, discussion_id: str) -> AssemblyDesk:
        """A discussion's desk. A new one takes the place of the one that was used longest ago, of those that only save time."""
        with self._lock:
            desk = self._desks.pop(discussion_id, None)
            if desk is None:
                desk = AssemblyDesk()
                for name in [name for name, one in self._desks.items() if one.only_saves_time][:-_DESKS_KEPT]:
                    del self._desks[name]
            self._desks[discussion_id] = desk  # the newest last
            return desk

    def _guard(
        self, spec: StackSpec, stack: AggregateStack, planned: PlannedRequest | None
    ) -> tuple[str, str]:
        """The recorded reason of a change of the stable prefix as it goes out, and a warning when there is none."""
        desk = self._desk(spec.discussion_id)
        previous, before, inputs = spec.previous, desk.sent, desk.sent_inputs
        desk.sent, desk.sent_inputs = stack, replace(spec.inputs, turns=(), items=())
        if previous is None or (
            planned is not None and is_as_before(previous.layers, stack, planned.before, planned.view)
        ):
            return "", ""
        if inputs is None:
            reasons: Mapping[LayerId, str] = dict.fromkeys(LayerId, SINCE_LAST_START)
        else:
            reasons = reasons_of(inputs, spec.inputs, planned, stack)
        sent = {} if before is None else {one.id: one for one in before.layers if one.id.is_stable}
        shown, view = (stack, None) if planned is None else (stack.shown(planned.view), planned.before)
        change = prefix_change(as_sent(previous.layers, view), shown, reasons, sent_layers(sent, view, shown))
        if change is None:
            return "", ""
        if change.is_explained:
            return change.reason, ""
        return str(change), tr("The stable prefix changed and nothing explains it. {change}", change=change)
