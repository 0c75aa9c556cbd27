"""Reader of a Chat Completions stream, in all the shapes that servers give it: text, reasoning, calls, usage."""

from __future__ import annotations

import math
import re
import secrets
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from core.kernel.codecs import canonical_json
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.messages import ToolCallPart
from core.kernel.values.provider import (
    ReasoningDelta,
    StopKind,
    StreamItem,
    TextDelta,
    ToolCallReady,
    UsageUpdate,
)
from core.kernel.values.usage import Usage
from core.services.providers.compatible.body import ReasoningReader, text_in
from core.services.providers.door import counted_usage, figure, price
from core.services.providers.endings import ending_of, is_said, stop_at
from core.services.providers.event_stream import WHOLE
from core.services.providers.openai.sdk import DONE
from core.services.providers.thought_tags import Piece, TaggedText
from core.services.providers.wire import is_object, plain_arguments, plain_name

# Usage of a chat completion, wherever servers put its parts.

Table = Mapping[str, Any]

_SENT = ("prompt_tokens", "input_tokens", "tokens.input_tokens")
_REPLY = ("completion_tokens", "output_tokens", "tokens.output_tokens")
_READ = (
    "prompt_tokens_details.cached_tokens",
    "input_tokens_details.cached_tokens",
    "prompt_cache_hit_tokens",
    "cached_tokens",
    "cache_read_input_tokens",
    "prompt_tokens_details.cache_read_tokens",
    "prompt_token_details.cached_tokens",
    "num_cached_tokens",
)
_WRITTEN = (
    "prompt_tokens_details.cache_write_tokens",
    "cache_creation_input_tokens",
    "prompt_tokens_details.cache_creation_tokens",
    "prompt_tokens_details.cache_creation_input_tokens",
)
_REASONING = (
    "completion_tokens_details.reasoning_tokens",
    "output_tokens_details.reasoning_tokens",
    "reasoning_tokens",
)


_PARTS = {
    "sent": r"(?:total_)?(?:tokens_(?:in|sent|prompt|input)|(?:in|prompt|input|native_prompt|request)_?tokens?(?:_count)?)",
    "reply": r"(?:total_)?(?:tokens_(?:out|received|completion|output)|(?:out|reply|completion|output|generated|native_completion|response|candidates)_?tokens?(?:_count)?)",
    "read": r"cached?|(?:.*_)?(?:cached(?:_(?:input|prompt|read|hit))?|(?:input_)?cache_reads?(?:_(?:input|prompt))?)|.*cache.*tokens?(?:_count)?",
    "written": r"(?:.*_)?cache_(?:writes?|written|creation)(?:_input)?|.*cache.*(?:writ|creat).*tokens?(?:_count)?",
    "reasoning": r".*(?:reasoning|thinking|thoughts?)(?:_output)?(?:_tokens?)?(?:_count)?",
}
"""Names of parts in the spelling of a server that no table has, each as a pattern of a whole name."""


def _spelled(table: Table, depth: int = 0) -> dict[str, object]:
    """The first figure for each part of usage by what its name says; prices and what was not read from the cache are none."""
    found: dict[str, object] = {}
    for name, value in table.items():
        if _OTHERS.search(name):
            continue
        if isinstance(value, dict):
            if depth < _DEEPEST and _TABLE.search(name):
                found = {**_spelled(value, depth + 1), **found}
        elif figure(value) is not None and not _NO_PART.search(name):
            part = next((one for one in _MEANT if re.fullmatch(_PARTS[one], name)), "")
            if part and not (depth and part in {"sent", "reply"}):
                found.setdefault(part, value)
    return found


