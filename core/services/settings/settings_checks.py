"""One settings file against the schema: which values hold, and what is wrong with the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import PurePath
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from core.kernel.language import any_of, spliced, tr
from core.kernel.values.settings import PolicyAnswer, ProjectPolicies
from core.services.providers.key_names import OWN_KINDS
from core.services.settings.settings_schema import (
    BY_KEY,
    MCP_NAME_PATTERN,
    NAME_PATTERN,
    NEVER_TABLES,
    PROJECT_TABLES,
    VENDORS,
    Kind,
    Setting,
    SettingScope,
    Value,
)
from core.services.settings.toml_document import Place

SECRET_NAMES = frozenset({"api_key", "apikey", "key", "token", "secret", "password", "auth_token"})
"""Names under which people put keys into settings; such a value is never read nor repeated."""

FOLDERS = ("tools", "folders")
"""Table of folders that have policies of their own."""

MCP_SERVERS = ("mcp", "servers")
"""Table of MCP servers by name."""

CHANNELS = "channels"
"""Table of channels, a table each."""

ANSWERS = ProjectPolicies.__struct_fields__
"""Keys of a policy that are answers, in `[tools]` and in a folder's table."""

_TABLES = frozenset(
    tuple(key.split(".")[:length])
    for key in BY_KEY
    for length in range(1, key.count(".") + 1)
    if "<" not in key
) | {("providers",), ("mcp",), (CHANNELS,), FOLDERS, MCP_SERVERS}
_DEEPEST = 4
MAX_HINTS = 100
"""Unknown names of one file for which a near one is looked up: it takes a millisecond each."""

_TABLE_HINTS = 3
"""Hints for one table of which there may be many, at most."""
MAX_SERVERS = 200
"""Servers of one file, at most; each is compared with all others for whose key it might get."""
MAX_MCP_SERVERS = 50
"""MCP servers of one file, at most."""


class Flaw(msgspec.Struct, frozen=True):
    """Something wrong in a settings file.

    Args:
        place: where, for finding the line; is_grave: the file's values cannot be used, else only said.
    """

    place: Place
    reason: str
    is_grave: bool = True


def setting_for(key: str) -> Setting | None:
    """The schema's entry for a dotted key as it stands in a file (`providers.ollama.label`), or None."""
    if key in BY_KEY:
        return BY_KEY[key]
    parts = key.split(".")
    if parts[0] == "providers" and len(parts) == 3 and re.fullmatch(NAME_PATTERN, parts[1]):
        return BY_KEY.get(f"providers.<id>.{parts[2]}")
    if is_mcp_key(key) and len(parts) == 4 and re.fullmatch(MCP_NAME_PATTERN, parts[2]):
        return BY_KEY.get(f"mcp.servers.<name>.{parts[3]}")
    if parts[0] == CHANNELS and len(parts) == 3 and re.fullmatch(NAME_PATTERN, parts[1]):
        return BY_KEY.get(f"channels.<name>.{parts[2]}")
    place = place_of(key)
    if place[:2] == FOLDERS and len(place) == 4 and _is_folder(place[2]):
        return BY_KEY.get(f"tools.folders.<folder>.{place[3]}")
    return None


def is_mcp_key(key: str) -> bool:
    """True for a key of an MCP server, by its dotted key."""
    return key.startswith("mcp.servers.")


def place_of(key: str) -> tuple[str, ...]:
    """Names of the tables and the key that a dotted key stands for; a folder's name may hold dots."""
    parts = tuple(key.split("."))
    if parts[:2] != FOLDERS or len(parts) < 4:
        return parts
    return (*FOLDERS, ".".join(parts[2:-1]), parts[-1])


def _is_folder(name: str) -> bool:
    """True for a folder as settings name one: absolute, or from the person's own."""
    return name == "~" or name.startswith("~/") or PurePath(name).is_absolute()


def value_flaw(setting: Setting, value: Any) -> str:
    """Flaw of a value for a setting, as the end of a sentence (`must be …`), empty where it has none."""
    match setting.kind:
        case Kind.SWITCH:
            return (
                ""
                if isinstance(value, bool)
                else tr("must be true or false, not {shown}", shown=_shown(value))
            )
        case Kind.WHOLE:
            if isinstance(value, bool) or not isinstance(value, int):
                return tr("must be a whole number, not {shown}", shown=_shown(value))
            return _range_flaw(setting, value)
        case Kind.NUMBER:
            if isinstance(value, bool) or not isinstance(value, int | float):
                return tr("must be a number, not {shown}", shown=_shown(value))
            return _range_flaw(setting, value)
        case Kind.TEXTS:
            if not isinstance(value, list | tuple):
                return tr('must be a list of texts (["one", "two"]), not {shown}', shown=_shown(value))
            return next(filter(None, (_text_flaw(setting, text) for text in value)), "")
        case _:
            return _text_flaw(setting, value)


def _range_flaw(setting: Setting, value: float) -> str:
    low, high = setting.minimum, setting.maximum
    if low is not None and high is not None and not low <= value <= high:
        return tr("must be from {low:g} to {high:,.0f}, not {value}", low=low, high=high, value=value)
    return ""


