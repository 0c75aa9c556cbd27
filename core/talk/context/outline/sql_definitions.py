"""Definitions of SQL of any dialect: what its `create` statements name. No grammar reads the bodies of all of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice

from core.kernel.frame import one_line
from core.kernel.patterns import late
from core.kernel.values.curation import LineRange, Symbol

_SIGNATURE_CHARS = 200
_LONGEST = 20_000
"""Lines of a statement whose end is looked for."""
_QUIET = late(
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|''|\\.)*'|\$(\w*)\$.*?(?:\$\1\$|\Z)|^[ \t]*#[^\n]*",
    re.DOTALL | re.MULTILINE,
)
"""Comments, texts, and bodies between dollars: a `create` in one of them defines nothing."""
_NAME = r"(?:\"[^\"\n]{1,128}\"|`[^`\n]{1,128}`|\[[^\]\n]{1,128}\]|[\w$#@:{}-]{1,128})"
_CREATE = late(
    r"^(?P<indent>[ \t]*)create\s+(?:or\s+(?:replace|alter)\s+)?"
    r"(?:(?:definer\s*=\s*\S+|sql\s+security\s+\w+|algorithm\s*=\s*\w+|temp(?:orary)?|global|local|unlogged|unique"
    r"|clustered|nonclustered|bitmap|fulltext|spatial|recursive|virtual|external|transient|volatile|secure|constraint"
    r"|materialized|foreign|editionable|noneditionable|force|public|private|dynamic|hybrid|columnstore|aggregate)\s+)*"
    r"(?P<kind>table|view|function|procedure|proc|index|trigger|type|schema|sequence|domain|database|macro|event"
    r"|package(?:\s+body)?|synonym|role|policy|rule|extension|aggregate|collation|operator|server|publication"
    r"|subscription|tablespace|statistics|cast|stage|stream|task|dictionary|user|enum|assertion)\s+"
    r"(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?"
    rf"(?P<name>{_NAME}(?:\s*\.\s*{_NAME}){{0,3}})",
    re.IGNORECASE | re.MULTILINE,
)
_KINDS = {"proc": "procedure", "package body": "package"}
_OF_BODIES = frozenset({"function", "procedure", "trigger", "event", "package", "task"})
_OPENED = late(r"\b(?:begin(?!\s+(?:transaction|tran|work)?\s*;)|case)\b", re.IGNORECASE)
_CLOSED = late(r"\bend\b(?!\s*(?:if|loop|while|repeat|for)\b)", re.IGNORECASE)
_QUOTES = str.maketrans("", "", '"`[]')


def sql_definitions(text: str, most: int) -> tuple[Symbol, ...]:
    """Read what the `create` statements of a text name, in file order, at most so many.

    Args:
        text: LF line ends, of any dialect.
    """
    plain = _QUIET.sub(_blank, text)
    found = list(islice(_outer(plain), most))
    rows = plain.split("\n")
    begins = [*accumulate((len(row) + 1 for row in rows), initial=0)]
    firsts = [bisect_right(begins, match.start()) for match in found]
    count = len(rows) - text.endswith("\n")
    pasts = [*firsts[1:], count + 1][: len(found)]
    return tuple(
        _symbol(text, rows, match, LineRange(first, max(first, past - 1)))
        for match, first, past in zip(found, firsts, pasts, strict=True)
    )


def _blank(found: re.Match[str]) -> str:
    """A text or comment as blanks; the lines stay."""
    return re.sub(r"[^\n]", " ", found[0])


def _outer(plain: str) -> Iterator[re.Match[str]]:
    """The statements that no routine's body holds."""
    is_routine, at, depth = False, 0, 0
    for match in _CREATE.finditer(plain):
        if is_routine and match["indent"]:
            body, at = plain[at : match.start()], match.start()
            depth += len(_OPENED.findall(body)) - len(_CLOSED.findall(body))
            if depth > 0:
                continue
        is_routine, at, depth = _kind(match) in _OF_BODIES, match.end(), 0
        yield match


def _kind(match: re.Match[str]) -> str:
    kind = " ".join(match["kind"].lower().split())
    return _KINDS.get(kind, kind)


def _symbol(text: str, rows: Sequence[str], match: re.Match[str], lines: LineRange) -> Symbol:
    """A statement's symbol: up to its own end, or to the next statement where it has no end. `rows`: of the plain text."""
    start = match.start() + len(match["indent"])
    head = re.split(r"[\n(]", text[start : match.end() + _SIGNATURE_CHARS], maxsplit=1)
    signature = head[0] if match.end() - start <= len(head[0]) else text[start : match.end()]
    name = re.sub(r"\s*\.\s*", ".", match["name"].translate(_QUOTES))
    return Symbol(
        name=name,
        kind=_kind(match),
        lines=LineRange(lines.first, _last_line(rows, match, lines)),
        signature=one_line(signature, _SIGNATURE_CHARS),
    )


def _last_line(rows: Sequence[str], match: re.Match[str], lines: LineRange) -> int:
    """The line where a statement ends, or the last one before the next statement that says anything."""
    if lines.last - lines.first >= _LONGEST:
        return lines.last
    said = [number for number in range(lines.first, lines.last + 1) if rows[number - 1].strip()]
    ends = said if _kind(match) not in _OF_BODIES else []
    closed = (number for number in ends if rows[number - 1].rstrip().endswith((";", "GO")))
    return next(closed, said[-1] if said else lines.last)
