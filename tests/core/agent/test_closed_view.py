"""What runs without a yes for this very call reads no key: not of the home, not of the project; toolchains work all the same."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from core.agent.closed_view import without_keys
from core.agent.commands import Commands
from core.agent.sandbox import Confinement
from core.agent.server_sandbox import ServerSandbox
from core.agent.tools.bash import judge_bash, run_bash
from core.kernel.command_start import HOST_LIFELINE, Lifeline, start_server
from core.kernel.values.mcp import WrappedCommand
from tests import key_places
from tests.core.agent.desks import ShellDesk, bare

READER = """
import os, sys
for line in open("paths.txt"):
    path = os.path.expanduser(line.rstrip("\\n"))
    try:
        print(open(path, "rb").read().decode("utf-8", "replace"))
    except OSError:
        pass
for top in (os.path.expanduser("~"), "."):
    for folder, _, names in os.walk(top):
        for name in names:
            try:
                print(open(os.path.join(folder, name), "rb").read().decode("utf-8", "replace"))
            except OSError:
                pass
print("all was tried")
"""
PYTHON = "/usr/bin/python3"


@pytest.fixture
def project(confined_shell: ShellDesk, confinement: Confinement) -> ShellDesk:
    """A project in a home, where commands are confined."""
    assert confinement.sandbox.is_confined, confinement.sandbox.problem
    return confined_shell


def run(desk: ShellDesk, command: str, *, has_yes: bool = False) -> str:
    desk.has_yes = has_yes
    judged = judge_bash(json.dumps({"command": command}), desk)
    return run_bash(judged, desk, None).text


def asked(desk: ShellDesk, command: str) -> tuple[str, ...]:
    return judge_bash(json.dumps({"command": command}), desk).reasons


def served(wrapped: WrappedCommand) -> str:
    """Output of a server that is started as its host starts it."""
    pipe = Lifeline()
    try:
        os.dup2(pipe.open(), HOST_LIFELINE)
        process = start_server(
            Path(wrapped.program),
            wrapped.arguments,
            wrapped.environment,
            wrapped.folder,
            wrapped.keeper,
            wrapped.mounts,
        )
        return b"".join(process.communicate()).decode("utf-8", "replace")
    finally:
        os.close(HOST_LIFELINE)
        pipe.close()


def full(desk: ShellDesk) -> dict[str, str]:
    """Fill home and project with keys. Returns the values by place."""
    root, home = Path(desk.places.root), Path.home()
    values = {
        f"~/{name}": value
        for name, value in zip(key_places.HOME_PLACES, key_places.fill_home(home), strict=True)
    }
    values |= key_places.fill_project(root)
    (root / "paths.txt").write_text("".join(f"{place}\n" for place in values))
    (root / "reader.py").write_text(READER)
    (root / "plain.md").write_text("plain words\n")
    return values


@pytest.mark.slow
def test_a_command_that_a_rule_let_run_reads_no_key_of_home_or_project(project: ShellDesk) -> None:
    values = full(project)

    said = run(project, f"{PYTHON} reader.py")

    assert "all was tried" in said
    assert "plain words" in said
    assert [place for place, value in values.items() if value in said] == []
    kept = run(project, f"{PYTHON} reader.py >out; cat out")
    assert "all was tried" in kept
    assert [place for place, value in values.items() if value in kept] == []


def test_a_yes_to_this_very_call_is_one_to_what_it_reads(project: ShellDesk) -> None:
    values = full(project)
    said = run(project, "cat config.yml .env", has_yes=True)

    assert values["config.yml"] in said
    assert values[".env"] in said


def test_a_server_reads_no_key_of_home_or_project(project: ShellDesk) -> None:
    values = full(project)
    root = project.places.root
    sandbox = ServerSandbox(project.home, project.every_command)
    try:
        said = served(sandbox.wrap("files", root, (PYTHON, f"{root}/reader.py"), needs_network=False))
    finally:
        sandbox.close()

    assert "all was tried" in said
    assert "plain words" in said
    assert [place for place, value in values.items() if value in said] == []


@pytest.mark.slow
def test_a_server_sees_its_own_folder_and_what_its_arguments_name_without_the_keys_there(
    project: ShellDesk,
) -> None:
    own = Path.home() / "servers" / "mini"
    own.mkdir(parents=True)
    (own / "mini.py").write_text("import sys, beside\nprint(beside.WORDS, open(sys.argv[1]).read(), end=' ')\nprint(open('/'.join([*__file__.split('/')[:-1], '.env'])).read())\n")  # fmt: skip
    (own / "beside.py").write_text("WORDS = 'words of a helper'\n")
    (own / ".env").write_text("VALUE=of-a-key\n")
    data = Path.home() / "Documents" / "data.txt"
    data.parent.mkdir()
    data.write_text("words of its data")
    (data.parent / "other.txt").write_text("words of others")
    sandbox = ServerSandbox(project.home, project.every_command)
    try:
        command = (PYTHON, str(own / "mini.py"), str(data))
        said = served(sandbox.wrap("mini", project.places.root, command, needs_network=False))
        beside = served(
            sandbox.wrap("ls", "", ("/bin/ls", "-A", str(data), str(data.parent)), needs_network=False)
        )
    finally:
        sandbox.close()

    assert "words of a helper words of its data" in said
    assert "of-a-key" not in said
    assert "other.txt" in beside  # a folder that is named is seen


def test_a_server_behind_links_in_a_temporary_folder_starts_twice_with_what_its_first_line_names(
    project: ShellDesk,
) -> None:
    with TemporaryDirectory(dir="/tmp") as folder, TemporaryDirectory(dir="/tmp") as other:
        interpreter = Path(other) / "venv" / "bin" / "python"
        interpreter.parent.mkdir(parents=True)
        (interpreter.parents[1] / "pyvenv.cfg").write_text(f"home = {Path(PYTHON).resolve().parent}\n")
        interpreter.symlink_to(Path(PYTHON).resolve())
        code = Path(folder) / "lib" / "mini.py"
        code.parent.mkdir()
        code.write_text(f"#!{interpreter}\nimport beside\nprint(beside.WORDS)\n")
        code.chmod(0o755)
        (code.parent / "beside.py").write_text("WORDS = 'words of a helper'\n")
        link = Path(folder) / "bin" / "mini"
        link.parent.mkdir()
        link.symlink_to("../lib/mini.py")
        right_below = Path(f"{folder}-mini")
        right_below.symlink_to(code)
        sandbox = ServerSandbox(project.home, project.every_command)
        try:
            for program in (link, right_below):
                wrapped = sandbox.wrap("mini", project.places.root, (str(program),), needs_network=False)
                assert [served(wrapped), served(wrapped)] == ["words of a helper\n"] * 2
        finally:
            sandbox.close()
            right_below.unlink()


def test_the_home_is_empty_and_the_machine_is_not_there(project: ShellDesk) -> None:
    (Path.home() / "letters").mkdir()
    said = run(
        project, "ls -A ~; test -e /etc/shadow && echo shadow; touch ~/mine && ls ~; touch /usr/x /etc/x /x"
    )

    assert "letters" not in said
    assert "shadow" not in said
    assert "mine" in said
    assert said.count("Read-only file system") == 3
    assert not (Path.home() / "mine").exists()


@pytest.mark.parametrize(
    "command",
    ["cat ~/.bashrc", "cat ../outside.txt", "ls /etc", "git -C ../other log", "grep -r x ..", "cat ~/none", "wc --files0-from=../outside.txt", "cat led"],
)  # fmt: skip
def test_a_command_that_names_a_place_outside_the_project_asks(project: ShellDesk, command: str) -> None:
    root = Path(project.places.root)
    (root.parent / "other").mkdir()
    (root.parent / "outside.txt").write_text("x")
    (Path.home() / ".bashrc").write_text("x")
    (root / "led").symlink_to(root.parent / "outside.txt")

    assert any("outside the project" in reason for reason in asked(project, command))


@pytest.mark.parametrize(
    "command", ["ls .", "git log HEAD~1..HEAD", "/usr/bin/env true", "cat src/a.py 2>/dev/null", "sed -n /def/p a.py", "ls /usr/lib", "git log -- a/../b"]
)  # fmt: skip
def test_one_that_names_places_of_the_project_and_the_system_does_not(
    project: ShellDesk, command: str
) -> None:
    assert not any("outside the project" in reason for reason in asked(project, command))


def test_a_place_that_is_shown_is_seen_and_not_asked_about(project: ShellDesk, tmp_path: Path) -> None:
    data = Path.home() / "data"
    data.mkdir()
    (data / "rows.txt").write_text("words of the data")
    (data / ".env").write_text("VALUE=of-a-key")
    (Path(project.places.root) / "sample.yml").write_text(f"token: ghp_{key_places.token(36)}")
    before = run(project, "cat ~/data/rows.txt")
    project.places = type(project.places)(
        project.places.root,
        home=project.places.home,
        is_trusted=True,
        shown=(str(data), str(Path(project.places.root) / "sample.yml")),
    )

    assert f"not {data}/rows.txt" in before
    assert "Places that are shown" in before
    assert "words of the data" in run(project, "cat ~/data/rows.txt")
    assert "of-a-key" not in run(project, "cat ~/data/.env ")
    assert "token: ghp_" in run(project, "cat sample.yml")
    assert asked(project, "cat ~/data/rows.txt") == ()


def test_a_program_that_is_not_seen_is_named_with_its_folder(
    project: ShellDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Path.home() / "tools" / "mytool"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho run\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    assert f"not {program.parent}." in run(project, "mytool")


def test_programs_on_the_path_below_the_home_run_and_their_credentials_are_not_there(
    project: ShellDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path.home()
    for name, text in {
        ".local/bin/one": "#!/bin/sh\necho one runs\n",
        ".nvm/versions/node/v20/bin/two": "#!/bin/sh\necho two runs\n",
        ".cargo/bin/three": "#!/bin/sh\necho three runs; cat ~/.cargo/credentials.toml\n",
        ".pyenv/shims/four": "#!/bin/sh\necho four runs\n",
        "elsewhere/five/bin/five": "#!/bin/sh\necho five runs\n",
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
        (home / name).chmod(0o755)
    (home / ".local/bin/five").symlink_to(home / "elsewhere/five/bin/five")
    (home / ".cargo/credentials.toml").write_text("of a key")
    moved = home.parent / "moved"
    (home / ".pyenv").rename(moved)
    (home / ".pyenv").symlink_to(moved)
    folders = [
        home / name for name in (".local/bin", ".nvm/versions/node/v20/bin", ".cargo/bin", ".pyenv/shims")
    ]
    monkeypatch.setenv("PATH", ":".join([*map(str, folders), "/usr/bin:/bin"]))

    said = run(project, "one; two; three; four; five")

    assert [word in said for word in ("one runs", "two runs", "three runs", "four runs", "five runs")] == [
        True
    ] * 5
    assert "of a key" not in said


def test_a_toolchain_that_a_variable_moves_is_seen_there_without_its_credentials(
    project: ShellDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = Path.home() / "tools" / "cargo"
    (moved / "bin").mkdir(parents=True)
    (moved / "registry").mkdir()
    (moved / "registry" / "source").write_text("words of a source\n")
    (moved / "credentials.toml").write_text("of a key\n")
    program = moved / "bin" / "three"
    program.write_text("#!/bin/sh\ncat $CARGO_HOME/registry/source $CARGO_HOME/credentials.toml\n")
    program.chmod(0o755)
    monkeypatch.setenv("CARGO_HOME", str(moved))
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")

    said = run(project, "three")

    assert "words of a source" in said
    assert "of a key" not in said


def test_packages_that_npm_fetched_are_seen_and_its_logs_are_not(project: ShellDesk) -> None:
    for name in ("_cacache/content", "_logs/log"):
        (Path.home() / ".npm" / name).parent.mkdir(parents=True)
        (Path.home() / ".npm" / name).write_text(f"words of {name}\n")

    said = run(project, f"cat {Path.home()}/.npm/_cacache/content {Path.home()}/.npm/_logs/log")

    assert "words of _cacache/content" in said
    assert "words of _logs/log" not in said


def test_go_looks_for_no_repository_where_the_project_is_none(project: ShellDesk) -> None:
    """The empty folder in the place of `.git` was a broken one to it: it built nothing."""
    assert "GOFLAGS=-buildvcs=false" in run(project, "env")
    subprocess.run(["git", "init", "-q", project.places.root], check=True)
    assert "GOFLAGS" not in run(project, "env")


def test_git_finds_the_persons_name_and_none_of_their_keys(project: ShellDesk) -> None:
    value = f"ghp_{key_places.token(36)}"
    (Path.home() / ".gitconfig").write_text(
        f'[user]\n\tname = Ada\n\temail = ada@example.org\n[credential]\n\thelper = "!echo password={value}"\n'
        f'[url "https://ada:{value}@github.com/"]\n\tinsteadOf = gh:\n[alias]\n\tco = checkout\n'
    )
    root = project.places.root
    subprocess.run(["git", "init", "-q", root], check=True)
    subprocess.run(
        ["git", "-C", root, "remote", "add", "origin", f"https://{value}@github.com/a/b"], check=True
    )
    said = run(project, "echo x > a.txt; git add a.txt; git commit -qm first; git log --format=%an%ae; git config -l; cat .git/config ~/.gitconfig")  # fmt: skip

    assert "Adaada@example.org" in said
    assert "alias.co=checkout" in said
    assert value not in said


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["worktree", "submodule", "claimed"])
def test_git_works_in_a_worktree_and_a_submodule_and_follows_no_file_that_only_claims_to_be_one(
    project: ShellDesk, kind: str
) -> None:
    root, main = Path(project.places.root), Path.home() / "main"
    root.rmdir()
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", "init", "-q", str(main)], check=True)
    subprocess.run([*git, "-C", str(main), "commit", "-q", "--allow-empty", "-m", "first words"], check=True)
    if kind == "worktree":
        subprocess.run(["git", "-C", str(main), "worktree", "add", "-q", str(root)], check=True)
    elif kind == "submodule":
        around = root.parent / "around"
        subprocess.run(["git", "init", "-q", str(around)], check=True)
        subprocess.run(
            [*git, "-C", str(around), "submodule", "--quiet", "add", str(main), "inner"], check=True
        )
        project.places = type(project.places)(
            str(around / "inner"), home=project.places.home, is_trusted=True
        )
    else:
        root.mkdir()
        (root / ".git").write_text(f"gitdir: {main}/.git\n")
    said = run(project, "git log --format=%s; git status --short")

    assert ("first words" in said) is (kind != "claimed")


def test_a_virtual_environment_elsewhere_runs_and_a_folder_that_claims_to_be_one_is_not_shown(
    project: ShellDesk,
) -> None:
    root, venv = Path(project.places.root), Path.home() / "environments" / "one"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(venv)], check=True)
    (root / ".venv").symlink_to(venv)
    private = Path.home() / "private"
    (private / "bin").mkdir(parents=True)
    (private / "letters.txt").write_text("private words")
    (root / "fake").mkdir()
    (root / "fake" / "pyvenv.cfg").write_text(f"home = {private}/bin\n")

    said = run(project, f".venv/bin/python -c 'import sys; print(sys.prefix)'; cat {private}/letters.txt")

    assert f"{root}/.venv\n" in said
    assert "private words" not in said


def test_a_project_that_holds_the_persons_own_folder_has_no_closed_view(
    confinement: Confinement, isolated_home: Path
) -> None:
    commands = Commands(isolated_home, lambda *_: None, lambda *_: None, find=lambda: confinement)
    try:
        with pytest.raises(PermissionError, match="the project holds your own folder"):
            commands.closed_view(str(Path.home()), ())
    finally:
        commands.close()


def test_a_project_below_the_home_is_seen_and_its_neighbours_are_not(
    confinement: Confinement, isolated_home: Path
) -> None:
    root = Path.home() / "code" / "one"
    root.mkdir(parents=True)
    (root / "a.txt").write_text("words of the project")
    (Path.home() / "code" / "two").mkdir()
    commands = Commands(isolated_home, lambda *_: None, lambda *_: None, find=lambda: confinement)
    try:
        said = run(ShellDesk(commands, root, isolated_home), "cat a.txt; ls -A .. ~; echo more >> a.txt")
    finally:
        commands.close()

    assert "words of the project" in said
    assert "two" not in said
    assert (root / "a.txt").read_text() == "words of the projectmore\n"


def test_links_to_settings_in_a_toolchain_lead_to_none_and_commands_begin(project: ShellDesk) -> None:
    """A program that keeps settings in one place leaves links to them; no command began beside one."""
    value = f"ghp_{key_places.token(36)}"
    bun, dotfiles = Path.home() / ".bun/install/global", Path.home() / "dotfiles"
    for folder in (bun / "inner", dotfiles):
        folder.mkdir(parents=True)
    (dotfiles / "npmrc").write_text(value)
    (bun / "inner" / "settings").write_text(value)
    (bun / ".npmrc").symlink_to(dotfiles / "npmrc")
    (bun / ".netrc").symlink_to("/nowhere/netrc")
    (bun / ".env").symlink_to("inner/settings")

    said = run(project, "cat ~/.bun/install/global/.npmrc ~/.bun/install/global/.env; echo begun")

    assert "begun" in said
    assert value not in said


def test_settings_of_git_keep_all_lines_but_those_of_keys() -> None:
    value = f"ghp_{key_places.token(36)}"
    text = (
        f'[core]\n\tbare = false\n[remote "a"]\n\turl = https://x:{value}@h/p\n\tfetch = +refs/heads/*\n[remote "b"]\n\turl = ssh://git@h/p\n'
        f'[http "https://h"]\n\textraHeader = \\\nAuthorization: {value}\n[url "https://{value}@h"]\n\tinsteadOf = h:\n[alias]\n\tst = status\n'
    )
    assert without_keys(text) == (
        '[core]\n\tbare = false\n[remote "a"]\n\tfetch = +refs/heads/*\n[remote "b"]\n\turl = ssh://git@h/p\n[alias]\n\tst = status\n'
    )


def test_nothing_is_closed_where_nothing_confines(isolated_home: Path, tmp_path: Path) -> None:
    """No rule lets a command run there: a person is asked about each."""
    root = tmp_path / "bare"
    root.mkdir()
    commands = Commands(isolated_home, lambda *_: None, lambda *_: None, find=bare)
    try:
        assert "fine" in run(ShellDesk(commands, root, isolated_home), "echo fine")
    finally:
        commands.close()


@pytest.mark.parametrize(
    ("command", "name"), [("git init -q .", ".git"), ("echo x > .vscode/tasks.json", ".vscode")]
)
def test_a_place_that_no_command_may_write_is_named_where_a_program_only_says_read_only(
    project: ShellDesk, command: str, name: str
) -> None:
    said = run(project, command, has_yes=True)
    assert f"{name} is read-only for every command, whatever the person says" in said
    assert "write_file asks them" in said
    assert "is read-only for every command" not in run(project, "git init -q new; ls -A new", has_yes=True)
