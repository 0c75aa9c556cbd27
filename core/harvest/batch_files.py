"""The files of batches, one each: `<home>/knowledge/batches/<tag>.jsonl`, every row on the medium before what follows."""

from __future__ import annotations

from pathlib import Path

from core.base import paths
from core.base.disk import OS_DISK, Disk, append_file, make_dirs, remove_file, reported
from core.base.opener import BOOK_BYTES, read_file
from core.harvest.batch_book import BatchChange, change_row, changed, folded, intent_row
from core.values.batches import HarvestBatch

FOLDER = "batches"


class BatchFiles:
    """The batches of a home. The caller holds the harvest's lock where it writes."""

    def __init__(self, home: Path, disk: Disk = OS_DISK) -> None:
        self._folder, self._disk = paths.knowledge_dir(home) / FOLDER, disk

    def batches(self) -> tuple[HarvestBatch, ...]:
        """All of them, oldest first; a file without an intent (its program ended there) stands for nothing.

        Raises:
            StorageError: one cannot be read.
        """
        found = []
        for path in sorted(self._folder.glob("*.jsonl")):
            with reported("read", path):
                batch = folded(read_file(path, BOOK_BYTES))
            if batch is not None and batch.tag == path.stem:
                found.append(batch)
        return tuple(sorted(found, key=lambda one: (one.at, one.tag)))

    def intend(self, batch: HarvestBatch) -> None:
        """Write the intent. On the medium once this returns. Raises StorageError."""
        make_dirs(self._folder, disk=self._disk)
        append_file(self._path(batch), intent_row(batch), disk=self._disk)

    def note(self, batch: HarvestBatch, change: BatchChange) -> HarvestBatch:
        """Write a change. Returns the batch after it. Raises StorageError."""
        append_file(self._path(batch), change_row(change), disk=self._disk)
        return changed(batch, change)

    def remove(self, batch: HarvestBatch) -> None:
        """Forget a closed batch. Raises StorageError."""
        remove_file(self._path(batch), disk=self._disk)

    def _path(self, batch: HarvestBatch) -> Path:
        return self._folder / f"{batch.tag}.jsonl"
