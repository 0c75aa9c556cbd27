"""Everything of a text is placed, inside the width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.markdown.blocks import BlockLook, Laid, MarkdownBlock
from gui.markdown.layout import BOXES, lay_out
from gui.markdown.parse import parse
from gui.metrics import Measure
from tests.gui.gallery_pages import SAMPLE


def text_of(laid: Laid) -> str:
    return "".join("".join(op.text.split()) for op in laid.ops)


def source_of(block: MarkdownBlock) -> str:
    parts = [run.text for run in block.runs] + [block.text]
    parts += [run.text for row in block.rows for cell in row for run in cell]
    if block.kind == "code":
        parts.insert(0, block.language or "text")
    return "".join("".join(parts).split())


def assert_whole(source: str, measure: Measure, width: float) -> None:
    """Every block shows its text in order, within the width, one line above the next."""
    for index, block in enumerate(parse(source)):
        laid = lay_out(block, measure, width, is_first=index == 0, look=BlockLook(wraps=True))
        sign = BOXES.get(block.marker, block.marker)
        assert text_of(laid).replace(sign, "", 1 if sign in source_of(block) else -1) == source_of(
            block
        ).replace(sign, "")
        for op in laid.ops:
            assert op.x >= -4
            assert op.x + op.w <= width + 4, (op, width)
            assert op.y + op.h <= laid.height + 4


@pytest.mark.parametrize("width", [220, 400, 861])
def test_the_sample_fits_any_width(measure: Measure, width: float) -> None:
    assert_whole(SAMPLE, measure, width)


@given(
    text=st.text(alphabet=st.sampled_from("abc  \n*`#>-|漢"), max_size=150),
    width=st.integers(250, 900),
)
def test_any_text_is_whole_and_inside(measure: Measure, text: str, width: int) -> None:
    assert_whole(text, measure, width)


def test_both_boxes_of_a_list_stand_in_the_middle_of_one_column(measure: Measure) -> None:
    done, still_open = (lay_out(block, measure, 400) for block in parse("- [x] a\n- [ ] a"))
    boxes = [laid.ops[-1] for laid in (done, still_open)]
    assert abs(boxes[0].x + boxes[0].w / 2 - boxes[1].x - boxes[1].w / 2) < 1
    assert len({box.text for box in boxes}) == 2


def test_a_word_longer_than_the_line_is_cut_and_whole(measure: Measure) -> None:
    laid = lay_out(parse("x" * 500)[0], measure, 300)
    assert text_of(laid) == "x" * 500
    assert len({op.y for op in laid.ops}) > 5


def test_links_lie_on_their_words(measure: Measure) -> None:
    laid = lay_out(parse("see [the **docs** page](https://x.y/z) now")[0], measure, 600)
    assert {link.href for link in laid.links} == {"https://x.y/z"}
    assert "".join(link.text for link in laid.links) == "the docs page"
    words = [op for op in laid.ops if op.text == "the "]
    assert words[0].x == laid.links[0].x


def test_a_link_over_two_lines_can_be_pressed_on_both(measure: Measure) -> None:
    laid = lay_out(parse(f"[{'word ' * 40}](https://x.y)")[0], measure, 300)
    assert len({link.y for link in laid.links}) > 2


def test_code_can_be_copied_as_it_was(measure: Measure) -> None:
    laid = lay_out(parse("```\n\ta\n  b\n```")[0], measure, 300)
    assert laid.copy == "\ta\n  b"


def test_quotes_and_lists_move_right(measure: Measure) -> None:
    flat, quoted, listed = (lay_out(parse(text)[0], measure, 400) for text in ("a", "> a", "- a"))
    assert flat.ops[0].x < quoted.ops[0].x
    assert flat.ops[0].x < listed.ops[0].x


def test_a_larger_scale_makes_everything_larger(measure: Measure) -> None:
    other = Measure(measure._fonts, measure._directory, 2.0)
    small, large = (lay_out(parse("# head")[0], m, 800) for m in (measure, other))
    assert large.height == pytest.approx(2 * small.height, abs=3)


def columns_of(laid: Laid) -> list[list[str]]:
    """Words of each cell, line by line."""
    cells = []
    for cell in laid.cells:
        lines: dict[float, str] = {}
        for op in laid.ops:
            if op.size and cell.start <= op.at < cell.end:
                lines[op.y] = lines.get(op.y, "") + op.text
        cells.append(list(lines.values()))
    return cells


TABLE = """| name | size | remark |
|:--|--:|:-:|
| a | 1 | short |
| deterministic | 1,234,567 | a remark that is so long that it takes what the others leave and wraps |"""


def test_no_word_of_a_table_is_broken_while_there_is_room(measure: Measure) -> None:
    laid = lay_out(parse(TABLE)[0], measure, 420)
    words = [word for cell in columns_of(laid) for line in cell for word in line.split()]
    assert words == TABLE.replace("|", " ").replace(":--", "").replace("--:", "").replace(":-:", "").split()
    assert ["deterministic"] in columns_of(laid)
    assert ["1,234,567"] in columns_of(laid)
    assert max(cell.x + cell.w for cell in laid.cells) <= 421


def test_a_table_that_fits_is_as_wide_as_its_content(measure: Measure) -> None:
    laid = lay_out(parse("| a | b |\n|--|--|\n| c | d |")[0], measure, 800)
    assert max(cell.x + cell.w for cell in laid.cells) < 100


def test_columns_are_aligned(measure: Measure) -> None:
    laid = lay_out(parse(TABLE)[0], measure, 900)
    left, right, middle = (next(op for op in laid.ops if op.text == text) for text in ("a", "1", "short"))
    cells = [cell for cell in laid.cells if cell.y == laid.cells[3].y]
    assert left.x == cells[0].x + 10
    assert abs(right.x + right.w - (cells[1].x + cells[1].w - 10)) < 1
    assert abs(middle.x + middle.w / 2 - (cells[2].x + cells[2].w / 2)) < 1
