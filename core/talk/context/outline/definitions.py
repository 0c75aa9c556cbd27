"""Definitions of a source file by tree-sitter, and by guesswork where its grammar can make nothing of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from core.kernel.frame import atx_heading, one_line
from core.kernel.patterns import late
from core.kernel.values.curation import LineRange, Symbol
from core.talk.context.outline.grammars import GRAMMARS, NAMERS, Grammar, without_generics

# Bounds of an outline.

MAX_SYMBOLS = 5_000
SIGNATURE_CHARS = 200
SIGNATURE_BYTES = 2_000
"""Source that is looked at for one name, signature or heading."""


if TYPE_CHECKING:
    from tree_sitter import Node, Parser, TreeCursor

_MAX_DEPTH = 30
_MAX_TREE_DEPTH = 200
_MAX_NODES = 3_000_000
MAX_FOR_NAME = 20_000
"""Bytes of a definition in which its name is looked for."""
MAX_ENUMERATORS = 100
_ENUMERATORS = frozenset(
    {
        *("enumerator", "enum_variant", "enum_constant", "enum_member_declaration"),
        *("enum_case", "enum_entry", "enum_assignment"),
    }
)
_WRAPPERS = frozenset(
    {"decorated_definition", "export_statement", "template_declaration", "ambient_declaration"}
)
_OF_METHODS = frozenset({"class", "impl", "interface", "trait", "struct", "object"})
_JOINTS = late(r"::|\\|(?<=[\w)\]])\.")
_PARAMETERS = late(rb"\b_*[A-Z][A-Z_]{0,20}[ \t]?\((\((?:[^()]|\([^()]{0,200}\)){0,600}\))\)(?=\s*;)")
_TYPE_MACRO = late(
    rb"\b\w{0,30}(?:API|EXPORT|EXTERN|PUBLIC|DEPRECATED)\w{0,20}\(([^()\n]{0,100})\)(?=\s+\*?\w)"
)
_MACRO = late(
    rb"\b[A-Z][A-Z0-9_]{0,30}?(?:API|EXPORT|EXTERN|IMPORT|CALL|CALLBACK|DECL|DECLSPEC|PUBLIC|INLINE|FAR|NORETURN|ENTRY)"
    rb"(?:_[A-Z0-9_]{0,20})?\b(?=[ \t*\n]{1,4}[A-Za-z_*])"
)
_ATTRIBUTES = late(
    rb"(?<=\))(?:\s{1,40}(?:_{1,2}[A-Za-z]\w{0,40}|[A-Z][A-Z0-9_]{2,40})(?:[ \t]?\((?:[^()]|\([^()]{0,100}\)){0,200}\))?){1,6}(?=\s{0,10};)"
)
_WRAPPED = late(
    rb"\b[A-Z][A-Z0-9_]{2,40}\((\s{0,40}[A-Za-z_][\w\s*]{1,200}\((?:[^()\";{}]|\([^()]{0,200}\)){0,2000}\))"
    rb"(?:\s{0,40},[^;{}]{0,400}?)?\s{0,40}\)(?=\s{0,10};)"
)
_BEFORE = late(
    rb"^([ \t]{0,40}(?:[A-Z][A-Z0-9_]{2,40}[ \t]+){0,3}[A-Z][A-Z0-9_]{2,40}\([^()\n;]{0,100}\))(?=\s{1,40}[A-Za-z_]\w{0,60}[ \t*]{1,10}\w)",
    re.MULTILINE,
)
_DEVICE = late(
    rb"\b(?:__(?:host|device|global|noinline|forceinline)__|__forceinline|__extension__|[A-Z_]{0,30}RESTRICT)\b"
)
_SECTION = late(
    rb"^([ \t]{0,40})(?:(?:public|protected|private)[ \t]+(?:Q_SLOTS|slots)|signals|Q_SIGNALS)([ \t]*:)(?!:)",
    re.MULTILINE,
)
_LONE_CALL = late(
    rb"^[ \t]{0,40}[A-Z][A-Z0-9_]{2,60}[ \t]?\([^()\n;]{0,300}\)[ \t]*$(?!\s*[{:])", re.MULTILINE
)
_LONE_WORD = late(
    rb"^[ \t]{0,40}[A-Z][A-Z0-9]{0,30}_[A-Z0-9_]{2,60}[ \t]*$"
    rb"(?=\s*(?:\Z|#|//|/\*|\}|(?:public|protected|private|class|struct|enum|union|template|namespace|extern|typedef|using"
    rb"|explicit|virtual|static|friend)\b))",
    re.MULTILINE,
)
_DIRECTIVE = late(rb"^[ \t]*#[ \t]*(if|elif|else|endif)\b", re.MULTILINE)
_NO_LINE_END = late(rb"[^\n]")
"""Macros of headers: around parameters for old compilers, around a type, beside one, behind the parameters, around a whole
prototype, on a line before one, on a line alone; and the sections of a class that Qt adds.
"""
_WITH_BRANCHES = frozenset({"c", "cpp", "csharp"})
_CONDITIONAL = late(rb"\?(\.(?=[A-Za-z_@])|\[(?=[^\],]))")
_EXTENSION = late(
    rb"\bextension(?:<[^<>\n(){}]{0,200}>)?\([^()\n{}]{1,400}\)(?=\s{0,80}(?:where\b[^{};]{0,400})?\{)"
)
_DEFINITION = late(
    r"^[ \t]*(?:[a-z]+[ \t]+){0,4}?(class|def|function|func|fn|struct|enum|trait|interface|module|namespace)"
    r"[ \t]+(\w+)[^\n]{0,300}",
    re.MULTILINE,
)
_GUESSED_KINDS = {
    kind: kind for kind in ("class", "struct", "enum", "trait", "interface", "module", "namespace")
}


def definitions(name: str, text: str) -> tuple[Symbol, ...]:
    """The definitions of a text in the language `name` (a key of `GRAMMARS`), in file order; none without its grammar."""
    if not is_installed(name):
        return ()
    source = text.encode("utf-8", "replace")
    grammar = GRAMMARS[name]
    readable = _readable(name, source)
    symbols, has_error = _parsed(name, grammar, readable, source)
    if has_error and name in _WITH_BRANCHES and _DIRECTIVE.search(readable) is not None:
        again, is_odd = _parsed(name, grammar, _first_branches(readable), source)
        symbols = max(symbols, again, key=len) if is_odd else again
    return symbols or (_guessed(text) if has_error else ())


def _parsed(name: str, grammar: Grammar, readable: bytes, source: bytes) -> tuple[tuple[Symbol, ...], bool]:
    """Symbols of a source, and whether its grammar stumbled."""
    tree = _parser(name).parse(readable)
    nodes = _walked(tree.walk(), grammar, NAMERS.get(name, {}))
    return tuple(_nested(nodes, grammar, name, source)), tree.root_node.has_error


def _first_branches(source: bytes) -> bytes:
    """The source with the first branch of each `#if` alone: half a definition in each of two is none to a grammar."""
    kept = bytearray(source)
    depth = hidden = 0  # hidden: the depth at which a branch is left out, 0 outside of one
    for line in re.finditer(rb"[^\n]*\n?", source):
        found = _DIRECTIVE.match(line[0])
        kind = found[1] if found is not None else b""
        depth += kind == b"if"
        if found is not None or hidden:
            kept[line.start() : line.end()] = _NO_LINE_END.sub(b" ", line[0])
        if kind in {b"elif", b"else"}:
            hidden = hidden or depth
        elif kind == b"endif":
            hidden = 0 if hidden == depth else hidden
            depth = max(0, depth - 1)
    return bytes(kept)


_LAST_OF_LINE = re.compile(rb"(?<=[^\s{;,])[ ](?=\})")


_ANNOTATIONS = re.compile(rb"(?m)^([ \t]*)((?:@[\w.]{1,100}(?:\([^()\n]{0,300}\))?[ \t]+){2,8})(?=[a-z])")
"""Annotations before a declaration on its line: two of them behind a function are an expression to Kotlin's grammar."""


