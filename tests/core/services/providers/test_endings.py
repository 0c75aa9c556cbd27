"""Endings of replies: every reason in the SDKs' own types has a row, and a made-up one is never taken for a whole reply."""

from __future__ import annotations

import typing
from collections import Counter
from collections.abc import Iterator

import pytest

from core.kernel.values.provider import FAILURE_MARKS, WHOLE_REPLY, StopKind, Stopped
from core.services.providers.endings import ENDINGS, ending_of, stop_at, told_of
from tests.core.services.providers.anthropic import kit as anthropic
from tests.core.services.providers.compatible.test_client import asked as asked_compatible
from tests.core.services.providers.gemini import kit as gemini
from tests.core.services.providers.openai import kit as openai
from tests.core.services.providers.outcomes import ask
from tests.vendors.anthropic_server import AnthropicServer
from tests.vendors.anthropic_server import Said as AnthropicSaid
from tests.vendors.compatible_server import MODEL, CompatibleServer
from tests.vendors.compatible_server import Said as CompatibleSaid
from tests.vendors.gemini_server import GeminiServer
from tests.vendors.gemini_server import Said as GeminiSaid
from tests.vendors.openai_server import OpenAiServer
from tests.vendors.openai_server import Said as OpenAiSaid

NEWEST = {
    "anthropic 2.14.0": "end_turn max_tokens stop_sequence tool_use pause_turn compaction refusal "
    "model_context_window_exceeded",
    "openai 3.57.0": "stop length tool_calls content_filter function_call max_output_tokens max_messages steered "
    "completed failed in_progress cancelled queued incomplete",
    "google-genai 3.6.1": "FINISH_REASON_UNSPECIFIED STOP MAX_TOKENS SAFETY RECITATION LANGUAGE OTHER BLOCKLIST "
    "PROHIBITED_CONTENT SPII MALFORMED_FUNCTION_CALL IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_OTHER NO_IMAGE "
    "IMAGE_RECITATION UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MISSING_THOUGHT_SIGNATURE MALFORMED_RESPONSE ESCALATION "
    "PUP_LIMITED_DISABLED CONTINUATION MODEL_ARMOR BLOCKED_REASON_UNSPECIFIED JAILBREAK",
    "groq 1.7.0": "stop length tool_calls content_filter function_call",
    "mistralai 3.7.0": "stop length model_length error tool_calls",
    "DeepSeek": "stop length content_filter tool_calls insufficient_system_resource",
    "vLLM": "stop length abort error repetition",
    "Bedrock": "end_turn tool_use max_tokens stop_sequence guardrail_intervened content_filtered "
    "malformed_model_output malformed_tool_use model_context_window_exceeded",
    "Cohere": "COMPLETE STOP_SEQUENCE ERROR ERROR_TOXIC ERROR_LIMIT USER_CANCEL MAX_TOKENS TIMEOUT TOOL_CALL",
    "Ollama and llama.cpp": "stop length tool_calls",
    "Z.ai": "stop tool_calls length sensitive network_error model_context_window_exceeded",
}
"""Reasons of the newest SDKs, read on 2026-11-29, and of servers whose SDK is none of ours."""


def words_of(hint: object) -> Iterator[str]:
    """Strings that a type allows."""
    if isinstance(hint, str):
        yield hint
    for inner in typing.get_args(hint):
        yield from words_of(inner)


def installed() -> Iterator[str]:
    """Every reason in the types of the SDKs that are installed."""
    from anthropic.types import StopReason
    from anthropic.types.beta import BetaStopReason
    from google.genai.types import BlockedReason, FinishReason
    from openai.types.chat.chat_completion import Choice
    from openai.types.chat.chat_completion_chunk import Choice as Delta
    from openai.types.responses import ResponseStatus
    from openai.types.responses.response import IncompleteDetails

    for hint in (StopReason, BetaStopReason, ResponseStatus):
        yield from words_of(hint)
    for kind, name in ((Choice, "finish_reason"), (Delta, "finish_reason"), (IncompleteDetails, "reason")):
        yield from words_of(kind.model_fields[name].annotation)
    yield from (str(member.value) for members in (FinishReason, BlockedReason) for member in members)


def test_every_reason_in_the_sdks_types_has_a_row() -> None:
    known = {word for row in ENDINGS for word in row.words}
    reasons = {*installed(), *(word for words in NEWEST.values() for word in words.split())}

    assert len(reasons) > 60
    assert {word for word in reasons if word.lower() not in known} == set()


def test_each_word_stands_once_and_each_row_says_what_happened_what_helps_and_who_says_so() -> None:
    assert [
        word for word, times in Counter(w for row in ENDINGS for w in row.words).items() if times > 1
    ] == []
    for row in ENDINGS:
        assert row.source
        assert all(word == word.lower() for word in row.words)
        assert (row.told == row.remedy == "") if row.kind in WHOLE_REPLY else (row.told and row.remedy)
        assert not row.told.endswith(".")
        assert not row.remedy.endswith(".")


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("error", StopKind.BROKEN),
        ("insufficient_system_resource", StopKind.BROKEN),
        ("model_length", StopKind.TRUNCATED),
        ("max_tokens", StopKind.TRUNCATED),
        ("MAX_TOKENS", StopKind.TRUNCATED),
        ("pause_turn", StopKind.TRUNCATED),
        ("refusal", StopKind.REFUSED),
        ("a_word_of_tomorrow", StopKind.UNKNOWN),
        ("", StopKind.UNKNOWN),
    ],
)
def test_a_word_has_one_meaning_in_any_case(word: str, kind: StopKind) -> None:
    assert ending_of(word).kind is kind
    assert stop_at(word).kind is kind


def test_what_is_not_whole_stays_so_where_a_tool_was_called_or_the_model_declined() -> None:
    assert stop_at("stop", has_calls=True).kind is StopKind.TOOL_CALLS
    assert stop_at("stop", has_refused=True) == Stopped(StopKind.REFUSED, "refusal")
    for word in ("length", "error", "a_word_of_tomorrow"):
        assert stop_at(word, has_calls=True, has_refused=True).kind is ending_of(word).kind


@pytest.mark.parametrize("kind", [kind for kind in StopKind if kind.value in FAILURE_MARKS])
def test_the_person_reads_the_vendors_word_and_a_remedy(kind: StopKind) -> None:
    told, remedy = told_of(Stopped(kind, "strange_word: because"))

    assert told.endswith("(strange_word: because)")
    assert remedy


@pytest.mark.filterwarnings("ignore:made_up is not a valid FinishReason")
def test_a_made_up_reason_of_each_vendor_is_not_taken_for_a_whole_reply() -> None:
    with AnthropicServer() as one, CompatibleServer() as two, GeminiServer() as three, OpenAiServer() as four:
        one.replies.append(AnthropicSaid(stop_reason="made_up"))
        two.replies.append(CompatibleSaid(finish="made_up"))
        three.replies.append(GeminiSaid(finish_reason="made_up"))
        four.replies.append(OpenAiSaid(incomplete="made_up"))
        found = [
            anthropic.asked(one, ask("claude-opus-5-5")),
            asked_compatible(two, ask(MODEL)),
            gemini.asked(three, ask(gemini.ARGON)),
            openai.asked(four, ask("gpt-6.1-sol")),
        ]

    assert [one.stopped for one in found] == [Stopped(StopKind.UNKNOWN, "made_up")] * 4
    assert all(one.text for one in found)
