"""`meta.toml` and the draft of a discussion: what is set by a person and not part of the talk."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from core.base import paths
from core.base.disk import OS_DISK, Disk, reported, write_file
from core.base.ids import time_of_id
from core.base.json_text import read_json
from core.base.opener import BOOK_BYTES, read_file, reason_of
from core.base.toml import TomlError, decode_toml
from core.discussion import log_codec
from core.values.agent import Mode
from core.values.discussion import MAX_OUTPUT_TOKENS, MAX_TEMPERATURE, DiscussionMeta, Draft
from core.values.messages import AttachmentPart

_TEXT_KEYS = {
    "name": "name",
    "folder": "folder",
    "provider": "provider",
    "model": "model",
    "effort": "effort",
    "preset": "preset",
    "persona": "persona",
    "system_preset": "system_preset",
    "parent": "parent_id",
    "branch_point": "branch_message_id",
}
_OPTIONAL_KEYS = (
    "spend_limit_usd",
    "cache_epoch",
    "temperature",
    "max_output_tokens",
    "has_tools",
    "mode",
    "delegated_by",
)
_FLAG_KEYS = ("pinned", "archived", "caching_enabled")
_UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)


class MetaRead(msgspec.Struct, frozen=True):
    """A meta as far as it could be read; `problem` says what could not, empty when all is well."""

    meta: DiscussionMeta
    problem: str = ""


def write_meta(home: Path, meta: DiscussionMeta, *, disk: Disk = OS_DISK) -> None:
    """Write `meta.toml`; keys of it that this program does not know survive.

    A file that is no TOML is kept beside it as `meta.toml.broken`.

    Raises:
        StorageError: nothing was changed.
    """
    directory = paths.discussion_dir(home, meta.id)
    write_meta_in(directory, meta, disk=disk)


def write_meta_in(directory: Path, meta: DiscussionMeta, *, disk: Disk = OS_DISK) -> None:
    """Write `meta.toml` into a directory that need not be the discussion's own yet."""
    import tomli_w

    path = directory / paths.META_FILE
    old, problem = _read_table(path)
    if problem and os.path.lexists(path):
        with reported("keep a copy of", path):
            disk.replace(path, path.with_name(path.name + ".broken"))
    table = {key: value for key, value in old.items() if key not in _OPTIONAL_KEYS}
    text = tomli_w.dumps({**table, **_to_table(meta)})
    write_file(path, text.encode("utf-8", "replace"), disk=disk)


def read_meta(home: Path, discussion_id: str) -> MetaRead:
    """Read `meta.toml`; what is missing or wrong takes its default and is named in `problem`. Never fails.

    Raises:
        StorageError: only where the id itself is no name.
    """
    return read_meta_in(paths.discussion_dir(home, discussion_id), discussion_id)


def read_meta_in(directory: Path, discussion_id: str) -> MetaRead:
    """As `read_meta`, of a discussion wherever its directory lies. Never fails."""
    table, problem = _read_table(directory / paths.META_FILE)
    wrong: list[str] = []
    values: dict[str, Any] = {}
    for key, name in _TEXT_KEYS.items():
        _take(table, key, str, name, values, wrong)
    for key in _FLAG_KEYS:
        _take(table, key, bool, key, values, wrong)
    values["cache_epoch"] = _epoch(table, wrong)
    values["temperature"] = _number(table, "temperature", MAX_TEMPERATURE, wrong)
    most = _number(table, "max_output_tokens", MAX_OUTPUT_TOKENS, wrong)
    values["max_output_tokens"] = None if most is None else max(1, int(most))
    _take(table, "has_tools", bool, "has_tools", values, wrong)
    _take(table, "delegated_by", str, "delegated_by", values, wrong)
    values["mode"] = _mode(table, wrong)
    created = _created(table, discussion_id, wrong)
    limit = _number(table, "spend_limit_usd", sys.float_info.max, wrong)
    base: dict[str, Any] = {"name": discussion_id, "provider": "", "model": ""}
    meta = DiscussionMeta(id=discussion_id, created_at=created, spend_limit_usd=limit, **{**base, **values})
    if wrong and not problem:
        problem = f"meta.toml has no usable {', '.join(wrong)}; the default stands in"
    return MetaRead(meta, problem)


def write_draft(home: Path, discussion_id: str, draft: Draft, *, disk: Disk = OS_DISK) -> None:
    """Keep what stands in the composer; an empty draft leaves no file.

    Raises:
        StorageError: the old draft is still there.
    """
    directory = paths.discussion_dir(home, discussion_id)
    listed = [log_codec.to_json_value(part) for part in draft.attachments]
    attachments = json.dumps(listed, sort_keys=True).encode() if listed else b""
    _write_or_remove(directory / paths.DRAFT_ATTACHMENTS_FILE, attachments, disk)
    _write_or_remove(directory / paths.DRAFT_FILE, draft.text.encode("utf-8", "replace"), disk)


