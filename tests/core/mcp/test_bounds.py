"""What a server may offer and answer: judged by value, without a server."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.mcp.approvals import LONGEST_S, BackOff, remote_problem
from core.mcp.bounds import (
    MOST_PARTS,
    MOST_SCHEMA_BYTES,
    MOST_TEXT_BYTES,
    MOST_TOOLS,
    ListedTool,
    bounded_text,
    has_too_many_parts,
    offered_tools,
)

OBJECT = {"type": "object"}


def listed(*names: str) -> list[ListedTool]:
    return [ListedTool(name, "", OBJECT) for name in names]


def test_the_order_in_which_a_server_lists_its_tools_changes_nothing() -> None:
    one = ListedTool(
        "one", "Does it.\r\n", {"type": "object", "properties": {"b": {}, "a": {"type": "string"}}}
    )
    two = ListedTool(
        "two", "", {"properties": {}, "type": "object", "$schema": "https://json-schema.org/draft-07"}
    )

    tools, left_out = offered_tools("files", [two, one])

    assert offered_tools("files", [one, two]) == (tools, left_out)
    assert [tool.schema.name for tool in tools] == ["files__one", "files__two"]
    assert tools[0].schema.parameters_json == '{"properties":{"a":{"type":"string"},"b":{}},"type":"object"}'
    assert (tools[0].schema.description, tools[1].schema.parameters_json) == (
        "Does it.",
        '{"properties":{},"type":"object"}',
    )
    assert left_out == ()


def test_tools_that_no_model_can_be_offered_are_left_out_each_with_its_reason() -> None:
    deep: object = OBJECT
    for _ in range(40):
        deep = {"type": "object", "properties": {"inner": deep}}
    odd = [
        ListedTool("away", "", {**OBJECT, "properties": {"a": {"$ref": "https://example.org/a"}}}),
        ListedTool("deep", "", deep),  # type: ignore[arg-type]
        ListedTool("kind", "", {**OBJECT, "properties": {"a": {"type": "strnig"}}}),
        ListedTool("large", "y" * 40_000, OBJECT),
        ListedTool("list", "", {"type": "array"}),
        ListedTool("listed", "", {**OBJECT, "properties": {"a": {"anyOf": {"type": "string"}}}}),
        ListedTool("numbers", "", {**OBJECT, "properties": 3}),
        ListedTool("required", "", {**OBJECT, "required": "a"}),
        ListedTool("task", "", OBJECT, is_task=True),
    ]
    odd += [ListedTool("twice", "another", OBJECT)]
    names = listed("", "a b", "l" * 70, "twice", "good", "b__c")

    tools, left_out = offered_tools("odd", [*names, *odd])

    assert [tool.name for tool in tools] == ["b__c", "good"]
    refused = "\n".join(left_out)
    for name in ("a tool without a name", "a b", *(tool.name for tool in odd)):
        assert f"{name}: " in refused


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"oneOf": [OBJECT]}, "has oneOf at its top"),
        ({"allOf": [OBJECT], "properties": {}}, "has allOf at its top"),
        ({"properties": {"$top": {}}}, "the name of its argument '$top'"),
        ({"properties": {"": {}}}, "the name of its argument ''"),
        ({"properties": {"a\nb": {}}}, "the name of its argument"),
        ({"properties": {"a" * 65: {}}}, "the name of its argument"),
        ({"properties": {"a": {"default": float("inf")}}}, "a number that JSON does not have"),
        ({"properties": {"a": {"enum": [float("nan")]}}}, "a number that JSON does not have"),
        ({"properties": {"a": {"maximum": 10**5_000}}}, "a number that JSON does not have"),
        ({"properties": {"a": {"enum": "x"}}}, "is not JSON Schema 2020-12"),
        ({"properties": {"a": {"type": "string", "minLength": -1}}}, "is not JSON Schema 2020-12"),
        ({"properties": {"a": {"exclusiveMinimum": True}}}, "is not JSON Schema 2020-12"),
        ({"properties": {"a": {"items": [{"type": "string"}]}}}, "is not JSON Schema 2020-12"),
        ({"properties": {"a": {"description": 3}}}, "is not JSON Schema 2020-12"),
        (
            {"properties": {"a": {"$dynamicRef": "https://example.org/a"}}},
            "the tool's schema refers to another document",
        ),
    ],
)
def test_a_tool_that_would_have_every_request_refused_is_left_out_and_the_others_stay(
    schema: dict[str, object], said: str
) -> None:
    """A model's server refuses the request for one such tool of three hundred: no turn with tools went on."""
    tools, left_out = offered_tools("files", [ListedTool("odd", "", schema), *listed("good")])

    assert [tool.name for tool in tools] == ["good"]
    assert [said in one for one in left_out] == [True], left_out


