"""Tools, effort, system prompt and persona that change in the middle of a conversation, as an addition to it: what was sent
stays as it was.

A switch stands in a request as a segment behind the person's words. A vendor that refuses one is asked once more in the canonical form.

Gemini has no such additions. Tools that are taken away stay declared there, and words tell the model: the tool configuration
(mode NONE, allowed names) would do it too, but no document says that a prefix outlives a change of it, a stored content holds it
for good and refuses another beside it, and of NONE the model is to notice no declarations. A call that comes all the same is
refused, as anywhere.

Sources: anthropic 2.14.0, types/beta/beta_system_message_param.py, beta_request_tool_addition_block_param.py and its kin;
openai 3.57.0, types/responses/response_configuration_update_item_param.py, response_input_item_param.py `AdditionalTools`;
google-genai 3.6.1, types.py `FunctionCallingConfigMode`, `CreateCachedContentConfig` (read 2026-11).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import canonical_json, read_json
from core.kernel.errors import ProviderError
from core.kernel.patterns import late
from core.kernel.values.messages import Message, ReasoningPart
from core.kernel.values.provider import (
    Effort,
    ProviderKind,
    ProviderRequest,
    RequestMessage,
    RequestPart,
    StreamItem,
    Switching,
)
from core.kernel.values.stack import LayerId, Segment, ToolSchema
from core.kernel.values.state import AppState
from core.services.providers.blocks import SWITCH
from core.services.providers.server_words import is_reasoning_refused, is_reasoning_unknown

_ANTHROPIC = late(r"(?:^|/)claude-(?:opus-(?:4-8|5)|sonnet-5-5|haiku-5-5|(?:fable|mythos)-5)(?!\d)")
"""Models that take system messages in the middle. Source: platform.claude.com "Mid-conversation system messages" (read 2026-11)."""
_GPT = late(r"(?:^|/)gpt-(?:[6-9]|\d\d)(?!\d)")
"""Source: OpenAI "Prompt caching": `configuration_update` from GPT-6 on (read 2026-11)."""

_LEVELS = frozenset({Effort.LOW, Effort.MEDIUM, Effort.HIGH, Effort.XHIGH, Effort.MAX})
_BAD_REQUEST = 400

Stream = Callable[[ProviderRequest], Iterator[StreamItem]]
M = TypeVar("M", Message, RequestMessage)


class InstructionChange(msgspec.Struct, frozen=True):
    """The text of layer 4 or 5 from a place of the conversation on. `text`: empty where the layer has none any more."""

    key: str
    text: str

    @property
    def layer(self) -> LayerId:
        """Layer whose text it is."""
        return LayerId(int(self.key.partition("/")[0]))


class Switch(msgspec.Struct, frozen=True):
    """A change of what a model may use, how hard it thinks and what it goes by, from a place of the conversation on.

    Args:
        effort: empty where it stays; added: with their schemas; removed: by their names; told: what changed of layers 4 and 5.
        restored: by their names, of tools at the head of the request that were removed.
    """

    effort: str = ""
    added: tuple[ToolSchema, ...] = ()
    removed: tuple[str, ...] = ()
    told: tuple[InstructionChange, ...] = ()
    restored: tuple[str, ...] = ()


_SYSTEM = (LayerId.ROLE, LayerId.SYSTEM_PRESET, LayerId.PERSONA, LayerId.PROJECT, LayerId.KNOWLEDGE)
_NAMES = {LayerId.SYSTEM_PRESET: "system prompt", LayerId.PERSONA: "persona"}


def told_text(switch: Switch) -> str:
    """Words of a switch on layers 4 and 5, for the model; empty where it tells nothing of them."""
    return "\n".join(map(_told, switch.told))


def _told(one: InstructionChange) -> str:
    name = _NAMES[one.layer]
    if not one.text:
        return f"From here on, the {name} that was given before no longer applies.\n"
    return f"From here on, this {name} takes the place of the one that was given before, if there was one.\n{one.text}"


def tool_words(switch: Switch) -> str:
    """Words of a switch on tools that stay declared, for the model; empty where it tells nothing of them."""
    gone = f"From here on, do not call these tools; they are turned off: {', '.join(switch.removed)}.\n"
    back = f"From here on, you may call these tools again: {', '.join(switch.restored)}.\n"
    return (gone if switch.removed else "") + (back if switch.restored else "")


def switching_of(kind: ProviderKind, model: str) -> Switching:
    """Additions that a model takes, by its vendor's documents."""
    match kind:
        case ProviderKind.ANTHROPIC:
            takes = _ANTHROPIC.search(model) is not None
        case ProviderKind.OPENAI:
            takes = _GPT.search(model) is not None
        case ProviderKind.GEMINI:
            return Switching.DECLARED
        case _:
            takes = False
    return Switching.ALL if takes else Switching.NONE


