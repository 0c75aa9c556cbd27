"""A fourth round of sessions and exports from public reports and sources, each through the whole import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.core.imports.brought import META, Brought, T, a, cc, check, cx, ev, lines, ri, u

CONTEXT = "<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>"
AGENTS = "# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nBe kind.\n</INSTRUCTIONS>"
PLUGINS = "<recommended_plugins>\nInstall Drive.\n</recommended_plugins>"


def said(role: str, *texts: str) -> dict[str, object]:
    """A message as Codex sent it or got it."""
    kind = "input_text" if role == "user" else "output_text"
    return ri(type="message", role=role, content=[{"type": kind, "text": text} for text in texts])


def task(**given: object) -> dict[str, object]:
    return {"type": "tool_use", "id": "t1", "name": "Agent", "input": given}


CASES = [
    Brought(
        id="Claude Code: a reply that grew, written anew with all of it each time (kenn-io/agentsview: SameMessageIDStreamingSnapshots)",
        files={
            "s1.jsonl": cc(
                u("hello"),
                a("Work", mid="m"),
                a("Working", task(description="insp"), mid="m"),
                a("Working on it", task(description="inspect schema"), mid="m"),
            )
        },
        has=["Working on it", "[called Agent]", "inspect schema"],
        has_not=['"insp"', "Working\n"],
        roles="uaa",
    ),
    Brought(
        id="Claude Code: what the editor showed, before the words in one text (kenn-io/agentsview: IDE envelope)",
        files={
            "s1.jsonl": cc(
                u("<ide_opened_file>The user opened /w/README.md.</ide_opened_file> Explain this file."),
                a("It tells of pumps."),
                u("<ide_selection>The user selected package main.</ide_selection>\n\nWhat does this do?"),
                a("It starts."),
            )
        },
        person=["Explain this file.", "What does this do?"],
    ),
    Brought(
        id="Claude Code: rows of kinds that nobody knows yet (datadog-labs/trajectory#78, meawoppl/rust-code-agent-sdks#156)",
        files={
            "s1.jsonl": lines({"type": "mode", "mode": "normal", "sessionId": "s1"})
            + cc(
                u("When?"),
                {"type": "atis-latch", "atis": "", "sessionId": "s1"},
                a("At noon."),
                {"type": "system", "subtype": "turn_duration", "durationMs": 12},
                u("And ebb?"),
                a("At six."),
            )
            + lines(
                {"type": "pr-link", "prNumber": 3, "prUrl": "https://x/3", "sessionId": "s1"},
                {"type": "last-prompt", "lastPrompt": "And ebb?", "sessionId": "s1"},
            )
        },
        said=[["u: When?", "a: At noon.", "u: And ebb?", "a: At six."]],
    ),
    Brought(
        id="Claude Code: a row of a session, pasted by the person (anthropics/claude-code#26664)",
        files={
            "s1.jsonl": cc(
                u('{"type":"user","message":{"role":"user","content":"inner"},"uuid":"x"} is what?'),
                a("A row."),
            )
        },
        said=[
            [
                'u: {"type":"user","message":{"role":"user","content":"inner"},"uuid":"x"} is what?',
                "a: A row.",
            ]
        ],
    ),
    Brought(
        id="Codex: the prompt shares a block with what the program says first (kenn-io/agentsview: recommended plugins)",
        files={
            "rollout-1.jsonl": cx(
                META,
                said("user", f"{PLUGINS}\n{AGENTS}\n\nReview the changes"),
                said("assistant", "Fine."),
                said("user", PLUGINS, AGENTS, CONTEXT, "And again"),
                said("assistant", "Fine too."),
            )
        },
        said=[["u: Review the changes", "a: Fine.", "u: And again", "a: Fine too."]],
    ),
    Brought(
        id="Codex: skills and goals stand in the person's place (kenn-io/agentsview: skill template, /goal continuation)",
        files={
            "rollout-1.jsonl": cx(
                META,
                said("user", "First?"),
                said(
                    "user",
                    "<skill>\n  <name>fix</name>\n  <path>/s/SKILL.md</path>\n---\nname: fix\n</skill>",
                ),
                said("assistant", "On it."),
                said(
                    "user",
                    '<codex_internal_context source="goal">\nContinue working toward the active thread goal.\n'
                    "</codex_internal_context>",
                ),
                said("user", "<goal_context>\nContinue working.\n</goal_context>"),
                said("assistant", "Still on it."),
                said("user", "Second?"),
                said("assistant", "Done."),
            )
        },
        person=["First?", "Second?"],
        has=["On it.", "Still on it.", "Done."],
    ),
    Brought(
        id="Codex: a prompt that the program sent again after an interruption (kenn-io/agentsview: re-emitted prompt)",
        files={
            "rollout-1.jsonl": cx(
                META,
                said("user", "Review the change."),
                said("user", "<turn_aborted>\ninterrupted\n</turn_aborted>"),
                said("user", "Review the change."),
                said("assistant", "No issues found."),
            )
        },
        said=[["u: Review the change.", "a: No issues found."]],
    ),
    Brought(
        id="Codex: a turn that was taken back (openai/codex#8454: thread_rolled_back), edited in an editor",
        files={
            "rollout-1.jsonl": cx(
                META,
                ev(type="user_message", message="One?"),
                ev(type="agent_message", message="First."),
                ev(type="task_started", turn_id="2"),
                ev(
                    type="user_message",
                    message="# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nBad?",
                ),
                ev(type="agent_message", message="Worse."),
                ev(type="turn_aborted", reason="interrupted"),
                ev(type="thread_rolled_back", num_turns=1),
                ev(
                    type="user_message",
                    message="# Context from my IDE setup:\n\n## My request for Codex:\nGood?",
                ),
                ev(type="agent_message", message="Better."),
            )
        },
        said=[
            ["u: One?", "a: First.", "u: Bad?", "a: Worse."],
            ["u: One?", "a: First.", "u: Good?", "a: Better."],
        ],
        talks=2,
    ),
    Brought(
        id="Codex: a helper's rollout beside the person's (kenn-io/agentsview: source.subagent.thread_spawn)",
        files={
            "rollout-1.jsonl": cx(META, said("user", "When?"), said("assistant", "At noon.")),
            "rollout-2.jsonl": cx(
                {
                    "type": "session_meta",
                    "payload": {
                        "id": "c2",
                        "cwd": "/srv/x",
                        "thread_source": "subagent",
                        "source": {"subagent": {"thread_spawn": {"parent_thread_id": "c1", "depth": 1}}},
                    },
                },
                ri(
                    type="agent_message",
                    author="main",
                    recipient="main/worker",
                    content=[{"type": "input_text", "text": "Task received."}],
                ),
                said("assistant", "Found."),
            ),
        },
        said=[["u: When?", "a: At noon."]],
    ),
    Brought(
        id="Cursor: what its agent writes beside the project (MemPalace/mempalace#232, vectorize-io/hindsight#2464)",
        files={
            "e1.jsonl": lines(
                {
                    "role": "user",
                    "message": {
                        "content": [{"type": "text", "text": "<user_query>\nWhat is Go?\n</user_query>"}]
                    },
                },
                {
                    "role": "assistant",
                    "message": {
                        "content": [
                            {"type": "text", "text": "I look."},
                            {"type": "tool_use", "name": "Grep", "input": {"pattern": "go"}},
                        ]
                    },
                },
                {"role": "assistant", "message": {"content": "A language."}},
                {"type": "turn_ended", "status": "success"},
                {"role": "user", "message": {"content": "Thanks."}},
                {"type": "turn_ended", "status": "error", "error": "User aborted request"},
            )
        },
        person=["What is Go?", "Thanks."],
        has=["I look.", "[called Grep]", "A language."],
        roles="uaau",
    ),
    Brought(
        id="Cursor: the same as text (kenn-io/agentsview: user: and assistant: lines, [Thinking], [Tool call])",
        files={
            "e1.txt": "user:\n<user_query>\nWhen is ebb?\n</user_query>\n\nassistant:\n[Thinking] I should look.\n"
            "[Tool call] Read\n  path: tides.md\n\n[Tool result] Read\n\nassistant:\nAt six.\n\nuser:\n<user_query>\n"
            "Thanks.\n</user_query>\n"
        },
        named="e1.txt",
        person=["When is ebb?", "Thanks."],
        has=["At six."],
        has_not=["user_query"],
    ),
    Brought(
        id="Gemini of Takeout: cells with a head of their own, and what is no prompt (kenn-io/agentsview: outer-cell)",
        files={
            "MyActivity.html": "<!doctype html>\n<html><head><title>My Activity History</title></head><body>"
            '<div class="outer-cell mdl-cell"><div class="header-cell mdl-cell"><h3>Gemini Apps</h3><p>Prompted<br></p>'
            '<p>Jan 2, 2025, 3:04:05 PM EDT</p></div><div class="content-cell mdl-cell"><p>first prompt<br></p>'
            "<p><strong>first</strong> answer &amp; detail</p><script>secret script</script><template>secret</template>"
            '</div></div><div class="outer-cell mdl-cell"><div class="header-cell mdl-cell"><h3>Gemini Apps</h3>'
            "<p>Feedback</p><p>Jan 4, 2025, 3:04:05 PM PST</p></div>"
            '<div class="content-cell mdl-cell"><p>feedback content</p></div></div></body></html>'
        },
        has=["first prompt", "answer & detail"],
        has_not=["secret", "feedback content"],
    ),
    Brought(
        id="SpecStory: helpers, and what the program said in the person's place (specstoryai/getspecstory: its own history)",
        files={
            "2026-02-23.md": "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# 2026-02-23 22:28:34Z\n\n"
            "<!-- Claude Code Session ea61a7b5-af94-4a0b-952a-1dddbf604fc6 (2026-02-23 22:28:34Z) -->\n\n"
            "_**User (2026-02-23 22:28:34Z)**_\n\nAddress 30.\n\n---\n\n"
            "_**Agent - sidechain (2026-02-23 22:28:35Z)**_\n\nResearch the sync.\n\n"
            "_**Agent - sidechain (claude-haiku-4-5 2026-02-23 22:28:36Z)**_\n\nI look for it.\n\n"
            "_**Agent (claude-opus-4-6 2026-02-23 22:28:40Z)**_\n\n"
            "_**Agent (claude-opus-4-6 2026-02-23 22:28:41Z)**_\n\nAll tests pass.\n\n---\n\n"
            "_**User (2026-02-23 22:42:22Z)**_\n\n[Request interrupted by user for tool use]\n\n"
            "_**User (2026-02-23 22:56:36Z)**_\n\n<command-name>/exit</command-name>\n            "
            "<command-message>exit</command-message>\n            <command-args></command-args>\n\n"
            "_**User (2026-02-23 22:56:36Z)**_\n\n<local-command-stdout>See ya!</local-command-stdout>\n\n"
            "_**User (2026-02-23 22:56:36Z)**_\n\n<local-command-caveat>Caveat: The messages below were generated by "
            "the user while running local commands.</local-command-caveat>\n"
        },
        said=[["u: Address 30.", "a: All tests pass."]],
        models=["claude-opus-4-6"],
    ),
    Brought(
        id="Claude: files without a name, and a text beside blocks that say nothing (kenn-io/agentsview#913)",
        files={
            "conversations.json": json.dumps(
                [
                    {
                        "uuid": "k1",
                        "name": "Files",
                        "created_at": T % 0,
                        "account": {"uuid": "a"},
                        "chat_messages": [
                            {
                                "uuid": "m1",
                                "sender": "human",
                                "text": "Show.",
                                "content": [],
                                "created_at": T % 1,
                            },
                            {
                                "uuid": "m2",
                                "sender": "assistant",
                                "text": "Top words.",
                                "content": [],
                                "created_at": T % 2,
                                "attachments": [{"extracted_content": "file without a name"}],
                            },
                            {
                                "uuid": "m3",
                                "sender": "assistant",
                                "text": "Later words.",
                                "content": [{"type": "tool_use", "text": ""}],
                                "created_at": T % 3,
                                "attachments": [{"extracted_content": "file after a block"}],
                            },
                        ],
                    }
                ]
            )
        },
        person=["Show."],
        has=["Top words.", "file without a name", "Later words.", "file after a block"],
        title="Files",
    ),
    Brought(
        id="ChatGPT: Markdown of a browser extension, with times, thoughts and a file (pionxzh/chatgpt-exporter, markdown.ts)",
        files={
            "tides.md": "---\ntitle: Tides\nsource: https://chatgpt.com/c/1\n---\n\n# Tides\n\n#### You:\n"
            '<time datetime="2026-10-01T08:00:00.000Z" title="10/1/2026, 8:00:00 AM">08:00 AM</time>\n\n'
            "When is ebb?\n\n- 📎 notes.pdf\n\n#### ChatGPT:\n"
            '<time datetime="2026-10-01T08:00:09.000Z" title="10/1/2026, 8:00:09 AM">08:00 AM</time>\n\n'
            "<details>\n<summary>Thought for 3 seconds</summary>\n\nThe moon.\n\n</details>\n\nAt six.\n\n"
            "#### You:\nThanks.\n"
        },
        named="tides.md",
        person=["When is ebb? - 📎 notes.pdf", "Thanks."],
        has=["At six."],
        has_not=["<time", "source:"],
        title="Tides",
    ),
    Brought(
        id="OpenCode: Markdown of /export (anomalyco/opencode, tui/util/transcript.ts)",
        files={
            "session-ses_1.md": "# Tide tables\n\n**Session ID:** ses_1\n**Created:** 10/1/2026, 8:00:00 AM\n"
            "**Updated:** 10/1/2026, 8:10:00 AM\n\n---\n\n## User\n\nWhen is ebb?\n\n---\n\n"
            "## Assistant (Build · Claude Opus 4.8 · 3.2s)\n\n_Thinking:_\n\nThe moon.\n\n**Tool: read**\n\n**Input:**\n"
            '```json\n{\n  "filePath": "a.md"\n}\n```\n\n**Output:**\n```\n## User\n\nquoted\n```\n\n---\n\n'
            "## Assistant (Build · Claude Opus 4.8)\n\nAt six.\n\n---\n\n## User\n\nThanks.\n\n---\n\n"
        },
        named="session-ses_1.md",
        person=["When is ebb?", "Thanks."],
        has=["At six."],
        has_not=["Session ID"],
        title="Tide tables",
    ),
    Brought(
        id="Gemini CLI: Markdown of /chat share (google-gemini/gemini-cli, historyExportUtils.ts)",
        files={
            "talk.md": "## USER 🧑‍💻\n\n<session_context>\nThis is the Gemini CLI.\n</session_context>\n\n---\n\n"
            "## MODEL ✨\n\nGot it. Thanks for the context!\n\n---\n\n## USER 🧑‍💻\n\nWhen is ebb?\n\n---\n\n"
            '## MODEL ✨\n\n**Tool Command**:\n```json\n{\n  "name": "read_file"\n}\n```\n\n---\n\n## USER 🧑‍💻\n\n'
            '**Tool Response**:\n```json\n{\n  "name": "read_file"\n}\n```\n\n---\n\n## MODEL ✨\n\nAt six.'
        },
        named="talk.md",
        person=["When is ebb?"],
        has=["At six."],
        has_not=["This is the Gemini CLI", "Got it."],
    ),
    Brought(
        id="llm: what llm logs --json prints (simonw/llm, cli.py: log_rows_as_json)",
        files={
            "logs.json": json.dumps(
                [
                    {
                        "id": f"r{number}",
                        "model": "gpt-6.1",
                        "resolved_model": None,
                        "prompt": asked,
                        "system": "Be brief.",
                        "prompt_json": None,
                        "options_json": {},
                        "response": told,
                        "response_json": None,
                        "conversation_id": talk,
                        "duration_ms": 900,
                        "datetime_utc": f"2026-10-01T08:0{number}:00.123456+00:00",
                        "input_tokens": 9,
                        "output_tokens": 2,
                        "conversation_name": "Tides",
                        "conversation_model": "gpt-6.1",
                        "schema_json": None,
                        "prompt_fragments": [],
                        "system_fragments": [],
                        "tools": [],
                        "tool_calls": [],
                        "tool_results": [],
                        "attachments": [],
                    }
                    for number, (talk, asked, told) in enumerate(
                        (("c1", "When?", "At noon."), ("c1", "Ebb?", "At six."), ("c2", "Hi", "Hello")), 1
                    )
                ],
                indent=2,
            )
        },
        talks=2,
        said=[["u: When?", "a: At noon.", "u: Ebb?", "a: At six."], ["u: Hi", "a: Hello"]],
        models=["gpt-6.1"],
    ),
    Brought(
        id="LM Studio: a picture, a thought in a block, and a block of the program (fixtures of its readers, 1784921389195.conversation.json)",
        files={
            "1784921389195.conversation.json": json.dumps(
                {
                    "name": "Sheet",
                    "pinned": True,
                    "createdAt": 1784921389195,
                    "tokenCount": 2146,
                    "systemPrompt": "You are careful.",
                    "lastUsedModel": {"identifier": "qwen/qwen3.6-35b-a3b"},
                    "messages": [
                        {
                            "currentlySelected": 0,
                            "versions": [
                                {
                                    "type": "singleStep",
                                    "role": "user",
                                    "content": [
                                        {"type": "text", "text": "Describe"},
                                        {
                                            "type": "file",
                                            "fileIdentifier": "431.png",
                                            "fileType": "image",
                                            "sizeBytes": 100050,
                                        },
                                    ],
                                }
                            ],
                        },
                        {
                            "currentlySelected": 0,
                            "versions": [
                                {
                                    "type": "multiStep",
                                    "role": "assistant",
                                    "senderInfo": {"senderName": "qwen/qwen3.6-35b-a3b"},
                                    "steps": [
                                        {
                                            "type": "contentBlock",
                                            "style": {"type": "thinking", "ended": True, "title": "Thought"},
                                            "content": [{"type": "text", "text": "A picture."}],
                                        },
                                        {
                                            "type": "contentBlock",
                                            "content": [{"type": "text", "text": "A revenue sheet."}],
                                        },
                                        {"type": "debugInfoBlock", "debugInfo": "Conversation naming"},
                                    ],
                                }
                            ],
                        },
                    ],
                }
            )
        },
        said=[["u: Describe [attached 431.png]", "a: A picture. A revenue sheet."]],
        has_not=["Conversation naming"],
        title="Sheet",
        models=["qwen/qwen3.6-35b-a3b"],
    ),
    Brought(
        id="Cline: a task saved as Markdown (cline/cline, export-markdown.ts)",
        files={
            "cline_task_oct-1-2026.md": "**User:**\n\n<task>\nAdd a test.\n</task>\n"
            "<environment_details>\n# VSCode Visible Files\na.py\n</environment_details>\n\n---\n\n**Assistant:**\n\n"
            "I look.\n[Tool Use: read_file]\nPath: a.py\n\n---\n\n**User:**\n\n[Tool]\ndef a(): ...\n"
            "<environment_details>\n# VSCode Visible Files\n</environment_details>\n\n---\n\n**Assistant:**\n\nDone.\n\n"
        },
        named="cline_task_oct-1-2026.md",
        has=["Add a test.", "I look.", "Done."],
        has_not=["<task>", "environment_details"],
        roles="uaaa",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_is_brought_is_taken_as_it_was_said(case: Brought, tmp_path: Path) -> None:
    check(case, tmp_path)
