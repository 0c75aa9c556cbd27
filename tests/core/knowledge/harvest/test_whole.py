"""A harvest in the whole program: a real home, the real SDK, a server that bills as its vendor does, a real restart."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.app.controller import AppController, wall_clock
from core.kernel import paths
from core.kernel.ids import make_id
from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.harvest import HarvestPhase, Review
from core.kernel.values.knowledge import Category, DigestSwitch, Item
from core.kernel.values.state import AppState
from core.knowledge.harvest.harvest_messages import (
    ApplyHarvest,
    CancelHarvest,
    DiscardPreview,
    EditHarvestItem,
    LookForHarvest,
    MoveHarvestItem,
    PreviewHarvest,
    TickHarvestItems,
    UndoHarvest,
)
from core.knowledge.harvest.preview import choices_of
from core.knowledge.harvest.replies import load_review, review_file
from core.knowledge.knowledge_messages import (
    AddKnowledgeItem,
    DeleteDigest,
    DeleteKnowledgeItem,
    EditKnowledgeItem,
    RegenerateDigest,
    SetTaskDone,
)
from core.talk.discussion import discussion_store
from core.talk.discussion.discussion_messages import SelectDiscussion
from core.talk.turn.turn_messages import SendPrompt
from tests.core.app.programs import WAIT_S, Programs, until
from tests.core.knowledge.harvest.harvests import OLD, add_discussion, item_lines, reply
from tests.vendors.anthropic_server import KEY, AnthropicServer, Said
from tests.vendors.loopback import Gate, HoldAfter, Rewrite

MODEL = "claude-opus-5-5"
FOUND = reply(
    "Tides follow the moon.",
    "The earth is flat.",
    decisions=[{"statement": "Six hours are assumed.", "detail": "It is simple."}],
)


def said(text: str) -> Said:
    return Said(({"type": "text", "text": text},))


class World(Programs):
    """A home whose default is a vendor's model, and the server that stands for it."""

    def __init__(self, base: Path, server: AnthropicServer) -> None:
        super().__init__(base)
        self.server = server
        self.config = base / "config.toml"
        self.configure()
        meta = DiscussionMeta(make_id(wall_clock(), "now"), "Now", wall_clock(), "anthropic", MODEL)
        discussion_store.create(self.home, meta, ())
        self.now = meta.id

    def configure(self, more: str = "") -> None:
        text = f'[ai_settings]\nprovider = "anthropic"\nmodel = "{MODEL}"\n{more}'
        self.config.write_text(text, encoding="utf-8")

    @property
    def sent(self) -> str:
        """The last request, as the server saw it."""
        return json.dumps(self.server.bodies[-1])


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    with AnthropicServer() as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(tmp_path / "config.toml"))
        world = World(tmp_path, server)
        yield world
        world.stop()


def idle(state: AppState) -> bool:
    return not state.harvest.is_busy


def ask(controller: AppController, chosen: str, text: str) -> None:
    count = len(controller.snapshot().discussions.open[chosen].entries)
    controller.send(SendPrompt(chosen, text))
    until(
        controller,
        lambda s: chosen not in s.turns.calls and len(s.discussions.open[chosen].entries) > count + 1,
    )


def look(controller: AppController) -> AppState:
    before = controller.snapshot().harvest.looked_at
    controller.send(LookForHarvest())
    return until(controller, lambda s: idle(s) and s.harvest.looked_at != before)


def preview(controller: AppController) -> AppState:
    before = controller.snapshot().harvest.preview
    controller.send(PreviewHarvest())
    return until(
        controller, lambda s: idle(s) and s.harvest.preview is not None and s.harvest.preview is not before
    )


def all_items(state: AppState) -> list[Item]:
    return [item for file in state.knowledge.categories for item in file.items]


def known(state: AppState) -> list[str]:
    return [item.text for item in all_items(state)]


