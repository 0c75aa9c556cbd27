"""Checks of `doctor`: the machine, and a person's set-up."""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import metadata, resources
from pathlib import Path

from core.app import crash_report, peek
from core.app.home import is_writable, named_holder, odd_names
from core.front.cli.arguments import Options
from core.front.cli.doctor_findings import (
    CLOSED,
    Check,
    Finding,
    fail,
    let_write,
    mend_end,
    mend_settings,
    ok,
    put_aside,
    remove_reports,
    warn,
)
from core.front.cli.version import version_text
from core.kernel import figures, paths
from core.kernel.child_process import find_program, output_of
from core.kernel.codecs import TomlError, decode_toml
from core.kernel.errors import ConfigError, FailureKind, ProviderError, StorageError
from core.kernel.ids import is_id, time_of_id
from core.kernel.language import capital, tr
from core.kernel.opener import read_file
from core.kernel.values.mcp import McpPhase, McpServer
from core.kernel.values.provider import KeySource, ProviderKind
from core.mcp.approvals import count_words, standing, state_words
from core.mcp.found_programs import ServerFinder
from core.services.providers.key_names import key_variables
from core.services.providers.keys import KeyStore
from core.services.settings.asked_values import asked_lines, trust_command
from core.services.settings.settings_loader import LoadedSettings, config_request, load
from core.signals.irc_session import flaw_of
from core.talk.discussion.discussion_meta import read_meta
from core.talk.discussion.log import torn_end

# Checks of the machine by `doctor`: Python, packages, display, fonts, model, programs, proxies, clock.

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
EXTRAS = {
    "diagrams": ("mermaidx",),
    "grammars": tuple(
        f"tree_sitter_{name}" for name in ("c_sharp", "cpp", "kotlin", "lua", "php", "ruby", "swift", "zig")
    ),
    "search": ("onnxruntime", "simsimd"),
}
"""Modules of each extra without which something is not shown, and the person is told there."""
PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
LIBRARIES = {"GL": "libgl1 libgl1-mesa-dri", "X11": "libx11-6"}
FONTS = ("SlopSans-Regular.ttf", "SlopMono-Regular.ttf")
PROGRAM_S = 10.0


def machine_checks(*, is_quick: bool) -> tuple[Check, ...]:
    """The checks of this machine, in the order of the report.

    Args:
        is_quick: start no other program and no model.
    """
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
        partial(display, os.environ, sys.platform),
        fonts,
        partial(embedded, is_quick=is_quick),
        partial(claude, is_quick=is_quick),
        partial(sandbox, is_quick=is_quick),
        desktop_notices,
        partial(proxies, os.environ),
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
            tr("The program needs Python {version} or newer", version=".".join(map(str, OLDEST_PYTHON))),
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
        return tr("the packages need glibc {version} or newer", version=".".join(map(str, OLDEST_GLIBC)))
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
        yield ok("desktop notices", tr("desktop notices appear while you are away from the window"))


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
    lacked = [name for name, modules in EXTRAS.items() if not all(map(importlib.util.find_spec, modules))]
    if lacked:
        names = ",".join(lacked)
        yield warn(
            "extras",
            tr("not installed: {names}", names=names),
            tr('To add them, run pip install "manual-slop[{names}]"', names=names),
        )


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def display(environ: Mapping[str, str], system: str) -> Iterator[Finding]:
    """A window can be opened: a display, or the virtual screen of the tour, and the libraries that draw."""
    if system != "linux":
        yield ok("display", tr("this system needs no separate display server"))
        return
    shown = environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    has_virtual = find_program("Xvfb") is not None
    if shown:
        yield ok("display", shown)
    elif has_virtual:
        yield warn(
            "display",
            tr("no display; Xvfb can show only the tour"),
            tr("Set DISPLAY, or use the command line"),
        )
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
            took = figures.span(time.monotonic() - began, "terminal")
            text = tr("{weights}, starts in {duration}", weights=text, duration=took)
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
    except subprocess.TimeoutExpired:
        yield warn(
            "claude code",
            tr("{program} did not answer within {seconds:g} s", program=program, seconds=PROGRAM_S),
            tr("Run `claude` once in a terminal and read its message"),
        )
        return
    except OSError as error:
        yield warn(
            "claude code",
            tr("{program} cannot be started ({error})", program=program, error=type(error).__name__),
            tr("Install Claude Code again"),
        )
        return
    if code != 0:
        yield warn(
            "claude code",
            tr("{program} ended with exit code {code}", program=program, code=code),
            tr("Run `claude` once in a terminal and read its message"),
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
        yield ok("sandbox", tr("the sandbox {sandbox} runs the commands of tools", sandbox=found.name))
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
                "proxy set by {found}; the program uses no proxy for addresses on this computer",
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
            tr("the clock shows {now:%Y-%m-%d}, which is too early", now=now),
            tr("Set your computer's clock: certificates and cache times depend on the clock"),
        )
    else:
        yield ok("clock", f"{now:%Y-%m-%d %H:%M} UTC")


