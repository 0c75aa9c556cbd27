"""Template of a new note: front matter that its folder's index can list it by."""

from __future__ import annotations

import json
import re
from datetime import date

from core.base.text import flat, one_line
from core.retrieval.heads import TITLE_CHARS, FieldNames

_JOINTS = re.compile(r"[-_\s]+")


def note_text(name: str, day: date, fields: FieldNames) -> str:
    """Text of a new note.

    Args:
        name: of its file, from which the title is made; fields: names under which notes here say their tags and date.
    """
    stem = name.rpartition(".")[0] or name
    words = one_line(flat(_JOINTS.sub(" ", stem)), TITLE_CHARS)
    title = words[:1].upper() + words[1:]
    front = [
        f"title: {json.dumps(title, ensure_ascii=False)}",
        f"{_key(fields.tags, 'tags')}: []",
        f"{_key(fields.date, 'date')}: {day.isoformat()}",
        'description: ""',
    ]
    return "\n".join(("---", *front, "---", "", f"# {title}", "", ""))


def _key(names: tuple[str, ...], usual: str) -> str:
    name = names[0] if names else usual
    return name if name.isidentifier() else json.dumps(name, ensure_ascii=False)
