"""Text of an HTML page. Pages of the web and attached files are read in a worker process: a hostile one may cost time, memory
or the process. Answers in an export of Gemini are read where the export is, within the bounds of its entries.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from typing import TYPE_CHECKING, Any

from core.kernel.frame import clean
from core.kernel.patterns import late

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_MEMORY_BYTES = 1_500_000_000

_OPEN, _CLOSE, _LANGUAGE, _READY, _END, _TERM = (chr(0xFDD0 + number) for number in range(6))
"""Marks that stand in the text while the page is written as Markdown: code points that no text may hold."""
_AS_MARKDOWN = "&<\\*_[].-+`"
_HIDDEN = str.maketrans({one: chr(0xFDD6 + number) for number, one in enumerate(_AS_MARKDOWN)})
_SHOWN = {mark: one for one, mark in zip(_AS_MARKDOWN, map(ord, _HIDDEN.values()), strict=True)}
"""Signs that would be escaped, and their marks: a reader looks for `snake_case`, `AT&T` and `1986.`, and nobody renders them."""
_HIDDEN_IN_CODE = {key: mark for key, mark in _HIDDEN.items() if key != ord("`")}
"""There, back-ticks tell how long the marks around them must be."""
_CODE, _AS_TYPED = frozenset({"code", "pre", "kbd", "samp", "tt"}), frozenset({"pre"})
_UNSHOWN = re.compile("[\u00ad\ufdd0-\ufdef]")
"""Those marks where a page holds them itself, and the places where a word may be cut."""
_KEPT = {
    "sup": ("<sup>", "</sup>"),
    "sub": ("<sub>", "</sub>"),
    "del": ("~~", "~~"),
    "s": ("~~", "~~"),
    "strike": ("~~", "~~"),
    "q": ("“", "”"),
}
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "dd",
        "details",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "header",
        "hgroup",
        "main",
        "nav",
        "section",
        "summary",
    ]
)
_DROPPED = frozenset({"template", "script", "style"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MAX_CELLS = 100_000


def page_text(data: bytes | str, charset: str) -> str:
    """A page as Markdown, without its scripts, styles and templates.

    What changes the meaning of words stays: superscripts and struck text, terms and what they mean, the numbers of a list,
    the language of code, the rows of a table.

    Args:
        data: the page, or its source; charset: as its server named it, empty for none.

    Raises:
        ValueError, LookupError, RecursionError, MemoryError: it cannot be read.
    """
    from justhtml import JustHTML
    from justhtml.sanitizer import sanitize_dom

    page = JustHTML(data if isinstance(data, str) else page_source(data, charset), sanitize=False)
    ready: list[str] = []
    for node in reversed(list(_nodes(page.root))):  # what lies within goes first
        _rewrite(node, ready)
    return clean(_unmarked(sanitize_dom(page.root).to_markdown(), ready))


_SAYS_CHARSET = late(
    rb"""\A\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)|<meta\s[^>]{0,500}?charset\s*=\s*["']?\s*([\w.:-]+)""",
    re.IGNORECASE,
)
_SNIFFED_BYTES = 4_096


_WITHOUT_CODEC = frozenset({"replacement", "x-user-defined"})
"""Charsets of the table that Python's codecs do not have: the page is read as one that names none."""


def codec_of(label: str) -> str:
    """Python's codec for a charset as a server or a page names it; empty for none. Source: WHATWG, Encoding."""
    import webencodings

    known = webencodings.lookup(label)
    return known.codec_info.name if known is not None and known.name not in _WITHOUT_CODEC else ""


