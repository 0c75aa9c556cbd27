"""Secrets in every place of a day: found by place and kind, taken out where they may be, never printed."""

from __future__ import annotations

import hashlib
import json
import random
import re
import string
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from core.agent import kept_bytes
from core.agent.tool import ToolPlaces
from core.app.forgetting.forgetting_places import PLACES, Folder
from core.app.forgetting.secret_finds import (
    Cure,
    SecretFind,
    SecretReport,
    cure_of,
    finds_in,
    is_searched,
    report_data,
    report_lines,
    without_secrets,
)
from core.app.forgetting.secret_search import clean_secrets, search_secrets
from core.kernel import paths
from core.kernel.values.agent import FileChange
from core.kernel.values.discussion import Draft
from core.kernel.values.facts import Quote
from core.knowledge.evidence_rows import Conversation, evidence_of, row_text
from core.knowledge.fact_store import FactReader
from core.knowledge.memory_log import read_logs
from core.talk.discussion import discussion_meta, log, trash
from core.talk.discussion.catalog import Catalog
from core.talk.discussion.discussion_store import discussion_of
from tests.core.app.forgetting.day import WORD, a_day, files, traces
from tests.core.kernel.secret_corpus.values import VENDORS, Values
from tests.core.knowledge.harvest.harvests import NOW


def secret_of(seed: int) -> str:
    """A made-up key of GitHub, no two alike."""
    return "ghp_" + "".join(random.Random(seed).choices(string.ascii_letters, k=33)) + "7aQ"


def sow(home: Path) -> str:
    """A day in which a secret stands in the place of each word. Returns it."""
    a_day(home)
    key = secret_of(7)
    catalog_file = paths.catalog_file(home)
    for _, _, path in files(home):
        if path.name.startswith("catalog-"):
            path.unlink()
            continue
        data = path.read_bytes()
        path.write_bytes(re.sub(WORD.encode(), key.encode(), data, flags=re.IGNORECASE))
    catalog = Catalog(home, catalog_file, may_start_child=False)
    list(catalog.refresh())
    catalog.close()
    return key


def said(report: SecretReport) -> str:
    """Everything that a front end can show of a report."""
    return "\n".join(report_lines(report)) + json.dumps(report_data(report)) + repr(report)


def snapshot(home: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for _, _, path in files(home)}


def searched(home: Path, name: str) -> bool:
    return is_searched(Folder.HOME, Path(name).relative_to(home).as_posix())


@pytest.fixture
def home(isolated_home: Path) -> Path:
    isolated_home.mkdir()
    return isolated_home


def test_every_place_of_a_day_is_looked_through_and_cleaned_but_the_logs(home: Path) -> None:
    key = sow(home)
    places = {find.place for find in search_secrets(home).finds}
    assert places >= {"discussions", "items", "facts", "evidence", "events", "applies", "review", "replies"}
    assert places >= {"digest", "prefixes", "diagnostics", "leftovers"}
    before = snapshot(home)
    assert search_secrets(home).cleaned == 0
    assert snapshot(home) == before

    report = clean_secrets(home, NOW + timedelta(days=1))

    assert report.problems == ()
    assert {find.cure for find in report.finds} == {Cure.FORGET}
    left = traces(home, key.lower())
    assert left
    assert all(name.endswith(paths.LOG_FILE) or "/attachments/" in name for name in left), left
    assert {discussion_of(Path(one).parts[1]) for one in left} <= set(report.discussion_ids)
    assert key[:12] not in said(report)
    assert [fact for fact in FactReader(home).facts() if "[secret]" in fact.text]


def test_what_is_clean_is_left_to_the_byte_and_a_second_cleaning_changes_nothing(home: Path) -> None:
    sow(home)
    before = {
        name: data
        for name, data in snapshot(home).items()
        if Path(name).is_relative_to(home) and b"ghp_" not in data and searched(home, name)
    }
    assert {Path(name).name for name in before} >= {"log.jsonl", "meta.toml", "why.toml", "ledger.json"}
    clean_secrets(home, NOW + timedelta(days=1))
    after = snapshot(home)

    assert {name for name, data in before.items() if after.get(name) != data} == set()
    again = clean_secrets(home, NOW + timedelta(days=2))
    assert again.cleaned == 0
    holder = "harvest.holder"  # of the lock: says since which second
    twice = {name: data for name, data in snapshot(home).items() if not name.endswith(holder)}
    assert twice == {name: data for name, data in after.items() if not name.endswith(holder)}


