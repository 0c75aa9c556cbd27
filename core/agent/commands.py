"""Commands of tools: started under a mark of their run, read, bounded, and ended with all that they started."""

from __future__ import annotations

import json
import os
import queue
import secrets
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from core.agent.agent_messages import CommandEnded
from core.agent.closed_view import ClosedViews
from core.agent.delegation import CappedOutput
from core.agent.guarded_files import (
    GuardedPlaces,
    HeldPlaces,
    SecretPlaces,
    drop_left,
    kept_note,
    notes_of,
    shut_note,
)
from core.agent.sandbox import (
    BUBBLEWRAP,
    CommandPlaces,
    Confinement,
    check_root,
    confined,
    find_confinement,
    hidden_places,
    mounts_of,
    system_program,
)
from core.agent.tool import CommandOrder, ShellOutcome, ToolDesk, ToolPlaces
from core.agent.toolchains import WITHOUT_REPOSITORY, ClosedView, missed_note, moved
from core.kernel import figures, paths
from core.kernel.child_process import descendants, end_below, kill_with_below, program_environment
from core.kernel.codecs import read_json
from core.kernel.command_start import (
    MOST_PROCESSES,
    BoundWatch,
    Lifeline,
    bounded,
    counts_by_namespace,
    start_bare,
    start_guarded,
)
from core.kernel.disk import make_dirs, remove_whole, write_file
from core.kernel.errors import StorageError
from core.kernel.language import tr
from core.kernel.opener import read_file
from core.kernel.patterns import late
from core.kernel.queue import Lazy
from core.kernel.values.agent import Sandbox

VARIABLE = "MANUAL_SLOP_COMMAND"
"""Environment variable that every command carries, with the mark of the run that started it."""
MOST_NAMED = 10
_SCRATCH = "manual-slop-"
_NAME = late(r"[0-9a-f]{16}")


class RunMark:
    """The mark of this run, on disk from the first command to the orderly end. Thread-safe."""

    def __init__(self, home: Path) -> None:
        self.name = secrets.token_hex(8)
        self._file = paths.commands_dir(home) / f"{self.name}.json"
        self._lock = threading.Lock()
        self._is_written = False
        self._held: frozenset[str] = frozenset()

    def note(self) -> None:
        """Write the mark, once. Raises OSError."""
        with self._lock:
            if not self._is_written:
                self._write()

    def note_held(self, names: Iterable[str]) -> None:
        """Note names that are held in a project from now on: the next start takes away what a kill leaves of them. Raises nothing."""
        with self._lock, suppress(OSError, StorageError):
            if not self._held.issuperset(names := frozenset(names)):
                self._held |= names
                self._write()

    def _write(self) -> None:
        make_dirs(self._file.parent)
        told = {"pid": os.getpid(), "began": _began(os.getpid()), "held": sorted(self._held)}
        write_file(self._file, json.dumps(told).encode())
        self._is_written = True

    def scratch(self, whose: str) -> str:
        """Make a folder of this run below the system's temporary one: the next start removes what a kill leaves of it.

        Args:
            whose: word of its name. Returns its path, links resolved. Raises OSError.
        """
        self.note()
        return os.path.realpath(tempfile.mkdtemp(prefix=f"{_SCRATCH}{whose}-{self.name}-"))

    def drop(self) -> None:
        """Take the mark away, unless something of this run is left. Idempotent."""
        if self._is_written and not _carriers({self.name}):
            with suppress(OSError):
                self._file.unlink(missing_ok=True)


def survivors(home: Path) -> tuple[str, ...]:
    """Name what earlier runs of the program started and is still there, a sentence each; marks without any go, and with
    them the scratch folders of their commands and the names that they held in projects, unless another program is at work.

    Linux alone names them: elsewhere the environment of a process cannot be read.
    """
    folder = paths.commands_dir(home)
    try:
        marks = [folder / name for name in os.listdir(folder) if name.endswith(".json")]
    except OSError:
        return ()
    over = {mark.stem: mark for mark in marks if not _is_alive(mark)}
    left = _carriers(set(over))
    for name, mark in over.items():
        held = _held(mark)
        if left.get(name) or (held and len(over) < len(marks)):  # another's command may hold them by now
            continue
        drop_left(held)
        _drop_scratch(name)
        with suppress(OSError):
            mark.unlink()
    found = [each for name in sorted(left) for each in left[name]]
    return tuple(
        tr(
            "A command of an earlier run is still running: process {pid} ({name}). To end it: kill {pid}",
            pid=pid,
            name=name,
        )
        for pid, name in found[:MOST_NAMED]
    )


