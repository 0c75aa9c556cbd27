"""Confinement of commands on this machine, found by trying, and the words that start one inside."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.agent.toolchains import SYSTEM, ClosedView
from core.kernel import paths
from core.kernel.child_process import output_of
from core.kernel.command_start import TMPFS_BYTES
from core.kernel.language import tr
from core.kernel.opener import read_file
from core.kernel.values.agent import Sandbox
from core.kernel.values.mcp import SandboxMounts
from core.talk.context.globs import is_inside

BUBBLEWRAP, SANDBOX_EXEC = "bubblewrap", "sandbox-exec"
TRIAL_S = 5.0
MOST_SOCKETS = 200

SYSTEM_FOLDERS = (
    "/usr/bin",
    "/bin",
    "/usr/local/bin",
    "/run/wrappers/bin",
    "/run/current-system/sw/bin",
)
"""Folders of the sandbox and the shell. PATH may lead into a project, where a command could put its own."""

_INSTALL = tr("Install the package bubblewrap (apt install bubblewrap)")
_PRIVATE_FILES = (
    ".ssh", ".aws", ".gnupg", ".config", ".docker", ".kube", ".azure", ".password-store", ".netrc", ".authinfo", ".npmrc",
    ".pypirc", ".git-credentials", ".pgpass", ".my.cnf", ".Xauthority", ".ICEauthority", ".cargo/credentials",
    ".cargo/credentials.toml", ".gem/credentials", ".local/share/keyrings", ".local/share/kwalletd", ".mozilla",
    ".thunderbird", ".claude", ".claude.json", ".codex", ".gemini", ".1password", ".vault-token", ".terraform.d",
    ".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".dbus",
    "Library/Keychains", "Library/Application Support",
)  # fmt: skip
"""Names that a command has no business to read in the person's own folder."""
_SHARED_MEMORY = "/dev/shm"  # noqa: S108  of the sandbox
_SYSTEM_SOCKETS = ("/run", "/var/run", "/var/tmp")  # noqa: S108  hidden, not used
_OF_THE_MACHINE = ("/proc/sys", "/proc/fs", "/proc/acpi", "/proc/asound", "/proc/scsi", "/proc/mtrr")
_RUN_KEPT = ("/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers")
_OF_PERSONS = ("/Users", "/Volumes", "/private/var/root")
"""Folders of persons and disks on macOS."""
_RUN_NAMES = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf")


class Confinement(msgspec.Struct, frozen=True):
    """Confinement of commands here.

    Args:
        program: absolute, None where commands run unconfined; has_sizes: it bounds folders in memory (bubblewrap 0.7).
    """

    sandbox: Sandbox
    program: Path | None = None
    has_sizes: bool = True


class CommandPlaces(msgspec.Struct, frozen=True):
    """Folders as a command sees them, absolute, links resolved.

    Args:
        root: the project, writable; folder: where it works; scratch: writable, its `/tmp`.
        hidden: folders and files of ours, in no command's reach.
        guarded: in the project, read-only; they are there.
        view: all that is seen beside the project and scratch; None: the whole machine, but for what is hidden.
        home: an empty folder that is the home of a view; empty: one in memory.
    """

    root: str
    folder: str
    scratch: str
    hidden: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    view: ClosedView | None = None
    home: str = ""


def check_root(root: str) -> None:
    """Raise PermissionError for a project in which what is started could write everywhere."""
    if root and root == os.path.dirname(root):
        raise PermissionError("the project is the whole file system, which no sandbox can hold")


def system_program(name: str) -> Path | None:
    """Absolute path of a program of the system, None where it is not."""
    places = (Path(folder, name) for folder in SYSTEM_FOLDERS)
    return next((place for place in places if os.access(place, os.X_OK) and place.is_file()), None)


