"""Start of the program: opens the window, or hands a command to `core.front.cli` without loading Dear PyGui."""

from __future__ import annotations

import gc
import os
import sys

from core.front.cli.version import remark, say_at_once

TYPE_CHECKING = False  # `typing` itself takes longer to load than `--version` may
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from core.app.options import OutsideOptions
    from core.front.cli.arguments import Options

_YOUNG_OBJECTS = 200_000
"""New objects after which garbage is looked for while the program loads; the window sets its own."""

WINDOW_COMMANDS = frozenset({"", "tour"})
WINDOW_PACKAGES = "libgl1 libgl1-mesa-dri libx11-6"
"""Debian packages whose libraries the toolkit is linked to, and that an empty system lacks."""


def start() -> int:
    """Run `manual-slop` as a process of its own. Returns the exit code, as `main`.

    What is loaded stays until the end: it is looked through for garbage seldom while it loads, and not at all when the
    process ends (a third of the processor time of a command that loads a vendor's library).
    """
    gc.set_threshold(_YOUNG_OBJECTS)
    code = main()
    gc.freeze()
    return code


def main(argv: Sequence[str] | None = None) -> int:
    """Run `manual-slop`.

    Args:
        argv: arguments without the program's name, by default the process's.

    Returns:
        The exit code: 0 well, 1 failed, 2 wrong usage, 130 interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if say_at_once(arguments):
        return 0
    from core.kernel.surroundings import leave_folder, own_what_is_made

    leave_folder()
    own_what_is_made()
    from core.front.cli.version import speak_as_set

    speak_as_set(arguments)
    if not arguments and _can_open():
        return _open_window(None)
    from core.front.cli.grammar import read

    given = read(arguments)  # ends here for help and wrong usage, before the program's values load
    from core.front.cli.arguments import options_of

    options = options_of(given)
    if options.command not in WINDOW_COMMANDS or options.headless:
        from core.front.cli.run import run

        return run(options)
    is_tour = options.command == "tour"
    if not is_tour and _can_open():
        return _open_window(options)
    if not is_tour and not _can_tour():
        return _say_no_display()
    if not is_tour:
        remark("There is no display: running the guided tour on a virtual screen instead.")
    return _take_tour(options)


def _open_window(options: OutsideOptions | None) -> int:
    """Open the window. None for options: all as usual, without the parser of the command line, for the first frame's sake."""
    startup = _startup()
    if startup is None:
        return 1
    from core.app.options import OutsideOptions

    code: int = startup.run_window(OutsideOptions() if options is None else options)
    return code


def _take_tour(options: Options) -> int:
    startup = _startup()
    if startup is None:
        return 1
    from pathlib import Path

    from core.front.cli.grammar import TOUR_OUT
    from core.front.cli.run import carried_out

    out = Path(getattr(options.given, "out", TOUR_OUT)).expanduser()
    until = getattr(options.given, "until", "")
    return carried_out(lambda console: startup.run_tour(out, console, until), is_json=options.is_json)


def _startup() -> ModuleType | None:
    """The module that starts the window; None where the system lacks a library of the toolkit, which is then said."""
    try:
        import gui.startup
    except ImportError as error:
        if (library := _missing_library(error)) is None:
            raise
        _say_missing(library)
        return None
    return gui.startup


def _can_open() -> bool:
    return sys.platform != "linux" or _has_display()


def _missing_library(error: ImportError) -> str | None:
    """The library of the system that the toolkit was linked to and that is not here; None for any other failure."""
    library, _, why = str(error).partition(":")
    return library if "cannot open shared object file" in why else None


def _say_missing(library: str) -> None:
    from core.kernel.language import tr

    _say(
        tr("The window cannot open: your system has no {library}", library=library),
        tr("Install the window's libraries: `apt install {packages}`", packages=WINDOW_PACKAGES),
    )


def _say(what: str, remedy: str) -> int:
    from core.front.cli.version import complain
    from core.kernel.errors import SlopError

    complain(str(SlopError(what, remedy=remedy)))
    return 1


def _can_tour() -> bool:
    from importlib.util import find_spec

    return find_spec("Xlib") is not None


def _say_no_display() -> int:
    from core.kernel.language import tr

    return _say(tr("There is no display"), tr("Set DISPLAY, or use the command line: `manual-slop send`"))


def _has_display() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


if __name__ == "__main__":
    raise SystemExit(start())
