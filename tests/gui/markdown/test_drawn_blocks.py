"""Formulas and diagrams in their places: drawn where they are known, else as they were written, with why."""

from __future__ import annotations

import sys

import pytest

from gui.drawing_child import _diagram
from gui.markdown.blocks import BlockLook, Laid, Op, tex_of
from gui.markdown.document import Document, load
from gui.markdown.layout import lay_out
from gui.markdown.parse import parse
from gui.metrics import ASSETS, Drawing, DrawnSize, Measure, load_theme


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    load()


class Known:
    """A measure that knows some drawings. `asked`: what it was asked for."""

    def __init__(self, size: DrawnSize | None) -> None:
        self.size = size
        self.asked: list[Drawing] = []
        self.measure = Measure(load_theme().fonts, ASSETS / "fonts")
        self.measure.drawn = self.drawn

    def drawn(self, drawing: Drawing) -> DrawnSize | None:
        self.asked.append(drawing)
        return self.size


def drawings(laid: Laid) -> list[Op]:
    return [op for op in laid.ops if op.drawing is not None]


@pytest.mark.parametrize(
    ("written", "tex", "is_block"),
    [
        ("$x$", "x", False),
        (r"\(x\)", "x", False),
        ("$$\nx\n$$", "x", True),
        (r"\[ x \]", "x", True),
        ("x", "x", True),
        ("$", "$", True),
    ],
)
def test_a_formula_is_what_stands_between_its_marks(written: str, tex: str, is_block: bool) -> None:
    assert tex_of(written) == (tex, is_block)


def test_a_formula_stands_on_the_line_of_its_words_and_makes_room_for_itself() -> None:
    known = Known(DrawnSize(width=30, height=60, above=40))
    plain = lay_out(parse("before $x$ after\nmore")[0], Known(DrawnSize(problem="no")).measure, 400)
    laid = lay_out(parse("before $x$ after\nmore")[0], known.measure, 400)
    (formula,) = drawings(laid)
    assert formula.y >= 0
    assert formula.y + formula.h <= laid.height
    assert laid.height > plain.height
    words = next(op for op in laid.ops if op.text.startswith("before"))
    assert formula.y < words.y < formula.y + formula.h
    after = next(op for op in laid.ops if "after" in op.text)
    assert after.x == pytest.approx(words.x + words.w + 30)
    assert known.asked[0].text == "x"


def test_a_formula_wider_than_a_line_has_its_own_line_and_is_made_smaller() -> None:
    known = Known(DrawnSize(width=600, height=60, above=40))
    laid = lay_out(parse("before $x$ after")[0], known.measure, 400)
    (formula,) = drawings(laid)
    assert formula.x == 0
    assert formula.w == pytest.approx(400)
    assert formula.h == pytest.approx(40)
    words = {op.text.strip(): op for op in laid.ops if op.drawing is None and op.text.strip()}
    assert words["before"].y < formula.y + formula.h <= words["after"].y + words["after"].h

    known.size = DrawnSize(width=1_200, height=60, above=40)
    assert not drawings(lay_out(parse("before $x$ after")[0], known.measure, 400))


def test_what_is_selected_of_a_formula_is_its_source() -> None:
    known = Known(DrawnSize(width=30, height=20, above=15))
    document = Document()
    source = "before $a_1$ after\n\n$$\n\\frac12\n$$"
    document.set_source(source, is_streaming=False)
    document.lay_out(known.measure, 400)
    start, end = document.all()
    assert document.excerpt(start, end) == source
    (formula,) = drawings(document.tops[0][1])
    inside = document.place_at(known.measure, formula.x + formula.w / 4, formula.y + 5)
    behind = document.place_at(known.measure, formula.x + formula.w * 0.9, formula.y + 5)
    assert document.excerpt(inside, behind) == "$a_1$"
    (box,) = document.boxes(known.measure, inside, behind)
    assert box[2] == pytest.approx(30)


