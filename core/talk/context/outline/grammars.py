"""Definitions of each language: node types of its tree-sitter grammar, and what we call them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


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
            "method_declaration": "method",
            "constructor_declaration": "method",
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
            "destructor_declaration": "method",
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
        },
    ),
    "sql": Grammar(module="tree_sitter_sql", endings=("sql",), kinds={}),
    "lua": Grammar(module="tree_sitter_lua", endings=("lua",), kinds={}),
    "zig": Grammar(module="tree_sitter_zig", endings=("zig",), kinds={"function_declaration": "function"}),
}
