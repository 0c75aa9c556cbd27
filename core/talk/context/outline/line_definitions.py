"""Definitions of languages whose grammar is not here, line by line: each lies in the one above that is indented less."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate

import msgspec

from core.kernel.frame import one_line
from core.kernel.patterns import late
from core.kernel.values.curation import LineRange, Symbol

SIGNATURE_CHARS = 200
MAX_LINE = 2_000
"""Longer lines define nothing."""
_MAX_DEPTH = 30


class LineLanguage(msgspec.Struct, frozen=True):
    """Beginnings of a language's definitions.

    Args:
        endings: of its files; rules: each with the groups `name` and, where the kind is written, `kind`, or else
            its kind stands beside it. A name may be joined of `name`, `name2`.
        quiet: comments, and texts of several lines, which define nothing.
        of: for some kinds those that they must lie in (`field` in a `struct`); "" is the top of the file.
        local: kinds that within a function are its own: its values, and, where a call looks like one, what is called.
    """

    endings: tuple[str, ...]
    rules: tuple[tuple[re.Pattern[str], str], ...]
    quiet: re.Pattern[str]
    of: Mapping[str, frozenset[str]] = {}
    local: frozenset[str] = frozenset({"constant"})


_KINDS = {
    **dict.fromkeys(
        ("def", "fun", "func", "sub", "filter", "workflow", "defn", "defn-", "function"), "function"
    ),
    **dict.fromkeys(
        ("defp", "defdelegate", "external", "rpc", "query", "mutation", "subscription"), "function"
    ),
    **dict.fromkeys(("defmacro", "defmacrop", "macro", "defguard", "defguardp", "define"), "macro"),
    **dict.fromkeys(("defmodule", "module", "package", "package object", "ns", "module type"), "module"),
    **dict.fromkeys(("defprotocol", "trait", "interface", "protocol", "service", "mixin"), "interface"),
    **dict.fromkeys(("object", "defrecord", "deftype", "extension type", "extension", "setClass"), "class"),
    **dict.fromkeys(("R6Class", "setRefClass"), "class"),
    **dict.fromkeys(
        ("message", "input", "struct", "mutable struct", "record", "defstruct", "data"), "struct"
    ),
    **dict.fromkeys(("newtype", "type", "typedef", "abstract type", "primitive type", "@type"), "type"),
    **dict.fromkeys(("@typep", "@opaque", "type family", "data family", "type instance", "opaque"), "type"),
    **dict.fromkeys(("union", "scalar", "callback"), "type"),
    **dict.fromkeys(("val", "var", "given", "const"), "constant"),
    **dict.fromkeys(("@callback", "@macrocallback", "setGeneric", "setMethod", "defmulti"), "function"),
    **dict.fromkeys(("test", "describe", "deftest"), "test"),
}
_LEAF = frozenset({"function", "constant", "field", "macro", "test"})
"""Kinds within which values are a function's own."""

_START = r"(?:^|(?<=[{;]))[ \t]*"
_WITHIN = r"(?:^|(?<=[{;(,]))[ \t]*"
_TEXT = r'"(?:[^"\\\n]|\\.){0,2000}"'
_BOTH_TEXTS = rf"{_TEXT}|'(?:[^'\\\n]|\\.){{0,2000}}'"
_LONG_TEXT = r"\"\"\".*?(?:\"\"\"|\Z)"
_C_LIKE = late(rf"//[^\n]*|/\*.*?(?:\*/|\Z)|{_LONG_TEXT}|'''.*?(?:'''|\Z)|{_BOTH_TEXTS}", re.DOTALL)
_HASH = late(rf"{_LONG_TEXT}|'''.*?(?:'''|\Z)|#[^\n]*|{_TEXT}", re.DOTALL)
_HASH_OF_JULIA = late(rf"{_LONG_TEXT}|#=.*?(?:=#|\Z)|#[^\n]*|{_TEXT}", re.DOTALL)
_HASH_OF_POWERSHELL = late(rf"<#.*?(?:#>|\Z)|#[^\n]*|{_BOTH_TEXTS}", re.DOTALL)
_POD = late(rf"^=[a-z].*?(?:^=cut\b|\Z)|#[^\n]*|{_TEXT}", re.DOTALL | re.MULTILINE)
_DASHES = late(rf"\{{-.*?(?:-\}}|\Z)|--[^\n]*|{_TEXT}", re.DOTALL)
_STARS = late(rf"\(\*(?!\)).*?(?:\*\)|\Z)|{_TEXT}", re.DOTALL)
_PERCENT = late(rf"%[^\n]*|{_TEXT}")
_SEMICOLON = late(rf";[^\n]*|{_TEXT}")