def test_a_conversation_is_previewed_chosen_applied_remembered_and_taken_back(world: World) -> None:
    old = add_discussion(world.home, "Tides", "Why do they turn?", "The moon pulls.")
    controller = world.start()
    now = world.now
    until(controller, lambda s: now in s.discussions.open)
    ask(controller, now, "Hello")
    assert "{knowledge}" not in world.sent

    state = look(controller)
    assert [(one.facts.id, one.kind.value) for one in state.harvest.look.artifacts] == [
        (old, "harvest"),
        (now, "live"),
    ]
    assert (state.harvest.look.estimate.cost_usd or 0) > 0
    spent = state.spending.spent_today_usd or 0.0

    world.server.replies.append(said(FOUND))
    state = preview(controller)
    assert "Why do they turn?" in world.sent
    found = state.harvest.preview
    assert found is not None
    assert [item.item.head for item in found.items] == [
        "Tides follow the moon.",
        "The earth is flat.",
        "Six hours are assumed.",
    ]
    assert state.spending.spent_today_usd == pytest.approx(spent + (state.harvest.use.cost_usd or 0))
    assert (state.harvest.use.cost_usd or 0) > 0
    assert item_lines(world.home) == []

    controller.send(TickHarvestItems((found.items[1].id,), is_ticked=False))
    controller.send(EditHarvestItem(found.items[2].id, "Six hours are good enough."))
    controller.send(ApplyHarvest())
    state = until(controller, lambda s: s.harvest.report is not None and old not in s.discussions.summaries)
    assert state.harvest.report is not None
    assert dict(state.harvest.report.items)["facts"] == 1
    state = until(controller, lambda s: s.knowledge.is_on and len(known(s)) == 2)
    assert known(state) == ["Six hours are good enough.", "Tides follow the moon."]
    state = until(controller, lambda s: [item.discussion_id for item in s.discussions.trash] == [old])
    assert state.discussions.selected_id == now
    assert state.harvest.look.sources["2026-10-01-tides"] == old

    ask(controller, now, "And now?")
    assert "{knowledge}\\n# Knowledge digest" in world.sent
    assert "- Tides follow the moon." in world.sent
    assert "good enough" in world.sent
    assert "flat" not in world.sent

    controller.send(UndoHarvest())
    state = until(controller, lambda s: s.harvest.undone is not None and old in s.discussions.summaries)
    assert item_lines(world.home) == []
    until(controller, lambda s: known(s) == [] and s.discussions.trash == ())
    controller.send(SelectDiscussion(old))
    state = until(controller, lambda s: old in s.discussions.open)
    assert [message.text for message in state.discussions.open[old].messages] == [
        "Why do they turn?",
        "The moon pulls.",
    ]
    assert [one.kind.value for one in look(controller).harvest.look.artifacts if one.facts.id == now] == [
        "live"
    ]


def test_removing_the_digest_by_any_tool_turns_layer_7_off_in_the_next_request(world: World) -> None:
    add_discussion(world.home, "Tides", "Why?")
    controller = world.start(watches=True)
    now = world.now
    until(controller, lambda s: now in s.discussions.open)
    look(controller)
    world.server.replies.append(said(FOUND))
    preview(controller)
    controller.send(ApplyHarvest())
    until(controller, lambda s: s.harvest.report is not None and s.knowledge.is_on)
    ask(controller, now, "One")
    assert "{knowledge}" in world.sent

    (paths.knowledge_dir(world.home) / "digest.md").unlink()
    ask(controller, now, "Two")

    assert "{knowledge}" not in world.sent
    until(controller, lambda s: s.knowledge.switch is DigestSwitch.OFF_BY_DELETION)

    controller.send(RegenerateDigest())
    until(controller, lambda s: s.knowledge.is_on)
    controller.send(DeleteDigest())
    until(controller, lambda s: not s.knowledge.is_on)
    ask(controller, now, "Three")
    assert "{knowledge}" not in world.sent
    assert len(item_lines(world.home)) == 3


