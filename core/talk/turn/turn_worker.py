"""Calls to providers, a thread each: assemble, send, journal what arrives, report how it ended."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from msgspec.structs import replace

from core.kernel.errors import FailureKind, ProviderError, SlopError
from core.kernel.language import tr
from core.kernel.machine import trim_heaps
from core.kernel.queue import (
    KeptThreads,
    at_once,
)
from core.kernel.values.messages import Part, ToolCallPart
from core.kernel.values.provider import (
    WHOLE_REPLY,
    ContentsReport,
    Failure,
    ProviderKind,
    ProviderRequest,
    ReasoningDelta,
    StopKind,
    Stopped,
    StreamItem,
    Switching,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.kernel.values.spec import CallToBuild, StackSpec
from core.kernel.values.updates import OperationFailed, Report
from core.kernel.values.usage import Usage
from core.services.providers.failures import stream_with_retry
from core.services.providers.protocol import CancelToken, Provider, ReadBlob
from core.services.providers.refused_fields import RefusedFields, stream_reasoned
from core.services.providers.switches import (
    REASONING,
    SWITCHES,
    last_thought,
    refuses_all,
    stream_switched,
    tools_in_force,
    without_reasoning,
    without_switches,
)
from core.services.providers.thought_tags import parted
from core.services.spending.estimates import CHARS_PER_TOKEN, booked, is_far_below, reply_texts, with_lost
from core.talk.caching.caching_messages import CacheReported
from core.talk.caching.contents import contents_usd, read_of
from core.talk.caching.keeper import CacheKeeper
from core.talk.caching.offers import cache_prices
from core.talk.context.assembly import Assembler, BuiltCall
from core.talk.discussion.reply_journal import Journals, ReplyHead, ReplyJournal
from core.talk.turn.turn_messages import (
    CallEnded,
    CallFailed,
    CallProvider,
    CallRetrying,
    KnowledgeSent,
    RecallSent,
    Remark,
    ReplyArrived,
    RequestBuilt,
    ServerRemarked,
    TurnEffect,
    TurnEvent,
)
from core.talk.turn.turn_step import ArrivingReply

Emit = Callable[[TurnEvent | CacheReported | Report], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

log = logging.getLogger(__name__)


@dataclass
class CallServices:
    """Services of the outside to calls.

    Args:
        provider: the client of one, or ProviderError; refused: parameters that its server has refused.
        read_blob: reader of the attachments that a stack names; price: in USD, None where unknown.
        recovered: the parts of a whole reply, calls that it leaked as text made real ones.
        note_usage, reply_tokens, recounted: as of `Assembler`; begun, resent, keep: as of `CacheKeeper`.
    """

    assembler: Assembler
    journals: Journals
    keeper: CacheKeeper
    provider: Callable[[str], Provider]
    refused: Callable[[str], RefusedFields]
    read_blob: Callable[[StackSpec], ReadBlob]
    price: Callable[[str, str, Usage], float | None]
    recovered: Callable[[ProviderRequest, tuple[Part, ...], StackSpec], tuple[Part, ...]]
    note_usage: Callable[[StackSpec, Usage, Sequence[str]], None]
    reply_tokens: Callable[[StackSpec, Sequence[str]], int]
    recounted: Callable[[StackSpec, Usage], Usage]
    begun: Callable[[str], None]
    resent: Callable[[str, ProviderRequest], None]
    keep: Callable[[str], None]
    clock: Callable[[], datetime]

    def build(self, effect: CallProvider) -> BuiltCall:
        """Read the files and assemble, without what the model refused in an earlier run. Raises ProviderError."""
        spec = effect.spec
        refused = self.refused(spec.inputs.provider).of(spec.inputs.model)
        return self.assembler.build(
            CallToBuild(
                call_id=effect.call_id,
                request_id=effect.request_id,
                user_message_id=effect.user_message_id,
                spec=replace(
                    spec,
                    switching=Switching.NONE if SWITCHES in refused else spec.switching,
                    takes_reasoning=spec.takes_reasoning and REASONING not in refused,
                ),
            )
        )

    def journal(self, effect: CallProvider, expected: Usage, factor: float) -> ReplyJournal:
        """The reply's journal."""
        inputs, known = effect.spec.inputs, None if expected == Usage() else expected
        return self.journals.journal(
            effect.spec.discussion_id,
            effect.call_id,
            lambda: ReplyHead(
                reply_id=effect.reply_id,
                at=self.clock(),
                provider=inputs.provider,
                model=inputs.model,
                version_of=effect.version_of,
                call_id=effect.call_id,
                expected=known,
                factor=factor,
            ),
            beside=effect.reply_id if effect.is_compared else "",
        )

    def ended(
        self,
        call_id: str,
        spec: StackSpec,
        usage: Usage,
        contents: ContentsReport | None,
        paid: Usage,
        *,
        is_kept_later: bool,
    ) -> CacheReported | None:
        """The call is over: what became known of the cache."""
        self.assembler.learn()
        report = self.keeper.ended(call_id, usage, contents, paid, is_kept_later=is_kept_later)
        if report is None:
            return None
        return CacheReported(
            discussion_id=spec.discussion_id,
            state=report.state,
            totals=report.totals,
            miss_reason=report.miss_reason,
            lost=report.lost,
            order=report.order,
            asked=(spec.inputs.provider, spec.inputs.model),
        )


