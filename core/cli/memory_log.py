"""`knowledge why` and `knowledge seen`: what an item stands on, and what models were shown."""

from __future__ import annotations

from pathlib import Path

from core.cli.arguments import Options
from core.cli.output import Console
from core.cli.session import UsageError
from core.knowledge.fact_store import FactReader
from core.knowledge.history_text import history_data, history_lines, seen_data, seen_lines
from core.knowledge.memory_log import all_items, fact_history, item_history, seen_items
from core.knowledge.search import search_items
from core.values.knowledge import Item, KnowledgeState


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
