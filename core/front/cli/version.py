"""Version, help and language of a start, and how a text is printed before anything else loads."""

from __future__ import annotations

import os
import sys

from core import __version__

TYPE_CHECKING = False  # `typing` itself takes longer to load than `--version` may
if TYPE_CHECKING:
    from typing import TextIO

PROGRAM = "manual-slop"

INTERRUPTED = 130
"""128 and the number of SIGINT: what a shell reports of a program that a person stopped."""
BROKEN_PIPE = 141
"""128 and the number of SIGPIPE: what a shell reports of a program whose reader has gone."""


WIDEST_HELP = 80
"""Columns that help takes at most: longer lines are hard to read."""

HELP_FILE = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, os.pardir, "assets", "help.txt")
"""The help of every command, each page with a line before it that names the command. `make docs` writes it."""
PAGE_END = "\f\n"


def version_text() -> str:
    """Name and version of the program and of Python."""
    return f"{PROGRAM} {__version__} (Python {sys.version.split()[0]})"


def say_at_once(arguments: list[str]) -> bool:
    """Print the version or the help where nothing else is asked for, before argparse loads: scripts ask again and again."""
    if arguments in (["--version"], ["-V"]):
        put(version_text() + "\n")
        return True
    words = _words_of_help(arguments)
    if words is not None and terminal_columns() >= WIDEST_HELP:
        from core.kernel.language import language

        speak_as_set()
        page = help_page(words) if language() == "en" else ""
        put(page)
        return bool(page)
    return False


def _words_of_help(arguments: list[str]) -> str | None:
    """The command and action whose help a command line asks for, None where it asks for something else."""
    words = arguments[1:] if arguments[:1] == ["help"] else arguments[:-1]
    is_asked = arguments[:1] == ["help"] or arguments[-1:] in (["--help"], ["-h"])
    return " ".join(words) if is_asked and not any(one.startswith("-") for one in words) else None


def help_page(words: str) -> str:
    """The help of a command and its action, empty for the program's own `words`; empty where there is none."""
    try:
        with open(HELP_FILE, encoding="utf-8") as file:
            pages = file.read().split(PAGE_END)
    except (OSError, UnicodeError):
        return ""  # the grammar says it, only later
    begin = f"{words}\n"
    return next((one.removeprefix(begin) for one in pages if one.startswith(begin)), "")


def terminal_columns() -> int:
    """Columns that help may take, as `shutil` says it, which takes longer to load than all of the help."""
    try:
        columns = int(os.environ.get("COLUMNS", "0"))
    except ValueError:
        columns = 0
    if columns <= 0:
        try:
            columns = os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else 0
        except (OSError, ValueError):
            columns = 0
    return columns or 80


def put(text: str, stream: TextIO | None = None) -> None:
    """Print text at once, by default on standard output.

    Raises:
        SystemExit: 141 when the reader of a pipe has gone, 1 when the output cannot be written, said in one line.
    """
    stream = sys.stdout if stream is None else stream
    if stream is None:
        return  # closed before the program began
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        discard_output()
        raise SystemExit(BROKEN_PIPE) from None
    except OSError as error:
        discard_output()
        complain(unwritten(error))
        raise SystemExit(1) from None


def unwritten(error: OSError) -> str:
    """The sentence for output that could not be written."""
    return f"The program cannot write the output: {error.strerror or error}"


def complain(text: str) -> None:
    """Say what went wrong, as `remark`."""
    remark(f"{PROGRAM}: {text}")


def remark(line: str) -> None:
    """Print a line on standard error, if it can be."""
    if sys.stderr is not None:
        put_beside(line + "\n", sys.stderr)


def put_beside(text: str, stream: TextIO) -> None:
    """Print text at once where it can be. Where it cannot, the stream is given up: its rest would change the exit code."""
    try:
        stream.write(text)
        stream.flush()
    except (OSError, ValueError):
        _discard(stream)


def discard_output() -> None:
    """Let the interpreter end without an error about output that it cannot write."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            _discard(stream)


def _discard(stream: TextIO) -> None:
    """Lead a stream that cannot be written into nothing, with what it still holds."""
    try:
        stream.flush()
    except (OSError, ValueError):
        give_up(stream)


def give_up(stream: TextIO) -> None:
    """Lead a stream into nothing at once: where its pipe is full and nobody reads, even a flush waits for ever."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        return


# The language of a start: the environment's, else the user settings'.

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_BYTES = 1_000_000
_CONFIG_VARIABLE, _APP_NAME, _CONFIG_FILE = "MANUAL_SLOP_CONFIG", "manual-slop", "config.toml"
"""As in `core.kernel.paths`, which takes longer to load than `--help` may."""


def speak_as_set(arguments: Sequence[str] = ()) -> None:
    """Speak as `$MANUAL_SLOP_LANGUAGE` says, else as `appearance.language` in the user settings; to programs English.

    Called before other modules are loaded, for they hold texts. A file that cannot be read leaves English: the reader of the
    settings says what is wrong with it.
    """
    from core.kernel.language import LANGUAGE_VARIABLE, speak

    if "--json" in arguments or "mcp" in arguments[:1]:
        speak("en")
        return
    if LANGUAGE_VARIABLE in os.environ:
        return
    from core.kernel.opener import read_start

    try:
        written = read_start(settings_place(), _MOST_BYTES)
    except OSError:
        return
    if b"language" in written:
        speak(_tag(written))


def settings_place() -> str:
    """Path of the user settings, as `core.kernel.paths` says it. Loads nothing where the environment names the folder."""
    named = os.environ.get(_CONFIG_VARIABLE, "")
    if named:
        return named
    if sys.platform != "win32":
        above = "Library/Application Support" if sys.platform == "darwin" else ".config"
        home = os.environ.get("HOME", "")
        folder = os.environ.get("XDG_CONFIG_HOME", "") or (home and os.path.join(home, above))
        if os.path.isabs(folder):
            return os.path.join(folder, _APP_NAME, _CONFIG_FILE)
    from core.kernel.paths import config_file

    return str(config_file())


def _tag(written: bytes) -> str:
    from core.kernel.codecs import decode_toml

    try:
        appearance = decode_toml(written).get("appearance")
    except ValueError:
        return ""
    return str(appearance.get("language", "")) if isinstance(appearance, dict) else ""
