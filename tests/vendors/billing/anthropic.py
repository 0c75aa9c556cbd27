"""Anthropic's prompt cache and its bill: a request goes in, usage, diagnostics and a changed cache come out.

cache = AnthropicCache(clock, Texts(o200k(1.35))) ticket = cache.begin(body, workspace=key,
message_id="msg_1", betas=betas) # may raise Refused ticket.usage(output_tokens=12); ticket.diagnostics;
ticket.is_prewarm # for message_start cache.first_byte(ticket) # entries become visible
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from tests.vendors.billing.anthropic_checks import TTL_S, check, marks_of
from tests.vendors.billing.anthropic_diagnostics import Diagnostics
from tests.vendors.billing.anthropic_models import AnthropicModel, model_of
from tests.vendors.billing.anthropic_render import Rendered, render
from tests.vendors.billing.anthropic_thinking import Bindings
from tests.vendors.billing.tokens import Prefixes, Texts
from tests.vendors.billing.values import Entry, Json, Parts, Write, merge, split

LOOKBACK = 20


@dataclass(frozen=True, slots=True)
class AnthropicRules:
    """What the documents leave open. A plan that pays with the defaults pays with the other readings too.

    Args:
        refreshes_unmarked: a hit also refreshes live entries of shallower prefixes that bear no mark now.
        upgrades_free_marks: a mark before the hit, which costs nothing, may write at a longer lifetime than
            the hit's.
        binds_thinking: check that thinking blocks stand where they were written (signatures come from
            `sign`).
        binds_to_thinking: earlier thinking blocks are part of what a thinking block is bound to.
        diagnosis_s: seconds that a request can be compared with ("limited time").
    """

    refreshes_unmarked: bool = False
    upgrades_free_marks: bool = False
    binds_thinking: bool = True
    binds_to_thinking: bool = True
    diagnosis_s: float = 3600.0


@dataclass(frozen=True, slots=True)
class AnthropicTicket:
    """A request that was let in.

    Args:
        writes: entries that `first_byte` makes visible.
        diagnostics: what stands in the answer's field of that name.
        is_prewarm: `max_tokens` 0: the answer has no content, stop reason `max_tokens` and no output tokens.
        transformations: `input_transformations` of the beta answer.
        signer: gives the signature of thinking that answers this request, from what is shown of it and its tokens where that is
            not all.
    """

    parts: Parts
    start_s: float
    writes: tuple[Write, ...] = ()
    message_id: str = ""
    diagnostics: Json | None = None
    is_prewarm: bool = False
    transformations: tuple[Json, ...] = ()
    signer: Callable[..., str] = field(default=str, repr=False, compare=False)

    def usage(self, output_tokens: int = 0) -> Json:
        """The `usage` of a whole answer, or of `message_start` in a stream (its later ones lack `cache_creation`)."""
        parts = self.parts
        return {
            "input_tokens": parts.plain,
            "cache_read_input_tokens": parts.read,
            "cache_creation_input_tokens": parts.write + parts.write_long,
            "cache_creation": {
                "ephemeral_5m_input_tokens": parts.write,
                "ephemeral_1h_input_tokens": parts.write_long,
            },
            "output_tokens": 0 if self.is_prewarm else output_tokens,
            "service_tier": "standard",
            "inference_geo": "not_available",
        }


class AnthropicCache:
    """The cache of one organisation, as the Claude API keeps it. For one thread at a time.

    Args:
        clock: seconds since the epoch.
        texts: token counts; share one among engines.
        models: rules by model id, the documents' by default.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        texts: Texts | None = None,
        *,
        rules: AnthropicRules | None = None,
        models: Callable[[str], AnthropicModel] = model_of,
    ) -> None:
        self.clock = clock
        self.texts = texts or Texts()
        self.rules = rules or AnthropicRules()
        self.models = models
        self._prefixes = Prefixes()
        self._entries: dict[int, Entry] = {}
        self._bindings = Bindings(self.texts, self._prefixes, self.rules.binds_to_thinking)
        self._diagnostics = Diagnostics(self.rules.diagnosis_s)

    def count_tokens(self, body: Json) -> int:
        """Tokens of the whole input, caching ignored, as `/v1/messages/count_tokens` says."""
        return render(body, self.models(body["model"]), "", self.texts, self._prefixes).total

    def begin(
        self,
        body: Json,
        *,
        workspace: str = "default",
        message_id: str = "",
        betas: frozenset[str] = frozenset(),
    ) -> AnthropicTicket:
        """Let a request in: look up, refresh what it uses, bill it.

        Args:
            body: JSON of `POST /v1/messages`, left as it is.
            workspace: whose cache; a server may pass the key.
            message_id: of the answer to come, for later diagnostics.
            betas: of the header `anthropic-beta`.

        Raises:
            Refused: 400, with the words of the API.
        """
        model = self.models(body["model"])
        check(body, model, betas)
        marks = marks_of(body)
        dropped, transformations = self._check_thinking(body, model)
        run = render(body, model, workspace, self.texts, self._prefixes, dropped)
        start_s = self.clock()
        places = [
            (place, marks[source])
            for place, source in enumerate(run.sources)
            if source in marks and run.ends[place] >= model.minimum
        ]
        hit = self._look_up(run, [place for place, _ in places], start_s)
        writes = self._use(run, places, hit, start_s)
        parts = _bill(run, places, hit)
        return AnthropicTicket(
            parts,
            start_s,
            writes,
            message_id,
            self._diagnostics.compare(
                body, run, places[-1][0] if places else -1, parts.read, start_s, message_id
            ),
            body.get("max_tokens") == 0,
            transformations,
            partial(self._bindings.sign, body),
        )

    def first_byte(self, ticket: AnthropicTicket) -> None:
        """The answer begins: what the request wrote can be read, and has lived since the request's start."""
        merge(self._entries, ticket.writes, ticket.start_s)
        self._diagnostics.complete(ticket.message_id)

    def send(
        self,
        body: Json,
        *,
        workspace: str = "default",
        message_id: str = "",
        betas: frozenset[str] = frozenset(),
    ) -> AnthropicTicket:
        """`begin` and `first_byte` at once, for a caller that has no requests under way at the same time."""
        ticket = self.begin(body, workspace=workspace, message_id=message_id, betas=betas)
        self.first_byte(ticket)
        return ticket

    def live_tokens(self) -> list[int]:
        """Sizes of the entries that live now, ascending; for tests and reports."""
        now_s = self.clock()
        return sorted(entry.tokens for entry in self._entries.values() if entry.expires_s > now_s)

    def _check_thinking(self, body: Json, model: AnthropicModel) -> tuple[frozenset[int], tuple[Json, ...]]:
        if not self.rules.binds_thinking:
            return frozenset(), ()
        return self._bindings.check(body, is_bound=model.is_bound)

    def _alive(self, prefix: int, now_s: float) -> Entry | None:
        entry = self._entries.get(prefix)
        return entry if entry is not None and entry.expires_s > now_s else None

    def _look_up(self, run: Rendered, places: list[int], now_s: float) -> int:
        """The deepest live prefix within 20 positions of a mark, from the last mark back. -1: none."""
        for mark in reversed(places):
            nearest = run.positions[mark] - LOOKBACK
            for place in range(mark, -1, -1):
                if run.positions[place] <= nearest:
                    break
                if self._alive(run.prefixes[place], now_s) is not None:
                    return place
        return -1

    def _use(
        self, run: Rendered, places: list[tuple[int, float]], hit: int, start_s: float
    ) -> tuple[Write, ...]:
        """Refresh what is read or marked, and say what will be written."""
        entry = self._alive(run.prefixes[hit], start_s) if hit >= 0 else None
        if entry is not None:
            entry.expires_s = max(entry.expires_s, start_s + entry.ttl_s)
        if self.rules.refreshes_unmarked:
            for prefix in run.prefixes[: hit + 1]:
                self._refresh(prefix, start_s)
        writes = []
        for place, ttl_s in places:
            if self._refresh(run.prefixes[place], start_s):
                continue
            if entry is not None and place < hit and not self.rules.upgrades_free_marks:
                ttl_s = min(ttl_s, entry.ttl_s)  # noqa: PLW2901 - written for nothing, so not for longer
            writes.append(Write(run.prefixes[place], run.ends[place], ttl_s))
        return tuple(writes)

    def _refresh(self, prefix: int, start_s: float) -> bool:
        entry = self._alive(prefix, start_s)
        if entry is None:
            return False
        entry.expires_s = max(entry.expires_s, start_s + entry.ttl_s)
        return True


def _bill(run: Rendered, places: list[tuple[int, float]], hit: int) -> Parts:
    read = run.ends[hit] if hit >= 0 else 0
    long_end = max((run.ends[place] for place, ttl_s in places if ttl_s == TTL_S["1h"]), default=0)
    end = run.ends[places[-1][0]] if places else 0
    return split(run.total, read, long_end, end)
