"""The index in the Search panel: what it holds and is made with, ticked sources, and its figures in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.language import as_sentences, tr
from core.kernel.stored_texts import retold
from core.kernel.values.curation import FileItem, LineRange
from core.kernel.values.retrieval import (
    ChunkKind,
    Corpus,
    CorpusCount,
    IndexProgress,
    IndexReport,
    NavigationReport,
    Retriever,
    Router,
    SearchAnswer,
    SearchHit,
    SearchMode,
)
from core.kernel.values.settings import Project
from core.kernel.values.state import AppState
from core.kernel.words import STOP_WORDS
from core.retrieval.retrieval_messages import (
    BuildNavigation,
    CancelIndexing,
    CheckNavigation,
    PauseIndexing,
    UpdateIndex,
)
from core.retrieval.retrieval_report import left_out_text, person_path, server_name
from core.services.settings.asked_values import may_not_write
from core.services.settings.settings_messages import ChangeProjectSetting
from panels.base import view as selection
from panels.base.desk import Desk, run_action
from panels.base.gauge import file_button
from panels.base.ui import Tone, Ui
from panels.base.view import Dialog
from panels.context.preset_item import add_items, project_path
from panels.retrieval.retrieval_room import RetrievalView

CORPUS_WORDS: dict[Corpus, tuple[str, str]] = {
    Corpus.NOTES: (tr("Notes"), "file-lines"),
    Corpus.KNOWLEDGE: (tr("Knowledge"), "lightbulb"),
    Corpus.DISCUSSIONS: (tr("Past discussions"), "comments"),
    Corpus.PROJECT: (tr("Project files"), "file-code"),
}
"""Name and icon."""

ABOUT_CORPUS = {
    Corpus.NOTES: tr("Markdown and text files in the folders that you name below"),
    Corpus.KNOWLEDGE: tr(
        "Knowledge from harvests and from you: category files, notes on files, structured facts"
    ),
    Corpus.DISCUSSIONS: tr("Earlier messages of you and the models, in every discussion of this data folder"),
    Corpus.PROJECT: tr("The project's own files, without those that .gitignore excludes"),
}
MODE_WORDS = {
    SearchMode.HYBRID: tr("By words and by meaning"),
    SearchMode.KEYWORD: tr("By words only"),
    SearchMode.NAVIGATION_ONLY: tr("By titles, tags and descriptions only"),
    SearchMode.OFF: tr("Search is off"),
}
SERVER_AWAY = tr("In the index on this machine")
"""Mark of an answer by words and by meaning from which nothing but a server is missing."""
IN_PART = tr("By words, and partly by meaning")
"""Mark of an answer while some passages wait for their vectors."""
_RETRIEVER_WORDS = {
    Retriever.KEYWORD: tr("its words"),
    Retriever.VECTOR: tr("its meaning"),
    Retriever.NAVIGATION: tr("its title, tags or description"),
}
SNIPPET_CHARS, BEFORE_CHARS = 260, 70
_MARKS = re.compile(r"\*\*|`|^#{1,6}[ \t]+", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_WORD = re.compile(r"[^\W_]{2,}")


def marked_terms(query: str) -> tuple[str, ...]:
    """Words of a question to mark in the results, without stop words."""
    said = dict.fromkeys(_WORD.findall(query))
    return tuple(word for word in said if word.lower() not in STOP_WORDS)


def plain(hit: SearchHit, terms: Iterable[str] = ()) -> str:
    """Words of a passage: of Markdown without its marks, without the heading that is shown above it and without front
    matter, unless that alone holds one of the words that are marked; code as it is.
    """
    if hit.kind is ChunkKind.CODE:
        return hit.text
    body = _FRONT_MATTER.sub("", hit.text.strip(), count=1).strip()
    whole = body if body and (_holds(body, terms) or not _holds(hit.text, terms)) else hit.text.strip()
    first, _, rest = whole.partition("\n")
    named = first.lstrip("# ").strip()
    text = rest if rest.strip() and first.startswith("#") and named in {hit.title, hit.heading} else whole
    return _MARKS.sub("", text)


def _holds(text: str, terms: Iterable[str]) -> bool:
    folded = text.lower()
    return any(term.lower() in folded for term in terms)


def snippet(text: str, terms: Iterable[str]) -> str:
    """Part of a passage around the first of its marked words, on one line; its beginning where it has none."""
    flat = " ".join(text.split())
    folded = flat.lower()
    places = [at for term in terms if (at := folded.find(term.lower())) >= 0]
    start = max(0, min(places, default=0) - BEFORE_CHARS)
    if len(flat) - start < SNIPPET_CHARS:
        start = max(0, len(flat) - SNIPPET_CHARS)
    start = flat.rfind(" ", 0, start) + 1 if start else 0
    cut = one_line(flat[start:], SNIPPET_CHARS)
    return f"… {cut}" if start else cut


def lines_words(corpus: Corpus, lines: LineRange) -> str:
    """Place of a passage in its source: `line 3`, `lines 3 to 9`; of a discussion `message 3`."""
    if corpus is Corpus.DISCUSSIONS:
        return tr("message {first:,}", first=lines.first)
    if lines.first == lines.last:
        return tr("line {first:,}", first=lines.first)
    return tr("lines {first:,} to {last:,}", first=lines.first, last=lines.last)


def source_title(state: AppState, corpus: Corpus, path: str, title: str) -> str:
    """Title of a source as a person knows it; a discussion's name, and no id."""
    if corpus is not Corpus.DISCUSSIONS:
        return title or path
    row = state.discussions.summaries.get(path)
    return row.meta.name if row is not None else tr("A discussion that no longer exists")


