"""The guard of the prefix notices what it is there for."""

from __future__ import annotations

import pytest

from tests.prefix_guard import Recorded, check_prefixes


def body(system: str, user: str, tools: tuple[str, ...] = ()) -> dict[str, object]:
    return {"tools": list(tools), "system": [{"text": system}], "messages": [{"content": user}]}


def parts(request: object) -> object:
    assert isinstance(request, dict)
    return [request["tools"], request["system"]]


def test_an_unchanged_prefix_passes_and_every_pair_is_compared() -> None:
    requests = [Recorded(body("role", f"turn {n}"), ("role\n",)) for n in range(4)]

    assert check_prefixes(requests, parts) == 3


def test_an_unexplained_change_names_the_request_and_the_byte() -> None:
    requests = [Recorded(body("role a", "one")), Recorded(body("role b", "two"))]

    with pytest.raises(AssertionError, match=r"request 1: the prefix differs at byte 19"):
        check_prefixes(requests, parts)


def test_a_prefix_that_grew_is_a_change() -> None:
    requests = [Recorded(body("role", "one")), Recorded(body("role", "two", ("tool",)))]

    with pytest.raises(AssertionError, match="differs"):
        check_prefixes(requests, parts)


def test_an_explained_change_passes() -> None:
    requests = [Recorded(body("a", "one")), Recorded(body("b", "two"), reason="persona changed")]

    assert check_prefixes(requests, parts) == 0


def test_a_reason_without_a_change_fails() -> None:
    requests = [Recorded(body("a", "one")), Recorded(body("a", "two"), reason="persona changed")]

    with pytest.raises(AssertionError, match="did not happen"):
        check_prefixes(requests, parts)


def test_a_stable_text_that_is_not_in_the_prefix_fails() -> None:
    with pytest.raises(AssertionError, match="does not carry"):
        check_prefixes([Recorded(body("a", "persona"), ("persona",))], parts)


def test_stable_texts_in_another_order_fail() -> None:
    with pytest.raises(AssertionError, match="does not carry"):
        check_prefixes([Recorded(body("first second", "x"), ("second", "first"))], parts)
