"""Checks of the machine by `doctor`: Python, packages, display, fonts, model, programs, proxies, clock."""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from importlib import metadata, resources
from pathlib import Path

import msgspec

from core.front.cli.version import version_text
from core.kernel import figures
from core.kernel.child_process import find_program, output_of
from core.kernel.errors import FailureKind, ProviderError
from core.kernel.language import capital, tr

# Findings of `doctor`'s checks: each a line of the report, with its remedy.


class Verdict(StrEnum):
    """Verdict of a check. `WARN`: something does not work that a person may not need."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


class Repair(msgspec.Struct, frozen=True):
    """One repair of `doctor --repair`. `what`: said before the question; `run`: does it, and gives what it did.

    `run` raises SlopError or OSError where it cannot. `word`: typed as the yes to what nothing brings back, else empty.
    """

    what: str
    run: Callable[[], str]
    word: str = ""


class Finding(msgspec.Struct, frozen=True):
    """One line of the report.

    Args:
        subject: what was looked at; text: what was found; remedy: what to do, empty where nothing is; repair: the same done
            by the program, None where only a person can.
    """

    subject: str
    verdict: Verdict
    text: str
    remedy: str = ""
    repair: Repair | None = None


def ok(subject: str, text: str) -> Finding:
    """All is well."""
    return Finding(subject=subject, verdict=Verdict.OK, text=text)


def warn(subject: str, text: str, remedy: str = "", repair: Repair | None = None) -> Finding:
    """Something does not work that a person may not need."""
    return Finding(subject=subject, verdict=Verdict.WARN, text=text, remedy=remedy, repair=repair)


def fail(subject: str, text: str, remedy: str, repair: Repair | None = None) -> Finding:
    """The program cannot do its work."""
    return Finding(subject=subject, verdict=Verdict.FAIL, text=text, remedy=remedy, repair=repair)


Check = Callable[[], Iterable[Finding]]


OLDEST_PYTHON = (3, 11)
SYSTEMS = frozenset({("Linux", "x86_64"), ("Linux", "aarch64"), ("Windows", "AMD64"), ("Darwin", "arm64")})
"""Systems that every package is made for, as `platform` says system and machine."""

OLDEST_GLIBC, OLDEST_MACOS = (2, 28), (14,)
WITHOUT_PACKAGES = {
    ("Darwin", "x86_64"): tr("Dear PyGui has no package for Macs with an Intel processor"),
    ("Windows", "ARM64"): tr("Dear PyGui has no package for Windows on ARM"),
}
WITHOUT_GLIBC = tr("Dear PyGui has no package for a Linux without glibc")
SYSTEMS_REMEDY = tr("Use Linux with glibc 2.28 (x86-64, arm64), Windows (x64), or macOS 14 (Apple silicon)")
OLDEST_YEAR = 2026
"""A clock before the year in which this was written is wrong: certificates and cache times would not hold."""

PACKAGES = (
    "anthropic",
    "openai",
    "google-genai",
    "dearpygui",
    "numpy",
    "keyring",
    "tree-sitter",
    "tiktoken",
)
PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
LIBRARIES = {"GL": "libgl1 libgl1-mesa-dri", "X11": "libx11-6"}
FONTS = ("SlopSans-Regular.ttf", "SlopMono-Regular.ttf")
PROGRAM_S = 10.0


def machine_checks(*, is_quick: bool, environ: Mapping[str, str] | None = None) -> tuple[Check, ...]:
    """The checks of this machine, in the order of the report.

    Args:
        is_quick: start no other program and no model; environ: environment variables, by default the process's.
    """
    environ = os.environ if environ is None else environ
    return (
        python,
        partial(
            system,
            platform.system(),
            platform.machine(),
            libc=platform.libc_ver(),
            release=platform.mac_ver()[0],
        ),
        packages,
        partial(display, environ, sys.platform),
        fonts,
        partial(embedded, is_quick=is_quick),
        partial(claude, is_quick=is_quick),
        partial(sandbox, is_quick=is_quick),
        desktop_notices,
        partial(proxies, environ),
        partial(clock, datetime.now(UTC)),
        output,
    )


def python() -> Iterator[Finding]:
    """The interpreter is new enough."""
    text = f"{version_text()}, {platform.system()} {platform.machine()}"
    if sys.version_info[:2] < OLDEST_PYTHON:
        yield fail(
            "python",
            text,
            tr("The program needs Python {str} or newer", str=".".join(map(str, OLDEST_PYTHON))),
        )
    else:
        yield ok("python", text)


def system(name: str, machine: str, *, libc: tuple[str, str], release: str) -> Iterator[Finding]:
    """The system is one that every package is made for.

    Args:
        name, machine, libc: as `platform` says them; release: of macOS, empty elsewhere.
    """
    said = " ".join(part for part in (name, machine, *libc, release) if part)
    why = _why_not(name, machine, libc, release)
    if why:
        yield warn("system", f"{said}: {why}", SYSTEMS_REMEDY)
    else:
        yield ok("system", said)


def _why_not(name: str, machine: str, libc: tuple[str, str], release: str) -> str:
    """Phrase that says what this system lacks, empty where it lacks nothing."""
    if (name, machine) not in SYSTEMS:
        return WITHOUT_PACKAGES.get((name, machine), tr("the program is not tested on this system"))
    if name == "Linux" and libc[0] != "glibc":
        return WITHOUT_GLIBC
    if name == "Linux" and _numbers(libc[1]) < OLDEST_GLIBC:
        return tr("the packages need glibc {str} or newer", str=".".join(map(str, OLDEST_GLIBC)))
    if name == "Darwin" and _numbers(release) < OLDEST_MACOS:
        return tr("onnxruntime needs macOS {OLDEST_MACOS} or newer", OLDEST_MACOS=OLDEST_MACOS[0])
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def desktop_notices() -> Iterator[Finding]:
    """Look for what shows a notice on the desktop."""
    from core.signals.signals_worker import no_desktop

    problem = no_desktop()
    if problem:
        what, _, remedy = problem.partition(": ")
        yield warn("desktop notices", what, capital(remedy))
    else:
        yield ok("desktop notices", tr("shown while you are away from the window"))


def packages() -> Iterator[Finding]:
    """Check that the needed packages are installed, and print their versions."""
    found = {name: _version(name) for name in PACKAGES}
    missing = [name for name, version in found.items() if not version]
    if missing:
        yield fail(
            "packages",
            tr("missing: {missing}", missing=", ".join(missing)),
            tr(
                "Install the program again (pip install --force-reinstall manual-slop; in a checkout: make run)"
            ),
        )
    yield ok("packages", ", ".join(f"{name} {version}" for name, version in found.items() if version))


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def display(environ: Mapping[str, str], system: str) -> Iterator[Finding]:
    """A window can be opened: a display, or the virtual screen of the tour, and the libraries that draw."""
    if system != "linux":
        yield ok("display", tr("the system's own display"))
        return
    shown = environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    has_virtual = find_program("Xvfb") is not None
    if shown:
        yield ok("display", shown)
    elif has_virtual:
        yield warn("display", tr("none; only Xvfb for the tour"), tr("Set DISPLAY, or use the command line"))
    else:
        yield warn(
            "display",
            tr("no display, and no Xvfb"),
            tr("Set DISPLAY, or install xvfb for the tour; the command line works without"),
        )
    for library, package in LIBRARIES.items():
        if ctypes.util.find_library(library) is None:
            yield warn("display", tr("lib{library} is missing", library=library), f"apt install {package}")


def fonts() -> Iterator[Finding]:
    """The window's fonts came along."""
    folder = resources.files("assets") / "fonts"
    missing = [name for name in FONTS if not (folder / name).is_file()]
    if missing:
        yield fail(
            "fonts", tr("missing: {missing}", missing=", ".join(missing)), tr("Install Manual Slop again")
        )
    else:
        yield ok("fonts", tr("{FONTS} fonts included", FONTS=len(FONTS)))


