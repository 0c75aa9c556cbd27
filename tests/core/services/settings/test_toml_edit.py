"""Edits change what they are asked to, and not a byte beside it."""

from __future__ import annotations

import tomllib
from collections import Counter
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.services.settings.toml_document import (
    CannotEditError,
    append_block,
    bare,
    inline,
    remove_key,
    remove_table,
    rename_table,
    set_value,
)

TEXT = """\
# top

[appearance]  # how it looks
theme = "dark" # I like it

# what follows is mine
[providers.box]
base_url = "http://a"
label = "Box"

# end
"""


def test_a_value_is_replaced_in_its_place() -> None:
    new = set_value(TEXT, ("appearance", "theme"), '"light"')

    assert new == TEXT.replace('"dark"', '"light"')


def test_a_new_key_stands_behind_the_last_of_its_table() -> None:
    new = set_value(TEXT, ("appearance", "ui_scale"), "1.5")

    assert new == TEXT.replace("I like it\n", "I like it\nui_scale = 1.5\n")


def test_a_new_table_stands_at_the_end() -> None:
    new = set_value(TEXT, ("files", "max_glob_files"), "5")

    assert new == TEXT + "\n[files]\nmax_glob_files = 5\n"


def test_a_key_of_the_top_stands_before_the_first_table_and_its_comments() -> None:
    assert set_value("# mine\n[a]\nx = 1\n", ("top",), "1") == "top = 1\n\n# mine\n[a]\nx = 1\n"
    assert set_value("a = 1\n[b]\n", ("top",), "1") == "a = 1\ntop = 1\n[b]\n"
    assert set_value("# only a comment", ("top",), "1") == "# only a comment\ntop = 1\n"
    assert set_value("", ("top",), "1") == "top = 1\n"


def test_a_dotted_key_has_its_new_sibling_beside_it() -> None:
    assert set_value("a.b = 1\nc = 2\n", ("a", "d"), "3") == "a.b = 1\na.d = 3\nc = 2\n"


def test_an_empty_table_takes_its_first_key() -> None:
    assert set_value("[a]\n[b]\n", ("a", "x"), "1") == "[a]\nx = 1\n[b]\n"


def test_a_file_without_a_last_line_end_gets_one() -> None:
    assert set_value("[a]\nx = 1", ("a", "y"), "2") == "[a]\nx = 1\ny = 2\n"
    assert append_block("a = 1", "[b]\n") == "a = 1\n\n[b]\n"


def test_a_key_inside_an_inline_table_is_left_alone() -> None:
    text = "a = { x = 1 }\n"
    with pytest.raises(CannotEditError):
        set_value(text, ("a", "x"), "2")
    with pytest.raises(CannotEditError):
        remove_key(text, ("a", "x"))
    with pytest.raises(CannotEditError):
        remove_table("a = { b = { x = 1 } }\n", ("a", "b"))
    with pytest.raises(CannotEditError):
        rename_table("a = { b = { x = 1 } }\n", ("a", "b"), "c")


def test_a_key_goes_with_its_line() -> None:
    assert remove_key(TEXT, ("providers", "box", "label")) == TEXT.replace('label = "Box"\n', "")
    assert remove_key(TEXT, ("nothing",)) == TEXT


def test_a_value_over_many_lines_goes_whole() -> None:
    assert remove_key('a = [\n 1, # one\n 2,\n]\nb = """\nx\n"""\n', ("a",)) == 'b = """\nx\n"""\n'


def test_a_table_goes_and_the_comments_around_it_stay() -> None:
    new = remove_table(TEXT, ("providers", "box"))

    assert "box" not in new
    assert "# what follows is mine\n" in new
    assert new.endswith("# end\n")
    assert new.startswith(TEXT[: TEXT.index("# what")])


def test_all_parts_of_a_scattered_table_go() -> None:
    text = "[a.b]\nx = 1\n\n[c]\ny = 2\n\n[a.b.d]\nz = 3\n"

    assert tomllib.loads(remove_table(text, ("a", "b"))) == {"c": {"y": 2}}


def test_a_rename_reaches_every_header_and_dotted_key() -> None:
    text = "p.old.x = 1\n[p.other]\n[p . old . sub]  # here\ny = 2\n[[p.old.rows]]\nz = 3\n"

    assert rename_table(text, ("p", "old"), "new name") == (
        'p."new name".x = 1\n[p.other]\n[p."new name".sub]  # here\ny = 2\n[[p."new name".rows]]\nz = 3\n'
    )


_TEXTS = st.text(max_size=30)
_VALUES = st.recursive(
    st.one_of(
        st.booleans(), st.integers(-(2**62), 2**62), st.floats(allow_nan=False, allow_infinity=False), _TEXTS
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_TEXTS, inner, max_size=4)),
    max_leaves=10,
)


@given(_VALUES)
def test_any_value_on_one_line_reads_back_as_itself(value: Any) -> None:
    text = f"x = {inline(value)}\n"
    assume(text.isascii() or text.encode("utf-8", "ignore").decode() == text)

    assert tomllib.loads(text) == {"x": value}
    assert "\n" not in text[:-1]


@given(_TEXTS)
def test_any_key_reads_back_as_itself(key: str) -> None:
    assume(key.encode("utf-8", "ignore").decode() == key)

    assert tomllib.loads(f"{bare(key)} = 1\n") == {key: 1}


_NAMES = st.sampled_from(["a", "b", "c d", "é", "."])
_FILES = st.dictionaries(
    _NAMES,
    st.dictionaries(_NAMES, st.one_of(st.integers(0, 9), st.lists(st.integers(0, 9))), max_size=3),
    max_size=4,
)
_COMMENTS = st.sampled_from(["", "# a note\n", "\n", "# [x]\n# a = 1\n\n"])


@given(_FILES, st.lists(_COMMENTS, min_size=20, max_size=20), _NAMES, _NAMES, st.integers(0, 99))
def test_setting_a_key_keeps_every_other_line(
    data: dict[str, dict[str, Any]], comments: list[str], table: str, key: str, value: int
) -> None:
    notes = iter(comments)
    text = ""
    for name, rows in data.items():
        text += next(notes) + f"[{bare(name)}]\n"
        for inner, entry in rows.items():
            text += next(notes) + f"{bare(inner)} = {inline(entry)} # {inner}\n"
    text += next(notes)
    new = set_value(text, (table, key), str(value))

    assert tomllib.loads(new) == {**data, table: {**data.get(table, {}), key: value}}
    was_there = key in data.get(table, {})
    gone = Counter(line for line in text.split("\n") if line) - Counter(new.split("\n"))
    assert gone.total() <= was_there
