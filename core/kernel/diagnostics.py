"""The diagnostic log: a rotating file in the platform's log directory, with secrets taken out."""

from __future__ import annotations

import io
import logging
import os
from logging.handlers import RotatingFileHandler
from pathlib import Path

from core.kernel import paths
from core.kernel.disk import make_dirs
from core.kernel.errors import StorageError
from core.kernel.opener import oddity, open_descriptor
from core.kernel.secrets import scrub

LOG_NAME = "manual-slop.log"
MOST_BYTES = 2_000_000
KEPT_FILES = 3


class _LogFile(RotatingFileHandler):
    """The log file, for the person alone whatever the umask."""

    def _open(self) -> io.TextIOWrapper:
        descriptor = open_descriptor(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors=self.errors)


class ScrubbingFormatter(logging.Formatter):
    """Formats a record and takes out what looks like a key, token or password, tracebacks included."""

    def format(self, record: logging.LogRecord) -> str:
        """The line or lines of one record, safe to keep."""
        return scrub(super().format(record))


def start_log(folder: Path | None = None) -> Path | None:
    """Send warnings and errors of the program to a file.

    Args:
        folder: by default the platform's log directory; always safe to delete.

    Returns:
        The file, or None where it cannot be written: the program works without it.
    """
    file = (folder or paths.log_dir()) / LOG_NAME
    try:
        make_dirs(file.parent)
        if oddity(file):
            return None
        handler = _LogFile(
            file, maxBytes=MOST_BYTES, backupCount=KEPT_FILES, encoding="utf-8", errors="replace", delay=True
        )
        handler.close()
    except (OSError, StorageError):
        return None
    handler.setFormatter(ScrubbingFormatter("%(asctime)s %(levelname)s %(name)s %(threadName)s: %(message)s"))
    handler.setLevel(logging.WARNING)
    logging.raiseExceptions = False
    logging.getLogger().addHandler(handler)
    return file