def embedded(*, is_quick: bool) -> Iterator[Finding]:
    """The embedded model's weights are there and its server starts."""
    from core.services.providers.embedded.server import LlamaServer, find_weights
    from core.services.providers.protocol import CancelToken

    try:
        weights = find_weights()
        text = f"{weights.name}, {figures.size(weights.stat().st_size, 'terminal')}, xllamacpp {_version('xllamacpp')}"
        if not is_quick:
            began = time.monotonic()
            server = LlamaServer()
            try:
                server.ensure(CancelToken())
            finally:
                server.close()
            text += tr(
                ", starts in {monotonic}", monotonic=figures.span(time.monotonic() - began, "terminal")
            )
    except ProviderError as error:
        finding = warn if error.kind is FailureKind.NOT_INSTALLED else fail
        yield finding("embedded model", error.what, error.remedy)
    else:
        yield ok("embedded model", text)


def claude(*, is_quick: bool) -> Iterator[Finding]:
    """The Claude Code command, where it is installed."""
    from core.services.providers.claude_code.client import find_program

    program = find_program()
    if program is None:
        return  # its provider's line says so
    if is_quick:
        yield ok("claude code", program)
        return
    try:
        code, output = output_of(Path(program), ["--version"], PROGRAM_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        yield warn(
            "claude code",
            tr("{program} does not run ({name})", program=program, name=type(error).__name__),
            tr("Install Claude Code again"),
        )
        return
    if code != 0:
        yield warn(
            "claude code",
            tr("{program} ended with exit code {code}", program=program, code=code),
            tr("Run Claude Code once in a terminal"),
        )
    else:
        yield ok("claude code", f"{output.strip()[:60]}, {program}")


def sandbox(*, is_quick: bool) -> Iterator[Finding]:
    """Confinement of the commands of tools, tried by running it."""
    from core.agent.sandbox import BUBBLEWRAP, find_confinement, system_program

    if is_quick and sys.platform == "linux" and system_program("bwrap") is not None:
        yield ok("sandbox", tr("{BUBBLEWRAP}, not tested", BUBBLEWRAP=BUBBLEWRAP))
        return
    found = find_confinement().sandbox
    if found.is_confined:
        yield ok("sandbox", tr("{name} runs the commands of tools in a sandbox", name=found.name))
    else:
        what, _, remedy = found.problem.partition(". ")
        yield warn(
            "sandbox",
            tr("{what}: commands of tools run without a sandbox, and each asks you first", what=what),
            remedy,
        )


def proxies(environ: Mapping[str, str]) -> Iterator[Finding]:
    """Proxies of the environment: named without the password that may stand in them."""
    found = [name for name in PROXY_VARIABLES if environ.get(name) or environ.get(name.lower())]
    if not found:
        yield ok("proxies", tr("no proxy in the environment"))
    else:
        yield ok(
            "proxies",
            tr(
                "{found} set; the program never uses them for addresses on this computer",
                found=", ".join(found),
            ),
        )
    if any((environ.get(name) or environ.get(name.lower()) or "").startswith("socks") for name in found) and (
        importlib.util.find_spec("socksio") is None
    ):
        yield warn(
            "proxies", tr("a SOCKS proxy is set, which needs the package socksio"), tr("Use an http:// proxy")
        )


def clock(now: datetime) -> Iterator[Finding]:
    """The clock is not plainly wrong."""
    if now.year < OLDEST_YEAR:
        yield fail(
            "clock",
            tr("the clock says {now:%Y-%m-%d}", now=now),
            tr("Set the clock: certificates and cache times depend on it"),
        )
    else:
        yield ok("clock", f"{now:%Y-%m-%d %H:%M} UTC")


def output() -> Iterator[Finding]:
    """The terminal takes any text."""
    encoding = (sys.stdout.encoding or "unknown").lower()
    if encoding.replace("-", "") != "utf8":
        yield warn(
            "terminal",
            tr("the terminal's encoding is {encoding}", encoding=encoding),
            tr("Set LANG to a UTF-8 locale; until then the program replaces missing characters"),
        )
    else:
        yield ok("terminal", f"{encoding}{'' if sys.stdout.isatty() else tr(', not a terminal')}")
