"""Versions of replies in the derived index: the chosen one is found and counted, by the rules of `log_content`."""

from __future__ import annotations

import sqlite3

import msgspec

from core.values.messages import Role
from core.values.records import MessageRecord


class VersionPlace(msgspec.Struct, frozen=True):
    """Place of a new version: of the chosen one; `aside` as in the table `entry`."""

    position: int
    first: str
    aside: str


def place_for(db: sqlite3.Connection, number: int, record: MessageRecord) -> VersionPlace | None:
    """Make room for a message; None where it is no version of a reply that the index knows.

    Args:
        number: of the discussion.
    """
    if not record.version_of or record.role is Role.USER:
        return None
    target = db.execute(
        "SELECT first, position, aside FROM entry WHERE discussion = ? AND message_id = ? AND role <> ?",
        (number, record.version_of, Role.USER.value),
    ).fetchone()
    if target is None:
        return None
    chosen = _chosen(db, number, target[0])
    if chosen is None:
        return VersionPlace(target[1], target[0], record.id)
    version_id, position = chosen
    if _run_end(db, number, position) is not None:
        return VersionPlace(position, target[0], record.id)
    _put_aside(db, number, version_id, position)
    return VersionPlace(position, target[0], "")


def choose(db: sqlite3.Connection, number: int, message_id: str) -> None:
    """Let a version be seen that was put aside, and put the one aside that was."""
    target = db.execute(
        "SELECT first FROM entry WHERE discussion = ? AND message_id = ? AND aside = message_id",
        (number, message_id),
    ).fetchone()
    chosen = _chosen(db, number, target[0]) if target is not None else None
    if chosen is None:
        return
    _put_aside(db, number, *chosen)
    db.execute("UPDATE entry SET aside = '' WHERE discussion = ? AND aside = ?", (number, message_id))


def _chosen(db: sqlite3.Connection, number: int, first: str) -> tuple[str, int] | None:
    """Id and position of the version that is seen."""
    row = db.execute(
        "SELECT message_id, position FROM entry WHERE discussion = ? AND first = ? AND aside = ''",
        (number, first),
    ).fetchone()
    return None if row is None else (str(row[0]), int(row[1]))


def _run_end(db: sqlite3.Connection, number: int, position: int) -> int | None:
    """Position of the person's next message behind a reply, None where there is none."""
    row = db.execute(
        "SELECT min(position) FROM entry WHERE discussion = ? AND position > ? AND role = ? AND NOT is_deleted"
        " AND aside = ''",
        (number, position, Role.USER.value),
    ).fetchone()
    return None if row[0] is None else int(row[0])


def _put_aside(db: sqlite3.Connection, number: int, version_id: str, position: int) -> None:
    """Put aside a version, with what follows it up to the person's next message."""
    end = _run_end(db, number, position)
    db.execute(
        "UPDATE entry SET aside = ? WHERE discussion = ? AND aside = '' AND position >= ? AND (? IS NULL OR position < ?)",
        (version_id, number, position, end, end),
    )
