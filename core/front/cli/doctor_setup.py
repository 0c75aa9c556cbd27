"""Checks of a person's set-up by `doctor`: home, folders, settings, project, keyring, providers and keys."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import metadata
from pathlib import Path

from core.app import crash_report, peek
from core.app.home import is_writable, named_holder, odd_names
from core.front.cli import repairs
from core.front.cli.arguments import Options
from core.front.cli.doctor_machine import Check, Finding, fail, ok, warn
from core.kernel import figures, paths
from core.kernel.errors import ConfigError
from core.kernel.ids import time_of_id
from core.kernel.language import tr
from core.kernel.values.mcp import McpPhase, McpServer
from core.kernel.values.provider import KeySource, ProviderKind
from core.mcp.approvals import count_words, standing, state_words
from core.mcp.found_programs import ServerFinder
from core.services.providers.key_names import key_variables
from core.services.providers.keys import KeyStore
from core.services.settings.asked_values import asked_lines, trust_command
from core.services.settings.settings_loader import LoadedSettings, config_request, load
from core.signals.irc_session import flaw_of

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
        partial(channels, loaded),
        partial(desktop_idle, loaded, request.environ),
    )


def home(folder: Path, now: datetime) -> Iterator[Finding]:
    """The home can be written, has room, and nothing in it is of tomorrow."""
    there = _existing(folder)
    state = "" if folder.exists() else tr(", made at the first start")
    if folder.exists() and not folder.is_dir():
        yield fail(
            "home",
            tr("{folder} is not a folder", folder=folder),
            tr("Move that file away, or choose another home with --home"),
            repairs.put_aside(folder, makes_folder=True),
        )
        return
    if not is_writable(folder):
        yield fail(
            "home",
            tr("the program cannot write in {folder}", folder=folder),
            tr("Make the home writable, or choose another home with --home"),
            repairs.let_write(folder),
        )
    free = shutil.disk_usage(there).free
    text = tr("{folder}{state}, {free} free", folder=folder, state=state, free=figures.size(free, "terminal"))
    yield warn("home", text, tr("Free some space")) if free < LOW_BYTES else ok("home", text)
    if peek.is_owned(folder):
        yield ok(
            "owner",
            tr(
                "{words} owns the home: that program reads the inbox and the channels",
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
                repairs.let_write(folder),
            )


def settings(loaded: LoadedSettings, config_file: Path) -> Iterator[Finding]:
    """Settings files hold; each fault with its line."""
    state = "" if config_file.exists() else tr(" (no file: defaults)")
    yield ok("settings", f"{config_file}{state}")
    for fault in loaded.faults:
        place = fault.path if fault.line is None else f"{fault.path}:{fault.line}"
        finding = fail if fault.is_grave else warn
        yield finding(
            "settings",
            f"{place}: {fault.reason}",
            tr("Correct the file; until then the program leaves the faulty part out"),
            repairs.put_aside(config_file)
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
            tr("Put a folder in its place"),
            repairs.put_aside(folder, makes_folder=True, into=home / "backups"),
        )
    elif folder.is_dir():
        own = {paths.INBOX_TAKEN_DIR, paths.INBOX_WAITING_DIR}
        waiting = sum(1 for name in os.listdir(folder) if not name.startswith(".") and name not in own)
        said = (
            tr(", {waiting} waiting", waiting=figures.count(waiting, tr("file"), tr("files")))
            if waiting
            else ""
        )
        yield ok("inbox", f"{folder}{said}")


def crashes(home: Path) -> Iterator[Finding]:
    """Reports of runs of the window that ended unexpectedly."""
    kept = crash_report.reports(home)
    if kept:
        text = tr(
            "{kept}, the newest: {kept2}",
            kept=figures.count(len(kept), tr("report"), tr("reports")),
            kept2=kept[-1],
        )
        yield warn("crashes", text, tr("Read the report"), repairs.remove_reports(kept))


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
            yield warn(subject, problem, tr("Correct the channel in your settings"))
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
                "Run `{root}`: the command shows what the folder asks for and takes your yes",
                root=trust_command(found.root),
            ),
        )
    if found.is_trusted and found.asked:
        yield warn(
            "project",
            tr(
                "{root} asks for more than you have seen; the program ignores the new requests",
                root=found.root,
            ),
            tr(
                "Run `{root}`: the command shows the new requests and takes your yes",
                root=trust_command(found.root),
            ),
        )
    for line in asked_lines(found.asked):
        yield warn("project", tr("the folder asks for: {words}", words=line.words))
    for sentence in found.held_back:
        yield warn("project", tr("the program ignores: {sentence}", sentence=sentence))


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
            tr("Check whether Agent, Alone shows the right time away"),
        )
    elif environ.get("WAYLAND_DISPLAY") or not environ.get("DISPLAY"):
        yield warn(
            "desktop idle",
            tr("Wayland tells no program how long you were away")
            if environ.get("WAYLAND_DISPLAY")
            else tr("there is no X server"),
            tr(
                "The program measures time in its own window instead. To hide this, set agent.desktop_idle to false"
            ),
        )
    else:
        yield ok("desktop idle", tr("the X server tells how long you were away"))


def keyring(store: KeyStore) -> Iterator[Finding]:
    """Place where keys are kept on this machine."""
    name, problem = store.keyring_name()
    if problem:
        yield warn("keyring", problem, tr("Until then, use keys from the environment or from files"))
    else:
        yield ok(
            "keyring",
            name or tr("none on this machine; the program keeps keys in the home, in files of mode 0600"),
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
    """Finding about the program that answers for this provider where there is none."""
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
