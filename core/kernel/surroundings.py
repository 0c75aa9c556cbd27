"""Folder that the program is started in: neither programs nor modules are looked for there. Loads nothing."""

from __future__ import annotations

import os
import sys

_PACKAGE_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def own_what_is_made() -> None:
    """Let this process and its children open what they make: an umask that shuts its own user out counts for others alone."""
    os.umask(os.umask(0o077) & 0o077)


def leave_folder() -> None:
    """Make this process look for programs and modules in no folder that it happens to be started in.

    To be called before anything else is loaded. Libraries start programs by name, too: relative entries leave PATH,
    and Windows is told not to look in the current folder first. Without `-P` the current folder leads the import
    path; what has not been imported by now is not imported from there any more.
    """
    os.environ["PATH"] = os.pathsep.join(absolute_entries(os.environ.get("PATH", os.defpath)))
    if sys.platform == "win32":
        os.environ["NODEFAULTCURRENTDIRECTORYINEXEPATH"] = "1"
    folder = current_folder()
    if folder != _PACKAGE_ROOT:
        sys.path[:] = [entry for entry in sys.path if entry not in {"", ".", folder}]


def current_folder() -> str:
    """The working folder of the process, empty if somebody deleted it."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def absolute_entries(search_path: str) -> list[str]:
    """The folders of a PATH that do not depend on where the process stands."""
    return [entry for entry in search_path.split(os.pathsep) if os.path.isabs(entry)]
