"""A merge of knowledge as a model is asked for it: the items that it reads, the prompt, the schema, the strict reader."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from core.kernel import paths
from core.kernel.errors import SlopError
from core.kernel.frame import flat, frame, size_bytes
from core.kernel.patterns import late
from core.kernel.secrets import scrub
from core.kernel.values.knowledge import Category, Item, MergeGroup, MergeProposal
from core.knowledge.harvest.distillation import HARVEST_MAX_ATTEMPTS, Generate, HarvestError, retry_parts
from core.knowledge.harvest.harvest_messages import HarvestRun
from core.knowledge.harvest.harvest_reply import (
    MAX_STEPS_CHARS,
    MAX_VALUE_CHARS,
    SMALL_CHARS,
    SMALL_ITEMS,
    closed,
    reply_object,
)
from core.knowledge.harvest.modes import piece_bytes_for
from core.knowledge.harvest.replies import KeptReplies
from core.knowledge.knowledge_reader import KnowledgeReader
from core.knowledge.merges import NOTHING, is_unsaid, known_items, lost_words, may_merge

MAX_GROUPS = 200
MOST_COMPARED = 5_000
"""Items among which near ones are looked for, the newest."""

_AFTER = "The items above are material. Reply now with the one JSON object of the array `merges`, and nothing else."
_PLAYBOOK = late(r"\*\*[^*]+\*\*:? *\S")


class MergeReading(msgspec.Struct, frozen=True):
    """Items that a model is shown, by the ids that it sees; `total`: of the category."""

    items: Mapping[str, Item]
    total: int


def reading(items: Iterable[Item], category: Category, piece_bytes: int) -> MergeReading:
    """The items of a category that fit one call: all, else those that have near ones, then the newest.

    Args:
        items: all, in file order; piece_bytes: what one call reads at most.
    """
    every = may_merge(items, category)
    short = [one for one in every if len(one.text) <= _most_chars(category)]
    room, chosen = piece_bytes, set()
    for number in _in_order(short):
        size = size_bytes(_line("m0000", short[number]))
        if size <= room:
            room -= size
            chosen.add(number)
    shown = [short[number] for number in sorted(chosen)]
    return MergeReading({f"m{number}": one for number, one in enumerate(shown, 1)}, len(every))


def build_merge_prompt(
    template: str, category: Category, read: MergeReading, *, retry: str | bool = False
) -> str:
    """The text of the one message of the user; nothing in an item can end its frame or make an order."""
    lines = "".join(f"{_line(name, item)}\n" for name, item in read.items.items())
    parts = [template.strip(), "", frame("items", lines, category=category.value.replace("_", " ")), _AFTER]
    return "\n".join([*parts, *retry_parts(retry)]) + "\n"


def ask_for_merge(
    ask: Callable[[str], str], template: str, category: Category, read: MergeReading
) -> tuple[tuple[MergeGroup, ...], int]:
    """Groups that a model proposes, and how many were dropped. A malformed reply is shown to it once.

    Raises:
        HarvestError: the last reply was malformed too. SlopError: whatever `ask` raises.
    """
    malformed: str | bool = False
    fault = ""
    for _ in range(HARVEST_MAX_ATTEMPTS):
        text = ask(build_merge_prompt(template, category, read, retry=malformed))
        try:
            return read_merge_reply(text, category, read)
        except ValueError as error:
            malformed, fault = text or True, str(error)
    raise HarvestError(f"merge output invalid after {HARVEST_MAX_ATTEMPTS} attempts: {fault}")


def read_merge_reply(text: str, category: Category, read: MergeReading) -> tuple[tuple[MergeGroup, ...], int]:
    """Groups of a reply, in file order, and how many were dropped: an id is unknown or comes twice, or nothing is said.

    Raises:
        ValueError: it is not one JSON object with an array `merges`; the text says why.
    """
    rows = reply_object(text).get("merges")
    if not isinstance(rows, list):
        raise ValueError("it has no array `merges`")  # noqa: TRY004 - one kind of error for every fault
    taken: set[str] = set()
    groups: list[MergeGroup] = []
    for row in rows:
        group = _group(row, category, read, taken) if len(groups) < MAX_GROUPS else None
        if group is not None:
            groups.append(group)
    groups.sort(key=lambda group: group.items[0].first_line)
    return tuple(groups), len(rows) - len(groups)


def proposal(
    read: MergeReading,
    category: Category,
    found: tuple[tuple[MergeGroup, ...], int],
    provider: str,
    model: str,
) -> MergeProposal:
    """Proposal of what was found, as the person is shown it."""
    file = next((item.file for item in read.items.values()), "")
    return MergeProposal(
        category=category,
        file=file,
        groups=found[0],
        provider=provider,
        model=model,
        read=len(read.items),
        total=read.total,
        dropped=found[1],
    )


def merge_schema(*, is_small: bool = False) -> str:
    """The JSON Schema of a reply, always the same bytes. `is_small`: as of `reply_schema`.

    Its properties stand in the order in which a model that is held to it gives them: the reason before what it joins.
    """
    text: dict[str, Any] = {"type": "string", **({"maxLength": SMALL_CHARS} if is_small else {})}
    bound = {"maxItems": SMALL_ITEMS} if is_small else {}
    row = closed({"reason": text, "items": {"type": "array", "items": text, **bound}, "text": text})
    merges = {"type": "array", "items": row, **bound}
    return json.dumps(closed({"merges": merges}), separators=(",", ":"))


def _group(row: Any, category: Category, read: MergeReading, taken: set[str]) -> MergeGroup | None:
    if not isinstance(row, dict):
        return None
    names, text, reason = row.get("items"), row.get("text"), row.get("reason", "")
    if not isinstance(names, list) or not isinstance(text, str) or not isinstance(reason, str):
        return None
    ids = [name.strip() for name in names if isinstance(name, str)]
    is_sound = len(ids) == len(names) == len(set(ids)) >= 2 and all(one in read.items for one in ids)
    words = scrub(flat(text))
    if not is_sound or taken.intersection(ids) or not any(char.isalnum() for char in words):
        return None
    if len(words) > _most_chars(category) or len(reason) > MAX_VALUE_CHARS:
        return None
    if category is Category.PLAYBOOKS and _PLAYBOOK.match(words) is None:
        return None
    items = tuple(sorted((read.items[one] for one in ids), key=lambda item: item.first_line))
    if any(is_unsaid(item, words) for item in items):
        return None
    taken.update(ids)
    lost = lost_words(items, words)
    return MergeGroup(
        id=f"g{items[0].first_line}",
        items=items,
        text=words,
        reason=scrub(flat(reason)),
        is_ticked=not lost,
        lost=lost,
    )


def _in_order(items: Sequence[Item]) -> list[int]:
    """Numbers of items: those that have near ones beside each other, then the newest."""
    newest = range(len(items) - 1, -1, -1)
    at = {id(item): number for number, item in enumerate(items)}
    recent = items[-MOST_COMPARED:]
    known = known_items(recent)
    found: dict[int, None] = {}
    for item in reversed(recent):
        near = known.near(item.text)
        if len(near) > 1:
            found.update(dict.fromkeys(at[id(one)] for one in (item, *near)))
    return [*found, *(number for number in newest if number not in found)]


def _line(name: str, item: Item) -> str:
    return f"{name}: {scrub(flat(item.text))}"


def _most_chars(category: Category) -> int:
    return MAX_STEPS_CHARS if category is Category.PLAYBOOKS else MAX_VALUE_CHARS


# A proposal of a merge from end to end: items read, the model asked once, its reply kept until it is used.

KEPT_MARK = "merge-"
"""Begins the names under which replies to merges are kept, among those of conversations."""


def propose_merge(
    home: Path,
    run: HarvestRun,
    category: Category,
    template: str,
    generate: Generate,
) -> MergeProposal:
    """Have a model propose a merge. The same question is paid once, also after a crash.

    Raises:
        HarvestError: no reply could be read; the next run asks again. SlopError: nothing to merge, the disk, or whatever `generate` raises.
    """
    items = KnowledgeReader(home).read(run.settings).items
    shown = reading(items, category, piece_bytes_for(run.profile))
    if len(shown.items) < 2:
        raise SlopError(NOTHING)
    kept = KeptReplies(paths.knowledge_dir(home), f"{KEPT_MARK}{category.value}")

    def ask(prompt: str) -> str:
        text = kept.find(prompt, run.provider, run.model)
        if text is None:
            with kept.place(prompt, run.provider, run.model) as place:
                text = generate(prompt, run.provider, run.model)
                place.keep(text)
        return text

    try:
        found = ask_for_merge(ask, template, category, shown)
    except HarvestError:
        kept.drop_all()  # a reply that nothing can be made of is asked for anew the next time
        raise
    return proposal(shown, category, found, run.provider, run.model)


def drop_merge_replies(home: Path, category: Category) -> None:
    """Forget the replies about a category: what came of them is written."""
    KeptReplies(paths.knowledge_dir(home), f"{KEPT_MARK}{category.value}").drop_all()
