"""Set-up of a fresh machine: what is missing is installed or named in one line, and nothing is done twice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import bootstrap

SCRIPT = bootstrap.ROOT / "scripts/bootstrap.py"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a lock of two packages, where every step of set-up is written down instead of run."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "requirements.lock").write_text(
        "alpha==1 \\\n    --hash=sha256:aa\nuv==2 \\\n    --hash=sha256:bb \\\n    --hash=sha256:cc\n"
    )
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "scripts/bootstrap.py").write_text("")
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(bootstrap, "STAMP", tmp_path / ".venv" / bootstrap.STAMP.name)
    monkeypatch.setattr(bootstrap, "missing_system_packages", lambda **_: [])
    return tmp_path


@pytest.fixture
def steps(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What set-up ran, first word and the rest, with the checkout's path left out."""
    done: list[str] = []

    def record(*command: object) -> None:
        (checkout / ".venv/bin").mkdir(parents=True, exist_ok=True)
        (checkout / ".venv/bin/python").touch()
        done.append(" ".join(map(str, command)).replace(f"{checkout}/", ""))

    monkeypatch.setattr(bootstrap, "run", record)
    monkeypatch.setattr(bootstrap, "is_venv_sound", lambda: False)
    monkeypatch.setattr("shutil.which", lambda name: "/bin/uv" if name == "uv" else None)
    return done


def test_the_lock_is_installed_with_hashes_and_the_checkout_on_top(steps: list[str]) -> None:
    bootstrap.set_up("test")
    assert [step.split(" -")[0] for step in steps] == [
        "/bin/uv venv",
        "/bin/uv pip sync",
        "/bin/uv pip install",
    ]
    assert "--require-hashes requirements.lock" in steps[1]
    assert "--no-deps --no-build-isolation" in steps[2]


def test_a_second_run_does_nothing(steps: list[str]) -> None:
    bootstrap.set_up("test")
    steps.clear()
    bootstrap.set_up("run")
    assert steps == []


def test_without_npm_or_its_registry_set_up_goes_on_and_says_which_test_will_fail(
    steps: list[str], checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bootstrap.set_up("test")
    assert "the test that speaks with it will fail" in capsys.readouterr().out
    package = checkout / ".optional/node_modules" / bootstrap.FILE_SERVER / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text(f'{{\n  "version": "{bootstrap.FILE_SERVER_VERSION}"\n}}')
    bootstrap.set_up("test")
    bootstrap.set_up("run")
    assert (capsys.readouterr().out, len(steps)) == ("", 3)


@pytest.mark.parametrize("changed", ["requirements.lock", "pyproject.toml"])
def test_a_changed_lock_or_project_is_installed_again(steps: list[str], checkout: Path, changed: str) -> None:
    bootstrap.set_up("test")
    steps.clear()
    with (checkout / changed).open("a") as file:
        file.write("# changed\n")
    bootstrap.set_up("test")
    assert any("pip sync" in step for step in steps)


def test_a_step_that_fails_leaves_set_up_unfinished(
    steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    del steps
    monkeypatch.setattr(bootstrap, "run", _fail)
    with pytest.raises(bootstrap.SetUpError):
        bootstrap.set_up("test")
    assert not bootstrap.STAMP.exists()


def _fail(*_command: object) -> None:
    raise bootstrap.SetUpError("no")


def test_without_uv_on_path_the_locked_one_is_installed_into_the_environment(
    steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    bootstrap.set_up("test")
    assert steps[0] == f"{sys.executable} -m venv --clear .venv"
    assert "-m pip" in steps[1]
    assert "--require-hashes" in steps[1]
    assert steps[2].startswith(".venv/bin/uv pip sync")
    assert bootstrap.locked("uv") == "uv==2 \\\n    --hash=sha256:bb \\\n    --hash=sha256:cc\n"


def test_missing_packages_without_root_are_named_in_one_line_with_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: "/usr/bin/apt-get")
    monkeypatch.setattr(bootstrap, "root_prefix", lambda: None)
    with pytest.raises(bootstrap.SetUpError) as caught:
        bootstrap.install_system_packages(["xvfb", "libgl1"])
    text = str(caught.value)
    assert text.endswith("sudo apt-get install -y --no-install-recommends xvfb libgl1")
    assert "\n" not in text


def test_an_old_python_is_told_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.version_info", (3, 10, 12))
    monkeypatch.setattr("sys.argv", ["bootstrap.py", "run"])
    assert bootstrap.main() == 1
    assert "Python 3.11 or newer is needed" in capsys.readouterr().err


def test_where_all_is_done_the_program_itself_does_and_says_nothing(checkout: Path) -> None:
    script = checkout / "scripts/bootstrap.py"
    shutil.copy(SCRIPT, script)
    (checkout / ".venv/bin").mkdir(parents=True)
    (checkout / ".venv/bin/python").touch()
    bootstrap.STAMP.write_text(bootstrap.fingerprint())
    before = sorted(checkout.rglob("*"))
    offline = {**os.environ, "UV_OFFLINE": "1", "PIP_NO_INDEX": "1"}

    done = subprocess.run(
        [sys.executable, script, "check"], env=offline, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(checkout.rglob("*")) == before
