"""Definitions of a source file by tree-sitter, and by guesswork where its grammar can make nothing of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from core.base.text import one_line
from core.context.outline.grammars import GRAMMARS, Grammar
from core.context.outline.limits import MAX_SYMBOLS, SIGNATURE_BYTES, SIGNATURE_CHARS
from core.values.curation import LineRange, Symbol

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, TreeCursor

_MAX_DEPTH = 30
_MAX_TREE_DEPTH = 200
_MAX_NODES = 3_000_000
_WRAPPERS = frozenset({"decorated_definition", "export_statement", "template_declaration"})
_DEFINITION = re.compile(
    r"^[ \t]*(?:[a-z]+[ \t]+){0,4}?(class|def|function|func|fn|struct|enum|trait|interface|module|namespace)"
    r"[ \t]+(\w+)[^\n]{0,300}",
    re.MULTILINE,
)
_GUESSED_KINDS = {
    kind: kind for kind in ("class", "struct", "enum", "trait", "interface", "module", "namespace")
}


def definitions(name: str, text: str) -> tuple[Symbol, ...]:
    """The definitions of a text in the language `name` (a key of `GRAMMARS`), in file order."""
    source = text.encode("utf-8", "replace")
    grammar = GRAMMARS[name]
    tree = _parser(name).parse(source)
    symbols = tuple(_nested(_walked(tree.walk(), grammar), grammar, source))
    return symbols or (_guessed(text) if tree.root_node.has_error else ())


def _walked(cursor: TreeCursor, grammar: Grammar) -> Iterator[Node]:
    """The definitions of a tree in file order, without recursion and within bounds.

    A cursor's walk is linear; a query is quadratic on the wide error nodes of hostile source.
    """
    depth, kinds = 0, grammar.kinds
    for _ in range(_MAX_NODES):
        node = cursor.node
        if node is not None and node.is_named and node.type in kinds:
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
        Symbol(m[2], _GUESSED_KINDS.get(m[1], "function"), LineRange(line, max(line, end)), _guessed_head(m))
        for (line, m), end in zip(found, ends, strict=True)
    )


def _guessed_head(found: re.Match[str]) -> str:
    return one_line(found[0], SIGNATURE_CHARS).rstrip("{: ")


@cache
def _parser(name: str) -> Parser:
    """The parser of a language, made when first needed."""
    from importlib import import_module

    from tree_sitter import Language, Parser

    grammar = GRAMMARS[name]
    return Parser(Language(getattr(import_module(grammar.module), grammar.function)()))


def _nested(nodes: Iterator[Node], grammar: Grammar, source: bytes) -> Iterator[Symbol]:
    """Symbols of definitions sorted by their start; names are qualified by the definitions around them."""
    around: list[tuple[int, str, str]] = []
    given = 0
    for node in nodes:
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        name = _name(node, grammar)
        if not name or len(around) >= _MAX_DEPTH:
            continue
        outer_name, outer_kind = around[-1][1:] if around else ("", "")
        full = f"{outer_name}.{name}" if outer_name else name
        kind = grammar.kinds[node.type]
        if kind == "function" and outer_kind in {"class", "impl", "interface", "trait", "struct"}:
            kind = "method"
        around.append((node.end_byte, full, kind))
        whole = _whole(node)
        yield Symbol(full, kind, _lines(whole), _signature(node, whole, source), len(around) - 1)
        given += 1
        if given == MAX_SYMBOLS:
            return


def _name(node: Node, grammar: Grammar) -> str:
    """The name of a definition as it is written, dots between its parts; empty for one without."""
    if node.type in grammar.only_with_body and node.child_by_field_name("body") is None:
        return ""
    if node.type == "variable_declarator" and not _is_function(node.child_by_field_name("value")):
        return ""
    named = node.child_by_field_name(grammar.name_fields.get(node.type, "name"))
    steps = 0
    while named is not None and "declarator" in named.type and steps < _MAX_DEPTH:
        inner = named.child_by_field_name("declarator")
        named = inner or (named.named_children[-1] if named.named_child_count else None)
        steps += 1
    if named is None:
        return ""
    name = re.sub(r"<.*", "", _text(named), flags=re.DOTALL)
    return ".".join(part for part in re.split(r"::|\\|\.", _receiver(node) + name.strip()) if part)


def _is_function(value: Node | None) -> bool:
    return value is not None and value.type in {"arrow_function", "function_expression", "class"}


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


def _signature(node: Node, whole: Node, source: bytes) -> str:
    """One line: from the definition's head (without decorators) to its body."""
    start = node.start_byte if whole.type == "decorated_definition" else whole.start_byte
    body = node.child_by_field_name("body")
    end = body.start_byte if body is not None and body.start_byte > start else node.end_byte
    end = min(end, start + SIGNATURE_BYTES)
    written = source[start:end].decode("utf-8", "replace")
    head = written if body is not None else written.split("\n", 1)[0]
    return one_line(head, SIGNATURE_CHARS).removesuffix("{").rstrip()


def _text(node: Node) -> str:
    return (node.text or b"")[:SIGNATURE_BYTES].decode("utf-8", "replace")
