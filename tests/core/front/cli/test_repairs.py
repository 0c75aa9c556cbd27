"""`doctor --repair`: asks before each repair, moves aside what it replaces, and looks again."""

from __future__ import annotations

import os
import pty

import pytest

from core.app.home import own
from core.front.cli.doctor_findings import mend_end, mend_settings
from core.kernel.errors import SlopError
from tests.core.front.cli.conftest import World

BROKEN = "[appearance\n"


def test_without_a_terminal_nothing_is_repaired_and_the_way_is_said(world: World) -> None:
    world.config.write_text(BROKEN)
    ended = world.run("doctor", "--quick", "--repair")

    assert ended.code == 2
    assert "--yes" in ended.err
    assert world.config.read_text() == BROKEN


def test_a_yes_moves_broken_settings_and_a_false_inbox_aside(world: World) -> None:
    world.config.write_text(BROKEN)
    world.home.mkdir()
    (world.home / "inbox").write_text("mine")
    ended = world.run("doctor", "--quick", "--repair", "--yes")

    assert ended.code == 0, ended.out
    assert not world.config.exists()
    kept = [one for one in world.config.parent.iterdir() if one.name.startswith(f"{world.config.name}.")]
    assert [one.read_text() for one in kept] == [BROKEN]
    assert (world.home / "inbox").is_dir()
    assert [one.read_text() for one in world.home.glob("backups/inbox.*")] == ["mine"]
    assert "FAIL" not in ended.out


def test_nothing_to_repair_is_said(world: World) -> None:
    ended = world.run("doctor", "--quick", "--repair", "--yes")

    assert ended.code == 0
    assert "the program can repair nothing here" in ended.err


@pytest.mark.parametrize(("typed", "is_left"), [(b"y\n", True), (b"yes\n", True), (b"remove\n", False)])
def test_what_nothing_brings_back_wants_the_word(world: World, typed: bytes, is_left: bool) -> None:
    report = world.home / "crashes" / "20261123-120000.txt"
    report.parent.mkdir(parents=True)
    report.write_text("where")
    ended = world.run("doctor", "--quick", "--repair", given=typed, types=True)

    assert "Remove 1 report of crashes? Type `remove` to confirm:" in ended.err
    assert report.exists() is is_left


def test_a_no_on_the_terminal_leaves_everything(world: World) -> None:
    world.config.write_text(BROKEN)
    screen, terminal = pty.openpty()
    process = world.fork("doctor", "--quick", "--repair", ends=dict.fromkeys(range(3), terminal))
    os.close(terminal)
    said = b""
    while b"[y/N]" not in said:
        said += os.read(screen, 4_096)
    os.write(screen, b"n\n")
    while process.poll() is None:
        try:
            said += os.read(screen, 4_096)
        except OSError:
            break
    assert process.wait() == 1
    os.close(screen)

    assert b"aside?" in said
    assert world.config.read_text() == BROKEN


def test_a_broken_meta_and_a_torn_log_are_repaired_after_a_yes_each(world: World) -> None:
    name = "20261121-101500-abcdef"
    folder = world.home / "discussions" / name
    folder.mkdir(parents=True)
    (folder / "meta.toml").write_text('name = "Sky"\nprovider = "openai"\nmodel = = \n')
    (folder / "log.jsonl").write_bytes(b'{"type":"mess')
    ended = world.run("doctor", "--quick", "--repair", given=b"y\nn\ny\n", types=True)

    assert "write it anew from what can be read?" in ended.err
    assert 'name = "Sky"' in (folder / "meta.toml").read_text()
    (old,) = folder.glob("meta.toml.2*")
    assert "model = = " in old.read_text()
    assert (folder / "log.jsonl").read_bytes() == b'{"type":"mess', "to this a no was said"

    world.run("doctor", "--quick", "--repair", "--yes")
    assert (folder / "log.jsonl").read_bytes() == b""
    (cut,) = folder.glob("log.jsonl.2*")
    assert cut.read_bytes() == b'{"type":"mess'


def test_while_a_program_uses_the_home_no_discussion_is_repaired(world: World) -> None:
    name = "20261121-101500-abcdef"
    folder = world.home / "discussions" / name
    folder.mkdir(parents=True)
    (folder / "meta.toml").write_text("model = = \n")
    (folder / "log.jsonl").write_bytes(b'{"type":"mess')
    repairs = (mend_settings(world.home, name), mend_end(world.home, name))
    lock = own(world.home)
    assert lock is not None
    try:
        ended = world.run("doctor", "--quick", "--repair", "--yes")
        assert "with all windows closed" in ended.out
        for repair in repairs:  # it was started between the look and the yes
            with pytest.raises(SlopError, match="uses the data folder"):
                repair.run()
    finally:
        lock.release()

    assert sorted(one.name for one in folder.iterdir() if one.suffix) == ["log.jsonl", "meta.toml"]
    assert (folder / "meta.toml").read_text() == "model = = \n"
