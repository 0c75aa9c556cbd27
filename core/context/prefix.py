"""Layers 1 to 7, the stable prefix, and layer 8: rendered from settings, project and knowledge."""

from __future__ import annotations

import json
from collections.abc import Iterable

from msgspec.structs import replace

from core.base.frame import frame
from core.base.json_text import read_json
from core.context.pieces import Layer, Piece, digest, make_layer, text_piece, unique_key
from core.values.curation import NamedText
from core.values.stack import DiscussionMetadata, LayerId, ToolSchema

DIGEST_KEY, FACTS_KEY = "digest", "facts"
"""Keys of layer 7's own pieces; a note on a file of that name has another."""


def role_layer(epoch: int, role_text: str) -> Layer:
    """Layer 1: the salt of an invalidated discussion, then the role instructions."""
    salt = f"cache epoch {epoch}\n" if epoch > 0 else ""
    return _plain(LayerId.ROLE, salt + _ended(role_text))


def tool_format_layer(tool_format_text: str) -> Layer:
    """Layer 2. On the wire it is the form of the vendor's tool parameter, so no segment of its own."""
    text = _ended(tool_format_text)
    pieces = [Piece("2", (text,), digest(text))] if text else []
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


def canonical_json(value: object) -> str:
    """JSON as a model, a cache and a log see it: sorted keys, no spaces, no escapes of letters."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _tool_piece(tool: ToolSchema) -> Piece:
    parameters = read_json(tool.parameters_json)
    value = {"description": tool.description, "name": tool.name, "parameters": parameters}
    text = canonical_json(value) + "\n"
    return Piece(f"3/{tool.name}", (text,), digest(text))


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
