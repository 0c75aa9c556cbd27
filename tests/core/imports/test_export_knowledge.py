"""Instructions, documents and memories of exports: offered once, in pieces, and never taken by an import itself."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from core.app.outside import offers_to
from core.imports.export_knowledge import PIECE_CHARS, knowledge_of
from core.imports.import_plan import left_out
from core.imports.import_run import ImportHandler, ImportRequest, run_import
from core.imports.imports_messages import ImportEnded, ImportEvent, RunImport
from core.kernel import paths
from core.kernel.errors import SlopError
from core.kernel.values.imports import ImportReport, Offered
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge.knowledge_reader import KnowledgeReader
from core.knowledge.mcp_server.proposal_worker import drop_proposals, load_proposals
from tests.core.imports.brought import gpt, msg

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
PROJECT = {
    "uuid": "p1",
    "name": "Pumps",
    "prompt_template": "Answer in SI units.",
    "docs": [{"filename": "notes.md", "content": "The pump runs at 3 bar."}],
}
MEMORIES = [{"conversations_memory": "Ann builds pumps.", "project_memories": {"p1": "Hall 2 is cold."}}]


def brought(home: Path, *files: Path, is_dry: bool = False) -> ImportReport:
    request = ImportRequest(
        home=home, paths=tuple(map(str, files)), now=NOW, provider="acme", model="m", is_dry=is_dry
    )
    return run_import(request, offer=offers_to(home, lambda: NOW))


def export(base: Path) -> Path:
    given = base / "export"
    (given / "projects").mkdir(parents=True)
    (given / "projects" / "p1.json").write_text(json.dumps(PROJECT))
    (given / "memories.json").write_text(json.dumps(MEMORIES))
    return given


def waiting(home: Path) -> list[tuple[str, str]]:
    return sorted((one.text, one.source) for one in load_proposals(home))


def test_each_piece_of_an_export_waits_for_a_yes_and_nothing_is_known(tmp_path: Path) -> None:
    home, given = tmp_path / "home", export(tmp_path)
    home.mkdir()
    dry = brought(home, given, is_dry=True)
    assert dry.offered == 4
    assert waiting(home) == []
    assert any("offers 4 proposals" in line for line in left_out(dry))

    report = brought(home, given)

    assert (report.offered, report.not_offered) == (4, 0)
    assert waiting(home) == [
        ("Ann builds pumps.", "An import (memory)"),
        ("Answer in SI units.", "An import (instructions of Pumps)"),
        ("Hall 2 is cold.", "An import (memory)"),
        ("The pump runs at 3 bar.", "An import (notes.md of Pumps)"),
    ]
    assert list(KnowledgeReader(home).read(KnowledgeSettings()).items) == []
    assert any("Knowledge, Proposed" in line for line in left_out(report))


def test_what_a_person_refused_is_not_offered_again(tmp_path: Path) -> None:
    home, given = tmp_path / "home", export(tmp_path)
    home.mkdir()
    brought(home, given)
    drop_proposals(home, frozenset(one.id for one in load_proposals(home)))

    assert brought(home, given, is_dry=True).offered == 0
    assert brought(home, given).offered == 0
    assert waiting(home) == []


def test_a_file_of_memories_that_is_named_itself_is_offered(tmp_path: Path) -> None:
    home, given = tmp_path / "home", export(tmp_path)
    home.mkdir()
    report = brought(home, given / "memories.json")
    assert (report.faults, report.offered) == ((), 2)


def test_memories_and_instructions_of_chatgpt_are_offered_once_for_all_its_conversations(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    about = {
        "user_profile": "The user provided the following about themselves:\n```I mend pumps.```",
        "user_instructions": "```Be brief.```",
    }
    memory = {"model_set_context": "1. [2026-01-02]. Has two pumps.\n\n2. [2026-02-03]. Lives by the sea."}
    files = []
    for number in (1, 2):
        told = gpt(
            msg("user", kind="user_editable_context", content=about),
            msg("system", kind="model_editable_context", content=memory),
            msg("user", "When?"),
            msg("assistant", "At noon."),
            conversation_id=f"k{number}",
        )
        files.append(tmp_path / f"conversations-{number}.json")
        files[-1].write_text(told)

    assert brought(home, *files).offered == 4
    assert [text for text, _ in waiting(home)] == [
        "Be brief.",
        "Has two pumps.",
        "I mend pumps.",
        "Lives by the sea.",
    ]


def test_where_too_many_wait_the_rest_comes_with_the_next_import(tmp_path: Path) -> None:
    home, given = tmp_path / "home", export(tmp_path)
    home.mkdir()
    kept: list[str] = []

    def offer(one: Offered) -> bool:
        if len(kept) == 3:
            raise SlopError("200 proposals wait for the person already")
        kept.append(one.text)
        return True

    request = ImportRequest(home=home, paths=(str(given),), now=NOW, provider="acme", model="m", is_dry=False)
    report = run_import(request, offer=offer)
    assert (report.offered, report.not_offered) == (3, 1)
    assert any("Decide on some" in line for line in left_out(report))
    assert brought(home, given).offered == 1


def test_each_run_of_the_program_compares_with_what_is_known_by_then(tmp_path: Path) -> None:
    home, given = tmp_path / "home", export(tmp_path)
    home.mkdir()
    told: list[ImportEvent] = []
    handler = ImportHandler(home, lambda: NOW, told.append, offers=partial(offers_to, home, lambda: NOW))

    def offered(path: Path) -> int:
        handler.handle(RunImport(paths=(str(path),), is_dry=False, provider="acme", model="m"))
        ended = told[-1]
        assert isinstance(ended, ImportEnded)
        assert ended.report is not None
        return ended.report.offered

    assert offered(given) == 4
    facts = paths.knowledge_dir(home) / "facts.md"
    facts.write_text("# Facts\n\n- Hall 3 is warm.\n")
    later = tmp_path / "later" / "memories.json"
    later.parent.mkdir()
    later.write_text(
        json.dumps(
            [{"conversations_memory": "Hall 3 is warm.", "project_memories": {"p1": "Hall 4 is dry."}}]
        )
    )

    assert offered(later) == 1
    assert "Hall 4 is dry." in [text for text, _ in waiting(home)]


def test_a_long_document_is_cut_where_it_pauses_and_loses_no_word() -> None:
    text = "\n\n".join(f"Paragraph {number} {'of many words ' * 30}." for number in range(20))
    told = knowledge_of(json.dumps({"prompt_template": "", "docs": [{"content": text}]}).encode())
    assert len(told) > 3
    assert max(len(one.text) for one in told) <= PIECE_CHARS
    assert " ".join(" ".join(one.text for one in told).split()) == " ".join(text.split())
    assert all(one.text.startswith("Paragraph") for one in told)
    unbroken = knowledge_of(json.dumps([{"prompt_template": "x" * 9_000}]).encode())
    assert max(len(one.text) for one in unbroken) == PIECE_CHARS


def test_a_file_of_other_types_offers_what_can_be_read() -> None:
    assert knowledge_of(b'{"prompt_template": 7, "docs": [{"filename": null, "content": ["x"]}]}') == ()
    assert knowledge_of(b'{"prompt_template": "a", "docs": 3}') == ()
    assert knowledge_of(b'[{"prompt_template": "Be kind."') == ()
