"""The fences around every test hold."""

from __future__ import annotations

import errno
import gc
import os
import socket
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest


def test_every_directory_of_the_program_is_inside_the_tests_own(isolated_home: Path) -> None:
    assert os.environ["MANUAL_SLOP_HOME"] == str(isolated_home)
    assert not isolated_home.exists()
    base = isolated_home.parent
    for place in (platformdirs.user_config_path, platformdirs.user_cache_path, platformdirs.user_log_path):
        assert place("manual-slop").is_relative_to(base)
    assert Path.home().is_relative_to(base)


def test_no_key_server_or_proxy_of_the_machine_reaches_a_test() -> None:
    names = " ".join(os.environ).upper()
    for part in ("ANTHROPIC_", "OPENAI_", "_API_KEY", "_BASE_URL", "_PROXY"):
        assert part not in names


def run_inside(tmp_path: Path, text: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a file of tests within these fences, in a process of its own."""
    inside = tmp_path / "test_inside.py"
    inside.write_text(text)
    root = Path(__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "tests.conftest", "--rootdir", tmp_path, inside],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root), **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_terminal_of_the_caller_reaches_no_test(tmp_path: Path) -> None:
    """A suite that was started from an odd one is like any other."""
    odd = {"NO_COLOR": "1", "FORCE_COLOR": "1", "LC_ALL": "C", "LANGUAGE": "tlh", "PYTHONIOENCODING": "ascii"}
    text = (
        "import os, shutil\n"
        "from rich.console import Console\n"
        "def test_it():\n"
        f"    assert not {set(odd)} & set(os.environ)\n"
        "    assert os.environ['TERM'] == 'xterm'\n"
        "    assert shutil.get_terminal_size().columns == Console().width == 100\n"
    )
    done = run_inside(tmp_path, text, TERM="dumb", COLUMNS="7", **odd)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_test_that_hangs_ends_its_process_and_is_named_also_after_one_that_failed(tmp_path: Path) -> None:
    text = (
        "import threading\n"
        "import tests.conftest as fences\n"
        "fences.HANGS_S, fences.WATCHED_ANEW_S = 0.5, 0.1\n"
        "def test_it_fails():\n"
        "    assert False\n"
        "def test_it_hangs():\n"
        "    threading.Event().wait()\n"
    )
    done = run_inside(tmp_path, text)
    assert done.returncode == 1
    assert "in test_it_hangs" in done.stderr


def test_a_connection_past_loopback_is_refused() -> None:
    with socket.socket() as far, pytest.raises(OSError, match="tests reach no network"):
        far.connect(("192.0.2.1", 80))
    with socket.socket() as far:
        assert far.connect_ex(("192.0.2.1", 80)) == errno.ENETUNREACH
    with pytest.raises(socket.gaierror, match=r"example\.org"):
        socket.create_connection(("example.org", 443))


def test_a_connection_on_loopback_works() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as near,
    ):
        near.sendall(b"hello")
        accepted, _ = server.accept()
        with accepted:
            assert accepted.recv(5) == b"hello"


def test_the_virtual_screen_accepts_a_client(display: str) -> None:
    from Xlib.display import Display

    screen = Display(display)
    assert screen.screen().width_in_pixels == 1600
    screen.close()


def test_what_was_collected_is_out_of_the_garbage_collectors_sight_and_it_still_looks() -> None:
    assert gc.isenabled()
    assert gc.get_freeze_count() > 10_000
    assert not any(isinstance(seen, pytest.Session) for seen in gc.get_objects())


@pytest.mark.parametrize("place", ["one", "other"])
def test_a_folder_is_empty_and_of_its_test_alone(place: str, tmp_path: Path, isolated_home: Path) -> None:
    assert list(tmp_path.iterdir()) == []
    assert tmp_path.stat().st_mode & 0o777 == 0o700
    assert not tmp_path.is_relative_to(isolated_home.parent)
    assert not isolated_home.is_relative_to(tmp_path)
    assert tmp_path.name.endswith("test_a_folder_is_empty_and_of_")
    (tmp_path / place).touch()