def output() -> Iterator[Finding]:
    """Check that the terminal can show any character."""
    encoding = (sys.stdout.encoding or "unknown").lower()
    if encoding.replace("-", "") != "utf8":
        yield warn(
            "terminal",
            tr("the terminal's encoding is {encoding}", encoding=encoding),
            tr("Set LANG to a UTF-8 locale; until then the program replaces missing characters"),
        )
    else:
        is_terminal = sys.stdout.isatty()
        yield ok("terminal", encoding if is_terminal else tr("{encoding}, not a terminal", encoding=encoding))


# Checks of a person's set-up by `doctor`: home, folders, settings, project, keyring, providers and keys.

LOW_BYTES = 500_000_000
AHEAD = timedelta(days=1)
SDKS = {
    ProviderKind.ANTHROPIC: "anthropic",
    ProviderKind.OPENAI: "openai",
    ProviderKind.GEMINI: "google-genai",
    ProviderKind.COMPATIBLE: "openai",
}


def setup_checks(options: Options) -> tuple[Check, ...]:
    """The checks of a person's set-up, in the order of the report. They make and change nothing."""
    request = config_request(start=options.start, home=options.home, overrides=options.overrides)
    loaded = load(request)
    store = KeyStore(request.home, request.environ)
    return (
        partial(home, request.home, datetime.now(UTC)),
        partial(
            folders,
            (
                ("settings folder", request.config_file.parent),
                ("cache", paths.cache_dir()),
                ("logs", paths.log_dir()),
            ),
        ),
        partial(settings, loaded, request.config_file),
        partial(project, loaded),
        partial(servers, loaded),
        partial(keyring, store),
        partial(providers, loaded, store),
        partial(inbox, request.home),
        partial(odd_files, request.home),
        partial(crashes, request.home),
        partial(discussions, request.home),
        partial(window_state, request.home),
        partial(channels, loaded),
        partial(desktop_idle, loaded, request.environ),
    )


def home(folder: Path, now: datetime) -> Iterator[Finding]:
    """The home can be written, has room, and nothing in it is of tomorrow."""
    there = _existing(folder)
    if folder.exists() and not folder.is_dir():
        yield fail(
            "home",
            tr("{folder} is not a folder", folder=folder),
            tr("Move that file away, or choose another data folder with --home"),
            put_aside(folder, makes_folder=True),
        )
        return
    if not is_writable(folder):
        yield fail(
            "home",
            tr("the program cannot write in {folder}", folder=folder),
            tr("Make the data folder writable, or choose another data folder with --home"),
            let_write(folder),
        )
    free = shutil.disk_usage(there).free
    room = figures.size(free, "terminal")
    text = (
        tr("{folder}, {free} free", folder=folder, free=room)
        if folder.exists()
        else tr("{folder}, {free} free; the first start makes this folder", folder=folder, free=room)
    )
    yield warn("home", text, tr("Free some space")) if free < LOW_BYTES else ok("home", text)
    if peek.is_owned(folder):
        yield ok(
            "owner",
            tr(
                "{words} uses the data folder: that program reads the inbox and the channels",
                words=named_holder(folder).words,
            ),
        )
    latest = max(_times(paths.discussions_dir(folder)), default=None)
    if latest is not None and latest > now + AHEAD:
        yield warn(
            "clock",
            tr("a discussion has a date in the future: {latest:%Y-%m-%d}", latest=latest),
            tr("Check your computer's clock"),
        )


