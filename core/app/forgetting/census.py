"""Gathering of what is to go: knowledge, logs and their kin, passages that other logs repeat; read before anything is touched."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from core.app.forgetting.leftovers import taken_told
from core.app.forgetting.words import (
    AppliedStep,
    GoneConversation,
    Memory,
    Words,
    holds,
    words_of_conversations,
    words_of_item,
)
from core.kernel import paths
from core.kernel.codecs import read_json
from core.kernel.errors import SlopError, StorageError
from core.kernel.language import as_sentences, tr
from core.kernel.opener import read_file
from core.kernel.patterns import late
from core.kernel.values.facts import ItemEventKind
from core.kernel.values.knowledge import ForgetPreview, ForgetTarget
from core.kernel.words import SENTENCE_ENDS
from core.knowledge import apply_log
from core.knowledge.categories import CATEGORY_NAMES, NOTES_FOLDER, parse_file, source_name
from core.knowledge.evidence_rows import item_hash
from core.knowledge.facts.fact_checks import place_of as fact_place
from core.knowledge.facts.fact_file import loose_items
from core.knowledge.facts.fact_files import read_files
from core.knowledge.file_writer import read_bytes
from core.knowledge.knowledge_reader import archive_names
from core.knowledge.ledger import HarvestLedger
from core.knowledge.memory_log import linked_logs
from core.knowledge.parts import BlockPlan
from core.talk.discussion import trash
from core.talk.discussion.discussion_meta import read_meta_in

# Passages that were said in a conversation, and other logs that repeat one of them. Pure.

LEAST_CHARS, LEAST_WORDS = 24, 4
"""Least characters and words of a passage that proves its source: shorter ones stand everywhere."""

_QUOTED = late(r":\s+|[\"“”„«»]")
"""Marks behind which somebody repeats a sentence inside another: `I was told: …`."""

_SAID = frozenset({"message", "edit"})


def passages(log: bytes) -> frozenset[str]:
    """Lines and sentences of what was said in a log: no results of tools, which are a file's words. O(log)."""
    records = (record for record in _records(log) if record.get("type") in _SAID)
    return frozenset(piece for record in records for text in _said(record) for piece in _pieces(text))


def repeats(log: bytes, wanted: Collection[str]) -> bool:
    """True if one of the passages stands in a log, wherever in a record. O(log)."""
    if not wanted:
        return False
    return any(
        piece in wanted for record in _records(log) for text in _strings(record) for piece in _pieces(text)
    )


def _records(log: bytes) -> Iterator[dict[str, Any]]:
    for line in log.splitlines():
        try:
            record = read_json(line)
        except ValueError:
            continue  # torn: no text can be told in it
        if isinstance(record, dict):
            yield record


def _said(record: dict[str, Any]) -> Iterator[str]:
    parts = record.get("parts")
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            yield part["text"]
    if isinstance(record.get("text"), str):
        yield record["text"]


def _strings(value: Any) -> Iterator[str]:
    """Every text in a record."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _pieces(text: str) -> Iterator[str]:
    sentences = SENTENCE_ENDS.split(text)
    quoted = (part for one in sentences if len(parts := _QUOTED.split(one)) > 1 for part in parts)
    for piece in (*sentences, *quoted):
        words = piece.strip(" \t>*-#").casefold().split()
        said = " ".join(words)
        if len(said) >= LEAST_CHARS and (len(words) >= LEAST_WORDS or not said.isascii()):
            yield said


# Gathering of what is to go: knowledge, logs of conversations and their kin, read before anything is
# touched.

_FACT = "- id: "
"""Start of a fact's item, as the program writes it."""


def gather(home: Path, target: ForgetTarget) -> tuple[Words, tuple[str, ...]]:
    """Gather everything that the work needs to know, while it is all there.

    Returns:
        The words that go, and the discussions that may hold them still, by id.

    Raises:
        StorageError: there is no such thing, or it cannot be read.
    """
    memory = _memory(home)
    binned = {item.discussion_id: Path(item.path) for item in trash.items(home)}
    holders: tuple[str, ...] = ()
    if target.category is not None:
        words = words_of_item(target.category, target.text, memory)
        if not any(item_hash(i.category, i.text) in words.items for f in memory.files for i in f.items):
            raise StorageError(
                tr("This item has changed or is gone"),
                remedy=tr("Reload the item, then try again"),
                where=target.file,
            )
        holders = tuple(dict.fromkeys(_holders(home, binned, words)))
    else:
        conversations = [_conversation(home, one) for one in target.discussion_ids]
        words = words_of_conversations(conversations, memory)
        logs = tuple(Path(path) for one in conversations for path in one.paths)
        words = replace(words, taken=tuple(taken_told(home, logs)))
        gone = frozenset(target.discussion_ids)
        took = (e for e in memory.rows.events if e.kind in {ItemEventKind.INJECTED, ItemEventKind.USED})
        told = [e.discussion for e in took if words.items.intersection(e.items)]
        family = list(_family(home, binned))
        kin = [one for one, parent in family if parent in gone]
        kin += [parent for one, parent in family if one in gone]
        holders = tuple(
            dict.fromkeys(
                one
                for one in (*kin, *told, *_repeating(home, binned, logs, gone))
                if one and one not in gone and (one in binned or _is_there(home, one))
            )
        )
    return words, holders


