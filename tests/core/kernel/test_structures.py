"""Memo by which objects values are."""

from __future__ import annotations

from core.kernel.structures import ByIdentity


def test_what_was_made_of_the_same_objects_is_not_made_again_and_of_equal_ones_it_is() -> None:
    memo, made = ByIdentity(most=2), list[str]()

    def of(values: tuple[int, ...], name: str) -> int:
        def make() -> int:
            made.append(name)
            return sum(values)

        return memo.of((values,), name, make)

    one = (1, 2, 3)
    other = (*one[:2], 3)
    assert [of(one, "a"), of(one, "a"), of(one, "b")] == [6, 6, 6]
    assert made == ["a", "b"]
    assert of(other, "a") == 6
    assert made == ["a", "b", "a"], (
        "an object that is gone gives its place to another: it is kept as long as its result"
    )
    of(one, "b")
    assert made == ["a", "b", "a", "b"], "beyond the most that are kept all are forgotten"
