"""Markdown becomes blocks, and nothing that was written is lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.markdown.blocks import MarkdownBlock, Run
from gui.markdown.parse import parse, parse_written, split_stable
from tests.operations import LINEAR, growth


def words_of(blocks: tuple[MarkdownBlock, ...]) -> str:
    """All letters and digits that blocks show, in order."""
    parts = []
    for block in blocks:
        parts += [block.marker, *(run.text for run in block.runs), block.language, block.text]
        parts += [run.text for row in block.rows for cell in row for run in cell]
    return re.sub(r"[\W_]", "", "".join(parts))


def test_styles_become_runs() -> None:
    (block,) = parse("a **b** *c* `d` ~~e~~ [f](https://x.y)")
    assert [(run.text, run.style) for run in block.runs if run.text.strip()] == [
        ("a ", "body"), ("b", "strong"), ("c", "italic"), ("d", "code"), ("e", "strike"), ("f", "body"),
    ]  # fmt: skip
    assert block.runs[-1].href == "https://x.y"


def test_pictures_are_words_and_an_address_and_nothing_is_fetched() -> None:
    (block,) = parse("![a cat](https://evil.example/track.png)")
    (run,) = block.runs
    assert (run.text, run.style) == ("a cat (https://evil.example/track.png)", "muted")
    assert (run.href, run.source) == (
        "https://evil.example/track.png",
        "![a cat](https://evil.example/track.png)",
    )


def test_html_is_text() -> None:
    (block,) = parse("<script>alert(1)</script>")
    assert "<script>" in block.runs[0].text


def test_lists_nest_and_number_and_have_boxes() -> None:
    blocks = parse("3. a\n4. b\n   - [x] done\n   - [ ] open\n   - plain")
    assert [(block.marker, block.depth) for block in blocks] == [
        ("3.", 1),
        ("4.", 1),
        ("☑", 2),
        ("☐", 2),
        ("•", 2),
    ]


def test_an_empty_item_still_has_its_marker() -> None:
    assert [block.marker for block in parse("- a\n-\n- b")] == ["•", "•", "•"]


def test_tables_keep_their_cells() -> None:
    (table,) = parse("| a | b |\n|--|--|\n| 1 | **2** |")
    assert [[cell[0].text for cell in row] for row in table.rows] == [["a", "b"], ["1", "2"]]


def test_code_keeps_every_character() -> None:
    (block,) = parse("```py extra\n\tx = 1  \n\n```")
    assert (block.language, block.text) == ("py", "\tx = 1  \n")


def test_hidden_characters_show() -> None:
    assert parse("a\u202eb")[0].runs[0].text == "a‹RLO›b"


@given(st.text(alphabet=st.sampled_from("ab12 \n*_`#>-.|[]()~!\\"), max_size=120))
def test_no_letter_or_digit_is_lost(source: str) -> None:
    """But for link addresses and reference definitions, which are no text, and numbers that lists count anew."""
    if (
        "](" in source
        or "]:" in source
        or re.search(r"\d+[.)]", source)
        or "```" in source
        or "~~~" in source
    ):
        return
    wanted = re.sub(r"[\W_]", "", source)
    assert words_of(parse(source)).replace("•", "") == wanted


@pytest.mark.parametrize(
    ("source", "most"),
    [
        (lambda n: "> " * n + "deepest", 10_000),
        (lambda n: ("- " * n + "deepest\n") * 3, 500),
        (lambda n: "[" * n + "deepest", 10_000),
        (lambda n: "*a **b " * n + "deepest", 2_000),
        (lambda n: "`" * n + "deepest", 20_000),
        (lambda n: "|" * n + "deepest\n|-|\n", 5_000),
        (lambda n: "\n".join("  " * depth + "- item" for depth in range(4 * isqrt(n))) + "\ndeepest", 5_625),
        (lambda n: "\\( " * n + "deepest", 5_000),
        (lambda n: "\\[\n" * n + "deepest", 5_000),
        (lambda n: "$a " * n + "deepest", 8_000),
        (lambda n: "<details>\n" * n + "deepest", 2_000),
        (lambda n: "[^a" * n + "deepest", 8_000),
        (lambda n: "[^1]: a\n" * n + "deepest", 2_000),
        (lambda n: "http://a.b/(" * n + "deepest", 2_000),
    ],
    ids=[
        "quotes",
        "lists",
        "brackets",
        "emphasis",
        "ticks",
        "cells",
        "steps",
        "formulas",
        "displays",
        "dollars",
        "folds",
        "notes",
        "definitions",
        "addresses",
    ],
)
def test_hostile_nesting_takes_work_in_proportion_and_keeps_the_text(
    source: Callable[[int], str], most: int
) -> None:
    blocks = parse(source(most))
    assert growth(lambda size: parse(source(size)), 100) <= LINEAR
    assert "deepest" in words_of(blocks)
    assert all(block.depth <= 8 and block.quotes <= 8 for block in blocks)


@given(
    st.lists(
        st.sampled_from(
            [
                "para graph",
                "- item",
                "```\ncode\n\nmore\n```",
                "# head",
                "> quote",
                "| a |\n|-|\n| b |",
                "1. one",
            ]
        ),
        max_size=8,
    )
)
def test_a_growing_text_parses_to_the_same_blocks_in_two_parts(parts: list[str]) -> None:
    source = "\n\n".join(parts)
    cut = split_stable(source)
    assert (*parse(source[:cut]), *parse(source[cut:], base=cut)) == parse(source)


def test_what_was_written_keeps_lines_indentation_and_signs() -> None:
    source = "Traceback:\n  File __init__, *x*\n\n    # no head\n- no item"
    (block,) = parse_written(source)
    assert (block.kind, block.shown()) == ("written", source)


def test_only_closed_fences_of_what_was_written_are_code() -> None:
    blocks = parse_written("a\n```py\n\tx\n```\n\nb\n~~~\nopen")
    assert [(b.kind, b.shown(), b.language) for b in blocks] == [
        ("written", "a", ""), ("code", "\tx", "py"), ("written", "b\n~~~\nopen", ""),
    ]  # fmt: skip


def test_addresses_in_what_was_written_can_be_pressed() -> None:
    (block,) = parse_written("see https://example.org/a_b, and main.py")
    assert [run.href for run in block.runs] == ["", "https://example.org/a_b", ""]
    assert block.shown() == "see https://example.org/a_b, and main.py"


def test_many_open_fences_in_what_was_written_take_work_in_proportion() -> None:
    (block,) = parse_written("```a\n" * 5_000)
    assert growth(lambda size: parse_written("```a\n" * size), 300) <= LINEAR
    assert block.kind == "written"


def test_bare_addresses_are_links_and_file_names_are_not() -> None:
    (block,) = parse("see https://example.org/a_b. and main.py, x.org")
    assert [run.text for run in block.runs if run.href] == ["https://example.org/a_b"]


@pytest.mark.parametrize("read", [parse, parse_written])
def test_what_begins_with_www_is_a_link_and_nothing_inside_of_another_is(read: Callable[[str], Any]) -> None:
    words = "see WWW.example.org/a_b?c=1, (www.x.org). not www. www.x a.www.x.org me@www.x.org /www.x.org"
    (block,) = read(f"{words} https://www.y.org/z")
    assert [(run.text, run.href) for run in block.runs if run.href] == [
        ("WWW.example.org/a_b?c=1", "http://WWW.example.org/a_b?c=1"),
        ("www.x.org", "http://www.x.org"),
        ("https://www.y.org/z", "https://www.y.org/z"),
    ]
    assert block.shown() == f"{words} https://www.y.org/z"


@pytest.mark.parametrize(("head", "more"), [("", "www."), ("", "www. "), ("www.", "a.a.")])
def test_many_heads_of_addresses_take_work_in_proportion(head: str, more: str) -> None:
    parse_written(head + more * 20_000)
    assert growth(lambda size: parse_written(head + more * size), 300) <= LINEAR


def test_footnotes_stay_where_they_are_defined() -> None:
    first, note = parse("text[^n] on\n\n[^n]: the *note*")
    assert first.shown() == "text[n] on"
    assert (note.marker, note.shown(), note.depth) == ("[n]", "the note", 1)
    (linked,) = parse("see https://example.org/a_b[^n] on")
    assert [run.text for run in linked.runs] == ["see ", "https://example.org/a_b", "[n]", " on"]


def test_what_is_between_details_is_folded_and_is_markdown() -> None:
    fold, inside, item, after = parse(
        "<details>\n<summary>More</summary>\n\n**bold**\n\n- item\n</details>\nafter"
    )
    assert (fold.kind, fold.shown()) == ("fold", "More")
    assert inside.runs == (Run("bold", "strong"),)
    assert inside.folds == item.folds == (fold.fold,)
    assert after.folds == ()


def test_details_that_stand_in_one_line_are_folded_too() -> None:
    before, fold, inside, after = parse(
        "so\n<details><summary>More</summary>hidden **words**</details>\nafter"
    )
    assert (fold.kind, fold.shown()) == ("fold", "More")
    assert inside.runs == (Run("hidden ", "body"), Run("words", "strong"))
    assert (before.folds, inside.folds, after.folds) == ((), (fold.fold,), ())
    (bare,) = parse("<details></details>")
    assert bare.shown() == "Details"


@pytest.mark.parametrize(
    "formula", ["$a_1 * b_2 * c$", r"\(a_1 * b_2 * c\)", r"\[x_1 _a_ y\]", "$$x_1 * y * z$$"]
)
def test_mathematics_is_shown_whole_and_its_signs_are_no_emphasis(formula: str) -> None:
    (block,) = parse(f"so {formula} holds")
    assert Run(formula, "math") in block.runs
    (alone, *_) = parse(f"{formula}\n")
    assert formula in alone.shown()


def test_prices_are_no_mathematics() -> None:
    (block,) = parse("it costs $5 or $10 and not $x")
    assert [run.style for run in block.runs] == ["body"]


def test_every_block_knows_its_lines() -> None:
    source = "# a\n\n> b\n> c\n\n- d\n  - e\n\n```\nf\n```\n\n| g |\n|--|\n\n$$\nh\n$$\n\n***"
    pieces = [source[block.start : block.end] for block in parse(source)]
    assert pieces == ["# a", "> b\n> c", "- d", "  - e", "```\nf\n```", "| g |\n|--|", "$$\nh\n$$", "***"]


def test_a_fence_that_is_open_is_not_cut() -> None:
    source = "intro\n\n```python\nx\n\ny\n\nz"
    assert source[split_stable(source) :].startswith("```python")
