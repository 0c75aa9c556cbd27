"""Paths that a model gives, with an attacker's mind: nothing outside the folders is read, written or named."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from core.agent.agent_messages import JudgeCall
from core.agent.agent_worker import approval_of
from core.agent.guarded_files import judge_path, read_guarded, remove_guarded, write_guarded
from core.agent.tool import ToolPlaces
from core.agent.tool_policy import reasons_to_ask_before_writing
from core.kernel import opener
from core.kernel.key_names import name_reasons
from tests.command_forks import FORKS
from tests.core.agent.desks import Desk

SECRET = "the secret of the house"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text(SECRET)
    (desk.home / "hook_token").write_text(SECRET)
    (desk.root / "src").mkdir()
    (desk.root / "src" / "a.py").write_text("one = 1\n")
    return desk


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.txt",
        "src/../../outside/secret.txt",
        "{tmp}/outside/secret.txt",
        "{tmp}/home/hook_token",
        "../home/hook_token",
        "way-out/secret.txt",
        "link-to-secret",
        "chain",
        "/etc/passwd",
        "/proc/self/environ",
        "/proc/self/root/etc/passwd",
        "/dev/zero",
        "~/.ssh/id_rsa",
        "src\0/a.py",
        "",
        "\ud800",
    ],
)
def test_no_path_leads_outside(desk: Desk, tmp_path: Path, path: str) -> None:
    (desk.root / "way-out").symlink_to(tmp_path / "outside")
    (desk.root / "link-to-secret").symlink_to(tmp_path / "outside" / "secret.txt")
    (desk.root / "chain").symlink_to("link-to-secret")
    named = path.replace("{tmp}", str(tmp_path))

    for tool, more in (("read_file", {}), ("grep", {"pattern": "."}), ("write_file", {"text": "x"})):
        answer = desk.use(tool, path=named, **more)
        assert SECRET not in answer.text
        assert answer.is_error is (not (tool == "grep" and named == ""))
    assert (tmp_path / "outside" / "secret.txt").read_text() == SECRET


def test_what_is_ours_is_not_reached_where_the_home_stands_in_the_project(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.home = desk.root / ".manual_slop"
    desk.home.mkdir()
    (desk.home / "hook_token").write_text(SECRET)

    assert "this program itself" in desk.judge("read_file", path=".manual_slop/hook_token").problem
    assert SECRET not in desk.use("grep", pattern=".", path="", files=".manual_slop/*").text
    assert SECRET not in desk.use("grep", pattern=".", files=".manual*/*").text
    assert "hook_token" not in desk.use("glob", pattern=".manual*/*").text


def test_a_folder_swapped_for_a_link_after_it_was_judged_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    place = judge_path("src/secret.txt", desk.places)
    (desk.root / "src").rename(desk.root / "old")
    (desk.root / "src").symlink_to(tmp_path / "outside")

    assert place.problem == ""
    assert read_guarded(place).data is None
    assert read_guarded(place).problem
    assert write_guarded(place, b"poison", "")
    assert remove_guarded(place, read_guarded(place).sha256)
    assert (tmp_path / "outside" / "secret.txt").read_text() == SECRET
    assert os.listdir(tmp_path / "outside") == ["secret.txt"]


def test_a_file_swapped_for_a_link_after_it_was_judged_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    place = judge_path("src/a.py", desk.places)
    base = read_guarded(place).sha256
    (desk.root / "src" / "a.py").unlink()
    (desk.root / "src" / "a.py").symlink_to(tmp_path / "outside" / "secret.txt")

    assert "link" in read_guarded(place).problem
    assert write_guarded(place, b"poison", base)
    assert (tmp_path / "outside" / "secret.txt").read_text() == SECRET


def test_a_write_breaks_a_hard_link_instead_of_going_through_it(desk: Desk, tmp_path: Path) -> None:
    inside = desk.root / "notes.txt"
    os.link(tmp_path / "outside" / "secret.txt", inside)
    read = desk.judge("read_file", path="notes.txt")
    assert "another name" in " ".join(read.reasons)
    assert SECRET not in desk.use("grep", pattern="secret").text

    place = judge_path("notes.txt", desk.places)
    assert write_guarded(place, b"new", read_guarded(place).sha256) == ""
    assert inside.read_bytes() == b"new"
    assert (tmp_path / "outside" / "secret.txt").read_text() == SECRET


@pytest.mark.parametrize("name", ["pipe", "folder", "loop"])
def test_what_is_no_file_is_named_and_never_waited_for(desk: Desk, name: str) -> None:
    os.mkfifo(desk.root / "pipe")
    (desk.root / "folder").mkdir()
    (desk.root / "loop").symlink_to("loop")

    for tool in ("read_file", "view_image"):
        answer = desk.use(tool, path=name)
        assert answer.is_error
        assert name in answer.text
    assert desk.use("write_file", path=name, text="x").is_error
    assert "pipe" not in desk.use("grep", pattern=".").text


def test_a_file_of_a_gigabyte_is_refused_unread(desk: Desk) -> None:
    with (desk.root / "huge.log").open("wb") as file:
        file.truncate(1_000_000_000)

    answer = desk.use("read_file", path="huge.log")
    assert answer.is_error
    assert "1,000,000,000" in answer.text
    assert "too large" in desk.use("grep", pattern="x").text


def test_a_file_that_vanishes_between_judging_and_doing_is_said(desk: Desk) -> None:
    from core.app.tool_table import TOOLS

    judged = desk.judge("read_file", path="src/a.py")
    (desk.root / "src" / "a.py").unlink()
    answer = TOOLS["read_file"].run(judged, desk, None)
    assert answer.is_error
    assert "src/a.py" in answer.text


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".GIT/hooks/pre-commit",
        "sub/.git/config",
        ".g\u200cit/config",
        "git~1/config",
        ".git /config",
        ".git",
        ".envrc",
        ".ENVRC",
        ".vscode/tasks.json",
        ".claude/settings.json",
        ".mcp.json",
        "manual_slop.toml",
        "deep/CLAUDE.md",
        "Agents.MD",
        "POC.md",
        "GEMINI.md",
        ".github/copilot-instructions.md",
        ".zed/settings.json",
        ".githooks/pre-commit",
        "lefthook.yml",
        "mise.toml",
        "app.code-workspace",
        ".exrc",
        ".gdbinit",
    ],
)
def test_what_runs_or_rules_is_asked_about_before_every_write(desk: Desk, path: str) -> None:
    assert reasons_to_ask_before_writing(path)
    assert desk.judge("write_file", path=path, text="x").reasons


def test_a_link_to_a_hook_is_judged_where_it_leads(desk: Desk) -> None:
    (desk.root / ".git" / "hooks").mkdir(parents=True)
    (desk.root / "harmless").symlink_to(".git/hooks")

    judged = desk.judge("write_file", path="harmless/pre-commit", text="x")
    assert judged.path == str(desk.root / ".git" / "hooks" / "pre-commit")
    assert judged.reasons


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".env.local",
        ".env-prod",
        ".env_old",
        ".ENV~",
        ".envrc",
        "prod.ENV",
        "x.tfstate.backup",
        ".netrc",
        "server.pem",
        "a/id_rsa",
        ".ssh/config",
        ".npmrc",
    ],
)
def test_what_holds_keys_is_asked_about_before_every_read_and_passed_over_by_grep(
    desk: Desk, path: str
) -> None:
    file = desk.root / path
    file.parent.mkdir(exist_ok=True)
    file.write_text(SECRET)

    assert desk.judge("read_file", path=path).reasons
    assert desk.judge("grep", pattern="secret", path=path).reasons
    assert desk.judge("write_file", path=path, text="x").problem  # it was not read
    assert SECRET not in desk.use("grep", pattern="secret", files=path).text


def test_nothing_is_made_a_repository_of_git_or_written_in_one_unasked(desk: Desk) -> None:
    """Git needs no folder `.git`: any that holds these is one, and its settings name what git runs."""
    assert desk.judge("write_file", path="src/HEAD", text="ref: refs/heads/main\n").reasons
    (desk.root / "src" / "objects").mkdir(parents=True)
    assert not desk.judge("write_file", path="src/config", text="x").reasons
    (desk.root / "src" / "HEAD").write_text("ref: refs/heads/main\n")
    for path in ("src/config", "src/hooks/post-checkout", "src/deep/a.py"):
        assert desk.judge("write_file", path=path, text="x").reasons, path
    assert not desk.judge("write_file", path="other/config", text="x").reasons


def test_ordinary_files_are_not_asked_about() -> None:
    for path in ("src/a.py", "README.md", ".github/workflows/ci.yml", ".env.example", "key.py", "git/x"):
        assert reasons_to_ask_before_writing(path) == ()
        assert name_reasons(path) == ()


def test_an_allowed_root_is_written_and_shown_by_its_whole_path(desk: Desk, tmp_path: Path) -> None:
    desk.allowed = (tmp_path / "outside",)

    answer = desk.use("write_file", path=str(tmp_path / "outside" / "new.txt"), text="x\n")
    assert not answer.is_error
    assert (tmp_path / "outside" / "new.txt").read_text() == "x\n"
    assert str(tmp_path / "outside" / "new.txt") in answer.text


@pytest.mark.parametrize("has_nameless", [True, False], ids=["as it is here", "no files without a name"])
def test_a_write_keeps_the_mode_and_leaves_no_other_file(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, *, has_nameless: bool
) -> None:
    if not has_nameless:
        monkeypatch.setattr(opener, "_NAMELESS", 0)
    script = desk.root / "run.sh"
    script.write_text("old\n")
    script.chmod(0o755)
    place = judge_path("run.sh", desk.places)

    assert write_guarded(place, b"new\n", read_guarded(place).sha256) == ""
    assert script.stat().st_mode & 0o777 == 0o755
    assert sorted(os.listdir(desk.root)) == ["run.sh", "src"]


KILLED = """
import os, signal, sys
from pathlib import Path
from core.agent.guarded_files import judge_path, read_guarded, write_guarded
from core.agent.tool import ToolPlaces