_DEEPEST = 2
_MEANT = ("sent", "reply", "written", "read", "reasoning")
"""Parts in the order in which a name is asked for them: all that was written to the cache has its word in it, too."""
_NO_PART = late(
    r"cost|pric|rate|ratio|usd|miss|saved|no_?cache|uncached|storage|ttl|ephemeral|bytes|size|time|second|_m?s\Z|_at\Z"
)
_OTHERS = late(
    r"limit|quota|remain|budget|allow|(?:\A|_)(?:max|min|avg|average|mean)(?:\Z|_)|session|cumul|lifetime|history|previous|last|overall|balance|account|avail|capab|pric"
    r"|month|week|dai?ly|(?:\A|_)(?:day|hour|year|minute|per)(?:\Z|_)"
)
"""Names of what is not this call's: bounds, sums over calls, other calls, prices."""
_TABLE = late(r"token|detail|cache|usage|prompt|input|output|completion|billed")


def chat_usage(usage: object, request_id: str) -> Usage:
    """Usage of a completion. `prompt_tokens` holds cache reads and writes; what is missing is not reported.

    Source: openai types/completion_usage.py, 3.57.0; DeepSeek API "Context caching"; LiteLLM "Usage"; OpenRouter "Usage
    accounting"; xAI "Reasoning": the total decides where reasoning stands beside the completion (read 2026-11).
    """
    table: Table = _snake(usage) if isinstance(usage, dict) else {}
    named = (_first(table, names) for names in (_SENT, _REPLY, _READ, _WRITTEN, _REASONING))
    spelled = _spelled(table)
    sent, reply, read, written, reasoning = (
        spelled.get(part) if told is None else told for part, told in zip(_PARTS, named, strict=True)
    )
    lifetimes = _lifetimes(table)
    whole = figure(table.get("total_tokens")) or None
    if not any(figure(value) for value in (sent, reply, whole)) and None not in (sent, reply):
        return counted_usage(request_id=request_id, cost_usd=_cost(table) or None)
    cached = (figure(read) or 0) + (figure(written) or 0)
    if "cache_read_input_tokens" in table and (before := figure(sent)) is not None and cached > before:
        sent, whole = before + cached, None  # as Anthropic counts: the parts of the cache stand beside
    sent, reply, is_odd = _settled(sent, reply, cached, reasoning, whole)
    found = counted_usage(
        input_tokens=sent,
        output_tokens=reply,
        cache_read_tokens=read,
        cache_write_tokens=written,
        cache_write_5m_tokens=_first(lifetimes, ("ephemeral_5m_input_tokens",)),
        cache_write_1h_tokens=_first(lifetimes, ("ephemeral_1h_input_tokens",)),
        reasoning_tokens=reasoning,
        cost_usd=_cost(table),
        request_id=request_id,
    )
    return replace(found, is_estimate=found.is_estimate or (is_odd and found.cost_usd is None))


def _lifetimes(table: Table) -> Table:
    """Lifetimes of what was written to the cache. Source: LiteLLM, `cache_creation_token_details` (read 2026-11)."""
    details = table.get("prompt_tokens_details")
    for place in (table, details if isinstance(details, dict) else {}):
        for name in ("cache_creation", "cache_creation_token_details"):
            if isinstance(found := place.get(name), dict):
                return found
    return {}


def usage_of_timings(timings: object) -> dict[str, Any]:
    """Usage by llama.cpp's `timings`: what was read from its cache and what was not. Source: its server README (read 2026-11)."""
    table: Table = timings if isinstance(timings, dict) else {}
    cached, fresh, written = (figure(table.get(name)) for name in ("cache_n", "prompt_n", "predicted_n"))
    if cached is None or fresh is None or written is None:
        return {}
    return {"prompt_tokens": cached + fresh, "completion_tokens": written, "cached_tokens": cached}


def is_blank(usage: Usage) -> bool:
    """True if a server reports nothing with it. Some servers close a stream with zeros."""
    return usage.input_tokens is None and usage.output_tokens is None and not usage.cost_usd


_CAPITAL = re.compile(r"(?<=[a-z0-9])([A-Z])")


