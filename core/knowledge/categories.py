"""Category files: what of them are items, and how one is added, replaced or taken out without touching other lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from core.kernel.figures import count
from core.kernel.frame import atx_heading, clean, without_blocks
from core.kernel.language import as_sentences, tr
from core.kernel.patterns import late
from core.kernel.secrets import scrub
from core.kernel.values.knowledge import Category, CategoryFile, Item, NewItem, Provenance

# Category files: what of them are items, and how one is added, replaced or taken out without another byte
# changed.

# The tag that says where an item came from: written, read, and never forged by what an item says.

Said = tuple[str, Provenance | None]
"""Words of an item, and where they come from."""

MOST_ORIGINS = 100
"""Origins that one item keeps, at most."""

_TAG = late(r"\[from: ((?:\\.|[^\]\\\n])+), (\d{4}-\d{2}-\d{2})\][ \t]*$")
_ESCAPED = late(r"\\(.)")
_SLUG = late(r"[^\w]+")
_BREAKS = late(r"[\s\x1c-\x1f\x85\u2028\u2029]+")


def source_name(created_at: datetime, name: str) -> str:
    """The name of a conversation in provenance: `{created date}-{slug of the name}`.

    Args:
        created_at: aware or UTC; name: as the person sees it, may be empty.
    """
    slug = _SLUG.sub("-", scrub(name).lower()).strip("-_")[:60].rstrip("-") or "discussion"
    return f"{created_at.year:04d}-{created_at:%m-%d}-{slug}"


def format_tag(provenance: Provenance) -> str:
    r"""`[from: {source}, {date}]`, a `]` in the source as `\]`; one behind another where there are several."""
    return " ".join(map(_format_one, provenance.all))


def joined(origins: Iterable[Provenance | None]) -> Provenance | None:
    """Several provenances joined, each origin once, the newest last. None if there are none."""
    every = dict.fromkeys(one for origin in origins if origin is not None for one in origin.all)
    ordered = sorted(every, key=lambda one: (one.date, one.source))
    return replace(ordered[-1], also=tuple(ordered[:-1])) if ordered else None


def without_origins(provenance: Provenance, sources: Collection[str]) -> Provenance | None:
    """The provenance without these sources, None if nothing is left."""
    return joined(one for one in provenance.all if one.source not in sources)


def _format_one(provenance: Provenance) -> str:
    source = _BREAKS.sub(" ", provenance.source).strip() or "unknown"
    return f"[from: {source.replace(chr(92), chr(92) * 2).replace(']', chr(92) + ']')}, {provenance.date}]"


def with_tag(text: str, provenance: Provenance | None) -> str:
    """An item's words with its tag, where it has one, at the end of the first line."""
    if provenance is None:
        return text
    line, end, rest = text.partition("\n")
    return f"{line} {format_tag(provenance)}{end}{rest}"


def split_tag(line: str) -> tuple[str, Provenance | None]:
    """A line without the tag at its end, and the tag; of several, the last one with the others in it. O(n)."""
    tags: list[Provenance] = []
    end = len(line)
    while (at := line.rfind("[from: ", 0, end)) >= 0 and len(tags) < MOST_ORIGINS:
        match = _TAG.match(line, at, end)
        if match is None:
            break
        source = _ESCAPED.sub(r"\1", match[1]) if "\\" in match[1] else match[1]
        tags.append(Provenance(source=source, date=match[2]))
        end = at
    line = line[:end].rstrip(" \t") if tags else line
    if len(tags) > 1:
        return line, replace(tags[0], also=tuple(reversed(tags[1:])))
    return line, tags[0] if tags else None


FACTS, DECISIONS, QUESTIONS, PLAYBOOKS, TASKS = (
    f"{name}.md" for name in ("facts", "decisions", "questions", "playbooks", "tasks")
)
FILE_OF = {
    Category.FACTS: FACTS,
    Category.DECISIONS: DECISIONS,
    Category.QUESTIONS: QUESTIONS,
    Category.PLAYBOOKS: PLAYBOOKS,
    Category.TASKS_OPEN: TASKS,
    Category.TASKS_DONE: TASKS,
}
"""The file of each category; notes have a file for each path."""