def _times(folder: Path) -> Iterator[datetime]:
    names = os.listdir(folder) if folder.is_dir() else []
    return (at for at in map(time_of_id, names) if at is not None)


def _existing(folder: Path) -> Path:
    return next((place for place in (folder, *folder.parents) if place.is_dir()), Path("/"))


def folders(named: tuple[tuple[str, Path], ...]) -> Iterator[Finding]:
    """The platform's folders can be written."""
    for subject, folder in named:
        if is_writable(folder):
            yield ok(subject, str(folder))
        else:
            yield warn(
                subject,
                tr("the program cannot write in {folder}", folder=folder),
                tr("Make the folder writable, or set XDG_CONFIG_HOME and the like"),
                let_write(folder),
            )


def settings(loaded: LoadedSettings, config_file: Path) -> Iterator[Finding]:
    """Settings files hold; each fault with its line."""
    exists = config_file.exists()
    yield ok("settings", str(config_file) if exists else tr("{file} (no file: defaults)", file=config_file))
    for fault in loaded.faults:
        place = fault.path if fault.line is None else f"{fault.path}:{fault.line}"
        finding = fail if fault.is_grave else warn
        yield finding(
            "settings",
            f"{place}: {fault.reason}",
            tr("Correct the file; until then the program leaves the faulty part out"),
            put_aside(config_file)
            if fault.is_grave and Path(fault.path) == config_file and config_file.is_file()
            else None,
        )


def inbox(home: Path) -> Iterator[Finding]:
    """The folder whose files become signals."""
    folder = paths.inbox_dir(home)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        yield warn(
            "inbox",
            tr("The program does not read this, as it is a link or no folder: {folder}", folder=folder),
            tr("Replace the link or file by a folder"),
            put_aside(folder, makes_folder=True, into=home / "backups"),
        )
    elif folder.is_dir():
        own = {paths.INBOX_TAKEN_DIR, paths.INBOX_WAITING_DIR}
        waiting = sum(1 for name in os.listdir(folder) if not name.startswith(".") and name not in own)
        files = figures.count(waiting, tr("file"), tr("files"))
        yield ok(
            "inbox", tr("{folder}, {files} waiting", folder=folder, files=files) if waiting else str(folder)
        )


def crashes(home: Path) -> Iterator[Finding]:
    """Reports of runs of the window that ended unexpectedly."""
    kept = crash_report.reports(home)
    if kept:
        text = tr(
            "{reports} of crashes, the newest: {newest}",
            reports=figures.count(len(kept), tr("report"), tr("reports")),
            newest=kept[-1],
        )
        yield warn("crashes", text, tr("Read the report"), remove_reports(kept))


def discussions(home: Path) -> Iterator[Finding]:
    """Discussions whose settings cannot be read, to which the window gives defaults and no model; logs that a crash cut off."""
    folder = paths.discussions_dir(home)
    # A program that has a discussion open writes what it knows of its settings, and behind the log's end that it knows.
    is_used = peek.is_owned(home)
    for name in sorted(os.listdir(folder)) if folder.is_dir() else ():
        if is_id(name) and (problem := read_meta(home, name).problem):
            remedy = tr(
                "Run `manual-slop doctor --repair`, or correct {path}", path=folder / name / paths.META_FILE
            )
            yield warn(
                "discussion",
                f"{name}: {problem}",
                CLOSED if is_used else remedy,
                None if is_used else mend_settings(home, name),
            )
        if is_id(name) and (found := _flaw_of_log(home, name)):
            flaw, is_torn = found
            yield warn(
                "discussion",
                f"{name}: {flaw}",
                CLOSED if is_torn else "",
                mend_end(home, name) if is_torn and not is_used else None,
            )


