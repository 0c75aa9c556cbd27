"""Words of searches and indexing runs for a person, and their plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from core.kernel.codecs import builtins_of
from core.kernel.figures import count, first_of
from core.kernel.frame import one_line
from core.kernel.language import all_of, as_sentences, joined, tr
from core.kernel.stored_texts import retold
from core.kernel.values.retrieval import Corpus, Recalled, SearchAnswer, SearchHit, SearchMode

SNIPPET_CHARS = 160
PASSED_OVER = 3
LEFT_OUT = 6

_DEGRADED = {
    SearchMode.HYBRID: tr("Found by keywords, and in part by meaning"),
    SearchMode.KEYWORD: tr("Found by keywords only"),
    SearchMode.NAVIGATION_ONLY: tr("Found by titles, tags and descriptions only"),
    SearchMode.OFF: tr("Search is off"),
}
"""Beginning of the sentence: what answered in place of the whole."""

_LINE_END = "\u240a"
"""For the line end in a file's name: no name makes a second line, which would read as another hit."""


def answer_data(answer: SearchAnswer) -> dict[str, Any]:
    """An answer as plain data: `--json` and `GET /api/search`."""
    data: dict[str, Any] = builtins_of(answer)
    return data


def answer_text(answer: SearchAnswer, project: str = "") -> str:
    """An answer as lines: place, scores, and the first words of the passage.

    Args:
        project: absolute root, from which a file's path is said; empty for none.
    """
    return "\n".join(_answer_lines(answer, project)) + "\n"


def place_text(hit: SearchHit, path: str = "") -> str:
    """Place of a hit as one writes it: path and lines; a discussion's turns, by its name where that is known.

    Args:
        path: in place of the one below its folder.
    """
    first, last, path = hit.lines.first, hit.lines.last, path or hit.path
    if hit.corpus is Corpus.DISCUSSIONS:
        return f"{hit.title or hit.path}, message {first}"
    return f"{path}:{first}" if first == last else f"{path}:{first}-{last}"


def person_path(hit: SearchHit, project: str) -> str:
    """Path of a hit's file as a person opens it, whichever folder it counts in: from the project's root where it lies
    there, else whole; of what belongs to the home, its name there.
    """
    if not hit.scope:
        return hit.path
    file = PurePath(hit.scope, hit.path)
    return (file.relative_to(project) if project and file.is_relative_to(project) else file).as_posix()


def hit_file(hit: SearchHit, home: str) -> str:
    """Absolute path of the file that a hit stands in; empty for a discussion, and where nobody knows its folder."""
    match hit.corpus:
        case Corpus.KNOWLEDGE:
            return str(PurePath(home, "knowledge", hit.path))
        case Corpus.DISCUSSIONS:
            return ""
        case _:
            return str(PurePath(hit.scope, hit.path)) if hit.scope else ""


def server_name(url: str) -> str:
    """Host and database of a server's address: no name of a person, no password. A socket is of this machine."""
    try:
        parts = urlsplit(url)
        host = unquote(parts.hostname or parse_qs(parts.query).get("host", [""])[-1])
        return f"{'localhost' if not host or host.startswith('/') else host}{parts.path}"
    except ValueError:
        return "a server"


def recalled_data(recalled: Recalled) -> dict[str, Any]:
    """Recall for a message as plain data, without its text."""
    data: dict[str, Any] = builtins_of(recalled)
    del data["text"]
    return data


def recalled_text(recalled: Recalled) -> str:
    """Recall for a message as lines, empty where there is none: what goes along, from where, and why."""
    lines = []
    if recalled.passages:
        lines.append(
            tr("Recalled for this message, about {tokens_est:,} tokens:", tokens_est=recalled.tokens_est)
        )
    for one in recalled.passages:
        about = " · ".join(filter(None, (one.place, one.date)))
        lines.append(f"  {about}: {one.why}")
    lines += [recalled.problem] if recalled.problem else []
    return "".join(f"{line}\n" for line in lines)


def degraded_text(answer: SearchAnswer) -> str:
    """Sentence about an answer that is not the whole one; empty where it is."""
    if not answer.degraded:
        return ""
    is_of_server = answer.mode is SearchMode.HYBRID and answer.is_of_this_machine
    begins = tr("Found in the index on this machine") if is_of_server else _DEGRADED[answer.mode]
    return joined(": ", (begins, as_sentences(answer.reason, answer.remedy))).rstrip()


def passed_over_text(files: Sequence[tuple[str, str]]) -> str:
    """Files that a run passed over or did not read whole, the first few with the reason."""
    said = [f"{one_line(path, SNIPPET_CHARS)} ({retold(reason)})" for path, reason in files]
    return first_of(said, PASSED_OVER)


def left_out_text(kinds: Sequence[tuple[str, int]]) -> str:
    """Files among the notes that are no notes, by kind: `12 .pdf, 3 .png`; empty where there are none."""
    said = [f"{number:,} {ending or tr('without an ending')}" for ending, number in kinds[:LEFT_OUT]]
    more = sum(number for _, number in kinds[LEFT_OUT:])
    return ", ".join((*said, count(more, tr("more file"), tr("more files"))) if more else said)


def newer_text(place: str) -> str:
    """Sentence about a passage that a newer one took the place of."""
    return tr("A newer passage says something similar: {newer}", newer=one_line(place, SNIPPET_CHARS))


def _answer_lines(answer: SearchAnswer, project: str) -> Iterator[str]:
    if said := degraded_text(answer):
        yield said
    if not answer.hits:
        yield tr("Nothing found for {query!r}.", query=answer.query)
    for number, hit in enumerate(answer.hits, 1):
        by = all_of(one.value for one in hit.found_by)
        where = f" · {one_line(hit.heading, 60)}" if hit.heading else ""
        place = place_text(hit, person_path(hit, project)).replace("\n", _LINE_END)
        yield tr(
            "{number:2}. {place}{where}  {score:.2f} by {by}",
            number=number,
            place=place,
            where=where,
            score=hit.score,
            by=by,
        )
        yield f"    {one_line(hit.text, SNIPPET_CHARS)}"
        if hit.newer:
            yield f"    {newer_text(hit.newer)}"
        for one in hit.also:
            first, last = one.lines.first, one.lines.last
            yield f"    {first if first == last else f'{first}-{last}'}: {one_line(one.text, SNIPPET_CHARS)}"
            if one.newer:
                yield f"    {newer_text(one.newer)}"
