"""Words of a reply as they are seen: its Markdown without the marks, near enough to count what is searched. Pure."""

from __future__ import annotations

import re

_FENCE = re.compile(
    r"^ {0,3}(`{3,}+|~{3,}+)[^`\n]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL
)
_SIGNS = re.compile(r"[`*_~\\\[\n]")
_MARKS = re.compile(
    r"[`*_~\\\[\n](?:"
    r"(?<=(?<!`)`)(?P<ticks>`*+)(?P<code>[^`\n]+)`(?P=ticks)(?!`)"
    r"|(?<=\\)(?P<sign>[!-/:-@\[-`{-~])"
    r"|(?<=(?<!!)\[)(?P<words>[^\[\]\n]+)\]\([^()\s]*(?:[ \t]+\"[^\"\n]*\")?\)"
    r"|(?<=\*)\**+(?=\S)|(?<=\S\*)\**+"
    r"|(?<=(?<!\w)_)_*+(?=\w)|(?<=[^\W_]_)_*+(?!\w)"
    r"|(?<=~)~"
    r"|(?P<soft>(?<=[^\s|]\n)[ \t]*+(?=[^\s>#|*+\-\d]))"
    r")"
)
"""It begins with one set of signs, by which the search leaps over all else."""


def shown_words(text: str) -> str:
    """The text without marks of emphasis, code and links, its soft line breaks as spaces. Code in fences stays as it is.

    O(text), no parser: a rare construct leaves a mark or takes one too many.
    """
    if _SIGNS.search(text) is None:
        return text
    parts, at = [], 0
    for fence in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        parts += [_MARKS.sub(_kept, text[at : fence.start()]), fence[2]]
        at = fence.end()
    return "\n".join([*parts, _MARKS.sub(_kept, text[at:])])


def may_differ(text: str, terms: list[str]) -> bool:
    """True where words may be counted otherwise in what is seen than in the text as it is written.

    One plain word differs only where a link's address or the name of a fence's language holds it.
    """
    if all(map(str.isalnum, terms)):
        return "](" in text or "```" in text or "~~~" in text
    return True


def _kept(found: re.Match[str]) -> str:
    if found["soft"] is not None:
        return " "
    return found["code"] or found["sign"] or found["words"] or ""
