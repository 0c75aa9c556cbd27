"""Thoughts that a server left in the text, between tags, and the words of the reply behind them.

Source: vLLM and SGLang without a reasoning parser, Bedrock's OpenAI address (`<reasoning>`), Mistral's templates (`[THINK]`),
Kimi-VL (`◁think▷`), and templates that open the tag in the prompt, so that a reply only closes it (read 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.kernel.patterns import late
from core.kernel.values.messages import Part, ReasoningPart, TextPart

_NAMES = ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")
_TAGS = {
    **{f"<{name}>": f"</{name}>" for name in _NAMES},
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
}
_ORPHAN = late(r"(?:\A|\n)[ \t]*</think>[ \t]*(?:\n|\Z)|</think>[ \t]*\n[ \t]*\n")
"""A tag that only closes, alone in its line or before an empty one: words about the tag stand elsewhere."""

Piece = tuple[bool, str]
"""True for a thought, and its text."""


class TaggedText:
    """Splits the text of one reply as it comes. Tags count at its beginning alone: behind its first words they are words."""

    def __init__(self) -> None:
        self._held = ""
        self._close = ""
        self._has_thought = self._is_plain = self._is_fresh = False

    def read(self, text: str) -> Iterator[Piece]:
        """The thoughts and words that are sure by now."""
        if self._is_plain:
            yield False, text
            return
        self._held += text
        while self._held:
            if self._close:
                thought, is_closed = self._thought()
                if thought:
                    yield True, thought
                if not is_closed:
                    return
            elif not self._is_opened():
                break
        if self._held and not self._may_open():
            self._is_plain = True
            yield False, self._taken(self._held.lstrip() if self._has_thought else self._held)

    def rest(self) -> Iterator[Piece]:
        """The text that was held back, when the reply ends."""
        held = self._taken(self._held.lstrip() if self._has_thought and not self._close else self._held)
        if held:
            yield bool(self._close), held

    def _taken(self, text: str) -> str:
        self._held = ""
        return text

    def _is_opened(self) -> bool:
        start = self._held.lstrip()
        opened = next((tag for tag in _TAGS if start.startswith(tag)), "")
        if not opened:
            return False
        self._close, self._has_thought, self._is_fresh = _TAGS[opened], True, True
        self._held = start[len(opened) :]
        return True

    def _may_open(self) -> bool:
        start = self._held.lstrip()
        return any(tag.startswith(start) for tag in _TAGS)

    def _thought(self) -> tuple[str, bool]:
        """More of the thought, and whether it ended. What may be the begin of its closing tag waits."""
        if self._is_fresh:
            self._held = self._held.removeprefix("\n")
            self._is_fresh = not self._held
        thought, closed, behind = self._held.partition(self._close)
        if closed:
            self._held, self._close = behind, ""
            return thought.removesuffix("\n"), True
        ending = f"\n{self._close}"
        kept = next(
            (
                size
                for size in range(min(len(ending) - 1, len(thought)), 0, -1)
                if ending.startswith(thought[-size:]) or self._close.startswith(thought[-size:])
            ),
            0,
        )
        self._held = thought[len(thought) - kept :]
        return thought[: len(thought) - kept], False


def parted(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts of a whole reply, with the thoughts before a tag that only closes as thoughts."""
    if any(isinstance(part, ReasoningPart) for part in parts):
        return tuple(parts)
    for at, part in enumerate(parts):
        if isinstance(part, TextPart):
            found = _ORPHAN.search(part.text)
            if found is None or "`" in part.text[: found.start()][-3:] or "<think" in part.text:
                return tuple(parts)
            thought, words = part.text[: found.start()].strip(), part.text[found.end() :].strip()
            made = [ReasoningPart(thought) if thought else None, TextPart(words) if words else None]
            return (*parts[:at], *(one for one in made if one is not None), *parts[at + 1 :])
    return tuple(parts)
