"""Outlines: definitions of a source file by tree-sitter, those of SQL by its statements, of others by their lines, headings of Markdown."""

from __future__ import annotations

import re

from core.kernel.patterns import late
from core.kernel.values.curation import Symbol
from core.talk.context.outline.definitions import MAX_SYMBOLS, definitions, headings, is_installed
from core.talk.context.outline.grammars import GRAMMARS
from core.talk.context.outline.line_definitions import BY_ENDING, line_definitions
from core.talk.context.outline.sql_definitions import sql_definitions

__all__ = ["MAX_SOURCE_CHARS", "MAX_SYMBOLS", "has_outline", "symbols_of", "why_no_outline"]

MAX_SOURCE_CHARS = 4_000_000
"""Longer texts get no outline."""

_MARKDOWN = frozenset({"md", "markdown", "mdown", "mkd", "mdx", "qmd", "rmd"})
_SQL = frozenset({"sql", "ddl", "psql", "pgsql", "mysql"})
_WITH_SCRIPTS = frozenset({"vue", "svelte", "astro"})
_SCRIPT = late(
    r"\A\s*---[ \t]*\n(?P<front>.*?)^---|<script\b(?P<about>[^>]{0,500})>(?P<script>.*?)</script\s*>",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
"""A script of a component; of Astro also what stands between two fences at its beginning."""
_BLANKED = late(r"[^\n]")
_CPP_HEADER = late(
    r"^[ \t]*(?:(?:class|namespace|template|using|public:|private:|enum[ \t]+class)\b|#[ \t]*include[ \t]*<[a-z_]+>)|\bstd::\w",
    re.MULTILINE,
)
"""Lines of a header that is C++ whatever it is called."""
_SHEBANG = late(r"#!.*?\b(bash|sh|zsh|python|ruby|node|php)")
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
    if ending in _SQL:
        return sql_definitions(text, MAX_SYMBOLS)
    if ending in BY_ENDING:
        return line_definitions(ending, text, MAX_SYMBOLS)
    if ending in _WITH_SCRIPTS:
        language, script = _script(text)
        return definitions(language, script)
    grammar = _grammar(ending, text)
    return definitions(grammar, text) if grammar else ()


def has_outline(path: str) -> bool:
    """True if the name of a file says a language that outlines are made for."""
    ending = _ending(path)
    return ending in _MARKDOWN | _WITH_SCRIPTS | _SQL | BY_ENDING.keys() or any(
        ending in grammar.endings for grammar in GRAMMARS.values()
    )


def why_no_outline(path: str, text: str) -> str:
    """Phrase that says why a file without symbols has none."""
    if len(text) > MAX_SOURCE_CHARS:
        return f"this file has more than {MAX_SOURCE_CHARS:,} characters, too many for an outline"
    ending = _ending(path)
    grammar = _grammar(ending, text)
    if grammar and not is_installed(grammar):
        return f'outlines of {grammar} need another package: pip install "manual-slop[grammars]"'
    if has_outline(path) or grammar:
        return "no symbols were found in this file"
    return f"there is no outline for {f'files that end in .{ending}' if ending else 'this kind of file'}"


def _script(text: str) -> tuple[str, str]:
    """Language and text of the scripts of a component, all else blank, so that each line keeps its number."""
    kept: list[str] = []
    end = 0
    language = "typescript"
    for found in _SCRIPT.finditer(text):
        part = "front" if found["script"] is None else "script"
        language = "tsx" if re.search(r"lang\s*=\s*[\"']?[jt]sx", found["about"] or "") else language
        kept += (_BLANKED.sub(" ", text[end : found.start(part)]), found[part])
        end = found.end(part)
    return language, "".join((*kept, _BLANKED.sub(" ", text[end:])))


def _ending(path: str) -> str:
    name = re.split(r"[/\\]", path)[-1]
    return name.rpartition(".")[2].lower() if "." in name else ""


def _grammar(ending: str, text: str) -> str:
    """The language by its ending, or else by the file's first line; empty where neither says."""
    if ending == "h" and _CPP_HEADER.search(text):
        return "cpp"
    for name, grammar in GRAMMARS.items():
        if ending in grammar.endings:
            return name
    named = None if ending else _SHEBANG.match(text[:200])
    return _BY_SHEBANG.get(named[1], named[1]) if named else ""
