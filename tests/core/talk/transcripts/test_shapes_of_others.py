"""Shapes of Zed, Cline, lists for training, Takeout, and texts."""

from __future__ import annotations

import json

import pytest

from core.kernel.values.imports import TranscriptKind
from tests.core.talk.transcripts.shapes import Shape, check

OTHERS = [
    Shape(
        id="Zed: a thread of 0.3.0",
        kind=TranscriptKind.ZED,
        data=json.dumps(
            {
                "title": "Pumps",
                "messages": [
                    {
                        "User": {
                            "id": "1",
                            "content": [
                                {"Text": "Look at "},
                                {
                                    "Mention": {
                                        "uri": {"File": {"abs_path": "/w/a.rs"}},
                                        "content": "fn a() {}",
                                    }
                                },
                            ],
                        }
                    },
                    {
                        "Agent": {
                            "content": [
                                {"Thinking": {"text": "Hm.", "signature": None}},
                                {
                                    "ToolUse": {
                                        "id": "t",
                                        "name": "grep",
                                        "raw_input": "{}",
                                        "input": {"regex": "a"},
                                        "is_input_complete": True,
                                    }
                                },
                            ],
                            "tool_results": {
                                "t": {
                                    "tool_use_id": "t",
                                    "tool_name": "grep",
                                    "is_error": False,
                                    "content": [{"Text": "a.rs:1"}],
                                    "output": None,
                                }
                            },
                            "reasoning_details": None,
                        }
                    },
                    "Resume",
                    {"Agent": {"content": [{"Text": "Seen."}], "tool_results": {}}},
                ],
                "updated_at": "2026-10-01T08:00:00Z",
                "model": {"provider": "anthropic", "model": "claude-opus-4-8"},
                "version": "0.3.0",
            }
        ),
        said=(
            (
                "u: Look at | (file) a.rs",
                'a: (thinks) Hm. | (calls grep) {"regex": "a"} | (result) a.rs:1',
                "a: Seen.",
            ),
        ),
        title="Pumps",
        models=("claude-opus-4-8",),
    ),
    Shape(
        id="Zed: a thread of 0.2.0, thoughts and tools beside the words",
        kind=TranscriptKind.ZED,
        data=json.dumps(
            {
                "version": "0.2.0",
                "summary": "Pumps",
                "updated_at": "2026-10-01T08:00:00Z",
                "messages": [
                    {"id": 0, "role": "system", "segments": [{"type": "text", "text": "Be brief."}]},
                    {
                        "id": 1,
                        "role": "user",
                        "segments": [{"type": "text", "text": "Look."}],
                        "context": "c",
                    },
                    {
                        "id": 2,
                        "role": "assistant",
                        "segments": [
                            {"type": "thinking", "text": "Hm.", "signature": "s"},
                            {"type": "text", "text": "I look."},
                        ],
                        "tool_uses": [{"id": "t", "name": "grep", "input": {"regex": "a"}}],
                        "tool_results": [
                            {
                                "tool_use_id": "t",
                                "is_error": True,
                                "content": {"Text": "none"},
                                "output": None,
                            }
                        ],
                    },
                ],
            }
        ),
        said=(("u: Look.", 'a: (thinks) Hm. | I look. | (calls grep) {"regex": "a"} | (result) none'),),
        title="Pumps",
        left_out=frozenset({"system texts"}),
    ),
    Shape(
        id="Zed: a thread from before versions",
        kind=TranscriptKind.ZED,
        data=json.dumps(
            {
                "summary": "Pumps",
                "updated_at": "2026-10-01T08:00:00Z",
                "messages": [
                    {"id": 1, "role": "user", "text": "Look.", "tool_uses": [], "tool_results": []},
                    {"id": 2, "role": "assistant", "text": "Seen.", "tool_uses": [], "tool_results": []},
                ],
                "initial_project_snapshot": None,
            }
        ),
        said=(("u: Look.", "a: Seen."),),
        title="Pumps",
    ),
    Shape(
        id="Zed: a thread opened as Markdown",
        kind=TranscriptKind.PLAIN,
        named="thread.md",
        data="## User\n\nLook.\n\n## Assistant\n\nSeen.\n",
        said=(("u: Look.", "a: Seen."),),
    ),
    Shape(
        id="Cline: a task with tools in the words (api_conversation_history.json)",
        kind=TranscriptKind.CLINE,
        data=json.dumps(
            [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "<task>\nAdd a test.\n</task>"},
                        {
                            "type": "text",
                            "text": "<environment_details>\n# Current Working Directory\n</environment_details>",
                        },
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "I look.\n<read_file>\n<path>a.py</path>\n</read_file>"}
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "[read_file for 'a.py'] Result:"},
                        {"type": "text", "text": "def a(): ..."},
                        {"type": "text", "text": "<environment_details>\nx\n</environment_details>"},
                    ],
                },
                {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "[attempt_completion] Result:"},
                        {
                            "type": "text",
                            "text": "The user has provided feedback on the results. Consider their input to continue "
                            "the task, and then attempt completion again.\n<feedback>\nOne more.\n</feedback>",
                        },
                    ],
                },
                {"role": "assistant", "content": [{"type": "text", "text": "Two now."}]},
            ]
        ),
        said=(
            (
                "u: Add a test.",
                "a: I look.\n<read_file>\n<path>a.py</path>\n</read_file>",
                "a: (result) [read_file for 'a.py'] Result:\n\ndef a(): ...",
                "a: Done.",
                "u: One more.",
                "a: Two now.",
            ),
        ),
    ),
    Shape(
        id="Cline 4: a session's messages",
        kind=TranscriptKind.CLINE,
        data=json.dumps(
            {
                "version": 1,
                "updated_at": "2026-10-01T08:00:00.000Z",
                "agent": "lead",
                "sessionId": "1790000000000_abc",
                "system_prompt": "You are Cline.",
                "messages": [
                    {"id": "1", "role": "user", "content": [{"type": "text", "text": "Add a test."}]},
                    {
                        "id": "2",
                        "role": "assistant",
                        "ts": 1790000001000,
                        "modelInfo": {"id": "claude-opus-4-8", "provider": "anthropic"},
                        "content": [
                            {"type": "thinking", "thinking": "Look first."},
                            {"type": "tool_use", "id": "t", "name": "read_files", "input": {"path": "t"}},
                        ],
                    },
                    {
                        "id": "3",
                        "role": "user",
                        "content": [{"type": "tool_result", "tool_use_id": "t", "content": "def a(): ..."}],
                    },
                    {"id": "4", "role": "assistant", "content": [{"type": "text", "text": "Added."}]},
                ],
            }
        ),
        said=(
            (
                "u: Add a test.",
                'a: (thinks) Look first. | (calls read_files) {"path": "t"}',
                "u: (result) def a(): ...",
                "a: Added.",
            ),
        ),
        models=("claude-opus-4-8",),
    ),
    Shape(
        id="ShareGPT: a list of conversations",
        kind=TranscriptKind.SHAREGPT,
        data=json.dumps(
            [
                {
                    "id": "s1",
                    "conversations": [
                        {"from": "system", "value": "Be kind."},
                        {"from": "human", "value": "Hi"},
                        {"from": "gpt", "value": "Hello"},
                    ],
                }
            ]
        ),
        said=(("u: Hi", "a: Hello"),),
        left_out=frozenset({"system texts"}),
    ),
    Shape(
        id="lines of messages, as for training",
        kind=TranscriptKind.SHAREGPT,
        data='{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [{"type": "text", '
        '"text": "Hello"}], "tool_calls": [{"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},'
        ' {"role": "tool", "tool_call_id": "t", "content": "1"}]}\n',
        said=(("u: Hi", "a: Hello | (calls f) {}", "a: (result) 1"),),
    ),
    Shape(
        id="Gemini of Takeout: a question, its file and its answer",
        kind=TranscriptKind.TAKEOUT,
        data=json.dumps(
            [
                {
                    "header": "Gemini Apps",
                    "title": "Prompted Do herons sleep?",
                    "time": "2026-10-01T08:00:00.000Z",
                    "products": ["Gemini Apps"],
                    "attachedFiles": ["heron.png"],
                    "safeHtmlItem": [
                        {"html": "<p>They <b>do</b>.</p><ul><li>On one leg &amp; calm</li></ul>"}
                    ],
                }
            ]
        ),
        said=(("u: Do herons sleep? | (file) heron.png", "a: They **do**.\n\n- On one leg & calm"),),
    ),
    Shape(
        id="Gemini of Takeout: an answer longer than any reply is read as its bare words",
        kind=TranscriptKind.TAKEOUT,
        data=json.dumps(
            [
                {
                    "header": "Gemini Apps",
                    "title": "Prompted Do herons sleep?",
                    "time": "2026-10-01T08:00:00.000Z",
                    "products": ["Gemini Apps"],
                    "safeHtmlItem": [{"html": "<p>They <b>do</b>.</p>" + "<i></i>" * 600_000}],
                }
            ]
        ),
        said=(("u: Do herons sleep?", "a: They do."),),
    ),
    Shape(
        id="Gemini of Takeout in German: the whole title is what was asked",
        kind=TranscriptKind.TAKEOUT,
        data=json.dumps(
            [
                {
                    "header": "Gemini-Apps",
                    "title": "Eingegebener Prompt: Schlafen Reiher?",
                    "time": "2026-10-01T08:00:00.000Z",
                    "products": ["Gemini-Apps"],
                    "safeHtmlItem": [{"html": "<p>Ja.</p>"}],
                }
            ]
        ),
        said=(("u: Eingegebener Prompt: Schlafen Reiher?", "a: Ja."),),
    ),
    Shape(
        id="Cursor: its export, a rule and a bold word within a reply",
        kind=TranscriptKind.PLAIN,
        named="cursor_pumps.md",
        data="# Pumps\n_Exported on 3/28/2026 at 10:44:59 PDT from Cursor (2.6.20)_\n\n---\n\n**User**\n\nWhich?\n\n---\n\n"
        "**Cursor**\n\nThis one:\n\n---\n\nbetween\n\n**User**\n\nis a word here.\n\n---\n\n**User**\n\nThanks.\n",
        said=(
            (
                "u: Which?",
                "a: This one:\n\n---\n\nbetween\n\n**User**\n\nis a word here.",
                "u: Thanks.",
            ),
        ),
        title="Pumps",
    ),
    Shape(
        id="Claude Code: /export of an older version",
        kind=TranscriptKind.PLAIN,
        named="2025-10-01-pumps.txt",
        data="╭───────────────────────╮\n│ ✻ Welcome to Claude Code! │\n╰───────────────────────╯\n\n> Which pump?\n\n"
        "⏺ Read(pumps.md)\n  ⎿  Read 12 lines\n\n⏺ The red one.\n\n> /compact \n  ⎿  Compacted\n\n> Thanks.\n\n⏺ You are welcome.\n",
        said=(
            (
                "u: Which pump?",
                "a: (calls Read) pumps.md | (result) Read 12 lines",
                "a: The red one.",
                "u: Thanks.",
                "a: You are welcome.",
            ),
        ),
    ),
]