CATEGORY_NAMES = (TASKS, QUESTIONS, DECISIONS, FACTS, PLAYBOOKS)
"""The category files in the order of the digest."""

OPEN, DONE = "Open", "Done"
NOTES_FOLDER = "files"

_HEADINGS = {
    FACTS: "# Facts\n\n",
    DECISIONS: "# Decisions\n\n",
    QUESTIONS: "# Questions\n\n",
    PLAYBOOKS: "# Playbooks\n\n",
    TASKS: "# Tasks\n\n## Open\n\n## Done\n",
}
_BY_FILE = {name: category for category, name in FILE_OF.items() if name != TASKS}
ITEM_MAX_CHARS = 65_536
"""Characters of an item with its continued lines, at most. A longer one is another text: it stays in its file, unread."""

_BOM = b"\xef\xbb\xbf"
_HEAD_BYTES = 4096
_BLANKS = b" \t\r\n"


class CategoryLine(msgspec.Struct, frozen=True, gc=False):
    """An item's line that is to be added: `text` without line end, `section` only for tasks."""

    text: str
    section: str = ""


def section_of(category: Category) -> str:
    """The section of tasks.md, empty for other categories."""
    return {Category.TASKS_OPEN: OPEN, Category.TASKS_DONE: DONE}.get(category, "")


def is_done(section: str) -> bool:
    """True if tasks under this heading are done; under any other they are open."""
    return section.strip().casefold() == DONE.casefold()


def note_name(file_id: str) -> str:
    """The note file's name below the knowledge directory."""
    return f"{NOTES_FOLDER}/{file_id}.md"


def parse_file(name: str, data: bytes, *, most_chars: int = ITEM_MAX_CHARS) -> CategoryFile:
    """Read a category file or notes. Raises nothing: what is no item is not understood and is kept. O(n).

    Args:
        name: below the knowledge directory; data: its bytes, BOM, CRLF and bytes that are no UTF-8 allowed.
        most_chars: of an item; a longer one is left out and named in the file's problem.
    """
    if b"\0" in data[:_HEAD_BYTES]:
        return CategoryFile(
            name=name,
            data=data,
            problem=tr("{name} is not UTF-8 text; save it as UTF-8 so the program can read it", name=name),
        )
    text = data.removeprefix(_BOM).decode("utf-8", "replace")
    long: list[tuple[int, int]] = []
    items = tuple(_items(name, text.split("\n"), most_chars, long))
    return CategoryFile(name=name, data=data, items=items, problem=_too_long(name, long, most_chars))


def category_of(name: str, section: str) -> Category:
    """The category of items in a file, under a heading."""
    if name == TASKS:
        return Category.TASKS_DONE if is_done(section) else Category.TASKS_OPEN
    return _BY_FILE.get(name, Category.FILES)


def new_file(name: str, heading: str = "") -> bytes:
    """Start of a file that is not there yet. `heading`: of notes, one line."""
    return _HEADINGS.get(name, f"# {heading}\n\n").encode("utf-8", "surrogateescape")


def with_lines(name: str, data: bytes, lines: Sequence[CategoryLine]) -> bytes:
    """Add items at the end of their sections; every byte that was there stays, in order.

    Args:
        data: the whole file, not empty (`new_file`).
    """
    if name != TASKS:
        return _joined(data, len(data), [line.text for line in lines])
    for section in (DONE, OPEN):
        texts = [line.text for line in lines if (line.section == DONE) is (section == DONE)]
        if texts:
            data, at = _section_end(data, section)
            data = _joined(data, at, texts)
    return data


