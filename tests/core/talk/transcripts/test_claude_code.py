"""Sessions of Claude Code: real ones, and shapes that people reported; a session is one trunk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.kernel.values.imports import Transcript, TranscriptKind
from core.kernel.values.messages import TextPart, ToolResultPart
from core.talk.transcripts import claude_code
from core.talk.transcripts.transcript_reader import paths, recognised

SESSIONS = Path(__file__).parent / "sessions"


def row(key: str, parent: str | None, kind: str, content: object, **more: object) -> dict[str, Any]:
    said = {"role": kind, "content": content}
    return {"type": kind, "uuid": key, "parentUuid": parent, "sessionId": "s", "message": said} | more


def read(*rows: dict[str, Any]) -> list[Transcript]:
    data = "\n".join(map(json.dumps, rows)).encode()
    return [one for one in claude_code.read(data) if isinstance(one, Transcript)]


def said(transcript: Transcript) -> list[list[tuple[str, str]]]:
    ways = (way for way in paths(transcript).paths if not any(one.is_aside for one in way))
    return [[(one.role[0], shown(one.parts[0])) for one in way] for way in ways]


def shown(part: Any) -> str:
    return part.text if isinstance(part, (TextPart, ToolResultPart)) else f"call {part.name}"


def call(key: str) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": key, "name": key, "input": {}}]


def result(key: str) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": key, "content": f"got {key}"}]


def real(name: str) -> Transcript:
    data = (SESSIONS / f"{name}.jsonl").read_bytes()
    assert recognised(data) is TranscriptKind.CLAUDE_CODE
    (found,) = claude_code.read(data)
    assert isinstance(found, Transcript)
    return found


def test_a_real_session_with_parallel_calls_is_one_trunk() -> None:
    found = real("claude-code-parallel")

    assert said(found) == [
        [
            ("u", "Read PARALLEL the files"),
            ("a", "I read both."),
            ("a", "call Read"),
            ("a", "call Read"),
            ("u", "1\talpha\n2\t"),
            ("u", "1\tbeta\n2\t"),
            ("a", "I have 2 results."),
            ("u", "PLAIN go on"),
            ("a", "Reply to: PLAIN go on"),
        ]
    ]


def test_what_was_typed_while_a_real_session_worked_is_said_once_and_in_its_place() -> None:
    (way,) = said(real("claude-code-queued"))

    assert [words for who, words in way if who == "u"] == [
        "Build it SLOWLY",
        "built",
        "Use port 8017 LATE",
        "PLAIN next one",
    ]


def test_a_real_fork_joins_its_origin_by_the_same_first_message_and_its_machine_text_is_nobodys() -> None:
    first, fork, branch = (real(f"claude-code-{name}") for name in ("parallel", "fork-compact", "branch"))

    assert fork.id == first.id != fork.former_id
    (way,) = said(fork)
    assert way[:9] == said(first)[0]
    assert [words for _, words in way[9:]] == [
        "PLAIN fork of it",
        "Reply to: PLAIN fork of it",
        "And now FAIL please",
        "PLAIN after compact",
        "Reply to: PLAIN after compact\nThe following skills",
    ]
    assert fork.skipped[claude_code.NOTES] >= 5
    assert branch.id == real("claude-code-queued").id
    assert branch.title == "Pump port"
    assert "! ls" in [words for _, words in said(branch)[0]]


def test_calls_at_once_in_many_turns_are_no_branches() -> None:
    rows, last = [], None
    for turn in range(12):
        rows.append(row(f"u{turn}", last, "user", f"Question {turn}"))
        above = f"u{turn}"
        for n in range(4):
            rows.append(row(f"c{turn}{n}", above, "assistant", call(f"t{turn}{n}")))
            above = f"c{turn}{n}"
        rows += [row(f"r{turn}{n}", f"c{turn}{n}", "user", result(f"t{turn}{n}")) for n in (2, 0, 3, 1)]
        rows.append(row(f"a{turn}", f"r{turn}1", "assistant", f"Answer {turn}"))
        last = f"a{turn}"
    (found,) = read(*rows)

    (way,) = said(found)
    assert len(way) == 120
    assert [words for who, words in way if words.startswith("Answer")] == [f"Answer {n}" for n in range(12)]


def test_a_second_attempt_is_a_branch_also_over_a_row_of_the_program() -> None:
    (found,) = read(
        row("1", None, "user", "Start"),
        row("2", "1", "assistant", "Ready"),
        {"type": "system", "uuid": "3", "parentUuid": "2", "sessionId": "s"},
        row("4", "3", "user", "First"),
        row("5", "4", "assistant", "One"),
        row("6", "3", "user", "Second"),
        row("7", "6", "assistant", "Two"),
    )

    ways = [[words for _, words in way] for way in said(found)]
    assert ways == [["Start", "Ready", "Second", "Two"], ["Start", "Ready", "First", "One"]]


@pytest.mark.parametrize(
    "text",
    [
        "<task-notification>\n<task-id>b</task-id></task-notification>",
        "<command-name>/clear</command-name>\n<command-args></command-args>",
        "<local-command-stdout>done</local-command-stdout>",
        "<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>",
        "<system-reminder>remember</system-reminder>",
        "[Request interrupted by user for tool use]",
        "Caveat: The messages below were generated by the user while running local commands. DO NOT",
    ],
)
def test_what_the_program_wrote_is_neither_the_persons_nor_the_models(text: str) -> None:
    (found,) = read(
        row("1", None, "user", "Hi"),
        row("2", "1", "user", text),
        row("3", "2", "assistant", [{"type": "text", "text": "API Error: 500"}], isApiErrorMessage=True),
        row("4", "3", "user", [{"type": "text", "text": text}]),
        row("5", "4", "user", "The summary", isCompactSummary=True),
        row("6", "5", "assistant", "Yes"),
    )

    assert said(found) == [[("u", "Hi"), ("a", "Yes")]]
    assert found.skipped[claude_code.NOTES] == 4


def test_words_around_what_the_program_put_in_stay() -> None:
    (found,) = read(
        row("1", None, "user", "Look <system-reminder>no\nword</system-reminder>\nhere"),
        row("2", "1", "user", [*result("t"), {"type": "text", "text": "And stop"}]),
        row("3", "2", "user", "<command-name>/plan</command-name>\n<command-args>the move</command-args>"),
        row("4", "3", "user", "<command-name>/model</command-name>\n<command-args>opus</command-args>"),
        row("5", "4", "user", "<local-command-stdout>Set model</local-command-stdout>"),
    )

    (way,) = said(found)
    assert [words for _, words in way] == ["Look here", "got t", "And stop", "/plan the move"]


def test_words_that_waited_are_said_where_nothing_else_has_them() -> None:
    def queue(operation: str, text: str = "") -> dict[str, Any]:
        return {"type": "queue-operation", "operation": operation, "sessionId": "s", "content": text}

    (found,) = read(
        row("1", None, "user", "Build"),
        queue("enqueue", "Use 8017"),
        queue("enqueue", "/compact"),
        row("2", "1", "assistant", call("t")),
        queue("remove"),
        row("3", "2", "user", result("t")),
        queue("dequeue"),
        row("4", "3", "assistant", "Done"),
        queue("enqueue", "taken back"),
        queue("popAll"),
        queue("enqueue", "<task-notification>x</task-notification>"),
        queue("enqueue", "never sent"),
    )

    (way,) = said(found)
    assert [words for _, words in way] == ["Build", "call t", "Use 8017", "got t", "Done", "never sent"]
    assert found.skipped[claude_code.RETRACTED] == 1


def test_words_that_waited_behind_a_branch_went_along_and_a_shells_line_is_said_once() -> None:
    """As Claude Code 2.1.332 wrote them: the words stand in the other session, the line as `<bash-input>`."""

    def queue(operation: str, text: str = "") -> dict[str, Any]:
        return {"type": "queue-operation", "operation": operation, "sessionId": "s", "content": text}

    (found,) = read(
        row("1", None, "user", "Build"),
        queue("enqueue", "echo shelled"),
        queue("enqueue", "/branch"),
        queue("enqueue", "On another way"),
        queue("dequeue"),
        row("2", "1", "assistant", "Built"),
        row("3", "2", "user", "<bash-input>echo shelled</bash-input>"),
        queue("dequeue"),
        row("4", "3", "assistant", "Done"),
    )

    (way,) = said(found)
    assert [words for _, words in way] == ["Build", "Built", "! echo shelled", "Done"]


def test_a_persons_own_command_that_begins_like_one_that_leaves_takes_no_words_along() -> None:
    (found,) = read(
        row("1", None, "user", "Build"),
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "content": "/new-part Button"},
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "content": "And this"},
        {"type": "queue-operation", "operation": "dequeue", "sessionId": "s"},
        row("2", "1", "assistant", "Built"),
    )

    (way,) = said(found)
    assert "And this" in [words for _, words in way]


def test_rows_written_again_and_parents_that_are_nowhere_make_one_straight_talk() -> None:
    rows = [
        row("1", None, "user", "One"),
        row("2", "1", "assistant", "1"),
        row("3", "gone", "user", "Two"),
        row("4", "3", "assistant", "2"),
    ]
    again = [one | {"parentUuid": None} for one in rows]
    (found,) = read(*rows, *again, row("5", "4", "user", "Three"))

    assert [[words for _, words in way] for way in said(found)] == [["One", "1", "Two", "2", "Three"]]


def test_half_a_character_costs_no_line() -> None:
    data = json.dumps(row("1", None, "user", "Hi \ud83d there")).encode()
    (found,) = claude_code.read(data)

    assert isinstance(found, Transcript)
    assert said(found) == [[("u", "Hi \ufffd there")]]


def test_two_sessions_in_one_file_are_two_conversations() -> None:
    found = read(
        row("1", None, "user", "One"),
        row("2", None, "user", "Two") | {"sessionId": "t"},
        row("3", "1", "assistant", "1"),
    )

    assert [said(one) for one in found] == [[[("u", "One"), ("a", "1")]], [[("u", "Two")]]]