def test_while_a_formula_is_drawn_its_source_stands_there_and_is_placed_anew_when_it_came() -> None:
    known = Known(None)
    document = Document()
    document.set_source("words $x$ and\n\nnone", is_streaming=False)
    document.lay_out(known.measure, 400)
    assert document.awaits
    assert any(op.text == "$x$" for op in document.tops[0][1].ops)
    still = document.tops[1][1]
    known.size = DrawnSize(width=10, height=10, above=8)
    document.lay_out(known.measure, 400)
    assert not document.awaits
    assert drawings(document.tops[0][1])
    assert document.tops[1][1] is still


@pytest.mark.parametrize("language", ["math", "mermaid"])
def test_what_cannot_be_drawn_is_shown_as_it_was_written_with_why(language: str) -> None:
    known = Known(DrawnSize(problem="longer than 6,000 characters"))
    laid = lay_out(parse(f"```{language}\nA-->B\n```")[0], known.measure, 700)
    shown = [op.text for op in laid.ops]
    assert f"{language} · not drawn: longer than 6,000 characters" in shown
    assert laid.copy == "A-->B"
    assert not drawings(laid)
    assert not laid.has_drawing


def test_a_formula_much_wider_than_its_place_is_shown_as_it_was_written() -> None:
    laid = lay_out(parse("$$x$$")[0], Known(DrawnSize(width=3000, height=20)).measure, 500)
    assert not drawings(laid)
    assert any("the drawn formula is too wide" in op.text for op in laid.ops)


def test_a_wide_diagram_fits_and_is_asked_for_smaller() -> None:
    known = Known(DrawnSize(width=2000, height=400))
    laid = lay_out(parse("```mermaid\ngraph LR\n```")[0], known.measure, 700)
    (diagram,) = drawings(laid)
    assert diagram.x + diagram.w <= 700
    assert diagram.drawing is not None
    assert diagram.drawing.size < 1
    assert laid.has_drawing


def test_a_person_sees_the_source_of_a_diagram_when_they_want() -> None:
    known = Known(DrawnSize(width=200, height=100))
    block = parse("```mermaid\ngraph LR\n```")[0]
    laid = lay_out(block, known.measure, 700, look=BlockLook(is_source=True))
    assert not drawings(laid)
    assert laid.has_drawing


def test_a_column_of_formulas_is_as_wide_as_they_are_drawn() -> None:
    table = "| a | b |\n|--:|---|\n| $" + "x" * 60 + "$ | words |"
    wide = lay_out(parse(table)[0], Known(DrawnSize(problem="no")).measure, 900)
    laid = lay_out(parse(table)[0], Known(DrawnSize(width=20, height=30, above=20)).measure, 900)
    assert laid.cells[0].w < wide.cells[0].w / 3
    (formula,) = drawings(laid)
    cell = laid.cells[2]
    assert cell.x <= formula.x
    assert formula.x + formula.w <= cell.x + cell.w


def test_the_line_that_adds_the_engine_of_diagrams_has_room_in_a_usual_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was cut behind `pip install`."""
    monkeypatch.setitem(sys.modules, "mermaidx", None)
    source = "graph TD; A-->B"
    problem = _diagram(source, 1.0, is_dark=True).problem
    laid = lay_out(parse(f"```mermaid\n{source}\n```")[0], Known(DrawnSize(problem=problem)).measure, 500)
    (head,) = (op for op in laid.ops if op.text.startswith("mermaid"))
    assert head.text.endswith('pip install "manual-slop[diagrams]"')


def test_the_head_of_a_code_ends_before_its_buttons_and_says_that_it_was_cut() -> None:
    known = Known(
        DrawnSize(problem="a reason that has many more words than the head of a narrow box has room for")
    )
    laid = lay_out(parse(f"```math\n{'x' * 300}\n```")[0], known.measure, 400)
    (head,) = (op for op in laid.ops if op.text.startswith("math"))
    assert head.text.endswith("…")
    assert head.x + head.w <= 400 - 145