def _readable(name: str, source: bytes) -> bytes:
    """The source without what its grammar stumbles over, each byte where it was: `a?.b = 1` of C# 14 hides its class, and
    macros around a prototype (`API int CALL open(void)`, `int open OF((void))`) hide its name. Kotlin's has no end for the
    last member of a class on one line: `class A { fun f() = 1 }`.
    """
    if name == "kotlin":
        source = _ANNOTATIONS.sub(lambda found: found[1] + b" " * len(found[2]), source)
        return _LAST_OF_LINE.sub(b";", source)
    if name == "csharp":
        return _EXTENSION.sub(_as_class, _CONDITIONAL.sub(rb" \1", source))
    if name not in {"c", "cpp"}:
        return source
    source = _PARAMETERS.sub(lambda found: b" " * (found.start(1) - found.start()) + found[1] + b" ", source)
    source = _DEVICE.sub(lambda found: b" " * len(found[0]), source)
    source = _WRAPPED.sub(_inner, source)
    source = _BEFORE.sub(lambda found: b" " * len(found[0]), source)
    source = _SECTION.sub(_plain_section, source)
    source = _LONE_CALL.sub(lambda found: b" " * len(found[0]), source)
    source = _LONE_WORD.sub(lambda found: b" " * len(found[0]), source)
    source = _ATTRIBUTES.sub(lambda found: _NO_LINE_END.sub(b" ", found[0]), source)
    source = _TYPE_MACRO.sub(_inner, source)
    return _MACRO.sub(lambda found: b" " * len(found[0]), source)


