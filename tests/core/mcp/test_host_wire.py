"""Lines between the program and its host: each message is read back as it was written, on one line."""

from __future__ import annotations

import typing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.kernel.values.mcp import Keeper, McpPicture, WrappedCommand
from core.mcp.bounds import FromHost, HostAnswer, HostStart, ToHost, from_host, line_of, to_host

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
PICTURES = st.lists(st.builds(McpPicture, TEXT, st.binary(max_size=20)), max_size=2).map(tuple)


@settings(max_examples=40)
@given(st.integers(0, 10**9), TEXT, PICTURES, st.booleans(), st.dictionaries(TEXT, TEXT, max_size=2))
def test_each_message_is_one_line_and_comes_back_as_it_was(
    number: int, text: str, pictures: tuple[McpPicture, ...], flag: bool, environment: dict[str, str]
) -> None:
    answer = HostAnswer(number, text, pictures, flag)
    command = WrappedCommand(text, (text, "b"), text, environment, Keeper.SANDBOX, disks=(text,))
    start = HostStart(number, "files", command, may_reach_own=flag)

    assert from_host(line_of(answer)) == answer
    assert to_host(line_of(start)) == start
    assert line_of(answer).count(b"\n") == line_of(start).count(b"\n") == 1


def test_every_message_is_told_from_every_other() -> None:
    tags = [kind.__struct_config__.tag for union in (ToHost, FromHost) for kind in typing.get_args(union)]

    assert len(tags) == len(set(tags)) == 9


@pytest.mark.parametrize(
    "line", [b"", b"{}", b"[]", b'{"type": "song"}', b'{"type": "answered", "id": "x", "text": 3}', b"\xff"]
)
def test_a_line_that_is_no_message_is_an_error(line: bytes) -> None:
    with pytest.raises(ValueError):
        from_host(line)
