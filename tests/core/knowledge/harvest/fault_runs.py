"""A harvest and an undo that fail at any one call of the disk, and what must hold after the next start."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from core.kernel import paths
from core.kernel.disk import OS_DISK, Disk
from core.kernel.errors import SlopError
from core.kernel.values.facts import ItemEventKind
from core.kernel.values.harvest import ArtifactFacts
from core.kernel.values.knowledge import Category, DraftKind, Item, LedgerStatus, MergeGroup, Replacement
from core.kernel.values.settings import KnowledgeSettings
from core.knowledge.apply import DRAFT_BY, MERGE_BY, MergeRequest, apply_merge, draft_names, make_draft
from core.knowledge.evidence_rows import item_hash
from core.knowledge.fact_store import FactReader, sync_facts
from core.knowledge.facts.fact_sync import validate
from core.knowledge.harvest.harvest_run import ApplyRequest, Found, apply, items_by_asking
from core.knowledge.history_text import evidence_for
from core.knowledge.knowledge_reader import KnowledgeReader, digest_file, fresh_digest
from core.knowledge.ledger import HarvestLedger, hash_source
from core.knowledge.memory_log import read_logs
from core.knowledge.part_writer import versions
from core.knowledge.recovery import list_applies, recover_home, undo_apply
from core.talk.discussion import trash
from tests.core.knowledge.fault_disks import Fault, KilledError, Point, PointDisk, PowerDisk
from tests.core.knowledge.harvest.harvests import NOW, OLD, Harvest, add_discussion, age, item_lines, reply

PIECE_BYTES = 2_000
MAX_BYTES = 12_000
LONG = "\n".join(f"Line {n} of a long talk about the tides." for n in range(110))
ANSWERS = {
    "ALPHA": reply("A one.", "Shared."),
    "BETA": reply(
        "B one.",
        "Shared.",
        tasks_open=[{"statement": "Start beta.", "detail": ""}],
        tasks_done=[{"statement": "End beta.", "detail": ""}],
        playbooks=[{"name": "Deploy", "steps": "Push."}],
    ),
    "part 1 of 3": reply("L one.", decisions=[{"statement": "Take L.", "detail": "cheap"}]),
    "part 2 of 3": reply("L one.", "L two."),
    "part 3 of 3": reply("L three.", questions=[{"statement": "Why L?", "detail": ""}]),
}
QUOTE = "ALPHA question"
PERSONS = {
    "facts.md": b"# Facts\n\n- By hand.\n- Seven hours.\nProse that stays.\n",
    "decisions.md": b"\xef\xbb\xbf# Decisions\r\n\r\n- Mine.\r\n",
    "tasks.md": b"# Tasks\n\n## Open\n\n- Old one.\n\n## Done\n\n## Mine\n\nnot a task\n",
}
"""What a person has in the files before: prose, a BOM, CRLF, a section of their own."""

ITEMS = sorted(
    [
        "By hand.", "Mine.", "Old one.", "A one.", "Shared.", "B one.", "Start beta.", "End beta.",
        "**Deploy**: Push.", "L one.", "Take L. — cheap", "L two.", "L three.", "Why L?", "On the code.", "~~Seven hours.~~ (replaced 2026-11-20: B one.)",
    ]
)  # fmt: skip
BY_HAND = ["By hand.", "Mine.", "Old one.", "Seven hours."]
REPLACED = b"- Seven hours."
"""Line of the person's that an item of the harvest strikes through, until it is undone."""

RUNS = ("harvest", "undo", "start", "start-2", "merge", "unmerge")
"""A harvest, its undo, and the start of the program after a crash in the middle of the one and of the other; a merge with a
draft of a playbook, and the undo of both.
"""

MERGED, TO_MERGE = "All of L.", ("L one.", "L two.", "L three.")


@dataclass
class Paid:
    """The bill over all runs: what the model was asked and answered. A killed process remembers nothing of it."""

    answered: Counter[str] = field(default_factory=Counter)
    code: str = ""
    note: Path | None = None
    """Where it is written down too, for a run in another process."""

    def __call__(self, prompt: str, provider: str, model: str) -> str:
        mark = next(mark for mark in sorted(ANSWERS, reverse=True) if mark in prompt)
        self.answered[mark] += 1
        if self.note is not None:
            with self.note.open("a", encoding="utf-8") as file:
                file.write(f"{mark}\n")
        if mark != "ALPHA":
            return ANSWERS[mark]
        quoted = {"message": "m1", "quote": QUOTE}
        note = {"path": self.code, "note": "On the code.", **quoted}
        return json.dumps({**json.loads(ANSWERS[mark]), "files": [note]})


