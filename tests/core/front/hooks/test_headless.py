"""`manual-slop --headless --hooks` as a process: it serves until a signal, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from core.front.cli.arguments import UsageError, parse
from core.front.cli.session import claimed_descriptor
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[4]
WAIT_S = PATIENCE_S


class Program:
    """The real program without a window."""

    def __init__(self, base: Path, *flags: str, inherits: tuple[int, ...] = ()) -> None:
        self.home = base / "home"
        project = base / "project"
        project.mkdir()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gui.main", "--headless", "--home", str(self.home), "--project", str(project), *flags],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, pass_fds=inherits,
        )  # fmt: skip

    def lines(self, count: int) -> list[str]:
        assert self.process.stdout is not None
        return [self.process.stdout.readline().strip() for _ in range(count)]

    def end(self, number: signal.Signals) -> tuple[int, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode, out + err

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def _holds_a_persons_token(program: Program, url: str, token: str, read_end: int) -> None:
    """The second token came by descriptor and stands nowhere else; it alone lets a person's acts through."""
    with os.fdopen(read_end) as pipe:
        secret = pipe.read().strip()  # to its end: the program has closed it
    assert len(secret) > 40
    for given, status in ((token, 403), (secret, 404)):
        headers = {"Authorization": f"Bearer {given}"}
        path = f"{url}/api/discussions/none/tools"
        answer = httpx2.put(path, headers=headers, json={"has_tools": True}, trust_env=False, timeout=WAIT_S)
        assert answer.status_code == status
    kept = [path.read_bytes() for path in program.home.rglob("*") if path.is_file()]
    about = Path("/proc", str(program.process.pid))
    kept += [(about / name).read_bytes() for name in ("environ", "cmdline") if about.is_dir()]
    assert not any(secret.encode() in data for data in kept)


def test_a_token_goes_into_no_file_and_not_where_nobody_listens(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    with (tmp_path / "token").open("wb") as file:
        for flags in (("--approvals-fd", str(file.fileno()), "--hooks"), ("--approvals-fd", "1", "--hooks"),
                      ("--approvals-fd", "99999", "--hooks"), ("--approvals-fd", str(write_end))):  # fmt: skip
            options = parse(["--headless", *flags])
            with pytest.raises(UsageError, match="--approvals-fd"):
                claimed_descriptor(options.approvals_fd, is_asked=options.hooks)
    os.close(write_end)
    os.close(read_end)
    with pytest.raises(SystemExit):
        parse(["--approvals-fd", "3"])


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_a_signal_and_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    read_end, write_end = os.pipe()
    flags = ("--hooks", "--test-clock", "--approvals-fd", str(write_end))
    program = Program(tmp_path, *flags, inherits=(write_end,))
    os.close(write_end)
    try:
        first, second = program.lines(2)
        assert first.startswith("Running without a window")
        address = json.loads((program.home / "hook.json").read_text(encoding="utf-8"))
        assert address["url"] in second
        assert address["pid"] == program.process.pid
        token = (program.home / "hook_token").read_text(encoding="ascii")
        assert token not in first + second
        headers = {"Authorization": f"Bearer {token}"}
        found = httpx2.get(
            f"{address['url']}/api/status", headers=headers, trust_env=False, timeout=WAIT_S
        ).json()
        assert (found["is_headless"], found["has_test_clock"], found["version"] != "") == (True, True, True)
        advanced = httpx2.post(
            f"{address['url']}/api/clock",
            headers=headers,
            json={"advance_s": 60},
            trust_env=False,
            timeout=WAIT_S,
        )
        assert advanced.status_code == 200
        _holds_a_persons_token(program, address["url"], token, read_end)

        code, rest = program.end(number)

        assert (code, rest.strip()) == (0, "Stopping.")
        assert not (program.home / "hook.json").exists()
        assert not (program.home / "hook_token").exists()
    finally:
        program.kill()


def test_without_the_flag_nothing_listens(tmp_path: Path) -> None:
    program = Program(tmp_path)
    try:
        assert program.lines(1)[0].startswith("Running without a window")
        code, rest = program.end(signal.SIGTERM)
        assert (code, rest.strip()) == (0, "Stopping.")
        assert not (program.home / "hook.json").exists()
    finally:
        program.kill()


def test_the_persons_settings_turn_it_on_and_name_the_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        config = tmp_path / "config.toml"
        config.write_text(f"[hooks]\nenabled = true\nport = {port}\n", encoding="utf-8")
        monkeypatch.setenv("MANUAL_SLOP_CONFIG", str(config))
        program = Program(tmp_path)
        try:
            out, err = program.process.communicate(timeout=WAIT_S)
        finally:
            program.kill()

    assert program.process.returncode == 1
    assert f"cannot listen on port {port}" in err
    assert "Hook API on" not in out
    assert not (program.home / "hook_token").exists()
