"""`doctor` finds what is wrong, says what to do, and hides nothing behind the first fault."""

from __future__ import annotations

import os
import re
import stat
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from core.front.cli import doctor_checks
from core.front.cli.doctor import guarded, report
from core.front.cli.doctor_findings import Finding, Verdict, fail, ok, warn
from core.kernel import paths
from core.kernel.errors import StorageError
from core.services.providers.keys import KeyStore
from core.services.settings.settings_loader import ConfigRequest, load
from tests.core.front.cli.conftest import ROOT, World

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def _verdicts(findings: Iterator[Finding]) -> list[Verdict]:
    return [finding.verdict for finding in findings]


def test_a_healthy_set_up_is_all_well_and_code_zero(world: World) -> None:
    ended = world.run("doctor", "--quick", "--json")
    by_subject = {row["subject"]: row for row in ended.json}

    assert ended.code == 0
    for subject in (
        "python",
        "packages",
        "fonts",
        "embedded model",
        "home",
        "settings",
        "keyring",
        "local",
        "anthropic",
    ):
        assert by_subject[subject]["verdict"] == "OK", by_subject[subject]
    assert "anthropic " in by_subject["anthropic"]["text"]
    assert "no key" in by_subject["anthropic"]["text"]
    assert not world.home.exists()


def test_a_fault_in_the_settings_fails_with_its_line_and_the_rest_is_still_looked_at(world: World) -> None:
    world.config.write_text('[appearance]\ntheme = "blue"\nthem = 1\n')
    ended = world.run("doctor", "--quick")

    assert ended.code == 1
    assert "FAIL  settings" in ended.out
    assert f"{world.config}:2: appearance.theme must be one of dark, light" in ended.out
    assert "WARN  settings" in ended.out
    assert ended.out.splitlines()[-1].startswith("1 failed, ")


def test_no_two_findings_have_one_name_where_all_is_well(world: World) -> None:
    subjects = [one["subject"] for one in world.run("doctor", "--quick", "--json").json]

    assert len(subjects) == len(set(subjects))


def test_where_a_key_was_found_is_said_and_not_the_key(world: World) -> None:
    ended = world.run(
        "doctor", "--quick", OPENAI_API_KEY="sk-0123456789", OPENAI_BASE_URL="http://127.0.0.1:7/v1"
    )

    assert "at http://127.0.0.1:7/v1, key from OPENAI_API_KEY" in ended.out
    assert "sk-0123456789" not in ended.out


def test_a_default_provider_without_a_key_is_warned_of(world: World) -> None:
    world.config.write_text('[ai_settings]\nprovider = "gemini"\n')

    assert "→ Set GEMINI_API_KEY, or run `manual-slop key gemini`" in world.run("doctor", "--quick").out


def test_what_a_project_asks_for_is_listed(world: World) -> None:
    (world.project / "manual_slop.toml").write_text('[presets.a]\nitems = ["x.py"]\n[hooks]\nport = 1\n')
    text = world.run("doctor", "--quick").out

    assert f"you do not trust {world.project}, so the program ignores its settings" in text
    assert "the folder asks for: Context preset a: x.py." in text
    assert "the program ignores a part of manual_slop.toml: The project asks to change the Hook API" in text
    assert f"manual-slop trust {world.project}" in text


@pytest.mark.slow
@pytest.mark.model
def test_the_embedded_model_is_really_started() -> None:
    (finding,) = doctor_checks.embedded(is_quick=False)

    assert finding.verdict is Verdict.OK
    assert "starts in" in finding.text


def test_missing_weights_are_a_warning_with_a_remedy_for_they_are_an_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    (finding,) = doctor_checks.embedded(is_quick=True)

    assert finding.verdict is Verdict.WARN
    assert "manual-slop[embedded]" in finding.remedy


def test_doctor_looks_for_all_that_an_extra_brings() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    for name, modules in doctor_checks.EXTRAS.items():
        brought = {re.split("[>=<;]", one)[0].replace("-", "_") for one in extras[name]}
        assert set(modules) == brought, name
        assert set(extras[name]) <= set(project["dependency-groups"]["dev"]), "a checkout has it"


def test_extras_that_are_not_installed_are_told_with_the_line_that_adds_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert _verdicts(doctor_checks.packages()) == [Verdict.OK]
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "tree_sitter_zig" else object()
    )
    _, finding = doctor_checks.packages()

    assert (finding.subject, finding.text) == ("extras", "not installed: grammars")
    assert 'pip install "manual-slop[grammars]"' in finding.remedy


