"""Shapes that programs are known to write, each with what a person who used that program should see of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from core.kernel.values.imports import Transcript, TranscriptKind, TranscriptMessage
from core.kernel.values.messages import (
    AttachmentPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from core.talk.transcripts.transcript_reader import paths, read_transcripts, recognised


class Shape(msgspec.Struct, frozen=True):
    """A file, and what is right: each path as lines of who said what, the one that was seen last first.

    Args:
        named: the file's name, where the person names it; left_out: what must be counted, by its kind; at: of the conversation.
    """

    id: str
    kind: TranscriptKind
    data: str
    said: tuple[tuple[str, ...], ...]
    title: str | None = None
    named: str = ""
    models: tuple[str, ...] = ()
    left_out: frozenset[str] = frozenset()
    has_not: tuple[str, ...] = ()
    at: str = ""


def _told(part: Part) -> str:
    match part:
        case TextPart():
            return part.text.strip()
        case ReasoningPart():
            return f"(thinks) {part.text.strip()}"
        case ToolCallPart():
            return f"(calls {part.name}) {part.arguments_json}"
        case ToolResultPart():
            return f"(result) {part.text.strip()}"
        case AttachmentPart():
            return f"(file) {part.name}"
    return "?"


def _lines(way: Sequence[TranscriptMessage]) -> tuple[str, ...]:
    """One line a message: u or a, then its parts; what no import keeps is left out."""
    return tuple(
        f"{one.role[0]}: {' | '.join(map(_told, one.parts))}" for one in way if not one.is_aside and one.parts
    )


# Claude Code.


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
        left_out=frozenset({"notes of the program"}),
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
        left_out=frozenset({"notes of the program"}),
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
        left_out=frozenset({"notes of the program"}),
    ),
]


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
        said=(("u: How far is it? | (file) sediment://file_1", "a: Four miles."),),
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
                "a: (thinks) I look at it.",
                "a: (thinks) Thought for 5s",
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
                "a: Rain  ([Rain](https://example.org/rain), [Wet](https://example.org/wet)) and wind.",
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
        said=(("u: Paint a heron.", "t: (file) sediment://file_2", "a: There it is."),),
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
        left_out=frozenset({"notes of the program"}),
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
        left_out=frozenset({"notes of the program"}),
    ),
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
                "u: Look at | fn a() {}",
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
        said=(("u: Do herons sleep? | (file) heron.png", "a: They do.\nOn one leg & calm"),),
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
        "⏺ Read(pumps.md)\n  ⎿  Read 12 lines\n\n⏺ The red one.\n\n> Thanks.\n\n⏺ You are welcome.\n",
        said=(
            (
                "u: Which pump?",
                "a: Read(pumps.md)\n⎿  Read 12 lines",
                "a: The red one.",
                "u: Thanks.",
                "a: You are welcome.",
            ),
        ),
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
        left_out=frozenset({"notes of the program"}),
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
        left_out=frozenset({"notes of the program"}),
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
                'a: (thinks) I read it. | Read. | (calls read_file) {"path": "a"} | (result) A',
            ),
        ),
        models=("gemini-3-pro",),
        left_out=frozenset({"notes of the program"}),
    ),
]

SHAPES = [*CLAUDE_CODE, *CHATGPT, *CLAUDE, *OTHERS, *FILES, *AGENTS]


@pytest.mark.parametrize("shape", SHAPES, ids=[one.id for one in SHAPES])
def test_a_shape_of_a_program_is_read_as_its_person_saw_it(shape: Shape) -> None:
    data = shape.data.encode()
    assert recognised(data, shape.named) is shape.kind
    found = [one for one in read_transcripts(shape.kind, data) if isinstance(one, Transcript)]

    assert len(found) == 1
    talk = found[0]
    ways = {_lines(way): None for way in paths(talk).paths}
    ways.pop((), None)
    assert tuple(ways) == shape.said
    whole = "\n".join(map("\n".join, ways))
    assert not [one for one in shape.has_not if one in whole]
    assert shape.left_out <= set(talk.skipped)
    if shape.title is not None:
        assert talk.title == shape.title
    if shape.models:
        assert tuple(dict.fromkeys(one.model for one in talk.messages if one.model)) == shape.models
    if shape.at:
        assert talk.at is not None
        assert talk.at.isoformat() == shape.at
