"""Retrieval decided as data: what a command begins, what an event leaves, and what counts where settings are not known."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import (
    ANSWERS_KEPT,
    AskedPlaces,
    ChunkKind,
    Corpus,
    IndexProgress,
    IndexReport,
    NavigationReport,
    RetrievalState,
    SearchAnswer,
    SearchFilters,
    SearchHit,
    SearchPlaces,
    SourcesPreview,
)
from core.kernel.values.settings import AskedValue
from core.kernel.values.state import AppState
from core.kernel.values.updates import outcome_of
from core.retrieval import retrieval_step
from core.retrieval.retrieval_messages import (
    BuildNavigation,
    CheckNavigation,
    IndexEnded,
    LookAtSources,
    NavigationSurveyed,
    PauseIndexing,
    SearchAnswered,
    SearchMemory,
    SourcesFound,
)
from core.retrieval.retrieval_report import answer_text, server_name
from core.services.settings.settings_rules import asked_places
from tests.panels import states
from tests.state_fields import with_fields

ROOT = states.working().config.project.root


def _on(*, is_on: bool = True) -> AppState:
    state = states.working()
    settings = state.config.settings
    retrieval = replace(settings.retrieval, enabled=is_on, roots=("notes",))
    return with_fields(state, settings=replace(settings, retrieval=retrieval))


def test_a_look_covers_every_corpus_whether_retrieval_is_on_or_not() -> None:
    state, (effect,) = retrieval_step.HANDLERS(_on(is_on=False), LookAtSources())

    assert isinstance(effect, LookAtSources)
    assert (effect.asked.corpora, effect.asked.roots) == (tuple(Corpus), ("notes",))
    preview = SourcesPreview(SearchPlaces())
    assert retrieval_step.HANDLERS(state, SourcesFound(preview))[0].retrieval.preview == preview


def test_index_files_are_checked_or_mended_within_the_project_and_its_allowed_folders() -> None:
    state = _on()
    project = replace(state.config.project, allowed_roots=("/notes",))
    state = with_fields(state, project=project)
    _, (check,) = retrieval_step.HANDLERS(state, CheckNavigation())
    after, (build,) = retrieval_step.HANDLERS(state, BuildNavigation())

    assert isinstance(check, CheckNavigation)
    assert isinstance(build, CheckNavigation)
    assert (check.mends, build.mends) == (False, True)
    assert check.around == build.around == (ROOT, "/notes")
    report = NavigationReport(3)
    assert retrieval_step.HANDLERS(after, NavigationSurveyed(report))[0].retrieval.navigation == report


def test_where_nobody_knows_what_counts_no_index_file_is_taken_for_left_over() -> None:
    state = _on()
    asked = (AskedValue(("settings", "retrieval.roots"), "x", "x"),)
    state = with_fields(state, project=replace(state.config.project, asked=asked))

    _, (effect,) = retrieval_step.HANDLERS(state, BuildNavigation())

    assert isinstance(effect, CheckNavigation)
    assert effect.around == ()


def test_a_check_while_retrieval_is_off_looks_for_what_is_left_over_alone() -> None:
    _, (effect,) = retrieval_step.HANDLERS(_on(is_on=False), CheckNavigation())

    assert isinstance(effect, CheckNavigation)
    assert effect.asked == AskedPlaces()


def test_each_who_asks_gets_the_answer_to_its_own_question() -> None:
    state = _on()
    for query in ("one", "two"):
        state, _ = retrieval_step.HANDLERS(
            state, SearchAnswered(SearchAnswer(query), SearchPlaces(), f"id-{query}")
        )
    state, _ = retrieval_step.HANDLERS(state, SearchAnswered(SearchAnswer("the window's"), SearchPlaces()))

    answers = [state.retrieval.answer_to(f"id-{name}") for name in ("one", "two", "three")]
    assert [answer.query if answer else None for answer in answers] == ["one", "two", None]
    assert state.retrieval.answer == SearchAnswer("the window's")
    for number in range(99):
        state, _ = retrieval_step.HANDLERS(
            state, SearchAnswered(SearchAnswer("q"), SearchPlaces(), f"{number}")
        )
    assert len(state.retrieval.answers) == ANSWERS_KEPT


def test_the_time_of_the_last_whole_run_stays_where_a_later_one_was_stopped() -> None:
    state, _ = retrieval_step.HANDLERS(_on(), IndexEnded(IndexReport(read=1), SearchPlaces()))
    stopped, _ = retrieval_step.HANDLERS(
        replace(state, now=None), IndexEnded(None, SearchPlaces(), "You stopped the run")
    )

    assert state.retrieval.indexed_at == states.NOW
    assert stopped.retrieval.indexed_at == states.NOW
    assert stopped.retrieval.report == IndexReport(read=1)


def test_a_pause_ends_with_its_run_and_holds_no_later_one() -> None:
    """It was asked for in the run's last moment: the worker that was told to wait would begin the next one with it."""
    paused, effects = retrieval_step.HANDLERS(
        replace(_on(), retrieval=RetrievalState(progress=IndexProgress())), PauseIndexing(is_paused=True)
    )
    assert effects == (PauseIndexing(is_paused=True),)
    ended, effects = retrieval_step.HANDLERS(paused, IndexEnded(IndexReport(), SearchPlaces()))
    assert (ended.retrieval.is_paused, effects) == (False, (PauseIndexing(is_paused=False),))
    assert retrieval_step.HANDLERS(ended, IndexEnded(IndexReport(), SearchPlaces()))[1] == ()