def _as_class(found: re.Match[bytes]) -> bytes:
    """The head of a block of extensions of C# 14, as one that the grammar knows."""
    return b"class extension"[: len(found[0])].ljust(len(found[0]))


def _plain_section(found: re.Match[bytes]) -> bytes:
    """A section of Qt as one that the grammar knows."""
    return (found[1] + b"public:").ljust(len(found[0]))


def _inner(found: re.Match[bytes]) -> bytes:
    """Text within a macro, without the macro."""
    inner = found[1] if not found[1].strip()[:1].isdigit() else b" " * len(found[1])
    head, tail = found[0][: found.start(1) - found.start()], found[0][found.end(1) - found.start() :]
    return _NO_LINE_END.sub(b" ", head) + inner + _NO_LINE_END.sub(b" ", tail)


def _walked(cursor: TreeCursor, grammar: Grammar, namers: Mapping[str, object]) -> Iterator[Node]:
    """The definitions of a tree in file order, without recursion and within bounds.

    A cursor's walk is linear; a query is quadratic on the wide error nodes of hostile source.
    """
    depth, kinds = 0, grammar.kinds
    for _ in range(_MAX_NODES):
        node = cursor.node
        if node is not None and node.is_named and (node.type in kinds or node.type in namers):
            yield node
        if depth < _MAX_TREE_DEPTH and cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1


def _guessed(text: str) -> tuple[Symbol, ...]:
    """Definitions of source that its grammar can make nothing of, line by line, each up to the next."""
    found = [(text.count("\n", 0, m.start()) + 1, m) for m in islice(_DEFINITION.finditer(text), 500)]
    last = text.count("\n") + (0 if text.endswith("\n") else 1)
    ends = [*(line - 1 for line, _ in found[1:]), last][: len(found)]
    return tuple(
        Symbol(
            name=m[2],
            kind=_GUESSED_KINDS.get(m[1], "function"),
            lines=LineRange(line, max(line, end)),
            signature=_guessed_head(m),
        )
        for (line, m), end in zip(found, ends, strict=True)
    )


def _guessed_head(found: re.Match[str]) -> str:
    return one_line(found[0], SIGNATURE_CHARS).rstrip("{: ")


@cache
def is_installed(name: str) -> bool:
    """True if the grammar of a language is there; those of the extra `grammars` may not be."""
    from importlib.util import find_spec

    return find_spec(GRAMMARS[name].module) is not None


@cache
def _parser(name: str) -> Parser:
    """The parser of a language, made when first needed."""
    from importlib import import_module

    from tree_sitter import Language, Parser

    grammar = GRAMMARS[name]
    return Parser(Language(getattr(import_module(grammar.module), grammar.function)()))


