"""Tags around a text from outside, chosen so that nothing inside the text can close or forge them."""

from __future__ import annotations

import json
import re
from itertools import count
from sys import intern

_UNSEEN = (
    r"\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Blanks, control characters, and all that nobody sees: `Default_Ignorable_Code_Point` of Unicode 16, and what annotates."""

_GAP = f"[{_UNSEEN}]*+"
"""Taken whole or not at all: a long run of blanks was tried from each of its places."""

_OPENING, _CLOSING, _DASHES = "{\uff5b\ufe5b", "}\uff5d\ufe5c", "\u2010-\u2015\u2212\ufe58\ufe63"
_TO_FULL_WIDTH = 0xFEE0


def _spelled(word: str) -> str:
    """Pattern of a word as a model may read it: in full width too, with any dash, and with what nobody sees between."""
    forms = [f"[{re.escape(c)}{chr(ord(c) + _TO_FULL_WIDTH)}{_DASHES if c == '-' else ''}]" for c in word]
    return _GAP.join(forms)


_BLOCK = re.compile(
    f"[{_OPENING}]({_GAP}[/\uff0f]?+{_GAP}(?:{_spelled('knowledge')}|{_spelled('rag-context')}){_GAP})[{_CLOSING}]",
    re.IGNORECASE,
)

quoted = json.JSONEncoder(ensure_ascii=False).encode
"""A text as a JSON string: one line, with its quotes."""


def frame(tag: str, body: str, **attributes: str) -> str:
    """Put a text between tags.

    The tag's name is `tag`, or `tag-2`, `tag-3` and so on, the first whose end tag does not occur in the
    text: the opening tag names the only text that can end it.

    Args:
        tag: letters; body: any text, given a final line end where it has none.
        attributes: written as JSON strings in the order given, empty ones left out.
    """
    return "".join(frame_parts(tag, body, **attributes))


def frame_parts(tag: str, body: str, **attributes: str) -> tuple[str, ...]:
    """The parts of `frame`, the body among them as it is: a large one stands once in memory."""
    name = safe_tag(tag, body)
    end = () if body.endswith("\n") else ("\n",)
    return (intern(f"<{name}{_written(attributes)}>\n"), body, *end, intern(f"</{name}>\n"))


def frame_ends(tag: str, body: str, **attributes: str) -> tuple[str, str]:
    """The two ends of a frame around a text whose every byte counts.

    A text without a final line end says so in an attribute, so that different texts never render alike.
    """
    name = safe_tag(tag, body)
    if body and not body.endswith("\n"):
        return f'<{name}{_written(attributes)} end="no newline">\n', f"\n</{name}>\n"
    return f"<{name}{_written(attributes)}>\n", f"</{name}>\n"


def empty_frame(tag: str, **attributes: str) -> str:
    """A tag on one line that holds nothing but its attributes."""
    return f"<{tag}{_written(attributes)}/>\n"


def without_blocks(text: str) -> str:
    """The text with `{/knowledge}` and its like in round brackets: nothing inside can close what it is put in."""
    return _BLOCK.sub(r"(\1)", text) if any(one in text for one in _OPENING) else text


def rag_block(text: str) -> str:
    """The block of retrieved text as models see it; nothing in the text can close it, nor open another."""
    body = without_blocks(text)
    return f"{{rag-context}}\n{body}{'' if body.endswith(chr(10)) else chr(10)}{{/rag-context}}\n"


def safe_tag(tag: str, *bodies: str) -> str:
    """The first of `tag`, `tag-2`, `tag-3`, … whose end tag does not begin anywhere in the texts. O(n)."""
    end = f"</{tag}"
    for body in bodies:  # a loop: ten thousand messages ask, most of them for nothing
        if end in body:
            break
    else:
        return tag
    written = [number for body in bodies for number in re.findall(f"</{tag}-([0-9]{{1,7}})", body)]
    taken = {digits[:end] for digits in written for end in range(1, len(digits) + 1)}
    number = next(n for n in count(2) if str(n) not in taken)
    return f"{tag}-{number}"


def _written(attributes: dict[str, str]) -> str:
    return "".join(f" {key}={quoted(value)}" for key, value in attributes.items() if value)
