"""Start of every process of ours: by absolute path, in our own folder, without keys, so that no opened folder runs; its cores."""

from __future__ import annotations

import errno
import os
import signal
import site
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import IO

from core.kernel.language import LANGUAGE_VARIABLE, tr
from core.kernel.opener import read_file
from core.kernel.surroundings import absolute_entries

PACKAGE_ROOT = Path(__file__).absolute().parents[2]

_PASSED = frozenset(
    [
        # Places of things, and the person's language and time.
        "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", LANGUAGE_VARIABLE, "TZ", "TMPDIR", "TMP", "TEMP",
        # Libraries that the interpreter itself may be linked to.
        "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
        # Names that Windows cannot start a program without; APPDATA holds what the person installed.
        "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
        "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
    ]
)  # fmt: skip
_PASSED_PREFIX = "LC_"
_OF_PYTHON = frozenset(["PYTHONHOME", "PYTHONUSERBASE", "PYTHONNOUSERSITE"])
"""Places of the interpreter and of what the person installed."""
_OF_DESKTOP = frozenset(
    ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "DESKTOP_SESSION", "BROWSER",
     "GNOME_DESKTOP_SESSION_ID", "KDE_FULL_SESSION", "KDE_SESSION_VERSION", "WSL_DISTRO_NAME", "WSL_INTEROP"]
)  # fmt: skip
"""Names under which a program of the desktop finds the screen and its session, beside those of XDG."""
_OF_TERMINAL = frozenset(["TERM", "COLORTERM", "TERMINFO", "TERMINFO_DIRS", "SHELL"])
"""Names under which a program finds out what the terminal can do."""
_OPENERS = ("xdg-open", "wslview", "gio", "x-www-browser", "firefox", "chromium")

_PRIVATE = 0o077


def start_child(
    script: Path,
    *arguments: str,
    stdin: int = subprocess.PIPE,
    stderr: int = subprocess.DEVNULL,
    kept_descriptors: Sequence[int] = (),
    has_screen: bool = False,
    is_private: bool = True,
) -> subprocess.Popen[bytes]:
    """Start a Python file of ours, away from the terminal's signals.

    `-P` keeps the script's folder and the working folder off the import path; `-I` would take the person's own
    installs with them. The child can import `core` as this process does.

    Args:
        script: the file; arguments: paths among them absolute, as the child works in `PACKAGE_ROOT`.
        stdin, stderr: as `subprocess` takes them. Standard output is a pipe.
        kept_descriptors: as `start_program` takes them; has_screen: it may reach the person's screen and session.
        is_private: the files that it makes are for the person alone; False where it starts programs that make the person's.

    Raises:
        OSError: the process cannot be started.
    """
    python = Path(sys.executable or "")
    if not python.is_absolute():  # empty or relative where Python could not tell its own place
        raise FileNotFoundError(
            errno.ENOENT, tr("the program cannot find the Python that runs it"), sys.executable
        )
    screen = desktop_environment(os.environ) if has_screen else {}
    return start_program(
        python,
        ("-P", str(script.absolute()), *arguments),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        environment={**child_environment(os.environ), **screen},
        kept_descriptors=kept_descriptors,
        umask=_PRIVATE if is_private else -1,
    )


def start_program(
    program: Path,
    arguments: Sequence[str] = (),
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path = PACKAGE_ROOT,
    stdin: int | None = subprocess.DEVNULL,
    stdout: int | None = subprocess.DEVNULL,
    stderr: int | None = subprocess.DEVNULL,
    kept_descriptors: Sequence[int] = (),
    is_apart: bool = True,
    umask: int = -1,
) -> subprocess.Popen[bytes]:
    """Start a program.

    Args:
        program: absolute, as `find_program` gives it; arguments: paths among them absolute.
        environment: the whole of it, by default `program_environment` of this process's.
        folder: where it works, never one that the person opened, but for a command of a tool that they said yes to.
        stdin, stdout, stderr: as `subprocess` takes them, None for this process's own.
        kept_descriptors: handed on, POSIX alone.
        is_apart: in a group of its own, away from the terminal and its signals; umask: POSIX alone, -1 for this process's own.

    Raises:
        OSError: it cannot be started.
    """
    assert program.is_absolute()
    return subprocess.Popen(
        [str(program), *arguments],
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        cwd=folder,
        env=dict(program_environment(os.environ) if environment is None else environment),
        pass_fds=kept_descriptors,
        start_new_session=is_apart,
        umask=umask,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0) if is_apart else 0,
    )


