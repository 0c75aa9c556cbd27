"""Writes assets/help.txt, the help of the program and of each command as texts that need no argparse: `make docs`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from core.front.cli.grammar import make_parser
from core.front.cli.parser import Parser
from core.front.cli.version import HELP_FILE, PAGE_END, WIDEST_HELP


def pages(parser: Parser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """The help of a parser and of all below it, each with the words that name it."""
    yield " ".join(words), parser.format_help()
    for name, below in parser.commands().items():
        yield from pages(below, (*words, name))


def main() -> None:
    """Write the file."""
    os.environ["COLUMNS"] = str(WIDEST_HELP)
    Path(HELP_FILE).write_text(
        "".join(f"{words}\n{text}{PAGE_END}" for words, text in pages(make_parser())), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
