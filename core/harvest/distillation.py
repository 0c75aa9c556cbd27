"""Distils one conversation: asks a model piece by piece, shows it its malformed reply once, merges without doubles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from core.base.errors import SlopError
from core.evidence.quotes import found_quote
from core.harvest.classes import SUMMARIZE_THRESHOLD_BYTES
from core.harvest.prompt import build_harvest_prompt
from core.harvest.reply import Reply, read_reply
from core.harvest.transcript import Said, pieces, with_short_ids
from core.knowledge.duplicates import same_text
from core.values.evidence import Quote
from core.values.harvest import HarvestItem
from core.values.knowledge import Category, Item

HARVEST_MAX_ATTEMPTS = 2
"""To get JSON that can be read. Source: 30-knowledge.md, "Budgets"."""

Ask = Callable[[str], str]
"""Sends a prompt and returns the reply's text. Raises SlopError."""


Related = Callable[[str], Sequence[Item]]
"""Known items that a text may contradict, the nearest first."""


def nothing_known(_text: str) -> Sequence[Item]:
    """Nothing is told of what is known."""
    return ()


class HarvestError(SlopError, ValueError):
    """A conversation could not be harvested: it is kept."""


def distil(
    messages: Sequence[Said],
    name: str,
    template: str,
    ask: Ask,
    *,
    piece_bytes: int = SUMMARIZE_THRESHOLD_BYTES,
    related: Related = nothing_known,
) -> Reply:
    """Ask a model what stays useful of a conversation.

    Args:
        messages: prepared (no secrets, no recalled memory), in order; none give nothing and cost nothing.
        name: of the conversation; template: the prompt; piece_bytes: what one call reads at most.
        related: gives what is known that a piece may contradict.

    Raises:
        HarvestError: a reply was malformed after every attempt. SlopError: whatever `ask` raises.
    """
    short = with_short_ids(messages)
    shown = {
        one.id: (message.id, message.text) for one, message in zip(short, messages, strict=True) if one.id
    }
    texts = pieces(short, piece_bytes)
    return run_subagent_summarization(texts, name, template, ask, shown=shown, related=related)


def run_subagent_summarization(
    texts: Sequence[str],
    name: str,
    template: str,
    ask: Ask,
    *,
    shown: Mapping[str, tuple[str, str]] | None = None,
    related: Related = nothing_known,
) -> Reply:
    """Have a model read a conversation piece by piece with the seven categories in mind, and merge what it found.

    This is how a conversation that is larger than one call may read is harvested: each piece is distilled by
    itself, so that no decision or task is lost in a summary, then what several pieces say is kept once.

    Args:
        texts: the pieces, cut between messages (`core.harvest.transcript.pieces`), each ready to be read.
        name: of the conversation; template: the prompt of a harvest; ask: sends a prompt, returns the reply.
        shown: real id and text of each message, by the id that its tag has; a quote counts where it stands in one.
        related: gives what is known that a piece may contradict.

    Returns:
        The items of all pieces in order, each once, and how many malformed rows and quotes were left out.

    Raises:
        HarvestError: a reply was malformed after every attempt. SlopError: whatever `ask` raises.
    """
    replies = [ask_for_items(ask, template, part, text, related(text)) for part, text in _parts(texts, name)]
    replies = [with_found_quotes(reply, shown or {}) for reply in replies]
    found = merged(item for reply in replies for item in reply.items)
    return Reply(found, sum(one.dropped for one in replies), sum(one.unfound for one in replies))


def with_found_quotes(reply: Reply, shown: Mapping[str, tuple[str, str]]) -> Reply:
    """A reply whose quotes stand where it says; those that do not are left out and counted."""
    quotes = [found_quote(item.quote, shown) for item in reply.items]
    items = (
        replace(item, quote=one or Quote(is_unfound=True))
        for item, one in zip(reply.items, quotes, strict=True)
    )
    return Reply(tuple(items), reply.dropped, reply.unfound + quotes.count(None))


def missing_prompts(
    messages: Sequence[Said],
    name: str,
    template: str,
    find: Callable[[str], str | None],
    *,
    piece_bytes: int,
    related: Related = nothing_known,
) -> tuple[str, ...]:
    """Prompts that `distil` would ask now, one for each piece at most: the rest follows from their replies.

    Args:
        find: gives the reply to a prompt, None where there is none. The rest as of `distil`.

    Raises:
        HarvestError: a piece's replies were malformed, all of them.
    """

    def ask(prompt: str) -> str:
        text = find(prompt)
        if text is None:
            raise _MissingError(prompt)
        return text

    missing = []
    for part, text in _parts(pieces(with_short_ids(messages), piece_bytes), name):
        try:
            ask_for_items(ask, template, part, text, related(text))
        except _MissingError as error:
            missing.append(error.prompt)
    return tuple(missing)


class _MissingError(Exception):
    def __init__(self, prompt: str) -> None:
        super().__init__("no reply to a prompt")
        self.prompt = prompt


def _parts(texts: Sequence[str], name: str) -> list[tuple[str, str]]:
    """Each piece under the name that the model is told."""
    many = len(texts)
    return [
        (f"{name} (part {number} of {many})" if many > 1 else name, text)
        for number, text in enumerate(texts, 1)
    ]


def ask_for_items(ask: Ask, template: str, name: str, content: str, known: Sequence[Item] = ()) -> Reply:
    """One piece: a malformed reply is shown to the model once, with a line that says what was wrong.

    Raises:
        HarvestError: the last reply was malformed too.
    """
    malformed: str | bool = False
    fault = ""
    for _ in range(HARVEST_MAX_ATTEMPTS):
        text = ask(build_harvest_prompt(template, name, content, retry=malformed, known=known))
        try:
            return read_reply(text)
        except ValueError as error:
            malformed, fault = text or True, str(error)
    raise HarvestError(f"harvest output invalid after {HARVEST_MAX_ATTEMPTS} attempts: {fault}")


def merged(items: Iterable[HarvestItem]) -> tuple[HarvestItem, ...]:
    """Items of all pieces in order, each once; a task that a later piece saw done is open no longer."""
    found: dict[tuple[Category, str], HarvestItem] = {}
    for item in items:
        key = (item.category, _key(item))
        old = found.get(key)
        if old is None:
            found[key] = item
            continue
        quote = max(old.quote, item.quote, key=lambda one: (bool(one.text), one.is_unfound))
        found[key] = replace(item if item.body and not old.body else old, quote=quote)
    done = {key for category, key in found if category is Category.TASKS_DONE}
    return tuple(
        item
        for (category, key), item in found.items()
        if category is not Category.TASKS_OPEN or key not in done
    )


def _key(item: HarvestItem) -> str:
    """Key in common of two items that say the same. A path or a playbook's name alone says nothing."""
    is_statement = item.category not in {Category.FILES, Category.PLAYBOOKS}
    return same_text(item.head if is_statement else f"{item.head} {item.body}")
