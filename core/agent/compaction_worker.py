"""The compaction worker: measures a discussion, reads the journal, plans the cut, and asks a model for the summary."""

from __future__ import annotations

import hashlib
import logging
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import assert_never

import msgspec
from msgspec.structs import replace

from core.agent.agent_messages import (
    CompactionEvent,
    PlanView,
    StopSummary,
    SummariseView,
    ViewPlanned,
    ViewSummarised,
)
from core.agent.cut_plan import (
    SUMMARY_TOKENS,
    CutRequest,
    is_read_cheaper,
    plan_cut,
    prompt_behind,
    run_discussion_compression,
)
from core.agent.journal_text import JournalEntry, parsed, tokens_of
from core.kernel import paths
from core.kernel.errors import FailureKind, ProviderError, SlopError
from core.kernel.frame import clean
from core.kernel.language import as_sentences, tr
from core.kernel.opener import open_file
from core.kernel.queue import at_once, queued
from core.kernel.values.messages import Role
from core.kernel.values.provider import WHOLE_REPLY, ProviderRequest, RequestMessage, StopKind
from core.kernel.values.spec import StackSpec
from core.kernel.values.stack import LayerId, Segment
from core.kernel.values.updates import Report
from core.kernel.values.usage import Usage, UsageKind, add_usage
from core.kernel.values.window import CutPlan, CutReason
from core.services.providers.http import CallSpent, no_attachments, whole_reply
from core.services.providers.protocol import CancelToken, Provider, ReadBlob
from core.services.spending.estimates import booked, expected_input, with_lost
from core.services.spending.limits import upkeep_key
from core.talk.context.assembly import Assembler
from core.talk.context.difference import Assembly
from core.talk.context.token_scale import budget_of, window_of

MAX_JOURNAL_BYTES = 8_000_000
"""Bytes read from the journal's end; an entry that begins before them is passed over."""

MAX_SUMMARY_CHARS = 64_000
"""A reply that is longer was led astray by its text."""

_PIECE_PERCENT, _MOST_PIECE_TOKENS = 40, 60_000
"""Input of one call of a summary: its share of the window, and its most tokens."""

Emit = Callable[[CompactionEvent | Report], None]
"""Puts an event into the controller's inbox. Thread-safe, returns at once."""

log = logging.getLogger(__name__)


class _WarmSummary(msgspec.Struct, frozen=True):
    """A summary's request that goes on from what a cache holds, for one job. `sent`: its input, as it is expected to be billed."""

    job: str
    request: ProviderRequest
    sent: Usage
    read_blob: ReadBlob


