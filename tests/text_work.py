"""What a function does with text, counted in place of its time: characters copied or passed over, and rounds of loops.

Lines of Python do not tell what C does inside one of them: a text joined to itself again and again is one line each.
Modules that are imported after `count_from` are read with each such place counted. For a process of its own.
"""

from __future__ import annotations

import ast
import builtins
import importlib.abc
import importlib.machinery
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

_TEXT = (str, bytes, bytearray)
_SEEKING = frozenset({"find", "index", "rfind", "rindex", "count"})
_AT_ONE_PLACE = frozenset({"startswith", "endswith", "append", "pop", "get", "group", "start", "end"})
_MOVING = frozenset({"insert", "index", "remove", "count", "copy", "sort", "reverse"})
_COPYING = frozenset({"list", "tuple", "set", "frozenset", "dict", "sorted", "bytes", "bytearray", "str"})

_done = 0


def work(act: Callable[[], object]) -> int:
    """What `act` does in modules that are counted."""
    before = _done
    act()
    return _done - before


def count_from(*packages: str) -> None:
    """Have every module of these packages that is imported from now on counted."""
    for name, function in (
        ("call", _called),
        ("made", _made),
        ("each", _each),
        ("held", _held),
        ("turn", _turn),
    ):
        setattr(builtins, f"__work_{name}__", function)
    sys.meta_path.insert(0, _Finder(packages))


def _add(count: int) -> None:
    global _done  # noqa: PLW0603 (one process, one sum)
    _done += count


def _called(of: Any, name: str, /, *args: Any, **named: Any) -> Any:
    result = getattr(of, name)(*args, **named)
    _add(_cost(of, name, args, result))
    return result


def _cost(of: Any, name: str, args: Sequence[Any], result: Any) -> int:
    if name in _AT_ONE_PLACE:
        return 1
    if isinstance(of, _TEXT):
        size = len(of)
        if name in _SEEKING:
            start, end, _ = slice(*(args[1:3] if len(args) > 2 else (*args[1:2], None))).indices(size)
            return 1 + _passed(name, start, end, result)
        return 1 + (len(result) if name == "join" else size)
    if isinstance(of, re.Pattern):
        return 1 + _matched(name, args, result)
    if isinstance(of, list):
        return 1 + (len(of) if name in _MOVING else _length(args[0]) if args else 0)
    return 1


def _passed(name: str, start: int, end: int, result: int) -> int:
    if name == "count" or result < 0:
        return max(0, end - start)
    return end - result if name.startswith("r") else result - start


def _matched(name: str, args: Sequence[Any], result: Any) -> int:
    text = next((one for one in args if isinstance(one, _TEXT)), "")
    if name in {"sub", "subn"}:
        return _length(args[1]) if len(args) > 1 else 0
    start = args[1] if name in {"match", "search", "fullmatch"} and len(args) > 1 else 0
    if isinstance(result, re.Match):
        return result.end() - start
    return 1 if name == "match" else len(text) - start


def _length(value: Any) -> int:
    return len(value) if isinstance(value, (*_TEXT, list, tuple, dict, set, frozenset)) else 0


def _made(value: Any) -> Any:
    _add(1 + _length(value))
    return value


def _held(one: Any, many: Any) -> bool:
    _add(1 + (len(many) if isinstance(many, (*_TEXT, list, tuple)) else 0))
    return one in many


def _turn(value: Any) -> Any:
    _add(1)
    return value


def _each(values: Iterable[Any]) -> Iterator[Any]:
    for one in values:
        _add(1)
        yield one


class _Counted(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name) and function.id in _COPYING:
            return _calling("made", node)
        if not isinstance(function, ast.Attribute) or function.attr.startswith("__"):
            return node
        return _calling(
            "call", function.value, ast.Constant(function.attr), *node.args, keywords=node.keywords
        )

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        is_part = isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load)
        return _calling("made", node) if is_part else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _calling("made", node) if isinstance(node.op, ast.Add | ast.Mult | ast.Mod) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                part.value = self.visit(part.value)
        return _calling("made", node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        return self._display(node)

    def visit_List(self, node: ast.List) -> ast.AST:
        return self._display(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.In | ast.NotIn):
            return node
        held = _calling("held", node.left, node.comparators[0])
        return ast.UnaryOp(ast.Not(), held) if isinstance(node.ops[0], ast.NotIn) else held

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Add) or not isinstance(node.target, ast.Name | ast.Attribute):
            return node
        target = ast.parse(ast.unparse(node.target), mode="eval").body
        is_text = ast.parse(f"isinstance({ast.unparse(node.target)}, (str, bytes))", mode="eval").body
        seen = ast.IfExp(is_text, _calling("made", target), ast.Constant(None))
        return [node, ast.Expr(seen)]

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = _calling("each", node.iter)
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.test = _calling("turn", node.test)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        if not node.is_async:
            node.iter = _calling("each", node.iter)
        return node

    def _display(self, node: ast.Tuple | ast.List) -> ast.AST:
        self.generic_visit(node)
        is_joined = any(isinstance(one, ast.Starred) for one in node.elts)
        return _calling("made", node) if is_joined and isinstance(node.ctx, ast.Load) else node


def _calling(name: str, *args: ast.expr, keywords: list[ast.keyword] | None = None) -> ast.Call:
    return ast.Call(ast.Name(f"__work_{name}__", ast.Load()), list(args), keywords or [])


class _Loader(importlib.machinery.SourceFileLoader):
    def get_code(self, fullname: str) -> Any:
        tree = _Counted().visit(ast.parse(self.get_data(self.path)))
        return compile(ast.fix_missing_locations(tree), self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = packages

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> Any:
        if fullname.partition(".")[0] not in self._packages:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec
