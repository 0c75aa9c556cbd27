"""Words and figures of retrieval, pure: corpora, scores, places of hits, and what a run does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import (
    ChunkKind,
    Corpus,
    CorpusCount,
    IndexProgress,
    IndexReport,
    Retriever,
    SearchAnswer,
    SearchHit,
    SearchMode,
)
from core.kernel.values.state import AppState
from core.kernel.words import STOP_WORDS
from core.retrieval.retrieval_report import person_path

CORPUS_WORDS: dict[Corpus, tuple[str, str]] = {
    Corpus.NOTES: ("Notes", "file-lines"),
    Corpus.KNOWLEDGE: ("Knowledge", "lightbulb"),
    Corpus.DISCUSSIONS: ("Past discussions", "comments"),
    Corpus.PROJECT: ("Project files", "file-code"),
}
"""Name and icon."""

ABOUT_CORPUS = {
    Corpus.NOTES: "Markdown and text files in the folders that you name below",
    Corpus.KNOWLEDGE: "What harvests and you have kept: category files, notes on files, structured facts",
    Corpus.DISCUSSIONS: "What you and models said before, in every discussion of this home",
    Corpus.PROJECT: "The project's own files, but for what .gitignore leaves out",
}
MODE_WORDS = {
    SearchMode.HYBRID: "By words and by meaning",
    SearchMode.KEYWORD: "By words alone",
    SearchMode.NAVIGATION_ONLY: "By titles, tags and descriptions alone",
    SearchMode.OFF: "Nothing is searched",
}
SERVER_AWAY = "In the index on this machine"
"""Mark of an answer by words and by meaning from which nothing but a server is missing."""
IN_PART = "By words, and by meaning in part"
"""Mark of an answer while some passages wait for their vectors."""
_RETRIEVER_WORDS = {
    Retriever.KEYWORD: "its words",
    Retriever.VECTOR: "its meaning",
    Retriever.NAVIGATION: "its title, tags or description",
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


def snippet(text: str, terms: Iterable[str], most_chars: int = SNIPPET_CHARS) -> str:
    """Part of a passage around the first of its marked words, on one line; its beginning where it has none."""
    flat = " ".join(text.split())
    folded = flat.lower()
    places = [at for term in terms if (at := folded.find(term.lower())) >= 0]
    start = max(0, min(places, default=0) - BEFORE_CHARS)
    if len(flat) - start < most_chars:
        start = max(0, len(flat) - most_chars)
    start = flat.rfind(" ", 0, start) + 1 if start else 0
    cut = one_line(flat[start:], most_chars)
    return f"… {cut}" if start else cut


def lines_words(corpus: Corpus, lines: LineRange) -> str:
    """Place of a passage in its source: `line 3`, `lines 3 to 9`; of a discussion `message 3`."""
    if corpus is Corpus.DISCUSSIONS:
        return f"message {lines.first:,}"
    if lines.first == lines.last:
        return f"line {lines.first:,}"
    return f"lines {lines.first:,} to {lines.last:,}"


def source_title(state: AppState, corpus: Corpus, path: str, title: str) -> str:
    """Title of a source as a person knows it; a discussion's name, and no id."""
    if corpus is not Corpus.DISCUSSIONS:
        return title or path
    row = state.discussions.summaries.get(path)
    return row.meta.name if row is not None else "A discussion that is gone"


def hit_place(state: AppState, hit: SearchHit) -> str:
    """Line below a hit's title: path, lines, section, day."""
    root, words = state.config.project.root, CORPUS_WORDS[hit.corpus][0].lower()
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
    """Scores of a hit by retriever: `Words 0.61 · Meaning 0.92`; a dash for one that did not find it."""
    if hit.found_by == (Retriever.NAVIGATION,):
        return f"Title and tags {hit.score:.2f}"
    return f"Words {_score(hit.keyword)} · Meaning {_score(hit.vector)}"


def found_by_words(hit: SearchHit) -> str:
    """Retrievers that found a hit, as a sentence."""
    return f"Found by {' and by '.join(_RETRIEVER_WORDS[one] for one in hit.found_by)}."


def _score(value: float) -> str:
    return "–" if value < 0 else f"{value:.2f}"


def degraded_words(answer: SearchAnswer) -> tuple[str, str]:
    """Mark of an answer that is not the whole one, and why; both empty where it is."""
    if not answer.degraded:
        return "", ""
    reason = answer.reason.rstrip(".")
    mark = MODE_WORDS[answer.mode]
    if answer.mode is SearchMode.HYBRID:
        mark = SERVER_AWAY if answer.is_of_this_machine else IN_PART
    return f"{mark}.", ". ".join(filter(None, (reason, answer.remedy.rstrip(".")))) + "."


def found_words(answer: SearchAnswer) -> str:
    """Number of hits and how they were found."""
    if not answer.hits:
        return f"Nothing found for “{one_line(answer.query, 60)}”."
    several = fmt.count(len(answer.hits), "source")
    return f"{several} for “{one_line(answer.query, 60)}” · {MODE_WORDS[answer.mode].lower()} · {_took(answer.took_s)}"


def _took(took_s: float) -> str:
    return fmt.span(took_s) if took_s >= 1 else f"{max(1, round(took_s * 1_000))} ms"


def count_words(counted: CorpusCount) -> str:
    """Content of a corpus: files and passages, and how many of them wait for a vector."""
    said = [fmt.count(counted.files, "file" if counted.corpus is not Corpus.DISCUSSIONS else "discussion")]
    said += [fmt.count(counted.chunks, "passage")] if counted.chunks else []
    if counted.bare:
        said.append(
            f"{counted.bare:,} without a vector" if counted.bare < counted.chunks else "no vectors yet"
        )
    return " · ".join(said)


def whole_words(counts: Iterable[CorpusCount]) -> str:
    """Content of the whole index."""
    files, chunks = sum(one.files for one in counts), sum(one.chunks for one in counts)
    return f"{fmt.count(chunks, 'passage')} of {fmt.count(files, 'source')}"


def progress_words(progress: IndexProgress, *, is_paused: bool) -> str:
    """Progress of a run: its step and its share of the work."""
    if is_paused:
        return "Paused"
    if progress.vectors or (progress.total and progress.files >= progress.total):
        of = f" of {progress.bare:,}" if progress.bare else ""
        return f"Making vectors: {progress.vectors:,}{of}"
    if not progress.total:
        return "Looking at files"
    return f"Reading: {progress.files:,} of {fmt.count(progress.total, 'file')}"


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
        return f"{fmt.count(files, 'file')} in the index, {report.read:,} read just now"
    said = [f"{fmt.count(report.read, 'file')} read", f"{report.unchanged:,} unchanged"]
    said += [f"{report.removed:,} removed"] if report.removed else []
    said += [f"{fmt.count(report.vectors, 'vector')} made"] if report.vectors else []
    return ", ".join(said)
