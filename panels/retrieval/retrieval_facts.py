"""Words and figures of retrieval, pure: corpora, scores, places of hits, and what a run does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from core.kernel import figures as fmt
from core.kernel.frame import one_line
from core.kernel.language import tr
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
    Corpus.DISCUSSIONS: tr("Earlier messages of you and the models, in every discussion of this home"),
    Corpus.PROJECT: tr("The project's own files, without those that .gitignore leaves out"),
}
MODE_WORDS = {
    SearchMode.HYBRID: tr("By words and by meaning"),
    SearchMode.KEYWORD: tr("By words only"),
    SearchMode.NAVIGATION_ONLY: tr("By titles, tags and descriptions only"),
    SearchMode.OFF: tr("Nothing is searched"),
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
    """Scores of a hit by retriever: `Words 0.61 · Meaning 0.92`; a dash for one that did not find it."""
    if hit.found_by == (Retriever.NAVIGATION,):
        return tr("Title and tags {score:.2f}", score=hit.score)
    return tr("Words {keyword} · Meaning {vector}", keyword=_score(hit.keyword), vector=_score(hit.vector))


def found_by_words(hit: SearchHit) -> str:
    """Retrievers that found a hit, as a sentence."""
    return tr("Found by {value}.", value=tr(" and by ").join(_RETRIEVER_WORDS[one] for one in hit.found_by))


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
        of = tr(" of {bare:,}", bare=progress.bare) if progress.bare else ""
        return tr("Making vectors: {vectors:,}{of}", vectors=progress.vectors, of=of)
    if not progress.total:
        return tr("Looking at files")
    return tr(
        "Reading: {files:,} of {total}",
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
            "{files} in the index, {read:,} read just now",
            files=fmt.count(files, tr("file"), tr("files")),
            read=report.read,
        )
    said = [
        tr("{read} read", read=fmt.count(report.read, tr("file"), tr("files"))),
        tr("{unchanged:,} unchanged", unchanged=report.unchanged),
    ]
    said += [tr("{removed:,} removed", removed=report.removed)] if report.removed else []
    said += (
        [tr("{vectors} made", vectors=fmt.count(report.vectors, tr("vector"), tr("vectors")))]
        if report.vectors
        else []
    )
    return ", ".join(said)
