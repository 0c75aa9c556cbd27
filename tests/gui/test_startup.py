"""What starts the window or the tour, and what it says where it cannot."""

from __future__ import annotations

import ast
import importlib.abc
import importlib.util
import json
import sys
from pathlib import Path

import pytest

import gui.tour
from core.app.options import OutsideOptions
from core.front.cli.arguments import parse
from core.front.cli.grammar import TOUR_CHAPTERS
from gui.main import main
from gui.startup import Starting


def test_the_tour_can_end_after_each_of_its_chapters() -> None:
    """The command line names them without loading the window."""
    walk = next(
        node
        for node in ast.walk(ast.parse(Path(gui.tour.__file__).read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name == "_chapters"
    )
    named = [
        one.value.value
        for one in ast.walk(walk)
        if isinstance(one, ast.Yield) and isinstance(one.value, ast.Constant)
    ]

    assert tuple(named) == TOUR_CHAPTERS
    assert parse(["tour", "--until", "talk"]).given.until == "talk"


def test_a_tour_without_its_extra_names_it_and_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "Xlib" else find(name))

    assert main(["tour"]) == 1

    said = capsys.readouterr().err
    assert "the extra `tour`" in said
    assert "uv run --extra tour manual-slop tour" in said
    assert "pip install '.[tour]'" in said
    assert "pip install 'manual-slop[tour]'" in said, "who installed a wheel has no checkout"

    assert main(["tour", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert "the extra `tour`" in error["message"]
    assert "manual-slop[tour]" in error["remedy"]


def test_a_tour_that_cannot_keep_its_pictures_says_so_before_it_begins(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["tour", "--out", "/dev/null/pictures"]) == 1
    assert capsys.readouterr().err.startswith("manual-slop: The program could not make 'pictures'")


@pytest.mark.parametrize("words", [[], ["tour"]])
def test_a_system_without_the_libraries_of_the_window_is_told_which_packages_have_them(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Lacking(importlib.abc.MetaPathFinder):
        """A system on which the toolkit's module cannot be loaded, as an empty Debian says it."""

        def find_spec(self, name: str, *_: object) -> None:
            if name == "gui.startup":
                raise ImportError("libX11.so.6: cannot open shared object file: No such file or directory")

    monkeypatch.delitem(sys.modules, "gui.startup", raising=False)
    monkeypatch.setattr("sys.meta_path", [Lacking(), *sys.meta_path])

    assert main(words) == 1

    said = capsys.readouterr().err
    assert "your system has no libX11.so.6" in said
    assert "apt install libgl1 libgl1-mesa-dri libx11-6" in said
    assert "Traceback" not in said


def test_a_start_that_fails_behind_the_first_frame_ends_the_window_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing else would: the window shows for ever that it opens the discussions."""

    def fail() -> None:
        raise OSError("no module")

    monkeypatch.setattr("core.kernel.diagnostics.start_log", lambda: None)
    starting = Starting(OutsideOptions(home=tmp_path))
    starting.on_rooms_loaded = fail
    starting.begin()
    starting.wait()

    assert str(starting.failure) == (
        "The program could not start: OSError: no module. Your work is safe. See the log file."
    )
    assert starting.controller is None
    assert caplog.messages == ["the start failed"]


def test_without_a_display_and_without_the_tour_the_missing_display_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "Xlib" else find(name))

    assert main([]) == 1

    said = capsys.readouterr().err
    assert said.startswith("manual-slop: There is no display. Set DISPLAY")
    assert "tour" not in said
