"""Endings of replies: what each vendor's word for the end means here, what a person is told of it, and what helps.

One table for all vendors: servers behind gateways give one another's words, in their own case. A word that is not here
says nothing about the reply: it counts as not whole, and the person reads the word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeGuard

import msgspec

from core.kernel.language import spliced, tr
from core.kernel.patterns import late
from core.kernel.values.provider import StopKind, Stopped


class Ending(msgspec.Struct, frozen=True):
    """Meaning of one or more words of vendors.

    Args:
        words: as they come, in small letters; source: who says them, and where that is written.
        told: what happened, in a sentence without its stop, empty for a whole reply; remedy: what the person can do.
    """

    words: tuple[str, ...]
    kind: StopKind
    source: str
    told: str = ""
    remedy: str = ""


_AGAIN = tr("Press Retry, or choose another model")
_REWORD = tr("Use other words, or choose another model")
_OPENAI = "OpenAI, openai 3.57.0 types/chat/chat_completion_chunk.py"
_RESPONSES = "OpenAI Responses, openai 3.57.0 types/responses/response.py and response_status.py"
_ANTHROPIC = "Anthropic, anthropic 2.14.0 types/stop_reason.py and types/beta/beta_stop_reason.py"
_GEMINI = "Gemini, google-genai 3.6.1 types.py FinishReason"
_PROMPT = "Gemini, google-genai 3.6.1 types.py BlockedReason"
_BEDROCK = "Amazon Bedrock, Converse API, MessageStopEvent"
_COHERE = "Cohere API, FinishReason"
_VLLM = "vLLM, v1/engine/__init__.py FINISH_REASON_STRINGS"
_MISTRAL = "Mistral, mistralai 3.7.0 chatcompletionchoice.py"
_DEEPSEEK = "DeepSeek API, Create Chat Completion"

ENDINGS: tuple[Ending, ...] = (
    # Whole replies.
    Ending(words=("stop",), kind=StopKind.COMPLETED, source=f"{_OPENAI}; {_GEMINI}; {_VLLM}"),
    Ending(words=("end_turn", "stop_sequence"), kind=StopKind.COMPLETED, source=f"{_ANTHROPIC}; {_BEDROCK}"),
    Ending(words=("completed",), kind=StopKind.COMPLETED, source=_RESPONSES),
    Ending(words=("complete",), kind=StopKind.COMPLETED, source=_COHERE),
    Ending(words=("eos", "eos_token"), kind=StopKind.COMPLETED, source="Together AI and TGI, finish_reason"),
    Ending(
        words=("[done]",),
        kind=StopKind.COMPLETED,
        source="servers of Chat Completions that give no finish_reason: the end of the stream",
    ),
    Ending(
        words=("tool_calls", "function_call"),
        kind=StopKind.TOOL_CALLS,
        source=f"{_OPENAI}; groq 1.7.0; {_MISTRAL}",
    ),
    Ending(words=("tool_use",), kind=StopKind.TOOL_CALLS, source=f"{_ANTHROPIC}; {_BEDROCK}"),
    Ending(words=("tool_call",), kind=StopKind.TOOL_CALLS, source=_COHERE),
    # Cut off at a limit.
    Ending(
        words=("length", "max_tokens", "max_output_tokens"),
        kind=StopKind.TRUNCATED,
        source=f"{_OPENAI}; {_ANTHROPIC}; {_GEMINI}; {_RESPONSES}",
        told=tr("The reply was cut off at the output limit"),
        remedy=tr("Press Continue to get the rest, or raise the limit of the reply"),
    ),
    Ending(
        words=("model_context_window_exceeded", "model_length", "error_limit"),
        kind=StopKind.TRUNCATED,
        source=f"{_ANTHROPIC}; {_MISTRAL}; {_COHERE}; Z.ai",
        told=tr("The reply was cut off because the context window was full"),
        remedy=tr("Shorten the discussion or its preset, or choose a model with a larger window"),
    ),
    Ending(
        words=("pause_turn", "continuation", "compaction", "steered"),
        kind=StopKind.TRUNCATED,
        source=f"{_ANTHROPIC}; {_GEMINI}; {_RESPONSES}",
        told=tr("The provider paused the reply before its end"),
        remedy=tr("Press Continue to get the rest"),
    ),
    Ending(
        words=("too_many_tool_calls", "max_messages"),
        kind=StopKind.TRUNCATED,
        source=f"{_GEMINI}; {_RESPONSES}",
        told=tr("The provider ended the reply at its step limit"),
        remedy=tr("Press Continue to get the rest"),
    ),
    Ending(
        words=("incomplete", "in_progress", "queued"),
        kind=StopKind.TRUNCATED,
        source=_RESPONSES,
        told=tr("The provider ended the reply before it was complete"),
        remedy=tr("Press Continue to get the rest, or Retry to ask again"),
    ),
    Ending(
        words=("other", "image_other", "abort", "cancelled", "user_cancel", "timeout"),
        kind=StopKind.TRUNCATED,
        source=f"{_GEMINI}; {_VLLM}; {_RESPONSES}; {_COHERE}",
        told=tr("The provider ended the reply early without a reason"),
        remedy=tr("Press Retry"),
    ),
    # Declined, by the model or a filter.
    Ending(
        words=("refusal",),
        kind=StopKind.REFUSED,
        source=f"{_ANTHROPIC}; {_RESPONSES}",
        told=tr("The model declined to answer"),
        remedy=_REWORD,
    ),
    Ending(
        words=(
            "content_filter",
            "safety",
            "blocklist",
            "prohibited_content",
            "spii",
            "image_safety",
            "image_prohibited_content",
            "escalation",
            "model_armor",
            "error_toxic",
            "guardrail_intervened",
            "content_filtered",
            "sensitive",
        ),
        kind=StopKind.REFUSED,
        source=f"{_OPENAI}; {_RESPONSES}; {_GEMINI}; {_COHERE}; {_BEDROCK}; Z.ai",
        told=tr("A content filter of the provider stopped the reply"),
        remedy=_REWORD,
    ),
    Ending(
        words=("jailbreak",),
        kind=StopKind.REFUSED,
        source=_PROMPT,
        told=tr("A content filter of the provider blocked the message"),
        remedy=_REWORD,
    ),
    Ending(
        words=("recitation", "image_recitation"),
        kind=StopKind.REFUSED,
        source=_GEMINI,
        told=tr("The provider stopped the reply because it repeats a published text"),
        remedy=_REWORD,
    ),
    Ending(
        words=("language",),
        kind=StopKind.REFUSED,
        source=_GEMINI,
        told=tr("The model does not support the language of this message"),
        remedy=tr("Write in another language, or choose another model"),
    ),
    Ending(
        words=("pup_limited_disabled",),
        kind=StopKind.REFUSED,
        source=_GEMINI,
        told=tr("The provider has limited or disabled this account"),
        remedy=tr("Check the account's notices at the provider, or choose another provider"),
    ),
    # Broken by the model or the server.
    Ending(
        words=("malformed_function_call", "unexpected_tool_call", "malformed_tool_use"),
        kind=StopKind.BROKEN,
        source=f"{_GEMINI}; {_BEDROCK}",
        told=tr("The model called a tool in an unreadable form"),
        remedy=_AGAIN,
    ),
    Ending(
        words=("malformed_response", "malformed_model_output", "no_image", "repetition"),
        kind=StopKind.BROKEN,
        source=f"{_GEMINI}; {_BEDROCK}; {_VLLM}",
        told=tr("The model's reply is malformed"),
        remedy=_AGAIN,
    ),
    Ending(
        words=("missing_thought_signature",),
        kind=StopKind.BROKEN,
        source=_GEMINI,
        told=tr("The model's reply is malformed: a signature of its reasoning is missing"),
        remedy=tr("Send the message in a new discussion, or choose another model"),
    ),
    Ending(
        words=("error", "failed", "network_error"),
        kind=StopKind.BROKEN,
        source=f"{_MISTRAL}; {_VLLM}; {_COHERE}; {_RESPONSES}; OpenRouter; Z.ai",
        told=tr("The provider ended the reply with an error of its own"),
        remedy=_AGAIN,
    ),
    Ending(
        words=("insufficient_system_resource",),
        kind=StopKind.BROKEN,
        source=_DEEPSEEK,
        told=tr("The provider had no capacity to finish the reply"),
        remedy=tr("Wait a little, then press Retry"),
    ),
    Ending(
        words=("finish_reason_unspecified", "blocked_reason_unspecified", ""),
        kind=StopKind.UNKNOWN,
        source=f"{_GEMINI}; {_PROMPT}",
        told=tr("The provider gives no reason for the end; the reply may be incomplete"),
        remedy=tr(
            "Check whether the reply is complete; press Continue to get the rest, or Retry to ask again"
        ),
    ),
)

UNKNOWN = Ending(
    words=(),
    kind=StopKind.UNKNOWN,
    source="",
    told=tr("The reply ended for an unknown reason; it may be incomplete"),
    remedy=tr("Check whether the reply is complete; press Continue to get the rest, or Retry to ask again"),
)

_LONGEST_WORD = 80

NO_CALL = tr("The model ended its reply to call a tool, but called none")

_BY_WORD: Mapping[str, Ending] = {word: row for row in ENDINGS for word in row.words}

_OF_KIND: Mapping[StopKind, Ending] = {
    kind: next(row for row in ENDINGS if row.kind is kind)
    for kind in StopKind
    if kind not in {StopKind.CANCELLED, StopKind.UNKNOWN}
} | {StopKind.UNKNOWN: UNKNOWN}


_STEMS: tuple[tuple[str, str], ...] = (
    (
        "content_filter",
        r"filter|safe|unsafe|block|moderat|polic|harm|guardrail|sensitive|violat|prohibit|flagged|toxic",
    ),
    ("refusal", r"refus|declin|reject"),
    ("insufficient_system_resource", r"overload|capacity|quota|rate\Z|resource|memory|oom"),
    ("malformed_function_call", r"malform|pars|unparsable"),
    ("error", r"err|fail|exception|crash|fault|invalid"),
    (
        "abort",
        r"cancel|abort|interrupt|timeout|timed|time\Z|deadline|disconnect|kill|preempt|evict|user|client",
    ),
    ("pause_turn", r"paus|continu|suspend"),
    ("model_length", r"context|window"),
    ("length", r"max|length|limit|exceed|truncat|budget|cut|incomplete|partial|unfinished"),
    ("tool_calls", r"tool|function|call"),
)
"""Beginnings of words that tell an end in a word that is in no table, the most telling first: `token_limit`, `StoppedByUser`."""

_END = late(
    r"(?:stop(?:s|ped)?|end(?:ed)?|eo[smtg]|done|finish(?:ed)?|completed?|success(?:ful)?|succeeded|normal|ok)\Z"
)
_BESIDE_AN_END = late(
    r"(?:turn|sequence|string|words?|tokens?|id|text|message|stream|generation|model|reason|natural|found|hit|reached|of|by|the|at)\Z"
)
_NEGATIONS = frozenset(["not", "no", "un", "without", "unknown", "unspecified", "never"])
_BEGIN_OF_WORD = late(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")


def ending_of(word: str) -> Ending:
    """Meaning of a vendor's word, in any case and dress; of a word with another behind a colon, the more telling one."""
    plain = word.lower().replace("-", "_").replace(" ", "_")
    if (found := _BY_WORD.get(plain) or _BY_WORD.get(plain.removeprefix("finish_reason_"))) is not None:
        return found
    before, colon, behind = plain.partition(":")
    if colon and (told := _BY_WORD.get(behind.strip("_")) or _BY_WORD.get(before.strip("_"))):
        return told
    return _by_stems([one.lower() for one in _BEGIN_OF_WORD.split(word[:_LONGEST_WORD]) if one])