def _flaw_of_log(home: Path, discussion_id: str) -> tuple[str, bool] | None:
    """Sentence about a log, and whether its end is torn; None where all is well."""
    try:
        torn = torn_end(home, discussion_id)
    except StorageError as error:  # of one discussion: the others are looked at as well
        return str(error), False
    return (torn, True) if torn else None


def window_state(home: Path) -> Iterator[Finding]:
    """The file of the window's panes and of the chosen discussion, where it cannot be read."""
    path = paths.state_file(home)
    try:
        decode_toml(read_file(path))
    except FileNotFoundError:
        return
    except (UnicodeDecodeError, TomlError, OSError) as error:
        text = tr(
            "{path} cannot be read: the window opens with its usual panes. {error}", path=path, error=error
        )
        remedy = tr("Move the file aside with `manual-slop doctor --repair`")
        yield warn("window", text, remedy, put_aside(path, into=home / "backups"))


def odd_files(home: Path) -> Iterator[Finding]:
    """Names in the home at which something stands that is no file."""
    for sentence in odd_names(home) if home.is_dir() else ():
        yield warn("home", sentence)


def channels(loaded: LoadedSettings) -> Iterator[Finding]:
    """Channels of messages as they are set; the window says whether each is connected."""
    for name, channel in loaded.settings.channels.items():
        subject, where = (
            f"channel {name}",
            tr("{room} at {host}:{port}, over TLS", room=channel.room, host=channel.host, port=channel.port),
        )
        if problem := flaw_of(channel):
            yield warn(subject, problem, tr("Correct this IRC channel in your settings"))
        elif not channel.is_enabled:
            yield ok(subject, tr("{where}, turned off", where=where))
        elif not channel.senders:
            yield warn(
                subject,
                tr("{where}: the program reads no one's lines, as no sender is set", where=where),
                tr("Name the senders: channels.{name}.senders", name=name),
            )
        else:
            yield ok(subject, f"{where}, {figures.count(len(channel.senders), tr('sender'), tr('senders'))}")


def project(loaded: LoadedSettings) -> Iterator[Finding]:
    """The project's file counts, or why not."""
    found = loaded.project
    if not found.has_file:
        yield ok("project", tr("{root} (no manual_slop.toml)", root=found.root))
    elif found.is_trusted:
        yield ok(
            "project",
            tr(
                "{root}, trusted, {presets}",
                root=found.root,
                presets=figures.count(len(found.presets), tr("preset"), tr("presets")),
            ),
        )
    else:
        yield warn(
            "project",
            tr("you do not trust {root}, so the program ignores its settings", root=found.root),
            tr(
                "Run `{command}`: look at what the folder asks for, then agree",
                command=trust_command(found.root),
            ),
        )
    if found.is_trusted and found.asked:
        yield warn(
            "project",
            tr(
                "{folder} asks for settings that you have not seen; the program ignores them",
                folder=found.root,
            ),
            tr(
                "Run `{command}`: look at the new requests, then agree",
                command=trust_command(found.root),
            ),
        )
    for line in asked_lines(found.asked):
        yield warn("project", tr("the folder asks for: {words}", words=line.words))
    for sentence in found.held_back:
        yield warn("project", tr("the program ignores a part of manual_slop.toml: {reason}", reason=sentence))