_HEX = "7bbeb8e1441453ad999a0bbba8a46d4b"
OTHERS += [
    Shape(
        id="aider: thoughts of a reply between tags of its own",
        kind=TranscriptKind.AIDER,
        data="\n# aider chat started at 2026-11-01 09:00:00\n\n> Model: deepseek/r2 with diff edit format  \n\n#### Why?  \n\n"
        f"<thinking-content-{_HEX}>\n\nLet me see.\n\n</thinking-content-{_HEX}>\n\nBecause.\n\n"
        "> Tokens: 1k sent, 2 received.  \n",
        said=(("u: Why?", "a: (thinks) Let me see. | Because."),),
    ),
    Shape(
        id="llm logs: calls of tools before the words of a response, and their answers before the next (0.36)",
        kind=TranscriptKind.PLAIN,
        data="# 2026-12-01T02:47:55    conversation: 01m8 id: 01a\n\nModel: **tide-1**\n\n## Prompt\n\nWhat time is it?\n\n"
        "### Tools\n\n- **llm_time**: `8bf1`  \n    Returns the current time\n    Arguments: `{}`\n\n## Response\n\n"
        '### Tool calls\n\n- **llm_time**: `c0`  \n    Arguments: `{}`\n- **llm_time**: `c1`  \n    Arguments: `{"zone": "UTC"}`'
        "\n\nI call.\n\n# 2026-12-01T02:47:56    conversation: 01m8 id: 01b\n\nModel: **tide-1**\n\n## Prompt\n\n\n"
        "### Tool results\n\n- **llm_time**: `c0`  \n    ```\n    at noon\n\n    sharp\n    ```\n- **llm_time**: `c1`  \n"
        "    ```\n    two\n    ```\n\n## Response\n\nIt is noon.\n\n",
        said=(
            (
                "u: What time is it?",
                'a: I call. | (calls llm_time) {} | (calls llm_time) {"zone": "UTC"}',
                "a: (result) at noon\n\nsharp | (result) two",
                "a: It is noon.",
            ),
        ),
    ),
    Shape(
        id="Roo Code: the model's thoughts stand in blocks of reasoning",
        kind=TranscriptKind.CLINE,
        data=json.dumps(
            [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "<user_message>\nMove it\n</user_message>"}],
                },
                {
                    "role": "assistant",
                    "ts": 1793000001000,
                    "content": [
                        {"type": "reasoning", "text": "Think.", "summary": []},
                        {"type": "text", "text": "Moved."},
                    ],
                },
            ]
        ),
        said=(("u: Move it", "a: (thinks) Think. | Moved."),),
    ),
    Shape(
        id="ChatGPT: a passage of a reply to which the person speaks (targeted_reply)",
        kind=TranscriptKind.CHATGPT,
        data=json.dumps(
            [
                {
                    "title": "T",
                    "current_node": "b",
                    "mapping": {
                        "a": {
                            "message": {
                                "author": {"role": "user"},
                                "content": {"content_type": "text", "parts": ["And this?"]},
                                "metadata": {
                                    "targeted_reply": "The moon pulls.",
                                    "targeted_reply_label": "Replying to:",
                                },
                            },
                            "parent": None,
                            "children": ["b"],
                        },
                        "b": {
                            "message": {
                                "author": {"role": "assistant"},
                                "content": {"content_type": "text", "parts": ["Yes."]},
                            },
                            "parent": "a",
                            "children": [],
                        },
                    },
                }
            ]
        ),
        said=(("u: > The moon pulls.\n\nAnd this?", "a: Yes."),),
    ),
    Shape(
        id="ChatGPT by an extension: the person's name at the top is nobody's words",
        kind=TranscriptKind.PLAIN,
        data="# Ice\n\n**User:** Ann (a@b.example)\n**Created:** 10/1/2026 8:00\n**Exported:** 10/1/2026 9:00\n\n"
        "## Prompt:\nWhy?\n\n## Response:\nBecause.\n\n**User:** is no turn here.\n\n## Prompt:\nSure?\n",
        said=(("u: Why?", "a: Because.\n\n**User:** is no turn here.", "u: Sure?"),),
        title="Ice",
    ),
    Shape(
        id="Qwen's page: a reply stands in phases (content_list), within Open WebUI's tree",
        kind=TranscriptKind.OPEN_WEBUI,
        data=json.dumps(
            {
                "data": [
                    {
                        "id": "q",
                        "title": "Ice",
                        "chat": {
                            "history": {
                                "currentId": "2",
                                "messages": {
                                    "1": {
                                        "role": "user",
                                        "content": "Why?",
                                        "parentId": None,
                                        "childrenIds": ["2"],
                                    },
                                    "2": {
                                        "role": "assistant",
                                        "content": "",
                                        "parentId": "1",
                                        "childrenIds": [],
                                        "content_list": [
                                            {"phase": "think", "content": "Hm."},
                                            {"phase": "answer", "content": "Because."},
                                        ],
                                    },
                                },
                            }
                        },
                    }
                ]
            }
        ),
        said=(("u: Why?", "a: (thinks) Hm. | Because."),),
    ),
    Shape(
        id="Cline: what a task showed begins with the task, and a question stands as JSON",
        kind=TranscriptKind.CLINE,
        data=json.dumps(
            [
                {"ts": 1793000000000, "type": "say", "say": "task", "text": "Fix it"},
                {"ts": 1793000000001, "type": "say", "say": "text", "text": "I look."},
                {
                    "ts": 1793000000002,
                    "type": "ask",
                    "ask": "followup",
                    "text": '{"question": "Which?", "options": ["a", "b"]}',
                },
                {"ts": 1793000000003, "type": "say", "say": "user_feedback", "text": "b"},
            ]
        ),
        said=(("u: Fix it", "a: I look.", "a: Which?\n- a\n- b", "u: b"),),
    ),
    Shape(
        id="Cline and Roo: an answer that the person chose stands in the question; a reply in JSON stays as it is",
        kind=TranscriptKind.CLINE,
        data=json.dumps(
            [
                {"ts": 1793000000000 + at, "type": row, row: kind, "text": text}
                for at, (row, kind, text) in enumerate(
                    (
                        ("say", "task", "Fix it"),
                        ("ask", "followup", '{"question": "Which?", "options": ["a", "b"], "selected": "b"}'),
                        (
                            "ask",
                            "followup",
                            '{"question": "How?", "suggest": [{"answer": "So", "mode": "code"}]}',
                        ),
                        ("say", "user_feedback", "So"),
                        ("ask", "completion_result", '{"question": "2+2?", "answer": 4}'),
                    )
                )
            ]
        ),
        said=(
            (
                "u: Fix it",
                "a: Which?\n- a\n- b",
                "u: b",
                "a: How?\n- So",
                "u: So",
                'a: {"question": "2+2?", "answer": 4}',
            ),
        ),
    ),
    Shape(
        id="OpenCode: a turn that the person took back is a way beside the talk (info.revert)",
        kind=TranscriptKind.OPENCODE,
        data=json.dumps(
            {
                "info": {"id": "ses_1", "title": "T", "revert": {"messageID": "m3"}},
                "messages": [
                    {
                        "info": {"id": key, "sessionID": "ses_1", "role": role},
                        "parts": [{"type": "text", "text": said, "messageID": key}],
                    }
                    for key, role, said in (
                        ("m1", "user", "A fish?"),
                        ("m2", "assistant", "Pike."),
                        ("m3", "user", "A bird?"),
                        ("m4", "assistant", "Heron."),
                    )
                ],
            }
        ),
        said=(("u: A fish?", "a: Pike."), ("u: A fish?", "a: Pike.", "u: A bird?", "a: Heron.")),
    ),
    Shape(
        id="Gemini CLI: a reply in the pieces in which it arrived is one text",
        kind=TranscriptKind.GEMINI_CLI,
        data=json.dumps(
            [
                {"role": "user", "parts": [{"text": "Which?"}]},
                {"role": "model", "parts": [{"text": "It is "}, {"text": "green."}]},
            ]
        ),
        said=(("u: Which?", "a: It is green."),),
    ),
    Shape(
        id="LM Studio: what a tool answered stands as blocks in JSON",
        kind=TranscriptKind.LM_STUDIO,
        data=json.dumps(
            {
                "name": "Rain",
                "messages": [
                    {
                        "versions": [{"role": "user", "content": [{"type": "text", "text": "Rain?"}]}],
                        "currentlySelected": 0,
                    },
                    {
                        "versions": [
                            {
                                "role": "assistant",
                                "steps": [
                                    {
                                        "content": [
                                            {
                                                "type": "toolCallResult",
                                                "content": '[{"type": "text", "text": "wet"}]',
                                            }
                                        ]
                                    },
                                    {"content": [{"type": "text", "text": "Yes."}]},
                                ],
                            }
                        ],
                        "currentlySelected": 0,
                    },
                ],
            }
        ),
        said=(("u: Rain?", "a: (result) wet | Yes."),),
    ),
]

