"""Thinking blocks and the conversation they belong to: signing them, finding those that it changed around.

Source: Anthropic "Extended thinking", thinking block binding; anthropic 2.10.0 `beta_input_transformation`
(2026-11): a block of another model is removed in silence, one whose earlier conversation changed is a 400, or
removed with the rest of the turn's consecutive thinking where
`thinking.block_binding.prefix_mismatch_behavior` is `drop_block`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib

from tests.vendors.billing.anthropic_checks import blocks_of, invalid
from tests.vendors.billing.anthropic_render import binding
from tests.vendors.billing.tokens import Prefixes, Texts
from tests.vendors.billing.values import Json

_THINKING = {"thinking", "redacted_thinking"}


class Bindings:
    """Signs thinking with what came before it, and checks it when it returns."""

    def __init__(self, texts: Texts, prefixes: Prefixes, binds_to_thinking: bool) -> None:
        self._texts = texts
        self._prefixes = prefixes
        self._binds_to_thinking = binds_to_thinking

    def sign(self, body: Json, thinking: str, tokens: int | None = None) -> str:
        """The signature of thinking that answers a request. `tokens`: of all that was thought, where its text is a summary."""
        bound = self._bound(body, len(body["messages"]))
        return _signature(thinking, str(body["model"]), bound, tokens)

    def check(self, body: Json, *, is_bound: bool) -> tuple[frozenset[int], tuple[Json, ...]]:
        """Blocks that are not shown, numbered in the order of the prefix, and `input_transformations`.

        Raises:
            Refused: 400 where thinking returns to another conversation, or with a false signature.
        """
        if not any(_has_thinking(message) for message in body["messages"]):
            return frozenset(), ()
        control = (body.get("thinking") or {}).get("block_binding") or {}
        drops = control.get("prefix_mismatch_behavior") == "drop_block"
        dropped: dict[int, Json] = {}
        source = len(body.get("tools") or ()) + len(blocks_of(body.get("system")))
        for number, message in enumerate(body["messages"]):
            reason = ""
            for place, block in enumerate(blocks_of(message["content"])):
                where = f"messages.{number}.content.{place}"
                if block.get("type") not in _THINKING:
                    reason = ""
                elif block["type"] == "thinking":
                    reason = reason or self._mismatch(body, number, block, where, is_bound=is_bound)
                    if reason == "prefix_binding_mismatch" and not drops:
                        raise invalid(
                            f"{where}: this thinking block is bound to a different conversation. The"
                            " messages before it must not change while it is sent back."
                        )
                if reason:
                    dropped[source] = {"type": "thinking_dropped", "path": where, "reason": reason}
                source += 1
        return frozenset(dropped), tuple(dropped.values())

    def _mismatch(self, body: Json, number: int, block: Json, where: str, *, is_bound: bool) -> str:
        parts = _opened(str(block.get("signature")))
        if parts is None or _signature(block["thinking"], *parts) != block.get("signature"):
            raise invalid(f"{where}: Invalid `signature` in `thinking` block")
        model, bound, _ = parts
        if not is_bound:
            return ""
        if model != body["model"]:
            return "model_binding_mismatch"
        return "" if bound == self._bound(body, number) else "prefix_binding_mismatch"

    def _bound(self, body: Json, messages: int) -> int:
        if not self._binds_to_thinking:
            bare = [
                {
                    **message,
                    "content": [b for b in blocks_of(message["content"]) if b.get("type") not in _THINKING],
                }
                for message in body["messages"][:messages]
            ]
            body = {**body, "messages": bare}
        return binding(body, messages, self._texts, self._prefixes)


def _has_thinking(message: Json) -> bool:
    content = message["content"]
    return isinstance(content, list) and any(block.get("type") in _THINKING for block in content)


def _signature(thinking: str, model: str, bound: int, tokens: int | None) -> str:
    seal = hashlib.sha256(f"{thinking}\0{model}\0{bound}".encode()).hexdigest()
    thought = "" if tokens is None else f" {tokens}"
    return base64.b64encode(f"{model} {bound} {seal}{thought}".encode()).decode()


def _opened(signature: str) -> tuple[str, int, int | None] | None:
    try:
        model, bound, _, *thought = base64.b64decode(signature, validate=True).decode().split(" ")
        return model, int(bound), int(thought[0]) if thought else None
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
