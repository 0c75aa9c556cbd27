"""Arrays as a person writes them: each element's own text, and the comments that belong to it."""

from __future__ import annotations

import pytest

from core.services.settings.toml_document import array_elements


def _split(text: str) -> tuple[list[tuple[list[str], str, str]], tuple[str, ...]]:
    elements, last = array_elements(text)
    return [(element.above, element.text, element.behind) for element in elements], last


@pytest.mark.parametrize(
    ("text", "elements", "last"),
    [
        ("[]", [], ()),
        ("[ # alone\n]", [], ("# alone",)),
        ('["a", \'b\']', [([], '"a"', ""), ([], "'b'", "")], ()),
        ('[\n  # one\n  "a", # behind\n  # two\n  "b" # last\n]',
         [(["# one"], '"a"', "# behind"), (["# two"], '"b"', "# last")], ()),
        ('["a" , # c\n "b"]', [([], '"a"', "# c"), ([], '"b"', "")], ()),
        ('["a"\n, # c\n "b"]', [([], '"a"', "# c"), ([], '"b"', "")], ()),
        ('["a",\r\n # c\r\n # d\r\n]', [([], '"a"', "")], ("# c", "# d")),
        ('["a # no", """b, #\n]""",]', [([], '"a # no"', ""), ([], '"""b, #\n]"""', "")], ()),
    ],
)  # fmt: skip
def test_comments_belong_to_the_element_on_their_line_or_to_the_next_one(
    text: str, elements: list[tuple[list[str], str, str]], last: tuple[str, ...]
) -> None:
    assert _split(text) == (elements, last)


def test_an_elements_own_text_stays_byte_for_byte_with_the_comments_inside_it() -> None:
    row = '{path="a",slices = [\n  # inner\n  [1,2], # of the first\n]}'

    assert _split(f"[\n  {row}, # outer\n]") == ([([], row, "# outer")], ())
