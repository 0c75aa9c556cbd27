"""The context stack: everything that a model sees, built from one immutable input, stable to volatile."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Protocol

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import canonical_json, read_json
from core.kernel.frame import frame
from core.kernel.values.curation import NamedText
from core.kernel.values.provider import Effort, ModelProfile, ProviderRequest
from core.kernel.values.stack import (
    DiscussionMetadata,
    LayerId,
    LayerReport,
    Segment,
    StackInputs,
    ToolSchema,
)
from core.kernel.values.window import ContextView
from core.talk.context.file_layers import file_details_layer, file_set_layer
from core.talk.context.history_turns import answers_tools, turns_layer, user_layer, wire_pieces
from core.talk.context.pieces import Layer, Piece, StackMemo, digest, make_layer, text_piece, unique_key
from core.talk.context.report import GrownReport, layer_report
from core.talk.context.wire import (
    MadeMessages,
    canonical_view,
    head_tools,
    shown_layers,
    system_segments,
    wire_layers,
    wire_messages,
)

# Layers 1 to 7, the stable prefix, and layer 8: rendered from settings, project and knowledge.

DIGEST_KEY, FACTS_KEY = "digest", "facts"
"""Keys of layer 7's own pieces; a note on a file of that name has another."""


def role_layer(epoch: int, role_text: str) -> Layer:
    """Layer 1: the salt of an invalidated discussion, then the role instructions."""
    salt = f"cache epoch {epoch}\n" if epoch > 0 else ""
    return _plain(LayerId.ROLE, salt + _ended(role_text))


def tool_format_layer(tool_format_text: str) -> Layer:
    """Layer 2. On the wire it is the form of the vendor's tool parameter, so no segment of its own."""
    text = _ended(tool_format_text)
    pieces = [Piece(key="2", parts=(text,), sha256=digest(text))] if text else []
    return make_layer(LayerId.TOOL_FORMAT, pieces)


def canonical_tools(tools: Iterable[ToolSchema]) -> tuple[ToolSchema, ...]:
    """Tools sorted by name, their parameters as canonical JSON whatever the order they came in.

    Raises:
        ValueError: parameters that are no JSON.
    """
    return tuple(
        replace(tool, parameters_json=canonical_json(read_json(tool.parameters_json or "{}")))
        for tool in sorted(tools, key=lambda tool: tool.name)
    )


def tools_layer(tools: tuple[ToolSchema, ...]) -> Layer:
    """Layer 3: one line of canonical JSON for each tool. `tools` as `canonical_tools` gives them."""
    return make_layer(LayerId.TOOLS, [_tool_piece(tool) for tool in tools])


def system_preset_layer(system_text: NamedText | None) -> Layer:
    """Layer 4: the text of the system prompt preset as the person wrote it."""
    return _plain(LayerId.SYSTEM_PRESET, _ended(system_text.text) if system_text else "")


def persona_layer(persona: NamedText | None) -> Layer:
    """Layer 5: the active persona."""
    return make_layer(LayerId.PERSONA, _named(LayerId.PERSONA, "persona", (persona,) if persona else ()))


def project_layer(project: tuple[NamedText, ...]) -> Layer:
    """Layer 6: project context, identity and memory files. Names only: a path may be a temporary one."""
    return make_layer(LayerId.PROJECT, _named(LayerId.PROJECT, "document", project))


def knowledge_layer(knowledge_digest: str, domain_facts: str, notes: tuple[NamedText, ...]) -> Layer:
    """Layer 7: the digest (7a), then facts and notes of files in scope (7b)."""
    pieces = []
    if knowledge_digest.strip():
        text = f"{{knowledge}}\n{knowledge_digest}\n{{/knowledge}}\n"
        pieces.append(text_piece(LayerId.KNOWLEDGE, DIGEST_KEY, text))
    if domain_facts.strip():
        pieces.append(text_piece(LayerId.KNOWLEDGE, FACTS_KEY, frame("facts", domain_facts)))
    taken = {DIGEST_KEY, FACTS_KEY}
    return make_layer(LayerId.KNOWLEDGE, [*pieces, *_named(LayerId.KNOWLEDGE, "note", notes, taken)])


