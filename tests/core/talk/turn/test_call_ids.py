"""Ids of tool calls: each once, and each of a kind that an address can hold, whatever a model gives."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.kernel.values.messages import TextPart, ToolCallPart
from core.talk.turn.turn_step import LONGEST, with_own_ids


def own(*ids: str, used: tuple[str, ...] = ()) -> list[str]:
    parts = with_own_ids((TextPart("So."), *(ToolCallPart(one, "look", "{}") for one in ids)), used)
    return [part.call_id for part in parts if isinstance(part, ToolCallPart)]


@pytest.mark.parametrize("kept", ["call_1a2B", "toolu_01A-b", "fc_1|call_2", "functions.look:0", "a=b+c@d~"])
def test_ids_of_vendors_stay(kept: str) -> None:
    assert own(kept) == [kept]


@pytest.mark.parametrize(
    ("given_id", "wanted"),
    [
        ("a/b", "a_b"),
        ("../../approvals", ".._.._approvals"),
        ("..", "_"),
        ("", "call"),
        ("a b\n?#%2f", "a_b____2f"),
        ("x" * 5_000, "x" * LONGEST),
        ("é", "_"),
    ],
)
def test_one_that_no_address_can_hold_gets_another(given_id: str, wanted: str) -> None:
    assert own(given_id) == [wanted]


@given(ids=st.lists(st.text(max_size=300), max_size=12), used=st.lists(st.text(max_size=5), max_size=5))
def test_each_is_had_once_and_is_one_part_of_an_address(ids: list[str], used: list[str]) -> None:
    found = own(*ids, used=tuple(used))

    assert len({*found, *used}) == len(found) + len({*used})
    assert all(len(one) <= LONGEST + 8 and "/" not in one and one.isascii() for one in found)
    assert all(quote(one, safe="|:=+@~") == one and one not in {".", ".."} for one in found)
