"""File of a review that was begun: `.review.json`, until it is applied or discarded."""

from __future__ import annotations

import logging
from pathlib import Path

from core.base import paths
from core.base.disk import OS_DISK, Disk, make_dirs, remove_file, write_file
from core.base.opener import BOOK_BYTES, read_file
from core.harvest.review import read_review, review_text
from core.values.harvest import Review

log = logging.getLogger(__name__)


def review_file(home: Path) -> Path:
    """The file, hidden beside the replies that the proposals came from."""
    return paths.knowledge_dir(home) / paths.REVIEW_FILE


def load_review(home: Path) -> Review:
    """Load the kept review, empty where there is none. What cannot be read is passed over: the proposals
    themselves are kept.
    """
    path = review_file(home)
    try:
        return read_review(read_file(path, BOOK_BYTES).decode())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        log.warning("the review that was begun is passed over: %s: %s", path, error)
        return {}


def keep_review(home: Path, review: Review, *, disk: Disk = OS_DISK) -> None:
    """Keep a review instead of the one before; an empty one leaves no file.

    Raises:
        StorageError: the one before is still there.
    """
    path = review_file(home)
    if not review:
        remove_file(path, disk=disk)
        return
    make_dirs(path.parent, disk=disk)
    write_file(path, review_text(review).encode("ascii"), disk=disk)
