"""Right-to-left text in its order, with its letters joined; copying gives what was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.markdown.blocks import Laid, Op, Run, reading_order
from gui.markdown.document import Document, load
from gui.markdown.layout import lay_out
from gui.markdown.parse import parse
from gui.metrics import Measure

HEBREW, ARABIC = "שלום עולם", "السلام"


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    load()


def lines(laid: Laid) -> list[list[Op]]:
    """The operations of each line, from left to right."""
    found: dict[int, list[Op]] = {}
    for op in laid.ops:
        if op.text.strip():
            found.setdefault(round(op.y), []).append(op)
    return [sorted(found[y], key=lambda op: op.x) for y in sorted(found)]


def seen(laid: Laid) -> str:
    return "\n".join("".join(op.text for op in line) for line in lines(laid))


def test_a_line_of_hebrew_reads_from_the_right(measure: Measure) -> None:
    laid = lay_out(parse(HEBREW)[0], measure, 400)
    assert seen(laid) == HEBREW[::-1]
    (line,) = lines(laid)
    assert abs(line[-1].x + line[-1].w - 400) < 1


def test_english_and_numbers_inside_hebrew_keep_their_order(measure: Measure) -> None:
    laid = lay_out(parse("אבג abc 12 (דה)")[0], measure, 400)
    assert seen(laid) == "(הד) abc 12 גבא"


def test_hebrew_inside_english_stands_where_it_was_said(measure: Measure) -> None:
    laid = lay_out(parse("one אבג two")[0], measure, 400)
    assert seen(laid) == "one גבא two"
    assert lines(laid)[0][0].x == 0


def test_each_line_of_a_wrapped_paragraph_is_ordered_by_itself(measure: Measure) -> None:
    words = [f"מילה{n}" for n in range(40)]
    laid = lay_out(parse(" ".join(words))[0], measure, 300)
    first = lines(laid)[0]
    assert len(lines(laid)) > 2
    assert "0" in first[-1].text or "0" in first[-2].text


def test_arabic_letters_are_joined_and_two_that_are_one_shape_keep_their_places() -> None:
    order = reading_order((Run(text=f"{ARABIC} لا"),))
    assert order is not None
    assert len(order.runs[0].text) == len(ARABIC) + 3
    assert "\ufefc" in order.runs[0].text  # lam with alef, inside a word
    assert "\ufefb" in order.runs[0].text


def test_what_is_selected_is_what_was_written(measure: Measure) -> None:
    document = Document()
    source = f"a {HEBREW} b **{ARABIC}** c"
    document.set_source(source, is_streaming=False)
    document.lay_out(measure, 500)
    start, end = document.all()
    assert document.excerpt(start, end) == source
    op = next(op for op in document.tops[0][1].ops if op.is_rtl)
    right = document.place_at(measure, op.x + op.w - 1, op.y + 2)
    left = document.place_at(measure, op.x + 1, op.y + 2)
    assert right < left
    assert document.excerpt(right, left) == HEBREW
    (box,) = document.boxes(measure, right, left)
    assert abs(box[0] - op.x) < 1
    assert abs(box[2] - op.w) < 1


def test_a_link_and_its_words_move_together(measure: Measure) -> None:
    laid = lay_out(parse("ראה [קישור](https://example.org) כאן")[0], measure, 400)
    (link,) = laid.links
    words = next(op for op in laid.ops if op.tone == "accent" and op.text)
    assert (link.x, link.w) == pytest.approx((words.x, words.w))


def test_the_mark_of_an_item_stands_right_of_it(measure: Measure) -> None:
    laid = lay_out(parse("- פריט")[0], measure, 400)
    mark = next(op for op in laid.ops if op.text == "•")
    assert mark.x > max(op.x + op.w for op in laid.ops if op is not mark)


def test_text_without_such_letters_is_left_alone() -> None:
    assert reading_order((Run(text="plain"), Run(text="é漢"))) is None


def test_controls_of_the_order_are_shown_in_code(measure: Measure) -> None:
    laid = lay_out(parse("```python\nx = 1  # \u202e hidden\n```")[0], measure, 600)
    assert "‹RLO›" in "".join(op.text for op in laid.ops)


@pytest.mark.parametrize("code", ["if (x) {}", "f(א, b)!", "-> [1]", "‹RLO› {}"])
def test_inline_code_keeps_its_order_among_words_from_the_right(measure: Measure, code: str) -> None:
    """Found by reading a reply: the brackets at the end of the code stood left of it, mirrored."""

    def in_row(text: str) -> str:
        return "".join(
            op.text for op in sorted(lay_out(parse(text)[0], measure, 800).ops, key=lambda op: op.x)
        )

    assert in_row(f"שלום `{code}`").split() == f"{in_row(f'`{code}`')} םולש".split()


@given(
    text=st.text(alphabet=st.sampled_from("ab1 אבג,()لاسم**`$\n"), min_size=1, max_size=80),
    width=st.integers(120, 500),
)
def test_nothing_is_lost_and_all_stays_inside(measure: Measure, text: str, width: int) -> None:
    for block in parse(text):
        laid = lay_out(block, measure, width)
        covered = sorted((op.at, op.size) for op in laid.ops if op.size)
        shown = block.shown()
        ends = 0
        for at, size in covered:
            assert at >= ends
            ends = at + size
        assert ends <= len(shown)
        missing = "".join(shown[a:b] for a, b in _holes(covered, len(shown)))
        assert not missing.strip()
        for op in laid.ops:
            assert op.x >= -4


def _holes(covered: list[tuple[int, int]], end: int) -> list[tuple[int, int]]:
    found, at = [], 0
    for start, size in covered:
        found.append((at, start))
        at = start + size
    return [*found, (at, end)]
