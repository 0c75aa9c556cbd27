"""Formulas and diagrams as pictures: drawn in processes of their own, remembered, and put on the screen as textures."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import msgspec

from core.kernel.language import tr
from gui.metrics import Drawing, DrawnSize

if TYPE_CHECKING:
    from concurrent.futures import Future

    from gui.canvas import Canvas
    from gui.drawing_child import DrawnPicture
    from gui.drawing_process import DrawingProcess

MOST_CHARS = {"formula": 2_000, "formula_block": 6_000, "diagram": 20_000}
"""Longest sources that are drawn: larger ones hold a library up for minutes, and nobody could read the picture."""
MOST_TEXELS = 24_000_000
"""Pixels of the pictures that are kept while nothing on the screen shows them."""


MOST_KNOWN = 5_000
"""Drawings that are remembered, those that failed among them."""


class _KnownDrawing(msgspec.Struct):
    """A drawing as far as it is known: under way, a problem, pixels, then a texture. `holders`: texts that show it."""

    size: DrawnSize | None = None
    picture: Any = None
    texture: int = 0
    holders: int = 0

    @property
    def texels(self) -> int:
        """Pixels that it keeps."""
        return int(self.size.width * self.size.height) if self.size is not None else 0


Key = tuple[Drawing, bool]
"""A drawing, and whether it is one for the dark theme: a formula has its colour from the text around it."""


class Drawings:
    """All drawings of a window. To be asked on its thread alone; nothing waits.

    `is_dark`: the theme that diagrams are drawn for. `processes`: who draws formulas, and who diagrams.
    """

    def __init__(
        self, is_dark: Callable[[], bool], processes: tuple[DrawingProcess, DrawingProcess] | None = None
    ) -> None:
        self._is_dark = is_dark
        self._known: OrderedDict[Key, _KnownDrawing] = OrderedDict()
        self._texels = 0
        self.most_texels = MOST_TEXELS
        self._processes = processes
        self._last: Future[object] | None = None
        self._came: list[tuple[Key, DrawnPicture, Any]] = []
        self._taken = self._asked = 0

    def close(self) -> None:
        """End the processes."""
        for process in self._processes or ():
            process.close()

    def size_of(self, drawing: Drawing) -> DrawnSize | None:
        """Its size, None while it is drawn; asks for it where nobody has. Until a diagram is drawn for another theme it has the
        size that it had.
        """
        self._take()
        key = self._key(drawing)
        known = self._known.get(key) or self._ask(key)
        if known.size is None and drawing.kind == "diagram":
            other = self._known.get((drawing, not key[1]))
            return other.size if other is not None else None
        return known.size

    def texture(self, canvas: Canvas, drawing: Drawing) -> int:
        """The texture of what was drawn, 0 where there is none."""
        self._take()
        key = self._key(drawing)
        known = self._known.get(key)
        if known is None:
            known = self._ask(key)  # it made room for others
        if known.picture is None and drawing.kind == "diagram":
            known = self._known.get((drawing, not key[1]), known)
        if known.picture is None or known.size is None:
            return 0
        if not known.texture:
            width, height = round(known.size.width), round(known.size.height)
            known.texture = canvas.texture(width, height, known.picture)
        return known.texture

    def hold(self, before: Collection[Drawing], after: Collection[Drawing], canvas: Canvas) -> None:
        """Note the drawings that a text shows. May drop unused drawings, the oldest first."""
        for drawing in after:
            self._count(drawing, 1)
        for drawing in before:
            self._count(drawing, -1)
        if self._texels <= self.most_texels and len(self._known) <= MOST_KNOWN:
            return
        free = [key for key, known in self._known.items() if not known.holders and known.size is not None]
        while free and (self._texels > self.most_texels or len(self._known) > MOST_KNOWN):
            known = self._known.pop(free.pop(0))
            self._texels -= known.texels
            if known.texture:
                canvas.delete(known.texture)

    def _count(self, drawing: Drawing, change: int) -> None:
        for key in ((drawing, False), (drawing, True)):
            if (known := self._known.get(key)) is not None:
                known.holders = max(0, known.holders + change)
                self._known.move_to_end(key)

    def _key(self, drawing: Drawing) -> Key:
        return drawing, drawing.kind == "diagram" and self._is_dark()

    def _ask(self, key: Key) -> _KnownDrawing:
        drawing, is_dark = key
        known = self._known[key] = _KnownDrawing()
        if len(drawing.text) > MOST_CHARS[drawing.kind]:
            known.size = DrawnSize(
                problem=tr("longer than {MOST_CHARS:,} characters", MOST_CHARS=MOST_CHARS[drawing.kind])
            )
            return known
        from core.app.crunch import CrunchClosedError
        from gui.drawing_process import DIAGRAM_S, FORMULA_S, DrawingProcess, drawn

        if self._processes is None:
            self._processes = DrawingProcess(FORMULA_S), DrawingProcess(DIAGRAM_S)
        process = self._processes[drawing.kind == "diagram"]
        header: dict[str, object] = {"job": drawing.kind, "size": drawing.size, "is_dark": is_dark}
        try:
            future = process.submit(header, drawing.text.encode("utf-8", "replace"))
        except CrunchClosedError:
            known.size = DrawnSize(problem=tr("the window is closing"))
            return known
        arriving: Future[object] = type(future)()

        def arrive(done: Future[object]) -> None:
            picture = drawn(done)
            self._came.append((key, picture, floats(picture.pixels, picture.width * picture.height)))
            arriving.set_result(None)

        self._asked += 1
        self._last = arriving
        future.add_done_callback(arrive)
        return known

    def wait(self, timeout_s: float) -> None:
        """Wait until what was asked for last has come. For tests and the tour: the window never waits."""
        if self._last is not None:
            self._last.result(timeout_s)

    def _take(self) -> None:
        """Take in what has been drawn meanwhile."""
        while self._came:
            key, picture, pixels = self._came.pop(0)
            known = self._known.setdefault(key, _KnownDrawing())
            known.size = DrawnSize(
                width=picture.width, height=picture.height, above=picture.above, problem=picture.problem
            )
            if not picture.problem:
                known.picture = pixels
                self._texels += known.texels
            self._taken += 1

    def is_busy(self) -> bool:
        """True while something is being drawn."""
        return self._asked > self._taken

    def drawn(self) -> int:
        """The number of finished drawings."""
        return self._taken + len(self._came)


def floats(pixels: bytes, count: int) -> Any:
    """Pixels as the toolkit takes them, four floats each: RGBA, or white that covers as much as is said."""
    import numpy as np

    given = np.frombuffer(pixels, np.uint8)
    if len(given) == 4 * count:
        return given.astype(np.float32) / np.float32(255)
    found = np.ones((count, 4), np.float32)
    found[:, 3] = given.astype(np.float32) / np.float32(255)
    return found.ravel()