def made_home(home: Path) -> Path:
    """A home to harvest: small and large conversations, an empty one, one that is too large, a person's own files."""
    for day, (name, text) in enumerate((("alpha", "ALPHA"), ("beta", "BETA"), ("long", LONG))):
        add_discussion(home, name, f"{text} question", "Answer.", at=OLD + timedelta(days=day))
    add_discussion(home, "huge", "x" * (MAX_BYTES + 1), at=OLD + timedelta(days=4))
    add_discussion(home, "empty", at=OLD + timedelta(days=5))
    staging = paths.discussions_dir(home) / ".new-abc.tmp"
    staging.mkdir()
    (staging / "log.jsonl").write_text("half\n")
    age(staging, OLD)
    (home / "code.py").write_text("print()\n", encoding="utf-8")
    paths.knowledge_dir(home).mkdir()
    for name, data in PERSONS.items():
        (paths.knowledge_dir(home) / name).write_bytes(data)
    return home


def candidates(home: Path) -> dict[str, str]:
    """The conversations that a harvest takes, each with the hash of its bytes."""
    logs = {path.name: path / paths.LOG_FILE for path in paths.discussions_dir(home).glob("2*")}
    found = {name: hash_source(log) for name, log in logs.items() if log.exists() and log.stat().st_size}
    return {name: one.sha256 for name, one in found.items() if one.size_bytes <= MAX_BYTES}


def harvest(home: Path, paid: Paid, disk: Disk = OS_DISK, seed: str = "s") -> None:
    """Scan, distil and apply."""
    paid.code = str(home / "code.py")
    run = Harvest(
        home,
        paid,  # type: ignore[arg-type]
        disk=disk,
        max_bytes=MAX_BYTES,
        piece_bytes=PIECE_BYTES,
        root=str(home),
    )
    asking = items_by_asking(run.distiller, run.now)
    known = Item(Category.FACTS, "facts.md", "Seven hours.", first_line=4)

    def items_of(facts: ArtifactFacts, data: bytes) -> Found:
        found = asking(facts, data)
        new = (
            replace(one, replaces=Replacement(known, "It turns.")) if one.text == "B one." else one
            for one in found.items
        )
        return replace(found, items=tuple(new))

    apply(ApplyRequest(run.request, run.scan(), items_of, seed, disk=disk))


def _undo(home: Path, _paid: Paid, disk: Disk = OS_DISK) -> None:
    undo_apply(home, NOW, is_agreed=True, disk=disk)


def merge(home: Path, disk: Disk = OS_DISK) -> None:
    """Merge three facts and make a draft of the playbook, each where that is not done yet."""
    items = KnowledgeReader(home).read(KnowledgeSettings()).items
    if MERGED not in {item.text for item in items}:
        (*chosen,) = (item for item in items if item.text in TO_MERGE)
        group = MergeGroup("g", tuple(chosen), MERGED, "They are one.")
        apply_merge(
            MergeRequest(home, Category.FACTS, "facts.md", (group,), NOW, "m", is_agreed=True, disk=disk)
        )
    if not draft_names(home):
        (playbook,) = (item for item in items if item.category is Category.PLAYBOOKS)
        make_draft(home, playbook, DraftKind.PROMPT, NOW, "d", disk=disk)


def unmerge(home: Path, disk: Disk = OS_DISK) -> None:
    """Take the merge and the draft back, each where it stands."""
    for record in list_applies(home):
        if record.by in {MERGE_BY, DRAFT_BY} and record.steps and not record.undone_at:
            undo_apply(home, NOW, record.id, is_agreed=True, disk=disk)