def test_evidence_whose_quote_is_cleaned_is_still_evidence(home: Path) -> None:
    a_day(home)
    key, path = secret_of(9), paths.knowledge_dir(home) / "evidence.jsonl"
    said = Conversation("2026-11-20T12:00:00.000000+00:00", "2026-11-20-keys", "/p/log.jsonl", "b" * 64)
    row = evidence_of("a" * 64, Quote(("m-1",), f"the key is {key}"), said)
    forged = replace(row, quote=f"never said {key}")
    path.write_bytes(path.read_bytes() + b"".join(row_text(one).encode() + b"\n" for one in (row, forged)))
    before = read_logs(home)
    clean_secrets(home, NOW + timedelta(days=1))

    after = read_logs(home)
    assert after.evidence[-1].quote == "the key is [secret]"
    assert (after.torn, len(after.evidence)) == (before.torn, len(before.evidence))


def test_drafts_and_queues_are_cleaned_and_can_be_read(home: Path) -> None:
    sow(home)
    owner = search_secrets(home).discussion_ids[0]
    discussion_meta.write_draft(home, owner, Draft(f"password: {Values(3).password()}\nand go"))
    clean_secrets(home, NOW + timedelta(days=1))

    assert discussion_meta.read_draft(home, owner).text == "password: [secret]\nand go"
    queue = discussion_meta.read(home, owner)
    assert (queue.problem, [one.text for one in queue.prompts]) == ("", ["the [secret] lock"])
    assert log.read(home, owner).records


def test_kept_bytes_of_files_are_cleaned_and_are_put_back_no_more(home: Path, tmp_path: Path) -> None:
    sow(home)
    owner = search_secrets(home).discussion_ids[0]
    file = tmp_path / "settings.py"
    file.write_text(f"password = '{Values(3).password()}'\n")
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    change = FileChange(
        str(file), "m1", sha256, sha256, difference=f"-password: {Values(3).password()}\n+x\n"
    )
    kept_bytes.keep_before(home, owner, change, b"old = 1\n" + file.read_bytes())
    kept = [find for find in search_secrets(home).finds if "/edits/" in find.file]
    assert {find.cure for find in kept} == {Cure.SCRUB}
    assert len({find.file for find in kept}) == 2
    after = clean_secrets(home, NOW + timedelta(days=1))

    assert not [find for find in after.finds if "/edits/" in find.file]
    assert kept_bytes.kept_changes(home, owner)[0].difference.startswith("-password: [secret]")
    undone = kept_bytes.restore(home, owner, "m1", (change,), ToolPlaces(str(tmp_path), is_trusted=True))
    assert "its earlier content is no longer kept" in undone.left[0]


@pytest.mark.parametrize("kind", sorted(VENDORS))
def test_json_lines_stay_json_and_every_kind_goes(kind: str) -> None:
    key = VENDORS[kind](Values(11))
    row = {"text": f'He said "x\\y"\n{key}\nand "on".', "v": 1}
    line = json.dumps(row, ensure_ascii=False)
    data = f'{{"v":0}}\n{line}\n'.encode()
    cleaned = without_secrets(data, "events.jsonl")

    assert [at for at, _ in finds_in([data.decode()], "events.jsonl")][:1] == [2]
    assert cleaned.split(b"\n")[0] == b'{"v":0}'
    text = json.loads(cleaned.split(b"\n")[1])["text"]
    assert "[secret]" in text
    assert text.startswith('He said "x\\y"')
    assert key not in text
    assert without_secrets(cleaned, "events.jsonl") == cleaned


def test_a_private_key_that_stands_escaped_in_a_line_of_json_goes_whole() -> None:
    block = Values(5).pem("RSA PRIVATE KEY")
    data = json.dumps({"text": f"Use\n{block}\nhere"}).encode()
    cleaned = json.loads(without_secrets(data, "a.json"))

    assert cleaned["text"] == "Use\n[secret]\nhere"


