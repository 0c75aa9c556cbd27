"""Texts that say their own size, so that a test can state the documents' examples in round numbers of tokens."""

from __future__ import annotations

from tests.vendors.billing.values import Json

FIVE_MINUTES: Json = {"type": "ephemeral"}
ONE_HOUR: Json = {"type": "ephemeral", "ttl": "1h"}


def label(tokens: int, name: str = "") -> str:
    """A text that counts so many tokens with `count_label`."""
    return f"{tokens}|{name}"


def count_label(text: str) -> int:
    """The size that a text says it has; a token for four characters where it says none."""
    size, bar, _ = text.partition("|")
    return int(size) if bar and size.isdecimal() else (len(text) + 3) // 4


def text(tokens: int, name: str = "", mark: Json | None = None) -> Json:
    """A text block of so many tokens, marked or not."""
    block: Json = {"type": "text", "text": label(tokens, name)}
    return block if mark is None else {**block, "cache_control": mark}


def ask(*blocks: Json, model: str = "claude-opus-5-5", **more: object) -> Json:
    """A request of one user message."""
    return {
        "model": model,
        "max_tokens": 100,
        "messages": [{"role": "user", "content": list(blocks)}],
        **more,
    }