def _text_flaw(setting: Setting, value: Any) -> str:
    if not isinstance(value, str):
        return tr("must be a text in quotes, not {shown}", shown=_shown(value))
    if setting.choices and value not in setting.choices:
        near = did_you_mean(value, setting.choices)
        return tr(
            "must be one of {choices}, not {value!r}{near}",
            choices=", ".join(setting.choices),
            value=value,
            near=near,
        )
    if setting.minimum is not None and len(value) < setting.minimum:
        return tr("must not be empty")
    if setting.maximum is not None and len(value) > setting.maximum:
        return tr(
            "must have at most {maximum:,.0f} characters, not {len:,}",
            maximum=setting.maximum,
            len=len(value),
        )
    if setting.key == "retrieval.server":
        return _database_flaw(value)
    if setting.field == "mcp.key":
        return "" if not value or re.fullmatch(NAME_PATTERN, value) else _NO_KEY
    return _address_flaw(value) if setting.key.endswith((".base_url", ".url")) else ""


_NO_KEY = tr("must be a key's name (small letters, digits, - and _), not the key")


def _address_flaw(address: str) -> str:
    if not address:
        return ""
    try:
        parts = urlsplit(address)
        port_is_good = parts.port is None or 0 < parts.port < 65536
    except ValueError:
        return tr("is not an address (http://host:port/path)")
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port_is_good:
        return tr("must be an address that starts with http:// or https://")
    if parts.username or parts.password:
        return tr("must not hold a user or a password; keys go into the keyring")
    if any(mark.isspace() or not mark.isprintable() for mark in address):
        return tr("must not hold spaces or control characters")
    return ""


def _database_flaw(address: str) -> str:
    if not address:
        return ""
    try:
        parts = urlsplit(address)
        has_password = bool(parts.password) or any(name == "password" for name, _ in parse_qsl(parts.query))
    except ValueError:
        return tr("is not an address (postgresql://user@host/database)")
    if parts.scheme not in {"postgresql", "postgres"}:
        return tr("must be an address that starts with postgresql://")
    if has_password:
        return tr("must not hold a password: store the password with `manual-slop key retrieval-server`")
    return ""


def check_settings(data: Mapping[str, Any], *, is_project: bool) -> tuple[dict[str, Value], list[Flaw]]:
    """Sort a parsed file into values that hold and flaws.

    Args:
        data: the parsed TOML; is_project: the tables of `Project` are another's to read, and are passed over.

    Returns:
        Values by dotted key as it stands in the file, and the flaws in file order.
    """
    values: dict[str, Value] = {}
    flaws: list[Flaw] = []
    passed_over = (*PROJECT_TABLES, *NEVER_TABLES) if is_project else ()
    for place, value in _leaves((), {name: row for name, row in data.items() if name not in passed_over}):
        flaw = _flaw(place, value, is_project=is_project, has_hint=len(flaws) < MAX_HINTS)
        if flaw is None:
            values[".".join(place)] = tuple(value) if isinstance(value, list) else value
        else:
            flaws.append(flaw)
            if place[0] == "tools" and place[-1] in ANSWERS:
                values[".".join(place)] = (
                    PolicyAnswer.ASK.value
                )  # a policy that nobody understands lets nothing go
    servers = dict.fromkeys(key.split(".")[1] for key in values if key.startswith("providers."))
    if len(servers) > MAX_SERVERS:
        reason = tr(
            "{servers:,} providers are too many, so the program uses none. Keep at most {MAX_SERVERS}",
            servers=len(servers),
            MAX_SERVERS=MAX_SERVERS,
        )
        flaws.append(Flaw(place=("providers",), reason=reason))
        values = {key: value for key, value in values.items() if not key.startswith("providers.")}
    named = dict.fromkeys(key.split(".")[2] for key in values if is_mcp_key(key))
    if len(named) > MAX_MCP_SERVERS:
        reason = tr(
            "{named:,} MCP servers are too many, so the program uses none. Keep at most {MAX_MCP_SERVERS}",
            named=len(named),
            MAX_MCP_SERVERS=MAX_MCP_SERVERS,
        )
        flaws.append(Flaw(place=MCP_SERVERS, reason=reason))
        values = {key: value for key, value in values.items() if not is_mcp_key(key)}
    return values, flaws


