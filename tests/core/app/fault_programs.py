"""Whole programs that are killed at any one call of the disk: a queue, a turn with tools, an export, a first start; and what must hold then."""

from __future__ import annotations

import gc
import importlib
import json
import os
import shutil
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from core.agent.agent_messages import SetTools
from core.app.controller import AppController, wall_clock
from core.app.execution import act
from core.app.options import OutsideOptions
from core.front.cli.session import CommandOutside
from core.kernel import disk
from core.kernel.errors import SlopError
from core.kernel.o200k import count_tokens
from core.kernel.values.messages import Message, Role, Status
from core.kernel.values.state import AppState, Level
from core.services.settings.settings_messages import TrustProject
from core.talk.discussion.discussion_messages import (
    CreateDiscussion,
    ExportDiscussion,
    ReadDiscussion,
    SelectDiscussion,
)
from core.talk.turn.turn_messages import SendPrompt, SendQueued
from tests.core.agent.test_whole_tools import is_over
from tests.core.knowledge.fault_disks import Point, PointDisk
from tests.patience import PATIENCE_S
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer, Said
from tests.vendors.loopback import Gate, HoldAfter

PROGRAMS = ("queue", "tools", "export", "first start")
CALLS = tuple(name for name in vars(disk.Disk) if not name.startswith("_"))
QUEUED = ("second words", "third words")
REPLIES = ("It turns every six hours.", "At night too.", "Twice a day.")
LOOKS = ("I look at the tides first.", "I look at the tides again.")
LOOKED = "The height is one."
BEFORE, BEFORES_REPLY = "words of before", "A reply of before."
AFTER, LATER = "words after the kill", "words behind the turn"
AFTER_REPLIES = tuple(f"Reply {number} after the kill." for number in range(4))
OLD_EXPORT = "an export of before\n"


