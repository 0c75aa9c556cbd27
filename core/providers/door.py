"""The typed door: whatever a vendor sent becomes a value of ours here, or is refused; behind it types hold."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import islice

from msgspec.structs import replace

from core.base.errors import FailureKind, ProviderError
from core.base.json_text import without_half_characters
from core.base.text import clean, one_line
from core.providers.usage import counted_usage, figure
from core.values.provider import (
    ContentsReport,
    ModelProfile,
    ReasoningDelta,
    Stopped,
    StoredContent,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.values.usage import Usage

FOREIGN: tuple[type[Exception], ...] = (
    ValueError,
    AttributeError,
    TypeError,
    LookupError,
    ArithmeticError,
    RecursionError,
)
"""Errors of code that takes a vendor's data for what it should be: the SDKs build their objects without checking."""

MOST_MODELS = 5_000
"""Of one server's list. A list without end is read so far."""

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

    Text, reasoning and tool calls are the model's words: where they are none, nobody can say what was meant, and the
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
            _check("a tool call", item.part.call_id, item.part.name, item.part.arguments_json)
            arguments = without_half_characters(item.part.arguments_json)
            if arguments is not item.part.arguments_json:
                return replace(item, part=replace(item.part, arguments_json=arguments))
        case UsageUpdate():
            return UsageUpdate(sound_usage(item.usage), _sound_report(item.contents))
        case Stopped():
            detail = one_line(clean(text_of(item.detail)), DETAIL_CHARS)
            return item if detail == item.detail else replace(item, detail=detail)
        case _:
            raise _foreign(f"{type(item).__name__} came")
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
        miss_reason=one_line(clean(text_of(usage.miss_reason)), DETAIL_CHARS),
    )
    return replace(sound, is_estimate=sound.is_estimate or usage.is_estimate is True)


def sound_models(models: Iterable[ModelProfile]) -> tuple[ModelProfile, ...]:
    """A server's list of models, each name once: what has none is left out, and figures that are none are not known."""
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
        )
        found.setdefault(name, sound)
    return tuple(found.values())


def sound_content(content: StoredContent) -> StoredContent:
    """A stored prefix with times that can be compared and a count that is one.

    Raises:
        ValueError: it has no name, or its times are none.
    """
    names = content.name, content.model, content.prefix_hash, content.discussion_id
    if not content.name or not all(isinstance(name, str) for name in names):
        raise ValueError("a stored prefix without a name")
    return replace(
        content,
        tokens=figure(content.tokens) or 0,
        created_at=_moment(content.created_at),
        expires_at=_moment(content.expires_at),
    )


def _moment(value: object) -> datetime:
    if not isinstance(value, datetime):
        raise ValueError("a stored prefix without times")  # noqa: TRY004 (a vendor's fault, not a caller's)
    try:
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    except OverflowError as error:
        raise ValueError("a stored prefix of another age") from error


def _sound_report(report: ContentsReport | None) -> ContentsReport | None:
    return (
        report
        if report is None or report.stored is None
        else replace(report, stored=sound_content(report.stored))
    )


def _check(what: str, *values: object) -> None:
    for value in values:
        if not isinstance(value, str):
            raise _foreign(f"{what} is {_NAMES.get(type(value), type(value).__name__)}")


_NAMES = {dict: "an object", list: "a list", int: "a number", float: "a number", bool: "a truth value"}
_NAMES[type(None)] = "nothing"


def _foreign(what: str) -> ProviderError:
    return ProviderError(
        FailureKind.BAD_REPLY,
        f"The provider sent something that is not a reply: {what}",
        remedy="What arrived is kept. Check that the address in the settings is the API's own, then retry",
    )
