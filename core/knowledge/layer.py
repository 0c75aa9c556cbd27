"""Knowledge in layer 7: the digest, facts of the domains and notes on files in scope, whole items, within the budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from core.base.frame import frame, without_blocks
from core.evidence.strikes import is_struck
from core.facts.rank import lines_that_fit
from core.knowledge.injection import fact_line
from core.knowledge.projection import BLOCK_BYTES, injected_digest
from core.knowledge.provenance import with_tag
from core.values.curation import ItemFiles, NamedText
from core.values.facts import IndexedFact
from core.values.knowledge import KnowledgeState, NoteFile


class Layer7Texts(msgspec.Struct, frozen=True):
    """Texts of layer 7. `facts`: a line each, sorted by id; `notes`: sorted by path."""

    digest: str = ""
    facts: str = ""
    notes: tuple[NamedText, ...] = ()


def layer_inputs(
    knowledge: KnowledgeState,
    files: Iterable[ItemFiles],
    budget_bytes: int,
    facts: Sequence[IndexedFact] = (),
) -> Layer7Texts:
    """Inputs of layer 7; the same bytes for the same knowledge and files, in whatever order these come.

    Notes keep half of what the digest leaves; facts take the rest, and what notes do not need, and the other way round.

    Args:
        files: of the preset in use; a file's notes enter while it is one of them.
        budget_bytes: for all of layer 7, UTF-8, the tags included; facts: of the domains in scope, best first.

    Returns:
        All empty while the switch is off.
    """
    if not knowledge.is_on:
        return Layer7Texts()
    digest = injected_digest(knowledge.digest, budget_bytes)
    room = max(0, budget_bytes - (_size(digest) + BLOCK_BYTES if digest else 0))
    shown = _shown(files)
    wanted = sum(_framed(note.name, note.text) for note in _notes(knowledge.notes, shown, room))
    text = _facts(facts, room - min(wanted, room // 2))
    left = room - (_size(frame("facts", text)) if text else 0)
    return Layer7Texts(digest, text, _notes(knowledge.notes, shown, left))


def _facts(facts: Sequence[IndexedFact], room: int) -> str:
    """The best facts that fit, sorted by id."""
    lines = [f"{fact_line(fact.text)}\n" for fact in facts]
    count = lines_that_fit(lines, room - _FACTS_FRAME_BYTES)
    chosen = sorted(range(count), key=lambda number: facts[number].id)
    return "".join(lines[number] for number in chosen)


def _shown(files: Iterable[ItemFiles]) -> dict[str, str]:
    """Paths as they are shown, by absolute path, of files that enter the context."""
    return {f.absolute_path: f.path for item in files if item.item.enabled for f in item.files}


def _notes(notes: Iterable[NoteFile], shown: Mapping[str, str], room: int) -> tuple[NamedText, ...]:
    in_scope = [(shown[note.path], note) for note in notes if note.path in shown and note.items]
    found = []
    for path, note in sorted(in_scope, key=lambda pair: (pair[0], pair[1].file_id)):
        text = _newest(path, note, room)
        if text:
            found.append(NamedText(path, text, note.path))
            room -= _framed(path, text)
    return tuple(found)


def _newest(path: str, note: NoteFile, room: int) -> str:
    """The newest notes of a file that fit, in the order of the file."""
    lines = [
        f"- {without_blocks(with_tag(item.text, item.provenance))}\n"
        for item in note.items
        if not is_struck(item.text)
    ]
    used = _framed(path, "".join(lines))
    first = 0
    while first < len(lines) and used > room:
        used -= _size(lines[first])
        first += 1
    return "".join(lines[first:])


def _framed(path: str, text: str) -> int:
    return _size(frame("note", text, name=path))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


_FACTS_FRAME_BYTES = _size(frame("facts-00", ""))
"""Of the tags around facts; a number in them is for text that holds such a tag."""