def hit_place(state: AppState, hit: SearchHit) -> str:
    """Line below a hit's title: path, lines, section, day."""
    root, words = state.config.project.root, CORPUS_WORDS[hit.corpus][0]
    where = words if hit.corpus is Corpus.DISCUSSIONS else person_path(hit, root)
    is_whole = hit.found_by == (Retriever.NAVIGATION,)
    parts = (
        where,
        "" if is_whole else lines_words(hit.corpus, hit.lines),
        "" if hit.heading == hit.title else one_line(hit.heading, 60),
        day_words(state, hit.date),
    )
    return " · ".join(filter(None, parts))


def day_words(state: AppState, day: str) -> str:
    """A day as a person says it, empty where there is none."""
    try:
        return fmt.day(date.fromisoformat(day), state.now)
    except ValueError:
        return ""


def score_words(hit: SearchHit) -> str:
    """Scores of a hit by retriever: `Score: words 0.61, meaning 0.92`; a dash for one that did not find it."""
    if hit.found_by == (Retriever.NAVIGATION,):
        return tr("Title and tags {score:.2f}", score=hit.score)
    return tr(
        "Score: words {keyword}, meaning {vector}",
        keyword=_score(hit.keyword),
        vector=_score(hit.vector),
    )


def found_by_words(hit: SearchHit) -> str:
    """Retrievers that found a hit, as a sentence."""
    return tr("Found by {value}.", value=tr(" and by ").join(_RETRIEVER_WORDS[one] for one in hit.found_by))


def _score(value: float) -> str:
    return "–" if value < 0 else f"{value:.2f}"


def degraded_words(answer: SearchAnswer) -> tuple[str, str]:
    """Mark of an answer that is not the whole one, and why; both empty where it is."""
    if not answer.degraded:
        return "", ""
    mark = MODE_WORDS[answer.mode]
    if answer.mode is SearchMode.HYBRID:
        mark = SERVER_AWAY if answer.is_of_this_machine else IN_PART
    return f"{mark}.", as_sentences(answer.reason, answer.remedy, is_closed=True)


