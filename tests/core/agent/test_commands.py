"""Commands with an attacker's mind: what they reach, what they leave behind, and how they end."""

from __future__ import annotations

import ctypes
import json
import os
import queue
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import msgspec
import pytest

from core.agent.agent_messages import CommandEnded
from core.agent.commands import VARIABLE, Commands, RunMark, survivors
from core.agent.sandbox import Confinement
from core.agent.tool import CommandOrder
from core.agent.tool_policy import Standing, rule
from core.kernel import paths
from core.kernel.command_start import Lifeline
from core.kernel.values.agent import ActKind, Approval, Mode
from core.kernel.values.settings import PolicyAnswer
from tests.core.agent.desks import ShellDesk, bare, marked, ran, shell_desks, wait_for
from tests.patience import PATIENCE_S, ends

MARKER = "SLOP_TEST_MARKER"


def test_output_exit_code_and_folder_come_back(shell: ShellDesk) -> None:
    outcome = ran(shell, "pwd; echo words >&2; exit 3")
    assert outcome.output.splitlines() == [shell.places.root, "words"]
    assert outcome.exit_code == 3
    assert outcome.ended_by == ""


def test_nobody_can_be_asked_and_no_key_goes_along(shell: ShellDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("BASH_ENV", "/tmp/evil")
    outcome = ran(shell, 'read line; echo "read $?"; env')
    assert "read 1" in outcome.output
    assert "sk-secret" not in outcome.output
    assert "BASH_ENV" not in outcome.output


def test_what_leaves_its_group_ends_with_the_call(shell: ShellDesk) -> None:
    marker = f"9{os.getpid()}.1"
    outcome = ran(shell, f"(setsid sleep {marker} &) ; setsid -f sleep {marker}; echo started")
    assert outcome.output.strip() == "started"
    assert marked(marker) == []


def test_sigterm_ignored_ends_at_its_time_with_all_its_children(shell: ShellDesk) -> None:
    marker = f"9{os.getpid()}.2"
    line = f"trap '' TERM; echo on; (trap '' TERM; setsid sleep {marker}) & sleep {marker}"
    outcome = ends(lambda: ran(shell, line, timeout_s=0.4))
    assert outcome.ended_by == "its time was over"
    assert outcome.output.strip() == "on"
    assert marked(marker) == []


def test_a_person_stops_a_command(shell: ShellDesk) -> None:
    marker = f"9{os.getpid()}.3"

    def stop() -> None:
        wait_for(lambda: bool(marked(marker)))
        shell.cancel()

    thread = threading.Thread(target=stop)
    thread.start()
    outcome = ran(shell, f"sleep {marker}")
    thread.join()
    assert outcome.ended_by == "the person stopped it"
    assert marked(marker) == []


def test_a_fork_bomb_is_bounded(shell: ShellDesk) -> None:
    marker = f"9{os.getpid()}.4"
    outcome = ran(shell, f"exec >&- 2>&-; for i in {{1..60}}; do setsid sleep {marker} & done; wait")
    assert outcome.ended_by == "it started more than 20 processes"
    assert marked(marker) == []


def test_what_goes_over_a_bound_gets_no_time_to_take_more(shell: ShellDesk) -> None:
    outcome = ran(shell, "trap 'echo asked' TERM; for i in {1..40}; do sleep 50 & done; wait; wait")
    assert outcome.ended_by == "it started more than 20 processes"
    assert "asked" not in outcome.output


def test_a_command_is_ended_where_no_thread_can_be_started_for_it(
    confined_shell: ShellDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start

    def refused(thread: threading.Thread) -> None:
        if thread.name == "command end":
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refused)
    outcome = ran(confined_shell, "sleep 51", timeout_s=0.1)
    assert outcome.ended_by == "its time was over"
    assert not marked("sleep 51")


def test_a_flood_keeps_head_and_tail_and_ends(
    confined_shell: ShellDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.agent.commands.MOST_OUTPUT_BYTES", 3_000_000)
    outcome = ran(confined_shell, "echo first; yes")
    assert "wrote more than" in outcome.ended_by
    assert outcome.output.startswith("first\n")
    assert outcome.left_bytes > 2_000_000
    assert len(outcome.output) < 40_000


def test_what_is_written_before_a_silence_is_shown_in_it(confined_shell: ShellDesk) -> None:
    ran(confined_shell, "echo first; sleep 0.3")
    assert confined_shell.tails == ["first\n"]


def test_in_the_sandbox_nothing_is_reached_that_is_not_the_projects(
    confined_shell: ShellDesk, confinement: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One command tries everything at once. Where no sandbox works, each command says so and asks instead."""
    desk = confined_shell
    if not confinement.sandbox.is_confined:
        ruling = rule(
            Approval(ActKind.COMMAND, "ls", id="x"), Standing(Mode.ASK, confinement.sandbox, is_trusted=True)
        )
        assert ruling.answer is PolicyAnswer.ASK
        assert "unconfined" in ruling.approval.reasons[0]
        return
    root = Path(desk.places.root)
    person = (
        root / "person"
    )  # a project may be the person's own folder: what is hidden is hidden in it as well
    ours = root / "slop"
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setattr(desk, "places", msgspec.structs.replace(desk.places, home=str(ours)))
    monkeypatch.setattr(desk.every_command, "_home", ours)
    for place in (ours, person / ".ssh", person / ".config", root / "sub", root / "other"):
        place.mkdir(parents=True)
    secrets = [ours / "hook_token", person / ".ssh" / "id", person / ".config" / "x", person / ".netrc"]
    for secret in secrets:
        secret.write_text(MARKER)
    subprocess.run(["git", "init", "-q", "--template=", root], check=True)
    (root / ".git" / "info").mkdir()
    (root / ".git" / "info" / "exclude").write_text("person\nslop\na\n")
    (root / "CLAUDE.md").write_text("old\n")
    (root / "sub" / ".envrc").write_text("old\n")
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as agent:
        agent.bind(str(root / "a"))  # the path of a socket is short
        agent.listen()
        script = f"""
        cat {" ".join(map(str, secrets))}; ls -a {ours} {person}/.ssh
        grep -az {MARKER} /proc/*/environ
        find /proc/sys -type f -writable -print -quit | grep . && echo WROTE kernel
        echo x > /etc/out && echo WROTE etc; echo x > {person}/.ssh/id && echo WROTE key
        mkdir -p .git/hooks && echo x > .git/hooks/pre-commit && echo WROTE hook
        echo x >> .git/config && echo WROTE config; echo x > .git/commondir && echo WROTE commondir
        git config core.fsmonitor x && echo WROTE fsmonitor
        mv .git elsewhere && echo WROTE git; rm -f .envrc; echo x > .envrc && echo WROTE envrc
        rm -f CLAUDE.md; echo x > CLAUDE.md && echo WROTE identity; echo x > .mcp.json && echo WROTE mcp
        mkdir -p .claude/x && echo WROTE claude; ln -s /etc .vscode/x && echo WROTE vscode
        echo x > sub/.envrc && echo WROTE below; mv sub elsewhere && echo WROTE sub; mv person elsewhere && echo WROTE person
        (echo > /dev/tcp/127.0.0.1/{tcp.getsockname()[1]}) && echo REACHED tcp
        {os.path.realpath(sys.executable)} -c 'import socket; print("PYTHON"); socket.socket(socket.AF_UNIX).connect("{root}/a")' && echo REACHED agent
        ls -A /run | grep -v current-system && echo REACHED run
        cd {root}; kill -0 {os.getpid()} && echo REACHED process
        echo x > other/.envrc; echo mine > made.txt; echo private > /tmp/made-by-test
        git add . && git -c user.name=a -c user.email=a@b commit -qm made && git status --porcelain && echo ENDED
        """
        monkeypatch.setenv(MARKER, MARKER)
        outcome = ran(desk, script)
    assert MARKER not in outcome.output
    assert "WROTE" not in outcome.output
    assert "REACHED" not in outcome.output
    assert "PYTHON" in outcome.output
    assert outcome.output.rstrip().endswith("ENDED")
    assert [path for path in (".envrc", ".mcp.json", ".claude") if f"?? {path}" in outcome.output] == []
    first, kept = (note.partition(" ")[0] for note in outcome.notes)
    assert (first, kept) == (str(root / "other" / ".envrc"), ".claude"), "named where a command tried"
    assert not os.path.exists("/tmp/made-by-test")
    assert (root / "CLAUDE.md").read_text() == "old\n"
    names = sorted(path.name for path in root.iterdir())
    assert names == [".git", "CLAUDE.md", "a", "made.txt", "other", "person", "slop", "sub"]
    assert not {"hooks", "commondir", "config.worktree"} & {path.name for path in (root / ".git").iterdir()}


_LOOK_FOR_KEY = """
import ctypes
call = ctypes.CDLL(None).syscall
key, found = call({keyctl}, 10, -3, b"user", b"ticket", 0), ctypes.create_string_buffer(16)
print(call({keyctl}, 11, key, found, 16), found.value.decode())
"""


def test_keys_of_the_persons_session_are_in_no_sandbox(confined_shell: ShellDesk) -> None:
    """A login puts tickets there, and a namespace of its own does not hide them."""
    number, add = {"x86_64": (250, 248), "aarch64": (219, 217)}[os.uname().machine]
    look = Path(confined_shell.places.root) / "look.py"
    look.write_text(_LOOK_FOR_KEY.format(keyctl=number))
    python = os.path.realpath(sys.executable)
    met: list[str] = []

    def in_a_session() -> None:  # of this thread alone
        call = ctypes.CDLL(None).syscall
        call(number, 1, b"login")
        call(add, b"user", b"ticket", b"secret", 6, -3)
        met.append(subprocess.check_output([python, str(look)], text=True))
        met.append(ran(confined_shell, f"{python} look.py").output)

    thread = threading.Thread(target=in_a_session)
    thread.start()
    thread.join()
    assert met[0] in {"6 secret\n", "-1 \n"}, "found where the kernel holds keys"
    assert met[1] == "-1 \n"


def test_the_network_is_there_for_the_call_that_asked_and_keys_stay_hidden(
    confined_shell: ShellDesk, isolated_home: Path
) -> None:
    isolated_home.mkdir()
    (isolated_home / "hook_token").write_text(MARKER)
    with socket.create_server(("127.0.0.1", 0)) as tcp:
        connect = f"(echo > /dev/tcp/127.0.0.1/{tcp.getsockname()[1]}) && echo REACHED; cat {isolated_home}/hook_token"
        outcome = ran(confined_shell, connect, network=True)
    assert "REACHED" in outcome.output
    assert (MARKER in outcome.output) is not confined_shell.commands.sandbox.is_confined


@pytest.mark.slow
def test_all_ends_with_the_program_even_when_it_is_killed(
    confinement: Confinement, isolated_home: Path, tmp_path: Path
) -> None:
    marker = f"9{os.getpid()}.5"
    code = f"""
import sys, time
from pathlib import Path
from core.kernel import command_start as command_bounds
from core.agent.commands import Commands
from core.agent.tool import CommandOrder
from tests.core.agent.desks import ShellDesk
from tests.core.agent.desks import bare
root, home = map(Path, sys.argv[1:])
for find in ({{}}, {{"find": bare}}):
    desk = ShellDesk(Commands(home, print, print, **find), root, home)
    desk.commands.start(CommandOrder("setsid sleep {marker} & trap '' TERM; sleep {marker}", str(root)), desk)
print("on", flush=True)
time.sleep(60)
"""
    program = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path, isolated_home],
        stdout=subprocess.PIPE,
        cwd=paths.__file__.rpartition("/core/")[0],
    )
    try:
        assert program.stdout is not None
        assert program.stdout.readline() == b"on\n"
        assert wait_for(lambda: len(marked(marker)) >= 4)
        program.kill()
        assert wait_for(lambda: not marked(marker))
    finally:
        program.kill()
        program.communicate()
    held = {name for name in os.listdir(tmp_path) if name.startswith(".") or name.endswith(".md")}
    assert {".envrc", ".vscode", "CLAUDE.md"} <= held or not confinement.sandbox.is_confined
    (tmp_path / ".vscode").mkdir(exist_ok=True)
    (tmp_path / ".vscode" / "settings.json").write_text("mine")
    other = RunMark(isolated_home)
    other.note()
    assert wait_for(lambda: survivors(isolated_home) == ()), (
        "one that is being ended has lost its words, not its mark"
    )
    assert {*os.listdir(tmp_path)} >= held, "a command of another program may need them"
    other.drop()
    assert survivors(isolated_home) == ()
    assert {*os.listdir(tmp_path)} & {*held, ".vscode"} == {".vscode"}
    assert (tmp_path / ".vscode" / "settings.json").read_text() == "mine"


def test_what_survived_an_earlier_run_is_named_at_the_next_start(
    isolated_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, running = RunMark(isolated_home), RunMark(isolated_home)
    mark.note()
    running.note()
    assert survivors(isolated_home) == ()
    gone = paths.commands_dir(isolated_home) / f"{mark.name}.json"
    gone.write_text(json.dumps({"pid": os.getpid(), "began": "1"}))
    left, used = Path(mark.scratch("command")), Path(running.scratch("command"))
    (left / "output.txt").write_text("words of a conversation")
    nested = "import os\nfor _ in range(1200): os.mkdir('d'); os.chdir('d')"
    subprocess.run([sys.executable, "-c", nested], cwd=left, check=True)
    process = subprocess.Popen(["sleep", "60"], env={**os.environ, VARIABLE: mark.name})
    try:
        environment = Path(
            f"/proc/{process.pid}/environ"
        )  # empty while the kernel puts the new program in place
        assert wait_for(lambda: mark.name.encode() in environment.read_bytes())
        (sentence,) = survivors(isolated_home)
        assert f"process {process.pid} (sleep)" in sentence
        assert left.is_dir(), "what is still there may need it"
    finally:
        process.kill()
        process.wait()
    assert survivors(isolated_home) == ()
    assert (gone.exists(), left.exists(), used.is_dir()) == (False, False, True)
    used.rmdir()
    running.drop()
    assert list(paths.commands_dir(isolated_home).iterdir()) == []


@pytest.mark.parametrize(
    "said",
    [
        b'{"pid":1e999,"began":"1"}',
        b'{"held":5}',
        b'{"held":[5,"\\u0000"]}',
        b"[" * 100_000,
        b'{"pid":' + b"1" * 5_000 + b"}",
        b"[]",
        b"\xff",
    ],
)
def test_a_mark_that_this_program_did_not_write_is_of_no_run(isolated_home: Path, said: bytes) -> None:
    mark = paths.commands_dir(isolated_home) / "x.json"
    mark.parent.mkdir(parents=True)
    mark.write_bytes(said)
    assert survivors(isolated_home) == ()
    assert not mark.exists()


class CutLifeline(Lifeline):
    """The pipe of a program that is gone."""

    def open(self) -> int:
        read, ours = os.pipe()
        os.close(ours)
        return read


def test_a_command_does_not_begin_where_the_program_is_gone_while_its_sandbox_is_made(
    confinement: Confinement, isolated_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody could end it: the kernel binds the sandbox to us when it is whole, and not before."""
    monkeypatch.setattr("core.agent.commands.Lifeline", CutLifeline)
    for desk in shell_desks(lambda: confinement, isolated_home, tmp_path):
        met = ran(desk, "echo begun")
        assert (met.exit_code, met.output) == (125, "")


def test_an_orderly_end_ends_all_and_nothing_starts_behind_it(isolated_home: Path, tmp_path: Path) -> None:
    marker = f"9{os.getpid()}.6"
    ends: list[CommandEnded] = []
    commands = Commands(isolated_home, lambda *_: None, ends.append, find=bare, grace_s=0.2)
    desk = ShellDesk(commands, tmp_path, isolated_home)
    desk.commands.start(CommandOrder(f"echo on; sleep {marker}", str(tmp_path)), desk)
    assert wait_for(lambda: bool(marked(marker)))
    commands.close()
    assert marked(marker) == []
    assert [(end.discussion_id, end.call_id) for end in ends] == [("d", "call")]
    assert survivors(isolated_home) == ()
    with pytest.raises(OSError, match="ending"):
        ran(desk, "true")


def test_a_background_command_that_is_stopped_while_it_starts_does_not_go_on(
    confinement: Confinement, isolated_home: Path, tmp_path: Path
) -> None:
    """Nobody knew it yet when the person pressed the key."""
    ends: queue.Queue[CommandEnded] = queue.Queue()
    commands = Commands(isolated_home, lambda *_: None, ends.put, find=lambda: confinement, grace_s=0.2)
    desk = ShellDesk(commands, tmp_path, isolated_home)
    desk.cancel()
    desk.commands.start(CommandOrder("sleep 60", str(tmp_path), needs_network=False, timeout_s=None), desk)
    assert ends.get(timeout=PATIENCE_S).notes == "It was ended: the person stopped it."
    commands.close()


def test_a_discussion_that_is_forgotten_takes_its_commands_and_their_scratch_folder_along(
    shell: ShellDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders, marker = tmp_path / "temporary", f"9{os.getpid()}.7"
    folders.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folders))
    order = CommandOrder(
        f"mkdir -m 0 $TMPDIR/shut; echo zephyrine > $TMPDIR/kept; sleep {marker}", shell.places.root
    )
    shell.commands.start(order, shell)
    assert wait_for(lambda: [path.read_text() for path in folders.glob("*/kept")] == ["zephyrine\n"])

    assert shell.every_command.drop("d")

    assert (list(folders.glob("*-command-*")), marked(marker)) == ([], [])
    assert not shell.every_command.drop("d"), "there was one"
