"""`index`: the index files of notes checked and mended, and a new note from a template."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from core.base.disk import create_file, make_dirs
from core.base.figures import count
from core.cli.arguments import Options
from core.cli.output import Console
from core.cli.session import UsageError, report_settings
from core.retrieval.heads import FieldNames
from core.retrieval.judged_places import judge
from core.retrieval.navigation_files import Mended, Survey, existing_folders, mend, survey
from core.retrieval.note_template import note_text
from core.retrieval.source_text import PROSE_ENDINGS
from core.retrieval.step import OFF, on_remedy
from core.settings.loader import LoadedSettings, config_request, load
from core.settings.searched_places import navigation_bounds, places_of
from core.values.retrieval import AskedPlaces, Corpus, SearchPlaces

NOT_IN_ORDER = 1


def run_index(options: Options, console: Console) -> int:
    """Check index files, mend them, or write a new note.

    Returns:
        0, and 1 where something is stale or orphaned, or could not be mended.

    Raises:
        UsageError: the new note's path is of no use. SlopError: it could not be written.
    """
    request = config_request(start=options.start, home=options.home, overrides=options.overrides)
    loaded = load(request)
    report_settings(loaded.faults, loaded.project, console)
    if options.given.action == "new":
        return _new(options, loaded, request.home, request.start, console)
    with console.waiting("Reading notes"):
        found = _surveyed(loaded, request.home)
    for problem in found.problems:
        console.note(f"manual-slop: warning: {problem}")
    if said := _no_notes(loaded):
        console.note(f"manual-slop: note: no notes are searched, so that none have an index: {said}")
    if options.given.action == "build":
        return _build(found, options, console)
    if options.is_json:
        console.json(
            {
                "fresh": found.fresh,
                "stale": tuple(found.stale),
                "orphans": found.orphans,
                "hand_written": found.own,
                "problems": found.problems,
            }
        )
    else:
        _tell(found, console)
    return 0 if found.is_in_order else NOT_IN_ORDER


def _surveyed(loaded: LoadedSettings, home: Path) -> Survey:
    """All index files that are or should be; with retrieval off every one of ours is an orphan.

    Where settings are at fault or do not count yet, nobody knows which folders are enabled: no orphan is looked for.
    """
    project = loaded.project
    asked = places_of(loaded.settings.retrieval, project)
    places = judge(asked) if asked is not None else SearchPlaces()
    around = existing_folders(navigation_bounds(loaded.faults, project))
    return survey(places, home, _fields(loaded), around)


def _no_notes(loaded: LoadedSettings) -> str:
    """Reason why no folder of notes is named here, and the remedy; empty where one is."""
    asked = places_of(loaded.settings.retrieval, loaded.project)
    if asked is None:
        return f"{OFF}. {on_remedy(loaded.project)}"
    if Corpus.NOTES not in asked.corpora:
        return "`notes` is none of `[retrieval] corpora`"
    return "" if asked.roots else "Name their folders in `roots` under `[retrieval]`"


def _fields(loaded: LoadedSettings) -> FieldNames:
    settings = loaded.settings.retrieval
    return FieldNames(settings.tag_fields, settings.date_fields)


def _tell(found: Survey, console: Console) -> None:
    for path in found.stale:
        console.line(f"{'stale' if os.path.lexists(path) else 'missing'}:  {path}")
    for path in found.orphans:
        console.line(f"orphan:  {path}")
    for path in found.own:
        console.line(
            f"yours:  {path} was not made by this program: it is left alone, and its folder has no other index"
        )
    said = f"{count(len(found.fresh), 'index file')} up to date, {len(found.stale):,} stale, {len(found.orphans):,} orphaned"
    console.line(f"{said}." if found.is_in_order else f"{said}. `manual-slop index build` mends both.")


def _build(found: Survey, options: Options, console: Console) -> int:
    done = mend(found)
    if options.is_json:
        console.json(
            {
                "written": done.written,
                "removed": done.removed,
                "problems": [f"{path}: {reason}" for path, reason in done.problems],
            }
        )
    else:
        for path in done.written:
            console.line(f"written:  {path}")
        for path in done.removed:
            console.line(f"removed:  {path}")
        console.line(f"{count(len(found.fresh) + len(done.written), 'index file')} up to date.")
    _warn(done, console)
    return NOT_IN_ORDER if done.problems else 0


def _warn(done: Mended, console: Console) -> None:
    for path, reason in done.problems:
        console.note(f"manual-slop: warning: {path}: {reason}")


def _new(options: Options, loaded: LoadedSettings, home: Path, start: Path, console: Console) -> int:
    """Write the note, then have the index of its folder list it."""
    path = Path(os.path.abspath(start / Path(options.given.path).expanduser()))
    if path.name.rpartition(".")[2].lower() not in PROSE_ENDINGS or not path.suffix:
        path = path.with_name(f"{path.name}.md")
    if path.is_dir() or options.given.path.endswith(("/", os.sep)):
        raise UsageError(f"{options.given.path!r} is a folder", remedy="Give the note a name")
    make_dirs(path.parent)
    text = note_text(path.name, datetime.now().astimezone().date(), _fields(loaded))
    create_file(path, text.encode("utf-8", "replace"))
    if console.is_json:
        console.json({"path": str(path)})
    else:
        console.line(str(path))
    asked = places_of(loaded.settings.retrieval, loaded.project)
    if asked is None or not _is_listed(path, asked):
        console.note(
            "manual-slop: note: no index lists it: its folder is none of `[retrieval] roots` that count here"
        )
        return 0
    _warn(mend(survey(judge(asked), home, _fields(loaded))), console)
    return 0


def _is_listed(path: Path, asked: AskedPlaces) -> bool:
    place = os.path.realpath(path)
    return any(place.startswith(root.rstrip(os.sep) + os.sep) for root in judge(asked).notes)
