"""Calls of one reply, in any mix and however long each takes: what they find and leave is as if they came one by one."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.agent import kept_bytes
from core.agent.agent_messages import (
    AgentEvent,
    ApproveCall,
    CallJudged,
    CallPutOff,
    JudgeCall,
    RefuseCall,
    RunCall,
    SandboxFound,
)
from core.agent.agent_worker import ToolWorker
from core.agent.kept_bytes import SeenFiles
from core.agent.tool import CommandDesk, CommandOrder, ShellOutcome, ToolDesk, ToolPlaces
from core.app.app_messages import Effect
from core.app.tool_table import TOOLS
from core.kernel.values.agent import CallState, FileChange, Mode, Sandbox
from core.kernel.values.messages import TextPart, ToolCallPart, ToolResultPart
from core.talk.turn.turn_messages import CallProvider
from tests.core.agent.tool_playbook import ToolPlaybook
from tests.core.app.playbook import of
from tests.patience import PATIENCE_S

_Call = tuple[str, dict[str, Any], bool]
"""Tool, arguments, and the person's answer where it is asked."""

_FILES = st.sampled_from(["a.txt", "b.txt", "new.txt", ".env"])
_CALLS = st.one_of(
    st.tuples(st.just("read_file"), st.fixed_dictionaries({"path": _FILES})),
    st.tuples(
        st.just("edit_file"),
        st.fixed_dictionaries(
            {"path": _FILES, "old_text": st.just("tide"), "new_text": st.sampled_from(["tide tide", "ebb"])}
        ),
    ),
    st.tuples(st.just("write_file"), st.fixed_dictionaries({"path": _FILES, "text": st.just("tide\n")})),
    st.tuples(st.just("bash"), st.fixed_dictionaries({"command": _FILES})),
    st.tuples(st.sampled_from(["bash_output", "bash_kill"]), st.just({"id": "c0"})),
    st.tuples(st.just("glob"), st.just({"pattern": "*"})),
    st.tuples(st.just("journal"), st.fixed_dictionaries({"text": st.sampled_from(["one", "two"])})),
    st.tuples(
        st.just("todo"),
        st.fixed_dictionaries(
            {"items": st.sampled_from(["one", "two"]).map(lambda text: [{"text": text, "state": "open"}])}
        ),
    ),
)
_REPLIES = st.lists(
    st.tuples(_CALLS, st.booleans()).map(lambda one: (*one[0], one[1])), min_size=2, max_size=6
)


class World:
    """Files, a journal, and a shell whose commands add a line to the file that they name; one runs in the background."""

    def __init__(self, folder: Path) -> None:
        self.root, self.home = folder / "project", folder / "home"
        self.root.mkdir(parents=True)
        self.home.mkdir()
        for name in ("a.txt", "b.txt", ".env"):
            (self.root / name).write_text(f"{name} at high tide\n", encoding="utf-8")
        self.looks = 0
        self.is_killed = False
        self.tools = TOOLS
        self.events: SimpleQueue[AgentEvent] = SimpleQueue()

    def left(self) -> dict[str, str]:
        """What stands in its files."""
        found = (*self.root.iterdir(), *self.home.glob("journal.md"))
        return {path.name: path.read_text(encoding="utf-8") for path in found}

    # services of the worker that the tools above use
    def now(self) -> datetime:
        return datetime(2026, 11, 24, tzinfo=UTC)

    def sandbox(self) -> Sandbox:
        return Sandbox("bubblewrap")

    def places(self, _places: ToolPlaces) -> ToolPlaces:
        return ToolPlaces(
            str(self.root), home=str(self.home), journal=str(self.home / "journal.md"), is_trusted=True
        )

    def commands(self, _discussion_id: str) -> CommandDesk:
        return self  # type: ignore[return-value]

    def seen_files(self, discussion_id: str) -> SeenFiles:
        return SeenFiles(self.home / discussion_id)

    def keep_before(self, discussion_id: str, change: FileChange, data: bytes | None) -> None:
        kept_bytes.keep_before(self.home, discussion_id, change, data)

    def note_written(self, discussion_id: str, change: FileChange, *, is_made: bool) -> None:
        kept_bytes.note_written(self.home, discussion_id, change, is_made=is_made)

    # its shell
    def run(self, order: CommandOrder, _desk: ToolDesk) -> ShellOutcome:
        with (self.root / order.command).open("a", encoding="utf-8") as file:
            file.write("by a command\n")
        return ShellOutcome("done", 0)

    def look(self, _command_id: str) -> ShellOutcome | None:
        self.looks += 1
        return None if self.is_killed else ShellOutcome(f"look {self.looks}")

    def kill(self, _command_id: str) -> bool:
        was_killed, self.is_killed = self.is_killed, True
        return not was_killed


