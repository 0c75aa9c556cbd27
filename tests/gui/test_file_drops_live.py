"""Files dropped on the real window, as a file manager of the desktop drops them: they are attached."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from Xlib import X, display
from Xlib.protocol import event

from core.app.app_messages import Command
from core.talk.discussion.discussion_messages import AttachFile
from gui.driver import Driver
from gui.markdown.document import load
from panels.base.ui import Ui
from panels.base.view import WindowView
from panels.shell.window import window
from tests.gui.conftest import SIZE, Screen
from tests.panels import states

pytestmark = pytest.mark.gui
MOST_FRAMES = 400


class FileManager:
    """Another program of the screen that drags files: it speaks the drag-and-drop protocol of X.

    Source: freedesktop.org, "Drag-and-Drop Protocol for the X Window System", version 5 (read 2026-11-29).
    """

    def __init__(self, paths: tuple[Path, ...]) -> None:
        self.display = display.Display()
        self.root = self.display.screen().root
        self.window = self.root.create_window(0, 0, 1, 1, 0, X.CopyFromParent)
        self.listing = "".join(f"{path.as_uri()}\r\n" for path in paths).encode()
        self.window.set_selection_owner(self._atom("XdndSelection"), X.CurrentTime)
        self.display.sync()

    def close(self) -> None:
        """Leave the screen."""
        self.display.close()

    def _atom(self, name: str) -> int:
        return int(self.display.intern_atom(name))

    def _tell(self, target: Any, kind: str, *data: int) -> None:
        values = [self.window.id, *data, 0, 0, 0, 0][:5]
        told = event.ClientMessage(window=target, client_type=self._atom(kind), data=(32, values))
        target.send_event(told, event_mask=0)
        self.display.flush()

    def target(self) -> Any:
        """The window that takes drops."""
        aware = self._atom("XdndAware")
        waiting = [self.root]
        while waiting:
            here = waiting.pop()
            if here.id != self.window.id and here.get_full_property(aware, X.AnyPropertyType) is not None:
                return here
            waiting += here.query_tree().children
        raise AssertionError("no window takes drops")

    def drop(self, x: int, y: int) -> Iterator[None]:
        """Drag the files over the window and let them go; each step lets the window draw a frame."""
        target = self.target()
        self._tell(target, "XdndEnter", 5 << 24, self._atom("text/uri-list"))
        yield
        self._tell(target, "XdndPosition", 0, (x << 16) | y, X.CurrentTime, self._atom("XdndActionCopy"))
        yield
        self._tell(target, "XdndDrop", 0, X.CurrentTime)
        while True:
            self._answer()
            yield

    def _answer(self) -> None:
        """Give the list of files to who asks for it."""
        while self.display.pending_events():
            asked = self.display.next_event()
            if asked.type != X.SelectionRequest:
                continue
            asked.requestor.change_property(asked.property, asked.target, 8, self.listing)
            answer = event.SelectionNotify(
                time=asked.time,
                requestor=asked.requestor,
                selection=asked.selection,
                target=asked.target,
                property=asked.property,
            )
            asked.requestor.send_event(answer, event_mask=0)
            self.display.flush()


def test_files_that_are_dropped_on_the_window_are_attached(screen: Screen, tmp_path: Path) -> None:
    load()
    paths = (tmp_path / "plan of work.md", tmp_path / "größe.txt")
    sent: list[Command] = []
    view = WindowView()

    def draw(ui: Ui) -> None:
        window(states.working(), view, ui, sent.append)

    person: Driver = screen.show(draw)
    manager = FileManager(paths)
    dragging = manager.drop(SIZE[0] // 2, SIZE[1] // 2)
    for _ in range(MOST_FRAMES):
        next(dragging)
        person.step(1)
        if any(isinstance(one, AttachFile) for one in sent):
            break
    person.step(3)
    manager.close()

    assert [one.path for one in sent if isinstance(one, AttachFile)] == [str(path) for path in paths]