def _snake(table: Table) -> Table:
    """The table with names in small letters and figures as figures: some servers send text."""
    return {
        _CAPITAL.sub(r"_\1", str(name)).lower(): _snake(value) if isinstance(value, dict) else _plain(value)
        for name, value in table.items()
    }


def _plain(value: object) -> object:
    if not isinstance(value, str) or len(value) > _MOST_DIGITS:
        return value
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() else number


_MOST_DIGITS = 20


def _settled(
    sent: object, reply: object, cached: int, reasoning: object, whole: int | None
) -> tuple[object, object, bool]:
    """Input and output with all their parts inside, by the total, and whether the total contradicts every reading."""
    before, after, thought = figure(sent), figure(reply), figure(reasoning) or 0
    if whole is None or before is None or after is None or whole == before + after:
        return sent, reply, False
    if thought and whole == before + after + thought:
        return sent, after + thought, False
    if cached and whole == before + after + cached:
        return before + cached, reply, False
    if thought > after and whole > before:
        return sent, whole - before, False
    return sent, reply, True


_COSTS = ("cost", "total_cost", "estimated_cost", "cost_usd")
"""OpenRouter and Perplexity, gateways, DeepInfra, gateways."""

_TICKS = 10_000_000_000
"""Ticks of one dollar. Source: xAI API, `cost_in_usd_ticks` (read 2026-11)."""


def _cost(table: Table) -> float | None:
    """Dollars that the call cost by the server's own words. With a key of the person's own, the upstream's are added.

    Source: OpenRouter "Usage accounting", `cost`, `is_byok`, `cost_details` (read 2026-11).
    """
    told = next((table[name] for name in _COSTS if table.get(name) is not None), None)
    if not _is_in_dollars(table) or (isinstance(told, dict) and not _is_in_dollars(told)):
        return None
    if isinstance(told, dict):
        told = told.get("total_cost")
    own = price(told)
    ticks = table.get("cost_in_usd_ticks")
    if own is None and isinstance(ticks, int) and not isinstance(ticks, bool):
        return price(ticks / _TICKS)
    details = table.get("cost_details")
    if own is None or table.get("is_byok") is not True or not isinstance(details, dict):
        return own
    upstream = price(details.get("upstream_inference_cost"))
    return None if upstream is None else own + upstream


def _is_in_dollars(table: Table) -> bool:
    """False where a table names another unit for what it costs: another currency, credits."""
    units = (table.get(name) for name in ("currency", "cost_currency", "cost_unit"))
    return all(str(one).lower() in _DOLLARS for one in units if one is not None)


_DOLLARS = ("usd", "us$", "$", "dollar", "dollars", "us_dollar", "")


def _first(table: Table, names: tuple[str, ...]) -> object:
    """The first of these that the server reports; what stands in the place of a table of parts is no count."""
    for name in names:
        outer, _, inner = name.rpartition(".")
        place: object = table.get(outer) if outer else table
        if place is not None and not isinstance(place, dict):
            return math.nan
        if isinstance(place, dict) and place.get(inner) is not None:
            return place[inner]
    return None


# Reader of a Chat Completions stream, in all the shapes that servers give it: text, reasoning, calls,
# usage, end.

Json = dict[str, Any]

_REASONING_KINDS = frozenset({"thinking", "reasoning", "reasoning_text", "summary_text"})


def is_known(chunk: Any) -> bool:
    """True if a chunk belongs to a reply; one without a choice may only say that the server lives, by its id."""
    return isinstance(chunk, dict) and bool(chunk.get("choices") or chunk.get("usage") or chunk.get("id"))


class _ToldText:
    """Text that was told already, by its length and a sum of it: a message may come once more whole."""

    def __init__(self) -> None:
        self._chars = self._sum = 0

    def add(self, text: str) -> None:
        self._chars += len(text)
        self._sum = _sum(text, self._sum)

    def rest(self, text: str) -> str:
        """The part of a whole text that was not told; all of it where it is no repetition."""
        is_again = self._chars and _sum(text[: self._chars], 0) == self._sum
        return text[self._chars :] if is_again else text


