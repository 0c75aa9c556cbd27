"""Shapes of sessions: Claude Code, Codex, Gemini CLI, aider, SpecStory."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.kernel.values.imports import TranscriptKind
from tests.core.talk.transcripts.shapes import Shape, check


def _cc(*rows: dict[str, Any]) -> str:
    """A session: rows follow one another where they name no other."""
    told, before = [], None
    for number, row in enumerate(rows, 1):
        made = {"sessionId": "s1", "timestamp": f"2026-10-01T08:{number:02}:00.000Z", **row}
        if "type" in made and made["type"] in {"user", "assistant", "system", "attachment"}:
            made.setdefault("uuid", f"u{number}")
            made.setdefault("parentUuid", before)
            before = made["uuid"]
        told.append(json.dumps(made))
    return "\n".join(told) + "\n"


def _user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def _model(*blocks: dict[str, Any] | str, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": one} if isinstance(one, str) else one for one in blocks]
    message = {"role": "assistant", "model": "claude-opus-4-8", "content": content}
    return {"type": "assistant", "message": message, **more}


def _use(key: str, name: str = "Read") -> dict[str, Any]:
    return {"type": "tool_use", "id": key, "name": name, "input": {"path": key}}


def _answer(key: str, text: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": key, "content": text}


def _call(key: str, name: str = "Read") -> str:
    return f'(calls {name}) {{"path": "{key}"}}'


CLAUDE_CODE = [
    Shape(
        id="parallel calls answered in one row (claude-code of 2025)",
        kind=TranscriptKind.CLAUDE_CODE,
        data=_cc(
            _user("Read both."),
            _model(_use("a"), _use("b")),
            _user([_answer("a", "A"), _answer("b", "B")]),
            _model("Both are read."),
        ),
        said=(
            (
                "u: Read both.",
                f"a: {_call('a')} | {_call('b')}",
                "u: (result) A | (result) B",
                "a: Both are read.",
            ),
        ),
    ),
    Shape(
        id="the last result hangs at the first call (claude-code-log#97)",
        kind=TranscriptKind.CLAUDE_CODE,
        data=_cc(
            _user("Read three.", uuid="q"),
            _model(_use("a"), uuid="m1", parentUuid="q"),
            _model(_use("b"), uuid="m2", parentUuid="m1"),
            _model(_use("c"), uuid="m3", parentUuid="m2"),
            _user([_answer("c", "C")], uuid="r3", parentUuid="m3"),
            _user([_answer("b", "B")], uuid="r2", parentUuid="m2"),
            _user([_answer("a", "A")], uuid="r1", parentUuid="m1"),
            _model("All are read.", uuid="e", parentUuid="r3"),
        ),
        said=(
            (
                "u: Read three.",
                f"a: {_call('a')}",
                f"a: {_call('b')}",
                f"a: {_call('c')}",
                "u: (result) C",
                "u: (result) B",
                "u: (result) A",
                "a: All are read.",
            ),
        ),
    ),
    Shape(
        id="a reply was tried twice after an API error (claude-code#37779)",
        kind=TranscriptKind.CLAUDE_CODE,
        data=_cc(
            _user("Go.", uuid="q"),
            {
                "type": "assistant",
                "uuid": "x",
                "parentUuid": "q",
                "isApiErrorMessage": True,
                "message": {
                    "role": "assistant",
                    "model": "<synthetic>",
                    "content": [{"type": "text", "text": "API Error: 529"}],
                },
            },
            {"type": "system", "subtype": "api_error", "uuid": "y", "parentUuid": "q", "content": "529"},
            _model("Gone.", uuid="z", parentUuid="q"),
        ),
        said=(("u: Go.", "a: Gone."),),
        left_out=frozenset({"notes of the other program"}),
    ),
    Shape(
        id="a queued message with a picture (claude-code#86980)",
        kind=TranscriptKind.CLAUDE_CODE,
        data=_cc(
            _user("Build it."),
            _model(_use("m", "Bash")),
            {
                "type": "attachment",
                "attachment": {
                    "type": "queued_command",
                    "commandMode": "prompt",
                    "prompt": [
                        {"type": "text", "text": "Like this."},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": "aa"},
                        },
                    ],
                },
            },
            _user([_answer("m", "built")], parentUuid="u2"),
            _model("As in the picture."),
        ),
        said=(
            (
                "u: Build it.",
                f"a: {_call('m', 'Bash')}",
                "u: Like this. | (file) image",
                "u: (result) built",
                "a: As in the picture.",
            ),
        ),
    ),
    Shape(
        id="two queued messages sent as one (agentsview#406)",
        kind=TranscriptKind.CLAUDE_CODE,
        data=_cc(
            _user("Start."),
            {"type": "queue-operation", "operation": "enqueue", "content": "First this."},
            {"type": "queue-operation", "operation": "enqueue", "content": "Then that."},
            _model("Started."),
            {"type": "queue-operation", "operation": "dequeue"},
            {"type": "queue-operation", "operation": "dequeue"},
            _user("First this.\nThen that."),
            _model("Both are done."),
        ),
        said=(("u: Start.", "a: Started.", "u: First this.\nThen that.", "a: Both are done."),),
    ),
    Shape(
        id="a queued message was taken back and typed anew (agentsview#401)",
        kind=TranscriptKind.CLAUDE_CODE,
        data=_cc(
            _user("Start."),
            {"type": "queue-operation", "operation": "enqueue", "content": "Use 8000."},
            {"type": "queue-operation", "operation": "popAll", "content": "Use 8000."},
            _model("Started."),
            _user("Use 8017."),
            _model("8017."),
        ),
        said=(("u: Start.", "a: Started.", "u: Use 8017.", "a: 8017."),),
        has_not=("8000",),
    ),
    Shape(
        id="the program speaks in the person's place: caveat, output, interruption, memory",
        kind=TranscriptKind.CLAUDE_CODE,
        data=_cc(
            _user(
                "Caveat: The messages below were generated by the user while running local commands.",
                isMeta=True,
            ),
            _user(
                "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args></command-args>"
            ),
            _user("<local-command-stdout>Set model to opus</local-command-stdout>"),
            _user("Write it."),
            _model("Half"),
            _user([{"type": "text", "text": "[Request interrupted by user]"}]),
            _user("<user-memory-input>always use tabs</user-memory-input>"),
            _user("Go on."),
            _model("Whole."),
        ),
        said=(("u: Write it.", "a: Half", "u: Go on.", "a: Whole."),),
        title="",
        left_out=frozenset({"notes of the other program"}),
    ),
    Shape(
        id="reminders and the editor's selection in the person's own block",
        kind=TranscriptKind.CLAUDE_CODE,
        data=_cc(
            _user(
                [
                    {"type": "text", "text": "<ide_selection>lines 1 to 4 of a.py</ide_selection>"},
                    {
                        "type": "text",
                        "text": "Why this?\n<system-reminder>\nDo not mention this.\n</system-reminder>",
                    },
                ]
            ),
            _model("Because."),
        ),
        said=(("u: Why this?", "a: Because."),),
        has_not=("Do not mention", "lines 1 to 4"),
    ),
    Shape(
        id="a command of one's own, its message before its name (claude-code-sessions#53)",
        kind=TranscriptKind.CLAUDE_CODE,
        data=_cc(
            _user(
                "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n"
                "<command-args>the pump of hall 2</command-args>"
            ),
            _user([{"type": "text", "text": "You are a fixer. Fix: the pump of hall 2"}], isMeta=True),
            _model("It is fixed."),
        ),
        said=(("u: /fix the pump of hall 2", "a: It is fixed."),),
        title="the pump of hall 2",
    ),
    Shape(
        id="titles: the person's before the model's before a summary (codeg#403)",
        kind=TranscriptKind.CLAUDE_CODE,
        data=_cc(
            {"type": "summary", "summary": "Old summary", "leafUuid": "u9"},
            _user("Hello."),
            {"type": "ai-title", "aiTitle": "A greeting"},
            _model("Hello."),
            {"type": "custom-title", "customTitle": "First try"},
            {"type": "custom-title", "customTitle": "Second try"},
        ),
        said=(("u: Hello.", "a: Hello."),),
        title="Second try",
    ),
    Shape(
        id="a helper's rows within the session (akm#829)",
        kind=TranscriptKind.CLAUDE_CODE,
        data=_cc(
            _user("Find it.", uuid="q"),
            _model(_use("t", "Task"), uuid="m", parentUuid="q"),
            _user("Find it in src.", uuid="h1", parentUuid=None, isSidechain=True, agentId="a1"),
            _model("src/a.py", uuid="h2", parentUuid="h1", isSidechain=True, agentId="a1"),
            _user([_answer("t", "src/a.py")], uuid="r", parentUuid="m"),
            _model("It is in src/a.py.", uuid="e", parentUuid="r"),
        ),
        said=(
            (
                "u: Find it.",
                f"a: {_call('t', 'Task')}",
                "u: (result) src/a.py",
                "a: It is in src/a.py.",
            ),
        ),
    ),
    Shape(
        id="a second attempt and a third (claude-code-log#97)",
        kind=TranscriptKind.CLAUDE_CODE,
        data=_cc(
            _user("Start.", uuid="q"),
            _model("Ready.", uuid="m", parentUuid="q"),
            _user("One.", uuid="a", parentUuid="m"),
            _model("First.", uuid="a1", parentUuid="a"),
            _user("Two.", uuid="b", parentUuid="m"),
            _model("Second.", uuid="b1", parentUuid="b"),
            _user("Three.", uuid="c", parentUuid="m"),
            _model("Third.", uuid="c1", parentUuid="c"),
        ),
        said=(
            ("u: Start.", "a: Ready.", "u: Three.", "a: Third."),
            ("u: Start.", "a: Ready.", "u: One.", "a: First."),
            ("u: Start.", "a: Ready.", "u: Two.", "a: Second."),
        ),
    ),
    Shape(
        id="a search that the vendor made: its call and its result (server tools)",
        kind=TranscriptKind.CLAUDE_CODE,
        data=_cc(
            _user("Search it."),
            _model(
                {
                    "type": "server_tool_use",
                    "id": "w",
                    "name": "web_search",
                    "input": {"query": "pumps"},
                },
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "w",
                    "content": [
                        {
                            "type": "web_search_result",
                            "title": "Pumps",
                            "url": "https://example.org/p",
                            "encrypted_content": "x",
                        }
                    ],
                },
                "Here.",
            ),
        ),
        said=(
            (
                "u: Search it.",
                'a: (calls web_search) {"query": "pumps"} | (result) [Pumps](https://example.org/p) | Here.',
            ),
        ),
        has_not=("encrypted",),
    ),
    Shape(
        id="after a compaction the session goes on under its boundary (chatmux#161)",
        kind=TranscriptKind.CLAUDE_CODE,
        data=_cc(
            _user("Plan.", uuid="q"),
            _model("Planned.", uuid="m", parentUuid="q"),
            {
                "type": "system",
                "subtype": "compact_boundary",
                "uuid": "b",
                "parentUuid": None,
                "logicalParentUuid": "m",
                "content": "Conversation compacted",
            },
            _user(
                "This session is being continued from a previous conversation that ran out of context.",
                uuid="s",
                parentUuid="b",
                isCompactSummary=True,
                isVisibleInTranscriptOnly=True,
            ),
            _user("Do it.", uuid="n", parentUuid="s"),
            _model("Done.", uuid="e", parentUuid="n"),
        ),
        said=(("u: Plan.", "a: Planned.", "u: Do it.", "a: Done."),),
        left_out=frozenset({"notes of the other program"}),
    ),
]


# aider, SpecStory.

FILES = [
    Shape(
        id="aider: a prompt of three lines, an empty one, output of the program over lines",
        kind=TranscriptKind.AIDER,
        data="\n# aider chat started at 2026-10-01 08:00:00\n\n> Aider v0.86.1  \n> Git repo: .git with 3 files  \n\n"
        "#### Explain:  \n####   \n#### the pump  \n\nIt turns.\n\n> Tokens: 1k sent, 2 received.  \n\n#### <blank>  \n"
        "> first line of an error\nsecond line\nlast line  \n\n#### Go on.  \n\nIt goes on.\n\n",
        said=(("u: Explain:\n\nthe pump", "a: It turns.", "u: Go on.", "a: It goes on."),),
        at="2026-10-01T08:00:00+00:00",
    ),
    Shape(
        id="aider: a quote of two lines in a reply stays there",
        kind=TranscriptKind.AIDER,
        data="\n# aider chat started at 2026-10-01 08:00:00\n\n#### Quote it.  \n\nHe wrote:\n\n> a pump\n> turns\n\nThat is all.\n\n"
        "> Tokens: 1k sent, 2 received.  \n",
        said=(("u: Quote it.", "a: He wrote:\n\n> a pump\n> turns\n\nThat is all."),),
    ),
    Shape(
        id="SpecStory 2.1: thoughts in a fold, an interruption",
        kind=TranscriptKind.SPECSTORY,
        data="<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# 2026-01-28 13:10:29Z\n\n"
        "<!-- Claude Code Session 3c887384-88d4-4b43-b3de-b109170c7946 (2026-01-28 13:10:29Z) -->\n\n"
        "_**User (2026-01-28 13:10:29Z)**_\n\nLook.\n\n---\n\n_**Agent (claude-opus-4-8 2026-01-28 13:10:31Z)**_\n\n"
        "<think><details><summary>Thought Process</summary>\nI look.\n</details></think>\n\n"
        "_**Agent (claude-opus-4-8 2026-01-28 13:10:31Z)**_\n\nI look at it.\n\n---\n\n"
        "_**User (2026-01-28 13:12:49Z)**_\n\n[Request interrupted by user for tool use]\n\n---\n\n"
        "_**User (2026-01-28 13:13:14Z)**_\n\nOne up.\n\n---\n\n_**Agent (claude-opus-4-8 2026-01-28 13:13:18Z)**_\n\nSeen.\n",
        said=(("u: Look.", "a: (thinks) I look.", "a: I look at it.", "u: One up.", "a: Seen."),),
        models=("claude-opus-4-8",),
        left_out=frozenset({"notes of the other program"}),
        at="2026-01-28T13:10:29+00:00",
    ),
    Shape(
        id="SpecStory of Cursor: no times in the heads, a title",
        kind=TranscriptKind.SPECSTORY,
        data="<!-- Generated by SpecStory -->\n\n# Pumps (2025-06-01 10:00Z)\n\n"
        "<!-- cursor Session 8f1c2f0e-aaaa-4bbb-8ccc-1234567890ab (2025-06-01 10:00Z) -->\n\n_**User**_\n\nWhich?\n\n---\n\n"
        "_**Assistant**_\n\nThe red one.\n\n---\n\n",
        said=(("u: Which?", "a: The red one."),),
    ),
]


# Codex, Gemini CLI.


def _rows(*rows: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def _item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-10-01T08:00:01.000Z", "type": "response_item", "payload": payload}


_HEAD = {
    "timestamp": "2026-10-01T08:00:00.000Z",
    "type": "session_meta",
    "payload": {"id": "x1", "timestamp": "2026-10-01T08:00:00.000Z", "cwd": "/w", "source": "cli"},
}

AGENTS = [
    Shape(
        id="Codex: a search of the vendor, instructions, a picture",
        kind=TranscriptKind.CODEX,
        data=_rows(
            _HEAD,
            _item(
                type="message",
                role="developer",
                content=[
                    {"type": "input_text", "text": "<permissions instructions>x</permissions instructions>"}
                ],
            ),
            _item(
                type="message",
                role="user",
                content=[
                    {"type": "input_text", "text": "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>x"}
                ],
            ),
            _item(
                type="message",
                role="user",
                content=[
                    {"type": "input_text", "text": "Look at this."},
                    {"type": "input_image", "image_url": "data:image/png;base64,aa"},
                ],
            ),
            _item(type="web_search_call", status="completed", action={"type": "search", "query": "pumps"}),
            _item(type="message", role="assistant", content=[{"type": "output_text", "text": "Seen."}]),
            {
                "timestamp": "x",
                "type": "event_msg",
                "payload": {"type": "agent_message", "message": "Seen."},
            },
        ),
        said=(
            (
                "u: Look at this. | (file) image",
                'a: (calls web_search) {"query": "pumps", "type": "search"}',
                "a: Seen.",
            ),
        ),
        left_out=frozenset({"notes of the other program"}),
    ),
    Shape(
        id="Codex: a rollout of 2025, rows without payload",
        kind=TranscriptKind.CODEX,
        data=_rows(
            {"id": "x2", "timestamp": "2025-06-01T08:00:00.000Z", "instructions": None, "git": {}},
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "A greeting"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]},
        ),
        said=(("u: Hi", "a: (thinks) A greeting", "a: Hello"),),
    ),
    Shape(
        id="Gemini CLI: one object, a tool, a note",
        kind=TranscriptKind.GEMINI_CLI,
        data=json.dumps(
            {
                "sessionId": "g1",
                "projectHash": "h",
                "startTime": "2026-10-01T08:00:00.000Z",
                "lastUpdated": "2026-10-01T08:01:00.000Z",
                "messages": [
                    {
                        "id": "1",
                        "timestamp": "2026-10-01T08:00:00.000Z",
                        "type": "user",
                        "content": "Read it.",
                    },
                    {"id": "2", "type": "info", "content": "Request cancelled."},
                    {
                        "id": "3",
                        "type": "gemini",
                        "content": "Read.",
                        "model": "gemini-3-pro",
                        "thoughts": [{"subject": "Reading", "description": "I read it."}],
                        "toolCalls": [
                            {
                                "id": "t",
                                "name": "read_file",
                                "args": {"path": "a"},
                                "status": "success",
                                "result": [{"functionResponse": {"id": "t", "response": {"output": "A"}}}],
                            }
                        ],
                    },
                ],
            }
        ),
        said=(
            (
                "u: Read it.",
                'a: (thinks) **Reading**\nI read it. | Read. | (calls read_file) {"path": "a"} | (result) A',
            ),
        ),
        models=("gemini-3-pro",),
        left_out=frozenset({"notes of the other program"}),
    ),
]

SHAPES = [*CLAUDE_CODE, *FILES, *AGENTS]


@pytest.mark.parametrize("shape", SHAPES, ids=[one.id for one in SHAPES])
def test_a_shape_is_read_as_its_person_saw_it(shape: Shape) -> None:
    check(shape)
