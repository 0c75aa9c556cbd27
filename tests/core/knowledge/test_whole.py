"""Knowledge in the whole program without a window: real home, real files, real watching, requests over loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.app.controller import AppController
from core.kernel.values.curation import FileItem
from core.kernel.values.knowledge import Category, DigestSwitch, HarvestLedgerEntry, LedgerStatus, NewItem
from core.kernel.values.records import RequestRecord
from core.kernel.values.state import AppState
from core.knowledge.apply import begin_apply
from core.knowledge.knowledge_messages import RegenerateDigest
from core.knowledge.knowledge_reader import regenerate_digest
from core.knowledge.note_files import file_id_for_path
from core.services.settings.asked_values import question_id
from core.services.settings.settings_messages import TrustProject
from core.talk.context.context_messages import CreatePreset
from tests.core.app.programs import until
from tests.core.app.test_whole import World, ask
from tests.core.knowledge.homes import NOW
from tests.vendors.compatible_server import VLLM, CompatibleServer


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", "")
    with CompatibleServer(VLLM) as server:
        world = World(tmp_path, server)
        (world.home / "knowledge").mkdir(parents=True)
        (world.home / "knowledge" / "facts.md").write_text("- The moon pulls\n", encoding="utf-8")
        yield world
        world.stop()


def digest(world: World) -> Path:
    return world.home / "knowledge" / "digest.md"


def sent(world: World) -> str:
    return json.dumps(world.server.bodies[-1])


def last_request(state: AppState, chosen: str) -> RequestRecord:
    record = state.discussions.open[chosen].last_request
    assert record is not None
    return record


def shows(chosen: str, wanted: Callable[[str], bool]) -> Callable[[AppState], bool]:
    return lambda s: (
        chosen in s.context.reports
        and wanted("".join(layer.text for layer in s.context.reports[chosen].texts))
    )


def test_the_digest_is_in_the_prefix_while_its_file_is_there_and_the_reasons_are_recorded(
    world: World,
) -> None:
    controller = world.start()
    chosen = world.discussion(controller)
    ask(controller, chosen, "one")
    assert "moon" not in sent(world)

    regenerate_digest(world.home)
    state = ask(controller, chosen, "two")
    assert "{knowledge}\\n# Knowledge digest" in sent(world)
    assert "- The moon pulls\\n\\n{/knowledge}" in sent(world)
    assert last_request(state, chosen).prefix_reason == "knowledge switched on"

    (world.home / "knowledge" / "facts.md").write_text("- The sun too\n", encoding="utf-8")
    regenerate_digest(world.home)
    state = ask(controller, chosen, "three")
    assert "sun too" in sent(world)
    assert last_request(state, chosen).prefix_reason == "digest regenerated"

    state = ask(controller, chosen, "four")
    assert last_request(state, chosen).prefix_reason == ""

    digest(world).unlink()
    state = ask(controller, chosen, "five")
    assert "{knowledge}" not in sent(world)
    assert last_request(state, chosen).prefix_reason == "knowledge switched off"


def test_rm_and_an_editors_save_show_in_an_open_window_by_themselves(world: World) -> None:
    regenerate_digest(world.home)
    controller = world.start(watches=True)
    chosen = world.discussion(controller)
    until(controller, shows(chosen, lambda text: "The moon pulls" in text))
    state = until(controller, lambda s: bool(s.knowledge.categories))
    assert state.knowledge.switch is DigestSwitch.ON

    digest(world).unlink()
    until(controller, shows(chosen, lambda text: "The moon pulls" not in text))
    until(controller, lambda s: s.knowledge.switch is DigestSwitch.OFF_BY_DELETION)

    facts = world.home / "knowledge" / "facts.md"
    fresh = facts.with_name("facts.md.new")
    fresh.write_text("- Nothing pulls\n", encoding="utf-8")
    fresh.replace(facts)
    until(controller, lambda s: "Nothing pulls" in [i.text for f in s.knowledge.categories for i in f.items])

    assert not digest(world).exists()

    controller.send(RegenerateDigest())
    until(controller, shows(chosen, lambda text: "Nothing pulls" in text))
    facts.write_text("- All falls\n", encoding="utf-8")
    until(controller, shows(chosen, lambda text: "All falls" in text and "Nothing pulls" not in text))


def test_notes_on_files_in_scope_go_out_and_follow_a_rename(world: World) -> None:
    tides = world.project / "tides.py"
    with begin_apply(world.home, NOW, seed="a") as apply:
        entry = HarvestLedgerEntry("a" * 64, "x", LedgerStatus.HARVESTED, "")
        apply.append([NewItem(Category.FILES, "six is a guess", name=str(tides))], entry)
    regenerate_digest(world.home)
    controller = world.start(watches=True)
    chosen = world.discussion(controller)
    ask(controller, chosen, "one")
    assert "six is a guess" not in sent(world)

    controller.send(CreatePreset("core", (FileItem("*.py"),)))
    until(controller, shows(chosen, lambda text: '<note name="tides.py">\n- six is a guess\n</note>' in text))
    state = ask(controller, chosen, "two")
    assert "six is a guess" in sent(world)
    assert last_request(state, chosen).prefix_reason == "notes of files in scope changed"

    tides.rename(world.project / "ebb.py")
    until(controller, shows(chosen, lambda text: '<note name="ebb.py">\n- six is a guess' in text))
    assert file_id_for_path(world.project / "ebb.py") == controller.snapshot().knowledge.notes[0].file_id


def test_configuration_turns_it_off_while_the_file_stays(world: World) -> None:
    regenerate_digest(world.home)
    (world.project / "manual_slop.toml").write_text(
        "[ai_settings.knowledge]\ndigest_enabled = false\n", encoding="utf-8"
    )
    controller = world.start()
    chosen = world.discussion(controller)
    asked = controller.snapshot().config.project.asked
    controller.send(TrustProject(True, question_id(asked)))
    state = until(
        controller,
        lambda s: s.knowledge.switch is DigestSwitch.OFF_BY_CONFIGURATION and chosen in s.discussions.open,
    )

    ask(controller, chosen, "one")

    assert "{knowledge}" not in sent(world)
    assert state.knowledge.digest
    assert digest(world).exists()


def test_an_interrupted_harvest_is_made_whole_at_the_next_start(world: World) -> None:
    with begin_apply(world.home, NOW, seed="a") as apply:
        entry = HarvestLedgerEntry("a" * 64, "talk", LedgerStatus.HARVESTED, "")
        apply.append([NewItem(Category.DECISIONS, "Swim at ebb")], entry)
    log = next((world.home / "knowledge" / "applies").iterdir())
    log.write_bytes(log.read_bytes().replace(b'{"kind": "written"}\n', b""))
    (world.home / "knowledge" / "decisions.md").unlink()

    controller: AppController = world.start()

    state = until(controller, lambda s: any(n.id == "knowledge" for n in s.program.notices))
    assert any("1 conversations" in n.text or "whole now" in n.text for n in state.program.notices)
    until(controller, lambda s: "Swim at ebb" in [i.text for f in s.knowledge.categories for i in f.items])
    assert not digest(world).exists()
