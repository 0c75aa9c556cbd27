"""Sample states of knowledge: none, some, 100,000 items, off in both ways, broken files, orphaned notes, odd texts."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from core.kernel.values.harvest import HarvestLook, HarvestState
from core.kernel.values.knowledge import (
    Category,
    CategoryFile,
    DigestSwitch,
    Item,
    KnowledgeState,
    NoteFile,
    NoteStatus,
    Provenance,
)
from core.kernel.values.settings import KnowledgeSettings
from core.kernel.values.stack import LayerId
from core.kernel.values.state import AppState, TrashItem
from core.knowledge.categories import CATEGORY_NAMES, FILE_OF, OPEN, parse_file
from core.knowledge.layer7 import project
from tests.panels import states
from tests.state_fields import with_fields

FOLDER = "/home/person/.manual_slop/knowledge"
TEXTS = {
    "tasks.md": """# Tasks

## Open

- Measure the mock tide gauge against the harbour's table [from: 2026-11-20-cache-ttl-policy, 2026-11-20]
- Ask Ana whether the **slot** may outlive its fork
- Write the release notes for the ledger, with the three numbers that people ask for
  and a sentence on what is not measured [from: 2026-11-18-old-ideas, 2026-11-19]

## Done

- Pin the tokenizer's version [from: 2026-11-02-parser-sketches, 2026-11-12]
""",
    "questions.md": """# Questions

- Does a fork count as a touch of the parent's slot? [from: 2026-11-20-cache-ttl-policy, 2026-11-20]
""",
    "decisions.md": """# Decisions

A person's own prose stays where it is.

- The slot is immutable; a fork shares its prefix until it diverges — otherwise a touch on one side would move the other [from: 2026-11-20-cache-ttl-policy, 2026-11-20]
- Logs are append-only JSONL [from: 2026-09-01-gone-for-good, 2026-09-02]
""",
    "facts.md": """# Facts

- The moon pulls twice a day
- `expires_at` is UTC, in whole seconds [from: 2026-11-20-cache-ttl-policy, 2026-11-20]
- The gauge at the harbour reads 4 cm too high since the storm [from: 2026-11-15-tide-gauge, 2026-11-16]
""",
    "playbooks.md": """# Playbooks