def find_confinement(platform: str = sys.platform) -> Confinement:
    """Find what confines commands here, by running it: a program may be there and not be allowed to."""
    if platform == "darwin":
        program = Path("/usr/bin/sandbox-exec")
        return _tried(program, SANDBOX_EXEC, ("-p", "(version 1)(allow default)", "/usr/bin/true"), "")
    if platform != "linux":
        return Confinement(
            sandbox=Sandbox(
                problem=tr(
                    "the program knows no sandbox for this system. Read each command before you approve it"
                )
            )
        )
    found = system_program("bwrap")
    if found is None:
        return Confinement(
            sandbox=Sandbox(problem=tr("bubblewrap is not installed. {INSTALL}", INSTALL=_INSTALL))
        )
    trial = [*_NAMESPACES, "--unshare-net", "--ro-bind", "/", "/", "--dev", "/dev", *_processes()]
    true = ("--", "/bin/sh", "-c", ":")
    remedy = tr(
        "Allow this user to create namespaces (sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces, or the AppArmor profile of bwrap)"
    )
    sized = _tried(found, BUBBLEWRAP, (*trial, *_sized_devices(), *true), remedy)
    if sized.sandbox.is_confined:
        return sized
    return replace(_tried(found, BUBBLEWRAP, (*trial, *true), remedy), has_sizes=False)


def _tried(program: Path, name: str, arguments: Iterable[str], remedy: str) -> Confinement:
    try:
        code, _ = output_of(program, tuple(arguments), TRIAL_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Confinement(
            sandbox=Sandbox(
                problem=tr(
                    "The sandbox {sandbox} does not start ({error}). {remedy}",
                    sandbox=name,
                    error=type(error).__name__,
                    remedy=remedy,
                ).strip()
            )
        )
    if code != 0:
        return Confinement(
            sandbox=Sandbox(
                problem=tr(
                    "{name} is installed but cannot confine commands here (code {code}). {remedy}",
                    name=name,
                    code=code,
                    remedy=remedy,
                ).strip()
            )
        )
    return Confinement(sandbox=Sandbox(name), program=program)


_NAMESPACES = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent",
    "--cap-drop", "ALL",
)  # fmt: skip


def confined(
    confinement: Confinement, command: tuple[str, ...], places: CommandPlaces, *, needs_network: bool
) -> tuple[str, ...]:
    """Arguments of the sandbox's program that run a command inside."""
    if confinement.sandbox.name == SANDBOX_EXEC:
        return ("-p", _profile(places, needs_network=needs_network), *command)
    arguments = _bubblewrap(places, needs_network=needs_network, has_sizes=confinement.has_sizes)
    return (*arguments, "--", *command)


def hidden_places(home: Path) -> tuple[str, ...]:
    """Places that exist here and no command may reach: ours, keys, the session's sockets, sockets that others listen on."""
    own = [home, paths.config_dir(), paths.cache_dir(), paths.log_dir()]
    person = Path.home()
    session = [os.environ.get("XDG_RUNTIME_DIR", ""), os.environ.get("XDG_CONFIG_HOME", "")]
    agents = [os.environ.get(name, "") for name in ("SSH_AUTH_SOCK", "GPG_AGENT_INFO", "XAUTHORITY")]
    wanted = [*own, *(person / name for name in _PRIVATE_FILES), *map(Path, filter(None, session + agents))]
    found = {os.path.realpath(place) for place in wanted if os.path.lexists(place)}
    found |= set(_listening()) if sys.platform == "linux" else set()
    return tuple(sorted(place for place in found if os.path.exists(place) and place != "/"))


def is_display_open() -> bool:
    """True if a display is reached by a name that is no file: no mount closes it to what shares the network of this machine."""
    return any(name.startswith("@/tmp/.X11-unix/") for name in _socket_names())


def _socket_names() -> set[str]:
    """Names of sockets of this machine, those that are no files with `@` before them. Source: proc(5), `net/unix`."""
    try:
        table = read_file("/proc/net/unix").decode("utf-8", "replace")
    except OSError:
        return set()
    return {line.split(None, 7)[7] for line in table.splitlines()[1:] if len(line.split(None, 7)) == 8}


def _listening() -> Iterator[str]:
    """Sockets in the file system that somebody of this machine holds: a read-only mount does not close them.

    Those of folders that are hidden whole come last, and those of other file systems count for none: containers have hundreds.
    """

    def is_covered(name: str) -> bool:
        return any(is_inside(name, folder) for folder in (*_SYSTEM_SOCKETS, "/tmp"))  # noqa: S108

    names = (name for name in _socket_names() if name.startswith("/"))
    places = filter(None, map(_socket_place, sorted(names, key=lambda name: (is_covered(name), name))))
    yield from islice(places, MOST_SOCKETS)