def takes_effort(before: Effort, after: Effort) -> bool:
    """True if a change between two efforts can be said in a conversation: both think, and the new one has a name."""
    return after in _LEVELS and before is not Effort.NONE


def switch_text(switch: Switch) -> str:
    """A switch as canonical JSON: what stands on the wire and in the log."""
    data: dict[str, object] = {"effort": switch.effort} if switch.effort else {}
    if switch.added:
        data["added"] = [
            {"name": one.name, "description": one.description, "parameters": read_json(one.parameters_json)}
            for one in switch.added
        ]
    if switch.removed:
        data["removed"] = list(switch.removed)
    if switch.restored:
        data["restored"] = list(switch.restored)
    if switch.told:
        data["told"] = [{"key": one.key, "text": one.text} for one in switch.told]
    return canonical_json(data)


def read_switch(part: RequestPart) -> Switch | None:
    """The switch that a part is, None for any other."""
    if not isinstance(part, Segment) or not part.key.endswith(SWITCH):
        return None
    data = read_json(part.text)
    return Switch(
        effort=data.get("effort", ""),
        added=tuple(
            ToolSchema(
                name=one["name"],
                description=one["description"],
                parameters_json=canonical_json(one["parameters"]),
            )
            for one in data.get("added", ())
        ),
        removed=tuple(data.get("removed", ())),
        restored=tuple(data.get("restored", ())),
        told=tuple(InstructionChange(key=one["key"], text=one["text"]) for one in data.get("told", ())),
    )


def switches_in(request: ProviderRequest) -> tuple[Switch, ...]:
    """Switches of a request, in order; O(parts)."""
    parts = (part for message in request.messages for part in message.parts if isinstance(part, Segment))
    return tuple(one for one in map(read_switch, parts) if one is not None)


def tools_in_force(request: ProviderRequest) -> tuple[ToolSchema, ...]:
    """Tools that a request's model may call, sorted by name."""
    return _folded(request.tools, switches_in(request))


def _folded(tools: tuple[ToolSchema, ...], switches: tuple[Switch, ...]) -> tuple[ToolSchema, ...]:
    if not switches:
        return tools
    known = head = {tool.name: tool for tool in tools}
    for one in switches:
        known = {name: tool for name, tool in known.items() if name not in one.removed}
        known |= {name: head[name] for name in one.restored if name in head}
        known |= {tool.name: tool for tool in one.added}
    return tuple(sorted(known.values(), key=lambda tool: tool.name))


def declared_tools(request: ProviderRequest) -> tuple[ToolSchema, ...]:
    """All tools that a request describes, those included that were taken away again, by name."""
    known = {tool.name: tool for tool in request.tools}
    for one in switches_in(request):
        known |= {tool.name: tool for tool in one.added}
    return tuple(sorted(known.values(), key=lambda tool: tool.name))


def without_switches(request: ProviderRequest) -> ProviderRequest:
    """The same request in the canonical form, all as it is now; the same object where it has no switch."""
    switches = switches_in(request)
    if not switches:
        return request
    effort = next((one.effort for one in reversed(switches) if one.effort), "")
    messages = (
        replace(message, parts=tuple(part for part in message.parts if read_switch(part) is None))
        for message in request.messages
    )
    return replace(
        request,
        system=_instructed(request.system, switches),
        tools=_folded(request.tools, switches),
        effort=Effort(effort) if effort else request.effort,
        messages=tuple(message for message in messages if message.parts),
    )


def _instructed(system: tuple[Segment, ...], switches: tuple[Switch, ...]) -> tuple[Segment, ...]:
    """System blocks with layers 4 and 5 as they are now, in their place."""
    told = {one.layer: one for switch in switches for one in switch.told}
    if not told:
        return system
    rest = [one for one in system if one.layer not in told]
    new = [
        Segment(layer=layer, key=one.key, text=one.text, sha256=hashlib.sha256(one.text.encode()).hexdigest())
        for layer, one in told.items()
        if one.text
    ]
    return tuple(sorted([*rest, *new], key=lambda one: _SYSTEM.index(one.layer)))


def without_reasoning(request: ProviderRequest) -> ProviderRequest:
    """The request without any reasoning; the same object where it has none. A message of nothing else goes with it."""
    if not any(map(_thinks, request.messages)):
        return request
    bare = map(_bare, request.messages)
    return replace(request, messages=tuple(message for message in bare if message.parts))