def output_of(program: Path, arguments: Sequence[str], timeout_s: float) -> tuple[int, str]:
    """Run a program to its end. Its exit code and standard output.

    Raises:
        OSError: it cannot be started. TimeoutExpired: it ran longer, and was ended.
    """
    with start_program(program, arguments, stdout=subprocess.PIPE) as process:
        try:
            output, _ = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return process.returncode, output.decode("utf-8", "replace")


def run_at_terminal(program: Path, arguments: Sequence[str], folder: Path) -> int:
    """Run a program with this process's own streams and terminal, to its end. Its exit code.

    Args:
        program: absolute, as `find_program` gives it; arguments: paths among them absolute.
        folder: where it works, never one that the person opened: an editor obeys files of its own there.

    Raises:
        OSError: it cannot be started.
    """
    environment = {**desktop_environment(os.environ), **_passed(os.environ, _OF_TERMINAL)}
    return start_program(
        program,
        arguments,
        environment=environment,
        folder=folder,
        stdin=None,
        stdout=None,
        stderr=None,
        is_apart=False,
    ).wait()


def end_tree(process: subprocess.Popen[bytes]) -> None:
    """End a process that `start_program` started, and everything that it started, without waiting. Idempotent."""
    if sys.platform != "win32":
        import signal
        from contextlib import suppress

        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        killer = Path(os.environ.get("SYSTEMROOT", "C:\\Windows"), "System32", "taskkill.exe")
        start_program(killer, ("/F", "/T", "/PID", str(process.pid))).wait()


def find_program(name: str, folders: Iterable[Path] = ()) -> Path | None:
    """Absolute path of a program: on PATH, relative entries passed over, then in `folders`; None where it is not."""
    import shutil

    endings = os.environ.get("PATHEXT", ".EXE").split(os.pathsep) if sys.platform == "win32" else [""]
    on_path = map(Path, absolute_entries(os.environ.get("PATH", os.defpath)))
    for place, ending in product((*on_path, *folders), endings):
        found = shutil.which(str(place / f"{name}{ending}"))
        if found is not None:
            return Path(found)
    return None


def open_address(address: str) -> bool:
    """Hand an address to the person's browser. Returns whether there was a program to take it."""
    if sys.platform == "win32":
        shell = Path(os.environ.get("SYSTEMROOT", "C:\\Windows"), "System32", "rundll32.exe")
        return _hand_over(shell, ("url.dll,FileProtocolHandler", address))
    if sys.platform == "darwin":
        return _hand_over(Path("/usr/bin/open"), (address,))
    for name in _OPENERS:
        program = find_program(name)
        if program is not None and _hand_over(program, ("open", address) if name == "gio" else (address,)):
            return True
    return False


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Environment of a Python child, out of `environ`: names on a list, so no key and no foreign import path."""
    passed = _passed(environ, _OF_PYTHON)
    # PYTHONPATH goes before the standard library, where installed packages must not be; those are found without it.
    if str(PACKAGE_ROOT) not in {*site.getsitepackages(), site.getusersitepackages()}:
        passed["PYTHONPATH"] = str(PACKAGE_ROOT)
    return passed


def program_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Environment of a program that needs no key, out of `environ`: names on a list."""
    return _passed(environ, frozenset())