def test_an_old_python_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _verdicts(doctor_checks.python()) == [Verdict.OK]
    monkeypatch.setattr(doctor_checks, "OLDEST_PYTHON", (9, 9))
    assert _verdicts(doctor_checks.python()) == [Verdict.FAIL]


@pytest.mark.parametrize(
    ("name", "machine", "libc", "release", "why"),
    [
        ("Linux", "x86_64", ("glibc", "2.28"), "", ""),
        ("Linux", "aarch64", ("glibc", "2.41"), "", ""),
        ("Windows", "AMD64", ("", ""), "", ""),
        ("Darwin", "arm64", ("", ""), "14.5", ""),
        ("Darwin", "arm64", ("", ""), "13.6.1", "macOS 14 or newer"),
        ("Darwin", "x86_64", ("", ""), "15.1", "Intel"),
        ("Windows", "ARM64", ("", ""), "", "Dear PyGui"),
        ("Linux", "x86_64", ("", ""), "", "without glibc"),
        ("Linux", "x86_64", ("glibc", "2.17"), "", "glibc 2.28 or newer"),
        ("FreeBSD", "amd64", ("", ""), "", "the program is not tested on this system"),
    ],
)
def test_a_system_that_lacks_a_package_is_said_with_the_package(
    name: str, machine: str, libc: tuple[str, str], release: str, why: str
) -> None:
    (finding,) = doctor_checks.system(name, machine, libc=libc, release=release)

    assert finding.verdict is (Verdict.WARN if why else Verdict.OK)
    assert why in finding.text
    assert bool(finding.remedy) == bool(why)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_checks, "PACKAGES", ("numpy", "no-such-package"))
    failed, found = doctor_checks.packages()

    assert (failed.verdict, failed.text) == (Verdict.FAIL, "missing: no-such-package")
    assert found.text.startswith("numpy ")


@pytest.mark.parametrize(
    ("environ", "has_virtual", "has_libraries", "verdicts"),
    [
        ({"DISPLAY": ":0"}, False, True, [Verdict.OK]),
        ({"WAYLAND_DISPLAY": "w"}, False, True, [Verdict.OK]),
        ({}, True, True, [Verdict.WARN]),
        ({}, False, False, [Verdict.WARN] * 3),
    ],
)
def test_the_display_is_looked_for(
    monkeypatch: pytest.MonkeyPatch,
    environ: dict[str, str],
    has_virtual: bool,
    has_libraries: bool,
    verdicts: list[Verdict],
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: "/x" if has_virtual else None)
    monkeypatch.setattr("ctypes.util.find_library", lambda name: name if has_libraries else None)
    findings = list(doctor_checks.display(environ, "linux"))

    assert [finding.verdict for finding in findings] == verdicts
    assert all(finding.remedy for finding in findings if finding.verdict is Verdict.WARN)
    assert _verdicts(doctor_checks.display({}, "darwin")) == [Verdict.OK]


@pytest.mark.parametrize(
    ("script", "verdict"), [("exit 0", Verdict.OK), ("exit 1", Verdict.WARN), (None, Verdict.WARN)]
)
def test_the_sandbox_is_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str | None, verdict: Verdict
) -> None:
    if script is not None:
        (tmp_path / "bwrap").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setattr("core.agent.sandbox.SYSTEM_FOLDERS", (str(tmp_path),))
    monkeypatch.setattr("sys.platform", "linux")
    (found,) = doctor_checks.sandbox(is_quick=False)
    assert found.verdict is verdict
    assert bool(found.remedy) is (verdict is Verdict.WARN)


def test_missing_fonts_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _verdicts(doctor_checks.fonts()) == [Verdict.OK]
    monkeypatch.setattr(doctor_checks, "FONTS", ("Gone.ttf",))
    assert _verdicts(doctor_checks.fonts()) == [Verdict.FAIL]


@pytest.mark.parametrize(
    ("script", "verdict", "said"),
    [
        ("echo '2.1 (Claude Code)'", Verdict.OK, "2.1 (Claude Code)"),
        ("exit 3", Verdict.WARN, "ended with exit code 3"),
        ("exec sleep 60", Verdict.WARN, "did not answer within"),
    ],
)
def test_the_claude_command_is_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, verdict: Verdict, said: str
) -> None:
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(doctor_checks, "PROGRAM_S", 0.5)
    (finding,) = doctor_checks.claude(is_quick=False)

    assert (finding.verdict, said in finding.text) == (verdict, True)
    assert _verdicts(doctor_checks.claude(is_quick=True)) == [Verdict.OK]


