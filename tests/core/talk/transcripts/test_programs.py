"""Sessions that real programs wrote against a loopback vendor: each message is what was typed and answered."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.kernel.values.imports import Transcript, TranscriptKind
from core.kernel.values.messages import TextPart
from core.talk.transcripts.transcript_reader import paths, read_transcripts, recognised, seen_last

SESSIONS = Path(__file__).parent / "sessions"
ASKED = ["Read PARALLEL the files", "PLAIN go on"]
ANSWERED = ["I have results.", "Reply from the loopback vendor."]


@pytest.mark.parametrize(
    ("name", "kind", "asked", "answered"),
    [
        ("codex.jsonl", TranscriptKind.CODEX, [*ASKED, "now FAIL"], ANSWERED),
        ("gemini-cli.jsonl", TranscriptKind.GEMINI_CLI, ASKED, ANSWERED),
        (
            "opencode.json",
            TranscriptKind.OPENCODE,
            [f'"{one}"' for one in ASKED],
            ["I read both.", *ANSWERED],
        ),
    ],
)
def test_a_real_session_is_one_straight_talk_of_what_was_typed_and_answered(
    name: str, kind: TranscriptKind, asked: list[str], answered: list[str]
) -> None:
    data = (SESSIONS / name).read_bytes()
    assert recognised(data) is kind
    (found,) = read_transcripts(kind, data)

    assert isinstance(found, Transcript)
    way = seen_last(found)
    assert len(way) == len(found.messages)
    said = [(one.role, part.text) for one in way for part in one.parts if isinstance(part, TextPart)]
    assert [text for role, text in said if role == "user"] == asked
    assert [text for role, text in said if role == "assistant"] == answered


TYPED = {
    "opencode.sql": {
        "Tide tables": [
            [
                "When is high tide?",
                "Read the two files",
                "think hard about the moon",
                "boom now",
                "What is in this picture?",
                "slow answer please",
                "typed while it works",
                "ask a helper for it",
                "After the summary",
            ],
            ["When is high tide?", "Read the two files", "On another way"],
            [
                "When is high tide?",
                "Read the two files",
                "think hard about the moon",
                "boom now",
                "What is in this picture?",
                "slow answer please",
                "typed while it works",
                "ask a helper for it",
                "After the summary",
                "one to be undone",
            ],
        ]
    },
    "llm.sql": {
        "When is high tide?": [["When is high tide?", "And low tide?", "think hard about the moon"]],
        "What is in this picture?": [["What is in this picture?"]],
        "call two files": [["call two files"]],
        "frag text of tides explain the …": [["frag text of tides\n explain the quoted log"]],
        "alpha What does the fragment sa…": [["alpha\n\nWhat does the fragment say?"]],
        "first in chat": [["first in chat", "second in chat", "three\nlines", "resumed"]],
    },
    "aider.chat.history.md": {
        "": [
            [
                "When is high tide?",
                "explain the quoted log",
                "/add a.txt",
                "edit a.txt",
                "think hard about the moon",
                "/ask why two",
                "/run echo hello",
                "first line\n#### line\n> third",
                "boom now",
                "/undo",
                "/clear",
                "After the clear",
                "/exit",
            ]
        ]
    },
    "gemini-cli-errors.jsonl": {
        "": [
            [
                "When is high tide",
                "Read the two files",
                "think hard about the moon",
                "What says @a.txt now",
                "boom now",
                "slow answer please",
                "typed while it works\n/chat save tides",
                "After the compress\n!echo shelled",
                "One more here",
                "resumed words/quit",
            ]
        ]
    },
}
"""What was typed in each talk and on each of its ways, the last one first, with parallel calls, thoughts, a refused request, a
picture, a helper, a compaction, words typed while the model worked, a fork, an undone turn and a talk that was resumed.
OpenCode 1.18.33, llm 0.36, aider 0.86.2, Gemini CLI 0.61.0."""


@pytest.mark.parametrize("name", TYPED)
def test_each_way_of_a_real_session_has_what_was_typed_on_it(name: str) -> None:
    data = (SESSIONS / name).read_bytes()
    if name.endswith(".sql"):
        with closing(sqlite3.connect(":memory:")) as base:
            base.executescript(data.decode())
            data = base.serialize()
    read = [one for one in read_transcripts(recognised(data), data) if isinstance(one, Transcript)]
    talks = [one for one in read if not all(message.is_aside for message in one.messages)]

    typed = {
        talk.title: [
            ["".join(part.text for part in one.parts if isinstance(part, TextPart) and not part.text.startswith("[attached"))
             for one in way if one.role == "user"]
            for way in paths(talk).paths
        ]
        for talk in talks
    }  # fmt: skip
    assert {title: [ways[0], *sorted(ways[1:])] for title, ways in typed.items()} == {
        title: [ways[0], *sorted(ways[1:])] for title, ways in TYPED[name].items()
    }
    words = "\n".join(part.text for talk in talks for one in talk.messages if one.role != "user" for part in one.parts if isinstance(part, TextPart))  # fmt: skip
    assert "SUMMARY-BY-MODEL" not in words, "the sum of a compaction is nobody's reply"
    assert "The moon pulls. Tags such as `<think>` are text here." in words