def test_a_private_key_that_is_cut_off_takes_nothing_of_what_follows() -> None:
    block = Values(5).pem("RSA PRIVATE KEY").rpartition("\n")[0]
    data = f"- Ours:\n{block}\n- The gate opens.\n- {secret_of(1)}\n".encode()

    assert without_secrets(data, "facts.md") == b"- Ours:\n[secret]\n- The gate opens.\n- [secret]\n"
    assert [line for line, _ in finds_in([data.decode()], "facts.md")] == [2, 8]


def test_a_bare_value_of_yaml_stays_a_text() -> None:
    data = f"- text: {secret_of(1)} is the key\n  note: see {secret_of(2)}\n".encode()

    assert without_secrets(data, "a.yaml") == b'- text: "[secret] is the key"\n  note: see [secret]\n'


def test_a_long_file_is_read_in_pieces_and_each_secret_is_told_once_with_its_line() -> None:
    keys = {at: secret_of(at) for at in (3, 9_000, 9_004, 19_999)}
    text = "".join(f"{keys.get(at, 'an ordinary line')}\n" for at in range(1, 20_001))
    for size in (701, 50_000, 1_000_000):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert [line for line, _ in finds_in(pieces, "a.md")] == list(keys)


def test_odd_files_are_sentences_and_the_rest_goes_on(home: Path) -> None:
    folder = paths.knowledge_dir(home)
    folder.mkdir()
    (folder / "facts.md").write_text(f"- {secret_of(1)}\n")
    (folder / "notes.md").symlink_to(folder / "notes.md")
    (folder / "tasks.md").write_bytes(b"\xff\xfe\0 " + secret_of(2).encode())
    report = search_secrets(home)

    assert [(find.file, find.line) for find in report.finds] == [
        ("knowledge/facts.md", 1),
        ("knowledge/tasks.md", 0),
    ]
    (problem,) = report.problems
    assert "knowledge/notes.md was skipped" in problem


def test_a_name_that_holds_a_secret_is_told_without_it(home: Path) -> None:
    folder = paths.knowledge_dir(home) / "files"
    folder.mkdir(parents=True)
    (folder / f"{secret_of(1)}.md").write_text(f"key {secret_of(1)}\n")
    report = search_secrets(home)

    assert len(report.finds) == 1
    assert secret_of(1)[4:] not in said(report)


def test_conversations_in_the_trash_are_named_by_their_id(home: Path) -> None:
    sow(home)
    (owner,) = set(search_secrets(home).discussion_ids)
    trash.delete(home, owner, NOW, "")

    assert search_secrets(home).discussion_ids == (owner,)
    assert {find.place for find in search_secrets(home).finds} >= {"trash"}


def test_each_place_of_the_table_that_is_named_by_a_cure_is_there() -> None:
    from core.app.forgetting.secret_finds import _CURES

    assert set(_CURES) <= {place.id for place in PLACES}


def test_derived_files_are_made_anew_and_never_written_into() -> None:
    cures = {
        place.id: cure_of(place, "x")
        for place in PLACES
        if place.root is Folder.CACHE and not place.is_wordless
    }

    assert set(cures.values()) == {Cure.ANEW}, cures


def test_an_index_with_a_secret_goes_whole_with_its_vectors(home: Path) -> None:
    index = paths.index_dir(home)
    index.mkdir(parents=True)
    (index / "index.sqlite").write_text(f"a key {secret_of(3)}")
    (index / "notes_prose.i8").write_bytes(b"\1" * 8)

    assert clean_secrets(home, NOW).cleaned == 1
    assert not index.exists()


def _counted(cleaned: int) -> list[str]:
    find = SecretFind(
        place="", root=Folder.HOME, file="a.txt", line=1, kind="GitHub token", cure=Cure.BY_HAND
    )
    return list(report_lines(SecretReport(finds=(find,), files=3, cleaned=cleaned)))[1:]


def test_the_last_lines_count_what_was_found_and_what_is_left() -> None:
    assert _counted(0)[0] == "1 secret in 1 file; the program read 3 in all. Kinds: 1 GitHub token."
    assert _counted(2)[:2] == [
        "Cleaned: 2 secrets.",
        "1 secret left in 1 file; the program read 3 in all. Kinds: 1 GitHub token.",
    ]


@pytest.mark.usefixtures("german")
def test_what_is_left_is_counted_in_the_language_that_is_spoken() -> None:
    cleaned, left = _counted(2)[:2]

    assert cleaned.startswith("Bereinigt: ")
    assert left.startswith("1 Geheimnis übrig")