def test_no_claude_command_is_no_fault_and_is_said_once(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    found = world.run("doctor", "--quick", "--json").json

    (said,) = [one for one in found if "claude" in one["subject"]]
    assert said["verdict"] == Verdict.OK.value
    assert "not installed (optional" in said["text"]


def test_proxies_are_named_without_their_passwords() -> None:
    (finding,) = doctor_checks.proxies({"https_proxy": "http://user:pa55@proxy:1"})

    assert (finding.verdict, "HTTPS_PROXY" in finding.text, "pa55" in finding.text) == (
        Verdict.OK,
        True,
        False,
    )
    assert _verdicts(doctor_checks.proxies({})) == [Verdict.OK]
    assert Verdict.WARN in _verdicts(doctor_checks.proxies({"ALL_PROXY": "socks5://x"}))


def test_a_clock_of_long_ago_is_a_failure() -> None:
    assert _verdicts(doctor_checks.clock(NOW)) == [Verdict.OK]
    assert _verdicts(doctor_checks.clock(datetime(1970, 1, 1, tzinfo=UTC))) == [Verdict.FAIL]


def test_a_home_from_tomorrow_says_that_the_clock_was_moved(tmp_path: Path) -> None:
    (tmp_path / "discussions" / "20300101-000000-abcdef").mkdir(parents=True)
    (tmp_path / "discussions" / "not-an-id").mkdir()

    assert [(f.subject, f.verdict) for f in doctor_checks.home(tmp_path, NOW)] == [
        ("home", Verdict.OK),
        ("clock", Verdict.WARN),
    ]


def test_a_home_that_is_no_folder_or_has_no_room_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert _verdicts(doctor_checks.home(file, NOW)) == [Verdict.FAIL]
    monkeypatch.setattr(doctor_checks, "LOW_BYTES", 10**18)
    assert _verdicts(doctor_checks.home(tmp_path, NOW)) == [Verdict.WARN]
    monkeypatch.setattr(doctor_checks, "is_writable", lambda _: False)
    assert Verdict.FAIL in _verdicts(doctor_checks.home(tmp_path, NOW))
    assert _verdicts(doctor_checks.folders((("cache", tmp_path),))) == [Verdict.WARN]


def test_a_key_file_that_others_could_read_is_warned_of(tmp_path: Path) -> None:
    store = KeyStore(tmp_path, {}, open_keyring=lambda: None)
    store.store("openai", "sk-0123456789")
    (tmp_path / "keys" / "openai").chmod(0o644)
    request = ConfigRequest(tmp_path / "c.toml", tmp_path / "t.toml", tmp_path, tmp_path, tmp_path)
    findings = {f.subject: f for f in doctor_checks.providers(load(request), store)}

    assert findings["openai"].verdict is Verdict.WARN
    assert stat.S_IMODE((tmp_path / "keys" / "openai").stat().st_mode) == 0o600


def test_a_keyring_that_fails_is_warned_of(tmp_path: Path) -> None:
    def broken() -> None:
        raise RuntimeError

    store = KeyStore(tmp_path, {}, open_keyring=broken)

    assert _verdicts(doctor_checks.keyring(store)) == [Verdict.WARN]


def test_a_discussion_whose_settings_cannot_be_read_is_named(tmp_path: Path) -> None:
    whole, broken = "20261120-101500-abcdef", "20261121-101500-abcdef"
    for name, text in (
        (whole, f'name = "Sky"\ncreated = {"2026-11-20T10:15:00Z"}\n'),
        (broken, "broken = = "),
    ):
        folder = tmp_path / "discussions" / name
        folder.mkdir(parents=True)
        (folder / "meta.toml").write_text(text)

    (found,) = doctor_checks.discussions(tmp_path)

    assert found.text.startswith(f"{broken}: meta.toml is broken")
    assert str(tmp_path / "discussions" / broken / "meta.toml") in found.remedy
    assert found.repair is not None


def test_a_log_that_a_crash_cut_off_is_named(tmp_path: Path) -> None:
    for name, log in (
        ("20261120-101500-abcdef", b'{"type":"mark"}\n'),
        ("20261121-101500-abcdef", b'{"type":"mark"}\n{"type":"mess'),
        ("20261122-101500-abcdef", b""),
    ):
        folder = tmp_path / "discussions" / name
        folder.mkdir(parents=True)
        (folder / "meta.toml").write_text('name = "Sky"\ncreated = 2026-11-20T10:15:00Z\n')
        paths.log_file(tmp_path, name).write_bytes(log)

    (found,) = doctor_checks.discussions(tmp_path)

    assert found.text.startswith("20261121-101500-abcdef: The last record of the log is cut off; 13 bytes")

    paths.log_file(tmp_path, "20261120-101500-abcdef").unlink()
    paths.log_file(tmp_path, "20261120-101500-abcdef").mkdir()
    unread, torn = doctor_checks.discussions(tmp_path)
    assert unread.text.startswith("20261120-101500-abcdef: ")
    assert torn.text == found.text, "one log that cannot be read hides no other"


def test_a_broken_file_of_the_windows_state_is_named_and_can_be_put_aside(tmp_path: Path) -> None:
    assert list(doctor_checks.window_state(tmp_path)) == []
    path = paths.state_file(tmp_path)
    path.write_text("theme = = ")

    (found,) = doctor_checks.window_state(tmp_path)

    assert found.verdict is Verdict.WARN
    assert "the window opens with its usual panes" in found.text
    assert "doctor --repair" in found.remedy
    assert found.repair is not None
    found.repair.run()
    assert list(doctor_checks.window_state(tmp_path)) == []
    (kept,) = (tmp_path / "backups").iterdir()
    assert kept.read_text() == "theme = = "


def test_a_check_that_breaks_hides_no_other() -> None:
    def broken_check() -> Iterator[Finding]:
        yield ok("a", "b")
        raise StorageError("Something is broken", remedy="Mend it")

    assert guarded(broken_check) == [fail("broken check", "Something is broken. Mend it", "")]
    assert guarded(partial(doctor_checks.clock, NOW))[0].verdict is Verdict.OK


def test_the_report_is_aligned_with_remedies_below() -> None:
    assert report([ok("a", "fine"), warn("longer", "not so", "Do this"), fail("c", "bad", "")]) == (
        "OK    a       fine\nWARN  longer  not so\n      → Do this\nFAIL  c       bad\n\n1 failed, 1 warning\n"
    )


def test_a_terminal_without_utf8_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    class Odd:
        encoding = "ascii"

        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Odd())
    assert _verdicts(doctor_checks.output()) == [Verdict.WARN]


