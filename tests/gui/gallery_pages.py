"""More pages of the gallery: a conversation, and things for long content."""

from __future__ import annotations

import random
from collections.abc import Hashable
from dataclasses import dataclass, field

from panels.base.ui import Column, Option, Ui

SAMPLE = '''Keep the slot **immutable** and let the fork *share* the prefix until it diverges ([design](https://example.org/a)):

1. the parent owns the slot and its `expires_at`
2. the fork stores only the anchor index
   - nested, with `code` and ~~struck~~ words
   - [x] done
   - [ ] to do
3. a touch on either side extends the shared TTL

```python
def touch(slot: Slot, now: float) -> Slot:
    """Extend the TTL without copying the prefix."""
    return replace(slot, last_used=now, expires_at=now + 300)
```

| provider | cached | *cost* |
|---|---|---|
| anthropic | 11.9k | $0.011 |
| gemini | 9.1k | a long cell that says more than fits in a narrow column and therefore wraps |

> Anything that edits history before the anchor must split the slot first.
> > 漢字 and emoji 🙂, and \u202ehidden marks.

## Next

![diagram](https://example.org/x.png)
'''
WORDS = [
    "alpha",
    "context",
    "cache",
    "token",
    "stream",
    "the",
    "model",
    "responds",
    "with",
    "curated",
    "knowledge",
    "harvest",
    "pipeline",
]


@dataclass
class Messages:
    """Rows of a conversation."""

    texts: list[str]
    revision: Hashable = 0
    clicked: list[str] = field(default_factory=list)
    is_streaming: bool = False

    def __len__(self) -> int:
        return len(self.texts)

    def key(self, index: int) -> Hashable:
        return index, len(self.texts[index])

    def estimate_px(self, index: int, width: float) -> float:
        return 70 + 22 * (1 + len(self.texts[index]) * 8 / max(width, 1))

    def draw(self, index: int, ui: Ui) -> None:
        with ui.surface("card", "card"):
            with ui.row("head"):
                ui.icon("who", "user" if index % 2 else "robot", tone="muted" if index % 2 else "accent")
                ui.text("name", "You" if index % 2 else "claude-opus-4.8", style="strong")
                is_narrow = 0 < ui.width() < NARROW_PX
                meta = f"#{index} · 14:02 · 512 tok"
                if not is_narrow:
                    ui.text("meta", meta, tone="muted", style="small")
                ui.push()
                for icon in ("copy", "pen", "code-branch"):
                    if ui.button(icon, "", icon=icon, kind="ghost", is_small=True, tip=f"{icon} {index}"):
                        self.clicked.append(f"{icon} {index}")
            if is_narrow:
                ui.text("meta", meta, tone="muted", style="small")
            streams = self.is_streaming and index == len(self.texts) - 1
            ui.markdown("body", self.texts[index], is_streaming=streams)
        ui.gap(8)


def conversation(count: int, seed: int = 1) -> Messages:
    """Messages of many lengths, the same for the same seed."""
    rng = random.Random(seed)
    texts = []
    for index in range(count):
        length = int(min(6000, rng.lognormvariate(5.6, 0.9)))
        text = " ".join(rng.choice(WORDS) for _ in range(length // 7 + 1))
        texts.append(SAMPLE if index % 5 == 3 else text)
    return Messages(texts)


@dataclass
class Rows:
    """Rows of a table."""

    count: int = 500
    revision: Hashable = 0
    is_narrow: bool = False

    def __len__(self) -> int:
        return self.count

    def key(self, index: int) -> Hashable:
        return index

    def estimate_px(self, index: int, width: float) -> float:
        return 32

    def draw(self, index: int, ui: Ui) -> None:
        ui.text("job", f"Extract decisions {index}")
        if self.is_narrow:
            return
        ui.badge("stage", "done" if index % 3 else "queued", tone="ok" if index % 3 else "muted")
        ui.text("items", f"{index * 37:,}", tone="muted")
        ui.button("open", "Open", kind="link")


NARROW_PX = 380
NARROW = (Column("Job"),)
COLUMNS = (
    Column("Job"),
    Column("Stage", width=110),
    Column("Items", width=90, is_number=True),
    Column("", width=80),
)
CODE = "\n".join(
    f"def function_{n}(value: int) -> str:\n    return f'{{value}} {n}'  # comment\n" for n in range(300)
)


@dataclass
class LongView:
    """What the page of long things remembers."""

    tab: str = "table"
    order: list[str] = field(default_factory=lambda: ["system", "rules", "digest", "files"])
    picture: str = ""
    files: tuple[str, ...] | None = None
    chooses: bool = False
    menu: list[str] = field(default_factory=list)


def long_page(ui: Ui, view: LongView) -> None:
    """Tabs with a table, code, sorting, and a chooser."""
    tabs = [Option(name, name.capitalize()) for name in ("table", "code", "sort", "text")]
    view.tab = ui.tabs("tabs", tabs, view.tab) or view.tab
    match view.tab:
        case "table":
            is_narrow = 0 < ui.width() < NARROW_PX
            ui.table("table", NARROW if is_narrow else COLUMNS, Rows(is_narrow=is_narrow))
        case "code":
            ui.code("code", CODE, language="python", first_line=1, height=0)
        case "sort":
            moved = ui.sortable("rows", len(view.order), lambda i: _card(ui, view, i))
            if moved:
                view.order.insert(moved[1], view.order.pop(moved[0]))
            ui.image("picture", view.picture)
            ui.image("broken", "/nowhere/cat.png")
            if ui.button("choose", "Choose files…", icon="folder-open"):
                view.chooses = True
        case _:
            ui.selectable_text("plain", "Select me. " * 60)
            ui.selectable_text("mono", CODE[:600], mono=True, height=160)
    if view.chooses:
        chosen = ui.file_dialog("chooser", "Choose files", start=view.picture)
        if chosen is not None:
            view.chooses, view.files = False, chosen


def _card(ui: Ui, view: LongView, index: int) -> None:
    with ui.clickable("card", "card"):
        with ui.row("head"):
            ui.text("name", view.order[index], style="strong")
            ui.push()
            ui.badge("n", str(index))
        with ui.context_menu("menu") as is_open:
            if is_open and ui.menu_item("remove", f"Remove {view.order[index]}"):
                view.menu.append(view.order[index])
