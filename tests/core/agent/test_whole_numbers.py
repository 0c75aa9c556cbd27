"""Arguments of a call with whole numbers that are written with a fraction of nothing."""

from __future__ import annotations

from core.agent.tool import Judged, arguments_of
from core.agent.tools.read_file import ReadFile
from core.kernel.values.agent import ActKind


def read(arguments_json: str) -> ReadFile | Judged:
    return arguments_of(ActKind.READ, "Read a file", arguments_json, ReadFile)


def test_an_integer_is_one_however_it_is_written() -> None:
    assert read('{"path":"a","first_line":2.0,"lines":1e2}') == ReadFile("a", first_line=2, lines=100)


def test_a_number_with_a_fraction_is_none() -> None:
    assert isinstance(read('{"path":"a","first_line":2.5}'), Judged)
    assert isinstance(read('{"path":"a"'), Judged)
