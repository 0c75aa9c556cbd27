"""The trash: deleted discussions, why, back again, and their end after some days."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from core.kernel import paths
from core.kernel.codecs import TomlError, decode_toml
from core.kernel.disk import OS_DISK, Disk, discussion_lock, make_dirs, reported, sync_dir, write_file
from core.kernel.errors import StorageError
from core.kernel.ids import time_of_id
from core.kernel.language import tr
from core.kernel.opener import read_file
from core.kernel.values.state import TrashItem
from core.talk.discussion.discussion_meta import read_meta

KEEP_DAYS = 30
MAX_STEP = timedelta(days=7)
"""The most that one look at the trash may age it: a clock that jumps years ahead counts as a week, once."""

_LONGEST_S = 1e10
"""More is no time that anything lay in the trash."""

_UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)


class _Ages(msgspec.Struct, frozen=True):
    """Time in seconds that each entry has been seen in the trash, and when it was last looked at."""

    seen_at: datetime | None
    seconds: dict[str, float]


def delete(home: Path, discussion_id: str, now: datetime, why: str, *, disk: Disk = OS_DISK) -> TrashItem:
    """Move a discussion into the trash, whole, in one rename.

    Args:
        why: one plain phrase (`deleted by you`), kept in why.toml.

    Raises:
        StorageError: it is where it was.
        LockedError: another process is writing to it.
    """
    directory = paths.discussion_dir(home, discussion_id)
    with reported("delete", directory):
        directory.stat()
    item = TrashItem(
        discussion_id=discussion_id,
        name=read_meta(home, discussion_id).meta.name,
        deleted_at=now,
        why=why,
        path="",
    )
    target = _free_target(home, discussion_id, now)
    make_dirs(target.parent, disk=disk)
    with discussion_lock(directory):
        _note_why(directory / paths.WHY_FILE, item, disk)
    with reported("delete", directory):
        _move(directory, target, disk)
    return TrashItem(
        discussion_id=item.discussion_id, name=item.name, deleted_at=now, why=why, path=str(target)
    )


def restore(home: Path, discussion_id: str = "", *, disk: Disk = OS_DISK) -> str:
    """Bring a discussion back from the trash, in one rename.

    Args:
        discussion_id: empty for the one deleted last; of several of one id, the newest.

    Returns:
        Its id.

    Raises:
        StorageError: it is not in the trash, its place is taken, or it could not be moved.
    """
    item = next((item for item in items(home) if discussion_id in {"", item.discussion_id}), None)
    if item is None:
        raise StorageError(
            tr("The trash does not hold {value!r}", value=discussion_id or tr("anything")),
            remedy=tr("Look into the trash; the program removes old discussions from the trash"),
            where=str(paths.trash_dir(home)),
        )
    directory = paths.discussion_dir(home, item.discussion_id)
    with reported("restore", directory):
        if directory.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        _move(Path(item.path), directory, disk)
    with suppress(OSError):
        disk.unlink(directory / paths.WHY_FILE)
    return item.discussion_id


def items(home: Path) -> tuple[TrashItem, ...]:
    """Items in the trash, last deleted first. An entry without a readable why.toml is listed by its name."""
    with reported("read", paths.trash_dir(home)):
        try:
            found = [path for path in paths.trash_dir(home).iterdir() if path.is_dir()]
        except FileNotFoundError:
            return ()
    listed = [item for item in map(_item, found) if item is not None]
    return tuple(sorted(listed, key=lambda item: (item.deleted_at, item.path), reverse=True))


def expire(
    home: Path, now: datetime, keep_days: float = KEEP_DAYS, *, disk: Disk = OS_DISK
) -> tuple[TrashItem, ...]:
    """Remove for good what has been in the trash for its time. Call it at start and once a day.

    Time in the trash is what was seen to pass between two calls, at most a week each, and the clock must agree: a
    clock that jumps years ahead, or was wrong when something was deleted, empties nothing early. A program that is
    started once a month therefore keeps the trash longer than asked, never shorter.

    Args:
        now: UTC; keep_days: above 0.

    Returns:
        What was removed.

    Raises:
        StorageError: the record of ages could not be written; then nothing was removed.
    """
    listed = items(home)
    old = _read_ages(home)
    if not listed and not old.seconds:
        return ()
    ages = _aged(old, listed, now)
    limit = timedelta(days=keep_days)
    due = [i for i in listed if _age(ages, i) >= limit and now - i.deleted_at >= limit]
    _write_ages(home, ages, disk)
    return tuple(item for item in due if _remove(Path(item.path)))


def _aged(old: _Ages, listed: tuple[TrashItem, ...], now: datetime) -> _Ages:
    passed = now - old.seen_at if old.seen_at is not None else timedelta(0)
    step = min(max(passed, timedelta(0)), MAX_STEP).total_seconds()
    names = [Path(item.path).name for item in listed]
    return _Ages(now, {name: old.seconds[name] + step if name in old.seconds else 0.0 for name in names})


def _age(ages: _Ages, item: TrashItem) -> timedelta:
    return timedelta(seconds=ages.seconds[Path(item.path).name])


def _remove(path: Path) -> bool:
    shutil.rmtree(path, ignore_errors=True)
    return not path.exists()


def _note_why(path: Path, item: TrashItem, disk: Disk) -> None:
    """On a full disk a person must be able to delete: then the entry goes by its name, without a reason."""
    try:
        write_file(path, _why_toml(item), disk=disk)
    except StorageError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise


def _free_target(home: Path, discussion_id: str, now: datetime) -> Path:
    base = f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{discussion_id}"
    target, number = paths.trash_dir(home) / base, 2
    while target.exists():
        target, number = target.with_name(f"{base}~{number}"), number + 1
    return target


def _move(source: Path, target: Path, disk: Disk) -> None:
    disk.replace(source, target)
    for directory in {source.parent, target.parent}:
        sync_dir(directory, disk)


def _item(path: Path) -> TrashItem | None:
    why = _table(path / paths.WHY_FILE)
    by_name = path.name[16:].partition("~")[0]
    discussion_id = why["id"] if isinstance(why.get("id"), str) else by_name
    if not paths.is_directory_name(discussion_id):
        return None
    deleted_at = _utc(why.get("deleted_at")) or time_of_id(f"{path.name[:15]}-aaaaaa") or _UNKNOWN_TIME
    return TrashItem(
        discussion_id=discussion_id,
        name=str(why.get("name", by_name)),
        deleted_at=deleted_at,
        why=str(why.get("why", "unknown")),
        path=str(path),
    )


def _read_ages(home: Path) -> _Ages:
    table = _table(paths.trash_dir(home) / paths.AGES_FILE)
    seconds = table.get("seconds")
    known = seconds if isinstance(seconds, dict) else {}
    usable = {
        name: float(s) for name, s in known.items() if isinstance(s, (int, float)) and 0 <= s <= _LONGEST_S
    }
    return _Ages(_utc(table.get("seen_at")), usable)


def _write_ages(home: Path, ages: _Ages, disk: Disk) -> None:
    import tomli_w

    text = tomli_w.dumps({"seen_at": ages.seen_at, "seconds": ages.seconds})
    write_file(paths.trash_dir(home) / paths.AGES_FILE, text.encode(), disk=disk)


def _why_toml(item: TrashItem) -> bytes:
    import tomli_w

    table = {"id": item.discussion_id, "name": item.name, "deleted_at": item.deleted_at, "why": item.why}
    return tomli_w.dumps(table).encode("utf-8", "replace")


def _table(path: Path) -> dict[str, Any]:
    try:
        return decode_toml(read_file(path))
    except (OSError, UnicodeDecodeError, TomlError):
        return {}


def _utc(value: object) -> datetime | None:
    if not isinstance(value, datetime):
        return None
    try:
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    except OverflowError:  # the first or the last day of all
        return None