def found_words(answer: SearchAnswer) -> str:
    """Number of hits and how they were found."""
    if not answer.hits:
        return tr("Nothing found for “{query}”.", query=one_line(answer.query, 60))
    several = fmt.count(len(answer.hits), tr("source"), tr("sources"))
    return tr(
        "{several} for “{query}” · {MODE_WORDS} · {took_s}",
        several=several,
        query=one_line(answer.query, 60),
        MODE_WORDS=MODE_WORDS[answer.mode],
        took_s=_took(answer.took_s),
    )


def _took(took_s: float) -> str:
    return fmt.span(took_s) if took_s >= 1 else f"{max(1, round(took_s * 1_000))} ms"


def count_words(counted: CorpusCount) -> str:
    """Content of a corpus: files and passages, and how many of them wait for a vector."""
    is_talk = counted.corpus is Corpus.DISCUSSIONS
    nouns = (tr("discussion"), tr("discussions")) if is_talk else (tr("file"), tr("files"))
    said = [fmt.count(counted.files, *nouns)]
    said += [fmt.count(counted.chunks, tr("passage"), tr("passages"))] if counted.chunks else []
    if counted.bare:
        said.append(
            tr("{bare:,} without a vector", bare=counted.bare)
            if counted.bare < counted.chunks
            else tr("no vectors yet")
        )
    return " · ".join(said)


def whole_words(counts: Iterable[CorpusCount]) -> str:
    """Content of the whole index."""
    files, chunks = sum(one.files for one in counts), sum(one.chunks for one in counts)
    return tr(
        "{chunks} of {files}",
        chunks=fmt.count(chunks, tr("passage"), tr("passages")),
        files=fmt.count(files, tr("source"), tr("sources")),
    )


def progress_words(progress: IndexProgress, *, is_paused: bool) -> str:
    """Progress of a run: its step and its share of the work."""
    if is_paused:
        return tr("Paused")
    if progress.vectors or (progress.total and progress.files >= progress.total):
        if not progress.bare:
            return tr("Making vectors: {vectors:,}", vectors=progress.vectors)
        return tr("Making vectors: {vectors:,} of {bare:,}", vectors=progress.vectors, bare=progress.bare)
    if not progress.total:
        return tr("Looking at files")
    return tr(
        "Reading {files:,} of {total}",
        files=progress.files,
        total=fmt.count(progress.total, tr("file"), tr("files")),
    )


def doing_words(state: AppState, progress: IndexProgress) -> str:
    """File in work; of a discussion its name."""
    row = state.discussions.summaries.get(progress.doing)
    return row.meta.name if row is not None else progress.doing


def progress_share(progress: IndexProgress) -> float:
    """Share of a run that is done, 0 to 1: of reading, then of vectors; 0 where nobody knows."""
    if progress.vectors or (progress.total and progress.files >= progress.total):
        return progress.vectors / progress.bare if progress.bare else 0.0
    return progress.files / progress.total if progress.total else 0.0


def run_words(report: IndexReport) -> str:
    """Outcome of the last run in a line; of one that looked at a part alone, how much there is beside it."""
    if report.is_part:
        files = sum(one.files for one in report.counts)
        return tr(
            "{sources} in the index, {read:,} read just now",
            sources=fmt.count(files, tr("source"), tr("sources")),
            read=report.read,
        )
    said = [
        tr("{read} read", read=fmt.count(report.read, tr("source"), tr("sources"))),
        tr("{unchanged:,} unchanged", unchanged=report.unchanged),
    ]
    said += [tr("{removed:,} removed", removed=report.removed)] if report.removed else []
    said += (
        [tr("{vectors} made", vectors=fmt.count(report.vectors, tr("vector"), tr("vectors")))]
        if report.vectors
        else []
    )
    return ", ".join(said)


# The index in the Retrieval panel: what it holds and is made with, and the sources that a person ticked.

# Sources of a search: what is read once it is switched on, ticked by the person, and why a folder does not
# count.

COUNT_INDENT_PX = 27.0
"""Indent of a checkbox's label."""

BOUNDS = tr(
    "The program reads folders inside the project, and outside folders that you allowed. Settings, Project lists these."
)


