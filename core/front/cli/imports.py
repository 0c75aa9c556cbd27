"""`import`: conversations of other programs as discussions of ours."""

from __future__ import annotations

from pathlib import Path

from core.app.execution import act
from core.front.cli.arguments import Options
from core.front.cli.output import Console
from core.front.cli.session import FrontEnd, UsageError, session
from core.imports.import_plan import report_data, report_text
from core.imports.import_sources import PIPE
from core.imports.imports_messages import ImportConversations
from core.kernel.values.imports import ImportReport

LONGEST_S = 7 * 24 * 3600.0
"""An import of years of conversations ends by itself; who wants it to end earlier presses Ctrl+C."""


def run_imports(options: Options, front: FrontEnd, console: Console) -> int:
    """Import what is named, or tell what an import would do.

    Returns:
        1 where something could not be read or written, else 0.

    Raises:
        UsageError: nothing is at a path that was named. SlopError: the home cannot be used.
    """
    given = options.given
    paths = tuple(one if one == PIPE else str(Path(one).expanduser().absolute()) for one in given.paths)
    for path, name in zip(paths, given.paths, strict=True):
        if path != PIPE and not Path(path).exists():
            raise UsageError(f"There is no {name!r}", remedy="Name a file or a folder that exists")
    with session(front, console, writes=not given.dry_run), console.waiting("Reading conversations"):
        state = act(front, _asked(paths, options), timeout_s=LONGEST_S)
    report = state.imports.report or ImportReport(is_dry=given.dry_run)
    known = {row.discussion_id for row in report.rows}
    for name in given.without:
        if name not in known and report.count <= len(report.rows):
            console.note(f"manual-slop: warning: no conversation there is {name}; `--dry-run` names them")
    if options.is_json:
        console.json(report_data(report))
    else:
        console.write(report_text(report))
    return int(bool(report.faults or report.stopped))


def _asked(paths: tuple[str, ...], options: Options) -> ImportConversations:
    given = options.given
    return ImportConversations(paths=paths, is_dry=given.dry_run, without=frozenset(given.without))
