"""A sixth round of sessions and exports from public reports of 2026, each through the whole import."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.core.imports.brought import (
    META,
    Brought,
    Row,
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
from tests.core.imports.test_brought_reports import said


def gemini(*rows: Row, **more: Any) -> str:
    """A session of Gemini CLI."""
    head = {"sessionId": "g1", "projectHash": "h", "startTime": T % 0, "lastUpdated": T % 9, "kind": "main"}
    return lines({**head, **more}, *rows)


def row(number: int, kind: str, content: Any, **more: Any) -> Row:
    return {"id": str(number), "timestamp": T % number, "type": kind, "content": content, **more}


def opened(role: str, key: str, parts: list[Row], **more: Any) -> Row:
    """A message of OpenCode."""
    about = {"id": key, "sessionID": "ses_1", "role": role, "time": {"created": 1793000000000 + int(key[-1])}}
    return {"info": {**about, **more}, "parts": parts}


def opencode(*messages: Row) -> str:
    info = {"id": "ses_1", "title": "Tides", "directory": "/srv", "time": {"created": 1793000000000}}
    return json.dumps({"info": info, "messages": list(messages)})


def text(words: str, **more: Any) -> Row:
    return {"id": "prt_1", "type": "text", "text": words, **more}


CASES = [
    Brought(
        id="codex item_completed layer beside response items",
        files={
            "r.jsonl": cx(
                META,
                said("user", "<environment_context>\n<cwd>/srv</cwd>\n</environment_context>"),
                said("user", "When is ebb?"),
                ev(type="user_message", message="When is ebb?"),
                ev(
                    type="item_completed",
                    thread_id="c1",
                    turn_id="1",
                    item={
                        "type": "CommandExecution",
                        "id": "e1",
                        "command": ["bash", "-lc", "tide"],
                        "status": "completed",
                        "exit_code": 0,
                        "stdout": "six",
                    },
                ),
                ev(
                    type="item_completed",
                    thread_id="c1",
                    turn_id="1",
                    item={
                        "type": "AgentMessage",
                        "id": "a1",
                        "content": [{"type": "Text", "text": "At six."}],
                    },
                ),
                said("assistant", "At six."),
            )
        },
        said=[["u: When is ebb?", "a: At six."]],
    ),
    Brought(
        id="codex item_completed only (no response items)",
        files={
            "r.jsonl": cx(
                META,
                ev(
                    type="item_completed",
                    thread_id="c1",
                    turn_id="1",
                    item={
                        "type": "UserMessage",
                        "id": "u1",
                        "content": [{"type": "text", "text": "When is ebb?"}],
                    },
                ),
                ev(
                    type="item_completed",
                    thread_id="c1",
                    turn_id="1",
                    item={
                        "type": "AgentMessage",
                        "id": "a1",
                        "content": [{"type": "Text", "text": "At six."}],
                    },
                ),
            )
        },
        said=[["u: When is ebb?", "a: At six."]],
    ),
    Brought(
        id="codex commentary then final answer",
        files={
            "r.jsonl": cx(
                META,
                said("user", "Fix it"),
                ri(
                    type="message",
                    role="assistant",
                    phase="commentary",
                    content=[{"type": "output_text", "text": "Looking first."}],
                ),
                ri(type="function_call", name="exec_command", arguments='{"cmd":"ls"}', call_id="k1"),
                ri(type="function_call_output", call_id="k1", output="a.py"),
                ri(
                    type="message",
                    role="assistant",
                    phase="final_answer",
                    content=[{"type": "output_text", "text": "Fixed."}],
                ),
            )
        },
        person=["Fix it"],
        has=["Fixed.", "a.py"],
    ),
    Brought(
        id="codex sub-agent rollout beside its parent (session_meta.source.subagent)",
        files={
            "a/rollout-1.jsonl": cx(META, said("user", "Main?"), said("assistant", "Main.")),
            "a/rollout-2.jsonl": cx(
                {
                    "type": "session_meta",
                    "payload": {
                        **META["payload"],
                        "id": "c2",
                        "source": {"subagent": {"thread_spawn": {"parent_thread_id": "c1", "depth": 1}}},
                    },
                },
                said("user", "Sub task."),
                said("assistant", "Sub done."),
            ),
        },
        talks=1,
        person=["Main?"],
    ),
    Brought(
        id="codex thread rolled back",
        files={
            "r.jsonl": cx(
                META,
                said("user", "First"),
                said("assistant", "One."),
                said("user", "Wrong"),
                said("assistant", "Two."),
                ev(type="thread_rolled_back", num_turns=1),
                said("user", "Right"),
                said("assistant", "Three."),
            )
        },
        has=["Right", "Three.", "First"],
        talks=2,
    ),
    Brought(
        id="codex aborted turn note",
        files={
            "r.jsonl": cx(
                META,
                said("user", "First"),
                said("assistant", "One, be"),
                ev(type="turn_aborted", reason="interrupted"),
                said(
                    "user",
                    "<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>",
                ),
                said("user", "Second"),
                said("assistant", "Two."),
            )
        },
        person=["First", "Second"],
    ),
    Brought(
        id="codex compacted with replacement history",
        files={
            "r.jsonl": cx(
                META,
                said("user", "First"),
                said("assistant", "One."),
                {
                    "type": "compacted",
                    "payload": {
                        "message": "",
                        "replacement_history": [
                            {
                                "type": "message",
                                "role": "user",
                                "content": [{"type": "input_text", "text": "First"}],
                            },
                            {
                                "type": "message",
                                "role": "user",
                                "content": [
                                    {
                                        "type": "input_text",
                                        "text": "Another language model started to solve this problem and produced a summary",
                                    }
                                ],
                            },
                        ],
                    },
                },
                said("user", "Second"),
                said("assistant", "Two."),
            )
        },
        person=["First", "Second"],
        roles="uaua",
    ),
    Brought(
        id="codex exec --json stream",
        files={
            "o.jsonl": lines(
                {"type": "thread.started", "thread_id": "t1"},
                {"type": "turn.started"},
                {"type": "item.completed", "item": {"id": "i0", "type": "reasoning", "text": "**Thinking**"}},
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
                {"type": "item.completed", "item": {"id": "i2", "type": "agent_message", "text": "Done it."}},
                {"type": "turn.completed", "usage": {"input_tokens": 1}},
            )
        },
        has=["Done it."],
    ),
    Brought(
        id="codex local image and text elements",
        files={
            "r.jsonl": cx(
                META,
                ri(
                    type="message",
                    role="user",
                    content=[
                        {"type": "input_text", "text": "<image name=[Image #1]>"},
                        {"type": "input_image", "image_url": "data:image/png;base64,aGk="},
                        {"type": "input_text", "text": "</image>"},
                        {"type": "input_text", "text": "[Image #1] What is it?"},
                    ],
                ),
                said("assistant", "A buoy."),
            )
        },
        has=["What is it?", "A buoy."],
        has_not=["aGk=", "<image"],
        roles="ua",
    ),
    Brought(
        id="codex user shell command",
        files={
            "r.jsonl": cx(
                META,
                said(
                    "user",
                    "<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 0\nOutput:\na.py\n</result>\n</user_shell_command>",
                ),
                said("user", "What is a.py?"),
                said("assistant", "A file."),
            )
        },
        has=["What is a.py?"],
        has_not=["<user_shell_command>"],
    ),
    Brought(
        id="codex skill injected",
        files={
            "r.jsonl": cx(
                META,
                said("user", "$tides now"),
                said(
                    "user",
                    "<skill>\n<name>tides</name>\n<path>/x/SKILL.md</path>\nRead the tables.\n</skill>",
                ),
                said("assistant", "At six."),
            )
        },
        person=["$tides now"],
    ),
    Brought(
        id="gemini $set batches and bare rows, session_context first",
        files={
            "session-1.jsonl": gemini(
                {
                    "$set": {
                        "messages": [
                            row(1, "user", "<session_context>\nThis is the Gemini CLI.\n</session_context>"),
                            row(2, "user", [{"text": "When is ebb?"}]),
                        ]
                    }
                },
                row(3, "gemini", "At six.", model="gemini-3-pro"),
                row(4, "user", [{"text": "And flood?"}]),
                row(5, "gemini", "At noon.", model="gemini-3-pro"),
            )
        },
        said=[["u: When is ebb?", "a: At six.", "u: And flood?", "a: At noon."]],
        models=["gemini-3-pro"],
    ),
    Brought(
        id="gemini subagent in a folder of the session",
        files={
            "chats/session-1.jsonl": gemini(row(1, "user", "Main?"), row(2, "gemini", "Main.")),
            "chats/g1/0la501.jsonl": gemini(
                row(1, "user", "Sub."), row(2, "gemini", "Sub done."), sessionId="g2", kind="subagent"
            ),
        },
        talks=1,
        person=["Main?"],
    ),
    Brought(
        id="gemini summary as title",
        files={
            "session-1.jsonl": gemini(
                row(1, "user", "When is ebb please"),
                row(2, "gemini", "At six."),
                {"$set": {"summary": "Tide times", "lastUpdated": T % 5}},
            )
        },
        title="Tide times",
    ),
    Brought(
        id="gemini tool call with file parts and functionResponse",
        files={
            "session-1.jsonl": gemini(
                row(
                    1,
                    "user",
                    [
                        {"text": "Read @a.md"},
                        {"text": "\n--- Content from referenced files ---"},
                        {"text": "\nContent from @a.md:\n"},
                        {"text": "secret of the file"},
                        {"text": "\n--- End of content ---"},
                    ],
                ),
                row(
                    2,
                    "gemini",
                    "",
                    toolCalls=[
                        {
                            "id": "k",
                            "name": "read_file",
                            "args": {"file_path": "a.md"},
                            "result": [
                                {
                                    "functionResponse": {
                                        "id": "k",
                                        "name": "read_file",
                                        "response": {"output": "the words"},
                                    }
                                }
                            ],
                            "status": "success",
                        }
                    ],
                ),
                row(3, "gemini", "It says words."),
            )
        },
        has=["Read @a.md", "It says words.", "the words"],
    ),
    Brought(
        id="gemini old json with thoughts",
        files={
            "session-1.json": json.dumps(
                {
                    "sessionId": "g1",
                    "projectHash": "h",
                    "startTime": T % 0,
                    "lastUpdated": T % 9,
                    "messages": [
                        row(1, "user", "Hi"),
                        row(
                            2,
                            "gemini",
                            "Hello.",
                            thoughts=[{"subject": "Greet", "description": "Say hello", "timestamp": T % 2}],
                        ),
                    ],
                }
            )
        },
        said=[["u: Hi", "a: **Greet** Say hello Hello."]],
    ),
    Brought(
        id="opencode export with synthetic, ignored and file parts",
        files={
            "o.json": opencode(
                opened(
                    "user",
                    "msg_1",
                    [
                        text("Read @a.md"),
                        text("Called the Read tool with the following input", synthetic=True),
                        {
                            "type": "file",
                            "filename": "a.md",
                            "mime": "text/plain",
                            "url": "data:text/plain;base64,aGk=",
                        },
                    ],
                ),
                opened(
                    "assistant",
                    "msg_2",
                    [
                        {"type": "step-start"},
                        {"type": "reasoning", "text": "Hm."},
                        {
                            "type": "tool",
                            "tool": "bash",
                            "callID": "k",
                            "state": {
                                "status": "completed",
                                "input": {"command": "ls"},
                                "output": "a.py",
                                "title": "ls",
                            },
                        },
                        text("Done."),
                        {"type": "step-finish", "reason": "stop"},
                    ],
                    modelID="big-pickle",
                    providerID="opencode",
                ),
            )
        },
        person=["Read @a.md [attached a.md]"],
        has=["Done.", "a.py"],
        has_not=["Called the Read tool"],
        models=["big-pickle"],
        title="Tides",
    ),
    Brought(
        id="opencode compaction part and summary",
        files={
            "o.json": opencode(
                opened("user", "msg_1", [text("First")]),
                opened("assistant", "msg_2", [text("One.")], modelID="m"),
                opened("user", "msg_3", [{"type": "compaction", "auto": True}]),
                opened(
                    "assistant",
                    "msg_4",
                    [text("## Goal\nThe summary")],
                    summary=True,
                    mode="compaction",
                    modelID="m",
                ),
                opened("user", "msg_5", [text("Continue if you have next steps", synthetic=True)]),
                opened("assistant", "msg_6", [text("Two.")], modelID="m"),
            )
        },
        person=["First"],
        has=["Two."],
    ),
    Brought(
        id="cc advisor and server tool blocks",
        files={
            "s1.jsonl": cc(
                u("Ask"),
                a(
                    {"type": "server_tool_use", "id": "sv", "name": "advisor", "input": {}},
                    {
                        "type": "advisor_tool_result",
                        "tool_use_id": "sv",
                        "content": {"type": "advisor_redacted_result", "encrypted_content": "xx"},
                    },
                    "Done.",
                ),
            )
        },
        has=["Done."],
        has_not=["encrypted_content"],
        roles="ua",
    ),
    Brought(
        id="cc newest row kinds",
        files={
            "s1.jsonl": cc(u("Ask"), a("Done."))
            + lines(
                {"type": "cost-state", "sessionId": "s1", "totalCostUSD": 1.2},
                {"type": "frame-link", "sessionId": "s1", "url": "https://claude.ai/x", "title": "Marble"},
                {"type": "continued-in", "sessionId": "s1", "successorSessionId": "s2"},
                {"type": "atis-latch", "token": "x"},
                {"type": "mode", "mode": "plan"},
            )
        },
        said=[["u: Ask", "a: Done."]],
    ),
    Brought(
        id="cc task_status attachment and hook success",
        files={
            "s1.jsonl": cc(
                u("Ask"),
                {
                    "type": "attachment",
                    "attachment": {
                        "type": "hook_success",
                        "hookName": "SessionStart:clear",
                        "content": "hook words",
                    },
                },
                {
                    "type": "attachment",
                    "attachment": {"type": "task_status", "description": "sub", "status": "running"},
                },
                a("Done."),
            )
        },
        said=[["u: Ask", "a: Done."]],
    ),
    Brought(
        id="cc plan kept in ExitPlanMode and the reject with words",
        files={
            "s1.jsonl": cc(
                u("Plan"),
                a(
                    {
                        "type": "tool_use",
                        "id": "t1",
                        "name": "ExitPlanMode",
                        "input": {"plan": "# The plan\n1. x"},
                    }
                ),
                u(
                    [
                        {
                            "type": "tool_result",
                            "tool_use_id": "t1",
                            "is_error": True,
                            "content": "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\nUse metres",
                        }
                    ],
                    toolUseResult="User rejected tool use",
                ),
                a("Ok."),
            )
        },
        has=["The plan", "Use metres", "Ok."],
    ),
    Brought(
        id="cc AskUserQuestion answers",
        files={
            "s1.jsonl": cc(
                u("Ask me"),
                a(
                    {
                        "type": "tool_use",
                        "id": "t1",
                        "name": "AskUserQuestion",
                        "input": {
                            "questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]
                        },
                    }
                ),
                u(
                    [
                        {
                            "type": "tool_result",
                            "tool_use_id": "t1",
                            "content": 'User has answered your questions: "Which?"="B". You can now continue',
                        }
                    ]
                ),
                a("B it is."),
            )
        },
        has=["Which?", "B it is."],
    ),
    Brought(
        id="deepseek export",
        files={
            "conversations.json": json.dumps(
                [
                    {
                        "id": "d",
                        "title": "Tides",
                        "inserted_at": T % 0,
                        "updated_at": T % 9,
                        "mapping": {
                            "root": {"id": "root", "parent": None, "children": ["1"], "message": None},
                            "1": {
                                "id": "1",
                                "parent": "root",
                                "children": ["2"],
                                "message": {
                                    "files": [],
                                    "model": "deepseek-chat",
                                    "inserted_at": T % 1,
                                    "fragments": [{"type": "REQUEST", "content": "Ask"}],
                                },
                            },
                            "2": {
                                "id": "2",
                                "parent": "1",
                                "children": [],
                                "message": {
                                    "files": [],
                                    "model": "deepseek-chat",
                                    "inserted_at": T % 2,
                                    "fragments": [
                                        {"type": "THINK", "content": "Hm."},
                                        {"type": "RESPONSE", "content": "Answer."},
                                    ],
                                },
                            },
                        },
                    }
                ]
            )
        },
        person=["Ask"],
        has=["Answer."],
        title="Tides",
        models=["deepseek-chat"],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[one.id for one in CASES])
def test_what_is_brought_is_taken_as_it_was_said(case: Brought, tmp_path: Path) -> None:
    check(case, tmp_path)
