"""Outlines: definitions of a source file by tree-sitter, headings of a Markdown file."""

from __future__ import annotations

import re

from core.kernel.values.curation import Symbol
from core.talk.context.outline.definitions import MAX_SYMBOLS, definitions, headings
from core.talk.context.outline.grammars import GRAMMARS

__all__ = ["MAX_SOURCE_CHARS", "MAX_SYMBOLS", "has_outline", "symbols_of"]

MAX_SOURCE_CHARS = 4_000_000
"""Longer texts get no outline."""

_MARKDOWN = frozenset({"md", "markdown", "mdx"})
_SHEBANG = re.compile(r"#!.*?\b(bash|sh|zsh|python|ruby|node|php)")
_BY_SHEBANG = {"sh": "bash", "zsh": "bash", "node": "javascript"}


def symbols_of(path: str, text: str) -> tuple[Symbol, ...]:
    """The outline of a file, in file order.

    Broken source gives what can be made out of it. A language without a grammar, a text of more than
    `MAX_SOURCE_CHARS`, and a file without definitions give nothing. At most `MAX_SYMBOLS` are given.

    Args:
        path: its name says the language, or else the first line does; text: LF line ends.
    """
    if len(text) > MAX_SOURCE_CHARS:
        return ()
    ending = _ending(path)
    if ending in _MARKDOWN:
        return headings(text)
    grammar = _grammar(ending, text)
    return definitions(grammar, text) if grammar else ()


def has_outline(path: str) -> bool:
    """True if the name of a file says a language that outlines are made for."""
    ending = _ending(path)
    return ending in _MARKDOWN or any(ending in grammar.endings for grammar in GRAMMARS.values())


def _ending(path: str) -> str:
    name = re.split(r"[/\\]", path)[-1]
    return name.rpartition(".")[2].lower() if "." in name else ""


def _grammar(ending: str, text: str) -> str:
    """The language by its ending, or else by the file's first line; empty where neither says."""
    for name, grammar in GRAMMARS.items():
        if ending in grammar.endings:
            return name
    named = None if ending else _SHEBANG.match(text[:200])
    return _BY_SHEBANG.get(named[1], named[1]) if named else ""
