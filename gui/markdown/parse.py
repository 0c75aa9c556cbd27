"""Markdown text to blocks, with markdown-it-py and our grammar. Nothing in the text is lost, run or fetched."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from types import MethodType
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from core.kernel.language import tr
from core.kernel.patterns import late
from gui.markdown.blocks import Align, MarkdownBlock, Run, RunStyle
from gui.text_buffer import visible

# Grammar of the parser: CommonMark with tables, addresses, footnotes, mathematics and `<details>`.

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
_DETAILS = late(r"<details\b[^>]*>\s*(?:<summary>(.*?)</summary>)?\s*$", re.IGNORECASE)
_WHOLE_DETAILS = late(r"<details\b[^>]*>\s*(?:<summary>(.*?)</summary>)?(.*)</details>\s*$", re.IGNORECASE)
_SUMMARY = late(r"<summary>(.*?)</summary>\s*$", re.IGNORECASE)
_END_OF_DETAILS = late(r"</details>\s*$", re.IGNORECASE)
_SIGN_OF_ADDRESS = late(r"//|mailto:|www\.", re.IGNORECASE)
"""Sign that every address has which `address_finder` finds."""
_BRACKETS = late(r"\\\(.{1,2000}?\\\)|\\\[.{1,2000}?\\\]", re.DOTALL)


@cache
def grammar() -> MarkdownIt:
    """The parser. Imports its packages at the first call."""
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


# Markdown text to blocks, with markdown-it-py. Nothing in the text is lost, run or fetched.

if TYPE_CHECKING:
    from markdown_it.token import Token

DEEPEST = 8
"""Quotes and lists nested deeper are shown at this depth."""
MATH = {
    "math_inline": "$",
    "math_inline_double": "$$",
    "math_block": "$$",
    "math_brackets": "",
    "math_lines": "",
}
"""Tokens of mathematics with the marks around them: it is shown as it was written."""
_FENCE = late(r"^ {0,3}(`{3,}(?!.*`)|~{3,})[ \t]*([^\s`]*).*$")


def parse(source: str, *, base: int = 0) -> tuple[MarkdownBlock, ...]:
    """Parse a text. Control and bidi characters become visible marks.

    Args:
        source: any text; megabytes are for the caller to cut.
        base: what stands before it in the whole text, in shown characters.
    """
    shown = visible(source)
    tokens = grammar().parse(shown)
    if any(token.level >= NESTING_LIMIT - 2 for token in tokens):
        return as_lines(shown, base=base)
    walker = _Walker(starts=_line_starts(shown), base=base)
    for token in tokens:
        walker.take(token)
    return tuple(walker.blocks)


def _line_starts(text: str) -> list[int]:
    """The place of every line, and one behind the end of the last."""
    return [0, *accumulate(len(line) + 1 for line in text.split("\n"))]


def as_lines(text: str, *, base: int = 0) -> tuple[MarkdownBlock, ...]:
    """A text as it is, a paragraph for each line."""
    starts = _line_starts(text)
    return tuple(
        MarkdownBlock(
            kind="written", runs=(Run(text=line),), is_tight=True, start=base + at, end=base + at + len(line)
        )
        for at, line in zip(starts, text.split("\n"), strict=False)
    )


def parse_written(source: str) -> tuple[MarkdownBlock, ...]:
    """A person's words as they wrote them, line by line: only fenced code is formatted, addresses can be pressed."""
    shown = visible(source)
    lines, starts = shown.split("\n"), _line_starts(shown)
    blocks: list[MarkdownBlock] = []
    plain = 0
    for first, last, language in _fences(lines):
        blocks += _written(shown, starts, plain, first)
        text = shown[starts[first + 1] : max(starts[first + 1], starts[last] - 1)]
        blocks.append(
            MarkdownBlock(
                kind="code", text=text, language=language, start=starts[first], end=starts[last + 1] - 1
            )
        )
        plain = last + 1
    return (*blocks, *_written(shown, starts, plain, len(lines)))


