"""`harvest` and `knowledge` as a second process beside a running program: files and locks, and the program sees it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.app.controller import AppController
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.kernel.values.state import AppState
from core.knowledge.knowledge_messages import RegenerateDigest
from core.talk.discussion.discussion_messages import CreateDiscussion, SelectDiscussion
from tests.core.front.cli.conftest import WAIT_S, World
from tests.core.knowledge.harvest.harvests import add_discussion, reply
from tests.patience import PATIENCE_S, until
from tests.vendors.compatible_server import Said

OLD = datetime.now(UTC).replace(microsecond=0) - timedelta(days=30)
SOON_S = PATIENCE_S
"""It takes a tenth of a second; a machine that is busy with other tests may need longer."""


class Program:
    """A running program that owns the home and watches it, as a window does."""

    def __init__(self, world: World) -> None:
        self.controller = AppController(LocalOutside(OutsideOptions(home=world.home, start=world.project)))
        self.controller.start()
        self.until(lambda s: bool(s.config.project.root) and not s.program.is_loading)

    @property
    def state(self) -> AppState:
        return self.controller.snapshot()

    def until(self, predicate: Callable[[AppState], bool], timeout_s: float = WAIT_S) -> AppState:
        state = self.controller.wait_for(predicate, timeout_s)
        assert state is not None, (
            self.state.discussions.summaries,
            self.state.knowledge,
            self.state.program.notices,
        )
        return state


@pytest.fixture
def program(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """A program with an old conversation in its list, another shown, and knowledge that it has read."""
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(world.config))
    add_discussion(world.home, "tides", "When is it high?", "Late.", at=OLD)
    found = Program(world)
    found.controller.send(CreateDiscussion("shown"))
    found.controller.send(RegenerateDigest())
    found.until(
        lambda s: any(
            "Your knowledge is empty, so there is no digest" in notice.text for notice in s.program.notices
        )
    )
    found.until(lambda s: len(s.discussions.summaries) == 2 and len(s.knowledge.categories) == 5)
    found.until(lambda s: bool(s.knowledge.watched))
    yield found
    found.controller.stop()


def _beside(world: World, *arguments: str) -> None:
    process = world.fork(*arguments)
    out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, (out, err)


def _names(state: AppState) -> list[str]:
    return sorted(row.meta.name for row in state.discussions.summaries.values())


def _facts(state: AppState) -> list[str]:
    return [
        item.text for file in state.knowledge.categories for item in file.items if file.name == "facts.md"
    ]


def test_what_a_harvest_of_another_process_does_shows_at_once_and_so_does_its_undo(
    world: World, program: Program
) -> None:
    world.server.replies.append(Said(reply("High tide is late."), piece_chars=400))

    _beside(world, "harvest", "--apply")
    seen = program.until(
        lambda s: (
            _names(s) == ["shown"] and _facts(s) == ["High tide is late."] and len(s.discussions.trash) == 1
        ),
        SOON_S,
    )
    assert "High tide is late." in program.until(lambda s: s.knowledge.is_on, SOON_S).knowledge.digest
    assert seen.discussions.selected_id in seen.discussions.summaries

    _beside(world, "harvest", "undo")
    program.until(
        lambda s: _names(s) == ["shown", "tides"] and not _facts(s) and not s.discussions.trash, SOON_S
    )
    assert not [notice for notice in program.state.program.notices if notice.level == "error"]


def test_the_digest_that_another_process_makes_or_removes_switches_the_window_at_once(
    world: World, program: Program
) -> None:
    folder = world.home / "knowledge"
    (folder / "facts.md").write_text("# Facts\n\n- The sea is salt.\n", encoding="utf-8")
    program.until(lambda s: _facts(s) == ["The sea is salt."], SOON_S)
    assert not program.state.knowledge.is_on, "no watcher turns memory on"

    _beside(world, "knowledge", "digest", "--regenerate")
    program.until(lambda s: s.knowledge.is_on and "The sea is salt." in s.knowledge.digest, SOON_S)
    subprocess.run(["rm", str(folder / "digest.md")], check=True)

    program.until(lambda s: not s.knowledge.is_on, SOON_S)


def test_a_conversation_that_the_window_shows_is_left_alone_by_another_process(
    world: World, program: Program
) -> None:
    (old,) = [key for key, row in program.state.discussions.summaries.items() if row.meta.name == "tides"]
    program.controller.send(SelectDiscussion(old))
    program.until(lambda s: old in s.discussions.open)
    _wait_for_file(world.home / "state.toml", old)

    _beside(world, "harvest", "--apply", "--live-days", "0")

    assert (world.home / "discussions" / old).is_dir()
    assert world.server.bodies == []


def _wait_for_file(path: Path, text: str) -> None:
    until(lambda: path.exists() and text in path.read_text(encoding="utf-8"), str(path))
