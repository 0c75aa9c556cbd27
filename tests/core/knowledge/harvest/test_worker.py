"""The harvest worker on real files, with a real client over loopback."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.app.crunch import CrunchError
from core.kernel import paths
from core.kernel.values.harvest import UndoReport
from core.kernel.values.imports import TranscriptKind
from core.kernel.values.settings import KnowledgeSettings
from core.kernel.values.usage import Usage
from core.knowledge.harvest.harvest_messages import (
    DistilConversations,
    HarvestEnded,
    HarvestFailed,
    HarvestLooked,
    HarvestPaid,
    HarvestProgressed,
    HarvestProposed,
    HarvestReported,
    ScanConversations,
    UndoApply,
)
from core.knowledge.harvest.preview import ticked
from core.knowledge.harvest.transcript import Said as Message
from core.knowledge.harvest.transcript_sources import unread_messages
from tests.core.knowledge.harvest.harvest_kit import MOON, SUN, Program, made
from tests.core.knowledge.harvest.harvests import NOW, OLD, add_discussion, age, item_lines, reply, tree
from tests.core.knowledge.homes import paid_since
from tests.vendors.compatible_server import VLLM, CompatibleServer, Said


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with CompatibleServer(VLLM) as server:
        yield made(tmp_path / "home", server)


def test_a_look_tells_conversations_costs_ledger_and_applies(program: Program) -> None:
    first = add_discussion(program.home, "Tides", "Why?")
    program.server.replies.append(Said(reply(MOON)))
    report = program.apply(program.preview())
    second = add_discussion(program.home, "Sun", "How?")
    before = tree(program.home)

    (*progress, looked) = program.handle(ScanConversations(program.run()))

    assert isinstance(looked, HarvestLooked)
    assert [one.facts.id for one in looked.look.artifacts] == [second]
    assert looked.look.estimate.new_bytes > 0
    assert [(entry.path, entry.deleted) for entry in looked.look.ledger] == [
        (str(paths.log_file(program.home, first)), True)
    ]
    (summary,) = looked.look.applies
    assert (summary.conversations, summary.items, summary.reclaimed, summary.undone_at) == (1, 1, 1, "")
    assert looked.look.applies == (report.look.applies if report.look is not None else ())
    assert progress == [HarvestProgressed(1, 1)]
    assert tree(program.home) == before


def test_names_in_provenance_lead_to_discussions_in_the_list_and_in_the_trash(program: Program) -> None:
    gone = add_discussion(program.home, "Tides", "Why?")
    program.server.replies.append(Said(reply(MOON)))
    program.apply(program.preview())
    here = add_discussion(program.home, "Sun", "How?")

    looked = program.handle(ScanConversations(program.run()))[-1]

    assert isinstance(looked, HarvestLooked)
    assert looked.look.sources == {"2026-10-01-tides": gone, "2026-10-01-sun": here}


def test_an_apply_knows_its_conversation_also_when_that_was_renamed_or_doubled_since(
    program: Program,
) -> None:
    first = add_discussion(program.home, "Tides", "Why?")
    program.server.replies.append(Said(reply(MOON)))
    program.apply(program.preview())
    add_discussion(program.home, "Tides", "Another of this name", at=OLD + timedelta(hours=1))

    looked = program.handle(ScanConversations(program.run()))[-1]

    assert isinstance(looked, HarvestLooked)
    assert looked.look.sources["2026-10-01-tides"] == first


def test_a_look_at_many_tells_its_progress_a_hundred_times_at_most(program: Program) -> None:
    for number in range(250):
        folder = paths.discussion_dir(program.home, f"20261001-0800{number // 60:02}-a{number:05}".lower())
        folder.mkdir(parents=True)
        (folder / paths.LOG_FILE).write_bytes(b"")

    events = program.handle(ScanConversations(program.run()))

    told = [event for event in events if isinstance(event, HarvestProgressed)]
    assert told[-1] == HarvestProgressed(250, 250)
    assert 100 <= len(told) <= 130


def test_a_preview_proposes_conversation_by_conversation_and_names_the_one_in_work(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    add_discussion(program.home, "Two", "SECOND", at=OLD + timedelta(days=1))
    program.server.replies.extend([Said(reply(MOON)), Said(reply(SUN, MOON))])
    candidates = program.candidates()

    events = program.handle(DistilConversations(program.run(), candidates))

    assert [type(event).__name__ for event in events] == [
        "HarvestProgressed",
        "HarvestCalling",
        "HarvestPaid",
        "HarvestProposed",
        "HarvestProgressed",
        "HarvestCalling",
        "HarvestPaid",
        "HarvestProposed",
        "HarvestProgressed",
        "HarvestEnded",
    ]
    assert [(event.done, event.total, event.doing) for event in program.of(HarvestProgressed)] == [
        (0, 2, "One"),
        (1, 2, "Two"),
        (2, 2, ""),
    ]
    first, second = (event.part for event in program.of(HarvestProposed))
    assert [item.item.head for item in first.items] == [MOON]
    assert [(item.item.head, item.is_known) for item in second.items] == [(SUN, False), (MOON, True)]
    assert program.of(HarvestEnded) == [HarvestEnded()]
    assert [(event.use.calls, event.use.cost_usd) for event in program.of(HarvestPaid)] == [(1, 0.25)] * 2
    assert all(event.use.usage.input_tokens for event in program.of(HarvestPaid))


def test_one_that_fails_is_a_part_with_its_reason_and_the_others_are_read(program: Program) -> None:
    add_discussion(program.home, "Bad", "FIRST")
    add_discussion(program.home, "Good", "SECOND", at=OLD + timedelta(days=1))
    program.server.replies.extend([Said("no"), Said("still no"), Said(reply(MOON))])

    found = program.preview()

    assert [(one.name, "invalid after 2 attempts" in one.reason) for one in found.failures] == [
        ("2026-10-01-bad", True)
    ]
    assert [item.item.head for item in found.items] == [MOON]


def test_what_is_ticked_is_written_proven_and_reclaimed_and_taken_back(program: Program) -> None:
    chosen = add_discussion(program.home, "Tides", "Why?")
    program.server.replies.append(Said(reply(MOON, "Wrong.")))
    found = program.preview()
    reviewed = ticked(found, [found.items[1].id], is_ticked=False)

    applied = program.apply(reviewed)

    assert [line.split(" [")[0] for line in item_lines(program.home)] == [f"- {MOON}"]
    assert applied.report.reclaimed == (chosen,)
    assert not paths.discussion_dir(program.home, chosen).exists()
    assert applied.look is not None
    assert applied.look.artifacts == ()

    undone = program.handle(UndoApply(program.run()))[-1]
    assert isinstance(undone, HarvestReported)
    assert isinstance(undone.result, UndoReport)
    assert (undone.result.removed, undone.result.restored) == (1, (chosen,))
    assert undone.look is not None
    assert [one.facts.id for one in undone.look.artifacts] == [chosen]
    assert undone.look.applies[0].undone_at
    assert item_lines(program.home) == []


def test_without_a_preview_it_is_reclaimed_and_nobody_is_asked(program: Program) -> None:
    chosen = add_discussion(program.home, "Tides", "Why?")

    applied = program.apply(None)

    assert applied.report.reclaimed == (chosen,)
    assert item_lines(program.home) == []
    assert program.server.bodies == []


def test_what_the_ledger_already_proves_is_in_the_preview_and_costs_nothing(program: Program) -> None:
    first = add_discussion(program.home, "Tides", "Why?")
    data = paths.log_file(program.home, first).read_bytes()
    program.server.replies.append(Said(reply(MOON)))
    program.apply(program.preview())
    copy = add_discussion(program.home, "Copy", "Other", at=OLD + timedelta(days=1))
    paths.log_file(program.home, copy).write_bytes(data)
    age(paths.discussion_dir(program.home, copy), OLD)

    program.events.clear()
    found = program.preview()

    assert ([one.id for one in found.sources], found.items) == ([copy], ())
    assert len(program.server.bodies) == 1
    assert program.apply(found).report.reclaimed == (copy,)


def test_an_unknown_price_is_unknown_in_what_was_used(program: Program) -> None:
    program.price = None
    add_discussion(program.home, "One", "FIRST")
    program.server.replies.append(Said(reply(MOON)))

    program.preview()

    assert [event.use.cost_usd for event in program.of(HarvestPaid)] == [None]
    assert paid_since(program.home, NOW) == 0.0


def test_a_fault_of_the_program_ends_the_run_for_the_window_too(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")

    def broken(_provider: str, _model: str, _usage: Usage) -> float | None:
        raise RuntimeError("boom")

    program.handler._services = replace(program.handler._services, price=broken)
    program.server.replies.append(Said(reply(MOON)))
    effect = DistilConversations(program.run(), program.candidates())
    program.handler.prepare()

    with pytest.raises(RuntimeError, match="boom"):
        program.handler.handle(effect)

    assert program.of(HarvestFailed)[0].text == "The harvest failed: boom"


def test_where_the_worker_process_fails_the_conversation_is_kept_with_the_reason(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    add_discussion(program.home, "Two", "SECOND", at=OLD + timedelta(days=1))
    program.server.replies.append(Said(reply(MOON)))

    def read(kind: TranscriptKind, data: bytes, new_bytes: int) -> tuple[Message, ...]:
        if b"FIRST" in data:
            raise CrunchError("The helper process needed more than 60 s for 'messages'")
        return unread_messages(kind, data, new_bytes)

    program.handler._services = replace(program.handler._services, read=read)

    found = program.preview()

    assert [one.reason for one in found.failures] == [
        "The helper process needed more than 60 s for 'messages'"
    ]
    assert [item.item.head for item in found.items] == [MOON]


def test_the_settings_choose_sources_ages_and_sizes(program: Program) -> None:
    talk = program.home.parent / "talk.md"
    talk.write_text("# aider chat started at 2025-10-20 21:49:17\n\n#### Why?\n\nThe moon.\n")
    os.utime(talk, (OLD.timestamp(), OLD.timestamp()))
    add_discussion(program.home, "One", "x" * 500)
    program.settings = KnowledgeSettings(harvest_sources=(str(talk),), max_source_bytes=300)

    looked = program.handle(ScanConversations(program.run()))[-1]
    assert isinstance(looked, HarvestLooked)
    assert [(one.facts.title, one.kind.value, one.why) for one in looked.look.artifacts] == [
        ("One", "keep", "too large"),
        ("talk.md", "harvest", ""),
    ]

    program.settings = KnowledgeSettings(live_days=100.0)
    looked = program.handle(ScanConversations(program.run()))[-1]
    assert isinstance(looked, HarvestLooked)
    assert [one.why for one in looked.look.artifacts] == ["changed recently"]


def test_the_prompt_of_the_run_is_what_the_model_is_given(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    program.server.replies.append(Said(reply(MOON)))

    program.handle(
        DistilConversations(program.run(template="The project's own words."), program.candidates())
    )

    (body,) = program.server.bodies
    assert "The project's own words." in json.dumps(body["messages"])
