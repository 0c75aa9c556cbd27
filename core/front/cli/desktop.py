"""`desktop`: puts the program into the desktop's menu, with icon, manual page and completion of shells, and takes it out."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from xml.sax.saxutils import escape

from core import __version__
from core.front.cli.arguments import Options, UsageError
from core.front.cli.grammar import make_parser
from core.front.cli.output import Console
from core.front.cli.parser import Parser, script
from core.front.cli.version import PROGRAM
from core.kernel.disk import reported, write_file
from core.kernel.errors import StorageError
from core.kernel.language import as_sentences, tr
from core.kernel.opener import SHARED_MODE, make_folder, read_file

MADE_BY = "Made by manual-slop desktop"
"""Stands in each text that we install: what says it may be written over, and is taken out."""

APP_ID = "manual_slop.ManualSlop"
ABOUT = tr("A desktop workbench for work with language models")
LONG = tr(
    "You see every part of a request before you send it. You choose whole files, lines or outlines. The program arranges requests so that the provider's prompt cache pays off. You confirm which knowledge from old conversations is kept in files."
)
ICON = Path(__file__).parents[3] / "assets" / "icon.png"
_PNG = b"\x89PNG"
_MOST_BYTES = 1_000_000


def run_desktop(options: Options, console: Console) -> int:
    """Install or remove the files, or say where they stand. Returns 1 where none is installed and nothing was asked, else 0."""
    if sys.platform != "linux":
        raise UsageError(
            tr(
                "On this system the program cannot add itself to the menu. Start manual-slop from a terminal, or make a shortcut"
            )
        )
    given = options.given
    share = Path(given.share).expanduser().absolute() if given.share else data_folder(os.environ)
    files = files_of(given.program or started_program())
    if given.remove:
        gone = remove(share, files)
        done = (
            tr("{files} files removed from {folder}", files=len(gone), folder=share)
            if gone
            else tr("The folder {folder} holds no files of Manual Slop", folder=share)
        )
    elif given.install:
        gone = install(share, files)
        done = tr(
            "{files} files written below {folder}. The menu shows Manual Slop at your next login at the latest",
            files=len(gone),
            folder=share,
        )
    else:
        gone = [name for name in files if (share / name).exists()]
        done = as_sentences(
            tr(
                "The folder {folder} has {gone} of the {files} files for the desktop",
                folder=share,
                gone=len(gone),
                files=len(files),
            ),
            tr("`manual-slop desktop --install` writes the missing ones") if len(gone) < len(files) else "",
        )
    if options.is_json:
        console.json({"share": str(share), "files": gone})
    else:
        console.write("".join(f"{share / name}\n" for name in gone))
        console.note(f"{done}.")
    return 0 if gone or given.remove or given.install else 1


def data_folder(environ: Mapping[str, str]) -> Path:
    """The person's own folder of data, as the desktop looks through it. Source: XDG Base Directory Specification 0.8."""
    named = environ.get("XDG_DATA_HOME", "")
    return Path(named) if os.path.isabs(named) else Path.home() / ".local" / "share"


def started_program() -> str:
    """The program that this process was started as, which the menu is to start."""
    return os.path.abspath(sys.argv[0])


def install(share: Path, files: Mapping[str, bytes]) -> list[str]:
    """Write the files. Returns their names.

    Raises:
        StorageError: a file is there that this program did not write, or one cannot be written; the first is said before any is.
    """
    for name in files:
        path = share / name
        if path.exists() and not _is_ours(path, files[name]):
            raise StorageError(
                tr("This place holds a file that manual-slop did not write"),
                where=str(path),
                remedy=tr("Move the file away, then try again"),
            )
    for name, data in files.items():
        _make_folders((share / name).parent)
        write_file(share / name, data, mode=0o644, follows_links=False)
    return list(files)


def remove(share: Path, names: Mapping[str, bytes]) -> list[str]:
    """Remove the files that this program wrote, and folders of its own that are empty then. Returns their names."""
    gone = [name for name in names if (share / name).exists() and _is_ours(share / name, names[name])]
    for name in gone:
        (share / name).unlink()
    for name in gone:
        with suppress(OSError):
            (share / name).parent.rmdir()
    return gone


def _make_folders(path: Path) -> None:
    """Make folders that all may enter, as those of a desktop are."""
    with reported("make", path):
        for folder in (*reversed(path.parents), path):
            with suppress(FileExistsError):
                make_folder(folder, SHARED_MODE)