def metadata_layer(metadata: DiscussionMetadata) -> Layer:
    """Layer 8: name, roles and number of turns of the discussion."""
    rows = [
        f"name: {json.dumps(metadata.name, ensure_ascii=False)}\n" if metadata.name else "",
        f"roles: {', '.join(metadata.roles)}\n" if metadata.roles else "",
        f"turns: {metadata.turn_count}\n" if metadata.turn_count else "",
    ]
    body = "".join(rows)
    return _plain(LayerId.METADATA, frame("discussion", body) if body else "")


def _tool_piece(tool: ToolSchema) -> Piece:
    parameters = read_json(tool.parameters_json)
    value = {"description": tool.description, "name": tool.name, "parameters": parameters}
    text = canonical_json(value) + "\n"
    return Piece(key=f"3/{tool.name}", parts=(text,), sha256=digest(text))


def _named(
    layer: LayerId, tag: str, texts: Iterable[NamedText], taken: set[str] | None = None
) -> list[Piece]:
    """A piece each. `taken`: keys that no text may have."""
    taken = set() if taken is None else taken
    return [
        text_piece(layer, unique_key(text.name, taken), frame(tag, text.text, name=text.name))
        for text in texts
        if text.text.strip()
    ]


def _plain(layer: LayerId, text: str) -> Layer:
    return make_layer(layer, [text_piece(layer, "", text)] if text else [])


def _ended(text: str) -> str:
    """The text with one line end at its end, nothing where it is blank."""
    if not text.strip():
        return ""
    return text if text.endswith("\n") else text + "\n"


_NONE_COUNTED: Mapping[str, int] = {}


class StackSource(Protocol):
    """Anything that offers the snapshot that the stack is built from: the controller, or a test's value."""

    def stack_inputs(self, user_message: str) -> StackInputs:
        """The inputs for the discussion at hand, with `user_message` as layer 12."""
        ...


