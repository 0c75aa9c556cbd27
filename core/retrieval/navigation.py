"""Index files of a tree of notes, from the notes' heads: a router at the root, an index in each folder."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import count, groupby
from typing import Any
from urllib.parse import quote

import msgspec

from core.kernel.dates import MONTH_OF
from core.kernel.frame import flat, one_line
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.values.curation import LineRange
from core.kernel.values.retrieval import ChunkKind, Corpus, Retriever, SearchFilters, SearchHit, SourceHead
from core.kernel.words import query_terms, words
from core.retrieval.chunker import read_front_matter
from core.retrieval.index_store import folder_starts
from core.talk.context.outline.definitions import first_heading

# Lines of an index file within a token budget: whole, else on pages by first letter, and pages of pages.

Tokens = Callable[[str], int]
"""Tokens of a text; those of lines, added up, are those of the lines together."""


class Row(msgspec.Struct, frozen=True):
    """A line of an index file.

    Args:
        line: ends in LF; key: what it is sorted by; entries: notes or folders that it stands for.
    """

    line: str
    key: str
    entries: int = 1

    @property
    def letter(self) -> str:
        """First letter or digit of the key in upper case, `#` where it has none."""
        return next((char for char in self.key if char.isalnum()), "#").upper()[:1]


class Page(msgspec.Struct, frozen=True):
    """Rows that stand in a file of their own; label: its first letters (`A–C`)."""

    name: str
    label: str
    rows: tuple[Row, ...]


class Paging:
    """Names of pages beside one index file, given out once each.

    Args:
        taken: file names that are a person's; tokens: measure; budget: tokens of the rows of a page.
    """

    def __init__(self, taken: Iterable[str], tokens: Tokens, budget: int) -> None:
        self._taken = frozenset(name.casefold() for name in taken)
        self._tokens, self._budget = tokens, budget
        self._numbers = count(1)
        self.pages: list[Page] = []

    def fitted(self, rows: Sequence[Row], room: int) -> tuple[Row, ...]:
        """The rows where they fit into `room` tokens, else a row for each page that they were put on."""
        while len(rows) > 1 and self.cost(rows) > room:
            packs = list(self._packs(rows))
            if len(packs) >= len(rows):
                break
            rows = [self._page(pack, label) for pack, label in zip(packs, _labels(packs), strict=True)]
        return tuple(rows)

    def cost(self, rows: Iterable[Row]) -> int:
        """Tokens of rows."""
        return sum(self._tokens(row.line) for row in rows)

    def _packs(self, rows: Sequence[Row]) -> Iterator[tuple[Row, ...]]:
        """Runs of rows that fill a page each. A letter is cut only where it is larger than a page."""
        pack: list[Row] = []
        used = 0
        for _, group in groupby(rows, key=lambda row: row.letter):
            letter = list(group)
            cost = self.cost(letter)
            if pack and used + cost > self._budget:
                yield tuple(pack)
                pack, used = [], 0
            if cost <= self._budget:
                pack, used = pack + letter, used + cost
                continue
            for row in letter:
                one = self._tokens(row.line)
                if pack and used + one > self._budget:
                    yield tuple(pack)
                    pack, used = [], 0
                pack.append(row)
                used += one
            yield tuple(pack)
            pack, used = [], 0
        if pack:
            yield tuple(pack)

    def _page(self, rows: tuple[Row, ...], label: str) -> Row:
        name = next(name for number in self._numbers if (name := f"index.{number}.md") not in self._taken)
        self.pages.append(Page(name=name, label=label, rows=rows))
        entries = sum(row.entries for row in rows)
        return Row(line=f"- [{label}]({name}): {entries:,}\n", key=rows[0].key, entries=entries)


def _labels(packs: Sequence[tuple[Row, ...]]) -> list[str]:
    """Letters of each pack, numbered where a letter goes over several."""
    spans = [tuple(dict.fromkeys((pack[0].letter, pack[-1].letter))) for pack in packs]
    plain = ["–".join(span) for span in spans]
    numbered: list[str] = []
    for at, label in enumerate(plain):
        same = plain.count(label)
        numbered.append(f"{label} {plain[: at + 1].count(label)}" if same > 1 else label)
    return numbered


INDEX_NAME = "index.md"
ROUTER_TOKENS, FOLDER_TOKENS = 1_500, 3_000
"""Most tokens of the root's index, and of any other folder's or page."""

MAX_DEPTH = 64
"""Folders below the root: nobody finds a note that lies deeper by its index."""

MARKER = b"<!-- generated by manual-slop index"
"""First words of an index file that we made: it is no note."""

_NAMES = late(r"index(\.\d+)?\.md", re.IGNORECASE)
_BOM = b"\xef\xbb\xbf"
_MARKER_TOKENS = 120
"""Room for the marker: tokens of a hash depend on its digits."""
_ROW_TOKENS = 300
"""A line over it loses its description and tags."""
_TAGS, _TITLES, _FOLDERS = 6, 4, 6
"""Of a folder, that its parent names."""
_TITLE_CHARS = 60
_ESCAPED = late(r"([\\\[\]<>`*_])")
_FORM = 1
"""Of index files: with another one, all are written anew."""
_PAGE_LINK = late(rb"^- \[[^\]\n]*\]\((index\.\d+\.md)\): [\d,]+$", re.MULTILINE)
_PLAIN_LINK = late(r"[\w./~+@=,-]+")


class Notes(msgspec.Struct, frozen=True):
    """A folder of notes with all that is below it.

    Args:
        name: of the folder; path: below the root, POSIX, empty for the root.
        notes: head of each note in it by file name; own_index: head of an index that a person wrote, None for none.
    """

    name: str
    path: str
    notes: Mapping[str, SourceHead]
    folders: tuple[Notes, ...] = ()
    own_index: SourceHead | None = None

    @property
    def count(self) -> int:
        """Number of notes in it and below."""
        return len(self.notes) + sum(folder.count for folder in self.folders)


def is_index_name(name: str) -> bool:
    """True if a file of this name may be one that we made."""
    return _NAMES.fullmatch(name) is not None


def is_generated(start: bytes) -> bool:
    """True if a file that begins like this was made by us."""
    return start.removeprefix(_BOM).startswith(MARKER)


def notes_tree(name: str, heads: Mapping[str, SourceHead]) -> Notes:
    """The tree of a root's notes.

    Args:
        name: of the root; heads: by path below it, POSIX, without files that we made.
    """
    here: dict[str, SourceHead] = {}
    below: dict[str, dict[str, SourceHead]] = {}
    for path, head in heads.items():
        if path.count("/") > MAX_DEPTH:
            continue
        folder, slash, rest = path.partition("/")
        if slash:
            below.setdefault(folder, {})[rest] = head
        else:
            here[path] = head
    return _tree(name, "", here, below)


def index_files(
    root: Notes, tokens: Tokens, is_fresh: Callable[[str, str], bool] = lambda _folder, _digest: False
) -> dict[str, bytes]:
    """Content of each index file of a tree by its path below the root; none for a tree without notes.

    A folder whose index a person wrote gets none.

    Args:
        is_fresh: by a folder's path and `listing_digest`; what it says yes to is left out.
    """
    if not root.count:
        return {}
    return {path: text.encode() for path, text in _files(root, tokens, is_fresh)}


def listing_digest(folder: Notes) -> str:
    """SHA-256 of all that a folder's index is made from."""
    notes = sorted((name, head.title, head.description, head.tags) for name, head in folder.notes.items())
    folders = [(one.name, one.count, *_folder_parts(one)) for one in folder.folders]
    return hashlib.sha256(repr((_FORM, folder.name, folder.path, notes, folders)).encode()).hexdigest()


