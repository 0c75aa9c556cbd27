"""Notes of other programs, as their makers and public reports show them: what their heads say."""

from __future__ import annotations

import msgspec
import pytest

from core.kernel.values.retrieval import SourceHead
from core.retrieval.front_matter import note_head, note_names
from core.retrieval.index_store import asked_tag


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """A note, and what is right of its head; None where nothing is asked of it."""

    id: str
    text: str
    name: str = "a.md"
    has_tag: str = ""
    lacks_tag: str = ""
    title: str | None = None
    tags: tuple[str, ...] | None = None
    date: str | None = None
    description: str | None = None


NOTES = [
    Note(
        id="words in bold in a heading",
        text="# 🚰 [Pumps](https://a.example) of **the** hall\n\nx\n",
        title="🚰 Pumps of the hall",
    ),
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
    Note(
        id="hash tags in yaml",
        name="f/hash.md",
        text="---\ntitle: Lynx den\ntags: #lynx #den\n---\nThe lynx den is warm.\n",
        has_tag="lynx",
    ),
    Note(
        id="unclosed bracket tags",
        name="f/unc.md",
        text="---\ntitle: Weasel\ntags: [weasel, burrow\ndate: 2026-03-05\n---\nWeasel tunnels.\n",
        has_tag="burrow",
    ),
    Note(
        id="template value",
        name="f/tpl.md",
        text="---\ntitle: {{title}}\ntags: [stoat]\ndate: 2026-03-05\n---\nStoat prints in snow.\n",
        has_tag="stoat",
    ),
    Note(
        id="title bracket",
        name="f/br.md",
        text="---\ntitle: [Draft] Marten roads\ntags:\n  - marten\n---\nMarten roads cross the ridge.\n",
        title="[Draft] Marten roads",
    ),
    Note(
        id="title star",
        name="f/st.md",
        text="---\ntitle: *Polecat* notes\ntags: [polecat]\ncreated: 2026-03-05\n---\nPolecat trap lines.\n",
        date="2026-03-05",
    ),
    Note(
        id="no space colon",
        name="f/ns.md",
        text="---\ntitle:Ermine\ntags: [ermine]\ndate: 2026-03-05\n---\nErmine coats.\n",
        has_tag="ermine",
    ),
    Note(
        id="tab indented",
        name="f/tab.md",
        text="---\ntags:\n\t- genet\n\t- night\ndate: 2026-03-05\n---\nGenet at night.\n",
        has_tag="genet",
    ),
    Note(
        id="crlf bom",
        name="f/crlf.md",
        text="---\ntitle: Civet: part two\ntags: [civet]\ndate: 2026-03-05\n---\nCivet coffee.\n",
        title="Civet: part two",
    ),
    Note(
        id="quote in quote",
        name="f/qq.md",
        text='---\ntitle: "The "grey" mongoose"\ntags: [mongoose]\n---\nMongoose and snake.\n',
        has_tag="mongoose",
    ),
    Note(
        id="duplicate key",
        name="f/dup.md",
        text="---\ntags: [fossa]\ndate: 2026-01-01\ndate: 2026-03-05\n---\nFossa climbs.\n",
        has_tag="fossa",
    ),
    Note(
        id="two second bad",
        name="t/a.md",
        text="---\npermalink: t/a\ntype: note\n---\n---\ntitle: Tapir: a walk\ntags: [tapir]\n---\nTapir at the river bend.\n",
        title="Tapir: a walk",
    ),
    Note(
        id="two toml after",
        name="t/b.md",
        text='---\npermalink: t/b\n---\n\n+++\ntitle = "Okapi valley"\ntags = ["okapi"]\n+++\nOkapi striped legs.\n',
        title="Okapi valley",
    ),
    Note(
        id="two tags joined",
        name="t/c.md",
        text="---\ntags: [gnu]\n---\n\n---\ntitle: Gnu herd\ntags: [savanna]\n---\nGnu herd moves.\n",
        has_tag="gnu",
    ),
    Note(
        id="logseq bracket tag",
        name="g/a.md",
        text="- Met the #[[night heron]] people about plumage.\n",
        has_tag="night heron",
    ),
    Note(
        id="tag with hash asked", name="g/b.md", text="Spoonbill seen #wader/big today.\n", has_tag="#wader"
    ),
    Note(id="tag upper", name="g/c.md", text="Avocet nest #ToDo\n", has_tag="TODO"),
    Note(id="tag cjk after text", name="g/d.md", text="今天看到夜鹭。#观鸟/夜 很近\n", has_tag="观鸟"),
    Note(
        id="tag in code not",
        name="g/e.md",
        text="Curlew count `#curlewtag` and\n\n    #curlewtag indented\n\n```\n#curlewtag\n```\n",
        lacks_tag="curlewtag",
    ),
    Note(id="tag emoji", name="g/f.md", text="Godwit flock #migration🐦 north\n", has_tag="migration🐦"),
    Note(
        id="org headline tags",
        name="g/g.org",
        text="#+title: Ruff lek\n* TODO Ruff display :lek:spring:\nThe ruff dances.\n",
        has_tag="lek",
    ),
    Note(
        id="escaped hash not",
        name="g/h.md",
        text="Dunlin ring \\#dunlintag written.\n",
        lacks_tag="dunlintag",
    ),
    Note(
        id="tag in table callout",
        name="g/i.md",
        text="> [!note] Knot\n> #knotbird roost\n\n| a | b |\n|---|---|\n| knot | #mudflat |\n",
        has_tag="mudflat",
    ),
    Note(id="day 0", name="y/March 5th, 2026.md", text="- turnstone on the pier\n", date="2026-03-05"),
    Note(id="day 1", name="y/05.03.2026.md", text="Turnstone again.\n", date="2026-03-05"),
    Note(
        id="day 2",
        name="y/daily.journal.2026.03.05.md",
        text="---\nid: x\ntitle: '2026-03-05'\n---\nTurnstone third.\n",
        date="2026-03-05",
    ),
    Note(
        id="day 3",
        name="y/20260305T091500--turnstone-walk__bird_shore.org",
        text="#+title: turnstone walk\nTurnstone denote.\n",
        date="2026-03-05",
    ),
    Note(id="day 4", name="y/202603050915 Turnstone.md", text="Turnstone zettel.\n", date="2026-03-05"),
    Note(id="day 5", name="y/2026-3-5.md", text="Turnstone short.\n", date="2026-03-05"),
    Note(
        id="day 6",
        name="y/2026/03-March/2026-03-05-Thursday.md",
        text="Turnstone folder.\n",
        date="2026-03-05",
    ),
    Note(id="day 7", name="y/Thursday, 5 March 2026.md", text="Turnstone words.\n", date="2026-03-05"),
    Note(id="day 8", name="y/5. März 2026.md", text="Turnstone deutsch, Steinwälzer.\n", date="2026-03-05"),
    Note(
        id="dataview bracket",
        name="p/a.md",
        text="# Kea\n\nSeen [date:: 2026-03-05] by (who:: Ann), kea playful.\n",
        date="2026-03-05",
    ),
    Note(
        id="org drawer",
        name="p/b.org",
        text=":PROPERTIES:\n:ID: 1\n:CREATED: [2026-03-05 Thu 09:00]\n:END:\n#+title: Kakapo log\n#+filetags: :parrot:\n\nKakapo boom.\n",
        has_tag="parrot",
        title="Kakapo log",
    ),
    Note(
        id="hugo json",
        name="p/c.md",
        text='{\n  "title": "Tui song",\n  "date": "2026-03-05T10:00:00Z",\n  "tags": ["honeyeater"]\n}\n\nTui song at dawn.\n',
        has_tag="honeyeater",
        title="Tui song",
    ),
    Note(
        id="zola taxonomies",
        name="p/d.md",
        text='+++\ntitle = "Weka"\ndate = 2026-03-05\n[taxonomies]\ntags = ["rail"]\n+++\nWeka steals.\n',
        has_tag="rail",
    ),
    Note(
        id="mmd header",
        name="p/e.md",
        text="Title: Pukeko marsh\nDate: 2026-03-05\nTags: swamphen, blue\n\nPukeko walks.\n",
        has_tag="swamphen",
        title="Pukeko marsh",
    ),
    Note(
        id="rst fields",
        name="p/f.rst",
        text="Takahe\n######\n\n:date: 2026-03-05\n:tags: flightless, alpine\n\nTakahe grazing.\n",
        has_tag="alpine",
        title="Takahe",
    ),
    Note(
        id="adoc header",
        name="p/g.adoc",
        text="= Morepork owl\nAnn Author <a@b.example>\n:revdate: 2026-03-05\n:keywords: owl, night\n\nMorepork calls.\n",
        has_tag="owl",
        title="Morepork owl",
    ),
    Note(
        id="tid",
        name="p/h.tid",
        text="created: 20260305091500000\nmodified: 20260306091500000\ntags: saddleback [[wattle bird]]\ntitle: Saddleback island\ntype: text/vnd.tiddlywiki\n\nSaddleback hops.\n",
        has_tag="wattle bird",
        title="Saddleback island",
    ),
    Note(
        id="quarto",
        name="p/i.qmd",
        text='---\ntitle: "Bellbird study"\ndate: "March 5, 2026"\ncategories: [chorus, dawn]\n---\n\nBellbird chimes.\n',
        has_tag="chorus",
    ),
    Note(
        id="zettlr keywords",
        name="p/j.md",
        text="---\ntitle: Fantail\nkeywords: [flycatcher, hawking]\n---\nFantail flits.\n",
        has_tag="hawking",
    ),
    Note(
        id="roam tags",
        name="p/k.md",
        text="- Tags:: #[[robin family]] [[island]]\n- Robin toutouwai hops.\n",
        has_tag="island",
    ),
    Note(
        id="date slashes",
        name="p/l.md",
        text="---\ndate: 2026/03/05\n---\nKokako organ notes.\n",
        date="2026-03-05",
    ),
    Note(
        id="created at iso basic",
        name="p/m.md",
        text="---\ncreatedAt: 20260305T091500Z\n---\nHihi stitchbird feeds.\n",
        date="2026-03-05",
    ),
    Note(
        id="date link",
        name="p/n.md",
        text='---\ncreated: "[[2026-03-05]]"\n---\nRifleman wren creeps.\n',
        date="2026-03-05",
    ),
]