class AggregateStack(msgspec.Struct, frozen=True):
    """The twelve layers in canonical order, and what a request needs beside their texts.

    Args:
        layers: all twelve, empty ones included, `layers[n - 1]` is layer n.
        offsets: where each layer starts in the canonical text, in characters.
        tools: sorted by name, parameters as canonical JSON.
        withdrawals: how often something was taken out of knowledge; cut_id: of the cut that the turns begin with; both in
            no layer.
    """

    provider: str
    model: str
    layers: tuple[Layer, ...]
    offsets: tuple[int, ...]
    tools: tuple[ToolSchema, ...] = ()
    takes_long_system: bool = True
    withdrawals: int = 0
    cut_id: str = ""

    @property
    def text(self) -> str:
        """The canonical text, in layer order. O(n) in characters: joined when asked for, not kept."""
        return "".join([part for layer in self.layers for part in layer.parts])

    @property
    def stable_prefix_length(self) -> int:
        """Start of layer 8 in the canonical text, in characters. 0: there is nothing to cache."""
        return self.offsets[LayerId.METADATA - 1]

    @property
    def shared_prefix_length(self) -> int:
        """End of layer 7a: what discussions of one mode have in common, in characters."""
        knowledge = self.layers[LayerId.KNOWLEDGE - 1]
        shared = sum(piece.length_chars for piece in knowledge.pieces if piece.key == "7/digest")
        return self.offsets[LayerId.KNOWLEDGE - 1] + shared

    @property
    def segments(self) -> tuple[Segment, ...]:
        """Every text that goes over the wire, in wire order, file by file: what tokens are counted of."""
        layers = (self.layers[layer - 1] for layer in self.wire_layers)
        return tuple(s for layer in layers for s in in_wire_order(layer).segments)

    @property
    def wire_layers(self) -> tuple[LayerId, ...]:
        """All layers in the order of the wire."""
        return wire_layers(takes_long_system=self.takes_long_system)

    @property
    def wire_order(self) -> tuple[str, ...]:
        """Keys as they go out, for the log: tools and system blocks each, files and turns by their layer."""
        return tuple(key for layer in self.wire_layers for key in self._keys(layer))

    def layer(self, layer: LayerId) -> Layer:
        """One of the twelve layers."""
        return self.layers[layer - 1]

    @property
    def canonical_view(self) -> ContextView:
        """Layers 6, 7, 9 and 10 as they are, nothing appended."""
        return canonical_view(self.layers, self.withdrawals)

    def shown(self, view: ContextView, message_id: str = "") -> AggregateStack:
        """The stack as a request through a view carries it: what the next one is held against.

        Args:
            message_id: of the user's message that layer 12 renders, for the view's delta of it.
        """
        layers = shown_layers(self.layers, view, message_id)
        return replace(self, layers=layers, offsets=_offsets(layers))

    def request(
        self,
        effort: Effort = Effort.AUTO,
        max_output_tokens: int | None = None,
        discussion_id: str = "",
        *,
        view: ContextView | None = None,
        message_id: str = "",
        made: MadeMessages | None = None,
    ) -> ProviderRequest:
        """The stack as structure in wire order: tools, system, messages with the volatile tail.

        Args:
            effort: how hard the model is asked to think; max_output_tokens: None for the model's own limit.
            discussion_id: for caches and slots that are kept for each discussion.
            view: how layers 6, 7, 9 and 10 are shown, None for the canonical one.
            message_id: of the user's message that layer 12 renders, for the view's delta of it.
            made: messages of the discussion's last request through such a view.
        """
        view = self.canonical_view if view is None else view
        return ProviderRequest(
            provider=self.provider,
            model=self.model,
            system=system_segments(self.layers, view, takes_long_system=self.takes_long_system),
            messages=wire_messages(
                self.layers, view, message_id, made, takes_long_system=self.takes_long_system
            ),
            tools=head_tools(view, self.tools, self.layers),
            effort=effort if view.base.effort is None else Effort(view.base.effort),
            max_output_tokens=max_output_tokens,
            discussion_id=discussion_id,
        )

    def report(
        self,
        counted: Mapping[str, int] = _NONE_COUNTED,
        factor: float = 1.0,
        profile: ModelProfile | None = None,
        turns: GrownReport | None = None,
    ) -> tuple[LayerReport, ...]:
        """Report on each layer for the Context view and the log, in canonical order. No text is copied.

        Args:
            counted: o200k tokens by sha256 of a segment; what is missing is estimated from its size.
            factor: the model's tokens over o200k's for the same text; profile: of the model, by which files are counted.
            turns: remembers the discussion's layer 11; it only saves time.
        """
        return tuple(
            [
                turns.report(layer, offset, counted, factor, profile)
                if turns is not None and layer.id is LayerId.TURNS
                else layer_report(layer, offset, counted, factor, profile)
                for layer, offset in zip(self.layers, self.offsets, strict=True)
            ]
        )

    def _keys(self, layer: LayerId) -> tuple[str, ...]:
        found = self.layers[layer - 1]
        if layer in (LayerId.FILE_SET, LayerId.FILE_DETAILS, LayerId.TURNS):
            return (str(int(layer)),) if found.pieces else ()
        return tuple(piece.key for piece in in_wire_order(found).pieces)


def in_wire_order(layer: Layer) -> Layer:
    """The layer with its pieces as they go out; its digest stays that of the canonical order."""
    if layer.id is not LayerId.USER:
        return layer
    return replace(layer, pieces=tuple(wire_pieces(layer.pieces)))