def _nested(nodes: Iterator[Node], grammar: Grammar, language: str, source: bytes) -> Iterator[Symbol]:
    """Symbols of definitions sorted by their start; names are qualified by the definitions around them."""
    around: list[tuple[int, str, str]] = []
    given = 0
    for node in nodes:
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        if len(around) >= _MAX_DEPTH:
            continue
        outer_name, outer_kind = around[-1][1:] if around else ("", "")
        depth, whole = len(around), _whole(node)
        for name, given_kind in _named(node, grammar, language):
            full = f"{outer_name}.{name}" if outer_name else name
            kind = "method" if given_kind == "function" and outer_kind in _OF_METHODS else given_kind
            if len(around) == depth:
                around.append((node.end_byte, full, kind))
            signature = _signature(node, whole, source, name)
            yield Symbol(name=full, kind=kind, lines=_lines(whole), signature=signature, depth=depth)
            given += 1
            if given == MAX_SYMBOLS:
                return


def _named(node: Node, grammar: Grammar, language: str) -> Iterator[tuple[str, str]]:
    """Names that a definition gives, each with its kind."""
    namer = NAMERS.get(language, {}).get(node.type)
    if namer is not None:
        for name, kind in namer(node):
            if parts := [part for part in _JOINTS.split(name) if part]:
                yield ".".join(parts), kind
    elif name := _name(node, grammar):
        yield name, grammar.kinds[node.type]


def _name(node: Node, grammar: Grammar) -> str:
    """The name of a definition as it is written, dots between its parts; empty for one without."""
    if node.type in grammar.only_with_body and node.child_by_field_name("body") is None:
        return ""
    named = node.child_by_field_name(grammar.name_fields.get(node.type, "name"))
    steps = 0
    while named is not None and "declarator" in named.type and steps < _MAX_DEPTH:
        inner = named.child_by_field_name("declarator")
        named = inner or (named.named_children[-1] if named.named_child_count else None)
        steps += 1
    if named is None:
        return ""
    name = without_generics(_text(named))
    return ".".join(part for part in _JOINTS.split(_receiver(node) + name.strip()) if part)


def _receiver(node: Node) -> str:
    """The type that a Go method belongs to, with a dot behind it."""
    receiver = node.child_by_field_name("receiver")
    if receiver is None:
        return ""
    named = re.search(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*\)$", _text(receiver))
    return f"{named[1]}." if named else ""


def _whole(node: Node) -> Node:
    """The definition with its decorators, `export` or template head."""
    while node.parent is not None and node.parent.type in _WRAPPERS:
        node = node.parent
    return node


def _lines(node: Node) -> LineRange:
    first, last = node.start_point.row + 1, node.end_point.row + 1
    if node.end_point.column == 0 and last > first:
        last -= 1
    return LineRange(first, last)


def _signature(node: Node, whole: Node, source: bytes, name: str) -> str:
    """One line: from the definition's head (without decorators) to its body. It holds the name, wherever that stands."""
    start = node.start_byte if whole.type == "decorated_definition" else whole.start_byte
    line = source.rfind(b"\n", 0, start) + 1
    if node.type == "declaration" and not set(source[line:start]) & set(b";{}"):
        start = line  # a macro before the type was blank to the grammar
    body = node.child_by_field_name("body") or _body(node)
    end = body.start_byte if body is not None and body.start_byte > start else node.end_byte
    end = min(end, start + SIGNATURE_BYTES)
    written = source[start:end].decode("utf-8", "replace")
    head = written if body is not None else written.split("\n", 1)[0]
    first = one_line(head, SIGNATURE_CHARS)
    head = first.removesuffix("{").rstrip()
    if body is not None and (members := _enumerators(body)):
        return one_line(f"{head} {{ {', '.join(members)} }}", SIGNATURE_CHARS)
    own = name.rpartition(".")[2]
    if own in head:
        return head
    rest = source[start : min(whole.end_byte, start + MAX_FOR_NAME)].decode("utf-8", "replace").split("\n")
    named = next((line for line in rest if re.search(rf"(?<!\w){re.escape(own)}(?!\w)", line)), own)
    room = SIGNATURE_CHARS - len(own) - 3
    return (
        one_line(f"{one_line(first, room // 2)} … {named.strip()}", SIGNATURE_CHARS)
        .removesuffix("{")
        .rstrip()
    )


