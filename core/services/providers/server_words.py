"""Words of a server about a failure, in any shape, and their meaning: one table for all vendors and servers."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from core.kernel.decoders import read_json
from core.kernel.errors import FailureKind

_MESSAGE = (
    "message",
    "msg",
    "error_message",
    "error_msg",
    "errorMessage",
    "detail",
    "description",
    "reason",
    "title",
)
_CODE = ("code", "error_code", "errorCode", "status_code", "statusCode", "status")
_KIND = ("type", "error_type", "object")
_FINE = frozenset({"", "0", "200", "ok", "success", "true", "none"})
_DEEPEST = 4


class ServerWords(msgspec.Struct, frozen=True):
    """A server's words about a failure. Args: message: for a person; code, kind: for a program, empty for none."""

    message: str = ""
    code: str = ""
    kind: str = ""


def is_failure(value: Mapping[str, Any], reply_keys: Collection[str]) -> bool:
    """True if an object that stands where a part of a reply should is a failure. `reply_keys`: what a part has."""
    if value.get("error") or value.get("errors"):
        return True
    if any(value.get(name) is not None for name in reply_keys if name not in {"type", "message"}):
        return False
    if value.get("success") is False or value.get("object") == "error":
        return True
    has_words = any(isinstance(value.get(name), str) and value[name] for name in _MESSAGE)
    codes = [str(value[name]).lower() for name in _CODE if isinstance(value.get(name), int | str)]
    return bool(value.get("detail")) or (
        has_words and (any(code not in _FINE for code in codes) or len(value) == 1)
    )


def words_of(body: object, depth: int = 0) -> ServerWords:
    """The words in a body of an error, however it is built: the deepest that say something."""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        return _of_text(body, depth)
    if isinstance(body, list):
        found = [words for one in body[:5] if (words := words_of(one, depth + 1)).message]
        first = found[0] if found else ServerWords()
        return ServerWords(
            message="; ".join(words.message for words in found), code=first.code, kind=first.kind
        )
    if not isinstance(body, Mapping) or depth > _DEEPEST:
        return ServerWords()
    inner = next((body[name] for name in ("error", "errors") if body.get(name)), None)
    deeper = words_of(inner, depth + 1) if inner is not None else ServerWords()
    own = next(
        (words for name in _MESSAGE if (words := words_of(body.get(name), depth + 1)).message), ServerWords()
    )
    message = deeper.message or own.message
    place = body.get("loc")
    if isinstance(place, list) and message:
        message = f"{'.'.join(map(str, place))}: {message}"
    behind = _upstream(body.get("metadata"))
    if behind and behind not in message:
        message = f"{message}: {behind}" if message else behind
    return ServerWords(
        message=message,
        code=deeper.code or own.code or _word(body, _CODE),
        kind=deeper.kind or own.kind or _word(body, _KIND),
    )


def _of_text(text: str, depth: int) -> ServerWords:
    """Words of a text: JSON in it is read, of a web page its title is taken."""
    plain = text.strip()
    if plain.startswith("<"):
        return ServerWords(message=page_title(plain))
    if plain.startswith(("{", "[")) and depth <= _DEEPEST:
        try:
            return words_of(read_json(plain), depth + 1)
        except ValueError:
            pass
    return ServerWords(message=plain)


def _upstream(metadata: object) -> str:
    """Words of the server behind a gateway. Source: OpenRouter API "Errors", `metadata.raw` (read 2026-11)."""
    raw = metadata.get("raw") if isinstance(metadata, Mapping) else None
    return words_of(raw, 2).message if raw else ""


def _word(body: Mapping[str, Any], names: Collection[str]) -> str:
    for name in names:
        value = body.get(name)
        if isinstance(value, str) and value and len(value) < 200 and name != "object":
            return value
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9:
            return str(value)
    return ""


_TITLE = re.compile(r"(?is)<title[^>]{0,200}>([^<]{1,300})|<h1[^>]{0,200}>([^<]{1,300})")
_TAG = re.compile(r"(?s)<(?:script|style)\b.{0,20000}?</(?:script|style)>|<[^>]{0,2000}>")


def page_title(page: str) -> str:
    """The title of a web page, else its first words; its tags are for nobody."""
    found = _TITLE.search(page[:64_000])
    text = (found[1] or found[2]) if found else _TAG.sub(" ", page[:8_000])
    return " ".join(html.unescape(text).split())[:200] or "a web page without a title"


def _any(*words: str) -> re.Pattern[str]:
    return re.compile("(?i)" + "|".join(words))


_TOO_MUCH_A_MINUTE = _any(r"request too large.{0,200}(?:tokens per minute|tpm)")

