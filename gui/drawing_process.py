"""The processes that draw formulas and diagrams, as the window sees them."""

from __future__ import annotations

import subprocess
from concurrent.futures import Future
from pathlib import Path

from core.app.crunch import CrunchError, CrunchLateError, JobProcess
from core.kernel.child_process import start_child
from core.kernel.codecs import packed_decoder_of
from core.kernel.language import tr
from gui.drawing_child import DrawnPicture

FORMULA_S, DIAGRAM_S = 5.0, 20.0
_CHILD = Path(__file__).with_name("drawing_child.py")


class DrawingProcess(JobProcess):
    """Draws in a child process, so that a hang or crash there stops nothing else."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__(timeout_s, attempts=1)

    def start(self) -> subprocess.Popen[bytes]:
        """Start the process, which gives way to this one."""
        return start_child(_CHILD)


def drawn(done: Future[object]) -> DrawnPicture:
    """The answer of a process, or why there is none."""
    try:
        answer = done.result()
    except CrunchLateError:
        return DrawnPicture(problem=tr("drawing took too long"))
    except CrunchError:
        return DrawnPicture(problem=tr("the process that draws formulas and diagrams ended by itself"))
    assert isinstance(answer, bytes)
    return packed_decoder_of(DrawnPicture).decode(answer)
