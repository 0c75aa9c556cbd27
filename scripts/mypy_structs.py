"""A mypy plugin: `replace` of msgspec is checked as `replace` of dataclasses is, and neither takes the other's values."""

from __future__ import annotations

from collections.abc import Callable

from mypy.plugin import FunctionSigContext, Plugin
from mypy.plugins.dataclasses import replace_function_sig_callback
from mypy.types import FunctionLike, Instance, Type, TypeVarType, UnionType, get_proper_type

_STRUCT = "msgspec.Struct"
_WANTS_STRUCT = {"msgspec.structs.replace": True, "dataclasses.replace": False}
Hook = Callable[[FunctionSigContext], FunctionLike]


class StructsPlugin(Plugin):
    """Gives `msgspec.structs.replace` the fields of the struct that it is called with.

    msgspec types the changes as `Any`. mypy keeps a signature for the `replace` of every class that is made like a
    dataclass, structs among them, and its own callback finds it through unions and type variables.
    """

    def get_function_signature_hook(self, fullname: str) -> Hook | None:
        """Return the check of one of the two functions, None for any other name."""
        wants_struct = _WANTS_STRUCT.get(fullname)
        return None if wants_struct is None else lambda context: _checked(context, wants_struct=wants_struct)


def _checked(context: FunctionSigContext, *, wants_struct: bool) -> FunctionLike:
    if context.args and len(context.args[0]) == 1:
        kind = context.api.get_expression_type(context.args[0][0])
        for name in _wrong_kinds(kind, wants_struct=wants_struct):
            known = "a struct" if wants_struct else "a dataclass"
            context.api.fail(f'"replace" was imported for {known}, which "{name}" is not', context.context)
    return replace_function_sig_callback(context)


def _wrong_kinds(kind: Type, *, wants_struct: bool) -> list[str]:
    proper = get_proper_type(kind)
    if isinstance(proper, UnionType):
        return [name for item in proper.items for name in _wrong_kinds(item, wants_struct=wants_struct)]
    if isinstance(proper, TypeVarType):
        return [
            name
            for item in (proper.values or [proper.upper_bound])
            for name in _wrong_kinds(item, wants_struct=wants_struct)
        ]
    if isinstance(proper, Instance) and proper.type.has_base(_STRUCT) is not wants_struct:
        return [proper.type.name]
    return []


def plugin(version: str) -> type[StructsPlugin]:
    """Return the plugin's class. mypy asks for it by this name."""
    del version
    return StructsPlugin
