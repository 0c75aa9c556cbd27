"""Gemini's caches and its bill: explicit `cachedContents`, implicit caching, and usage for every chunk.

cache = GeminiCache(clock, Texts(o200k()), rules=GeminiRules(implicit_hit=0.5, seed=7)) resource =
cache.stored.create(body, owner=key) # and get, page, patch, delete; may raise Refused ticket =
cache.begin(body, "gemini-3.8-flash", owner=key) # body of generateContent ticket.usage(candidates=9) #
usageMetadata, in each chunk cache.first_byte(ticket)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tests.vendors.billing.gemini_render import prompt
from tests.vendors.billing.gemini_store import CachedContents, full_name, unknown_name
from tests.vendors.billing.tokens import Prefixes, Texts
from tests.vendors.billing.values import Json, Parts, Refused

_BESIDE = (
    "CachedContent can not be used with GenerateContent request setting system_instruction, tools or"
    " tool_config.\n\nProposed fix: move those values to CachedContent from GenerateContent request."
)


@dataclass(frozen=True, slots=True)
class GeminiRules:
    """What the documents leave open.

    Args:
        implicit_hit: probability that a prefix which could be read implicitly is ("no guarantee"); 0 to 1.
        implicit_s: seconds that an implicit prefix is held after its last use (undocumented).
        implicit_block: tokens; an implicit hit is a whole number of blocks, 1 for exact.
        explicit_minimum: smallest cachedContent in tokens, None for the model's (1,024 for flash since 3.5,
            else as implicit).
        serves_v1: cachedContents answer on `v1` as well (not established; the SDK's own tests use `v1beta`).
        is_free_tier: nothing can be stored.
        seed: of the chance of implicit hits.
    """

    implicit_hit: float = 0.5
    implicit_s: float = 300.0
    implicit_block: int = 1
    explicit_minimum: int | None = None
    serves_v1: bool = False
    is_free_tier: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class GeminiTicket:
    """A request that was let in. `cached_name` is empty without an explicit cache."""

    parts: Parts
    start_s: float
    prefixes: tuple[int, ...] = ()
    cached_name: str = ""

    def usage(self, candidates: int = 0, thoughts: int = 0) -> Json:
        """`usageMetadata`: the prompt is inclusive.

        In a stream each chunk has one; its output is what came so far.
        """
        prompt_tokens = self.parts.total
        usage: Json = {"promptTokenCount": prompt_tokens}
        if candidates:
            usage["candidatesTokenCount"] = candidates
        usage["totalTokenCount"] = prompt_tokens + candidates + thoughts
        if self.parts.read:
            usage["cachedContentTokenCount"] = self.parts.read
            usage["cacheTokensDetails"] = [{"modality": "TEXT", "tokenCount": self.parts.read}]
        usage["promptTokensDetails"] = [{"modality": "TEXT", "tokenCount": prompt_tokens}]
        if thoughts:
            usage["thoughtsTokenCount"] = thoughts
        return usage


class GeminiCache:
    """Both caches of the Gemini API. Not safe to call from several threads at once.

    Attributes:
        stored: `cachedContents`. Creating one costs its tokens at the price of input, storing them by the
            hour.
    """

    def __init__(
        self, clock: Callable[[], float], texts: Texts | None = None, *, rules: GeminiRules | None = None
    ) -> None:
        self.clock = clock
        self.texts = texts or Texts()
        self.rules = rules or GeminiRules()
        self.stored = CachedContents(
            clock,
            self.texts,
            minimum=self._explicit_minimum,
            takes_explicit=takes_explicit,
            is_free_tier=self.rules.is_free_tier,
        )
        self._prefixes = Prefixes()
        self._held: dict[int, float] = {}
        self._random = Random(self.rules.seed)

    def count_tokens(self, body: Json) -> int:
        """Tokens of the whole input, as `:countTokens` says of a `generateContentRequest`."""
        return sum(size for _, size in prompt(body, self.texts))

    def check_version(self, version: str, *, is_stored: bool) -> None:
        """Whether a path with this API version exists.

        `is_stored`: it is one of `cachedContents`. Raises Refused: 404.
        """
        if version not in {"v1", "v1beta"} or (
            is_stored and version != "v1beta" and not self.rules.serves_v1
        ):
            raise Refused(404, "NOT_FOUND", "Not Found")

    def begin(
        self, body: Json, model: str, *, owner: str = "default", version: str = "v1beta"
    ) -> GeminiTicket:
        """Let a request of generateContent in, and bill it.

        Raises:
            Refused: 400, 403, with the words of the API.
        """
        start_s = self.clock()
        name = body.get("cachedContent")
        if name:
            if version != "v1beta" and not self.rules.serves_v1:
                raise unknown_name("cachedContent", "generate_content_request")
            return self._begin_explicit(body, full_name(model), str(name), owner, start_s)
        prefix = self._prefixes.extend(Prefixes.ROOT, self.texts.setting("scope", f"{owner} {model}"))
        prefixes, tokens, held = [], 0, 0
        for number, size in prompt(body, self.texts):
            prefix = self._prefixes.extend(prefix, number)
            tokens += size
            prefixes.append(prefix)
            if self._held.get(prefix, 0.0) > start_s:
                held = tokens
        if held < implicit_minimum(model) or self._random.random() >= self.rules.implicit_hit:
            held = 0
        held -= held % self.rules.implicit_block
        return GeminiTicket(Parts(tokens - held, held), start_s, tuple(prefixes))

    def first_byte(self, ticket: GeminiTicket) -> None:
        """The answer begins: its prompt may be read implicitly from now on."""
        for prefix in ticket.prefixes:
            self._held[prefix] = max(self._held.get(prefix, 0.0), ticket.start_s + self.rules.implicit_s)

    def send(self, body: Json, model: str, *, owner: str = "default") -> GeminiTicket:
        """`begin` and `first_byte` at once."""
        ticket = self.begin(body, model, owner=owner)
        self.first_byte(ticket)
        return ticket

    def _begin_explicit(self, body: Json, model: str, name: str, owner: str, start_s: float) -> GeminiTicket:
        if any(body.get(field) for field in ("systemInstruction", "tools", "toolConfig")):
            raise Refused(400, "INVALID_ARGUMENT", _BESIDE)
        cached = self.stored.find(name, owner)
        if cached.model != model:
            raise Refused(
                400,
                "INVALID_ARGUMENT",
                f"Model used by GenerateContent request ({model}) and CachedContent ({cached.model}) has to be"
                " the same.",
            )
        tail = sum(size for _, size in prompt(body, self.texts))
        return GeminiTicket(Parts(tail, cached.tokens), start_s, cached_name=name)

    def _explicit_minimum(self, model: str) -> int:
        if self.rules.explicit_minimum is not None:
            return self.rules.explicit_minimum
        is_new_flash = "flash" in model and _version(model) >= (3, 5)
        return 1_024 if is_new_flash else implicit_minimum(model)


def takes_explicit(model: str) -> bool:
    """Explicit caching is for Gemini 2.5 and 3.

    Source: "Context caching" (2026-10-13): not on 4 Argon and later.
    """
    return (2, 5) <= _version(model) < (4, 0)


def implicit_minimum(model: str) -> int:
    """Tokens. Source: "Context caching", table of implicit caching (2026-10-13)."""
    return 2_048 if _version(model) < (3, 0) else 4_096


def error_body(refused: Refused) -> Json:
    """The body of the answer."""
    return {"error": {"code": refused.status, "message": refused.message, "status": refused.kind}}


def _version(model: str) -> tuple[int, int]:
    number = model.removeprefix("models/").removeprefix("gemini-").split("-")[0]
    major, _, minor = number.partition(".")
    return (int(major), int(minor or 0)) if major.isdecimal() else (99, 0)
