"""Thoughts that a server left in the text, between tags, and the words of the reply behind them.

Source: vLLM and SGLang without a reasoning parser, Bedrock's OpenAI address (`<reasoning>`), Mistral's templates (`[THINK]`),
Kimi-VL (`◁think▷`), and templates that open the tag in the prompt, so that a reply only closes it (read 2026-11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from core.kernel.patterns import late
from core.kernel.values.messages import (
    Part,
    ReasoningPart,
    TextPart,
)

_NAMES = (
    "think",
    "thinking",
    "thought",
    "thoughts",
    "reasoning",
    "reason",
    "reflection",
    "seed:think",
    "longcat_think",
    "scratchpad",
    "scratch_pad",
    "Thought",
    "REASONING_SCRATCHPAD",
    "mm:think",
)
_STARTS = ("", "<|start|>assistant")
_TAGS = {
    **{f"<{name}>": f"</{name}>" for name in _NAMES},
    "[THINK]": "[/THINK]",
    "<|open|>think<|sep|>": "<|close|>think<|sep|>",
    "<|think:start|>": "<|think:end|>",
    "◁think▷": "◁/think▷",
    "<|channel>thought": "<channel|>",
    "<|inner_prefix|>": "<|inner_suffix|>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|think|>": "<|end|>",
    **{f"{start}<|channel|>analysis<|message|>": "<|end|>" for start in _STARTS},
}
_SPOKEN = (
    *(f"{start}<|channel|>{name}<|message|>" for start in _STARTS for name in ("final", "commentary")),
    *(
        "<|START_RESPONSE|>",
        "<|open|>response<|sep|>",
        "<|START_TEXT|>",
        "<|begin_of_solution|>",
        "<|begin|>assistant<|content|>",
    ),
)
"""Markers before the words of a reply. Source: templates of gpt-oss, Cohere Command, Gemma 4, Apertus, OpenThinker, Solar (read 2026-11)."""
_SHUTS = (*(f"</{name}>" for name in _NAMES), "[/THINK]", "◁/think▷", "<|END_THINKING|>")
_DROPPED_FIRST = (*_SPOKEN, *_SHUTS)
_SHUT = "|".join(map(re.escape, _SHUTS))
_ORPHAN = late(rf"(?:\A|\n)[ \t]*(?:{_SHUT})(?:[ \t]*(?:\n|\Z)|(?=\S))|(?:{_SHUT})[ \t]*\n[ \t]*\n")
"""A tag that only closes, alone in its line or before an empty one: words about the tag stand elsewhere."""
_OPENED_LINE = late(rf"(?m)^<({'|'.join(_NAMES)})>[ \t]*\n")
_CLOSED_LINE = {name: late(rf"(?m)^</{name}>[ \t]*(?:\n|\Z)") for name in _NAMES}
_SHOWN = late(
    r"(?i)[:：\w,]\Z|<[/|]?[a-z]|\b(?:your?|here['’]s|files?|lines?|parts?|prints?|printed|writes?|wrote|repl(?:y|ies)|outputs?|models?)\b(?!.*[.!?]\s)|\b(?:tags?|elements?|templates?|formats?|layouts?|prompts?|examples?|like th(?:is|ese)|Beispiel\w*|Vorlage\w*)\b"
)
"""Words before a tag that show it to a person or go on through it, or a tag before it: it stands in an element, or in an argument of a call."""
_NAMED = late(r"\A[:,;.)=]")
"""Behind a tag that a sentence names."""
_NO_THOUGHT = frozenset(["and", "or", "und", "oder", "et", "y", "to", "bis", "...", "…", "/", "&", ",", "+"])
"""Between two tags that a sentence names."""
_LONGEST_OF_NO = 8
_TOLD_OF = late(r"(?i)\b(?:tags?|marks?|markers?|tokens?|log)\b[^.!?\n]*\Z")
"""Words of a line about what stands in the next."""
WORDS_BEFORE = 2_000
"""Characters before a tag that may say that it is shown."""
_QUOTES = ("```", "~~~", '"""', "'''")
_DROPPED = late(
    r"(?s)\A(?:analysis(?=[A-Z\"'\s])(?P<gpt>.{1,200000}?)assistant(?:final|commentary(?!\s*to=)|(?=commentary\s*to=))"
    r"|Here are my reasoning steps:\n(?P<apriel>.{1,200000}?)\[BEGIN FINAL RESPONSE\])(?P<words>.+)\Z"
)
"""A reply of gpt-oss of whose markers a server left the words alone, and one of Apriel, whose markers are words.

Source: ollama and vLLM issues, llama.cpp `models/templates` (read 2026-11).
"""
_LAST = (
    *(
        f"<|{name}|>"
        for name in [
            "im_end",
            "return",
            "end",
            "eot_id",
            "eom_id",
            "endoftext",
            "end_of_text",
            "eos",
            "END_RESPONSE",
            "END_TEXT",
            "END_OF_TURN_TOKEN",
            "end_of_solution",
            "user",
            "observation",
        ]
    ),
    *("<|close|>message<|sep|>", "<|close|>response<|sep|>", "<|end_of_msg|>", "<|eot|>", "<|eom|>"),
    *("</s>", "<end_of_turn>", "<turn|>", "<｜end▁of▁sentence｜>", "[e~[", "<seed:eos>", "[|endofturn|]"),
    "[END FINAL RESPONSE]",
)
"""Ends of a turn in the templates of models, left at the end of a text."""

