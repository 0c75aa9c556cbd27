"""Points lead to places in the text, and ranges to boxes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gui.markdown.blocks import BlockLook
from gui.markdown.document import Document, load
from gui.markdown.excerpt import boxes, offset_at, x_at
from gui.markdown.layout import lay_out
from gui.markdown.parse import parse
from gui.metrics import Measure
from tests.gui.gallery_pages import SAMPLE


def laid_out(measure: Measure, source: str, width: float = 600, *, is_written: bool = False) -> Document:
    load()
    document = Document()
    document.set_source(source, is_streaming=False, is_written=is_written)
    document.lay_out(measure, width)
    return document


def test_every_character_that_is_shown_is_somewhere(measure: Measure) -> None:
    for width in (240, 600):
        document = laid_out(measure, SAMPLE, width)
        for index, block in enumerate(document.blocks):
            look = BlockLook(wraps=True)
            laid = lay_out(block, measure, width, look=look)
            seen = sorted(at for op in laid.ops for at in range(op.at, op.at + op.size))
            text = block.shown()
            missing = set(range(len(text))) - set(seen)
            assert all(text[at] in "\t\n" and block.kind == "table" for at in missing), (index, missing)
            assert len(seen) == len(set(seen))
            drawn = {op.at: op.text for op in laid.ops if op.size == len(op.text)}
            assert all(text[at : at + len(part)] == part for at, part in drawn.items())


@given(index=st.integers(0, 60), width=st.integers(260, 900))
def test_a_point_on_a_character_leads_to_it(measure: Measure, index: int, width: int) -> None:
    laid = lay_out(
        parse("words of **several** styles, and `code` that wraps over a few lines")[0], measure, width
    )
    for op in laid.ops:
        if op.size == len(op.text) and op.at <= index < op.at + op.size:
            x = x_at(op, measure, index)
            assert offset_at(op, measure, x + 0.5) == index


def test_a_point_beside_a_line_leads_to_that_line(measure: Measure) -> None:
    document = laid_out(measure, "first line\n\n- item one\n- item two\n\n```\na = 1\n\nb = 2\n```")
    place = document.place_at(measure, 5000, 5)
    assert place == (0, len("first line"))
    assert document.place_at(measure, -50, 5) == (0, 0)
    top, laid = document.tops[3]
    empty = next(op for op in laid.ops if op.text == "\n" and op.at == 6)
    assert document.place_at(measure, 300, top + empty.y + 2) == (3, 6)
    assert document.place_at(measure, 300, 5000) == (3, len("a = 1\n\nb = 2"))


def test_a_point_in_a_table_leads_to_its_cell(measure: Measure) -> None:
    document = laid_out(measure, "| a | b |\n|--|--|\n| one | two |\n|  | four |")
    _, laid = document.tops[0]
    text = document.blocks[0].shown()
    for cell in laid.cells:
        block, offset = document.place_at(measure, cell.x + 2, cell.y + cell.h / 2)
        assert (block, offset) == (0, cell.start)
        assert text[cell.start : cell.end] in ("a", "b", "one", "two", "", "four")


def test_words_and_paragraphs_are_found_around_a_place(measure: Measure) -> None:
    document = laid_out(
        measure, "call an_init__(now) twice\n\n```\none\ntwo words\n```\n\n| a | b c |\n|--|--|"
    )
    assert document.around((0, 8), 2) == ((0, 5), (0, 14))
    assert document.around((0, 8), 3) == ((0, 0), (0, 25))
    assert document.around((1, 6), 3) == ((1, 4), (1, 13))
    assert document.around((2, 3), 3) == ((2, 2), (2, 5))
    assert document.around((0, 8), 1) == ((0, 8), (0, 8))


def test_a_range_covers_its_lines(measure: Measure) -> None:
    document = laid_out(measure, "word " * 60, 300)
    laid = document.tops[0][1]
    found = boxes(laid, measure, 0, 300)
    assert len(found) == len({op.y for op in laid.ops})
    assert all(width > 0 for _, _, width, _ in found)
    assert boxes(laid, measure, 7, 7) == []


def test_occurrences_are_found_in_what_is_shown(measure: Measure) -> None:
    document = laid_out(measure, "**Al**pha alpha [x](https://alpha.org)\n\n`ALPHA`")
    assert document.occurrences(("alpha",)) == [(0, 0, 5), (0, 6, 11), (1, 0, 5)]
    assert document.occurrences(()) == []


def test_code_wider_than_its_box_is_cut_and_scrolls(measure: Measure) -> None:
    line = "".join(f"{n:04}" for n in range(100))
    document = laid_out(measure, f"```\n{line}\n```", 400)
    laid = document.tops[0][1]
    assert laid.reach is not None
    first = "".join(op.text for op in laid.ops if op.size and op.text != "\n")
    assert line.startswith(first)
    assert len(first) < 60
    assert all(op.x + op.w <= 401 for op in laid.ops)
    assert document.shift(0, 1e9)
    document.lay_out(measure, 400)
    last = "".join(op.text for op in document.tops[0][1].ops if op.size and op.text != "\n")
    assert line.endswith(last)
    document.toggle_wrap(0)
    document.lay_out(measure, 400)
    assert document.tops[0][1].reach is None
    assert "".join(op.text for op in document.tops[0][1].ops if op.size) == line


def test_a_place_in_a_closed_fold_and_far_right_in_code_is_brought(measure: Measure) -> None:
    document = laid_out(
        measure, f"<details>\n<summary>more</summary>\n\n```\n{'x ' * 200}needle\n```\n\n</details>", 400
    )
    assert document.tops[1][1].height == 0
    block, start, _ = document.occurrences(("needle",))[0]
    assert document.bring(measure, block, start)
    document.lay_out(measure, 400)
    assert document.bring(measure, block, start)
    document.lay_out(measure, 400)
    assert document.boxes(measure, (block, start), (block, start + 6))
    assert not document.bring(measure, block, start)
