"""`knowledge validate`, `sync` and `facts`: the structured facts checked, brought in step with their index, looked up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from core.front.cli.arguments import Options
from core.front.cli.output import Console, table
from core.front.cli.session import UsageError
from core.kernel import paths
from core.kernel.figures import count
from core.kernel.frame import one_line
from core.kernel.values.facts import FactProblem, IndexedFact, fact_data
from core.kernel.values.knowledge import Item, KnowledgeState
from core.knowledge.digest import DigestFollower
from core.knowledge.duplicates import search_items
from core.knowledge.fact_store import FactReader, chosen_facts, left_words, sync_facts
from core.knowledge.facts.validation import validate
from core.knowledge.history_text import history_data, history_lines, seen_data, seen_lines
from core.knowledge.memory_log import all_items, fact_history, item_history, seen_items

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


# `knowledge why` and `knowledge seen`: what an item stands on, and what models were shown.


def explain_item(home: Path, state: KnowledgeState, options: Options, console: Console) -> None:
    """Print why the model knows an item, or a structured fact by its id.

    Raises:
        UsageError: no item is meant, or several. StorageError: a log cannot be read.
    """
    name = options.given.item
    facts = FactReader(home).facts()
    told = (
        fact_history(home, name, facts)
        if any(fact.id == name for fact in facts)
        else item_history(home, named_item(state, name), all_items(state), may_write=False)
    )
    if options.is_json:
        console.json(history_data(told))
    else:
        console.write("".join(f"{line}\n" for line in history_lines(told)))


def show_seen(home: Path, state: KnowledgeState, options: Options, console: Console) -> None:
    """Print what entered requests. Raises StorageError: a log cannot be read."""
    facts = FactReader(home).facts()
    seen = seen_items(home, all_items(state), options.given.discussion, facts)
    if options.is_json:
        console.json([seen_data(one) for one in seen])
    elif not seen:
        console.line("No item entered a request that was noted.")
    else:
        console.write("".join(f"{line}\n" for line in seen_lines(seen)))


def named_item(state: KnowledgeState, name: str) -> Item:
    """The item that a person means: by its place (`facts.md:3`), else by words that only it has.

    Raises:
        UsageError: there is none, or there are several; names some.
    """
    items = all_items(state)
    at = [one for one in items if name == f"{one.file}:{one.first_line}"]
    found = at or search_items(items, name)
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(
            f"there is no item {name!r}", remedy="`manual-slop knowledge show` prints their places"
        )
    places = ", ".join(f"{one.file}:{one.first_line}" for one in found[:5])
    raise UsageError(f"{len(found)} items have {name!r}: name one by its place ({places})")
