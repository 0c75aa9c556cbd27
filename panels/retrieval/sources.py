"""Sources of a search: what is read once it is switched on, ticked by the person, and why a folder does not count."""

from __future__ import annotations

from collections.abc import Mapping

from core.kernel.frame import one_line
from core.kernel.values.retrieval import Corpus, CorpusCount
from core.kernel.values.settings import Project
from core.services.settings.asked_values import may_not_write
from core.services.settings.settings_messages import ChangeProjectSetting
from panels.base.desk import Desk, run_action
from panels.base.view import Dialog
from panels.retrieval import retrieval_facts

COUNT_INDENT_PX = 27.0
"""Indent of a checkbox's label."""

BOUNDS = (
    "A folder counts inside the project, or inside a folder that you allowed it. Whatever a stranger's "
    "manual_slop.toml names, nothing outside of them is read."
)


def off_section(desk: Desk) -> None:
    """Draw what retrieval is, what it would read here, and the switch. Sends ChangeProjectSetting."""
    ui = desk.ui
    ui.text("title", "Search is off in this project", style="h3", wraps=True)
    ui.text("what", "Switched on, you find again what you wrote and what was said, by its words and by its meaning. An index "
            "of what you tick is kept on this machine; no other program gets it, and it can be deleted at any time. "
            "Folders of notes get an index.md each, and the project's manual_slop.toml keeps what you choose; nothing else "
            "is written.",
            tone="muted", wraps=True)  # fmt: skip
    if not _can_write(desk):
        return
    with ui.surface("reads", "card", padding=(12, 10)), ui.group("lines", gap=8):
        ui.text("title", "It would read", style="small_strong")
        corpora_rows(desk)
        ui.divider("folders line")
        notes_rows(desk)
    with ui.row("switch"):
        if ui.button("on", "Switch on for this project", icon="power-off", kind="primary",
                     tip="Written to the project's manual_slop.toml"):  # fmt: skip
            desk.send(ChangeProjectSetting(key="retrieval.enabled", value=True))


def _can_write(desk: Desk) -> bool:
    """Say what must be done before the project's settings can be changed. True where nothing must."""
    ui, project = desk.ui, desk.state.config.project
    if not project.root:
        ui.text(
            "no project",
            "Open a project folder first: what is searched is a matter of each project.",
            wraps=True,
        )
        if ui.button("open", "Open project folder", icon="folder-open", is_small=True):
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
            text = "This folder's manual_slop.toml asks for things that you have not seen yet. Nothing of it counts before."
            ui.text("text", text, wraps=True, width=0)
        if ui.button("look", "Look at what it asks for", kind="primary", is_small=True):
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
    for corpus, (name, _) in retrieval_facts.CORPUS_WORDS.items():
        is_ticked = corpus.value in settings.corpora
        with ui.group(("corpus", corpus.value), gap=2):
            ticked = ui.checkbox(
                "on", name, is_ticked, is_enabled=can, tip=retrieval_facts.ABOUT_CORPUS[corpus]
            )
            counted = counts.get(corpus)
            if counted is not None and (is_ticked or not is_on):
                with ui.row("count", gap=0):
                    ui.gap(COUNT_INDENT_PX)
                    ui.text(
                        "count", retrieval_facts.count_words(counted), tone="muted", style="small", wraps=True
                    )
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
        ui.text("title", "Folders of notes", style="small_strong", width=0, tip=BOUNDS)
        if ui.button("browse", "", icon="folder-plus", kind="ghost", is_small=True, is_enabled=can,
                     tip="Add a folder of notes…"):  # fmt: skip
            desk.view.dialog = Dialog(kind="notes_folder")
    for name in settings.roots:
        with ui.row(("folder", name)):
            ui.icon("icon", "folder", tone="muted")
            ui.text("name", name, style="mono_small", width=0, tip=name)
            if ui.button("remove", "", icon="xmark", kind="ghost", is_small=True, is_enabled=can,
                         tip=f"Do not read {name}"):  # fmt: skip
                kept = tuple(one for one in settings.roots if one != name)
                desk.send(ChangeProjectSetting(key="retrieval.roots", value=kept))
    if not settings.roots:
        ui.text(
            "none",
            "None yet: name one that holds Markdown or text files.",
            tone="muted",
            style="small",
            wraps=True,
        )
    typed = ui.text_input("add", "", hint="A folder, such as notes", icon="plus", width=0, submits=True,
                          is_enabled=can, tip="Add a folder of notes")  # fmt: skip
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
    picked = desk.ui.file_dialog("notes folder", "Add a folder of notes", start=start, picks="folder")
    if picked is None:
        return
    desk.view.dialog = None
    for path in picked:
        add_folder(desk, path)