class KillingDisk(PointDisk):
    """Ends its process with SIGKILL at the n-th call; counts calls of several threads."""

    def __init__(self, home: Path, at: int = -1) -> None:
        super().__init__(home, at)
        self._one_at_a_time = threading.RLock()

    def end(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        with self._one_at_a_time:
            return super().write(fd, data)

    def _call(self, kind: str, where: Path | int, *, needs_space: bool = False) -> None:
        with self._one_at_a_time:
            super()._call(kind, where, needs_space=needs_space)


@dataclass(frozen=True)
class ProgramStage:
    """Homes as a program finds them, made once and copied for each point.

    Args:
        folder: is there, for this run alone; run_name: of `PROGRAMS`.
    """

    folder: Path
    run_name: str

    def prepare(self) -> list[Point]:
        """Make the template. Returns the calls of the disk in a run that goes well, in order."""
        template = self.folder / "template"
        template.mkdir()
        if self.run_name != "first start":
            _in_child(lambda: _talked(template))
        listed = self._copied("listed")
        points = listed / "points.json"
        if wrong := _in_child(lambda: self._run(listed, -1, points)):
            raise AssertionError(f"{self.run_name} does not go well: {wrong}")
        told = json.loads(points.read_text("utf-8"))
        _load(told["modules"])
        found = [Point(kind, name) for kind, name in told["points"]]
        shutil.rmtree(listed)
        return found

    def try_kill(self, at: int) -> str:
        """Kill a program at a point, start again, check. Returns what was wrong, empty when nothing was.

        Threads take turns as they like: a run may have fewer calls than the first, and end well before the point.
        """
        folder = self._copied(f"{at}-killed")
        wrong = _in_child(lambda: self._run(folder, at, None), may_be_killed=True) or self._judged(folder)
        shutil.rmtree(folder)
        return wrong

    def _copied(self, name: str) -> Path:
        folder = self.folder / name
        shutil.copytree(self.folder / "template", folder)
        return folder

    def _judged(self, folder: Path) -> str:
        return _in_child(lambda: self._judge(folder))

    def _run(self, folder: Path, at: int, points: Path | None) -> None:
        """Do what is under test, on a disk that kills."""
        own = KillingDisk(folder / "home", at)
        noted = Noted(folder)
        replies = _looks() if self.run_name == "tools" else tuple(map(Said, REPLIES))
        with _server(folder, replies) as server:
            if self.run_name == "first start":
                _arm(own)
            with _program(folder) as program:
                match self.run_name:
                    case "queue":
                        _queue(program, server, noted, lambda: _arm(own))
                    case "tools":
                        _use_tools(program, folder, noted, lambda: _arm(own))
                    case "export":
                        _export(program, folder, noted, lambda: _arm(own))
                    case _:
                        chosen = act(program, CreateDiscussion("first")).discussions.selected_id
                        _say(program, chosen, "first words", noted)
                        noted.say(REPLIES[0])
            if points is not None:
                told = {
                    "points": [(one.kind, one.name) for one in own.points],
                    "modules": sorted(sys.modules),
                }
                points.write_text(json.dumps(told), "utf-8")

    def _judge(self, folder: Path) -> None:
        """Start again after a kill: nothing that was acknowledged is lost, nothing is doubled, and the program works."""
        noted = Noted(folder).read()
        after_replies = tuple(map(Said, AFTER_REPLIES))
        with _server(folder, after_replies) as server, _program(folder) as program:
            said = _words(program)
            assert max(said.values(), default=1) == 1, f"words are doubled: {said}"
            assert not noted.said - set(said), f"words are lost: {noted.said - set(said)}"
            errors = [one.text for one in program.snapshot().program.notices if one.level is Level.ERROR]
            assert not errors, f"the next start is not healthy: {errors}"
            lost = noted.shown - set(_shown(program))
            assert not lost, f"a paid reply is lost: {lost}"
            assert not server.bodies, "something was asked for and paid that nobody asked for"
            for chosen, opened in program.snapshot().discussions.open.items():
                if self.run_name == "tools":
                    _say(program, chosen, LATER, None)
                if opened.queue:
                    act(program, SendQueued(chosen))
                    _until(program, _is_calm(chosen))
            after = act(program, CreateDiscussion("after")).discussions.selected_id
            _say(program, after, AFTER, None)
            again = _words(program)
            assert set(again) >= {*said, AFTER}, f"words are lost: {set(said) - set(again)}"
            assert max(again.values()) == 1, f"words are doubled: {again}"
        _check_exports(folder, noted)


@dataclass(frozen=True)
class Acknowledged:
    """What a program said is kept, before it was killed: words, files that were written, and texts of replies that it showed."""

    said: set[str]
    written: set[str]
    shown: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Noted:
    """The notes of one who was told, beside the home."""

    folder: Path

    def say(self, text: str, kind: str = "said") -> None:
        """Write down what was acknowledged, before anything else happens."""
        with (self.folder / "noted").open("a", encoding="utf-8") as file:
            file.write(f"{kind} {text}\n")

    def read(self) -> Acknowledged:
        """All notes."""
        file = self.folder / "noted"
        rows = [line.split(" ", 1) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
        by_kind = {kind: {t for k, t in rows if k == kind} for kind in ("said", "written", "shown")}
        return Acknowledged(by_kind["said"], by_kind["written"], frozenset(by_kind["shown"]))


DECISIVE = {
    "queue": ("queue.json", "log.jsonl"),
    "tools": ("log.jsonl",),
    "export": ("old.md", "new.json"),
    "first start": ("home.toml", "log.jsonl"),
}
"""Files at whose write, or at whose rename into place, it is decided what a run leaves."""


def decisive_points(run_name: str, points: Sequence[Point]) -> list[int]:
    """Indexes of the points for a short run: the last write or rename of each file that decides."""
    last = {Path(one.name).name: at for at, one in enumerate(points) if one.kind in {"write", "rename"}}
    return sorted(last[name] for name in DECISIVE[run_name])


def _talked(folder: Path) -> None:
    with _server(folder, (Said(BEFORES_REPLY),)), _program(folder) as program:
        chosen = act(program, CreateDiscussion("template")).discussions.selected_id
        _say(program, chosen, BEFORE, None)
    exports = folder / "exports"
    exports.mkdir()
    (exports / "old.md").write_text(OLD_EXPORT, "utf-8")


def _queue(program: AppController, server: CompatibleServer, noted: Noted, arm: Callable[[], None]) -> None:
    """A reply under way, and two messages that wait for it."""
    (chosen,) = program.snapshot().discussions.summaries
    gate = Gate()
    server.faults.append(HoldAfter(2, gate))
    arm()
    program.send(SendPrompt(chosen, "first words"))
    _until(program, _holds(chosen, "first words"))
    noted.say("first words")
    for text in QUEUED:
        program.send(SendPrompt(chosen, text, may_queue=True))
        _until(program, lambda s, text=text: text in [one.text for one in s.discussions.open[chosen].queue])  # type: ignore[misc]
        noted.say(text)
    gate.open()
    _until(program, lambda s: _is_calm(chosen)(s) and not s.discussions.open[chosen].queue)
    for reply in REPLIES:
        assert _holds(chosen, reply)(program.snapshot()), f"{reply} did not come"
        noted.say(reply)


def _looks() -> tuple[Said, ...]:
    """Replies of a turn: two that ask for a file, one that ends it."""
    calls = (("read_file", json.dumps({"path": "tides.py"})),)
    return (*(Said(text, calls=calls, finish="tool_calls") for text in LOOKS), Said(LOOKED))


def _use_tools(program: AppController, folder: Path, noted: Noted, arm: Callable[[], None]) -> None:
    """A turn with two rounds of tools."""
    (chosen,) = program.snapshot().discussions.summaries
    (folder / "project" / "tides.py").write_text("height = 1\n", "utf-8")
    act(program, TrustProject(is_trusted=True))
    act(program, SetTools(chosen, has_tools=True))
    arm()
    program.send(SendPrompt(chosen, "first words"))
    _until(program, _holds(chosen, "first words"))
    noted.say("first words")
    for text in (*LOOKS, LOOKED):
        _until(program, _shows(chosen, text))
        noted.say(text, "shown")
    _until(program, lambda s: is_over(s, chosen) and _is_calm(chosen)(s))
    assert _holds(chosen, LOOKED)(program.snapshot()), "the turn did not end"
    noted.say(LOOKED)


def _shows(chosen: str, text: str) -> Callable[[AppState], bool]:
    """True once a reply's text is shown, written or still arriving."""

    def shows(state: AppState) -> bool:
        call = state.turns.calls.get(chosen)
        return (call is not None and text in call.text) or _holds(chosen, text)(state)

    return shows


def _export(program: AppController, folder: Path, noted: Noted, arm: Callable[[], None]) -> None:
    """Over a file that is there, and to a new one."""
    (chosen,) = program.snapshot().discussions.summaries
    arm()
    for name, form, replaces in (("old.md", "markdown", True), ("new.json", "json", False)):
        act(program, ExportDiscussion(chosen, form, str(folder / "exports" / name), replaces=replaces))
        noted.say(name, "written")


def _check_exports(folder: Path, noted: Acknowledged) -> None:
    """Whole, or as it was: no half of an export stands under its name."""
    old, new = folder / "exports" / "old.md", folder / "exports" / "new.json"
    if not old.exists():
        assert not old.parent.exists(), "a file that was there is gone"
        return
    text = old.read_text("utf-8")
    is_new = BEFORE in text and BEFORES_REPLY in text
    assert is_new or (text == OLD_EXPORT and "old.md" not in noted.written), "an export is half"
    assert new.exists() or "new.json" not in noted.written, "an export is lost"
    if new.exists():
        assert BEFORES_REPLY in json.dumps(json.loads(new.read_text("utf-8"))), "an export is half"


def _say(program: AppController, chosen: str, text: str, noted: Noted | None) -> None:
    """Send, and wait for the reply; what is acknowledged on the way is noted."""
    program.send(SendPrompt(chosen, text))
    _until(program, _holds(chosen, text))
    if noted is not None:
        noted.say(text)
    _until(program, lambda s: _is_calm(chosen)(s) and _replies(s, chosen) > 0)


def _holds(chosen: str, text: str) -> Callable[[AppState], bool]:
    return lambda state: any(one.text == text for one in state.discussions.open[chosen].messages)


def _is_calm(chosen: str) -> Callable[[AppState], bool]:
    return lambda state: chosen not in state.turns.calls and not state.discussions.pending


def _replies(state: AppState, chosen: str) -> int:
    return sum(one.role is Role.ASSISTANT for one in state.discussions.open[chosen].messages)


def _words(program: AppController) -> Counter[str]:
    """All that was said whole or waits, over all discussions of the home but what the judge said."""
    found: Counter[str] = Counter()
    for chosen in program.snapshot().discussions.summaries:
        act(program, ReadDiscussion(chosen))
        opened = program.snapshot().discussions.open[chosen]
        found.update(one.text for one in opened.messages if _is_whole(one) and one.role is not Role.TOOL)
        found.update(one.text for one in opened.queue)
    return found


def _shown(program: AppController) -> Iterator[str]:
    """Texts of all replies, whole or not."""
    for opened in program.snapshot().discussions.open.values():
        yield from (one.text for one in opened.messages if one.role is Role.ASSISTANT)


def _is_whole(message: Message) -> bool:
    return message.status is Status.COMPLETE


def _until(program: AppController, holds: Callable[[AppState], bool]) -> AppState:
    state = program.wait_for(holds, PATIENCE_S)
    assert state is not None, f"nothing happened: {program.snapshot().program.notices}"
    return state


def _arm(own: KillingDisk) -> None:
    """Have all of this process write through a disk that kills."""
    for name in CALLS:
        setattr(disk.OS_DISK, name, getattr(own, name))


@contextmanager
def _server(folder: Path, replies: Sequence[Said]) -> Iterator[CompatibleServer]:
    """A model on loopback, named by settings beside the home."""
    with CompatibleServer(VLLM) as server:
        server.replies.extend(replies)
        config = folder / "config.toml"
        config.write_text(
            f'[providers.local]\nbase_url = "{server.url}/v1"\n[ai_settings]\nprovider = "local"\nmodel = "{MODEL}"\n',
            "utf-8",
        )
        os.environ["MANUAL_SLOP_CONFIG"] = str(config)
        os.environ["XDG_CACHE_HOME"] = os.environ["XDG_STATE_HOME"] = str(folder / "cache")
        yield server


@contextmanager
def _program(folder: Path) -> Iterator[AppController]:
    """A program on the home, its owner, as the window is one."""
    (folder / "project").mkdir(exist_ok=True)
    options = OutsideOptions(home=folder / "home", start=folder / "project", watches=False)
    program = AppController(CommandOutside(options), clock=wall_clock)
    program.start()
    try:
        _until(program, lambda s: bool(s.config.providers) and not s.program.is_loading)
        if program.snapshot().discussions.summaries:
            act(program, SelectDiscussion(next(iter(program.snapshot().discussions.summaries))))
        yield program
    finally:
        program.stop()


def _load(modules: Sequence[str]) -> None:
    """Load what a program loads, once for all children: in each of them it takes seconds."""
    for name in modules:
        with suppress(ImportError):
            importlib.import_module(name)
    count_tokens("words")
    gc.collect()
    gc.freeze()  # a child that looked at each object for garbage would copy all of this process's memory


def _in_child(run: Callable[[], None], *, may_be_killed: bool = False) -> str:
    """Run in a process of its own. Returns what went wrong there, empty when nothing did."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _run_and_leave(run, writing)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as told:
        wrong = told.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code == 0 or (may_be_killed and code == -signal.SIGKILL):
        return wrong
    return wrong or f"the program ended with {code}"


def _run_and_leave(run: Callable[[], None], writing: int) -> None:
    """The child's whole life: it must not come back."""
    try:
        run()
    except (AssertionError, SlopError, OSError) as error:
        os.write(writing, (str(error).partition("\n")[0] or "an invariant does not hold").encode()[:2_000])
    finally:
        os._exit(0)