root, name, step = sys.argv[1:]
setattr(os, step, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
place = judge_path(name, ToolPlaces(root, is_trusted=True))
write_guarded(place, b"new\\n" * 1000, read_guarded(place).sha256)
"""


@pytest.mark.slow
@pytest.mark.parametrize("step", ["write", "fsync", "link"])
@pytest.mark.parametrize("name", ["src/a.py", "src/new.py"])
def test_a_kill_while_a_file_is_written_leaves_nothing_of_it_in_the_project(
    desk: Desk, name: str, step: str
) -> None:
    child = FORKS.program(KILLED, desk.root, name, step)

    assert child.communicate() == (b"", b"")
    assert child.returncode == -signal.SIGKILL
    assert (desk.root / "src" / "a.py").read_text() == "one = 1\n"
    assert os.listdir(desk.root / "src") == ["a.py"]


def test_a_write_for_another_base_changes_nothing(desk: Desk) -> None:
    place = judge_path("src/a.py", desk.places)

    assert "has changed" in write_guarded(place, b"new", "0" * 64)
    assert "has changed" in write_guarded(place, b"new", "")
    assert "has changed" in write_guarded(judge_path("none.py", desk.places), b"new", "0" * 64)
    assert (desk.root / "src" / "a.py").read_text() == "one = 1\n"
    assert os.listdir(desk.root / "src") == ["a.py"]


@pytest.mark.parametrize(
    ("tool", "arguments", "there"),
    [("write_file", {"text": "x"}, "new.txt"), ("read_file", {}, "a.py"), ("grep", {"pattern": "x"}, "a.py")],
)
def test_a_yes_counts_for_the_place_that_a_link_led_to(
    desk: Desk, tool: str, arguments: dict[str, str], there: str
) -> None:
    """A folder swapped for a link between the yes and the act would turn a harmless file into a hook, or a key."""
    (desk.root / ".ssh").mkdir()
    (desk.root / ".ssh" / "a.py").write_text("one = 1\n")
    (desk.root / "way").symlink_to("src")
    given = {**arguments, "path": f"way/{there}"}
    effect = JudgeCall("d1", "m1", "c1", tool, json.dumps(given), desk.places)

    before = approval_of(effect, desk.judge(tool, **given))
    assert approval_of(effect, desk.judge(tool, **given)).id == before.id
    (desk.root / "way").unlink()
    (desk.root / "way").symlink_to(".ssh")
    assert approval_of(effect, desk.judge(tool, **given)).id != before.id


def test_without_a_project_no_file_is_reached() -> None:
    """An empty root would stand for the folder that the program was started in."""
    for path in ("README.md", "/etc/passwd", "."):
        assert "No project" in judge_path(path, ToolPlaces("")).problem
