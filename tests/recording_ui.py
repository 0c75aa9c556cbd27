"""A `Ui` without a window: it records each frame, holds panels to the protocol, and acts as a person would.

A person finds things by their words, so do its queries: `click("Send")`, `type("Search discussions", "x")`,
`choose("Model", "Opus")`. What a person could not do fails: click what is disabled, covered by a dialog, in a
closed menu, or not there. `tests.recording_widgets` says how each widget is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from panels.base.ui import Edited, ListView, Ui
from tests.recording_nodes import Node, is_called, key_head
from tests.recording_widgets import Record

CLICKABLE = ("button", "menu", "menu_item", "tab", "checkbox", "clickable")
INPUTS = ("text_input", "editor")


class RecordingUi:
    """Looks at what `draw` draws, and acts: every act draws the frames that follow it."""

    def __init__(
        self, draw: Callable[[Ui], None], *, width_px: float = 1600.0, height_px: float = 1000.0
    ) -> None:
        self._draw = draw
        self._record = Record(width_px, height_px)
        self.frames = 0

    def as_ui(self) -> Ui:
        """What panels draw on."""
        return self._record.ui

    @property
    def root(self) -> Node:
        """The last frame."""
        return self._record.root

    @property
    def copied(self) -> list[str]:
        """What was put on the clipboard."""
        return self._record.copied

    @property
    def urls(self) -> list[str]:
        """The web addresses that were opened."""
        return self._record.urls

    @property
    def files(self) -> list[str]:
        """The files that were opened in the person's own programs."""
        return self._record.files

    # --- frames

    def frame(self) -> None:
        """Draw one frame and check that what was done before it was taken."""
        self._record.frame(self._draw)
        self.frames += 1

    def settle(self) -> None:
        """Draw until the panels have seen their own changes."""
        self.frame()
        self.frame()

    # --- what a person sees

    def texts(self) -> list[str]:
        """Every word in view, in drawing order."""
        return self._reach().texts()

    def shows(self, words: str) -> bool:
        """Whether the words stand somewhere in view."""
        return any(words in text for text in self._reach().texts())

    def tips(self) -> list[str]:
        """What is said on hover, of everything in view."""
        return [node.tip for node in self._reach().walk() if node.tip]

    def nodes(self, kind: str) -> list[Node]:
        """All items of a kind, in drawing order."""
        return [node for node in self._reach().walk() if node.kind == kind]

    def find(self, label: str, *, kind: str | Sequence[str] = (), within: str = "") -> Node:
        """The one item that a person would mean by `label` (its words, its hint, or its tip)."""
        kinds = (kind,) if isinstance(kind, str) else tuple(kind)
        scope = self._scope(within, label, kinds) if within else self._reach()
        found = [n for n in scope.walk() if (not kinds or n.kind in kinds) and is_called(n, label)]
        if not found:
            raise AssertionError(f"No {kinds or 'item'} called {label!r}; in view: {scope.texts()}")
        direct = [n for n in found if n.kind != "clickable"] or found
        assert len(direct) == 1, f"{len(direct)} items are called {label!r}: {[n.path for n in direct]}"
        return direct[0]

    def has(self, label: str, *, kind: str | Sequence[str] = (), within: str = "") -> bool:
        """Whether there is an item called `label`."""
        kinds = (kind,) if isinstance(kind, str) else tuple(kind)
        try:
            scope = self._scope(within, label, kinds) if within else self._reach()
        except AssertionError:
            return False
        return any(is_called(n, label) for n in scope.walk() if not kinds or n.kind in kinds)

    def is_focused_on(self, label: str) -> bool:
        """Whether the keyboard is in the input called `label`."""
        return self._record.focused == self.find(label, kind=INPUTS).path

    def _reach(self) -> Node:
        """What can be reached: the last dialog where one is open, else the window."""
        dialogs = [node for node in self.root.walk() if node.kind == "dialog"]
        return dialogs[-1] if dialogs else self.root

    def _scope(self, within: str, label: str, kinds: tuple[str, ...]) -> Node:
        """The smallest container around the words `within` that has something called `label`."""
        around = [n for n in self._reach().walk() if any(within in word for word in n.words())]
        assert around, f"Nothing in view says {within!r}"
        for node in around[0].above():
            if any(is_called(n, label) for n in node.walk() if not kinds or n.kind in kinds):
                return node
        raise AssertionError(f"Nothing called {label!r} stands near {within!r}")

    # --- what a person does

    def wait(self, seconds: float) -> None:
        """Look at it for a while: guarded buttons count from when they came."""
        self._record.clock_s += seconds
        self.settle()

    def click(self, label: str, *, within: str = "") -> None:
        """Click what is called `label`."""
        node = self.find(label, kind=CLICKABLE, within=within)
        if not node.is_enabled:
            raise AssertionError(f"{label!r} is disabled: {node.tip}")
        match node.kind:
            case "menu":
                inside = {path for path in self._record.open_menus if node.path[: len(path)] == path}
                is_open = node.path in self._record.open_menus
                self._record.open_menus = inside - {node.path} if is_open else inside | {node.path}
            case "checkbox":
                self._record.events[node.path, "toggle"] = not node.value
            case "tab":
                assert node.parent is not None
                self._record.events[node.parent.path, "tab"] = node.value
            case _:
                self._record.events[node.path, "click"] = True
                self.frame()
                self._record.open_menus.clear()
        self.settle()

    def right_click(self, words: str) -> None:
        """Right-click the innermost container around the words that has a menu for it."""
        node = self.find(words)
        for container in node.above():
            menus = [child for child in container.children if child.kind == "context_menu"]
            if menus:
                self.open_menu(menus[0])
                return
        raise AssertionError(f"Nothing opens on a right click at {words!r}")

    def select(self, markdown: str) -> None:
        """Select some text of the window with the mouse: what it is as Markdown."""
        self._record.selected = markdown
        self.settle()

    def open_menu(self, menu: Node) -> None:
        """Open a menu that a right click opens."""
        self._record.open_menus = {menu.path}
        self.settle()

    def type(self, label: str, text: str, *, within: str = "") -> None:
        """Put `text` into an input in place of what is there; where it submits, press Enter."""
        node = self.find(label, kind=INPUTS, within=within)
        if not node.is_enabled:
            raise AssertionError(f"{label!r} is disabled")
        self._record.focused = node.path
        if node.kind == "editor":
            self._record.typed[node.path] = (node.props["revision"], text)
            self._record.events[node.path, "edit"] = Edited(text)
        else:
            self._record.events[node.path, "text"] = text
        self.settle()

    def paste(self, label: str, text: str) -> None:
        """Paste into an editor: past its limit the text stays out of it."""
        node = self.find(label, kind="editor")
        limit = node.props["paste_limit_chars"]
        if limit and len(text) > limit:
            self._record.events[node.path, "edit"] = Edited(node.value, pasted=text)
            self.settle()
        else:
            self.type(label, node.value + text)

    def paste_picture(self, label: str, data: bytes) -> None:
        """Paste a picture into an editor that takes pictures."""
        node = self.find(label, kind="editor")
        if not node.props["takes_pictures"]:
            raise AssertionError(f"{label!r} takes no pictures")
        self._record.events[node.path, "edit"] = Edited(node.value, picture=data)
        self.settle()

    def drop(self, *paths: str) -> None:
        """Drop files on the window."""
        self._record.dropped = paths
        self.settle()

    def follow(self, href: str) -> None:
        """Press a link of a text that leads to a document beside it. Fails where no text in view has it."""
        for node in self.nodes("markdown"):
            if f"]({href})" in node.value and node.props["has_pages"]:
                self._record.events[node.path, "follow"] = href
                self.settle()
                return
        raise AssertionError(f"no link in view leads to {href!r}")

    def focus_on(self, label: str) -> None:
        """Click into an input."""
        self._record.focused = self.find(label, kind=INPUTS).path
        self.settle()

    def press(self, chord: str) -> None:
        """Press a chord. Fails when nothing answers it."""
        self._record.chords = [chord]
        focused = next((n for n in self.root.walk() if n.path == self._record.focused), None)
        if chord == "Enter" and focused is not None and focused.props.get("submits_on_enter"):
            self._record.chords.clear()
            self._record.events[focused.path, "edit"] = Edited(focused.value, is_submitted=True)
        self.frame()
        left, self._record.chords = self._record.chords, []
        self.frame()
        if left:
            raise AssertionError(f"Nothing answers {chord}")

    def choose(self, label: str, option: str, *, within: str = "") -> None:
        """Choose an option of a combo by its label."""
        node = self.find(label, kind="combo", within=within)
        assert node.is_enabled, f"{label!r} is disabled"
        values = [o.value for o in node.props["options"] if o.label == option]
        assert len(values) == 1, f"{option!r} among {[o.label for o in node.props['options']]}"
        self._record.events[node.path, "choose"] = values[0]
        self.settle()

    def drag(self, start: int, end: int) -> None:
        """Drag a row of the sortable list in view to another place."""
        (node,) = self.nodes("sortable")
        assert 0 <= start < node.value
        assert 0 <= end < node.value
        self._record.events[node.path, "drag"] = (start, end)
        self.settle()

    def drag_edge(self, *widths: float) -> None:
        """Drag the edges of the split in view so that its panes have these widths."""
        (node,) = self.nodes("split")
        assert len(widths) == node.value
        self._record.events[node.path, "drag"] = widths
        self.settle()

    def pick(self, title: str, *paths: str) -> None:
        """Choose files in a file chooser; none: close it."""
        node = self.find(title, kind="file_dialog")
        self._record.events[node.path, "pick"] = paths
        self.settle()

    def close_dialog(self) -> None:
        """Close the dialog in view by its cross."""
        node = self._reach()
        assert node.kind == "dialog", "no dialog is open"
        self._record.events[node.path, "click"] = True
        self.settle()

    def scroll(self, name: str, first: int | None = None) -> None:
        """Scroll the virtual list whose key is or starts with `name` to a row, or to its end."""
        (node,) = [n for n in self.nodes("virtual_list") if name in (n.path[-1], key_head(n.path[-1]))]
        self._record.lists[node.path] = ListView(first or 0, is_at_end=first is None)
        self.settle()