def test_what_a_person_writes_edits_and_deletes_is_in_the_files_at_once(world: World) -> None:
    controller = world.start()

    def item(section: str) -> Item:
        state = until(controller, lambda s: [one.section for one in all_items(s)] == [section])
        return all_items(state)[0]

    controller.send(AddKnowledgeItem(Category.TASKS_OPEN, "Measure the tide"))
    controller.send(EditKnowledgeItem(item("Open"), "Measure it twice"))
    until(controller, lambda s: known(s) == ["Measure it twice"])
    controller.send(SetTaskDone(item("Open"), is_done=True))
    stale = item("Done")
    assert item_lines(world.home) == ["- Measure it twice"]
    controller.send(DeleteKnowledgeItem(stale))
    until(controller, lambda s: known(s) == [])
    controller.send(EditKnowledgeItem(stale, "Too late"))
    state = until(controller, lambda s: any(notice.id == "knowledge" for notice in s.program.notices))
    (notice,) = (notice for notice in state.program.notices if notice.id == "knowledge")
    assert "tasks.md has changed" in notice.text
    assert str(paths.knowledge_dir(world.home) / "tasks.md") in notice.detail


def test_cancelling_keeps_what_was_read_and_another_preview_pays_only_for_the_rest(world: World) -> None:
    for number, name in enumerate(("one", "two")):
        add_discussion(world.home, name, f"{name} asks", at=OLD + timedelta(days=number))
    controller = world.start()
    look(controller)
    gate = Gate()
    world.server.replies.extend([said(reply("First.")), said(reply("Never heard."))])
    asked_before = len(world.server.bodies)

    def hold_the_second(state: AppState) -> bool:
        return state.harvest.doing == "two"

    world.server.faults.extend([Rewrite(lambda part: part), HoldAfter(0, gate)])
    controller.send(PreviewHarvest())
    until(controller, hold_the_second)
    assert gate.reached.wait(WAIT_S)

    controller.send(CancelHarvest())

    state = until(controller, idle)
    assert gate.client_left.wait(WAIT_S)
    assert state.harvest.problem == "You stopped the run."
    assert state.harvest.preview is not None
    assert [item.item.head for item in state.harvest.preview.items] == ["First."]

    world.server.replies.append(said(reply("Second.")))
    state = preview(controller)
    assert state.harvest.preview is not None
    assert [item.item.head for item in state.harvest.preview.items] == ["First.", "Second."]
    assert len(world.server.bodies) - asked_before == 3


def test_closing_in_the_middle_of_a_call_does_not_wait_for_it(world: World) -> None:
    add_discussion(world.home, "one", "one asks")
    controller = world.start()
    look(controller)
    gate = Gate()
    world.server.faults.append(HoldAfter(0, gate))
    controller.send(PreviewHarvest())
    assert gate.reached.wait(WAIT_S)

    controller.stop()

    assert gate.client_left.wait(WAIT_S)
    assert controller.snapshot().harvest.phase is HarvestPhase.IDLE
    assert item_lines(world.home) == []


def test_what_was_paid_counts_towards_the_day_after_a_restart_and_stops_the_next_one(world: World) -> None:
    add_discussion(world.home, "one", "one asks")
    controller = world.start()
    look(controller)
    world.server.replies.append(said(reply("First.")))
    paid = preview(controller).harvest.use.cost_usd
    assert paid
    controller.stop()
    world.configure(f"[ai_settings.caching]\nday_limit_usd = {paid / 2:.8f}\n")
    add_discussion(world.home, "two", "two asks")

    controller = world.start()
    state = until(controller, lambda s: s.spending.spent_today_usd is not None)
    assert state.spending.spent_today_usd == pytest.approx(paid)
    look(controller)
    controller.send(PreviewHarvest())

    state = until(controller, lambda s: any(notice.id == "harvest" for notice in s.program.notices))
    assert [notice.text for notice in state.program.notices if notice.id == "harvest"] == [
        "The harvest did not start."
    ]
    assert len([one for one in world.server.bodies if "asks" in json.dumps(one)]) == 1


