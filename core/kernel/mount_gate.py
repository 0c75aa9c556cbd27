"""Gate of a sandbox: its command begins when what is mounted there is what was judged, and not before."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import suppress

import msgspec

from core.kernel.child_process import kill_with_below
from core.kernel.machine import SandboxMounts
from core.kernel.opener import read_file
from core.kernel.patterns import late

MADE_WITHIN_S = 10.0
CHANGED = "a place of the project became another one while the sandbox was made: nothing ran. Try again"
_LOOK_S = 0.0005
_UNMADE = "/newroot"
"""Place of the sandbox while it is made. Source: bubblewrap.c, `main`, 0.8 to 0.11 (read 2026-11-24)."""
_ESCAPED = late(rb"\\([0-7]{3})")
_CHILD = late(rb'"child-pid"\s*:\s*([0-9]+)[^0-9]')


class _Shown(msgspec.Struct, frozen=True):
    """File or folder at a place: a path of a file system. A row of `mountinfo`. Source: proc(5) (read 2026-11-24)."""

    place: str
    device: str
    path: str


class MountGate:
    """Gate of one sandbox of bubblewrap, which follows paths by itself: another command that runs in the project could put a
    link where a folder was judged, and have all that it leads to mounted, neither hidden nor read-only.

    So its mounts are looked at before the command begins: each place shows what it shows here, by a way without links.
    Whatever the project holds, nothing of it has run in the sandbox by then.
    """

    def __init__(self, mounts: SandboxMounts) -> None:
        """Raises OSError: a place is gone, or there are no descriptors left."""
        table = _mounts("self")
        self._kept = tuple(_shown_here(place, table) for place in mounts.kept)
        self._masked = mounts.masked
        self._scratch = _shown_here(mounts.scratch, table)
        self._pipes = [*os.pipe(), *os.pipe()]

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of the sandbox, before its others."""
        _, telling, blocked, _ = self._pipes
        return ("--info-fd", str(telling), "--block-fd", str(blocked))

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Descriptors that it is handed."""
        return tuple(self._pipes[1:3])

    def close(self) -> None:
        """Close the pipes. Idempotent. A sandbox that waits goes on."""
        pipes, self._pipes = self._pipes, []
        for descriptor in pipes:
            os.close(descriptor)

    def let_begin(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until all is mounted, and let the command begin. A sandbox that cannot be made ends, and says why itself.

        Raises:
            OSError: something else is mounted than what was judged; the process is ended.
        """
        told, telling, blocked, opening = self._pipes
        self._pipes = [told, opening]
        os.close(telling)
        os.close(blocked)
        try:
            self._look(process, told)
        except BaseException:
            kill_with_below(process)
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
            raise

    def _look(self, process: subprocess.Popen[bytes], told: int) -> None:
        pid = _first_pid(told)
        deadline = time.monotonic() + MADE_WITHIN_S
        while process.poll() is None:
            shown = (
                {one for one in _mounts(pid).values() if not one.place.startswith(_UNMADE)} if pid else set()
            )
            if any((one.device, one.path) == (self._scratch.device, self._scratch.path) for one in shown):
                places = {one.place for one in shown}
                if not shown.issuperset(self._kept) or not places.issuperset(self._masked):
                    raise OSError(CHANGED)
                return
            if time.monotonic() > deadline:
                raise OSError(f"its sandbox was not made within {MADE_WITHIN_S:.0f} s")
            time.sleep(_LOOK_S)


def _first_pid(told: int) -> str:
    """Id of the sandbox's first process, empty where it ended before there was one."""
    said = b""
    while (found := _CHILD.search(said)) is None:
        piece = os.read(told, 4_096)
        if not piece:
            return ""
        said += piece
    return found[1].decode()


def _mounts(pid: str) -> dict[str, _Shown]:
    """Mounts of a process by their ids; none where it is gone."""
    rows = []
    with suppress(OSError):
        rows = read_file(f"/proc/{pid}/mountinfo").split(b"\n")
    fields = (row.split(b" ", 5) for row in rows)
    return {
        row[0].decode(): _Shown(place=_text(row[4]), device=row[2].decode(), path=_text(row[3]))
        for row in fields
        if len(row) > 5
    }


def _text(field: bytes) -> str:
    return os.fsdecode(_ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), field))


def _shown_here(place: str, table: dict[str, _Shown]) -> _Shown:
    """View of a place by a way without links. Raises OSError: it is gone."""
    try:
        descriptor = os.open(place, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        raise OSError(CHANGED) from None
    try:
        said = read_file(f"/proc/self/fdinfo/{descriptor}")
    finally:
        os.close(descriptor)
    mount = table.get(said.partition(b"mnt_id:")[2].split()[0].decode())
    if mount is None or not f"{place}/".startswith(f"{mount.place.rstrip('/')}/"):
        raise OSError(CHANGED)
    below = place[len(mount.place.rstrip("/")) :]
    return _Shown(place=place, device=mount.device, path=f"{mount.path.rstrip('/')}{below}" or "/")