def _drop_scratch(name: str) -> None:
    """Remove what commands of a run that is over left in its scratch folders: words of conversations may stand there."""
    if sys.platform != "linux" or not _NAME.fullmatch(name):
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*-{name}-*"):
        if not folder.is_symlink():
            with suppress(OSError):
                remove_whole(folder)


def _is_alive(mark: Path) -> bool:
    """True if the program that wrote a mark runs."""
    try:
        said = read_json(read_file(mark))
        return bool(_began(int(said["pid"])) == said["began"] != "")
    except (OSError, ArithmeticError, ValueError, KeyError, TypeError):
        return False


def _held(mark: Path) -> tuple[str, ...]:
    """Names that the run of a mark held. Linux alone tells for sure that it is over."""
    try:
        held = read_json(read_file(mark))["held"]
    except (OSError, ArithmeticError, ValueError, KeyError, TypeError):
        return ()
    is_sure = sys.platform == "linux" and isinstance(held, list)
    return tuple(one for one in held if isinstance(one, str)) if is_sure else ()


def _began(pid: int) -> str:
    """Begin of a process, in ticks of the system, empty where it is gone or the system does not say."""
    try:
        return read_file(f"/proc/{pid}/stat").decode("utf-8", "replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _carriers(marks: set[str]) -> dict[str, list[tuple[int, str]]]:
    """Processes of this user by the mark that their environment carries."""
    found: dict[str, list[tuple[int, str]]] = {}
    if sys.platform != "linux" or not marks:
        return found
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            variables = read_file(f"/proc/{name}/environ").decode("utf-8", "replace").split("\0")
            program = read_file(f"/proc/{name}/comm").decode("utf-8", "replace").strip()
        except OSError:
            continue
        mark = next((each.partition("=")[2] for each in variables if each.startswith(f"{VARIABLE}=")), "")
        if mark in marks:
            found.setdefault(mark, []).append((int(name), program))
    return found


# Commands of tools: started, read, bounded, and ended with all that they started; the output and the end of
# each.

# A command that runs: its output, bounded, and its end.

MOST_OUTPUT_BYTES = 100_000_000
_LINGER_S = 1.0
"""Output of what is out of reach, a service that got hold of the pipe, is read so long after the end."""
_LOOK_S, _COUNT_S, _SHOW_S = 0.05, 0.25, 0.2
_PIECE = 1 << 16


class Running:
    """A command that runs, with its thread-safe output and its end."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        *,
        is_own_space: bool,
        grace_s: float,
        watch: BoundWatch,
    ) -> None:
        self._process = process
        self.watch = watch
        self._is_own_space = is_own_space
        self._grace_s = grace_s
        self._counted_at = time.monotonic()
        self._lock = threading.Lock()
        self._output = CappedOutput()
        self._fresh = CappedOutput()
        self._ended_by, self.is_asked = "", False
        self._ender: threading.Thread | None = None
        self.exit_code: int | None = None
        self.notes: tuple[str, ...] = ()
        self.gone = threading.Event()

    def end(self, why: str, *, is_asked: bool = True, is_at_once: bool = False) -> None:
        """End it and all that it started, without waiting. Idempotent; the first reason stays.

        Args:
            is_asked: the person or the model wants it ended; else its time is over, or it went over a bound.
            is_at_once: it gets no time to clean up. What takes the machine would use that time to take more.
        """
        with self._lock:
            if self._ended_by or self.exit_code is not None:
                return
            self._ended_by, self.is_asked = why, is_asked
            grace_s = 0.0 if is_at_once else self._grace_s
            ender = threading.Thread(target=self._end, args=(grace_s,), name="command end", daemon=True)
            with suppress(RuntimeError):  # no thread is left: that may be the very reason why it is ended
                ender.start()
                self._ender = ender
        if self._ender is None:
            self._end(0.0)

    def _end(self, grace_s: float) -> None:
        if not grace_s and sys.platform == "linux":
            kill_with_below(self._process)
        elif self._is_own_space:
            # The last process of a namespace takes all others with it; the sandbox's own are not asked but ended.
            end_below(self._process.pid, grace_s, is_first_kept=True)
            kill_with_below(self._process)  # it may have been about to make the first of them
        elif self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(self._grace_s + 2.0)
            end_below(self._process.pid, 0.0)
            self._process.kill()

    def follow(self, deadline: float | None, show: Callable[[str], None]) -> None:
        """Read to the end. `deadline`: of the monotonic clock; `show`: takes the tail now and then."""
        stdout = self._process.stdout
        assert stdout is not None
        os.set_blocking(stdout.fileno(), False)
        shown, is_fresh = time.monotonic(), False
        over_at: float | None = None
        with selectors.DefaultSelector() as selector:
            selector.register(stdout, selectors.EVENT_READ)
            while True:
                is_over = self._process.poll() is not None
                data = self._read(stdout.fileno()) if selector.select(0 if is_over else _LOOK_S) else None
                now = time.monotonic()
                over_at = over_at or (now if is_over else None)
                if data == b"" or (data is None and is_over) or (over_at and now - over_at > _LINGER_S):
                    break
                is_fresh = is_fresh or bool(data)  # what came just before a silence is shown in it
                if is_fresh and now - shown >= _SHOW_S:
                    shown, is_fresh = now, False
                    show(self.tail())
                self._watch(deadline)
        self._conclude(deadline)

    def _watch(self, deadline: float | None) -> None:
        """End it where it goes over a bound."""
        now = time.monotonic()
        if deadline is not None and now >= deadline:
            self.end("its time was over", is_asked=False)
        if self._output.total_bytes > MOST_OUTPUT_BYTES:
            self.end(f"it wrote more than {figures.size(MOST_OUTPUT_BYTES)}", is_asked=False)
        if now - self._counted_at >= _COUNT_S:
            self._counted_at = now
            if exceeded := self.watch.exceeded(descendants(self._process.pid)):
                self.end(exceeded, is_asked=False, is_at_once=True)

    def _conclude(self, deadline: float | None) -> None:
        """Wait for the process itself: it may have closed its output and gone on."""
        while self._process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LOOK_S)
            self._watch(deadline)
        if self._ender is not None:
            self._ender.join()
        for stream in (self._process.stdout, self._process.stdin):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self.exit_code = self._process.returncode
        self.gone.set()

    def _read(self, descriptor: int) -> bytes | None:
        try:
            data = os.read(descriptor, _PIECE)
        except BlockingIOError:
            return None
        with self._lock:
            self._output.add(data)
            self._fresh.add(data)
        return data

    def close(self, notes: tuple[str, ...]) -> None:
        """It is gone. `notes`: what the person should know, a sentence each."""
        self.notes = tuple(filter(None, (self.watch.note(self.exit_code), *notes)))

    def end_notes(self) -> str:
        """Sentences on why it was ended, and on all else that the person should know; empty where it ended by itself."""
        why = (f"It was ended: {self._ended_by}.",) if self._ended_by else ()
        return " ".join((*why, *self.notes))

    def tail(self) -> str:
        """End of the output so far."""
        with self._lock:
            return self._output.live()

    def outcome(self, *, only_new: bool = False) -> ShellOutcome:
        """Return the present state. `only_new`: only output since the last such call."""
        with self._lock:
            output = self._fresh if only_new else self._output
            found = ShellOutcome(
                output=output.text(),
                exit_code=self.exit_code,
                ended_by=self._ended_by,
                notes=self.notes,
                left_bytes=output.left_bytes,
            )
            if only_new:
                self._fresh = CappedOutput()
            return found


# Commands of tools as they run: started, read, bounded, and ended with all that they started.

GRACE_S = 1.5
"""Seconds between SIGTERM and SIGKILL."""
MOST_IN_BACKGROUND = 8
_QUIET = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}
"""Nothing waits for a person who is not there."""


def _has_repository(root: str) -> bool:
    """True for a project of git. The empty `.git` folder that keeps commands from making one does not count."""
    place = os.path.join(root, ".git")
    return os.path.isfile(place) or os.path.exists(os.path.join(place, "HEAD"))


class Commands:
    """All commands of this program. Thread-safe.

    Args:
        home: ours, hidden from commands; show: takes discussion, call and tail of a background command; ended: takes its
            end.
        find: finds how commands are confined, asked once; most_processes: of one command; grace_s: from SIGTERM to SIGKILL.
    """

    def __init__(
        self,
        home: Path,
        show: Callable[[str, str, str], None],
        ended: Callable[[CommandEnded], None],
        find: Callable[[], Confinement] = find_confinement,
        most_processes: int = MOST_PROCESSES,
        grace_s: float = GRACE_S,
    ) -> None:
        self._home = home
        self._show = show
        self._ended = ended
        self._confinement = Lazy(find, lambda _found: None)
        self._most_processes = most_processes
        self._grace_s = grace_s
        self._mark = RunMark(home)
        self._guarded = GuardedPlaces(self._mark.note_held)
        self._secrets = SecretPlaces()
        self._views = ClosedViews(self._secrets)
        self._copies = ""
        self._lock = threading.Lock()
        self._is_closed = False
        self._discussions: dict[str, DiscussionCommands] = {}
        self._starts: queue.SimpleQueue[tuple[Callable[[], subprocess.Popen[bytes]], Future[subprocess.Popen[bytes]]] | None]  # fmt: skip
        self._starts = queue.SimpleQueue()
        self._starter: threading.Thread | None = None
        self._lifeline = Lifeline()

    @property
    def sandbox(self) -> Sandbox:
        """Confinement of commands here; tried at the first question, which takes up to seconds."""
        return self.confinement.sandbox

    @property
    def confinement(self) -> Confinement:
        """Confinement of what is started here; tried at the first question."""
        return self._confinement.get()

    @property
    def guarded(self) -> GuardedPlaces:
        """Guarded places of projects, for what is started elsewhere."""
        return self._guarded

    def closed_view(
        self, root: str, shown: Collection[str], own: Collection[str] = (), named: Collection[str] = ()
    ) -> ClosedView:
        """View beside a project of what runs without a yes for this very call. As `ClosedViews.view`."""
        with self._lock:
            if not self._copies:
                self._copies = self._mark.scratch("settings")
        return self._views.view(root, self._copies, shown, own, named)

    def marked_environment(self, scratch: str) -> dict[str, str]:
        """Environment of a command, with the mark by which the next start names what survived. Raises OSError."""
        with self._lock:
            self._mark.note()
        return self._environment(scratch)

    def new_scratch(self, whose: str) -> str:
        """A scratch folder of this run. Raises OSError."""
        with self._lock:
            return self._mark.scratch(whose)

    def of(self, discussion_id: str) -> DiscussionCommands:
        """Commands of one discussion."""
        with self._lock:
            return self._discussions.setdefault(discussion_id, DiscussionCommands(self, discussion_id))

    def kill(self, discussion_id: str, call_id: str = "") -> None:
        """End running commands of a discussion, in the background too, without waiting. Empty `call_id`: all."""
        self.of(discussion_id).kill_calls(call_id)

    def drop(self, discussion_id: str) -> bool:
        """End the commands of a discussion that is forgotten, and remove its scratch folder.

        Returns:
            Whether there was one.

        Raises:
            OSError: some of it is left.
        """
        with self._lock:
            found = self._discussions.pop(discussion_id, None)
        return found is not None and found.drop()

    def close(self) -> None:
        """End all commands, wait for their end, and start none afterwards. You can call this twice."""
        with self._lock:
            self._is_closed = True
            discussions = tuple(self._discussions.values())
        for discussion in discussions:
            discussion.close()
        if self._starter is not None:
            self._starts.put(None)
            self._starter.join()
            self._starter = None
        self._lifeline.close()
        if self._copies:
            with suppress(OSError):
                remove_whole(self._copies)
        self._mark.drop()

    def begin(self, order: CommandOrder, places: ToolPlaces, scratch: str) -> tuple[Running, HeldPlaces]:
        """Start a command. Its places are held until `release`. Raises OSError."""
        bash = system_program("bash")
        if bash is None:
            raise FileNotFoundError("bash is not installed")
        check_root(places.root)
        with self._lock:
            if self._is_closed:
                raise OSError("the program is ending")
            self._mark.note()
            if self._starter is None:
                self._starter = threading.Thread(target=self._start_all, name="command starter", daemon=True)
                self._starter.start()
            lifeline = self._lifeline.open()
        confinement = self._confinement.get()
        is_confined = confinement.program is not None
        environment = self._environment(scratch if not is_confined or sys.platform == "darwin" else "/tmp")  # noqa: S108
        if is_confined and not _has_repository(places.root):
            environment |= WITHOUT_REPOSITORY
        is_bubble = confinement.sandbox.name == BUBBLEWRAP
        command = bounded(
            bash,
            (str(bash), "--norc", "--noprofile", "-c", order.command),
            places.bounds,
            most_processes=MOST_PROCESSES if is_bubble and counts_by_namespace() else None,
            lifeline=lifeline if is_bubble else None,
        )
        watch = BoundWatch(places.bounds, (places.root, scratch), self._most_processes)
        is_closed = is_confined and not order.sees_secrets
        view = self.closed_view(places.root, places.shown) if is_closed else None
        shut = self._secrets.below(places.root, places.shown) if is_closed else ()
        held = replace(self._guarded.hold(places.root), shut=shut, view=view) if is_confined else HeldPlaces()
        try:
            program, arguments = bash, command[1:]
            hidden = (*hidden_places(self._home), *shut) if is_confined else ()
            seen = CommandPlaces(
                root=places.root,
                folder=order.folder,
                scratch=scratch,
                hidden=hidden,
                guarded=held.guarded,
                view=view,
            )
            if confinement.program is not None:
                program = confinement.program
                arguments = confined(confinement, command, seen, needs_network=order.needs_network)
            if is_bubble:
                mounts = mounts_of(seen)
                process = self._started(lambda: start_bare(program, arguments, environment, lifeline, mounts))
            else:
                process = self._started(
                    lambda: start_guarded(program, arguments, environment, order.folder, self._grace_s)
                )
        except BaseException:
            self.release(places, held)
            raise
        return Running(process, is_own_space=is_bubble, grace_s=self._grace_s, watch=watch), held

    def release(
        self, places: ToolPlaces, held: HeldPlaces, running: Running | None = None
    ) -> tuple[str, ...]:
        """Let go of what was held for a command. `running`: None where it did not begin. Returns what the person should know, a
        sentence each.
        """
        if self._confinement.get().program is None:
            return ()
        fresh = self._guarded.release(places.root, held)
        kept = missed = ""
        if running is not None:
            kept = kept_note(running.tail(), held, places.root)
            missed = missed_note(running.tail(), running.exit_code, held.view, places.root)
        return (*notes_of(held, fresh), kept, shut_note(held.shut, places.root), missed)

    def _environment(self, scratch: str) -> dict[str, str]:
        passed = program_environment(os.environ)
        own = {VARIABLE: self._mark.name, "TMPDIR": scratch, "XDG_CACHE_HOME": f"{scratch}/.cache"}
        return {**passed, **moved(os.environ), **_QUIET, **own}

    def _started(self, start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """Start on the one thread that lives as long as the program: the sandbox ends when its starter's thread does."""
        future: Future[subprocess.Popen[bytes]] = Future()
        self._starts.put((start, future))
        return future.result()

    def _start_all(self) -> None:
        while (job := self._starts.get()) is not None:
            start, future = job
            try:
                future.set_result(start())
            except Exception as error:  # noqa: BLE001  the caller's
                future.set_exception(error)

    def background_tail(self, discussion_id: str, call_id: str, tail: str) -> None:
        """Show the tail of a background command."""
        self._show(discussion_id, call_id, tail)

    def background_end(self, discussion_id: str, call_id: str, running: Running) -> None:
        """Say that a background command has ended."""
        self._ended(
            CommandEnded(
                discussion_id=discussion_id,
                call_id=call_id,
                exit_code=running.exit_code,
                tail=running.tail(),
                notes=running.end_notes(),
                is_wanted=running.is_asked,
            )
        )


class DiscussionCommands:
    """Commands of one discussion: a `CommandDesk`. Thread-safe."""

    def __init__(self, commands: Commands, discussion_id: str) -> None:
        self._commands = commands
        self._discussion_id = discussion_id
        self._lock = threading.Lock()
        self._running: dict[str, Running] = {}
        self._background: dict[str, tuple[str, Running]] = {}
        self._threads: list[threading.Thread] = []
        self._scratch = ""

    @property
    def sandbox(self) -> Sandbox:
        """Confinement of commands here."""
        return self._commands.sandbox

    def run(self, order: CommandOrder, desk: ToolDesk) -> ShellOutcome:
        """Run to the end, its time or the call's cancelling. Raises OSError: it cannot be started."""
        places = desk.places
        running, held = self._commands.begin(order, places, self._scratch_folder())
        self._note(desk.call_id, running)
        try:
            desk.on_cancel(lambda: running.end("the person stopped it"))
            deadline = None if order.timeout_s is None else time.monotonic() + order.timeout_s
            running.follow(deadline, desk.report)
        finally:
            self._forget(desk.call_id)
            running.close(self._commands.release(places, held, running))
        return running.outcome()

    def start(self, order: CommandOrder, desk: ToolDesk) -> str:
        """Start one that goes on behind its call. Returns its id. Raises OSError: it, or one more, cannot be started."""
        with self._lock:
            alive = sum(running.exit_code is None for _, running in self._background.values())
        if alive >= MOST_IN_BACKGROUND:
            raise OSError(
                f"{MOST_IN_BACKGROUND} commands run in the background already: end one with bash_kill"
            )
        places, call_id = desk.places, desk.call_id
        running, held = self._commands.begin(order, places, self._scratch_folder())
        self._note(call_id, running)
        desk.on_cancel(
            lambda: running.end("the person stopped it")
        )  # as it began, perhaps: nobody knew it yet
        with self._lock:
            command_id = str(len(self._background) + 1)
            self._background[command_id] = (call_id, running)
            thread = threading.Thread(
                target=self._follow,
                args=(call_id, running, places, held),
                name="background command",
                daemon=True,
            )
            self._threads.append(thread)
        thread.start()
        return command_id

    def _follow(self, call_id: str, running: Running, places: ToolPlaces, held: HeldPlaces) -> None:
        try:
            running.follow(
                None, lambda tail: self._commands.background_tail(self._discussion_id, call_id, tail)
            )
        finally:
            self._forget(call_id)
            running.close(self._commands.release(places, held, running))
            self._commands.background_end(self._discussion_id, call_id, running)

    def look(self, command_id: str) -> ShellOutcome | None:
        """Output of a background command since the last look, None for an unknown id."""
        with self._lock:
            found = self._background.get(command_id)
        return None if found is None else found[1].outcome(only_new=True)

    def kill(self, command_id: str) -> bool:
        """End a background command and all that it started. Returns False for an unknown id."""
        with self._lock:
            found = self._background.get(command_id)
        if found is None:
            return False
        found[1].end("the model asked for it by bash_kill")
        found[1].gone.wait()
        return True

    def kill_calls(self, call_id: str = "") -> None:
        """End the commands of a call, or all, without waiting."""
        with self._lock:
            chosen = [each for name, each in self._running.items() if call_id in {"", name}]
        for running in chosen:
            running.end("the person stopped it")

    def close(self) -> None:
        """End all and wait for it; the scratch folder goes."""
        with suppress(OSError):
            self.drop()

    def drop(self) -> bool:
        """As `close`. Returns whether there was a scratch folder. Raises OSError: some of it is left."""
        self.kill_calls()
        with self._lock:
            threads, scratch = tuple(self._threads), self._scratch
            self._scratch = ""
        for thread in threads:
            thread.join()
        if scratch:
            remove_whole(scratch)
        return bool(scratch)

    def _note(self, call_id: str, running: Running) -> None:
        with self._lock:
            self._running[call_id] = running

    def _forget(self, call_id: str) -> None:
        with self._lock:
            self._running.pop(call_id, None)

    def _scratch_folder(self) -> str:
        with self._lock:
            if not self._scratch:
                self._scratch = self._commands.new_scratch("command")
            return self._scratch