def _is_ours(path: Path, data: bytes) -> bool:
    there = read_file(path, most_bytes=_MOST_BYTES)
    return there == data or MADE_BY.encode() in there or (data.startswith(_PNG) and there.startswith(_PNG))


def files_of(program: str) -> dict[str, bytes]:
    """Files that are installed, by their places below the folder of data.

    Args:
        program: what the menu starts.
    """
    shells = {
        "bash": "bash-completion/completions/manual-slop",
        "zsh": "zsh/site-functions/_manual-slop",
        "fish": "fish/vendor_completions.d/manual-slop.fish",
    }
    parser = make_parser()
    texts = {
        "applications/manual-slop.desktop": _entry(program),
        f"metainfo/{APP_ID}.metainfo.xml": _metainfo(),
        "man/man1/manual-slop.1": manual_page(parser),
        **{name: _behind_first_line(script(parser, shell)) for shell, name in shells.items()},
    }
    icon = read_file(ICON, most_bytes=_MOST_BYTES)
    return {name: text.encode() for name, text in texts.items()} | {
        "icons/hicolor/256x256/apps/manual-slop.png": icon
    }


def _behind_first_line(text: str) -> str:
    first, _, rest = text.strip().partition("\n")
    return f"{first}\n# {MADE_BY}.\n{rest}\n"


def _quoted(program: str) -> str:
    """A program for `Exec`. Source: Desktop Entry Specification 1.5, "The Exec key"."""
    marked = "".join(f"\\{letter}" if letter in '"`$\\' else letter for letter in program)
    return '"' + marked.replace("\\", "\\\\").replace("%", "%%") + '"'


def _entry(program: str) -> str:
    return f"""\
# {MADE_BY}.
[Desktop Entry]
Type=Application
Version=1.1
Name=Manual Slop
GenericName=Workbench for language models
Comment={ABOUT}
Exec={_quoted(program)}
Icon=manual-slop
Terminal=false
Categories=Development;
Keywords=LLM;chat;context;prompt;caching;
StartupWMClass=Manual Slop
"""


def _metainfo() -> str:
    return f"""\
<?xml version="1.0" encoding="UTF-8"?>
<!-- {MADE_BY}. -->
<component type="desktop-application">
  <id>{APP_ID}</id>
  <metadata_license>MIT</metadata_license>
  <project_license>MIT</project_license>
  <name>Manual Slop</name>
  <summary>{escape(ABOUT)}</summary>
  <description>
    <p>{escape(LONG)}</p>
  </description>
  <categories>
    <category>Development</category>
  </categories>
  <launchable type="desktop-id">manual-slop.desktop</launchable>
  <icon type="stock">manual-slop</icon>
  <provides>
    <binary>{PROGRAM}</binary>
  </provides>
  <developer id="manual_slop">
    <name>The Manual Slop authors</name>
  </developer>
  <content_rating type="oars-1.1"/>
  <releases>
    <release version="{__version__}" date="2026-11-29"/>
  </releases>
</component>
"""


def manual_page(parser: Parser) -> str:
    """The manual page: what each command's help says. Source: man-pages(7)."""
    parts = [
        f'.\\" {MADE_BY}.',
        f'.TH MANUAL-SLOP 1 "" "manual-slop {__version__}"',
        ".SH NAME",
        f"manual-slop \\- {ABOUT}",
        ".SH SYNOPSIS",
        ".B manual-slop",
        tr("[options] [command]"),
        ".SH DESCRIPTION",
        _roff(LONG),
        ".SH OPTIONS AND COMMANDS",
        *_as_it_stands(parser.format_help()),
    ]
    for name, command in parser.commands().items():
        parts += [f".SH {name.upper()}", *_as_it_stands(command.format_help())]
    return "\n".join(parts) + "\n"


def _as_it_stands(text: str) -> Iterable[str]:
    return (".nf", *(_roff(line) for line in text.rstrip().splitlines()), ".fi")


def _roff(line: str) -> str:
    """A line that is shown as it is: no character of it is a request."""
    marked = line.replace("\\", "\\e").replace("-", "\\-").replace("…", "...")  # no glyph of plain terminals
    return f"\\&{marked}" if marked.startswith((".", "'")) else marked
