"""Every reader of a file that people edit: a file four times as long takes about four times the work, whatever stands in it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from core.agent.journal_text import parsed
from core.kernel.errors import SlopError
from core.kernel.frame import clean
from core.kernel.values.imports import TranscriptKind
from core.knowledge import ledger_text
from core.knowledge.categories import newest_first, parse_file
from core.knowledge.evidence_rows import read_rows
from core.knowledge.facts import fact_file, fact_index
from core.knowledge.facts.fact_checks import FactPlace
from core.knowledge.mcp_server.proposal_step import read_book
from core.knowledge.note_files import parse_notes
from core.mcp.pasted_servers import pasted_servers
from core.services.settings.settings_file import parse as parse_toml
from core.talk.discussion.discussion_export import parse_export
from core.talk.transcripts.transcript_reader import read_transcripts
from tests.operations import LINEAR, growth

UNITS = (
    "- a <!-- d 2026-01-01 -->\n", "- a\n  b\n", "<!-- ", "~~[`{\"'", "```\n", "## User\n\nhi\n\n", "#### q\n\na\n", "- a: &x b\n", "[[a]]\nb=1\n", "\u202e\r",
)  # fmt: skip
"""Repeated, each is well-formed for some of the readers, and never ends for others."""
FACTS = FactPlace(name="global/facts.yaml", domain="global")
HEAD = b"---\ncategory: facts\ndomain: global\n---\n"


def _talks(kind: TranscriptKind, data: bytes) -> None:
    for _ in read_transcripts(kind, data):
        pass


READERS: dict[str, Callable[[bytes], object]] = {
    "facts.md": lambda data: parse_file("facts.md", data),
    "tasks.md": lambda data: parse_file("tasks.md", data),
    "the end of a category file": lambda data: list(newest_first("facts.md", data)),
    "notes": lambda data: parse_notes("files/a.md", b"# /a.py\n" + data),
    "facts": lambda data: fact_file.parse_file(FACTS, HEAD + data),
    "front matter": lambda data: fact_file.parse_file(FACTS, b"---\n" + data + b"\n---\n"),
    "facts whose head is broken": lambda data: fact_file.loose_items(FACTS, data),
    "index.json": fact_index.read_index,
    "ledger.json": lambda data: ledger_text.read_ledger(data, "ledger.json"),
    "ledger's journal": ledger_text.read_journal,
    "evidence and events": lambda data: read_rows(data, data),
    "settings, models and project": lambda data: parse_toml(data.decode(), Path("settings.toml")),
    "agent's journal": lambda data: parsed(data.decode()),
    "digest, SCHEMA, prompts and inbox": lambda data: clean(data.decode()),
    "pasted servers": lambda data: pasted_servers(
        '{"mcpServers": {"a": {"command": "' + data.decode() + '"}}}'
    ),
    "export": lambda data: parse_export(data.decode()),
    "proposals": read_book,
    "plain talk": partial(_talks, TranscriptKind.PLAIN),
    "aider": partial(_talks, TranscriptKind.AIDER),
    "specstory": partial(_talks, TranscriptKind.SPECSTORY),
    "claude-code": partial(_talks, TranscriptKind.CLAUDE_CODE),
}


@pytest.mark.parametrize("name", READERS)
def test_the_work_of_reading_grows_as_the_file_does(name: str) -> None:
    def read(text: str) -> None:
        with suppress(SlopError, ValueError):
            READERS[name](text.encode())

    grown = {unit: growth(lambda size, unit=unit: read(unit * size), 100) for unit in UNITS}  # type: ignore[misc]

    assert {unit: ratio for unit, ratio in grown.items() if ratio > LINEAR} == {}