def _socket_place(name: str) -> str:
    """Place of a socket, links resolved, empty where there is none of that name."""
    try:
        return os.path.realpath(name) if stat.S_ISSOCK(os.stat(name).st_mode) else ""
    except OSError:
        return ""


def _processes() -> Iterator[str]:
    """The sandbox's own `/proc`, in which nothing rules the machine: the system's own user is asked for no capability there,
    and what stands in `/proc/sys/kernel/core_pattern` is run outside. Bubblewrap 0.8 closes `irq` and `bus` by itself, and not
    `sys` (seen 2026-11-24).
    """
    yield from ("--proc", "/proc")
    for place in _OF_THE_MACHINE:
        if os.path.exists(place):
            yield from ("--ro-bind", place, place)


def _sized_devices() -> tuple[str, ...]:
    """Devices whose folders in memory are bounded."""
    return ("--size", str(TMPFS_BYTES), "--tmpfs", _SHARED_MEMORY, "--remount-ro", "/dev")


def _bubblewrap(places: CommandPlaces, *, needs_network: bool, has_sizes: bool) -> Iterator[str]:
    size = ("--size", str(TMPFS_BYTES)) if has_sizes else ()
    view = places.view
    yield from _NAMESPACES
    if not needs_network:
        yield "--unshare-net"
    if view is None:
        yield from ("--ro-bind", "/", "/")
    else:
        yield from _system(view)
    yield from ("--dev", "/dev", *_processes(), "--bind", places.scratch, "/tmp")  # noqa: S108
    if has_sizes:
        yield from _sized_devices()
    covered: list[str] = []
    for folder in _SYSTEM_SOCKETS:
        if os.path.isdir(folder) and not os.path.islink(folder):
            yield from (*size, "--tmpfs", folder)
            covered.append(folder)
        elif view is not None and os.path.islink(folder):
            yield from ("--symlink", os.readlink(folder), folder)
    for kept in (*_RUN_KEPT, *(_RUN_NAMES if needs_network else ())):
        if os.path.exists(kept):
            yield from ("--ro-bind", kept, kept)
    masked = list(_outermost(places.hidden, (*covered, "/tmp")))  # noqa: S108
    if view is not None:
        masked = list(_outermost((*filter(view.shows, places.hidden), *view.masked), ()))
        yield from ("--bind", places.home, view.home) if places.home else (*size, "--tmpfs", view.home)
        yield from _beside(view, places, size)
    for place in masked:
        yield from _mask(place)
    yield from ("--bind", places.root, places.root)
    ways, inside = _mounts_inside(places)
    for way in ways:
        yield from ("--ro-bind" if way in places.guarded else "--bind", way, way)
    for source, place in view.mounts if view is not None else ():
        if is_inside(place, places.root):
            yield from ("--ro-bind", source, place)
    for place in inside:  # a project may hold what is hidden, as a person's own folder does
        yield from _mask(place)
    for place in dict.fromkeys((*masked, *inside)):
        if os.path.isdir(place) and not is_inside(places.root, place):
            yield from ("--remount-ro", place)
    if view is not None:
        yield from ("--remount-ro", "/")
    yield from ("--chdir", places.folder)


def _system(view: ClosedView) -> Iterator[str]:
    """Parts of the system: the root itself is an empty folder."""
    for place, target in view.links:
        if _is_of_system(place):
            yield from ("--symlink", target, place)
    for source, place in view.mounts:
        if _is_of_system(place):
            yield from ("--ro-bind", source, place)


def _beside(view: ClosedView, places: CommandPlaces, size: tuple[str, ...]) -> Iterator[str]:
    """Places beside the system and the project, over the empty home and the scratch folder."""
    links = [
        (place, target)
        for place, target in view.links
        if not (_is_of_system(place) or is_inside(place, places.root))
    ]
    folders = {os.path.dirname(place) for place, _ in links if is_inside(place, _TMP)}
    for folder in sorted(folders - {_TMP}):
        yield from (*size, "--tmpfs", folder)
    for place, target in links:
        if os.path.dirname(place) == _TMP:
            _lay_link(os.path.join(places.scratch, os.path.basename(place)), target)
        else:
            yield from ("--symlink", target, place)
    for source, place in view.mounts:
        if not (_is_of_system(place) or is_inside(place, places.root)):
            yield from ("--ro-bind", source, place)


