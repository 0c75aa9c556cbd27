"""Data of models: packaged, a person's own entries over it, and what servers list."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core.kernel.codecs import TomlError, read_toml
from core.kernel.errors import ConfigError
from core.kernel.language import tr
from core.kernel.opener import read_file
from core.kernel.values.provider import Effort, ModelProfile, TokenRates


class _Key(msgspec.Struct, frozen=True):
    """A key of `models.toml`: the field of `ModelProfile` that it sets, and the type of its value."""

    field: str
    kind: type
    word: str


_KEYS: Mapping[str, _Key] = {
    "provider": _Key(field="provider", kind=str, word="text"),
    "id": _Key(field="id", kind=str, word="text"),
    "label": _Key(field="label", kind=str, word="text"),
    "context_tokens": _Key(field="context_tokens", kind=int, word=tr("a whole number")),
    "max_output_tokens": _Key(field="max_output_tokens", kind=int, word=tr("a whole number")),
    "efforts": _Key(field="efforts", kind=list, word=tr("a list of levels")),
    "images": _Key(field="takes_images", kind=bool, word=tr("true or false")),
    "long_system": _Key(field="takes_long_system", kind=bool, word=tr("true or false")),
    "family": _Key(field="family", kind=str, word="text"),
    "thinking": _Key(field="thinking", kind=str, word="text"),
    "thinking_off": _Key(field="thinking_off", kind=str, word="text"),
    "token_factor": _Key(field="token_factor", kind=float, word="a number"),
    "temperature": _Key(field="max_temperature", kind=float, word="a number"),
}


_RATES = (
    *("input_usd", "output_usd", "cache_read_usd", "cache_write_usd"),
    *("cache_write_5m_usd", "cache_write_1h_usd", "cache_write_12h_usd"),
)
"""Keys of a model's prices, US dollars for a million tokens: the fields of `TokenRates`."""

_AS_OF = "prices_as_of"
_MOST_USD = 1_000_000
"""For a million tokens: more is a slip of the pen."""


class _Source(msgspec.Struct, frozen=True):
    """The text that is read. `day`: on which it was last changed, which dates a price that says none."""

    text: str
    where: str
    day: str = ""

    def fault(self, what: str, remedy: str, number: int, key: str = "") -> ConfigError:
        """A fault of a key of the model of that number, with its line, or the model's where the key has none."""
        lines = self.text.split("\n")
        heads = [at for at, line in enumerate(lines) if re.match(r"\s*\[\[\s*model\s*\]\]", line)]
        if number > len(heads):
            return _fault(what, remedy, self.where)
        end = heads[number] if number < len(heads) else len(lines)
        named = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
        own = (at for at in range(heads[number - 1], end) if key and named.match(lines[at]))
        line = next(own, heads[number - 1]) + 1
        return _fault(tr("{what} (at line {line})", what=what, line=line), remedy, self.where)


_Place = tuple[str, int, _Source]
"""A model's name, its number in the text, and the text."""


@cache
def packaged_models() -> tuple[ModelProfile, ...]:
    """The models that the program knows, in the order in which they are offered. Read once a process."""
    text = files("core.services.providers").joinpath("models.toml").read_text("utf-8")
    return _apply((), _Source(text=text, where=tr("the program's own models.toml")))


def load_models(path: Path) -> tuple[ModelProfile, ...]:
    """The packaged models with a person's `models.toml` over them.

    Args:
        path: the person's file; it need not exist.

    Raises:
        ConfigError: the file is not TOML, or an entry is wrong; names the entry and the remedy.
    """
    packaged = packaged_models()
    try:
        text, changed_s = read_file(path).decode(), path.stat().st_mtime
    except FileNotFoundError:
        return packaged
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            tr("The program cannot read the file with the list of models: {error}", error=error),
            remedy=tr("Make the file readable UTF-8, or delete it"),
            where=str(path),
        ) from error
    day = f"{datetime.fromtimestamp(changed_s, UTC):%Y-%m-%d}"
    return _apply(packaged, _Source(text=text, where=str(path), day=day))


