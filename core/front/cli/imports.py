"""`import`: conversations of other programs as discussions of ours."""

from __future__ import annotations

import os
from pathlib import Path

from core.app.execution import act
from core.front.cli.arguments import Options
from core.front.cli.output import Console, table
from core.front.cli.questions import confirm
from core.front.cli.session import FrontEnd, UsageError, session, settle
from core.imports.follow_places import KEY, KnownPlace, known_places, whole, with_place, without_place
from core.imports.import_plan import report_data, report_text
from core.imports.import_sources import PIPE
from core.imports.imports_messages import ImportConversations
from core.kernel.values.imports import ImportReport
from core.services.settings.settings_messages import ChangeSetting

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
    if given.follow is not None or given.unfollow:
        if given.paths or given.dry_run or given.without:
            raise UsageError("`--follow` and `--unfollow` stand alone", remedy="Leave the rest out")
        return _run_follow(options, front, console)
    if not given.paths:
        raise UsageError("Nothing is named", remedy="Name a file or a folder, or `--follow`")
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


# Places that are followed: a person's yes to each, in the settings.

NOT_AGREED = 1
BY_ITSELF = "new sessions there become discussions by themselves, while a window or `--headless` runs"


def _run_follow(options: Options, front: FrontEnd, console: Console) -> int:
    """List what is followed, follow a place after a yes to it, or follow one no more. Returns 1 after a no."""
    given, known = options.given, known_places(os.environ, Path.home())
    with session(front, console) as state:
        followed = state.config.settings.imports.follow
        if given.unfollow:
            place = _place(given.unfollow, known)
            wanted = without_place(followed, place.path)
            if wanted == followed:
                raise UsageError(f"{place.path} is not followed", remedy="See `manual-slop import --follow`")
            _write(front, wanted)
            console.outcome(f"{place.path} is followed no more.", {"followed": list(wanted)})
        elif given.follow:
            place = _place(given.follow, known)
            if place.path not in map(whole, followed):
                console.shown(
                    f"{place.label}: {place.path}{'' if Path(place.path).exists() else ' (not there yet)'}"
                )
                if not confirm(console, f"Follow it: {BY_ITSELF}?", is_yes=given.yes):
                    console.line("Nothing was changed.")
                    return NOT_AGREED
                followed = with_place(followed, place.path)
                _write(front, followed)
            console.outcome(f"{place.path} is followed: {BY_ITSELF}.", {"followed": list(followed)})
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
            f"There is no program or folder {name!r}", remedy=f"Name one of {names}, or a folder"
        )
    return KnownPlace(name=path, label="Sessions", path=path)


def _list(followed: tuple[str, ...], known: tuple[KnownPlace, ...], console: Console) -> None:
    names = {one.path: one.name for one in known}
    rows = [(names.get(whole(path), ""), whole(path)) for path in followed]
    if console.is_json:
        console.json([{"name": name, "path": path} for name, path in rows])
    elif rows:
        console.write(table(("Program", "Place"), rows, kept=frozenset({1}), columns=console.columns))
    else:
        console.write("Nothing is followed.\n")


def _write(front: FrontEnd, wanted: tuple[str, ...]) -> None:
    """Have the settings say so, and wait until they do."""
    front.send(ChangeSetting(KEY, wanted or None))
    settle(front, lambda state: state.config.settings.imports.follow == wanted)