@dataclass(frozen=True)
class Stage:
    """Homes as a run finds them, made once and copied for each point.

    Args:
        folder: is there, for this run alone; run_name: of `RUNS`; bill: what was paid for before the run.
    """

    folder: Path
    run_name: str
    bill: Counter[str] = field(default_factory=Counter)

    @property
    def template(self) -> Path:
        """The home before the run."""
        return self.folder / "template"

    def prepare(self) -> list[Point]:
        """Make the template. Returns the calls of the disk in a run that goes well, in order."""
        made_home(self.template)
        if self.run_name in {"undo", "start-2", "merge", "unmerge"}:
            harvest(self.template, Paid(), PointDisk(self.template))
            (self.folder / "facts.md").write_bytes(
                (paths.knowledge_dir(self.template) / "facts.md").read_bytes()
            )
        if self.run_name == "unmerge":
            merge(self.template)
        if self.run_name.startswith("start"):
            self._interrupt()
        home = self.copied("listed")
        disk = PointDisk(home)
        self.run(home, Paid(), disk)
        self._again(home, Paid())
        self.check_after(home)
        shutil.rmtree(home)
        return disk.points

    def _interrupt(self) -> None:
        """Have the template's run killed where it had begun to write items, or to take them out."""
        home, act = self.copied("whole"), harvest if self.run_name == "start" else _undo
        disk = PointDisk(home)
        act(home, Paid(), disk)
        shutil.rmtree(home)
        at = disk.points.index(Point("rename", "knowledge/tasks.md"))
        paid = Paid()
        with suppress(KilledError):
            act(self.template, paid, PointDisk(self.template, at))
        self.bill.update(paid.answered)

    def copied(self, name: str) -> Path:
        """A copy of the template. The file that notes are about stays where it is: it is the same for all."""
        home = self.folder / name
        shutil.copytree(self.template, home)
        (home / "code.py").unlink()
        os.link(self.template / "code.py", home / "code.py")
        return home

    def run(self, home: Path, paid: Paid, disk: Disk = OS_DISK, seed: str = "s") -> None:
        """Do what is under test."""
        match self.run_name:
            case "harvest":
                harvest(home, paid, disk, seed)
            case "undo":
                undo_apply(home, NOW, is_agreed=True, disk=disk)
            case "merge":
                merge(home, disk)
            case "unmerge":
                unmerge(home, disk)
            case _:
                recover_home(home, NOW, disk=disk)

    def try_point(self, at: int, fault: Fault, point: Point) -> str:
        """Fail at a point, in this process; start again; check. Returns what was wrong, empty when nothing was."""
        home = self.copied(f"{at}-{fault.name}")
        attic = self.folder / f"{at}-attic"
        attic.mkdir()
        disk = PowerDisk(home, attic, at) if fault is Fault.POWER else PointDisk(home, at, fault)
        paid = Paid(Counter(self.bill))
        with suppress(SlopError, KilledError):
            self.run(home, paid, disk, "first")
        if isinstance(disk, PowerDisk):
            disk.lose()
            disk.close()
        wrong = self.judge(home, paid, fault, point)
        shutil.rmtree(home)
        shutil.rmtree(attic)
        return wrong

    def judge(self, home: Path, paid: Paid, fault: Fault, point: Point) -> str:
        """Start again after a fault, run once more, and check. Returns what was wrong, empty when nothing was."""
        try:
            check_gone(home, self.template)
            recover_home(home, disk=PointDisk(home))
            check_gone(home, self.template)
            self._check_once(home)
            self._again(home, paid)
            self.check_after(home)
            check_bill(paid, fault, point)
        except (AssertionError, SlopError) as error:
            return str(error).partition("\n")[0] or "an invariant does not hold"
        return ""

    def _again(self, home: Path, paid: Paid) -> None:
        if self.run_name in {"harvest", "start"}:
            harvest(home, paid, PointDisk(home), "second")
        elif self.run_name == "undo":
            with suppress(SlopError):  # it may be undone already
                undo_apply(home, NOW, is_agreed=True, disk=PointDisk(home))
        elif self.run_name == "merge":
            merge(home, PointDisk(home))
        elif self.run_name == "unmerge":
            unmerge(home, PointDisk(home))

    def _check_once(self, home: Path) -> None:
        """Between the fault and the next run: no item twice; those of a proven conversation are all there."""
        said = words(home)
        assert max(Counter(said).values()) == 1, "an item is doubled"
        if self.run_name in {"merge", "unmerge"}:
            there = [text in said for text in TO_MERGE]
            assert all(there) if MERGED not in said else not any(there), "a merge is half written"
        if digest_file(home).exists():
            assert digest_file(home).read_text("utf-8") == fresh_digest(home), "the digest is old"

    def check_after(self, home: Path) -> None:
        """What must hold once a run went through."""
        if self.run_name in {"harvest", "start"}:
            check_harvested(home)
        elif self.run_name == "merge":
            check_merged(home)
        elif self.run_name == "unmerge":
            assert (paths.knowledge_dir(home) / "facts.md").read_bytes() == (
                self.folder / "facts.md"
            ).read_bytes(), "the file is not as it was"
            assert not draft_names(home), "the draft is left"
            check_harvested(home)
        else:
            check_undone(home)


