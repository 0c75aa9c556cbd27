"""Messages of imports: one run at a time, a dry one first in the window; its report is the event that ends it."""

from __future__ import annotations

import msgspec

from core.kernel.values.imports import ImportReport


class ImportConversations(msgspec.Struct, frozen=True):
    """Read conversations of other programs, and where it is no dry run make discussions of what is new.

    The outcome comes when the run has ended, or was not begun.

    Args:
        paths: of files and folders, absolute; `-` for the standard input of a command.
        without: conversations that are not to be taken, by the discussion that each would become.
    """

    paths: tuple[str, ...]
    is_dry: bool = True
    without: frozenset[str] = frozenset()
    command_id: str = ""


class CancelImport(msgspec.Struct, frozen=True):
    """Stop the run under way; the discussion that is being written is finished."""


class DismissImport(msgspec.Struct, frozen=True):
    """The person has read the report."""


# import worker: one thread; each run reports `ImportProgressed` on its way and ends with one event of its own
class RunImport(msgspec.Struct, frozen=True):
    """Carry out an import; report `ImportEnded`. `provider`, `model`: what new discussions go on with."""

    paths: tuple[str, ...]
    is_dry: bool
    provider: str
    model: str
    without: frozenset[str] = frozenset()


class LookForSessions(msgspec.Struct, frozen=True):
    """Take what is new at places that are followed; report `ImportEnded`. `provider`, `model`: as for `RunImport`."""

    places: tuple[str, ...]
    provider: str
    model: str


class ImportProgressed(msgspec.Struct, frozen=True):
    """The run under way got on. `count`: conversations that were looked at; `doing`: the one in work."""

    count: int
    doing: str = ""


class ImportEnded(msgspec.Struct, frozen=True):
    """A run ended, or a look at the places that are followed.

    Args:
        report: None where it could not begin or go on, and of a look where nothing had changed.
        problem: why it could not, empty where it came to its end; remedy: with it.
        written: discussions that were made or have grown; is_followed: it was such a look.
    """

    report: ImportReport | None = None
    problem: str = ""
    remedy: str = ""
    written: tuple[str, ...] = ()
    is_followed: bool = False


ImportCommand = ImportConversations | CancelImport | DismissImport
"""Commands that a front end may give this room."""

ImportEvent = ImportProgressed | ImportEnded
"""Events of this room."""

ImportEffect = RunImport | CancelImport | LookForSessions
"""The import worker's; `CancelImport` reaches a run from outside its thread."""
