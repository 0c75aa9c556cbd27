"""`meta.toml` and the draft of a discussion: what is set by a person and not part of the talk."""

from __future__ import annotations

import codecs
import json
import mmap
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from core.kernel import paths
from core.kernel.codecs import (
    TomlError,
    builtins_of,
    decode_toml,
    from_builtins,
    from_json,
    read_json,
    read_toml,
)
from core.kernel.disk import OS_DISK, Appended, Disk, append_file, discussion_lock, reported, write_file
from core.kernel.errors import StorageError
from core.kernel.ids import time_of_id
from core.kernel.language import tr
from core.kernel.opener import BOOK_BYTES, open_file, read_file, reason_of
from core.kernel.values.agent import Mode
from core.kernel.values.discussion import (
    FLAGS,
    MAX_OUTPUT_TOKENS,
    MAX_TEMPERATURE,
    MIN_TOP_P,
    DiscussionMeta,
    Draft,
    QueuedPrompt,
)
from core.kernel.values.messages import AttachmentPart
from core.kernel.values.records import MessageRecord, Record
from core.talk.discussion import log_codec

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
    "temperature",
    "top_p",
    "max_output_tokens",
    "has_tools",
    "mode",
    "delegated_by",
    "cache_epoch",
)
"""Keys that are written where they are not as a new discussion has them."""
_DEFAULTS = dict(
    zip(
        reversed(DiscussionMeta.__struct_fields__), reversed(DiscussionMeta.__struct_defaults__), strict=False
    )
)
_FLAG_KEYS = (*FLAGS, "caching_enabled")
_KINDS: Mapping[str, Any] = {
    **dict.fromkeys(_TEXT_KEYS, str),
    "folder": Annotated[
        str, msgspec.Meta(pattern=r"\A[^\0]*\Z")
    ],  # no path holds a zero: looked for, it raises
    **dict.fromkeys(_FLAG_KEYS, bool),
    "cache_epoch": Annotated[int, msgspec.Meta(ge=0)],
    "temperature": Annotated[float, msgspec.Meta(ge=0, le=MAX_TEMPERATURE)],
    "top_p": Annotated[float, msgspec.Meta(ge=0, le=1)],
    "max_output_tokens": Annotated[float, msgspec.Meta(ge=0, le=MAX_OUTPUT_TOKENS)],
    "has_tools": bool,
    "delegated_by": str,
    "mode": Mode,
}
"""Types that each key may hold, in the order in which values of another type are named."""
_LIMIT = {"spend_limit_usd": Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)]}
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
    path = directory / paths.META_FILE
    old, problem = _read_table(path)
    if problem and os.path.lexists(path):
        with reported(tr("keep a copy of"), path):
            disk.replace(path, path.with_name(path.name + ".broken"))
    write_file(path, _text_of(meta, old).encode("utf-8", "replace"), disk=disk)


def read_meta(home: Path, discussion_id: str) -> MetaRead:
    """Read `meta.toml`; what is missing or wrong takes its default and is named in `problem`. Never fails.

    Raises:
        StorageError: only where the id itself is no name.
    """
    return read_meta_in(paths.discussion_dir(home, discussion_id), discussion_id)


def read_meta_in(directory: Path, discussion_id: str) -> MetaRead:
    """As `read_meta`, of a discussion wherever its directory lies. Never fails."""
    table, problem = _read_table(directory / paths.META_FILE)
    return _meta_of(table, problem, discussion_id)


def mended_text(data: bytes, discussion_id: str, provider: str, model: str) -> str:
    """Text of a `meta.toml` with what can be read of a broken one: the whole, or else each of its lines that is TOML by
    itself, the last of those with one key.

    Args:
        data: of the broken file; provider, model: what counts where it names no model.
    """
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    text = data.decode(encoding, "replace").replace("\r\n", "\n")  # of an editor on Windows
    try:
        table = read_toml(text)
    except TomlError:
        table = _lines_of(text)
    meta = _meta_of(table, "", discussion_id).meta
    if not (meta.provider and meta.model):
        meta = replace(meta, provider=provider, model=model)
    return _text_of(meta, table)


def _lines_of(text: str) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for line in text.split("\n"):  # a name may hold other ends of lines
        if line.lstrip().startswith("["):  # keys of a table; ours stand before every table
            break
        with suppress(TomlError):
            table |= read_toml(line)
    return table


