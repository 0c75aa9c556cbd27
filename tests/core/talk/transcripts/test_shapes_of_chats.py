"""Shapes of chats: Open WebUI, LibreChat, LM Studio, Cherry Studio."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.kernel.values.imports import TranscriptKind
from tests.core.talk.transcripts.shapes import Shape, check

# Open WebUI, LibreChat, LM Studio, Cherry Studio, Zed, Cline, ShareGPT, Takeout.

_OPEN_WEBUI_REPLY = (
    '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds</summary>\n'
    "&gt; It is &lt;b&gt;.\n&gt; Yes.\n</details>\n"
    '<details type="tool_calls" done="true" id="call_1" name="clock" arguments="&quot;{}&quot;" '
    'result="&quot;noon&quot;" files="" embeds="">\n<summary>Tool Executed</summary>\n</details>\nIt is noon.'
)


def _open_webui(nodes: dict[str, Any], current: str) -> str:
    chat = {
        "id": "",
        "title": "Clock",
        "models": ["llama3.2"],
        "params": {},
        "history": {"messages": nodes, "currentId": current},
        "messages": list(nodes.values()),
        "tags": [],
        "timestamp": 1790000000000,
    }
    whole = {"id": "w1", "user_id": "x", "title": "Clock", "chat": chat, "updated_at": 1790000100}
    return json.dumps([{**whole, "created_at": 1790000000, "share_id": None, "archived": False, "meta": {}}])


OTHERS = [
    Shape(
        id="Open WebUI: thoughts and a tool in folds",
        kind=TranscriptKind.OPEN_WEBUI,
        data=_open_webui(
            {
                "q": {
                    "id": "q",
                    "parentId": None,
                    "childrenIds": ["r"],
                    "role": "user",
                    "content": "Time?",
                    "timestamp": 1790000001,
                    "models": ["llama3.2"],
                    "files": [{"type": "file", "file": {"filename": "plan.pdf"}, "name": "plan.pdf"}],
                },
                "r": {
                    "id": "r",
                    "parentId": "q",
                    "childrenIds": [],
                    "role": "assistant",
                    "content": _OPEN_WEBUI_REPLY,
                    "model": "llama3.2",
                    "timestamp": 1790000002,
                    "done": True,
                },
            },
            "r",
        ),
        said=(
            (
                "u: Time? | (file) plan.pdf",
                "a: (thinks) It is <b>.\nYes. | (calls clock) {} | (result) noon | It is noon.",
            ),
        ),
        title="Clock",
        models=("llama3.2",),
        at="2026-09-21T14:13:20+00:00",
    ),
    Shape(
        id="Open WebUI: two models answered, one failed",
        kind=TranscriptKind.OPEN_WEBUI,
        data=_open_webui(
            {
                "q": {
                    "id": "q",
                    "parentId": None,
                    "childrenIds": ["a", "b"],
                    "role": "user",
                    "content": "Hi",
                },
                "a": {
                    "id": "a",
                    "parentId": "q",
                    "childrenIds": [],
                    "role": "assistant",
                    "content": "",
                    "model": "m1",
                    "error": {"content": "Connection refused"},
                },
                "b": {
                    "id": "b",
                    "parentId": "q",
                    "childrenIds": [],
                    "role": "assistant",
                    "content": "Hello",
                    "model": "m2",
                },
            },
            "b",
        ),
        said=(("u: Hi", "a: Hello"), ("u: Hi",)),
        models=("m2",),
    ),
    Shape(
        id="Open WebUI: its text file",
        kind=TranscriptKind.PLAIN,
        named="chat-Clock.txt",
        data="### USER\nTime?\n\n### ASSISTANT\nNoon.\n\n",
        said=(("u: Time?", "a: Noon."),),
    ),
    Shape(
        id="LibreChat: its JSON, each message with its answers in it",
        kind=TranscriptKind.LIBRECHAT,
        data=json.dumps(
            {
                "conversationId": "l1",
                "endpoint": "agents",
                "title": "Tide",
                "exportAt": "10:00:00 GMT+0200",
                "branches": True,
                "recursive": True,
                "messagesTree": [
                    {
                        "messageId": "1",
                        "parentMessageId": "00000000-0000-0000-0000-000000000000",
                        "sender": "User",
                        "isCreatedByUser": True,
                        "text": "When?",
                        "createdAt": "2026-10-01T08:00:00.000Z",
                        "children": [
                            {
                                "messageId": "2",
                                "parentMessageId": "1",
                                "sender": "GPT-5",
                                "model": "gpt-5",
                                "isCreatedByUser": False,
                                "text": "",
                                "content": [
                                    {"type": "think", "think": "Look."},
                                    {
                                        "type": "tool_call",
                                        "tool_call": {
                                            "id": "t",
                                            "name": "tide",
                                            "args": '{"at":"x"}',
                                            "output": "6:12",
                                        },
                                    },
                                    {"type": "text", "text": {"value": "At 6:12."}},
                                ],
                                "children": [],
                            },
                            {
                                "messageId": "3",
                                "parentMessageId": "1",
                                "sender": "GPT-5",
                                "isCreatedByUser": False,
                                "text": "At six.",
                                "children": [],
                            },
                        ],
                    }
                ],
            }
        ),
        said=(
            ("u: When?", "a: At six."),
            ("u: When?", 'a: (thinks) Look. | (calls tide) {"at":"x"} | (result) 6:12 | At 6:12.'),
        ),
        title="Tide",
    ),
    Shape(
        id="LibreChat: its JSON, a flat list, a failed reply",
        kind=TranscriptKind.LIBRECHAT,
        data=json.dumps(
            {
                "conversationId": "l2",
                "endpoint": "openAI",
                "title": "Tide",
                "messages": [
                    {
                        "messageId": "1",
                        "parentMessageId": "00000000-0000-0000-0000-000000000000",
                        "sender": "User",
                        "isCreatedByUser": True,
                        "text": "When?",
                    },
                    {
                        "messageId": "2",
                        "parentMessageId": "1",
                        "sender": "ChatGPT",
                        "isCreatedByUser": False,
                        "error": True,
                        "text": "Something went wrong.",
                    },
                    {
                        "messageId": "3",
                        "parentMessageId": "2",
                        "sender": "User",
                        "isCreatedByUser": True,
                        "text": "Again?",
                    },
                    {
                        "messageId": "4",
                        "parentMessageId": "3",
                        "sender": "ChatGPT",
                        "isCreatedByUser": False,
                        "text": "At six.",
                    },
                ],
            }
        ),
        said=(("u: When?", "u: Again?", "a: At six."),),
        left_out=frozenset({"notes of the other program"}),
    ),
    Shape(
        id="LibreChat: its Markdown, the model by its name",
        kind=TranscriptKind.PLAIN,
        named="tide.md",
        data="# Conversation\n- conversationId: l1\n- endpoint: openAI\n- title: Tide\n- exportAt: 10:00\n\n## History\n"
        "**User**\nWhen?\n\n\n**GPT-5 mini**\nAt six.\n\n**Note**\nOr later.\n\n\n**User**\nThanks.\n\n\n",
        said=(("u: When?", "a: At six.\n\n**Note**\nOr later.", "u: Thanks."),),
        title="Tide",
    ),
    Shape(
        id="LibreChat: its text",
        kind=TranscriptKind.PLAIN,
        named="tide.txt",
        data="Conversation\n########################\nconversationId: l1\nendpoint: openAI\ntitle: Tide\nexportAt: 10:00\n\n"
        "History\n########################\n>> User:\nWhen?\n\n\n>> GPT-5 mini:\nAt six.\n\n\n",
        said=(("u: When?", "a: At six."),),
        title="Tide",
    ),
    Shape(
        id="LM Studio: a reply in steps, a second version chosen",
        kind=TranscriptKind.LM_STUDIO,
        data=json.dumps(
            {
                "name": "Qwen chat",
                "createdAt": 1780959551824,
                "tokenCount": 4,
                "systemPrompt": "",
                "lastUsedModel": {"identifier": "qwen3.6-27b"},
                "messages": [
                    {
                        "versions": [
                            {
                                "type": "singleStep",
                                "role": "user",
                                "content": [
                                    {"type": "text", "text": "Hi"},
                                    {"type": "file", "fileIdentifier": "1.png", "fileType": "image"},
                                ],
                            }
                        ],
                        "currentlySelected": 0,
                    },
                    {
                        "versions": [
                            {
                                "type": "multiStep",
                                "role": "assistant",
                                "steps": [
                                    {"type": "contentBlock", "content": [{"type": "text", "text": "Old"}]}
                                ],
                            },
                            {
                                "type": "multiStep",
                                "role": "assistant",
                                "steps": [
                                    {
                                        "type": "contentBlock",
                                        "stepIdentifier": "1780959836856-0.2",
                                        "style": {"type": "thinking"},
                                        "content": [{"type": "text", "text": "A greeting."}],
                                    },
                                    {"type": "debugInfoBlock", "debugInfo": "x"},
                                    {
                                        "type": "contentBlock",
                                        "content": [{"type": "text", "text": "Hello!"}],
                                        "genInfo": {
                                            "indexedModelIdentifier": "qwen/qwen3.6-27b",
                                            "identifier": "qwen3.6-27b",
                                        },
                                    },
                                ],
                            },
                        ],
                        "currentlySelected": 1,
                    },
                ],
            }
        ),
        said=(("u: Hi | (file) 1.png", "a: (thinks) A greeting. | Hello!"),),
        title="Qwen chat",
        models=("qwen3.6-27b",),
        at="2026-06-08T22:59:11.824000+00:00",
    ),
    Shape(
        id="Cherry Studio: names of topics in the settings, two models asked at once",
        kind=TranscriptKind.CHERRY_STUDIO,
        data=json.dumps(
            {
                "time": 1790000000000,
                "version": 5,
                "localStorage": {
                    "persist:cherry-studio": json.dumps(
                        {
                            "assistants": json.dumps(
                                {
                                    "assistants": [
                                        {
                                            "id": "as",
                                            "name": "Default",
                                            "topics": [{"id": "t1", "name": "Tea"}],
                                        }
                                    ]
                                }
                            )
                        }
                    )
                },
                "indexedDB": {
                    "files": [],
                    "topics": [
                        {
                            "id": "t1",
                            "messages": [
                                {
                                    "id": "q",
                                    "role": "user",
                                    "createdAt": "2026-10-01T08:00:00.000Z",
                                    "blocks": ["b0", "b1"],
                                },
                                {
                                    "id": "r1",
                                    "role": "assistant",
                                    "askId": "q",
                                    "model": {"id": "m-1", "name": "M 1"},
                                    "blocks": ["b2"],
                                },
                                {
                                    "id": "r2",
                                    "role": "assistant",
                                    "askId": "q",
                                    "foldSelected": True,
                                    "model": {"id": "m-2", "name": "M 2"},
                                    "blocks": ["b3", "b4", "b5"],
                                },
                                {"id": "q2", "role": "user", "blocks": ["b6"]},
                                {"id": "r3", "role": "assistant", "askId": "q2", "blocks": ["b7"]},
                            ],
                        }
                    ],
                    "message_blocks": [
                        {"id": "b0", "type": "main_text", "content": "Which tea?"},
                        {
                            "id": "b1",
                            "type": "image",
                            "file": {"id": "f", "name": "f.png", "origin_name": "tin.png"},
                        },
                        {"id": "b2", "type": "main_text", "content": "Green."},
                        {"id": "b3", "type": "thinking", "content": "A tin.", "thinking_millsec": 3},
                        {"id": "b4", "type": "code", "language": "py", "content": "tea()"},
                        {"id": "b5", "type": "main_text", "content": "Black."},
                        {"id": "b6", "type": "main_text", "content": "Thanks."},
                        {"id": "b7", "type": "error", "error": {"message": "429"}},
                    ],
                },
            }
        ),
        said=(
            (
                "u: Which tea? | (file) tin.png",
                "a: (thinks) A tin. | ```py\ntea()\n``` | Black.",
                "u: Thanks.",
            ),
            ("u: Which tea? | (file) tin.png", "a: Green."),
        ),
        title="Tea",
        models=("M 1", "M 2"),
        left_out=frozenset({"notes of the other program"}),
    ),
]

SHAPES = [*OTHERS]


@pytest.mark.parametrize("shape", SHAPES, ids=[one.id for one in SHAPES])
def test_a_shape_is_read_as_its_person_saw_it(shape: Shape) -> None:
    check(shape)
