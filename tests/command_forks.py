"""Command lines as processes of their own without their start: forked from one that has loaded the program already.

Python and the vendors' libraries take a second and more of processor time to load, and tests that kill a program at each of
its requests start fifty. What the start itself does is held by the tests that start the real command.
"""

from __future__ import annotations

import atexit
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NoReturn

ROOT = Path(__file__).parents[1]
_LOADED = (
    "core.front.cli.run", "core.front.cli.harvest", "core.app.controller", "core.app.outside", "core.knowledge.harvest.harvest_run", "anthropic.types",
    "anthropic.resources.messages", "openai.types", "openai.resources.responses", "openai.resources.batches", "google.genai",
)  # fmt: skip
_KILL = signal.SIGKILL


class Forked:
    """A running command, as `subprocess.Popen` tells of one: its output is read to the end, or it is waited for."""

    def __init__(
        self, pid: int, ended: socket.socket, out: IO[bytes], err: IO[bytes], given: IO[bytes] | None = None
    ) -> None:
        self.pid, self.stdout, self.stderr, self.stdin = pid, out, err, given
        self.returncode: int | None = None
        self._ended = ended

    def line(self) -> str:
        """The next line that it writes, without what is around it; empty at the end."""
        data = b""
        while not data.endswith(b"\n") and (more := self.stdout.read(1)):
            data += more
        return data.decode().strip()

    def poll(self) -> int | None:
        """The code with which it ended, a signal as a negative number; None while it runs."""
        return self._look(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end.

        Raises:
            subprocess.TimeoutExpired: it has not ended.
        """
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired("a forked command", timeout or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        """Nothing where it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(_KILL)

    def communicate(self, timeout: float | None = None) -> tuple[bytes, bytes]:
        """All that it writes, until it ends, with the end of its input if it has one.

        Raises:
            subprocess.TimeoutExpired: it has not ended.
        """
        if self.stdin is not None:
            self.stdin.close()
        end = None if timeout is None else time.monotonic() + timeout
        said: dict[IO[bytes], list[bytes]] = {self.stdout: [], self.stderr: []}
        with selectors.DefaultSelector() as selector:
            for stream in said:
                if not stream.closed:
                    selector.register(stream, selectors.EVENT_READ, stream)
            while selector.get_map():
                left = None if end is None else end - time.monotonic()
                ready = selector.select(left)
                if not ready and left is not None:
                    raise subprocess.TimeoutExpired("a forked command", timeout or 0.0)
                for key, _ in ready:
                    data = os.read(key.fd, 65_536)
                    said[key.data].append(data)
                    if not data:
                        selector.unregister(key.fileobj)
        self.wait(None if end is None else max(0.0, end - time.monotonic()))
        self.stdout.close()
        self.stderr.close()
        return b"".join(said[self.stdout]), b"".join(said[self.stderr])

    def _look(self, timeout_s: float | None) -> int | None:
        if self.returncode is None:
            self._ended.settimeout(timeout_s or None) if timeout_s != 0.0 else self._ended.setblocking(False)
            try:
                self.returncode = int(self._ended.recv(64))
            except (TimeoutError, BlockingIOError):
                return None
            self._ended.close()
        return self.returncode


class Forks:
    """Starts them. Its template starts with the first one, and ends with this process at the latest."""

    def __init__(self) -> None:
        self._template: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        atexit.register(self.close)

    def start(
        self, module: str, *arguments: str, cwd: Path, env: Mapping[str, str], has_input: bool = False,
        ends: Mapping[int, int] | None = None,
    ) -> Forked:  # fmt: skip
        """Start a command: `python -m module`, or `python -c` with its code as the first argument. Both outputs are pipes.

        Args:
            has_input: standard input is a pipe too; it is empty else.
            ends: descriptors of the caller in place of the command's 0, 1 or 2.
        """
        line = self._line or self._begun(env)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        given, writes = os.pipe() if has_input else (os.open(os.devnull, os.O_RDONLY), None)
        asked = json.dumps({"module": module, "argv": arguments, "cwd": str(cwd), "env": dict(env)}).encode()
        made = {0: given, 1: out_end, 2: err_end} | dict(ends or {})
        socket.send_fds(line, [asked], [made[0], made[1], made[2], theirs.fileno()])
        for descriptor in (given, out_end, err_end):
            os.close(descriptor)
        theirs.close()
        pid = int(ours.recv(64))
        stdin = None if writes is None else os.fdopen(writes, "wb", buffering=0)
        said = {1: os.fdopen(out, "rb", buffering=0), 2: os.fdopen(err, "rb", buffering=0)}
        for number in said.keys() & (ends or {}).keys():
            said[number].close()
        return Forked(pid, ours, said[1], said[2], stdin)

    def program(self, code: str, *arguments: object, has_input: bool = False) -> Forked:
        """Start a program by its text, in the surroundings of this process: `python -c`."""
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        return self.start("-c", code, *map(str, arguments), cwd=ROOT, env=env, has_input=has_input)

    def run(
        self, module: str, *arguments: str, cwd: Path, env: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Start a command and wait for its end, as `subprocess.run` does.

        Raises:
            subprocess.TimeoutExpired: it has not ended.
        """
        forked = self.start(module, *arguments, cwd=cwd, env=env)
        try:
            out, err = forked.communicate(timeout)
        except subprocess.TimeoutExpired:
            forked.kill()
            raise
        return subprocess.CompletedProcess(
            (module, *arguments), forked.returncode or 0, out.decode(), err.decode()
        )

    def close(self) -> None:
        """End the template; commands that still run go on."""
        if self._line is not None and self._template is not None:
            self._line.close()
            self._template.wait()
        self._line = self._template = None

    def _begun(self, env: Mapping[str, str]) -> socket.socket:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        code = f"import tests.command_forks as f; f.serve({theirs.fileno()})"
        with theirs:
            self._template = subprocess.Popen(
                [sys.executable, "-c", code], pass_fds=(theirs.fileno(),), cwd=ROOT, env={**env, "PYTHONWARNINGS": ""}
            )  # fmt: skip
        return self._line


FORKS = Forks()
"""Of all tests of this process."""


def serve(descriptor: int) -> None:
    """Be the template: load the program, then fork for whoever asks, and tell how each ended. Without any thread."""
    import gc
    import importlib

    gc.disable()
    for name in _LOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a fork that looked at each object for garbage would copy all of the template's memory, for a second
    gc.enable()
    line = socket.socket(fileno=descriptor)
    running: dict[int, tuple[int, int]] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(line, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is not line:
                    _tell_end(selector, key.fd, *running.pop(key.fd))
                    continue
                asked, descriptors, _, _ = socket.recv_fds(line, 1 << 20, 4)
                if not asked:
                    return
                pid = os.fork()
                if pid == 0:
                    selector.close()
                    line.close()
                    _end(json.loads(asked), descriptors)
                for one in descriptors[:3]:
                    os.close(one)
                watch = os.pidfd_open(pid)
                running[watch] = (pid, descriptors[3])
                selector.register(watch, selectors.EVENT_READ)
                os.write(descriptors[3], str(pid).encode())


def _tell_end(selector: selectors.BaseSelector, watch: int, pid: int, teller: int) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    selector.unregister(watch)
    with suppress(BrokenPipeError):  # nobody waits for it any more
        os.write(teller, str(code).encode())
    os.close(watch)
    os.close(teller)


def _end(asked: Mapping[str, Any], descriptors: list[int]) -> NoReturn:
    """Be a command and end as the interpreter does, but for the release of the template's memory: that would copy it first."""
    import threading

    code: object = 0
    try:
        _become(asked, descriptors)
    except SystemExit as ended:
        code = ended.code
    except BaseException:  # noqa: BLE001  as the interpreter shows it
        sys.excepthook(*sys.exc_info())
        code = 1
    if isinstance(code, str):
        sys.stderr.write(f"{code}\n")
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(int(str(code or 0)))


def _become(asked: Mapping[str, Any], descriptors: list[int]) -> None:
    """Be the command: its streams, surroundings and arguments; then what `python -m` does."""
    import runpy
    import warnings

    os.setsid()  # no terminal of who runs the tests
    os.environ.clear()
    os.environ.update(asked["env"])
    os.chdir(str(asked["cwd"]))
    for number, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        os.close(descriptor)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False, buffering=buffering)  # noqa: SIM115
        for number, mode, buffering in ((0, "r", -1), (1, "w", -1), (2, "w", 1))
    )
    warnings.resetwarnings()
    if os.environ.get("PYTHONWARNINGS") == "error":
        warnings.simplefilter("error")
    time.tzset()
    sys.argv = [str(asked["module"]), *asked["argv"]]
    if asked["module"] == "-c":
        del sys.argv[1]
        exec(compile(asked["argv"][0], "<string>", "exec"), sys.modules["__main__"].__dict__)
        return
    runpy.run_module(str(asked["module"]), run_name="__main__", alter_sys=True)
