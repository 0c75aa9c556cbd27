"""A stranger's folder that wants to run: the program is started in it by each front end, and nothing of it runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.base import child_process
from core.base.child_process import desktop_environment, find_program, open_address
from core.base.surroundings import leave_folder
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer, Said

WAIT_S = 60.0
MARKER = "ran.txt"
SECRET = "sk-of-the-person"
MODULES = (
    *("core/__init__", "core/cli/__init__", "gui/__init__", "gui/main", "panels/__init__", "numpy", "json", "sitecustomize"),
    *("usercustomize", "encodings/__init__", "msgspec", "httpx", "openai", "keyring", "dearpygui/__init__", "platformdirs"),
)  # fmt: skip
PROGRAMS = (
    *("python", "python3", "git", "claude", "node", "Xvfb", "xdg-open", "gio", "x-www-browser", "wslview", "firefox"),
    *("lsb_release", "uname", "ldconfig", "gcc", "cc", "ld", "objdump", "nvidia-smi", "uv", "make", "sh"),
)  # fmt: skip


class Folder:
    """The folder with all traps, and a home and a server beside it."""

    def __init__(self, base: Path, server: CompatibleServer) -> None:
        self.server = server
        self.home = base / "home"
        self.path = base / "strangers"
        marker = self.path / MARKER
        for module in MODULES:
            file = self.path / f"{module}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"open({str(marker)!r}, 'a').write({module!r} + '\\n')\n")
        for name in PROGRAMS:
            file = self.path / name
            file.write_text(f"#!/bin/sh\necho {name} >> '{marker}'\n")
            file.chmod(0o755)
        (self.path / ".env").write_text(f"OPENAI_BASE_URL=http://127.0.0.1:1/v1\nPYTHONPATH={self.path}\n")
        (self.path / "manual_slop.toml").write_text('[ai_settings]\nprovider = "theirs"\n')
        config = base / "config.toml"
        config.write_text(
            f'[providers.local]\nbase_url = "{server.url}/v1"\n'
            f'[ai_settings]\nprovider = "local"\nmodel = "{MODEL}"\n'
        )
        search = os.pathsep.join([".", "", *os.environ["PATH"].split(os.pathsep)])
        self.environ = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "PATH": search,
            "MANUAL_SLOP_CONFIG": str(config),
            "ANTHROPIC_API_KEY": SECRET,
        }

    def start(self, module: str, *arguments: str, safe: str = "-P") -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, *filter(None, [safe]), "-m", module, "--home", str(self.home), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self.path,
            env=self.environ,
        )

    @property
    def ran(self) -> list[str]:
        marker = self.path / MARKER
        return marker.read_text().split() if marker.exists() else []


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    with CompatibleServer(VLLM) as server:
        yield Folder(tmp_path, server)


def test_the_command_line_runs_nothing_of_it(folder: Folder) -> None:
    folder.server.replies.append(Said("It turns."))

    with folder.start("core.cli", "send", "When does the tide turn?") as send:
        said, _ = send.communicate(timeout=WAIT_S)
    with folder.start("core.cli", "doctor", "--quick") as doctor:
        found, _ = doctor.communicate(timeout=WAIT_S)

    assert b"It turns." in said
    assert b"packages" in found
    assert folder.ran == []


def test_a_program_without_a_window_runs_nothing_of_it(folder: Folder) -> None:
    with folder.start("gui.main", "--headless", "--hooks") as program:
        assert program.stdout is not None
        is_running = any(line.startswith(b"Running without a window") for line in program.stdout)
        program.send_signal(signal.SIGTERM)
        program.communicate(timeout=WAIT_S)

    assert is_running
    assert folder.ran == []


@pytest.mark.gui
def test_the_window_runs_nothing_of_it(folder: Folder, display: str) -> None:
    folder.environ["DISPLAY"] = display
    hook = folder.home / "hook.json"
    with folder.start("gui.main", "--hooks") as program:
        try:
            end = time.monotonic() + WAIT_S
            while not hook.exists() and program.poll() is None and time.monotonic() < end:
                with pytest.raises(subprocess.TimeoutExpired):
                    program.wait(0.05)
        finally:
            program.terminate()
            said, _ = program.communicate(timeout=WAIT_S)

    assert hook.exists(), said
    assert folder.ran == []


def test_programs_are_found_in_absolute_folders_alone(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "claude").write_text("#!/bin/sh\n")
    (tools / "claude").chmod(0o755)
    monkeypatch.chdir(folder.path)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", "strangers", str(tools)]))

    assert find_program("claude") == tools / "claude"
    assert find_program("git") is None
    assert find_program("git", [folder.path]) == folder.path / "git"


def test_an_address_goes_to_the_desktop_s_own_program_without_keys(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, told = tmp_path / "tools", tmp_path / "told"
    tools.mkdir()
    os.mkfifo(told)
    (tools / "xdg-open").write_text(f'#!/bin/sh\n(echo "$1"; pwd; /usr/bin/env) > {told}\n')
    (tools / "xdg-open").chmod(0o755)
    monkeypatch.chdir(folder.path)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", str(tools)]))
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-7")

    assert open_address("https://example.org/a b")
    address, place, *environment = told.read_text().splitlines()

    assert (address, place) == ("https://example.org/a b", str(child_process.PACKAGE_ROOT))
    assert "WAYLAND_DISPLAY=wayland-7" in environment
    assert not any(SECRET in line for line in environment)
    assert folder.ran == []


def test_where_no_program_takes_addresses_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    assert open_address("https://example.org") is False


def test_a_desktop_program_gets_the_screen_and_no_key() -> None:
    environ = {
        "DISPLAY": ":0",
        "XDG_RUNTIME_DIR": "/run/user/1",
        "PATH": "/bin:.",
        "MY_KEY": SECRET,
        "HOME": "/h",
    }

    assert desktop_environment(environ) == {
        "DISPLAY": ":0",
        "XDG_RUNTIME_DIR": "/run/user/1",
        "PATH": "/bin",
        "HOME": "/h",
    }


def test_the_process_leaves_the_folder_that_it_stands_in(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.path)
    monkeypatch.setenv("PATH", os.pathsep.join([".", "", "/usr/bin", "bin"]))
    monkeypatch.setattr(sys, "path", [str(folder.path), "", "/usr/lib/python"])

    leave_folder()

    assert os.environ["PATH"] == "/usr/bin"
    assert sys.path == ["/usr/lib/python"]
