"""Writes core/front/cli/help_text.py, the program's help as a text that needs no argparse: `make docs`."""

from __future__ import annotations

import os
from pathlib import Path

from core.front.cli.grammar import make_parser
from core.front.cli.version import WIDEST_HELP

PAGE = Path(__file__).resolve().parent.parent / "core/front/cli/help_text.py"


def main() -> None:
    """Write the module."""
    os.environ["COLUMNS"] = str(WIDEST_HELP)
    text = make_parser(()).format_help().replace("\\", "\\\\").replace('"""', '\\"""')
    PAGE.write_text(
        '"""The help of the program, as the grammar says it. Written by `make docs`."""\n\n'
        f'HELP = """\\\n{text}"""\n',
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
