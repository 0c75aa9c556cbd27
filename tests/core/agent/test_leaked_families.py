"""Calls in the grammar of each family of models that a server left in the text or the thought: real calls; talk about them stays text."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from core.agent.leaked_calls import elsewhere, with_recovered
from core.agent.leaked_spellings import SPELLINGS, respelled
from core.agent.leaked_words import LONGEST_SENTENCE, last_sentence
from core.kernel.values.messages import Part, ReasoningPart, TextPart, ToolCallPart
from core.kernel.values.stack import ToolSchema
from core.services.providers.thought_tags import parted
from tests.operations import LINEAR, TIMES, growth
from tests.vendors.world.explanations import EXPLAINED, MEANT, SIGNS, SIGNS_OF_CALLS
from tests.vendors.world.families import FAMILIES, HARD, ONE, TALK, Call, Family, cut, shapes
from tests.vendors.world.grammars import DRESSES, GIVEN, NAME, NOTATIONS, WORDS, written
from tests.vendors.world.spellings import SPELLED


def _schema(**properties: object) -> str:
    return json.dumps({"type": "object", "properties": properties})


_STRING = {"type": "string"}
TOOLS = (
    ToolSchema("write_file", "Write.", _schema(path=_STRING, content=_STRING, lines={"type": "integer"}, overwrite={"type": "boolean"}, tags={"type": "array"}, meta={"type": "object"})),
    ToolSchema("read_file", "Read.", _schema(path=_STRING)),
    ToolSchema("list_dir", "List.", _schema()),
)  # fmt: skip
CASES = [(family, name) for family in FAMILIES for name in shapes(family)]


def recovered(text: str, model: str, part: Callable[[str], Part] = TextPart) -> tuple[str, list[Call]]:
    got = with_recovered(parted([part(text)]), TOOLS, elsewhere(()), model)
    calls = [(one.name, json.loads(one.arguments_json)) for one in got if isinstance(one, ToolCallPart)]
    return "".join(one.text for one in got if isinstance(one, TextPart)), calls


@pytest.mark.parametrize(("family", "name"), CASES, ids=lambda one: getattr(one, "name", one))
def test_a_call_of_each_family_becomes_a_real_one(family: Family, name: str) -> None:
    text, words, calls, is_thought = shapes(family)[name]

    assert recovered(text, family.model, ReasoningPart if is_thought else TextPart) == (words, list(calls))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_call_that_was_cut_within_a_value_is_none(family: Family) -> None:
    assert recovered(cut(family), family.model)[1] == []


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_quoted_in_a_fence_is_talk(family: Family) -> None:
    text = f"It writes:\n\n~~~~~\n{family.write([ONE])}\n~~~~~\n\nThe server reads that."

    assert recovered(text, family.model) == (text, [])


@pytest.mark.parametrize("name", TALK)
@pytest.mark.parametrize("part", [TextPart, ReasoningPart])
def test_talk_about_calls_is_no_call(name: str, part: Callable[[str], Part]) -> None:
    model, text = TALK[name]

    assert recovered(text, model, part) == (text if part is TextPart else "", [])


_MORE_TOOLS = (
    *TOOLS[:1],
    ToolSchema("read_file", "Read.", _schema(path=_STRING, limit={"type": "integer"})),
    ToolSchema("run_command", "Run.", _schema(command=_STRING)),
)


@pytest.mark.parametrize(("text", "calls"), [row[1:] for row in SPELLED], ids=[row[0] for row in SPELLED])
def test_a_call_in_a_spelling_of_its_own_is_one(text: str, calls: list[Call]) -> None:
    got = with_recovered(parted([TextPart(text)]), _MORE_TOOLS, elsewhere(()), "m")

    assert [
        (one.name, json.loads(one.arguments_json)) for one in got if isinstance(one, ToolCallPart)
    ] == calls


_CALL = '<tool_call>{"name": "read_file", "arguments": {"path": "a.txt"}}</tool_call>'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"<response>\n{_CALL}\n</response>", ""),
        (f"Now I read it.\n\n<response>\n{_CALL}\n{_CALL}\n</response>", "Now I read it."),
        (f"<response>\n{_CALL}", ""),
        (f"<response>Both.\n{_CALL}\n</response>", "<response>Both.\n\n</response>"),
        (
            "I use git --stat now.\n\n[TOOL_CALL] {tool => 'read_file', args => {--path \"a.txt\"}} [/TOOL_CALL]",
            "I use git --stat now.",
        ),
        (f"I write a\0b.\n\n{_CALL}", "I write a\0b."),
    ],
)
def test_words_beside_a_call_stay_and_an_element_that_held_it_alone_goes(text: str, words: str) -> None:
    told, calls = recovered(text, "m")

    assert (told, {name for name, _ in calls}) == (words, {"read_file"})


@pytest.mark.parametrize(
    ("given", "meant"),
    [("True", True), (" False ", False), ("true", True), ("Maybe", "Maybe"), ("[", "[")],
)
@pytest.mark.parametrize(("key", "kind"), [("overwrite", "boolean"), ("content", "string")])
def test_a_value_between_tags_may_be_one_of_python_where_no_words_are_asked(
    given: str, meant: object, key: str, kind: str
) -> None:
    text = f'<invoke name="write_file"><parameter name="{key}">{given}</parameter></invoke>'

    assert recovered(text, "m")[1] == [("write_file", {key: given if kind == "string" else meant})]


def test_a_list_between_tags_may_be_one_of_python() -> None:
    text = "<tool_call>write_file\n<arg_key>tags</arg_key>\n<arg_value>['a', None, true]</arg_value>\n</tool_call>"

    assert recovered(text, "m")[1] == [("write_file", {"tags": ["a", None, True]})]


@pytest.mark.parametrize("dress", DRESSES)
def test_a_call_in_any_notation_is_one_in_any_dress(dress: str) -> None:
    formats = [(word, notation) for word in WORDS for notation in NOTATIONS]

    missed = [one for one in formats if recovered(written(dress, *one), "m")[1] != [(NAME, GIVEN)]]

    assert missed == []


@pytest.mark.parametrize("text", EXPLAINED)
@pytest.mark.parametrize("model", ["m", "qwen2.5-coder:7b", "Llama-3.1-8B-Instruct"])
def test_a_reply_that_explains_calls_stays_text(text: str, model: str) -> None:
    assert recovered(text, model) == (text, [])


def _tool(name: str, needed: str, **properties: object) -> ToolSchema:
    schema = {"type": "object", "properties": {needed: _STRING, **properties}, "required": [needed]}
    return ToolSchema(name, name, json.dumps(schema))


_NUMBER = {"type": "integer"}
PLAIN_TOOLS = (
    _tool("read_file", "path", offset=_NUMBER),
    _tool("bash", "command", timeout=_NUMBER),
    _tool("search", "query"),
    _tool("time", "zone"),
    _tool("python", "code"),
    _tool("sql", "query"),
)


@pytest.mark.parametrize("text", SIGNS)
@pytest.mark.parametrize("model", ["m", "qwen3-coder:30b"])
def test_signs_that_ordinary_texts_have_are_no_calls(text: str, model: str) -> None:
    said = (TextPart(text),)

    assert with_recovered(said, PLAIN_TOOLS, elsewhere(()), model) == said


@pytest.mark.parametrize(("name", "given", "text", "words"), SIGNS_OF_CALLS)
def test_signs_that_words_announce_are_calls(name: str, given: Call, text: str, words: str) -> None:
    got = with_recovered((TextPart(text),), PLAIN_TOOLS, elsewhere(()), "m")

    assert [(one.name, json.loads(one.arguments_json)) for one in got if isinstance(one, ToolCallPart)] == [
        (name, given)
    ]
    assert "".join(one.text for one in got if isinstance(one, TextPart)) == words


@pytest.mark.parametrize(
    "tags",
    ["<response>\n", "<think>\nHm.\n</think>\n\n", "[THINK]Hm.[/THINK]", "<a:think>Hm.</a:think><response>"],
)
def test_tags_before_a_call_hide_not_what_announces_it(tags: str) -> None:
    shown = f"A leaked call looks like this:\n\n{tags}{_CALL}\n\nThe parser reads it."

    assert recovered(shown, "m") == (shown, [])
    assert recovered(f"I'll read it now:\n\n{tags}{_CALL}", "m")[1] == [("read_file", {"path": "a.txt"})]


@pytest.mark.parametrize("said", MEANT)
@pytest.mark.parametrize("behind", ["", "\n\nI'll wait."])
def test_a_call_that_is_meant_is_one_whatever_it_looks_for(said: str, behind: str) -> None:
    text = f"{said}\n\n<tool_call>\n{json.dumps({'name': ONE[0], 'arguments': ONE[1]})}\n</tool_call>{behind}"

    assert recovered(text, "m")[1] == [ONE]


@pytest.mark.parametrize(
    "content",
    [
        '<?xml version="1.0"?>\n<svg/>',
        "<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\nYes",
        "Hi<|start_header_id|>assistant<|end_header_id|>\n\nYes",
        "let res: Promise<functions.Response>;",
        "Think first:\n<thinking>\nWhat is asked\n</thinking>\nThen answer.",
    ],
)
@pytest.mark.parametrize(
    "written",
    [
        lambda content: f"<tool_call>\n{_called(content)}\n</tool_call>",
        lambda content: f'<invoke name="write_file"><parameter name="content">{content}</parameter></invoke>',
        lambda content: (
            f"I write it.\n<function=write_file>\n<parameter=content>\n{content}\n</parameter>\n</function>"
        ),
    ],
    ids=["json", "invoke", "function"],
)
def test_an_argument_keeps_what_is_a_mark_of_a_reply_elsewhere(
    content: str, written: Callable[[str], str]
) -> None:
    """A file with the head of XML lost it, without a word."""
    assert recovered(written(content), "m")[1] == [("write_file", {"content": content})]


def _called(content: str) -> str:
    return json.dumps({"name": "write_file", "arguments": {"content": content}})


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_call_that_stands_in_what_was_shown_is_none(family: Family) -> None:
    text = family.write([HARD])
    got = with_recovered(parted([TextPart(text)]), TOOLS, elsewhere([f"A page: {text}"]), family.model)

    assert [one for one in got if isinstance(one, ToolCallPart)] == []


@pytest.mark.parametrize("text", ["", "A word.", "a < b > c", "<b>x</b> | [y] ｜", "Action: none"])
def test_a_text_without_signs_of_a_family_is_not_respelled(text: str) -> None:
    assert respelled(text) == text


@pytest.mark.slow
@pytest.mark.parametrize("sign", sorted({one.sign for one in SPELLINGS}))
def test_signs_of_families_are_read_in_proportion(sign: str) -> None:
    unit = f"\n{sign} ```json\n[{sign}<tool_call>{{"

    assert growth(lambda size: recovered(unit * size, "Qwen3-32B"), 300) <= LINEAR


@pytest.mark.parametrize(
    "form",
    [
        "write_file(path='it\\'s.txt', overwrite=True)",
        "<tool_call>{'name': 'write_file', 'arguments': {'path': 'it\\'s.txt', 'overwrite': True}}</tool_call>",
    ],
)
def test_values_of_python_are_values(form: str) -> None:
    assert recovered(form, "Qwen3-32B")[1] == [("write_file", {"path": "it's.txt", "overwrite": True})]


def test_the_last_line_end_of_a_file_stays() -> None:
    text = '<invoke name="write_file"><parameter name="content">a\nb\n</parameter></invoke>'

    assert recovered(text, "m")[1] == [("write_file", {"content": "a\nb\n"})]
    assert recovered(text.replace("a\nb", "a"), "m")[1] == [("write_file", {"content": "a"})]


@pytest.mark.parametrize("more", ["&a ", "!!python/name:os.system ", "*a "])
def test_yaml_that_is_more_than_values_is_no_call(more: str) -> None:
    assert recovered(f"<tool_call>\nname: read_file\narguments:\n  path: {more}x\n</tool_call>", "m")[1] == []


@pytest.mark.parametrize("unit", ["\n", " \n", "a\n\n", "\n\n{", "f(\n"])
def test_lines_before_bare_calls_are_read_in_proportion(unit: str) -> None:
    assert growth(lambda size: recovered(unit * size, "Qwen3-32B"), 300) <= LINEAR


@pytest.mark.parametrize(
    ("unit", "end"),
    [
        (
            "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nb\n</p\n",
            "",
        ),
        ("<function=read_file><parameter=path>a</parameter></function>\n", "<function=write_file>"),
    ],
)
def test_calls_that_a_model_repeats_without_an_end_are_read_in_proportion(unit: str, end: str) -> None:
    assert recovered(unit * 100 + end, "Qwen3-32B")[1] == []
    assert growth(lambda size: recovered(unit * size + end, "Qwen3-32B"), 60) < TIMES


@pytest.mark.parametrize(
    "call",
    [
        '<tool_call>{"name": "read_file", "arguments": {"path": "a", "lines": NaN}}</tool_call>',
        "<tool_call>\nname: write_file\narguments:\n  path: a\n  lines: .inf\n</tool_call>",
        "[read_file(path='a', lines=1e999)]",
    ],
)
def test_a_number_that_json_has_not_makes_no_call(call: str) -> None:
    assert recovered(call, "Qwen3-32B") == (call, [])


@pytest.mark.parametrize("unit", ["The server expects ", "I added it, ", "your model writes x "])
def test_a_model_that_repeats_itself_is_judged_by_the_end_of_its_words(unit: str) -> None:
    """The expressions look from each word to the end: over a line of 40 KB one of them took minutes."""
    assert last_sentence(f"A. {unit * 2_000}") in unit * 2_000
    assert len(last_sentence(unit * 2_000)) <= LONGEST_SENTENCE
