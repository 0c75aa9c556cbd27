"""Reader of a Responses stream: OpenAI's own, and those of servers that leave out deltas, ends of items, or all but the end."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from core.kernel.values.messages import ToolCallPart
from core.kernel.values.provider import ReasoningDelta, StreamItem, TextDelta, ToolCallReady
from core.services.providers.call_dress import plain_arguments, plain_name
from core.services.providers.wire import canonical_json


class ResponseReader:
    """Reads events. What stands in several of them is told once: text by its deltas, a call when it is whole.

    Args:
        tools: names that were offered.

    Attributes:
        has_begun: whether any event came; has_calls, has_refused: of what was read.
    """

    def __init__(self, tools: Collection[str] = ()) -> None:
        self.has_begun = self.has_calls = self.has_refused = False
        self._tools = tools
        self._has_text = self._has_part = False
        self._open: dict[object, Any] = {}
        """Calls that were begun, by their place, with the arguments so far."""
        self._arguments: dict[object, str] = {}
        self._called: set[str] = set()

    def read(self, event: Any) -> Iterator[StreamItem]:
        """Items of an event; the end itself is the caller's."""
        self.has_begun = True
        match event.type:
            case "response.output_text.delta" | "response.refusal.delta":
                self.has_refused |= event.type == "response.refusal.delta"
                yield from self._text(event.delta)
            case "response.output_text.done" | "response.refusal.done":
                text = getattr(event, "text", None) or getattr(event, "refusal", None)
                if not self._has_part and isinstance(text, str) and text:
                    self.has_refused |= event.type == "response.refusal.done"
                    yield from self._text(text)
                self._has_part = False
            case "response.output_item.added":
                if event.item.type == "message" and self._has_text:
                    yield TextDelta("\n\n")
                elif event.item.type == "function_call":
                    self._open[_place(event)] = event.item
            case "response.function_call_arguments.delta":
                self._arguments[_place(event)] = self._arguments.get(_place(event), "") + event.delta
            case "response.function_call_arguments.done":
                self._arguments[_place(event)] = event.arguments
            case "response.output_item.done":
                yield from self._item(event.item, _place(event))
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                yield ReasoningDelta(event.delta)
            case "response.reasoning_summary_part.added" if event.summary_index > 0:
                yield ReasoningDelta("\n\n")
            case _:
                pass

    def end(self, response: Any = None) -> Iterator[StreamItem]:
        """Items that only the whole response holds, and calls whose end never came."""
        for place, item in tuple(self._open.items()):
            yield from self._item(item, place)
        output = getattr(response, "output", None)
        for item in output if isinstance(output, list) else ():
            kind = getattr(item, "type", "")
            if kind == "function_call":
                yield from self._item(item, None)
            elif kind == "message" and not self._has_text and not self.has_calls:
                for part in item.content or ():
                    self.has_refused |= getattr(part, "type", "") == "refusal"
                    text = getattr(part, "text", None) or getattr(part, "refusal", None)
                    if isinstance(text, str) and text:
                        yield TextDelta(text)

    def _text(self, text: str) -> Iterator[StreamItem]:
        self._has_text = self._has_part = True
        yield TextDelta(text)

    def _item(self, item: Any, place: object) -> Iterator[StreamItem]:
        """An item that is whole."""
        if item.type == "reasoning" and getattr(item, "encrypted_content", None):
            block = item.model_dump(mode="json", warnings=False, exclude_none=True, exclude={"status"})
            yield ReasoningDelta("", canonical_json(block))
        if item.type != "function_call":
            return
        self._open.pop(place, None)
        collected = self._arguments.pop(place, "")
        if item.call_id in self._called:
            return
        self._called.add(item.call_id)
        self.has_calls = True
        name = plain_name(item.name, self._tools)
        arguments = plain_arguments(item.arguments or collected, name)
        yield ToolCallReady(ToolCallPart(call_id=item.call_id, name=name, arguments_json=arguments))


def _place(event: Any) -> object:
    """The place of an item: its index, its id where servers count none."""
    index = getattr(event, "output_index", None)
    item = getattr(event, "item", None)
    return index if index is not None else getattr(event, "item_id", None) or getattr(item, "id", None)
