"""Sessions that real programs wrote against a loopback vendor: each message is what was typed and answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel.values.imports import Transcript, TranscriptKind
from core.kernel.values.messages import TextPart
from core.talk.transcripts.transcript_reader import read_transcripts, recognised, seen_last

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
