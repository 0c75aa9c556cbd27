"""`search`: passages of notes, knowledge, past discussions and project files."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from core.app.crunch import LocalEmbedder
from core.app.execution import act
from core.front.cli.arguments import Options, UsageError
from core.front.cli.output import Console
from core.front.cli.session import FrontEnd, report_settings, session
from core.kernel import paths
from core.kernel.disk import create_file, make_dirs
from core.kernel.errors import FailureKind, ProviderError, SlopError
from core.kernel.figures import count
from core.kernel.language import tr
from core.kernel.values.retrieval import (
    AskedPlaces,
    Corpus,
    MemoryToolAnswer,
    Recalled,
    RecallQuestion,
    SearchAnswer,
    SearchFilters,
    SearchPlaces,
)
from core.kernel.values.spec import StackSpec
from core.retrieval.front_matter import FieldNames
from core.retrieval.index_file import FILE_NAME
from core.retrieval.navigation import note_text
from core.retrieval.navigation_files import Mended, Survey, existing_folders, mend, survey
from core.retrieval.remote_embedder import remote_embedders
from core.retrieval.retrieval_messages import SearchMemory, UpdateIndex, UseMemoryTool
from core.retrieval.retrieval_report import answer_data, answer_text, left_out_text, passed_over_text
from core.retrieval.retrieval_step import OFF, on_remedy
from core.retrieval.retrieval_worker import Recaller, Retrieving, discussion_names, local_answer
from core.retrieval.search import FIRST_EMBED_S
from core.retrieval.sources import PROSE_ENDINGS, judge
from core.services.providers.protocol import Provider
from core.services.settings.settings_loader import LoadedSettings, config_request, load
from core.services.settings.settings_rules import navigation_bounds, places_of

LONGEST_S = 24 * 3600.0
"""A first index of years of notes ends by itself; who wants it to end earlier presses Ctrl+C."""

ANSWER_S = 120.0


def run_search(options: Options, front: FrontEnd, console: Console) -> int:
    """Bring the index to what the files say, then search.

    Returns:
        0 where something was found, else 1.

    Raises:
        SlopError: retrieval is off here, or the index cannot be kept.
    """
    given = options.given
    filters = SearchFilters(
        corpora=tuple(Corpus(name) for name in given.corpus),
        folder=given.folder,
        tag=given.tag,
        after=given.after,
        before=given.before,
    )
    with session(front, console):
        if not given.no_update:
            _update(front, console)
        if given.tool:
            used = UseMemoryTool(name=given.tool, arguments_json=" ".join(given.words))
            told = act(front, used, timeout_s=ANSWER_S).retrieval.tool_answer
            return _told(told or MemoryToolAnswer("", is_error=True), options, console)
        state = act(
            front,
            SearchMemory(query=" ".join(given.words), count=given.count, filters=filters),
            timeout_s=ANSWER_S,
        )
    answer = state.retrieval.answer or SearchAnswer(query="")
    places = state.retrieval.places
    for problem in places.problems if places is not None else ():
        console.note(tr("manual-slop: {problem}", problem=problem))
    if options.is_json:
        console.json(answer_data(answer))
    else:
        console.write(answer_text(answer, state.config.project.root))
    return 0 if answer.hits else 1


def _update(front: FrontEnd, console: Console) -> None:
    """Bring the index up to date. Where it cannot be, what it holds answers, and that is said."""
    try:
        with console.waiting(tr("Reading changed files")):
            report = act(front, UpdateIndex(), timeout_s=LONGEST_S).retrieval.report
    except SlopError as error:
        if front.snapshot().retrieval.asked is None:
            raise
        console.note(
            tr(
                "manual-slop: warning: the index is out of date: {what}. {remedy}",
                what=error.what,
                remedy=error.remedy,
            ).rstrip()
        )
        return
    if report is not None and report.no_vectors:
        console.note(
            tr(
                "manual-slop: warning: some passages cannot be found by meaning: {no_vectors}",
                no_vectors=report.no_vectors,
            )
        )
    if report is not None and report.passed_over:
        console.note(
            tr(
                "manual-slop: note: not searched, or only in part: {passed_over}",
                passed_over=passed_over_text(report.passed_over),
            )
        )
    if report is not None and report.read and report.left_out:
        console.note(
            tr(
                "manual-slop: note: not read among the notes: {kinds}",
                kinds=left_out_text(report.left_out),
            )
        )


def _told(told: MemoryToolAnswer, options: Options, console: Console) -> int:
    """Print the answer of a tool. 1 where it is an error."""
    if options.is_json:
        console.json({"text": told.text, "is_error": told.is_error})
    else:
        console.write(told.text if told.text.endswith("\n") else f"{told.text}\n")
    return 1 if told.is_error else 0


# Recall for a message on the command line: what would go along, from the index as it stands.

WAIT_S = 60.0
"""Longest wait: the model is started for this one question."""

NO_INDEX = tr("Recall finds nothing: there is no search index yet. Run `manual-slop search` to make one.")


def recall_for(spec: StackSpec, home: Path) -> Recalled:
    """Passages that would go along with a spec's message; nothing where ambient recall is off or nothing is said."""
    inputs = spec.inputs
    text = inputs.user_text.strip()
    if spec.recall is None or not text:
        return Recalled()
    if not any((folder / FILE_NAME).exists() for folder in paths.index_dirs(home)):
        return Recalled(problem=NO_INDEX)
    shared = local_retrieving(home)
    try:
        recaller = Recaller(local_answer(shared, FIRST_EMBED_S), WAIT_S, name=discussion_names(home))
        return recaller.recall(
            RecallQuestion(text=text, discussion_id=spec.discussion_id, spec=spec.recall, told=inputs.digest)
        )
    finally:
        shared.close()