def off_section(desk: Desk) -> None:
    """Draw what retrieval is, what it would read here, and the switch. Sends ChangeProjectSetting."""
    ui = desk.ui
    ui.text("title", tr("Search is off in this project"), style="h3", wraps=True)
    ui.text("what", tr("Search finds your notes and past discussions by words and by meaning. The index stays on this machine, for this program only. You can delete the index at any time. Each folder of notes gets an index.md. The manual_slop.toml keeps your choices; the program writes nothing else."),
            tone="muted", wraps=True)  # fmt: skip
    if not _can_write(desk):
        return
    with ui.surface("reads", "card", padding=(12, 10)), ui.group("lines", gap=8):
        ui.text("title", tr("Search would read"), style="small_strong")
        corpora_rows(desk)
        ui.divider("folders line")
        notes_rows(desk)
    with ui.row("switch"):
        if ui.button("on", tr("Turn search on in this project"), icon="power-off", kind="primary",
                     tip=tr("Saved in the project's manual_slop.toml")):  # fmt: skip
            desk.send(ChangeProjectSetting(key="retrieval.enabled", value=True))


def _can_write(desk: Desk) -> bool:
    """Say what must be done before the project's settings can be changed. True where nothing must."""
    ui, project = desk.ui, desk.state.config.project
    if not project.root:
        ui.text(
            "no project",
            tr("Open a project folder first: each project has its own search."),
            wraps=True,
        )
        if ui.button("open", tr("Open project folder"), icon="folder-open", is_small=True):
            run_action("open_project", desk)
        return False
    ask_to_look(desk)
    return not is_locked(project)


def ask_to_look(desk: Desk) -> None:
    """Say why nothing can be changed where a person was not shown what stands in the project's file, and show it."""
    ui = desk.ui
    if not is_locked(desk.state.config.project):
        return
    with ui.surface("trust", "card", padding=(12, 10)), ui.group("lines", gap=8):
        with ui.row("head"):
            ui.icon("icon", "shield-halved", tone="warn")
            text = tr(
                "This folder's manual_slop.toml asks for settings that you have not seen. They apply only after you agree."
            )
            ui.text("text", text, wraps=True, width=0)
        if ui.button("look", tr("Review requests"), kind="primary", is_small=True):
            desk.view.dialog = Dialog(kind="trust")


def is_locked(project: Project) -> bool:
    """True if the project's settings of retrieval must not be written: a person was not shown what stands there."""
    keys = ("enabled", "corpora", "roots", "ambient")
    return any(may_not_write(project, "settings", f"retrieval.{key}") for key in keys)


def corpora_rows(desk: Desk) -> None:
    """Draw a switch for each corpus, with what it holds or would hold. Sends ChangeProjectSetting."""
    ui, settings = desk.ui, desk.state.config.settings.retrieval
    counts, is_on = corpus_counts(desk), desk.state.retrieval.asked is not None
    can = not is_locked(desk.state.config.project)
    for corpus, (name, _) in CORPUS_WORDS.items():
        is_ticked = corpus.value in settings.corpora
        with ui.group(("corpus", corpus.value), gap=2):
            ticked = ui.checkbox("on", name, is_ticked, is_enabled=can, tip=ABOUT_CORPUS[corpus])
            counted = counts.get(corpus)
            if counted is not None and (is_ticked or not is_on):
                with ui.row("count", gap=0):
                    ui.gap(COUNT_INDENT_PX)
                    ui.text("count", count_words(counted), tone="muted", style="small", wraps=True)
        if ticked is not None:
            kept = tuple(
                one.value for one in Corpus if (ticked if one is corpus else one.value in settings.corpora)
            )
            desk.send(ChangeProjectSetting(key="retrieval.corpora", value=kept))


def corpus_counts(desk: Desk) -> Mapping[Corpus, CorpusCount]:
    """Content of each corpus: as it is indexed, else the files that were seen there."""
    retrieval = desk.state.retrieval
    seen = retrieval.preview.counts if retrieval.preview is not None else ()
    known = retrieval.report.counts if retrieval.asked is not None and retrieval.report is not None else ()
    return {one.corpus: one for one in (*seen, *known)}


