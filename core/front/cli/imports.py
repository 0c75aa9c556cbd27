"""Conversations of other programs on the command line: `import` takes in what is named, at once where nothing of it is new."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from core.front.cli.arguments import Options, UsageError
from core.front.cli.output import Console
from core.imports.import_plan import report_data, report_text
from core.imports.import_run import nothing_new
from core.imports.import_sources import PIPE
from core.kernel.language import tr
from core.kernel.paths import home_dir
from core.kernel.values.imports import ImportReport

if TYPE_CHECKING:
    from core.front.cli.session import FrontEnd

LONGEST_S = 7 * 24 * 3600.0
"""An import of years of conversations ends by itself; who wants it to end earlier presses Ctrl+C."""


def run_imports(options: Options, make_front: Callable[[Options], FrontEnd], console: Console) -> int:
    """Import what is named, or tell what an import would do.

    Returns:
        1 where something could not be read or written, else 0.

    Raises:
        UsageError: nothing is at a path that was named. SlopError: the home cannot be used.
    """
    given = options.given
    if given.follow is not None or given.unfollow:
        if given.paths or given.dry_run or given.without:
            raise UsageError(
                tr("`--follow` and `--unfollow` allow no other options"),
                remedy=tr("Leave the other options and paths out"),
            )
        from core.front.cli.follow import run_follow

        return run_follow(options, make_front(options), console)
    if not given.paths:
        raise UsageError(
            tr("You named no file or folder"), remedy=tr("Name a file or a folder, or `--follow`")
        )
    paths = tuple(one if one == PIPE else str(Path(one).expanduser().absolute()) for one in given.paths)
    for path, name in zip(paths, given.paths, strict=True):
        if path != PIPE and not Path(path).exists():
            raise UsageError(
                tr("There is no file or folder {name!r}", name=name),
                remedy=tr("Name a file or a folder that exists"),
            )
    report = _nothing_new(paths, options) or _run(paths, make_front(options), console, options)
    known = {row.discussion_id for row in report.rows}
    for name in given.without:
        if name not in known and report.count <= len(report.rows):
            console.note(
                tr(
                    "manual-slop: warning: no conversation here has the id {name}; `--dry-run` lists the ids",
                    name=name,
                )
            )
    if options.is_json:
        console.json(report_data(report))
    else:
        console.write(report_text(report))
    return int(bool(report.faults or report.stopped))


def _nothing_new(paths: tuple[str, ...], options: Options) -> ImportReport | None:
    """The report of an import that finds nothing new, for which no controller need be made; None for all others."""
    if PIPE in paths or options.given.without:
        return None
    return nothing_new(options.home or home_dir(), paths, is_dry=options.given.dry_run)


def _run(paths: tuple[str, ...], front: FrontEnd, console: Console, options: Options) -> ImportReport:
    from core.app.execution import act
    from core.front.cli.session import session
    from core.imports.imports_messages import ImportConversations

    given = options.given
    asked = ImportConversations(paths=paths, is_dry=given.dry_run, without=frozenset(given.without))
    with (
        session(front, console, writes=not given.dry_run, lists=False),
        console.waiting(tr("Reading conversations")),
    ):
        state = act(front, asked, timeout_s=LONGEST_S)
    return state.imports.report or ImportReport(is_dry=given.dry_run)
