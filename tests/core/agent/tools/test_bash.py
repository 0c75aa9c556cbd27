"""The tools `bash`, `bash_output` and `bash_kill`: what is judged, what the model is told."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.agent.agent_messages import CommandEnded, JudgeCall
from core.agent.agent_worker import approval_of
from core.agent.commands import Commands
from core.agent.delegation import CappedOutput
from core.agent.tool import Judged, ToolAnswer
from core.agent.tools.bash import TOOLS
from core.kernel.values.agent import ActKind
from tests.core.agent.desks import ShellDesk

BY_NAME = {tool.schema.name: tool for tool in TOOLS}


@pytest.fixture
def ended() -> list[CommandEnded]:
    return []


@pytest.fixture
def desk(isolated_home: Path, tmp_path: Path, ended: list[CommandEnded]) -> Iterator[ShellDesk]:
    (tmp_path / "project" / "sub").mkdir(parents=True)
    commands = Commands(isolated_home, lambda *_: None, ended.append, grace_s=0.2)
    yield ShellDesk(commands, tmp_path / "project", isolated_home)
    commands.close()


def judged(desk: ShellDesk, name: str = "bash", **arguments: Any) -> Judged:
    return BY_NAME[name].judge(json.dumps(arguments), desk)


def answered(desk: ShellDesk, name: str = "bash", **arguments: Any) -> ToolAnswer:
    found = judged(desk, name, **arguments)
    assert found.problem == ""
    return BY_NAME[name].run(found, desk, None)


def test_a_command_is_shown_whole_with_what_a_yes_would_allow(desk: ShellDesk) -> None:
    found = judged(desk, command="git log -1\nls", cwd="sub", background=True)
    assert found.kind is ActKind.COMMAND
    assert found.title == "Run git log -1…, in sub, in the background"
    assert found.detail.startswith("git log -1\nls\n")
    assert found.grant == "run git log\nrun ls"
    assert found.commands == (("git", "log", "-1"), ("ls",))
    assert found.reasons == ()


@pytest.mark.parametrize(
    "command",
    [
        "cat .env", "grep KEY sub/../.env.local", "cd sub && cat ../.env", "cat .e*", "cat sub/notes", "git show HEAD:.env",
        "grep -f.env x", "grep --file=.env x", "cat ~/.netrc", "cat deploy.key", "head id_rsa", "cat '.e'nv", "cat .ENV",
        "cat $PWD/.env", "cat <.env", "python3 -c 'print(open(\".env\").read())'", "cat sub/d*y.k?y", "ls .ssh/config",
    ],
)  # fmt: skip
def test_a_command_that_names_a_secret_asks_as_reading_it_does(desk: ShellDesk, command: str) -> None:
    """A rule for `cat` is no yes to read what `read_file` asks about."""
    root = Path(desk.places.root)
    for name in (".env", ".env.local", "deploy.key", "id_rsa", "sub/dully.key"):
        (root / name).write_text("secret")
    (root / "sub" / "notes").symlink_to(root / ".env")

    assert any("keys and passwords" in reason for reason in judged(desk, command=command).reasons)


@pytest.mark.parametrize(
    "command",
    [
        "cat .env.example", "cat src/*.py", "grep -r credentials src", "git commit -m 'Read .env by hand: no .env is kept'",
        "pytest tests/test_env.py", "cat key.py", "cd sub && ls", "make test",
    ],
)  # fmt: skip
def test_a_command_that_names_none_is_not_asked_about(desk: ShellDesk, command: str) -> None:
    (Path(desk.places.root) / ".env").write_text("secret")

    assert judged(desk, command=command).reasons == ()


@pytest.mark.parametrize(
    "command",
    [
        "cd / && make", "cd .. && make", "cd && make", "cd - && make", "cd ~ && make", "cd sub/../.. ; make", "cd away && make",
        "cd sub && cd ../.. && make", "cd nothere || cd .. ; make", "cd away/.. && make", "cd s* && make", "cd -P .. && make",
        "make; cd /", "cd sub away && make", *["cd sub/a && cd ../b && " * 9 + "make"],
    ],
)  # fmt: skip
def test_no_rule_covers_a_command_that_may_leave_the_project(
    desk: ShellDesk, tmp_path: Path, command: str
) -> None:
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    (Path(desk.places.root) / "away").symlink_to(tmp_path / "elsewhere" / "deep")

    found = judged(desk, command=command)

    assert (found.commands, found.grant) == ((), "")


def test_rules_cover_a_command_that_stays_in_the_project(desk: ShellDesk) -> None:
    root = Path(desk.places.root)
    for command in (
        "cd sub && make",
        f"cd {root}/sub && make",
        "cd -- sub && make",
    ):
        found = judged(desk, command=command)
        assert found.commands[-1] == ("make",)
        assert found.grant


@pytest.mark.parametrize(
    ("command", "title"),
    [
        ("  ls -a \n", "Run ls -a"),
        ("echo safe\n\n\ncurl x | sh", "Run echo safe…"),
        ("a" * 90, "Run " + "a" * 79 + "…"),
    ],
)
def test_a_title_that_leaves_something_out_says_so(desk: ShellDesk, command: str, title: str) -> None:
    assert judged(desk, command=command).title == title


def test_the_network_is_asked_for_every_time(desk: ShellDesk) -> None:
    assert "network" in judged(desk, command="curl http://x", network=True).reasons[0]


@pytest.mark.skipif(sys.platform != "linux", reason="names that are no files are Linux's")
def test_a_display_that_the_network_opens_is_said(desk: ShellDesk) -> None:
    with socket.socket(socket.AF_UNIX) as display:
        display.bind(f"\0/tmp/.X11-unix/X-of-{os.getpid()}")
        display.listen()
        assert "display" in judged(desk, command="ls", network=True).reasons[1]
        assert judged(desk, command="ls").reasons == ()


def test_a_project_that_holds_the_persons_own_folder_asks_every_time(
    desk: ShellDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert judged(desk, command="ls").reasons == ()
    monkeypatch.setenv("HOME", desk.places.root)
    assert "your own folder" in judged(desk, command="ls").reasons[0]


@pytest.mark.parametrize(
    "arguments",
    [
        {}, {"command": ""}, {"command": " \n"}, {"command": 3}, {"command": "a\0b"}, {"command": "x" * 100_001},
        {"command": "ls", "cwd": ".."}, {"command": "ls", "cwd": "/"}, {"command": "ls", "cwd": "none"},
        {"command": "ls", "cwd": "link"}, {"command": "ls", "cwd": "a\0"}, {"command": "\ud800"}, {"command": "ls", "cwd": "\ud800"}, {"command": "ls", "sudo": True},
    ],
)  # fmt: skip
def test_what_cannot_be_run_is_said_and_nobody_is_asked(desk: ShellDesk, arguments: dict[str, Any]) -> None:
    Path(desk.places.root, "link").symlink_to("/")
    assert judged(desk, **arguments).problem != ""


def test_a_folder_that_became_a_link_since_it_was_judged_runs_nothing(
    desk: ShellDesk, tmp_path: Path
) -> None:
    found = judged(desk, command="touch made", cwd="sub")
    Path(desk.places.root, "sub").rmdir()
    Path(desk.places.root, "sub").symlink_to(tmp_path)
    assert BY_NAME["bash"].run(found, desk, None).is_error
    assert not (tmp_path / "made").exists()


def test_the_answer_says_how_it_ended(desk: ShellDesk) -> None:
    assert answered(desk, command="exit 3").text == "[Exit code 3]"
    assert answered(desk, command="true").text == "[No output]"
    missing = answered(desk, command="no-such-program-here")
    assert missing.is_error
    assert "[Exit code 127]" in missing.text


def test_a_background_command_is_read_and_ended(desk: ShellDesk, ended: list[CommandEnded]) -> None:
    started = answered(
        desk, command="echo on; trap 'echo bye; exit 0' TERM; sleep 60 & wait", background=True
    )
    assert "'1'" in started.text
    assert started.is_background
    seen = ""
    for _ in range(500):
        seen += answered(desk, "bash_output", id="1").text + "\n"
        if "on" in seen.splitlines():
            break
        threading.Event().wait(0.01)
    assert "[It still runs.]" in seen
    assert "ended" in answered(desk, "bash_kill", id="1").text
    over = answered(desk, "bash_output", id="1").text
    assert "[It was ended: the model asked for it by bash_kill.]" in over
    assert "on" not in over.splitlines()
    assert answered(desk, "bash_output", id="7").is_error
    assert answered(desk, "bash_kill", id="7").is_error
    desk.every_command.close()
    assert [(end.discussion_id, end.call_id) for end in ended] == [("d", "call")]


def test_output_keeps_head_and_tail_and_says_what_is_left_out() -> None:
    output = CappedOutput(head_bytes=4, tail_bytes=6)
    for piece in (b"ab", b"cdef", b"ghijklmnop", b"q"):
        output.add(piece)
    assert output.text() == "abcd\n[… 7 bytes left out …]\nlmnopq"
    assert output.left_bytes == 7
    whole = CappedOutput(4, 6)
    whole.add(b"abcdef")
    assert (whole.text(), whole.live(), whole.left_bytes) == ("abcdef", "abcdef", 0)


def test_a_project_that_is_the_whole_file_system_runs_nothing(desk: ShellDesk, isolated_home: Path) -> None:
    whole = ShellDesk(desk.every_command, Path("/"), isolated_home)
    answer = answered(whole, command="echo ran")
    assert answer.is_error
    assert "whole file system" in answer.text


def test_a_yes_counts_for_the_folder_that_was_shown_and_not_where_its_link_leads_by_then(
    desk: ShellDesk,
) -> None:
    root = Path(desk.places.root)
    (root / "other").mkdir()
    link = root / "link"
    link.symlink_to("sub")
    given = json.dumps({"command": "ls", "cwd": "link"})
    effect = JudgeCall("d", "t", "c", "bash", given, desk.places)
    before = approval_of(effect, judged(desk, command="ls", cwd="link"))
    assert approval_of(effect, judged(desk, command="ls", cwd="link")).id == before.id
    link.unlink()
    link.symlink_to("other")
    assert approval_of(effect, judged(desk, command="ls", cwd="link")).id != before.id
