"""Shapes of exports: ChatGPT, DeepSeek, Claude."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.kernel.values.imports import TranscriptKind
from tests.core.talk.transcripts.shapes import Shape, check

# ChatGPT.


def _gpt(*messages: dict[str, Any], **more: Any) -> str:
    """An export of one conversation, each message following the one before."""
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["n1"]}}
    before = "root"
    for number, message in enumerate(messages, 1):
        key = f"n{number}"
        given = {
            "id": key,
            "create_time": 1790000000 + number,
            "recipient": "all",
            "metadata": {},
            **message,
        }
        nodes[key] = {"id": key, "message": given, "parent": before, "children": [f"n{number + 1}"]}
        before = key
    nodes[before]["children"] = []
    whole = {
        "title": "T",
        "create_time": 1790000000,
        "mapping": nodes,
        "current_node": before,
        "conversation_id": "c1",
        "default_model_slug": "gpt-5",
        **more,
    }
    return json.dumps([whole])


def _says(role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    kind = "text" if all(isinstance(one, str) for one in parts) else "multimodal_text"
    return {"author": {"role": role}, "content": {"content_type": kind, "parts": list(parts)}, **more}


CHATGPT = [
    Shape(
        id="code that ran, and what it printed",
        kind=TranscriptKind.CHATGPT,
        data=_gpt(
            _says("user", "Sum it."),
            {
                "author": {"role": "assistant"},
                "recipient": "python",
                "content": {"content_type": "code", "language": "unknown", "text": "print(1+1)"},
            },
            {
                "author": {"role": "tool", "name": "python"},
                "content": {"content_type": "execution_output", "text": "2"},
            },
            _says("assistant", "It is 2."),
        ),
        said=(("u: Sum it.", "a: (calls python) print(1+1)", "t: (result) 2", "a: It is 2."),),
    ),
    Shape(
        id="spoken words",
        kind=TranscriptKind.CHATGPT,
        data=_gpt(
            _says(
                "user",
                {
                    "content_type": "audio_transcription",
                    "text": "How far is it?",
                    "direction": "in",
                },
                {
                    "content_type": "real_time_user_audio_video_asset_pointer",
                    "audio_asset_pointer": {
                        "asset_pointer": "sediment://file_1",
                        "content_type": "audio_asset_pointer",
                    },
                },
            ),
            _says("assistant", "Four miles."),
        ),
        said=(("u: How far is it? | (file) file_1", "a: Four miles."),),
    ),
    Shape(
        id="thoughts, and the recap of them (o-series)",
        kind=TranscriptKind.CHATGPT,
        data=_gpt(
            _says("user", "Why?"),
            {
                "author": {"role": "assistant"},
                "content": {
                    "content_type": "thoughts",
                    "thoughts": [{"summary": "Looking", "content": "I look at it."}],
                },
            },
            {
                "author": {"role": "assistant"},
                "content": {"content_type": "reasoning_recap", "content": "Thought for 5s"},
            },
            _says("assistant", "Because."),
        ),
        said=(
            (
                "u: Why?",
                "a: (thinks) Looking\n\nI look at it.",
                "a: Because.",
            ),
        ),
    ),
    Shape(
        id="old marks of a source become its link (chatgpt-chat-exporter#35)",
        kind=TranscriptKind.CHATGPT,
        data=_gpt(
            _says("user", "Which?"),
            _says(
                "assistant",
                "The blue one\u30104\u2020source\u3011.",
                metadata={
                    "citations": [
                        {
                            "start_ix": 12,
                            "end_ix": 22,
                            "metadata": {
                                "type": "webpage",
                                "title": "Blue",
                                "url": "https://example.org/blue",
                                "text": "",
                            },
                        }
                    ]
                },
            ),
        ),
        said=(("u: Which?", "a: The blue one ([Blue](https://example.org/blue))."),),
    ),
    Shape(
        id="grouped pages, a hidden reference and the footnote (chatgpt-chat-exporter#38)",
        kind=TranscriptKind.CHATGPT,
        data=_gpt(
            _says("user", "News?"),
            _says(
                "assistant",
                "Rain \ue200cite\ue202turn0search1\ue202turn0search2\ue201 and wind.",
                metadata={
                    "content_references": [
                        {
                            "matched_text": "\ue200cite\ue202turn0search1\ue202turn0search2\ue201",
                            "type": "grouped_webpages",
                            "items": [
                                {"title": "Rain", "url": "https://example.org/rain"},
                                {"title": "Wet", "url": "https://example.org/wet"},
                            ],
                        },
                        {"matched_text": " ", "type": "sources_footnote", "sources": []},
                    ]
                },
            ),
        ),
        said=(
            (
                "u: News?",
                "a: Rain ([Rain](https://example.org/rain), [Wet](https://example.org/wet)) and wind.",
            ),
        ),
    ),
    Shape(
        id="a change of a canvas document (SaveMyPhind#218)",
        kind=TranscriptKind.CHATGPT,
        data=_gpt(
            _says("user", "Shorten it."),
            {
                "author": {"role": "assistant"},
                "recipient": "canmore.update_textdoc",
                "content": {
                    "content_type": "code",
                    "text": json.dumps(
                        {"updates": [{"pattern": ".*", "multiple": False, "replacement": "Line 1\nLine 2"}]}
                    ),
                },
            },
            _says("assistant", "Shorter."),
        ),
        said=(("u: Shorten it.", "a: [canmore.update_textdoc] | Line 1\nLine 2", "a: Shorter."),),
    ),
    Shape(
        id="a made picture, and the words that the painter was given",
        kind=TranscriptKind.CHATGPT,
        data=_gpt(
            _says("user", "Paint a heron."),
            {
                "author": {"role": "tool", "name": "t2uay3k.sj1i4kz"},
                "content": {
                    "content_type": "multimodal_text",
                    "parts": [
                        {
                            "content_type": "image_asset_pointer",
                            "asset_pointer": "sediment://file_2",
                            "size_bytes": 12,
                            "metadata": {"dalle": {"prompt": "a heron"}},
                        }
                    ],
                },
            },
            _says("assistant", "There it is."),
        ),
        said=(("u: Paint a heron.", "t: (file) file_2", "a: There it is."),),
    ),
    Shape(
        id="a page that was read in old exports (tether_browsing_display)",
        kind=TranscriptKind.CHATGPT,
        data=_gpt(
            _says("user", "Look it up."),
            {
                "author": {"role": "tool", "name": "browser"},
                "content": {
                    "content_type": "tether_browsing_display",
                    "result": "# 0: Herons",
                    "summary": None,
                },
            },
            _says("assistant", "Found."),
        ),
        said=(("u: Look it up.", "t: (result) # 0: Herons", "a: Found."),),
    ),
    Shape(
        id="an error of the program is no word of the model",
        kind=TranscriptKind.CHATGPT,
        data=_gpt(
            _says("user", "Go."),
            {
                "author": {"role": "tool", "name": "browser"},
                "content": {"content_type": "system_error", "name": "tool_error", "text": "Error: timeout"},
            },
            _says("assistant", "I could not."),
        ),
        said=(("u: Go.", "t: (result) Error: timeout", "a: I could not."),),
    ),
    Shape(
        id="DeepSeek's export: the same tree, the words in fragments",
        kind=TranscriptKind.CHATGPT,
        data=json.dumps(
            [
                {
                    "id": "d1",
                    "title": "Herons",
                    "inserted_at": "2026-10-01T10:00:00+08:00",
                    "mapping": {
                        "root": {"id": "root", "parent": None, "children": ["1"], "message": None},
                        "1": {
                            "id": "1",
                            "parent": "root",
                            "children": ["2"],
                            "message": {
                                "model": "deepseek-chat",
                                "inserted_at": "2026-10-01T10:00:01+08:00",
                                "fragments": [{"type": "REQUEST", "content": "Do herons sleep?"}],
                            },
                        },
                        "2": {
                            "id": "2",
                            "parent": "1",
                            "children": [],
                            "message": {
                                "model": "deepseek-chat",
                                "inserted_at": "2026-10-01T10:00:02+08:00",
                                "fragments": [
                                    {"type": "THINK", "content": "Birds sleep."},
                                    {"type": "RESPONSE", "content": "They do."},
                                ],
                            },
                        },
                    },
                }
            ]
        ),
        said=(("u: Do herons sleep?", "a: (thinks) Birds sleep. | They do."),),
        title="Herons",
        models=("deepseek-chat",),
        at="2026-10-01T02:00:00+00:00",
    ),
]


# Claude.


def _claude(*messages: dict[str, Any], **more: Any) -> str:
    made, before = [], "00000000-0000-4000-8000-000000000000"
    for number, one in enumerate(messages, 1):
        given = {"uuid": f"m{number}", "parent_message_uuid": before, "attachments": [], "files": [], **one}
        given.setdefault("text", "")
        given.setdefault("created_at", f"2026-10-01T08:{number:02}:00.000000Z")
        made.append(given)
        before = given["uuid"]
    whole = {"uuid": "c1", "name": "T", "created_at": "2026-10-01T08:00:00.000000Z", "chat_messages": made}
    return json.dumps([{**whole, **more}])


def _human(text: str, **more: Any) -> dict[str, Any]:
    return {"sender": "human", "text": text, "content": [{"type": "text", "text": text}], **more}


def _claude_says(*blocks: Any, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": one} if isinstance(one, str) else one for one in blocks]
    return {"sender": "assistant", "content": content, **more}


CLAUDE = [
    Shape(
        id="a changed artifact keeps its new lines (loominary#11)",
        kind=TranscriptKind.CLAUDE,
        data=_claude(
            _human("Change it."),
            _claude_says(
                "So.",
                {
                    "type": "tool_use",
                    "name": "artifacts",
                    "input": {
                        "command": "update",
                        "id": "poem",
                        "old_str": "a",
                        "new_str": "line one\nline two",
                    },
                },
                {
                    "type": "tool_result",
                    "name": "artifacts",
                    "content": [{"type": "text", "text": "OK"}],
                },
            ),
        ),
        said=(("u: Change it.", "a: So. | [artifacts poem]\n\nline one\nline two | (result) OK"),),
    ),
    Shape(
        id="a search with its pages, and the budget's mark",
        kind=TranscriptKind.CLAUDE,
        data=_claude(
            _human("Search."),
            _claude_says(
                {"type": "token_budget"},
                {"type": "thinking", "thinking": "I search.", "summaries": [{"summary": "Searching"}]},
                {"type": "tool_use", "name": "web_search", "input": {"query": "q"}},
                {
                    "type": "tool_result",
                    "name": "web_search",
                    "content": [
                        {
                            "type": "knowledge",
                            "title": "Page",
                            "url": "https://example.org",
                            "text": "words",
                        }
                    ],
                },
                "Found.",
            ),
        ),
        said=(
            (
                "u: Search.",
                (
                    'a: (thinks) I search. | (calls web_search) {"query": "q"} | (result) '
                    "[Page](https://example.org)\nwords | Found."
                ),
            ),
        ),
        left_out=frozenset(),
    ),
    Shape(
        id="a reply was asked for again",
        kind=TranscriptKind.CLAUDE,
        data=_claude(
            _human("One?"),
            _claude_says("First."),
            _claude_says("Second.", parent_message_uuid="m1"),
            _human("Thanks."),
            current_leaf_message_uuid="m4",
        ),
        said=(("u: One?", "a: Second.", "u: Thanks."), ("u: One?", "a: First.")),
    ),
    Shape(
        id="a file with its words, and a picture by its name",
        kind=TranscriptKind.CLAUDE,
        data=_claude(
            _human(
                "See both.",
                attachments=[
                    {
                        "file_name": "a.txt",
                        "file_size": 5,
                        "file_type": "text/plain",
                        "extracted_content": "words",
                    }
                ],
                files=[{"file_name": "b.png", "file_uuid": "f"}],
            ),
            _claude_says("Seen."),
        ),
        said=(("u: See both. | (file) a.txt | words | (file) b.png", "a: Seen."),),
    ),
    Shape(
        id="what a link stands for in a text with sources",
        kind=TranscriptKind.CLAUDE,
        data=_claude(
            _human("Source?"),
            _claude_says(
                {
                    "type": "text",
                    "text": "It rains. It is cold.",
                    "citations": [
                        {
                            "uuid": "x",
                            "start_index": 0,
                            "end_index": 9,
                            "details": {
                                "type": "web_search_citation",
                                "url": "https://example.org/rain",
                            },
                        }
                    ],
                }
            ),
        ),
        said=(("u: Source?", "a: It rains. (https://example.org/rain) It is cold."),),
    ),
]

SHAPES = [*CHATGPT, *CLAUDE]


@pytest.mark.parametrize("shape", SHAPES, ids=[one.id for one in SHAPES])
def test_a_shape_is_read_as_its_person_saw_it(shape: Shape) -> None:
    check(shape)
