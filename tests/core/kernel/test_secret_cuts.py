"""Cuts of text: scrubbed first, wherever the cut falls; and no room cuts what was said in another way."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.kernel.secrets import MASK, scrubbed_ends, scrubbed_head, scrubbed_line
from core.kernel.values.messages import Message, Role, TextPart, ToolResultPart
from core.knowledge.categories import source_name
from core.knowledge.harvest.distillation import MAX_SHOWN_REPLY_CHARS, build_harvest_prompt
from core.knowledge.harvest.transcript import MAX_TOOL_CHARS, Said, prepared, said_parts, shortened
from core.knowledge.layer7 import ITEM_MAX_BYTES, digest_line
from core.talk.discussion.discussion_worker import summarise
from tests.core.app.playbook import Playbook
from tests.core.kernel.secret_corpus.judge import survives
from tests.core.kernel.secret_corpus.values import Values

AT = datetime(2026, 11, 20, tzinfo=UTC)
KEYS = [f"sk-proj-{Values(3).url(90)}", Values(4).pem("PRIVATE KEY"), f"DB_PASS={Values(5).letters(40)}"]

_WAYS: dict[str, tuple[int, Callable[[str], str]]] = {
    "head": (300, lambda text: scrubbed_head(text, 300)),
    "line": (160, lambda text: scrubbed_line(text, 160)),
    "ends, head": (400, lambda text: scrubbed_ends(text, 400, 100, "…{:,}…")),
    "tool result": (MAX_TOOL_CHARS * 3 // 4, shortened),
    "malformed reply": (
        MAX_SHOWN_REPLY_CHARS // 2,
        lambda text: build_harvest_prompt("t", "n", "c", retry=text),
    ),
    "name of a conversation": (200, lambda text: build_harvest_prompt("t", text, "c")),
    "provenance": (60, lambda text: source_name(AT, text)),
    "digest": (ITEM_MAX_BYTES, digest_line),
}


def texts(cut: int) -> Iterator[tuple[str, str]]:
    """Keys, and texts in which a cut at a place falls before, at every part of, and behind each."""
    for key in KEYS:
        for before in range(max(0, cut - len(key) - 2), cut + 2, 7):
            yield (
                key.partition("=")[2] or key,
                f"{'word ' * (before // 5)}{'x' * (before % 5)} {key}\n{'tail ' * 4_000}",
            )


@pytest.mark.parametrize("way", _WAYS)
def test_no_part_of_a_key_outlives_a_cut_wherever_it_falls(way: str) -> None:
    cut, shorten = _WAYS[way]

    left = [
        text for key, text in texts(cut) if any(survives(part, shorten(text).lower()) for part in _parts(key))
    ]

    assert left == []


def _parts(key: str) -> list[str]:
    """What of a key is secret, as it may stand in a slug too."""
    return [line.lower() for line in key.splitlines() if len(line) > 8 and "PRIVATE KEY" not in line]


def test_a_key_across_the_tail_of_a_tool_result_is_gone_before_a_model_sees_it() -> None:
    key = KEYS[0]
    for behind in range(MAX_TOOL_CHARS // 4 - len(key) - 2, MAX_TOOL_CHARS // 4 + 2, 5):
        text = f"{'head ' * 4_000}{key} {'w' * behind}"
        message = Said("tool", said_parts((ToolResultPart("c", text),)))
        assert not survives(key, prepared((message,))[0].text)


@pytest.mark.parametrize("before", range(0, 60, 3))
def test_first_words_that_hold_a_key_become_a_title_and_a_preview_without_it(before: int) -> None:
    book = Playbook().ready()
    chosen = book.discussion()
    key = KEYS[0]

    book.ask(chosen, f"{'w' * before} {key} is my key")
    summary = book.state.discussions.summaries[chosen]

    assert not survives(key, summary.meta.name + source_name(AT, summary.meta.name) + summary.preview)
    assert MASK[:4] in summary.meta.name + summary.preview


def test_a_preview_of_a_loaded_discussion_holds_no_part_of_a_key() -> None:
    book = Playbook().ready()
    chosen = book.discussion()
    opened = book.state.discussions.open[chosen]
    text = f"{'w ' * 60}{KEYS[0]}"
    loaded = replace(opened, entries=(Message(id="m", at=AT, role=Role.USER, parts=(TextPart(text),)),))

    assert not survives(KEYS[0], summarise(book.state.discussions.summaries[chosen].meta, loaded).preview)


def test_a_key_across_a_cut_of_a_text_of_any_length_is_gone() -> None:
    block = KEYS[1]
    text = f"{'a ' * 100}{block}" * 400

    assert not any(survives(line, scrubbed_head(text, 40_000)) for line in _parts(block))
    assert scrubbed_head("ab " * 10, 4) == "ab a"


CUTTERS = {"one_line"}
ROOMS = ("talk/turn", "talk/discussion", "knowledge")
ALLOWED = {
    "talk/discussion/catalog.py": "text of an error; of text that was scrubbed, where it is searched",
    "talk/discussion/catalog_entries.py": "of text that was scrubbed, or of its own preview",
    "knowledge/harvest/harvest_report.py": "lines that are printed, of names and reasons made elsewhere",
}


def test_no_room_that_keeps_or_shows_what_was_said_cuts_it_unscrubbed() -> None:
    """What cuts text to a line stands behind `scrubbed_line`; who needs the bare cut is named here with its reason."""
    core = Path(__file__).parents[3] / "core"
    modules = {room: list((core / room).rglob("*.py")) for room in ROOMS}
    assert [room for room, found in modules.items() if len(found) < 2] == [], (
        "a room that moved is not passed over"
    )
    using = {
        path.relative_to(core).as_posix()
        for found in modules.values()
        for path in found
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Name) and node.id in CUTTERS
    }

    assert using == set(ALLOWED)
