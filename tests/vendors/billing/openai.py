"""OpenAI's prompt cache and its bill: a request goes in, usage, diagnostics and a changed cache come out.

cache = OpenAICache(clock, Texts(o200k())) ticket = cache.begin(body, organisation=key, response_id="resp_1")
# may raise Refused ticket.usage(output_tokens=12) # of a response; ticket.chat_usage(12) of a chat completion
cache.first_byte(ticket) # entries become visible; ticket.diagnostics for response.completed
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.vendors.billing.openai_diagnostics import OpenAIDiagnostics
from tests.vendors.billing.openai_grid import Grid, GridHit, piece_tokens
from tests.vendors.billing.openai_render import TTL_S, Piece, bad, pieces, settings, uses_breakpoints
from tests.vendors.billing.tokens import Prefixes, Texts
from tests.vendors.billing.values import Entry, Json, Parts, Write, merge, split

MINIMUM = 1_024
MAX_WRITES = 4
_MESSAGE_ENDS = 20
_FIRST = 2
_VERSION = re.compile(r"^gpt-(\d+)(?:\.(\d+))?")


@dataclass(frozen=True, slots=True)
class OpenAIRules:
    """What the documents leave open, or say in two ways. The defaults are the careful reading.

    Args:
        lookup: explicit breakpoints that are looked at, the latest (the guide says 50, the SDK 80), besides
            the first 2.
        refreshes_unmarked, upgrades_free_marks: as with Anthropic.
        distance: tokens between implicit breakpoints of models before 5.5 ("model-dependent").
        hidden: tokens of the vendor's own, ahead of everything, which older models count when they place
            breakpoints.
        zero_retention: the organisation keeps no data: older models default to `in_memory`.
        diagnosis_s: seconds that a response can be compared with ("a short period").
        seed: of what varies in the old models' memory.
    """

    lookup: int = 50
    refreshes_unmarked: bool = False
    upgrades_free_marks: bool = False
    distance: int = 128
    hidden: int = 0
    zero_retention: bool = False
    diagnosis_s: float = 3600.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class OpenAITicket:
    """A request that was let in.

    Args:
        has_write_details: the model writes for a fee, so that the usage says what was written at which
            lifetime.
        diagnostics: `prompt_cache_diagnostics`, None where none were asked for.
        is_prewarm: there is no output.
    """

    parts: Parts
    start_s: float
    writes: tuple[Write, ...] = ()
    grid: GridHit | None = None
    retention: str = ""
    response: tuple[str, str] = ("", "")
    has_write_details: bool = True
    diagnostics: Json | None = None
    is_prewarm: bool = False

    def usage(self, output_tokens: int = 0, reasoning_tokens: int = 0) -> Json:
        """The `usage` of a response; input is inclusive."""
        parts, output = self.parts, 0 if self.is_prewarm else output_tokens
        details: Json = {"cached_tokens": parts.read, "cache_write_tokens": parts.write + parts.write_long}
        if self.has_write_details:
            by_ttl = {"ttl_30m_tokens": parts.write, "ttl_12h_tokens": parts.write_long}
            details["cache_write_tokens_details"] = by_ttl
        return {
            "input_tokens": parts.total,
            "input_tokens_details": details,
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": 0 if self.is_prewarm else reasoning_tokens},
            "total_tokens": parts.total + output,
        }

    def chat_usage(self, output_tokens: int = 0, reasoning_tokens: int = 0) -> Json:
        """The `usage` of a chat completion."""
        parts = self.parts
        details = {"cached_tokens": parts.read, "cache_write_tokens": parts.write + parts.write_long}
        return {
            "prompt_tokens": parts.total,
            "completion_tokens": output_tokens,
            "total_tokens": parts.total + output_tokens,
            "prompt_tokens_details": details,
            "completion_tokens_details": {"reasoning_tokens": reasoning_tokens},
        }


@dataclass(slots=True)
class _Run:
    pieces: list[Piece]
    prefixes: list[int]
    ends: list[int]

    @property
    def total(self) -> int:
        return self.ends[-1] if self.ends else 0


class OpenAICache:
    """The cache of OpenAI's API. Not safe to call from several threads at once."""

    def __init__(
        self, clock: Callable[[], float], texts: Texts | None = None, *, rules: OpenAIRules | None = None
    ) -> None:
        self.clock = clock
        self.texts = texts or Texts()
        self.rules = rules or OpenAIRules()
        self._prefixes = Prefixes()
        self._entries: dict[int, Entry] = {}
        self._grid = Grid(self.texts, self.rules.seed)
        self._diagnostics = OpenAIDiagnostics(self.rules.diagnosis_s)

    def count_tokens(self, body: Json) -> int:
        """Tokens of the whole input, as `/v1/responses/input_tokens` says."""
        return sum(piece_tokens(piece, self.texts) for piece in pieces(body))

    def begin(self, body: Json, *, organisation: str = "default", response_id: str = "") -> OpenAITicket:
        """Let a request in: look up, refresh what it uses, bill it.

        Args:
            body: JSON of `POST /v1/responses` or `/v1/chat/completions`, left as it is.
            organisation: whose cache; a server may pass the key.
            response_id: of the answer to come, for later diagnostics.

        Raises:
            Refused: 400, in the vendor's shape.
        """
        if generation(str(body["model"])) < (5, 6):
            return self._begin_old(body, organisation)
        options = body.get("prompt_cache_options") or {}
        _check_options(options)
        named = settings(body)
        run = self._render(body, organisation, named)
        start_s = self.clock()
        is_implicit = options.get("mode", "implicit") == "implicit"
        hit = self._look_up(run, start_s, is_implicit=is_implicit)
        boundaries = _boundaries(run, TTL_S[options.get("ttl") or "30m"], is_implicit=is_implicit)
        writes = self._use(run, boundaries, hit, start_s)
        return OpenAITicket(
            _bill(run, boundaries, hit),
            start_s,
            writes,
            response=(organisation, response_id),
            diagnostics=self._diagnose(body, run, named, hit, boundaries, organisation, response_id),
            is_prewarm=bool(options.get("prewarm")),
        )

    def first_byte(self, ticket: OpenAITicket) -> None:
        """The answer begins: what the request wrote can be read from now on."""
        merge(self._entries, ticket.writes, ticket.start_s)
        if ticket.grid is not None:
            self._grid.keep(ticket.grid, ticket.start_s, ticket.retention)
        self._diagnostics.complete(ticket.response)

    def send(self, body: Json, *, organisation: str = "default", response_id: str = "") -> OpenAITicket:
        """`begin` and `first_byte` at once."""
        ticket = self.begin(body, organisation=organisation, response_id=response_id)
        self.first_byte(ticket)
        return ticket

    def live_tokens(self) -> list[int]:
        """Sizes of the entries that live now, ascending; models since 5.6."""
        now_s = self.clock()
        return sorted(entry.tokens for entry in self._entries.values() if entry.expires_s > now_s)

    def _begin_old(self, body: Json, organisation: str) -> OpenAITicket:
        model = str(body["model"])
        if uses_breakpoints(body):
            raise bad(
                f"'prompt_cache_options' and 'prompt_cache_breakpoint' are not supported with {model}.",
                "prompt_cache_options",
                "unsupported_parameter",
            )
        is_newest = generation(model) == (5, 5)
        retention = body.get("prompt_cache_retention")
        if is_newest and retention == "in_memory":
            raise bad(
                f"prompt_cache_retention='in_memory' is not supported with {model}.", "prompt_cache_retention"
            )
        default = "in_memory" if self.rules.zero_retention and not is_newest else "24h"
        start_s, run = self.clock(), pieces(body)
        scope = "\0".join((organisation, *settings(body).values()))
        hit = self._grid.look_up(
            scope, run, 2_048 if is_newest else self.rules.distance, self.rules.hidden, start_s
        )
        total = sum(piece_tokens(piece, self.texts) for piece in run)
        return OpenAITicket(
            Parts(total - hit.tokens, hit.tokens),
            start_s,
            grid=hit,
            retention=retention or default,
            has_write_details=False,
        )

    def _render(self, body: Json, organisation: str, named: dict[str, str]) -> _Run:
        scope = self.texts.setting("scope", "\0".join((organisation, *named.values())))
        prefix, tokens = self._prefixes.extend(Prefixes.ROOT, scope), 0
        run = _Run(pieces(body), [], [])
        for piece in run.pieces:
            if piece.tokens is None:
                number, size = self.texts.block(piece.kind, piece.text)
            else:
                number, size = self.texts.sized(piece.kind, piece.text, piece.tokens)
            prefix = self._prefixes.extend(prefix, number)
            tokens += size
            run.prefixes.append(prefix)
            run.ends.append(tokens)
        return run

    def _alive(self, prefix: int, now_s: float) -> Entry | None:
        entry = self._entries.get(prefix)
        return entry if entry is not None and entry.expires_s > now_s else None

    def _look_up(self, run: _Run, now_s: float, *, is_implicit: bool) -> int:
        for place in sorted(_candidates(run, self.rules.lookup, is_implicit=is_implicit), reverse=True):
            if self._alive(run.prefixes[place], now_s) is not None:
                return place
        return -1

    def _use(
        self, run: _Run, boundaries: list[tuple[int, float]], hit: int, start_s: float
    ) -> tuple[Write, ...]:
        entry = self._alive(run.prefixes[hit], start_s) if hit >= 0 else None
        used = range(hit + 1) if self.rules.refreshes_unmarked else [hit] if hit >= 0 else []
        for place in (*used, *(place for place, _ in boundaries)):
            known = self._alive(run.prefixes[place], start_s)
            if known is not None:
                known.expires_s = max(known.expires_s, start_s + known.ttl_s)
        writes = []
        for place, ttl_s in boundaries:
            if self._alive(run.prefixes[place], start_s) is None:
                is_free = entry is not None and place < hit and not self.rules.upgrades_free_marks
                life_s = min(ttl_s, entry.ttl_s) if is_free and entry is not None else ttl_s
                writes.append(Write(run.prefixes[place], run.ends[place], life_s))
        return tuple(writes)

    def _diagnose(
        self,
        body: Json,
        run: _Run,
        named: dict[str, str],
        hit: int,
        boundaries: list[tuple[int, float]],
        organisation: str,
        response_id: str,
    ) -> Json | None:
        is_compacted = bool(body.get("context_management")) or any(
            piece.kind.startswith("compaction") for piece in run.pieces
        )
        asked = (body.get("prompt_cache_options") or {}).get("comparison_response_id")
        answer = None
        if asked is not None:
            answer = self._diagnostics.compare(
                (organisation, asked),
                named,
                run.prefixes,
                is_compacted=is_compacted,
                read=run.ends[hit] if hit >= 0 else 0,
                now_s=self.clock(),
            )
        end = max([hit, *(place for place, _ in boundaries)])
        if response_id:
            self._diagnostics.remember(
                (organisation, response_id),
                named,
                end=run.prefixes[end] if end >= 0 else 0,
                reusable=run.ends[end] if end >= 0 else 0,
                is_compacted=is_compacted,
                start_s=self.clock(),
            )
        return answer


