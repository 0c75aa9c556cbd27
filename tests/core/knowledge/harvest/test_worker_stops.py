"""The harvest worker stopped for real, short of money, locked out by a real process, and on a home that cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.app.app_messages import Event
from core.kernel.queue import QueueWorker
from core.kernel.values.harvest import HarvestReport
from core.knowledge.harvest.harvest_messages import (
    ApplyPreview,
    DistilConversations,
    HarvestEnded,
    HarvestFailed,
    HarvestLooked,
    HarvestPaid,
    HarvestProgressed,
    HarvestProposed,
    HarvestReported,
    RunEffect,
    ScanConversations,
    UndoApply,
)
from core.knowledge.harvest.harvest_worker import ENDING, STOPPED
from core.knowledge.ledger import HarvestLedger
from tests.core.knowledge.harvest.harvest_kit import MOON, NO_MONEY, SUN, WAIT_S, Program, made
from tests.core.knowledge.harvest.harvests import NOW, OLD, add_discussion, item_lines, reply, tree
from tests.core.knowledge.homes import paid_since
from tests.vendors.compatible_server import VLLM, CompatibleServer, Said
from tests.vendors.loopback import Gate, HoldAfter, Rewrite

ROOT = Path(__file__).parents[4]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    with CompatibleServer(VLLM) as server:
        yield made(tmp_path / "home", server)


def queued(program: Program) -> QueueWorker[RunEffect]:
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
    worker.submit(DistilConversations(program.run(), candidates))
    assert gate.reached.wait(WAIT_S)

    program.handler.cancel()

    assert gate.client_left.wait(WAIT_S)
    assert program.wait_for(HarvestEnded).problem == STOPPED
    assert [item.item.head for event in program.of(HarvestProposed) for item in event.part.items] == [MOON]
    assert worker.stop(WAIT_S)


def test_a_run_that_still_waits_is_stopped_too_and_the_next_one_is_not(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    program.server.replies.append(Said(reply(MOON)))
    effect = DistilConversations(program.run(), program.candidates())
    program.handler.prepare()
    program.handler.cancel()

    program.handler.handle(effect)
    assert program.of(HarvestEnded)[-1].problem == STOPPED
    assert program.server.bodies == []

    program.handle(effect)
    assert program.of(HarvestEnded)[-1].problem == ""
    assert len(program.server.bodies) == 1


def test_when_the_program_ends_no_run_goes_on_and_none_begins(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    gate = Gate()
    program.server.replies.append(Said(reply(MOON)))
    program.server.faults.append(HoldAfter(0, gate))
    worker = queued(program)
    effect = DistilConversations(program.run(), program.candidates())
    program.handler.prepare()
    worker.submit(effect)
    assert gate.reached.wait(WAIT_S)

    program.handler.close()

    assert program.wait_for(HarvestEnded).problem == ENDING
    program.handler.prepare()
    worker.submit(effect)
    assert worker.stop(WAIT_S)
    assert [event.problem for event in program.of(HarvestEnded)] == [ENDING, ENDING]
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
        if isinstance(event, HarvestProgressed) and (event.done, event.total) == (0, 2):
            program.handler.cancel()

    program.handler._emit = stop_at_the_second
    program.handle(ApplyPreview(program.run(), candidates, reviewed))

    (applied,) = program.of(HarvestReported)
    assert isinstance(applied.result, HarvestReport)
    assert applied.result.stopped == STOPPED
    assert applied.result.reclaimed == (ids[0],)
    assert applied.look is not None
    assert [one.facts.id for one in applied.look.artifacts] == [ids[1]]
    assert len(item_lines(program.home)) == 1


def test_it_ends_when_the_days_money_is_spent_and_says_so(program: Program) -> None:
    for number in range(3):
        add_discussion(program.home, f"N{number}", f"Q{number}", at=OLD + timedelta(days=number))
        program.server.replies.append(Said(reply(f"Fact {number}.")))

    program.calls = 2
    program.handle(DistilConversations(program.run(), program.candidates()))

    ended = program.of(HarvestEnded)[0]
    assert ended.problem == NO_MONEY
    assert (len(program.of(HarvestPaid)), len(program.server.bodies)) == (2, 2)
    assert len(program.of(HarvestProposed)) == 2


def test_what_was_paid_is_on_disk_with_its_time(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    program.server.replies.append(Said(reply(MOON)))

    program.preview()

    assert paid_since(program.home, NOW) == pytest.approx(0.25)
    assert paid_since(program.home, NOW + timedelta(seconds=1)) == 0.0


HOLDER = """
import sys
from pathlib import Path
from core.knowledge.file_writer import harvest_lock
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


def effects_of(program: Program) -> list[Callable[[], RunEffect]]:
    return [
        lambda: DistilConversations(program.run(), program.candidates()),
        lambda: ApplyPreview(program.run(), program.candidates(), None),
        lambda: UndoApply(program.run()),
    ]


def test_a_lock_that_another_process_holds_is_told_with_who_holds_it(
    program: Program, other_process: subprocess.Popen[str]
) -> None:
    add_discussion(program.home, "One", "FIRST")

    for effect in effects_of(program):
        (failed,) = program.handle(effect())
        assert isinstance(failed, HarvestFailed)
        assert f"a harvest in a shell (process {other_process.pid}" in failed.text
        assert "Wait until" in failed.detail
    assert program.server.bodies == []
    assert isinstance(program.handle(ScanConversations(program.run()))[-1], HarvestLooked)


def test_a_ledger_that_does_not_parse_stops_everything_with_file_and_line(program: Program) -> None:
    add_discussion(program.home, "One", "FIRST")
    candidates = program.candidates()
    ledger = HarvestLedger(program.home).path
    ledger.parent.mkdir(parents=True)
    ledger.write_text('{"entries": {\n  oops\n}}')

    for effect in (
        ScanConversations(program.run()),
        DistilConversations(program.run(), candidates),
        ApplyPreview(program.run(), candidates, None),
        UndoApply(program.run()),
    ):
        failed = program.handle(effect)[-1]
        assert isinstance(failed, HarvestFailed)
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
            assert isinstance(failed, HarvestFailed)
            assert failed.text == "The program cannot harvest: this data folder is read-only"
            assert str(program.home) in failed.detail
        assert isinstance(program.handle(ScanConversations(program.run()))[-1], HarvestLooked)
        assert tree(program.home) == before
        assert server.bodies == []


def test_a_provider_that_is_not_there_is_said_once_and_before_anything_is_read(program: Program) -> None:
    for number in range(3):
        add_discussion(program.home, f"N{number}", "Q", at=OLD + timedelta(days=number))

    (failed,) = program.handle(DistilConversations(program.run(provider="nobody"), program.candidates()))

    assert isinstance(failed, HarvestFailed)
    assert failed.text == "There is no provider 'nobody'"


def test_nothing_to_undo_is_told(program: Program) -> None:
    program.home.mkdir()

    (failed,) = program.handle(UndoApply(program.run()))

    assert isinstance(failed, HarvestFailed)
    assert "There is no harvest to undo" in failed.text
