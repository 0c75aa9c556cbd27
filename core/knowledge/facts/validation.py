"""Validation of all files of facts: every rule, with file and line; nothing is written."""

from __future__ import annotations

from pathlib import Path

from core.kernel.values.facts import FactProblem
from core.knowledge.facts.fact_checks import id_parts
from core.knowledge.facts.fact_file import FactFile, broken, parse_file
from core.knowledge.facts.fact_files import read_files, read_index_bytes
from core.knowledge.facts.fact_index import checked_index
from core.knowledge.facts.fact_merge import FactUnion, united
from core.knowledge.facts.places import place_of


def validate(home: Path) -> tuple[FactProblem, ...]:
    """Check every file of facts and the index against the rules of `SCHEMA.md`. O(bytes).

    Returns:
        Everything that is wrong, by file and line; warnings among it.

    Raises:
        StorageError: a folder or the index cannot be read.
    """
    stored = read_files(home)
    files = []
    for name, file in stored.files.items():
        place = place_of(name)
        assert place is not None
        files.append(broken(place, 1, file.problem) if file.problem else parse_file(place, file.data))
    union = united(files)
    found = [problem for file in files for problem in file.problems]
    found += [*stored.problems, *union.doubled, *checked_index(read_index_bytes(home)).problems]
    found += [problem for file in files for problem in unknown_relations(file, union)]
    return tuple(sorted(found, key=lambda one: (one.file, one.line, one.text)))


def unknown_relations(file: FactFile, union: FactUnion) -> list[FactProblem]:
    """Warnings of relations to facts that are not there."""
    return [
        FactProblem(
            file=file.place.name,
            line=item.line,
            text=f"related names {one}, which is not there",
            is_warning=True,
        )
        for item in file.items
        if item.fact is not None and item.fact.related
        for one in item.fact.related
        if one not in union.ids and id_parts(one) is not None
    ]