def check(note: Note) -> None:
    """Hold a note's head against what is right."""
    head = note_head(note.text, note.name)
    assert not note.has_tag or asked_tag(note.has_tag) in head.tags
    assert not note.lacks_tag or asked_tag(note.lacks_tag) not in head.tags
    wanted = {key: getattr(note, key) for key in SourceHead.__struct_fields__}
    assert {key: getattr(head, key) for key, value in wanted.items() if value is not None} == {
        key: value for key, value in wanted.items() if value is not None
    }


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.id)
def test_a_note_says_of_itself_what_its_program_shows(note: Note) -> None:
    check(note)


@pytest.mark.parametrize(
    ("head", "names"),
    [
        (':PROPERTIES:\n:ID: x\n:ROAM_ALIASES: "Die Pumpe" Pump\n:END:\n', ("Die Pumpe", "Pump")),
        (':PROPERTIES:\n:ROAM_ALIASES: "Pumpe, alt" Pump\n:END:\n', ("Pumpe, alt", "Pump")),
        (":PROPERTIES:\n:ROAM_ALIASES: Pump Mixer\n:END:\n", ("Pump", "Mixer")),
        ('---\naliases: The "old" pump\n---\n', ('The "old" pump',)),
        ('---\naliases: 5" and 6" pipes\n---\n', ('5" and 6" pipes',)),
    ],
)
def test_names_of_a_note_are_parted_by_blanks_in_org_roam_alone(head: str, names: tuple[str, ...]) -> None:
    is_org = head.startswith(":")
    text = f"{head}{'#+title:' if is_org else '#'} Pumps\n\nLeaks.\n"
    found = note_names(text, "20260305090000-pumps.org" if is_org else "pumps.md")

    assert tuple(dict.fromkeys(found)) == ("Pumps", *names)
