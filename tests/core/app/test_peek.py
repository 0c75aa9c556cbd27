"""A look at the home before anything heavy is loaded."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from core.app import home as store_home
from core.app import peek
from tests.command_forks import FORKS

OWNER = """
import sys
from pathlib import Path
from core.app import home
lock = home.own(Path(sys.argv[1]))
print("owned", flush=True)
sys.stdin.read()
"""


def test_a_home_is_owned_while_another_process_holds_it(tmp_path: Path) -> None:
    assert not peek.is_owned(tmp_path / "nowhere")
    owner = FORKS.program(OWNER, tmp_path, has_input=True)
    assert owner.line() == "owned"
    assert peek.is_owned(tmp_path)

    owner.communicate()
    assert not peek.is_owned(tmp_path)


def test_looking_does_not_take_the_home(tmp_path: Path) -> None:
    first = store_home.own(tmp_path)
    assert first is not None
    first.release()
    assert not peek.is_owned(tmp_path)
    again = store_home.own(tmp_path)
    assert again is not None
    again.release()


def test_the_windows_last_state_is_read_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    assert peek.last_state(tmp_path) == ""
    store_home.open_home(tmp_path, datetime(2026, 11, 20, tzinfo=UTC))
    store_home.write_state(tmp_path, "[viewport]\nx = 1\n")
    assert peek.last_state(tmp_path) == "[viewport]\nx = 1\n"
