"""Knowledge in layer 7: the digest and notes on files in scope, whole items, within the budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.base.frame import frame
from core.evidence.strikes import is_struck
from core.knowledge.projection import BLOCK_BYTES, injected_digest
from core.knowledge.provenance import with_tag
from core.knowledge.wording import without_blocks
from core.values.curation import ItemFiles, NamedText
from core.values.knowledge import KnowledgeState, NoteFile


def layer_inputs(
    knowledge: KnowledgeState, files: Iterable[ItemFiles], budget_bytes: int
) -> tuple[str, tuple[NamedText, ...]]:
    """Inputs of layer 7; the same bytes for the same knowledge and files, in whatever order these come.

    Args:
        files: of the preset in use; a file's notes enter while it is one of them.
        budget_bytes: for all of layer 7, UTF-8, the tags included.

    Returns:
        The digest's text and the notes sorted by path; both empty while the switch is off.
    """
    if not knowledge.is_on:
        return "", ()
    digest = injected_digest(knowledge.digest, budget_bytes)
    room = budget_bytes - (_size(digest) + BLOCK_BYTES if digest else 0)
    return digest, _notes(knowledge.notes, _shown(files), room)


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
