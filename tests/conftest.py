"""What every test gets: an empty home of its own, no keys, no network past loopback, and a virtual screen on demand."""

from __future__ import annotations

import errno
import faulthandler
import gc
import ipaddress
import itertools
import os
import re
import signal
import socket
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

from core.kernel.language import language, speak
from gui.screen import virtual_screen
from tests.certificates import make_certificate
from tests.worker_process import one_worker_process, own_worker_processes

SCREEN = (1600, 1000)
_SECRET_SUFFIXES = ("_API_KEY", "_AUTH_TOKEN", "_BASE_URL", "_PROXY", "_API_BASE")
_SECRET_PREFIXES = (
    "ANTHROPIC_",
    "OPENAI_",
    "GEMINI_",
    "GOOGLE_",
    "OPENROUTER_",
    "CLAUDE_",
    "OLLAMA_",
    "MANUAL_SLOP_",
)
_DIRECTORIES = {
    "MANUAL_SLOP_HOME": "slop-home",
    "HOME": "user",
    "XDG_CONFIG_HOME": "user/.config",
    "XDG_DATA_HOME": "user/.local/share",
    "XDG_STATE_HOME": "user/.local/state",
    "XDG_CACHE_HOME": "user/.cache",
    "XDG_RUNTIME_DIR": "user/run",
    "USERPROFILE": "user",
    "APPDATA": "user/AppData/Roaming",
    "LOCALAPPDATA": "user/AppData/Local",
}

_SAME_FOR_ALL = {
    "TERM": "xterm",
    "COLUMNS": "100",
    "LINES": "40",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
}
_OF_THE_CALLER = re.compile(
    r"DBUS_SESSION_BUS_ADDRESS|NO_COLOR|FORCE_COLOR|PY_COLORS|CLICOLOR\w*|COLORTERM|TTY_\w+|LANGUAGE|LC_\w+"
    r"|PYTHON(UTF8|IOENCODING|UNBUFFERED|WARNINGS|COERCECLOCALE|SAFEPATH)|_?ARGCOMPLETE\w*|COMP_(LINE|POINT)"
)

# A shell that runs the suite in the background has SIGINT ignored, and children would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep ten thousand collected tests, and all that they loaded, out of the garbage collector's sight.

    It would walk over them each time it looks for what one test has left: a third of a second, hundreds of times. It looks
    at what is new less often, too: where a test keeps a million objects (the syntax trees of all modules), each look at
    them takes longer than the last, and to make them took four times as long.
    """
    gc.set_threshold(10_000, 20, 20)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give a fresh path to every test that asks. Cheaper than one `mktemp` for each."""
    base = tmp_path_factory.mktemp("homes")
    return (f"{base}/{number}" for number in itertools.count())


@pytest.fixture(scope="session")
def _authorities(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One certificate in place of the system's hundred and fifty: each client of HTTP reads them all, for 30 ms."""
    certificate, _ = make_certificate(tmp_path_factory.mktemp("authorities"), "authority.test")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(certificate))
        yield


@cache
def _is_of_the_caller(name: str) -> bool:
    """True of a variable that no test may read: keys, servers, proxies and the terminal of the caller."""
    upper = name.upper()
    return (
        upper.endswith(_SECRET_SUFFIXES)
        or upper.startswith(_SECRET_PREFIXES)
        or bool(_OF_THE_CALLER.fullmatch(name))
    )


@pytest.fixture(autouse=True)
def isolated_home(_homes: Iterator[str], _authorities: None) -> Iterator[Path]:
    """Point every directory of the program into a fresh one and take away keys, servers, proxies and the terminal.

    Returns:
        The program's own home, `$MANUAL_SLOP_HOME`. It does not exist yet: creating it is the program's work.
    """
    base = next(_homes)
    os.mkdir(base)
    os.mkdir(f"{base}/user")
    own = {name: f"{base}/{below}" for name, below in _DIRECTORIES.items()}
    before = {name: value for name, value in os.environ.items() if name in own or _is_of_the_caller(name)}
    for name in before.keys() - own.keys():
        del os.environ[name]
    os.environ.update(own)
    if (pricing := sys.modules.get("core.services.spending.pricing")) is not None:
        pricing.use_prices(pricing.PACKAGED)  # a program of an earlier test may have gone by others
    yield Path(base, "slop-home")
    for name in own.keys() - before.keys():
        os.environ.pop(name, None)
    os.environ.update(before)


