"""Grammars of each language: node types of definitions, what we call them, and where a definition's name stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from core.kernel.patterns import late

# Definitions of each language: node types of its tree-sitter grammar, and what we call them.


class Grammar(msgspec.Struct, frozen=True):
    """One language.

    Args:
        module: the grammar's own wheel; function: what gives the language there.
        endings: of file names, lower case, without the dot.
        kinds: node type to kind of symbol; name_fields: the field with the name where that is not `name`.
        only_with_body: node types that define something only where they have a body.
    """

    module: str
    endings: tuple[str, ...]
    kinds: Mapping[str, str]
    function: str = "language"
    name_fields: Mapping[str, str] = msgspec.field(default_factory=dict)
    only_with_body: frozenset[str] = frozenset()


_JAVASCRIPT = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
    "method_definition": "method",
}
_TYPESCRIPT = {
    **_JAVASCRIPT,
    "abstract_class_declaration": "class",
    "abstract_method_signature": "method",
    "function_signature": "function",
    "method_signature": "method",
    "interface_declaration": "interface",
    "type_alias_declaration": "type",
    "enum_declaration": "enum",
    "internal_module": "namespace",
}
_C = {
    "function_definition": "function",
    "struct_specifier": "struct",
    "union_specifier": "union",
    "enum_specifier": "enum",
    "type_definition": "type",
    "preproc_function_def": "macro",
}
_C_NAMES = {"function_definition": "declarator", "type_definition": "declarator"}
_C_BODIES = frozenset({"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"})

GRAMMARS: Mapping[str, Grammar] = {
    "python": Grammar(
        module="tree_sitter_python",
        endings=("py", "pyi", "pyw"),
        kinds={"function_definition": "function", "class_definition": "class"},
    ),
    "javascript": Grammar(
        module="tree_sitter_javascript", endings=("js", "jsx", "mjs", "cjs"), kinds=_JAVASCRIPT
    ),
    "typescript": Grammar(
        module="tree_sitter_typescript",
        endings=("ts", "mts", "cts"),
        kinds=_TYPESCRIPT,
        function="language_typescript",
    ),
    "tsx": Grammar(
        module="tree_sitter_typescript", endings=("tsx",), kinds=_TYPESCRIPT, function="language_tsx"
    ),
    "go": Grammar(
        module="tree_sitter_go",
        endings=("go",),
        kinds={
            "function_declaration": "function",
            "method_declaration": "method",
            "type_spec": "type",
            "type_alias": "type",
            "method_elem": "method",
        },
    ),
    "rust": Grammar(
        module="tree_sitter_rust",
        endings=("rs",),
        kinds={
            "function_item": "function",
            "function_signature_item": "function",
            "struct_item": "struct",
            "union_item": "union",
            "enum_item": "enum",
            "trait_item": "trait",
            "impl_item": "impl",
            "mod_item": "module",
            "type_item": "type",
            "associated_type": "type",
            "const_item": "constant",
            "static_item": "constant",
            "macro_definition": "macro",
        },
        name_fields={"impl_item": "type"},
    ),
    "c": Grammar(
        module="tree_sitter_c", endings=("c", "h"), kinds=_C, name_fields=_C_NAMES, only_with_body=_C_BODIES
    ),
    "cpp": Grammar(
        module="tree_sitter_cpp",
        endings=("cpp", "cc", "cxx", "hpp", "hh", "hxx", "ipp", "inl"),
        kinds={
            **_C,
            "class_specifier": "class",
            "namespace_definition": "namespace",
            "alias_declaration": "type",
            "concept_definition": "concept",
            "namespace_alias_definition": "namespace",
        },
        name_fields=_C_NAMES,
        only_with_body=_C_BODIES,
    ),
    "java": Grammar(
        module="tree_sitter_java",
        endings=("java",),
        kinds={
            "class_declaration": "class",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "record_declaration": "class",
            "annotation_type_declaration": "interface",
            "module_declaration": "module",
            "method_declaration": "method",
            "annotation_type_element_declaration": "method",
            "constructor_declaration": "method",
            "compact_constructor_declaration": "method",
        },
    ),
    "csharp": Grammar(
        module="tree_sitter_c_sharp",
        endings=("cs",),
        kinds={
            "namespace_declaration": "namespace",
            "file_scoped_namespace_declaration": "namespace",
            "class_declaration": "class",
            "struct_declaration": "struct",
            "record_declaration": "class",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "delegate_declaration": "type",
            "method_declaration": "method",
            "constructor_declaration": "method",
            "property_declaration": "property",
            "record_struct_declaration": "struct",
            "event_declaration": "event",
        },
    ),
    "ruby": Grammar(
        module="tree_sitter_ruby",
        endings=("rb", "rake", "gemspec"),
        kinds={"method": "method", "singleton_method": "method", "class": "class", "module": "module"},
    ),
    "php": Grammar(
        module="tree_sitter_php",
        endings=("php",),
        kinds={
            "namespace_definition": "namespace",
            "class_declaration": "class",
            "interface_declaration": "interface",
            "trait_declaration": "trait",
            "enum_declaration": "enum",
            "function_definition": "function",
            "method_declaration": "method",
        },
        function="language_php",
    ),
    "bash": Grammar(
        module="tree_sitter_bash", endings=("sh", "bash"), kinds={"function_definition": "function"}
    ),
    "kotlin": Grammar(
        module="tree_sitter_kotlin",
        endings=("kt", "kts"),
        kinds={
            "class_declaration": "class",
            "object_declaration": "class",
            "function_declaration": "function",
        },
    ),
    "swift": Grammar(
        module="tree_sitter_swift",
        endings=("swift",),
        kinds={
            "class_declaration": "class",
            "protocol_declaration": "interface",
            "function_declaration": "function",
            "protocol_function_declaration": "method",
            "typealias_declaration": "type",
            "associatedtype_declaration": "type",
        },
    ),
    "lua": Grammar(module="tree_sitter_lua", endings=("lua",), kinds={}),
    "zig": Grammar(module="tree_sitter_zig", endings=("zig",), kinds={"function_declaration": "function"}),
}


# Names of definitions, where a grammar has no field for them: of each node type what it defines, if
# anything.

if TYPE_CHECKING:
    from tree_sitter import Node

Named = tuple[str, str]
"""Name and kind."""

_MAX_STEPS = 30
_MAX_CHARS = 200

# C and C++: prototypes, members, extern variables.

_OUTER = frozenset(
    {"translation_unit", "declaration_list", "linkage_specification", "field_declaration_list"}
)
_GENERIC_OWNER = late(r"(?<=\w)<[^<>]{0,200}>(?=\s*::)")
_GENERIC = late(r"(?<=\w)(?<!operator)<.*", re.DOTALL)
_AROUND = ("preproc_", "template_declaration", "friend_declaration", "ERROR")


def _declarations(node: Node) -> Iterator[Named]:
    """Names that a declaration outside of functions gives: to functions, members, and variables that others may use."""
    if not _is_outer(node):
        return
    is_member = node.type == "field_declaration"
    words = {child.type: _said(child) for child in node.children}
    qualifiers = {
        _said(child) for child in node.children if child.type.endswith(("_specifier", "_qualifier"))
    }
    is_shared = is_member or bool(
        qualifiers & {"extern", "static", "const", "constexpr", "inline", "thread_local"}
    )
    for declarator in node.children_by_field_name("declarator"):
        name, is_function = _declared(declarator)
        if name and is_function:
            yield name, "method" if "field_declaration_list" in _parent_types(node) else "function"
        elif name and is_shared and "typedef" not in words:
            yield name, "field" if is_member else "variable"


def _c_constant(node: Node) -> Iterator[Named]:
    """A macro with a value; one without guards a header."""
    if node.child_by_field_name("value") is not None:
        yield _said(node.child_by_field_name("name")), "macro"


def _c_enum(node: Node) -> Iterator[Named]:
    """An enumeration; of one without a name what it lists."""
    body = node.child_by_field_name("body")
    if body is None:
        return
    if (name := node.child_by_field_name("name")) is not None:
        yield _said(name), "enum"
    elif node.parent is None or node.parent.type != "type_definition":
        for child in body.named_children[:500]:
            if child.type == "enumerator":
                yield _said(child.child_by_field_name("name")), "constant"


def without_generics(name: str) -> str:
    """A name without what stands in angle brackets: `Box<T>::take` is `Box::take`, `swap<Box<int>>` is `swap`."""
    whole = _GENERIC_OWNER.sub("", name)
    return _GENERIC.sub("", whole)


def _is_outer(node: Node) -> bool:
    parent = node.parent
    for _ in range(_MAX_STEPS):
        if parent is None or parent.type in _OUTER:
            return True
        if not parent.type.startswith(_AROUND):
            return False
        parent = parent.parent
    return False


def _parent_types(node: Node) -> set[str]:
    parent, types = node.parent, set()
    for _ in range(_MAX_STEPS):
        if parent is None:
            break
        types.add(parent.type)
        if parent.type in _OUTER:
            break
        parent = parent.parent
    return types


def _declared(node: Node) -> Named | tuple[str, bool]:
    """The name that a declarator gives, and whether it gives it to a function."""
    at: Node | None = node
    is_function = False
    for _ in range(_MAX_STEPS):
        if at is None:
            break
        if at.type == "operator_cast":
            return "operator " + _said(at.child_by_field_name("type")), True
        if "declarator" not in at.type or at.type == "abstract_function_declarator":
            return without_generics(_said(at)), is_function
        inner = at.child_by_field_name("declarator")
        is_function |= (
            at.type == "function_declarator"
            and inner is not None
            and inner.type != "parenthesized_declarator"
        )
        at = inner or (at.named_children[-1] if at.named_child_count else None)
    return "", False


# JavaScript and TypeScript: functions within values.

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "class", "generator_function"})
_CASTS = frozenset(
    {"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression"}
)
_SCOPES = frozenset({"program", "export_statement", "ambient_declaration"})


def _is_function(value: Node | None, depth: int = 0) -> bool:
    """True for a function or class, and for a call that is given one: `memo(() => …)`, `create(…)(…)`."""
    if value is None or depth > 3:
        return False
    if value.type in _FUNCTIONS:
        return True
    if value.type in _CASTS:
        return _is_function(_cast(value), depth + 1)
    if value.type != "call_expression":
        return False
    arguments = value.child_by_field_name("arguments")
    given = arguments.named_children[:8] if arguments is not None else []
    return any(
        _is_function(one, depth + 1) or (one.type == "object" and _has_functions(one)) for one in given
    )


def _cast(value: Node | None) -> Node | None:
    """The value within parentheses, `as`, `satisfies` and `!`."""
    for _ in range(5):
        if value is None or value.type not in _CASTS or not value.named_child_count:
            break
        value = value.named_children[0]
    return value


def _has_functions(value: Node | None) -> bool:
    value = _cast(value)
    if value is None or value.type != "object":
        return False
    return any(
        child.type == "method_definition" or _is_function(child.child_by_field_name("value"))
        for child in value.named_children[:500]
    )


def _variable(node: Node) -> Iterator[Named]:
    name, value = _said(node.child_by_field_name("name")), node.child_by_field_name("value")
    declared = node.parent.parent if node.parent is not None else None
    scope = declared.type if declared is not None else ""
    is_ambient = scope == "ambient_declaration" or (
        value is None
        and not {"internal_module", "module", "ambient_declaration"}.isdisjoint(_scopes_above(node))
    )
    if _is_function(value) and ((value is not None and value.type in _FUNCTIONS) or scope in _SCOPES):
        yield name, "function"
    elif scope in _SCOPES and _has_functions(value):
        yield name, "object"
    elif (
        (scope in _SCOPES and _is_component(name, value))
        or is_ambient
        or (scope == "export_statement" and re.fullmatch(r"[\w$]+", name))
    ):
        yield name, "constant"


def _is_component(name: str, value: Node | None) -> bool:
    """True for what a call makes of another component: `withRouter(Page)`, and a styled one."""
    if value is None or not re.match(r"[A-Z][a-z]", name):
        return False
    if value.type == "binary_expression":  # `styled.div<Props>` and a template, to a grammar of TSX
        right = value.child_by_field_name("right")
        return right is not None and right.type == "template_string"
    if value.type != "call_expression":
        return False
    return _said(value.child_by_field_name("function")) not in {"require", "import"}


def _scopes_above(node: Node) -> set[str]:
    above, at = set(), node.parent
    for _ in range(6):
        if at is None:
            break
        above.add(at.type)
        at = at.parent
    return above


def _assigned(node: Node) -> Iterator[Named]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or left.type != "member_expression" or node.parent is None:
        return
    name = _said(left)
    is_exported = name.startswith(("exports.", "module.exports"))
    is_top = (
        node.parent.type == "expression_statement"
        and node.parent.parent is not None
        and node.parent.parent.type == "program"
    )
    if name.startswith("this.") or not re.fullmatch(r"[\w$.]+", name) or not (is_top or is_exported):
        return
    plain = re.sub(r"^(?:module\.)?exports\.|\bprototype\.", "", name)
    if _is_function(right):
        yield plain, "function"
    elif _has_functions(right) or (is_exported and right is not None and right.type == "object"):
        yield plain, "object"
    elif is_exported and right is not None and right.type != "identifier":
        yield plain, "constant"


def _pair(node: Node) -> Iterator[Named]:
    owner = node.parent.parent if node.parent is not None else None
    is_given = owner is not None and _is_returned(owner)
    while owner is not None and owner.type in _CASTS:
        owner = owner.parent
    if owner is not None and (
        is_given
        or owner.type
        in {
            "variable_declarator",
            "assignment_expression",
            "export_statement",
            "arguments",
            "pair",
        }
    ):
        value = node.child_by_field_name("value")
        name = _said(node.child_by_field_name("key")).strip("'\"")
        if _is_function(value):
            yield name, "method"
        elif owner.type != "variable_declarator" and _has_functions(value):
            yield name, "object"


def _is_returned(value: Node) -> bool:
    """True for an object that an arrow function gives: `(set) => ({ … })`."""
    is_around = value.type == "parenthesized_expression" and value.parent is not None
    return is_around and value.parent is not None and value.parent.type == "arrow_function"


def _field(node: Node) -> Iterator[Named]:
    name = node.child_by_field_name("property") or node.child_by_field_name("name")
    if _is_function(node.child_by_field_name("value")):
        yield _said(name), "method"
    elif "ambient_declaration" in _scopes_above(node):
        yield _said(name), "field"


def _property_signature(node: Node) -> Iterator[Named]:
    """A member of an interface whose type is a function."""
    annotated = node.child_by_field_name("type")
    kind = annotated.named_children[0] if annotated is not None and annotated.named_child_count else None
    if kind is not None and kind.type in {"function_type", "constructor_type"}:
        yield _said(node.child_by_field_name("name")).strip("'\""), "method"


def _default(node: Node) -> Iterator[Named]:
    """A default export without a name of its own."""
    value = _cast(node.child_by_field_name("value"))
    if value is not None and (_is_function(value) or value.type in {"object", "call_expression"}):
        yield (
            _said(value.child_by_field_name("name")) or "default",
            "class" if value.type == "class" else "function",
        )


def _module(node: Node) -> Iterator[Named]:
    yield _said(node.child_by_field_name("name")).strip("'\""), "namespace"


# Python, Go, C#, Ruby, Kotlin, Swift, Lua, Zig.


def _py_assigned(node: Node) -> Iterator[Named]:
    """Constants of a module, and what it makes by a call or a `lambda`."""
    around = node.parent.parent if node.parent is not None else None
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if around is None or around.type != "module" or left is None or left.type != "identifier":
        return
    name = _said(left)
    if right is not None and right.type == "lambda":
        yield name, "function"
    elif right is None or re.fullmatch(r"_?[A-Z]\w*", name):  # a stub declares with a type alone
        yield name, "constant"


def _py_type(node: Node) -> Iterator[Named]:
    named = node.child_by_field_name("left")
    yield re.sub(r"\[.*", "", _said(named)), "type"


def _cs_local(node: Node) -> Iterator[Named]:
    """A function of a program without a class."""
    if node.parent is not None and node.parent.type in {"global_statement", "compilation_unit"}:
        yield _said(node.child_by_field_name("name")), "function"


def _first_identifier(kind: str) -> Callable[[Node], Iterator[Named]]:
    """Reads the first identifier of a definition."""

    def named(node: Node) -> Iterator[Named]:
        own = node.child_by_field_name("name") or next(
            (child for child in node.named_children if child.type.endswith("identifier")), None
        )
        yield _said(own), kind

    return named


def _go_names(node: Node) -> Iterator[Named]:
    around = node.parent
    while around is not None and around.type in {"const_declaration", "var_declaration", "var_spec_list"}:
        around = around.parent
    if around is not None and around.type == "source_file":
        for name in node.children_by_field_name("name"):
            if _said(name) not in {"_", ","}:
                yield _said(name), "constant" if node.type == "const_spec" else "variable"


def _cs_operator(node: Node) -> Iterator[Named]:
    found = re.search(r"\boperator\s*([^\s(]+)", _said(node))
    if found:
        yield f"operator {found[1]}", "method"


_SHOWN = frozenset({"public", "protected", "internal"})


def _words_before(node: Node) -> frozenset[str]:
    """Modifiers of a declaration, one word each."""
    return frozenset(
        word for child in node.children if "modifier" in child.type for word in _said(child).split()
    )


def _cs_variables(node: Node) -> Iterator[Named]:
    """Events, constants, and the fields that others see."""
    words = _words_before(node)
    kind = "event" if node.type.startswith("event") else "constant" if "const" in words else "field"
    if kind == "field" and words.isdisjoint(_SHOWN):
        return
    for child in node.named_children:
        if child.type == "variable_declaration":
            for one in child.named_children:
                if one.type == "variable_declarator":
                    yield _said(one.child_by_field_name("name")), kind


def _java_fields(node: Node) -> Iterator[Named]:
    """Constants, and the fields that others see."""
    words = _words_before(node)
    is_constant = node.type == "constant_declaration" or {"static", "final"} <= words
    if is_constant or not words.isdisjoint(_SHOWN):
        for child in node.named_children:
            if child.type == "variable_declarator":
                yield _said(child.child_by_field_name("name")), "constant" if is_constant else "field"


def _php_members(node: Node) -> Iterator[Named]:
    """Constants, and the properties that others see."""
    is_constant = node.type == "const_declaration"
    if is_constant or "private" not in _words_before(node):
        for child in node.named_children:
            if child.type in {"const_element", "property_element"} and child.named_child_count:
                yield _said(child.named_children[0]).lstrip("$"), "constant" if is_constant else "property"


def _php_define(node: Node) -> Iterator[Named]:
    arguments = node.child_by_field_name("arguments")
    if _said(node.child_by_field_name("function")).lower() == "define" and arguments is not None:
        first = arguments.named_children[0] if arguments.named_child_count else None
        if first is not None and first.named_child_count and "string" in first.named_children[0].type:
            yield _said(first).strip("'\""), "constant"


def _rb_call(node: Node) -> Iterator[Named]:
    method = _said(node.child_by_field_name("method"))
    kinds = {
        "attr_accessor": "property",
        "attr_reader": "property",
        "attr_writer": "property",
        "define_method": "method",
        "scope": "method",
        "alias_method": "method",
        "task": "function",
    }
    arguments = node.child_by_field_name("arguments")
    if method in kinds and arguments is not None and node.child_by_field_name("receiver") is None:
        given = arguments.named_children[: 50 if method.startswith("attr_") else 1]
        yield from (
            (_said(one.named_children[0] if one.type == "pair" else one).strip(":'\""), kinds[method])
            for one in given
            if one.type in {"simple_symbol", "string"} or (one.type == "pair" and method == "task")
        )


def _rb_alias(node: Node) -> Iterator[Named]:
    yield _said(node.child_by_field_name("name")), "method"


def _rb_constant(node: Node) -> Iterator[Named]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is not None and left.type == "constant":
        is_class = re.match(r"(?:Struct|Class|Data|Module)\s*\.\s*(?:new|define)\b", _said(right)) is not None
        yield _said(left), "class" if is_class else "constant"


def _kt_property(node: Node) -> Iterator[Named]:
    if node.parent is None or node.parent.type not in {"source_file", "class_body", "enum_class_body"}:
        return
    for child in node.named_children:
        if child.type == "variable_declaration" and child.named_child_count:
            yield _said(child.named_children[0]), "property"


def _cs_destructor(node: Node) -> Iterator[Named]:
    yield f"~{_said(node.child_by_field_name('name'))}", "method"


def _kt_companion(node: Node) -> Iterator[Named]:
    yield _said(node.child_by_field_name("name")) or "Companion", "class"


def _kt_alias(node: Node) -> Iterator[Named]:
    yield (
        _said(
            node.child_by_field_name("type") or (node.named_children[0] if node.named_child_count else None)
        ),
        "type",
    )


def _swift_property(node: Node) -> Iterator[Named]:
    if node.parent is None or node.parent.type not in {
        "source_file",
        "class_body",
        "enum_class_body",
        "protocol_body",
    }:
        return
    pattern = node.child_by_field_name("name")
    bound = pattern.child_by_field_name("bound_identifier") if pattern is not None else None
    yield _said(bound or pattern), "property"


def _swift_init(node: Node) -> Iterator[Named]:
    yield node.type.removesuffix("_declaration"), "method"


def _lua(node: Node) -> Iterator[Named]:
    values = next((child for child in node.named_children if child.type == "expression_list"), None)
    names = next((child for child in node.named_children if child.type == "variable_list"), None)
    for name, value in zip(
        names.named_children if names else (), values.named_children if values else (), strict=False
    ):
        if value.type == "function_definition":
            yield _said(name).replace(":", "."), "function"
        elif value.type == "table_constructor" and any(map(_lua_gives, value.named_children[:500])):
            yield _said(name), "object"


def _lua_gives(field: Node) -> bool:
    value = field.child_by_field_name("value")
    return value is not None and (
        value.type == "function_definition"
        or (value.type == "table_constructor" and any(map(_lua_gives, value.named_children[:50])))
    )


def _lua_field(node: Node) -> Iterator[Named]:
    """A function in a table."""
    value = node.child_by_field_name("value")
    if value is not None and value.type == "function_definition" and _is_lua_table(node.parent):
        yield _said(node.child_by_field_name("name")).strip("'\"[]"), "function"


def _is_lua_table(table: Node | None) -> bool:
    """True for a table that a name or a `return` gives, and one in it; what a call is given defines nothing."""
    for _ in range(10):
        around = table.parent if table is not None else None
        if around is None or around.type not in {"field", "table_constructor"}:
            return around is not None and around.type == "expression_list"
        table = around
    return False


def _lua_function(node: Node) -> Iterator[Named]:
    yield _said(node.child_by_field_name("name")).replace(":", "."), "function"


def _zig(node: Node) -> Iterator[Named]:
    kinds = {
        "struct_declaration": "struct",
        "enum_declaration": "enum",
        "union_declaration": "union",
        "error_set_declaration": "enum",
        "opaque_declaration": "type",
    }
    name = next((child for child in node.named_children if child.type == "identifier"), None)
    kind = next((kinds[child.type] for child in node.named_children if child.type in kinds), "")
    if name is None:
        return
    if kind:
        yield _said(name), kind
    elif node.parent is not None and node.parent.type == "source_file":
        words = {child.type for child in node.children}
        if "pub" in words or "var" in words:
            yield _said(name), "variable" if "var" in words else "constant"


def _zig_test(node: Node) -> Iterator[Named]:
    name = node.named_children[0] if node.named_child_count else None
    if name is not None and name.type != "block":
        yield _said(name).strip('"'), "test"


def _said(node: Node | None) -> str:
    return (node.text or b"")[:_MAX_CHARS].decode("utf-8", "replace").strip() if node is not None else ""


_SCRIPT: Mapping[str, Callable[[Node], Iterator[Named]]] = {
    "variable_declarator": _variable,
    "assignment_expression": _assigned,
    "pair": _pair,
    "field_definition": _field,
    "public_field_definition": _field,
    "export_statement": _default,
    "module": _module,
    "property_signature": _property_signature,
}
_OF_C = {
    "declaration": _declarations,
    "field_declaration": _declarations,
    "preproc_def": _c_constant,
    "enum_specifier": _c_enum,
}
NAMERS: Mapping[str, Mapping[str, Callable[[Node], Iterator[Named]]]] = {
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
    "c": _OF_C,
    "cpp": _OF_C,
    "go": {"const_spec": _go_names, "var_spec": _go_names},
    "csharp": {
        "operator_declaration": _cs_operator,
        "conversion_operator_declaration": _cs_operator,
        "event_field_declaration": _cs_variables,
        "field_declaration": _cs_variables,
        "destructor_declaration": _cs_destructor,
        "local_function_statement": _cs_local,
        "indexer_declaration": lambda _: iter((("this[]", "property"),)),
    },
    "java": {"constant_declaration": _java_fields, "field_declaration": _java_fields},
    "php": {
        "const_declaration": _php_members,
        "property_declaration": _php_members,
        "function_call_expression": _php_define,
    },
    "python": {"assignment": _py_assigned, "type_alias_statement": _py_type},
    "ruby": {"call": _rb_call, "alias": _rb_alias, "assignment": _rb_constant},
    "kotlin": {
        "property_declaration": _kt_property,
        "companion_object": _kt_companion,
        "type_alias": _kt_alias,
        "secondary_constructor": lambda _: iter((("constructor", "method"),)),
    },
    "swift": {
        "property_declaration": _swift_property,
        "protocol_property_declaration": _swift_property,
        "init_declaration": _swift_init,
        "deinit_declaration": _swift_init,
        "subscript_declaration": _swift_init,
        "macro_declaration": _first_identifier("macro"),
        "precedence_group_declaration": _first_identifier("type"),
    },
    "lua": {"assignment_statement": _lua, "field": _lua_field, "function_declaration": _lua_function},
    "zig": {"variable_declaration": _zig, "test_declaration": _zig_test},
}
"""Node types whose names are found here, by language: a node gives none, one, or several."""