def local_retrieving(home: Path) -> Retrieving:
    """The index of a home as it stands, with the model that comes with the program; no server is asked for vectors."""
    return Retrieving(home, LocalEmbedder, remote_embedders(_ask_nobody, lambda: datetime.now(UTC)))


def _ask_nobody(provider: str) -> Provider:
    """Looking sends nothing, and costs nothing: where a server makes the vectors, words alone answer."""
    raise ProviderError(
        FailureKind.NO_NETWORK, tr("this command does not ask {provider!r} for vectors", provider=provider)
    )


# `index`: the index files of notes checked and mended, and a new note from a template.

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
    with console.waiting(tr("Reading notes")):
        found = _surveyed(loaded, request.home)
    for problem in found.problems:
        console.note(tr("manual-slop: warning: {warning}", warning=problem))
    if said := _no_notes(loaded):
        console.note(
            tr(
                "manual-slop: note: search leaves your notes out, so the notes have no index: {said}",
                said=said,
            )
        )
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
        return tr("`[retrieval] corpora` does not name `notes`")
    return "" if asked.roots else tr("Name the folders of your notes in `roots` under `[retrieval]`")


def _fields(loaded: LoadedSettings) -> FieldNames:
    settings = loaded.settings.retrieval
    return FieldNames(settings.tag_fields, settings.date_fields)


def _tell(found: Survey, console: Console) -> None:
    for path in found.stale:
        console.line(f"{'stale' if os.path.lexists(path) else 'missing'}:  {path}")
    for path in found.orphans:
        console.line(tr("orphan:  {path}", path=path))
    for path in found.own:
        console.line(
            tr(
                "yours:  this program did not write {path} and leaves it alone; its folder gets no index",
                path=path,
            )
        )
    said = tr(
        "{fresh} up to date, {stale:,} outdated, {orphans:,} orphaned",
        fresh=count(len(found.fresh), tr("index file"), tr("index files")),
        stale=len(found.stale),
        orphans=len(found.orphans),
    )
    console.line(
        f"{said}."
        if found.is_in_order
        else tr("{counts}. `manual-slop index build` repairs this.", counts=said)
    )


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
            console.line(tr("written:  {path}", path=path))
        for path in done.removed:
            console.line(tr("removed:  {path}", path=path))
        console.line(
            tr(
                "{fresh} up to date.",
                fresh=count(len(found.fresh) + len(done.written), tr("index file"), tr("index files")),
            )
        )
    _warn(done, console)
    return NOT_IN_ORDER if done.problems else 0


def _warn(done: Mended, console: Console) -> None:
    for path, reason in done.problems:
        console.note(tr("manual-slop: warning: {path}: {reason}", path=path, reason=reason))


def _new(options: Options, loaded: LoadedSettings, home: Path, start: Path, console: Console) -> int:
    """Write the note, then have the index of its folder list it."""
    path = Path(os.path.abspath(start / Path(options.given.path).expanduser()))
    if path.name.rpartition(".")[2].lower() not in PROSE_ENDINGS or not path.suffix:
        path = path.with_name(f"{path.name}.md")
    if path.is_dir() or options.given.path.endswith(("/", os.sep)):
        raise UsageError(
            tr("{path!r} is a folder", path=options.given.path), remedy=tr("Name a file for the note")
        )
    make_dirs(path.parent)
    text = note_text(path.name, datetime.now().astimezone().date(), _fields(loaded))
    create_file(path, text.encode("utf-8", "replace"))
    if console.is_json:
        console.json({"path": str(path)})
    else:
        console.line(str(path))
    asked = places_of(loaded.settings.retrieval, loaded.project)
    if asked is None or not _is_listed(path, asked):
        console.note(tr("manual-slop: note: no index lists this file: add its folder to `[retrieval] roots`"))
        return 0
    _warn(mend(survey(judge(asked), home, _fields(loaded))), console)
    return 0


def _is_listed(path: Path, asked: AskedPlaces) -> bool:
    place = os.path.realpath(path)
    return any(place.startswith(root.rstrip(os.sep) + os.sep) for root in judge(asked).notes)