def _by_stems(words: list[str]) -> Ending:
    """Meaning of a name that is made up of words: by the most telling of them; whole only where each is a word of an end."""
    if not _NEGATIONS.isdisjoint(words):
        return UNKNOWN
    for meant, stems in _STEMS:
        if any(re.match(stems, one) for one in words):
            return _BY_WORD[meant]
    is_whole = any(map(_END.match, words)) and all(
        _END.match(one) or _BESIDE_AN_END.match(one) for one in words
    )
    return _BY_WORD["stop"] if is_whole else UNKNOWN


def is_said(word: object) -> TypeGuard[str]:
    """True of a word for an end; some servers send "" or "null" until it comes."""
    return isinstance(word, str) and word.lower() not in {"", "null", "none"}


def stop_at(
    word: str, *, has_calls: bool = False, has_refused: bool = False, explanation: str = ""
) -> Stopped:
    """End of a reply by a vendor's word.

    Args:
        has_calls: tools were called: some servers say "stop" behind a call.
        has_refused: the reply is the model's own refusal, whatever the word.
        explanation: the vendor's own, in words.
    """
    kind = ending_of(word).kind
    if has_refused and kind is StopKind.COMPLETED:
        return Stopped(kind=StopKind.REFUSED, detail="refusal")
    if has_calls and kind is StopKind.COMPLETED:
        kind = StopKind.TOOL_CALLS
    return Stopped(kind=kind, detail=f"{word}: {explanation}" if explanation else word)


def told_of(stopped: Stopped) -> tuple[str, str]:
    """Words for a person about an end that is none of a whole reply, with the vendor's own, and the remedy."""
    row = ending_of(stopped.detail)
    if row.kind is not stopped.kind:
        row = ending_of(stopped.detail.partition(":")[0])
    if row.kind is not stopped.kind:
        row = _OF_KIND[stopped.kind]
    return spliced("{} ({})", row.told, stopped.detail) if stopped.detail else row.told, row.remedy
