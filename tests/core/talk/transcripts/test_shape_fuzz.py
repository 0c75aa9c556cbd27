"""Each shape with something in it that its program would not write: read as far as it goes, or said. More: `make faults`."""

from __future__ import annotations

import pytest

from tests.core.talk.transcripts.shape_fuzz import SHAPES, problem
from tests.core.talk.transcripts.shapes import Shape


@pytest.mark.parametrize("shape", SHAPES, ids=[one.id for one in SHAPES])
def test_a_changed_file_is_read_or_said_and_nothing_raises(shape: Shape) -> None:
    assert [said for seed in range(25) if (said := problem(shape, seed))] == []
