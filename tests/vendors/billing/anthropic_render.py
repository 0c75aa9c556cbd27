"""How Anthropic renders a request: tools, system, messages as one run of blocks, marks left out.

Source: "Prompt caching", "What invalidates the cache" (read 2026-11). Settings enter the run where the level
begins that they invalidate: speed and web search at system; tool choice, images, thinking and effort at
messages.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.vendors.billing.anthropic_checks import blocks_of
from tests.vendors.billing.anthropic_models import AnthropicModel
from tests.vendors.billing.tokens import Prefixes, Texts, as_json, fields, sealed_tokens
from tests.vendors.billing.values import Json

IMAGE_TOKENS = 1_500  # guess: about what an image of a megapixel takes
DOCUMENT_TOKENS = 3_000  # guess, for a document that is not text
_RUNS = {"tool_use", "tool_result"}


@dataclass(slots=True)
class Rendered:
    """A request as a run of blocks, one entry a block; blocks that are not shown (stripped) have none.

    Args:
        prefixes: the number of the prefix that ends with the block; ends: its tokens.
        positions: the block's place for lookback, where a run of tool uses, or of tool results, is one.
        sources: the number of the block in the request, as `marks_of` counts.
        setting: number of the prefix at the start of messages, their settings included.
    """

    prefixes: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    setting: int = 0

    @property
    def total(self) -> int:
        """Tokens of everything."""
        return self.ends[-1] if self.ends else 0


def render(
    body: Json,
    model: AnthropicModel,
    workspace: str,
    texts: Texts,
    prefixes: Prefixes,
    dropped: frozenset[int] = frozenset(),
) -> Rendered:
    """Render a request.

    Args:
        workspace: caches are apart by it and by the model.
        dropped: blocks that are not shown, numbered as in `Rendered.sources`.
    """
    run = _Run(texts, prefixes)
    run.set("scope", f"{workspace}\0{body['model']}\0{_early(body, model)}")
    for tool in body.get("tools") or ():
        run.add("tool", *texts.block("tool", fields(tool, "cache_control")))
    run.set("system settings", _system_settings(body))
    for block in blocks_of(body.get("system")):
        run.add("text", *texts.block("system", block["text"]))
    run.set("message settings", _message_settings(body, model))
    run.out.setting = run.prefix
    _add_messages(run, body["messages"], model, dropped)
    return run.out


def binding(body: Json, messages: int, texts: Texts, prefixes: Prefixes) -> int:
    """The number of what thinking is bound to: tools, system and the first so many messages, settings aside."""
    prefix = prefixes.extend(Prefixes.ROOT, texts.setting("binding", ""))
    for tool in body.get("tools") or ():
        prefix = prefixes.extend(prefix, texts.block("tool", fields(tool, "cache_control"))[0])
    for block in blocks_of(body.get("system")):
        prefix = prefixes.extend(prefix, texts.block("system", block["text"])[0])
    for message in body["messages"][:messages]:
        for block in blocks_of(message["content"]):
            prefix = prefixes.extend(prefix, _block(message["role"], block, texts)[0])
    return prefix


class _Run:
    def __init__(self, texts: Texts, prefixes: Prefixes) -> None:
        self.out = Rendered()
        self.texts = texts
        self.prefixes = prefixes
        self.prefix = Prefixes.ROOT
        self.tokens = 0
        self.position = 0
        self.source = 0
        self.kind = ""

    def set(self, kind: str, text: str) -> None:
        self.prefix = self.prefixes.extend(self.prefix, self.texts.setting(kind, text))

    def add(self, kind: str, number: int, tokens: int) -> None:
        out = self.out
        self.prefix = self.prefixes.extend(self.prefix, number)
        self.tokens += tokens
        if kind != self.kind or kind not in _RUNS:
            self.position += 1
            self.kind = kind
        out.prefixes.append(self.prefix)
        out.ends.append(self.tokens)
        out.positions.append(self.position)
        out.sources.append(self.source)
        self.source += 1

    def skip(self) -> None:
        self.source += 1


def _add_messages(run: _Run, messages: list[Json], model: AnthropicModel, dropped: frozenset[int]) -> None:
    last_words = _last_words(messages) if model.strips_thinking else 0
    last_user = max((n for n, m in enumerate(messages) if m["role"] == "user"), default=-1)
    for number, message in enumerate(messages):
        role = message["role"]
        is_cleared = number < last_user and message.get("clear_at") == "next_user_message"
        if message.get("output_config"):
            run.set("effort from here", as_json(message["output_config"]))
        for block in blocks_of(message["content"]):
            kind = str(block.get("type"))
            is_stripped = number < last_words and kind in {"thinking", "redacted_thinking"}
            if is_stripped or run.source in dropped:
                run.skip()
                continue
            block_number, tokens = _block(role, block, run.texts)
            run.add(kind, block_number, 0 if is_cleared else tokens)


def _last_words(messages: list[Json]) -> int:
    """The last user message that is more than tool results: it begins a new loop of the assistant."""
    for number in reversed(range(len(messages))):
        message = messages[number]
        if message["role"] == "user" and any(
            b.get("type") != "tool_result" for b in blocks_of(message["content"])
        ):
            return number
    return 0


def _block(role: str, block: Json, texts: Texts) -> tuple[int, int]:
    match block:
        case {"type": "text", "text": str(text)} if not block.get("citations"):
            return texts.block(role, text)
        case {"type": "tool_result", "tool_use_id": name, "content": str(text)}:
            return texts.block(f"result {name} {bool(block.get('is_error'))}", text)
        case {"type": "tool_result"}:
            return _result(block, texts)
        case {"type": "tool_use", "id": name, "name": tool, "input": given}:
            return texts.block(f"use {name}", f"{tool}{as_json(given)}")
        case {"type": "thinking", "thinking": text}:
            thought = sealed_tokens(str(block.get("signature") or ""))
            if thought is None:
                return texts.block(f"{role} thinking", text)
            return texts.sized(f"{role} thinking", f"{text}{block['signature']}", thought)
        case {"type": "image"}:
            return texts.sized(f"{role} image", fields(block, "cache_control"), IMAGE_TOKENS)
        case {"type": "document", "source": {"type": "text", "data": data}}:
            return texts.block(f"{role} document", fields(block, "cache_control"), data)
        case {"type": "document"}:
            return texts.sized(f"{role} document", fields(block, "cache_control"), DOCUMENT_TOKENS)
        case _:
            return texts.block(f"{role} {block.get('type')}", fields(block, "cache_control"))


def _result(block: Json, texts: Texts) -> tuple[int, int]:
    """A tool result made of blocks; marks inside it are no marks."""
    parts = [
        {k: v for k, v in part.items() if k != "cache_control"} for part in blocks_of(block.get("content"))
    ]
    tokens = sum(_block("user", part, texts)[1] for part in parts)
    key = f"{bool(block.get('is_error'))}{as_json(parts)}"
    return texts.sized(f"result {block.get('tool_use_id')}", key, tokens)


def _early(body: Json, model: AnthropicModel) -> str:
    early = _thinking(body, model) if model.is_thinking_early else ""
    return early + (_effort(body, model) if model.is_effort_early else "")


def _system_settings(body: Json) -> str:
    searches = any(str(tool.get("type", "")).startswith("web_search") for tool in body.get("tools") or ())
    cites = any(
        (block.get("citations") or {}).get("enabled")
        for message in body["messages"]
        for block in (message["content"] if isinstance(message["content"], list) else ())
        if block.get("type") in {"document", "search_result"}
    )
    return f"{body.get('speed') or 'standard'} {searches} {cites}"


def _message_settings(body: Json, model: AnthropicModel) -> str:
    choice = body.get("tool_choice") or {"type": "auto"}
    has_images = any(
        block.get("type") == "image"
        for message in body["messages"]
        for block in (message["content"] if isinstance(message["content"], list) else ())
    )
    form = (body.get("output_config") or {}).get("format")
    return "\0".join(
        (
            as_json({name: choice[name] for name in sorted(choice)}),
            str(has_images),
            "" if model.is_thinking_early else _thinking(body, model),
            "" if model.is_effort_early else _effort(body, model),
            as_json(form),
        )
    )


def _thinking(body: Json, model: AnthropicModel) -> str:
    thinking = body.get("thinking") or {"type": model.thinking}
    return f"{thinking.get('type')} {thinking.get('budget_tokens', '')}"


def _effort(body: Json, model: AnthropicModel) -> str:
    if model.is_effort_free:
        return ""
    return str((body.get("output_config") or {}).get("effort") or model.effort)
