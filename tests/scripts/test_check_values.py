"""Structs of over two fields are made by keyword: the check finds each construction that hands one a value by position."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

from scripts import check_values

KINDS = """
from dataclasses import dataclass
from typing import ClassVar, NamedTuple
import msgspec

class Base(msgspec.Struct, frozen=True):
    a: int
    b: int = 0

class Child(Base, frozen=True, kw_only=True):
    many: ClassVar[int] = 3
    c: int

class Grandchild(Child, frozen=True):
    b: int = 1
    d: int = 2

    @classmethod
    def of(cls, a: int) -> "Grandchild":
        return cls(a, c=2)

class Pair(msgspec.Struct, frozen=True):
    a: int
    b: int

class Row(NamedTuple):
    a: int
    b: int
    c: int

@dataclass(frozen=True)
class Record:
    a: int
    b: int
    c: int

class Plain:
    a: int
    b: int
    c: int
"""


def tree(root: Path, use: str) -> list[str]:
    """What the check says of a program with `use` in a module beside the kinds; the kinds' own line is left out."""
    for name, text in {
        "core/values/kinds.py": KINDS,
        "core/values/__init__.py": "",
        "panels/use.py": use,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    made = check_values.Program(root).constructions()
    return [check_values.complaint(one, root) for one in made if one.path.name == "use.py"]


@pytest.mark.parametrize(
    ("use", "kind"),
    [
        ("from core.values.kinds import Row\nRow(1, b=2, c=3)", "Row"),
        ("from core.values.kinds import Record as Kept\n(Kept)(1, b=2, c=3)", "Record"),
        ("from core.values import kinds\nkinds.Child(1, c=2)", "Child"),
        ("import core.values.kinds\ncore.values.kinds.Child(1, c=2)", "Child"),
        ("import core.values.kinds as k\nAlias = k.Grandchild\n\nAlias(1, c=2)", "Grandchild"),
        ("def f():\n    from core.values.kinds import Row\n    return Row[int](1, b=2, c=3)", "Row"),
    ],
)
def test_a_class_is_known_by_whatever_name_it_was_imported(tmp_path: Path, use: str, kind: str) -> None:
    (line,) = tree(tmp_path, use)
    assert line.startswith("panels/use.py:")
    assert f"{kind} has over 2 fields: name its fields (a=)" in line


def test_the_line_names_the_fields_in_the_order_of_the_class(tmp_path: Path) -> None:
    assert tree(tmp_path, "from core.values.kinds import Grandchild\n\nGrandchild(1, 2, 3, c=4)") == [
        "panels/use.py:3: Grandchild has over 2 fields: name its fields (a=, b=, d=)"
    ]


def test_a_star_tuple_is_to_be_written_out(tmp_path: Path) -> None:
    (line,) = tree(tmp_path, "from core.values.kinds import Row\nRow(*range(3))")
    assert "Row has over 2 fields: write each value of the tuple by its field's name" in line


@pytest.mark.parametrize(
    "use",
    [
        "from core.values.kinds import Row\nRow(a=1, b=2, c=3)",
        "from core.values.kinds import Pair\nPair(1, 2)",
        "from core.values.kinds import Plain\nPlain(1, 2, 3)",
        "from elsewhere import Row\nRow(1, 2, 3)",
        "def Row(a, b, c): ...\nRow(1, 2, 3)",
    ],
)
def test_keywords_pairs_and_what_is_no_value_pass(tmp_path: Path, use: str) -> None:
    assert tree(tmp_path, use) == []


def test_a_class_that_makes_itself_is_found(tmp_path: Path) -> None:
    tree(tmp_path, "")
    (made,) = check_values.Program(tmp_path).constructions()
    assert (made.path.name, made.kind) == ("kinds.py", "Grandchild")


def test_fields_are_those_that_the_class_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree(tmp_path, "")
    monkeypatch.syspath_prepend(tmp_path / "core" / "values")
    kinds = importlib.import_module("kinds")
    program = check_values.Program(tmp_path)
    for name in ("Base", "Child", "Grandchild", "Pair", "Row", "Record"):
        taken = inspect.signature(getattr(kinds, name)).parameters.values()
        fields = program.fields(f"core.values.kinds.{name}") or {}
        by_name = {one.name for one in taken if one.kind is inspect.Parameter.KEYWORD_ONLY}
        assert {field for field, is_named in fields.items() if is_named} == by_name
        in_order = [field for field, is_named in fields.items() if not is_named]
        assert in_order == [one.name for one in taken if one.name not in by_name]


def test_it_fails_while_a_construction_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree(tmp_path, "from core.values.kinds import Row\nRow(1, b=2, c=3)")
    assert check_values.main(tmp_path) == 1
    assert "panels/use.py:2: Row" in capsys.readouterr().out
    (tmp_path / "core/values/kinds.py").unlink()
    assert check_values.main(tmp_path) == 0
