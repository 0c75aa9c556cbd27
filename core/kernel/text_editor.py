"""The person's text editor: what `$VISUAL` and `$EDITOR` name, and whether it needs a terminal."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import msgspec

from core.kernel.child_process import find_program
from core.kernel.errors import ConfigError
from core.kernel.language import tr

EDITORS = ("VISUAL", "EDITOR")
"""Variables that name the person's editor, the first that is set counts."""
IN_TERMINAL = frozenset(
    [
        "ed",
        "hx",
        "helix",
        "jed",
        "joe",
        "kak",
        "mcedit",
        "micro",
        "nano",
        "ne",
        "nvi",
        "nvim",
        "pico",
        "vi",
        "vim",
    ]
)
"""Editors that draw in a terminal alone."""


class TextEditor(msgspec.Struct, frozen=True):
    """An editor as it is started: an absolute program, and arguments that stand before the file."""

    program: Path
    arguments: tuple[str, ...]

    @property
    def needs_terminal(self) -> bool:
        """True of an editor that has no window of its own."""
        name = self.program.name
        return name in IN_TERMINAL or (
            name.startswith("emacs") and bool({"-nw", "-t", "--tty"} & {*self.arguments})
        )


def editor_words(environ: Mapping[str, str]) -> str:
    """The command that names the person's editor, empty where none is set."""
    return next((words for name in EDITORS if (words := environ.get(name, "").strip())), "")


def find_editor(environ: Mapping[str, str]) -> TextEditor:
    """Find the person's editor.

    Raises:
        ConfigError: none is set, or the one that is set is not installed.
    """
    words = editor_words(environ)
    if not words:
        raise ConfigError(
            tr("No editor is set"),
            remedy=tr("Set VISUAL or EDITOR to your editor, such as `code --wait` or `vim`"),
        )
    program, *arguments = _split(words) or [words]
    found = find_program(program)
    if found is None:
        raise ConfigError(
            tr("The editor {words!r} is not installed", words=words),
            remedy=tr("Set VISUAL or EDITOR to an editor that is installed"),
        )
    return TextEditor(program=found, arguments=tuple(arguments))


def _split(words: str) -> list[str]:
    try:
        return shlex.split(words, posix=os.name == "posix")
    except ValueError:  # a quote that nothing closes
        return [words]
