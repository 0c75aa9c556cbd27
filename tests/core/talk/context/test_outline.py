"""Outlines of each language, of broken source and of hostile source."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.talk.context.outline import MAX_SYMBOLS, has_outline, symbols_of, why_no_outline
from core.talk.context.outline.definitions import is_installed
from core.talk.context.outline.grammars import GRAMMARS
from tests.operations import LINEAR, growth
from tests.patience import PATIENCE_S

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
            ("s.a", "field", 5, 5),
            ("T", "type", 7, 7),
            ("T.b", "field", 7, 7),
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
            ("a.b.Foo.Foo", "method", 3, 3),
            ("a.b.Foo.~Foo", "method", 3, 3),
            ("a.b.Foo.m", "method", 3, 3),
            ("Foo.bar", "function", 5, 5),
            ("get", "function", 6, 6),
        ],
    ),
    "A.java": (
        "package x;\npublic class A<T> {\n  public A() {}\n  @Override public void m(int a) {}\n}\nrecord R(int a) {}\ninterface F { int ON = 1; }\n",
        [
            ("A", "class", 2, 5),
            ("A.A", "method", 3, 3),
            ("A.m", "method", 4, 4),
            ("R", "class", 6, 6),
            ("F", "interface", 7, 7),
            ("F.ON", "constant", 7, 7),
        ],
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
    "a.kt": (
        "class Pump(val a: Int) {\n  fun open(): Int = 1\n  val x = 2\n  companion object {\n    fun make() = 1\n  }\n}\nobject O { }\nval z = 3\n",
        [
            ("Pump", "class", 1, 7),
            ("Pump.open", "method", 2, 2),
            ("Pump.x", "property", 3, 3),
            ("Pump.Companion", "class", 4, 6),
            ("Pump.Companion.make", "method", 5, 5),
            ("O", "class", 8, 8),
            ("z", "property", 9, 9),
        ],
    ),
    "a.swift": (
        "class A {\n  var x: Int = 1\n  init() {}\n  func f() {}\n}\nprotocol P {\n  func q()\n}\nfunc top() {}\n",
        [
            ("A", "class", 1, 5),
            ("A.x", "property", 2, 2),
            ("A.init", "method", 3, 3),
            ("A.f", "method", 4, 4),
            ("P", "interface", 6, 8),
            ("P.q", "method", 7, 7),
            ("top", "function", 9, 9),
        ],
    ),
    "a.sql": (
        "CREATE TABLE a.b (id int);\nCREATE VIEW v AS SELECT 1;\nCREATE INDEX i ON b(id);\n",
        [("a.b", "table", 1, 1), ("v", "view", 2, 2), ("i", "index", 3, 3)],
    ),
    "a.lua": (
        "local function a() end\nfunction M:c() end\nM.d = function() end\n",
        [("a", "function", 1, 1), ("M.c", "function", 2, 2), ("M.d", "function", 3, 3)],
    ),
    "a.zig": (
        "pub fn main() void {}\nconst S = struct {\n  pub fn m(self: S) void {}\n};\n",
        [("main", "function", 1, 1), ("S", "struct", 2, 4), ("S.m", "method", 3, 3)],
    ),
    "a.vue": (
        '<template>\n  <p>{{ a }}</p>\n</template>\n<script setup lang="ts">\nfunction go(): void {}\n</script>\n',
        [("go", "function", 5, 5)],
    ),
    "a.sh": (
        "foo() {\n  echo 1\n}\nfunction bar { :; }\n",
        [("foo", "function", 1, 3), ("bar", "function", 4, 4)],
    ),
    "a.scala": (
        "// class No\nsealed trait S {\n  def area: Double\n  val k = 1\n}\n\nobject O {\n  def m(x: Int): Int = {\n    val y = 1\n    y\n  }\n}\n",
        [
            ("S", "interface", 2, 5),
            ("S.area", "method", 3, 3),
            ("S.k", "constant", 4, 4),
            ("O", "class", 7, 12),
            ("O.m", "method", 8, 11),
        ],
    ),
    "a.dart": (
        "class A {\n  final int x;\n  A(this.x);\n  Future<int> run() async {\n    var z = go(1);\n    print(z);\n  }\n}\nvoid main() => run();\n",
        [
            ("A", "class", 1, 8),
            ("A.x", "constant", 2, 2),
            ("A.A", "method", 3, 3),
            ("A.run", "method", 4, 7),
            ("main", "function", 9, 9),
        ],
    ),
    "a.ex": (
        'defmodule A do\n  @doc """\n  def no\n  """\n  def f(:a), do: 1\n  def f(:b), do: 2\n  defp g(x) when x > 1 do\n    x\n  end\nend\n',
        [("A", "module", 1, 10), ("A.f", "function", 5, 6), ("A.g", "function", 7, 9)],
    ),
    "a.hs": (
        "module A where\ndata E = L Int\n  | R\nclass M a where\n  go :: a -> a\nf :: Int\nf = 1\ng x\n  | x = 1\n",
        [
            ("A", "module", 1, 1),
            ("E", "struct", 2, 3),
            ("E.R", "case", 3, 3),
            ("M", "class", 4, 5),
            ("M.go", "field", 5, 5),
            ("f", "function", 6, 7),
            ("g", "function", 8, 9),
        ],
    ),
    "a.R": (
        "f <- function(x) {\n  y <- 1\n}\nK = 2\nsetClass('P', representation())\nS <- R6Class('S', public = list(\n  push = function(x) {}\n))\n",
        [
            ("f", "function", 1, 3),
            ("K", "constant", 4, 4),
            ("P", "class", 5, 5),
            ("S", "class", 6, 8),
            ("S.push", "method", 7, 7),
        ],
    ),
    "a.jl": (
        "module G\nstruct C{T} <: S\n  r::T\nend\narea(c::C) = c.r\nfunction Base.show(io)\n  x = 1\nend\nend\n",
        [
            ("G", "module", 1, 1),
            ("C", "struct", 2, 4),
            ("C.r", "field", 3, 3),
            ("area", "function", 5, 5),
            ("Base.show", "function", 6, 9),
        ],
    ),
    "a.erl": (
        "-module(s).\n-record(st, {n}).\nf(1) -> a;\nf(_) -> b.\n% g() -> no.\n",
        [("s", "module", 1, 1), ("st", "struct", 2, 2), ("f", "function", 3, 4)],
    ),
    "a.clj": (
        "(ns a.b)\n(defn f [x]\n  (g x))\n; (defn no [])\n(defprotocol P\n  (m [this]))\n",
        [("a.b", "module", 1, 1), ("f", "function", 2, 3), ("P", "interface", 5, 6), ("P.m", "method", 6, 6)],
    ),
    "a.ml": (
        "module M = struct\n  let f x =\n    let y = 1 in\n    y\nend\ntype t = A | B\nlet rec g = function _ -> 1\n",
        [("M", "module", 1, 5), ("M.f", "function", 2, 4), ("t", "type", 6, 6), ("g", "function", 7, 7)],
    ),
    "a.proto": (
        "message O {\n  string id = 1;\n}\nservice S {\n  rpc Get(A) returns (B);\n}\n",
        [
            ("O", "struct", 1, 3),
            ("O.id", "field", 2, 2),
            ("S", "interface", 4, 6),
            ("S.Get", "method", 5, 5),
        ],
    ),
    "a.graphql": (
        "type Q {\n  me: User\n}\nenum R { A }\n",
        [("Q", "type", 1, 3), ("Q.me", "field", 2, 2), ("R", "enum", 4, 4)],
    ),
    "a.tf": (
        'resource "aws_s3_bucket" "logs" {\n  bucket = "x"\n}\nvariable "region" {}\nlocals {\n  n = 1\n}\n',
        [
            ("aws_s3_bucket.logs", "resource", 1, 3),
            ("region", "variable", 4, 4),
            ("locals", "locals", 5, 7),
            ("locals.n", "field", 6, 6),
        ],
    ),
    "a.ps1": (
        "function Get-X {\n  param($a)\n}\n<# function No {} #>\nclass W {\n  [string]$T\n  [void] Show() {}\n}\n",
        [
            ("Get-X", "function", 1, 3),
            ("W", "class", 5, 8),
            ("W.$T", "field", 6, 6),
            ("W.Show", "field", 7, 7),
        ],
    ),
    "a.pm": (
        "package A::B;\nour $V = 1;\nsub go {\n  1;\n}\n=head1 NO\n\nsub no {}\n\n=cut\nsub on { 1 }\n",
        [
            ("A::B", "module", 1, 1),
            ("$V", "constant", 2, 2),
            ("go", "function", 3, 5),
            ("on", "function", 11, 11),
        ],
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


@pytest.mark.parametrize("path", ["a.nim", "Makefile", "data.json", "a", ""])
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
    "directives.c": (30_000, lambda n: "#if A\n{\n#else\n" * n),
    "wrapped.h": (30_000, lambda n: "LIB_API(int f(" * n),
    "macros.h": (30_000, lambda n: "LIB_A(1) " * n),
    "words.scala": (50_000, lambda n: "private " * n),
    "open.scala": (50_000, lambda n: "{" * n + "/*" * n),
    "names.hs": (50_000, lambda n: "a, " * n),
    "calls.jl": (50_000, lambda n: "f(" * n),
    "lists.r": (50_000, lambda n: "a=list(" * n),
    "quotes.ex": (50_000, lambda n: '"' + "\\\\" * n),
    "deep.dart": (500, lambda n: "".join(f"{' ' * k}class A{k} {{\n" for k in range(n))),
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
        "symbols_of('a.md', '# A'); symbols_of('a.hs', 'x')\n"
        "assert not any(name.startswith('tree_sitter') for name in sys.modules)\n"
        "symbols_of('a.py', 'def f(): ...')\n"
        "assert 'tree_sitter_python' in sys.modules and 'tree_sitter_go' not in sys.modules\n"
    )

    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=PATIENCE_S)


NAMES: dict[str, tuple[str, str]] = {
    "banner.ps1": (
        "#=====\n# One\n#=====\nfunction Get-X {\n  $a = '<#'\n}\nfunction Get-Y {}\n",
        "Get-X Get-Y",
    ),
    "banner.exs": (
        "#=====\ndefmodule A do\n  def x(y), do: ~s(<#{y}>)\n  def z, do: 1\nend\n",
        "A A.x A.z",
    ),
    "banner.graphql": ("#=====\n# One\ntype A {\n  a: Int\n}\n", "A A.a"),
    "banner.jl": ("#=====\nf(x) = 1\n=====#\ng(x) = 1\n", "g"),
    "stars.dart": ("final kinds = 'image/*';\nclass A {}\n", "kinds A"),
    "stars.fs": ("let all = List.reduce (*) xs\n(* let no = 1 *)\nlet last = 1\n", "all last"),
    "letters.jl": ("größe(x) = x\nλ = x -> x\n", "größe λ"),
    "templates.cpp": (
        "template<class T> T Box<T>::take() && { return 1; }\ntemplate<class T> Box<T>::Box() {}\n",
        "Box.take Box.Box",
    ),
    "ambient.d.ts": (
        "declare module 'pump' {\n  const v: string;\n  export const z: number;\n}\n",
        "pump pump.v pump.z",
    ),
    "Fields.java": (
        (
            "class A {\n  private static final int K = 1;\n  protected String name;\n  private int hidden;\n}\n"
        ),
        "A A.K A.name",
    ),
    "fields.php": (
        (
            "<?php\nconst V = 1;\nclass C { const K = 1; public ?string $name = null; private $hidden; static $s; }\n"
        ),
        "V C C.K C.name C.s",
    ),
    "fields.cs": ("class C { private int x; public readonly int y; const int Z = 1; }\n", "C C.y C.Z"),
    "tables.lua": (
        "M.t = { run = function() end, ['go'] = function() end, n = 1 }\n",
        "M.t M.t.run M.t.go",
    ),
    "tests.zig": (
        'const std = @import("std");\npub const z = 3;\npub var g: i32 = 0;\ntest "adds" {}\n',
        "z g adds",
    ),
    "members.hpp": (
        (
            "class Vec { public: Vec(int n); int size() const; int &operator[](int i); virtual void draw() = 0; "
            "static Vec make(); operator bool() const; };\nvoid a(int), b(int);\nvoid g() { int x; f(); }\n"
        ),
        "Vec Vec.Vec Vec.size Vec.operator[] Vec.draw Vec.make Vec.operator bool a b g",
    ),
    "macros.h": (
        (
            "API_EXPORT int LIB_CALL open_it(const char *p);\nint old OF((int a, int b));\nPyAPI_FUNC(int) py(int);\n"
            "extern int access (const char *n) __THROW __nonnull ((1));\nextern int count;\nint *p(void);\n"
        ),
        "open_it old py access count p",
    ),
    "cpp.h": ("namespace n {\nclass A { int f(); };\n}\n", "n n.A n.A.f"),
    "values.js": (
        (
            "export const Memo = React.memo(function X() {});\nconst Fwd = forwardRef((p) => 1);\nexports.x = function () {};\n"
            "Foo.prototype.bar = () => 1;\nexport default () => 1;\nclass A { onClick = () => 1; z = 3; }\n"
            "module.exports = { b() {}, c: () => 1 };\nconst useStore = create((set) => ({ n: 0 }));\n"
        ),
        "Memo Fwd x Foo.bar default A A.onClick module.exports module.exports.b module.exports.c useStore",
    ),
    "types.d.ts": (
        (
            "declare function open(p: string): Pump;\nexport declare class Pump { a: number; start(): void; }\n"
            "declare const version: string;\nexport interface Box<T> { put(x: T): void; }\n"
            "declare module 'x' { export function q(): void; }\n"
        ),
        "open Pump Pump.a Pump.start version Box Box.put x x.q",
    ),
    "names.go": (
        "package x\nconst A = 1\nvar B, C = 1, 2\ntype I interface { M(a int) error }\nfunc f() { var z int }\n",
        "A B C I I.M f",
    ),
    "new.cs": (
        (
            "class A {\n  const int K = 1;\n  event Action E;\n  public int this[int i] => 1;\n"
            "  public static A operator +(A a, A b) => a;\n  void M() { a?.b = 1; c?[0] = 2; }\n  void N() {}\n}\n"
        ),
        "A A.K A.E A.this[] A.operator + A.M A.N",
    ),
    "names.rb": (
        (
            "class A\n  attr_accessor :x, :y\n  CONST = 1\n  class << self\n    def m; end\n  end\n"
            "  define_method(:dyn) { }\nend\nPoint = Struct.new(:a) do\n  def d; end\nend\n"
        ),
        "A A.x A.y A.CONST A.m A.dyn Point Point.d",
    ),
    "wrapped.h": (
        (
            "#ifdef __CUDACC__\ntemplate<typename... A>\n__host__ __device__ inline void unused(A&&...) {}\n#endif\n"
            'extern "C" {\nLIB_NORETURN LIB_ATTRIBUTE_FORMAT(3, 4)\nLIB_API void stop(const char * file, int line);\n'
            "LIB_DEPRECATED(LIB_API struct t * add(\n        struct c * ctx,\n        int (*f)(int)),\n"
            '    "use add2 instead");\nLIB_API struct t * add2(\n    struct c * ctx);\n'
            "typedef void (*op_t)(const float * LIB_RESTRICT x);\nenum kind { ONE };\n}\n"
        ),
        "unused stop add add2 op_t kind",
    ),
    "standard.h": (
        "#include <string>\nstruct A {\n  A() : n(0) {}\n  int n;\n};\nA make(const A & a);\n",
        "A A.A A.n make",
    ),
    "branches.cs": (
        (
            "public interface ILog\n{\n    void A()\n#if DEFAULTS\n    { }\n#else\n    ;\n#endif\n    ILog B(int a)\n#if DEFAULTS\n"
            "        => this\n#endif\n    ;\n}\n"
        ),
        "ILog ILog.A ILog.B",
    ),
    "extensions.cs": (
        "static class E {\n  extension(string s) {\n    public int Words() => 1;\n  }\n  void M() {}\n}\n",
        "E E.extension E.extension.Words E.M",
    ),
    "operators.rb": (
        "class A\n  def <=>(o); end\n  def <<(o); end\n  alias_method :old, :m\n  alias older m\nend\n",
        "A A.<=> A.<< A.old A.older",
    ),
    "wrappers.tsx": (
        (
            "const Button = styled(Base)`x`;\nconst Page = withRouter(connect(f)(Inner));\nconst React = require('react');\n"
            "export const useStore = create()((set) => ({ inc: () => set(1) }));\n"
        ),
        "Button Page useStore useStore.inc",
    ),
    "modern.cpp": (
        (
            "namespace a::b {\nusing Id = int;\nenum class E { A };\n"
            "struct S { ~S(); auto operator<=>(const S&) const = default; };\n"
            "template <class T> concept Small = sizeof(T) < 8;\n}\n"
        ),
        "a.b a.b.Id a.b.E a.b.S a.b.S.~S a.b.S.operator<=> a.b.Small",
    ),
    "class.js": (
        (
            "class A {\n  #x() {}\n  get v() { return 1 }\n  static make() {}\n  static { init(); }\n"
            "  async *gen() {}\n  constructor() {}\n}\nexport const handler = async () => {};\n"
        ),
        "A A.#x A.v A.make A.gen A.constructor handler",
    ),
    "generic.go": (
        (
            "package x\ntype Set[T comparable] map[T]struct{}\nfunc (s Set[T]) Has(x T) bool { return true }\n"
            "type (\n\tB struct{}\n\tC interface{ D() }\n)\ntype A = int\nfunc Map[K, V any](f func(K) V) {}\n"
        ),
        "Set Set.Has B C C.D A Map",
    ),
    "records.cs": (
        (
            "namespace A.B;\npublic record Point(int X, int Y) { public double Len() => 1; }\n"
            "public delegate void Del(int a);\nclass S(int n) { public required string Name { get; init; } ~S() {} }\n"
        ),
        "A.B Point Point.Len Del S S.Name S.~S",
    ),
    "endless.rb": (
        (
            "module A\n  class B < C\n    def self.m; end\n    def n = 1\n    private def o; end\n  end\nend\n"
            "Coord = Data.define(:x) do\n  def d; end\nend\n"
        ),
        "A A.B A.B.m A.B.n A.B.o Coord Coord.d",
    ),
    "kinds.swift": (
        (
            "struct A: Codable {\n  subscript(i: Int) -> Int { i }\n  static func make() -> A { A() }\n  deinit {}\n}\n"
            "extension A {\n  func ext() {}\n}\nenum E {\n  case a\n  func r() {}\n}\nactor K {\n  func s() {}\n}\n"
            "typealias N = Int\n"
        ),
        "A A.subscript A.make A.deinit A A.ext E E.r K K.s N",
    ),
    "overloads.ts": (
        (
            "export abstract class A {\n  abstract m(): void;\n}\nexport function f(a: string): void;\n"
            "export function f(a: any) {}\nexport const enum E { A }\n"
        ),
        "A A.m f f E",
    ),
    "two.vue": (
        (
            '<script lang="ts">\nexport interface P { a: string }\n</script>\n<script setup lang="ts">\n'
            "const go = () => 1\n</script>\n<template><p/></template>\n"
        ),
        "P go",
    ),
    "page.astro": (
        (
            "---\ninterface Props { a: string }\nexport async function getStaticPaths() { return [] }\n---\n<p>{a}</p>\n"
            "<script>\n/*\n---\n*/\nfunction client() {}\n</script>\n"
        ),
        "Props getStaticPaths client",
    ),
    "lines.kt": (
        (
            "class A { fun f() = 1; val y = 2 }\ninterface I { fun q() }\nenum class E { A, B; fun r() = 1 }\n"
            "data class D(val a: Int)\nobject O { fun s() = 1 }\n"
        ),
        "A A.f A.y I I.q E E.r D O O.s",
    ),
    "module.lua": (
        "local M = {}\nfunction M.a() end\nM.b = function() end\nlocal c = function() end\nreturn M\n",
        "M.a M.b c",
    ),
    "kinds.zig": (
        'const std = @import("std");\npub const E = enum { a };\nconst U = union(enum) { x: u8 };\nfn p() void {}\n',
        "E U p",
    ),
    "unit.ts": (
        (
            "export interface R {\n  find(): void;\n  save: (row: T) => void;\n  size: number;\n}\n"
            "export default {\n  a() {},\n  b: async () => {},\n} satisfies H;\n"
        ),
        "R R.find R.save default default.a default.b",
    ),
    "module.py": (
        "type Pair[T] = tuple[T, T]\nMAX: int = 3\n_T = TypeVar('_T')\nadd = lambda a: a\nvalue = 1\nclass A:\n    B = 1\n",
        "Pair MAX _T add A",
    ),
    "top.cs": (
        "var app = Make();\nstatic int Find(int id) => id;\nasync Task Go() { int In() => 1; }\nrecord Order(int Id);\n",
        "Find Go Order",
    ),
    "blocks.cs": (
        (
            "static class S\n{\n    extension<T>(IEnumerable<T> source) where T : INumber<T>\n    {\n"
            "        public T Total() => source.First();\n    }\n    public static string Slug(this string t) => t;\n}\n"
        ),
        "S S.extension S.extension.Total S.Slug",
    ),
    "dial.hpp": (
        (
            "NS_BEGIN_HERE\nclass Painter;\nNS_END_HERE\n#define LIMIT 3\n#define GUARD\nclass Dial : public Q\n{\n    Q_OBJECT\n"
            "    Q_PROPERTY(int value READ value)\n    NO_COPY(Dial)\npublic slots:\n    void setValue(int v);\nsignals:\n"
            "    void changed(int v);\nprotected:\n    template <class F>\n    void each(F f) requires(N > 0);\n};\n"
            "namespace fs = std::filesystem;\n"
        ),
        "LIMIT Dial Dial.setValue Dial.changed Dial.each fs",
    ),
    "more.swift": (
        (
            '@freestanding(expression)\npublic macro text<T>(_ v: T) -> String = #externalMacro(module: "M", type: "S")\n'
            "protocol P {\n  associatedtype Item\n  func go()\n}\n"
        ),
        "text P P.Item P.go",
    ),
    "more.rs": ("trait T {\n    type Item;\n    fn go(&self);\n}\n", "T T.Item T.go"),
    "module-info.java": ("module a.b {\n  requires java.base;\n}\n", "a.b"),
    "more.h": (
        "enum { kLimit = 4, kMore };\nAPI_EXPORT int api_open(int a) API_NONNULL(1);\nenum named { x };\n",
        "kLimit kMore api_open named",
    ),
    "Rakefile.rake": ("task :migrate do\nend\ntask seed: :migrate do\nend\n", "migrate seed"),
    "define.php": ("<?php\ndefine('APP_MODE', 'x');\nfunction f() { other('y'); }\n", "APP_MODE f"),
    "global.d.ts": ("declare global {\n  var DEBUG: boolean;\n}\n", "DEBUG"),
    "bodies.sql": (
        (
            "create trigger t after insert on n begin\n  insert into f values (1);\n  update n set a = 1;\nend;\n"
            "create procedure p()\nbegin\n  create temporary table inner_one (a int);\nend;\n"
            "  create or alter view dbo.[My View] as select 1;\n-- create table no_one\n"
            "select 'create table no_two (a int)';\ncreate function f() returns int as $b$\ncreate table no_three ();\n$b$;\n"
        ),
        "t p dbo.My View f",
    ),
    "schema.sql": (
        (
            "CREATE OR REPLACE FUNCTION f() RETURNS int AS $$ SELECT 1 $$ LANGUAGE sql;\n"
            'CREATE TABLE IF NOT EXISTS "My Table" (id int);\nCREATE TEMP VIEW v AS SELECT 1;\n'
            "CREATE UNIQUE INDEX i ON t(id);\nCREATE TYPE mood AS ENUM ('a');\n"
        ),
        "f My Table v i mood",
    ),
}


@pytest.mark.parametrize("path", NAMES)
def test_what_a_file_defines_is_named(path: str) -> None:
    text, wanted = NAMES[path]
    names = [symbol.name for symbol in symbols_of(path, text)]
    assert " ".join(names) == wanted


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("a.nim", "there is no outline for files that end in .nim"),
        ("LICENCE", "there is no outline for this kind of file"),
        ("a.py", "no symbols were found in this file"),
    ],
)
def test_a_kind_without_an_outline_is_told_from_a_file_without_symbols(path: str, said: str) -> None:
    assert why_no_outline(path, "x = 1\n") == said


@pytest.mark.parametrize(
    ("path", "text", "signatures"),
    [
        ("a.h", "typedef union {\n    int word;\n} word_t;\n", "typedef union { … } word_t;|int word;"),
        ("a.hpp", "template <class F>\nvoid each(F f);\n", "template <class F> … void each(F f);"),
        (
            "a.rs",
            "pub enum Shape {\n    Round(u8),\n    Flat { a: u8 },\n}\n",
            "pub enum Shape { Round, Flat }",
        ),
        ("a.java", "enum Day { MON, TUE; int n; }\n", "enum Day { MON, TUE }"),
        ("a.kt", "enum class E { A, B }\n", "enum class E { A, B }"),
        ("a.swift", "enum E {\n  case a, b\n  case c(Int)\n}\n", "enum E { a, b, c }"),
        ("a.ts", "enum E { A = 1, B }\n", "enum E { A, B }"),
        ("a.cs", "public enum E { A = 1, B }\n", "public enum E { A, B }"),
        ("a.php", "<?php\nenum E: string { case A = 'a'; case B = 'b'; }\n", "enum E: string { A, B }"),
        ("a.c", "enum color { RED, GREEN = 2 };\n", "enum color { RED, GREEN }"),
        ("a.lua", "M.x = {\n  go = function() end,\n}\n", "M.x =|go = function() end"),
    ],
)
def test_a_signature_holds_the_name_and_what_an_enumeration_lists(
    path: str, text: str, signatures: str
) -> None:
    assert "|".join(symbol.signature for symbol in symbols_of(path, text)) == signatures


HELD_OUT = {
    "a.kt": ("@Composable\nfun Screen() { }\n@Preview @Composable private fun ScreenPreview() {}\n", ["Screen", "ScreenPreview"]),
    "a.tsx": ("const Styled = styled.div<Props>`color: red;`;\nconst text = `x`;\n", ["Styled"]),
    "a.c": ("static struct class *pump_class;\nstatic int depth;\nvoid f(void) { static int inner; }\n", ["pump_class", "depth", "f"]),
    "a.pyi": ("version: str\ndef f() -> None: ...\nx = 1\n", ["version", "f"]),
}  # fmt: skip
"""Declarations that files written before trying had, and outlines lacked."""


@pytest.mark.parametrize("path", HELD_OUT)
def test_declarations_of_held_out_files_are_named(path: str) -> None:
    text, names = HELD_OUT[path]

    assert [symbol.name for symbol in symbols_of(path, text)] == names


def test_a_grammar_that_is_not_installed_is_told_with_the_line_that_adds_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name: None if name == "tree_sitter_kotlin" else object()
    )
    is_installed.cache_clear()
    try:
        assert symbols_of("a.kt", "fun f() = 1\n") == ()
        assert 'pip install "manual-slop[grammars]"' in why_no_outline("a.kt", "fun f() = 1\n")
        assert [one.name for one in symbols_of("a.py", "def f(): ...\n")] == ["f"]
    finally:
        is_installed.cache_clear()
