"""The context stack as values: its inputs, its twelve layers, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import IntEnum
from typing import Any

import msgspec

from core.kernel.language import tr
from core.kernel.values.curation import ItemFiles, NamedText
from core.kernel.values.messages import AttachmentPart, Message
from core.kernel.values.retrieval import Recalled


class LayerId(IntEnum):
    """The twelve layers in canonical order. 1 to 7 are the stable prefix."""

    ROLE = 1
    TOOL_FORMAT = 2
    TOOLS = 3
    SYSTEM_PRESET = 4
    PERSONA = 5
    PROJECT = 6
    KNOWLEDGE = 7
    METADATA = 8
    FILE_SET = 9
    FILE_DETAILS = 10
    TURNS = 11
    USER = 12

    @property
    def is_stable(self) -> bool:
        """True if the layer is part of the stable prefix."""
        return self <= LayerId.KNOWLEDGE


STABLE_LAYERS = tuple(layer for layer in LayerId if layer.is_stable)

LAYER_TITLES = {
    LayerId.ROLE: tr("Role instructions"),
    LayerId.TOOL_FORMAT: tr("Function-calling schema"),
    LayerId.TOOLS: tr("Tools"),
    LayerId.SYSTEM_PRESET: tr("System prompt"),
    LayerId.PERSONA: tr("Persona"),
    LayerId.PROJECT: tr("Project context"),
    LayerId.KNOWLEDGE: tr("Knowledge"),
    LayerId.METADATA: tr("Discussion metadata"),
    LayerId.FILE_SET: tr("Context preset"),
    LayerId.FILE_DETAILS: tr("File details"),
    LayerId.TURNS: tr("Earlier turns"),
    LayerId.USER: tr("Your message"),
}


class ToolSchema(msgspec.Struct, frozen=True):
    """A tool as every provider is told of it. `parameters_json` is canonical JSON Schema, keys sorted."""

    name: str
    description: str
    parameters_json: str


class DiscussionMetadata(msgspec.Struct, frozen=True):
    """Name, roles and turns of the discussion, for layer 8."""

    name: str = ""
    roles: tuple[str, ...] = ()
    turn_count: int = 0


class StackInputs(msgspec.Struct, frozen=True):
    """Everything that the stack is built from. Same inputs, same bytes.

    Args:
        epoch: salt of an invalidated discussion, 0 until the first invalidation.
        role_text: layer 1; tool_format_text: layer 2; tools: layer 3, any order (the stack sorts them).
        system_text: layer 4; persona: layer 5; project: layer 6 in order; digest: layer 7a or empty (off);
        domain_facts: layer 7b, a line a fact; notes: behind them; metadata: layer 8; preset_name and items: layers 9 and 10; turns: layer 11, only what the
        model's view holds, none deleted; user_text and attachments: layer 12; retrieved: `{rag-context}`.
        withdrawals: how often something was taken out of knowledge; in no layer, what was sent before must go.
        keeps_retrieved: where `retrieved` stands it stays, turn after turn; kept_retrieved: the earlier ones, each
            with the id of its message.
        cut_id: of the cut that the turns begin with, empty for none; in no layer, it tells why they are others.
    """

    provider: str = ""
    model: str = ""
    epoch: int = 0
    role_text: str = ""
    tool_format_text: str = ""
    tools: tuple[ToolSchema, ...] = ()
    system_text: NamedText | None = None
    persona: NamedText | None = None
    project: tuple[NamedText, ...] = ()
    digest: str = ""
    domain_facts: str = ""
    notes: tuple[NamedText, ...] = ()
    metadata: DiscussionMetadata = msgspec.field(default_factory=DiscussionMetadata)
    preset_name: str = ""
    items: tuple[ItemFiles, ...] = ()
    turns: tuple[Message, ...] = ()
    retrieved: str = ""
    user_text: str = ""
    attachments: tuple[AttachmentPart, ...] = ()
    takes_long_system: bool = True
    withdrawals: int = 0
    keeps_retrieved: bool = False
    kept_retrieved: tuple[tuple[str, str], ...] = ()
    cut_id: str = ""


class ToldText(msgspec.Struct, frozen=True):
    """One of the inputs of a stack as a log tells it: canonical JSON, and the hex digest of that."""

    sha256: str
    json: str


class ToldTurn(msgspec.Struct, frozen=True):
    """Beginning of a turn with tools as a log tells it: of its first request all that stands nowhere else in the log.

    Args:
        message_id: the person's message that it answers; texts: inputs of its stack, by their names.
    """

    message_id: str
    texts: Mapping[str, ToldText]


class Segment(msgspec.Struct, frozen=True, gc=False):
    """A run of text of one layer: the unit of hashing, caching and of the wire.

    Args:
        key: stable name inside the stack (`6/AGENTS.md`, `10/src/a.py`, `11/<message id>`).
        sha256: hex digest that names the text: of its UTF-8 bytes, or, for a whole file and for segments put
            together, of the parts' digests, so that no byte is hashed twice.
        tokens: counted by the offline tokenizer, or None where not yet counted.
    """

    layer: LayerId
    key: str
    text: str
    sha256: str
    tokens: int | None = None


class LayerReport(msgspec.Struct, frozen=True, gc=False):
    """Report on one layer for the Context view and the log; no text, cheap to keep and compare.

    Args:
        offset_chars: where the layer starts in the canonical text; length_chars: its length.
        tokens_est: estimated for the model in use; sha256: hex digest of the layer's text.
        segments: key, sha256 and tokens of each segment, in order.
    """

    layer: LayerId
    offset_chars: int
    length_chars: int
    size_bytes: int
    tokens_est: int
    sha256: str
    segments: tuple[SegmentReport, ...] = ()


class SegmentReport(msgspec.Struct, frozen=True, gc=False):
    """A segment without its text."""

    key: str
    sha256: str
    size_bytes: int
    tokens_est: int


def layer_data(layer: LayerReport) -> dict[str, Any]:
    """A layer as the plain data that the CLI prints and the Hook API answers with, without its text."""
    return {
        "layer": int(layer.layer),
        "title": LAYER_TITLES[layer.layer],
        "offset_chars": layer.offset_chars,
        "length_chars": layer.length_chars,
        "size_bytes": layer.size_bytes,
        "tokens_est": layer.tokens_est,
        "sha256": layer.sha256,
        "segments": [
            {"key": s.key, "sha256": s.sha256, "size_bytes": s.size_bytes, "tokens_est": s.tokens_est}
            for s in layer.segments
        ],
    }


class ContextChange(msgspec.Struct, frozen=True):
    """Difference of the stack from the last request that was sent.

    Args:
        layer: the first layer that differs, in wire order, or None where the last request is a prefix of this one.
        byte_offset: first differing byte inside that layer's text, or None where only hashes are known.
        same_tokens_est: tokens before the difference; rewritten_tokens_est: tokens from there on.
            What they cost is a matter of the cache's plan: `core.services.spending.estimates.change_usd`.
        reason: the recorded cause (`digest regenerated`), empty where none is known.
    """

    layer: LayerId | None
    byte_offset: int | None
    same_tokens_est: int
    rewritten_tokens_est: int
    reason: str = ""


class LayerText(msgspec.Struct, frozen=True, gc=False):
    """A layer's text for reading, in the parts that it is put together from: strings are shared, not copied."""

    parts: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text. O(n) in characters: joined when asked for, not kept."""
        return "".join(self.parts)


class ContextReport(msgspec.Struct, frozen=True):
    """The stack of one discussion as the window shows it, assembled off the frame loop.

    Args:
        stable_length_chars: `stable_prefix_length` of the canonical text.
        total_tokens_est: whole request; limit_tokens: the model's context window, None where unknown.
        texts: each layer's text for reading, in canonical order.
        problems: what cannot be sent as asked, in sentences (files that vanished, a preset that is too large).
        cost_usd: of the input, none of it cached; output_usd_per_token: of a reply; None where the price is unknown.
        is_exact: whether the tokens are exact for the model in use, else shown with `≈`.
        read_at: when its files began to be read, UTC; None: not known.
        recalled: passages that go along with the message, and why.
        declared: names of tools that its next request describes, those too that words have turned off.
    """

    layers: tuple[LayerReport, ...]
    texts: tuple[LayerText, ...]
    stable_length_chars: int
    total_tokens_est: int
    limit_tokens: int | None
    cost_usd: float | None
    change: ContextChange | None
    problems: tuple[str, ...] = ()
    is_exact: bool = False
    fits: bool = True
    read_at: datetime | None = None
    output_usd_per_token: float | None = None
    recalled: Recalled = Recalled()
    declared: tuple[str, ...] = ()