def _sum(text: str, before: int) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"), before)


@dataclass(slots=True)
class _Call:
    """A call as its pieces come."""

    call_id: str = ""
    name: str = ""
    arguments: str = ""
    grown: str | None = ""
    """The last piece of the arguments, while each was all so far; None where one was not."""

    def add(self, given: str) -> None:
        self.arguments += given
        if self.grown is not None:
            self.grown = given if given.startswith(self.grown) else None

    @property
    def whole(self) -> str:
        """The arguments: of a server that sends all so far with each piece, the last."""
        is_grown = self.grown and self.grown != self.arguments and not is_object(self.arguments)
        return self.grown if self.grown and is_grown else self.arguments


SEVERAL = tr(
    "The server sent several replies to one request. The program keeps the first and drops the others, which the server may bill. Check the server's settings for `n`"
)


class ChatReader:
    """Reads chunks; the last items come from `end`, since usage follows the stop.

    Args:
        tools: names that were offered: a name that comes in another dress is one of them.

    Attributes:
        has_begun: whether any chunk came; has_stopped: whether the server said that the reply ended.
    """

    def __init__(self, request_id: str = "", tools: Collection[str] = ()) -> None:
        self.has_begun = False
        self._request_id = request_id
        self._tools = tools
        self._finish = ""
        self._calls: list[_Call] = []
        self._slots: dict[int, _Call] = {}
        self._reasoning = ReasoningReader()
        self._has_refused = False
        self._has_usage = False
        self._told, self._thought = _ToldText(), _ToldText()
        self._tagged = TaggedText()
        self._choices = _Choices()

    @property
    def has_stopped(self) -> bool:
        """True if a finish reason came, or the stream's own end. Without either it broke off."""
        return bool(self._finish)

    def read(self, chunk: object) -> Iterator[StreamItem]:
        """Read a chunk: text, reasoning, usage."""
        if not isinstance(chunk, dict):
            return
        self.has_begun = True
        reported = next((chunk[name] for name in _USAGES if chunk.get(name)), None)
        choices = chunk.get("choices")
        if is_said(end := chunk.get("finish_reason")):
            self._finish = end
        if choices:
            for choice in self._choices.of_reply(choices):
                yield from self._read_choice(choice)
                reported = reported or choice.get("usage") or _in_delta(choice)
        if not reported and not chunk.keys() <= _PLAIN_KEYS:
            reported = _beside(chunk)
        if (timings := chunk.get("timings")) and (timed := usage_of_timings(timings)):
            reported = {**timed, **(reported if isinstance(reported, dict) else {})}
        if reported:
            usage = chat_usage(reported, self._request_id or str(chunk.get("id") or ""))
            if not (self._has_usage and is_blank(usage)):
                self._has_usage = True
                yield UsageUpdate(usage)

    def end(self, *, is_done: bool = False) -> Iterator[StreamItem]:
        """Tool calls and the stop, nothing where the stream broke off. `is_done`: its own end came, as some send it alone."""
        for choice in self._choices.held_back():
            yield from self._read_choice(choice)
        yield from _spoken(self._tagged.rest())
        if is_done:
            self._finish = self._finish or DONE
        if not self._finish:
            return
        yield from self._end_reasoning()
        calls = list(_once_each(call for call in self._calls if call.call_id or call.name or call.arguments))
        for call in calls:
            name = plain_name(call.name, self._tools)
            part = ToolCallPart(
                call_id=call.call_id or _new_id(),
                name=name,
                arguments_json=plain_arguments(call.whole, name),
            )
            yield ToolCallReady(part)
        stopped = stop_at(self._finish, has_calls=bool(calls), has_refused=self._has_refused)
        yield replace(stopped, remarks=(SEVERAL,)) if self._choices.has_several else stopped

    def _read_choice(self, choice: Json) -> Iterator[StreamItem]:
        delta = choice.get("delta")
        if isinstance(delta, dict):
            yield from self._read_delta(self._unsaid(delta) if choice.get(WHOLE) else delta)
        finish = choice.get("finish_reason") or choice.get("finishReason")
        if "finish_reason" not in choice:  # beside one, vLLM names the word that stopped it
            finish = finish or choice.get("stop_reason")
        if isinstance(finish, dict):
            finish = _end_of_object(finish)
        if is_said(finish):
            self._finish = _more_telling(finish, choice.get("native_finish_reason"))

    def _unsaid(self, message: Json) -> Json:
        """The part of a message that was not told: some servers send all of it once more at the end."""
        left = {
            name: self._told.rest(text_in(one)) if name == "content" and text_in(one) else one
            for name, one in message.items()
        }
        for name in ("reasoning_content", "reasoning"):
            if isinstance(left.get(name), str):
                left[name] = self._thought.rest(left[name])
        if self._calls:
            left.pop("tool_calls", None)
        return left

    def _read_delta(self, delta: Json) -> Iterator[StreamItem]:
        if reasoning := self._reasoning.read(delta):
            self._thought.add(reasoning)
            yield ReasoningDelta(reasoning)
        content = _as_text(delta.get("content")) or delta.get("text")
        if content and _is_thought(delta):
            thought, _, content = text_in(content).partition("</thought>")
            yield ReasoningDelta(thought.removeprefix("<thought>"))
        if content:
            if isinstance(content, str):
                yield from self._end_reasoning()
                content = self._told.rest(content) if self._reasoning.is_grown else content
                self._told.add(content)
                yield from _spoken(self._tagged.read(content))
            else:
                yield from self._read_parts(content)
        if refusal := delta.get("refusal"):
            self._has_refused = True
            yield TextDelta(refusal)
        if calls := delta.get("tool_calls"):
            for part in _listed(calls):
                self._add_call(part)
        if isinstance(old := delta.get("function_call"), dict):
            self._add_call({"index": 0, "function": old})

    def _read_parts(self, content: object) -> Iterator[StreamItem]:
        """Content as a list of parts: text, and thoughts among it."""
        for part in _parts(content):
            kind = part.get("type") if isinstance(part, dict) else ""
            if kind in _REASONING_KINDS:
                yield ReasoningDelta(text_in(part))
            elif kind == "refusal":
                self._has_refused = True
                yield TextDelta(text_in(part.get("refusal")))
            elif (
                isinstance(part, str)
                or kind
                or (isinstance(part, dict) and ("text" in part or text_in(part)))
            ):
                if text := text_in(part):
                    yield from self._end_reasoning()
                    self._told.add(text)
                    yield from _spoken(self._tagged.read(text))
            else:
                yield TextDelta(part)  # no text at all: the door says so

    def _end_reasoning(self) -> Iterator[StreamItem]:
        if sealed := self._reasoning.sealed():
            yield ReasoningDelta("", sealed)

    def _add_call(self, part: Json) -> None:
        """Add a piece of a call: to the one that it belongs to, or to one that it begins."""
        function = next(
            (part[name] for name in ("function", "tool") if isinstance(part.get(name), dict)), part
        )
        call_id = _word(part.get("id"))
        name = next((word for one in _NAMES if (word := _word(function.get(one)))), "")
        given = next((function[one] for one in _ARGUMENTS if function.get(one)), None)
        index = _index(part.get("index"))
        known = self._owner(index, call_id, name)
        if known is None or _is_next_call(known, call_id, name, given, has_index=index is not None):
            known = _Call()
            self._calls.append(known)
        if index is not None:
            self._slots[index] = known
        known.call_id = known.call_id or call_id
        known.name = _joined_name(known, name, self._tools)
        if given:
            known.add(given if isinstance(given, str) else canonical_json(given))

    def _owner(self, index: int | None, call_id: str, name: str) -> _Call | None:
        """The call that a piece belongs to, where it begins none: by its index, its id, else the last; servers mix these up."""
        by_id = next((one for one in reversed(self._calls) if call_id and one.call_id == call_id), None)
        if index is None:
            return by_id or (self._calls[-1] if self._calls else None)
        slot = self._slots.get(index)
        if slot is not None:
            is_elsewhere = by_id is not None and slot.call_id not in {"", call_id} and not name
            return by_id if is_elsewhere else slot
        if name or not self._calls:
            return None
        return by_id or self._calls[-1]