def is_current(data: bytes, digest: str = "") -> bool:
    """True if an index file is as it was written, from what has this digest; a page has none."""
    line, _, listed = data.replace(b"\r\n", b"\n").partition(b"\n")
    return line == _marker(digest, listed).encode()


def without_marker(data: bytes) -> bytes:
    """An index file without the marker of one that we made."""
    return data.partition(b"\n")[2] if is_generated(data) else data


def page_names(data: bytes) -> tuple[str, ...]:
    """Names of the pages that an index file or a page links to."""
    return tuple(match.decode() for match in _PAGE_LINK.findall(data))


def _tree(
    name: str, path: str, notes: dict[str, SourceHead], below: Mapping[str, Mapping[str, SourceHead]]
) -> Notes:
    folders = []
    for folder in sorted(below, key=_order):
        here: dict[str, SourceHead] = {}
        deeper: dict[str, dict[str, SourceHead]] = {}
        for inner, head in below[folder].items():
            first, slash, rest = inner.partition("/")
            if slash:
                deeper.setdefault(first, {})[rest] = head
            else:
                here[first] = head
        folders.append(_tree(folder, f"{path}{folder}/", here, deeper))
    own = next((head for file, head in notes.items() if file.lower() == INDEX_NAME), None)
    return Notes(name=name, path=path, notes=notes, folders=tuple(folders), own_index=own)