def notes_rows(desk: Desk) -> None:
    """Draw the folders of notes, those that do not count with the reason, and a way to add one. Sends ChangeProjectSetting."""
    ui, settings, retrieval = desk.ui, desk.state.config.settings.retrieval, desk.state.retrieval
    can = not is_locked(desk.state.config.project)
    with ui.row("folders head"):
        ui.text("title", tr("Folders of notes"), style="small_strong", width=0, tip=BOUNDS)
        if ui.button("browse", "", icon="folder-plus", kind="ghost", is_small=True, is_enabled=can,
                     tip=tr("Add a folder of notes…")):  # fmt: skip
            desk.view.dialog = Dialog(kind="notes_folder")
    for name in settings.roots:
        with ui.row(("folder", name)):
            ui.icon("icon", "folder", tone="muted")
            ui.text("name", name, style="mono_small", width=0, tip=name)
            if ui.button("remove", "", icon="xmark", kind="ghost", is_small=True, is_enabled=can,
                         tip=tr("Stop searching the folder {name}", name=name)):  # fmt: skip
                kept = tuple(one for one in settings.roots if one != name)
                desk.send(ChangeProjectSetting(key="retrieval.roots", value=kept))
    if not settings.roots:
        ui.text(
            "none",
            tr("You have no folder of notes yet: add a folder with Markdown or text files."),
            tone="muted",
            style="small",
            wraps=True,
        )
    typed = ui.text_input("add", "", hint=tr("A folder, for example notes"), icon="plus", width=0, submits=True,
                          is_enabled=can, tip=tr("Add a folder of notes"))  # fmt: skip
    if typed is not None:
        add_folder(desk, typed)
    places = retrieval.preview.places if retrieval.preview is not None else retrieval.places
    for index, problem in enumerate(places.problems if places is not None else ()):
        with ui.row(("problem", index)):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("text", f"{one_line(problem, 300)}.", tone="warn", style="small", wraps=True)
    ui.text("bounds", BOUNDS, tone="muted", style="small", wraps=True)


def add_folder(desk: Desk, typed: str) -> None:
    """Add a folder of notes; inside the project it is named from there. Sends ChangeProjectSetting."""
    roots, root = desk.state.config.settings.retrieval.roots, desk.state.config.project.root
    name = typed.strip().replace("\\", "/").rstrip("/")
    name = name.removeprefix(f"{root}/") if root else name
    if name and name not in roots:
        desk.send(ChangeProjectSetting(key="retrieval.roots", value=(*roots, name)))


def notes_dialog(desk: Desk) -> None:
    """Choose a folder of notes. Sends ChangeProjectSetting."""
    start = desk.state.config.project.root
    picked = desk.ui.file_dialog("notes folder", tr("Add a folder of notes"), start=start, picks="folder")
    if picked is None:
        return
    desk.view.dialog = None
    for path in picked:
        add_folder(desk, path)


# The index in the Retrieval panel: what it holds, when it was brought up to date, what it is made with,
# notes' index files.

# Routers of the notes in the Retrieval panel: each is read there, opened in an editor, or put into the
# preset.


def router_rows(desk: Desk, report: NavigationReport) -> None:
    """Draw a row for each folder of notes, with its router below it where it is unfolded. Sends ChangePreset, CreatePreset."""
    for router in report.routers:
        _row(desk, router)


def _row(desk: Desk, router: Router) -> None:
    ui, own = desk.ui, desk.view.of(RetrievalView)
    inside = project_path(router.path, desk.state.config.project.root)
    key = ("router", router.path, "")
    is_open = key in own.unfolded
    with ui.row(("router", router.path), gap=4):
        ui.text("path", inside, style="small", width=0, wraps=True)
        tip = (
            tr("Hide {inside}", inside=inside)
            if is_open
            else tr("Read {inside}: a model sees this file first", inside=inside)
        )
        if ui.button(
            "read", "", icon="chevron-up" if is_open else "book-open", kind="ghost", is_small=True, tip=tip
        ):
            own.unfolded.symmetric_difference_update({key})
        _add_button(desk, inside)
        file_button(ui, router.path)
    if is_open:
        with ui.surface(("text", router.path), "card", padding=(12, 8)):
            ui.markdown("text", router.text)


