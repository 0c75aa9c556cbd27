"""The knowledge worker and layer 7 on real files."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.knowledge.apply import begin_apply
from core.knowledge.digest import digest_file
from core.knowledge.locks import harvest_lock
from core.values import effects as f
from core.values import events as e
from core.values.curation import FileItem, FileSnapshot, ItemFiles, Preset
from core.values.effects import StackSpec
from core.values.events import Event
from core.values.knowledge import DigestSwitch
from core.values.settings import KnowledgeSettings
from core.values.stack import StackInputs
from core.workers.knowledge import KnowledgeHandler, Layer7, supersedes
from tests.core.knowledge.homes import FIRST, NOW, FaultyDisk, entry_of, harvest, items_of, made_home

ON = KnowledgeSettings()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return made_home(tmp_path)


def spec(settings: KnowledgeSettings = ON) -> StackSpec:
    return StackSpec("d", StackInputs(), Preset("p"), "/", knowledge=settings)


def handled(home: Path, effect: f.Effect, **more: bool) -> list[Event]:
    events: list[Event] = []
    KnowledgeHandler(home, events.append, **more).handle(effect)
    return events


def interrupted(home: Path) -> None:
    with begin_apply(home, NOW, seed="a", disk=FaultyDisk()) as apply:
        apply.append(items_of(home, FIRST), entry_of(home, FIRST))
    log = next((home / "knowledge" / "applies").iterdir())
    log.write_bytes(log.read_bytes().replace(b'{"kind": "written"}\n', b""))


def test_the_switch_is_told_before_the_items(home: Path) -> None:
    harvest(home, FaultyDisk())

    first, second = handled(home, f.ReadKnowledge(ON))

    assert isinstance(first, e.KnowledgeRead)
    assert isinstance(second, e.KnowledgeRead)
    assert (first.knowledge.switch, first.knowledge.categories) == (DigestSwitch.ON, ())
    assert sum(len(file.items) for file in second.knowledge.categories) == 12
    assert sum(len(note.items) for note in second.knowledge.notes) == 2


def test_regenerating_turns_it_on_and_says_so(home: Path) -> None:
    harvest(home, FaultyDisk())
    digest_file(home).unlink()

    events = handled(home, f.MakeDigest(ON))

    assert isinstance(events[1], e.KnowledgeRead)
    assert events[1].knowledge.is_on
    assert events[-1] == e.OperationDone("digest", "Digest written")


def test_what_was_interrupted_is_finished_once_and_told(home: Path) -> None:
    interrupted(home)

    assert isinstance(handled(home, f.ReadKnowledge(ON), is_read_only=True)[0], e.KnowledgeRead)
    told = handled(home, f.ReadKnowledge(ON))[0]
    assert told == e.OperationDone(
        "knowledge",
        "A harvest that was interrupted is whole now: 1 conversations",
        f"discussions/{FIRST}/log.jsonl",
    )
    assert isinstance(handled(home, f.ReadKnowledge(ON))[0], e.KnowledgeRead)


def test_a_harvest_that_runs_right_now_is_not_finished_for_it(home: Path) -> None:
    interrupted(home)
    with harvest_lock(home, "another"):
        assert {type(event) for event in handled(home, f.ReadKnowledge(ON))} == {e.KnowledgeRead}


def test_a_ledger_that_does_not_parse_is_told_and_reading_goes_on(home: Path) -> None:
    interrupted(home)
    (home / "knowledge" / "ledger.json").write_text("{", encoding="utf-8")

    events = handled(home, f.ReadKnowledge(ON))

    assert isinstance(events[0], e.OperationFailed)
    assert "ledger.json" in events[0].detail
    assert isinstance(events[-1], e.KnowledgeRead)


def test_layer_7_is_read_fresh_every_time(home: Path) -> None:
    harvest(home, FaultyDisk())
    layer = Layer7(home)
    code = (ItemFiles(FileItem("code.py"), (FileSnapshot("code.py", str(home / "code.py")),)),)

    digest, notes = layer.read(spec(), code)
    assert "Knowledge digest" in digest
    assert [note.name for note in notes] == ["code.py"]
    assert layer.read(spec(), ())[1] == ()
    assert layer.read(spec(KnowledgeSettings(digest_enabled=False)), code) == ("", ())

    digest_file(home).unlink()
    assert layer.read(spec(), code) == ("", ())


def test_only_a_later_reading_makes_a_reading_needless() -> None:
    assert supersedes(f.ReadKnowledge(ON), f.ReadKnowledge(ON))
    assert not supersedes(f.ReadKnowledge(ON), f.MakeDigest(ON))
