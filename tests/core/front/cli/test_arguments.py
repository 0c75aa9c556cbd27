"""What may stand on the command line, before the command or behind it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from core import __version__
from core.front.cli.arguments import parse
from core.front.cli.grammar import EFFORTS, FLAG_ACTS, make_parser
from core.front.cli.parser import Parser
from core.front.cli.version import help_page, settings_place, version_text
from core.kernel.errors import SlopError
from core.kernel.language import LANGUAGE_VARIABLE
from core.kernel.paths import CONFIG_VARIABLE, config_file
from core.kernel.values.discussion import FLAGS
from core.kernel.values.provider import Effort
from scripts.help_text import pages
from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parents[4]


def test_nothing_is_the_window() -> None:
    options = parse([])

    assert (options.command, options.headless, options.owns_home, options.watches) == ("", False, True, True)


def test_a_command_does_not_own_the_home() -> None:
    assert not parse(["discussions"]).owns_home
    assert parse(["--headless"]).owns_home


@pytest.mark.parametrize("place", ["before", "behind"])
def test_common_options_stand_before_or_behind_the_command(tmp_path: Path, place: str) -> None:
    common = ["--home", str(tmp_path / "h"), "--project", str(tmp_path), "--json", "--set", "trash_days=3"]
    options = parse([*common, "models"] if place == "before" else ["models", *common])

    assert (options.home, options.start, options.is_json) == (tmp_path / "h", tmp_path, True)
    assert options.overrides == {"trash_days": 3}


def test_options_may_stand_behind_the_action_of_discussions() -> None:
    options = parse(["discussions", "list", "--search", "x", "--json"])

    assert (options.given.action, options.given.search, options.is_json) == ("list", "x", True)
    assert parse(["discussions", "--search", "y"]).given.search == "y"
    assert parse(["discussions", "list"]).given.search == ""


def test_a_tilde_is_the_persons_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    assert parse(["--home", "~/x"]).home == tmp_path / "x"


def test_several_settings_and_their_types() -> None:
    options = parse(["--set", "appearance.ui_scale=1.5", "--set", "ai_settings.system_prompt=a=b"])

    assert options.overrides == {"appearance.ui_scale": 1.5, "ai_settings.system_prompt": "a=b"}


@pytest.mark.parametrize(
    "argv",
    [
        ["nothing"],
        ["--set", "x"],
        ["--set", "trash_days=z"],
        ["--project", "/does/not/exist"],
        ["discussions", "show"],
        ["--hom", "x"],
    ],
)
def test_wrong_usage_ends_with_two(argv: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(argv)
    assert caught.value.code == 2


def test_the_version_names_program_and_python() -> None:
    python = ".".join(map(str, sys.version_info[:3]))

    assert version_text().startswith(f"manual-slop {__version__} (Python {python}")


def test_the_version_said_is_the_one_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["version"] == __version__


def test_the_efforts_of_the_help_are_those_of_the_program() -> None:
    assert tuple(effort.value for effort in Effort) == EFFORTS


def _loaded_by(*argv: str, entry: str = "gui.main") -> tuple[str, set[str]]:
    """What the program prints for a command line that ends at once, and the modules that it loaded for it."""
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
        f"from {entry} import main\n"
        f"sys.exit(main({list(argv)!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    return done.stdout, set(done.stderr.split())


@pytest.mark.parametrize("entry", ["gui.main", "core.front.cli"])
def test_the_version_is_said_before_anything_else_loads(entry: str) -> None:
    said, loaded = _loaded_by("--version", entry=entry)

    assert said == f"{version_text()}\n"
    assert not loaded & {"argparse", "re", "typing", "enum", "dataclasses", "importlib.metadata", "msgspec"}
    assert {name for name in loaded if name.startswith("core")} == {
        "core",
        "core.front",
        "core.front.cli",
        "core.front.cli.version",
    }


def test_the_texts_of_the_help_are_what_the_grammar_says() -> None:
    """By words: versions of Python break lines otherwise, and write `-n, --count N` or `-n N, --count N`. `make docs` writes them anew."""
    said = dict(pages(make_parser()))

    assert len(said) > 50
    for words, text in said.items():
        kept, meant = (re.sub(r"(-\w) \w+, --", r"\1, --", one).split() for one in (help_page(words), text))
        assert kept == meant


@pytest.mark.slow
@pytest.mark.parametrize(
    "argv",
    [["--help"], ["-h"], ["help"], ["send", "--help"], ["help", "send"], ["discussions", "list", "-h"]],
)
def test_the_help_is_said_before_argparse_loads(argv: list[str]) -> None:
    said, loaded = _loaded_by(*argv)

    assert said == help_page(" ".join(one for one in argv if one not in {"help", "-h", "--help"})) != ""
    assert not loaded & {"argparse", "re", "typing", "enum", "core.front.cli.grammar"}


@pytest.mark.slow
@pytest.mark.parametrize("entry", ["gui.main", "core.front.cli"])
@pytest.mark.parametrize(
    "argv", [["--help"], ["-h"], ["send", "--help"], ["help", "send"], ["--json", "--version"], ["-V"]]
)
def test_help_loads_no_value_of_the_program(argv: list[str], entry: str) -> None:
    said, loaded = _loaded_by(*argv, entry=entry)

    assert said.startswith(("usage: manual-slop", "manual-slop ", '{\n  "'))
    assert not loaded & {"dataclasses", "pathlib", "importlib.metadata", "msgspec"}
    assert not {
        name
        for name in loaded
        if name.startswith(("core.kernel.values", "core.app", "core.services.settings"))
    }


@pytest.mark.parametrize(
    ("folder", "home"),
    [
        ("{}/settings", "{}"),
        ("", "{}"),
        ("  ", "{}"),
        ("relative", "{}"),
        ("~/settings", "{}"),
        ("{}/a/../b/", "{}/"),
        ("", "relative"),
        ("", ""),
    ],
)
def test_the_language_is_looked_for_in_the_settings_that_the_program_reads(
    folder: str, home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("XDG_CONFIG_HOME", folder), ("HOME", home)):
        monkeypatch.setenv(name, value.format(tmp_path))
    monkeypatch.delenv(CONFIG_VARIABLE, raising=False)

    assert Path(settings_place()) == config_file()


def test_the_language_of_named_settings_is_spoken_in_the_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "mine.toml"
    settings.write_text('[appearance]\nlanguage = "de"\n', encoding="utf-8")
    monkeypatch.setenv(CONFIG_VARIABLE, str(settings))
    monkeypatch.delenv(LANGUAGE_VARIABLE, raising=False)

    said, _ = _loaded_by("--help")

    assert said.startswith("Aufruf: manual-slop")
    assert "diese Hilfe zeigen" in said
    assert "eine Nachricht senden" in said


@pytest.mark.parametrize(
    ("argv", "key"),
    [
        (["--version", "--json"], "version"),
        (["--json", "-V"], "version"),
        (["--help", "--json"], "help"),
        (["send", "-h", "--json"], "help"),
        (["help", "send", "--json"], "help"),
        (["completion", "fish", "--json"], "completion"),
    ],
)
def test_what_answers_a_command_line_by_itself_is_json_for_who_asked_for_it(
    capsys: pytest.CaptureFixture[str], argv: list[str], key: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(argv)

    answer = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0
    assert answer[key]
    assert key != "version" or answer["version"] == __version__


def test_the_hook_api_is_asked_for_with_the_window_or_without_and_never_with_a_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = parse(["--headless", "--hooks", "--test-clock"])
    assert (options.hooks, options.test_clock) == (True, True)
    assert not parse([]).hooks
    for flag in ("--hooks", "--test-clock"):
        with pytest.raises(SystemExit) as ended:
            parse([flag, "send", "x"])
        assert ended.value.code == 2
        assert "--headless" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "usage", "meant"),
    [
        (["harvest", "--aply"], "manual-slop harvest", "did you mean --apply?"),
        (["presets", "foo"], "manual-slop presets", "foo"),
        (["discussions", "list", "--serch", "x"], "manual-slop discussions list", "did you mean --search?"),
        (["discussions", "lst"], "manual-slop discussions", "did you mean list?"),
        (["sned", "x"], "manual-slop", "did you mean send?"),
        (["send", "--effort", "hihg", "x"], "manual-slop send", "did you mean high?"),
        (["backup", "home.tar.gz"], "manual-slop backup", "--out names a file"),
        (["help", "sned"], "manual-slop", "did you mean send?"),
        (["send", "x", "--set", "appearance.them=dark"], "manual-slop send", "appearance.theme"),
        (["models", "--project", "/does/not/exist"], "manual-slop models", "is not a folder"),
        (["context", "--files", "a.py"], "manual-slop context", "--files a.py"),
        (["--headles"], "manual-slop", "did you mean --headless?"),
    ],
)
def test_what_a_command_does_not_know_shows_its_own_usage(
    capsys: pytest.CaptureFixture[str], words: list[str], usage: str, meant: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(words)

    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.startswith(f"usage: {usage} [-h]")
    assert meant in said.splitlines()[-1]


@pytest.mark.parametrize("words", [("send",), ("discussions", "list"), ()])
def test_help_of_a_command_is_that_of_its_option(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    said = []
    for argv in (["help", *words], [*words, "--help"]):
        with pytest.raises(SystemExit) as ended:
            parse(argv)
        assert ended.value.code == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert said[0].startswith(f"usage: {' '.join(('manual-slop', *words))} [-h]")


def test_short_forms() -> None:
    assert parse(["send", "-q", "x"]).given.quiet
    assert parse(["tour", "--out", "x"]).given.out == "x"
    assert parse(["tour"]).given.out == "out/tour"


def test_a_place_that_is_named_already_is_not_repeated() -> None:
    assert (
        str(SlopError("'/a/b' is not a file", remedy="Choose another", where="/a/b"))
        == "'/a/b' is not a file. Choose another"
    )
    assert str(SlopError("It is unreadable", where="/a/b")) == "It is unreadable. /a/b"


def test_the_acts_of_flags_are_those_of_a_discussion() -> None:
    acts = [each for flag in FLAGS.values() for each in (flag.verb, flag.undo)]
    assert [act for act, _help in FLAG_ACTS] == acts


def test_the_options_of_a_command_are_made_only_where_it_is_named() -> None:
    """Help and each command start the sooner; what they say stays the same."""
    whole = make_parser()
    named = {name: make_parser({name}) for name in whole.commands()}

    assert all(one.format_help() == whole.format_help() for one in named.values())
    for name, parser in whole.commands().items():
        known: dict[str, object] = {**named[name].commands()}
        made = [other for other, one in known.items() if isinstance(one, Parser)]
        assert made == [name]
        assert named[name].commands()[name].format_help() == parser.format_help()
