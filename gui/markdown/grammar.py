"""Grammar of the parser: CommonMark with tables, addresses, footnotes, mathematics and `<details>`."""

from __future__ import annotations

import re
from functools import cache
from types import MethodType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkify_it import LinkifyIt
    from linkify_it.main import Match
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline

WWW = "www."
"""Head of an address without a scheme, which is `http` then. Source: GFM "Autolinks (extension)" (read 2026-11-23)."""
_INSIDE = "./@-_:"
"""Signs before a `www.` that stands inside a longer address, or in a path."""
MOST_LABEL_CHARS = 80
MOST_MATH_LINES = 60
NESTING_LIMIT = 60
"""markdown-it drops what is nested deeper, so a text that comes near is shown as it was written."""
_DETAILS = re.compile(r"<details\b[^>]*>\s*(?:<summary>(.*?)</summary>)?\s*$", re.IGNORECASE)
_WHOLE_DETAILS = re.compile(
    r"<details\b[^>]*>\s*(?:<summary>(.*?)</summary>)?(.*)</details>\s*$", re.IGNORECASE
)
_SUMMARY = re.compile(r"<summary>(.*?)</summary>\s*$", re.IGNORECASE)
_END_OF_DETAILS = re.compile(r"</details>\s*$", re.IGNORECASE)
_SIGN_OF_ADDRESS = re.compile(r"//|mailto:|www\.", re.IGNORECASE)
"""Sign that every address has which `address_finder` finds."""
_BRACKETS = re.compile(r"\\\(.{1,2000}?\\\)|\\\[.{1,2000}?\\\]", re.DOTALL)


@cache
def grammar() -> MarkdownIt:
    """The parser. Imports what it needs when it is first asked for."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    options = {"html": False, "maxNesting": NESTING_LIMIT, "linkify": True, "typographer": False}
    parser = MarkdownIt("commonmark", options).enable(["table", "strikethrough", "linkify"])
    parser.linkify = address_finder()
    parser.inline.ruler.at("linkify", _address)
    parser.core.ruler.at("linkify", _addresses)
    footnote_plugin(parser, inline=False, move_to_end=False, always_match_refs=True)
    parser.inline.ruler.at("footnote_ref", _footnote_ref)
    dollarmath_plugin(parser, allow_labels=False, allow_space=False, allow_digits=False, double_inline=True)
    parser.inline.ruler.before("escape", "math_brackets", _math_brackets)
    ends = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    parser.block.ruler.before("reference", "math_lines", _math_lines, ends)  # type: ignore[arg-type]
    parser.block.ruler.before("reference", "details", _details, ends)  # type: ignore[arg-type]
    return parser


@cache
def address_finder() -> LinkifyIt:
    """Finder of bare addresses: whole ones, and what begins with `www.`. `main.py` would be one in Paraguay."""
    from linkify_it import LinkifyIt

    finder = LinkifyIt(options={"fuzzy_link": False, "fuzzy_email": False, "fuzzy_ip": False})
    names = rf"(?:{finder.re['src_domain']}\.)+{finder.re['src_domain_root']}"
    ending = finder.re["src_port"] + finder.re["src_host_terminator"] + finder.re["src_path"]
    host = re.compile(names + ending, re.IGNORECASE)

    def rest(_: LinkifyIt, text: str, at: int) -> int:
        """Length of an address behind its `www.`, 0 where there is none."""
        before = text[at - len(WWW) - 1 : at - len(WWW)]
        match = None if before and before in _INSIDE else host.match(text, at)
        return match.end() - at if match else 0

    def whole(_: LinkifyIt, match: Match) -> None:
        match.url = f"http://{match.url}"

    finder.add(WWW, {"validate": MethodType(rest, finder), "normalize": MethodType(whole, finder)})
    return finder


def _addresses(state: StateCore) -> None:
    """Rule: bare addresses in what was parsed; looked for where a text has signs of one."""
    from markdown_it.rules_core.linkify import linkify

    if _SIGN_OF_ADDRESS.search(state.src):
        linkify(state)


def _address(state: StateInline, silent: bool) -> bool:
    """Rule: a bare address, which ends where a footnote's mark begins."""
    from markdown_it.rules_inline.linkify import linkify

    whole, end = state.posMax, state.src.find("[^", state.pos, state.posMax)
    if end < 0:
        return linkify(state, silent)
    source, state.src, state.posMax = state.src, state.src[:end], end
    try:
        return linkify(state, silent)
    finally:
        state.src, state.posMax = source, whole


def _footnote_ref(state: StateInline, silent: bool) -> bool:
    """Rule: a reference to a footnote. The plugin's looks for its end as far as the text goes, from every start."""
    from mdit_py_plugins.footnote.index import footnote_ref

    if "]" not in state.src[state.pos : state.pos + MOST_LABEL_CHARS]:
        return False
    return footnote_ref(state, silent, always_match=True)


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _details(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    """Rule: a line that opens or closes what is folded. What is between is Markdown as ever."""
    if state.is_code_block(line):
        return False
    text = _line(state, line)
    if whole := _WHOLE_DETAILS.match(text):
        return silent or _details_line(state, line, whole[1] or "", whole[2].strip())
    opens, closes = _DETAILS.match(text), _END_OF_DETAILS.match(text)
    if not (opens or closes):
        return False
    if silent:
        return True
    after = line + 1
    summary = (opens and opens[1]) or ""
    if opens and not summary and after < end and (found := _SUMMARY.match(_line(state, after))):
        summary, after = found[1], after + 1
    token = state.push("details_open" if opens else "details_close", "details", 0)
    token.content, token.map = summary, [line, after]
    state.line = after
    return True


def _details_line(state: StateBlock, line: int, summary: str, inside: str) -> bool:
    """Push a line that opens, holds and closes what is folded."""
    lines = [line, line + 1]
    opened = state.push("details_open", "details", 0)
    opened.content, opened.map = summary, lines
    if inside:
        state.push("paragraph_open", "p", 1).map = lines
        words = state.push("inline", "", 0)
        words.content, words.map, words.children = inside, lines, []
        state.push("paragraph_close", "p", -1)
    state.push("details_close", "details", 0).map = lines
    state.line = line + 1
    return True


def _math_lines(state: StateBlock, line: int, end: int, silent: bool) -> bool:
    r"""Rule: lines from one that begins with `\[` to one that ends with `\]`."""
    if state.is_code_block(line) or not _line(state, line).startswith(r"\["):
        return False
    last = next(
        (
            n
            for n in range(line, min(end, line + MOST_MATH_LINES))
            if _line(state, n).rstrip().endswith(r"\]")
        ),
        None,
    )
    if last is None:
        return False
    if not silent:
        token = state.push("math_lines", "math", 0)
        token.content = state.getLines(line, last + 1, state.blkIndent, False).rstrip("\n")
        token.map = [line, last + 1]
        state.line = last + 1
    return True


def _math_brackets(state: StateInline, silent: bool) -> bool:
    r"""Rule: `\(…\)` and `\[…\]` inside a line, whose signs are no emphasis."""
    found = _BRACKETS.match(state.src, state.pos) if state.src[state.pos] == "\\" else None
    if found is None:
        return False
    if not silent:
        token = state.push("math_brackets", "math", 0)
        token.content = found[0]
    state.pos = found.end()
    return True
