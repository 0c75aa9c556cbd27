"""Results of servers that the SDK's reader would refuse as a whole are mended part by part; what is right stays the same."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types import CallToolResult, InitializeResult, ListToolsResult

from core.mcp.bounds import ListedTool, offered_tools
from core.mcp.sound_results import sound_result

OBJECT = {"type": "object"}
START = {"protocolVersion": "2025-06-18", "capabilities": {}}


@pytest.mark.parametrize("about", [{}, {"serverInfo": None}, {"serverInfo": {"name": "x"}}])
def test_a_start_without_the_servers_name_is_one(about: dict[str, Any]) -> None:
    assert InitializeResult.model_validate(sound_result({**START, **about})).protocol_version == "2025-06-18"


def listed(*schemas: Any) -> list[ListedTool]:
    tools = [{"name": f"t{number}", "inputSchema": one} for number, one in enumerate(schemas)]
    page = ListToolsResult.model_validate(sound_result({"tools": [*tools, "no tool"], "nextCursor": ""}))
    assert page.next_cursor is None
    return [ListedTool(name=one.name, description="", schema=one.input_schema) for one in page.tools]


@pytest.mark.parametrize(
    "schema",
    [{}, {"properties": {"a": {"type": "string"}}}, {**OBJECT, "required": None}, {**OBJECT, "required": {}}],
)
def test_a_schema_without_its_type_or_with_nulls_is_one(schema: dict[str, Any]) -> None:
    tools, left_out = offered_tools("srv", listed(schema))

    assert ([one.name for one in tools], left_out) == (["t0"], ())


@pytest.mark.parametrize(
    "schema", [None, 3, {"type": "strnig"}, {"type": ["object"]}, {**OBJECT, "properties": 3}]
)
def test_a_tool_whose_schema_is_none_is_left_out_and_its_neighbour_stays(schema: Any) -> None:
    tools, left_out = offered_tools("srv", listed(schema, OBJECT))

    assert [one.name for one in tools] == ["t1"]
    assert len(left_out) == 1
    assert left_out[0].startswith("t0: ")


@pytest.mark.parametrize(
    ("result", "texts"),
    [
        ({"structuredContent": {"a": 1}}, []),
        ({"content": None, "structuredContent": {"a": 1}}, []),
        ({"content": "words", "isError": None}, ["words"]),
        ({"content": {"type": "text", "text": "words"}}, ["words"]),
        ({"content": ["words"]}, ["words"]),
        ({"content": [{"type": "hologram"}, {"type": "text", "text": "x"}]}, ["[a part of the kind 'hologram' was left out]", "x"]),
    ],
)  # fmt: skip
def test_an_answer_in_another_shape_is_read(result: dict[str, Any], texts: list[str]) -> None:
    answer = CallToolResult.model_validate(sound_result(result))

    assert [getattr(one, "text", None) for one in answer.content] == texts
    assert answer.structured_content == result.get("structuredContent")


@pytest.mark.parametrize(
    "result",
    [
        {**START, "serverInfo": {"name": "x", "version": "1"}},
        {"tools": [{"name": "t", "inputSchema": {**OBJECT, "required": ["a"]}}], "nextCursor": "2"},
        {"content": [{"type": "text", "text": "x"}], "isError": True},
        {"roots": []},
        {},
    ],
)
def test_what_is_right_stays(result: dict[str, Any]) -> None:
    assert sound_result(result) == result


def test_names_with_dots_and_slashes_are_offered_with_lines() -> None:
    tools, left_out = offered_tools("srv", [ListedTool("a.b", "", OBJECT), ListedTool("c/d", "", OBJECT)])

    assert [(one.name, one.schema.name) for one in tools] == [("a.b", "srv__a_b"), ("c/d", "srv__c_d")]
    assert left_out == ()


def test_two_tools_that_a_model_could_not_tell_apart_are_left_out() -> None:
    tools, left_out = offered_tools("srv", [ListedTool("a.b", "", OBJECT), ListedTool("a_b", "", OBJECT)])

    assert tools == ()
    assert "listed twice" in left_out[0]


def test_a_tool_that_a_server_lists_again_the_same_is_one() -> None:
    tools, _ = offered_tools("srv", [ListedTool("a", "", OBJECT), ListedTool("a", "", OBJECT)])

    assert [one.name for one in tools] == ["a"]