def _apply(models: tuple[ModelProfile, ...], source: _Source) -> tuple[ModelProfile, ...]:
    try:
        tables = read_toml(source.text, names_paths=True).get("model", [])
    except TomlError as error:
        raise ConfigError(
            tr("The list of models is not TOML: {error}", error=error),
            remedy=tr("Correct the file or delete it"),
            where=source.where,
        ) from error
    if not isinstance(tables, list):
        raise _fault(
            tr("`model` is not a list of tables"), tr("Write each model under [[model]]"), source.where
        )
    known = {(entry.provider, entry.id): entry for entry in models}
    added: list[ModelProfile] = []
    for number, table in enumerate(tables, start=1):
        fields = _fields(table, number, source)
        key = str(fields["provider"]), str(fields["id"])
        if key in known:
            known[key] = replace(known[key], **fields)  # type: ignore[arg-type]
        else:
            added.append(ModelProfile(**fields))  # type: ignore[arg-type]
    return (*added, *known.values())


def _fields(table: object, number: int, source: _Source) -> dict[str, object]:
    if not isinstance(table, dict) or not {"provider", "id"} <= table.keys():
        raise source.fault(
            tr("Model {number} has no provider or no id", number=number),
            tr("Give the provider and the id as text"),
            number,
        )
    name, fields = table["id"], dict[str, object]()
    priced = {key: value for key, value in table.items() if key in _RATES or key == _AS_OF}
    for key, value in table.items():
        if key in priced:
            continue
        rule = _KEYS.get(key)
        if rule is None:
            keys = ", ".join((*_KEYS, *_RATES, _AS_OF))
            what = tr("Model {name!r} has the unknown key {key!r}", name=name, key=key)
            raise source.fault(what, tr("Use one of these keys: {keys}", keys=keys), number, key)
        fields[rule.field] = _value(rule, key, value, (f"{name!r}", number, source))
    if priced:
        fields["rates"] = _rates(priced, (f"{name!r}", number, source))
    return fields


def _rates(table: Mapping[str, object], place: _Place) -> TokenRates:
    """Prices of a model. Of input or output alone no call has a price."""
    name, number, source = place
    for key, value in table.items():
        is_number = type(value) in (int, float) and 0 <= value <= _MOST_USD  # type: ignore[operator]
        if key != _AS_OF and not is_number:
            raise source.fault(
                tr("{key} of model {name} has the invalid value {value!r}", key=key, name=name, value=value),
                tr("Enter US dollars per million tokens, from 0 to {MOST_USD:,}", MOST_USD=_MOST_USD),
                number,
                key,
            )
    if missing := [key for key in _RATES[:2] if key not in table]:
        raise source.fault(
            tr("Model {name} has prices but no {missing}", name=name, missing=missing[0]),
            tr("Give input_usd and output_usd together; use 0 for a free model"),
            number,
            next(iter(table)),
        )
    rates = {key: float(value) for key, value in table.items() if key != _AS_OF}  # type: ignore[arg-type]
    return TokenRates(**rates, as_of=_day(table.get(_AS_OF, source.day), place))


def _day(value: object, place: _Place) -> str:
    name, number, source = place
    try:
        return date.fromisoformat(str(value)).isoformat()
    except ValueError as error:
        what = tr(
            "{field} of model {name} has the invalid value {value!r}", field=_AS_OF, name=name, value=value
        )
        raise source.fault(what, tr("Enter a day, for example 2026-11-29"), number, _AS_OF) from error


def _value(rule: _Key, key: str, value: object, place: _Place) -> object:
    name, number, source = place
    if rule.kind is float and type(value) is int and abs(value) <= sys.float_info.max:
        return float(value)
    if type(value) is not rule.kind or (
        isinstance(value, int | float) and value <= 0 and rule.kind is not bool
    ):
        raise source.fault(
            tr("{key} of model {name} has the invalid value {value!r}", key=key, name=name, value=value),
            tr("The value must be {kind}", kind=rule.word),
            number,
            key,
        )
    if not isinstance(value, list):
        return value
    try:
        return tuple(Effort(level) for level in value if level != Effort.AUTO)
    except ValueError as error:
        levels = ", ".join(level for level in Effort if level is not Effort.AUTO)
        what = tr("{key} of model {name} has the invalid value {value!r}", key=key, name=name, value=value)
        raise source.fault(what, tr("Use these levels: {levels}", levels=levels), number, key) from error


def _fault(what: str, remedy: str, where: str) -> ConfigError:
    return ConfigError(what, remedy=remedy, where=where)
