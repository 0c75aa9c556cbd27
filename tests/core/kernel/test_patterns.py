"""Patterns that are compiled late: they do what compiled ones do, and the program's rooms compile few as they load."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.kernel.patterns import late
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[3]
MOST_COMPILED = 20


def test_a_late_pattern_does_what_a_compiled_one_does() -> None:
    pattern, compiled = late(r"(?P<word>\w)b", re.IGNORECASE), re.compile(r"(?P<word>\w)b", re.IGNORECASE)

    assert pattern.pattern == compiled.pattern
    assert pattern.sub(r"<\1>", "ab CB") == compiled.sub(r"<\1>", "ab CB") == "<a> <C>"
    assert [one.span() for one in pattern.finditer("ab CB")] == [(0, 2), (3, 5)]
    assert (pattern.flags, pattern.groupindex) == (compiled.flags, compiled.groupindex)
    assert late(rb"a").search(b"ba")


def test_a_wrong_pattern_is_told_at_its_first_use() -> None:
    pattern = late("(")

    with pytest.raises(re.error):
        pattern.search("x")


def test_rooms_compile_hardly_any_pattern_while_they_load() -> None:
    """Hundreds of them took a tenth of each command, and of the first frame."""
    code = (
        "import re, sys\n"
        "true, ours = re._compile, []\n"
        "def compiled(pattern, flags):\n"
        "    frame = sys._getframe(2)\n"
        "    if frame.f_code.co_name == '<module>' and '/site-packages/' not in frame.f_code.co_filename:\n"
        f"        ours.append(frame.f_code.co_filename) if frame.f_code.co_filename.startswith({str(ROOT)!r}) else None\n"
        "    return true(pattern, flags)\n"
        "re._compile = compiled\n"
        "import core.app.outside, core.front.cli.send, gui.app\n"
        "print(*ours, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True, timeout=PATIENCE_S
    )

    compiled = done.stdout.split()
    assert len(compiled) <= MOST_COMPILED, sorted(set(compiled))
