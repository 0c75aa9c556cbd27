"""The typed door: whatever a vendor sent becomes a value of ours here, or is refused; behind it types hold."""

from __future__ import annotations

import hashlib
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import islice

from msgspec.structs import replace

from core.kernel.codecs import without_half_characters
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.frame import clean, one_line
from core.kernel.language import english, tr
from core.kernel.patterns import late
from core.kernel.values.messages import ToolCallPart, ToolResultPart
from core.kernel.values.provider import (
    ModelProfile,
    ReasoningDelta,
    RequestMessage,
    Stopped,
    StoredContent,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.kernel.values.stack import Segment
from core.kernel.values.usage import Usage

# Usage of a call as its provider says, in figures that can be trusted: one rule for every client.

MOST_TOKENS = 1_000_000_000
"""Tokens of one call, at most. A larger figure is no count of tokens."""

MOST_USD = 1_000_000.0


def figure(value: object) -> int | None:
    """A count of tokens; None, "not reported", for whatever is no whole number from 0 up to a billion."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= MOST_TOKENS or value != int(value):
        return None
    return int(value)


def price(value: object) -> float | None:
    """A price in US dollars that a provider says itself; None for whatever is no finite number from 0 up."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= MOST_USD and math.isfinite(value) else None


def is_absurd(value: object) -> bool:
    """True for a value that cannot be a count. None means that the vendor reported nothing."""
    return value is not None and figure(value) is None


def part_of(table: object, name: str) -> object:
    """A field of a vendor's table of parts; what stands in the place of the table is no count, whatever it is."""
    found = getattr(table, name, None)
    return math.nan if table is not None and not hasattr(table, "__dict__") else found


def total(*values: object) -> int | None:
    """The sum of the counts among them; None where there is none, or one is absurd: of what is left nobody can say."""
    known = [count for value in values if (count := figure(value)) is not None]
    return sum(known) if known and not any(map(is_absurd, values)) else None


def missed_text(reason: str, missed: int | None) -> str:
    """The sentence of a provider's reason for a miss; empty where it says that no token was missed: a prefix that was
    too short to be cached may change for nothing.

    Args:
        reason: in our words; missed: tokens; None: the provider does not count them.
    """
    if missed is None:
        return reason
    if not missed:
        return ""
    return tr("{reason}: {missed:,} tokens did not come from the cache", reason=reason, missed=missed)


def counted_usage(
    *,
    input_tokens: object = None,
    output_tokens: object = None,
    cache_read_tokens: object = None,
    cache_write_tokens: object = None,
    cache_write_5m_tokens: object = None,
    cache_write_1h_tokens: object = None,
    cache_write_12h_tokens: object = None,
    reasoning_tokens: object = None,
    cost_usd: object = None,
    request_id: str = "",
    miss_reason: str = "",
) -> Usage:
    """A call's usage from what a vendor's fields held, in our meaning: cache parts inside the input.

    Args:
        input_tokens to reasoning_tokens: anything at all; what is no count is not reported.
        cost_usd: anything; what is no price is not known.

    Returns:
        Figures that do not contradict each other: parts that are larger than their whole, or have none, are not
        reported, for nobody can say which of the two is wrong, and the whole is what is billed. A part of a known
        whole that is absurd, or larger, makes it an estimate, unless the provider says what the call cost.

    Raises:
        Nothing.
    """
    sent, reply = figure(input_tokens), figure(output_tokens)
    cached, lifetimes = (
        (cache_read_tokens, cache_write_tokens),
        (cache_write_5m_tokens, cache_write_1h_tokens, cache_write_12h_tokens),
    )
    (read, written), is_cached_odd = _parts(cached, sent)
    (five, hour, half_day), is_split_odd = _parts(lifetimes, written)
    (reasoning,), is_reply_odd = _parts((reasoning_tokens,), reply)
    is_input_odd = sent is not None and (is_cached_odd or is_split_odd)
    said = price(cost_usd)
    return Usage(
        input_tokens=sent,
        output_tokens=reply,
        cache_read_tokens=read,
        cache_write_tokens=written,
        cache_write_5m_tokens=five,
        cache_write_1h_tokens=hour,
        cache_write_12h_tokens=half_day,
        reasoning_tokens=reasoning,
        cost_usd=said,
        request_id=request_id,
        miss_reason=miss_reason,
        is_estimate=said is None and (is_input_odd or (reply is not None and is_reply_odd)),
        is_told=said is not None,
    )


def _parts(values: tuple[object, ...], whole: int | None) -> tuple[list[int | None], bool]:
    """Counts of parts, none where they have no whole or go beyond it; and whether something is wrong with them."""
    counts = [figure(value) for value in values]
    is_beyond = sum(count or 0 for count in counts) > (whole or 0)
    is_odd = is_beyond or any(map(is_absurd, values))
    return ([None] * len(counts) if whole is None or is_beyond else counts), is_odd


FOREIGN: tuple[type[Exception], ...] = (
    ValueError,
    AttributeError,
    TypeError,
    LookupError,
    ArithmeticError,
    RecursionError,
)
"""Errors of code that takes a vendor's data for what it should be: the SDKs build their objects without checking."""

MOST_MODELS = 20_000
"""Models of one server's list that are read: a list may never end."""

NAME_CHARS = 300
DETAIL_CHARS = 1_000


def text_of(value: object) -> str:
    """A vendor's text where none may stand as well: the text, empty for anything else."""
    return value if isinstance(value, str) else ""


def word_of(value: object) -> str:
    """A vendor's code, which some write as a number: as text, empty for anything else."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9:
        return str(value)
    return text_of(value)


def status_of(value: object) -> int | None:
    """A status of HTTP that stands in a body: None for anything else, a truth value among them."""
    return value if type(value) is int and 100 <= value < 600 else None


def sound_item(item: StreamItem) -> StreamItem:
    """An item of a stream as the program can take it.

    Text, reasoning and tool calls are the model's words: where they are no text, nobody can say what was meant, and the
    reply has failed. What only describes the reply is left out where it is not of its type.

    Raises:
        ProviderError: BAD_REPLY; what came before stands.
    """
    match item:
        case TextDelta():
            _check("text", item.text)
        case ReasoningDelta():
            _check("reasoning", item.text, item.vendor_json)
        case ToolCallReady():
            _check(tr("a tool call"), item.part.call_id, item.part.name, item.part.arguments_json)
            arguments = without_half_characters(item.part.arguments_json)
            if arguments is not item.part.arguments_json:
                return replace(item, part=replace(item.part, arguments_json=arguments))
        case UsageUpdate():
            contents = item.contents
            if contents is not None and contents.stored is not None:
                contents = replace(contents, stored=sound_content(contents.stored))
            return UsageUpdate(sound_usage(item.usage), contents)
        case Stopped():
            detail = one_line(clean(text_of(item.detail)), DETAIL_CHARS)
            return item if detail == item.detail else replace(item, detail=detail)
        case _:
            raise _foreign(tr("{name} came", name=type(item).__name__))
    return item


def sound_usage(usage: Usage) -> Usage:
    """Usage whose every field is of its type, and whose parts are inside their wholes."""
    sound = counted_usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        cache_write_5m_tokens=usage.cache_write_5m_tokens,
        cache_write_1h_tokens=usage.cache_write_1h_tokens,
        cache_write_12h_tokens=usage.cache_write_12h_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cost_usd=usage.cost_usd,
        request_id=one_line(clean(text_of(usage.request_id)), NAME_CHARS),
        miss_reason=one_line(clean(text_of(english(usage.miss_reason))), DETAIL_CHARS),
    )
    return replace(
        sound,
        is_estimate=sound.is_estimate or usage.is_estimate is True,
        is_told=sound.is_told and usage.is_told is True,
    )


def sound_models(models: Iterable[ModelProfile]) -> tuple[ModelProfile, ...]:
    """A server's list of models, each name once: entries without a name are left out, and malformed figures are unknown."""
    found: dict[str, ModelProfile] = {}
    for model in islice(models, MOST_MODELS):
        name = text_of(model.id)
        if not name or len(name) > NAME_CHARS or clean(name) != name or not name.isprintable():
            continue
        sound = replace(
            model,
            label=one_line(clean(text_of(model.label)), NAME_CHARS),
            context_tokens=figure(model.context_tokens) or None,
            max_output_tokens=figure(model.max_output_tokens) or None,
            ends_on=day_of(model.ends_on),
        )
        found.setdefault(name, sound)
    return tuple(found.values())


def day_of(value: object) -> str:
    """A day that a vendor names, as a date, a moment or their text: `2026-12-31`; empty for anything else."""
    text = value.isoformat() if isinstance(value, date) else text_of(value)
    try:
        return date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        return ""


def sound_content(content: StoredContent) -> StoredContent:
    """A stored prefix with times that can be compared and a count that is one.

    Raises:
        ValueError: it has no name, or its times are no times.
    """
    names = content.name, content.model, content.prefix_hash, content.discussion_id
    if not content.name or not all(isinstance(name, str) for name in names):
        raise ValueError(tr("the provider lists a stored prefix without a name"))
    return replace(
        content,
        tokens=figure(content.tokens) or 0,
        created_at=_moment(content.created_at),
        expires_at=_moment(content.expires_at),
    )


def _moment(value: object) -> datetime:
    if not isinstance(value, datetime):
        raise ValueError(tr("the provider lists a stored prefix without the times of storing and expiry"))  # noqa: TRY004 (a vendor's fault, not a caller's)
    try:
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError(tr("the provider lists stored content with a time that cannot be right")) from error


def _check(what: str, *values: object) -> None:
    for value in values:
        if not isinstance(value, str):
            raise _foreign(f"{what} is {_NAMES.get(type(value), type(value).__name__)}")


_NAMES = {
    dict: tr("an object"),
    list: "a list",
    int: "a number",
    float: "a number",
    bool: tr("true or false"),
}
_NAMES[type(None)] = "nothing"


def _foreign(what: str) -> ProviderError:
    return ProviderError(
        FailureKind.BAD_REPLY,
        tr("The provider sent an invalid answer: {what}", what=what),
        remedy=tr(
            "The program kept the part of the reply that arrived. Check the API address in the settings, then retry"
        ),
    )


# Bounds of a vendor's answer on the wire, in bytes and time, before any SDK holds it. Pure but for the
# clock given.

BODY_BYTES = 256_000_000
"""Bytes of an answer that is no stream, at most."""
ERROR_BYTES = 1_000_000
"""Bytes of an error that are read; the rest adds nothing."""
PROGRESS_BYTES = 65_536
"""Bytes of an answer that is no stream after which it counts as a sign of life."""


class EndlessError(Exception):
    """An answer is larger than any. `str` says what is."""


class SenselessError(Exception):
    """For as long as a silent server is waited for, what came was no part of an answer."""


def bounded_body(
    pieces: Iterable[bytes], patience_s: float, clock: Callable[[], float], *, has_lines: bool = True
) -> Iterator[bytes]:
    """Pass on the bytes of any other answer.

    Args:
        patience_s: seconds in which a line or `PROGRESS_BYTES` must come.
        has_lines: each line is a part of it by itself. False: its reader waits for all of it, and lines are no progress.

    Raises:
        SenselessError: it only drips. EndlessError: it is too large.
    """
    since, size, told = clock(), 0, 0
    for piece in pieces:
        size += len(piece)
        if size > BODY_BYTES:
            raise EndlessError(tr("the answer has over {BODY_BYTES:,} bytes", BODY_BYTES=BODY_BYTES))
        if size - told >= PROGRESS_BYTES or (has_lines and b"\n" in piece and piece.strip()):
            since, told = clock(), size
        elif clock() - since > patience_s:
            raise SenselessError
        yield piece


def bounded_error(pieces: Iterable[bytes], patience_s: float, clock: Callable[[], float]) -> Iterator[bytes]:
    """Pass on the first bytes of an error, up to `ERROR_BYTES` and for `patience_s` seconds; its status says enough."""
    since, size = clock(), 0
    for piece in pieces:
        size += len(piece)
        yield piece
        if size >= ERROR_BYTES or clock() - since > patience_s:
            return


# Ids of calls in one request: each call once, its result by the same id, in characters that every vendor
# takes.

UNKNOWN = "unknown"
"""Name of the function of a result whose call is not in the request."""

_NOT_TAKEN = late(r"[^a-zA-Z0-9_-]")
_LONGEST = 64


class CallIds:
    """Ids and names for the calls and results of a request.

    Servers that number the calls of each reply anew give one id to many, and vendors refuse that: the first keeps it,
    the others get a number behind it. Who reads from the beginning gives the same ids again, so a prefix stays.

    Args:
        messages: of the whole request; parts are told apart as objects.

    Source: Anthropic, "`tool_use` ids must be unique" and `^[a-zA-Z0-9_-]+$`; OpenAI, `call_id` of at most 64 characters
    (2026-11).
    """

    def __init__(self, messages: Iterable[RequestMessage]) -> None:
        self._told: dict[int, tuple[str, str]] = {}
        used: dict[str, int] = {}
        waiting: dict[str, deque[tuple[str, str]]] = {}
        for message in messages:
            parts = message.parts
            if len(parts) == 1 and type(parts[0]) is Segment:  # most are, of thousands
                continue
            has_called = False
            for part in parts:
                if not isinstance(part, ToolCallPart):
                    continue
                if not has_called:
                    waiting, has_called = {}, True
                told_id = wire_id(part.call_id)
                if told_id in used:
                    told_id = _next_id(told_id, used)
                used[told_id] = 1
                told = told_id, wire_name(part.name)
                self._told[id(part)] = told
                if part.call_id in waiting:
                    waiting[part.call_id].append(told)
                else:
                    waiting[part.call_id] = deque((told,))
            for part in parts:
                if isinstance(part, ToolResultPart):
                    asked = waiting.get(part.call_id)
                    self._told[id(part)] = asked.popleft() if asked else (wire_id(part.call_id), UNKNOWN)

    @property
    def told(self) -> Mapping[int, tuple[str, str]]:
        """Id and name of each call and result, as of `id_of` and `name_of`, by the part's `id()`."""
        return self._told

    def id_of(self, part: ToolCallPart | ToolResultPart) -> str:
        """Id of a call, or of the call that a result answers."""
        return self._told[id(part)][0]

    def name_of(self, part: ToolCallPart | ToolResultPart) -> str:
        """Name of the function that is called, or that gave a result."""
        return self._told[id(part)][1]


@lru_cache(maxsize=1_024)
def wire_name(name: str) -> str:
    """A tool's name that every vendor takes in a call of the past, whatever a model has called.

    Source: `^[a-zA-Z0-9_-]{1,64}$` of OpenAI's and Anthropic's tools; Gemini's begin with a letter or `_` (2026-11).
    """
    fitting = _NOT_TAKEN.sub("_", name)[:_LONGEST]
    return fitting if fitting[:1].isalpha() or fitting[:1] == "_" else f"_{fitting}"[:_LONGEST]


@lru_cache(maxsize=1_024)
def wire_id(call_id: str) -> str:
    """A call's id in characters and of a length that every vendor takes."""
    fitting = _NOT_TAKEN.sub("_", call_id) or "_"
    if len(fitting) <= _LONGEST:
        return fitting
    return hashlib.sha256(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:_LONGEST]


def _next_id(call_id: str, used: dict[str, int]) -> str:
    """An id for another call of an id that was used."""
    found = call_id
    while found in used:
        used[call_id] += 1
        number = f"_{used[call_id]}"
        found = f"{call_id[: _LONGEST - len(number)]}{number}"
    return found
