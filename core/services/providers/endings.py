"""Endings of replies: what each vendor's word for the end means here, what a person is told of it, and what helps.

One table for all vendors: servers behind gateways give one another's words, in their own case. A word that is not here
says nothing about the reply: it counts as not whole, and the person reads the word.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

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


_AGAIN = "Press Retry, or choose another model"
_REWORD = "Say it in other words, or choose another model"
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
    Ending(("stop",), StopKind.COMPLETED, f"{_OPENAI}; {_GEMINI}; {_VLLM}"),
    Ending(("end_turn", "stop_sequence"), StopKind.COMPLETED, f"{_ANTHROPIC}; {_BEDROCK}"),
    Ending(("completed",), StopKind.COMPLETED, _RESPONSES),
    Ending(("complete",), StopKind.COMPLETED, _COHERE),
    Ending(("eos", "eos_token"), StopKind.COMPLETED, "Together AI and TGI, finish_reason"),
    Ending(
        ("[done]",),
        StopKind.COMPLETED,
        "servers of Chat Completions that give no finish_reason: the end of the stream",
    ),
    Ending(("tool_calls", "function_call"), StopKind.TOOL_CALLS, f"{_OPENAI}; groq 1.7.0; {_MISTRAL}"),
    Ending(("tool_use",), StopKind.TOOL_CALLS, f"{_ANTHROPIC}; {_BEDROCK}"),
    Ending(("tool_call",), StopKind.TOOL_CALLS, _COHERE),
    # Cut off at a limit.
    Ending(
        ("length", "max_tokens", "max_output_tokens"),
        StopKind.TRUNCATED,
        f"{_OPENAI}; {_ANTHROPIC}; {_GEMINI}; {_RESPONSES}",
        "The reply was cut off at the output limit",
        "Press Continue for the rest, or raise the limit of the reply",
    ),
    Ending(
        ("model_context_window_exceeded", "model_length", "error_limit"),
        StopKind.TRUNCATED,
        f"{_ANTHROPIC}; {_MISTRAL}; {_COHERE}; Z.ai",
        "The reply was cut off where the model's window was full",
        "Make the discussion shorter, take files out of its preset, or choose a model with a larger window",
    ),
    Ending(
        ("pause_turn", "continuation", "compaction", "steered"),
        StopKind.TRUNCATED,
        f"{_ANTHROPIC}; {_GEMINI}; {_RESPONSES}",
        "The provider paused the reply before its end",
        "Press Continue for the rest",
    ),
    Ending(
        ("too_many_tool_calls", "max_messages"),
        StopKind.TRUNCATED,
        f"{_GEMINI}; {_RESPONSES}",
        "The provider ended the reply at its limit of steps",
        "Press Continue for the rest",
    ),
    Ending(
        ("incomplete", "in_progress", "queued"),
        StopKind.TRUNCATED,
        _RESPONSES,
        "The provider ended the reply before it was complete",
        "Press Continue for the rest, or Retry",
    ),
    Ending(
        ("other", "image_other", "abort", "cancelled", "user_cancel", "timeout"),
        StopKind.TRUNCATED,
        f"{_GEMINI}; {_VLLM}; {_RESPONSES}; {_COHERE}",
        "The provider broke the reply off and gives no cause",
        "Press Retry",
    ),
    # Declined, by the model or a filter.
    Ending(
        ("refusal",), StopKind.REFUSED, f"{_ANTHROPIC}; {_RESPONSES}", "The model declined to answer", _REWORD
    ),
    Ending(
        (
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
        StopKind.REFUSED,
        f"{_OPENAI}; {_RESPONSES}; {_GEMINI}; {_COHERE}; {_BEDROCK}; Z.ai",
        "A content filter of the provider stopped the reply",
        _REWORD,
    ),
    Ending(
        ("jailbreak",),
        StopKind.REFUSED,
        _PROMPT,
        "A content filter of the provider blocked the message",
        _REWORD,
    ),
    Ending(
        ("recitation", "image_recitation"),
        StopKind.REFUSED,
        _GEMINI,
        "The provider stopped the reply because it repeats a published text",
        _REWORD,
    ),
    Ending(
        ("language",),
        StopKind.REFUSED,
        _GEMINI,
        "The model does not take the language of this message",
        "Write in another language, or choose another model",
    ),
    Ending(
        ("pup_limited_disabled",),
        StopKind.REFUSED,
        _GEMINI,
        "The provider has limited or disabled this account",
        "Look at the account's notices at the provider, or choose another provider",
    ),
    # Broken by the model or the server.
    Ending(
        ("malformed_function_call", "unexpected_tool_call", "malformed_tool_use"),
        StopKind.BROKEN,
        f"{_GEMINI}; {_BEDROCK}",
        "The model called a tool in a form that cannot be read",
        _AGAIN,
    ),
    Ending(
        ("malformed_response", "malformed_model_output", "no_image", "repetition"),
        StopKind.BROKEN,
        f"{_GEMINI}; {_BEDROCK}; {_VLLM}",
        "The model's reply is malformed",
        _AGAIN,
    ),
    Ending(
        ("missing_thought_signature",),
        StopKind.BROKEN,
        _GEMINI,
        "The model's reply is malformed: the provider misses a signature of its own reasoning",
        "Send it again in a new discussion, or choose another model",
    ),
    Ending(
        ("error", "failed", "network_error"),
        StopKind.BROKEN,
        f"{_MISTRAL}; {_VLLM}; {_COHERE}; {_RESPONSES}; OpenRouter; Z.ai",
        "The provider broke the reply off with an error of its own",
        _AGAIN,
    ),
    Ending(
        ("insufficient_system_resource",),
        StopKind.BROKEN,
        _DEEPSEEK,
        "The provider had no capacity to finish the reply",
        "Wait a little, then press Retry",
    ),
    Ending(
        ("finish_reason_unspecified", "blocked_reason_unspecified", ""),
        StopKind.UNKNOWN,
        f"{_GEMINI}; {_PROMPT}",
        "The provider does not say why the reply ended, so it may not be whole",
        "Read whether it is whole; press Continue for the rest, or Retry",
    ),
)

UNKNOWN = Ending(
    (),
    StopKind.UNKNOWN,
    "",
    "The reply ended for a reason that this program does not know, so it may not be whole",
    "Read whether it is whole; press Continue for the rest, or Retry",
)

NO_CALL = "The model ended its reply to call a tool, and called none"

_BY_WORD: Mapping[str, Ending] = {word: row for row in ENDINGS for word in row.words}

_OF_KIND: Mapping[StopKind, Ending] = {
    kind: next(row for row in ENDINGS if row.kind is kind)
    for kind in StopKind
    if kind not in {StopKind.CANCELLED, StopKind.UNKNOWN}
} | {StopKind.UNKNOWN: UNKNOWN}


def ending_of(word: str) -> Ending:
    """Meaning of a vendor's word, in any case."""
    return _BY_WORD.get(word.lower(), UNKNOWN)


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
        return Stopped(StopKind.REFUSED, "refusal")
    if has_calls and kind is StopKind.COMPLETED:
        kind = StopKind.TOOL_CALLS
    return Stopped(kind, f"{word}: {explanation}" if explanation else word)


def told_of(stopped: Stopped) -> tuple[str, str]:
    """Words for a person about an end that is none of a whole reply, with the vendor's own, and the remedy."""
    row = ending_of(stopped.detail.partition(":")[0])
    if row.kind is not stopped.kind:
        row = _OF_KIND[stopped.kind]
    return f"{row.told} ({stopped.detail})" if stopped.detail else row.told, row.remedy
