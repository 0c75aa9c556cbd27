"""Lines of keys in TOML text, however it is laid out."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from core.services.settings.toml_document import Place, line_of, statements

TEXT = '''\
# a comment with = and [brackets]
trash_days = 1
a."b.c".d = """
x = 1
[no]
"""
[presets.core]
items = [
    # first
    { path = "a.py" }, # trailing [
    { path = "b.py", mode = "outline", slices = [[1, 2],
      [3, 4]] },
]
[[x.y]]
p = 1
[[x.y]]
p = 'it''s' # two literals would not parse
'''.replace("'it''s' # two literals would not parse", "'a \"quote'")


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("trash_days",), 2),
        (("a", "b.c", "d"), 3),
        (("presets",), 7),
        (("presets", "core"), 7),
        (("presets", "core", "items"), 8),
        (("presets", "core", "items", 0), 10),
        (("presets", "core", "items", 1, "mode"), 11),
        (("presets", "core", "items", 1, "slices", 1), 12),
        (("presets", "core", "items", 1, "nothing"), 11),
        (("x", "y", 0, "p"), 15),
        (("x", "y", 1, "p"), 17),
        (("absent",), None),
    ],
)
def test_a_key_is_found_on_its_line(place: Place, line: int | None) -> None:
    tomllib.loads(TEXT)

    assert line_of(TEXT, place) == line


def test_text_inside_a_string_is_no_statement() -> None:
    assert [s.place for s in statements(TEXT)][:3] == [
        ("trash_days",),
        ("a", "b.c", "d"),
        ("presets", "core"),
    ]


def test_tables_below_an_array_of_tables_belong_to_its_newest() -> None:
    text = "[[a]]\n[a.b]\nx = 1\n[[a]]\n[a.b]\nx = 2\n"

    assert line_of(text, ("a", 1, "b", "x")) == 6


def test_windows_line_ends_count_once() -> None:
    assert line_of("a = 1\r\n\r\nb = 2\r\n", ("b",)) == 3


_KEYS = st.text(min_size=1, max_size=6).filter(lambda key: key.isprintable())
_LEAVES = st.one_of(st.integers(-9, 9), st.booleans(), st.text(max_size=8).filter(str.isprintable))
_TABLES = st.recursive(
    st.dictionaries(_KEYS, st.one_of(_LEAVES, st.lists(_LEAVES, max_size=3)), max_size=3),
    lambda inner: st.dictionaries(
        _KEYS, st.one_of(_LEAVES, inner, st.lists(inner, min_size=1, max_size=2)), max_size=3
    ),
    max_leaves=8,
)


def _leaf_places(node: Any, place: Place = ()) -> list[Place]:
    if isinstance(node, dict):
        return [found for key, value in node.items() for found in _leaf_places(value, (*place, key))]
    if isinstance(node, list):
        return [found for index, value in enumerate(node) for found in _leaf_places(value, (*place, index))]
    return [place]


def _at(node: Any, place: Place) -> Any:
    for part in place:
        node = node[part]
    return node


@given(_TABLES)
def test_every_value_of_any_file_is_found_on_a_line_that_shows_it(data: dict[str, Any]) -> None:
    text = tomli_w.dumps(data)
    lines = text.split("\n")
    for place in _leaf_places(data):
        line = line_of(text, place)
        assert line is not None
        value = _at(data, place)
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        if isinstance(value, int | bool):
            assert shown in lines[line - 1]


@given(_TABLES)
def test_statements_cover_every_line_that_is_not_empty(data: dict[str, Any]) -> None:
    text = tomli_w.dumps(data)
    covered = "".join(text[s.start : s.end] for s in statements(text))

    assert covered.replace("\n", "") == text.replace("\n", "")