def line_end(data: bytes) -> bytes:
    """The line end that a file uses, by its first line."""
    first = data.find(b"\n")
    return b"\r\n" if first > 0 and data[first - 1] == 13 else b"\n"


def without_item(data: bytes, item: Item) -> bytes:
    """Take an item's lines out, nothing else. `item` is of this very `data`."""
    return with_items(data, [(item, None)])


def with_item_back(name: str, data: bytes, lines: bytes, section: str, at: int) -> bytes:
    """Put an item's lines back that were taken out.

    Args:
        lines: with their ends, as `without_item` took them out; section: of the item; at: offset, in bytes, where they
            stood, for a file that is as it was left; negative for one that is not: the end of the section.
    """
    if at >= 0:
        return data[:at] + lines + data[at:]
    text = lines.decode("utf-8", "surrogateescape").replace("\r\n", "\n").removesuffix("\n")
    return with_lines(name, data or new_file(name), [CategoryLine(text, DONE if is_done(section) else OPEN)])


def with_item(data: bytes, item: Item, text: str) -> bytes:
    """Put other lines (without end) in the place of an item's. `item` is of this very `data`."""
    return with_items(data, [(item, text)])


def with_items(data: bytes, changes: Iterable[tuple[Item, str | None]]) -> bytes:
    """Put other lines (without end) in the place of some items', or take them out (None), nothing else. O(n).

    Args:
        changes: the items are of this very `data`, each once.
    """
    lines = data.split(b"\n")
    made: list[bytes] = []
    at, bom = 0, b""
    for item, text in sorted(changes, key=lambda one: one[0].first_line):
        first = item.first_line - 1
        made += lines[at:first]
        bom = _BOM if first == 0 and data.startswith(_BOM) else bom
        if text is not None:
            end = b"\r" if lines[first].endswith(b"\r") else b""
            made.append(text.encode("utf-8", "replace").replace(b"\n", end + b"\n") + end)
        at = item.last_line
    return bom + b"\n".join([*made, *lines[at:]])


def find_item(file: CategoryFile, wanted: Item) -> Item | None:
    """The item as it stands now: the same words in the same section, nearest to where it was; None when gone."""
    same = [i for i in file.items if (i.text, i.provenance) == (wanted.text, wanted.provenance)]
    same = [i for i in same if is_done(i.section) is is_done(wanted.section)]
    return min(same, key=lambda i: abs(i.first_line - wanted.first_line), default=None)


def newest_first(name: str, data: bytes, *, done: bool = False) -> Iterator[Said]:
    """Items' words, each with its provenance, from the last to the first, read from the end only as far as they are taken.

    For tasks those that are open, or done when asked. The same as `parse_file` gives, reversed.
    """
    if b"\0" in data[:_HEAD_BYTES]:
        return
    start = len(_BOM) if data.startswith(_BOM) else 0
    spans = _task_spans(data, start, done=done) if name == TASKS else [(start, len(data))]
    for first, last in reversed(spans):
        yield from _backwards(data, first, last)


def _items(name: str, lines: list[str], most: int, long: list[tuple[int, int]]) -> Iterator[Item]:
    """The items, without those that are too long: `long` takes their lines, 1-based, with their sizes."""
    section, start = "", -1
    category = category_of(name, section)
    for number, line in enumerate([*lines, ""]):
        if start >= 0 and number < len(lines) and _continues(line):
            continue
        if start >= 0:
            item = lines[start:number]
            if (size := _size(item)) > most:
                long.append((start + 1, size))
            else:
                text, provenance = _read(item)
                yield Item(
                    category=category,
                    file=name,
                    text=text,
                    provenance=provenance,
                    section=section,
                    first_line=start + 1,
                    last_line=number,
                )
            start = -1
        if _starts(line):
            start = number
        elif (found := _section(line)) is not None:
            section = found
            category = category_of(name, section)


def _size(lines: Sequence[str]) -> int:
    """Characters of an item, its line ends with them."""
    return sum(map(len, lines)) + len(lines)