@pytest.fixture
def tmp_path(isolated_home: Path, request: pytest.FixtureRequest) -> Path:
    """Make an empty directory, named for its test. Pytest's own lists those of all earlier tests to find a free name."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", request.node.name[:30])
    path = Path(f"{isolated_home.parent}-{name}")
    path.mkdir(mode=0o700)
    return path


@pytest.fixture(autouse=True)
def held_prefix(isolated_home: Path, request: pytest.FixtureRequest) -> Iterator[None]:
    """Hold what each test sent to vendors on loopback: a request extends what is warm, or the log says why not, or the test
    does, by the mark `breaks_prefix` with a reason.
    """
    yield
    if "tests.vendors.loopback" not in sys.modules:
        return
    from tests.wire_guard import breaks, heard_by_servers, recorded_reasons, unexplained

    found = [one for heard in heard_by_servers() for one in breaks(heard)]
    mark = request.node.get_closest_marker("breaks_prefix")
    if mark is not None:
        assert found or hasattr(request.node, "callspec"), f"gives a reason for no break: {mark.args[0]}"
        return
    home = isolated_home.parent
    folders = (home, *home.parent.glob(f"{home.name}-*")) if found else ()
    reasons = [text for folder in folders for text in recorded_reasons(folder)]
    left = unexplained(found, reasons)
    assert not left, "\n".join(map(str, left))


def _stays_here(host: object) -> bool:
    """Whether a host name or address is this machine. An empty one is."""
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    if name == "localhost":
        return True
    try:
        address = ipaddress.ip_address(name.split("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


@contextmanager
def loopback_only() -> Iterator[None]:
    """Refuse every connection and every look-up past loopback, as a machine without a network would."""
    connect, connect_ex, look_up = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def is_far(sock: socket.socket, address: Any) -> bool:
        return sock.family in {socket.AF_INET, socket.AF_INET6} and not _stays_here(address[0])

    def guarded_connect(self: socket.socket, address: Any) -> None:
        if is_far(self, address):
            raise OSError(errno.ENETUNREACH, f"tests reach no network; this one tried {address!r}")
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        return errno.ENETUNREACH if is_far(self, address) else connect_ex(self, address)

    def guarded_look_up(host: Any, *args: Any, **kwargs: Any) -> Any:
        if not _stays_here(host):
            raise socket.gaierror(socket.EAI_NONAME, f"tests reach no network; this one looked up {host!r}")
        return look_up(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patch.setattr(socket, "getaddrinfo", guarded_look_up)
        yield


@contextmanager
def one_terminal() -> Iterator[None]:
    """The terminal of every test: width, colours, letters and time are never the caller's; and a keyring without keys."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in _SAME_FOR_ALL.items():
            patch.setenv(name, value)
        yield


@contextmanager
def no_long_waits() -> Iterator[None]:
    """Wait for no disk, and for what the program looks at only a tenth of its time.

    A kill takes nothing from the system's memory, and no test cuts the power: when the program asks for the medium, and
    what is there if the power goes, is judged on the `Disk` of a test. A watch looks ten times a second, not once, at what
    it watches: its first look is what each test waits for.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)  # a descriptor that is closed is refused as ever
        patch.setattr(os, "sync", lambda: None, raising=False)
        patch.setattr("core.app.watcher._CHECK_MS", 100)
        patch.setattr("core.app.watcher._POLL_MS", 100)
        patch.setattr("core.app.watcher._STEP_MS", 100)
        patch.setattr("core.app.controller.CALM_TICK_S", 1.0)
        patch.setattr("core.app.home.LOOK_EVERY_S", 0.5)
        yield


_MODEL_AHEAD = ("start", "prewarm")


@contextmanager
def modest_model() -> Iterator[Mapping[str, object]]:
    """Start the embedded model at the first call to it, not when a discussion of it is shown: half a second a program.

    A discussion in a test's home that names no provider is the embedded model's. Tests of that model read ahead. It reads
    with one thread: with more they wait for each other while the other tests run.
    """
    from core.services.providers.embedded.client import EmbeddedProvider

    ahead = {name: getattr(EmbeddedProvider, name) for name in _MODEL_AHEAD}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.services.providers.embedded.server.usable_cores", lambda: 1)
        for name in ahead:
            patch.setattr(EmbeddedProvider, name, lambda *_: None)
        yield ahead


_AHEAD = pytest.StashKey[Mapping[str, object]]()
HANGS_S, WATCHED_ANEW_S = 240, 30
"""A test that takes longer hangs. It ends its worker and is named, in place of holding the whole run: so long after it began,
or up to the second time later."""
_watched_s = float("-inf")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Watch for a test that hangs. Pytest's own `faulthandler_timeout` starts and ends a thread for each test: longer than
    most tests take.
    """
    global _watched_s
    now_s = time.monotonic()
    if now_s - _watched_s >= WATCHED_ANEW_S:
        _watched_s, stderr = now_s, item.config.stash[fault_handler_stderr_fd_key]
        faulthandler.dump_traceback_later(HANGS_S + WATCHED_ANEW_S, file=stderr, exit=True)


@pytest.hookimpl(trylast=True)
def pytest_exception_interact() -> None:
    """Watch anew from the next test on: pytest ended the watch to let a person look."""
    global _watched_s  # noqa: PLW0603
    _watched_s = float("-inf")


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Set up once what holds for all tests of a process. As fixtures of the session, each test would look for each."""
    if not session.items:  # the tests run in other processes
        return (yield)
    with one_terminal(), loopback_only(), no_long_waits(), modest_model() as ahead, one_worker_process():
        session.config.stash[_AHEAD] = ahead
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Have a process of pytest-xdist report a test that passed once, not before it, after its setup and its teardown too."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture
def model_ahead(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start the embedded model, and let it read, before its first call, as outside the tests."""
    for name, method in request.config.stash[_AHEAD].items():
        monkeypatch.setattr(f"core.services.providers.embedded.client.EmbeddedProvider.{name}", method)


@pytest.fixture
def own_worker_process() -> Iterator[None]:
    """Give each program of a test its own worker process, as a person's has: for tests of that process."""
    with own_worker_processes():
        yield


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """Start a virtual screen for this process (one per xdist worker) and name it in DISPLAY.

    Dear PyGui can open one window in the life of a process: tests that draw share one context.
    """
    if not sys.platform.startswith("linux"):
        yield ""  # Windows and macOS draw on the person's own screen
        return
    with virtual_screen(*SCREEN) as name:
        yield name


@pytest.fixture
def german() -> Iterator[None]:
    before = language()
    speak("de")
    yield
    speak(before)
