"""Drafts of prompts and tools, made from playbooks: nothing reads or runs them until a person renames them. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

from core.base.text import flat
from core.evidence.quotes import item_hash
from core.knowledge.provenance import format_tag
from core.values.knowledge import Item
from core.values.merges import DraftKind

FOLDER = "drafts"
SUFFIX = ".draft"
NO_PLAYBOOK = "Only a playbook becomes a draft"

_NAMED = re.compile(r"\*\*(.+?)\*\*:?[ \t]*", re.DOTALL)
_STEP = re.compile(r"(?:^|(?<=[\s.;]))\d{1,2}[.)][ \t]+")
_WORDS = re.compile(r"[^a-z0-9]+")
_MARK = re.compile(r"\([0-9a-f]{16}\)")


_ENDS = {DraftKind.PROMPT: ".md", DraftKind.TOOL: ".sh"}


def named_playbook(item: Item) -> tuple[str, str]:
    """The name of a playbook and its steps; the first words name one without a name."""
    match = _NAMED.match(item.text)
    if match is not None and item.text[match.end() :].strip():
        return flat(match[1]).strip("# ") or "Playbook", item.text[match.end() :].strip()
    return " ".join(flat(item.text).split()[:6]), item.text.strip()


def steps_of(text: str) -> tuple[str, ...]:
    """Steps of a playbook, a line each: as they are numbered or stand on lines of their own, else by sentence ends."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(lines) > 1:
        return tuple(re.sub(r"^(?:[-*+]|\d{1,2}[.)])[ \t]+", "", flat(line)) for line in lines)
    whole = flat(" ".join(lines))
    parts = [part.strip(" ;") for part in _STEP.split(whole)] if _STEP.match(whole) else [whole]
    found = [part for part in parts if part]
    if len(found) == 1:
        found = [part.strip() for part in re.split(r"(?<=[.;])[ \t]+", whole) if part.strip(" ;.")]
    return tuple(found)


def draft_name(item: Item, kind: DraftKind, taken: Collection[str]) -> str:
    """Name of a draft below the knowledge directory, none of those that are taken.

    Args:
        taken: names that are there, as this gives them.
    """
    title, _ = named_playbook(item)
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = _WORDS.sub("-", plain).strip("-")[:60].rstrip("-") or "playbook"
    for number in range(1, len(taken) + 2):
        name = f"{FOLDER}/{slug}{'' if number == 1 else f'-{number}'}{_ENDS[kind]}{SUFFIX}"
        if name not in taken:
            return name
    raise AssertionError("one of them is free")


def becomes(name: str) -> str:
    """The name that a draft has once it counts."""
    return name.rpartition("/")[2].removesuffix(SUFFIX)


def draft_mark(item: str) -> str:
    """Mark of a playbook in its drafts. `item`: its hash, as evidence has it."""
    return f"({item[:16]})"


def marks_in(text: str) -> tuple[str, ...]:
    """Marks of the playbooks that a draft's text names."""
    return tuple(_MARK.findall(text))


def draft_text(item: Item, kind: DraftKind, name: str) -> str:
    """The text of a draft. Every line of a tool is a comment but the one that ends it: run by mistake, it does nothing."""
    title, steps = named_playbook(item)
    lines = steps_of(steps)
    tag = format_tag(item.provenance) if item.provenance is not None else "[written by hand]"
    origin = f"{draft_mark(item_hash(item.category, item.text))} {tag}"
    if kind is DraftKind.PROMPT:
        told = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
        return (
            f"<!-- Draft from a playbook {_safe_comment(origin)}. Nothing reads it until you rename it to {becomes(name)}. -->\n"
            f"# {title}\n\nFollow these steps, in this order. Say which one you are at.\n\n{told}\n"
        )
    told = "\n".join(f"# {number}. {line}" for number, line in enumerate(lines, 1))
    return (
        "#!/bin/sh\n"
        f"# {title}\n"
        f"# Draft from a playbook {origin}. Nothing runs it: write the commands, then rename it to {becomes(name)}.\n"
        f"#\n{told}\n\n"
        'echo "this is a draft: write its commands first" >&2\nexit 1\n'
    )


def _safe_comment(text: str) -> str:
    return text.replace("--", "- -")
