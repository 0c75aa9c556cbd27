"""Notices of the desktop: handed over as text, and what is missing is said."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from core.signals import signals_worker

EVIL = '<b>now</b> "; rm -rf ~ & \x1b[2K$(id)\n-e'


def test_a_notice_reaches_the_program_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    said = tmp_path / "said.json"
    program = tmp_path / "notify-send"
    program.write_text(
        f"#!{sys.executable} -S\nimport json, sys\n"
        f"open({str(said)!r}, 'w').write(json.dumps(sys.argv[1:]))\nsys.exit(3 if 'fail' in sys.argv else 0)\n"
    )
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.defpath}")
    assert signals_worker.no_desktop() == ""
    assert signals_worker.show("--help", EVIL) == ""
    arguments = json.loads(said.read_text())

    assert arguments[-3:-1] == ["--", "--help"]
    assert arguments[-1] == '&lt;b&gt;now&lt;/b&gt; "; rm -rf ~ &amp; [2K$(id) -e'
    assert signals_worker.show("fail", "x") == "notify-send ended with exit code 3"


def test_where_there_is_no_program_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert "install libnotify" in signals_worker.show("a", "b")


def test_on_a_mac_words_are_arguments_of_a_fixed_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    order = signals_worker.notice_command("title", EVIL)
    assert order is not None

    assert order[0] == Path("/usr/bin/osascript")
    assert order[1][-2:] == ("title", EVIL)
    assert EVIL not in "".join(order[1][:-1])