def _order(name: str) -> tuple[str, str]:
    return name.casefold(), name


def _files(folder: Notes, tokens: Tokens, is_fresh: Callable[[str, str], bool]) -> Iterator[tuple[str, str]]:
    for inner in folder.folders:
        yield from _files(inner, tokens, is_fresh)
    if folder.own_index is None and not is_fresh(folder.path, digest := listing_digest(folder)):
        for name, text in _folder_files(folder, tokens, digest):
            yield folder.path + name, text


def _folder_files(folder: Notes, tokens: Tokens, digest: str) -> Iterator[tuple[str, str]]:
    """Name and text of a folder's index, and of its pages where it is too large for one."""
    budget = FOLDER_TOKENS if folder.path else ROUTER_TOKENS
    notes = sorted(
        (_note_row(name, head, tokens) for name, head in folder.notes.items()),
        key=lambda row: _order(row.key),
    )
    folders = [_folder_row(inner, tokens) for inner in folder.folders]
    said = ""
    room = budget - _room_of_frame(folder, tokens)
    paging = Paging(folder.notes, tokens, FOLDER_TOKENS - _room_of_frame(folder, tokens))
    if folders and paging.cost(notes) + paging.cost(folders) > room:
        said = f"Over {budget:,} tokens: each folder has the rest in an index of its own."
        folders = [_short_folder_row(inner) for inner in folder.folders]
    shown_notes, shown_folders = tuple(notes), tuple(folders)
    if (cost := paging.cost(folders)) + paging.cost(notes) > room:
        said = f"Over {budget:,} tokens: split by first letter. A number is that of the notes or folders of a page."
        shown_notes = paging.fitted(notes, room - cost if cost < room // 2 else room // 2)
        shown_folders = paging.fitted(folders, room - paging.cost(shown_notes))
    yield INDEX_NAME, _marked(_text(folder, shown_notes, shown_folders, said), digest)
    for page in paging.pages:
        yield page.name, _marked(_page_text(folder, page))


def _room_of_frame(folder: Notes, tokens: Tokens) -> int:
    """Tokens of what stands around the lines, at most."""
    row = (Row(line="", key=""),)
    said = "Over 1,500 tokens: split by first letter. A number is that of the notes or folders of a page."
    return _MARKER_TOKENS + tokens(_text(folder, row, row, said)) + tokens(_shown(folder.name, _TITLE_CHARS))


def _text(folder: Notes, notes: tuple[Row, ...], folders: tuple[Row, ...], said: str) -> str:
    about = f"{folder.count:,} {'note' if folder.count == 1 else 'notes'} here and below."
    parts = [f"# {_shown(folder.name, _TITLE_CHARS)}\n\n{about}{f' {said}' if said else ''}\n"]
    for title, rows in ((tr("Notes"), notes), ("Folders", folders)):
        if rows:
            parts.append(f"## {title}\n\n{''.join(row.line for row in rows)}")
    return "\n".join(parts)


def _page_text(folder: Notes, page: Page) -> str:
    title = f"# {_shown(folder.name, _TITLE_CHARS)}: {page.label}\n\nA page of [the index]({INDEX_NAME}).\n"
    return f"{title}\n{''.join(row.line for row in page.rows)}"


def _marked(text: str, digest: str = "") -> str:
    return f"{_marker(digest, text.encode())}\n{text}"


def _marker(digest: str, listed: bytes) -> str:
    sha256 = hashlib.sha256(digest.encode() + listed).hexdigest()
    return f"{MARKER.decode()}, sha256:{sha256} of what it lists -->"


def _note_row(name: str, head: SourceHead, tokens: Tokens) -> Row:
    title = flat(head.title) or name.rpartition(".")[0] or name
    link = f"- [{_shown(title, 120)}]({_link(name)})"
    said = f": {_shown(head.description, 200)}" if head.description else ""
    tags = f" Tags: {', '.join(_shown(tag, 40) for tag in head.tags[:LISTED_TAGS])}" if head.tags else ""
    if tags and not said.endswith((".", "!", "?", "…")):
        tags = f".{tags}"
    line = f"{link}{said}{tags}\n"
    if tokens(line) > _ROW_TOKENS:
        line = f"- [{_shown(title, _TITLE_CHARS)}]({_link(name)})\n"
    return Row(line=line, key=title)


def _folder_row(folder: Notes, tokens: Tokens) -> Row:
    short = _short_folder_row(folder)
    about, tags, titles, folders = _folder_parts(folder)
    parts = [
        _shown(about, 200),
        *(
            f"{name}: {', '.join(_shown(text, _TITLE_CHARS) for text in texts)}"
            for name, texts in (("tags", tags), ("notes", titles), ("folders", folders))
            if texts
        ),
    ]
    line = f"{short.line.rstrip()}{''.join(f'; {part}' for part in parts if part)}\n"
    return Row(line=line, key=folder.name) if tokens(line) <= _ROW_TOKENS else short


def _folder_parts(folder: Notes) -> tuple[str, list[str], list[str], list[str]]:
    """Parts of what its parent says of a folder: description, tags, titles, folders."""
    tags = Counter(tag for head in _heads(folder) for tag in head.tags)
    titles = sorted((head.title for head in folder.notes.values() if head.title), key=_order)
    return (
        folder.own_index.description if folder.own_index is not None else "",
        sorted(tags, key=lambda tag: (-tags[tag], tag))[:_TAGS],
        titles[:_TITLES],
        [one.name for one in folder.folders[:_FOLDERS]],
    )


def _short_folder_row(folder: Notes) -> Row:
    count = f"{folder.count:,} {'note' if folder.count == 1 else 'notes'}"
    name = _shown(folder.name, _TITLE_CHARS)
    return Row(
        line=f"- [{name}/]({_link(f'{folder.name}/{_index_name(folder)}')}): {count}\n", key=folder.name
    )


def _index_name(folder: Notes) -> str:
    return next((name for name in folder.notes if name.lower() == INDEX_NAME), INDEX_NAME)


def _heads(folder: Notes) -> Iterator[SourceHead]:
    yield from folder.notes.values()
    for inner in folder.folders:
        yield from _heads(inner)


def _shown(text: str, limit: int) -> str:
    """A text of a note's on one line, none of it Markdown."""
    return _ESCAPED.sub(r"\\\1", one_line(flat(text), limit))


def _link(path: str) -> str:
    """A path as the target of a Markdown link, as it is where Markdown can say it."""
    if _PLAIN_LINK.fullmatch(path):
        return path
    if path == flat(path) and not set(path) & set("<>\\"):
        return f"<{path}>"
    return quote(path.encode("utf-8", "surrogateescape"))


def hand_written(root: Notes) -> Iterable[str]:
    """Paths below the root of indexes that a person wrote."""
    for folder in root.folders:
        yield from hand_written(folder)
    if root.own_index is not None:
        yield root.path + _index_name(root)


# Title, tags, date and description of a note from what it already has: no note is ever converted.

TITLE_CHARS, DESCRIPTION_CHARS, TAG_CHARS, MAX_TAGS = 120, 200, 40, 48
LISTED_TAGS = 12
"""Tags of a note that its folder's index names."""

_HEAD_CHARS = 65_536
"""Of a note, that are read for what it says of itself."""

_FIELD = late(
    r"^[ \t>*-]*(?:\*\*([^*\n:]{1,30}):?\*\*:?|([^\W\d][\w -]{0,29})::(?=[ \t]))[ \t]*(.+)$", re.MULTILINE
)
"""A field in a note's text: with a bold name, or with two colons as in Logseq and Dataview."""
_PROPERTIES = late(r"(?:#[^\n]*\n\s*)?((?:[A-Z][\w ]{0,29}: [^\n]+\n){2,})(?:\n|\Z)")
"""Properties of a page under its title, as Notion exports them."""
_PROPERTY = late(r"([A-Z][\w ]{0,29}): ([^\n]+)")
_INLINE_TAG = late(
    r"(?<![^\s(,;。，、；：！？（「])(?<!\]\()#(?:([\w/-]+(?: [\w/-]+){1,4})#(?=[\s.,;]|$)|([\w/-]{1,100}))"
)
"""A tag; one of several words ends with its mark, too."""
_CODE_FENCE = late(r" {0,3}(`{3,}|~{3,})")
_INLINE_CODE = late(r"`[^`\n]{0,500}`")
_DAY_OF_NAME = late(r"(?<!\d)(?P<year>(?:19|20)\d{2})([-_.]?)(?P<month>\d{2})\2(?P<day>\d{2})(?!\d)")
_DAY_OF_FOLDERS = late(r"(?:^|/)(?P<year>(?:19|20)\d{2})/(?P<month>\d{1,2})/(?P<day>\d{1,2})$")
_DAY_IN_WORDS = late(
    r"(?<!\d)(?P<year>(?:19|20)\d{2})[年년] ?(?P<month>\d{1,2})[月월] ?(?P<day>\d{1,2})[日일]"
)
_DAY = late(r"\b(\d{4})-(\d{2})-(\d{2})(?!\d)")
_MILLISECONDS = late(r"1\d{12}")
_WORDED_DAY = late(r"([^\W\d_]{3,12})\.? (\d{1,2}), (\d{4})\b|\b(\d{1,2})\.? ([^\W\d_]{3,12})\.? (\d{4})\b")
_MADE = ("created", "date created", "created at", "created time", "erstellt")
"""Fields in which programs say when a note was made, where no date is said."""
_ABOUT = ("description", "desc", "summary")
"""Fields in which a note says what it is about."""
_WIKILINK = late(r"(!?)\[\[([^\[\]|\n]{1,300})(?:\|([^\[\]\n]{1,300}))?\]\]")
_NO_SENTENCE = late(r"\s*(?:#{1,6}(?:\s|$)|```|\||<!--|>\s*\[![\w-]+\]|#\+\w+:)")
_UNDERLINED = late(r"^[^\n]+\n=+[ \t]*$", re.MULTILINE)
_LABEL = late(r"\w{1,30}\s*:")
"""A word that stands before tags, and nothing else."""
_SENTENCE = late(r"(.+?(?:[.!?](?=\s|$)|[。！？]))", re.DOTALL)
_LINK = r"\[([^\]]{0,500})\]\([^)]{0,1000}\)"  # bounded: a note of brackets was read again from each of them
_MARKUP = late(rf"!{_LINK.replace('(', '(?:', 1)}|[*_`]+|{_LINK}|^[#>\-+*]+[ \t]*", re.MULTILINE)


class FieldNames(msgspec.Struct, frozen=True):
    """Names under which notes say their tags and their date, in lower case."""

    tags: tuple[str, ...] = ("tags",)
    date: tuple[str, ...] = ("date", "data")


def note_head(text: str, name: str, fields: FieldNames = FieldNames()) -> SourceHead:  # noqa: B008 (frozen)
    """Title, tags, date and description of a note. Total: what is not understood counts as not said.

    Args:
        text: LF line ends; name: of its file, for a note without a title.
    """
    start = text[:_HEAD_CHARS]
    front = read_front_matter(start)
    body = start[front.end :]
    body, said = _said_fields(_WIKILINK.sub(_link_words, body))
    path = name.rpartition(".")[0] if "." in name.rpartition("/")[2] else name
    title = _heads_text(front.fields.get("title")) or said.get("title") or first_heading(body)
    title = title or path.rpartition("/")[2] or name
    about = next(filter(None, (_heads_text(front.fields.get(key)) for key in _ABOUT)), "")
    about = about or _first_sentence(body)
    tags = (*with_parents(_tags(front.fields, said, fields)), *inline_tags(body))
    return SourceHead(
        title=one_line(title, TITLE_CHARS),
        tags=tuple(dict.fromkeys(tags))[:MAX_TAGS],
        date=_date(front.fields, said, fields) or _day_of_name(path),
        description=one_line(about, DESCRIPTION_CHARS),
    )


def _link_words(found: re.Match[str]) -> str:
    """Words that a wikilink shows; an embedded file shows none."""
    return "" if found[1] else (found[3] or found[2]).strip()


def _said_fields(body: str) -> tuple[str, dict[str, str]]:
    """The text without the properties at its top, and the fields that it says."""
    said = {(bold or plain).strip().lower(): value.strip() for bold, plain, value in _FIELD.findall(body)}
    start = len(body) - len(body.lstrip("\n"))
    if (found := _PROPERTIES.match(body, start)) is not None:
        said |= {key.lower(): value.strip() for key, value in _PROPERTY.findall(found[1])}
        body = body[: found.start(1)] + body[found.end(1) :]
    return body, said


def inline_tags(text: str) -> tuple[str, ...]:
    """The `#tags` in a text, outside of its code, each once; of `#a/b` also `a`. A number alone is none (`#12`)."""
    found: dict[str, None] = {}
    for line in _lines_without_code(text):
        for joined, tag in _INLINE_TAG.findall(line) if "#" in line else ():
            name = (joined or tag).lower().strip("/")[:TAG_CHARS]
            if name and not name.replace("/", "").isdecimal():
                found[name] = None
    return with_parents(found)[:MAX_TAGS]


def with_parents(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags with those that they lie in: `water/cold` is one of `water`, too. The tags themselves come first."""
    given = tuple(tags)
    above = (tag.rsplit("/", count)[0] for tag in given for count in range(1, tag.count("/") + 1))
    return tuple(tag for tag in dict.fromkeys((*given, *above)) if tag)


def _lines_without_code(text: str) -> Iterator[str]:
    fence = ""
    for line in text.split("\n"):
        mark = _CODE_FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        else:
            yield _INLINE_CODE.sub(" ", line) if "`" in line else line


def _day_of_name(path: str) -> str:
    """The day that a note's file, or its folders and its file, are named after, as daily notes are; empty for none."""
    own = path.rpartition("/")[2]
    found = _DAY_OF_NAME.search(own) or _DAY_IN_WORDS.search(own) or _DAY_OF_FOLDERS.search(path)
    try:
        return date(*map(int, found.group("year", "month", "day"))).isoformat() if found else ""
    except ValueError:
        return ""


def _heads_text(value: object) -> str:
    is_text = isinstance(value, str | int | float | date) and not isinstance(value, bool)
    return str(value).strip() if is_text else ""


def _tags(front: Mapping[str, Any], said: Mapping[str, str], fields: FieldNames) -> tuple[str, ...]:
    for source in (front, said):
        for name in fields.tags:
            value = source.get(name)
            parted = r"[,;]|\s+#" if source is said or re.search("[,;]", _heads_text(value)) else r"\s+"
            words = value if isinstance(value, list) else re.split(parted, _heads_text(value))
            tags = [
                _WIKILINK.sub(_link_words, _heads_text(word)).strip(" #`*[]\"'").lower()[:TAG_CHARS]
                for word in words
                if word is not None
            ]
            if any(tags):
                return tuple(dict.fromkeys(one_line(tag, TAG_CHARS) for tag in tags if tag))[:MAX_TAGS]
    return ()


def _date(front: Mapping[str, Any], said: Mapping[str, str], fields: FieldNames) -> str:
    for names in (fields.date, _MADE):
        for source in (front, said):
            for name in names:
                if day := _day(str(source.get(name, ""))[:100]):
                    return day
    return ""


def _day(text: str) -> str:
    """The day that a text names in numbers, or with the name of its month; empty for none."""
    if (found := _DAY.search(text)) is not None:
        return found[0]
    if _MILLISECONDS.fullmatch(text):
        return datetime.fromtimestamp(int(text) / 1000, UTC).date().isoformat()
    if (found := _WORDED_DAY.search(text)) is None:
        return ""
    month, day, year = (found[1], found[2], found[3]) if found[1] else (found[5], found[4], found[6])
    try:
        return date(int(year), MONTH_OF[month.lower()] + 1, int(day)).isoformat()
    except (KeyError, ValueError):
        return ""


def _first_sentence(body: str) -> str:
    for block in re.split(r"\n[ \t]*\n", _UNDERLINED.sub("", body[:8_000])):
        lines = [line for line in block.strip().split("\n") if line.strip() and not _NO_SENTENCE.match(line)]
        plain = _MARKUP.sub(lambda m: m[1] or "", _INLINE_TAG.sub("", "\n".join(lines))).strip()
        if plain and not _FIELD.match(block.strip()) and _LABEL.fullmatch(plain) is None:
            sentence = _SENTENCE.match(plain)
            return " ".join((sentence[1] if sentence else plain).split())
    return ""


# Template of a new note: front matter that its folder's index can list it by.

_JOINTS = late(r"[-_\s]+")


def note_text(name: str, day: date, fields: FieldNames) -> str:
    """Text of a new note.

    Args:
        name: of its file, from which the title is made; fields: names under which notes here say their tags and date.
    """
    stem = name.rpartition(".")[0] or name
    words = one_line(flat(_JOINTS.sub(" ", stem)), TITLE_CHARS)
    title = words[:1].upper() + words[1:]
    front = [
        f"title: {json.dumps(title, ensure_ascii=False)}",
        f"{_key(fields.tags, 'tags')}: []",
        f"{_key(fields.date, 'date')}: {day.isoformat()}",
        'description: ""',
    ]
    return "\n".join(("---", *front, "---", "", f"# {title}", "", ""))


def _key(names: tuple[str, ...], usual: str) -> str:
    name = names[0] if names else usual
    return name if name.isidentifier() else json.dumps(name, ensure_ascii=False)


# Notes found by title, tags, description and place alone: how a question is answered while the index is
# away.

_TITLE, _NAVIGATION_SEARCH_TAGS, _DESCRIPTION, _PATH = 4.0, 3.0, 2.0, 1.0
"""Weight of a word of the question by the place in which it stands."""
_STEM = 4
"""Letters that two words share from the start, at least, where the shorter one stands for the longer (`retry`, `retrying`)."""
_PART = 0.6
"""Of the weight, for such a word."""


def heads_found(
    heads: Iterable[tuple[str, str, SourceHead]], query: str, filters: SearchFilters, count: int
) -> tuple[SearchHit, ...]:
    """The notes that fit a question best, at most `count`, ties by path.

    Args:
        heads: root, path below it and head of each note. A score is 0 to 1.
    """
    terms = query_terms(query)
    if not terms or (filters.corpora and Corpus.NOTES not in filters.corpora):
        return ()
    scored = (
        (_score(path, head, terms), path, root, head)
        for root, path, head in heads
        if _passes(root, path, head, filters)
    )
    best = sorted((one for one in scored if one[0] > 0.0), key=lambda one: (-one[0], one[1], one[2]))
    files = {
        f"{root.rstrip('/')}/{path}": (score, path, root, head) for score, path, root, head in reversed(best)
    }
    first_of_each = sorted(files.values(), key=lambda one: (-one[0], one[1], one[2]))[:count]
    return tuple(_hit(*one) for one in first_of_each)


def _passes(root: str, path: str, head: SourceHead, filters: SearchFilters) -> bool:
    if filters.folder.strip("/") and not any(
        path.startswith(start) for _, start in folder_starts(filters.folder, (root,))
    ):
        return False
    if filters.tag and filters.tag.lower() not in head.tags:
        return False
    if filters.after and head.date < filters.after:
        return False
    if filters.before and not (head.date and head.date <= filters.before):
        return False
    return path not in filters.but


def _score(path: str, head: SourceHead, terms: tuple[str, ...]) -> float:
    places = [
        (weight, frozenset(words(text)))
        for weight, text in (
            (_TITLE, head.title),
            (_NAVIGATION_SEARCH_TAGS, " ".join(head.tags)),
            (_DESCRIPTION, head.description),
            (_PATH, path),
        )
    ]
    return sum(max(_weights(term, places), default=0.0) for term in terms) / (_TITLE * len(terms))


def _weights(term: str, places: list[tuple[float, frozenset[str]]]) -> Iterator[float]:
    for weight, said in places:
        if term in said:
            yield weight
        elif any(_is_form(term, word) for word in said):
            yield weight * _PART


def _is_form(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    stem = shorter.removesuffix("s").removesuffix("e").removesuffix("y")
    return len(stem) >= _STEM and longer.startswith(stem)


def _hit(score: float, path: str, root: str, head: SourceHead) -> SearchHit:
    return SearchHit(
        corpus=Corpus.NOTES,
        kind=ChunkKind.PROSE,
        path=path,
        title=head.title or path,
        lines=LineRange(1, 1),
        heading="",
        text=head.description or head.title or path,
        score=score,
        found_by=(Retriever.NAVIGATION,),
        date=head.date,
        tags=head.tags,
        scope=root,
    )
