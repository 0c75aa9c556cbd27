"""A command that a rule lets run meets no secret of the project, however it is written; a yes to it is one to what it reads."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.agent.guarded_files import MOST_SECRETS_S, MOST_SHUT, SecretPlaces
from core.agent.sandbox import Confinement
from core.agent.tool import CommandOrder
from core.agent.tools.bash import judge_bash, run_bash
from tests.core.agent.desks import ShellDesk

WORDS = "sk-words-of-a-key"

READERS = (
    "grep -rh sk-words .",
    "cat .[e]nv config/*.env",
    "x=.e; cat ${x}nv",
    "tar cf - . | tar xOf - | strings",
    "find . -type f -exec cat {} +",
    "cp -r . /tmp/all && cat /tmp/all/.env",
    "ln .env hard 2>/dev/null && cat hard; ln -s .env soft; cat soft",
    "cat /proc/self/root$PWD/.env",
    "cat .aws/credentials; ls -A .aws",
    "cat linked",
)


@pytest.fixture
def project(confined_shell: ShellDesk, confinement: Confinement) -> ShellDesk:
    """A project with secrets, where commands are confined."""
    assert confinement.sandbox.is_confined, confinement.sandbox.problem
    root = Path(confined_shell.places.root)
    for name in (".env", "config/prod.env", ".aws/credentials", "deep/er/server.pem"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(WORDS)
    outside = root.parent / "elsewhere.txt"
    outside.write_text(WORDS)
    (root / "linked.env").symlink_to(outside)
    (root / "linked").symlink_to("linked.env")
    (root / "plain.txt").write_text("plain words")
    return confined_shell


def run(desk: ShellDesk, command: str, *, has_yes: bool) -> str:
    desk.has_yes = has_yes
    judged = judge_bash(json.dumps({"command": command}), desk)
    return run_bash(judged, desk, None).text


@pytest.mark.slow
@pytest.mark.parametrize("command", READERS)
def test_what_a_rule_lets_run_reads_no_secret(project: ShellDesk, command: str) -> None:
    said = run(project, command, has_yes=False)

    assert WORDS not in said
    assert "may hold keys or passwords" in said
    assert "as it began; what is made or replaced meanwhile is open to it" in said
    assert "A command that names them asks the person" in said


def test_a_yes_to_a_command_is_one_to_what_it_reads(project: ShellDesk) -> None:
    said = run(project, "grep -rh sk-words .", has_yes=True)

    assert said.count(WORDS) == 4
    assert "may hold keys" not in said


def test_the_rest_of_the_project_is_as_it_is_and_what_is_shut_stays_whole(project: ShellDesk) -> None:
    said = run(project, "cat plain.txt; echo over > .env; echo new > made.txt; rm -f .env; ls", has_yes=False)

    root = Path(project.places.root)
    assert "plain words" in said
    assert (root / ".env").read_text() == WORDS
    assert (root / "made.txt").read_text() == "new\n"


def test_git_takes_what_is_shut_for_no_text_of_the_project(project: ShellDesk) -> None:
    """An empty file would be committed in the place of what stands there."""
    subprocess.run(["git", "init", "-q", project.places.root], check=True)
    said = run(project, "git add -A; git status --short", has_yes=False)

    assert "can only add regular files" in said
    assert "A  .env" not in said


def test_another_name_of_a_file_with_secrets_is_shut_as_well(project: ShellDesk) -> None:
    """Hard links that were there before, also where nothing is looked for, and of a file in a folder of keys."""
    root = Path(project.places.root)
    (root / "build").mkdir()
    (root / "build" / "notes.txt").hardlink_to(root / ".env")
    (root / "other.txt").hardlink_to(root / ".aws" / "credentials")
    (root / "same.txt").hardlink_to(root / "plain.txt")

    said = run(project, "cat build/notes.txt other.txt same.txt", has_yes=False)

    assert WORDS not in said
    assert "plain words" in said
    assert run(project, "cat build/notes.txt other.txt", has_yes=True).count(WORDS) == 2


def test_a_project_without_secrets_says_nothing_of_them(confined_shell: ShellDesk) -> None:
    assert run(confined_shell, "echo fine", has_yes=False) == "fine"


def test_text_of_programs_and_keys_of_tests_are_no_secrets(tmp_path: Path) -> None:
    for name in (
        "credentials.py", "tests/data/server.pem", "tests/.env", ".env.example", "node_modules/a/.env", "src/id_rsa", "app/.SSH/x",
        ".git/.env",
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "gone.env").symlink_to("nowhere")

    found = {os.path.relpath(path, tmp_path) for path in SecretPlaces().below(str(tmp_path))}

    assert found == {"tests/.env", "src/id_rsa", "app/.SSH"}


def test_more_than_can_be_shut_keep_a_command_from_running(project: ShellDesk) -> None:
    for number in range(MOST_SHUT + 1):
        (Path(project.places.root) / f"{number}.key").write_text(WORDS)

    said = run(project, "echo ran", has_yes=False)

    assert "could not be started: more than 300 files here may hold keys or passwords" in said
    assert "ran" in run(project, "echo ran", has_yes=True)


def test_more_than_is_looked_at_keeps_a_command_from_running(
    project: ShellDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command could fill the project, and the next one read what lies behind."""
    monkeypatch.setattr("core.agent.guarded_files.MOST_SECRETS_LOOKED_AT", 50)
    said = run(project, "mkdir a && cd a && seq 100 | xargs touch && echo filled", has_yes=False)
    assert "filled" in said

    said = run(project, "cat config/*", has_yes=False)

    assert WORDS not in said
    assert "could not be started: more than 50 files are here" in said