_REMARKS = {REASONING: Remark.REASONING, SWITCHES: Remark.SWITCH}

KEPT_AFTER_S = 1.0
"""Time that a turn with tools has for its next request before what is known of the cache is written: a kill costs a miss."""


class CallWorker:
    """Runs the calls. One thread a call, so that a slow provider holds nobody else up.

    Args:
        services: the outside; emit: the controller's inbox.
        clock: seconds, monotonic, for durations.
    """

    def __init__(
        self, services: CallServices, emit: Emit, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._services = services
        self._emit = emit
        self._clock = clock
        self._lock = threading.Lock()
        self._threads = KeptThreads()
        self._running: dict[str, tuple[CancelToken, threading.Event]] = {}
        self._later: dict[str, threading.Event] = {}
        self._gates: dict[str, threading.Event] = {}
        self._takers: set[tuple[str, str]] = set()
        self._refusers: set[tuple[str, str, str]] = set()

    def begin(self, effect: CallProvider, settled: threading.Event | None = None) -> None:
        """Start a call.

        Args:
            settled: set once all that was asked for before and changes what a model sees is done; nothing of the
                request is read before that.
        """
        cancel = CancelToken()
        if settled is not None:
            cancel.on_cancel(settled.set)
        run = partial(self._run, effect, cancel, settled)
        with self._lock:
            self._gates[effect.call_id] = threading.Event()
            self._running[effect.call_id] = cancel, self._threads.run(f"call-{effect.call_id}", run)

    def send(self, call_id: str) -> None:
        """The step lets a call go: its request is sent."""
        with self._lock:
            gate = self._gates.get(call_id)
        if gate is not None:
            gate.set()

    def _is_let_go(self, call_id: str, cancel: CancelToken) -> bool:
        """Wait until the step lets a call go, or it is stopped."""
        with self._lock:
            gate = self._gates[call_id]
        cancel.on_cancel(gate.set)
        gate.wait()
        return not cancel.is_cancelled

    def _expected_usd(self, effect: CallProvider, expected: Usage) -> float | None:
        """Expected cost of the call with its reply, None where no price is known."""
        if expected == Usage():
            return None
        inputs = effect.spec.inputs
        whole = replace(expected, output_tokens=effect.reply_tokens)
        with suppress(LookupError):
            return self._services.price(inputs.provider, inputs.model, whole)
        return None

    def cancel(self, call_id: str) -> None:
        """Stop a call, if it runs."""
        with self._lock:
            running = self._running.get(call_id)
        if running is not None:
            running[0].cancel()

    def stop(self, timeout_s: float) -> None:
        """Cancel every call and wait until they have reported and their accounts are written, `timeout_s` in all at most."""
        with self._lock:
            running = tuple(self._running.values())
        for cancel, _ in running:
            cancel.cancel()
        end = self._clock() + timeout_s
        for _, over in running:
            over.wait(max(0.0, end - self._clock()))

    def _run(self, effect: CallProvider, cancel: CancelToken, settled: threading.Event | None) -> None:
        """One call, from its request to its account: whatever fails, it is said exactly once how the call ended."""
        reply = ArrivingReply(self._clock)
        try:
            if settled is not None:
                settled.wait()
            event = self._ended(effect, cancel, reply)
        except Exception as error:  # the edge of the worker: what was to be said of the call failed too
            log.exception("call %s has no account", effect.call_id)
            event = CallFailed(
                call_id=effect.call_id,
                failure=_own_failure(error),
                parts=reply.parts(),
                usage=reply.usage or Usage(),
            )
        self._emit(event)
        try:
            self._account(effect, event, reply, cancel)
        except Exception as error:  # the reply is told and kept, whatever becomes of its account
            log.exception("call %s could not be booked in the cache", effect.call_id)
            text = tr("The program could not update the cache record of a discussion")
            self._emit(
                OperationFailed(
                    subject="cache",
                    text=text,
                    detail=tr("{name}: {error}. See the log file.", name=type(error).__name__, error=error),
                )
            )
        finally:
            with self._lock:  # until here the end of the program waits: what was learned is being written
                self._running.pop(effect.call_id, None)
                self._gates.pop(effect.call_id, None)
        if not _goes_on(event):
            trim_heaps()

    def _ended(
        self, effect: CallProvider, cancel: CancelToken, reply: ArrivingReply
    ) -> CallEnded | CallFailed:
        try:
            stopped, request = self._call(effect, cancel, reply)
        except ProviderError as error:
            reply.is_out = error.is_lost
            failure = _as_failure(error)
        except SlopError as error:
            reply.is_out = False
            failure = Failure(
                kind=FailureKind.BAD_REQUEST, what=error.what, remedy=error.remedy, where=error.where
            )
        except Exception as error:  # the edge of the worker: the person must hear of it and keep what arrived
            log.exception("call %s failed", effect.call_id)
            reply.is_out = False
            failure = _own_failure(error)
        else:
            is_whole = stopped.kind is not StopKind.CANCELLED
            usage = self._usage(effect, reply, is_whole=is_whole)
            is_whole = is_whole and not reply.is_outgrown
            self._note_usage(effect, reply, reply_texts(reply.parts()) if is_whole else ())
            stopped, parts = self._with_recovered(effect, request, stopped, reply.parts())
            return CallEnded(call_id=effect.call_id, stopped=stopped, parts=parts, usage=usage)
        usage = self._usage(effect, reply, is_whole=False)
        self._note_usage(effect, reply, ())
        return CallFailed(call_id=effect.call_id, failure=failure, parts=reply.parts(), usage=usage)

    def _with_recovered(
        self, effect: CallProvider, request: ProviderRequest, stopped: Stopped, parts: tuple[Part, ...]
    ) -> tuple[Stopped, tuple[Part, ...]]:
        if stopped.kind not in WHOLE_REPLY:
            return stopped, parts
        parts = parted(parts)
        if not tools_in_force(request):
            return stopped, parts
        try:
            found = self._services.recovered(request, parts, effect.spec)
        except Exception:  # the reply is whole and paid: it stands as it came, with its usage
            log.exception("calls that the reply of %s leaked could not be looked for", effect.call_id)
            return stopped, parts
        has_calls = ToolCallPart in map(type, found)
        return (replace(stopped, kind=StopKind.TOOL_CALLS) if has_calls else stopped), found

    def _call(
        self, effect: CallProvider, cancel: CancelToken, reply: ArrivingReply
    ) -> tuple[Stopped, ProviderRequest]:
        inputs = effect.spec.inputs
        built = self._services.build(effect)
        reply.expected = built.record.estimate or Usage()
        usd = self._expected_usd(effect, reply.expected)
        self._emit(
            RequestBuilt(
                call_id=effect.call_id,
                record=built.record,
                warning=built.warning,
                views=built.views,
                usd=usd,
                unasked=built.unasked,
            )
        )
        if not self._is_let_go(effect.call_id, cancel):
            return Stopped(kind=StopKind.CANCELLED), built.request
        provider = self._services.provider(inputs.provider)
        book = self._services.refused(inputs.provider)
        refused = book.of(inputs.model)
        if refused:
            self._tell_refused(effect, refused)
        journal = self._services.journal(effect, reply.expected, built.reply_factor)

        def retrying(attempt: int, wait_s: float, error: ProviderError) -> None:
            reply.failed(error)
            journal.note_attempt(is_out=False, lost=reply.lost)
            self._emit(
                CallRetrying(call_id=effect.call_id, attempt=attempt, wait_s=wait_s, reason=error.what)
            )

        def wait(wait_s: float) -> bool:
            reply.is_out = not cancel.wait(wait_s)
            if reply.is_out:
                journal.note_attempt(is_out=True, lost=reply.lost)
            return not reply.is_out

        blobs = self._services.read_blob(effect.spec)

        def streamed(request: ProviderRequest) -> Iterator[StreamItem]:
            return stream_with_retry(provider, request, blobs, cancel, retrying, wait=wait)

        answered = built.request

        def remember(name: str, error: ProviderError) -> None:
            nonlocal answered
            reply.is_other = True
            other = without_reasoning if name == REASONING else without_switches
            answered = other(answered)
            self._services.resent(effect.call_id, answered)
            self._remember(effect, book, name, error)

        def switched(request: ProviderRequest) -> Iterator[StreamItem]:
            return stream_switched(request, streamed, partial(remember, SWITCHES))

        items = stream_reasoned(
            built.request, switched, partial(remember, REASONING), is_refused=REASONING in refused
        )
        journal.begin()
        reply.is_out = True
        self._tell_sent(effect, built)
        try:
            for item in items:
                if isinstance(item, Stopped):
                    reply.is_out = item.is_sent
                    for remark in item.remarks:
                        self._emit(ServerRemarked(call_id=effect.call_id, text=remark))
                    return item, built.request
                is_first = not (reply.has_begun or reply.is_other)
                if is_first and without_reasoning(built.request) is not built.request:
                    with self._lock:  # the model takes thinking: what it refuses later are single blocks
                        self._takers.add((inputs.provider, inputs.model))
                self._take(effect.call_id, item, reply, journal)
        except ProviderError as error:
            journal.note_attempt(is_out=error.is_lost, lost=reply.lost)
            raise
        what, remedy = (
            tr("The provider's stream ended without giving a reason"),
            tr("The program kept the part that arrived. Retry."),
        )
        raise ProviderError(FailureKind.STREAM_DROPPED, what, remedy=remedy)

    def _tell_refused(self, effect: CallProvider, refused: frozenset[str]) -> None:
        """Tell what another program has learned of a model since this one read what is known."""
        takes = {
            REASONING: effect.spec.takes_reasoning,
            SWITCHES: effect.spec.switching is not Switching.NONE,
        }
        for name, kind in _REMARKS.items():
            if name in refused and takes[name]:
                self._emit(ServerRemarked(call_id=effect.call_id, text="", kind=kind))

    def _remember(self, effect: CallProvider, book: RefusedFields, name: str, error: ProviderError) -> None:
        """Remember a refusal for the model, or that of thinking for its discussion alone."""
        inputs, chosen = effect.spec.inputs, effect.spec.discussion_id
        if name in book.of(inputs.model):
            return
        kind, through = _REMARKS[name], ""
        who, earlier = (inputs.provider, inputs.model), book.of(inputs.model, chosen)
        with self._lock:
            has_taken = who in self._takers
            is_again = (*who, chosen) in self._refusers or len(earlier) > 1
            if name == REASONING:
                self._refusers.add((*who, chosen))
                self._takers.discard(who)  # its next refusal tells if it takes none any more
        if name == REASONING and not refuses_all(error, is_again=is_again, has_taken=has_taken):
            kind, through = Remark.THOUGHTS, last_thought(inputs.turns)
            book.keep(inputs.model, [through], chosen)
        else:
            book.keep(inputs.model, [name])
        self._emit(ServerRemarked(call_id=effect.call_id, text=error.what, kind=kind, through=through))

    def _tell_sent(self, effect: CallProvider, built: BuiltCall) -> None:
        """Tell what goes out with a request. It is noted by then: whoever takes this in does not hold it up."""
        record, chosen = built.record, effect.spec.discussion_id
        if built.recalled.passages:
            words = effect.spec.inputs.user_text
            self._emit(
                RecallSent(
                    discussion_id=chosen, message_id=record.message_id, words=words, recalled=built.recalled
                )
            )
        if built.knowledge or (built.knowledge is not None and not effect.is_compared):
            self._emit(  # a comparison's run without memory changes nothing of what its discussion holds
                KnowledgeSent(
                    discussion_id=chosen,
                    message_id=record.message_id,
                    model=record.model,
                    text=built.knowledge,
                )
            )

    def _take(self, call_id: str, item: StreamItem, reply: ArrivingReply, journal: ReplyJournal) -> None:
        is_first = not reply.has_begun
        reply.add(item)
        if isinstance(item, TextDelta) and item.text:
            journal.add_text(item.text)
        elif isinstance(item, ReasoningDelta) and (item.text or item.vendor_json):
            journal.add_reasoning(item.text, item.vendor_json)
        elif isinstance(item, ToolCallReady):
            journal.add_call(item.part)
        elif isinstance(item, UsageUpdate):
            journal.add_usage(item.usage)
        if (news := reply.news()) is not None:
            text, reasoning = news
            self._emit(ReplyArrived(call_id=call_id, text=text, reasoning=reasoning))
        if is_first:
            self._services.begun(call_id)

    def _note_usage(self, effect: CallProvider, reply: ArrivingReply, texts: Sequence[str]) -> None:
        if reply.usage is not None and not reply.is_other:
            try:
                self._services.note_usage(effect.spec, reply.usage, texts)
            except Exception:  # it teaches alone: the reply is whole and paid
                log.exception("from what %s used nothing could be learned", effect.call_id)

    def _account(
        self, effect: CallProvider, event: CallEnded | CallFailed, reply: ArrivingReply, cancel: CancelToken
    ) -> None:
        goes_on = _goes_on(event)
        report = self._services.ended(
            effect.call_id,
            effect.spec,
            reply.usage or Usage(),
            reply.contents,
            event.usage,
            is_kept_later=goes_on,
        )
        if report is None:
            return
        self._emit(report)
        if self._is_last(effect.spec.discussion_id, cancel, waits=goes_on) and goes_on:
            self._services.keep(effect.spec.discussion_id)

    def _is_last(self, discussion_id: str, cancel: CancelToken, *, waits: bool) -> bool:
        """Wait for a while with what is to be kept. False as soon as a later call of the discussion keeps it, too."""
        later = threading.Event()
        with self._lock:
            before = self._later.pop(discussion_id, None)
            if waits:
                self._later[discussion_id] = later
        if before is not None:
            before.set()
        if not waits:
            return True
        cancel.on_cancel(later.set)
        later.wait(KEPT_AFTER_S)
        with self._lock:
            is_last = self._later.get(discussion_id) is later
            if is_last:
                del self._later[discussion_id]
        return is_last

    def _usage(self, effect: CallProvider, reply: ArrivingReply, *, is_whole: bool) -> Usage:
        """Usage of the call, with our times and the price: as reported, else estimated.

        Nothing reported, nothing received and nothing on its way: empty.
        """
        inputs, parts = effect.spec.inputs, reply.parts()
        reported, is_whole = reply.usage or Usage(), is_whole and not reply.is_outgrown
        if reported.cache_read_tokens is None and reply.contents is not None and reply.contents.stored:
            # Named in the request: it was read, whatever is said.
            reported = read_of(reported, reply.contents)
        is_billed = reported != Usage() or bool(parts) or reply.is_out
        if reply.usage is None and not is_billed and not reply.lost:
            return Usage()

        def price(usage: Usage) -> float | None:
            with suppress(LookupError):
                return self._services.price(inputs.provider, inputs.model, usage)
            return None

        usage, expected = Usage(), reply.expected
        if reported.input_tokens is None and expected != Usage():
            expected = read_of(self._services.recounted(effect.spec, expected), reply.contents)
        if is_billed:
            texts = reply_texts(parts)
            about = sum(map(len, texts)) // CHARS_PER_TOKEN
            if (
                is_whole
                and reported.output_tokens is not None
                and not is_far_below(reported.output_tokens, about)
            ):
                texts = ()  # what it says stands, and need not be counted
            length = self._services.reply_tokens(effect.spec, texts) if texts else 0
            usage = booked(reported, expected, length, price, is_whole=is_whole)
        usage = with_lost(usage, expected, reply.lost, price)
        cost = usage.cost_usd
        stored = reply.contents.stored if reply.contents is not None else None
        if stored is not None:
            prices = cache_prices(inputs.provider, ProviderKind.GEMINI, inputs.model, stored.created_at)
            cost = _with_rent(cost, usage, contents_usd(prices, reply.contents))
        return replace(
            usage, cost_usd=cost, time_to_first_token_s=reply.first_token_s, duration_s=reply.elapsed_s()
        )


def _with_rent(cost: float | None, usage: Usage, rent: float | None) -> float | None:
    """Usage with its stored prefix, which is paid for also where the turn itself reported nothing."""
    if rent == 0.0:
        return cost
    if cost is None and usage.input_tokens is None and usage.output_tokens is None:
        cost = 0.0
    return None if cost is None or rent is None else cost + rent


def _goes_on(event: CallEnded | CallFailed) -> bool:
    """True if the turn goes on: its reply asks for tools."""
    return isinstance(event, CallEnded) and event.stopped.kind is StopKind.TOOL_CALLS


def _own_failure(error: Exception) -> Failure:
    what = tr(
        "Manual Slop failed while it asked the model ({kind}): {error}",
        kind=type(error).__name__,
        error=error,
    )
    return Failure(
        kind=FailureKind.BAD_REPLY,
        what=what,
        remedy=tr("The program keeps the part that arrived. See the log file."),
    )


def _as_failure(error: ProviderError) -> Failure:
    return Failure(
        kind=error.kind,
        what=error.what,
        remedy=error.remedy,
        where=error.where,
        status=error.status,
        request_id=error.request_id,
        retry_after_s=error.retry_after_s,
    )


WORK = at_once("calls", TurnEffect)
