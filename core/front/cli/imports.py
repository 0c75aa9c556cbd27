"""Conversations of other programs on the command line: `import` takes in what is named, at once where nothing of it is new."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from core.front.cli.arguments import Options, UsageError
from core.front.cli.output import Console, table
from core.imports.import_plan import KEY, report_data, report_text, whole, with_place, without_place
from core.imports.import_run import nothing_new
from core.imports.import_sources import PIPE, known_places
from core.kernel.language import spliced, tr
from core.kernel.paths import home_dir
from core.kernel.values.imports import ImportReport, KnownPlace

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
        return _follow(options, make_front(options), console)
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


# Places that are followed: `--follow` and `--unfollow`, with a person's yes to each, in the settings.

NOT_AGREED = 1
BY_ITSELF = tr("the program imports new sessions from there while a window or `--headless` runs")


def _follow(options: Options, front: FrontEnd, console: Console) -> int:
    """List what is followed, follow a place after a yes to it, or follow one no more. Returns 1 after a no."""
    from core.front.cli.questions import confirm
    from core.front.cli.session import session

    given, known = options.given, known_places(os.environ, Path.home())
    with session(front, console) as state:
        followed = state.config.settings.imports.follow
        if given.unfollow:
            place = _place(given.unfollow, known)
            wanted = without_place(followed, place.path)
            if wanted == followed:
                raise UsageError(
                    tr("The program does not import from {path} by itself", path=place.path),
                    remedy=tr("Run `manual-slop import --follow` for the list"),
                )
            _write(front, wanted)
            console.outcome(
                tr("The program no longer imports from {path} by itself.", path=place.path),
                {"followed": list(wanted)},
            )
        elif given.follow:
            place = _place(given.follow, known)
            if place.path not in map(whole, followed):
                line = spliced("{}: {}", place.label, place.path)
                console.shown(
                    line if Path(place.path).exists() else tr("{place} (not there yet)", place=line)
                )
                if not confirm(
                    console,
                    tr("Import from this place from now on ({BY_ITSELF})?", BY_ITSELF=BY_ITSELF),
                    is_yes=given.yes,
                ):
                    console.line(tr("Nothing was changed."))
                    return NOT_AGREED
                followed = with_place(followed, place.path)
                _write(front, followed)
            console.outcome(
                tr("Added {path}: {consequence}.", path=place.path, consequence=BY_ITSELF),
                {"followed": list(followed)},
            )
        else:
            _list(followed, known, console)
    return 0


def _place(name: str, known: tuple[KnownPlace, ...]) -> KnownPlace:
    """The place that a person names: a program, or a file or folder.

    Raises:
        UsageError: it is neither.
    """
    for one in known:
        if name == one.name:
            return one
    path = whole(name)
    if os.sep not in name and not Path(path).exists():
        names = ", ".join(one.name for one in known)
        raise UsageError(
            tr("There is no known program or folder {name!r}", name=name),
            remedy=tr("Name a folder or one of {names}", names=names),
        )
    return KnownPlace(name=path, label=tr("Sessions"), path=path)


def _list(followed: tuple[str, ...], known: tuple[KnownPlace, ...], console: Console) -> None:
    names = {one.path: one.name for one in known}
    rows = [(names.get(whole(path), ""), whole(path)) for path in followed]
    if console.is_json:
        console.json([{"name": name, "path": path} for name, path in rows])
    elif rows:
        console.write(table((tr("Program"), tr("Place")), rows, kept=frozenset({1}), columns=console.columns))
    else:
        console.write(tr("The program imports from no other program or folder by itself.\n"))


def _write(front: FrontEnd, wanted: tuple[str, ...]) -> None:
    """Have the settings say so, and wait until they do."""
    from core.front.cli.session import settle
    from core.services.settings.settings_messages import ChangeSetting

    front.send(ChangeSetting(KEY, wanted or None))
    settle(front, lambda state: state.config.settings.imports.follow == wanted)
