"""What is done to read a file that people edit grows with its size and no faster, whatever stands in it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.parser_growth import SIZES

Told = Mapping[str, Mapping[str, tuple[int, int]]]

TIMES = SIZES[1] / SIZES[0]
MOST = TIMES * 1.3
"""Of what is done once for each part, or sorted; a square gives 16."""

ONCE = 4_000
"""What is done once for a file, whatever its size: it is of no account for how that grows."""


@pytest.fixture(scope="module")
def told() -> Told:
    """What each parser did with each text of two sizes: counted in a process of its own, since its modules are changed."""
    ended = subprocess.run(
        [sys.executable, "-P", "-c", "import sys; sys.path.insert(0, sys.argv[1]); from tests.parser_growth import main; main()",
         str(Path(__file__).parents[1])],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: Told = json.loads(ended.stdout)
    return found


def test_every_parser_does_so_many_times_as_much_for_a_file_so_many_times_as_large(told: Told) -> None:
    steep = [
        f"{parser} of {shape}: {small:,} then {large:,}"
        for parser, of_shapes in told.items()
        for shape, (small, large) in of_shapes.items()
        if large > MOST * max(small, ONCE)
    ]
    assert steep == []


def test_none_is_passed_by_because_its_text_is_refused_at_the_door(told: Told) -> None:
    """Some text takes each of them more work when it is longer, but for what others' parsers read, or nobody does."""
    flat = [name for name, of in told.items() if not any(large > 2 * small for small, large in of.values())]
    assert flat == ["prompts", "inbox letters", "queue.json"]