Piece = tuple[bool, str]
"""True for a thought, and its text."""


class TaggedText:
    """Splits the text of one reply as it comes. Tags count at its beginning alone: behind its first words they are words."""

    def __init__(self) -> None:
        self._held = ""
        self._opened = self._close = ""
        self._has_thought = self._is_plain = self._is_fresh = self._is_shown = False

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
                if self._is_shown:
                    break
                if not is_closed:
                    return
            elif not self._is_opened():
                break
        start = self._held.lstrip()
        may_begin = not self._is_shown and any(tag.startswith(start) for tag in (*_TAGS, *_DROPPED_FIRST))
        if self._held and not may_begin:
            self._is_plain = True
            yield False, self._taken(self._held.lstrip() if self._has_thought else self._held)

    def rest(self) -> Iterator[Piece]:
        """The text that was held back, when the reply ends."""
        if self._held.strip() in _TAGS:
            self._held = ""  # opened, and nothing behind
        if self._close and self._is_fresh:
            self._held = self._held.removeprefix("\n")
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
            spoken = next((one for one in _DROPPED_FIRST if start.startswith(one)), "")
            if spoken:
                self._held, self._has_thought = start[len(spoken) :], True
            return bool(spoken)
        behind = start[len(opened) :]
        if not behind or _NAMED.match(behind):
            return False
        self._opened, self._close, self._has_thought, self._is_fresh = opened, _TAGS[opened], True, True
        self._held = behind
        return True

    def _thought(self) -> tuple[str, bool]:
        """More of the thought, and whether it ended. What may be the begin of its closing tag waits."""
        thought, closed, behind = self._held.partition(self._close)
        if self._is_fresh:
            if closed and thought.strip() in _NO_THOUGHT:
                self._held = self._opened + self._held
                self._close, self._has_thought, self._is_shown = "", False, True
                return "", False
            if not closed and len(self._held) < len(self._close) + _LONGEST_OF_NO:
                return "", False
            thought, self._held, self._is_fresh = (
                thought.removeprefix("\n"),
                self._held.removeprefix("\n"),
                False,
            )
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
    """The parts of a whole reply, with the thoughts before a tag that only closes as thoughts, without what ends a turn."""
    kept = tuple(_without_last(part) for part in parts)
    if any(isinstance(part, ReasoningPart) for part in kept):
        return kept
    for at, part in enumerate(kept):
        if isinstance(part, TextPart):
            made = [one for one in _thought_and_words(part.text) if one.text]
            return (*kept[:at], *(made or [part]), *kept[at + 1 :])
    return kept


def _thought_and_words(text: str) -> Sequence[ReasoningPart | TextPart]:
    """The thought before a tag that only closes and the words behind it, or one between tags in lines of their own, and the words
    around it; the words alone where there is none.
    """
    if (dropped := _DROPPED.match(text)) is not None:
        thought = dropped["gpt"] or dropped["apriel"]
        return ReasoningPart(thought.strip()), TextPart(dropped["words"].strip())
    if (within := _within(text)) is not None:
        before, thought, behind = within
        return ReasoningPart(thought.strip()), TextPart("\n\n".join(filter(None, (before, behind))))
    found = _ORPHAN.search(text)
    if found is None or "`" in text[: found.start()][-3:] or _opening_of(found[0]) in text:
        return (TextPart(text),)
    before = text[: found.start()].rstrip()
    if _TOLD_OF.search(before, _near(before)) or (
        before[-1:].isalpha() and text[found.end() :].lstrip()[:1].islower()
    ):
        return (TextPart(text),)
    return ReasoningPart(text[: found.start()].strip()), TextPart(text[found.end() :].strip())


def _within(text: str) -> tuple[str, str, str] | None:
    """The words before a thought that is no example, the thought and the words behind it. A tag that never closes is looked for once."""
    looked: set[str] = set()
    for opened in _OPENED_LINE.finditer(text):
        if opened[1] in looked:
            continue
        looked.add(opened[1])
        closed = _CLOSED_LINE[opened[1]].search(text, opened.end())
        if closed is None:
            continue
        before = text[: opened.start()].rstrip()
        is_quoted = any(before.count(one) % 2 for one in _QUOTES)
        thought = text[opened.end() : closed.start()]
        is_thought = thought.strip() and not is_quoted and not _SHOWN.search(before, _near(before))
        return (before, thought, text[closed.end() :].lstrip()) if is_thought else None
    return None


def _near(before: str) -> int:
    """Place from which on words before a tag are looked at: the expressions look from each word to the end of its line."""
    return max(0, len(before) - WORDS_BEFORE)


def _opening_of(closed: str) -> str:
    """The tag that one which closes belongs to."""
    return closed.strip().replace("/", "", 1).replace("END", "START").removesuffix(">")


def _without_last(part: Part) -> Part:
    """A text without what ends a turn, unless the text is about that: in quotes, or nothing else."""
    if not isinstance(part, TextPart):
        return part
    kept = part.text.rstrip()
    while ended := next((one for one in _LAST if kept.endswith(one)), ""):
        kept = kept[: -len(ended)].rstrip()
    gap = part.text[len(kept) :]
    is_named = kept[-1:].isalnum() and gap.startswith(" ") and "\n" not in gap.rstrip()
    is_quoted = is_named or (kept.endswith("`") and not kept.endswith("\n```"))
    is_same = len(kept) == len(part.text.rstrip()) or not kept or is_quoted
    return part if is_same else replace(part, text=kept)
