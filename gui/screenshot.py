"""Pictures of the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dearpygui.dearpygui as dpg

MOST_FRAMES = 60


def screenshot(path: Path, frame: Callable[[], object], *, settle: int = 4) -> None:
    """Write what the window shows to a PNG.

    The toolkit reads the buffer of the frame before, so the picture is taken after `settle` frames.

    Raises:
        TimeoutError: the toolkit wrote no file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    for _ in range(settle):
        frame()
    dpg.output_frame_buffer(str(path))
    for _ in range(MOST_FRAMES):
        frame()
        if path.exists() and path.stat().st_size > 0:
            return
    raise TimeoutError(f"no screenshot was written to {path}")
