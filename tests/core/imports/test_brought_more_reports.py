"""A fifth round of sessions and exports from public reports and sources, each through the whole import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.core.imports.brought import META, PIC, Brought, T, a, cc, check, cx, gpt, lines, msg, ri, u
from tests.core.imports.test_brought_reports import said

CASES = [
    Brought(
        id="Cherry Studio: Markdown with the model's name and a fold of thoughts (CherryHQ/cherry-studio, utils/export.ts)",
        files={
            "Tides.md": "# Tides\n\n## 🧑‍💻 User\n\nWhen is ebb?\n\n---\n## 🤖 Claude Opus 4.8 | Anthropic\n\n"
            '<div style="border: 2px solid #dddddd; border-radius: 10px;">\n  <details style="padding: 5px;">\n'
            "    <summary>Thoughts</summary>\n    The moon.<br>It pulls.\n  </details>\n</div>\n\nAt six.\n\n"
            "---\n## 🧑‍💻 User\n\nThanks.\n\n---\n## 🤖 Claude Opus 4.8 | Anthropic\n\nWelcome.\n"
        },
        named="Tides.md",
        person=["When is ebb?", "Thanks."],
        has=["At six.", "Welcome."],
        has_not=["<div", "</details>"],
        roles="uaua",
        title="Tides",
    ),
    Brought(
        id="Cherry Studio: a topic as plain text (CherryHQ/cherry-studio, utils/export.ts: formatMessageAsPlainText)",
        files={
            "Tides.txt": "Tides\n\nUser:\nWhen is ebb?\n\nAssistant:\nAt six.\nAnd at noon.\n\nUser:\nThanks.\n"
        },
        named="Tides.txt",
        said=[["u: When is ebb?", "a: At six. And at noon.", "u: Thanks."]],
    ),
    Brought(
        id="Claude Code: a hook's objection and a command's result in the person's place (kenn-io/agentsview: system-injected patterns)",
        files={
            "s1.jsonl": cc(
                u("First?"),
                a("Done."),
                u("Stop hook feedback:\n- [lint]: rejected, two lines are too long"),
                u("<local-command-result>ok</local-command-result>"),
                a("Mended."),
                u("Second?"),
                a("Yes."),
            )
        },
        person=["First?", "Second?"],
        has=["Mended."],
        has_not=["Stop hook", "local-command"],
    ),
    Brought(
        id="Claude Code: a bare command behind a reminder (kenn-io/agentsview: reminder-prefixed command)",
        files={
            "s1.jsonl": cc(
                u(
                    "<system-reminder>context</system-reminder>\n<command-name>/clear</command-name>\n"
                    "<command-message>clear</command-message>\n<command-args></command-args>"
                ),
                u("<system-reminder>The file changed.</system-reminder>\n\nWhen?"),
                a("At noon."),
            )
        },
        said=[["u: When?", "a: At noon."]],
    ),
    Brought(
        id="Claude Code: a session that was renamed twice (kenn-io/agentsview: last rename wins)",
        files={
            "s1.jsonl": cc(u("When?"), a("At noon."))
            + lines(
                {"type": "custom-title", "customTitle": "Old name", "sessionId": "s1"},
                {"type": "agent-name", "agentName": "worker", "sessionId": "s1"},
                {"type": "custom-title", "customTitle": "Tide tables", "sessionId": "s1"},
            )
        },
        title="Tide tables",
    ),
    Brought(
        id="Claude Code: a session of Windows: CRLF within the words, a picture with its mark (anthropics/claude-code on Windows)",
        files={
            "s1.jsonl": cc(
                u([{"type": "text", "text": "[Image #1] Line one\r\nline two"}, PIC], cwd="C:\\work\\tides"),
                a("Seen.\r\nTwice."),
            )
        },
        has=["[Image #1] Line one\nline two", "Seen.\nTwice."],
        has_not=["\r"],
        roles="ua",
    ),
    Brought(
        id="Codex: news of a helper in the person's place (kenn-io/agentsview: subagent_notification)",
        files={
            "rollout-1.jsonl": cx(
                META,
                said("user", "Run a child."),
                ri(type="function_call", name="spawn_agent", call_id="k", arguments='{"message": "Compile"}'),
                ri(type="function_call_output", call_id="k", output='{"agent_id":"x","nickname":"Fennel"}'),
                said(
                    "user",
                    '<subagent_notification>\n{"agent_id":"x","status":{"completed":"Exit code: `1`"}}\n'
                    "</subagent_notification>",
                ),
                said("assistant", "The child failed."),
            )
        },
        person=["Run a child."],
        has=["The child failed."],
        has_not=["subagent_notification"],
    ),
    Brought(
        id="Codex: items of kinds that say nothing (openai/codex: ghost_snapshot, tool_search, sealed reasoning, image generation)",
        files={
            "rollout-1.jsonl": cx(
                META,
                said("user", "When?"),
                ri(type="reasoning", summary=[], content=None, encrypted_content="gAAAA"),
                ri(type="tool_search_call", call_id="s", arguments="{}"),
                ri(type="tool_search_output", call_id="s", tools=[]),
                ri(type="ghost_snapshot", ghost_commit={"id": "x"}),
                ri(type="image_generation_call", id="i", status="completed", result="aGk="),
                said("assistant", "At noon."),
            )
        },
        said=[["u: When?", "a: At noon."]],
    ),
    Brought(
        id="Codex: what the developer and the system say is no conversation (openai/codex: role developer)",
        files={
            "rollout-1.jsonl": cx(
                META,
                ri(
                    type="message",
                    role="developer",
                    content=[
                        {"type": "input_text", "text": "<permissions instructions>\nAsk.\n</permissions>"}
                    ],
                ),
                ri(type="message", role="system", content=[{"type": "input_text", "text": "Be kind."}]),
                said("user", "<permissions instructions>\nSandboxed.\n</permissions instructions>", "When?"),
                said("assistant", "At noon."),
            )
        },
        said=[["u: When?", "a: At noon."]],
    ),
    Brought(
        id="Gemini CLI: a checkpoint of all messages, then rows of their own (lyfuci/ai-terminal-manager#27)",
        files={
            "session-3.jsonl": lines(
                {"sessionId": "g3", "projectHash": "h", "startTime": T % 0, "kind": "main"},
                {
                    "$set": {
                        "messages": [
                            {
                                "id": "0",
                                "timestamp": T % 0,
                                "type": "user",
                                "content": [{"text": "<session_context>\nA tree.\n</session_context>"}],
                            },
                            {"id": "1", "timestamp": T % 1, "type": "user", "content": [{"text": "One?"}]},
                            {"id": "2", "timestamp": T % 2, "type": "gemini", "content": "First."},
                        ]
                    }
                },
                {
                    "id": "3",
                    "timestamp": T % 3,
                    "type": "user",
                    "content": [{"text": "Two @a.md\n--- Content from referenced files ---\nx"}],
                    "displayContent": [{"text": "Two @a.md"}],
                },
                {"id": "4", "timestamp": T % 4, "type": "gemini", "content": [{"text": "Second."}]},
                {"$set": {"summary": "Tides", "lastUpdated": T % 5}},
            )
        },
        said=[["u: One?", "a: First.", "u: Two @a.md", "a: Second."]],
        title="Tides",
    ),
    Brought(
        id="Gemini CLI: a helper's session in a folder of its parent's (zszz3/AgentRecall#530: kind subagent)",
        files={
            "chats/session-1.jsonl": lines(
                {"sessionId": "g1", "projectHash": "h", "startTime": T % 0, "kind": "main"},
                {"id": "1", "timestamp": T % 1, "type": "user", "content": "When?"},
                {"id": "2", "timestamp": T % 2, "type": "gemini", "content": "At noon."},
            ),
            "chats/g1/h1.jsonl": lines(
                {"sessionId": "h1", "projectHash": "h", "startTime": T % 1, "kind": "subagent"},
                {"id": "1", "timestamp": T % 1, "type": "user", "content": "Look for tides."},
                {"id": "2", "timestamp": T % 2, "type": "gemini", "content": "Found."},
            ),
        },
        said=[["u: When?", "a: At noon."]],
    ),
    Brought(
        id="OpenCode: a tool that failed, a try again, thoughts, a reply that was stopped (sst/opencode message-v2: retry, error)",
        files={
            "e.json": json.dumps(
                {
                    "info": {
                        "id": "ses_2",
                        "title": "Tides",
                        "directory": "/srv",
                        "time": {"created": 1793000000000},
                    },
                    "messages": [
                        {
                            "info": {"id": "msg_1", "sessionID": "ses_2", "role": "user"},
                            "parts": [
                                {"type": "text", "text": "When?"},
                                {"type": "text", "text": "Called the Read tool with …", "synthetic": True},
                            ],
                        },
                        {
                            "info": {
                                "id": "msg_2",
                                "sessionID": "ses_2",
                                "role": "assistant",
                                "modelID": "gpt-6.1",
                                "error": {"name": "MessageAbortedError", "data": {"message": "aborted"}},
                            },
                            "parts": [
                                {"type": "step-start"},
                                {"type": "reasoning", "text": "Hm."},
                                {
                                    "type": "tool",
                                    "callID": "k",
                                    "tool": "bash",
                                    "state": {
                                        "status": "error",
                                        "input": {"command": "x"},
                                        "error": "no such file",
                                    },
                                },
                                {"type": "retry", "attempt": 1, "error": {"name": "APIError"}},
                                {"type": "text", "text": "At no"},
                            ],
                        },
                    ],
                }
            )
        },
        person=["When?"],
        has=["Hm.", "no such file", "At no"],
        has_not=["Called the Read tool", "APIError"],
        models=["gpt-6.1"],
    ),
    Brought(
        id="ChatGPT: no current node, and children that are not there (kenn-io/agentsview: LinearizeDAG_MissingNode)",
        files={
            "conversations.json": gpt(
                msg("user", "When?"),
                msg("assistant", "At noon."),
                msg("user", "And ebb?"),
                msg("assistant", "At six."),
                current_node=None,
            ).replace('"children": []', '"children": ["gone"]')
        },
        said=[["u: When?", "a: At noon.", "u: And ebb?", "a: At six."]],
    ),
    Brought(
        id="Claude: a text with the mark of blocks that the page could not show (exports of 2025: not supported on your current device)",
        files={
            "conversations.json": json.dumps(
                [
                    {
                        "uuid": "k2",
                        "name": "Blocks",
                        "created_at": T % 0,
                        "account": {"uuid": "a"},
                        "chat_messages": [
                            {
                                "uuid": "m1",
                                "sender": "human",
                                "text": "Draw.",
                                "content": [],
                                "created_at": T % 1,
                            },
                            {
                                "uuid": "m2",
                                "sender": "assistant",
                                "text": "I draw.\n```\nThis block is not supported on your current device yet.\n```\n\nDrawn.",
                                "content": [],
                                "created_at": T % 2,
                            },
                        ],
                    }
                ]
            )
        },
        has=["I draw.", "Drawn."],
        has_not=["not supported on your current device"],
        roles="ua",
    ),
    Brought(
        id="aider: a history of Windows, with CRLF (kenn-io/agentsview: crlf line endings)",
        files={
            ".aider.chat.history.md": (
                "\n# aider chat started at 2026-10-01 08:00:00\n\n> Aider v0.90  \n\n#### fix the pump  \n"
                "#### and the valve  \n\nFixed.\n\n```py\n#### kept\n```\n\n> Applied edit to a.py  \n"
            ).replace("\n", "\r\n")
        },
        named=".aider.chat.history.md",
        said=[["u: fix the pump and the valve", "a: Fixed. ```py #### kept ```"]],
    ),
    Brought(
        id="SpecStory: an old file without the program's mark (specstoryai/getspecstory, lore/fixtures/projA)",
        files={
            "2025-07-10.md": "## 2025-07-10 09:00:00Z\n\n"
            "<!-- Claude Code Session 44444444-aaaa-bbbb-cccc-000000000006 (2025-07-10_09-00-00Z) -->\n\n"
            "_**User**_\n\nfix the gitignore\n\n---\n\n_**Agent (claude-opus-4-20250514)**_\n\n"
            "Tool use: **Read** `./.gitignore`\n\nResult:\n\n```\n*.log\n```\n\n_**Agent (claude-opus-4-20250514)**_\n\n"
            "It is fixed.\n\n---\n\n_**User**_\n\nthanks\n"
        },
        person=["fix the gitignore", "thanks"],
        has=["It is fixed."],
        models=["claude-opus-4-20250514"],
    ),
    Brought(
        id="LibreChat: thoughts and text as parts, a file, a reply that was cut (danny-avila/LibreChat: content parts, unfinished)",
        files={
            "talk.json": json.dumps(
                {
                    "conversationId": "k3",
                    "endpoint": "anthropic",
                    "title": "Tides",
                    "exportAt": "08:00:00 GMT",
                    "branches": True,
                    "recursive": False,
                    "messages": [
                        {
                            "messageId": "m1",
                            "parentMessageId": "00000000-0000-0000-0000-000000000000",
                            "conversationId": "k3",
                            "sender": "User",
                            "isCreatedByUser": True,
                            "text": "When?",
                            "files": [{"filename": "map.png", "type": "image/png"}],
                            "createdAt": T % 1,
                        },
                        {
                            "messageId": "m2",
                            "parentMessageId": "m1",
                            "conversationId": "k3",
                            "sender": "Claude",
                            "isCreatedByUser": False,
                            "model": "claude-opus-4-8",
                            "unfinished": True,
                            "text": "",
                            "content": [
                                {"type": "think", "think": "The moon."},
                                {"type": "text", "text": {"value": "At noon."}},
                            ],
                            "createdAt": T % 2,
                        },
                    ],
                }
            )
        },
        said=[["u: When? [attached map.png]", "a: The moon. At noon."]],
        title="Tides",
        models=["claude-opus-4-8"],
    ),
    Brought(
        id="Zed: a selection, a picture, sealed thoughts (zed-industries/zed, agent thread.rs: Mention, Image, RedactedThinking)",
        files={
            "thread.json": json.dumps(
                {
                    "title": "Pumps",
                    "version": "0.3.0",
                    "updated_at": T % 5,
                    "messages": [
                        {
                            "User": {
                                "id": "1",
                                "content": [
                                    {"Text": "Why "},
                                    {
                                        "Mention": {
                                            "uri": {
                                                "Selection": {"abs_path": "/w/a.rs", "line_range": "1:3"}
                                            },
                                            "content": "fn a() {}",
                                        }
                                    },
                                    {"Image": {"source": "aGk=", "size": None}},
                                    {"Text": "?"},
                                ],
                            }
                        },
                        {
                            "Agent": {
                                "content": [{"RedactedThinking": "x"}, {"Text": "It starts."}],
                                "tool_results": {},
                            }
                        },
                    ],
                }
            )
        },
        has=["Why", "fn a() {}", "It starts."],
        roles="ua",
        title="Pumps",
    ),
    Brought(
        id="Cline: what was shown alone (cline/cline, ui_messages.json: say and ask)",
        files={
            "ui_messages.json": json.dumps(
                [
                    {"ts": 1793000000000, "type": "say", "say": "text", "text": "Add a test.", "images": []},
                    {"ts": 1793000001000, "type": "say", "say": "api_req_started", "text": '{"request":"x"}'},
                    {"ts": 1793000002000, "type": "say", "say": "reasoning", "text": "Look first."},
                    {"ts": 1793000003000, "type": "say", "say": "text", "text": "I look.", "partial": False},
                    {
                        "ts": 1793000004000,
                        "type": "ask",
                        "ask": "tool",
                        "text": '{"tool":"readFile","path":"a.py"}',
                    },
                    {"ts": 1793000005000, "type": "say", "say": "completion_result", "text": "Done."},
                    {"ts": 1793000006000, "type": "ask", "ask": "completion_result", "text": ""},
                    {"ts": 1793000007000, "type": "say", "say": "user_feedback", "text": "One more."},
                    {"ts": 1793000008000, "type": "say", "say": "text", "text": "Two now."},
                ]
            )
        },
        person=["Add a test.", "One more."],
        has=["I look.", "Done.", "Two now."],
        has_not=["request"],
    ),
    Brought(
        id="Cursor: its agent's prompts with their times (centauri-ai/coslash#184: timestamp and user_query)",
        files={
            "e2.jsonl": lines(
                {
                    "role": "user",
                    "message": {
                        "content": [
                            {
                                "type": "text",
                                "text": "<timestamp>Tuesday, Sep 1, 2026, 10:00 AM (UTC+2)</timestamp>\n"
                                "<user_query>\nFix it.\n</user_query>",
                            }
                        ]
                    },
                },
                {"role": "assistant", "message": {"content": [{"type": "text", "text": "Fixed."}]}},
                {"type": "turn_ended", "status": "success"},
            )
        },
        said=[["u: Fix it.", "a: Fixed."]],
        title="Fix it.",
    ),
    Brought(
        id="Goose: `goose session export --format json` (block/goose, session_manager.rs: Session)",
        files={
            "pump.json": json.dumps(
                {
                    "id": "20261001_1",
                    "working_dir": "/srv",
                    "name": "Pump fix",
                    "extension_data": {},
                    "conversation": [
                        {
                            "id": "m1",
                            "role": "user",
                            "created": 1793000000,
                            "content": [{"type": "text", "text": "Fix it."}],
                        },
                        {
                            "id": "m2",
                            "role": "assistant",
                            "created": 1793000001,
                            "content": [{"type": "text", "text": "Fixed."}],
                        },
                        {
                            "id": "m3",
                            "role": "user",
                            "created": 1793000002,
                            "content": [{"type": "text", "text": "Your context was compacted."}],
                            "metadata": {"userVisible": False, "agentVisible": True},
                        },
                    ],
                    "message_count": 3,
                },
                indent=2,
            )
        },
        said=[["u: Fix it.", "a: Fixed."]],
        title="Pump fix",
    ),
    Brought(
        id="Copilot Chat: Copy All (its two names of who speaks)",
        files={"copied.txt": "User: How do hinges work?\n\nGitHub Copilot: They pivot.\n\nUser: Thanks.\n"},
        said=[["u: How do hinges work?", "a: They pivot.", "u: Thanks."]],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_brought_is_taken_as_it_was_said(case: Brought, tmp_path: Path) -> None:
    check(case, tmp_path)
