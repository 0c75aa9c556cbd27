"""Category files: items as they are read, and how the program adds, replaces and takes them out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.values.knowledge import Category, Item, NewItem, Provenance
from core.knowledge import categories
from core.knowledge.categories import (
    CategoryLine,
    format_tag,
    item_line,
    new_file,
    newest_first,
    parse_file,
    safe_value,
    source_name,
    split_tag,
    with_lines,
)
from tests.core.knowledge.homes import NOW

CAME = Provenance("2026-11-20-tides", "2026-11-20")
FRAGMENTS = st.sampled_from(
    [
        "- a fact [from: x, 2026-01-01]",
        "- \t",
        "-",
        "- two",
        "  continued",
        "\tcontinued [from: y, 2026-01-02]",
        "",
        "   ",
        "## Open",
        "## Done ##",
        "# Tasks",
        "### deeper",
        "prose - not an item",
        "* star",
        "- [from: z, 2026-01-03]",
        "é — …",
        "\ufeff",
    ]
)
FILES = st.builds(
    lambda bom, ends, parts: bom + b"".join(p.encode() + e for p, e in zip(parts, ends, strict=False)),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.lists(st.sampled_from([b"\n", b"\r\n"]), min_size=12, max_size=12),
    st.lists(FRAGMENTS, max_size=12),
)
NAMES = st.sampled_from([*categories.CATEGORY_NAMES, "files/1:2.md"])


def texts(name: str, data: bytes) -> list[str]:
    return [item.text for item in parse_file(name, data).items]


def test_items_are_lines_that_begin_with_a_dash_and_all_else_is_prose() -> None:
    data = b"# Facts\n\nprose\n- one [from: a, 2026-01-01]\n* two\n- three\n\n  not continued\n"

    parsed = parse_file(categories.FACTS, data)

    assert [(i.text, i.provenance, i.first_line) for i in parsed.items] == [
        ("one", Provenance("a", "2026-01-01"), 4),
        ("three", None, 6),
    ]
    assert parsed.data == data


def test_indented_lines_belong_to_the_item_and_its_tag_may_stand_on_either() -> None:
    data = b"- one [from: a, 2026-01-01]\n  more\n\tand more\n- two\n  rest [from: b, 2026-01-02]\n"

    one, two = parse_file(categories.FACTS, data).items

    assert (one.text, one.provenance, one.first_line, one.last_line) == (
        "one\n  more\n\tand more",
        Provenance("a", "2026-01-01"),
        1,
        3,
    )
    assert (two.text, two.provenance) == ("two\n  rest", Provenance("b", "2026-01-02"))


def test_tasks_are_done_under_done_and_open_under_any_other_heading() -> None:
    data = b"# Tasks\n- early\n## Open\n- a\n### sub\n- b\n## DONE\n- c\n## Later\n- d\n"

    found = {item.text: item.category for item in parse_file(categories.TASKS, data).items}

    done = Category.TASKS_DONE
    assert [text for text, category in found.items() if category is done] == ["c"]
    assert set(found) == {"early", "a", "b", "c", "d"}


def test_new_tasks_join_their_section_with_nothing_else_changed() -> None:
    data = new_file(categories.TASKS)
    for number in range(2):
        data = with_lines(
            categories.TASKS,
            data,
            [CategoryLine(f"- o{number}", categories.OPEN), CategoryLine(f"- d{number}", categories.DONE)],
        )

    assert data == b"# Tasks\n\n## Open\n\n- o0\n- o1\n\n## Done\n\n- d0\n- d1\n"


def test_a_section_that_a_person_removed_is_made_again() -> None:
    data = with_lines(categories.TASKS, b"my tasks", [CategoryLine("- a", categories.OPEN)])

    assert data == b"my tasks\n\n## Open\n\n- a\n"


def test_crlf_and_bom_survive_what_is_added() -> None:
    data = b"\xef\xbb\xbf# Facts\r\n\r\n- one\r\n"

    grown = with_lines(categories.FACTS, data, [CategoryLine("- two")])

    assert grown == data + b"- two\r\n"
    assert texts(categories.FACTS, grown) == ["one", "two"]


def test_a_last_line_without_end_is_not_glued_to_the_new_item() -> None:
    assert with_lines(categories.FACTS, b"- one", [CategoryLine("- two")]) == b"- one\n- two\n"


def test_a_utf_16_file_is_not_taken_for_items() -> None:
    parsed = parse_file(categories.FACTS, "- one\n".encode("utf-16"))

    assert parsed.items == ()
    assert "UTF-8" in parsed.problem
    assert list(newest_first(categories.FACTS, parsed.data)) == []


def test_bytes_that_are_no_utf_8_stay_as_they_are() -> None:
    data = b"- caf\xe9 [from: a, 2026-01-01]\n- two\n"
    one, two = parse_file(categories.FACTS, data).items

    assert one.text == "caf\ufffd"
    assert categories.without_item(data, two) == b"- caf\xe9 [from: a, 2026-01-01]\n"


def test_an_item_is_found_again_by_what_it_says_wherever_it_went() -> None:
    item = parse_file(categories.FACTS, b"- one\n- two\n").items[1]
    now = parse_file(categories.FACTS, b"- two [from: a, 2026-01-01]\n\n\n- two\n- three\n")

    found = categories.find_item(now, item)

    assert found is not None
    assert found.first_line == 4
    assert categories.find_item(parse_file(categories.FACTS, b"- two!\n"), item) is None


@given(NAMES, FILES)
def test_reading_from_the_end_gives_the_same_items_reversed(name: str, data: bytes) -> None:
    items = parse_file(name, data).items
    done = [(i.text, i.provenance) for i in items if i.category is Category.TASKS_DONE]
    rest = [(i.text, i.provenance) for i in items if i.category is not Category.TASKS_DONE]

    assert list(newest_first(name, data)) == rest[::-1]
    if name == categories.TASKS:
        assert list(newest_first(name, data, done=True)) == done[::-1]


@given(NAMES, FILES, st.lists(st.sampled_from([categories.OPEN, categories.DONE]), min_size=1, max_size=4))
def test_adding_keeps_every_line_that_was_there_in_order(name: str, data: bytes, where: list[str]) -> None:
    lines = [CategoryLine(f"- new {number}", section) for number, section in enumerate(where)]

    grown = with_lines(name, data or new_file(name, "/a"), lines)

    rest = iter(grown.split(b"\n"))
    kept = [line for line in data.split(b"\n") if line.strip(b"\r\xef\xbb\xbf \t")]
    assert all(any(line.rstrip(b"\r") == other.rstrip(b"\r") for other in rest) for line in kept)
    added = [i for i in parse_file(name, grown).items if i.text.startswith("new ")]
    assert len(added) == len(lines)
    if name == categories.TASKS:
        assert {i.text: i.category is Category.TASKS_DONE for i in added} == {
            line.text[2:]: line.section == categories.DONE for line in lines
        }


@given(NAMES, FILES, st.integers(0, 20))
def test_taking_an_item_out_changes_no_other_line(name: str, data: bytes, pick: int) -> None:
    items = parse_file(name, data).items
    if not items:
        return
    item = items[pick % len(items)]
    lines = data.split(b"\n")

    rest = categories.without_item(data, item)

    expected = lines[: item.first_line - 1] + lines[item.last_line :]
    if b"\xef\xbb\xbf" in data[1:]:
        return  # a mark inside the file begins it once the lines before are gone
    assert rest.removeprefix(b"\xef\xbb\xbf").split(b"\n") == [
        line.removeprefix(b"\xef\xbb\xbf") if number == 0 else line
        for number, line in enumerate(expected or [b""])
    ]
    assert rest.startswith(b"\xef\xbb\xbf") is data.startswith(b"\xef\xbb\xbf")


@given(st.text(max_size=80), st.text(max_size=40), st.sampled_from(list(Category)))
def test_whatever_a_value_says_it_becomes_one_line_that_reads_back_as_one_item(
    text: str, detail: str, category: Category
) -> None:
    line = item_line(NewItem(category, text, detail, name="Deploy", provenance=CAME))
    if not line:
        return

    parsed = parse_file(categories.FACTS, f"# Facts\n{line}\n- next\n".encode("utf-8", "replace"))

    assert "\n" not in line
    assert len(parsed.items) == 2
    assert parsed.items[0].provenance == CAME
    assert parsed.items[0].section == "Facts"


@pytest.mark.parametrize(
    "text",
    [
        "x {/knowledge} y",
        "{ / KNOWLEDGE }",
        "{/know\0ledge}",
        "{/knowledge\n}",
        "{knowledge}",
        "{/rag-context}",
    ],
)
def test_no_value_closes_the_block(text: str) -> None:
    assert "{" not in safe_value(text)


@pytest.mark.parametrize(
    "text", ["a [from: evil, 2020-01-01]", "[FROM: evil, 2020-01-01]", "a [from:\nevil, 2020-01-01]"]
)
def test_no_value_forges_a_tag(text: str) -> None:
    line = item_line(NewItem(Category.FACTS, text))

    assert parse_file(categories.FACTS, line.encode()).items[0].provenance is None


@pytest.mark.parametrize(
    "text", ["# Title", "## Done", "- # Title", "```", "~~~", "> quote", "1. # x", "---"]
)
def test_no_value_opens_a_block_of_its_own(text: str) -> None:
    from markdown_it import MarkdownIt

    line = item_line(NewItem(Category.FACTS, text, provenance=CAME))
    kinds = {token.type for token in MarkdownIt().parse(f"{line}\n- next\n")}

    assert not kinds & {"heading_open", "fence", "blockquote_open", "hr"}


def test_a_huge_value_is_cut() -> None:
    assert len(safe_value("x" * 10_000_000)) == 10_000


def test_lines_of_each_category_are_as_the_format_says() -> None:
    tag = "[from: 2026-11-20-tides, 2026-11-20]"
    fact = NewItem(Category.FACTS, "Tides turn", "twice a day", provenance=CAME)
    playbook = NewItem(Category.PLAYBOOKS, "look, then leap", name="**Leap**", provenance=CAME)

    assert item_line(fact) == f"- Tides turn — twice a day {tag}"
    assert item_line(playbook) == f"- **Leap**: look, then leap {tag}"
    assert item_line(NewItem(Category.FACTS, " \n ", provenance=CAME)) == ""
    assert item_line(NewItem(Category.FACTS, "by hand")) == "- by hand"


@given(st.text(min_size=1, max_size=40))
def test_a_source_of_any_name_reads_back_from_its_tag(name: str) -> None:
    tag = format_tag(Provenance(name, "2026-11-20"))

    rest, found = split_tag(f"words {tag}")

    assert rest == "words"
    assert found is not None
    assert found.source == (" ".join(name.split()) or "unknown")


def test_a_bracket_in_a_source_is_escaped() -> None:
    assert format_tag(Provenance("a]b", "2026-11-20")) == r"[from: a\]b, 2026-11-20]"


def test_the_name_of_a_source_has_the_day_and_a_slug() -> None:
    assert source_name(NOW, "The Tides: a talk!") == "2026-11-20-the-tides-a-talk"
    assert source_name(NOW, "…") == "2026-11-20-discussion"


def test_an_item_put_in_the_place_of_another_keeps_the_line_ends() -> None:
    data = b"\xef\xbb\xbf- one\r\n- two\r\n"
    one: Item = parse_file(categories.FACTS, data).items[0]

    assert categories.with_item(data, one, "- eins") == b"\xef\xbb\xbf- eins\r\n- two\r\n"


def test_an_item_that_is_too_long_stays_in_its_file_and_is_named_with_its_line() -> None:
    long = "- b\n" + "  word\n" * (categories.ITEM_MAX_CHARS // 7 + 1)
    data = f"# Facts\n\n- a\n{long}- c\n".encode()

    file = categories.parse_file(categories.FACTS, data)

    assert [item.text for item in file.items] == ["a", "c"]
    assert [text for text, _ in categories.newest_first(categories.FACTS, data)] == ["c", "a"]
    assert file.problem == (
        f"facts.md, line 4: the program skips this item, because its {len(long):,} characters exceed 65,536. "
        "The item stays in the file: split it, or move its long part elsewhere"
    )
    assert categories.with_lines(
        categories.FACTS, categories.without_item(data, file.items[0]), [categories.CategoryLine("- d")]
    ) == (f"# Facts\n\n{long}- c\n- d\n".encode())
    assert (
        "The program also skips 1 long item of the file"
        in categories.parse_file(categories.FACTS, data + long.encode()).problem
    )
    assert (
        categories.parse_file(categories.FACTS, data, most_chars=len(data))
        .items[1]
        .text.startswith("b\n  word\n")
    )


def test_an_item_at_the_bound_is_read() -> None:
    data = f"- {'x' * (categories.ITEM_MAX_CHARS - 3)}\n".encode()

    assert (
        len(categories.parse_file(categories.FACTS, data).items)
        == len(list(categories.newest_first(categories.FACTS, data)))
        == 1
    )
    assert categories.parse_file(categories.FACTS, data).problem == ""
