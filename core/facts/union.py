"""Files of facts taken together: which facts count, which ids are broken, and what stands in two files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from core.facts.checks import id_parts
from core.facts.fact_file import FactFile, FactItem
from core.facts.places import FactPlace
from core.values.facts import Fact, FactProblem


class FactUnion(msgspec.Struct, frozen=True):
    """Several files as one.

    Args:
        facts: those that count, by id; names: the file of each; ids: every id that is named, broken ones too.
        broken: ids whose items are wrong; unsure: places of which it is not known what they hold.
        doubled: problems of ids that stand in two files.
    """

    facts: Mapping[str, Fact]
    names: Mapping[str, str]
    ids: frozenset[str]
    broken: frozenset[str] = frozenset()
    unsure: tuple[FactPlace, ...] = ()
    doubled: tuple[FactProblem, ...] = ()

    @property
    def domains(self) -> frozenset[str]:
        """Domains that the files hold."""
        return frozenset(fact.domain for fact in self.facts.values()) | {p.domain for p in self.unsure}

    def holds(self, fact_id: str) -> bool:
        """True if what was known of an id stays, since its item cannot be read now."""
        if fact_id in self.broken:
            return True
        parts = id_parts(fact_id) if self.unsure else None
        if parts is None:
            return False
        return any(place.domain == parts[0] and place.category in {None, parts[1]} for place in self.unsure)


def _twice(name: str, item: FactItem, other: str) -> FactProblem:
    said = f"the id {item.id} stands in {other} too; neither enters the index"
    return FactProblem(name, item.line, said)


def united(files: Iterable[FactFile]) -> FactUnion:
    """Take files together. An id that stands in two of them counts in neither. O(items)."""
    facts: dict[str, Fact] = {}
    names: dict[str, str] = {}
    wrong: set[str] = set()
    unsure: list[FactPlace] = []
    doubled: list[FactProblem] = []
    first: dict[str, FactItem] = {}
    for file in files:
        name = file.place.name
        if file.is_broken or any(not item.id for item in file.items):
            unsure.append(file.place)
        for item in file.items:
            if not item.id:
                continue
            if item.fact is None:
                wrong.add(item.id)
            elif (other := names.get(item.id, name)) != name:
                wrong.add(item.id)
                doubled += (_twice(other, first[item.id], name), _twice(name, item, other))
            else:
                facts[item.id], names[item.id], first[item.id] = item.fact, name, item
    for key in wrong & facts.keys():
        del facts[key]
    return FactUnion(facts, names, frozenset(names) | wrong, frozenset(wrong), tuple(unsure), tuple(doubled))