def look(home: Path, target: ForgetTarget) -> ForgetPreview:
    """Tell what a forgetting would take. Nothing is touched. Never fails: `problem` says why it cannot be told."""
    try:
        words, holders = gather(home, target)
    except SlopError as error:
        return ForgetPreview(target=target, problem=as_sentences(error.what, error.remedy))
    except OSError as error:
        return ForgetPreview(
            target=target,
            problem=tr("The program cannot look for copies of the words to forget: {error}", error=error),
        )
    return ForgetPreview(
        target=target,
        items=words.removed_items,
        facts=words.removed_facts,
        kept_items=len(words.others),
        holders=holders,
    )


def _memory(home: Path) -> Memory:
    ledger = HarvestLedger(home)
    facts = []
    for name, stored in read_files(home).files.items():
        place = fact_place(name)
        if place is not None and not stored.problem:
            facts += [(fact.id, fact.text) for fact in loose_items(place, stored.data).facts]
    named = [*((name, name) for name in item_files(home)), *archive_names(home)]
    files = [
        parse_file(of, read_bytes(paths.knowledge_dir(home) / name), most_chars=sys.maxsize)
        for name, of in named
    ]
    return Memory(
        files=files,
        rows=linked_logs(home, (item for file in files for item in file.items), may_write=False),
        steps=[step for one in apply_log.apply_ids(home) for step in _steps(apply_log.read(home, one))],
        entries=list(ledger.entries()),
        facts=facts,
    )


def _steps(record: apply_log.ApplyRecord) -> Iterator[AppliedStep]:
    for step in record.steps:
        lines = ((plan.name, line.section, line.text) for plan in step.files for line in plan.lines)
        blocks = (block for part in step.parts if isinstance(part, BlockPlan) for block in part.blocks)
        heads = (block.partition("\n")[0] for block in blocks)
        facts = (head.removeprefix(_FACT).strip() for head in heads if head.startswith(_FACT))
        entry = step.entry
        path, sha256, at = ("", "", record.at) if entry is None else (entry.path, entry.sha256, entry.at)
        yield AppliedStep(path=path, sha256=sha256, at=at, lines=tuple(lines), facts=tuple(facts))


def item_files(home: Path) -> list[str]:
    """Names of category files and notes, below the knowledge directory."""
    notes = sorted(path.name for path in (paths.knowledge_dir(home) / NOTES_FOLDER).glob("*.md"))
    return [*CATEGORY_NAMES, *(f"{NOTES_FOLDER}/{name}" for name in notes)]


def _conversation(home: Path, discussion_id: str) -> GoneConversation:
    """A conversation in the list or in the trash.

    Raises:
        StorageError: it is in neither.
    """
    directory = paths.discussion_dir(home, discussion_id)
    binned = [Path(item.path) for item in trash.items(home) if item.discussion_id == discussion_id]
    folders = [one for one in (directory, *binned) if one.is_dir()]
    if not folders:
        raise StorageError(
            tr("There is no discussion {discussion_id!r}", discussion_id=discussion_id),
            remedy=tr("Run `manual-slop discussions` for the list"),
        )
    logs = [paths.log_file(home, discussion_id), *(one / paths.LOG_FILE for one in folders)]
    hashes = dict.fromkeys(one for path in logs for one in _prefix_hashes(path))
    meta = read_meta_in(folders[0], discussion_id).meta
    name = source_name(meta.created_at, meta.name)
    return GoneConversation(
        discussion_id=discussion_id,
        paths=tuple(dict.fromkeys(map(str, logs))),
        hashes=tuple(hashes),
        name=name,
    )


def _prefix_hashes(path: Path) -> Iterator[str]:
    """The sha256 of a log and of each of its leading runs of lines: it was harvested as long as it was then."""
    try:
        data = read_file(path, None)
    except OSError:
        return
    whole = hashlib.sha256()
    for line in data.splitlines(keepends=True):
        whole.update(line)
        yield whole.hexdigest()


def _family(home: Path, binned: Mapping[str, Path]) -> Iterator[tuple[str, str]]:
    """Discussions that began as a branch, with their parents, in the list and in the trash."""
    for discussion_id, folder in _folders(home, binned):
        with suppress(SlopError, OSError):
            parent = read_meta_in(folder, discussion_id).meta.parent_id
            if parent:
                yield discussion_id, parent


def _folders(home: Path, binned: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    with suppress(OSError):
        for path in sorted(paths.discussions_dir(home).iterdir()):
            if paths.is_directory_name(path.name) and path.is_dir():
                yield path.name, path
    yield from binned.items()


def _is_there(home: Path, discussion_id: str) -> bool:
    return paths.is_directory_name(discussion_id) and paths.discussion_dir(home, discussion_id).is_dir()


def _repeating(
    home: Path, binned: Mapping[str, Path], logs: Iterable[Path], gone: Collection[str]
) -> Iterator[str]:
    """Discussions that repeat a passage of what goes, in the list and in the trash: its words were said there too."""
    wanted: set[str] = set()
    for path in logs:
        with suppress(OSError):
            wanted |= passages(read_file(path, None))
    for discussion_id, path in _folders(home, binned):
        with suppress(OSError):
            if discussion_id not in gone and repeats(read_file(path / paths.LOG_FILE, None), wanted):
                yield discussion_id


def _holders(home: Path, binned: Mapping[str, Path], words: Words) -> Iterator[str]:
    """Discussions whose log holds an item's words, in the list and in the trash."""
    for discussion_id, path in _folders(home, binned):
        with suppress(OSError):
            if holds(read_file(path / paths.LOG_FILE, None), words):
                yield discussion_id
