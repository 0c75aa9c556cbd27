"""Frames that are read and not drawn, where the processor does the drawing: of keys that came in a burst, the toolkit hands
over one a frame, and a picture of each would take many times as long as the key.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

GL_NONE, GL_BACK = 0, 0x0405
_GL_RENDERER = 0x1F01
_BY_PROCESSOR = ("llvmpipe", "softpipe", "swrast")
"""Names of Mesa's software renderers. They copy the picture to the window and keep it: where nothing is drawn, the last
one stays. Cards swap two pictures, and would show an older one."""

DrawInto = Callable[[int], None]


class UnseenFrames:
    """Frames without a picture. Needs the GL context of this thread.

    Args:
        draw_into: chooses the buffer that is drawn into, None where every frame must be drawn.
    """

    def __init__(self, draw_into: DrawInto | None) -> None:
        self._draw_into = draw_into

    @property
    def are_possible(self) -> bool:
        """True if a frame may go undrawn, and that saves something."""
        return self._draw_into is not None

    @contextmanager
    def undrawn(self) -> Iterator[None]:
        """Leave the picture as it is while frames are rendered."""
        assert self._draw_into is not None
        self._draw_into(GL_NONE)
        try:
            yield
        finally:
            self._draw_into(GL_BACK)


def find_unseen_frames() -> UnseenFrames:
    """Unseen frames of the window of this thread. Call it after the window is shown."""
    if sys.platform != "linux":
        return UnseenFrames(None)
    try:
        gl = ctypes.CDLL("libGL.so.1")
        gl.glGetString.restype = ctypes.c_char_p
        gl.glGetString.argtypes = [ctypes.c_uint]
        gl.glDrawBuffer.restype = None
        gl.glDrawBuffer.argtypes = [ctypes.c_uint]
        renderer = (gl.glGetString(_GL_RENDERER) or b"").decode("latin-1").casefold()
    except (OSError, AttributeError):
        return UnseenFrames(None)
    return UnseenFrames(gl.glDrawBuffer if any(name in renderer for name in _BY_PROCESSOR) else None)
