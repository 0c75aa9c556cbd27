"""Notes of other programs, as their makers and public reports show them: what their heads say."""

from __future__ import annotations

import msgspec
import pytest

from core.kernel.values.retrieval import SourceHead
from core.retrieval.navigation import note_head


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A note, and what is right of its head; None where nothing is asked of it."""

    id: str
    text: str
    name: str = "a.md"
    title: str | None = None
    tags: tuple[str, ...] | None = None
    date: str | None = None
    description: str | None = None


NOTES = [
    Note(
        id="Obsidian: tags with their mark in a list, an old name of the field",
        text='---\naliases: [Pump]\ntags:\n  - "#project/cold"\n  - hall\n---\n# Pumps\n',
        title="Pumps",
        tags=("project/cold", "hall", "project"),
    ),
    Note(
        id="Logseq: properties of a page stand at its top with two colons (logseq docs: Properties)",
        text="title:: Pumps\ntags:: cold, [[Big Water]]\n\n- The pump leaks. Call.\n",
        title="Pumps",
        tags=("cold", "big water"),
        description="The pump leaks.",
    ),
    Note(
        id="Dataview: a field in the text with two colons (blacksmithgu/obsidian-dataview: inline fields)",
        text="# Pumps\n\ndate:: 2026-03-05\n\nThe pump leaks. Call.\n",
        date="2026-03-05",
        description="The pump leaks.",
    ),
    Note(
        id="Notion: its Markdown export has a page's properties under its title",
        text="# Pumps\n\nCreated: March 5, 2026 9:00 AM\nTags: cold, water\nStatus: Done\n\nThe pump leaks. Call.\n",
        title="Pumps",
        tags=("cold", "water"),
        date="2026-03-05",
        description="The pump leaks.",
    ),
    Note(
        id="Joplin: Markdown with front matter says when a note was made (laurent22/joplin: created, updated)",
        text="---\ntitle: Pumps\nupdated: 2026-04-01 10:00:00Z\ncreated: 2026-03-05 09:00:00Z\ntags:\n  - cold\n---\n\nIt leaks.\n",
        title="Pumps",
        tags=("cold",),
        date="2026-03-05",
    ),
    Note(
        id="A daily note of Chinese or Japanese, and tags of any script",
        name="日记/2026年3月5日.md",
        text="#水泵 漏水。#工作/夜班 记下。\n",
        tags=("水泵", "工作/夜班", "工作"),
        date="2026-03-05",
        description="漏水。",
    ),
    Note(
        id="Wikilinks in a heading and an embedded picture before the words",
        text="# [[Pumps|The pumps]] of hall 2\n\n![[map.png]]\n\nThe [[Pump 3|pump]] leaks. Call.\n",
        title="The pumps of hall 2",
        description="The pump leaks.",
    ),
    Note(
        id="Hugo: front matter of TOML (gohugoio/hugo docs: Front matter)",
        text='+++\ntitle = "Pumps"\ndate = 2026-03-05\ntags = ["cold", "hall"]\ndraft = false\n+++\n\nThe pump leaks. Call.\n',
        title="Pumps",
        tags=("cold", "hall"),
        date="2026-03-05",
        description="The pump leaks.",
    ),
    Note(
        id="Bear: a tag of several words ends with its mark (bear.app: tags with spaces)",
        text="# Pumps\n#cold water# #hall/two\n\nThe pump leaks. Call.\n",
        title="Pumps",
        tags=("cold water", "hall/two", "hall"),
        description="The pump leaks.",
    ),
    Note(
        id="Org: keywords at the top (orgmode.org manual: in-buffer settings)",
        name="a.org",
        text="#+TITLE: Pumps\n#+DATE: <2026-03-05 Thu>\n#+FILETAGS: :cold:hall:\n\n* Leaks\nThe pump leaks. Call.\n",
        title="Pumps",
        tags=("cold", "hall"),
        date="2026-03-05",
    ),
    Note(
        id="Obsidian: tags parted by blanks alone, a date with its hour (obsidian.md: properties before 1.4)",
        text="---\ntags: cold hall\ndate: 2026-03-05T09:00\n---\nThe pump leaks. Call.\n",
        tags=("cold", "hall"),
        date="2026-03-05",
        description="The pump leaks.",
    ),
    Note(
        id="Dendron: times in milliseconds and a description of its own (dendronhq/dendron: frontmatter)",
        name="pumps.hall.md",
        text="---\nid: abc\ntitle: Hall\ndesc: 'The pump leaks.'\nupdated: 1775000000000\ncreated: 1772668800000\n---\n\n## Log\n",
        title="Hall",
        date="2026-03-05",
        description="The pump leaks.",
    ),
    Note(
        id="Links of a program as tags in front matter (obsidian: links in properties)",
        text='---\nTitle: Pumps\nTags: ["[[cold]]", "[[Hall Two|hall]]"]\nCreated: 2026-03-05 09:00\n---\nIt leaks.\n',
        title="Pumps",
        tags=("cold", "hall"),
        date="2026-03-05",
    ),
    Note(
        id="A daily note of Korean, with tags of joined words",
        name="2026년 3월 5일.md",
        text="#물펌프/야간 새고 있다. (#a-b_c)\n",
        tags=("물펌프/야간", "a-b_c", "물펌프"),
        date="2026-03-05",
    ),
    Note(
        id="One line of tags under a title that is underlined",
        text="Pumps\n=====\n\nTags: #cold #hall\n\nThe pump leaks. Call.\n",
        title="Pumps",
        tags=("cold", "hall"),
        description="The pump leaks.",
    ),
    Note(
        id="A callout's title is no sentence of the note (obsidian.md: Callouts)",
        text="# Pumps\n\n> [!warning] Danger\n> The pump leaks. Call.\n",
        title="Pumps",
        description="The pump leaks.",
    ),
]


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.id)
def test_a_note_says_of_itself_what_its_program_shows(note: Note) -> None:
    head = note_head(note.text, note.name)
    wanted = {key: getattr(note, key) for key in SourceHead.__struct_fields__}
    assert {key: getattr(head, key) for key, value in wanted.items() if value is not None} == {
        key: value for key, value in wanted.items() if value is not None
    }