MEANINGS: tuple[tuple[FailureKind, re.Pattern[str]], ...] = (
    (FailureKind.CONTEXT_TOO_LONG, _TOO_MUCH_A_MINUTE),
    (
        FailureKind.NO_TOOLS,
        _any(
            r"does not support (?:the )?(?:use of )?(?:tools?\b|functions?\b|tool[ _-]?(?:use|call)|function[ _-]?call)",
            r"no endpoints found that support tool use",
            r"tool choice requires --enable-auto-tool-choice",
            r"tools? param(?:eter)? requires --jinja",
            r"(?:tool|function)s?[ _-]?(?:use|calling|calls?)[`'\"]? (?:is|are) not (?:supported|enabled|available)",
            r"tools? (?:is|are) not supported",
            r"(?:unsupported|unrecognized|unknown) (?:parameter|field|argument|request argument)[^.]{0,30}\btools?\b",
        ),
    ),
    (
        FailureKind.CONTEXT_TOO_LONG,
        _any(
            r"maximum context length",
            r"exceeds? the (?:available |model'?s )?(?:maximum )?context",
            r"exceed(?:s|ed)? (?:the )?(?:model'?s )?(?:maximum )?context (?:length|limit|window|size)",
            r"longer than the (?:maximum )?(?:model'?s )?(?:model|context) length",
            r"context (?:length|window|size) (?:exceeded|of only|limit|is too small)",
            r"(?:greater|larger|longer) than the (?:model'?s )?context",
            r"prompt is too long|(?:prompt|input|request) (?:is )?too long\b",
            r"reduce the length of the (?:messages|prompt|input)",
            r"inputs?`? (?:tokens )?must have less than|inputs?`? tokens \+ `?max_new_tokens`? must be <=",
            r"exceeds the max(?:imum)?(?: number of)? (?:input )?tokens|token (?:count|limit).{0,60}exceed",
            r"exceed(?:s|ed)? (?:the )?(?:model )?token limit|too many (?:input |prompt )?tokens|maximum (?:input|prompt) (?:length|tokens)",
            r"tokens? to keep from the initial prompt is greater",
            r"range of input length should be|input length .{0,60}(?:exceed|larger|greater)",
        ),
    ),
    (
        FailureKind.NO_QUOTA,
        _any(
            r"insufficient[ _](?:account )?(?:balance|credits?|funds|quota)|insufficient_user_quota|余额不足|arrear",
            r"credit balance is too low|credits? (?:are|is|have been) (?:depleted|exhausted|used up)|out of credits?|no (?:more )?credits? (?:left|remaining)",
            r"add (?:more )?credits?\b|requires (?:more|at least \$)|purchase (?:more )?credits|payment required|top up|recharge",
            r"spend_limit_reached|spend(?:ing)?[ _](?:limit|cap)|billing_unavailable|not_billable|budget (?:has been )?exceeded|exceeded (?:your |the )?budget",
        ),
    ),
    (
        FailureKind.UNKNOWN_MODEL,
        _any(
            r"\bmodels?\b.{0,120}(?:not found|(?:does not|doesn'?t) exist|not exist|unknown model|not loaded|was not found|is not available|not a valid model)",
            r"unknown model|no such model|no models? (?:is |are )?loaded|invalid model(?: name| id)?\b|not a valid model",
            r"no endpoints found for|no (?:healthy )?deployments? (?:available )?for|the requested model .{0,80}(?:is not supported|cannot be)",
            r"model_not_found|no available channel",
        ),
    ),
    (
        FailureKind.OVERLOADED,
        _any(
            r"overloaded|at capacity|(?:service|server|engine|system|model) (?:is )?(?:currently )?(?:too )?busy|capacity (?:is )?(?:exceeded|constraints?)",
            r"loading model|model is (?:currently |still )?loading|temporarily unavailable|queue is full|no (?:available|healthy) (?:server|instance|upstream)",
        ),
    ),
    (
        FailureKind.RATE_LIMITED,
        _any(r"rate[ _-]?limit|too many requests|requests? per (?:minute|second|day)|concurrency limit"),
    ),
    (
        FailureKind.BAD_KEY,
        _any(
            r"(?:invalid|incorrect|missing|expired|no) (?:api|auth)[ _-]?(?:key|token)|invalid (?:token|credentials)|unauthorized|authentication (?:failed|error|fails)|no auth credentials"
        ),
    ),
    (
        FailureKind.FORBIDDEN,
        _any(
            r"(?:not (?:allowed|permitted|authorized)|no permission|permission denied|access denied|forbidden)\b|country, region, or territory"
        ),
    ),
)
"""Words of servers that say more than a status, the most telling first.

Source: error bodies in the public issues of vLLM, llama.cpp, Ollama, LM Studio, OpenRouter, Groq, TGI, LiteLLM, Mistral,
DeepSeek, Moonshot, Z.ai and their documents of errors (read 2026-11).
"""

SURE = frozenset(
    {FailureKind.CONTEXT_TOO_LONG, FailureKind.NO_TOOLS, FailureKind.NO_QUOTA, FailureKind.UNKNOWN_MODEL}
)

TOO_MUCH_A_MINUTE = (
    "Make the request smaller (take files out of the context preset, delete old turns), or take a larger plan at the provider:"
    " waiting does not help"
)


def is_too_much_a_minute(message: str) -> bool:
    """True of a request that is larger than a whole minute's allowance: no wait makes room for it."""
    return bool(_TOO_MUCH_A_MINUTE.search(message))


def meaning(words: ServerWords, status: int | None) -> FailureKind | None:
    """The kind of failure that a server's words tell, None where they tell none beyond the status.

    Args:
        status: of HTTP, None for a failure within a stream: there words are all that there is.
    """
    text = f"{words.code} {words.kind} {words.message}"
    for kind, pattern in MEANINGS:
        if not pattern.search(text):
            continue
        if kind is FailureKind.UNKNOWN_MODEL and status not in {None, 200, 400, 404, 422}:
            continue
        if kind is FailureKind.CONTEXT_TOO_LONG and status in {401, 403}:
            continue
        if kind is FailureKind.CONTEXT_TOO_LONG and status == 429 and not is_too_much_a_minute(words.message):
            continue
        if kind is FailureKind.OVERLOADED and status == 429:
            return kind
        if kind in SURE or status is None or status in {200, 400, 500}:
            return kind
    return None
