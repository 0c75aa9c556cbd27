"""Reasoning of compatible servers in its three spellings, and calls in all the pieces that they come in."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from core.kernel.values.messages import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import ModelProfile
from core.kernel.values.settings import ServerSettings
from core.services.providers.compatible.body import chat_body
from core.services.providers.compatible.client import CompatibleProvider
from core.services.providers.compatible.reader import ChatReader
from core.talk.turn.turn_step import ArrivingReply
from tests.core.services.providers.compatible.test_client import asked
from tests.core.services.providers.outcomes import NO_BLOBS, ask, assistant, run, tool, user
from tests.vendors.compatible_server import MODEL, OPENROUTER, CompatibleServer, Habits, Said
from tests.vendors.loopback import Captured, LoopbackServer, Reply, json_reply
from tests.vendors.world.table import PLAIN, SSE

PROFILE = ModelProfile("own", MODEL)


def delta(**fields: Any) -> dict[str, Any]:
    """A chunk as it comes."""
    choice = {"index": 0, "delta": {"content": None, **fields}, "finish_reason": fields.get("finish")}
    return {"id": "x", "choices": [choice], "usage": None}


def call(index: int | None = 0, id: str | None = None, name: str | None = None, arguments: Any = "") -> Any:  # noqa: A002
    return {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}


def read(*chunks: dict[str, Any]) -> tuple[Part, ...]:
    reader, reply = ChatReader(), ArrivingReply(lambda: 0.0)
    for chunk in (*chunks, delta(finish="stop")):
        for item in reader.read(chunk):
            reply.add(item)
    for item in reader.end():
        reply.add(item)
    return reply.parts()


def sent_back(*parts: Part, needs_reasoning: bool = False) -> dict[str, Any]:
    """The model's message in the next request of the same turn."""
    wire = [part if not isinstance(part, TextPart) else part.text for part in parts]
    ids = [part.call_id for part in parts if isinstance(part, ToolCallPart)]
    messages = user("Go."), assistant(*wire), tool(*(ToolResultPart(one, "done") for one in ids))
    body = chat_body(ask(MODEL, *messages), PROFILE, NO_BLOBS, needs_reasoning=needs_reasoning)
    found: dict[str, Any] = body["messages"][2]
    return found


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_goes_back_in_the_spelling_that_it_came_in(field: str) -> None:
    parts = read(
        delta(**{field: "Let "}), delta(**{field: "me see."}), delta(content="So."), delta(tool_calls=[call(id="a", name="f")])
    )  # fmt: skip

    assert isinstance(parts[0], ReasoningPart)
    assert (parts[0].text, parts[1]) == ("Let me see.", TextPart("So."))
    assert sent_back(*parts)[field] == "Let me see."


def test_details_are_joined_told_once_and_given_back_as_they_came() -> None:
    first = {"type": "reasoning.text", "index": 0, "text": "Let ", "format": "a", "signature": None}
    last = {"type": "reasoning.text", "index": 0, "text": "me.", "format": "a", "signature": "s"}
    sealed = {"type": "reasoning.encrypted", "index": 1, "data": "xyz", "id": "call"}
    both = read(
        delta(reasoning="Let ", reasoning_details=[first]),
        delta(reasoning="me.", reasoning_details=[last]),
        delta(content="So."),
        delta(reasoning_details=[sealed], tool_calls=[call(id="a", name="f")]),
    )
    alone = read(delta(reasoning_details=[first]), delta(reasoning_details=[last]))

    assert "".join(part.text for part in both if isinstance(part, ReasoningPart)) == "Let me."
    assert isinstance(alone[0], ReasoningPart)
    assert alone[0].text == "Let me."
    whole = {**first, "text": "Let me.", "signature": "s"}
    assert sent_back(*both)["reasoning_details"] == [whole, sealed]
    assert "reasoning" not in sent_back(*both)


def test_another_vendors_reasoning_stays_out_and_that_of_a_finished_turn_goes_back_where_it_stands() -> None:
    foreign = ReasoningPart("Hm.", '{"signature":"s","type":"thinking"}')
    own = ReasoningPart("Hm.", '{"field":"reasoning"}')
    over = ask(MODEL, user("Go."), assistant(own, "Said."), user("On."))

    assert set(sent_back(foreign, ToolCallPart("a", "f", "{}"))) == {"role", "content", "tool_calls"}
    (reply,) = [one for one in chat_body(over, PROFILE, NO_BLOBS)["messages"] if one["role"] == "assistant"]
    assert reply["reasoning"] == "Hm."


