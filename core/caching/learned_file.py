"""`caching.json` of a home: what was learned of the person's gaps and of models, kept when discussions are deleted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from core.base import paths
from core.base.disk import OS_DISK, Disk, write_file
from core.base.opener import read_file, reason_of
from core.caching.cache_file import canonical, parsed, possible_gaps
from core.caching.gaps import KEPT_TALKS
from core.discussion.log_codec import from_json_value
from core.values.cache import CacheLedger, ExtensionEvidence, Habits, Talk, TurnGap

FORMAT = 1
_MAX_BYTES = 4_000_000


class Learned(msgspec.Struct, frozen=True):
    """Content of the file.

    Args:
        extensions: by provider and model, as in `CacheLedger`.
        problem: why it could not be read, in a sentence; it is then learned anew.
        answered: providers and models that were seen to answer.
    """

    habits: Habits = msgspec.field(default_factory=Habits)
    extensions: Mapping[tuple[str, str], ExtensionEvidence] = msgspec.field(default_factory=dict)
    problem: str = ""
    answered: frozenset[tuple[str, str]] = frozenset()

    @property
    def ledger(self) -> CacheLedger:
        """The extensions as a ledger without entries."""
        return CacheLedger(extensions=self.extensions)


class _LearnedRow(msgspec.Struct, frozen=True):
    """A discussion's length, as the file holds it."""

    discussion_id: str
    talk: Talk


class _LearnedFile(msgspec.Struct, frozen=True):
    format: int
    own: tuple[TurnGap, ...]
    shared: tuple[TurnGap, ...]
    talks: tuple[_LearnedRow, ...]
    extensions: tuple[ExtensionEvidence, ...]
    answered: tuple[tuple[str, str], ...] = ()
    starts: int = 0
    strange: int = 0


def load_learned(home: Path) -> Learned:
    """Read the file. Never fails: a missing one is nothing learned, a bad one says why."""
    path = home / paths.CACHING_FILE
    try:
        return decode_learned(read_file(path, _MAX_BYTES))
    except FileNotFoundError:
        return Learned()
    except OSError as error:
        return Learned(problem=f"What was learned of caching could not be read: {reason_of(error)}.")


def save_learned(home: Path, learned: Learned, *, disk: Disk = OS_DISK) -> None:
    """Replace the file, whole or not at all.

    Raises:
        StorageError: it could not be written; the old file stands.
    """
    write_file(home / paths.CACHING_FILE, encode_learned(learned), disk=disk)


def encode_learned(learned: Learned) -> bytes:
    """The file's bytes: canonical JSON, ended by LF."""
    habits = learned.habits
    return canonical(
        _LearnedFile(
            format=FORMAT,
            own=possible_gaps(habits.own),
            shared=possible_gaps(habits.shared),
            talks=tuple(_LearnedRow(name, talk) for name, talk in sorted(_possible(habits.talks).items())),
            extensions=tuple(learned.extensions[pair] for pair in sorted(learned.extensions)),
            answered=tuple(sorted(learned.answered)),
            starts=habits.starts,
            strange=habits.strange,
        )
    )


def decode_learned(data: bytes) -> Learned:
    """Read the file's bytes, any bytes. Impossible figures are left out."""
    try:
        file = from_json_value(_LearnedFile, parsed(data))
    except (ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0][:120]
        return Learned(
            problem=f"What was learned of caching was dropped: the file cannot be read ({reason})."
        )
    if file.format != FORMAT:
        text = f"What was learned of caching was dropped: its file has format {file.format}, not {FORMAT}."
        return Learned(problem=text)
    talks = _possible({row.discussion_id: row.talk for row in file.talks})
    starts = max(0, min(file.starts, KEPT_TALKS))
    strange = max(0, min(file.strange, starts))
    habits = Habits(possible_gaps(file.own), possible_gaps(file.shared), talks, starts, strange)
    return Learned(habits, _possible_extensions(file.extensions), answered=frozenset(file.answered))


def _possible(talks: Mapping[str, Talk]) -> dict[str, Talk]:
    return {name: t for name, t in talks.items() if t.turns > 0 and 0 <= t.last_s < math.inf}


def _possible_extensions(rows: Iterable[ExtensionEvidence]) -> dict[tuple[str, str], ExtensionEvidence]:
    return {(row.provider, row.model): row for row in rows if row.kept >= 0 and row.lost >= 0}