def generation(model: str) -> tuple[int, int]:
    """The version in a model's name, (0, 0) where there is none: gpt-6.1-sol is (6, 1), gpt-4o is (4, 0)."""
    found = _VERSION.match(model)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def _check_options(options: Json) -> None:
    for name, allowed in (("mode", ("implicit", "explicit")), ("ttl", tuple(TTL_S))):
        value = options.get(name)
        if value is not None and value not in allowed:
            words = " and ".join(f"'{word}'" for word in allowed)
            raise bad(
                f"Invalid value: '{value}'. Supported values are: {words}.", f"prompt_cache_options.{name}"
            )


def _candidates(run: _Run, lookup: int, *, is_implicit: bool) -> set[int]:
    """Where the lookup looks."""
    explicit = [place for place, piece in enumerate(run.pieces) if piece.mark_s]
    found = {*explicit[:_FIRST], *explicit[-lookup:]}
    if is_implicit:
        ends = [place for place, piece in enumerate(run.pieces) if piece.ends]
        found.update(ends[-1 - _MESSAGE_ENDS :])
        found.update(place for place, piece in enumerate(run.pieces) if piece.ends == "developer")
    return {place for place in found if run.ends[place] >= MINIMUM}


def _boundaries(run: _Run, ttl_s: float, *, is_implicit: bool) -> list[tuple[int, float]]:
    """What is written, by place, each with its lifetime: at most four, implicit one included."""
    found = {place: piece.mark_s for place, piece in enumerate(run.pieces) if piece.mark_s}
    implicit = max((place for place, piece in enumerate(run.pieces) if piece.ends), default=-1)
    if is_implicit and implicit >= 0:
        latest = sorted(place for place in found if place != implicit)[-(MAX_WRITES - 1) :]
        found = {implicit: found.get(implicit, ttl_s), **{place: found[place] for place in latest}}
    chosen = sorted(found.items())[-MAX_WRITES:]
    return [(place, life_s) for place, life_s in chosen if run.ends[place] >= MINIMUM]


def _bill(run: _Run, boundaries: list[tuple[int, float]], hit: int) -> Parts:
    read = run.ends[hit] if hit >= 0 else 0
    long_end = max((run.ends[place] for place, life_s in boundaries if life_s == TTL_S["12h"]), default=0)
    end = run.ends[boundaries[-1][0]] if boundaries else 0
    return split(run.total, read, long_end, end)