class Run:
    """Replies of a model played by the step, their calls carried out by the worker and the tools of the program.

    `chance` says who comes to it next: a worker that begins, an event that arrives, the person who answers. Judging is
    most often quicker than all else, so that as much as may is under way at once.
    """

    def __init__(self, world: World, chance: random.Random, replies: list[list[_Call]]) -> None:
        self.book = ToolPlaybook()
        self.chosen = self.book.with_tools(Mode.ACCEPT_EDITS)
        self.worker = ToolWorker(world, world.events.put)  # type: ignore[arg-type]
        self.world = world
        self.chance = chance
        self.effects: list[JudgeCall | RunCall] = []
        self.events: list[AgentEvent] = []
        self.answers: dict[str, bool] = {}
        call = self.book.ask(self.chosen, "go")
        for reply in replies:
            parts = []
            for name, arguments, answer in reply:
                call_id = f"c{len(self.answers)}"
                self.answers[call_id] = answer
                parts.append(ToolCallPart(call_id, name, json.dumps(arguments)))
            followed = self.follow(self.book.reply(call, (TextPart("I look."), *parts)))
            while not followed:
                followed = self.follow(self.next()())
            (call,) = followed

    def follow(self, effects: tuple[Effect, ...]) -> tuple[CallProvider, ...]:
        """Take what the worker is to do; the calls of the provider."""
        self.effects += [*of(effects, JudgeCall), *of(effects, RunCall)]
        return of(effects, CallProvider)

    def next(self) -> Callable[[], tuple[Effect, ...]]:
        """Something that can happen now. There is always something: nothing waits for itself."""
        turn = self.book.turn(self.chosen)
        asking = [one for one in turn.calls if one.state is CallState.ASKING]
        if self.chance.random() < 0.9:
            if any(isinstance(one, CallJudged | CallPutOff) for one in self.events):
                return self.arrive_judged
            if any(isinstance(one, JudgeCall) for one in self.effects):
                return self.begin_judging
        able: list[Callable[[], tuple[Effect, ...]]] = []
        able += [self.begin] if self.effects else []
        able += [self.arrive] if self.events else []
        able += [self.answer] if asking else []
        assert able, [(one.id, one.name, one.state) for one in turn.calls]
        return self.chance.choice(able)

    def begin_judging(self) -> tuple[Effect, ...]:
        self.effects.sort(key=lambda one: isinstance(one, JudgeCall))
        return self.begin(-1)

    def arrive_judged(self) -> tuple[Effect, ...]:
        self.events.sort(key=lambda one: isinstance(one, CallJudged | CallPutOff))
        return self.arrive(-1)

    def begin(self, at: int | None = None) -> tuple[Effect, ...]:
        self.worker.begin(self.effects.pop(self.chance.randrange(len(self.effects)) if at is None else at))
        event = self.world.events.get(timeout=PATIENCE_S)
        if isinstance(event, SandboxFound):
            self.book.play(event)
            event = self.world.events.get(timeout=PATIENCE_S)
        self.events.append(event)
        return ()

    def arrive(self, at: int | None = None) -> tuple[Effect, ...]:
        event = self.events.pop(self.chance.randrange(len(self.events)) if at is None else at)
        return self.book.keep(self.book.play(event))

    def answer(self) -> tuple[Effect, ...]:
        asking = [one for one in self.book.turn(self.chosen).calls if one.state is CallState.ASKING]
        call = self.chance.choice(asking)
        assert call.approval is not None
        about = self.chosen, call.id
        is_yes = self.answers[call.id]
        return self.book.keep(
            self.book.play(ApproveCall(*about, call.approval.id) if is_yes else RefuseCall(*about))
        )

    def told(self) -> dict[str, str]:
        """Result of each call, and the list that is shown."""
        said = self.book.said(self.chosen)
        results = {p.call_id: p.text for m in said for p in m.parts if isinstance(p, ToolResultPart)}
        return {**results, "todo": repr(self.book.state.agent.pages[self.chosen].todo)}


def outcome(chance: random.Random, replies: list[list[_Call]]) -> tuple[dict[str, str], dict[str, str]]:
    """What a model is told by replies with calls, and what they leave."""
    folder = Path(tempfile.mkdtemp())
    try:
        world = World(folder)
        return Run(world, chance, replies).told(), world.left()
    finally:
        shutil.rmtree(folder)


def _edit(path: str) -> _Call:
    return "edit_file", {"path": path, "old_text": "tide", "new_text": "ebb"}, True


def _read(path: str) -> _Call:
    return "read_file", {"path": path}, True


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(calls=_REPLIES, seed=st.integers(0, 1_000_000))
@example(calls=[_read("a.txt"), _edit("a.txt")], seed=3)
@example(calls=[_read("a.txt"), ("write_file", {"path": "a.txt", "text": "tide\n"}, True)], seed=3)
@example(calls=[_read(".env"), ("bash", {"command": ".env"}, True)], seed=0)
@example(calls=[("todo", {"items": [{"text": text}]}, True) for text in "abcd"], seed=0)
@example(calls=[("journal", {"text": text}, True) for text in "abcd"], seed=0)
@example(calls=[("bash_output", {"id": "c0"}, True), ("bash_kill", {"id": "c0"}, True)] * 2, seed=0)
def test_calls_of_a_reply_find_and_leave_what_they_would_one_by_one(calls: list[_Call], seed: int) -> None:
    one_by_one = outcome(random.Random(seed), [[one] for one in calls])

    for number in range(3):
        assert outcome(random.Random(seed + number), [calls]) == one_by_one
