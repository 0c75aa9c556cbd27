"""What is known of models: packaged data, a person's own entries over it, and what servers list."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from core.errors import ConfigError
from core.values.provider import Effort, ModelProfile

ANY = "*"
"""The id of an entry that stands for every model of a provider that no other entry matches."""


@dataclass(frozen=True, slots=True)
class _Key:
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
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return packaged
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The list of models cannot be read: {error}",
            remedy="Make it a readable UTF-8 file, or delete it",
            where=str(path),
        ) from error
    return _apply(packaged, text, where=str(path))


def find_profile(
    models: Iterable[ModelProfile], provider: str, model: str, *, kind: str = ""
) -> ModelProfile:
    """What is known of a model. Total: an unknown model gets a profile that claims nothing.

    An entry of the provider itself goes before one of its kind; then the same id, the longest id that this one
    begins with (`claude-opus-5-5` for `claude-opus-5-5-20260922`), and last the entry for any model.

    Args:
        provider: id of the server in the settings; kind: its `ProviderKind`, for entries that hold for all of a kind.
    """
    best, rank = ModelProfile(provider, model), (False, -1, False)
    for entry in models:
        length = _match(entry.id, model)
        if length is None or entry.provider not in {provider, kind}:
            continue
        found = (length > 0, length, entry.provider == provider)
        if found > rank:
            best, rank = entry, found
    same = best.id == model
    return replace(best, provider=provider, id=model, label=best.label if same else "")


def merge_models(
    known: Sequence[ModelProfile], listed: Iterable[ModelProfile], *, kind: str = ""
) -> tuple[ModelProfile, ...]:
    """Add what a server lists to what is known.

    Known entries keep their fields and their place; the server fills what they leave open. A model that was not
    known follows, in the server's order, with the fields of the entry that matches it.

    Args:
        known: all entries, of any provider.
        listed: the server's list; `provider` is the server's id.
    """
    merged = list(known)
    places = {(entry.provider, entry.id): place for place, entry in enumerate(known)}
    for model in listed:
        place = places.get((model.provider, model.id))
        base = find_profile(known, model.provider, model.id, kind=kind) if place is None else merged[place]
        filled = _fill(base, model)
        if place is None:
            places[model.provider, model.id] = len(merged)
            merged.append(filled)
        else:
            merged[place] = filled
    return tuple(merged)


def offered_models(models: Iterable[ModelProfile], provider: str) -> tuple[ModelProfile, ...]:
    """The models of a provider that can be chosen: all entries but the one for any model."""
    return tuple(entry for entry in models if entry.provider == provider and entry.id != ANY)


def nearest_effort(profile: ModelProfile, wanted: Effort) -> Effort:
    """The level to ask a model for: the wanted one, else the next below it that it takes, else its lowest.

    Returns:
        `AUTO` where it takes none, or where that was wanted.
    """
    order = list(Effort)
    if wanted is Effort.AUTO or not profile.efforts:
        return Effort.AUTO
    below = [level for level in profile.efforts if order.index(level) <= order.index(wanted)]
    return max(below, key=order.index) if below else min(profile.efforts, key=order.index)


def _match(pattern: str, model: str) -> int | None:
    """How much of the model's name an entry's id accounts for, None where it does not match."""
    if pattern == ANY:
        return 0
    if model == pattern or model.startswith((f"{pattern}-", f"{pattern}@", f"{pattern}:")):
        return len(pattern)
    return None


def _fill(base: ModelProfile, listed: ModelProfile) -> ModelProfile:
    is_told = bool(base.thinking or base.efforts)
    return replace(
        base,
        id=listed.id,
        label=base.label or listed.label,
        context_tokens=base.context_tokens or listed.context_tokens,
        max_output_tokens=base.max_output_tokens or listed.max_output_tokens,
        efforts=base.efforts if is_told else listed.efforts,
        thinking=base.thinking if is_told else listed.thinking,
        thinking_off=base.thinking_off if is_told else listed.thinking_off,
        takes_images=base.takes_images or listed.takes_images,
        family=base.family or listed.family,
        from_server=True,
    )


def _apply(models: tuple[ModelProfile, ...], text: str, *, where: str) -> tuple[ModelProfile, ...]:
    try:
        tables = tomllib.loads(text).get("model", [])
    except tomllib.TOMLDecodeError as error:
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
    if rule.kind is float and type(value) is int:
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
