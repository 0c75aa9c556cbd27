"""Derived data is kept while its parts are the same objects."""

from __future__ import annotations

from panels.base.view import Memo, Same


def test_a_value_is_made_once_while_its_parts_are_the_same_objects() -> None:
    memo, made, part = Memo(), [], ["a"]

    for _ in range(3):
        memo.get("name", (part, "text", 3), lambda: made.append(1))

    assert made == [1]


def test_an_equal_part_that_is_another_object_makes_the_value_again() -> None:
    """State parts are compared by identity: comparing ten thousand summaries would cost as much as sorting them."""
    memo = Memo()

    first = memo.get("name", (["a"],), lambda: 1)
    second = memo.get("name", (["a"],), lambda: 2)

    assert (first, second) == (1, 2)


def test_short_values_are_compared_by_value() -> None:
    memo = Memo()
    letters = list("query")
    memo.get("name", ("".join(letters),), lambda: 1)

    assert memo.get("name", ("".join(letters),), lambda: 2) == 1


def test_a_name_keeps_its_newest_value_only() -> None:
    memo, first = Memo(), ["first"]
    memo.get("name", (first,), lambda: 1)
    memo.get("name", (["second"],), lambda: 2)

    assert memo.get("name", (first,), lambda: 3) == 3


def test_same_is_equal_only_for_the_same_objects() -> None:
    one, twin = ["a"], ["a"]

    assert Same(one) == Same(one)
    assert hash(Same(one)) == hash(Same(one))
    assert Same(one) != Same(twin)
    assert Same(one) != Same(one, one)
    assert Same(one) != "a"