def _add_button(desk: Desk, path: str) -> None:
    preset = selection.active_preset(desk.state)
    is_in = preset is not None and any(item.path == path for item in preset.items)
    where = f"“{preset.name}”" if preset is not None else tr("a new preset")
    tip = (
        tr("Already in the preset")
        if is_in
        else tr("Add {path} to {preset}, so that a model without tools can read it", path=path, preset=where)
    )
    if desk.ui.button("add", "", icon="file-circle-plus", kind="ghost", is_small=True, tip=tip,
                      is_enabled=not is_in and desk.summary is not None):  # fmt: skip
        add_items(desk, preset, (FileItem(path=path),))


SHOWN = 5


def index_section(desk: Desk) -> None:
    """Draw it. Sends UpdateIndex, CheckNavigation, BuildNavigation, ChangeProjectSetting."""
    ui = desk.ui
    ask_to_look(desk)
    _state(desk)
    with ui.group("sources", gap=8):
        ui.text("title", tr("Searched sources"), style="strong")
        with ui.surface("card", "card", padding=(12, 10)), ui.group("lines", gap=8):
            corpora_rows(desk)
            ui.divider("folders line")
            notes_rows(desk)
    _navigation(desk)
    _engine(desk)
    _passed_over(desk)
    _left_out(desk)


def _state(desk: Desk) -> None:
    ui, retrieval = desk.ui, desk.state.retrieval
    report, is_running = retrieval.report, retrieval.progress is not None
    with ui.surface("state", "card", padding=(12, 10)), ui.group("lines", gap=8):
        with ui.row("head"):
            ui.icon("icon", "circle-check" if report is not None and not retrieval.problem else "circle-dot",
                    tone="ok" if report is not None and not retrieval.problem else "muted")  # fmt: skip
            said = whole_words(report.counts) if report is not None else tr("The index is empty")
            ui.text("what", said, style="strong", width=0, wraps=True)
        if report is not None and not report.stopped and retrieval.indexed_at is not None:
            at = fmt.moment(retrieval.indexed_at, desk.state.now)
            text = tr("Up to date {at} · {report}", at=at, report=run_words(report))
            ui.text("when", text, tone="muted", style="small", wraps=True)
        with ui.row("acts"):
            if ui.button("update", tr("Update now"), icon="arrows-rotate", is_small=True, is_enabled=not is_running,
                         tip=tr("Read new and changed files")):  # fmt: skip
                desk.send(UpdateIndex())
            if ui.button("anew", tr("Rebuild"), kind="ghost", is_small=True, is_enabled=not is_running,
                         tip=tr("Delete the index and build it again from the files. You lose only time")):  # fmt: skip
                desk.send(UpdateIndex(is_anew=True))
            ui.push()
            if ui.button("off", tr("Turn off"), kind="ghost", is_small=True,
                         is_enabled=not is_locked(desk.state.config.project),
                         tip=tr("Turns search off in this project; the index stays until you delete it")):  # fmt: skip
                desk.send(ChangeProjectSetting(key="retrieval.enabled", value=False))


