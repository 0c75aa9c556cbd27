"""A home that the version before the rooms wrote (commit 9eee8e7) is read by this one and stays as it is, byte for byte.

`home_before` was made by real use of that version: turns with a file, an attachment and marks, a reply asked for again,
an edit, a delete, an invalidated cache, a branch with a draft, settings of discussions, a deleted one, unsaved
work on a preset, knowledge by hand, a harvest that was applied, and one whose review was left half done. The prompt of
that version stands there as the person's own: a reply is kept for the very prompt that it answers.
A colon in a name stands there as `%3A`, so that every system can check it out.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from core.app.controller import AppController
from core.app.options import OutsideOptions
from core.app.outside import LocalOutside
from core.kernel.values.messages import Role
from core.kernel.values.state import AppState
from core.knowledge.harvest.harvest_messages import LookForHarvest
from core.talk.discussion.discussion_messages import ReadDiscussion, SelectDiscussion
from tests.core.app.programs import until
from tests.core.knowledge.harvest.harvests import OLD, age, tree

BEFORE = Path(__file__).with_name("home_before")
WRITTEN_AT = datetime(2026, 11, 22, 14, 31, 55, tzinfo=UTC)
TIDES, EBB, EMPTY = "20261122-143134-jqkuie", "20261122-143152-xjkelm", "20261122-143152-obfqaq"
SPRINGS, HARVESTED, DELETED = "20261002-080000-zikdui", "20261001-080000-lwslka", "20261122-143152-zobqfa"
AGES = "trash/ages.toml"
"""How long the program has run since something was deleted: the one file that every start of any version writes."""


class Clock:
    """A clock that stands: a minute after the home was left."""

    now = WRITTEN_AT + timedelta(minutes=1)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home of before, as it lay on its disk."""
    home = tmp_path / "home"
    for source in sorted(path for path in BEFORE.rglob("*") if path.is_file()):
        target = home / str(source.relative_to(BEFORE)).replace("%3A", ":")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    age(home, WRITTEN_AT)  # folders too: one that is newer than the digest would have it renewed
    age(home / "discussions" / SPRINGS, OLD)  # as old as it is, so that the harvest proposes it
    return home


@pytest.fixture
def program(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppController]:
    config = tmp_path / "config.toml"
    config.write_text('[ai_settings]\nprovider = "anthropic"\nmodel = "claude-opus-5-5"\n', encoding="utf-8")
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(config))
    project = tmp_path / "project"
    project.mkdir()
    clock = Clock()
    options = OutsideOptions(home=home, start=project, watches=False, owns_home=True)
    controller = AppController(LocalOutside(options, clock=clock), clock=clock)
    controller.start()
    until(controller, lambda s: bool(s.config.providers) and not s.program.is_loading)
    yield controller
    controller.stop()


def is_open(discussion_id: str, state: AppState) -> bool:
    return discussion_id in state.discussions.open


def test_a_home_of_the_version_before_is_read_whole_and_not_a_byte_of_it_changes(
    home: Path, program: AppController
) -> None:
    state = until(program, lambda s: TIDES in s.discussions.open and TIDES in s.caching.caches)
    assert state.discussions.selected_id == TIDES
    assert set(state.discussions.summaries) == {TIDES, EBB, EMPTY, SPRINGS}
    for chosen in (EBB, EMPTY, SPRINGS):
        program.send(ReadDiscussion(chosen))
        until(program, partial(is_open, chosen))
    program.send(SelectDiscussion(EBB))
    until(program, lambda s: s.discussions.selected_id == EBB)
    program.send(SelectDiscussion(TIDES))
    until(program, lambda s: s.discussions.selected_id == TIDES)
    program.send(LookForHarvest())
    until(program, lambda s: s.harvest.looked_at is not None and not s.harvest.is_busy)
    program.stop()
    state = program.snapshot()

    before = {name.replace("%3A", ":"): data for name, data in tree(BEFORE).items()}
    after = tree(home)
    ages = before.pop(AGES), after[AGES]
    assert ages[0].splitlines()[1:3] == ages[1].splitlines()[1:3]
    assert {name: data for name, data in after.items() if name in before} == before
    assert {Path(name).name for name in after.keys() - before.keys()} <= {".lock", Path(AGES).name}
    messages = state.discussions.open[TIDES].messages
    assert "At noon, in words of mine." in [one.text for one in messages]
    assert next(one.text for one in messages if one.role is Role.USER) == "And low?"
    assert "At six o'clock sharp." in [one.text for one in messages]
    assert state.discussions.open[EBB].draft.text == "half a thought"
    assert state.discussions.summaries[EBB].meta.name == 'Ebb "quoted"'
    assert state.discussions.summaries[EBB].meta.pinned
    assert state.discussions.summaries[EMPTY].meta.archived
    assert state.discussions.summaries[TIDES].meta.cache_epoch == 1
    assert state.discussions.summaries[TIDES].usage.cost_usd
    assert {one.discussion_id for one in state.discussions.trash} == {HARVESTED, DELETED}
    texts = [item.text for file in state.knowledge.categories for item in file.items]
    assert "Measure the tide" in texts
    assert len(state.harvest.look.kept) == 1
    assert len(state.harvest.review) == 1
    assert [one.id for one in state.harvest.look.applies] == ["20261122-143154-emcpac"]
    assert state.spending.spent_today_usd
    assert not [one for one in state.program.notices if one.level.name != "INFO"]