class CompactionHandler:
    """Carries out the effects of compaction, one at a time.

    Args:
        home: whose journal is read; measures: builds and counts; client: a provider's, raises ProviderError for none.
        price: of a call in US dollars, None where unknown; emit: the inbox.
        note_out: notes by its key that a call which reserved is about to leave, False where it reserves nothing; a kill
            loses no cost then.
        read_blob: reader of the attachments that a stack names.
    """

    def __init__(
        self,
        home: Path,
        measures: Assembler,
        client: Callable[[str], Provider],
        price: Callable[[str, str, Usage], float | None],
        emit: Emit,
        note_out: Callable[[str], bool],
        read_blob: Callable[[StackSpec], ReadBlob] = lambda _spec: no_attachments,
    ) -> None:
        self._home = home
        self._measures = measures
        self._client = client
        self._price = price
        self._emit = emit
        self._note_out = note_out
        self._read_blob = read_blob
        self._behind: dict[str, _WarmSummary] = {}
        self._lock = threading.Lock()
        self._stopped: set[str] = set()
        self._tokens: dict[str, CancelToken] = {}
        self._is_closed = False

    def handle(self, effect: PlanView | SummariseView) -> None:
        """Carry out one effect; whatever fails, who waits for it hears of it."""
        match effect:
            case PlanView():
                self._emit(self._planned(effect))
            case SummariseView():
                self._emit(self._summarised(effect))
            case _:
                assert_never(effect)

    def stop(self, effect: StopSummary) -> None:
        """Stop a summary, from another thread, also one that has not begun."""
        with self._lock:
            self._stopped.add(effect.job)
            token = self._tokens.get(effect.job)
        if token is not None:
            token.cancel()

    def close(self) -> None:
        """Stop what runs and begin nothing more: the program ends."""
        with self._lock:
            self._is_closed = True
            tokens = tuple(self._tokens.values())
        for token in tokens:
            token.cancel()

    def _planned(self, effect: PlanView) -> ViewPlanned:
        try:
            plan = self._plan(effect)
        except SlopError as error:
            problem = as_sentences(error.what, error.remedy)
            return ViewPlanned(
                discussion_id=effect.discussion_id, job=effect.job, plan=CutPlan(problem=problem)
            )
        except Exception as error:  # the edge of the worker: the call that waits must hear of it
            log.exception("the view of %s could not be planned", effect.discussion_id)
            problem = tr(
                "The program could not plan the compaction ({name}). See the log file.",
                name=type(error).__name__,
            )
            return ViewPlanned(
                discussion_id=effect.discussion_id, job=effect.job, plan=CutPlan(problem=problem)
            )
        usd = self._summary_usd(effect, plan) if plan.to_summarise else None
        return ViewPlanned(discussion_id=effect.discussion_id, job=effect.job, plan=plan, usd=usd)

    def _summary_usd(self, effect: PlanView, plan: CutPlan) -> float | None:
        """Expected cost of a summary: asked for behind the conversation where that is read for less, and by itself, since the
        first may fail.
        """
        inputs, written = effect.spec.inputs, SUMMARY_TOKENS * len(plan.to_summarise)
        expected = Usage(input_tokens=max(0, plan.summary_tokens - written), output_tokens=written)
        usd = self._usd(inputs.provider, inputs.model, expected)
        behind = self._asked_behind(effect, plan)
        self._behind.pop(effect.discussion_id, None)
        if behind is None or usd is None:
            return usd
        self._behind[effect.discussion_id] = behind
        whole = replace(behind.sent, output_tokens=2 * SUMMARY_TOKENS)
        return usd + (self._usd(inputs.provider, inputs.model, whole) or 0.0)

    def _asked_behind(self, effect: PlanView, plan: CutPlan) -> _WarmSummary | None:
        """The summary's request as the conversation goes on to it; None where that is not held, or read for more."""
        kept = next((m for m in effect.messages if plan.cut is not None and m.id == plan.cut.begins_at), None)
        if (
            kept is None
            or effect.is_running
            or effect.why is CutReason.OVERFLOW
            or not effect.template.strip()
        ):
            return None
        asked = self._measures.ask_behind(effect.spec, prompt_behind(effect.template, kept))
        if asked is None or not is_read_cheaper(asked[0].plan, plan.summary_tokens):
            return None
        (planned, tokens), limit = asked, effect.spec.profile.context_tokens
        if limit is not None and tokens + 2 * SUMMARY_TOKENS > limit:
            return None
        return _WarmSummary(
            job=effect.job,
            request=planned.request,
            sent=expected_input(planned.plan, tokens),
            read_blob=self._read_blob(effect.spec),
        )

    def _plan(self, effect: PlanView) -> CutPlan:
        assembly = self._measures.recount(self._measures.assemble(effect.spec))
        sizes = turn_sizes(assembly)
        fixed = assembly.total_tokens - sum(
            layer.tokens_est for layer in assembly.layers if layer.layer is LayerId.TURNS
        )
        window, is_assumed = window_of(assembly.profile.context_tokens)
        if effect.why is CutReason.OVERFLOW:  # it was longer than whatever the window is
            window, is_assumed = min(window, assembly.total_tokens), False
        budget = budget_of(None if is_assumed else window, fixed)
        return plan_cut(
            CutRequest(
                messages=effect.messages,
                sizes=sizes,
                budget=budget,
                entries=self._journal(),
                discussion_id=effect.discussion_id,
                now=effect.at,
                sources=effect.sources,
                previous=effect.previous,
                why=effect.why,
                is_running=effect.is_running,
                attempt=effect.attempt,
                gone=effect.gone,
                keeps_seals=effect.keeps_seals,
                piece_tokens=min(window * _PIECE_PERCENT // 100, _MOST_PIECE_TOKENS),
            )
        )

    def _journal(self) -> tuple[JournalEntry, ...]:
        """Entries of the journal. Empty without a journal, and if it cannot be read: the log file then names the error."""
        try:
            with open_file(self._home / paths.JOURNAL_FILE) as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - MAX_JOURNAL_BYTES))
                data = file.read(MAX_JOURNAL_BYTES)
        except FileNotFoundError:
            return ()
        except (OSError, SlopError) as error:
            log.warning("the journal cannot be read: %s", error)
            return ()
        return parsed(data.decode("utf-8", "replace"))

    def _summarised(self, effect: SummariseView) -> ViewSummarised:
        usage = Usage()
        token = CancelToken()
        with self._lock:
            self._tokens[effect.job] = token
            if self._is_closed or effect.job in self._stopped:
                token.cancel()

        def send(request: ProviderRequest, sent: Usage, read_blob: ReadBlob | None = None) -> str:
            nonlocal usage
            if token.is_cancelled:
                raise SlopError(tr("The summary was stopped"))
            client = self._client(effect.provider)
            if not self._note_out(upkeep_key(UsageKind.COMPACTION, effect.record_id)):
                raise SlopError(tr("The program could not note on disk that it asks for a summary"))

            def spent(call: CallSpent) -> None:
                nonlocal usage
                usage = add_usage(usage, self._booked(effect, sent, call))

            reply = whole_reply(
                client, request, token, spent, most_chars=MAX_SUMMARY_CHARS, read_blob=read_blob
            )
            if reply.stop is StopKind.CANCELLED:
                raise SlopError(tr("The summary was stopped"))
            if reply.stop not in WHOLE_REPLY:  # half a summary would stand for all that left the view
                raise ProviderError(
                    FailureKind.BAD_REPLY, tr("The summary is incomplete: {reason}", reason=reply.told)
                )
            return reply.text

        def ask(prompt: str) -> str:
            return send(_request(effect, prompt), Usage(input_tokens=tokens_of(prompt)))

        behind = self._behind.pop(effect.discussion_id, None)

        def asked() -> str:
            """The summary, asked for behind the conversation; where that brings none, by itself."""
            if behind is not None and behind.job == effect.job:
                try:
                    text = clean(send(behind.request, behind.sent, behind.read_blob)).strip()
                except (
                    ProviderError
                ) as error:  # a tool was called, or the vendor refuses what was sent before
                    log.warning("a summary is asked for by itself: %s", error.what)
                else:
                    if text:
                        return text
            return run_discussion_compression(
                plan.to_summarise, effect.name, effect.template, ask, earlier=plan.earlier_summary
            )

        plan, text, problem = effect.plan, "", ""
        try:
            text = asked()
        except SlopError as error:
            problem = as_sentences(error.what, error.remedy)
        except Exception as error:  # the edge of the worker: the call that waits must hear of it
            log.exception("the summary of %s failed", effect.discussion_id)
            problem = tr("The program failed: {name}. See the log file.", name=type(error).__name__)
        finally:
            with self._lock:
                self._tokens.pop(effect.job, None)
                self._stopped.discard(effect.job)
        return ViewSummarised(
            discussion_id=effect.discussion_id,
            job=effect.job,
            record_id=effect.record_id,
            text=text,
            problem=problem,
            usage=usage,
        )

    def _booked(self, effect: SummariseView, sent: Usage, call: CallSpent) -> Usage:
        """Usage of one call as it goes into the books; empty where none is billed. `sent`: its input, as it was expected."""

        def price(used: Usage) -> float | None:
            return self._usd(effect.provider, effect.model, used)

        usage = call.reported
        if call.is_billed:
            usage = booked(usage, sent, sum(map(tokens_of, call.texts)), price, is_whole=call.is_whole)
        usage = with_lost(usage, sent, call.lost, price)
        return replace(usage, request_id="", miss_reason="")

    def _usd(self, provider: str, model: str, usage: Usage) -> float | None:
        if usage.cost_usd is not None:
            return usage.cost_usd
        with suppress(LookupError):
            return self._price(provider, model, usage)
        return None


def turn_sizes(assembly: Assembly) -> Mapping[str, int]:
    """Tokens of each message of layer 11, by its id, as a model counts them."""
    ids = {turn.id for turn in assembly.spec.inputs.turns}
    sizes: dict[str, int] = {}
    for layer in assembly.layers:
        for segment in layer.segments if layer.layer is LayerId.TURNS else ():
            name = segment.key.partition("/")[2]
            name = name if name in ids else name.rpartition("/")[0]
            sizes[name] = sizes.get(name, 0) + segment.tokens_est
    return sizes


def _request(effect: SummariseView, prompt: str) -> ProviderRequest:
    sha256 = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()
    segment = Segment(layer=LayerId.USER, key="12/compaction", text=prompt, sha256=sha256)
    return ProviderRequest(
        provider=effect.provider,
        model=effect.model,
        system=(),
        messages=(RequestMessage(Role.USER, (segment,)),),
        max_output_tokens=SUMMARY_TOKENS * 2,
    )


WORK = queued("compaction", PlanView | SummariseView)
STOP_WORK = at_once("compaction stop", StopSummary)
