"""Data of models: packaged, a person's own entries over it, and what servers list."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.base.errors import ConfigError
from core.base.opener import read_file
from core.base.toml import TomlError, read_toml
from core.values.provider import Effort, ModelProfile


class _Key(msgspec.Struct, frozen=True):
    """A key of `models.toml`: the field of `ModelProfile` that it sets, and the type of its value."""

    field: str
    kind: type
    word: str


_KEYS: Mapping[str, _Key] = {
    "provider": _Key("provider", str, "text"),
    "id": _Key("id", str, "text"),
    "label": _Key("label", str, "text"),
    "context_tokens": _Key("context_tokens", int, "a whole number"),
    "max_output_tokens": _Key("max_output_tokens", int, "a whole number"),
    "efforts": _Key("efforts", list, "a list of levels"),
    "images": _Key("takes_images", bool, "true or false"),
    "long_system": _Key("takes_long_system", bool, "true or false"),
    "family": _Key("family", str, "text"),
    "thinking": _Key("thinking", str, "text"),
    "thinking_off": _Key("thinking_off", str, "text"),
    "token_factor": _Key("token_factor", float, "a number"),
    "temperature": _Key("max_temperature", float, "a number"),
}


def packaged_models() -> tuple[ModelProfile, ...]:
    """The models that the program knows, in the order in which they are offered."""
    text = files("core.providers").joinpath("models.toml").read_text("utf-8")
    return _apply((), text, where="models.toml of the program")


def load_models(path: Path) -> tuple[ModelProfile, ...]:
    """The packaged models with a person's `models.toml` over them.

    Args:
        path: the person's file; it need not exist.

    Raises:
        ConfigError: the file is not TOML, or an entry is wrong; names the entry and the remedy.
    """
    packaged = packaged_models()
    try:
        text = read_file(path).decode()
    except FileNotFoundError:
        return packaged
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The list of models cannot be read: {error}",
            remedy="Make it a readable UTF-8 file, or delete it",
            where=str(path),
        ) from error
    return _apply(packaged, text, where=str(path))


def _apply(models: tuple[ModelProfile, ...], text: str, *, where: str) -> tuple[ModelProfile, ...]:
    try:
        tables = read_toml(text, names_paths=True).get("model", [])
    except TomlError as error:
        raise ConfigError(
            f"The list of models is not TOML: {error}", remedy="Correct the file or delete it", where=where
        ) from error
    if not isinstance(tables, list):
        raise _fault("`model` is not a list of tables", "Write each model under [[model]]", where)
    known = {(entry.provider, entry.id): entry for entry in models}
    added: list[ModelProfile] = []
    for number, table in enumerate(tables, start=1):
        fields = _fields(table, number, where)
        key = str(fields["provider"]), str(fields["id"])
        if key in known:
            known[key] = replace(known[key], **fields)  # type: ignore[arg-type]
        else:
            added.append(ModelProfile(**fields))  # type: ignore[arg-type]
    return (*added, *known.values())


def _fields(table: object, number: int, where: str) -> dict[str, object]:
    if not isinstance(table, dict) or not {"provider", "id"} <= table.keys():
        raise _fault(f"Model {number} has no provider or no id", "Give both, as text", where)
    name = table["id"]
    fields: dict[str, object] = {}
    for key, value in table.items():
        rule = _KEYS.get(key)
        if rule is None:
            raise _fault(
                f"Model {name!r} has the unknown key {key!r}", f"Keys are: {', '.join(_KEYS)}", where
            )
        fields[rule.field] = _value(rule, key, value, f"{name!r}", where)
    return fields


def _value(rule: _Key, key: str, value: object, name: str, where: str) -> object:
    if rule.kind is float and type(value) is int and abs(value) <= sys.float_info.max:
        return float(value)
    if type(value) is not rule.kind or (
        isinstance(value, int | float) and value <= 0 and rule.kind is not bool
    ):
        raise _fault(f"{key} of model {name} is {value!r}", f"It must be {rule.word}", where)
    if not isinstance(value, list):
        return value
    try:
        return tuple(Effort(level) for level in value if level != Effort.AUTO)
    except ValueError as error:
        levels = ", ".join(level for level in Effort if level is not Effort.AUTO)
        raise _fault(f"{key} of model {name} is {value!r}", f"Levels are: {levels}", where) from error


def _fault(what: str, remedy: str, where: str) -> ConfigError:
    return ConfigError(what, remedy=remedy, where=where)