def test_of_a_folder_with_too_many_files_none_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home as a server's argument: names alone refuse it at once."""
    for number in range(60):
        (tmp_path / f"{number}.txt").write_text(WORDS)
    monkeypatch.setattr("core.agent.guarded_files.MOST_SECRETS_LOOKED_AT", 50)
    places = SecretPlaces()

    with pytest.raises(PermissionError, match="more than 50 files"):
        places.below(str(tmp_path))

    assert places.read_bytes == 0


def test_a_search_that_takes_too_long_goes_on_where_it_stopped(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("one.txt", "a/two.txt"):
        (tmp_path / name).write_text(WORDS)
    times = iter([0.0, MOST_SECRETS_S + 1, 100.0, 101.0, 102.0])
    places = SecretPlaces(clock=lambda: next(times))

    with pytest.raises(PermissionError, match="20 seconds here"):
        places.below(str(tmp_path))
    read = places.read_bytes

    assert places.below(str(tmp_path)) == ()
    assert (read, places.read_bytes) == (len(WORDS), 2 * len(WORDS)), "each file once"


def test_a_folder_is_read_again_when_something_came_or_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for folder in ("", "deep", "deep/er"):
        os.utime(tmp_path / folder, (1, 1))
    places, read = SecretPlaces(), list[str]()
    scandir = os.scandir

    def noted(path: str) -> Iterator[os.DirEntry[str]]:
        read.append(path)
        return scandir(path)

    monkeypatch.setattr("os.scandir", noted)
    assert places.below(str(tmp_path)) == ()
    assert places.below(str(tmp_path)) == ()
    assert len(read) == 3, "once each"

    (tmp_path / "deep" / "er" / ".env").write_text("x")
    assert places.below(str(tmp_path)) == (str(tmp_path / "deep" / "er" / ".env"),)
    (tmp_path / "deep" / "er" / "b.env").write_text("x")
    assert len(places.below(str(tmp_path))) == 2, "however soon it comes"
    assert read[3:] == [str(tmp_path / "deep" / "er")] * 2


def test_an_order_sees_no_secret_unless_it_is_said() -> None:
    assert not CommandOrder("ls", "/").sees_secrets