def page_source(data: bytes, charset: str) -> str:
    """Source of a page: by its byte order mark, its server, itself, or else as UTF-8, and where it is none as Windows-1252."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    found = _SAYS_CHARSET.search(data[:_SNIFFED_BYTES])
    said = codec_of((found[1] or found[2]).decode("latin-1")) if found is not None else ""
    said = "utf-8" if said.startswith("utf-16") else said  # it could be read: it is none
    codec = "utf-8" if data.startswith(BOM_UTF8) else codec_of(charset) or said
    if not codec:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            codec = "cp1252"
    return data.decode(codec, "replace").removeprefix("\ufeff")


def _nodes(root: Any) -> Iterator[Any]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children or ())


def _rewrite(node: Any, ready: list[str]) -> None:
    """Put into a node's text what its kind means."""
    name = node.name
    if name == "#text":
        if node.data and _UNSHOWN.search(node.data):
            node.data = _UNSHOWN.sub("", node.data)
        said = node.data or ""
        node.data = said.translate(_HIDDEN_IN_CODE if "`" in said and _is_in(node, _CODE) else _HIDDEN)
    elif node.parent is None or node.attrs is None:  # a comment, or an instruction of XML
        return
    elif name in _DROPPED or _is_hidden(node.attrs):
        node.parent.remove_child(node)
    elif name in _KEPT:
        if node.has_child_nodes():
            _put(node, f"{_OPEN}{name}{_END}", is_first=True)
            _put(node, f"{_CLOSE}{name}{_END}", is_first=False)
    elif name == "br" and node.parent.name in _HEADINGS:
        _replace(node, " ", ready)
    elif name == "br" and _is_in(node, _AS_TYPED):
        _replace(node, "\n", ready)
    elif name == "a" and not node.attrs.get("href"):
        node.name = "span"  # a place that links lead to
    elif name in _LISTS:
        _replace_list(node, ready)
    elif name == "input" and node.attrs.get("type") == "checkbox":
        _replace(node, "[x]" if "checked" in node.attrs else "[ ]", ready)
    elif name == "input" and (typed := _typed(node.attrs)):
        _replace(node, typed, ready)
    elif name == "option" and "selected" not in node.attrs and _has_chosen(node.parent):
        node.parent.remove_child(node)
    elif name == "rt" and not any(one.name == "rp" for one in node.parent.children or ()):
        _put(node, "(", is_first=True)
        _put(node, ")", is_first=False)
    elif name == "math" and (formula := _formula(node)):
        _replace(node, "$" + formula + "$", ready)
    elif name == "code" and node.parent.name == "pre":
        found = re.search(r"\blang(?:uage)?-([\w+#.-]{1,40})", (node.attrs.get("class") or ""))
        if found:
            _put(node, f"{_LANGUAGE}{found[1]}{_END}", is_first=True)
    elif name == "table":
        _replace_table(node, ready)
    elif name == "svg" and (words := _drawn_words(node)):
        _replace(node, words, ready)
    elif name == "option":
        _put(node, " ", is_first=False)
    elif name in _BLOCKS:
        if name == "dd":
            _put(node, f"{_TERM}", is_first=True)
        node.name = "div"


