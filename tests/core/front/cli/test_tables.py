"""Columns line up for any script, and give way where a terminal is narrow: nothing wraps."""

from __future__ import annotations

import ast
from datetime import timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import core.front.cli
from core.front.cli.doctor import report
from core.front.cli.doctor_findings import fail, ok
from core.front.cli.format import discussions_text, models_text
from core.front.cli.output import cut, folded, table, width
from core.kernel.values.discussion import DiscussionSummary
from core.kernel.values.provider import KeySource, ModelProfile, ProviderKind, ProviderStatus
from tests.core.records import NOW, meta

NARROW = 60

cells = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\u2028\u2029"), max_size=90
)


def test_columns_line_up_with_wide_letters_and_numbers_to_the_right() -> None:
    assert (
        table(("a", "n"), [("日本", "1"), ("x", "22")], numbers=frozenset({1}))
        == "a      n\n日本   1\nx     22\n"
    )
    assert table((), [("last", "is not padded"), ("x", "")]) == "last  is not padded\nx\n"


def test_marks_over_and_between_letters_take_no_column() -> None:
    assert width("日本e\u0301") == 5
    assert width("👩\u200d🔬") == 4
    assert width("❤\ufe0f") == width("❤")
    assert width("a\u202eb") == 3, "a bidi mark is shown, as a mark of one column"


@given(st.lists(st.tuples(cells, cells, cells, cells), min_size=1, max_size=5), st.integers(12, 200))
def test_no_line_is_wider_than_its_terminal(rows: list[tuple[str, str, str, str]], columns: int) -> None:
    text = table(
        ("id", "n", "name", "found"), rows, numbers=frozenset({1}), kept=frozenset({0}), columns=columns
    )

    assert all(width(line) <= columns for line in text[:-1].split("\n"))
    assert len(text[:-1].split("\n")) == len(rows) + 1


def test_texts_give_way_before_what_people_copy_and_count() -> None:
    row = ("20261120-073000-abcdef", "12,345,678", "A long name that nobody copies", "x" * 80)

    shown = table((), [row], numbers=frozenset({1}), kept=frozenset({0}), columns=NARROW)

    assert shown.split()[:2] == ["20261120-073000-abcdef", "12,345,678"]
    assert shown.count("…") == 2
    assert table((), [row]).count("…") == 0, "a pipe gets all of it"


@given(cells, st.integers(2, 40))
def test_what_is_cut_says_so_and_keeps_its_beginning(text: str, columns: int) -> None:
    shown = cut(text, columns)

    assert width(shown) <= columns
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))


@given(st.text(st.sampled_from("ab 日,")), st.integers(4, 40))
def test_a_folded_line_loses_no_word(text: str, columns: int) -> None:
    lines = folded(text, columns, "  ").split("\n")

    assert " ".join(lines).split() == text.split()
    assert all(width(line) <= columns or len(line.split()) == 1 for line in lines)
    assert lines[0].startswith(" " * (len(text) - len(text.lstrip(" ")))) or not text.strip()


def test_lists_of_discussions_and_models_fit_a_narrow_terminal() -> None:
    name = "潮汐" * 30
    row = DiscussionSummary(meta("20261120-073000-abcdef", name), NOW, turns=12)
    found = {row.meta.id: "the moon pulls the sea " * 5}
    status = ProviderStatus("openrouter", ProviderKind.COMPATIBLE, "OpenRouter", KeySource.ENVIRONMENT)
    models = {"openrouter": (ModelProfile("openrouter", "deepseek/deepseek-chat-v3-0324:free-and-longer"),)}

    listed = discussions_text([row], NOW + timedelta(hours=1), found, NARROW)
    offered = models_text([status], models, NARROW)

    assert all(width(line) <= NARROW for line in (listed + offered).splitlines())
    assert row.meta.id in listed
    assert discussions_text([row], NOW, None, 200).count("潮汐") == 30, "a wide terminal shows all of a name"


def test_the_report_of_doctor_is_folded_not_cut() -> None:
    said = "The file is unreadable because its folder belongs to somebody else, " * 2
    findings = [ok("python", said), fail("home", "short", said)]

    text = report(findings, NARROW)

    assert all(width(line) <= NARROW for line in text.splitlines())
    assert "…" not in text
    assert text.split() == report(findings).split(), "no word is lost"


def test_every_table_of_the_command_line_knows_its_terminal() -> None:
    """A table that is not told the columns wraps, and is none any more."""
    calls = [
        (path.name, {keyword.arg for keyword in node.keywords})
        for path in Path(core.front.cli.__path__[0]).glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "table"
    ]

    assert len(calls) >= 7
    assert [name for name, told in calls if "columns" not in told] == ["doctor.py"], "that one is folded"
