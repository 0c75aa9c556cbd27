"""Exports of chats as public reports and the programs' own sources show them, each through the whole import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.core.imports.brought import (
    Brought,
    T,
    check,
    gpt,
    lines,
    msg,
)

CASES = [
    Brought(
        id="llm: an answer of a tool has no prompt (simonw/llm 0.36, llm logs)",
        files={
            "logs.md": "# 2026-11-30T18:43:01    conversation: c1 id: r1\n\nModel: **loop**\n\n## Prompt\n\nWhen?\n\n## Response\n\n"
            "### Tool calls\n\n- **now**: `c20_0`\n\n# 2026-11-30T18:43:02    conversation: c1 id: r2\n\nModel: **loop**\n\n## Prompt\n\n"
            "-- none --\n\n### Tool results\n\n- **now**: `c20_0`\n\n## Response\n\nAt noon.\n"
        },
        person=["When?"],
        has=["At noon."],
    ),
    Brought(
        id="aider: the model that its head names (Aider-AI/aider 0.86)",
        files={
            ".aider.chat.history.md": "\n# aider chat started at 2026-11-30 18:43:48\n\n> Aider v0.86.2  \n"
            "> Model: openai/loop-1 with whole edit format  \n> Git repo: none  \n\n#### When?  \n\nAt noon.\n\n> Tokens: 593 sent, 17 received.  \n"
        },
        person=["When?"],
        models=["openai/loop-1"],
    ),
    Brought(
        id="Codex: the stream of codex exec --json (openai/codex#4177)",
        files={
            "out.jsonl": lines(
                {"type": "thread.started", "thread_id": "t"},
                {"type": "turn.started"},
                {"type": "item.completed", "item": {"id": "i0", "type": "reasoning", "text": "hm"}},
                {
                    "type": "item.completed",
                    "item": {
                        "id": "i1",
                        "type": "command_execution",
                        "command": "ls",
                        "aggregated_output": "a",
                        "exit_code": 0,
                        "status": "completed",
                    },
                },
                {"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "At noon."}},
                {"type": "turn.completed", "usage": {}},
            )
        },
        has=["At noon."],
    ),
    Brought(
        id="Gemini CLI: Qwen Code, its child: rows as Claude Code's with Gemini's parts (QwenLM/qwen-code chats/*.jsonl)",
        files={
            "s.jsonl": lines(
                *[
                    {
                        "uuid": f"q{n}",
                        "parentUuid": f"q{n - 1}" if n > 1 else None,
                        "sessionId": "s",
                        "timestamp": T % n,
                        "type": t,
                        "cwd": "/srv",
                        "message": {"role": r, "parts": [{"text": x}]},
                    }
                    for n, (t, r, x) in enumerate(
                        (("user", "user", "When?"), ("assistant", "model", "At noon.")), 1
                    )
                ]
            )
        },
        said=[["u: When?", "a: At noon."]],
    ),
    Brought(
        id="Cline: Roo Code: a condensed task (RooCodeInc/Roo-Code: isSummary, condenseParent)",
        files={
            "api_conversation_history.json": json.dumps(
                [
                    {
                        "role": "user",
                        "content": [{"type": "text", "text": "<task>\nBuild\n</task>"}],
                        "ts": 1793000000000,
                    },
                    {
                        "role": "assistant",
                        "content": [{"type": "text", "text": "Built."}],
                        "ts": 1793000001000,
                    },
                    {
                        "role": "assistant",
                        "content": [{"type": "text", "text": "SUMMARY of the task"}],
                        "ts": 1793000002000,
                        "isSummary": True,
                    },
                    {
                        "role": "user",
                        "content": [{"type": "text", "text": "<user_message>\nMore\n</user_message>"}],
                        "ts": 1793000003000,
                    },
                    {
                        "role": "assistant",
                        "content": [{"type": "text", "text": "More built."}],
                        "ts": 1793000004000,
                    },
                ]
            )
        },
        said=[["u: Build", "a: Built.", "u: More", "a: More built."]],
    ),
    Brought(
        id="Cline: a task's answer to ask_followup_question, with feedback and pictures (cline/cline: <answer>, <feedback>, image blocks)",
        files={
            "api_conversation_history.json": json.dumps(
                [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "<task>\nBuild it.\n</task>"},
                            {"type": "text", "text": "<environment_details>\nx\n</environment_details>"},
                        ],
                    },
                    {
                        "role": "assistant",
                        "content": [
                            {"type": "text", "text": "Which?"},
                            {
                                "type": "tool_use",
                                "id": "t",
                                "name": "ask_followup_question",
                                "input": {"question": "Which?"},
                            },
                        ],
                    },
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "tool_result",
                                "tool_use_id": "t",
                                "content": [{"type": "text", "text": "<answer>\nThe red one\n</answer>"}],
                            },
                            {"type": "text", "text": "<environment_details>\nx\n</environment_details>"},
                        ],
                    },
                    {"role": "assistant", "content": [{"type": "text", "text": "Red it is."}]},
                ]
            )
        },
        person=["Build it.", "The red one"],
        has=["Red it is."],
    ),
    Brought(
        id="Cline: a task's folder: what the model was sent beside what was shown (cline/cline, api_conversation_history.json and ui_messages.json)",
        files={
            "tasks/17/api_conversation_history.json": json.dumps(
                [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "<task>\nWhen?\n</task>"},
                            {"type": "text", "text": "<environment_details>\nfiles\n</environment_details>"},
                        ],
                    },
                    {"role": "assistant", "content": [{"type": "text", "text": "At noon."}]},
                ]
            ),
            "tasks/17/ui_messages.json": json.dumps(
                [
                    {"ts": 1793000000000, "type": "say", "say": "text", "text": "When?"},
                    {"ts": 1793000001000, "type": "say", "say": "api_req_started", "text": "{}"},
                    {"ts": 1793000002000, "type": "say", "say": "text", "text": "At noon."},
                ]
            ),
            "tasks/17/task_metadata.json": json.dumps({"files_in_context": [], "model_usage": []}),
        },
        said=[["u: When?", "a: At noon."]],
    ),
    Brought(
        id="ChatGPT: a person's standing instructions are not their message (custom instructions in exports: user_editable_context)",
        files={
            "conversations.json": gpt(
                msg("system", "", metadata={"is_visually_hidden_from_conversation": True}),
                msg(
                    "user",
                    kind="user_editable_context",
                    content={"user_profile": "Preface: I am a sailor", "user_instructions": "Be terse."},
                    metadata={
                        "is_user_system_message": True,
                        "user_context_message_data": {"about_user_message": "sailor"},
                    },
                ),
                msg("user", "When?"),
                msg("assistant", "At noon.", metadata={"model_slug": "gpt-5"}),
            )
        },
        said=[["u: When?", "a: At noon."]],
        models=["gpt-5"],
    ),
    Brought(
        id="ChatGPT: thoughts, code and what it printed (exports of reasoning models: thoughts, reasoning_recap, code, execution_output)",
        files={
            "conversations.json": gpt(
                msg("user", "Count."),
                msg(
                    "assistant",
                    kind="thoughts",
                    content={
                        "thoughts": [{"summary": "Counting", "content": "I count."}],
                        "source_analysis_msg_id": "x",
                    },
                ),
                msg(
                    "assistant",
                    kind="code",
                    content={"language": "python", "text": "print(3)"},
                    recipient="python",
                ),
                msg("tool", kind="execution_output", content={"text": "3\n"}, author={"name": "python"}),
                msg("assistant", kind="reasoning_recap", content={"content": "Thought for 4s"}),
                msg("assistant", "There are 3."),
            )
        },
        person=["Count."],
        has=["There are 3.", "print(3)"],
        has_not=["source_analysis"],
    ),
    Brought(
        id="ChatGPT: a conversation by voice (exports with audio_transcription and real_time_user_audio_video_asset_pointer)",
        files={
            "conversations.json": gpt(
                msg(
                    "user",
                    {
                        "content_type": "audio_transcription",
                        "text": "When is high water?",
                        "direction": "in",
                        "decoding_id": None,
                    },
                    {
                        "content_type": "real_time_user_audio_video_asset_pointer",
                        "audio_asset_pointer": {
                            "content_type": "audio_asset_pointer",
                            "asset_pointer": "sediment://file_1",
                            "size_bytes": 5,
                            "format": "wav",
                        },
                        "video_container_asset_pointer": None,
                        "frames_asset_pointers": [],
                    },
                    kind="multimodal_text",
                ),
                msg(
                    "assistant",
                    {"content_type": "audio_transcription", "text": "At noon.", "direction": "out"},
                    {
                        "content_type": "audio_asset_pointer",
                        "asset_pointer": "sediment://file_2",
                        "size_bytes": 9,
                        "format": "wav",
                    },
                    kind="multimodal_text",
                ),
            )
        },
        roles="ua",
        has=["When is high water?", "At noon."],
    ),
    Brought(
        id="Claude: one conversation as the site's own interface gives it, with its model (agoramachina/claude-exporter; CherryHQ/cherry-studio#12506)",
        files={
            "Tides.json": json.dumps(
                {
                    "uuid": "q1",
                    "name": "Tides",
                    "summary": "",
                    "model": "claude-opus-4-5-20251101",
                    "created_at": "2026-01-18T10:00:00.000000+00:00",
                    "updated_at": "2026-01-18T10:01:00.000000+00:00",
                    "settings": {"paprika_mode": "extended"},
                    "is_starred": False,
                    "current_leaf_message_uuid": "b",
                    "chat_messages": [
                        {
                            "uuid": "a",
                            "text": "",
                            "content": [
                                {"start_timestamp": "x", "type": "text", "text": "When?", "citations": []}
                            ],
                            "sender": "human",
                            "index": 0,
                            "created_at": "2026-01-18T10:00:01Z",
                            "attachments": [],
                            "files_v2": [],
                            "files": [],
                            "sync_sources": [],
                            "parent_message_uuid": "00000000-0000-4000-8000-000000000000",
                        },
                        {
                            "uuid": "b",
                            "text": "",
                            "content": [
                                {
                                    "type": "thinking",
                                    "thinking": "Tides.",
                                    "summaries": [{"summary": "Thinking of tides"}],
                                    "cut_off": False,
                                },
                                {"type": "text", "text": "At noon.", "citations": []},
                            ],
                            "sender": "assistant",
                            "index": 1,
                            "created_at": "2026-01-18T10:00:02Z",
                            "attachments": [],
                            "files": [],
                            "parent_message_uuid": "a",
                            "stop_reason": "end_turn",
                        },
                    ],
                }
            )
        },
        roles="ua",
        has=["When?", "At noon."],
        models=["claude-opus-4-5-20251101"],
        title="Tides",
    ),
    Brought(
        id="aider: two sessions in one history, one of them empty, answers to its own questions (aider/io.py: headers, confirm_ask)",
        files={
            ".aider.chat.history.md": "\n# aider chat started at 2026-10-01 08:00:00\n\n> /usr/bin/aider  \n> Aider v0.86.1  \n\n# aider chat started at 2026-10-01 09:00:00\n\n> Aider v0.86.1  \n\n#### fix the gate  \n\nI fix it.\n\n```\n#### no heading of a person\n> no word of aider\n```\n\n> Add gate.py to the chat? (Y)es/(N)o/(D)on't ask again [Yes]: y  \n> Applied edit to gate.py  \n\n#### thanks  \n\nGladly.\n"
        },
        named=".aider.chat.history.md",
        person=["fix the gate", "thanks"],
        has=["#### no heading of a person", "> no word of aider"],
        roles="uaua",
    ),
    Brought(
        id="ChatGPT: a document that was edited three times (canvas: canmore.create_textdoc, update_textdoc, comment_textdoc)",
        files={
            "conversations.json": gpt(
                msg("user", "Write a poem."),
                msg(
                    "assistant",
                    json.dumps({"name": "Poem", "type": "document", "content": "Roses\nare red."}),
                    recipient="canmore.create_textdoc",
                ),
                msg("tool", "Successfully created text document", author={"name": "canmore.create_textdoc"}),
                msg("assistant", "Here it is."),
                msg("user", "Blue!"),
                msg(
                    "assistant",
                    json.dumps(
                        {"updates": [{"pattern": ".*", "multiple": False, "replacement": "Roses\nare blue."}]}
                    ),
                    recipient="canmore.update_textdoc",
                ),
                msg("assistant", "Changed."),
            )
        },
        person=["Write a poem.", "Blue!"],
        has=["Roses\nare red.", "Roses\nare blue.", "Changed."],
    ),
    Brought(
        id="ChatGPT: a picture that was made, and the prompt it was made of (image_asset_pointer of a tool with dalle metadata; gizmo conversations)",
        files={
            "conversations.json": gpt(
                msg("user", "Draw an owl."),
                msg(
                    "assistant",
                    json.dumps({"prompt": "an owl", "size": "1024x1024"}),
                    kind="code",
                    content={"language": "json", "text": '{"prompt": "an owl"}'},
                    recipient="t2uay3k.sj1i4kz",
                ),
                msg(
                    "tool",
                    {
                        "content_type": "image_asset_pointer",
                        "asset_pointer": "sediment://file_9",
                        "size_bytes": 9,
                        "width": 10,
                        "height": 10,
                        "metadata": {"dalle": {"prompt": "an owl"}},
                    },
                    kind="multimodal_text",
                    author={"name": "t2uay3k.sj1i4kz"},
                ),
                msg("assistant", "Here is your owl."),
            )
        },
        person=["Draw an owl."],
        has=["Here is your owl.", "an owl"],
    ),
    Brought(
        id='ChatGPT: an export whose file is an object around the list, and one gzipped by a browser extension (exporters that write {\\"conversations\\": […]})',
        files={
            "all.json": json.dumps(
                {
                    "exported_at": "2026-01-01",
                    "conversations": json.loads(gpt(msg("user", "When?"), msg("assistant", "At noon."))),
                }
            )
        },
        said=[["u: When?", "a: At noon."]],
    ),
    Brought(
        id="Claude: files of the analysis tool and of search, with citations (exports of 2026: tool_use web_search, tool_result knowledge, citations)",
        files={
            "conversations.json": json.dumps(
                [
                    {
                        "uuid": "q",
                        "name": "Tides",
                        "created_at": "2026-02-01T10:00:00Z",
                        "chat_messages": [
                            {
                                "uuid": "1",
                                "sender": "human",
                                "text": "When?",
                                "content": [{"type": "text", "text": "When?"}],
                                "created_at": "2026-02-01T10:00:00Z",
                                "attachments": [],
                                "files": [{"file_name": "chart.png", "file_uuid": "f"}],
                            },
                            {
                                "uuid": "2",
                                "sender": "assistant",
                                "text": "At noon.",
                                "content": [
                                    {"type": "tool_use", "name": "web_search", "input": {"query": "tides"}},
                                    {
                                        "type": "tool_result",
                                        "name": "web_search",
                                        "content": [
                                            {
                                                "type": "knowledge",
                                                "title": "Tide table",
                                                "url": "https://t.example/x",
                                                "text": "noon",
                                            }
                                        ],
                                    },
                                    {
                                        "type": "text",
                                        "text": "At noon.",
                                        "citations": [
                                            {
                                                "start_index": 0,
                                                "end_index": 7,
                                                "details": {
                                                    "type": "web_search_citation",
                                                    "url": "https://t.example/x",
                                                },
                                            }
                                        ],
                                    },
                                ],
                                "created_at": "2026-02-01T10:00:05Z",
                                "attachments": [],
                                "files": [],
                            },
                        ],
                    }
                ]
            )
        },
        roles="ua",
        has=["chart.png", "https://t.example/x", "At noon"],
        person=["When? [attached chart.png]"],
    ),
    Brought(
        id="Claude: a message that was edited: two roots (parent_message_uuid of the first message edited)",
        files={
            "conversations.json": json.dumps(
                [
                    {
                        "uuid": "q",
                        "name": "Birds",
                        "created_at": "2026-02-01T10:00:00Z",
                        "current_leaf_message_uuid": "d",
                        "chat_messages": [
                            {
                                "uuid": k,
                                "sender": s,
                                "text": t,
                                "content": [{"type": "text", "text": t}],
                                "created_at": "2026-02-01T10:00:00Z",
                                "parent_message_uuid": p,
                            }
                            for k, s, t, p in (
                                ("a", "human", "Bird?", "00000000-0000-4000-8000-000000000000"),
                                ("b", "assistant", "Owl.", "a"),
                                ("c", "human", "Small bird?", "00000000-0000-4000-8000-000000000000"),
                                ("d", "assistant", "Wren.", "c"),
                            )
                        ],
                    }
                ]
            )
        },
        said=[["u: Small bird?", "a: Wren."], ["u: Bird?", "a: Owl."]],
        talks=2,
    ),
    Brought(
        id='Open WebUI: two models side by side, an error, sources and thoughts (open-webui chat export: models, sources, error, <details type=\\"reasoning\\">)',
        files={
            "chat-export.json": json.dumps(
                [
                    {
                        "id": "w1",
                        "user_id": "x",
                        "title": "Tides",
                        "chat": {
                            "title": "Tides",
                            "models": ["a", "b"],
                            "history": {
                                "currentId": "m2",
                                "messages": {
                                    "u1": {
                                        "id": "u1",
                                        "parentId": None,
                                        "childrenIds": ["m1", "m2"],
                                        "role": "user",
                                        "content": "When?",
                                        "timestamp": 1793000000,
                                        "models": ["a", "b"],
                                    },
                                    "m1": {
                                        "id": "m1",
                                        "parentId": "u1",
                                        "childrenIds": [],
                                        "role": "assistant",
                                        "content": "",
                                        "error": {"content": "quota"},
                                        "model": "a",
                                        "timestamp": 1793000001,
                                    },
                                    "m2": {
                                        "id": "m2",
                                        "parentId": "u1",
                                        "childrenIds": [],
                                        "role": "assistant",
                                        "content": '<details type="reasoning" done="true" duration="3">\n<summary>Thought for 3 seconds</summary>\n&gt; tides\n</details>\nAt noon.',
                                        "model": "b",
                                        "sources": [{"source": {"name": "t.pdf"}}],
                                        "timestamp": 1793000002,
                                    },
                                },
                            },
                        },
                        "created_at": 1793000000,
                    }
                ]
            )
        },
        roles="ua",
        has=["At noon."],
        has_not=["quota", "<details"],
        models=["b"],
    ),
    Brought(
        id="LibreChat: an agent's steps: text, call, text (danny-avila/LibreChat export: content parts with tool_call and think)",
        files={
            "l.json": json.dumps(
                {
                    "conversationId": "l1",
                    "title": "Tides",
                    "endpoint": "agents",
                    "messages": [
                        {
                            "messageId": "1",
                            "parentMessageId": "00000000-0000-0000-0000-000000000000",
                            "isCreatedByUser": True,
                            "sender": "User",
                            "text": "When?",
                            "createdAt": "2026-03-01T10:00:00Z",
                        },
                        {
                            "messageId": "2",
                            "parentMessageId": "1",
                            "isCreatedByUser": False,
                            "sender": "Agent",
                            "model": "agent_1",
                            "text": "",
                            "content": [
                                {"type": "think", "think": "hm"},
                                {"type": "text", "text": "I look."},
                                {
                                    "type": "tool_call",
                                    "tool_call": {"id": "c", "name": "tide", "args": "{}", "output": "noon"},
                                },
                                {"type": "text", "text": {"value": "At noon."}},
                                {"type": "error", "error": "late"},
                            ],
                            "createdAt": "2026-03-01T10:00:05Z",
                        },
                    ],
                }
            )
        },
        roles="ua",
        has=["I look.", "noon", "At noon."],
        has_not=["late"],
    ),
    Brought(
        id="ShareGPT: plain threads with `from` and `value`, tools and a system text (ShareGPT data sets with function_call and observation)",
        files={
            "s.jsonl": lines(
                {
                    "id": "x",
                    "conversations": [
                        {"from": "system", "value": "Be good"},
                        {"from": "human", "value": "When?"},
                        {"from": "function_call", "value": '{"name":"tide"}'},
                        {"from": "observation", "value": "noon"},
                        {"from": "gpt", "value": "At noon."},
                    ],
                }
            )
        },
        roles="uaaa",
        has=["At noon.", "noon"],
        has_not=["Be good"],
    ),
    Brought(
        id="aider: a template reply with a fence of `####` and a quote, a summary, and the /ask of architect mode (Aider-AI/aider architect mode, /undo, /run output)",
        files={
            ".aider.chat.history.md": "\n# aider chat started at 2026-10-01 08:00:00\n\n> Aider v0.86.1  \n> Model: opus with architect edit format  \n\n#### /architect raise the wall  \n\nI would raise it:\n\nwall.py\n```python\n<<<<<<< SEARCH\nheight = 2\n=======\nheight = 4\n>>>>>>> REPLACE\n```\n\n> Edit the files? (Y)es/(N)o [Yes]: y  \n\n#### /run pytest  \n> 1 passed  \n\n#### looks good, now the gate  \n\n#### Steps\n\n1. Open it.\n"
        },
        named=".aider.chat.history.md",
        person=["/architect raise the wall", "/run pytest", "looks good, now the gate"],
        has=[">>>>>>> REPLACE", "#### Steps"],
    ),
    Brought(
        id="SpecStory: a session of another agent with tools and thoughts (specstoryai/getspecstory#139; markdown.go of the CLI 1.0)",
        files={
            "2026-10-01.md": '<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n<!-- Codex CLI Session 0199c2a0-1111-7222-8333-944445555666 (2026-10-01 08:00:00Z) -->\n\n_**User (2026-10-01 08:00:00Z)**_\n\nWhen?\n\n---\n\n_**Agent (gpt-6.1-codex 2026-10-01 08:00:05Z)**_\n\n<think><details><summary>Thought Process</summary>\nI think of tides.</details></think>\n\n---\n\n_**Agent (gpt-6.1-codex 2026-10-01 08:00:07Z)**_\n\n<tool-use data-tool-type="shell" data-tool-name="exec_command"><details>\n<summary>Tool use: **exec_command**</summary>\n\n`date`\n\n</details></tool-use>\n\n---\n\n_**Agent (gpt-6.1-codex 2026-10-01 08:00:09Z)**_\n\nAt noon.\n\n---\n'
        },
        named="2026-10-01.md",
        person=["When?"],
        has=["At noon."],
        has_not=["<think>", "<tool-use"],
        models=["gpt-6.1-codex"],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_brought_is_taken_as_it_was_said(case: Brought, tmp_path: Path) -> None:
    check(case, tmp_path)
