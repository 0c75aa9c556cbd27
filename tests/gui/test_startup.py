"""What starts the window or the tour, and what it says where it cannot."""

from __future__ import annotations

import importlib.util

import pytest

from gui.main import main


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