def _too_long(name: str, long: Sequence[tuple[int, int]], most: int) -> str:
    """Sentence about items that are too long, with the remedy; empty for none."""
    if not long:
        return ""
    line, size = long[0]
    said = tr(
        "{name}, line {line:,}: the program skips this item, because its {size:,} characters exceed {most:,}. The item stays in the file: split it, or move its long part elsewhere",
        name=name,
        line=line,
        size=size,
        most=most,
    )
    others = (
        tr(
            "The program also skips {items} of the file",
            items=count(len(long) - 1, tr("long item"), tr("long items")),
        )
        if len(long) > 1
        else ""
    )
    return as_sentences(said, others)


def _backwards(data: bytes, first: int, last: int) -> Iterator[Said]:
    """Items of a part of the file, whole lines, from its end to its start."""
    pending: list[str] = []
    while last > first:
        at = data.rfind(b"\n", first, last)
        line = data[max(at + 1, first) : last].decode("utf-8", "replace")
        last = max(at, first)
        if _continues(line):
            pending.append(line)
            continue
        if _starts(line):
            pending.append(line)
            if _size(pending) <= ITEM_MAX_CHARS:
                yield _read(pending[::-1])
        pending.clear()


def _task_spans(data: bytes, start: int, *, done: bool) -> list[tuple[int, int]]:
    """Spans of the tasks that are done, or of those that are open."""
    return [(a, b) for section, a, b in _sections(data, start) if is_done(section) is done]


def _sections(data: bytes, start: int) -> Iterator[tuple[str, int, int]]:
    """The name of each section and where its lines begin and end, its heading left out."""
    section, at = "", start
    for here in _heading_lines(data, start):
        end = data.find(b"\n", here)
        end = len(data) if end < 0 else end
        found = _section(data[here:end].decode("utf-8", "replace"))
        if found is not None:
            yield section, at, here
            section, at = found, end
    yield section, at, len(data)


def _heading_lines(data: bytes, start: int) -> Iterator[int]:
    """Starts of the lines that begin with a `#`. A look for one byte is ten times as fast as one for two."""
    at = data.find(b"#", start)
    while at >= 0:
        if at == start or data[at - 1] == 10:
            yield at
        at = data.find(b"#", at + 1)


def _section(line: str) -> str | None:
    """The name of a section that starts with this line: a heading of the first or second level."""
    heading = atx_heading(line) if line[:1] == "#" else None
    return heading[1] if heading is not None and heading[0] <= 2 and heading[1] else None


def _starts(line: str) -> bool:
    return line[:2] in {"- ", "-\t"} and not line[2:].isspace() and len(line) > 2


def _continues(line: str) -> bool:
    return line[:1] in {" ", "\t"} and not line.isspace()


def _read(lines: list[str]) -> Said:
    """The words of an item and its provenance, at the end of whichever line it stands."""
    text, provenance = split_tag(lines[0][2:].strip().replace("\0", ""))
    texts = [text]
    for line in lines[1:]:
        rest, found = split_tag(line.rstrip().replace("\0", ""))
        texts.append(rest)
        provenance = found or provenance
    return "\n".join(texts), provenance


def _section_end(data: bytes, section: str) -> tuple[bytes, int]:
    """The file with this section, made where there was none, and where its last line that is not blank ends."""
    start = len(_BOM) if data.startswith(_BOM) else 0
    spans = [(a, b) for name, a, b in _sections(data, start) if name.casefold() == section.casefold()]
    if not spans:
        end = line_end(data)
        gap = b"" if data.endswith(b"\n") or not data else end
        data = data + gap + end + f"## {section}".encode() + end
        return data, len(data)
    first, last = spans[-1]
    words_end = first + len(data[first:last].rstrip(_BLANKS))
    return data, data.find(b"\n", words_end) + 1 or len(data)


