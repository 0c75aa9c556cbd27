"""Bounds of commands: memory however it is held, files and disks, and how an end by one is told."""

from __future__ import annotations

import os
import queue
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.agent.agent_messages import CommandEnded
from core.agent.commands import Commands
from core.agent.sandbox import CommandPlaces, Confinement, confined
from core.agent.tool import CommandOrder, ShellOutcome
from core.kernel import command_start
from core.kernel.values.mcp import CommandBounds
from tests.core.agent.desks import ShellDesk, marked, ran
from tests.patience import PATIENCE_S


def bounded(desk: ShellDesk, command: str, **bounds: int) -> ShellOutcome:
    desk.places = replace(desk.places, bounds=CommandBounds(**bounds))
    return ran(desk, command)


def test_a_command_that_takes_too_much_memory_is_ended_with_all_it_started_and_it_is_said(
    shell: ShellDesk,
) -> None:
    marker = f"9{os.getpid()}.4"
    hog = f"sleep {marker} & x=$(head -c 100000000 /dev/zero | tr '\\0' x); sleep 20"
    outcome = bounded(shell, hog, memory_mib=48)
    assert outcome.ended_by == "it took more than 50.3 MB of memory"
    assert marked(marker) == []


@pytest.mark.slow
def test_the_end_of_a_background_command_says_whether_it_was_wanted_or_a_bound(
    confinement: Confinement, isolated_home: Path, tmp_path: Path
) -> None:
    ends: queue.Queue[CommandEnded] = queue.Queue()
    commands = Commands(isolated_home, lambda *_: None, ends.put, find=lambda: confinement, grace_s=0.2)
    desk = ShellDesk(commands, tmp_path, isolated_home)
    order = CommandOrder("echo on; sleep 60", str(tmp_path), needs_network=False, timeout_s=None)
    for end, notes in (
        (lambda: desk.commands.kill_calls("call"), "It was ended: the person stopped it."),
        (lambda: desk.commands.kill("2"), "It was ended: the model asked for it by bash_kill."),
    ):
        desk.commands.start(order, desk)
        end()
        told = ends.get(timeout=PATIENCE_S)
        assert (told.is_wanted, told.notes) == (True, notes)

    hog = "x=$(head -c 100000000 /dev/zero | tr '\\0' x); sleep 20"
    desk.places = replace(desk.places, bounds=CommandBounds(memory_mib=48))
    desk.commands.start(replace(order, command=hog), desk)
    told = ends.get(timeout=PATIENCE_S)
    assert (told.is_wanted, told.notes) == (False, "It was ended: it took more than 50.3 MB of memory.")
    commands.close()


def test_memory_that_processes_share_counts_once(confined_shell: ShellDesk) -> None:
    forks = "x=$(head -c 20000000 /dev/zero | tr '\\0' x); for n in 1 2 3 4 5 6 7 8; do (sleep 0.6; true) & done; wait; echo built"
    outcome = bounded(confined_shell, forks, memory_mib=120)
    assert (outcome.output.strip(), outcome.ended_by) == ("built", "")


def test_a_file_does_not_grow_beyond_its_bound_and_what_ended_it_is_said(shell: ShellDesk) -> None:
    outcome = bounded(shell, "head -c 3000000 /dev/zero > big", file_mib=1)
    assert outcome.exit_code == 153
    assert (Path(shell.places.root) / "big").stat().st_size == 1_048_576
    assert outcome.notes[0].startswith("A file grew to 1.0 MB")


@pytest.mark.parametrize(
    ("measure", "much", "little", "ended_by"),
    [
        ("_free_bytes", 600 << 20, 1 << 20, "it left less than 536.9 MB free on the disk of "),
        ("_free_files", 40_000, 30_000, "it left room for fewer than 32,768 files on the disk of "),
    ],
)
def test_a_command_that_fills_the_disk_is_ended_and_one_that_finds_it_full_is_not(
    measure: str,
    much: int,
    little: int,
    ended_by: str,
    confined_shell: ShellDesk,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Empty files fill a disk as well: nobody can make one any more."""
    for before, end in ((much, ended_by), (little, "")):
        free = iter((before, before))
        monkeypatch.setattr(command_start, measure, lambda _folder, free=free: next(free, little))
        assert ran(confined_shell, "sleep 0.4").ended_by.startswith(end)
        assert bool(end) or ran(confined_shell, "echo on").output == "on\n"


_HELD_IN_MEMORY = {
    "shared": "held = mmap.mmap(-1, 100 << 20)\nfor _ in range(100): held.write(bytes(1 << 20))",
    "a file that is mapped": "file = os.open('/dev/shm/x', os.O_RDWR | os.O_CREAT)\nos.ftruncate(file, 100 << 20)\n"
    "held = mmap.mmap(file, 100 << 20)\nfor _ in range(100): held.write(bytes(1 << 20))",
    "by one that hides its maps": "ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\nheld = bytearray(100 << 20)",
}


@pytest.mark.parametrize("how", _HELD_IN_MEMORY)
def test_memory_counts_however_it_is_held(
    how: str, confined_shell: ShellDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Maps that a process hides cannot be read by a person; the system's own user can."""
    open_proc = command_start._proc
    hides = "hides" in how
    monkeypatch.setattr(
        command_start, "_proc", lambda path: "" if hides and "smaps" in path else open_proc(path)
    )
    (Path(confined_shell.places.root) / "hog.py").write_text(
        f"import ctypes, mmap, os, time\n{_HELD_IN_MEMORY[how]}\ntime.sleep(20)\n"
    )
    outcome = bounded(confined_shell, f"{os.path.realpath(sys.executable)} hog.py", memory_mib=48)
    assert outcome.ended_by == "it took more than 50.3 MB of memory"


def test_memory_that_the_kernel_holds_for_a_command_is_bounded_by_what_is_left(
    confined_shell: ShellDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file in memory that nobody has mapped is on no process's account."""
    for before, end in ((1 << 40, "it left less than "), (1, "")):
        free = iter((before,))
        monkeypatch.setattr(command_start, "_available_bytes", lambda free=free: next(free, 1))
        assert ran(confined_shell, "sleep 0.4").ended_by.startswith(end)
        assert bool(end) or ran(confined_shell, "echo on").output == "on\n"


def test_folders_in_memory_are_bounded_where_the_sandbox_can(
    confinement: Confinement, confined_shell: ShellDesk
) -> None:
    if not confinement.sandbox.is_confined:
        assert confinement.program is None
        return
    sizes = "df -B1 --output=size /dev/shm /var/tmp | tail -n +2; touch /dev/shm/x && echo shared; touch /dev/x || echo shut"
    lines = ran(confined_shell, sizes).output.split()
    assert lines[:2] == [str(command_start.TMPFS_BYTES)] * 2
    assert "shared" in lines
    assert lines[-1] == "shut"
    plain = confined(
        replace(confinement, has_sizes=False), ("true",), CommandPlaces("/p", "/p", "/s"), needs_network=False
    )
    assert "--size" not in plain, "an old bubblewrap knows no sizes, and confines all the same"
