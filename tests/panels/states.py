"""Sample states of the window, realistic and extreme, for tests and for looking at it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from core.kernel.errors import FailureKind
from core.kernel.structures import with_entry
from core.kernel.values.curation import (
    FileItem,
    FileMode,
    FileProblem,
    FileProblemKind,
    FileSnapshot,
    ItemFiles,
    LineRange,
    NamedText,
    Preset,
    Symbol,
)
from core.kernel.values.discussion import (
    CallPhase,
    ComparedModel,
    ComparedReply,
    Comparison,
    DiscussionMeta,
    DiscussionSummary,
    Draft,
    LiveCall,
    OpenDiscussion,
    ReplyVersions,
)
from core.kernel.values.messages import (
    AttachmentPart,
    Entry,
    Mark,
    Message,
    ReasoningPart,
    Role,
    Status,
    TextPart,
)
from core.kernel.values.provider import Effort, Failure, KeySource, ModelProfile, ProviderKind, ProviderStatus
from core.kernel.values.records import RequestRecord
from core.kernel.values.settings import Project, ServerSettings, Settings
from core.kernel.values.stack import (
    ContextChange,
    ContextReport,
    LayerId,
    LayerReport,
    LayerText,
    SegmentReport,
)
from core.kernel.values.state import (
    AppState,
    ConfigState,
    ContextState,
    DiscussionsState,
    Level,
    Notice,
    ProgramState,
    SearchHits,
    WorkerStatus,
)
from core.kernel.values.usage import Usage
from tests.state_fields import with_fields

NOW = datetime(2026, 11, 20, 14, 5, tzinfo=UTC)
REPLY = '''Keep the slot **immutable** and let the fork *share* the prefix until it diverges:

1. the parent owns the slot and its `expires_at`
2. the fork stores only the anchor index
3. a touch on either side extends the shared TTL

```python
def touch(slot: Slot, now: float) -> Slot:
    """Extend the TTL without copying the prefix."""
    return replace(slot, last_used=now, expires_at=now + 300)
```

> Anything that edits history before the anchor must split the slot first.
'''


def summary(
    discussion_id: str,
    name: str,
    *,
    model: str = "claude-opus-4.8",
    provider: str = "anthropic",
    turns: int = 4,
    cost_usd: float | None = 0.42,
    input_tokens: int | None = 18_400,
    age: timedelta = timedelta(minutes=3),
    **meta: object,
) -> DiscussionSummary:
    """A row of the list."""
    about = DiscussionMeta(discussion_id, name, NOW - age - timedelta(hours=1), provider, model, **meta)  # type: ignore[arg-type]
    used = Usage(input_tokens=input_tokens, output_tokens=2_000, cost_usd=cost_usd) if turns else Usage()
    return DiscussionSummary(about, NOW - age, turns, used, "Keep the slot immutable")


def user(message_id: str, text: str, **about: object) -> Message:
    """Something the person said."""
    return Message(message_id, NOW - timedelta(minutes=3), Role.USER, (TextPart(text),), **about)  # type: ignore[arg-type]


def reply(message_id: str, text: str, **about: object) -> Message:
    """Something the model said."""
    used = Usage(input_tokens=12_400, output_tokens=512, cache_read_tokens=11_900, cost_usd=0.011,
                 reasoning_tokens=180, time_to_first_token_s=0.8, duration_s=4.2)  # fmt: skip
    parts = (ReasoningPart("First the owner of the slot, then who may extend it."), TextPart(text))
    defaults: dict[str, object] = {"usage": used, "provider": "anthropic", "model": "claude-opus-4.8"}
    return Message(message_id, NOW - timedelta(minutes=2), Role.ASSISTANT, parts, **(defaults | about))  # type: ignore[arg-type]


def providers() -> dict[str, ProviderStatus]:
    """Providers in every condition."""
    return {
        "embedded": ProviderStatus("embedded", ProviderKind.EMBEDDED, "Embedded", KeySource.NOT_NEEDED),
        "anthropic": ProviderStatus("anthropic", ProviderKind.ANTHROPIC, "Anthropic", KeySource.KEYRING,
                                    "https://api.anthropic.com"),
        "openai": ProviderStatus("openai", ProviderKind.OPENAI, "OpenAI", KeySource.MISSING, is_ready=False,
                                 problem="No key for OpenAI.", remedy="Enter a key in Settings, Providers and keys."),
        "gemini": ProviderStatus("gemini", ProviderKind.GEMINI, "Gemini", KeySource.FILE),
    }  # fmt: skip


def models() -> dict[str, tuple[ModelProfile, ...]]:
    """A few models of each provider."""
    levels = (Effort.LOW, Effort.MEDIUM, Effort.HIGH)
    return {
        "embedded": (ModelProfile("embedded", "smollm2-135m", "SmolLM2 135M", 8_192),),
        "anthropic": (
            ModelProfile(
                "anthropic", "claude-opus-4.8", "Claude Opus 4.8", 200_000, 32_000, levels, takes_images=True
            ),
            ModelProfile("anthropic", "claude-haiku-4.8", "Claude Haiku 4.8", 200_000),
        ),
        "openai": (ModelProfile("openai", "gpt-5.6", "GPT-5.6", 400_000, efforts=levels),),
        "gemini": (ModelProfile("gemini", "gemini-4-pro", "Gemini 4 Pro", 1_000_000),),
    }


SYMBOLS = (
    Symbol("Slot", "class", LineRange(10, 58), "class Slot:"),
    Symbol("Slot.touch", "method", LineRange(21, 30), "def touch(self, now: float) -> Slot:", 1),
    Symbol("Slot.expire", "method", LineRange(32, 41), "def expire(self) -> None:", 1),
    Symbol("main", "function", LineRange(60, 88), "def main() -> int:"),
)


def snapshot(path: str, *, tokens: int | None = 900, problem: FileProblem | None = None) -> FileSnapshot:
    """What was read of a file."""
    text = "" if problem else "".join(f"line {n} = {n}\n" for n in range(1, 90))
    return FileSnapshot(path, f"/home/person/work/cachelab/{path}", "ab" * 32, text, len(text), 1, 89,
                        () if problem else SYMBOLS, tokens, problem)  # fmt: skip


def presets() -> dict[str, Preset]:
    """Presets with every kind of item."""
    items = (
        FileItem("src/cachelab/slots.py", pinned=True),
        FileItem(
            "src/cachelab/ledger.py", FileMode.SLICES, (LineRange(10, 40), LineRange(55, 55)), ("Slot.touch",)
        ),
        FileItem("docs/**/*.md", FileMode.OUTLINE),
        FileItem("AGENTS.md", FileMode.NOTES, notes="Ask before changing the wire format."),
        FileItem("assets/logo.png", enabled=False),
        FileItem("src/gone.py"),
    )
    return {
        "coding-strict": Preset("coding-strict", items),
        "docs only": Preset("docs only", (FileItem("docs/**/*.md"),)),
        "empty": Preset("empty"),
    }


def item_files() -> dict[str, tuple[ItemFiles, ...]]:
    """What the items of `coding-strict` stand for."""
    strict = presets()["coding-strict"].items
    gone = FileProblem(
        FileProblemKind.VANISHED, "src/gone.py is not there any more; restore it or remove the item"
    )
    binary = FileProblem(
        FileProblemKind.BINARY, "assets/logo.png is binary; attach pictures to a message instead"
    )
    return {
        "coding-strict": (
            ItemFiles(strict[0], (snapshot("src/cachelab/slots.py"),)),
            ItemFiles(strict[1], (snapshot("src/cachelab/ledger.py", tokens=1_800),)),
            ItemFiles(
                strict[2], tuple(snapshot(f"docs/{n}.md", tokens=200) for n in ("cache", "index", "ttl"))
            ),
            ItemFiles(strict[3], (snapshot("AGENTS.md", tokens=300),)),
            ItemFiles(strict[4], (snapshot("assets/logo.png", tokens=None, problem=binary),)),
            ItemFiles(strict[5], (snapshot("src/gone.py", tokens=None, problem=gone),)),
        )
    }


SIZES = (180, 60, 0, 1_900, 240, 3_100, 0, 90, 420, 5_400, 900, 64)


def report(*, changed: bool = True, fits: bool = True) -> ContextReport:
    """A stack of twelve layers."""
    offset, layers, texts = 0, [], []
    for layer, tokens in zip(LayerId, SIZES, strict=True):
        text = f"[{layer.name.lower()}] " + "word " * tokens if tokens else ""
        segments: tuple[SegmentReport, ...] = (
            SegmentReport(f"{layer.value}/all", "cd" * 32, len(text), tokens),
        )
        if layer is LayerId.TURNS:
            segments = (SegmentReport("11/m1", "aa", 300, 64), SegmentReport("11/m2", "bb", 3_000, 836))
        if layer is LayerId.FILE_DETAILS:
            segments = (
                SegmentReport("10/src/cachelab/slots.py", "aa", 3_600, 910),
                SegmentReport("10/src/cachelab/ledger.py", "ab", 3_600, 640),
            )
        layers.append(
            LayerReport(layer, offset, len(text), len(text), tokens, f"{layer.value:02d}" * 32, segments)
        )
        texts.append(LayerText((text,)))
        offset += len(text)
    change = ContextChange(LayerId.PROJECT, 412, 2_380, 9_974, "AGENTS.md was edited") if changed else None
    problems = () if fits else ("docs/ takes 190k of 200k tokens; leave out docs/index.md (120k)",)
    return ContextReport(tuple(layers), tuple(texts), 900, sum(SIZES), 200_000 if fits else 8_192, 0.031, change,
                         problems, is_exact=False, fits=fits)  # fmt: skip


def last_request() -> RequestRecord:
    """The request before: layer 6 was another, layer 8 was empty."""
    layers = tuple(
        replace(layer, sha256="ff" * 32)
        if layer.layer is LayerId.PROJECT
        else replace(layer, length_chars=0, sha256="ee")
        if layer.layer is LayerId.METADATA
        else layer
        for layer in report().layers
    )
    return RequestRecord("r1", NOW, "m1", "anthropic", "claude-opus-4.8", "auto", layers, (), 900)


def conversation() -> tuple[Entry, ...]:
    """A short conversation with everything that can stand in one."""
    picture = AttachmentPart("ef" * 32, "image/png", "trace of the cache.png", 81_234)
    notes = AttachmentPart("ab" * 32, "text/plain", "pasted.txt", 24_000)
    asked = user("m1", "Should the cache slot keep its **TTL** when a discussion is forked?")
    return (
        asked,
        reply("m2", REPLY),
        Mark("k1", NOW, "model", "Switched from Claude Haiku 4.8 to Claude Opus 4.8", "m2"),
        Message(
            "m3", NOW - timedelta(minutes=1), Role.USER, (TextPart("And with this trace?"), picture, notes)
        ),
        reply("m4", "The trace shows that the anchor moved", status=Status.PARTIAL),
        user("m5", "never mind", is_deleted=True),
        user(
            "m6", "日本語の長い文章でも、行は正しく折り返されます。مرحبا \u202eevil\u202c 🎉", is_edited=True
        ),
        reply("m7", "はい。折り返しは文字の境界で行われます。", status=Status.INTERRUPTED),
    )


def summaries() -> dict[str, DiscussionSummary]:
    """Discussions of every section, long names, branches."""
    day = timedelta(days=1)
    found = (
        summary("d1", "Cache TTL policy", turns=42, preset="coding-strict"),
        summary("d2", "Harvest worker design", model="gemini-4-pro", provider="gemini", turns=17, cost_usd=0.08),
        summary("d3", "Fork: TTL policy / lazy", parent_id="d1", branch_message_id="m2", turns=12, cost_usd=0.19),
        summary("d4", "A branch of the branch with a name that is far too long for any card to show whole",
                parent_id="d3", turns=2, cost_usd=None),
        summary("d5", "Parser regressions", model="gpt-5.6", provider="openai", turns=8, pinned=True, age=3 * day),
        summary("d6", "語彙とキャッシュの設計についての長い議論", age=2 * day, cost_usd=None, input_tokens=None),
        summary("d7", "Release checklist", age=40 * day, cost_usd=0.0004),
        summary("d8", "Old ideas", age=400 * day, archived=True),
    )  # fmt: skip
    return {one.meta.id: one for one in found}


def working(**changes: object) -> AppState:
    """A normal day: several discussions, one open, a preset, a report."""
    opened = OpenDiscussion(
        "d1",
        conversation(),
        Draft("Compare the lazy fork with the eager one."),
        last_request(),
        attachments_dir="/home/person/.manual_slop/discussions/d1/attachments",
    )
    state = AppState(
        program=ProgramState(
            home="/home/person/.manual_slop",
            versions={"Manual Slop": "0.1.0", "Dear PyGui": "2.3.1"},
            is_loading=False,
        ),
        now=NOW,
        config=ConfigState(
            settings=Settings(
                servers={"box": ServerSettings("box", "compatible", "Box", "http://127.0.0.1:8080/v1")}
            ),
            project=Project(
                root="/home/person/work/cachelab",
                name="cachelab",
                has_file=True,
                is_trusted=True,
                presets=presets(),
                unsaved_presets=frozenset({"coding-strict"}),
                personas={"terse reviewer": NamedText("terse reviewer", "Be brief.")},
                system_prompts={
                    "strict": NamedText("strict", "Follow the house style.", "prompts/strict.md")
                },
            ),
            providers=providers(),
            models=models(),
        ),
        discussions=DiscussionsState(
            summaries=summaries(),
            selected_id="d1",
            open={"d1": opened},
            prompt_history=("first prompt", "second prompt"),
        ),
        context=ContextState(files=item_files(), reports={"d1": report()}),
    )
    return with_fields(state, **changes)


def with_opened(state: AppState, **changes: object) -> AppState:
    """The state with changes to the selected discussion."""
    opened = replace(state.discussions.open[state.discussions.selected_id], **changes)  # type: ignore[arg-type]
    return replace(
        state,
        discussions=replace(state.discussions, open=with_entry(state.discussions.open, opened.id, opened)),
    )


def streaming(text: str = "Lazy forks share", *, phase: CallPhase = CallPhase.STREAMING) -> AppState:
    """A reply on its way."""
    call = LiveCall("c1", "d1", "m8", "m9", "anthropic", "claude-opus-4.8", NOW - timedelta(seconds=4), phase, text,
                    "Weighing both.")  # fmt: skip
    return with_opened(with_fields(working(), calls={"d1": call}), draft=Draft())


def failed(kind: FailureKind = FailureKind.NO_NETWORK) -> AppState:
    """A send that failed."""
    why = Failure(kind, "Anthropic could not be reached", "Check the network, then retry",
                  "https://api.anthropic.com", 503, "req_01", 12.0)  # fmt: skip
    return with_opened(working(), failed_message_id="m6", failure=why, draft=Draft())


def versioned() -> AppState:
    """Two turns; the first reply was asked for again twice, the last one once. The second of each is the chosen one."""
    v1, v2, v3 = (reply(f"v{n}", f"The {n}. answer.", version_of="v1" if n > 1 else "") for n in (1, 2, 3))
    w1, w2 = (reply(f"w{n}", f"The {n}. reason.", version_of="w1" if n > 1 else "") for n in (1, 2))
    return with_opened(
        working(),
        entries=(user("u1", "What is it?"), v2, user("u2", "And why?"), w2),
        versions={
            "v1": ReplyVersions(("v1", "v2", "v3"), "v2", {"v1": (v1,), "v3": (v3,)}),
            "w1": ReplyVersions(("w1", "w2"), "w2", {"w1": (w1,)}),
        },
        draft=Draft(),
    )


def compared_at_length() -> AppState:
    """Three models' replies to one message, each longer than any window."""
    text = "\n\n".join(f"{n}. The moon pulls the water, and the earth turns below. " * 4 for n in range(30))
    names = ("claude-opus-4.8", "claude-haiku-4.8", "gemini-4-pro")
    one, two, three = (
        reply(f"c{n}", text, version_of="c0" if n else "", model=name) for n, name in enumerate(names)
    )
    columns = tuple(
        ComparedReply(asked=ComparedModel(provider=one.provider, model=name), reply_id=f"c{n}", is_over=True)
        for n, name in enumerate(names)
    )
    return with_opened(
        working(),
        entries=(user("u1", "Why are there tides?"), one),
        versions={"c0": ReplyVersions(("c0", "c1", "c2"), "c0", {"c1": (two,), "c2": (three,)})},
        comparison=Comparison(prompt_id="u1", replies=columns),
        draft=Draft(),
    )


