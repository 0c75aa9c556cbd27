"""Runs suites of benchmarks, prints a table and writes `out/bench/<suite>.json`."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypedDict

OUT = Path("out/bench")

SUITES: dict[str, tuple[str, ...]] = {
    "app": (
        "tests.bench.app_window",
        "tests.bench.app_keys",
        "tests.bench.app_open",
        "tests.bench.app_idle",
        "tests.bench.app_day",
        "tests.bench.app_stack",
        "tests.bench.app_formula",
        "tests.bench.app_send",
        "tests.bench.app_log",
        "tests.bench.app_home",
        "tests.bench.app_set_up",
    ),
    "embedded": ("tests.bench.app_embedded",),
    "cache": ("tests.bench.cache",),
    "memory": ("tests.bench.memory",),
    "knowledge": (
        "tests.bench.knowledge_store",
        "tests.bench.knowledge_scan",
        "tests.bench.knowledge_panel",
        "tests.bench.harvest_panel",
    ),
    "sound": (
        "tests.bench.sound_openers",
        "tests.bench.sound_reply",
        "tests.bench.sound_connections",
        "tests.bench.sound_secrets",
        "tests.bench.sound_growth",
    ),
    "retrieval": (
        "tests.bench.retrieval_search",
        "tests.bench.retrieval_index",
        "tests.bench.retrieval_quality",
    ),
    "agent": (
        "tests.bench.agent_commands",
        "tests.bench.agent_servers",
        "tests.bench.agent_rounds",
        "tests.bench.agent_view",
        "tests.bench.agent_panel",
        "tests.bench.agent_first_frame",
        "tests.bench.agent_day",
    ),
    "trust": ("tests.bench.trust_facts", "tests.bench.trust_forget", "tests.bench.trust_import"),
}
"""Each suite's modules; a module offers `rows()`, which gives them at the end or each as it comes."""


class Row(TypedDict):
    """One figure. `bar` is empty where it is only reported; `holds` says whether it keeps to its bar."""

    name: str
    value: float
    unit: str
    bar: str
    holds: bool
    runs: int


def row(
    name: str,
    value: float,
    unit: str,
    most: float | None = None,
    *,
    least: float | None = None,
    bar: str = "",
    holds: bool = True,
    runs: int = 1,
) -> Row:
    """A figure with its bar; without one it is only reported. Every suite makes its rows here.

    Args:
        most, least: what it keeps to, both included; bar: its words where those two do not say it; holds: what else
            must be true.
    """
    limits = "" if most is None else f"at most {most:g}"
    if least is not None:
        limits = f"{least:g} to {most:g}" if most is not None else f"at least {least:g}"
    is_within = (most is None or value <= most) and (least is None or value >= least)
    return Row(name=name, value=value, unit=unit, bar=bar or limits, holds=holds and is_within, runs=runs)


def main(arguments: Sequence[str]) -> int:
    """Run the suites named, or all. Returns 1 when a bar is missed, 2 for an unknown suite.

    What follows from the first option on is for those modules of the suite that take options (`cache --seeds 3`).
    """
    if {"-h", "--help"} & set(arguments[:1]):
        print(
            f"python -m tests.bench [SUITE …] [options of the suite]; suites are: {', '.join(SUITES)}; none: all."
        )
        return 0
    first = next((n for n, argument in enumerate(arguments) if argument.startswith("-")), len(arguments))
    names, options = list(arguments[:first]) or list(SUITES), arguments[first:]
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        print(f"No suite {unknown[0]!r}; suites are: {', '.join(SUITES)}", file=sys.stderr)
        return 2
    return max(run_suite(name, options) for name in names)


def run_suite(name: str, options: Sequence[str] = ()) -> int:
    """Run one suite, and write each row as it comes; print those of a module together. Returns 1 when a bar is missed."""
    rows: list[Row] = []
    for module in SUITES[name]:
        measure: Callable[..., Iterable[Row]] = importlib.import_module(module).rows
        print(f"running {module} …", file=sys.stderr)
        takes = bool(inspect.signature(measure).parameters)
        before = len(rows)
        OUT.mkdir(parents=True, exist_ok=True)
        for found in measure(options) if takes and options else measure():
            rows.append(found)
            (OUT / f"{name}.json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
        print(table(module.removeprefix("tests.bench."), rows[before:]), flush=True)
    return 0 if all(row["holds"] for row in rows) else 1


def table(name: str, rows: Sequence[Row]) -> str:
    """The rows as a table of text."""
    from io import StringIO

    from rich.console import Console
    from rich.table import Table

    shown = Table(title=f"bench {name}", title_justify="left")
    for column in ("figure", "value", "bar", "", "runs"):
        shown.add_column(column, justify="right" if column in {"value", "runs"} else "left")
    for row in rows:
        verdict = "" if not row["bar"] else "holds" if row["holds"] else "MISSED"
        shown.add_row(row["name"], f"{row['value']:.4g} {row['unit']}", row["bar"], verdict, str(row["runs"]))
    text = StringIO()
    Console(file=text, width=120).print(shown)
    return text.getvalue()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
