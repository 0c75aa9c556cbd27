"""The harvest worker on real files, with a real client over loopback, stopped and locked for real."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest

from core import paths
from core.knowledge.harvest_run import look
from core.knowledge.harvest_setup import scan_request
from core.knowledge.ledger import Ledger
from core.knowledge.spending import harvests_spent_since
from core.knowledge.transcript_sources import unread_messages
from core.knowledge_text.harvest_preview import joined, ticked
from core.knowledge_text.transcript import Said as Message
from core.values import effects as f
from core.values import events as e
from core.values.effects import HarvestRun
from core.values.events import Event
from core.values.harvest import Artifact, ArtifactClass, ArtifactKind, HarvestPreview
from core.values.provider import ModelProfile
from core.values.settings import KnowledgeSettings, ServerSettings
from core.values.usage import Usage
from core.workers.clients import Clients
from core.workers.crunch import CrunchError
from core.workers.harvest import ENDING, STOPPED, HarvestHandler, HarvestServices
from core.workers.queue import QueueWorker
from tests.core.knowledge.harvests import NOW, OLD, add_discussion, age, item_lines, reply, tree
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer, Said
from tests.vendors.loopback import Gate, HoldAfter, Rewrite

WAIT_S = 30.0
ROOT = Path(__file__).parents[3]
MOON, SUN = "Tides follow the moon.", "The sun helps."
E = TypeVar("E", bound=Event)


@dataclass
class Program:
    """A home, a server that speaks for a model, and the worker between them."""

    home: Path
    server: CompatibleServer
    clients: Clients
    price: float | None = 0.25
    events: list[Event] = field(default_factory=list)
    arrived: threading.Condition = field(default_factory=threading.Condition)
    is_read_only: bool = False
    now: datetime = NOW
    settings: KnowledgeSettings = field(default_factory=KnowledgeSettings)

    def __post_init__(self) -> None:
        services = HarvestServices(self.clients.get, ModelProfile, lambda *_: self.price)
        self.handler = HarvestHandler(
            self.home,
            lambda: self.now,
            self.emit,
            services,
            is_read_only=self.is_read_only,
            seed=iter("abcdefgh").__next__,
        )

    def emit(self, event: Event) -> None:
        with self.arrived:
            self.events.append(event)
            self.arrived.notify_all()

    def wait_for(self, kind: type[E]) -> E:
        with self.arrived:
            assert self.arrived.wait_for(lambda: any(isinstance(one, kind) for one in self.events), WAIT_S)
        return self.of(kind)[-1]

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def run(self, **more: object) -> HarvestRun:
        made = HarvestRun(self.settings, frozenset(), "local", MODEL)
        return replace(made, **more)  # type: ignore[arg-type]

    def handle(self, effect: f.Effect) -> list[Event]:
        """Carry out one effect on this thread; the events of it."""
        before = len(self.events)
        self.handler.prepare()
        self.handler.handle(effect)
        return self.events[before:]

    def candidates(self) -> tuple[Artifact, ...]:
        found = look(scan_request(self.home, self.run(), self.now), "local", MODEL).artifacts
        return tuple(one for one in found if one.kind in {ArtifactClass.HARVEST, ArtifactClass.PRUNE})

    def preview(self) -> HarvestPreview:
        events = self.handle(f.DistilConversations(self.run(), self.candidates()))
        return joined(event.part for event in events if isinstance(event, e.HarvestProposed))

    def apply(self, reviewed: HarvestPreview | None) -> e.HarvestApplied:
        event = self.handle(f.ApplyPreview(self.run(), self.candidates(), reviewed))[-1]
        assert isinstance(event, e.HarvestApplied)
        return event


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with CompatibleServer(VLLM) as server:
        yield made(tmp_path / "home", server)


def made(home: Path, server: CompatibleServer, **more: object) -> Program:
    clients = Clients()
    clients.configure({"local": ServerSettings("local", "compatible", "Local", f"{server.url}/v1")}, {}, ())
    return Program(home, server, clients, **more)  # type: ignore[arg-type]


def test_a_look_tells_conversations_costs_ledger_and_applies(program: Program) -> None:
    first = add_discussion(program.home, "Tides", "Why?")
    program.server.replies.append(Said(reply(MOON)))
    report = program.apply(program.preview())
    second = add_discussion(program.home, "Sun", "How?")
    before = tree(program.home)

    (*progress, looked) = program.handle(f.ScanConversations(program.run()))

    assert isinstance(looked, e.HarvestLooked)
    assert [one.facts.id for one in looked.look.artifacts] == [second]
    assert looked.look.estimate.new_bytes > 0
    assert [(entry.path, entry.deleted) for entry in looked.look.ledger] == [
        (str(paths.log_file(program.home, first)), True)
    ]
    (summary,) = looked.look.applies
    assert (summary.conversations, summary.items, summary.reclaimed, summary.undone_at) == (1, 1, 1, "")
    assert looked.look.applies == (report.look.applies if report.look is not None else ())
    assert progress == [e.HarvestProgressed(1, 1)]
    assert tree(program.home) == before


def test_names_in_provenance_lead_to_discussions_in_the_list_and_in_the_trash(program: Program) -> None:
    gone = add_discussion(program.home, "Tides", "Why?")
    program.server.replies.append(Said(reply(MOON)))
    program.apply(program.preview())
    here = add_discussion(program.home, "Sun", "How?")

    looked = program.handle(f.ScanConversations(program.run()))[-1]

    assert isinstance(looked, e.HarvestLooked)
    assert looked.look.sources == {"2026-10-01-tides": gone, "2026-10-01-sun": here}


def test_an_apply_knows_its_conversation_also_when_that_was_renamed_or_doubled_since(
    program: Program,
) -> None:
    first = add_discussion(program.home, "Tides", "Why?")
    program.server.replies.append(Said(reply(MOON)))
    program.apply(program.preview())
    add_discussion(program.home, "Tides", "Another of this name", at=OLD + timedelta(hours=1))

    looked = program.handle(f.ScanConversations(program.run()))[-1]

    assert isinstance(looked, e.HarvestLooked)
    assert looked.look.sources["2026-10-01-tides"] == first


def test_a_look_at_many_tells_its_progress_a_hundred_times_at_most(program: Program) -> None:
    for number in range(250):
        folder = paths.discussion_dir(program.home, f"20261001-0800{number // 60:02}-a{number:05}".lower())
        folder.mkdir(parents=True)
        (folder / paths.LOG_FILE).write_bytes(b"")

    events = program.handle(f.ScanConversations(program.run()))

    told = [event for event in events if isinstance(event, e.HarvestProgressed)]
    assert told[-1] == e.HarvestProgressed(250, 250)
    assert 100 <= len(told) <= 130


def test_a_preview_proposes_conversation_by_conversation_and_names_the_one_in_work(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    add_discussion(program.home, "Two", "SECOND", at=OLD + timedelta(days=1))
    program.server.replies.extend([Said(reply(MOON)), Said(reply(SUN, MOON))])
    candidates = program.candidates()

    events = program.handle(f.DistilConversations(program.run(), candidates))

    assert [type(event).__name__ for event in events] == [
        "HarvestProgressed",
        "HarvestPaid",
        "HarvestProposed",
        "HarvestProgressed",
        "HarvestPaid",
        "HarvestProposed",
        "HarvestProgressed",
        "HarvestEnded",
    ]
    assert [(event.done, event.total, event.doing) for event in program.of(e.HarvestProgressed)] == [
        (0, 2, "One"),
        (1, 2, "Two"),
        (2, 2, ""),
    ]
    first, second = (event.part for event in program.of(e.HarvestProposed))
    assert [item.item.head for item in first.items] == [MOON]
    assert [(item.item.head, item.is_known) for item in second.items] == [(SUN, False), (MOON, True)]
    assert program.of(e.HarvestEnded) == [e.HarvestEnded()]
    assert [(event.use.calls, event.use.cost_usd) for event in program.of(e.HarvestPaid)] == [(1, 0.25)] * 2
    assert all(event.use.usage.input_tokens for event in program.of(e.HarvestPaid))


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

    undone = program.handle(f.UndoApply(program.run()))[-1]
    assert isinstance(undone, e.HarvestUndone)
    assert (undone.report.removed, undone.report.restored) == (1, (chosen,))
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


def queued(program: Program) -> QueueWorker:
    return QueueWorker("harvest", program.handler.handle, program.emit)


def test_a_call_under_way_ends_at_once_when_the_person_stops_it(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    add_discussion(program.home, "Two", "SECOND", at=OLD + timedelta(days=1))
    gate = Gate()
    program.server.replies.extend([Said(reply(MOON)), Said(reply(SUN))])
    program.server.faults.extend([Rewrite(lambda part: part), HoldAfter(0, gate)])
    worker = queued(program)
    candidates = program.candidates()
    program.handler.prepare()
    worker.submit(f.DistilConversations(program.run(), candidates))
    assert gate.reached.wait(WAIT_S)

    program.handler.cancel()

    assert gate.client_left.wait(WAIT_S)
    assert program.wait_for(e.HarvestEnded).problem == STOPPED
    assert [item.item.head for event in program.of(e.HarvestProposed) for item in event.part.items] == [MOON]
    assert worker.stop(WAIT_S)


def test_a_run_that_still_waits_is_stopped_too_and_the_next_one_is_not(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    program.server.replies.append(Said(reply(MOON)))
    effect = f.DistilConversations(program.run(), program.candidates())
    program.handler.prepare()
    program.handler.cancel()

    program.handler.handle(effect)
    assert program.of(e.HarvestEnded)[-1].problem == STOPPED
    assert program.server.bodies == []

    program.handle(effect)
    assert program.of(e.HarvestEnded)[-1].problem == ""
    assert len(program.server.bodies) == 1


def test_when_the_program_ends_no_run_goes_on_and_none_begins(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    gate = Gate()
    program.server.replies.append(Said(reply(MOON)))
    program.server.faults.append(HoldAfter(0, gate))
    worker = queued(program)
    effect = f.DistilConversations(program.run(), program.candidates())
    program.handler.prepare()
    worker.submit(effect)
    assert gate.reached.wait(WAIT_S)

    program.handler.close()

    assert program.wait_for(e.HarvestEnded).problem == ENDING
    program.handler.prepare()
    worker.submit(effect)
    assert worker.stop(WAIT_S)
    assert [event.problem for event in program.of(e.HarvestEnded)] == [ENDING, ENDING]
    assert len(program.server.bodies) == 1


def test_an_apply_that_is_stopped_finishes_the_conversation_in_work(program: Program) -> None:
    ids = [
        add_discussion(program.home, name, name, at=OLD + timedelta(days=n)) for n, name in enumerate("ab")
    ]
    program.server.replies.extend([Said(reply(MOON)), Said(reply(SUN))])
    reviewed = program.preview()
    candidates = program.candidates()
    program.events.clear()
    emit = program.emit

    def stop_at_the_second(event: Event) -> None:
        emit(event)
        if isinstance(event, e.HarvestProgressed) and (event.done, event.total) == (0, 2):
            program.handler.cancel()

    program.handler._emit = stop_at_the_second
    program.handle(f.ApplyPreview(program.run(), candidates, reviewed))

    (applied,) = program.of(e.HarvestApplied)
    assert applied.report.stopped == STOPPED
    assert applied.report.reclaimed == (ids[0],)
    assert applied.look is not None
    assert [one.facts.id for one in applied.look.artifacts] == [ids[1]]
    assert len(item_lines(program.home)) == 1


def test_it_ends_when_the_days_money_is_spent_and_says_so(program: Program) -> None:
    for number in range(3):
        add_discussion(program.home, f"N{number}", f"Q{number}", at=OLD + timedelta(days=number))
        program.server.replies.append(Said(reply(f"Fact {number}.")))

    program.handle(f.DistilConversations(program.run(room_usd=0.4), program.candidates()))

    ended = program.of(e.HarvestEnded)[0]
    assert ended.problem == "The day's limit is reached: this preview used $0.50."
    assert (len(program.of(e.HarvestPaid)), len(program.server.bodies)) == (2, 2)
    assert len(program.of(e.HarvestProposed)) == 2


def test_what_was_paid_is_on_disk_with_its_time(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    program.server.replies.append(Said(reply(MOON)))

    program.preview()

    assert harvests_spent_since(program.home, NOW) == pytest.approx(0.25)
    assert harvests_spent_since(program.home, NOW + timedelta(seconds=1)) == 0.0


def test_an_unknown_price_is_unknown_in_what_was_used(program: Program) -> None:
    program.price = None
    add_discussion(program.home, "One", "FIRST")
    program.server.replies.append(Said(reply(MOON)))

    program.preview()

    assert [event.use.cost_usd for event in program.of(e.HarvestPaid)] == [None]
    assert harvests_spent_since(program.home, NOW) == 0.0


HOLDER = """
import sys
from pathlib import Path
from core.knowledge.locks import harvest_lock
with harvest_lock(Path(sys.argv[1]), "a harvest in a shell"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other_process(program: Program) -> Iterator[subprocess.Popen[str]]:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(program.home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    yield child
    child.communicate(timeout=WAIT_S)


def effects_of(program: Program) -> list[Callable[[], f.Effect]]:
    return [
        lambda: f.DistilConversations(program.run(), program.candidates()),
        lambda: f.ApplyPreview(program.run(), program.candidates(), None),
        lambda: f.UndoApply(program.run()),
    ]


def test_a_lock_that_another_process_holds_is_told_with_who_holds_it(
    program: Program, other_process: subprocess.Popen[str]
) -> None:
    add_discussion(program.home, "One", "FIRST")

    for effect in effects_of(program):
        (failed,) = program.handle(effect())
        assert isinstance(failed, e.HarvestFailed)
        assert f"a harvest in a shell (process {other_process.pid}" in failed.text
        assert "Wait until" in failed.detail
    assert program.server.bodies == []
    assert isinstance(program.handle(f.ScanConversations(program.run()))[-1], e.HarvestLooked)


def test_a_ledger_that_does_not_parse_stops_everything_with_file_and_line(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    candidates = program.candidates()
    ledger = Ledger(program.home).path
    ledger.parent.mkdir(parents=True)
    ledger.write_text('{"entries": {\n  oops\n}}')

    for effect in (
        f.ScanConversations(program.run()),
        f.DistilConversations(program.run(), candidates),
        f.ApplyPreview(program.run(), candidates, None),
        f.UndoApply(program.run()),
    ):
        failed = program.handle(effect)[-1]
        assert isinstance(failed, e.HarvestFailed)
        assert "line 2" in failed.text + failed.detail
        assert str(ledger) in failed.detail
    assert program.server.bodies == []
    assert ledger.read_text() == '{"entries": {\n  oops\n}}'


def test_a_home_that_cannot_be_written_is_looked_at_and_no_more(tmp_path: Path) -> None:
    with CompatibleServer(VLLM) as server:
        program = made(tmp_path / "home", server, is_read_only=True)
        add_discussion(program.home, "One", "FIRST")
        before = tree(program.home)

        for effect in effects_of(program):
            (failed,) = program.handle(effect())
            assert isinstance(failed, e.HarvestFailed)
            assert failed.text == "Nothing can be harvested: this home is read-only"
            assert str(program.home) in failed.detail
        assert isinstance(program.handle(f.ScanConversations(program.run()))[-1], e.HarvestLooked)
        assert tree(program.home) == before
        assert server.bodies == []


def test_a_provider_that_is_not_there_is_said_once_and_before_anything_is_read(program: Program) -> None:
    for number in range(3):
        add_discussion(program.home, f"N{number}", "Q", at=OLD + timedelta(days=number))

    (failed,) = program.handle(f.DistilConversations(program.run(provider="nobody"), program.candidates()))

    assert isinstance(failed, e.HarvestFailed)
    assert failed.text == "There is no provider 'nobody'"


def test_nothing_to_undo_is_told(program: Program) -> None:
    program.home.mkdir()

    (failed,) = program.handle(f.UndoApply(program.run()))

    assert isinstance(failed, e.HarvestFailed)
    assert "no apply to undo" in failed.text


def test_a_fault_of_the_program_ends_the_run_for_the_window_too(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")

    def broken(_provider: str, _model: str, _usage: Usage) -> float | None:
        raise RuntimeError("boom")

    program.handler._services = replace(program.handler._services, price=broken)
    program.server.replies.append(Said(reply(MOON)))
    effect = f.DistilConversations(program.run(), program.candidates())
    program.handler.prepare()

    with pytest.raises(RuntimeError, match="boom"):
        program.handler.handle(effect)

    assert program.of(e.HarvestFailed)[0].text == "The harvest failed: boom"


def test_where_the_worker_process_fails_the_conversation_is_kept_with_the_reason(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    add_discussion(program.home, "Two", "SECOND", at=OLD + timedelta(days=1))
    program.server.replies.append(Said(reply(MOON)))

    def read(kind: ArtifactKind, data: bytes, new_bytes: int) -> tuple[Message, ...]:
        if b"FIRST" in data:
            raise CrunchError("The worker process took over 60 s for 'messages'")
        return unread_messages(kind, data, new_bytes)

    program.handler._services = replace(program.handler._services, read=read)

    found = program.preview()

    assert [one.reason for one in found.failures] == ["The worker process took over 60 s for 'messages'"]
    assert [item.item.head for item in found.items] == [MOON]


def test_the_settings_choose_sources_ages_and_sizes(program: Program) -> None:
    talk = program.home.parent / "talk.md"
    talk.write_text("# aider chat started at 2025-10-20 21:49:17\n\n#### Why?\n\nThe moon.\n")
    os.utime(talk, (OLD.timestamp(), OLD.timestamp()))
    add_discussion(program.home, "One", "x" * 500)
    program.settings = KnowledgeSettings(harvest_sources=(str(talk),), max_source_bytes=300)

    looked = program.handle(f.ScanConversations(program.run()))[-1]
    assert isinstance(looked, e.HarvestLooked)
    assert [(one.facts.title, one.kind.value, one.why) for one in looked.look.artifacts] == [
        ("One", "keep", "too large"),
        ("talk.md", "harvest", ""),
    ]

    program.settings = KnowledgeSettings(live_days=100.0)
    looked = program.handle(f.ScanConversations(program.run()))[-1]
    assert isinstance(looked, e.HarvestLooked)
    assert [one.why for one in looked.look.artifacts] == ["touched lately"]


def test_a_trusted_projects_prompt_is_what_the_model_is_given(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    prompt = program.home.parent / "project" / "prompts" / "harvest-conversation.md"
    prompt.parent.mkdir(parents=True)
    prompt.write_text("The project's own words.")
    program.server.replies.extend([Said(reply(MOON)), Said(reply(MOON))])
    candidates = program.candidates()

    program.handle(f.DistilConversations(program.run(), candidates))
    program.handle(f.DistilConversations(program.run(prompts_root=str(prompt.parent.parent)), candidates))

    sent = [json.dumps(body["messages"]) for body in program.server.bodies]
    assert ["The project's own words." in text for text in sent] == [False, True]
