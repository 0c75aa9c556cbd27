"""Folders that may be searched: links resolved first, then judged by the project's root and the person's allowed roots."""

from __future__ import annotations

import os

from core.context.places import is_inside
from core.values.retrieval import AskedPlaces, Corpus, SearchPlaces

_NO_TEXT = "the path of this folder is no text in UTF-8"


def judge(asked: AskedPlaces) -> SearchPlaces:
    """Look at each folder that is named. One that lies elsewhere, or is no folder, does not count and is said."""
    bounds = [os.path.realpath(path) for path in (asked.project, *asked.allowed) if path]
    notes: list[str] = []
    problems: list[str] = []
    for name in asked.roots if Corpus.NOTES in asked.corpora else ():
        path = os.path.realpath(os.path.join(asked.project or os.curdir, os.path.expanduser(name)))
        if not any(is_inside(path, bound) for bound in bounds):
            problems.append(
                f"{name}: it lies outside the project and its allowed roots; add it to `allowed_roots`"
            )
        elif not os.path.isdir(path):
            problems.append(f"{name}: there is no such folder")
        elif not _is_text(path):
            problems.append(f"{name}: {_NO_TEXT}")
        else:
            notes.append(path)
    project = os.path.realpath(asked.project) if asked.project and Corpus.PROJECT in asked.corpora else ""
    if not _is_text(project):
        problems.append(f"the project: {_NO_TEXT}")
        project = ""
    return SearchPlaces(tuple(dict.fromkeys(notes)), project, asked.corpora, tuple(problems), asked.shown)


def _is_text(path: str) -> bool:
    """True if a path can be kept in an index. A name on disk may be any bytes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
