"""Requests to a provider and its answers, in one shape for all vendors."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import msgspec

from core.kernel.errors import FailureKind
from core.kernel.values.cache import CachePlan
from core.kernel.values.messages import AttachmentPart, ReasoningPart, Role, ToolCallPart, ToolResultPart
from core.kernel.values.stack import Segment, ToolSchema
from core.kernel.values.usage import Usage


class ProviderKind(StrEnum):
    """Kind of client that speaks to a provider."""

    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    OPENAI = "openai"
    COMPATIBLE = "compatible"
    CLAUDE_CODE = "claude_code"
    EMBEDDED = "embedded"


class Effort(StrEnum):
    """Effort that a reasoning model is asked for. `AUTO` leaves it to the model."""

    AUTO = "auto"
    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class Switching(StrEnum):
    """Changes of tools, effort, system prompt and persona that a model takes as additions in a conversation.

    `DECLARED`: tools alone, of those at the head of its requests, are taken away and given back.
    """

    NONE = "none"
    DECLARED = "declared"
    ALL = "all"


class PdfForm(msgspec.Struct, frozen=True):
    """Form in which a model takes a PDF itself.

    Args:
        page_tokens: of each page as a picture; counts_text: its text is counted beside them.
        max_pages, max_bytes: of one file; a larger one goes as its text.
    """

    page_tokens: int
    counts_text: bool
    max_pages: int
    max_bytes: int


class TokenRates(msgspec.Struct, frozen=True):
    """Prices of a model that a person gave, in US dollars for a million tokens.

    Args:
        cache_read_usd: None: as input, the full price.
        cache_write_usd: of what is written to live as long as no other of these says; None: the vendor's usual.
        cache_write_5m_usd, cache_write_1h_usd, cache_write_12h_usd: by lifetime, None: as `cache_write_usd`.
        as_of: the day that they are of, `2026-11-29`.
    """

    input_usd: float
    output_usd: float
    cache_read_usd: float | None = None
    cache_write_usd: float | None = None
    cache_write_5m_usd: float | None = None
    cache_write_1h_usd: float | None = None
    cache_write_12h_usd: float | None = None
    as_of: str = ""


class ModelProfile(msgspec.Struct, frozen=True):
    """Profile of a model. From `models.toml` (packaged, then the person's), then the server's own list.

    Args:
        id: the vendor's name of it; context_tokens and max_output_tokens: None where unknown.
        efforts: the levels it takes, in order, empty where it takes none.
        token_factor: its tokens over o200k's for the same text, the prior before calibration.
        takes_long_system: False puts layer 6 into the first user message.
        family: which identity files it prefers (`claude`, `gpt`, `gemini`, `open`).
        thinking: how its vendor is told how hard to think (`adaptive`, `budget`, `level`), empty: not told.
        thinking_off: the vendor's word for not thinking (`disabled`), empty where it cannot be turned off.
        takes_cache_prompt: its server said that it can be told not to reuse a prefix.
        max_temperature: the highest it takes, None where it takes none at all.
        pdf: how it takes a PDF, None where it reads only the text of one.
        max_picture_bytes, max_picture_px: of one picture's file and its longer side, None where no limit is documented.
        rates: what the person says that it costs, None where they say nothing.
        ends_on: the day on which its vendor ends it, `2026-12-31`, empty where none is said.
    """

    provider: str
    id: str
    label: str = ""
    context_tokens: int | None = None
    max_output_tokens: int | None = None
    efforts: tuple[Effort, ...] = ()
    takes_images: bool = False
    takes_long_system: bool = True
    token_factor: float = 1.0
    family: str = ""
    from_server: bool = False
    thinking: str = ""
    thinking_off: str = ""
    takes_cache_prompt: bool = False
    max_temperature: float | None = None
    pdf: PdfForm | None = None
    max_picture_bytes: int | None = None
    max_picture_px: int | None = None
    rates: TokenRates | None = None
    ends_on: str = ""


class ModelPrice(msgspec.Struct, frozen=True):
    """US dollars for a million tokens, in and out, at the lowest tier.

    Args:
        source: who says so, as a person reads it; as_of: the day that it is of, `2026-11-29`, empty where unknown.
    """

    input_usd: float
    output_usd: float
    source: str = ""
    as_of: str = ""

    @property
    def is_free(self) -> bool:
        """True where nothing is paid."""
        return not self.input_usd and not self.output_usd

    @property
    def origin(self) -> str:
        """Source of the price, and its day."""
        return ", ".join(filter(None, (self.source, self.as_of)))


class PriceSource(msgspec.Struct, frozen=True):
    """Source of the price data that the program goes by.

    Args:
        name: as a person reads it; as_of: the day that they are of; own: models that the person's file prices.
        mark: tells these prices from all others.
    """

    name: str = ""
    as_of: str = ""
    own: int = 0
    mark: str = ""


RequestPart = Segment | AttachmentPart | ReasoningPart | ToolCallPart | ToolResultPart


class RequestMessage(msgspec.Struct, frozen=True, gc=False):
    """One message on the wire. Roles alternate: the stack never renders two user messages in a row."""

    role: Role
    parts: tuple[RequestPart, ...]


class ProviderRequest(msgspec.Struct, frozen=True):
    """A rendered stack in wire order. A client maps it to the vendor's format and adds nothing.

    Args:
        system: layers 1, 4 to 7 (6 where the model takes long system prompts), one segment a block.
        messages: files (9, 10) at the head of the first user message, prior turns, the user's message with
            layer 8 as its last segment.
        max_output_tokens: None for the model's own limit; temperature, top_p: None for the model's own.
        response_schema_json: canonical JSON Schema that the reply must match, empty for free text.
        discussion_id: for caches and slots that are kept for each discussion.
        cache: where to ask for caching; None marks nothing and leaves the vendor's own ways alone.
    """

    provider: str
    model: str
    system: tuple[Segment, ...]
    messages: tuple[RequestMessage, ...]
    tools: tuple[ToolSchema, ...] = ()
    effort: Effort = Effort.AUTO
    max_output_tokens: int | None = None
    response_schema_json: str = ""
    discussion_id: str = ""
    cache: CachePlan | None = None
    temperature: float | None = None
    top_p: float | None = None


class StoredContent(msgspec.Struct, frozen=True):
    """A prefix that Gemini stores for us, and bills by the hour.

    Args:
        name: the vendor's (`cachedContents/…`); prefix_hash and discussion_id: what it was made for, read off its
            display name.
    """

    name: str
    model: str
    prefix_hash: str
    discussion_id: str
    tokens: int
    created_at: datetime
    expires_at: datetime


class ContentsReport(msgspec.Struct, frozen=True):
    """Report on a stored prefix while a turn was sent.

    Args:
        text: for the person, empty where all went as planned.
        stored: what was made, extended or used; is_new: it was made now, its tokens were billed as input.
        lost_name: one that turned out to be gone, or not to fit; the turn was sent without it.
    """

    text: str = ""
    stored: StoredContent | None = None
    is_new: bool = False
    lost_name: str = ""


class TextDelta(msgspec.Struct, frozen=True):
    """More of the reply's text."""

    text: str


class ReasoningDelta(msgspec.Struct, frozen=True):
    """More of the model's reasoning. `vendor_json` comes once, at the end of a block."""

    text: str
    vendor_json: str = ""


class ToolCallReady(msgspec.Struct, frozen=True):
    """A complete tool call."""

    part: ToolCallPart


class UsageUpdate(msgspec.Struct, frozen=True):
    """Usage reported by the vendor so far; replaces the one before. `cost_usd` is filled in by pricing."""

    usage: Usage
    contents: ContentsReport | None = None


class StopKind(StrEnum):
    """Kind of end of a reply that a vendor ended itself. `BROKEN`: it cannot be used; `UNKNOWN`: nobody knows whether it is whole."""

    COMPLETED = "completed"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    TOOL_CALLS = "tool_calls"
    CANCELLED = "cancelled"
    BROKEN = "broken"
    UNKNOWN = "unknown"


WHOLE_REPLY = frozenset({StopKind.COMPLETED, StopKind.TOOL_CALLS})
"""Ends of a reply that is all that there was to come."""

FAILED = "failed"
"""Mark of a call that failed."""

FAILURE_MARKS = frozenset(
    {FAILED, *(kind.value for kind in StopKind if kind not in {*WHOLE_REPLY, StopKind.CANCELLED})}
)
"""Marks of calls whose message waits to be sent again: the call failed, or its reply is not whole."""


class Stopped(msgspec.Struct, frozen=True):
    """The last item of every stream that did not raise. `detail` is the vendor's word for it.

    `is_sent`: the provider may have the request; False where it was stopped before any of its body had left.
    `remarks`: sentences for the person about what the server did with the request, by its client.
    """

    kind: StopKind
    detail: str = ""
    is_sent: bool = True
    remarks: tuple[str, ...] = ()


StreamItem = TextDelta | ReasoningDelta | ToolCallReady | UsageUpdate | Stopped


class Failure(msgspec.Struct, frozen=True):
    """A `ProviderError` as a value, for state and the log."""

    kind: FailureKind
    what: str
    remedy: str = ""
    where: str = ""
    status: int | None = None
    request_id: str = ""
    retry_after_s: float | None = None


class KeySource(StrEnum):
    """Source of a provider's key."""

    NOT_NEEDED = "not_needed"
    ENVIRONMENT = "environment"
    KEYRING = "keyring"
    FILE = "file"
    MISSING = "missing"


class ProviderStatus(msgspec.Struct, frozen=True):
    """Status of a provider: can it be used, and why not."""

    id: str
    kind: ProviderKind
    label: str
    key_source: KeySource
    base_url: str = ""
    is_ready: bool = True
    problem: str = ""
    remedy: str = ""
    """Remedy in Settings; the page of settings itself shows the field instead."""

    @property
    def advice(self) -> str:
        """The problem with its remedy."""
        return f"{self.problem} {self.remedy}".strip()
