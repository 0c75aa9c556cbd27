"""Formulas and diagrams become pictures in processes of their own; what cannot be drawn has a sentence."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import cast

import msgspec
import numpy as np
import pytest

from core.app.crunch import CrunchError, CrunchLateError
from gui.drawing_child import DrawnPicture
from gui.drawing_child import _done as drawn_by_child
from gui.drawing_process import DrawingProcess
from gui.drawings import MOST_CHARS, MOST_TEXELS, Drawings, floats
from gui.metrics import Drawing, DrawnSize
from tests.patience import PATIENCE_S


class Shelf:
    """Stands for the canvas: counts textures."""

    def __init__(self) -> None:
        self.made: list[int] = []
        self.deleted: list[int] = []

    def texture(self, width: int, height: int, pixels: object) -> int:
        self.made.append(width * height)
        return len(self.made)

    def delete(self, item: int) -> None:
        self.deleted.append(item)


@pytest.fixture
def drawings() -> Iterator[Drawings]:
    made = Drawings(lambda: True)
    yield made
    made.close()


def settled(drawings: Drawings, drawing: Drawing) -> DrawnSize:
    """The size of a drawing once it has come."""
    drawings.size_of(drawing)
    drawings.wait(PATIENCE_S)
    size = drawings.size_of(drawing)
    assert size is not None
    return size


FORMULA = Drawing(kind="formula", text=r"\frac{a}{b}", size=16)


def test_a_formula_is_drawn_once_and_remembered(drawings: Drawings) -> None:
    size = settled(drawings, FORMULA)
    assert not size.problem
    assert 5 < size.width < 60
    assert size.width < 3 * size.height
    assert 0 < size.above < size.height
    shelf = Shelf()
    first = drawings.texture(shelf, FORMULA)  # type: ignore[arg-type]
    assert first
    assert drawings.texture(shelf, FORMULA) == first  # type: ignore[arg-type]
    assert len(shelf.made) == 1
    assert drawings.drawn() == 1


def test_a_formula_grows_with_the_text(drawings: Drawings) -> None:
    small = settled(drawings, FORMULA)
    large = settled(drawings, Drawing(kind="formula", text=FORMULA.text, size=32))
    assert large.height == pytest.approx(2 * small.height, rel=0.15)


@pytest.mark.parametrize(
    "tex",
    [
        r"\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}",
        r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
        r"\begin{gathered} a \\ b \end{gathered}",
        r"a \\ b",
        r"\begin{aligned} a &= b \\ &= c \end{aligned}",
        r"\text{if } x > 0 \tag{1}",
    ],
)
def test_what_models_write_is_drawn(drawings: Drawings, tex: str) -> None:
    size = settled(drawings, Drawing(kind="formula_block", text=tex, size=16))
    assert not size.problem
    assert size.height > 10


def test_lines_of_a_formula_stand_below_one_another(drawings: Drawings) -> None:
    one = settled(drawings, Drawing(kind="formula_block", text="a", size=16))
    two = settled(drawings, Drawing(kind="formula_block", text=r"a \\ b", size=16))
    assert two.height > 1.6 * one.height


@pytest.mark.parametrize(
    ("tex", "problem"),
    [
        (r"\nosuchthing{x}", "\\nosuchthing is unknown"),
        (r"\frac{1", "a part of the formula is unknown"),
        ("", "it is empty"),
        ("x" * (MOST_CHARS["formula_block"] + 1), "longer than 6,000 characters"),
        ("x" * 100_000, "longer than 6,000 characters"),
    ],
)
def test_a_formula_that_is_not_drawn_says_why(drawings: Drawings, tex: str, problem: str) -> None:
    assert settled(drawings, Drawing(kind="formula_block", text=tex, size=16)).problem == problem


def test_a_diagram_is_drawn_for_the_theme_and_keeps_its_size_until_the_other_is_there() -> None:
    is_dark = [True]
    drawings = Drawings(lambda: is_dark[0])
    try:
        graph = Drawing(kind="diagram", text="graph LR\n A[One] --> B{Two}", size=1.0)
        size = settled(drawings, graph)
        assert not size.problem
        assert size.width > size.height
        shelf = Shelf()
        dark = drawings.texture(shelf, graph)  # type: ignore[arg-type]
        is_dark[0] = False
        assert drawings.size_of(graph) == size
        assert drawings.texture(shelf, graph) == dark  # type: ignore[arg-type]
        drawings.wait(PATIENCE_S)
        assert drawings.size_of(graph) is not None
        assert drawings.texture(shelf, graph) != dark  # type: ignore[arg-type]
    finally:
        drawings.close()


def test_a_diagram_that_is_not_drawn_says_where(drawings: Drawings) -> None:
    broken = Drawing(kind="diagram", text="graph TD\n A[One --> B", size=1.0)
    assert settled(drawings, broken).problem == "line 3 is not valid mermaid"
    unknown = Drawing(kind="diagram", text="no such diagram", size=1.0)
    assert settled(drawings, unknown).problem == "the text is not valid mermaid"
    nodes = "graph TD\n" + "\n".join(f"A{n} --> A{n + 1}" for n in range(10_000))
    large = Drawing(kind="diagram", text=nodes, size=1.0)
    assert settled(drawings, large).problem == "longer than 20,000 characters"


class Slow(DrawingProcess):
    """Stands for a process that a text holds up, or that ends over it."""

    def __init__(self, error: CrunchError) -> None:
        super().__init__(1.0)
        self.error = error

    def _done(self, job: object) -> object:
        raise self.error


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (
            CrunchLateError("The helper process needed more than 20 seconds for 'diagram'"),
            "drawing took too long",
        ),
        (
            CrunchError("The helper process ended during the task 'diagram'"),
            "the process that draws formulas and diagrams ended by itself",
        ),
    ],
)
def test_a_text_that_holds_the_process_up_or_ends_it_says_so(error: CrunchError, problem: str) -> None:
    process = Slow(error)
    drawings = Drawings(lambda: True, processes=(process, process))
    try:
        assert settled(drawings, FORMULA).problem == problem
    finally:
        drawings.close()


def test_pictures_that_nothing_shows_make_room_for_new_ones(drawings: Drawings) -> None:
    settled(drawings, FORMULA)
    other = Drawing(kind="formula", text="x", size=16)
    settled(drawings, other)
    shelf = Shelf()
    for drawing in (FORMULA, other):
        drawings.texture(shelf, drawing)  # type: ignore[arg-type]
    drawings.hold((), {FORMULA, other}, shelf)  # type: ignore[arg-type]
    drawings.hold({FORMULA}, (), shelf)  # type: ignore[arg-type]
    assert not shelf.deleted  # there is room
    drawings.most_texels = 1
    drawings.hold((), (), shelf)  # type: ignore[arg-type]
    assert shelf.deleted == [1]
    assert drawings.texture(shelf, other) == 2  # type: ignore[arg-type]
    assert drawings.size_of(FORMULA) is None  # it is drawn anew
    assert MOST_TEXELS > 1_000_000


def test_pixels_are_white_that_covers_or_colours_as_they_came() -> None:
    assert floats(b"\x00\xff", 2).tolist() == [1, 1, 1, 0, 1, 1, 1, 1]
    assert floats(b"\xff\x00\x00\xff", 1).tolist() == [1, 0, 0, 1]
    assert floats(b"\xff\x00\x00\xff", 1).dtype == np.float32


def test_a_diagram_without_its_engine_names_the_line_that_adds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mermaidx", None)
    header = {"job": "diagram", "size": 1.0, "is_dark": True}
    drawn = msgspec.msgpack.decode(
        cast("bytes", drawn_by_child(header, b"graph TD; A-->B")), type=DrawnPicture
    )

    assert 'pip install "manual-slop[diagrams]"' in drawn.problem
