"""What begins a run of the index: events that say that files changed, each for its own corpora, and nothing of our own."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from core.app.lifecycle import watch_effects
from core.kernel.values.retrieval import AskedPlaces, Corpus, RetrievalState, SearchPlaces
from core.kernel.values.settings import RetrievalSettings
from core.kernel.values.state import AppState
from core.kernel.values.updates import PathsChanged, Watched
from core.retrieval import retrieval_step
from core.retrieval.navigation import MARKER
from core.retrieval.retrieval_messages import (
    CancelIndexing,
    IndexEnded,
    UpdateIndex,
)
from core.retrieval.retrieval_worker import IndexHandler
from core.retrieval.sources import find_sources, wakes_index

ASKED = AskedPlaces(("notes",), "/home/person", corpora=(Corpus.NOTES, Corpus.KNOWLEDGE, Corpus.DISCUSSIONS))


@pytest.fixture
def state() -> AppState:
    return replace(AppState(), retrieval=RetrievalState(ASKED))


def begun(state: AppState, happened: object) -> tuple[Corpus, ...] | None:
    """Corpora of the run that an event begins, None where it begins none."""
    after, effects = retrieval_step.retrieval_effects(state, state, happened)
    if not effects:
        assert after is state
        return None
    (run,) = effects
    assert isinstance(run, UpdateIndex)
    assert run.asked == ASKED
    assert after.retrieval.progress is not None
    return run.only


def test_each_event_brings_its_own_corpora_as_far_as_they_are_searched(state: AppState) -> None:
    assert begun(state, PathsChanged(Watched.SOURCES)) == (Corpus.NOTES,)
    assert begun(state, PathsChanged(Watched.KNOWLEDGE, ("a",))) == (Corpus.KNOWLEDGE,)
    assert begun(state, PathsChanged(Watched.DISCUSSIONS, ("a",))) == (Corpus.DISCUSSIONS,)
    assert begun(state, PathsChanged(Watched.CACHES, ("a",))) is None, "it holds no words"
    assert begun(state, IndexEnded(None, SearchPlaces())) is None
    assert begun(AppState(), PathsChanged(Watched.SOURCES)) is None, "retrieval is off"
    without = replace(ASKED, corpora=(Corpus.PROJECT,))
    assert (
        begun(replace(state, retrieval=RetrievalState(without)), PathsChanged(Watched.KNOWLEDGE, ())) is None
    )


def test_what_a_person_stopped_begins_again_when_it_is_asked_for(state: AppState) -> None:
    on = replace(state.config.settings, retrieval=RetrievalSettings(enabled=True))
    state = replace(state, config=replace(state.config, settings=on))
    assert retrieval_step.HANDLERS(state, CancelIndexing()) == (state, ()), "nothing runs"
    running, _ = retrieval_step.HANDLERS(state, UpdateIndex())
    stopped, effects = retrieval_step.HANDLERS(running, CancelIndexing())
    assert effects == (CancelIndexing(),)
    assert begun(stopped, PathsChanged(Watched.SOURCES)) is None
    asked, _ = retrieval_step.HANDLERS(stopped, UpdateIndex())
    assert begun(asked, PathsChanged(Watched.SOURCES)) == (Corpus.NOTES,)


def test_folders_that_a_run_looked_into_are_watched(state: AppState) -> None:
    ended, _ = retrieval_step.HANDLERS(
        state, IndexEnded(None, SearchPlaces(), folders=("/home/person/notes",))
    )
    (watch,) = watch_effects(state, ended)
    assert watch.source_folders == ("/home/person/notes",)
    again, _ = retrieval_step.HANDLERS(
        ended, IndexEnded(None, SearchPlaces(), folders=("/home/person/notes",))
    )
    assert watch_effects(ended, again) == ()
    other, _ = retrieval_step.HANDLERS(again, IndexEnded(None, SearchPlaces()))
    assert other.retrieval.folders == ("/home/person/notes",), "that run looked at none"


@pytest.mark.parametrize(
    ("new", "old", "is_needless"),
    [
        (UpdateIndex(asked=ASKED), UpdateIndex(asked=ASKED, only=(Corpus.NOTES,)), True),
        (
            UpdateIndex(asked=ASKED, only=(Corpus.NOTES,)),
            UpdateIndex(asked=ASKED, only=(Corpus.NOTES,)),
            True,
        ),
        (UpdateIndex(asked=ASKED, only=(Corpus.NOTES,)), UpdateIndex(asked=ASKED), False),
        (
            UpdateIndex(asked=ASKED, only=(Corpus.NOTES,)),
            UpdateIndex(asked=ASKED, only=(Corpus.KNOWLEDGE,)),
            False,
        ),
        (UpdateIndex(asked=ASKED), UpdateIndex(asked=ASKED, is_anew=True), False),
        (UpdateIndex(asked=ASKED, is_anew=True), UpdateIndex(asked=ASKED), True),
    ],
)
def test_a_run_that_waits_is_dropped_where_a_later_one_does_as_much(
    new: UpdateIndex, old: UpdateIndex, *, is_needless: bool
) -> None:
    assert IndexHandler.supersedes(new, old) is is_needless


def test_our_own_index_files_wake_nobody_and_a_person_s_do(tmp_path: Path) -> None:
    ours, own = tmp_path / "a" / "index.md", tmp_path / "b" / "index.md"
    for path, data in ((ours, MARKER + b"sha256:0 -->\n"), (own, b"# Mine\n")):
        path.parent.mkdir()
        path.write_bytes(data)
    assert not wakes_index(str(ours))
    assert wakes_index(str(own))
    assert wakes_index(str(tmp_path / "gone.md"))
    assert wakes_index(str(tmp_path / ".gitignore"))
    assert not wakes_index(str(tmp_path / ".note.md.swp"))


def test_folders_without_a_note_are_looked_into_and_those_that_git_leaves_out_are_not(tmp_path: Path) -> None:
    for name in ("empty", "deep/er", "out", ".hidden", "node_modules"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("out/\n")
    (found,) = find_sources(tmp_path, SearchPlaces((str(tmp_path),)), Corpus.NOTES)
    assert {path.removeprefix(str(tmp_path)) for path in found.folders} == {"", "/empty", "/deep", "/deep/er"}
