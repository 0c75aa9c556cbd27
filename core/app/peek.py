"""First look of a start, before anything heavy is loaded: the home's owner, and the window's last look."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from core.kernel import paths
from core.kernel.opener import open_descriptor, read_file


def is_owned(root: Path) -> bool:
    """True if another program owns the home now. Where the system cannot tell, False: taking the lock will.

    The same lock that `core.app.home.own` takes, tried and let go at once, without loading its library.
    """
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fd = open_descriptor(root / paths.HOME_LOCK_FILE, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
    return False


def last_state(root: Path) -> str:
    """The text of `state.toml`, empty where it cannot be read."""
    try:
        return read_file(paths.state_file(root)).decode("utf-8", "replace")
    except OSError:
        return ""