def check_gone(home: Path, before: Path) -> None:
    """At any instant: each conversation is in one place, and none is in the trash that the ledger does not prove."""
    there = {path.name for path in paths.discussions_dir(home).glob("2*")}
    in_trash = {item.discussion_id for item in trash.items(home)}
    everything = {path.name for path in paths.discussions_dir(before).glob("2*")}
    everything |= {item.discussion_id for item in trash.items(before)}
    assert there | in_trash == everything, "a conversation is gone"
    assert not there & in_trash, "a conversation is in two places"
    ledger = HarvestLedger(home)
    ledger.load()
    for item in trash.items(home):
        log = Path(item.path) / paths.LOG_FILE
        if log.exists():
            entry = ledger.get(hash_source(log).sha256)
            is_proven = entry is not None and entry.status is LedgerStatus.HARVESTED
            assert is_proven, "a conversation is gone unharvested"


def check_harvested(home: Path) -> None:
    """Everything is harvested, once, and the person's own bytes are as they were."""
    assert sorted(words(home)) == ITEMS, f"items are lost or doubled: {words(home)}"
    left = [path.name for path in paths.discussions_dir(home).iterdir()]
    assert len(left) == 1, f"conversations were not taken: {left}"
    assert digest_file(home).read_text("utf-8") == fresh_digest(home), "the digest is old"
    assert not (paths.knowledge_dir(home) / ".replies").exists(), "replies are left"
    statuses = sorted(entry.status.value for entry in HarvestLedger(home).entries())
    assert statuses == ["harvested"] * 3 + ["pruned"] * 2 + ["too-large"], f"the ledger says {statuses}"
    assert not HarvestLedger(home).journal.exists(), "the journal was not folded"
    check_persons_bytes(home, besides=REPLACED)
    check_logs(home)
    check_facts(home)


def check_merged(home: Path) -> None:
    """One item stands for three on all that they stood on, and the file as it was is kept; nothing else changed."""
    gone = set(TO_MERGE)
    assert sorted(words(home)) == sorted([one for one in ITEMS if one not in gone] + [MERGED]), (
        "items are lost or doubled"
    )
    assert len(draft_names(home)) == 1, "the draft is missing, or there are two"
    assert digest_file(home).read_text("utf-8") == fresh_digest(home), "the digest is old"
    check_persons_bytes(home, besides=REPLACED)
    check_logs(home)
    check_facts(home)
    rows = read_logs(home)
    assert len(evidence_for(item_hash(Category.FACTS, MERGED), rows)) == 1, "what it stands on is lost"
    told = [one for one in rows.events if one.kind is ItemEventKind.MERGED and one.was]
    assert len({one.apply for one in told}) >= 1, "the merge is not told"
    (newest, *_) = versions(home, "facts.md")
    assert all(text.encode() in newest.read_bytes() for text in TO_MERGE), "the file as it was is not kept"


def check_facts(home: Path) -> None:
    """Files and index hold each fact once, and evidence names it."""
    assert validate(home) == (), "a fact is wrong"
    facts = FactReader(home).facts()
    assert {fact.id for fact in facts} == {row.fact for row in read_logs(home).evidence} - {""}, (
        "a fact is lost"
    )
    assert len({fact.text for fact in facts}) == len(facts) > 0, "a fact is doubled"
    before = {path.name: path.read_bytes() for path in paths.knowledge_dir(home).iterdir() if path.is_file()}
    assert sync_facts(home, ours=None).changed == 0, "the index is not in step"
    assert (paths.knowledge_dir(home) / "index.json").read_bytes() == before["index.json"], (
        "a sync changes bytes"
    )


