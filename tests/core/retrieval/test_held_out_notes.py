"""Notes of programs whose forms were written down before they were tried."""

from __future__ import annotations

import pytest

from tests.core.retrieval.test_brought_notes import Note, check

D = "2026-03-05"
NOTES = [
    Note(id="obsidian properties", name="a/p.md", text=f'---\naliases: [Ferry, "The boat"]\ntags:\n  - trip/sea\ncssclasses: [wide]\ndate: {D}\nrating: 4\n---\nWe took the ferry. It rained.\n', date=D, has_tag="trip/sea", description="We took the ferry."),
    Note(id="obsidian daily with time", name="Journal/2026/03/2026-03-05 Thursday.md", text="## Log\n- 09:10 met Ann #work/meeting\n", date=D, has_tag="work"),
    Note(id="obsidian dataview inline", name="a/dv.md", text=f"# Reading list\n\ncreated:: {D}\ntags:: #books\n\nA list of books. Short.\n", date=D, has_tag="books", title="Reading list", description="A list of books."),
    Note(id="obsidian embed first", name="a/emb.md", text="![[boat.png]]\n\nThe boat leaks. Again.\n", description="The boat leaks."),
    Note(id="obsidian comment first", name="a/com.md", text="%% draft, do not share %%\n# Harbour\n\nA harbour town. Small.\n", title="Harbour", description="A harbour town."),
    Note(id="templater left", name="a/tpl.md", text=f"---\ncreated: {D}T10:00\ntags: [tpl]\n---\n<%* await tp.file.move('x') %>\n# Title here\n\nBody text. More.\n", date=D, has_tag="tpl", title="Title here"),
    Note(id="excalidraw head", name="a/draw.excalidraw.md", text="---\nexcalidraw-plugin: parsed\ntags: [excalidraw]\n---\n==⚠  Switch to EXCALIDRAW VIEW ⚠==\n\n# Text Elements\nPump ^a1b2c3\n", has_tag="excalidraw"),
    Note(id="logseq page properties", name="pages/Garden___Beds.md", text="title:: Garden/Beds\ntags:: garden, spring\ndate:: [[Mar 5th, 2026]]\n\n- Plant peas #veg\n", date=D, has_tag="garden", title="Garden/Beds"),
    Note(id="logseq journal title", name="journals/2026_03_05.md", text="- Woke early. Slept late. #health\n- {{query (todo now)}}\n", date=D, has_tag="health"),
    Note(id="logseq org", name="pages/pump.org", text="#+title: Pump\n#+tags[]: water, metal\n#+date: <2026-03-05 Thu>\n* The pump\nIt runs. Loudly.\n", date=D, has_tag="water", title="Pump"),
    Note(id="org roam", name="20260305101112-ferry.org", text=":PROPERTIES:\n:ID:       1f0c\n:ROAM_ALIASES: \"The boat\"\n:END:\n#+title: Ferry\n#+filetags: :trip:sea:\n\nA boat. White.\n", date=D, has_tag="sea", title="Ferry", description="A boat."),
    Note(id="org heading tags", name="a/x.org", text="#+TITLE: Work\n#+DATE: [2026-03-05 Thu 10:12]\n* Meeting :team:weekly:\n", date=D, has_tag="weekly", title="Work"),
    Note(id="joplin front matter", name="a/j.md", text="---\ntitle: Tax notes\nupdated: 2026-03-09 10:00:00Z\ncreated: 2026-03-05 09:15:00Z\nlatitude: 47.3\naltitude: 0.0\ncompleted?: no\ndue: 2026-04-01 00:00:00Z\ntags:\n  - money\n---\n\nPay in April. Early.\n", date=D, has_tag="money", title="Tax notes"),
    Note(id="joplin raw", name="0f1c9a3b4d5e6f708192a3b4c5d6e7f8.md", text="Tax raw\n\nPay in April. Early.\n\nid: 0f1c9a3b4d5e6f708192a3b4c5d6e7f8\nparent_id: aa\ncreated_time: 2026-03-05T09:15:00.000Z\nupdated_time: 2026-03-09T09:15:00.000Z\nis_conflict: 0\ntype_: 1\n", date=D, title="Tax raw"),
    Note(id="bear", name="a/Trip.md", text="# Trip to Bern\n#travel/swiss# #2026\n\nThe train was late. Very.\n", has_tag="travel/swiss", title="Trip to Bern", description="The train was late."),
    Note(id="bear tag with blanks", name="a/Bee.md", text="# Bees\n#bee keeping# and more\n\nThey swarm. In May.\n", has_tag="bee keeping", title="Bees"),
    Note(id="notion properties", name="a/Task 2f1c9a3b4d5e6f708192a3b4c5d6e7f8.md", text="# Fix the pump\n\nStatus: In progress\nAssignee: Ann\nCreated: March 5, 2026 10:12 AM\nTags: water, urgent\n\nIt drips. Badly.\n", date=D, has_tag="urgent", title="Fix the pump", description="It drips."),
    Note(id="notion iso", name="a/Ship 2f1c9a3b4d5e6f708192a3b4c5d6e7f8.md", text="# Ship it\n\nDate: 2026/03/05\nTag: release\n\nDone. Yes.\n", date=D, has_tag="release", title="Ship it"),
    Note(id="zettlr", name="20260305101112.md", text=f"---\ntitle: 'On tides: a note'\nkeywords: [moon, sea]\nid: 20260305101112\ndate: {D}\n---\n\nThe moon pulls. The sea follows.\n", date=D, has_tag="moon", title="On tides: a note", description="The moon pulls."),
    Note(id="zettelkasten id in the name", name="202603051012 Spring tides.md", text="Spring tides are high. Neap tides are low. #tide\n", date=D, has_tag="tide", title="Spring tides"),
    Note(id="the archive", name="202603051012 Pump.md", text="# 202603051012 Pump\nTags: #water #iron\n\nCast iron. Old.\n", date=D, has_tag="iron"),
    Note(id="pandoc title block", name="a/pan.md", text="% A paper on pumps\n% Ann Lee; Bob May\n% March 5, 2026\n\nPumps move water. Slowly.\n", date=D, title="A paper on pumps", description="Pumps move water."),
    Note(id="multimarkdown", name="a/mmd.md", text="Title:    Lock gates\nAuthor:   Ann\nDate:     5 March 2026\nKeywords: canal, lock\n\nGates hold water. Mostly.\n", date=D, has_tag="canal", title="Lock gates"),
    Note(id="hugo toml", name="a/h.md", text='+++\ntitle = "Weir"\ndate = 2026-03-05T10:00:00+01:00\ndraft = true\ntags = ["river", "stone"]\n[params]\n  x = 1\n+++\n\nA weir. Low.\n', date=D, has_tag="river", title="Weir"),
    Note(id="jekyll name", name="_posts/2026-03-05-the-weir.markdown", text="---\nlayout: post\ncategories: [river walks]\n---\nA walk. Long.\n", date=D, has_tag="river walks"),
    Note(id="dendron", name="daily.journal.2026.03.05.md", text="---\nid: abc\ntitle: '2026-03-05'\ndesc: ''\nupdated: 1772700000000\ncreated: 1772668800000\ntags: journal\n---\n\nRain. All day.\n", date=D, has_tag="journal"),
    Note(id="tiddlywiki", name="a/t.tid", text="created: 20260305091500000\nmodified: 20260309091500000\ntags: water [[big pump]]\ntitle: Pump tid\ntype: text/vnd.tiddlywiki\n\nIt runs. Fine.\n", date=D, has_tag="big pump", title="Pump tid"),
    Note(id="trilium or amplenote", name="a/amp.md", text="---\ntitle: Amp\nuuid: 1\nversion: 1\ncreated: '2026-03-05T09:15:00-05:00'\ntags:\n  - inbox/later\n---\n\nBody. More.\n", date=D, has_tag="inbox/later", title="Amp"),
    Note(id="german fields", name="a/de.md", text="---\nTitel: Schleuse\nDatum: 5. März 2026\nSchlagwörter: [wasser, bau]\n---\nDie Schleuse ist zu. Heute.\n", date=D, has_tag="wasser", title="Schleuse"),
    Note(id="french fields", name="a/fr.md", text="---\ntitre: Écluse\ndate: 05/03/2026\nétiquettes: eau, pierre\n---\nFermée. Oui.\n", has_tag="eau", title="Écluse"),
    Note(id="simplenote", name="Shopping.txt", text="Barley and peas\n\nSoak them.\n\nTags:\n  groceries\n  split peas\n", has_tag="split peas"),
    Note(id="simplenote's tags are none of its words", name="Shopping.txt", text="\n\nTags:\n  groceries\n", description=""),
    Note(id="tags with words behind them are a text", name="Shopping.txt", text="Price tags\n\nTags:\n  red ones\nfor sale\n", lacks_tag="red ones"),
]  # fmt: skip


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.id)
def test_a_note_of_each_program_says_its_head(note: Note) -> None:
    check(note)