- **Release**: 1. run `make test` 2. bump the version 3. tag and push 4. watch the first hour [from: 2026-11-18-old-ideas, 2026-11-19]
""",
}  # fmt: skip
TRASHED = TrashItem(
    "20261115-101500-abcdef", "Tide gauge", states.NOW - timedelta(days=1), "harvested", "/trash/x"
)


def files(texts: dict[str, str] | None = None) -> tuple[CategoryFile, ...]:
    """Category files as they are read from these texts."""
    given = TEXTS if texts is None else texts
    return tuple(parse_file(name, given.get(name, "").encode()) for name in CATEGORY_NAMES)


def note(file_id: str, heading: str, *texts: str, **about: object) -> NoteFile:
    """Notes on a file."""
    tag = Provenance("2026-11-20-cache-ttl-policy", "2026-11-20")
    items = tuple(
        Item(Category.FILES, f"files/{file_id}.md", text, tag, heading, index + 3, index + 3)
        for index, text in enumerate(texts)
    )
    found = NoteFile(file_id, heading, items, "ab" * 32, path=heading)
    return replace(found, **about)  # type: ignore[arg-type]


def notes() -> tuple[NoteFile, ...]:
    """One in every condition."""
    work = "/home/person/work/cachelab"
    return (
        note("1:10", f"{work}/src/cachelab/slots.py", "`touch` is called twice for a fork", "The lock is reentrant"),
        note("1:11", f"{work}/src/cachelab/ledger.py", "The header has a version since 0.3", status=NoteStatus.MOVED),
        note("1:12", f"{work}/docs/old-name.md", "The table is generated", status=NoteStatus.RENAMED,
             path=f"{work}/docs/tides.md"),
        note("1:13", f"{work}/src/cachelab/gone.py", "Six is a guess", status=NoteStatus.ORPHANED, path="",
             proposal=f"{work}/src/cachelab/came_back.py"),
        note("1:14", f"{work}/src/lost.py", "Nobody knows why this sleeps", status=NoteStatus.ORPHANED, path=""),
    )  # fmt: skip


def digest(found: tuple[CategoryFile, ...]) -> str:
    """The digest of these files."""
    by_name = {file.name: file for file in found}
    titles = zip(
        ("Open tasks", "Open questions", "Decisions", "Facts", "Playbooks"), CATEGORY_NAMES, strict=True
    )
    return project(
        (
            title,
            (
                (i.text, i.provenance)
                for i in reversed(by_name[name].items)
                if i.category is not Category.TASKS_DONE
            ),
        )
        for title, name in titles
    )


def known(texts: dict[str, str] | None = None, **changes: object) -> KnowledgeState:
    """What is known, with memory on."""
    found = files(texts)
    text = digest(found)
    watched = tuple(f"{FOLDER}/{name}" for name in (*CATEGORY_NAMES, "digest.md", "ledger.json", "files"))
    state = KnowledgeState(found, notes(), text, len(text.encode()), DigestSwitch.ON, watched)
    return replace(state, **changes)  # type: ignore[arg-type]


def with_knowledge(knowledge: KnowledgeState, **changes: object) -> AppState:
    """A normal day with this knowledge; a source is in the list, one in the archive, one in the trash."""
    look = HarvestLook(sources={"2026-11-20-cache-ttl-policy": "d1", "2026-11-18-old-ideas": "d8"})
    report = states.report()
    layers = tuple(
        replace(layer, size_bytes=knowledge.digest_bytes + 940) if layer.layer is LayerId.KNOWLEDGE else layer
        for layer in report.layers
    )
    state = states.working(
        knowledge=knowledge, trash=(TRASHED,), harvest=HarvestState(look=look),
        reports={"d1": replace(report, layers=layers)},
    )  # fmt: skip
    return with_fields(state, **changes)


def some() -> AppState:
    """A bit of everything."""
    return with_knowledge(known())


def empty() -> AppState:
    """Nothing is known and nothing is sent."""
    nothing = known({}, notes=(), digest="", digest_bytes=0, switch=DigestSwitch.OFF_WITHOUT_KNOWLEDGE)
    return with_knowledge(nothing)


def off_by_deletion() -> AppState:
    """Somebody removed `digest.md`."""
    return with_knowledge(known(digest="", digest_bytes=0, switch=DigestSwitch.OFF_BY_DELETION))


def off_by_configuration() -> AppState:
    """The settings forbid it while the file is there."""
    state = with_knowledge(known(switch=DigestSwitch.OFF_BY_CONFIGURATION))
    off = replace(state.config.settings, knowledge=KnowledgeSettings(digest_enabled=False))
    return replace(state, config=replace(state.config, settings=off))


def broken() -> AppState:
    """Files that cannot be read."""
    problem = "decisions.md is not UTF-8 text; save it as UTF-8 so the program can read it"
    found = tuple(
        CategoryFile(f.name, b"\0", problem=problem) if f.name == "decisions.md" else f for f in files()
    )
    long = "digest.md has 81,920 bytes, over 65,536; the program does not send it"
    unread = (
        f"The program could not read {FOLDER}/files: permission denied. Give yourself the right to read it"
    )
    return with_knowledge(known(categories=found, problems=(problem, long, unread)))


def odd() -> AppState:
    """Long texts, no spaces, other scripts, control and bidi characters, many continued lines."""
    lines = "".join(f"\n  line {n} of a continued item" for n in range(2, 9))
    texts = {
        "tasks.md": f"## Open\n- {'A task that goes on and on, for no good reason. ' * 40}\n- {'x' * 900}\n",
        "questions.md": "- 日本語の長い質問は、どこで折り返されますか。とても長い文章なので、幅に合わせて折り返される必要があります。\n",
        "decisions.md": "- \u202eevil\u202c bidi, a bell \x07, an escape \x1b[31m, مرحبا بالعالم 🎉\n",
        "facts.md": f"- First line{lines}\n- https://example.org/{'path/' * 60}\n",
        "playbooks.md": f"- **{'A very long name ' * 12}**: {'step, ' * 120}\n",
    }
    far = "/home/person/" + "a-folder-with-a-long-name/" * 8 + "file-with-a-long-name.py"
    return with_knowledge(known(texts, notes=(note("1:20", far, "A note", "漢字" * 60),)))


def many(count: int = 100_000) -> AppState:
    """As many items as the program is made for."""
    return with_knowledge(many_known(count))


def many_known(count: int = 100_000) -> KnowledgeState:
    """Items of all categories, most of them facts."""
    shares = {Category.TASKS_OPEN: 10, Category.TASKS_DONE: 10, Category.QUESTIONS: 10, Category.DECISIONS: 20,
              Category.PLAYBOOKS: 5, Category.FACTS: 45}  # fmt: skip
    items: dict[str, list[Item]] = {name: [] for name in CATEGORY_NAMES}
    for category, share in shares.items():
        name = FILE_OF[category]
        section = {Category.TASKS_OPEN: OPEN, Category.TASKS_DONE: "Done"}.get(category, "")
        for n in range(count * share // 100):
            code = "prefix" if n % 3 else "`prefix`"
            text = f"The {category.value} number {n} says that slot {n % 977} keeps its {code} for {n % 61} minutes"
            tag = Provenance(f"2026-11-{n % 28 + 1:02d}-talk-{n % 500}", "2026-11-20") if n % 5 else None
            line = len(items[name]) + 3
            items[name].append(Item(category, name, text, tag, section, line, line))
    found = tuple(CategoryFile(name, b"", tuple(items[name])) for name in CATEGORY_NAMES)
    text = digest(found)
    return replace(known({}), categories=found, digest=text, digest_bytes=len(text.encode()))