def check_logs(home: Path) -> None:
    """Each item stands on each conversation that said it, once, and was accepted or confirmed for it."""
    rows = read_logs(home)
    said = Counter((row.item, row.sha256) for row in rows.evidence)
    assert max(said.values()) == 1, "evidence is doubled"
    assert len(said) == len(ITEMS) - len(BY_HAND) + 1, f"evidence is lost: {len(said)}"  # two said `Shared.`
    assert [row.quote for row in rows.evidence if row.quote] == [QUOTE], "a quote is lost"
    replaced = [event for event in rows.events if event.kind is ItemEventKind.SUPERSEDED]
    assert replaced, "that an item was replaced is not told"
    for kind in (ItemEventKind.PROPOSED, ItemEventKind.ACCEPTED):
        told = {event.item for event in rows.events if event.kind is kind}
        assert told == {row.item for row in rows.evidence}, f"what was {kind} is not told"


def check_undone(home: Path) -> None:
    """Everything is as it was before the harvest."""
    assert sorted(words(home)) == BY_HAND, f"items are left or lost: {words(home)}"
    assert len(candidates(home)) == 3, "a conversation is not back"
    assert not any(entry.allows_reclaim for entry in HarvestLedger(home).entries()), (
        "an undone harvest still proves"
    )
    assert not digest_file(home).exists(), "memory is on that was off before"
    check_persons_bytes(home)
    assert FactReader(home).facts() == (), "a fact is left"
    rows = read_logs(home)
    assert rows.evidence == (), "evidence of what is not there is left"
    assert [one.kind for one in rows.events].count(ItemEventKind.UNDONE) == 1, (
        "that it was undone is not told once"
    )


def check_persons_bytes(home: Path, besides: bytes = b"") -> None:
    """Every line that was there before stands where it stood, in order, byte for byte. `besides`: a line that was replaced."""
    for name, data in PERSONS.items():
        lines = (paths.knowledge_dir(home) / name).read_bytes().split(b"\n")
        rest = iter(lines)
        wanted = (line for line in data.split(b"\n")[:-1] if line != besides)
        assert all(line in rest for line in wanted), f"{name} lost a person's line"


def check_bill(paid: Paid, fault: Fault, point: Point) -> None:
    """No reply was paid for twice.

    Only while the bytes of a reply are on their way to the disk can a fault that ends the program, or lasts, lose it.
    """
    twice = [mark for mark, count in paid.answered.items() if count > 1]
    is_reply = ".replies/" in point.name
    lost_at = {
        Fault.KILL: {"write"},
        Fault.POWER: {"write", "fsync"},
        Fault.NO_SPACE: {"write"},
        Fault.READ_ONLY: {"write"},
    }.get(fault, set())
    allowed = 1 if is_reply and point.kind in lost_at else 0
    assert len(twice) <= allowed, f"paid twice: {twice}"
    assert max(paid.answered.values(), default=1) <= 2, "paid more than twice"


def words(home: Path) -> list[str]:
    """What each item says, without its tag."""
    return [line[2:].split(" [from: ")[0].rstrip("\r") for line in item_lines(home)]


def memory_folder() -> str | None:
    """Where files are in memory alone: thousands of homes are made and thrown away. None where there is no such place."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def table_head() -> str:
    """The head of the log's table."""
    return f"{'run':11}{'':4}  {'call':7}{'of':58}" + "  ".join(f"{fault:9}" for fault in Fault)


def table_line(run_name: str, at: int, point: Point, results: dict[Fault, str]) -> str:
    """One point as a row of the log: `holds` or what was wrong for each fault, `-` where it cannot happen."""
    cells = "  ".join(f"{results.get(fault, '-') or 'holds':9}" for fault in Fault)
    return f"{run_name:11}{at:4}  {point.kind:7}{shown(point.name):58}{cells}".rstrip()


def shown(name: str) -> str:
    """A name in the table: hashes and temporary parts are shortened."""
    parts = (part[:12] + "…" + part[-9:] if len(part) > 24 else part for part in name.split("/"))
    text = "/".join(parts)
    return text if len(text) <= 56 else "…" + text[-55:]


def faults_at(point: Point) -> tuple[Fault, ...]:
    """The faults that can happen at a point: only a write can be torn."""
    return tuple(fault for fault in Fault if fault is not Fault.TORN or point.kind == "write")