def servers(loaded: LoadedSettings) -> Iterator[Finding]:
    """MCP servers are there and approved, or what is missing."""
    finder = ServerFinder()
    for name, one in loaded.settings.mcp.items():
        try:
            found = finder.find(one, loaded.project.root)
        except ConfigError as error:
            yield warn("servers", error.what, error.remedy)
            continue
        server = standing(McpServer(settings=one, kept=loaded.approved.get(name), found=found))
        counted = ", ".join(filter(None, (name, state_words(server), count_words(server))))
        if server.phase is McpPhase.ASKING:
            yield warn(
                "servers",
                counted,
                tr("Run `manual-slop servers {name} --approve`, or answer in the window", name=name),
            )
        else:
            yield ok("servers", counted)


def desktop_idle(
    loaded: LoadedSettings, environ: Mapping[str, str], platform: str = sys.platform
) -> Iterator[Finding]:
    """The desktop tells how long the person used no key or pointer, where that is asked for."""
    if not loaded.settings.agent.desktop_idle:
        return
    if platform in {"darwin", "win32"}:
        yield warn(
            "desktop idle",
            tr("not tested on this system"),
            tr("Check in the Agent panel, Autonomy, how long the program says you were away"),
        )
    elif environ.get("WAYLAND_DISPLAY") or not environ.get("DISPLAY"):
        yield warn(
            "desktop idle",
            tr("Wayland tells no program how long you were away")
            if environ.get("WAYLAND_DISPLAY")
            else tr("there is no X server"),
            tr(
                "Your time away counts only from your last use of the program's window. To turn this check off, set agent.desktop_idle to false"
            ),
        )
    else:
        yield ok("desktop idle", tr("the X server tells how long you were away"))


def keyring(store: KeyStore) -> Iterator[Finding]:
    """Place where keys are kept on this machine."""
    name, problem = store.keyring_name()
    if problem:
        yield warn(
            "keyring",
            problem,
            tr("Use keys from environment variables or from files as long as the keyring fails"),
        )
    else:
        yield ok(
            "keyring",
            name
            or tr("none on this machine; the program keeps keys in the data folder, in files of mode 0600"),
        )


def providers(loaded: LoadedSettings, store: KeyStore) -> Iterator[Finding]:
    """Each provider: SDK, address, where its key was found (never the key)."""
    chosen = loaded.settings.ai.provider
    for name, server in loaded.settings.servers.items():
        key = store.find(name, loaded.settings.servers)
        kind = ProviderKind(server.kind)
        parts = [
            _program(kind),
            _sdk(kind),
            server.base_url and tr("at {base_url}", base_url=server.base_url),
            _key_text(key.source, key.where),
        ]
        if name == chosen:
            parts.append(tr("the default provider"))
        text = ", ".join(part for part in parts if part)
        if said := " ".join(filter(None, (key.warning, key.conflict))):
            yield warn(name, f"{text}. {said}")
        elif key.source is KeySource.MISSING and name == chosen and kind is not ProviderKind.COMPATIBLE:
            yield warn(
                name,
                text,
                tr("Set {name}, or run `manual-slop key {name2}`", name=key_variables(name)[0], name2=name),
            )
        else:
            yield ok(name, text if server.is_enabled else tr("{text}, turned off", text=text))


def _program(kind: ProviderKind) -> str:
    """Sentence that the Claude Code command is missing. Empty if it is installed, and for other kinds of providers."""
    if kind is not ProviderKind.CLAUDE_CODE:
        return ""
    from core.services.providers.claude_code.client import find_program

    return "" if find_program() else tr("not installed (optional: npm install -g @anthropic-ai/claude-code)")


def _sdk(kind: ProviderKind) -> str:
    package = SDKS.get(kind, "")
    if not package:
        return ""
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return tr("{package} is not installed", package=package)


def _key_text(source: KeySource, where: str) -> str:
    match source:
        case KeySource.NOT_NEEDED:
            return tr("no key needed")
        case KeySource.MISSING:
            return tr("no key")
        case _:
            return tr("key from {where}", where=where)