def has_draft(home: Path, discussion_id: str) -> bool:
    """True if something stands in the composer of a discussion, by the files alone: none is read."""
    directory = paths.discussion_dir(home, discussion_id)
    return any((directory / name).is_file() for name in (paths.DRAFT_FILE, paths.DRAFT_ATTACHMENTS_FILE))


def read_draft(home: Path, discussion_id: str) -> Draft:
    """Read the text that stood in the composer. Files that are missing or broken read as empty, bytes that
    are no UTF-8 as U+FFFD.
    """
    directory = paths.discussion_dir(home, discussion_id)
    text = ""
    attachments: tuple[AttachmentPart, ...] = ()
    with suppress(OSError):
        text = read_file(directory / paths.DRAFT_FILE, BOOK_BYTES).decode("utf-8", "replace")
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
        listed = read_json(read_file(directory / paths.DRAFT_ATTACHMENTS_FILE))
        attachments = tuple(_attachment(item) for item in listed)
    return Draft(text, attachments)


def _attachment(item: Mapping[str, Any]) -> AttachmentPart:
    sha256, media_type, name = str(item["sha256"]), str(item["media_type"]), str(item["name"])
    size, pages = int(item["size_bytes"]), int(item.get("pages", 0))
    text = str(item.get("text_sha256", "")), int(item.get("text_bytes", 0))
    return AttachmentPart(sha256, media_type, name, size, pages, *text, side_px=int(item.get("side_px", 0)))


def _write_or_remove(path: Path, data: bytes, disk: Disk) -> None:
    if data:
        write_file(path, data, disk=disk)
    elif path.exists():
        with reported("remove", path):
            path.unlink(missing_ok=True)


def _to_table(meta: DiscussionMeta) -> dict[str, Any]:
    table: dict[str, Any] = {key: getattr(meta, name) for key, name in _TEXT_KEYS.items()}
    table |= {key: getattr(meta, key) for key in _FLAG_KEYS}
    table["created"] = meta.created_at
    if meta.spend_limit_usd is not None:
        table["spend_limit_usd"] = meta.spend_limit_usd
    if meta.temperature is not None:
        table["temperature"] = meta.temperature
    if meta.max_output_tokens is not None:
        table["max_output_tokens"] = meta.max_output_tokens
    if meta.has_tools:
        table["has_tools"] = True
    if meta.mode is not Mode.ASK:
        table["mode"] = meta.mode.value
    if meta.delegated_by:
        table["delegated_by"] = meta.delegated_by
    if meta.cache_epoch:
        table["cache_epoch"] = meta.cache_epoch
    return table


def _read_table(path: Path) -> tuple[dict[str, Any], str]:
    try:
        return decode_toml(read_file(path)), ""
    except FileNotFoundError:
        return {}, "meta.toml is missing; defaults stand in until you rename the discussion or choose a model"
    except UnicodeDecodeError:
        return {}, "meta.toml is not UTF-8; defaults stand in"
    except TomlError as error:
        return {}, f"meta.toml is broken: {error}; defaults stand in"
    except OSError as error:
        return {}, f"meta.toml cannot be read: {reason_of(error)}; defaults stand in"


def _take(
    table: dict[str, Any], key: str, kind: type, name: str, values: dict[str, Any], wrong: list[str]
) -> None:
    if key not in table:
        return
    value = table[key]
    is_path = key == "folder"
    if type(value) is kind and not (is_path and "\0" in value):  # no path holds a zero: looked for, it raises
        values[name] = value
    else:
        wrong.append(repr(key))


def _created(table: dict[str, Any], discussion_id: str, wrong: list[str]) -> datetime:
    created = table.get("created")
    if isinstance(created, datetime):
        with suppress(OverflowError):
            return created.astimezone(UTC) if created.tzinfo else created.replace(tzinfo=UTC)
    if table:
        wrong.append("'created'")
    return time_of_id(discussion_id) or _UNKNOWN_TIME


def _number(table: dict[str, Any], key: str, most: float, wrong: list[str]) -> float | None:
    value = table.get(key)
    if value is None:
        return None
    if type(value) in {int, float} and 0 <= value <= most:
        return float(value)
    wrong.append(repr(key))
    return None


def _mode(table: dict[str, Any], wrong: list[str]) -> Mode:
    """The mode; one that there is not asks."""
    with suppress(ValueError):
        return Mode(table.get("mode", Mode.ASK))
    wrong.append("'mode'")
    return Mode.ASK


def _epoch(table: dict[str, Any], wrong: list[str]) -> int:
    epoch = table.get("cache_epoch", 0)
    if type(epoch) is int and epoch >= 0:
        return epoch
    wrong.append("'cache_epoch'")
    return 0