def _navigation(desk: Desk) -> None:
    """Index files of notes: how many are up to date, which are stale or left over, and mending them."""
    ui, retrieval = desk.ui, desk.state.retrieval
    if retrieval.asked is None or Corpus.NOTES not in retrieval.asked.corpora:
        return
    report = retrieval.navigation
    with ui.group("navigation", gap=8):
        ui.text("title", tr("Lists of your notes (index.md)"), style="strong", tip=tr("The index.md of a folder lists its notes. The topmost index.md lists the folders. A model reads these lists before it searches"))  # fmt: skip
        with ui.surface("card", "card", padding=(12, 10)), ui.group("lines", gap=6):
            if report is None:
                ui.text(
                    "what",
                    tr("The program has not checked the index.md files yet."),
                    tone="muted",
                    style="small",
                )
            else:
                _navigation_lines(ui, report, desk.state.config.project.root)
                router_rows(desk, report)
            is_free = retrieval.progress is None
            with ui.row("acts"):
                needs = report is not None and bool(report.stale or report.orphans)
                if ui.button("build", tr("Build"), icon="hammer", kind="primary" if needs else "plain", is_small=True,
                             is_enabled=is_free,
                             tip=tr("Write missing and outdated index.md files, remove leftover ones")):  # fmt: skip
                    desk.send(BuildNavigation())
                if ui.button("check", tr("Check"), kind="ghost", is_small=True, is_enabled=is_free,
                             tip=tr("Check whether the index.md files fit the notes; nothing is written")):  # fmt: skip
                    desk.send(CheckNavigation())


def _navigation_lines(ui: Ui, report: NavigationReport, root: str) -> None:
    said = [tr("{fresh:,} up to date", fresh=report.fresh)]
    said += [tr("{stale:,} outdated", stale=len(report.stale))] if report.stale else []
    said += [tr("{orphans:,} left over", orphans=len(report.orphans))] if report.orphans else []
    is_well = not report.stale and not report.orphans
    ui.text("what", ", ".join(said), tone="ok" if is_well else "warn", style="small_strong", wraps=True)
    kinds: tuple[tuple[str, Sequence[str], Tone], ...] = (
        (tr("outdated"), report.stale, "warn"),
        (tr("left over"), report.orphans, "warn"),
        (tr("your own"), report.own, "muted"),
    )
    named = [(kind, path, tone) for kind, paths, tone in kinds for path in paths]
    for kind, path, tone in named[:SHOWN]:
        with ui.row((kind, path)):
            ui.text("path", project_path(path, root), tone="muted", style="small", width=0, wraps=True)
            ui.text("name", kind, tone=tone, style="small")
    if len(named) > SHOWN:
        ui.text(
            "more",
            tr("and {named:,} more of the index files", named=len(named) - SHOWN),
            tone="muted",
            style="small",
        )
    for index, problem in enumerate(report.problems[:SHOWN]):
        ui.text(("problem", index), f"{problem.rstrip('.')}.", tone="warn", style="small", wraps=True)


def _engine(desk: Desk) -> None:
    """Maker of vectors, and where the index lies."""
    ui, settings, retrieval = desk.ui, desk.state.config.settings.retrieval, desk.state.retrieval
    report = retrieval.report
    with ui.group("engine", gap=8):
        ui.text("title", tr("Search method"), style="strong")
        with ui.surface("card", "card", padding=(12, 10)), ui.group("lines", gap=6):
            _pair(ui, "vectors", tr("Meaning"), embedder_words(desk))
            if report is not None and report.no_vectors:
                with ui.row("no vectors"):
                    ui.icon("icon", "triangle-exclamation", tone="warn")
                    text = tr("By words only for now: {reason}.", reason=report.no_vectors.rstrip("."))
                    ui.text("text", text, tone="warn", style="small", wraps=True)
            _pair(
                ui,
                "place",
                tr("Index"),
                tr("On this machine")
                if not settings.server
                else tr("On this machine and on {server}", server=server_name(settings.server)),
            )
            if report is not None and report.server:
                with ui.row("server"):
                    ui.icon("icon", "triangle-exclamation", tone="warn")
                    text = tr(
                        "The index on the server is outdated, so the index on this machine answers: {reason}.",
                        reason=report.server.rstrip("."),
                    )
                    ui.text("text", text, tone="warn", style="small", wraps=True)


