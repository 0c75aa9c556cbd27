"""Files of a project that may hold keys or passwords, shut to a command that no person said yes to.

A rule lets a command line go by its first words, and a policy whatever it says: neither tells which files it reads.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence

from core.agent.asked_places import SECRET_FOLDERS, folded, reasons_to_ask_before_reading
from core.agent.guarded_places import PASSED_OVER
from core.context.places import is_inside

MOST_LOOKED_AT = 20_000
"""Entries of a project, nearest first, among which they are looked for."""
MOST_SHUT = 300
_MOST_NAMED = 3

_CODE = (
    ".py", ".pyi", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".go", ".rs", ".java", ".kt", ".scala", ".rb", ".php",
    ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".swift", ".ex", ".exs", ".md", ".html",
)  # fmt: skip
"""Ends of `credentials.*` that are a program's own text."""
_KEYS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore")
_TESTS = frozenset(
    {
        "test",
        "tests",
        "testing",
        "testdata",
        "test_data",
        "__tests__",
        "spec",
        "specs",
        "fixture",
        "fixtures",
        "examples",
    }
)
"""Folders whose keys are made for tests, which fail without them."""


def secret_places(root: str) -> tuple[str, ...]:
    """Files and folders that may hold secrets, absolute, links resolved; those that a link leads to elsewhere among them.

    Raises:
        PermissionError: they are more than are shut.
    """
    found: dict[str, None] = {}
    for path in _secrets(root):
        found[os.path.realpath(path)] = None
        if len(found) > MOST_SHUT:
            raise PermissionError(
                f"more than {MOST_SHUT} files here may hold keys or passwords, too many to shut to a command that nobody "
                "said yes to. Name one of them in the command, and a person is asked"
            )
    return tuple(
        path for path in found if os.path.exists(path) and path != root and not is_inside(root, path)
    )


def shut_note(shut: Sequence[str], root: str) -> str:
    """Sentence on what was shut to a command, for its result; empty where nothing was."""
    if not shut:
        return ""
    names = [os.path.relpath(path, root) if is_inside(path, root) else path for path in shut]
    named = ", ".join(names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    is_one = len(names) == 1
    return (
        f"{named}{more} may hold keys or passwords and {'was' if is_one else 'were'} empty for this command, which a rule let "
        f"run. A command that names {'it' if is_one else 'them'} asks the person"
    )


def _secrets(root: str) -> Iterator[str]:
    waiting = deque([(root, False)])
    left = MOST_LOOKED_AT
    while waiting and left > 0:
        folder, is_of_tests = waiting.popleft()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            left -= 1
            name = folded(entry.name)
            if entry.is_dir(follow_symlinks=False):
                if name in SECRET_FOLDERS:
                    yield entry.path
                elif name != ".git" and name not in PASSED_OVER:
                    waiting.append((entry.path, is_of_tests or name in _TESTS))
            elif reasons_to_ask_before_reading(name) and not _is_harmless(name, is_of_tests=is_of_tests):
                yield entry.path


def _is_harmless(name: str, *, is_of_tests: bool) -> bool:
    return (name.startswith("credentials.") and name.endswith(_CODE)) or (
        is_of_tests and name.endswith(_KEYS)
    )
