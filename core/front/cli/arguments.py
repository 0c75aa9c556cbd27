"""Arguments of the command line, parsed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec

from core.app.options import OutsideOptions
from core.front.cli.grammar import read, refuse
from core.kernel.errors import ConfigError, SlopError
from core.kernel.language import tr


class UsageError(SlopError):
    """The command line names something that is not there. Exit code 2."""


class Options(OutsideOptions, frozen=True):
    """Options given on the command line.

    Args:
        command: name of the command, empty for the window; headless: run the controller without a window.
        approvals_fd: descriptor that takes the approval token, None: nobody approves over HTTP.
        is_json: print what a program would read; trusts: trust the project's folder first.
        given: the command's own arguments.
    """

    command: str = ""
    headless: bool = False
    is_json: bool = False
    approvals_fd: int | None = None
    trusts: bool = False
    given: argparse.Namespace = msgspec.field(default_factory=argparse.Namespace)


def parse(argv: Sequence[str]) -> Options:
    """Read the command line. Args and Raises as for `grammar.read`."""
    return options_of(read(argv))


def options_of(given: argparse.Namespace) -> Options:
    """Turn the words of a command line into what they ask for.

    Raises:
        SystemExit: with 2 where a setting or a folder is wrong.
    """
    command: str = given.command or ""
    overrides = _overrides(given)
    start = _folder(given) if given.project else None
    return Options(
        home=Path(given.home).expanduser().absolute() if given.home else None,
        start=start,
        overrides=overrides,
        owns_home=not command,
        watches=not command,
        hooks=given.hooks,
        test_clock=given.test_clock,
        command=command,
        headless=given.headless,
        is_json=given.json,
        approvals_fd=given.approvals_fd,
        trusts=getattr(given, "trust", False),
        given=given,
        is_headless=bool(command) or given.headless,
    )


def _overrides(given: argparse.Namespace) -> dict[str, str | int | float | bool | tuple[str, ...]]:
    """Settings that `--set` gives; the schema is read only when something is set."""
    found: dict[str, str | int | float | bool | tuple[str, ...]] = {}
    for pair in given.set or ():
        from core.services.settings.settings_loader import check_override

        key, _, text = pair.partition("=")
        try:
            found[key.strip()] = check_override(key.strip(), text)
        except ConfigError as error:
            refuse(str(error), given)
    return found


def _folder(given: argparse.Namespace) -> Path:
    name: str = given.project
    folder = Path(name).expanduser().absolute()
    if not folder.is_dir():
        refuse(tr("--project: {name!r} is not a folder", name=name), given)
    return folder