def desktop_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """As `program_environment`, with the screen and the person's session."""
    return _passed(environ, _OF_DESKTOP | {name for name in environ if name.startswith("XDG_")})


def _hand_over(program: Path, arguments: Sequence[str]) -> bool:
    import threading

    try:
        process = start_program(program, arguments, environment=desktop_environment(os.environ))
    except OSError:
        return False
    # A browser may live as long as we do; its end must be asked for, or it stays a zombie.
    threading.Thread(target=process.wait, name="browser", daemon=True).start()
    return True


def _passed(environ: Mapping[str, str], more: AbstractSet[str]) -> dict[str, str]:
    """The names that every process gets, and more; a program is looked for in absolute folders alone."""
    passed = {
        name: value
        for name, value in environ.items()
        if name in _PASSED or name in more or name.startswith(_PASSED_PREFIX)
    }
    if "PATH" in passed:
        passed["PATH"] = os.pathsep.join(absolute_entries(passed["PATH"]))
    return passed


# Last words of a child process on standard error, told whole once it has ended.

_PIECE_BYTES = 1 << 16
_KEPT_BYTES = 32_000
END_S = 1.0
"""So long a process that has ended is waited for: what it left behind may hold its standard error open for ever."""


class LastWords:
    """Reads a child's standard error in a thread of its own, and keeps its end. Closes it.

    Args:
        stderr: its pipe.
        name: of the thread.
    """

    def __init__(self, stderr: IO[bytes], name: str) -> None:
        self._end = b""
        self._thread = threading.Thread(target=self._read, args=(stderr,), name=name, daemon=True)
        self._thread.start()

    def lines(self, wait_s: float = 0.0) -> list[str]:
        """Its last lines, without blank ones, 32,000 bytes at most.

        Args:
            wait_s: how long the end is waited for, of a process that has ended: `END_S`, or the reason of its end is
                missed where this thread comes late.
        """
        if wait_s:
            self._thread.join(wait_s)
        text = self._end.decode("utf-8", "replace")
        return [line.rstrip() for line in text.splitlines() if line.strip()]

    def _read(self, stderr: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stderr:  # another thread may close it
            while data := os.read(stderr.fileno(), _PIECE_BYTES):
                self._end = (self._end + data)[-_KEPT_BYTES:]


def exit_words(code: int | None) -> str:
    """End of a process in words. `code`: as `subprocess` has it, None where it did not end."""
    if code is None:
        return tr("still running")
    return tr("signal {code}", code=-code) if code < 0 else tr("exit code {code}", code=code)


# Keys of the person's session that the kernel holds: what this thread starts has none of them.

_KEYCTL = {
    "x86_64": 250, "aarch64": 219, "riscv64": 219, "loongarch64": 219, "ppc64le": 271, "s390x": 280,
}  # fmt: skip
"""Number of the call `keyctl`, of 64-bit systems. Source: the kernel's `syscall.tbl` (read 2026-11-24)."""
_JOIN = 1
"""KEYCTL_JOIN_SESSION_KEYRING of keyctl(2): without a name, a new one that is empty."""


def leave_session_keys() -> None:
    """Leave the keyring of the session, for this thread and all that it starts from now on.

    A namespace of users hides a user's own keyring, and not that of the session, where a login puts tickets and keys; who holds
    a keyring may read it. Without effect where the kernel has none. Linux alone.
    """
    number = _KEYCTL.get(os.uname().machine) if sys.maxsize > 1 << 32 else None
    if number is not None:
        import ctypes

        ctypes.CDLL(None).syscall(number, _JOIN, None)


# Processes below one of ours, found and ended, those that left their group by `setsid` among them.

STEP_S = 0.02
_STOP_S, _LOOK_S = 0.5, 0.001
"""Longest wait for a process to stand still, and the pause between two looks."""
_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""


def adopt_orphans() -> None:
    """Have orphans below this process come to it instead of to the system's first process. Linux alone."""
    import ctypes

    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def descendants(pid: int) -> tuple[int, ...]:
    """Processes below one, itself left out, the nearest first; empty where the system does not say (no `/proc`)."""
    return tuple(_below(pid))


def _below(pid: int) -> dict[int, int]:
    """Processes below one with their parents, in that order."""
    if sys.platform != "linux":
        return {}
    children: dict[int, list[int]] = defaultdict(list)
    for name in os.listdir("/proc"):
        if name.isdigit():
            parent = _parent(name)
            if parent is not None:
                children[parent].append(int(name))
    found: dict[int, int] = {}
    waiting = [pid]
    while waiting:
        parent = waiting.pop(0)
        below = children.pop(parent, [])
        found.update(dict.fromkeys(below, parent))
        waiting += below
    return found


def _parent(name: str) -> int | None:
    """Parent of a process that is no zombie."""
    fields = _status(name)
    return int(fields[1]) if len(fields) > 1 and fields[0] not in {"Z", "X"} else None


def _status(name: str) -> list[str]:
    """State, parent and what follows of a process; empty where it is gone."""
    try:
        text = _proc_text(f"/proc/{name}/stat")
    except OSError:
        return []
    return text.rpartition(")")[2].split()  # a name may hold anything


def _proc_text(path: str) -> str:
    return read_file(path).decode("utf-8", "replace")


def signal_each(pids: Iterable[int], number: int) -> None:
    """Send a signal to processes; those that are gone are passed over."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end_below(pid: int, grace_s: float, *, is_first_kept: bool = False) -> None:
    """End all that runs below a process: asked by SIGTERM where there is a grace, after it by SIGKILL until nothing is left.

    Args:
        is_first_kept: the first process below is the sandbox's own and gets no SIGTERM.

    Each round stops all before it kills them, so that what forks faster than it is counted ends as well.
    """
    deadline = time.monotonic() + grace_s
    asked: set[int] = set()
    while grace_s > 0 and (left := _below(pid)):
        first = next(iter(left)) if is_first_kept else pid
        # Who came to be meanwhile is an orphan of one that was asked, or the command itself; what else is new cleans up.
        fresh = {
            one for one, parent in left.items() if one not in asked and (not asked or parent in {pid, first})
        }
        signal_each(fresh - {first}, signal.SIGTERM)
        asked |= left.keys()
        if not left.keys() - {first} or time.monotonic() >= deadline:
            break
        time.sleep(STEP_S)
    for _ in range(200):
        rest = descendants(pid)
        if not rest:
            return
        signal_each(rest, signal.SIGSTOP)
        signal_each(rest, signal.SIGKILL)
        time.sleep(STEP_S / 2)


def kill_with_below(process: subprocess.Popen[bytes]) -> None:
    """Kill a child process and all its descendants. Linux only.

    It stands still before it is looked below: what it was about to start would be found by nobody once it is gone.
    """
    process.send_signal(signal.SIGSTOP)
    deadline = time.monotonic() + _STOP_S
    while process.poll() is None and time.monotonic() < deadline:
        if _status(str(process.pid))[:1] not in (["R"], ["S"], ["D"]):
            break
        time.sleep(_LOOK_S)
    if process.poll() is None:
        end_below(process.pid, 0.0)
        process.kill()


# Cores that children may share.

MAX_CORES = 8


def usable_cores(quota_file: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Cores that this process may really use, 1 to 8: more threads than that only wait for each other."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, min(cores, _quota_cores(quota_file), MAX_CORES))


def _quota_cores(quota_file: Path) -> int:
    """A container's CPU limit in whole cores (cgroup v2: quota and period in µs, or `max`)."""
    try:
        quota, period = read_file(quota_file).decode("ascii").split()
    except (OSError, ValueError):
        return MAX_CORES
    return MAX_CORES if quota == "max" else max(1, int(quota) // int(period))