def _joined(data: bytes, at: int, texts: Sequence[str]) -> bytes:
    """Put lines in at the start of a line, or at the end of the file."""
    end = line_end(data)
    lines = end.join(_encoded(text, end) for text in texts)
    head, tail = data[:at], data[at:]
    if head.removeprefix(_BOM) and not head.endswith(b"\n"):
        head += end
    is_under_heading = head.rstrip(_BLANKS).rpartition(b"\n")[2].removeprefix(_BOM).startswith(b"#")
    if is_under_heading and not head.endswith(end * 2):
        head += end
    return head + lines + end + tail


def _encoded(text: str, end: bytes) -> bytes:
    """Bytes of an item's line or lines; bytes of the file that were no UTF-8 come back as they were."""
    return text.encode("utf-8", "surrogateescape").replace(b"\n", end)


# Wording of an item, safe for its file: one line that opens no heading, closes no block, forges no tag.

MAX_ITEM_CHARS = 10_000
"""A longer value is no item any more; it is cut with an ellipsis."""

_WORDING_BREAKS = late(
    r"(?<![ \t])[ \t]*+[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+[ \t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*"
)
_FORGED = late(r"\[(?=\s*from\s*:)", re.IGNORECASE)
_OPENING = late(r"(?:[-+*>]|#{1,6}|-{3,}|={3,})(?=\s|$)|>|`{3}|~{3}")
_NUMBERED = late(r"(\d{1,9})([.)])(?=\s+(?:[-+*>#]|`{3}|~{3}))")


def safe_value(text: str) -> str:
    """A value on one line, at most `MAX_ITEM_CHARS`, that means nothing to Markdown, the digest or the parser."""
    flat = _WORDING_BREAKS.sub(" ", clean(text[: MAX_ITEM_CHARS * 2])).strip()
    if len(flat) > MAX_ITEM_CHARS:
        flat = flat[: MAX_ITEM_CHARS - 1].rstrip() + "…"
    flat = without_blocks(_FORGED.sub("(", flat)).replace("<!--", "<! --")
    if _OPENING.match(flat):
        return f"\\{flat}"
    return _NUMBERED.sub(r"\1\\\2", flat, count=1) if _NUMBERED.match(flat) else flat


def item_body(item: NewItem) -> str:
    """Words of the item on its line, without dash and provenance; empty where it says nothing."""
    text, detail, name = safe_value(item.text), safe_value(item.detail), safe_value(item.name)
    whole = " — ".join(part for part in (text, detail) if part)
    if item.category is Category.PLAYBOOKS:
        title = re.sub(r"\*{2,}", "*", name).strip("* ")
        return f"**{title}**: {whole}" if title and whole else ""
    return whole


def item_line(item: NewItem) -> str:
    """The item's line without line end (`- statement [from: …]`), empty where it says nothing."""
    return line_of(item_body(item), item)


def line_of(body: str, item: NewItem) -> str:
    """The line of a body that was made safe before."""
    if not body:
        return ""
    return f"- {with_tag(body, item.provenance)}"


# Takes items out that an apply wrote, and tells those that a person has changed since.


def lines_out(name: str, data: bytes, texts: Iterable[str]) -> tuple[bytes, tuple[str, ...], tuple[str, ...]]:
    """Take lines out of a file, where they stand as they were written.

    Args:
        name: below the knowledge directory; texts: whole lines without line end, as an apply wrote them.

    Returns:
        The file without them; those taken out; those that a person has edited, continued or removed since.
    """
    wanted = list(dict.fromkeys(texts))
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\n")
    by_line: dict[str, Item] = {}
    for item in parse_file(name, data).items:
        if item.first_line == item.last_line:
            by_line[lines[item.first_line - 1].rstrip("\r")] = item
    found = [text for text in wanted if text in by_line]
    data = with_items(data, ((by_line[text], None) for text in found))
    return data, tuple(found), tuple(text for text in wanted if text not in by_line)
