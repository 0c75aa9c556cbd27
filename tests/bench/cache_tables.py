"""The replayed days as Markdown tables, for docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.bench.cache_policies import FIXED_HOUR
from tests.bench.cache_replay import ANY, NOT_EXTENDED, OFF, ON, RULE_ONE, RULES, SAME, TEXT, Replayed

_COLUMNS = (OFF, ON, FIXED_HOUR, SAME, ANY, TEXT)
_TOOLS = " with tool turns"


def tables(days: Mapping[str, Sequence[Replayed]]) -> str:
    """One table of days without tool turns, one of days with them, one of the rules."""
    plain = {name: part for name, part in days.items() if not name.endswith(_TOOLS)}
    tools = {name: part for name, part in days.items() if name.endswith(_TOOLS)}
    found = [_table("day, no tool turns", plain), _table("day, tool turns 8 to 25 s apart", tools)]
    found += [_rules(part) for part in plain.values() if any(name in RULES for name, _ in part[0].figures)]
    return "\n".join(text for text in found if text)


def _table(head: str, days: Mapping[str, Sequence[Replayed]]) -> str:
    if not days:
        return ""
    columns = [*_COLUMNS[:2], "best of five peers, changes in place", *_COLUMNS[2:]]
    lines = [f"| {head} | {' | '.join(columns)} |", f"|{'---|' * (len(columns) + 1)}"]
    for name, part in days.items():
        cells = [_cell(part, column) for column in _COLUMNS]
        lines.append(f"| {name.removesuffix(_TOOLS)} | {' | '.join([*cells[:2], _best(part), *cells[2:]])} |")
    return "\n".join(lines) + "\n"


def _rules(part: Sequence[Replayed]) -> str:
    lines = [f"| {ON} | {_cell(part, ON)} |", "|---|---|"]
    lines += [
        f"| {name} | {_cell(part, name)} |"
        for name in (RULE_ONE, *RULES, OFF, NOT_EXTENDED)
        if any(name == known for known, _ in part[0].figures)
    ]
    return "\n".join(lines) + "\n"


def _best(part: Sequence[Replayed]) -> str:
    """The cheapest of the peers at each price."""
    names = [name for name, _ in part[0].figures if name.endswith("changes in place")]
    return " / ".join(
        f"{min(_ratio(part, name, read) for name in names):.2f}" for read in _reads(part, names[0])
    )


def _cell(part: Sequence[Replayed], name: str) -> str:
    return " / ".join(f"{_ratio(part, name, read):.3f}" for read in _reads(part, name))


def _reads(part: Sequence[Replayed], name: str) -> list[float]:
    return sorted((read for known, read in part[0].figures if known == name), reverse=True)


def _ratio(part: Sequence[Replayed], name: str, read: float) -> float:
    return sum(one.figures[name, read] for one in part) / sum(one.total for one in part)
