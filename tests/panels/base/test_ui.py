"""`Ui`: a method for each widget, that hands the widget to its handler and returns what that answers."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import pytest

from panels.base import widgets as w
from panels.base.ui import Ui
from tests.recording_widgets import HANDLERS
from tests.widgets import declared


def test_a_widget_reaches_its_handler_with_what_the_panel_left_out() -> None:
    shown: list[tuple[str, w.TextWidget]] = []

    def text(place: str, it: w.TextWidget) -> None:
        shown.append((place, it))

    Ui("window", w.table(w.TextWidget.handled_by(text))).text("hello", "Hello", tone="muted")

    whole = w.TextWidget("hello", "Hello", tone="muted", style="body", wraps=False, width=None, tip="")
    assert shown == [("window", whole)]


def test_the_answer_of_the_handler_is_that_of_the_call() -> None:
    def button(_: object, it: w.ButtonWidget) -> bool:
        return it.label == "Send"

    ui = Ui(None, w.table(w.ButtonWidget.handled_by(button)))

    assert ui.button("send", "Send")
    assert not ui.button("stop", "Stop")


@pytest.mark.parametrize("kind", declared(), ids=lambda kind: kind.__name__)
def test_every_widget_has_one_method_and_is_recorded(kind: type[w.Widget[Any]]) -> None:
    asked: list[object] = []

    def note(_: object, it: object) -> None:
        asked.append(it)

    ui = Ui(None, {kind: note})
    names = [name for name in vars(Ui) if not name.startswith("_")]
    wanted = len(kind.__struct_fields__) - len(kind.__struct_defaults__)
    for name in names:
        try:
            getattr(ui, name)(*range(wanted))
        except (KeyError, TypeError):
            continue

    assert asked == [kind(*range(wanted))]
    assert kind in HANDLERS
    assert len(names) == len(declared())


def test_the_mark_of_keywords_is_no_field() -> None:
    """It is read by mypy alone."""
    assert w.GroupWidget.__struct_fields__ == ("key", "gap")
    assert KW_ONLY not in w.GroupWidget.__struct_defaults__


def test_help_shows_what_a_method_takes_and_says() -> None:
    assert Ui.text.__doc__ == w.TextWidget.__doc__
    assert (Ui.text.__defaults__ or ())[:2] == ("text", "body")