def _leaves(place: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value that is no table, with its path; an empty or a deep table stands for itself."""
    if not isinstance(value, Mapping) or len(place) == _DEEPEST:
        yield place, value
    elif value:
        for name, inner in value.items():
            yield from _leaves((*place, name), inner)
    elif (
        place
        and place not in _TABLES
        and place[0] not in {"providers", CHANNELS}
        and place[:2] not in {FOLDERS, MCP_SERVERS}
    ):
        yield place, value


def _flaw(place: tuple[str, ...], value: Any, *, is_project: bool, has_hint: bool) -> Flaw | None:
    key = ".".join(place)
    if place[-1].lower() in SECRET_NAMES and place[0] in {"providers", CHANNELS}:
        return Flaw(
            place=place,
            reason=tr("{key}: a settings file never holds keys; store the key in Settings", key=key),
            is_grave=False,
        )
    if place[:2] == MCP_SERVERS and len(place) > 3 and place[3].lower() in {*SECRET_NAMES, "env", "headers"}:
        return Flaw(place=place, reason=spliced("{}: {}", key, _NO_VALUES), is_grave=False)
    is_folder = place[:2] == FOLDERS and len(place) >= 3
    if is_folder and not _is_folder(place[2]):
        return Flaw(
            place=place,
            reason=tr("tools.folders: {place!r} must be an absolute path, or begin with ~", place=place[2]),
        )
    is_named_table = (
        (is_folder and len(place) == 3)
        or (place[0] in {"providers", CHANNELS} and len(place) == 2)
        or (place[:2] == MCP_SERVERS and len(place) == 3)
    )
    if place in _TABLES or is_named_table:
        return Flaw(place=place, reason=tr("{key} must be a table ([{key}])", key=key))
    has_dots = any("." in part for part in (place[3:] if is_folder else place))
    setting = None if has_dots else setting_for(key)
    if setting is None or (setting.scope is SettingScope.PROJECT and not is_project):
        return _unknown(place, is_project=is_project, has_hint=has_hint)
    reason = value_flaw(setting, value) or _kind_flaw(place, value)
    return Flaw(place=place, reason=spliced("{} {}", key, reason)) if reason else None


_NO_VALUES = tr(
    "a settings file never holds keys or values of variables; name variables in `environment` or the key in `key_name`; store the values with `manual-slop key`"
)


def _kind_flaw(place: tuple[str, ...], value: Any) -> str:
    if place[0] != "providers" or place[-1] != "kind":
        return ""
    taken = (place[1],) if place[1] in VENDORS else OWN_KINDS
    return (
        ""
        if value in taken
        else tr(
            "must be {values} for the provider {provider!r}",
            values=any_of(map(repr, taken)),
            provider=place[1],
        )
    )


def _unknown(place: tuple[str, ...], *, is_project: bool, has_hint: bool) -> Flaw:
    key = ".".join(place)
    if place[0] == "providers" and len(place) > 1 and not re.fullmatch(NAME_PATTERN, place[1]):
        reason = tr(
            "{place!r} is not a provider's id: use small letters, digits, - and _ (40 at most)",
            place=place[1],
        )
        return Flaw(place=place, reason=reason, is_grave=False)
    if place[:2] == MCP_SERVERS and len(place) > 2 and not re.fullmatch(MCP_NAME_PATTERN, place[2]):
        reason = tr(
            "{place} is not an MCP server name: use letters, digits, - and single _ (30 at most)",
            place=_shown(place[2]),
        )
        return Flaw(place=place, reason=reason, is_grave=False)
    if place[0] == CHANNELS and len(place) > 1 and not re.fullmatch(NAME_PATTERN, place[1]):
        reason = tr(
            "{place!r} is not a channel name: use small letters, digits, - and _ (40 at most)", place=place[1]
        )
        return Flaw(place=place, reason=reason, is_grave=False)
    if not has_hint:
        return Flaw(
            place=place,
            reason=tr("{key} is not a setting; the program ignores this key", key=key),
            is_grave=False,
        )
    if place[0] == "providers" and len(place) == 3:
        known = tuple(name.replace("<id>", place[1]) for name in BY_KEY if name.startswith("providers."))
    elif place[:2] == MCP_SERVERS and len(place) == 4:
        known = tuple(name.replace("<name>", place[2]) for name in BY_KEY if is_mcp_key(name))
    else:
        known = tuple(k for k, s in BY_KEY.items() if is_project or s.scope is not SettingScope.PROJECT)
    return Flaw(
        place=place,
        reason=tr(
            "{key} is not a setting{key2}; the program ignores this key",
            key=key,
            key2=did_you_mean(key, known),
        ),
        is_grave=False,
    )


def unknown_keys(row: Mapping[str, Any], known: tuple[str, ...], place: Place, shown: str) -> list[Flaw]:
    """A flaw for each key of a table that is no setting. A near name is looked up for the first few.

    Args:
        known: keys that are; place: of the table; shown: the table as it is called.
    """
    unknown = [key for key in row if key not in known]
    hints = [did_you_mean(key, known) for key in unknown[:_TABLE_HINTS]]
    return [
        Flaw(
            place=(*place, key),
            reason=tr(
                "{shown}.{key} is not a setting{hint}; the program ignores this key",
                shown=shown,
                key=key,
                hint=hint,
            ),
            is_grave=False,
        )
        for key, hint in zip_longest(unknown, hints, fillvalue="")
    ]


def did_you_mean(word: str, known: tuple[str, ...]) -> str:
    """`; did you mean x?` for the nearest known word or one with the same last name, empty where none is near."""
    from difflib import get_close_matches

    found = get_close_matches(word, known, n=1, cutoff=0.6)
    if not found:
        tail = word.rpartition(".")[2]
        found = [name for name in known if name.rpartition(".")[2] == tail][:1]
    return tr("; did you mean {found}?", found=found[0]) if found else ""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