def test_the_conversation_that_is_shown_is_never_reclaimed(world: World) -> None:
    old = add_discussion(world.home, "Tides", "Why?")
    controller = world.start()
    controller.send(SelectDiscussion(old))
    until(controller, lambda s: old in s.discussions.open)

    state = look(controller)

    assert [one.why for one in state.harvest.look.artifacts if one.facts.id == old] == ["open"]


def _review(world: World, controller: AppController) -> tuple[str, ...]:
    """Preview what there is, leave one item out, say another one in one's own words, move it. The ids."""
    look(controller)
    world.server.replies.append(said(FOUND))
    found = preview(controller).harvest.preview
    assert found is not None
    ids = tuple(one.id for one in found.items)
    controller.send(TickHarvestItems((ids[1],), is_ticked=False))
    controller.send(EditHarvestItem(ids[2], "Six hours are good enough.", "For now."))
    controller.send(MoveHarvestItem(ids[2], Category.FACTS))
    return ids


def _is_moved(state: AppState, item_id: str) -> bool:
    preview = state.harvest.preview
    items = () if preview is None else preview.items
    return any(one.id == item_id and one.item.category is Category.FACTS for one in items)


def _choices(state: AppState) -> Review:
    return {} if state.harvest.preview is None else choices_of(state.harvest.preview)


def _gone_on(world: World, controller: AppController, ids: tuple[str, ...]) -> None:
    """A program that was started anew shows the review as it was left, asks nobody, and applies it."""
    asked = len(world.server.bodies)
    begun = look(controller).harvest
    assert {key.split("/")[0] for key in begun.review} == {ids[1], ids[2]}
    assert len(begun.look.kept) == 1
    found = preview(controller).harvest.preview
    assert found is not None
    assert len(world.server.bodies) == asked
    assert [
        (one.id, one.is_ticked, one.item.category, one.item.head, one.item.body) for one in found.items
    ] == [
        (ids[0], True, Category.FACTS, "Tides follow the moon.", ""),
        (ids[1], False, Category.FACTS, "The earth is flat.", ""),
        (ids[2], True, Category.FACTS, "Six hours are good enough.", "For now."),
    ]
    assert len(world.server.bodies) == asked

    controller.send(ApplyHarvest())
    until(controller, lambda s: idle(s) and s.harvest.report is not None)
    assert [line.split(" [")[0] for line in item_lines(world.home)] == [
        "- Tides follow the moon.",
        "- Six hours are good enough. — For now.",
    ]
    controller.stop()
    assert not review_file(world.home).exists()


def test_a_review_is_gone_on_with_after_the_window_was_closed(world: World) -> None:
    add_discussion(world.home, "Tides", "Why do they turn?")
    controller = world.start()
    ids = _review(world, controller)
    controller.stop()
    assert review_file(world.home).exists()

    _gone_on(world, world.start(), ids)


def test_a_review_is_gone_on_with_after_a_crash(world: World, tmp_path: Path) -> None:
    """A copy of the home while the program still runs is what a kill leaves."""
    add_discussion(world.home, "Tides", "Why do they turn?")
    controller = world.start()
    ids = _review(world, controller)
    until(controller, lambda s: _is_moved(s, ids[2]) and load_review(world.home) == _choices(s))
    shutil.copytree(world.home, tmp_path / "after")
    (tmp_path / "after" / paths.HOME_LOCK_FILE).unlink()
    world.home = tmp_path / "after"

    _gone_on(world, world.start(), ids)


def test_a_discarded_review_does_not_come_back(world: World) -> None:
    add_discussion(world.home, "Tides", "Why do they turn?")
    controller = world.start()
    _review(world, controller)
    controller.send(DiscardPreview())
    found = preview(controller).harvest.preview
    assert found is not None
    assert [one.is_ticked for one in found.items] == [True, True, True]
    controller.stop()

    assert not review_file(world.home).exists()
    assert look(world.start()).harvest.review == {}
