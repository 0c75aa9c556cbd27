"""Measures what the one opener costs: a home of 10,000 discussions read with it, and with the bare system in its place."""

from __future__ import annotations

import statistics
import tempfile
import time
import tomllib
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

from core.kernel import paths
from core.kernel.ids import make_id
from core.kernel.values.discussion import DiscussionMeta
from core.kernel.values.messages import Role, Status, TextPart
from core.kernel.values.records import MessageRecord
from core.talk.discussion import log, log_codec
from core.talk.discussion.discussion_meta import read as read_queue
from core.talk.discussion.discussion_meta import read_draft, read_meta, write_meta_in
from tests.bench.__main__ import Row, row

DISCUSSIONS = 10_000
TURNS = 4
RUNS = 7
BAR = 1.05
_AT = datetime(2026, 11, 20, 7, 30, tzinfo=UTC)


def rows(discussions: int = DISCUSSIONS, runs: int = RUNS) -> list[Row]:
    """Measure in a temporary home. The ratio comes from alternating runs, values are medians of processor time."""
    opened, bare = [], []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        ids = make_home(home, discussions)
        _read(home, ids)  # the system's cache holds the files from now on
        for _ in range(runs):
            opened.append(_seconds(home, ids))
            with _bare():
                bare.append(_seconds(home, ids))
    ratio = statistics.median(one / other for one, other in zip(opened, bare, strict=True))
    name = f"home of {discussions:,} discussions, read"
    return [
        row(name, statistics.median(opened), "s", runs=runs),
        row(f"{name} / by the bare system", ratio, "times", BAR, runs=runs),
    ]


def make_home(home: Path, discussions: int) -> tuple[str, ...]:
    """A home of so many discussions of a few turns, without syncing each. Returns their ids."""
    ids = tuple(make_id(_AT + timedelta(seconds=number), f"{number}") for number in range(discussions))
    for discussion_id in ids:
        directory = paths.discussion_dir(home, discussion_id)
        directory.mkdir(parents=True)
        lines = b"".join(
            log_codec.encode(
                MessageRecord(
                    f"{discussion_id}-{turn}",
                    _AT,
                    Role.USER,
                    (TextPart("a few words " * 20),),
                    Status.COMPLETE,
                )
            )
            for turn in range(TURNS)
        )
        (directory / paths.LOG_FILE).write_bytes(lines)
    _write_metas(home, ids)
    return ids


def _write_metas(home: Path, ids: tuple[str, ...]) -> None:
    """The first as the program writes it; the others are its copies, but for the id, which stands in the name alone."""
    first = paths.discussion_dir(home, ids[0])
    write_meta_in(first, DiscussionMeta(ids[0], "A talk", _AT, "anthropic", "claude-x"))
    data = (first / paths.META_FILE).read_bytes()
    for discussion_id in ids[1:]:
        paths.meta_file(home, discussion_id).write_bytes(data)


def _read(home: Path, ids: tuple[str, ...]) -> int:
    """Read what the list and a first look at each discussion read."""
    count = 0
    for discussion_id in ids:
        read_meta(home, discussion_id)
        read_draft(home, discussion_id)
        read_queue(home, discussion_id)
        count += sum(1 for _ in log.scan(paths.log_file(home, discussion_id)))
    return count


def _seconds(home: Path, ids: tuple[str, ...]) -> float:
    began = time.process_time()
    assert _read(home, ids) == len(ids) * TURNS
    return time.process_time() - began


def _bare() -> ExitStack:
    """The opener and the reading of TOML as they would be without any care."""
    stack = ExitStack()
    for module in ("core.talk.discussion.discussion_meta", "core.talk.discussion.discussion_meta"):
        stack.enter_context(patch(f"{module}.read_file", lambda path, _most=None: path.read_bytes()))
    stack.enter_context(
        patch("core.talk.discussion.log.open_file", lambda path, **how: path.open("rb", **how))
    )
    stack.enter_context(
        patch("core.talk.discussion.discussion_meta.decode_toml", lambda data: tomllib.loads(data.decode()))
    )
    return stack
