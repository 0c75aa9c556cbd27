"""Every parser of a file that people edit, given texts of two sizes: what each does, as JSON. Run by its test."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.text_work import count_from, work

SIZES = (1_000, 4_000)

Act = Callable[[str], object]


def parsers(folder: Path) -> Mapping[str, Act]:
    """By the file that each reads. `folder`: empty, for those that read from a disk."""
    from core.agent import journal_text
    from core.app.forgetting.redaction import facts_without
    from core.kernel.secrets import scrub
    from core.kernel.values.settings import KnowledgeSettings
    from core.knowledge import categories, evidence_rows, layer7, ledger_text, merges
    from core.knowledge import note_files as files
    from core.knowledge.facts import fact_file, fact_index
    from core.knowledge.facts import fact_merge as union
    from core.knowledge.facts import fact_sync as validation
    from core.knowledge.facts.fact_checks import place_of
    from core.knowledge.facts.item_edit import with_facts
    from core.knowledge.harvest import preview, transcript
    from core.knowledge.knowledge_reader import KnowledgeReader
    from core.knowledge.mcp_server import proposal_step as proposal_text
    from core.retrieval import front_matter as heads
    from core.retrieval import navigation, sources
    from core.services.providers.model_data import load_models
    from core.services.settings import prompts, toml_document, trust
    from core.services.settings import settings_loader as loader
    from core.signals.inbox import Inbox
    from core.talk.context import ignores
    from core.talk.context.outline.definitions import headings
    from core.talk.context.outline.sql_definitions import sql_definitions
    from core.talk.discussion import discussion_meta
    from core.talk.transcripts import markdown_chats

    scrub("\n" * SIZES[1])  # its tables are loaded for the first long text
    home, project = folder / "home", folder / "project"
    knowledge = home / "knowledge"
    for made in (knowledge / "prompts", project / ".git", home / "inbox", home / "discussions" / "d"):
        made.mkdir(parents=True)
    repository, everywhere = place_of("repos/tides.yaml"), place_of("global/facts.yaml")
    assert repository is not None
    assert everywhere is not None

    def at(path: Path, read: Callable[[], object]) -> Act:
        def act(text: str) -> object:
            path.write_text(text, encoding="utf-8")
            try:
                return read()
            finally:
                path.unlink()

        return act

    def changed(name: str, text: str) -> object:
        data = text.encode()
        items = categories.parse_file(name, data).items
        edited = categories.with_items(
            data, [(item, None if n % 2 else "- x") for n, item in enumerate(items)]
        )
        return categories.with_lines(name, edited or b"\n", [categories.CategoryLine("- y", categories.OPEN)])

    def facts(text: str) -> object:
        read = [fact_file.parse_file(repository, (HEAD + text).encode())]
        joined = union.united(read)
        validation.unknown_relations(read[0], joined)
        known = [fact for fact in read[0].facts if fact.id not in joined.broken]
        with_facts(repository, HEAD.encode(), known, "2026-01-01")
        facts_without(repository, [fact.id for fact in known], [], (HEAD + text).encode())
        return list(fact_file.headings(read[0].text, read[0].items))

    def settings() -> object:
        request = loader.config_request(
            start=project, home=home, environ={"MANUAL_SLOP_CONFIG": str(folder / "config.toml")}
        )
        return loader.load(request)

    def letters() -> object:
        return Inbox(home, lambda: datetime(2100, 1, 1, tzinfo=UTC)).read()

    return {
        "facts.md": lambda text: categories.parse_file("facts.md", text.encode()),
        "tasks.md": lambda text: list(categories.newest_first("tasks.md", text.encode())),
        "playbooks.md, changed": lambda text: changed("playbooks.md", text),
        "tasks.md, changed": lambda text: changed("tasks.md", text),
        "a home's facts.md": at(
            knowledge / "facts.md", lambda: KnowledgeReader(home).read(KnowledgeSettings())
        ),
        "notes": lambda text: files.parse_notes("files/1:2.md", f"# /a/b\n{text}".encode()),
        "provenance": lambda text: categories.split_tag(text.replace("\n", " ")),
        "struck items": lambda text: (evidence_rows.is_struck(text), evidence_rows.unstruck(text)),
        "digest.md": lambda text: layer7.injected_digest(layer7.HEAD + text, 1 << 30),
        "digest.md, its items": lambda text: layer7.entered(text, ()),
        "drafts": lambda text: (merges.marks_in(text), merges.steps_of(text)),
        "talk with memory in it": lambda text: transcript.without_recalled(
            f"{{knowledge}}\n{text}\n{{/knowledge}}\n[from: "
        ),
        "repos/*.yaml": facts,
        "front matter of facts": lambda text: fact_file.parse_file(
            everywhere, f"---\n{text}\n---\n".encode()
        ),
        "index.json": lambda text: fact_index.checked_index(text.encode()),
        "ledger.json": lambda text: ledger_text.read_ledger(
            f'{{"entries": {{{text}}}}}'.encode(), "ledger.json"
        ),
        "ledger's journal": lambda text: ledger_text.read_journal(text.encode()),
        "evidence.jsonl, events.jsonl": lambda text: evidence_rows.read_rows(text.encode(), text.encode()),
        "review": lambda text: preview.read_review(
            json.dumps({"v": 1, "choices": book(text, {"ticked": True})})
        ),
        "proposals": lambda text: proposal_text.read_book(
            json.dumps({"waiting": list(book(text, PROPOSAL).values())}).encode()
        ),
        "manual_slop.toml": at(project / "manual_slop.toml", settings),
        "config.toml": at(folder / "config.toml", settings),
        "manual_slop.toml, changed": lambda text: toml_document.set_value(
            text, ("presets", "a", "items"), "[]"
        ),
        "lines of manual_slop.toml": lambda text: toml_document.lines_of(
            text, [("personas", "a", "text"), ("k9",)]
        ),
        "trusted folders": at(folder / "trust.toml", lambda: trust.trusted_folders(folder / "trust.toml")),
        "models.toml": at(folder / "models.toml", lambda: load_models(folder / "models.toml")),
        "prompts": at(
            knowledge / "prompts" / "harvest-conversation.md", lambda: prompts.read_prompts(home, {})
        ),
        "inbox letters": at(home / "inbox" / "letter.md", letters),
        "queue.json": at(home / "discussions" / "d" / "queue.json", lambda: discussion_meta.read(home, "d")),
        "meta.toml": at(
            home / "discussions" / "d" / "meta.toml", lambda: discussion_meta.read_meta(home, "d")
        ),
        ".gitignore": at(
            project / ".gitignore",
            lambda: (
                ignores.ignores_at(str(project), str(project))
                .inside(str(project))
                .leaves_out(str(project / "a"), is_folder=False)
            ),
        ),
        "journal.md": lambda text: (journal_text.parsed(text), journal_text.without_discussions(text, ["x"])),
        "notes' front matter": lambda text: heads.note_head(f"---\n{text}\n---\n{text}", "a.md"),
        "notes of a vault": lambda text: (headings(text), sources.read_head("a.md", text.encode())),
        "schemas of SQL": lambda text: sql_definitions(text, len(text)),
        "indexes of notes": lambda text: (
            navigation.without_marker(text.encode()),
            navigation.page_names(text.encode()),
        ),
        "plain talks": lambda text: list(markdown_chats.read_plain(text.encode())),
        "aider's talks": lambda text: list(
            markdown_chats.read_aider(f"# aider chat started at 2025-10-20 21:49:17\n{text}".encode())
        ),
        "SpecStory's talks": lambda text: list(
            markdown_chats.read_specstory(f"{markdown_chats.HEAD}\n{text}".encode())
        ),
    }


PROPOSAL = {"id": "a", "category": "facts", "text": "b"}


def book(text: str, row: Mapping[str, object]) -> dict[str, object]:
    """A row for each word of a text."""
    return {f"{number}": {**row, "head": word} for number, word in enumerate(text.split())}


HEAD = "---\ndomain: tides\ncategory: fact\n---\n"


def shapes() -> Mapping[str, Callable[[int], str]]:
    """Texts of a size in characters, each of one thing that a parser looks at, again and again."""

    def many(unit: str) -> Callable[[int], str]:
        return lambda size: unit * (size // len(unit))

    def numbered(unit: str) -> Callable[[int], str]:
        return lambda size: "".join(unit.format(number) for number in range(1, size // len(unit) + 1))

    fact = '- id: tides:fact:{0:03d}\n  fact: "x"\n  confidence: 0.5\n  related: [tides:fact:999]\n'
    return {
        "one word": many("x"),
        "blanks": many(" "),
        "empty lines": many("\n"),
        "an item of many lines": lambda size: "- a\n" + many("  w\n")(size),
        "an item with gaps": lambda size: "- a\n" + many("\n  w\n")(size),
        "items": many("- a [from: b, 2026-01-01]\n"),
        "tags of one item": lambda size: "- a" + many(" [from: b, 2026-01-01]")(size),
        "open tags": many("[from: b, "),
        "headings": many("# a\n"),
        "a heading of blanks": lambda size: "# a" + many(" ")(size) + "b\n",
        "a heading of marks": lambda size: "## a" + many("#")(size) + "b\n",
        "sections": many("## Done\n\n- a\n"),
        "fences": many("```\n~~~\n"),
        "fences of all lengths": lambda size: "\n".join(
            "`" * n for n in range(int((2 * size) ** 0.5), 2, -1)
        ),
        "rules": many("---\n"),
        "statements of SQL": many("create table a (b);\n"),
        "a routine of SQL": lambda size: "create function f() begin\n" + many(" create table a;\n")(size),
        "strikes": many("~~"),
        "facts": numbered(fact),
        "facts twice": lambda size: numbered(fact)(size // 2) * 2,
        "fields": numbered("k{0}: 1\n"),
        "keys": numbered("k{0} = 1\n"),
        "tables": numbered("[t{0}]\na = 1\n"),
        "tables of an array": many("[[model]]\nid = 'a'\n"),
        "personas": numbered("[personas.p{0}]\ntext = 'a'\n"),
        "presets": numbered("[presets.p{0}]\nitems = [{{path = 'a'}}]\n"),
        "files of a preset": lambda size: (
            "[presets.a]\nitems = [\n" + many("  {path = 'a'},\n")(size) + "]\n"
        ),
        "lines of a text": lambda size: "[personas.a]\ntext = '''\n" + many("x\n")(size) + "'''\n",
        "rows": many('{"a":1}\n'),
        "entries": lambda size: ",".join(f'"k{n}":{{"path":"a"}}' for n in range(size // 20)),
        "patterns": numbered("a{0}\n!b{0}\nc*{0}\n"),
        "marks": many("*_`[]()<>"),
        "entries of a journal": many("## 2026-01-01T00:00:00Z a\n\nx\n"),
        "turns": many("#### a\n\nb\n\n**User:** c\n\n"),
    }


def main() -> None:
    """Print, for each parser and shape, what was done with either size."""
    count_from("core")
    told: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MANUAL_SLOP_HOME"] = os.path.join(folder, "home")
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        os.environ["XDG_CONFIG_HOME"] = os.path.join(folder, "settings")
        texts = {name: [made(size) for size in SIZES] for name, made in shapes().items()}
        for parser, act in parsers(Path(folder)).items():
            for small, _ in texts.values():
                _counted(act, small)  # what is loaded or kept at the first use is none of it
            told[parser] = {
                name: [_counted(act, text) for text in of_sizes] for name, of_sizes in texts.items()
            }
    json.dump(told, sys.stdout)


def _counted(act: Act, text: str) -> int:
    def read() -> None:
        with suppress(Exception):  # what is refused costs its time too
            act(text)

    return work(read)


if __name__ == "__main__":
    main()
