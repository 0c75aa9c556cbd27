"""Notes in other markup than Markdown: their headings and numbered lists as Markdown, for the head of a note."""

from __future__ import annotations

import re

from core.kernel.patterns import late

_LINE = re.MULTILINE
_NUMBERED = (late(r"^#+[ \t]", _LINE), "- ")
_TITLED = r"\\(?:title|part|chapter|(?:sub){0,2}section)\*?(?:\[[^\]\n]*\])?\{([^{}\n]*)\}"
_WIKI = (
    _NUMBERED,
    (late(r"^(?:%title[ \t]|[ \t]*=+)([^=\n]++)=*[ \t]*$", _LINE), r"# \1"),
    (late(r"^%date[ \t]", _LINE), "date: "),
    (late(r"^%\w.*|'{2,5}", _LINE), ""),
)
_RULES: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    "tex": (
        (late(r"(?<!\\)%.*"), ""),
        (late(r"\\(?:emph|text[a-z]{2})\{([^{}\n]*)\}"), r"\1"),
        (late(rf"^[ \t]*{_TITLED}.*", _LINE), r"# \1"),
        (late(r"^[ \t]*\\.*", _LINE), ""),
        (late(r"#(?=\S)"), ""),
    ),
    "typ": (
        (late(r"^#set document\([^\n]*?\btitle: *\"([^\"\n]+)\".*", _LINE), r"# \1"),
        (late(r"^[ \t]*(?:#(?:import|include|set|show|let)\b|//).*", _LINE), ""),
        (late(r"^=+ (.+)", _LINE), r"# \1"),
        (late(r"#(?=[A-Za-z])"), ""),
    ),
    "wiki": _WIKI,
    "mediawiki": _WIKI,
    "textile": (_NUMBERED, (late(r"^h[1-6]\. +(.+)", _LINE), r"# \1")),
    "norg": (
        (late(r"\A\s*@document\.meta\n([^@]*)\n@end"), r"---\n\1\n---"),
        (late(r"^ *\*+ +(.+)", _LINE), r"# \1"),
    ),
}
"""By ending, what stands for what. `#` begins a tag in Markdown alone: elsewhere it begins a command or an item of a list.

Source: the manuals of LaTeX, Typst, MediaWiki, Vimwiki 2.5, Textile and Neorg.
"""


def as_markdown(text: str, path: str) -> str:
    """A note's text as far as its head needs it; that of any ending without rules as it is. Same text: same result."""
    for form, plain in _RULES.get(path.rpartition(".")[2].lower(), ()):
        text = form.sub(plain, text)
    return text