OTHERS += [
    Shape(
        id="messages of an API: thoughts beside the words, and what a server of MCP answered",
        kind=TranscriptKind.SHAREGPT,
        data=json.dumps(
            {
                "messages": [
                    {"role": "user", "content": "Rain?"},
                    {"role": "tool", "content": '[{"type": "text", "text": "wet"}]'},
                    {"role": "assistant", "content": "Yes.", "reasoning_content": "It is wet."},
                ]
            }
        ),
        said=(("u: Rain?", "a: (result) wet", "a: (thinks) It is wet. | Yes."),),
    ),
    Shape(
        id="LibreChat: a thought in a block before the words (0.7)",
        kind=TranscriptKind.LIBRECHAT,
        data=json.dumps(
            {
                "conversationId": "l",
                "title": "T",
                "messages": [
                    {"messageId": "a", "text": "Why?", "isCreatedByUser": True},
                    {
                        "messageId": "b",
                        "parentMessageId": "a",
                        "text": ":::thinking\nHmm.\n:::\n\nBecause.",
                        "isCreatedByUser": False,
                    },
                ],
            }
        ),
        said=(("u: Why?", "a: (thinks) Hmm. | Because."),),
    ),
]

SHAPES = [*OTHERS]


@pytest.mark.parametrize("shape", SHAPES, ids=[one.id for one in SHAPES])
def test_a_shape_is_read_as_its_person_saw_it(shape: Shape) -> None:
    check(shape)
