"""A Claude Code session that grows, followed by the whole program: taken by itself, and its new part with it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.app.controller import AppController
from core.imports.import_plan import KEY
from core.imports.import_sources import known_places
from core.kernel.values.messages import Role, TextPart
from core.kernel.values.records import MessageRecord
from core.services.settings.settings_messages import ChangeSetting
from core.talk.discussion import log
from core.talk.discussion.discussion_messages import SelectDiscussion
from tests.core.app.programs import Programs, until
from tests.core.imports.test_memory import session

START = datetime(2026, 11, 23, 9, tzinfo=UTC)


class Followed(Programs):
    """A home beside Claude Code's own folder, and a clock that a test puts forward."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self.now = START
        self.clock = lambda: self.now
        self.place = next(one.path for one in known_places({}, base) if one.name == "claude-code")
        self.session = Path(self.place) / "-srv-tides" / "a.jsonl"
        self.session.parent.mkdir(parents=True)

    def says(self, *said: str) -> None:
        self.session.write_text(session(*said, key="a"), encoding="utf-8")

    def told(self, discussion_id: str) -> list[str]:
        said = (one for one in log.read(self.home, discussion_id).records if isinstance(one, MessageRecord))
        kept = [one for one in said if one.role in {Role.USER, Role.ASSISTANT}]
        return ["".join(p.text for p in one.parts if isinstance(p, TextPart)) for one in kept]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Followed]:
    monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(tmp_path / "config.toml"))
    world = Followed(tmp_path)
    yield world
    world.stop()


def taken(controller: AppController) -> str:
    state = until(controller, lambda s: bool(s.discussions.summaries) and not s.following.is_looking)
    (made,) = state.discussions.summaries
    return made


def test_a_session_is_taken_and_what_grew_adds_its_part(world: Followed) -> None:
    world.says("When does the tide turn?", "At six.")
    program = world.start()
    assert not program.snapshot().discussions.summaries  # nobody said yes

    program.send(ChangeSetting(KEY, (world.place,)))
    made = taken(program)
    assert world.told(made) == ["When does the tide turn?", "At six."]
    program.send(SelectDiscussion(made))
    until(program, lambda s: made in s.discussions.open)

    world.says("When does the tide turn?", "At six.", "And then?", "At noon.")
    world.now += timedelta(minutes=1)
    state = until(program, lambda s: len(s.discussions.open[made].messages) == 4)
    assert [one.text for one in state.discussions.open[made].messages][-1] == "At noon."
    assert (*state.discussions.summaries,) == (made,)


def test_it_goes_on_after_a_restart_and_ends_when_the_settings_file_goes(world: Followed) -> None:
    world.says("When?", "At six.")
    first = world.start()
    first.send(ChangeSetting(KEY, (world.place,)))
    made = taken(first)
    first.stop()

    world.says("When?", "At six.", "Why?", "The moon.")
    second = world.start()
    until(second, lambda s: s.following.at is not None and not s.following.is_looking)
    assert world.told(made)[-1] == "The moon."
    second.stop()

    Path(world.session.parents[3] / "config.toml").unlink()
    world.says("When?", "At six.", "Why?", "The moon.", "Thanks.", "Yes.")
    third = world.start()
    world.now += timedelta(minutes=5)
    until(third, lambda s: s.now is not None and s.now >= world.now)
    assert third.snapshot().following.places == ()
    assert world.told(made)[-1] == "The moon."


def test_a_command_beside_the_window_takes_nothing(world: Followed) -> None:
    world.says("When?", "At six.")
    beside = world.start(owns_home=False)
    beside.send(ChangeSetting(KEY, (world.place,)))
    state = until(beside, lambda s: s.following.at is not None and not s.following.is_looking)
    assert not state.discussions.summaries