def test_a_channel_that_nobody_may_speak_in_and_an_inbox_that_is_a_link_are_said(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    config = tmp_path / "config.toml"
    channels = {
        "quiet": 'room = "#q"',
        "fine": 'room = "#f"\nsenders = ["alice"]',
        "broken": 'room = "no room"',
    }
    config.write_text(
        "".join(f'[channels.{name}]\nhost = "irc.example"\n{rest}\n' for name, rest in channels.items()),
        "utf-8",
    )
    home = tmp_path / "home"
    home.mkdir()
    (home / "inbox").symlink_to(tmp_path)
    root = tmp_path / "project"
    loaded = load(ConfigRequest(config, tmp_path / "trusted.toml", home, root, root))
    found = {one.subject: one for one in (*doctor_checks.channels(loaded), *doctor_checks.inbox(home))}

    assert found["channel fine"] == ok("channel fine", "#f at irc.example:6697, over TLS, 1 sender")
    assert found["channel quiet"].verdict is Verdict.WARN
    assert "is not the name of a channel" in found["channel broken"].text
    assert found["inbox"].verdict is Verdict.WARN


@pytest.mark.parametrize(
    ("platform", "environ", "verdict"),
    [
        ("linux", {"DISPLAY": ":0"}, "OK"),
        ("linux", {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, "WARN"),
        ("linux", {}, "WARN"),
        ("darwin", {}, "WARN"),
    ],
)
def test_where_no_desktop_tells_how_long_one_was_away_it_is_said(
    tmp_path: Path, platform: str, environ: dict[str, str], verdict: str
) -> None:
    config = tmp_path / "config.toml"
    request = ConfigRequest(config, tmp_path / "trusted.toml", tmp_path, tmp_path, tmp_path)
    assert not list(doctor_checks.desktop_idle(load(request), environ, platform))
    config.write_text("[agent]\ndesktop_idle = true\n", encoding="utf-8")

    (found,) = doctor_checks.desktop_idle(load(request), environ, platform)

    assert found.verdict.value == verdict
