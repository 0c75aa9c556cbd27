"""A stranger's folder with every trap at once: each front end lists what it holds back; nothing runs, nothing is sent."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from core.front.hooks.client import HookClient, find
from core.kernel import child_process
from core.kernel.child_process import desktop_environment, find_program, open_address
from core.kernel.surroundings import leave_folder
from tests import strangers_traps
from tests.patience import PATIENCE_S
from tests.vendors.compatible_server import MODEL, VLLM, CompatibleServer, Said

WAIT_S = PATIENCE_S
SECRET = "sk-of-the-person"
T = TypeVar("T")


class Folder:
    """The folder with all traps, with a home, a person's own server and the stranger's beside it."""

    def __init__(self, base: Path, server: CompatibleServer, evil: CompatibleServer) -> None:
        self.server, self.evil = server, evil
        self.home = base / "home"
        self.path = base / "strangers"
        strangers_traps.lay(self.path, evil.url)
        config = base / "config.toml"
        config.write_text(
            f'[providers.local]\nbase_url = "{server.url}/v1"\n'
            f'[ai_settings]\nprovider = "local"\nmodel = "{MODEL}"\n'
        )
        self.before = strangers_traps.listing(self.path)
        search = os.pathsep.join([".", "", *os.environ["PATH"].split(os.pathsep)])
        keys = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "MANUAL_SLOP_KEY_THEIRS", "MANUAL_SLOP_KEY_MY_SERVER")
        self.environ = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "PATH": search,
            "MANUAL_SLOP_CONFIG": str(config),
            **dict.fromkeys(keys, SECRET),
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

    @contextmanager
    def running(self, *arguments: str) -> Iterator[Running]:
        """A program with its Hook API, ended as a person ends it."""
        with self.start("gui.main", "--hooks", *arguments) as program:
            try:
                address = _until(program, lambda: find(self.home))
                yield Running(program, HookClient(address))
            finally:
                program.terminate()
                self.said, _ = program.communicate(timeout=WAIT_S)

    def check(self) -> None:
        """Nothing ran, nothing was sent to the stranger, and nothing was made or changed."""
        assert not (self.path / strangers_traps.MARKER).exists(), (
            self.path / strangers_traps.MARKER
        ).read_text()
        assert self.evil.requests == []
        assert strangers_traps.listing(self.path) == self.before


@dataclass(frozen=True)
class Running:
    """A program that runs, and who asks it."""

    program: subprocess.Popen[bytes]
    client: HookClient

    def notice(self, holds: Callable[[dict[str, Any]], bool]) -> str:
        """Wait for a notice. Returns its words."""

        def look() -> dict[str, Any] | None:
            return next(filter(holds, self.client.get("/api/status")["notices"]), None)

        found = _until(self.program, look)
        return f"{found['text']}\n{found['detail']}"


def _until(program: subprocess.Popen[bytes], look: Callable[[], T | None]) -> T:
    end = time.monotonic() + WAIT_S
    while (found := look()) is None and time.monotonic() < end:
        with suppress(subprocess.TimeoutExpired):
            program.wait(0.1)
            raise AssertionError(program.communicate())
    assert found is not None
    return found


def missing(text: str) -> list[str]:
    """What a list of what is held back does not name."""
    return [words for words in strangers_traps.HELD_BACK if words not in text]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    with CompatibleServer(VLLM) as server, CompatibleServer(VLLM) as evil:
        folder = Folder(tmp_path, server, evil)
        yield folder
        folder.check()


def test_the_command_line_says_what_it_holds_back_and_obeys_nothing(folder: Folder) -> None:
    folder.server.replies.append(Said("It turns."))

    with folder.start("core.front.cli", "send", "When does the tide turn?") as send:
        said, _ = send.communicate(timeout=WAIT_S)
    with folder.start("core.front.cli", "doctor", "--quick") as doctor:
        found, _ = doctor.communicate(timeout=WAIT_S)

    assert b"It turns." in said
    assert b"packages" in found
    assert (missing(said.decode()), missing(found.decode())) == ([], [])
    assert not set(said.decode()) & {"\u202e", "\x1b"}
    sent = str(folder.server.bodies[-1])
    assert "When does the tide turn?" in sent
    assert strangers_traps.OUTSIDE not in sent
    assert SECRET not in str(folder.server.requests)


def test_a_program_without_a_window_says_it_whatever_stands_there_by_turns(folder: Folder) -> None:
    file = folder.path / "manual_slop.toml"
    greedy = file.read_text()
    with folder.running("--headless") as running:
        assert missing(running.notice(lambda one: one["id"] == "trust")) == []
        for said, lay in strangers_traps.TURNS.items():
            lay(file)
            told = running.notice(lambda one, said=said: _is_of(one, file, said))  # type: ignore[misc]
            assert said in told
        file.unlink()
        file.write_text(greedy)
        running.notice(lambda one: one["id"] == "trust" and "theirs" in one["detail"])
        status = running.client.get("/api/status")

    assert missing(folder.said.decode()) == []
    assert [
        one["id"] for one in status["providers"] if one["id"] in {"theirs", "my_server", "my-server"}
    ] == []
    assert status["default_provider"] == "local"
    assert folder.server.bodies == []


def _is_of(notice: dict[str, Any], file: Path, said: str) -> bool:
    return notice["id"] == f"settings/{file}" and said in notice["text"] + notice["detail"]


@pytest.mark.gui
def test_the_window_shows_it_and_obeys_nothing(folder: Folder, display: str) -> None:
    folder.environ["DISPLAY"] = display
    with folder.running() as running:
        told = running.notice(lambda one: one["id"] == "trust")
        shown = running.client.get("/api/status")["project"]

    assert missing(told) == []
    assert (shown["is_trusted"], len(shown["held_back"])) == (False, 5)
    assert folder.server.bodies == []


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
