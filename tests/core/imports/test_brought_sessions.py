"""Sessions of agents as public reports and the programs' own sources show them, each through the whole import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.core.imports.brought import (
    META,
    PIC,
    USE,
    Brought,
    T,
    a,
    cc,
    check,
    cx,
    ev,
    lines,
    ri,
    u,
)

CASES = [
    Brought(
        id="Claude Code: what a person gave to a command of the program's own is no title (/model opus)",
        files={
            "s.jsonl": cc(
                u(
                    "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>opus</command-args>"
                ),
                u("<local-command-stdout>Set model to opus</local-command-stdout>"),
                u("Now begin."),
                a("Begun."),
            )
        },
        person=["Now begin."],
        title="Now begin.",
    ),
    Brought(
        id="Claude Code: the output of --output-format stream-json, kept in a file (anthropics/claude-code headless docs; delexw/claude-code-trace#273)",
        files={
            "out.jsonl": lines(
                {
                    "type": "system",
                    "subtype": "init",
                    "session_id": "x",
                    "uuid": "1",
                    "cwd": "/srv",
                    "model": "claude-opus-4-8",
                    "tools": [],
                },
                {
                    "type": "assistant",
                    "message": a(USE)["message"],
                    "parent_tool_use_id": None,
                    "session_id": "x",
                    "uuid": "2",
                },
                {
                    "type": "assistant",
                    "message": a("I am the helper.")["message"],
                    "parent_tool_use_id": "t9",
                    "session_id": "x",
                    "uuid": "2b",
                },
                {
                    "type": "user",
                    "message": {
                        "role": "user",
                        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "A"}],
                    },
                    "parent_tool_use_id": None,
                    "session_id": "x",
                    "uuid": "3",
                },
                {
                    "type": "assistant",
                    "message": a("It is A.")["message"],
                    "parent_tool_use_id": None,
                    "session_id": "x",
                    "uuid": "4",
                },
                {
                    "type": "result",
                    "subtype": "success",
                    "is_error": False,
                    "result": "It is A.",
                    "session_id": "x",
                    "uuid": "5",
                },
            )
        },
        roles="aaa",
        has=["It is A."],
        has_not=["I am the helper."],
    ),
    Brought(
        id="Claude Code: what a person typed when refusing a tool (daaain/claude-code-log (rejected tool use); Claude Code's own sentence)",
        files={
            "s.jsonl": cc(
                u("Store it."),
                a(USE),
                u(
                    [
                        {
                            "type": "tool_result",
                            "tool_use_id": "t1",
                            "is_error": True,
                            "content": "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nUse sqlite instead.",
                        }
                    ]
                ),
                a("Then sqlite."),
            )
        },
        person=["Store it.", "Use sqlite instead."],
        has=["Then sqlite."],
    ),
    Brought(
        id="Claude Code: a file with a byte order mark and CRLF (sessions copied by PowerShell)",
        files={"s.jsonl": "\ufeff" + cc(u("Hi."), a("Hello.")).replace("\n", "\r\n")},
        said=[["u: Hi.", "a: Hello."]],
    ),
    Brought(
        id="Codex: items alone, since 0.147 (Daily-Nerd/daimon#623)",
        files={
            "rollout-1.jsonl": cx(
                META,
                {"type": "turn_context", "payload": {"model": "gpt-6.1-codex"}},
                ev(
                    type="item_completed",
                    thread_id="c1",
                    turn_id="1",
                    item={
                        "type": "UserMessage",
                        "id": "i1",
                        "content": [{"type": "text", "text": "When is high water?"}],
                    },
                ),
                ev(
                    type="item_completed",
                    thread_id="c1",
                    turn_id="1",
                    item={
                        "type": "AgentMessage",
                        "id": "i2",
                        "phase": "commentary",
                        "content": [{"type": "Text", "text": "I look."}],
                    },
                ),
                ev(
                    type="item_completed",
                    thread_id="c1",
                    turn_id="1",
                    item={
                        "type": "AgentMessage",
                        "id": "i3",
                        "phase": "final_answer",
                        "content": [{"type": "Text", "text": "At noon."}],
                    },
                ),
            )
        },
        said=[["u: When is high water?", "a: I look.", "a: At noon."]],
    ),
    Brought(
        id="Codex: events alone: user_message and agent_message (MemPalace/mempalace#61; neilberkman/ccrider#7)",
        files={
            "rollout-1.jsonl": cx(
                META,
                ev(type="task_started"),
                ev(type="user_message", message="When?", images=[]),
                ev(type="agent_reasoning", text="tides"),
                ev(type="agent_message", message="At noon."),
                ev(type="token_count", info={}),
                ev(type="task_complete", last_agent_message="At noon."),
            )
        },
        roles="ua",
        person=["When?"],
        has=["At noon."],
    ),
    Brought(
        id="Codex: both forms, with what hosts put into the person's place (rayward-external/clawjournal#213)",
        files={
            "rollout-1.jsonl": cx(
                META,
                ri(
                    type="message",
                    role="developer",
                    content=[
                        {
                            "type": "input_text",
                            "text": "<permissions instructions>x</permissions instructions>",
                        }
                    ],
                ),
                ri(
                    type="message",
                    role="user",
                    content=[
                        {
                            "type": "input_text",
                            "text": "# AGENTS.md instructions for /srv/x\n\n<INSTRUCTIONS>\nBe terse.\n</INSTRUCTIONS>",
                        },
                        {
                            "type": "input_text",
                            "text": "<environment_context>\n<cwd>/srv</cwd>\n</environment_context>",
                        },
                    ],
                ),
                ri(
                    type="message",
                    role="user",
                    content=[
                        {"type": "input_text", "text": "<recommended_plugins>\nfigma\n</recommended_plugins>"}
                    ],
                ),
                ri(
                    type="message",
                    role="user",
                    content=[
                        {
                            "type": "input_text",
                            "text": "# Context from my IDE setup:\n\n## Active file: a.py\n\n## Open tabs:\n- a.py: a.py\n\n## My request for Codex:\nFix the gate.\n",
                        }
                    ],
                ),
                ev(
                    type="user_message",
                    message="# Context from my IDE setup:\n\n## Active file: a.py\n\n## Open tabs:\n- a.py: a.py\n\n## My request for Codex:\nFix the gate.\n",
                ),
                ev(
                    type="item_completed",
                    item={
                        "type": "AgentMessage",
                        "id": "i2",
                        "content": [{"type": "Text", "text": "Fixed."}],
                    },
                ),
                ri(type="message", role="assistant", content=[{"type": "output_text", "text": "Fixed."}]),
                ri(
                    type="message",
                    role="user",
                    content=[
                        {"type": "input_text", "text": '<hook_prompt hook_run_id="1">go on</hook_prompt>'}
                    ],
                ),
            )
        },
        said=[["u: Fix the gate.", "a: Fixed."]],
    ),
    Brought(
        id="Codex: rollout of the first Codex: one JSON object (openai/codex, codex-cli/src/utils/storage/save-rollout.ts of 2025)",
        files={
            "rollout-2025-05-01-abc.json": json.dumps(
                {
                    "session": {
                        "timestamp": "2025-05-01T08:00:00.000Z",
                        "id": "abc",
                        "instructions": "Be terse.",
                    },
                    "items": [
                        {
                            "role": "user",
                            "content": [{"type": "input_text", "text": "When?"}],
                            "type": "message",
                        },
                        {"id": "rs", "type": "reasoning", "summary": []},
                        {
                            "type": "function_call",
                            "name": "shell",
                            "call_id": "k",
                            "arguments": '{"command":["date"]}',
                            "status": "completed",
                        },
                        {
                            "type": "function_call_output",
                            "call_id": "k",
                            "output": '{"output":"noon","metadata":{"exit_code":0}}',
                        },
                        {
                            "id": "m",
                            "type": "message",
                            "role": "assistant",
                            "content": [{"type": "output_text", "text": "At noon."}],
                        },
                    ],
                },
                indent=2,
            )
        },
        roles="uaaa",
        person=["When?"],
        has=["At noon.", "noon"],
    ),
    Brought(
        id="Gemini CLI: a checkpoint of /chat save (google-gemini/gemini-cli, logger.ts saveCheckpoint)",
        files={
            "checkpoint-tide.json": json.dumps(
                [
                    {
                        "role": "user",
                        "parts": [
                            {
                                "text": "This is the Gemini CLI. We are setting up the context for our chat.\nToday's date is Monday.\nMy operating system is: linux"
                            }
                        ],
                    },
                    {"role": "model", "parts": [{"text": "Got it. Thanks for the context!"}]},
                    {"role": "user", "parts": [{"text": "When is high water?"}]},
                    {
                        "role": "model",
                        "parts": [
                            {"text": "I look.", "thought": True},
                            {"functionCall": {"name": "tide", "args": {"at": "home"}}},
                        ],
                    },
                    {
                        "role": "user",
                        "parts": [{"functionResponse": {"name": "tide", "response": {"output": "noon"}}}],
                    },
                    {"role": "model", "parts": [{"text": "At noon."}]},
                ]
            )
        },
        person=["When is high water?"],
        has=["At noon.", "noon"],
        roles="uaaa",
    ),
    Brought(
        id="Gemini CLI: a checkpoint with its login, since 0.20 (google-gemini/gemini-cli, logger.ts: {history, authType})",
        files={
            "checkpoint-tide.json": json.dumps(
                {
                    "history": [
                        {
                            "role": "user",
                            "parts": [
                                {"text": "<session_context>\nThis is the Gemini CLI.\n</session_context>"}
                            ],
                        },
                        {
                            "role": "user",
                            "parts": [
                                {"text": "When?"},
                                {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
                            ],
                        },
                        {"role": "model", "parts": [{"text": "At noon."}]},
                    ],
                    "authType": "gemini-api-key",
                }
            )
        },
        roles="ua",
        has=["When?", "At noon.", "attached"],
        has_not=["aGk="],
    ),
    Brought(
        id="OpenCode: its storage before SQLite: a file a message and a file a part (sst/opencode, storage/message and storage/part up to 1.1)",
        files={
            "storage/session/p1/ses_1.json": json.dumps(
                {
                    "id": "ses_1",
                    "projectID": "p1",
                    "directory": "/srv/x",
                    "title": "Tides",
                    "version": "1.0.1",
                    "time": {"created": 1793000000000, "updated": 1793000009000},
                }
            ),
            "storage/message/ses_1/msg_1.json": json.dumps(
                {
                    "id": "msg_1",
                    "sessionID": "ses_1",
                    "role": "user",
                    "time": {"created": 1793000000000},
                    "agent": "build",
                }
            ),
            "storage/message/ses_1/msg_2.json": json.dumps(
                {
                    "id": "msg_2",
                    "sessionID": "ses_1",
                    "role": "assistant",
                    "time": {"created": 1793000001000},
                    "modelID": "gpt-6.1",
                    "providerID": "openai",
                    "parentID": "msg_1",
                }
            ),
            "storage/part/msg_1/prt_1.json": json.dumps(
                {"id": "prt_1", "messageID": "msg_1", "sessionID": "ses_1", "type": "text", "text": "When?"}
            ),
            "storage/part/msg_2/prt_2.json": json.dumps(
                {
                    "id": "prt_2",
                    "messageID": "msg_2",
                    "sessionID": "ses_1",
                    "type": "text",
                    "text": "At noon.",
                }
            ),
        },
        said=[["u: When?", "a: At noon."]],
        title="Tides",
    ),
    Brought(
        id="Claude Code: answers to the model's own questions (AskUserQuestion; Claude Code changelog 2.0.21)",
        files={
            "s.jsonl": cc(
                u("Plan it."),
                a(
                    {
                        "type": "tool_use",
                        "id": "q1",
                        "name": "AskUserQuestion",
                        "input": {
                            "questions": [
                                {
                                    "question": "Which store?",
                                    "header": "Store",
                                    "options": [{"label": "Redis"}, {"label": "SQLite"}],
                                }
                            ]
                        },
                    }
                ),
                u(
                    [
                        {
                            "type": "tool_result",
                            "tool_use_id": "q1",
                            "content": 'User has answered your questions: "Which store?"="SQLite". You can now continue with the user\'s answers in mind.',
                        }
                    ],
                    toolUseResult={"answers": {"Which store?": "SQLite"}},
                ),
                a("SQLite then."),
            )
        },
        roles="uaaa",
        has=["SQLite then.", '"Which store?"="SQLite"'],
    ),
    Brought(
        id="Claude Code: a hook's additional context, todo reminders, and file attachments beside the words (attachment rows: hook_additional_context, todo_reminder, file, edited_text_file)",
        files={
            "s.jsonl": cc(
                u("Fix it."),
                {
                    "type": "attachment",
                    "attachment": {
                        "type": "hook_additional_context",
                        "content": ["always be nice"],
                        "hookName": "UserPromptSubmit",
                    },
                },
                {
                    "type": "attachment",
                    "attachment": {
                        "type": "file",
                        "filename": "/srv/a.py",
                        "content": {"type": "text", "file": {"content": "secret code"}},
                    },
                },
                {"type": "attachment", "attachment": {"type": "todo_reminder", "content": []}},
                a("Fixed."),
            )
        },
        said=[["u: Fix it.", "a: Fixed."]],
    ),
    Brought(
        id="Claude Code: a message of a teammate and of a channel (delexw/claude-code-trace#15; agent teams)",
        files={
            "s.jsonl": cc(
                u("Start."),
                a("Started."),
                u('<teammate-message teammate_id="worker" color="blue">\nI am done.\n</teammate-message>'),
                a("Good."),
            )
        },
        person=["Start."],
        has=["Good."],
    ),
    Brought(
        id="Claude Code: a prompt with pasted text and two pictures (pasted content: [Image #1], isMeta rows for the sources)",
        files={
            "s.jsonl": cc(
                u([{"type": "text", "text": "Compare [Image #1] and [Image #2]"}, PIC, PIC]),
                u([{"type": "text", "text": "[Image: source: /tmp/1.png]"}], isMeta=True),
                a("Same."),
            )
        },
        roles="ua",
        has=["Compare [Image #1] and [Image #2]", "Same."],
        has_not=["/tmp/1.png", "aGk="],
    ),
    Brought(
        id="Claude Code: a sub-agent's file beside, named agent-….jsonl (subagents/agent-*.jsonl and agent-*.jsonl at the top)",
        files={
            "p/s.jsonl": cc(u("Go."), a("Gone.")),
            "p/agent-a1.jsonl": cc(
                u("Look into it", isSidechain=True, agentId="a1"),
                a("Looked.", isSidechain=True, agentId="a1"),
                sid="s1",
            ),
            "p/s/subagents/agent-b2.jsonl": cc(
                u("And there", isSidechain=True, agentId="b2"), a("There.", isSidechain=True, agentId="b2")
            ),
        },
        said=[["u: Go.", "a: Gone."]],
    ),
    Brought(
        id="Codex: a plan, a patch, a search on the web and a call of an MCP server (openai/codex: custom_tool_call, web_search_call, mcp items)",
        files={
            "rollout-1.jsonl": cx(
                META,
                ri(type="message", role="user", content=[{"type": "input_text", "text": "Do it."}]),
                ri(
                    type="function_call",
                    name="update_plan",
                    call_id="p",
                    arguments='{"plan":[{"step":"read","status":"in_progress"}]}',
                ),
                ri(type="function_call_output", call_id="p", output="Plan updated"),
                ri(
                    type="custom_tool_call",
                    name="apply_patch",
                    call_id="k",
                    input="*** Begin Patch\n*** End Patch",
                    status="completed",
                ),
                ri(
                    type="custom_tool_call_output",
                    call_id="k",
                    output=[{"type": "input_text", "text": "Success"}],
                ),
                ri(type="web_search_call", status="completed", action={"type": "search", "query": "tides"}),
                ri(type="message", role="assistant", content=[{"type": "output_text", "text": "Done."}]),
            )
        },
        roles="uaaaaaa",
        has=["*** Begin Patch", "Success", "tides", "Done."],
    ),
    Brought(
        id="Codex: a thread forked from another: its parent's head and rows stand in it (openai/codex thread fork; two session_meta rows)",
        files={
            "rollout-2.jsonl": cx(
                {"type": "session_meta", "payload": {**META["payload"], "id": "c2", "forked_from_id": "c1"}},
                META,
                ri(type="message", role="user", content=[{"type": "input_text", "text": "One?"}]),
                ev(type="user_message", message="One?"),
                ri(type="message", role="assistant", content=[{"type": "output_text", "text": "First."}]),
                ev(type="agent_message", message="First."),
                ri(type="message", role="user", content=[{"type": "input_text", "text": "Two?"}]),
                ev(type="user_message", message="Two?"),
                ri(type="message", role="assistant", content=[{"type": "output_text", "text": "Second."}]),
            )
        },
        said=[["u: One?", "a: First.", "u: Two?", "a: Second."]],
    ),
    Brought(
        id="Codex: the same word said twice, in both forms (zilliztech/memsearch#751: legitimate repeats stay)",
        files={
            "rollout-3.jsonl": cx(
                META,
                *[
                    x
                    for _ in range(2)
                    for x in (
                        ri(type="message", role="user", content=[{"type": "input_text", "text": "go on"}]),
                        ev(type="user_message", message="go on"),
                        ev(type="agent_message", message="Went."),
                        ri(
                            type="message",
                            role="assistant",
                            content=[{"type": "output_text", "text": "Went."}],
                        ),
                    )
                ],
            )
        },
        said=[["u: go on", "a: Went.", "u: go on", "a: Went."]],
    ),
    Brought(
        id="Gemini CLI: thoughts, an error of a tool, an info and a warning (axsaucedo/agent_data_duckdb#13)",
        files={
            "session-1.json": json.dumps(
                {
                    "sessionId": "g1",
                    "projectHash": "h",
                    "startTime": T % 0,
                    "lastUpdated": T % 9,
                    "kind": "main",
                    "summary": "Tides",
                    "messages": [
                        {"id": "1", "timestamp": T % 1, "type": "user", "content": [{"text": "When?"}]},
                        {"id": "2", "timestamp": T % 2, "type": "info", "content": "Compressing"},
                        {
                            "id": "3",
                            "timestamp": T % 3,
                            "type": "gemini",
                            "content": "",
                            "thoughts": [{"subject": "Tides", "description": "I think."}],
                            "toolCalls": [
                                {
                                    "id": "k",
                                    "name": "read_file",
                                    "args": {"p": "a"},
                                    "status": "error",
                                    "result": [
                                        {
                                            "functionResponse": {
                                                "id": "k",
                                                "name": "read_file",
                                                "response": {"error": "no such file"},
                                            }
                                        }
                                    ],
                                }
                            ],
                            "model": "gemini-3-pro",
                        },
                        {"id": "4", "timestamp": T % 4, "type": "warning", "content": "slow"},
                        {
                            "id": "5",
                            "timestamp": T % 5,
                            "type": "gemini",
                            "content": "At noon.",
                            "model": "gemini-3-pro",
                        },
                    ],
                }
            )
        },
        roles="uaa",
        has=["no such file", "At noon."],
        title="Tides",
        models=["gemini-3-pro"],
    ),
    Brought(
        id="Gemini CLI: a session that was rewound (zszz3/AgentRecall#530: $rewindTo)",
        files={
            "session-2.jsonl": lines(
                {"sessionId": "g2", "projectHash": "h", "startTime": T % 0, "kind": "main"},
                {"id": "1", "timestamp": T % 1, "type": "user", "content": [{"text": "One?"}]},
                {"id": "2", "timestamp": T % 2, "type": "gemini", "content": "First."},
                {"id": "3", "timestamp": T % 3, "type": "user", "content": [{"text": "Bad?"}]},
                {"id": "4", "timestamp": T % 4, "type": "gemini", "content": "Worse."},
                {"$rewindTo": "3"},
                {"id": "5", "timestamp": T % 5, "type": "user", "content": [{"text": "Good?"}]},
                {"id": "6", "timestamp": T % 6, "type": "gemini", "content": "Better."},
            )
        },
        said=[
            ["u: One?", "a: First.", "u: Bad?", "a: Worse."],
            ["u: One?", "a: First.", "u: Good?", "a: Better."],
        ],
        talks=2,
    ),
    Brought(
        id="OpenCode: an export with a compaction, a sub-task and a reverted message (sst/opencode export: parts compaction, subtask, agent, patch, snapshot)",
        files={
            "e.json": json.dumps(
                {
                    "info": {
                        "id": "ses_1",
                        "title": "Tides",
                        "directory": "/srv",
                        "time": {"created": 1793000000000},
                    },
                    "messages": [
                        {
                            "info": {
                                "id": "msg_1",
                                "sessionID": "ses_1",
                                "role": "user",
                                "time": {"created": 1793000000000},
                            },
                            "parts": [
                                {"type": "text", "text": "When?"},
                                {"type": "agent", "name": "explore"},
                                {
                                    "type": "file",
                                    "mime": "text/plain",
                                    "filename": "a.txt",
                                    "url": "file:///a.txt",
                                },
                            ],
                        },
                        {
                            "info": {
                                "id": "msg_2",
                                "sessionID": "ses_1",
                                "role": "assistant",
                                "modelID": "gpt-6.1",
                                "time": {"created": 1793000001000},
                            },
                            "parts": [
                                {"type": "step-start"},
                                {"type": "snapshot", "snapshot": "x"},
                                {"type": "text", "text": "At noon."},
                                {"type": "patch", "hash": "x", "files": []},
                                {"type": "step-finish"},
                            ],
                        },
                        {
                            "info": {
                                "id": "msg_3",
                                "sessionID": "ses_1",
                                "role": "user",
                                "time": {"created": 1793000002000},
                            },
                            "parts": [{"type": "compaction", "auto": True}],
                        },
                        {
                            "info": {
                                "id": "msg_4",
                                "sessionID": "ses_1",
                                "role": "assistant",
                                "summary": True,
                                "mode": "compaction",
                                "modelID": "gpt-6.1",
                                "time": {"created": 1793000003000},
                            },
                            "parts": [{"type": "text", "text": "SUMMARY of it"}],
                        },
                        {
                            "info": {
                                "id": "msg_5",
                                "sessionID": "ses_1",
                                "role": "user",
                                "time": {"created": 1793000004000},
                            },
                            "parts": [{"type": "text", "text": "And ebb?"}],
                        },
                    ],
                }
            )
        },
        roles="uau",
        has=["When?", "At noon.", "And ebb?", "a.txt"],
        has_not=["SUMMARY"],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_brought_is_taken_as_it_was_said(case: Brought, tmp_path: Path) -> None:
    check(case, tmp_path)