def build_stack(inputs: StackInputs, memo: StackMemo | None = None) -> AggregateStack:
    """Build the stack. Same inputs, same bytes, with or without a memo.

    Args:
        inputs: everything that a model is to see, immutable.
        memo: what the last assembly of this discussion rendered; updated in place.

    Raises:
        ValueError: a tool's parameters are no JSON.
    """
    memo = memo or StackMemo()
    layers = (*_stable_layers(inputs, memo), *_volatile_layers(inputs, memo))
    return AggregateStack(
        provider=inputs.provider,
        model=inputs.model,
        layers=layers,
        offsets=_offsets(layers),
        tools=canonical_tools(inputs.tools),
        takes_long_system=inputs.takes_long_system,
        withdrawals=inputs.withdrawals,
        cut_id=inputs.cut_id,
    )


def build_initial_context(ctrl: StackSource, user_message: str) -> str:
    """The whole stack as canonical text, in layer order.

    Args:
        ctrl: offers the snapshot; user_message: layer 12.
    """
    return build_stack(ctrl.stack_inputs(user_message)).text


def stable_prefix_length(ctrl: StackSource) -> int:
    """Start of layer 8 in the text of `build_initial_context`, in characters. 0: nothing is cached.

    It is read off the same render, and does not depend on the user's message.
    """
    return build_stack(ctrl.stack_inputs("")).stable_prefix_length


def _offsets(layers: tuple[Layer, ...]) -> tuple[int, ...]:
    return tuple(accumulate((layer.length_chars for layer in layers), initial=0))[:-1]


def _stable_layers(inputs: StackInputs, memo: StackMemo) -> tuple[Layer, ...]:
    role = (inputs.epoch, inputs.role_text)
    knowledge = (inputs.digest, inputs.domain_facts, inputs.notes)
    form, preset = inputs.tool_format_text, inputs.system_text
    return (
        memo.layer(LayerId.ROLE, role, lambda: role_layer(*role)),
        memo.layer(LayerId.TOOL_FORMAT, form, lambda: tool_format_layer(form)),
        memo.layer(LayerId.TOOLS, inputs.tools, lambda: tools_layer(canonical_tools(inputs.tools))),
        memo.layer(LayerId.SYSTEM_PRESET, preset, lambda: system_preset_layer(preset)),
        memo.layer(LayerId.PERSONA, inputs.persona, lambda: persona_layer(inputs.persona)),
        memo.layer(LayerId.PROJECT, inputs.project, lambda: project_layer(inputs.project)),
        memo.layer(LayerId.KNOWLEDGE, knowledge, lambda: knowledge_layer(*knowledge)),
    )


def _volatile_layers(inputs: StackInputs, memo: StackMemo) -> tuple[Layer, ...]:
    has_user_text = bool(inputs.user_text.strip() or inputs.attachments)
    file_set = (inputs.preset_name, inputs.items)
    kept = dict(inputs.kept_retrieved)
    is_running = not has_user_text and answers_tools(inputs.turns)
    retrieved, behind = ("", inputs.retrieved) if is_running else (inputs.retrieved, "")
    metadata = memo.layer(LayerId.METADATA, inputs.metadata, lambda: metadata_layer(inputs.metadata))
    maker = (inputs.provider, inputs.model)
    turns = (inputs.turns, has_user_text, inputs.kept_retrieved, behind, maker)
    user = (retrieved, inputs.user_text, inputs.attachments, inputs.keeps_retrieved)
    return (
        metadata,
        memo.layer(LayerId.FILE_SET, file_set, lambda: file_set_layer(*file_set)),
        memo.layer(LayerId.FILE_DETAILS, inputs.items, lambda: file_details_layer(inputs.items, memo)),
        memo.layer(
            LayerId.TURNS,
            turns,
            lambda: turns_layer(
                inputs.turns,
                has_user_text=has_user_text,
                memo=memo,
                kept=kept,
                retrieved=behind,
                maker=maker,
            ),
        ),
        memo.layer(LayerId.USER, user, lambda: user_layer(*user[:3], keeps_retrieved=inputs.keeps_retrieved)),
    )