_IS_HIDDEN = re.compile(r"(?:\A|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)
_TYPED = frozenset(
    {"", "text", "email", "tel", "url", "search", "number", "date", "time", "month", "week", "datetime-local"}
)


def _is_hidden(attrs: Any) -> bool:
    """True for what a browser shows to nobody, by the page itself."""
    by_style = _IS_HIDDEN.search(attrs.get("style") or "") is not None
    return by_style or attrs.get("hidden", "until-found") != "until-found"


def _typed(attrs: Any) -> str:
    """Words that a person typed into a field, as a page that was saved keeps them. No password is."""
    kind = (attrs.get("type") or "").strip().lower()
    return str(attrs.get("value") or "").strip() if kind in _TYPED else ""


def _has_chosen(choice: Any) -> bool:
    return choice.name == "select" and any("selected" in (one.attrs or ()) for one in choice.children or ())


def _drawn_words(drawing: Any) -> str:
    """Words that stand in a drawing, as those of a chart do; not the titles of its parts, which nobody sees."""
    texts = (one for one in _nodes(drawing) if one.name == "text")
    told = (
        " ".join("".join(inner.data or "" for inner in _nodes(one) if inner.name == "#text").split())
        for one in texts
    )
    return "\n".join(filter(None, told)).translate(_SHOWN)


def _is_in(node: Any, names: frozenset[str]) -> bool:
    above = node.parent
    while above is not None and above.name not in names:
        above = above.parent
    return above is not None


def _replace(node: Any, text: str, ready: list[str]) -> None:
    """Put Markdown that is ready in the place of a node."""
    from justhtml import Text

    ready.append(text)
    node.parent.replace_child(Text(f"{_READY}{len(ready) - 1}{_END}"), node)


def _formula(node: Any) -> str:
    """A formula as it was written, where the page says so beside its signs."""
    if said := (node.attrs.get("alttext") or "").strip():
        return str(said)
    notes = (
        one for one in _nodes(node) if one.name == "annotation" and "tex" in (one.attrs.get("encoding") or "")
    )
    told = next((str(one.to_text()).strip() for one in notes), "")
    return told or " ".join(_signs(node, 0).split())


def _signs(node: Any, depth: int) -> str:
    """The signs of MathML in one line: `a^2`, `x_1`, `(a + b)/c`. Source: MathML Core (W3C, read 2026-11)."""
    name = node.name
    if name == "#text":
        return str(node.data or "").translate(_SHOWN)
    if depth > _MOST_SIGNS or name in {"annotation", "annotation-xml"}:
        return ""
    parts = [said for child in node.children or () if (said := _signs(child, depth + 1)).strip()]
    marks = _MARKS.get(name)
    if marks is not None and len(parts) == len(marks) + 1:
        around = zip(marks, parts[1:], strict=True)
        return grouped(parts[0]) + "".join(mark + grouped(one) for mark, one in around)
    said = _BETWEEN.get(name, "").join(parts)
    if name == "mo":
        return f" {said.strip()} " if said.strip() in _SPACED else said.strip()
    return f"{_AROUND[name]}({said.strip()})" if name in _AROUND else said


def grouped(said: str) -> str:
    """A part of a formula, in brackets where it is more than a word or a sign."""
    said = said.strip()
    return said if said.isalnum() or len(said) == 1 else f"({said})"


_MOST_SIGNS = 60
"""Depth of a formula that is read."""
_MARKS = {
    "mfrac": "/",
    "msup": "^",
    "msub": "_",
    "msubsup": "_^",
    "mover": "^",
    "munder": "_",
    "munderover": "_^",
}
"""Marks before the second part of an element, and before the third."""
_BETWEEN = {"mtr": ", ", "mtable": "; ", "mfenced": ", "}
_AROUND = {"msqrt": "\u221a", "mfenced": "", "mtable": ""}
_SPACED = frozenset("=+-<>\u2212\u00b1\u2264\u2265\u2260\u2248\u2192\u2208\u00d7\u00b7")


def _put(node: Any, text: str, *, is_first: bool) -> None:
    from justhtml import Text

    if is_first and node.has_child_nodes():
        node.insert_before(Text(text), node.children[0])
    else:
        node.append_child(Text(text))


_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl")),
    *((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def numeral(value: int, first: str) -> str:
    """A number as a list shows it that begins with `a`, `A`, `i` or `I`; of any other in digits."""
    if first in {"a", "A"} and value > 0:
        said = chr(ord("a") + (value - 1) % 26) * min((value - 1) // 26 + 1, 9)
    elif first in {"i", "I"} and 0 < value < 4000:
        said = _roman(value)
    else:
        return str(value)
    return said.upper() if first.isupper() else said


def _roman(value: int) -> str:
    said = ""
    for worth, sign in _ROMAN:
        said += sign * (value // worth)
        value %= worth
    return said


_LISTS = frozenset({"ol", "ul"})
_MOST_LISTS = 20
"""Lists in lists that keep their depth."""
_SEPARATE = frozenset({"p", "pre", "div", "blockquote"})


def _replace_list(node: Any, ready: list[str]) -> None:
    """Put a list in Markdown in its place: each item with the number that a browser shows, what lies in it indented."""
    if sum(1 for _ in zip(_lists_around(node), range(_MOST_LISTS), strict=False)) == _MOST_LISTS:
        return
    children = [one for one in node.children or () if not one.name.startswith(("#", "!")) or _is_said(one)]
    is_reversed = "reversed" in node.attrs
    number = _whole(node.attrs.get("start"), sum(one.name == "li" for one in children) if is_reversed else 1)
    lines: list[str] = []
    for item in children:
        if item.name == "#text":  # of no item: a browser shows it, too
            lines.append(" ".join(_unmarked(item.data, ready).split()))
            continue
        number = _whole(item.attrs.get("value"), number)
        mark = "- " if node.name == "ul" else f"{numeral(number, node.attrs.get('type') or '')}. "
        if item.name != "li" and lines:  # a list that stands beside the item that it belongs to
            mark = " " * len(mark)
        else:
            number += -1 if is_reversed else 1
        if text := _item_text(item, ready):
            first, *others = text.split("\n")
            lines += (mark + first, *(" " * len(mark) + line if line else "" for line in others))
    _put_block(node, "\n".join(lines), ready)


def _is_said(node: Any) -> bool:
    return node.name == "#text" and bool((node.data or "").strip())


def _lists_around(node: Any) -> Iterator[Any]:
    while (node := node.parent) is not None:
        if node.name in _LISTS:
            yield node


def _item_text(item: Any, ready: list[str]) -> str:
    """Text of an item, without blank lines where it is one run of words and lists."""
    from justhtml.sanitizer import sanitize_dom

    is_loose = any(one.name in _SEPARATE and not _is_ready(one) for one in item.children or ())
    if item.name == "li":
        item.name = "div"
    text = _unmarked(sanitize_dom(item).to_markdown(), ready).strip("\n")
    return re.sub(r"\n{3,}", "\n\n", text) if is_loose else re.sub(r"\n{2,}", "\n", text)


def _is_ready(node: Any) -> bool:
    """True for a block whose Markdown is made, as that of a list or a table."""
    return len(node.children or ()) == 1 and str(node.children[0].data or "").startswith(_READY)


def _put_block(node: Any, text: str, ready: list[str]) -> None:
    """Put Markdown that is ready in a node's place, apart from what stands around it."""
    from justhtml import Element, Text

    block = Element("div", {}, None)
    node.parent.replace_child(block, node)
    block.append_child(mark := Text(""))
    _replace(mark, text, ready)


def _whole(said: str | None, otherwise: int) -> int:
    return int(said) if said is not None and re.fullmatch(r"-?\d{1,9}", said.strip()) else otherwise


def _replace_table(node: Any, ready: list[str]) -> None:
    from justhtml.sanitizer import sanitize_dom

    rows: list[list[str]] = []
    below: dict[int, int] = {}  # rows that a cell above still takes, by its column
    for row in _nodes(node):
        if row.name == "tr":
            given: list[str] = []
            for cell in [cell for cell in row.children or () if cell.name in {"td", "th"}]:
                _skip_taken(given, below)
                span = max(1, min(_whole(cell.attrs.get("colspan"), 1), 50))
                for column in range(len(given), len(given) + span):
                    below[column] = min(_whole(cell.attrs.get("rowspan"), 1), 1_000) - 1
                cell.name = "div"
                text = _unmarked(sanitize_dom(cell).to_markdown(), ready)
                given += [cell_text(text), *[""] * (span - 1)]
            _skip_taken(given, below)
            rows.append(given)
    width = max(map(len, rows), default=0)
    if not width or width * len(rows) > _MAX_CELLS:
        return
    caption = next((one for one in node.children if one.name == "caption"), None)
    said = [" ".join(caption.to_text().split()), ""] if caption is not None else []
    _put_block(node, "\n".join((*said, *table_lines(rows, width))), ready)


def cell_text(text: str) -> str:
    """Words of a cell on one line, as Markdown takes them in a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table_lines(rows: list[list[str]], width: int) -> list[str]:
    """Lines of a table in Markdown, each row filled or cut to the same number of columns; the first row is its head."""
    lines = [f"| {' | '.join([*row[:width], *[''] * (width - len(row))])} |" for row in rows]
    lines.insert(1, "|" + " --- |" * width)
    return lines


def _skip_taken(row: list[str], below: dict[int, int]) -> None:
    """Leave the places of a row empty that a cell of a row above takes."""
    while below.get(len(row), 0) > 0:
        below[len(row)] -= 1
        row.append("")


def _unmarked(text: str, ready: list[str]) -> str:
    text = re.sub(f"{_OPEN}(\\w+){_END}", lambda found: _KEPT[found[1]][0], text)
    text = re.sub(f"{_CLOSE}(\\w+){_END}", lambda found: _KEPT[found[1]][1], text)
    text = re.sub(f"(`{{3,}})\n{_LANGUAGE}([^{_END}]*){_END}", r"\1\2\n", text)
    text = text.replace(_TERM, ": ")
    text = re.sub(f"{_READY}(\\d+){_END}", lambda found: ready[int(found[1])], text)
    return re.sub(f"{_LANGUAGE}[^{_END}\n]*{_END}", "", text).translate(_SHOWN)
