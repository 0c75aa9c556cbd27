"""A proposed merge as text and as plain data: each item that goes, and the one that takes its place. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.base.figures import count, money, price
from core.base.text import flat
from core.knowledge.merges import merged_item, merged_line
from core.knowledge.provenance import with_tag
from core.values.knowledge import Item, item_data
from core.values.merges import MergeGroup, MergeProposal


def item_text(item: Item) -> str:
    """An item's line as it stands, on one line."""
    return f"- {with_tag(flat(item.text), item.provenance)}"


def merge_lines(merge: MergeProposal) -> Iterator[str]:
    """A proposal as a difference: what goes with a minus, what takes its place with a plus."""
    for group in merge.groups:
        yield f"{merge.file}: {count(len(group.items), 'item')} into one: {group.reason}".rstrip(": ")
        yield from (f"-{item_text(item)[1:]}" for item in group.items)
        yield f"+{merged_line(group)[1:]}"
        if group.lost:
            yield f"  {lost_text(group)}"
        yield ""
    yield summary(merge)


def lost_text(group: MergeGroup) -> str:
    """Warning of figures and names that a merge would drop, empty where it drops none."""
    return f"would drop: {', '.join(group.lost)}" if group.lost else ""


def offer_words(who: str, count_read: int, file: str) -> str:
    """Sentence before a model is asked for a merge. `who`: the model by its name; `count_read`: items that there are."""
    read = (
        f"{who} reads the {count(count_read, 'item')} of {file} and proposes which of them one could replace"
    )
    return f"{read}. You see each before anything is written."


def ask_words(cost_usd: float | None) -> str:
    """Label of the button that asks for a proposal, with what that is expected to cost."""
    return f"Ask for a merge ({price(cost_usd)})"


def cost_words(merge: MergeProposal) -> str:
    """Sentence on what asking for a proposal cost; empty where nothing was asked, as of a kept reply."""
    if not merge.calls:
        return ""
    return "Asking was free." if merge.cost_usd == 0 else f"Asking cost {money(merge.cost_usd)}."


def summary(merge: MergeProposal, who: str = "") -> str:
    """A proposal in a sentence. `who`: the model by its name, by default as the provider calls it."""
    read = f"{who or merge.model or merge.provider} read {merge.read:,} of {count(merge.total, 'item')}"
    dropped = (
        f"; {count(merge.dropped, 'merge')} left out, for it named what is not there or said nothing of an item"
        if merge.dropped
        else ""
    )
    if not merge.groups:
        return f"{read} and would merge none{dropped}."
    gone = sum(len(group.items) for group in merge.ticked)
    return f"{read}: {gone:,} of them would become {len(merge.ticked):,}{dropped}."


def merge_data(merge: MergeProposal) -> dict[str, Any]:
    """A proposal as plain data."""
    return {
        "category": merge.category.value,
        "file": merge.file,
        "provider": merge.provider,
        "model": merge.model,
        "read": merge.read,
        "total": merge.total,
        "dropped": merge.dropped,
        "calls": merge.calls,
        "cost_usd": merge.cost_usd,
        "groups": [group_data(group) for group in merge.groups],
    }


def group_data(group: MergeGroup) -> dict[str, Any]:
    """A group as plain data. `merged`: the item that would stand there."""
    return {
        "id": group.id,
        "reason": group.reason,
        "text": group.text,
        "is_ticked": group.is_ticked,
        "is_edited": group.is_edited,
        "lost": list(group.lost),
        "items": [item_data(item) for item in group.items],
        "merged": item_data(merged_item(group)),
    }
