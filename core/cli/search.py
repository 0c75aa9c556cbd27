"""`search`: passages of notes, knowledge, past discussions and project files."""

from __future__ import annotations

from core.app.execution import act
from core.base.errors import SlopError
from core.cli.arguments import Options
from core.cli.output import Console
from core.cli.session import FrontEnd, session
from core.retrieval.messages import SearchMemory, UpdateIndex, UseMemoryTool
from core.retrieval.report import answer_data, answer_text, passed_over_text
from core.values.retrieval import Corpus, MemoryToolAnswer, SearchAnswer, SearchFilters

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
        tuple(Corpus(name) for name in given.corpus), given.folder, given.tag, given.after, given.before
    )
    with session(front, console):
        if not given.no_update:
            _update(front, console)
        if given.tool:
            used = UseMemoryTool(given.tool, " ".join(given.words))
            told = act(front, used, timeout_s=ANSWER_S).retrieval.tool_answer
            return _told(told or MemoryToolAnswer("", is_error=True), options, console)
        state = act(front, SearchMemory(" ".join(given.words), given.count, filters), timeout_s=ANSWER_S)
    answer = state.retrieval.answer or SearchAnswer("")
    places = state.retrieval.places
    for problem in places.problems if places is not None else ():
        console.note(f"manual-slop: {problem}")
    if options.is_json:
        console.json(answer_data(answer))
    else:
        console.write(answer_text(answer, state.config.project.root))
    return 0 if answer.hits else 1


def _update(front: FrontEnd, console: Console) -> None:
    """Bring the index up to date. Where it cannot be, what it holds answers, and that is said."""
    try:
        with console.waiting("Reading what changed"):
            report = act(front, UpdateIndex(), timeout_s=LONGEST_S).retrieval.report
    except SlopError as error:
        if front.snapshot().retrieval.asked is None:
            raise
        console.note(
            f"manual-slop: warning: the index is not up to date: {error.what}. {error.remedy}".rstrip()
        )
        return
    if report is not None and report.no_vectors:
        console.note(f"manual-slop: warning: passages lack their vectors: {report.no_vectors}")
    if report is not None and report.passed_over:
        console.note(f"manual-slop: note: not searched: {passed_over_text(report.passed_over)}")


def _told(told: MemoryToolAnswer, options: Options, console: Console) -> int:
    """Print the answer of a tool. 1 where it is an error."""
    if options.is_json:
        console.json({"text": told.text, "is_error": told.is_error})
    else:
        console.write(told.text if told.text.endswith("\n") else f"{told.text}\n")
    return 1 if told.is_error else 0
