"""Heads of notes: front matter first, then bold fields, the first heading, the file's name."""

from __future__ import annotations

import pytest

from core.kernel.values.retrieval import SourceHead
from core.retrieval.navigation import FieldNames, note_head
from core.retrieval.sources import read_head


def test_front_matter_comes_first() -> None:
    text = "---\ntitle: Ports\ntags: [Net, ops]\ndate: 2026-01-02\ndescription: Which ports we use.\n---\n# Other\n**Tags:** no\n"
    assert note_head(text, "a/b.md") == SourceHead(
        "Ports", ("net", "ops"), "2026-01-02", "Which ports we use."
    )


def test_bold_fields_then_the_heading_then_the_first_sentence() -> None:
    text = "# Deploying *safely*\n\n**Tags:** ops, release\n**Data:** 2025-12-31\n\nRoll out by region. Then wait.\n"
    assert note_head(text, "b.md") == SourceHead(
        "Deploying *safely*", ("ops", "release"), "2025-12-31", "Roll out by region."
    )


def test_a_note_without_a_title_is_called_by_its_file() -> None:
    assert note_head("just words\n", "x/plan-b.md").title == "plan-b"


def test_names_of_fields_can_be_others() -> None:
    fields = FieldNames(tags=("etichete",), date=("dată",))
    head = note_head("**Etichete:** unu, doi\n**Dată:** 2024-05-06\n", "r.md", fields)
    assert (head.tags, head.date) == (("unu", "doi"), "2024-05-06")


def test_front_matter_that_is_no_yaml_is_passed_over() -> None:
    assert note_head("---\n: [\n---\n# Kept\n", "a.md").title == "Kept"


@pytest.mark.parametrize("number", ["1" * 9_000, "0x" + "f" * 9_000, "0o" + "7" * 9_000, "1:" * 4_000 + "1"])
def test_a_number_of_any_size_is_no_fault(number: str) -> None:
    head = note_head(f"---\ntitle: {number}\ntags: [{number}]\ndate: {number}\n---\nWords.\n", "a.md")
    assert (head.title, head.description) == ("a", "Words.")


def test_a_day_is_a_title() -> None:
    assert note_head("---\ntitle: 2026-01-31\n---\nWords.\n", "a.md").title == "2026-01-31"


def test_an_image_in_a_link_says_nothing_and_a_link_says_its_words() -> None:
    text = "See [the manual](https://example.org/a) ![a seal](seal.png)here.\n"
    assert note_head(text, "a.md").description == "See the manual here."


def test_a_head_holds_no_half_of_a_secret() -> None:
    key, field = f"ghp_{'a1B2' * 9}", "x: y\n"
    for cut in (8, 20, 39):
        text = f"---\n{field * 3_200}---\nThe key of the gate on the pier is {key}, as we know.\n"
        padded = text.replace("x: y", "x: " + "y" * (16_384 - text.index(key) - cut + 1), 1)
        head = read_head("a.md", padded.encode())
        assert (head.description[:7], "ghp_" in head.description) == ("The key", False)
