"""Markdown becomes blocks, and nothing that was written is lost."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.markdown.blocks import MarkdownBlock, Run
from gui.markdown.parse import parse, split_stable


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
    assert block.runs == (Run("a cat (https://evil.example/track.png)", "muted"),)


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
    "source",
    [
        "> " * 10_000 + "deepest",
        ("- " * 500 + "deepest\n") * 3,
        "[" * 10_000 + "deepest",
        "*a **b " * 2_000 + "deepest",
        "`" * 20_000 + "deepest",
        "|" * 5_000 + "deepest\n|-|\n",
        "\n".join("  " * depth + "- item" for depth in range(300)) + "\ndeepest",
    ],
    ids=["quotes", "lists", "brackets", "emphasis", "ticks", "cells", "steps"],
)
def test_hostile_nesting_is_quick_and_keeps_the_text(source: str) -> None:
    start = time.thread_time()
    blocks = parse(source)
    assert time.thread_time() - start < 3
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


def test_a_fence_that_is_open_is_not_cut() -> None:
    source = "intro\n\n```python\nx\n\ny\n\nz"
    assert source[split_stable(source) :].startswith("```python")
