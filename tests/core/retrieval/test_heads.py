"""Heads of notes: front matter first, then bold fields, the first heading, the file's name."""

from __future__ import annotations

import pytest

from core.kernel.values.retrieval import SourceHead
from core.retrieval.front_matter import FieldNames, note_head, read_front_matter
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


@pytest.mark.parametrize("number", ["1" * 9_000, "0x" + "f" * 9_000, "1:" * 4_000 + "1"])
def test_a_number_of_any_size_is_the_words_that_it_is(number: str) -> None:
    head = note_head(f"---\ntitle: {number}\ntags: [{number}]\ndate: {number}\n---\nWords.\n", "a.md")
    assert (head.title[:20], head.date, head.description) == (number[:20], "", "Words.")


@pytest.mark.parametrize(
    "words", ["no", "Yes", "off", "12:30", "007", "1_000", "1e3", "0x10", "2026-01-31", "1.10"]
)
def test_a_value_is_the_words_that_a_person_wrote(words: str) -> None:
    head = note_head(f"---\ntitle: {words}\ntags: [{words}, kept]\n---\nText.\n", "a.md")
    assert (head.title, head.tags[:2]) == (words, (words.lower(), "kept"))


@pytest.mark.parametrize("nothing", ["", "~", "null"])
def test_nothing_is_no_title(nothing: str) -> None:
    assert note_head(f"---\ntitle: {nothing}\n---\n# Own\n", "a.md").title == "Own"


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("2026-Mar-11", "2026-03-11"),
        ("2026 March 11", "2026-03-11"),
        ("23-03-2026", "2026-03-23"),
        ("23_03_2026", "2026-03-23"),
        ("03-23-2026", "2026-03-23"),
        ("03-04-2026", ""),
        ("11th of March 2026", "2026-03-11"),
        ("Mar.11.2026", "2026-03-11"),
        ("2026-W11-3", "2026-03-11"),
        ("2026-W11", "2026-03-09"),
        ("2026 03 11", "2026-03-11"),
    ],
)
def test_a_note_is_named_after_its_day(name: str, day: str) -> None:
    assert note_head("Words.", f"Journal/{name}.md").date == day


@pytest.mark.parametrize(
    "text",
    [
        "- one\n\t- ```sh\n\t  #inner\n\t  ```\n\t- #after\n",
        "> ```\n> #inner\n> ```\n\n#after\n",
        "1. ```\n   #inner\n   ```\n2. #after\n",
    ],
)
def test_a_fence_in_a_list_or_a_quote_is_code(text: str) -> None:
    assert note_head(text, "a.md").tags == ("after",)


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


def test_one_bad_line_of_front_matter_costs_no_other() -> None:
    text = (
        "---\ntitle: Pump: the sequel\ntags: [pump, water/cold]\ndate: 2026-03-04\n---\n# Other\n\nWords.\n"
    )
    head = note_head(text, "a.md")
    assert (head.title, head.tags, head.date) == (
        "Pump: the sequel",
        ("pump", "water/cold", "water"),
        "2026-03-04",
    )
    assert read_front_matter(text).bad_lines == (2,)


@pytest.mark.parametrize(
    ("bad", "line"),
    [
        ("tags: [pump, valve", 3),
        ("note: 'open", 3),
        ("x: %y", 3),
        ("a: b: c", 3),
        ("no field", 2),
        ("k: @me", 3),
        ("\tk: v", 2),
    ],
)
def test_each_kind_of_bad_line_leaves_those_around_it(bad: str, line: int) -> None:
    text = f"---\ntitle: Kept\n{bad}\ndate: 2026-03-04\n---\nWords.\n"
    head = note_head(text, "a.md")
    assert (head.date, head.title[:4]) == (
        "2026-03-04",
        "Kept" if "\t" not in bad and bad != "no field" else head.title[:4],
    )
    assert read_front_matter(text).bad_lines == (line,)


def test_a_list_under_its_field_belongs_to_it() -> None:
    text = "---\ntitle: a: b\ntags:\n- one\n- two\naliases:\n  - Old name\n---\nWords.\n"
    assert note_head(text, "a.md").tags == ("one", "two")
    assert read_front_matter(text).fields["aliases"] == ["Old name"]


def test_of_two_front_matters_both_count() -> None:
    text = "---\npermalink: x/two\n---\n\n---\ntitle: Real title\ntags: [badger]\n---\n\nThe sett.\n"
    head = note_head(text, "TwoFront.md")
    assert (head.title, head.tags, head.description) == ("Real title", ("badger",), "The sett.")


def test_words_between_two_rules_are_no_front_matter() -> None:
    text = "---\ntitle: T\n---\n\n---\nA heron: grey, patient.\nIt waits\n---\nEnd.\n"
    assert note_head(text, "a.md").description == "A heron: grey, patient."


def test_tags_in_the_text_count_and_those_in_code_do_not() -> None:
    text = (
        "---\ntags: [front]\n---\n#inbox #project/alpha (#paren) about `#code` [x](#part) http://a.b/#frag a#b #12 # No\n"
        "```\n#fenced\n```\n## Head #last\n"
    )
    assert note_head(text, "a.md").tags == ("front", "inbox", "project/alpha", "paren", "last", "project")


def test_a_line_of_tags_is_no_heading() -> None:
    assert (
        note_head("#inbox some text about zebrafish.\n", "a.md").description == "some text about zebrafish."
    )


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("Daily/2026-03-05.md", "2026-03-05"),
        ("2026_03_05.md", "2026-03-05"),
        ("20260305 standup.md", "2026-03-05"),
        ("2026/03/05.md", "2026-03-05"),
        ("2026-03-05-standup.md", "2026-03-05"),
        ("2026-13-05.md", ""),
        ("20260305123.md", ""),
        ("v2026.md", ""),
    ],
)
def test_a_daily_note_has_the_day_of_its_name(name: str, day: str) -> None:
    assert note_head("Walked.\n", name).date == day


def test_a_tag_far_down_counts() -> None:
    assert read_head("a.md", ("word " * 10_000 + "\n#deep\n").encode()).tags == ("deep",)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("%% #hidden %%\n#shown", ("shown",)),
        ("#shown %%\n#hidden\n%% #late", ("shown",)),
        ("<!-- #hidden\n#hidden\n-->\n#shown", ("shown",)),
        ("```\n%%time\n```\n#shown", ("shown",)),
        ('"#one" (#two)', ("one", "two")),
        ("# A\n\nLabels: food, list\n\nWords", ("food", "list")),
        ("# A\n\n## Metadata\n- Author: Ann\n- Document Tags: [[salt]] [[wind]]\n", ("salt", "wind")),
    ],
)
def test_tags_in_comments_are_none_and_labels_are_tags(text: str, tags: tuple[str, ...]) -> None:
    assert note_head(text, "a.md").tags == tags


def test_a_revision_line_of_asciidoc_is_a_day_and_a_display_name_is_a_title() -> None:
    assert note_head("= Anchors\nAnn Lee <a@b.c>\nv1.0, 2026-06-06\n\nWords", "a.adoc").date == "2026-06-06"
    assert note_head("---\ndisplayName: A page\n---\nWords", "page.md").title == "A page"