def first_run() -> AppState:
    """Just installed: the embedded model, one empty discussion."""
    fresh = summary("n1", "New discussion", provider="embedded", model="smollm2-135m", turns=0, cost_usd=None,
                    input_tokens=None)  # fmt: skip
    return AppState(
        program=ProgramState(home="/home/person/.manual_slop", is_loading=False),
        now=NOW,
        config=ConfigState(providers=providers(), models=models()),
        discussions=DiscussionsState(
            summaries={"n1": fresh}, selected_id="n1", open={"n1": OpenDiscussion("n1")}
        ),
    )


def notices() -> tuple[Notice, ...]:
    """Notices of every level."""
    return (
        Notice("undo", Level.INFO, "Deleted “Old ideas”", action=None),
        Notice("disk", Level.ERROR, "The disk is full", "Free some space; your draft is kept in memory", NOW),
        Notice("prefix", Level.WARNING, "Layer 6 changed at byte 412", "AGENTS.md was edited outside"),
        Notice("more", Level.INFO, "Found Ollama on this machine"),
    )


def busy() -> AppState:
    """Much going on at once."""
    workers = {
        "context": WorkerStatus("context", "busy", "Counting tokens", 0.4),
        "files": WorkerStatus("files", "failed", "Cannot watch files"),
        "search": WorkerStatus("search"),
    }
    return with_fields(working(), notices=notices(), workers=workers, is_home_read_only=True)


def many(count: int = 10_000) -> AppState:
    """As many discussions and messages as a person could ever have."""
    rows = [
        summary(
            f"x{n}",
            f"Discussion {n} about caches",
            age=timedelta(hours=n),
            parent_id=f"x{n - 1}" if n % 9 == 5 else "",
        )
        for n in range(count)
    ]
    entries = tuple(
        user(f"m{n}", f"Question {n}? " + "why " * (n % 40))
        if n % 2 == 0
        else reply(f"m{n}", f"Answer {n}. {REPLY}")
        for n in range(count)
    )
    return with_fields(
        working(),
        summaries={row.meta.id: row for row in rows},
        selected_id="x0",
        open={"x0": OpenDiscussion("x0", entries)},
        reports={"x0": report()},
    )


def searched(query: str, *ids: str) -> SearchHits:
    """Search hits with a line each."""
    return SearchHits(query, ids, dict.fromkeys(ids, f"… a line with {query} in it …"))


def beside_a_panel(state: AppState) -> AppState:
    """A state whose shown discussions have one message each: how a conversation fits is tested once, and costs as much again
    as the panel beside it.
    """
    opened = {key: replace(one, entries=one.entries[-1:]) for key, one in state.discussions.open.items()}
    return with_fields(state, open=opened)