def _text_of(meta: DiscussionMeta, old: Mapping[str, Any]) -> str:
    """Text of `meta.toml`; other keys of the old one survive."""
    import tomli_w

    table = {key: value for key, value in old.items() if key not in _OPTIONAL_KEYS}
    return tomli_w.dumps({**table, **_to_table(meta)})


def _meta_of(table: dict[str, Any], problem: str, discussion_id: str) -> MetaRead:
    wrong: list[str] = []
    values = {"name": discussion_id, "provider": "", "model": "", **_taken(table, _KINDS, wrong)}
    if "top_p" in values:
        values["top_p"] = max(MIN_TOP_P, values["top_p"])
    if "max_output_tokens" in values:
        values["max_output_tokens"] = max(1, int(values["max_output_tokens"]))
    values["created_at"] = _created(table, discussion_id, wrong)
    meta = DiscussionMeta(id=discussion_id, **values, **_taken(table, _LIMIT, wrong))
    if wrong and not problem:
        problem = tr("meta.toml has no usable {wrong}; the default counts", wrong=", ".join(wrong))
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
    if not paths.is_directory_name(discussion_id):
        return False
    directory = os.path.join(paths.discussions_dir(home), discussion_id)  # text: thousands are looked at
    return any(
        os.path.isfile(os.path.join(directory, name))
        for name in (paths.DRAFT_FILE, paths.DRAFT_ATTACHMENTS_FILE)
    )


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
    return AttachmentPart(
        sha256=sha256,
        media_type=media_type,
        name=name,
        size_bytes=size,
        pages=pages,
        text_sha256=str(item.get("text_sha256", "")),
        text_bytes=int(item.get("text_bytes", 0)),
        side_px=int(item.get("side_px", 0)),
    )


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
    optional = {key: getattr(meta, key) for key in _OPTIONAL_KEYS}
    table |= {key: value for key, value in optional.items() if value != _DEFAULTS[key]}
    return table


def _read_table(path: Path) -> tuple[dict[str, Any], str]:
    try:
        table = decode_toml(read_file(path))
    except FileNotFoundError:
        return {}, tr("meta.toml is missing: the discussion has lost its name and model. Choose both")
    except UnicodeDecodeError:
        return {}, tr("meta.toml is not UTF-8: the discussion has lost its name and model")
    except TomlError as error:
        return {}, tr("meta.toml is broken: the discussion has lost its name and model. {error}", error=error)
    except OSError as error:
        return {}, tr(
            "meta.toml cannot be read: the discussion has lost its name and model. {error}",
            error=reason_of(error),
        )
    return table, "" if table else tr("meta.toml is empty: the discussion has lost its name and model")


def _taken(table: dict[str, Any], kinds: Mapping[str, Any], wrong: list[str]) -> dict[str, Any]:
    """The values of these keys by their fields; keys that hold another kind are added to `wrong`."""
    values = {}
    for key, kind in kinds.items():
        if key in table:
            try:
                values[_TEXT_KEYS.get(key, key)] = from_builtins(table[key], kind)
            except msgspec.ValidationError:
                wrong.append(repr(key))
    return values


def _created(table: dict[str, Any], discussion_id: str, wrong: list[str]) -> datetime:
    created = table.get("created")
    if isinstance(created, datetime):
        with suppress(OverflowError):
            return created.astimezone(UTC) if created.tzinfo else created.replace(tzinfo=UTC)
    if table:
        wrong.append("'created'")
    return time_of_id(discussion_id) or _UNKNOWN_TIME


# `queue.json` of a discussion: prompts that wait for their turn. Each leaves it once, whoever sends or
# takes it.

VERSION = 1
_Prompts = tuple[QueuedPrompt, ...]


class QueueRead(msgspec.Struct, frozen=True):
    """A queue as far as it could be read; `problem` says what could not, empty when all is well."""

    prompts: tuple[QueuedPrompt, ...] = ()
    problem: str = ""


class _QueueContent(msgspec.Struct, frozen=True):
    """The file: the version of its form, and the prompts in order."""

    v: int
    prompts: tuple[QueuedPrompt, ...]


def read(home: Path, discussion_id: str) -> QueueRead:
    """Read the prompts that wait, in order. Never fails: what cannot be read is named, and the file is left alone."""
    return _read(paths.discussion_dir(home, discussion_id) / paths.QUEUE_FILE)


def add(
    home: Path, discussion_id: str, prompt: QueuedPrompt, *, disk: Disk = OS_DISK
) -> tuple[QueuedPrompt, ...]:
    """Add a prompt to the end of the queue.

    Returns:
        The queue as it stands on disk.

    Raises:
        StorageError: it was not kept. LockedError: another process kept the discussion's lock.
    """
    return _change(home, discussion_id, lambda before: (*before, prompt), disk)


