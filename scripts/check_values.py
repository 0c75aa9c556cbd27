"""Names each construction that gives a struct of over two fields a value by position: a part of `make lint`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("core", "panels", "gui", "scripts")
MOST = 2
_ROOTS = {"msgspec.Struct", "typing.NamedTuple"}


class Construction(NamedTuple):
    """A call of a class with over two fields, with at least one positional argument; `fields`: those it may hold."""

    path: Path
    call: ast.Call
    kind: str
    fields: tuple[str, ...]


class Module:
    """One file: its classes, its calls with positional arguments, and what each imported or assigned name stands for."""

    def __init__(self, name: str, path: Path) -> None:
        self.path = path
        self.targets: dict[str, str] = {}
        self.classes: dict[str, ast.ClassDef] = {}
        self.calls: list[ast.Call] = []
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                self.calls.append(node)
            elif isinstance(node, ast.ClassDef):
                self.classes[node.name] = node
            elif isinstance(node, ast.ImportFrom):
                self.targets |= {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
            elif isinstance(node, ast.Import):
                tops = [one.name.partition(".")[0] for one in node.names]
                named = zip(node.names, tops, strict=True)
                self.targets |= {one.asname or top: one.name if one.asname else top for one, top in named}
            elif isinstance(node, ast.Assign) and node.col_offset == 0 and (value := _dotted(node.value)):
                self.targets |= {
                    one.id: f"{name}.{value}" for one in node.targets if isinstance(one, ast.Name)
                }


class Program:
    """Every module of a checkout's packages, by dotted name."""

    def __init__(self, root: Path) -> None:
        paths = sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))
        names = [
            ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__") for path in paths
        ]
        self.modules = {name: Module(name, path) for name, path in zip(names, paths, strict=True)}

    def resolve(self, dotted: str) -> str:
        """Return where the object that `dotted` names is defined, through imports and aliases."""
        passed: set[str] = set()
        while dotted not in passed:
            passed.add(dotted)
            parts = dotted.split(".")
            for count in range(len(parts) - 1, 0, -1):
                module = self.modules.get(".".join(parts[:count]))
                if module is not None:
                    if parts[count] not in module.classes and parts[count] in module.targets:
                        dotted = ".".join((module.targets[parts[count]], *parts[count + 1 :]))
                    break
        return dotted

    def fields(self, dotted: str) -> dict[str, bool] | None:
        """Return a value class's fields in order, True for one that takes its value by name only; else None."""
        name, _, kind = dotted.rpartition(".")
        node = self.modules[name].classes.get(kind) if name in self.modules else None
        if node is None:
            return None
        bases = [self.resolve(f"{name}.{_dotted(base)}") for base in reversed(node.bases)]
        inherited = [fields for base in bases if (fields := self.fields(base)) is not None]
        marks = [one for one in node.decorator_list if "dataclass" in ast.unparse(one)]
        if not (inherited or marks or _ROOTS.intersection(bases)):
            return None
        options = [
            *node.keywords,
            *(word for one in marks if isinstance(one, ast.Call) for word in one.keywords),
        ]
        by_name = any(one.arg == "kw_only" and ast.unparse(one.value) == "True" for one in options)
        rows = [one for one in node.body if isinstance(one, ast.AnnAssign)]
        own = [ast.unparse(one.target) for one in rows if "ClassVar" not in ast.unparse(one.annotation)]
        return {
            field: is_named
            for fields in (*inherited, dict.fromkeys(own, by_name))
            for field, is_named in fields.items()
        }

    def constructions(self) -> Iterator[Construction]:
        """Yield each positional construction of a class with over two fields, module by module."""
        for name, module in self.modules.items():
            inner = {id(node): kind for kind, owner in module.classes.items() for node in ast.walk(owner)}
            for call in sorted(module.calls, key=lambda call: (call.lineno, call.col_offset)):
                called = _dotted(call.func)
                kind = self.resolve(f"{name}.{inner.get(id(call), '') if called == 'cls' else called}")
                fields = self.fields(kind) or {}
                if len(fields) > MOST:
                    by_place = tuple(field for field, is_named in fields.items() if not is_named)
                    own_name = kind.rpartition(".")[2]
                    yield Construction(path=module.path, call=call, kind=own_name, fields=by_place)


def _dotted(node: ast.expr) -> str:
    """A name with dots as it is written, without the brackets of a generic class; "" for any other expression."""
    inner = node = node.value if isinstance(node, ast.Subscript) else node
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return ast.unparse(node) if isinstance(inner, ast.Name) else ""


def complaint(made: Construction, root: Path) -> str:
    """Return the line for one construction: where it stands and what to write."""
    names = ", ".join(f"{field}=" for field in made.fields[: len(made.call.args)])
    is_starred = any(isinstance(one, ast.Starred) for one in made.call.args)
    remedy = (
        "write each value of the tuple by its field's name" if is_starred else f"name its fields ({names})"
    )
    return f"{made.path.relative_to(root)}:{made.call.lineno}: {made.kind} has over {MOST} fields: {remedy}"


def main(root: Path = ROOT) -> int:
    """Print every construction to change. Return 1 where there is one, else 0."""
    lines = [complaint(made, root) for made in Program(root).constructions()]
    print("\n".join(lines) or f"Every struct of over {MOST} fields is made by keyword.")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
