"""Text to read, to select and to copy: an editor without a frame that takes no words."""

from __future__ import annotations

import math
from typing import ClassVar

from gui.elements.editor import Editor
from gui.metrics import Measure


class SelectableText(Editor):
    """Text to select and copy, without a frame. `props` as an editor's, then the height: infinite for all of it."""

    __slots__ = ()
    IS_EDITABLE: ClassVar[bool] = False
    SKIN: ClassVar[str] = "clear"
    MOST_PX: ClassVar[float] = 600.0

    def pads(self, m: Measure) -> tuple[int, int]:
        return 0, round(m.px(2))

    def wants_space(self) -> tuple[bool, bool]:
        return True, self.tall is not None and self.tall <= 0

    def measure(self, m: Measure) -> float:
        return m.px(240)

    def arrange(self, m: Measure, w: float, h: float | None) -> None:
        self.lay_out(m)
        content = self.content_px(m)
        if self.tall is None or self.tall == math.inf:
            self.h = content if self.tall is not None else min(content, m.px(self.MOST_PX))
        else:
            self.h = m.px(self.tall) if self.tall > 0 else h if h is not None else content
        self.keep_scroll(m)

    def label(self) -> str:
        return self.text
