"""Outlines of each language, of broken source and of hostile source."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.talk.context.outline import MAX_SYMBOLS, has_outline, symbols_of
from core.talk.context.outline.grammars import GRAMMARS
from tests.operations import LINEAR, growth

PYTHON = '''import os

@decorated
class A(Base):
    """Text."""

    @property
    def x(self,
          y: int) -> int:
        def inner(): ...
        return 1

async def f(): ...
'''

SAMPLES: dict[str, tuple[str, list[tuple[str, str, int, int]]]] = {
    "a.py": (
        PYTHON,
        [
            ("A", "class", 3, 11),
            ("A.x", "method", 7, 11),
            ("A.x.inner", "function", 10, 10),
            ("f", "function", 13, 13),
        ],
    ),
    "a.js": (
        (
            "export default class A extends B {\n  m(x) { return 1 }\n}\nexport const f = async (a) => 1\n"
            "function* g() {}\nconst y = 2\n"
        ),
        [("A", "class", 1, 3), ("A.m", "method", 2, 2), ("f", "function", 4, 4), ("g", "function", 5, 5)],
    ),
    "a.ts": (
        (
            "export interface I { a: string }\nabstract class A<T> {\n  private m(x: number): void {}\n}\n"
            "type T = string\nenum E { A }\nnamespace N { function z() {} }\n"
        ),
        [
            ("I", "interface", 1, 1),
            ("A", "class", 2, 4),
            ("A.m", "method", 3, 3),
            ("T", "type", 5, 5),
            ("E", "enum", 6, 6),
            ("N", "namespace", 7, 7),
            ("N.z", "function", 7, 7),
        ],
    ),
    "a.tsx": (
        "export const C = ({a}) => <div>{a}</div>\nfunction D() { return <p/> }\n",
        [("C", "function", 1, 1), ("D", "function", 2, 2)],
    ),
    "a.go": (
        "package x\ntype T struct { a int }\nfunc (t *T) M() error {\n\treturn nil\n}\nfunc (l List[K]) P() {}\nfunc F() {}\n",
        [("T", "type", 2, 2), ("T.M", "method", 3, 5), ("List.P", "method", 6, 6), ("F", "function", 7, 7)],
    ),
    "a.rs": (
        (
            "pub mod m { pub fn g() {} }\nimpl<T> fmt::Display for Foo<T> {\n  fn fmt(&self) {}\n}\npub struct Foo<T> { a: T }\n"
            "trait Tr { fn q(&self); }\n"
        ),
        [
            ("m", "module", 1, 1),
            ("m.g", "function", 1, 1),
            ("Foo", "impl", 2, 4),
            ("Foo.fmt", "method", 3, 3),
            ("Foo", "struct", 5, 5),
            ("Tr", "trait", 6, 6),
            ("Tr.q", "method", 6, 6),
        ],
    ),
    "a.c": (
        (
            "static int *foo(int a, char **b)\n{\n  return 0;\n}\nstruct s { int a; };\nstruct s x;\n"
            "typedef struct { int b; } T;\ntypedef int (*fp)(int);\n#define M(x) x\n"
        ),
        [
            ("foo", "function", 1, 4),
            ("s", "struct", 5, 5),
            ("T", "type", 7, 7),
            ("fp", "type", 8, 8),
            ("M", "macro", 9, 9),
        ],
    ),
    "a.cpp": (
        (
            "namespace a::b {\ntemplate <class T>\nclass Foo { public: Foo(); ~Foo() {} int m() const { return 1; } };\n}\n"
            "int Foo::bar(int x) { return 0; }\nstd::vector<int>& get() { }\n"
        ),
        [
            ("a.b", "namespace", 1, 4),
            ("a.b.Foo", "class", 2, 3),
            ("a.b.Foo.~Foo", "method", 3, 3),
            ("a.b.Foo.m", "method", 3, 3),
            ("Foo.bar", "function", 5, 5),
            ("get", "function", 6, 6),
        ],
    ),
    "A.java": (
        "package x;\npublic class A<T> {\n  public A() {}\n  @Override public void m(int a) {}\n}\nrecord R(int a) {}\n",
        [("A", "class", 2, 5), ("A.A", "method", 3, 3), ("A.m", "method", 4, 4), ("R", "class", 6, 6)],
    ),
    "a.cs": (
        "namespace N.M {\n  class A { int P { get; set; } int M(int x) => 1; }\n}\n",
        [
            ("N.M", "namespace", 1, 3),
            ("N.M.A", "class", 2, 2),
            ("N.M.A.P", "property", 2, 2),
            ("N.M.A.M", "method", 2, 2),
        ],
    ),
    "a.rb": (
        "module M\n  class A < B\n    def x(y)\n    end\n    def self.z; end\n  end\nend\n",
        [("M", "module", 1, 7), ("M.A", "class", 2, 6), ("M.A.x", "method", 3, 4), ("M.A.z", "method", 5, 5)],
    ),
    "a.php": (
        "<?php\nnamespace A\\B;\nclass C { public function m(int $x): int { return 1; } }\nfunction f() {}\n",
        [("A.B", "namespace", 2, 2), ("C", "class", 3, 3), ("C.m", "method", 3, 3), ("f", "function", 4, 4)],
    ),
    "a.sh": (
        "foo() {\n  echo 1\n}\nfunction bar { :; }\n",
        [("foo", "function", 1, 3), ("bar", "function", 4, 4)],
    ),
    "a.md": (
        "---\ntitle: x\n---\n# A\ntext\n## B ##\n```\n# no\n```\nText\n====\n- item\n---\n",
        [("A", "heading", 4, 9), ("A.B", "heading", 6, 9), ("Text", "heading", 10, 13)],
    ),
}


@pytest.mark.parametrize("path", SAMPLES)
def test_each_language_gives_names_kinds_and_lines(path: str) -> None:
    text, wanted = SAMPLES[path]

    assert [(s.name, s.kind, s.lines.first, s.lines.last) for s in symbols_of(path, text)] == wanted
    assert has_outline(path)


def test_every_grammar_has_a_sample() -> None:
    endings = {path.rpartition(".")[2] for path in SAMPLES}

    assert all(endings & set(grammar.endings) for grammar in GRAMMARS.values())


def test_signatures_are_one_line_without_body_and_decorators() -> None:
    signatures = [symbol.signature for symbol in symbols_of("a.py", PYTHON)]

    assert signatures == ["class A(Base):", "def x(self, y: int) -> int:", "def inner():", "async def f():"]
    assert symbols_of("a.ts", "export abstract class A<T> {\n}")[0].signature == "export abstract class A<T>"
    assert [symbol.depth for symbol in symbols_of("a.py", PYTHON)] == [0, 1, 2, 0]


def test_a_file_without_an_ending_is_known_by_its_first_line() -> None:
    assert [s.name for s in symbols_of("bin/tool", "#!/usr/bin/env python3\ndef main(): ...\n")] == ["main"]
    assert [s.name for s in symbols_of("run", "#!/bin/sh\ngo() {\n:\n}\n")] == ["go"]


@pytest.mark.parametrize("path", ["a.zig", "Makefile", "data.json", "a", ""])
def test_anything_else_has_no_symbols(path: str) -> None:
    assert symbols_of(path, "def f(): ...\nclass A {}\n") == ()
    assert not has_outline(path)


def test_broken_source_still_gives_what_it_can() -> None:
    text = "class A:\n  def f(self:\n    x = (\n  def g(self): pass\ndef h(): return 1\n"

    assert [s.name for s in symbols_of("a.py", text)] == ["A", "f", "g", "h"]
    assert [s.name for s in symbols_of("a.go", "package x\nfunc A() {\nfunc B() {}\n")][:1] == ["A"]
    cut = "export class A {\n  m() { return 1 }\n  n() {"
    assert "m" in {s.name.rpartition(".")[2] for s in symbols_of("a.ts", cut)}


HOSTILE: dict[str, tuple[int, Callable[[int], str]]] = {
    "parens.py": (200_000, lambda n: "(" * n),
    "defs.py": (1_000, lambda n: "".join(" " * k + f"def f{k}():\n" for k in range(n))),
    "braces.c": (200_000, lambda n: "{" * n),
    "arrows.js": (50_000, lambda n: "a=>(" * n),
    "many.py": (60_000, lambda n: "def f(): pass\n" * n),
    "subshells.sh": (50_000, lambda n: "$(" * n),
    "lists.rb": (100_000, lambda n: "[" * n),
    "generics.cpp": (50_000, lambda n: "a<" * n),
    "headings.md": (200_000, lambda n: "# a\n" * n),
    "underlines.md": (100_000, lambda n: "a\n" * n + "==="),
    "binary.rs": (10_000, lambda n: "\x00\x01\ufffd" * n),
}
"""How often something stands there, and the source of so many."""


@pytest.mark.parametrize("path", HOSTILE)
def test_hostile_source_is_bounded_in_time_depth_and_count(path: str) -> None:
    most, source = HOSTILE[path]
    symbols = symbols_of(path, source(most))

    assert growth(lambda size: symbols_of(path, source(size)), 200) <= LINEAR
    assert len(symbols) <= MAX_SYMBOLS
    assert all(symbol.depth < 40 and len(symbol.signature) <= 200 for symbol in symbols)


@settings(max_examples=60, deadline=None)
@given(path=st.sampled_from(sorted(SAMPLES)), cut=st.integers(0, 200), junk=st.text(max_size=5))
def test_any_mutilation_of_source_gives_sound_symbols(path: str, cut: int, junk: str) -> None:
    text = SAMPLES[path][0][:cut] + junk + SAMPLES[path][0][cut + 3 :]
    count = text.count("\n") + 1

    for symbol in symbols_of(path, text):
        assert symbol.name
        assert 1 <= symbol.lines.first <= symbol.lines.last <= count
        assert "\n" not in symbol.signature


def test_nothing_is_imported_until_a_grammar_is_needed() -> None:
    """Start-up is measured: Markdown and unknown files must not load tree-sitter, Python only its own grammar."""
    program = (
        "import sys; from core.talk.context.outline import symbols_of\n"
        "symbols_of('a.md', '# A'); symbols_of('a.zig', 'x')\n"
        "assert not any(name.startswith('tree_sitter') for name in sys.modules)\n"
        "symbols_of('a.py', 'def f(): ...')\n"
        "assert 'tree_sitter_python' in sys.modules and 'tree_sitter_go' not in sys.modules\n"
    )

    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=60)
