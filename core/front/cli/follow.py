"""Places that are followed on the command line: `import --follow` and `--unfollow`, with a person's yes to each, in the settings."""

from __future__ import annotations

import os
from pathlib import Path

from core.front.cli.arguments import Options, UsageError
from core.front.cli.output import Console, table
from core.front.cli.questions import confirm
from core.front.cli.session import FrontEnd, session, settle
from core.imports.import_plan import KEY, whole, with_place, without_place
from core.imports.import_sources import known_places
from core.kernel.language import spliced, tr
from core.kernel.values.imports import KnownPlace
from core.services.settings.settings_messages import ChangeSetting

NOT_AGREED = 1
BY_ITSELF = tr("the program imports new sessions from there while a window or `--headless` runs")


def run_follow(options: Options, front: FrontEnd, console: Console) -> int:
    """List what is followed, follow a place after a yes to it, or follow one no more. Returns 1 after a no."""
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
    front.send(ChangeSetting(KEY, wanted or None))
    settle(front, lambda state: state.config.settings.imports.follow == wanted)
