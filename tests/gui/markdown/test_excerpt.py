"""What is selected of a text is copied as Markdown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.markdown.excerpt import everything, excerpt
from gui.markdown.parse import parse, parse_written
from gui.text_buffer import visible
from tests.gui.gallery_pages import SAMPLE

TEXT = """# Head with *style*

one **two words** [three](https://x.y) `four` a\\*b

- item
  - [x] deep **item**

```python
\tdef f():
        return 1
```

| left | right |
|:--|--:|
| a\\|b | 2 |
| c | `4` |

> quoted words
"""


def picked(source: str, first: str, last: str) -> str:
    """The excerpt from the first place of `first` to the end of `last`, in what is shown."""
    blocks = parse(source)
    start = next((n, b.shown().index(first)) for n, b in enumerate(blocks) if first in b.shown())
    end = next((n, b.shown().index(last) + len(last)) for n, b in enumerate(blocks) if last in b.shown())
    return excerpt(blocks, source, start, end)


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("Head", "Head", "Head"),
        ("wo wo", "wo wo", "**wo wo**"),
        ("words thr", "words thr", "**words** [thr](https://x.y)"),
        ("ou", "ou", "`ou`"),
        ("a*b", "a*b", "a*b"),
        ("deep item", "deep item", "deep **item**"),
        ("return", "return 1", "return 1"),
        ("\tdef", "return", "\tdef f():\n        return"),
        ("a|b", "a|b", "a|b"),
        ("right", "a|b", "|  | right |\n| :--- | ---: |\n| a\\|b |  |"),
        ("c\t", "4", "| c | `4` |"),
    ],
)
def test_inside_one_block_it_is_the_words_with_their_style(first: str, last: str, expected: str) -> None:
    assert picked(TEXT, first, last) == expected


def test_over_blocks_whole_ones_stand_as_in_the_source() -> None:
    assert picked(TEXT, "words thr", "deep it") == (
        "**words** [three](https://x.y) `four` a*b\n\n- item\n  - [x] deep **it**"
    )


def test_code_that_is_cut_beside_other_blocks_keeps_its_fence() -> None:
    assert picked(TEXT, "eep", "def f") == "- [x] eep **item**\n\n```python\n\tdef f\n```"


def test_a_table_that_is_cut_keeps_its_head() -> None:
    assert picked(TEXT, "return 1", "a|b") == (
        "```python\nreturn 1\n```\n\n| left | right |\n| :--- | ---: |\n| a\\|b |  |"
    )


def test_everything_is_the_source() -> None:
    blocks = parse(TEXT)
    assert excerpt(blocks, TEXT, *everything(blocks)) == TEXT.strip()


def test_signs_are_escaped_only_where_they_would_be_marks() -> None:
    assert picked("2 * 3 \\*so\\* and", "2", "3") == "2 * 3"
    assert picked("2 \\*so\\* and", "*so", "so*") == r"\*so\*"


def test_what_was_written_is_copied_as_it_was_written() -> None:
    source = "  File __init__\n\n*x* https://a.b\n```py\nx = 1\n```\nend"
    blocks = parse_written(source)
    assert [block.kind for block in blocks] == ["written", "code", "written"]
    assert excerpt(blocks, source, (0, 2), (0, 15)) == "File __init__"
    assert excerpt(blocks, source, (0, 7), (2, 2)) == "__init__\n\n*x* https://a.b\n```py\nx = 1\n```\nen"
    assert excerpt(blocks, source, *everything(blocks)) == source


@given(st.data())
def test_any_part_is_text_of_the_source(data: st.DataObject) -> None:
    """Whatever is selected, its words are words of the source in their order, and reading it gives them again."""
    source = visible(SAMPLE)
    blocks = parse(source)
    places = [(n, at) for n, block in enumerate(blocks) for at in range(len(block.shown()) + 1)]
    start, end = sorted((data.draw(st.sampled_from(places)), data.draw(st.sampled_from(places))))
    text = excerpt(blocks, source, start, end)
    shown = "".join(
        block.shown()[start[1] if n == start[0] else 0 : end[1] if n == end[0] else None]
        for n, block in enumerate(blocks)
        if start[0] <= n <= end[0]
    )
    again = (
        text
        if start[0] == end[0] and blocks[start[0]].kind == "code"
        else "".join(b.shown() for b in parse(text))
    )
    wanted = "".join(filter(str.isalnum, shown))
    assert wanted in "".join(filter(str.isalnum, again))
