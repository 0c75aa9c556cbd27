"""`knowledge validate`, `sync` and `facts`: the structured facts checked, brought in step with their index, looked up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from core.base import paths
from core.base.figures import count
from core.base.text import one_line
from core.cli.arguments import Options
from core.cli.output import Console
from core.cli.tables import table
from core.facts.validation import validate
from core.knowledge.digest import DigestFollower
from core.knowledge.fact_followers import left_words
from core.knowledge.fact_store import FactReader, chosen_facts, sync_facts
from core.values.facts import FactProblem, IndexedFact, fact_data

FACT_ACTIONS = ("validate", "sync", "facts")


def run_facts(options: Options, home: Path, console: Console) -> int:
    """Run one of the actions on a home. Returns 1 where something is wrong, or nothing was found, else 0.

    Raises:
        SlopError: a file could not be read or written.
    """
    match options.given.action:
        case "validate":
            return _validate(home, console, is_json=options.is_json)
        case "sync":
            return _sync(home, console, is_json=options.is_json)
        case _:
            return _facts(options, home, console)


def _validate(home: Path, console: Console, *, is_json: bool) -> int:
    problems = validate(home)
    is_wrong = any(not problem.is_warning for problem in problems)
    if is_json:
        rows = [_problem_data(problem) for problem in problems]
        console.json({"ok": not is_wrong, "problems": rows})
        return int(is_wrong)
    _name(problems, console)
    if not is_wrong:
        console.note(f"Every fact in {paths.knowledge_dir(home)} keeps to the rules.")
    return int(is_wrong)


def _sync(home: Path, console: Console, *, is_json: bool) -> int:
    report = sync_facts(home)
    DigestFollower(home).follow()
    is_wrong = any(not problem.is_warning for problem in report.problems)
    if is_json:
        console.json(
            {
                "total": report.total,
                "changed": report.changed,
                "written": list(report.written),
                "left": list(report.left),
                "problems": [_problem_data(problem) for problem in report.problems],
            }
        )
        return int(is_wrong)
    _name(report.problems, console)
    if report.left:
        console.line(f"{left_words(len(report.left))}:")
        for line in report.left:
            console.line(f"  {one_line(line, 200)}")
    console.line(f"{count(report.total, 'fact')} in the index, {report.changed:,} changed")
    for name in report.written:
        console.line(f"written: {paths.knowledge_dir(home) / name}")
    return int(is_wrong)


def _name(problems: Sequence[FactProblem], console: Console) -> None:
    """Print what is wrong; what is only worth a word goes beside it, to standard error."""
    for problem in problems:
        (console.note if problem.is_warning else console.line)(problem.sentence)


def _facts(options: Options, home: Path, console: Console) -> int:
    given = options.given
    found = chosen_facts(FactReader(home).facts(), given.domain, given.fact_category, given.tag)
    if options.is_json:
        console.json([fact_data(fact) for fact in found])
        return int(not found)
    if not found:
        console.line("Nothing found.")
        return 1
    rows = [(fact.id, _confidence(fact), ", ".join(fact.tags), fact.text) for fact in found]
    head = ("id", "confidence", "tags", "fact")
    kept = frozenset({0})
    console.write(table(head, rows, numbers=frozenset({1}), kept=kept, columns=console.columns))
    return 0


def _confidence(fact: IndexedFact) -> str:
    told = (("withdrawn", fact.withdrawn), ("stale", fact.stale and not fact.withdrawn), ("held", fact.held))
    marks: Iterable[str] = (word for word, is_so in told if is_so)
    return " ".join([f"{fact.effective_confidence:.2f}", *marks])


def _problem_data(problem: FactProblem) -> dict[str, object]:
    return {
        "file": problem.file,
        "line": problem.line,
        "text": problem.text,
        "is_warning": problem.is_warning,
    }
