"""The `Ui` calls for long text and pictures: Markdown, code, images."""

from __future__ import annotations

from collections.abc import Hashable
from urllib.parse import urlsplit

from gui.elements.code import CodeLines
from gui.elements.pictures import Picture
from gui.elements.prose import Markdown
from gui.elements.surfaces import Surface
from gui.ui_lists import Lists
from gui.visible import visible
from panels.ui import Length

PAGE_CHARS = 24_000
"""What of a long text is shown at first, and added by each press of its button."""
CODE_MOST_PX = 480.0


class Prose(Lists):
    """Markdown, code, images."""

    def markdown(self, key: Hashable, source: str, *, is_streaming: bool = False) -> None:
        """Markdown with highlighted code and copy buttons, as wide as the container; nothing is fetched."""
        if len(source) <= PAGE_CHARS:
            self._markdown(key, source, is_streaming)
            return
        with self.group(key):
            box = self.at
            shown = page_end(source, self.pages.get(box.path(), 1) * PAGE_CHARS)
            self._markdown("text", source[:shown], is_streaming)
            if shown < len(source):
                left = f"Show more ({(len(source) - shown) // 1000:,} kB left)"
                if self.button("more", left, icon="angles-down", is_small=True):
                    self.pages[box.path()] = self.pages.get(box.path(), 1) + 1

    def _markdown(self, key: Hashable, source: str, is_streaming: bool) -> None:
        text = self.take(Markdown, key)
        text.update((source, is_streaming))
        for copy in text.copies:
            if copy.is_clicked:
                copy.is_clicked, copy.is_done = False, True
                copy.touch()
                self.copy(copy.payload)
        for link in text.links:
            if link.is_clicked:
                link.is_clicked = False
                self.asked_address = (text.path(), link.tip)
        if self.asked_address is not None and self.asked_address[0] == text.path():
            self._ask(self.asked_address[1])

    def _ask(self, address: str) -> None:
        """Show where a link leads and let the person decide: its text may say something else."""
        is_web = urlsplit(address).scheme in ("http", "https")
        title = "Open this address?" if is_web else "This link leads to no web page"
        with self.dialog("address", title, width=560) as closed:
            self.text("address", visible(address)[:2000], wraps=True, style="mono")
            with self.row("buttons"):
                self.push()
                if self.button("copy", "Copy address", icon="copy"):
                    self.copy(address)
                    closed.clicked = True
                if self.button("open", "Open", kind="primary", is_enabled=is_web, shortcut="Ctrl+Enter"):
                    self.open_url(address)
                    closed.clicked = True
        if closed.clicked:
            self.asked_address = None

    def code(
        self, key: Hashable, text: str, *, language: str = "", first_line: int = 0, height: Length = None
    ) -> None:
        """Highlighted code; with `first_line` > 0 numbered. Long texts are virtual."""
        box = self.take(Surface, key)
        box.wide, box.tall = 0, height
        box.update(("code", None, True, 0.0, height))
        box.most_px = CODE_MOST_PX if height is None else None
        self.enter(box)
        lines = self.take(CodeLines, "lines")
        lines.update((text, language, first_line))
        self.leave()

    def image(self, key: Hashable, path: str, *, max_height: float = 200) -> None:
        """A picture from a local file; a broken one shows its name and the reason."""
        picture = self.take(Picture, key)
        picture.tip = path
        if picture.update((path, max_height)) and (not picture.found or picture.shown_path != path):
            picture.shown_path = path
            picture.begin()


def page_end(source: str, limit: int) -> int:
    """Where to cut a text after about `limit` characters: at a line's end, when there is one near."""
    if len(source) <= limit:
        return len(source)
    at = source.rfind("\n", limit - 2000, limit)
    return at + 1 if at > 0 else limit
