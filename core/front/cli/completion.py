"""Completion of words: a script of a shell that holds the whole grammar, so that a word is completed without this program."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import shtab

from core.front.cli.parser import Parser

_FILES = {"FILE": shtab.FILE, "PATH": shtab.FILE, "DIR": shtab.DIRECTORY}
"""Files that a shell offers, by the word that stands for a value in the help."""
_PLACES = {"archive": shtab.FILE, "folder": shtab.DIRECTORY}
"""Places that are named without a word for their value."""


def script(parser: Parser, shell: str) -> str:
    """The text that a shell evaluates, or reads from a file, to complete commands, options, choices and files.

    Args:
        parser: the whole grammar; shell: bash, zsh or fish.
    """
    for action in _actions(parser):
        offered = _FILES.get(str(action.metavar)) or _PLACES.get(action.dest)
        if offered and action.choices is None:
            action.complete = offered  # type: ignore[attr-defined]  # where shtab looks for it
    return str(shtab.complete(parser, shell))


def _actions(parser: Parser) -> Iterator[argparse.Action]:
    yield from parser._actions  # noqa: SLF001 (argparse lists them nowhere else)
    for below in parser.commands().values():
        yield from _actions(below)
