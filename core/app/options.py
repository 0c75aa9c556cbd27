"""Options by which a program is started: the place where it works, and what it may take for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from core.agent.tool import Tool


def all_tools() -> Mapping[str, Tool]:
    """The table of tools. Loaded late: the first frame must not wait for what they need."""
    from core.app.tool_table import TOOLS

    return TOOLS


class OutsideOptions(msgspec.Struct, frozen=True):
    """Place where a program works, and resources that it may take for itself.

    Args:
        home: the person's data, by default `$MANUAL_SLOP_HOME` or `~/.manual_slop`.
        start: the folder to work in, by default the current one.
        overrides: settings of the command line by dotted key, checked.
        owns_home: take the home's lock; False for a command beside a window, which uses the files' own locks.
        watches: whether files are watched for change; is_headless: nobody sits in front of a window.
        hooks: run the Hook API whatever the settings say; test_clock: let it put the program's clock forward.
        tools: all that there are, asked for when one is needed.
    """

    home: Path | None = None
    start: Path | None = None
    overrides: Mapping[str, str | int | float | bool | tuple[str, ...]] = msgspec.field(default_factory=dict)
    owns_home: bool = True
    watches: bool = True
    hooks: bool = False
    test_clock: bool = False
    is_headless: bool = False
    tools: Callable[[], Mapping[str, Tool]] = all_tools