_TMP = "/tmp"  # noqa: S108
"""The scratch folder inside: what bubblewrap makes in it stays, and a link that is there already ends the next start. So the
folders of links are in memory, and what is a link right in it is made here, once."""


def _lay_link(link: str, target: str) -> None:
    """Make a link in the scratch folder, in place of a file or another link of its name."""
    if os.path.islink(link) and os.readlink(link) == target:
        return
    with suppress(OSError):
        os.unlink(link)
    with suppress(OSError):
        os.symlink(target, link)


def _is_of_system(place: str) -> bool:
    """True for a place that is mounted before those that are the sandbox's own, in memory."""
    return any(is_inside(place, folder) for folder in (*SYSTEM, "/etc"))


def mounts_of(places: CommandPlaces) -> SandboxMounts:
    """Mounts of a sandbox on ways that what runs in the project could turn elsewhere."""
    ways, inside = _mounts_inside(places)
    return SandboxMounts(scratch=places.scratch, kept=(places.root, *ways), masked=inside)


def _mounts_inside(places: CommandPlaces) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Places in the project that are bound onto themselves, those around them first, and those that are hidden."""
    inside = tuple(_outermost((place for place in places.hidden if is_inside(place, places.root)), ()))
    ways = {way for place in (*places.guarded, *inside) for way in _ways(place, places.root)} - set(inside)
    return tuple(sorted(ways, key=lambda path: (path.count("/"), path))), inside


def _mask(place: str) -> tuple[str, ...]:
    return ("--tmpfs", place) if os.path.isdir(place) else ("--ro-bind", "/dev/null", place)


def _outermost(wanted: Iterable[str], covered: Iterable[str]) -> Iterator[str]:
    above = list(covered)
    for place in sorted(wanted):
        if not any(is_inside(place, folder) for folder in above):
            above.append(place)
            yield place


def _ways(place: str, root: str) -> Iterator[str]:
    """A place and its folders below the root: each a mount of its own, or the place could be renamed away."""
    while is_inside(place, root) and place != root:
        yield place
        place = os.path.dirname(place)


def _profile(places: CommandPlaces, *, needs_network: bool) -> str:
    """Profile of `sandbox-exec`; the last rule that fits counts."""

    def quoted(path: str) -> str:
        return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'

    rules = ["(version 1)", "(allow default)"]
    if not needs_network:
        rules.append("(deny network*)")
    rules += [
        "(deny file-write*)",
        '(allow file-write* (subpath "/dev"))',
        "(deny mach-lookup)",
        "(deny process-info*)",
    ]
    rules += [
        "(allow process-info* (target self))",
        "(deny signal (target others))",
        "(allow signal (target pgrp))",
    ]
    if (view := places.view) is not None:
        rules += [
            f"(deny file-read* file-write* (subpath {quoted(place)}))" for place in (view.home, *_OF_PERSONS)
        ]
        rules.append(f"(allow file-read-metadata (subpath {quoted(view.home)}))")
        rules += [
            f"(allow file-read* (subpath {quoted(place)}))"
            for source, place in view.mounts
            if source == place
        ]
        rules += [f"(deny file-read* file-write* (subpath {quoted(place)}))" for place in view.masked]
    rules += [f"(deny file-read* file-write* (subpath {quoted(place)}))" for place in places.hidden]
    rules += [
        f"(allow file-read* file-write* (subpath {quoted(place)}))" for place in (places.root, places.scratch)
    ]
    rules += [
        f"(deny file-read* file-write* (subpath {quoted(place)}))"
        for place in places.hidden
        if is_inside(place, places.root)
    ]
    rules += [f"(deny file-write* (subpath {quoted(place)}))" for place in places.guarded]
    copied = [place for source, place in places.view.mounts if source != place] if places.view else []
    rules += [
        f"(deny file-read* (subpath {quoted(place)}))" for place in copied
    ]  # no copy can stand in its place
    return "\n".join(rules)