def _fences(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """First and last line of every fence that is closed, and its language."""
    at, unclosed = 0, {"`": sys.maxsize, "~": sys.maxsize}
    while at < len(lines):
        opened = _FENCE.match(lines[at])
        if opened and len(opened[1]) < unclosed[opened[1][0]]:
            mark = opened[1]
            close = re.compile(rf"^ {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}\s*$")
            last = next((n for n in range(at + 1, len(lines)) if close.match(lines[n])), None)
            if last is not None:
                yield at, last, opened[2]
                at = last
            else:
                unclosed[mark[0]] = len(mark)  # nor will one be that opens farther down
        at += 1


def _written(shown: str, starts: list[int], first: int, last: int) -> tuple[MarkdownBlock, ...]:
    """The lines `first` up to `last` as one block, without the blank ones around them."""
    start, end = starts[first], starts[last] - 1
    text = shown[start:end]
    if not text.strip():
        return ()
    end = start + len(text.rstrip())
    start += len(text) - len(text.lstrip("\n"))
    return (MarkdownBlock(kind="written", runs=tuple(_linked(shown[start:end])), start=start, end=end),)


def _linked(text: str) -> Iterator[Run]:
    at = 0
    for found in (address_finder().match(text) or ()) if "://" in text or WWW in text.lower() else ():
        if found.index > at:
            yield Run(text=text[at : found.index])
        yield Run(text=text[found.index : found.last_index], style="body", href=found.url)
        at = found.last_index
    if at < len(text):
        yield Run(text=text[at:])


class _List(msgspec.Struct):
    is_ordered: bool
    number: int


class _Walker(msgspec.Struct):
    """Turns the parser's flat tokens into blocks."""

    starts: list[int]
    base: int
    blocks: list[MarkdownBlock] = msgspec.field(default_factory=list)
    lists: list[_List] = msgspec.field(default_factory=list)
    quotes: int = 0
    heading: int = 0
    marker: str = ""
    is_hidden: bool = False
    rows: list[tuple[tuple[Run, ...], ...]] | None = None
    cells: list[tuple[Run, ...]] = msgspec.field(default_factory=list)
    aligns: list[Align] = msgspec.field(default_factory=list)
    table_lines: list[int] | None = None
    item_lines: list[int] | None = None
    folds: tuple[int, ...] = ()

    def take(self, token: Token) -> None:
        """Take the next token."""
        match token.type:
            case "heading_open":
                self.heading = int(token.tag[1])
            case "heading_close":
                self.heading = 0
            case "paragraph_open":
                self.is_hidden = token.hidden
            case "blockquote_open":
                self.quotes += 1
            case "blockquote_close":
                self.quotes -= 1
            case "bullet_list_open" | "ordered_list_open":
                self._flush_marker()
                start = int(token.attrGet("start") or 1)
                self.lists.append(_List(token.type == "ordered_list_open", start))
            case "bullet_list_close" | "ordered_list_close":
                self.lists.pop()
            case "list_item_open":
                self._open_item(token)
            case "list_item_close":
                self._flush_marker()
            case "footnote_reference_open":
                self.lists.append(_List(is_ordered=True, number=0))
                self.marker, self.item_lines = f"[{token.meta['label']}]", token.map
            case "footnote_reference_close":
                self._flush_marker()
                self.lists.pop()
            case "details_open":
                self._fold(token)
            case "details_close":
                self.folds = self.folds[:-1]
            case "inline":
                self._inline(token)
            case _ if token.type in MATH:
                self._math(token)
            case _:
                self._leaf(token)

    def _leaf(self, token: Token) -> None:
        """Take code, a rule, or a part of a table."""
        match token.type:
            case "fence" | "code_block":
                language = token.info.split()[0] if token.info.split() else ""
                code = MarkdownBlock(kind="code", text=token.content.removesuffix("\n"), language=language)
                self._add(code, token.map)
            case "hr":
                self._add(MarkdownBlock(kind="rule"), token.map)
            case "html_block":
                self._add(
                    MarkdownBlock(kind="paragraph", runs=(Run(text=token.content.rstrip("\n")),)), token.map
                )
            case "table_open":
                self.rows, self.aligns, self.table_lines = [], [], token.map
            case "th_open":
                style = str(token.attrGet("style") or "")
                sides: tuple[Align, ...] = ("left", "center", "right")
                self.aligns.append(next((side for side in sides if style.endswith(side)), ""))
            case "table_close":
                rows, self.rows = tuple(self.rows or ()), None
                self._add(MarkdownBlock(kind="table", rows=rows, aligns=tuple(self.aligns)), self.table_lines)
            case "tr_open":
                self.cells = []
            case "tr_close" if self.rows is not None:
                self.rows.append(tuple(self.cells))
            case _:
                pass

    def _math(self, token: Token) -> None:
        """A formula that stands by itself: its lines as they are."""
        text = token.content
        if mark := MATH[token.type]:
            text = f"{mark}{text}{mark}" if "\n" not in text else f"{mark}\n{text.strip(chr(10))}\n{mark}"
        self._add(MarkdownBlock(kind="code", text=text, language="math"), token.map)

    def _fold(self, token: Token) -> None:
        """Begin what is folded. The number of its line tells it from others, also while the text grows."""
        lines = token.map or [0, 0]
        number = self.base + self.starts[lines[0]] + 1
        self._add(
            MarkdownBlock(kind="fold", runs=(Run(text=token.content.strip() or tr("Details")),), fold=number),
            token.map,
        )
        self.folds = (*self.folds, number)

    def _open_item(self, token: Token) -> None:
        current = self.lists[-1]
        self.item_lines = token.map
        self.marker = f"{current.number}." if current.is_ordered else "•"
        current.number += 1

    def _flush_marker(self) -> None:
        """An item without text of its own still shows its marker."""
        if self.marker:
            lines = self.item_lines or [0, 0]
            self._add(MarkdownBlock(kind="paragraph"), [lines[0], lines[0] + 1])

    def _inline(self, token: Token) -> None:
        runs = inline_runs(token)
        if self.rows is not None:
            self.cells.append(runs)
            return
        if self.heading:
            self._add(MarkdownBlock(kind="heading", runs=runs, level=self.heading), token.map)
            return
        if self.marker == "•":
            runs = self._task(runs)
        self._add(MarkdownBlock(kind="paragraph", runs=runs, is_tight=self.is_hidden), token.map)

    def _task(self, runs: tuple[Run, ...]) -> tuple[Run, ...]:
        """`[x] ` at the start of an item is its box."""
        if runs and runs[0].style == "body":
            for mark, box in (("[ ] ", "☐"), ("[x] ", "☑"), ("[X] ", "☑")):
                if runs[0].text.startswith(mark):
                    self.marker = box
                    return (replace(runs[0], text=runs[0].text[4:]), *runs[1:])
        return runs

    def _add(self, block: MarkdownBlock, lines: list[int] | None) -> None:
        depth, quotes = min(DEEPEST, len(self.lists)), min(DEEPEST, self.quotes)
        first, last = lines or (0, 0)
        start, end = (
            self.starts[first],
            max(self.starts[first], self.starts[min(last, len(self.starts) - 1)] - 1),
        )
        self.blocks.append(
            replace(
                block,
                depth=depth,
                quotes=quotes,
                marker=self.marker,
                folds=self.folds,
                start=self.base + start,
                end=self.base + end,
            )
        )
        self.marker = ""


def inline_runs(token: Token) -> tuple[Run, ...]:
    """The styled runs of an inline token; neighbours of one style are one run."""
    runs: list[Run] = []
    strong = italic = strike = 0
    href = ""

    def add(text: str, style: RunStyle, source: str = "") -> None:
        last = runs[-1] if runs and not (runs[-1].source or source) else None
        if last is not None and last.style == style and last.href == href:
            runs[-1] = Run(text=last.text + text, style=style, href=href)
        elif text:
            runs.append(Run(text=text, style=style, href=href, source=source))

    for child in token.children or []:
        match child.type:
            case "strong_open":
                strong += 1
            case "strong_close":
                strong -= 1
            case "em_open":
                italic += 1
            case "em_close":
                italic -= 1
            case "s_open":
                strike += 1
            case "s_close":
                strike -= 1
            case "link_open":
                href = str(child.attrGet("href") or "")
            case "link_close":
                href = ""
            case "code_inline":
                add(child.content, "code")
            case "softbreak":
                add(" ", "body")
            case "hardbreak":
                add("\n", "body")
            case _ if child.type in MATH:
                mark = MATH[child.type]
                add(f"{mark}{child.content}{mark}", "math")
            case "footnote_ref":
                label = child.meta["label"]
                add(f"[{label}]", "muted", f"[^{label}]")
            case "image":
                address = str(child.attrGet("src") or "")
                said = f"{child.content or 'image'} ({address})"
                written = f"![{child.content}]({address})"
                runs.append(Run(text=said, style="muted", href=address, source=written))
            case _:
                add(
                    child.content,
                    "strong" if strong else "italic" if italic else "strike" if strike else "body",
                )
    return tuple(runs)


def split_stable(source: str) -> int:
    """Start of the last block of a growing text: what is before it will not change its meaning.

    A blank line outside a fence, followed by text that is neither indented nor a list item, ends a block
    for good. Reference definitions that come later are the exception, and are taken in when the text is
    complete.
    """
    fence = ""
    at = stable = 0
    was_blank = False
    for line in source.splitlines(keepends=True):
        bare = line.strip()
        if fence:
            if bare.startswith(fence) and not bare.strip(fence[0]):
                fence = ""
        elif bare.startswith(("```", "~~~")):
            fence = bare[: len(bare) - len(bare.lstrip(bare[0]))]
            if was_blank and not line[0].isspace():
                stable = at
        elif was_blank and bare and not line[0].isspace() and not _continues_list(bare):
            stable = at
        was_blank = not bare and not fence
        at += len(line)
    return stable


def _continues_list(bare: str) -> bool:
    head = bare.split(maxsplit=1)[0]
    return head in "-*+" or (head[:-1].isdigit() and head[-1] in ".)")