def test_a_server_that_needs_the_reasoning_of_calls_gets_the_field_even_where_there_was_none() -> None:
    made = ToolCallPart("a", "f", "{}")

    assert sent_back(made, needs_reasoning=True)["reasoning_content"] == ""
    thought = ReasoningPart("Hm.", '{"field":"reasoning_content"}')
    assert sent_back(thought, made, needs_reasoning=True)["reasoning_content"] == "Hm."


def test_a_server_that_refuses_reasoning_back_is_asked_without_it() -> None:
    strict = Habits("strict", reasoning_name="reasoning", refuses=frozenset({"stream_options"}))
    made = ToolCallPart("a", "read_file", "{}")
    turn = (
        user("Go."),
        assistant(ReasoningPart("Hm.", '{"field":"reasoning"}'), made),
        tool(ToolResultPart("a", "x")),
    )
    with CompatibleServer(strict) as server:
        server.message_fields = frozenset({"role", "content", "tool_calls", "tool_call_id"})
        result = asked(server, ask(MODEL, *turn))
    with CompatibleServer(OPENROUTER) as other:
        other.replies.append(Said("Yes."))
        taken = asked(other, ask(MODEL, *turn))

    assert (result.error, taken.text) == (None, "Yes.")
    assert "reasoning" not in server.bodies[-1]["messages"][2]
    assert other.bodies[-1]["messages"][2]["reasoning"] == "Hm."


class WantsReasoning(LoopbackServer):
    """Takes no call of the past without its reasoning, in the words of the row."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.asked: list[Any] = []
        self._words = words

    def answer(self, captured: Captured) -> Reply:
        messages = captured.json["messages"]
        self.asked.append(messages)
        if any(one.get("tool_calls") and not one.get("reasoning_content") for one in messages):
            return json_reply(400, {"error": {"message": self._words, "type": "invalid_request_error"}})
        return Reply(200, PLAIN["compatible"].encode(), {"content-type": SSE})


@pytest.mark.parametrize(
    "words",
    [
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "Missing `reasoning_content` field in the assistant message at message index 2.",
    ],
)
def test_a_server_that_wants_reasoning_back_gets_it_with_calls_that_have_none(words: str) -> None:
    """Moonshot and DeepSeek, also behind gateways."""
    thought = ReasoningPart("Hm.", '{"field":"reasoning_content"}')
    turn = (
        user("Go."),
        assistant(thought, ToolCallPart("a", "read_file", "{}")),
        tool(ToolResultPart("a", "x")),
        assistant(ToolCallPart("b", "read_file", "{}")),
        tool(ToolResultPart("b", "y")),
    )
    settings = ServerSettings(id="lab", kind="compatible", base_url="http://127.0.0.1:1/v1")
    with WantsReasoning(words) as server:
        client = CompatibleProvider(replace(settings, base_url=f"{server.url}/v1"), None)
        first, second = run(client, ask(MODEL, *turn)), run(client, ask(MODEL, *turn))

    given = [[one.get("reasoning_content") for one in sent if one.get("tool_calls")] for sent in server.asked]
    assert (first.error, second.error) == (None, None)
    assert given == [["Hm.", None], ["Hm.", " "], ["Hm.", " "]]
    assert "wants back the reasoning that came before tool calls" in first.stopped.remarks[0]


PIECES = {
    "by index, in turns": (
        [call(0, "a", "f", '{"x"'), call(1, "b", "g", "{")],
        [call(0, arguments=":1}"), call(1, arguments="}")],
    ),
    "no index": ([call(None, "a", "f", '{"x"')], [call(None, arguments=":1}")], [call(None, "b", "g", "{}")]),
    "no index and no id": (
        [call(None, name="f", arguments='{"x":1}')],
        [call(None, name="g", arguments="{}")],
    ),
    "all with index 0": ([call(0, "a", "f", '{"x":1}')], [call(0, "b", "g", "{}")]),
    "the name again and empty": (
        [call(0, "a", "f", '{"x"')],
        [call(0, "a", "f", ":1")],
        [call(0, "", "", "}")],
        [call(1, "b", "g", "")],
    ),
    "an object": ([call(0, "a", "f", {"x": 1}), call(1, "b", "g", None)],),
    "an empty one beside": ([call(0, "a", "f", '{"x":1}'), call(1, "b", "g", "{}"), call(2, "", "", "")],),
}


@pytest.mark.parametrize("pieces", PIECES.values(), ids=PIECES.keys())
def test_calls_are_put_together_from_all_the_pieces_that_servers_send(pieces: tuple[list[Any], ...]) -> None:
    calls = [
        part for part in read(*(delta(tool_calls=one) for one in pieces)) if isinstance(part, ToolCallPart)
    ]

    assert [(one.name, one.arguments_json) for one in calls] == [("f", '{"x":1}'), ("g", "{}")]
    assert len({one.call_id for one in calls if one.call_id}) == 2
