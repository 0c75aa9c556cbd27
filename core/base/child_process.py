"""Start of our Python children: by file, in our own folder, without keys, so that no opened folder runs."""

from __future__ import annotations

import os
import site
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

PACKAGE_ROOT = Path(__file__).absolute().parents[2]

_PASSED = frozenset(
    [
        # Places of things, and the person's language and time.
        "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP",
        # Libraries that the interpreter itself may be linked to.
        "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
        # Places of the interpreter and of what the person installed.
        "PYTHONHOME", "PYTHONUSERBASE", "PYTHONNOUSERSITE",
        # Names that Windows cannot start a program without; APPDATA holds what the person installed.
        "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
        "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
    ]
)  # fmt: skip
_PASSED_PREFIX = "LC_"


def start_child(
    script: Path, *arguments: str, stdin: int = subprocess.PIPE, stderr: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """Start a Python file of ours, away from the terminal's signals.

    `-P` keeps the script's folder and the working folder off the import path; `-I` would take the person's own
    installs with them. The child can import `core` as this process does.

    Args:
        script: the file; arguments: paths among them absolute, as the child works in `PACKAGE_ROOT`.
        stdin, stderr: as `subprocess` takes them. Standard output is a pipe.

    Raises:
        OSError: the process cannot be started.
    """
    return subprocess.Popen(
        [sys.executable, "-P", str(script.absolute()), *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=stderr,
        cwd=PACKAGE_ROOT,
        env=child_environment(os.environ),
        start_new_session=True,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )


def child_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Environment of a child, out of `environ`: names on a list, so no key and no foreign import path."""
    passed = {name: value for name, value in environ.items() if _is_passed(name)}
    # PYTHONPATH goes before the standard library, where installed packages must not be; those are found without it.
    if str(PACKAGE_ROOT) not in {*site.getsitepackages(), site.getusersitepackages()}:
        passed["PYTHONPATH"] = str(PACKAGE_ROOT)
    return passed


def _is_passed(name: str) -> bool:
    return name in _PASSED or name.startswith(_PASSED_PREFIX)