def remove(home: Path, discussion_id: str, prompt_id: str) -> tuple[QueuedPrompt, ...]:
    """Take a prompt out; one that is not there changes nothing.

    Returns:
        The queue as it stands on disk.

    Raises:
        StorageError, LockedError: it still waits.
    """
    return _change(home, discussion_id, lambda before: _without(before, prompt_id), OS_DISK)


def send(
    home: Path, discussion_id: str, records: tuple[Record, ...], prompt_id: str, *, disk: Disk = OS_DISK
) -> Appended | None:
    """Append a queued prompt's records to the log and take it out of the queue, in one hold of the lock.

    A kill between the two leaves it in both: the log counts, here and when the discussion is loaded.

    Returns:
        Where the records went; None where the prompt is not in the queue any more, or was sent already.

    Raises:
        StorageError, LockedError: nothing was appended, and the prompt still waits.
    """
    directory = paths.discussion_dir(home, discussion_id)
    with discussion_lock(directory):
        before = _writable(directory, disk)
        rest = _without(before, prompt_id)
        is_sent = _is_logged(directory / paths.LOG_FILE, prompt_id)
        appended = None
        if rest != before and not is_sent:
            data = b"".join(map(log_codec.encode, records))
            appended = append_file(directory / paths.LOG_FILE, data, disk=disk)
        if rest != before:
            with suppress(StorageError):
                _write(directory, rest, disk)
    return appended


def _change(home: Path, discussion_id: str, change: Callable[[_Prompts], _Prompts], disk: Disk) -> _Prompts:
    """Change the queue in one hold of the lock, and return it as it stands on disk."""
    directory = paths.discussion_dir(home, discussion_id)
    with discussion_lock(directory):
        before = _writable(directory, disk)
        prompts = change(before)
        if prompts != before:
            _write(directory, prompts, disk)
    return prompts


def _without(prompts: _Prompts, prompt_id: str) -> _Prompts:
    return tuple(prompt for prompt in prompts if prompt.id != prompt_id)


def _read(path: Path) -> QueueRead:
    try:
        content = from_json(read_file(path, BOOK_BYTES), _QueueContent)
    except FileNotFoundError:
        return QueueRead()
    except (OSError, ValueError, RecursionError) as error:
        return QueueRead(
            problem=tr(
                "{QUEUE_FILE} cannot be read, so the program does not show waiting messages: {error}",
                QUEUE_FILE=paths.QUEUE_FILE,
                error=error,
            )
        )
    if content.v != VERSION:
        return QueueRead(
            problem=tr(
                "{QUEUE_FILE} has another version ({v}); the program left it alone",
                QUEUE_FILE=paths.QUEUE_FILE,
                v=content.v,
            )
        )
    return QueueRead(content.prompts)


def _writable(directory: Path, disk: Disk) -> tuple[QueuedPrompt, ...]:
    """The prompts, before others are written. A file that cannot be read is kept beside it."""
    path = directory / paths.QUEUE_FILE
    found = _read(path)
    if found.problem:
        with reported(tr("keep a copy of"), path):
            disk.replace(path, path.with_name(path.name + ".broken"))
    return found.prompts


def _write(directory: Path, prompts: tuple[QueuedPrompt, ...], disk: Disk) -> None:
    """Write the queue; an empty one leaves no file."""
    path = directory / paths.QUEUE_FILE
    if prompts:
        content = builtins_of(_QueueContent(VERSION, prompts))
        text = json.dumps(content, sort_keys=True, ensure_ascii=False, indent=1) + "\n"
        write_file(path, text.encode("utf-8", "replace"), disk=disk)
        return
    with reported("remove", path):
        path.unlink(missing_ok=True)


def _is_logged(path: Path, message_id: str) -> bool:
    """True if a message with this id can be read in the log, as when it is loaded: half of its line, which a kill left,
    is none. No text can look like the id: quotes inside a JSON string are escaped.
    """
    mark = f'"id":{json.dumps(message_id)}'.encode()
    try:
        with open_file(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = data.find(mark)
            while at >= 0:
                end = data.find(b"\n", at)
                end = len(data) if end < 0 else end
                record = log_codec.decode(data[data.rfind(b"\n", 0, at) + 1 : end], 0)
                if isinstance(record, MessageRecord) and record.id == message_id:
                    return True
                at = data.find(mark, end)
    except (OSError, ValueError):
        return False
    return False