def _once_each(calls: Iterable[_Call]) -> Iterator[_Call]:
    """The calls without one that came again, with its id, at another index. Source: mudler/LocalAI#9722 (read 2026-11)."""
    told: set[tuple[str, str, str]] = set()
    for call in calls:
        same = (call.call_id, call.name, call.whole)
        if not call.call_id or same not in told:
            told.add(same)
            yield call


def _listed(calls: object) -> list[Json]:
    """Calls of a delta: a list, one alone, or a list that PHP wrote as an object with a number for each."""
    if isinstance(calls, dict):
        calls = list(calls.values()) if all(str(name).isdecimal() for name in calls) else [calls]
    return [one for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []


def _as_text(content: object) -> object:
    """Content, a figure as the text that a gateway read once more as JSON."""
    is_figure = isinstance(content, int | float) and not isinstance(content, bool)
    return canonical_json(content) if is_figure else content


def _spoken(pieces: Iterable[Piece]) -> Iterator[StreamItem]:
    for is_thought, text in pieces:
        yield ReasoningDelta(text) if is_thought else TextDelta(text)


_PLAIN_KEYS = frozenset(
    [
        "id",
        "object",
        "created",
        "model",
        "choices",
        "system_fingerprint",
        "service_tier",
        "usage",
        "timings",
        "provider",
    ]
)
"""Keys of a chunk that say nothing of usage; a chunk of these alone is not searched."""


def _beside(chunk: Json) -> Json | None:
    """Usage under a key of the server's own: Groq's `x_groq`, Bedrock's metrics. Source: Bike4Mind/bike4mind#1089 (read 2026-11)."""
    for name, value in chunk.items():
        if isinstance(value, dict) and name not in _PLAIN_KEYS and _is_of_call(name):
            inner = value.get("usage")
            table = _snake(inner if isinstance(inner, dict) else value)
            if {"sent", "reply"} <= _spelled(table).keys():
                return dict(table)
    return None


def _is_of_call(name: str) -> bool:
    """True for the name of a table that tells of this call, not of a session, a limit or a model."""
    words = _CAPITAL.sub(r"_\1", name).lower()
    return _OF_CALL.search(words) is not None and _OTHERS.search(words) is None


_OF_CALL = late(r"\Ax_|usage|metric|stat(?:s|istics)\Z|tokens?\Z|meta(?:data)?\Z|billing")


def _in_delta(choice: Json) -> object:
    delta = choice.get("delta")
    return delta.get("usage") if isinstance(delta, dict) else None


_USAGES = ("usage", "usage_metadata", "usageMetadata", "token_usage", "tokenUsage")
_NAMES = ("name", "tool_name", "function_name", "tool")
_ARGUMENTS = ("arguments", "parameters", "input", "args")
"""Fields for the arguments of a call: OpenAI's, templates of Llama, proxies of Anthropic and of Gemini."""


def _parts(content: object) -> list[Any]:
    """Parts of content: a list of them, an object around such a list, or one alone."""
    if isinstance(content, dict) and not content.get("type"):
        content = next(
            (content[name] for name in ("parts", "content") if isinstance(content.get(name), list)), content
        )
    return content if isinstance(content, list) else [content]


def _is_thought(delta: Json) -> bool:
    """True of content that Gemini's compatible address marks as a thought."""
    extra = delta.get("extra_content")
    google = extra.get("google") if isinstance(extra, dict) else None
    return isinstance(google, dict) and google.get("thought") is True


def _end_of_object(told: Json) -> str:
    """The word of an end that is an object, with the server's own words behind it. Source: SGLang, `FINISH_ABORT` (read 2026-11)."""
    word, words = _word(told.get("type")), _word(told.get("message"))
    return f"{word}: {words}" if word and words else word


def _more_telling(word: str, native: object) -> str:
    """The word for the end, or what the provider behind a gateway said where that says that the reply is not whole."""
    if not is_said(native) or ending_of(word).kind is not StopKind.COMPLETED:
        return word
    is_short = ending_of(native).kind in {StopKind.BROKEN, StopKind.REFUSED, StopKind.TRUNCATED}
    return native if is_short else word


def _index(value: object) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _word(value: object) -> str:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _is_begin(before: str, given: object) -> bool:
    """True if arguments begin anew, and do not go on with what came before."""
    text = given.lstrip() if isinstance(given, str) else ""
    return text.startswith("{") and not is_object(before + text)


def _is_next_call(known: _Call, call_id: str, name: str, given: object, *, has_index: bool) -> bool:
    """True if a piece begins another call than the one of its place.

    Servers leave out the index or the id, give all calls the index 0, repeat the name, or give each piece of one call
    another id: a call begins with a name, and only where the one before it can be whole.
    """
    if not name:
        return False
    is_other = bool(call_id and known.call_id and call_id != known.call_id)
    if not is_other and (has_index or call_id):
        return False
    if known.arguments:
        return is_object(known.arguments) or (is_other and _is_begin(known.arguments, given))
    return name != known.name if is_other else True


def _joined_name(known: _Call, name: str, tools: Collection[str]) -> str:
    """The name so far: repeated whole, grown, or in pieces where only both together are a tool's."""
    before = known.name
    if not name or name == before:
        return before
    if name in tools and before and name.startswith(before) and not known.arguments:
        return name  # all of it so far
    whole = before + name
    is_piece = bool(before) and not known.arguments and any(tool.startswith(whole) for tool in tools)
    return whole if is_piece else before or name


class _Choices:
    """Indexes of the choices that belong to the reply: the first; of a server that counts the index up from piece to piece, all.

    The second index is held back until the next choice tells which of the two it is.
    """

    def __init__(self) -> None:
        self._base: int | None = None
        self._held: list[Json] = []
        self._counts: bool | None = None
        self._has_ended = False
        self.has_several = False
        """True once another choice than the reply's came."""

    def of_reply(self, choices: object) -> Iterator[Json]:
        """Choices of a chunk that belong to the reply."""
        listed = [choices] if isinstance(choices, dict) else choices if isinstance(choices, list) else []
        several = [one for one in listed if isinstance(one, dict)]
        for choice in several:
            index = _index(choice.get("index")) or 0
            if self._base is None:
                self._base = index
            if index == self._base:
                if self._held:
                    self._held, self._counts, self.has_several = [], False, True
                self._has_ended = self._has_ended or bool(choice.get("finish_reason"))
                yield choice
            elif self._counts:
                yield choice
            elif self._counts is None and not self._has_ended and len(several) == 1:
                yield from self._hold(choice, index)
            else:
                self.has_several = self.has_several or bool(choice.get("delta"))

    def _hold(self, choice: Json, index: int) -> Iterator[Json]:
        if not self._held:
            self._held = [choice]
        elif index > self._held[0].get("index", 0):
            self._counts = True
            yield from (*self._held, choice)
            self._held = []
        else:
            self._held, self._counts = [], False

    def held_back(self) -> Iterator[Json]:
        """Return held-back text that belongs to the reply, at its end."""
        held, self._held = self._held, []
        if not self._has_ended:
            yield from held


def _new_id() -> str:
    """An id for a call that came without one: 9 letters and digits, which the strictest servers ask for."""
    return f"c{secrets.token_hex(4)}"
