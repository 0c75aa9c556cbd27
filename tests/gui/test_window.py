"""A window that cannot open says why, before the toolkit ends the process."""

from __future__ import annotations

import socket

import pytest

from gui.window import NoDisplayError, check_display


def test_no_display_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    with pytest.raises(NoDisplayError, match=r"DISPLAY is not set.*manual-slop tour"):
        check_display()


def test_wayland_without_x_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    with pytest.raises(NoDisplayError, match="'wayland-0' has no XWayland"):
        check_display()


@pytest.mark.parametrize("name", [":9871", "127.0.0.1:9871", "nonsense", ":x"])
def test_a_display_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("DISPLAY", name)
    with pytest.raises(NoDisplayError, match=name):
        check_display()


@pytest.mark.gui
def test_a_display_that_answers_gives_a_connection_to_hold(
    display: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", display)
    connection = check_display()
    assert isinstance(connection, socket.socket)
    connection.close()