@pytest.mark.parametrize(
    "schema",
    [
        {
            "properties": {"a": {"$ref": "#/$defs/n"}},
            "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}},
        },
        {"properties": {"a.b-c_D9": {"anyOf": [{"type": "string"}, {"type": "null"}], "nullable": True}}},
        {"properties": {"a": {"type": "array", "prefixItems": [{"type": "string"}], "items": False}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "definitions": {"n": {}}, "properties": {}},
    ],
)
def test_what_models_servers_take_is_offered(schema: dict[str, object]) -> None:
    tools, left_out = offered_tools("files", [ListedTool("fine", "", schema)])

    assert ([tool.name for tool in tools], left_out) == (["fine"], ())


def test_more_tools_than_the_bound_are_cut_to_the_first_by_name_and_it_is_said() -> None:
    tools, left_out = offered_tools("many", listed(*(f"tool_{number:05}" for number in reversed(range(300)))))

    assert (len(tools), tools[0].name, tools[-1].name) == (MOST_TOOLS, "tool_00000", "tool_00255")
    assert "44 tools exceed the maximum" in left_out[-1]


def test_the_schemas_of_a_server_stay_within_their_bound_together() -> None:
    tools, left_out = offered_tools(
        "large", [ListedTool(f"t{number}", "y" * 30_000, OBJECT) for number in range(9)]
    )

    assert sum(len(tool.schema.description) for tool in tools) <= MOST_SCHEMA_BYTES
    assert len(tools) == 4
    assert "5 tools exceed the maximum" in left_out[0]


def test_a_long_answer_keeps_its_head_and_tail_and_says_what_is_missing() -> None:
    text = bounded_text(["start " + "ä" * 400_000, "end"], ["a picture was left out"])

    assert len(text.encode()) < MOST_TEXT_BYTES + 200
    assert text.startswith("start ä")
    assert "left out …]" in text
    assert text.endswith("ä\n\nend\n[a picture was left out]")


KEYS = st.sampled_from(["type", "properties", "items", "$ref", "required", "anyOf", "x"])
LEAVES = st.sampled_from([None, True, 3, "object", "string", "#/x", "\ud83d"])
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2), max_leaves=6
)
TOOLS = st.builds(
    ListedTool,
    st.sampled_from(["one", "two", "a b", ""]),
    LEAVES.map(str),
    st.dictionaries(KEYS, JSON, max_size=3),
)


@settings(max_examples=60)
@given(st.lists(TOOLS, max_size=3))
def test_any_listing_is_judged_and_what_is_offered_is_json_that_can_be_sent(
    tools: list[ListedTool],
) -> None:
    offered, _ = offered_tools("any", tools)

    for tool in offered:
        schema = json.loads(tool.schema.parameters_json)
        assert schema["type"] == "object"
        tool.schema.description.encode()
    assert len({tool.name for tool in offered}) == len(offered)


def test_each_failure_doubles_the_wait_up_to_five_minutes() -> None:
    waits, back_off = [], BackOff()
    for _ in range(12):
        back_off = back_off.failed(100.0)
        waits.append(back_off.left_s(100.0))

    assert waits[:4] == [1.0, 2.0, 4.0, 8.0]
    assert waits[-1] == LONGEST_S
    assert back_off.left_s(100.0 + LONGEST_S) == 0


def test_addresses_with_keys_are_encrypted_and_those_of_projects_lead_to_the_open_net() -> None:
    def problem(url: str, *, has_key: bool = False, own: bool = True) -> str:
        return remote_problem(url, has_key=has_key, may_reach_own=own)

    assert problem("http://127.0.0.1:80/mcp", has_key=True) == ""
    assert problem("https://example.org/mcp", has_key=True, own=False) == ""
    assert "https" in problem("http://example.org/mcp", has_key=True)
    assert "keyring" in problem("https://me:secret@example.org/mcp")
    for url in ("http://localhost/mcp", "https://10.0.0.1/", "https://[::1]/", "https://router.lan/"):
        assert problem(url) == ""
        assert "a project's server may not use this url" in problem(url, own=False)
    for url in ("", "ftp://example.org", "https://", "https://a:b:c", "file:///etc/passwd"):
        assert problem(url) != ""


def test_a_message_has_so_many_values_and_a_text_is_one_whatever_stands_in_it() -> None:
    text = json.dumps({"text": '[{"a": 1}, {}],\\"' * (MOST_PARTS // 4)}).encode()
    assert not has_too_many_parts(text)
    for value in ("[]", "1", '"\\\\"'):
        assert has_too_many_parts(f'{{"a": [{",".join([value] * (MOST_PARTS + 1))}]}}'.encode())
    assert not has_too_many_parts(json.dumps([1] * (MOST_PARTS - 1)).encode())
