"""A day's use of a home, with a word that is to go in every place where it can stand; and the walk that looks for it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from core.app.forgetting.forgetting_places import Folder, Place, place_of
from core.app.forgetting.forgetting_run import ForgetRequest, forget
from core.kernel import paths
from core.kernel.diagnostics import LOG_NAME
from core.kernel.errors import SlopError
from core.kernel.values.discussion import DiscussionMeta, Draft, QueuedPrompt
from core.kernel.values.harvest import BatchItem, BatchState, HarvestBatch, HarvestItem, ReviewChoice
from core.kernel.values.knowledge import Category, ForgetReceipt, ForgetTarget, Item, Proposal
from core.knowledge.edits import edit_item
from core.knowledge.harvest.batch_prompts import BatchFiles
from core.knowledge.harvest.batch_step import BatchChange
from core.knowledge.harvest.replies import keep_review
from core.knowledge.knowledge_reader import read_categories
from core.knowledge.ledger import hash_source
from core.knowledge.mcp_server.proposal_worker import add_proposal
from core.talk.discussion import attachments, discussion_meta, discussion_store, trash
from core.talk.discussion.catalog import Catalog
from tests.core.knowledge.harvest.harvests import NOW, OLD, Harvest, Model, add_discussion, go_on, reply

WORD = "zephyrine"
SECRET = f"The {WORD} gate opens at the third bell."
OTHER = "The harbour master keeps two keys."
ZERO = ("tasks_done", "tasks_open", "playbooks", "files")
SHARED = "Spring tides come twice a month."


def files(home: Path | None = None) -> Iterator[tuple[Folder, Path, Path]]:
    """Every file of home, caches and logs, with the folder that it is below."""
    for root, folder in (
        (Folder.HOME, home or paths.home_dir()),
        (Folder.CACHE, paths.cache_dir()),
        (Folder.LOG, paths.log_dir()),
    ):
        for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
            if path.is_file():
                yield root, folder, path


def traces(home: Path | None = None, word: str = WORD) -> list[str]:
    """Files in which a word stands, in its bytes or its name, whatever its case."""
    found = []
    for _, folder, path in files(home):
        name = path.relative_to(folder).as_posix()
        if word in name.lower() or word.encode() in path.read_bytes().lower():
            found.append(name)
    return found


def places_in_use() -> dict[str, Place | None]:
    """The place of every file that there is."""
    return {
        path.relative_to(folder).as_posix(): place_of(root, path.relative_to(folder).as_posix())
        for root, folder, path in files()
    }


def unplaced(home: Path) -> list[str]:
    """Files of home, caches and logs that the table of places does not know: no forgetting goes through them."""
    named = ((root, path.relative_to(folder).as_posix()) for root, folder, path in files(home))
    return [name for root, name in named if place_of(root, name) is None]


def a_day(home: Path) -> str:
    """Conversations harvested, edited, binned and searched. Returns the id of the one that holds the word."""
    secret = add_discussion(home, f"The {WORD} gate", "When does it open?", SECRET, folder="/srv/harbour")
    add_discussion(
        home,
        "Keys",
        "Who keeps them?",
        OTHER,
        "And the tides?",
        SHARED,
        at=OLD + timedelta(days=1),
        folder="/srv/harbour",
    )
    quote = {"message": "m2", "quote": SECRET}
    found: dict[str, str | SlopError] = {
        "When does it open?": reply(
            SHARED,
            f"{WORD.upper()} is what they call it.",
            decisions=[
                {"statement": f"We go through the {WORD} gate.", "detail": f"For the {WORD} bell.", **quote}
            ],
            questions=[{"statement": f"Who rings the {WORD} bell?", "detail": ""}],
        ),
        "Who keeps them?": reply(OTHER, SHARED),
    }
    report = Harvest(home, Model(found)).apply()
    assert dict(report.items) == {"facts": 3, "decisions": 1, "questions": 1} | dict.fromkeys(ZERO, 0)
    assert (report.known, report.unfound) == (1, 0)
    trash.restore(home, secret)
    (question,) = [item for item in items(home) if item.category is Category.QUESTIONS]
    edit_item(home, question, f"Who rings the {WORD} bell at night?")
    leave_about(home, secret)
    catalog = Catalog(home, paths.catalog_file(home), may_start_child=False)
    list(catalog.refresh())
    assert catalog.search(WORD).ids
    catalog.close()
    return secret


def leave_about(home: Path, secret: str) -> None:
    """What a person and the program leave beside a log."""
    staged = paths.discussions_dir(home) / f".new-{secret}.0a1b2c3d.tmp"
    shutil.copytree(paths.discussion_dir(home, secret), staged)
    discussion_meta.write_draft(home, secret, Draft(f"and the {WORD} key"))
    discussion_meta.add(home, secret, QueuedPrompt("20261101-090000-qqqqqq", OLD, f"the {WORD} lock"))
    attachments.save(home, secret, f"{WORD} plan".encode(), f"{WORD}.txt")
    log = paths.log_file(home, secret)
    folder = paths.knowledge_dir(home) / ".replies" / hash_source(log).sha256
    folder.mkdir(parents=True)
    (folder / "kept.json").write_text(f'{{"text": "{WORD}", "v": 1}}')
    mark = hash_source(log).sha256[:16]
    other = ReviewChoice(item=HarvestItem(Category.FACTS, "The keys are brass."))
    gone = ReviewChoice(item=HarvestItem(Category.FACTS, f"A {WORD} key."))
    keep_review(home, {f"{mark}-0/x": gone, "0000000000000000-0/x": other})
    batch_of(home, log)
    for number, words in enumerate((SECRET, OTHER)):
        add_proposal(home, Proposal(f"p{number}", Category.FACTS, words))
    taken = paths.inbox_dir(home) / paths.INBOX_TAKEN_DIR
    taken.mkdir(parents=True)
    (taken / "20261101-090000-000000-000-gate.txt").write_text(f"From the harbour:\n{SECRET}\n")
    (taken / "20261101-090000-000000-000-keys.txt").write_text(OTHER)
    (paths.knowledge_dir(home) / ".facts.md.0a1b2c3d.tmp").write_text(f"half a {WORD}")
    (home / "forgetting").mkdir(exist_ok=True)
    (home / "forgetting" / ".an.intent.json.0a1b2c3d.tmp").write_text(f"half an intent of {WORD}")
    index = paths.index_dir(home)
    for path in (
        paths.cache_dir() / "embedded-prefixes" / "00-9.kv",
        index / "index.sqlite",
        index / "notes_prose.i8",
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(WORD)
    paths.log_dir().mkdir(parents=True, exist_ok=True)
    for name in (LOG_NAME, f"{LOG_NAME}.1"):
        (paths.log_dir() / name).write_text(f"could not read {WORD}")


def batch_of(home: Path, path: Path) -> HarvestBatch:
    """A batch that closed, and was deleted at its provider: it read a conversation of another program, and this one."""
    sha256 = hash_source(path).sha256
    items = tuple(
        BatchItem(f"t-{n}", sha256, name, f"k{n}") for n, name in enumerate((str(path), f"/x/{WORD}.md"))
    )
    files = BatchFiles(home)
    batch = HarvestBatch("t", "anthropic", "m", "2026-11-20T00:00:00+00:00", items)
    files.intend(batch)
    for state in (BatchState.SUBMITTED, BatchState.ENDED, BatchState.COLLECTED):
        is_last = state is BatchState.COLLECTED
        batch = files.note(batch, BatchChange(batch.at, state=state, name="b-1", is_cleaned=is_last))
    return batch


def branch(home: Path, parent: str) -> str:
    """A branch of a discussion, after its first message. Returns its id."""
    from core.kernel.values.records import MessageRecord
    from core.talk.discussion import log

    first = next(one for one in log.read(home, parent).records if isinstance(one, MessageRecord))
    made = DiscussionMeta(
        "20261102-090000-bbbbbb", "Branch", OLD, "local", "m", parent_id=parent, branch_message_id=first.id
    )
    discussion_store.branch(home, parent, first.id, made)
    go_on(home, made.id, f"Another {WORD}?")
    return made.id


def items(home: Path) -> list[Item]:
    """Every item of the category files."""
    return [item for file in read_categories(home) for item in file.items]


def forgotten(home: Path, *ids: str, item: Item | None = None, later_s: float = 60) -> ForgetReceipt:
    """Forget conversations, or an item."""
    target = ForgetTarget(ids) if item is None else ForgetTarget((), item.category, item.text, item.file)
    return forget(ForgetRequest(home, target, NOW + timedelta(seconds=later_s), "seed"))