def _enumerators(body: Node) -> list[str]:
    """Names that an enumeration lists."""
    names: list[str] = []
    for child in body.named_children[:MAX_ENUMERATORS] if "enum" in body.type else ():
        if child.type in {"property_identifier", "string"}:
            names.append(_text(child).strip("'\""))
        elif child.type in _ENUMERATORS:
            named = child.children_by_field_name("name") or [
                one for one in child.named_children if one.type.endswith("identifier")
            ]
            names += map(_text, [one for one in named if one.is_named])
    return names


def _body(node: Node) -> Node | None:
    """The part of a definition that its signature leaves out, where the grammar has no field for it."""
    return next(
        (child for child in node.named_children[-2:] if child.type.endswith(("_body", "definitions"))), None
    )


def _text(node: Node) -> str:
    return (node.text or b"")[:SIGNATURE_BYTES].decode("utf-8", "replace")


# Headings of a Markdown file, outside of its code and front matter.

_FENCE = late(r" {0,3}(`{3,}|~{3,})")
_SETEXT = late(r" {0,3}(=+|-+)[ \t]*$")
_MARKED = late(r" {0,3}[#=`~-]")
"""Begin of a line that may be any of these: most lines are none."""


def headings(text: str) -> tuple[Symbol, ...]:
    """The headings of a text with LF line ends, each up to the next one of its level or above."""
    lines = text.split("\n")
    count = len(lines) - 1 if text.endswith("\n") else len(lines)
    found = list(_heads(lines))[:MAX_SYMBOLS]
    symbols: list[Symbol] = []
    around: list[tuple[int, str]] = []
    ends = _heading_ends(found, count)
    for (line, level, title), last in zip(found, ends, strict=True):
        while around and around[-1][0] >= level:
            around.pop()
        name = f"{around[-1][1]}.{title}" if around else title
        around.append((level, name))
        head = one_line(f"{'#' * level} {title}", SIGNATURE_CHARS)
        symbols.append(
            Symbol(
                name=name, kind="heading", lines=LineRange(line, last), signature=head, depth=len(around) - 1
            )
        )
    return tuple(symbols)


def first_heading(text: str) -> str:
    """The heading that names a text with LF line ends, without its marks: its first one, unless that is of a lower level and has
    another of its level, as sections have. Empty where there is none.
    """
    heads = _heads(text.split("\n"))
    _, level, title = next(heads, (0, 0, ""))
    is_section = level > 1 and any(other <= level for _, other, _ in heads)
    return "" if is_section else one_line(title, SIGNATURE_CHARS)


def _heading_ends(found: list[tuple[int, int, str]], count: int) -> list[int]:
    """For each heading the last line before the next one of its level or above. O(n)."""
    next_at = [count + 1] * 8
    ends: list[int] = []
    for line, level, _ in reversed(found):
        ends.append(max(line, min(next_at[1 : level + 1]) - 1))
        next_at[level] = line
    return ends[::-1]


def _heads(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Line, level and title of each heading outside of fenced code and front matter."""
    fence = ""
    start = _after_front_matter(lines)
    for index in range(start, len(lines)):
        line = lines[index]
        if not _MARKED.match(line):
            continue
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" `~"):
                fence = ""
        elif mark:
            fence = mark[1]
        elif len(line) <= SIGNATURE_BYTES and (head := _head(lines, index, start)):
            yield head


def _head(lines: list[str], index: int, start: int) -> tuple[int, int, str] | None:
    if (atx := atx_heading(lines[index])) is not None:
        level, title = atx[0], atx[1].strip()
        return (index + 1, level, title) if title else None
    above = lines[index - 1].strip() if index > start else ""
    is_text = bool(above) and not above.startswith(("#", ">", "-", "*", "+", "|", "`", "~"))
    under = _SETEXT.match(lines[index]) if is_text else None
    return (index, 1 if under[1][0] == "=" else 2, one_line(above, SIGNATURE_CHARS)) if under else None


def _after_front_matter(lines: list[str]) -> int:
    if lines[0] != "---":
        return 0
    return next((i + 1 for i, line in enumerate(lines[1:400], 1) if line in {"---", "..."}), 0)