def test_what_lies_among_the_notes_is_told_on_after_a_run_that_did_not_look_there() -> None:
    def ended(state: AppState, report: IndexReport) -> AppState:
        return retrieval_step.HANDLERS(state, IndexEnded(report, SearchPlaces()))[0]

    def left_out(state: AppState) -> object:
        return None if state.retrieval.report is None else state.retrieval.report.left_out

    whole = ended(_on(), IndexReport(left_out=((".pdf", 2),)))
    for report in (IndexReport(is_part=True), IndexReport(stopped=True)):
        assert left_out(ended(whole, report)) == ((".pdf", 2),)
    assert left_out(ended(whole, IndexReport(is_part=True, left_out=()))) == ()
    assert left_out(ended(whole, IndexReport())) is None


def test_another_project_shows_no_answer_of_the_one_before() -> None:
    before = _on()
    asked = replace(before.retrieval, asked=asked_places(before), answer=SearchAnswer("a question"))
    before = replace(before, retrieval=asked)
    other = with_fields(before, project=replace(before.config.project, root="/home/person/other"))
    after, _ = retrieval_step.retrieval_effects(before, other, object())
    assert after.retrieval.asked == asked_places(other)
    assert after.retrieval.answer is None
    assert retrieval_step.retrieval_effects(before, before, object())[0].retrieval.answer is not None


def test_hits_in_discussions_have_the_names_that_these_have_now() -> None:
    state = _on()
    known = next(iter(state.discussions.summaries))
    hits = tuple(
        SearchHit(corpus, ChunkKind.CONVERSATION, path, path, LineRange(4, 4), "", "words", 1.0)
        for corpus, path in ((Corpus.DISCUSSIONS, known), (Corpus.DISCUSSIONS, "gone"), (Corpus.NOTES, known))
    )
    after, _ = retrieval_step.HANDLERS(state, SearchAnswered(SearchAnswer("q", hits), SearchPlaces()))
    assert after.retrieval.answer is not None
    name = state.discussions.summaries[known].meta.name
    assert [hit.title for hit in after.retrieval.answer.hits] == [name, "gone", known]
    assert f" 1. {name}, message 4  1.00" in answer_text(after.retrieval.answer)
    newer = replace(hits[0], newer=f"{known}:9")
    after, _ = retrieval_step.HANDLERS(state, SearchAnswered(SearchAnswer("q", (newer,)), SearchPlaces()))
    assert after.retrieval.answer is not None
    assert f"similar: {name}, message 9" in answer_text(after.retrieval.answer)


def test_a_file_s_name_makes_no_second_line() -> None:
    hit = SearchHit(
        Corpus.NOTES, ChunkKind.PROSE, "a\n 2. b.md", "A", LineRange(4, 4), "x\ny", "one\ntwo", 1.0
    )
    assert answer_text(SearchAnswer("q", (hit,))).splitlines() == [
        " 1. a\u240a 2. b.md:4 · x y  1.00 by ",
        "    one two",
    ]


def test_what_is_asked_for_is_text_that_an_index_can_be_asked_for() -> None:
    asked = SearchMemory("ti\0des\udcff", filters=SearchFilters(folder="\udcff", tag="a\0"))
    _, (effect,) = retrieval_step.HANDLERS(_on(), asked)
    assert isinstance(effect, SearchMemory)
    assert (effect.query, effect.filters.folder, effect.filters.tag) == ("tides\ufffd", "\ufffd", "a")


@pytest.mark.parametrize(
    ("asked", "remedy"),
    [
        ((), "Set `enabled = true`"),
        (
            (AskedValue(("settings", "retrieval.enabled"), "True", "retrieval.enabled = True"),),
            "manual-slop trust",
        ),
    ],
)
def test_where_it_is_off_the_remedy_is_what_is_missing(asked: tuple[AskedValue, ...], remedy: str) -> None:
    state = _on(is_on=False)
    state = with_fields(state, project=replace(state.config.project, asked=asked))

    after, effects = retrieval_step.HANDLERS(state, SearchMemory("tides", command_id="c"))

    assert effects == ()
    assert remedy in after.program.outcomes[-1].remedy


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("postgresql://me:secret@db.example:5433/notes", "db.example/notes"),
        ("postgresql:///notes?host=/run/postgresql", "localhost/notes"),
        ("postgresql://me@%2Frun%2Fpostgresql/notes", "localhost/notes"),
        ("postgresql:///notes?host=db.example", "db.example/notes"),
        ("postgresql://[/notes", "a server"),
    ],
)
def test_a_server_is_named_without_a_person_and_one_behind_a_socket_is_of_this_machine(
    url: str, name: str
) -> None:
    assert server_name(url) == name


@pytest.mark.parametrize(
    ("wrong", "other"),
    [
        (SearchFilters(after="last week"), SearchFilters(after=" 20260131")),
        (SearchFilters(before="last week"), SearchFilters(before="20260131")),
    ],
)
def test_a_day_that_is_none_is_said_and_one_in_another_form_is_taken(
    wrong: SearchFilters, other: SearchFilters
) -> None:
    refused, effects = retrieval_step.HANDLERS(_on(), SearchMemory("tides", filters=wrong, command_id="c"))
    outcome = outcome_of(refused, "c")
    assert outcome is not None
    assert (effects, outcome.problem, outcome.remedy) == (
        (),
        "'last week' is not a day",
        retrieval_step.DAY_REMEDY,
    )

    _, (effect,) = retrieval_step.HANDLERS(_on(), SearchMemory("tides", filters=other))
    assert isinstance(effect, SearchMemory)
    assert effect.filters.after + effect.filters.before == "2026-01-31"