def is_switch_refused(error: ProviderError) -> bool:
    """True if a vendor may have refused a request for a switch in it: whether it did, the other form tells, which costs nothing.

    What it says of reasoning is not about a switch, and reasoning is bound to what the other form would change.
    """
    return error.status == _BAD_REQUEST and not is_reasoning_refused(error)


def stream_switched(
    request: ProviderRequest, stream: Stream, on_refusal: Callable[[ProviderError], None]
) -> Iterator[StreamItem]:
    """Stream a request; where its model refuses a switch in it, once more in the canonical form. As `stream_or_else`."""
    return stream_or_else(request, without_switches(request), stream, is_switch_refused, on_refusal)


def stream_or_else(
    request: ProviderRequest,
    other: ProviderRequest,
    stream: Stream,
    is_refused: Callable[[ProviderError], bool],
    on_refusal: Callable[[ProviderError], None],
) -> Iterator[StreamItem]:
    """Stream a request; where it is refused before its answer begins, its other form in its place.

    Args:
        other: the same object where there is no other form; stream: sends a request; is_refused: tells a refusal of what the
            other form leaves out; on_refusal: told of one when the answer to the other form begins: else something else was
            wrong.

    Raises:
        ProviderError: of the last attempt.
    """
    has_begun = False
    try:
        for item in stream(request):
            has_begun = True
            yield item
    except ProviderError as error:
        if other is request or has_begun or not is_refused(error):
            raise
        refusal = error
    else:
        return
    is_told = False
    for item in stream(other):
        if not is_told:
            on_refusal(refusal)
            is_told = True
        yield item


# What models have refused: fields, additions in a conversation, earlier thinking, by server and model or by
# discussion. Pure.


REASONING, SWITCHES = "earlier reasoning", "switches"
"""Stand among refused fields for what a model gets back of its own, and for additions in the middle of a conversation."""

Refusals = Mapping[str, frozenset[str]]
"""Refused things by `refusal_mark`. Of a discussion: messages up to which its thinking was refused, by id."""


def server_address(provider: str, base_url: str) -> str:
    """Name of a server that tells two under one address apart."""
    return f"{provider} {base_url}"


def refusal_mark(address: str, model: str, discussion_id: str = "") -> str:
    """Short digest of a server's model, or of one discussion with it: the file tells neither."""
    parts = (address, model, discussion_id) if discussion_id else (address, model)
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def with_refused(known: Refusals, mark: str, names: Iterable[str]) -> Refusals:
    """Refusals with more of them."""
    return {**known, mark: known.get(mark, frozenset()).union(names)}


def mark_in(state: AppState, provider: str, model: str, discussion_id: str = "") -> str:
    """Mark of a provider's model, or of a discussion with it."""
    status = state.config.providers.get(provider)
    address = server_address(provider, "" if status is None else status.base_url)
    return refusal_mark(address, model, discussion_id)


def refused_in(state: AppState, provider: str, model: str, discussion_id: str = "") -> frozenset[str]:
    """Things known to be refused, in this run or an earlier one."""
    known = state.caching.refusals
    return known.get(mark_in(state, provider, model, discussion_id), _NONE) if known else _NONE


_NONE: frozenset[str] = frozenset()
"""One object: what is made of refusals is kept for as long as they are the same one."""


def refuses_all(error: ProviderError, *, is_again: bool, has_taken: bool) -> bool:
    """True if a refusal of thinking is one of all thinking, not of the blocks that came back.

    A vendor refuses single blocks for their signature, their age, their model or what stands before them. A server that takes
    none at all says so, or refuses new ones of the same discussion at once, though all that was refused before is left out.

    Args:
        is_again: thinking of the discussion was refused before in this run, or twice in earlier ones; has_taken: the model took
            some in this run since it last refused any.
    """
    return is_reasoning_unknown(error) or (is_again and not has_taken)


def last_thought(turns: Sequence[Message]) -> str:
    """Id of the last message with thinking, empty where there is none."""
    return next((one.id for one in reversed(turns) if _thinks(one)), "")


def without_thoughts(turns: tuple[Message, ...], through: frozenset[str]) -> tuple[Message, ...]:
    """Turns without the thinking up to the last of these messages. The same object where none is among them."""
    last = next((n for n in range(len(turns) - 1, -1, -1) if turns[n].id in through), -1)
    if last < 0:
        return turns
    return (*map(_bare, turns[: last + 1]), *turns[last + 1 :])


def _thinks(message: Message | RequestMessage) -> bool:
    return any(isinstance(part, ReasoningPart) for part in message.parts)


def _bare(message: M) -> M:
    """A message without thinking; the same object where it has none."""
    if not _thinks(message):
        return message
    return replace(message, parts=tuple(one for one in message.parts if not isinstance(one, ReasoningPart)))
