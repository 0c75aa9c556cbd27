"""Code to coloured lines, with Pygments. Past a size it stays plain: it is read, not admired."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

LONGEST = 120_000
"""Characters that are highlighted."""

Line = tuple[tuple[str, str], ...]
"""Pieces of a line: text and syntax class (a key of the theme's `code` table)."""

_CLASSES = (
    ("Token.Comment", "comment"),
    ("Token.Keyword.Constant", "constant"),
    ("Token.Keyword.Type", "type"),
    ("Token.Keyword", "keyword"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "number"),
    ("Token.Name.Function", "function"),
    ("Token.Name.Class", "type"),
    ("Token.Name.Builtin", "builtin"),
    ("Token.Name.Decorator", "decorator"),
    ("Token.Name.Tag", "tag"),
    ("Token.Name.Attribute", "attribute"),
    ("Token.Name.Constant", "constant"),
    ("Token.Operator.Word", "keyword"),
    ("Token.Operator", "operator"),
    ("Token.Punctuation", "punctuation"),
    ("Token.Generic.Heading", "heading"),
    ("Token.Generic.Subheading", "heading"),
    ("Token.Generic.Inserted", "inserted"),
    ("Token.Generic.Deleted", "deleted"),
    ("Token.Generic.Error", "error"),
)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=512)
def _class_of(token: str) -> str:
    return next((name for prefix, name in _CLASSES if token.startswith(prefix)), "text")


def plain_lines(text: str) -> tuple[Line, ...]:
    """Lines without colours."""
    return tuple(((line, "text"),) if line else () for line in text.split("\n"))


@lru_cache(maxsize=128)
def highlight(text: str, language: str) -> tuple[Line, ...]:
    """The lines of a code with the class of each piece. Joined with line feeds, the text is the same.

    Args:
        language: as after a fence; an unknown one or none gives plain lines.
    """
    if not language or len(text) > LONGEST:
        return plain_lines(text)
    lexer = _lexer(language.lower())
    if lexer is None:
        return plain_lines(text)
    lines: list[list[tuple[str, str]]] = [[]]
    for token, value in lexer.get_tokens(text + "\n"):  # some lexers see a line only by its end
        kind = _class_of(str(token))
        for index, part in enumerate(value.split("\n")):
            if index:
                lines.append([])
            if part and lines[-1] and lines[-1][-1][1] == kind:
                lines[-1][-1] = (lines[-1][-1][0] + part, kind)
            elif part:
                lines[-1].append((part, kind))
    found = tuple(tuple(line) for line in lines[:-1])
    return found if "\n".join("".join(t for t, _ in line) for line in found) == text else plain_lines(text)