def embedder_words(desk: Desk) -> str:
    """Name of what makes vectors, and where it runs."""
    settings = desk.state.config.settings.retrieval
    if not settings.embedder:
        return tr("Made by the built-in embedding model, on this machine")
    server = desk.state.config.settings.servers.get(settings.embedder)
    label = server.label if server is not None else settings.embedder
    return tr(
        "Made by {model} on {server}",
        model=settings.embedding_model or tr("its own model"),
        server=label or settings.embedder,
    )


def _pair(ui: Ui, key: str, label: str, value: str) -> None:
    with ui.row(key):
        ui.text("label", label, tone="muted", style="small", width=64)
        ui.text("value", value, style="small", wraps=True)


def _passed_over(desk: Desk) -> None:
    report: IndexReport | None = desk.state.retrieval.report
    if report is None or not report.passed_over:
        return
    ui = desk.ui
    with ui.group("passed over", gap=6):
        ui.text(
            "title",
            tr(
                "{passed_over} skipped or partly read",
                passed_over=fmt.count(len(report.passed_over), tr("file"), tr("files")),
            ),
            style="strong",
        )
        for index, (path, reason) in enumerate(report.passed_over[:SHOWN]):
            text = f"{one_line(path, 120)}: {retold(reason)}"
            ui.text(("file", index), text, tone="muted", style="small", wraps=True)
        if len(report.passed_over) > SHOWN:
            ui.text(
                "more",
                tr("and {passed_over:,} more of these files", passed_over=len(report.passed_over) - SHOWN),
                tone="muted",
                style="small",
            )


def _left_out(desk: Desk) -> None:
    report: IndexReport | None = desk.state.retrieval.report
    if report is not None and report.left_out:
        said = tr("Not read among the notes: {kinds}", kinds=left_out_text(report.left_out))
        desk.ui.text("left out", said, tone="muted", style="small", wraps=True)


# The run that keeps the search index: how far it is, how it waits, stops and begins, and what stands in its
# way.


def progress_card(desk: Desk) -> None:
    """Draw the run under way, else what went wrong; nothing where all is well. Sends PauseIndexing, CancelIndexing, UpdateIndex."""
    retrieval = desk.state.retrieval
    if retrieval.progress is not None:
        _running(desk)
    elif retrieval.problem:
        _problem(desk, retrieval.problem, retrieval.remedy)


def _running(desk: Desk) -> None:
    ui, retrieval = desk.ui, desk.state.retrieval
    progress = retrieval.progress
    assert progress is not None
    with ui.surface("run", "card", padding=(12, 8)), ui.group("lines", gap=6):
        said = progress_words(progress, is_paused=retrieval.is_paused)
        ui.text("phase", said, style="small_strong", wraps=True)
        ui.progress("bar", progress_share(progress), tone="accent", height=4)
        if progress.doing:
            doing = doing_words(desk.state, progress)
            ui.text("doing", doing, tone="muted", style="small", width=0, tip=doing)
        with ui.row("acts"):
            label = tr("Continue") if retrieval.is_paused else tr("Pause")
            icon = "play" if retrieval.is_paused else "pause"
            if ui.button("pause", label, icon=icon, kind="ghost", is_small=True):
                desk.send(PauseIndexing(not retrieval.is_paused))
            tip = tr(
                "Indexing stops after the current file. The program keeps finished work; the next run continues there"
            )
            if ui.button("cancel", tr("Cancel"), icon="stop", kind="ghost", is_small=True, tip=tip):
                desk.send(CancelIndexing())


def _problem(desk: Desk, problem: str, remedy: str) -> None:
    ui = desk.ui
    with ui.surface("problem", "card", padding=(12, 8)), ui.group("lines", gap=4):
        with ui.row("what"):
            ui.icon("icon", "triangle-exclamation", tone="warn")
            ui.text("text", f"{problem.rstrip('.')}.", style="small_strong", wraps=True, width=0)
            if ui.button("again", tr("Update now"), icon="arrows-rotate", kind="ghost", is_small=True):
                desk.send(UpdateIndex())
        if remedy:
            ui.text("remedy", f"{remedy.rstrip('.')}.", tone="muted", style="small", wraps=True)