def _rules(*given: str | tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    pairs = (one if isinstance(one, tuple) else (one, "") for one in given)
    return tuple((late(pattern, re.MULTILINE), kind) for pattern, kind in pairs)


_TYPES = frozenset({"class", "interface", "enum", "struct", "type"})
_SCALA = LineLanguage(
    endings=("scala", "sc", "sbt"),
    quiet=_C_LIKE,
    rules=_rules(
        _START
        + r"(?:@\w{1,60}(?:\([^()\n]{0,200}\))?[ \t]+){0,6}(?:extension[ \t]*(?:\[[^\]\n]{1,80}\][ \t]*)?\([^()\n]{1,200}\)[ \t]*)?"
        r"(?:(?:private|protected)(?:\[\w{1,60}\])?[ \t]+|(?:final|sealed|abstract|implicit|override|lazy|inline|opaque|case"
        r"|transparent|open|infix)[ \t]+){0,8}"
        r"(?P<kind>class|trait|object|enum|def|val|var|type|given|package[ \t]+object)[ \t]+(?P<name>`[^`\n]{1,80}`|\w[\w$]{0,80}|[^\w\s(\[{:=.,;\"]{1,8})",
        (
            _START
            + r"case[ \t]+(?P<name>[A-Z]\w{0,80}(?:,[ \t]*[A-Z]\w{0,80}){0,20})(?=[ \t]*(?:$|[(}]|extends\b))(?![^\n]{0,300}=>)",
            "case",
        ),
    ),
    of={"case": frozenset({"enum"})},
)
_DART = LineLanguage(
    endings=("dart",),
    quiet=_C_LIKE,
    local=frozenset({"constant", "function"}),
    rules=_rules(
        _START
        + r"(?:(?:abstract|base|interface|final|sealed|mixin)[ \t]+){0,4}(?P<kind>class|mixin|enum|extension[ \t]+type|extension|typedef)[ \t]+(?:const[ \t]+)?(?P<name>(?!on\b)\w{1,80})",
        (
            _START
            + r"(?:@\w{1,60}(?:\([^()\n]{0,200}\))?[ \t]+){0,4}(?:(?:static|external|covariant|abstract|augment)[ \t]+){0,3}"
            r"(?!(?:return|await|throw|if|for|while|switch|else|assert|new|case|yield|import|export|part)\b)(?:(?:const|factory)[ \t]+)?"
            r"(?:[\w.$]{1,80}(?:<[^;={}\n]{1,120}>)?\??[ \t]+)?(?:(?:get|set|operator)[ \t]+)?(?P<name>[\w$]{1,80}(?:\.\w{1,80})?|[^\w\s(){}\[\];=,.\"'/]{1,3}|==|\[\]=?)"
            r"(?:<[^;={}\n]{1,120}>)?[ \t]*(?:\(|=>)",
            "function",
        ),
        (
            _START
            + r"(?:(?:static|external|covariant|abstract)[ \t]+){0,3}(?:(?:late[ \t]+)?(?:final|const|var)|late|(?=[A-Z\w]{1,80}[<? ]))[ \t]*"
            r"(?!(?:return|await|throw|else|import|export|part)\b)(?:[\w.$]{1,80}(?:<[^;={}\n]{1,120}>)?\??[ \t]+)?(?P<name>[\w$]{1,80})[ \t]*(?:=(?!=|>)|;)",
            "constant",
        ),
    ),
)
_ELIXIR = LineLanguage(
    endings=("ex", "exs"),
    quiet=_HASH,
    rules=_rules(
        _START
        + r"(?P<kind>defmodule|defprotocol|defmacrop?|defguardp?|defdelegate|defp?|@typep?|@opaque|@(?:macro)?callback)[ \t]+"
        r"(?:\w{1,60}[ \t]+(?=[^\w\s(,:]{1,3}[ \t]))?(?P<name>[\w.]{1,120}[?!]?|[^\w\s(]{1,3})",
        (_START + r"defimpl[ \t]+(?P<name>[\w.]{1,120})", "class"),
        (_START + r"(?P<name>defstruct|defexception)\b", "struct"),
        _START + r"(?P<kind>test|describe)[ \t]+\"(?P<name>[^\"\n]{1,200})\"",
    ),
)
_HASKELL = LineLanguage(
    endings=("hs", "lhs", "purs", "elm"),
    quiet=_DASHES,
    rules=_rules(
        r"^(?P<kind>module)[ \t]+(?P<name>[\w.]{1,120})",
        r"^(?P<kind>data[ \t]+family|type[ \t]+family|type[ \t]+instance|data|newtype|type|class)[ \t]+(?:\([^()\n]{1,200}\)[ \t]*=>[ \t]*|[^=\n]{1,200}=>[ \t]*)?(?:alias[ \t]+)?(?P<name>[A-Z][\w']{0,80})",
        (
            r"^(?:deriving[ \t]+)?instance[ \t]+(?:[^=\n]{1,200}=>[ \t]*)?(?P<name>[A-Z][^\n]{0,80}?)(?=[ \t]*(?:where\b|$))",
            "impl",
        ),
        (
            r"^(?:foreign[ \t]+import[ \t][^\n]{0,80}?|pattern[ \t]+)?(?P<name>[A-Za-z_][\w']{0,80}(?:[ \t]*,[ \t]*[a-z_][\w']{0,80}){0,20}|\([^()\w\s]{1,8}\))[ \t]*::",
            "function",
        ),
        (r"^pattern[ \t]+(?P<name>[A-Z]\w{0,80})", "function"),
        (
            r"^(?!(?:module|import|data|newtype|type|class|instance|where|infix[lr]?|foreign|deriving|default|pattern|port)\b)(?P<name>[a-z_][\w']{0,80})(?=[^=:\n|]{0,200}(?:=(?![=>])|\||\n[ \t]+[|=]))",
            "function",
        ),
        (r"^[ \t]+[=|][ \t]*(?P<name>[A-Z][\w']{0,80})", "case"),
        (
            r"^[ \t]+(?:[{,][ \t]*)?(?P<name>[A-Za-z_][\w']{0,80}(?:[ \t]*,[ \t]*[a-z_][\w']{0,80}){0,20}|\([^()\w\s]{1,8}\))[ \t]*::",
            "field",
        ),
    ),
    of={"case": frozenset({"struct", "type"}), "field": frozenset({"class", "struct", "type", "case"})},
)
_R = LineLanguage(
    endings=("r",),
    quiet=late(rf"#[^\n]*|{_TEXT}"),
    rules=_rules(
        (
            _WITHIN
            + r"(?P<name>`[^`\n]{1,80}`|\"[^\"\n]{1,80}\"|[A-Za-z.][\w.]{0,80}(?:\$[\w.]{1,80})?)[ \t]*(?:<<?-|=)[ \t]*(?:function[ \t]*\(|\\\()",
            "function",
        ),
        (
            r"^(?P<name>[A-Za-z.][\w.]{0,80}|`[^`\n]{1,80}`)[ \t]*(?:<<?-|=)[ \t]*(?:\w{1,40}::)?(?:R6Class|setRefClass|setClass)\(",
            "class",
        ),
        _WITHIN
        + r"(?:\w{1,40}::)?(?P<kind>setClass|setGeneric|setRefClass)\([ \t]*[\"'](?P<name>[^\"'\n]{1,80})",
        _WITHIN
        + r"(?:\w{1,40}::)?(?P<kind>setMethod)\([ \t]*[\"'](?P<name>[^\"'\n]{1,80})[\"'](?:[ \t]*,[ \t]*(?:signature\()?[ \t]*[\"'](?P<name2>[^\"'\n]{1,80}))?",
        (r"^(?P<name>[A-Za-z.][\w.]{0,80})[ \t]*(?:<<?-|=)(?!=)", "constant"),
        (r"^[^\n]{0,300}[^-\s][ \t]*->>?[ \t]*(?P<name>[A-Za-z.][\w.]{0,80})[ \t]*$", "constant"),
    ),
)
_JULIA = LineLanguage(
    endings=("jl",),
    quiet=_HASH_OF_JULIA,
    rules=_rules(
        _START
        + r"(?:[\w.]{0,40}@[\w.]{1,60}[ \t]+){0,3}(?P<kind>(?:bare)?module|mutable[ \t]+struct|struct|abstract[ \t]+type|primitive[ \t]+type|function|macro|const)[ \t]+"
        r"(?:\([^()\n]{1,200}\))?(?P<name>[\w!.]{1,120}(?::[^\w\s(]{1,4}|\.:[^\w\s(]{1,4})?|[^\w\s(]{1,4})",
        (_START + r"@enum[ \t]+(?P<name>\w{1,80})", "enum"),
        (
            _START
            + r"(?:@[\w.]{1,60}[ \t]+){0,3}(?P<name>[^\W\d][\w!.]{0,80}(?:\.?:[^\w\s(]{1,4})?)(?:\{[^{}\n]{1,120}\})?\([^\n]{0,300}?\)(?:::[\w{}., ]{1,80})?(?:[ \t]+where[ \t]+[^=\n]{1,120})?[ \t]*=(?!=)",
            "function",
        ),
        (r"^(?P<name>[^\W\d][\w!]{0,80})[ \t]*=[ \t]*\(?[\w, ]{0,120}\)?[ \t]*->", "function"),
        (_START + r"(?P<name>[A-Za-z_]\w{0,80})::[A-Z]", "field"),
    ),
    of={"field": frozenset({"struct"})},
)
_ERLANG = LineLanguage(
    endings=("erl", "hrl"),
    quiet=_PERCENT,
    rules=_rules(
        r"^-(?P<kind>module|record|define|type|opaque|callback)[ \t]*\(?[ \t]*(?P<name>\w{1,80}|'[^'\n]{1,80}')",
        (r"^(?P<name>[a-z]\w{0,80}|'[^'\n]{1,80}')\([^\n]{0,400}(?:->|,[ \t]*$|when\b)", "function"),
    ),
)
_CLOJURE = LineLanguage(
    endings=("clj", "cljs", "cljc", "edn", "el", "lisp", "cl", "scm", "rkt"),
    quiet=_SEMICOLON,
    rules=_rules(
        (
            r"^[ \t]{0,4}\((?P<kind>ns|def[\w*-]{0,30}\??)[ \t]+(?:\^\S{1,40}[ \t]+)?\(?(?P<name>[^\s()\[\]{}\"']{1,80})",
            "function",
        ),
        (r"^[ \t]+\((?P<name>[\w!?*<>=+-]{1,60})[ \t]+\[", "method"),
    ),
    of={"method": frozenset({"interface", "class"})},
)
_OCAML = LineLanguage(
    endings=("ml", "mli", "fs", "fsi", "fsx"),
    quiet=_STARS,
    rules=_rules(
        r"^[ \t]*(?P<kind>module[ \t]+type|module|exception|external|val|class|namespace)[ \t]+(?:rec[ \t]+|virtual[ \t]+)?(?P<name>[\w.']{1,80})",
        r"^[ \t]*(?P<kind>type)[ \t]+(?:nonrec[ \t]+)?(?:\([^()\n]{1,80}\)[ \t]*|'\w{1,20}[ \t]+|[+-]'\w{1,20}[ \t]+)?(?P<name>\w[\w']{0,80})",
        (
            r"^[ \t]*(?:let|and)[ \t]+(?:rec[ \t]+|inline[ \t]+|mutable[ \t]+|private[ \t]+){0,2}(?P<name>[a-z_][\w']{0,80}|\([^()\w\n]{1,10}\))(?![^\n]{0,200}\bin[ \t]*$)",
            "let",
        ),
        (
            r"^[ \t]*(?:static[ \t]+)?(?:method|member|abstract|override)[ \t!]+(?:private[ \t]+|virtual[ \t]+)?(?:\w{1,20}\.)?(?P<name>\w[\w']{0,80})",
            "method",
        ),
    ),
    of={"let": frozenset({"", "module"})},
)
_PROTO = LineLanguage(
    endings=("proto",),
    quiet=_C_LIKE,
    rules=_rules(
        _START + r"(?P<kind>message|enum|service|rpc|oneof|extend)[ \t]+(?P<name>[\w.]{1,120})",
        (
            _START
            + r"(?:(?:repeated|optional|required)[ \t]+)?(?:map[ \t]*<[^<>\n]{1,80}>|[\w.]{1,120})[ \t]+(?P<name>\w{1,80})[ \t]*=[ \t]*\d",
            "field",
        ),
    ),
    of={"field": frozenset({"struct", "oneof", "extend"})},
)
_GRAPHQL = LineLanguage(
    endings=("graphql", "graphqls", "gql"),
    quiet=_HASH,
    rules=_rules(
        r"^(?:extend[ \t]+)?(?P<kind>type|interface|input|enum|union|scalar|directive|fragment|query|mutation|subscription)[ \t]+(?P<name>@?\w{1,80})",
        (_START + r"(?P<name>\w{1,80})[ \t]*(?:\([^()\n]{0,300}\))?[ \t]*:[ \t]*[\[\w]", "field"),
    ),
    of={"field": frozenset({"type", "interface", "struct"})},
)
_TERRAFORM = LineLanguage(
    endings=("tf", "hcl", "tfvars"),
    quiet=late(rf"#[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z)|{_TEXT}", re.DOTALL),
    rules=_rules(
        r"^(?P<kind>resource|ephemeral|(?=data\b))(?:data)?[ \t]+\"(?P<name>[^\"\n]{1,80})\"[ \t]+\"(?P<name2>[^\"\n]{1,80})\"",
        r"^(?P<kind>variable|module|output|provider|check)[ \t]+\"(?P<name>[^\"\n]{1,80})\"",
        (r"^(?P<name>locals|terraform)[ \t]*\{", "locals"),
        (_START + r"(?P<name>[\w-]{1,80})[ \t]*=(?![=>])", "field"),
    ),
    of={"field": frozenset({"locals"})},
)
_POWERSHELL = LineLanguage(
    endings=("ps1", "psm1", "psd1"),
    quiet=_HASH_OF_POWERSHELL,
    rules=_rules(
        _START
        + r"(?i:(?P<kind>function|filter|workflow|class|enum|configuration))[ \t]+(?:\w{1,20}:)?(?P<name>[\w-]{1,80})",
        (
            _START
            + r"(?:(?:static|hidden)[ \t]+){0,2}\[[\w.\[\]]{1,80}\][ \t]*(?P<name>\$\w{1,80}|\w{1,80}(?=[ \t]*\())",
            "field",
        ),
    ),
    of={"field": frozenset({"class"})},
)
_PERL = LineLanguage(
    endings=("pl", "pm", "t"),
    quiet=_POD,
    rules=_rules(
        r"^[ \t]*(?P<kind>package|sub|class|role|method)[ \t]+(?P<name>[\w:]{1,120})",
        (
            r"^[ \t]*(?:use[ \t]+constant[ \t]+\{?[ \t]*|has[ \t]+|our[ \t]+)(?P<name>'?[$@%]?\w{1,80})",
            "constant",
        ),
    ),
)
LANGUAGES = (
    *(_SCALA, _DART, _ELIXIR, _HASKELL, _R, _JULIA, _ERLANG, _CLOJURE, _OCAML),
    *(_PROTO, _GRAPHQL, _TERRAFORM, _POWERSHELL, _PERL),
)
BY_ENDING = {ending: language for language in LANGUAGES for ending in language.endings}


def line_definitions(ending: str, text: str, most: int) -> tuple[Symbol, ...]:
    """Definitions of a text, in file order, at most so many.

    Args:
        ending: a key of `BY_ENDING`; text: LF line ends.
    """
    language = BY_ENDING[ending]
    plain = language.quiet.sub(_quiet, text)
    rows = text.split("\n")
    begins = [*accumulate((len(row) + 1 for row in rows), initial=0)]
    made: list[Symbol] = []
    open_ones: list[tuple[int, str, str]] = []  # indentation, full name, kind
    before = (-1, 0)  # row and indentation of the definition above
    for start, name, kind in _found(language, plain, most):
        row = bisect_right(begins, start) - 1
        if len(rows[row]) > MAX_LINE:
            continue
        indent = start - begins[row]
        if row == before[0] and plain[begins[row] : start].rstrip().endswith(";"):
            indent = before[1]
        before = row, indent
        while open_ones and open_ones[-1][0] >= indent:
            open_ones.pop()
        outer, around = open_ones[-1][1:] if open_ones else ("", "")
        wanted = language.of.get(kind)
        is_local = around in _LEAF and kind in language.local
        if is_local or (wanted is not None and around not in wanted) or len(open_ones) >= _MAX_DEPTH:
            continue
        full = f"{outer}.{name}" if outer else name
        if made and made[-1].name == full and made[-1].kind in {"function", "method"}:
            open_ones.append((indent, full, kind))
            continue  # a further clause of the same function
        shown = "method" if kind == "function" and around in _TYPES else "function" if kind == "let" else kind
        head = one_line(text[start : begins[row + 1] - 1].strip(), SIGNATURE_CHARS).rstrip("{ ")
        made.append(
            Symbol(
                name=full,
                kind=shown,
                lines=LineRange(row + 1, row + 1),
                signature=head,
                depth=len(open_ones),
            )
        )
        open_ones.append((indent, full, kind))
    return tuple(_with_ends(made, plain.split("\n")))


def _found(language: LineLanguage, plain: str, most: int) -> Iterator[tuple[int, str, str]]:
    """Place of its first character, name and kind of each definition, in file order."""
    found: dict[int, tuple[str, str]] = {}
    for pattern, given in language.rules:
        for one in pattern.finditer(plain):
            start = one.start() + len(one[0]) - len(one[0].lstrip())
            told = one.groupdict()
            written = " ".join((told.get("kind") or "").split())
            kind = _KINDS.get(written) or _KINDS.get(written.lower()) or written.lower() or given
            name = ".".join(told[key].strip("`\"'") for key in ("name", "name2") if told.get(key))
            if name:
                found.setdefault(start, (name, kind))
            if len(found) > most:
                break
    for start in sorted(found)[:most]:
        yield start, *found[start]


def _with_ends(made: list[Symbol], rows: list[str]) -> Iterator[Symbol]:
    """Each definition up to its last line before the next one that lies no deeper, or before a line further left. O(n).

    Args:
        rows: of the text without its comments.
    """
    solid, further_left = _places(rows)
    next_at = [len(rows) + 1] * (_MAX_DEPTH + 2)
    done: list[Symbol] = []
    for one in reversed(made):
        first = one.lines.first
        past = min(*next_at[: one.depth + 1], further_left[first - 1] + 1)
        next_at[one.depth] = first
        done.append(msgspec.structs.replace(one, lines=LineRange(first, max(first, solid[past - 2] + 1))))
    yield from reversed(done)


def _places(rows: list[str]) -> tuple[list[int], list[int]]:
    """For each row the last one up to it that is not blank, and the next one that begins further left, both from 0."""
    solid: list[int] = []
    further_left = [len(rows)] * len(rows)
    waiting: list[tuple[int, int]] = []  # indentation and row of those without one further left
    for number, row in enumerate(rows):
        bare = row.lstrip()
        solid.append(number if bare else (solid[-1] if solid else 0))
        indent = len(row) - len(bare)
        while bare and waiting and waiting[-1][0] > indent:
            further_left[waiting.pop()[1]] = number
        if bare:
            waiting.append((indent, number))
    return solid, further_left


def _quiet(found: re.Match[str]) -> str:
    """A comment or a long text as blanks of the same length; a text of one line stays."""
    text = found[0]
    is_text = text[0] in "\"'" and "\n" not in text
    return text if is_text else "".join("\n" if char == "\n" else " " for char in text)
