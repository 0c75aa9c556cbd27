"""Tags around a text from outside, chosen so that nothing inside the text can close or forge them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import count
from sys import intern

from core.base.lookalikes import DASHES, GAP, SLASHES, spelling

_OPENING, _CLOSING = "{\uff5b\ufe5b\ufe37\u2774\u2983", "}\uff5d\ufe5c\ufe38\u2775\u2984"
_LESS = "<\uff1c\ufe64\u2039\u2329\u27e8\u3008\u276c\u276e\u2770\u02c2\u1438"

_END = re.compile(f"[{_LESS}]{GAP}[{SLASHES}]")
"""Beginning of an end tag, in any spelling."""
_NUMBER = rf"{GAP}[{re.escape(DASHES)}]((?:{GAP}\d){{1,7}})"
_BLOCKS = ("knowledge", "rag-context")
_GOES_ON = r"[\w/.\-]"
"""Further characters of a word or a path: it is another one."""

quoted = json.JSONEncoder(ensure_ascii=False).encode
"""A text as a JSON string: one line, with its quotes."""


def frame(tag: str, body: str, **attributes: str) -> str:
    """Put a text between tags.

    The tag's name is `tag`, or `tag-2`, `tag-3` and so on, the first whose end tag does not occur in the
    text, however it is spelled: the opening tag names the only text that can end it.

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
    if not any(one in text for one in _OPENING):
        return text
    parts: list[str] = []
    done = 0
    for block in _block().finditer(text):
        begin, end = block.span()
        is_closed = text[end - 1] in _CLOSING
        inner = text[begin + 1 : end - is_closed]
        parts += text[done:begin], "(", inner, ")" * is_closed
        done = end
    return "".join((*parts, text[done:]))


@cache
def _block() -> re.Pattern[str]:
    """Tags of our blocks, each from its bracket to its end; the end of a block needs no second bracket."""
    words = "|".join(map(spelling, _BLOCKS))
    tag = f"[{_OPENING}]{GAP}(?:([{SLASHES}]){GAP})?+(?:{words})"
    return re.compile(f"{tag}(?:{GAP}[{_CLOSING}]|(?(1)(?!{_GOES_ON})|(?!)))")


def rag_block(text: str) -> str:
    """The block of retrieved text as models see it; nothing in the text can close it, nor open another."""
    body = without_blocks(text)
    return f"{{rag-context}}\n{body}{'' if body.endswith(chr(10)) else chr(10)}{{/rag-context}}\n"


def safe_tag(tag: str, *bodies: str) -> str:
    """The first of `tag`, `tag-2`, `tag-3`, … whose end tag does not begin anywhere in the texts. O(n).

    A model reads `< / FILE >` as the end of a file, too, and letters of another script as those that they look like.
    """
    written = {number for body in bodies if may_hold_end(body) for number in _numbers(tag, body)}
    if not written:
        return tag
    taken = beginnings = written
    while beginnings:
        beginnings = {digits[:-1] for digits in beginnings if digits} - taken
        taken = taken | beginnings
    number = next(n for n in count(2) if str(n) not in taken)
    return f"{tag}-{number}"


def may_hold_end(text: str) -> bool:
    """True if an end tag begins in a text, of whatever name. Fast: ten thousand messages ask, most of them for nothing."""
    brackets = "<" if text.isascii() else _LESS
    return any(one in text for one in brackets) and _END.search(text) is not None


@cache
def _ends_of(tag: str) -> re.Pattern[str]:
    """End tags of a name, each with its number."""
    return re.compile(f"{_END.pattern}{GAP}{spelling(tag)}(?:{_NUMBER})?")


def _numbers(tag: str, body: str) -> Iterator[str]:
    """Digits of the end tags of a name in a text, empty for one without."""
    for number in set(_ends_of(tag).findall(body)):
        if number.isascii() and number.isdecimal():
            yield number
            continue
        digits = "".join(filter(str.isdecimal, number))
        yield digits if digits.isascii() else str(int(digits))


def _written(attributes: dict[str, str]) -> str:
    return "".join(f" {key}={quoted(value)}" for key, value in attributes.items() if value)
