"""Knowledge in layer 7: the digest and the choice of its items, facts of the domains, notes on files in scope."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import msgspec
from msgspec.structs import replace

from core.kernel.frame import frame, without_blocks
from core.kernel.patterns import late
from core.kernel.secrets import scrub
from core.kernel.values.curation import ItemFiles, NamedText
from core.kernel.values.facts import IndexedFact
from core.kernel.values.knowledge import Item, KnowledgeState, NoteFile, Provenance
from core.knowledge.categories import Said, split_tag, with_tag
from core.knowledge.evidence_rows import is_struck, item_hash
from core.knowledge.facts.fact_merge import lines_that_fit
from core.knowledge.merges import same_text, share, words_of

# Choice of the items that stand in the digest where not all of them fit: what serves most questions for its
# bytes.

MOST_ITEMS = 4_000
"""Items of a section that are looked at, the newest ones."""

BYTES_POWER = 1.5
"""Exponent of an item's bytes: 1 prefers long items, 2 the shortest ones, whatever they say."""

CONFIRMED = 0.25
"""Part of its worth that an item gains by each further conversation that it came from."""

LIKE_SHARE = 0.8
"""Share of words in common from which on an item says what another does, and the newer stands for both."""

_TELLING = 3
"""Rarest words of an item by which items that say nearly the same are looked for."""


class DigestCandidate(msgspec.Struct, frozen=True):
    """An item that may stand in the digest, by its number from the newest on.

    Args:
        size: bytes of its line; source: of its provenance, empty where it has none, and then a source of its own.
    """

    number: int
    size: int
    source: str
    worth: float
    words: frozenset[str]


class SectionChoice:
    """The items of one section, the best first. Deterministic. O(n log n), n at most `MOST_ITEMS`.

    Args:
        items: words and provenance, newest first; sizes: bytes of the line of each.
    """

    def __init__(self, items: Sequence[Said], sizes: Sequence[int]) -> None:
        words = [words_of(text) for text, _ in items]
        self._holders: dict[str, list[int]] = defaultdict(list)
        for number, said in enumerate(words):
            for word in said:
                self._holders[word].append(number)
        self._all = tuple(
            DigestCandidate(
                number=number,
                size=sizes[number],
                source=f"from {origin.source}" if origin is not None else str(number),
                worth=self._worth(words[number], len(items), sizes[number])
                * (1 + CONFIRMED * (len(origin.all) - 1 if origin is not None else 0)),
                words=words[number],
            )
            for number, (_, origin) in enumerate(items)
        )

    def ordered(self) -> list[int]:
        """Numbers of the items, the best first; last come those of which a newer one says nearly the same."""
        by_source: dict[str, list[DigestCandidate]] = defaultdict(list)
        for one in self._all:
            by_source[one.source].append(one)
        for own in by_source.values():
            own.sort(key=lambda one: (one.worth, -one.number))
        turns = [_turn(own, 0) for own in by_source.values()]
        heapq.heapify(turns)
        taken: dict[int, None] = {}
        while turns:
            *_, count, own = heapq.heappop(turns)
            one = self._newest_like(own.pop())
            taken.setdefault(one.number)
            if own:
                heapq.heappush(turns, _turn(own, count + 1))
        return [*taken, *(one.number for one in self._all if one.number not in taken)]

    def _worth(self, words: frozenset[str], count: int, size: int) -> float:
        told = math.fsum(math.log(1 + count / len(self._holders[word])) for word in sorted(words))
        return told / float(size**BYTES_POWER)

    def _newest_like(self, one: DigestCandidate) -> DigestCandidate:
        """The newest item that says nearly the same, mostly the item itself."""
        telling = heapq.nsmallest(_TELLING, one.words, key=lambda word: (len(self._holders[word]), word))
        near: Counter[int] = Counter()
        for word in telling:
            near.update(number for number in self._holders[word] if number < one.number)
        return next(
            (self._all[at] for at in sorted(near) if share(one.words, self._all[at].words) >= LIKE_SHARE), one
        )


def _turn(own: list[DigestCandidate], count: int) -> tuple[float, int, int, list[DigestCandidate]]:
    """The next item of a source, as a heap has it: the best first, the newest among equals."""
    return -own[-1].worth / (1 + count), own[-1].number, count, own


# Knowledge in layer 7: the digest, facts of the domains and notes on files in scope, whole items, within
# the budget.

# The digest as a function of what is known: bounded, chosen, newest first, the same bytes for the same items.

DIGEST_MAX_BYTES = 4096
"""Most bytes of the whole digest, its closing note included."""

ITEM_MAX_BYTES = 600
TAG_MAX_BYTES = 300
"""Ours are below 100; a longer one, by hand, stays in its file."""

FIRST_SHARE = DIGEST_MAX_BYTES * 15 // 100
"""Bytes of items that each section may take before the rest is shared out in order."""

HEAD = "# Knowledge digest\n(regenerated by manual-slop; edit the category files, not this file)\n"
TRUNCATED = "\n(truncated; see the category files for the rest)\n"


BLOCK_BYTES = len("{knowledge}\n\n{/knowledge}\n")
"""Bytes of the tags around the digest in layer 7."""


_IN_ORDER = frozenset({"Open tasks", "Open questions"})
"""Sections whose newest items stand in any case; of the others those that serve the most are chosen."""

_NAME_CHARS = 16
_LEADING_DAY = late(r"(\d{4})-(\d\d-\d\d)(?:-|\Z)")
_SHORT_TAG = late(r" \[(?:\d\d-)?\d\d-\d\d[a-z]*\]\Z")


class _Section(msgspec.Struct, frozen=True):
    """A section with its items, newest first: all of them, or those that are looked at. `order`: the best first."""

    title: str
    items: tuple[Said, ...]
    lines: tuple[str, ...]
    order: tuple[int, ...]
    is_in_order: bool

    @property
    def heading(self) -> str:
        """The section's Markdown heading, which stands before its items."""
        return f"\n## {self.title}\n"


def project(
    sections: Iterable[tuple[str, Iterable[Said]]], *, note_count: int = 0, fact_count: int = 0
) -> str:
    """The digest's text, empty where there is nothing at all. Where not all fits, items have short tags, that a line explains.

    Args:
        sections: titles in their order, with words and provenance of items, newest first; read only as far as they could stand.
        note_count: notes on files; fact_count: structured facts; counted where no section has an item.
    """
    taken = [(title, _taken(items)) for title, items in sections]
    filled = [(title, items) for title, items in taken if items]
    if not filled:
        return _counted(note_count, fact_count)
    whole = HEAD
    for title, items in filled:
        whole += f"\n## {title}\n"
        for item in items:
            whole += digest_line(*item)
            if len(whole) > DIGEST_MAX_BYTES:
                return _chosen([_section(*one) for one in filled])
    return whole if _size(whole) <= DIGEST_MAX_BYTES else _chosen([_section(*one) for one in filled])


def _taken(items: Iterable[Said]) -> tuple[Said, ...]:
    return tuple(islice((item for item in items if not is_struck(item[0])), MOST_ITEMS))


def _section(title: str, items: tuple[Said, ...]) -> _Section:
    lines = tuple(digest_line(text) for text, _ in items)
    is_in_order = title in _IN_ORDER
    sizes = [_size(line) for line in lines]
    order = range(len(items)) if is_in_order else SectionChoice(items, sizes).ordered()
    return _Section(title=title, items=items, lines=lines, order=tuple(order), is_in_order=is_in_order)


def _chosen(sections: Sequence[_Section]) -> str:
    """Digest of some of the items: each section's share first, then what is left in order of sections."""
    shown: list[set[int]] = [set() for _ in sections]
    tags = _Tags(sections)
    room = DIGEST_MAX_BYTES - sum(map(_size, (HEAD, TRUNCATED, *(one.heading for one in sections))))
    room -= _size(_known_line(sections)) + _size(tags.legend())
    for most in (FIRST_SHARE, DIGEST_MAX_BYTES):
        for section, numbers in zip(sections, shown, strict=True):
            room -= _fill(section, numbers, tags, min(most, room))
    body = ""
    for section, numbers in zip(sections, shown, strict=True):
        body += section.heading
        for number in sorted(numbers):
            first, end, rest = section.lines[number].partition("\n")
            body += f"{first}{tags.of(section.items[number][1])}{end}{rest}"
    return "".join((HEAD, _known_line(sections), tags.legend(), body, TRUNCATED))


def _fill(section: _Section, shown: set[int], tags: _Tags, room: int) -> int:
    """Take items that fit, the best first; of a section in order none behind one that does not. The bytes that they take."""
    left = room
    for number in section.order:
        if number in shown:
            continue
        origin = section.items[number][1]
        size = _size(section.lines[number])
        if size <= left and size + (more := tags.cost(origin)) <= left:
            left -= size + more
            shown.add(number)
            tags.take(origin)
        elif section.is_in_order:
            break
    return room - left


class _Tags:
    """Short tags of sources: the day of a conversation, with letters where several are of one day, whose names a line tells."""

    def __init__(self, sections: Sequence[_Section]) -> None:
        origins = {_bare(origin) for one in sections for _, origin in one.items if origin is not None}
        self._year = max((_day(origin)[0] for origin in origins), default="")
        days: dict[str, list[Provenance]] = defaultdict(list)
        for origin in sorted(origins, key=lambda one: (one.source, one.date)):
            days[self._short(origin)].append(origin)
        self._tags: dict[Provenance, str] = {}
        self._names: dict[Provenance, str] = {}
        self._shown: dict[Provenance, None] = {}
        for short, sources in days.items():
            names = [_slug(origin) for origin in sources]
            start = _shared_start(names)
            for at, origin in enumerate(sources):
                self._tags[origin] = short if len(sources) == 1 else f"{short}{_letters(at)}"
                name = _differing(names[at], start)
                self._names[origin] = "" if len(sources) == 1 else f"; {self._tags[origin]} {name}"

    def take(self, origin: Provenance | None) -> None:
        """Have a source told of."""
        if origin is not None:
            self._shown.setdefault(_bare(origin))

    def cost(self, origin: Provenance | None) -> int:
        """Bytes of an item's tag, and of what the line of sources grows by it."""
        if origin is None:
            return 0
        is_told = _bare(origin) in self._shown
        return _size(self.of(origin)) + (0 if is_told else _size(self._names[_bare(origin)]))

    def of(self, origin: Provenance | None) -> str:
        """Tag of an item, a blank before it."""
        return f" [{self._tags[_bare(origin)]}]" if origin is not None else ""

    def legend(self) -> str:
        """The line that explains the tags."""
        if not self._year:
            return ""
        several = "".join(sorted(self._names[one] for one in self._shown))
        return f"(tags: day of the source, month-day of {self._year}, else year-month-day{several})\n"

    def _short(self, origin: Provenance) -> str:
        year, day = _day(origin)
        return day if year == self._year else f"{year[2:]}-{day}"


def _letters(at: int) -> str:
    """`a` to `z`, then `aa` and so on."""
    return ("" if at < 26 else _letters(at // 26 - 1)) + chr(ord("a") + at % 26)


def _bare(origin: Provenance) -> Provenance:
    return Provenance(source=origin.source, date=origin.date)


def _day(origin: Provenance) -> tuple[str, str]:
    """Year, and month with day, of a source: of its name, which begins with the day it was begun, else of the item."""
    found = _LEADING_DAY.match(origin.source)
    return (found[1], found[2]) if found else (origin.date[:4], origin.date[5:])


def _slug(origin: Provenance) -> str:
    """Name of a source without its day, on one line, without the marks of this line."""
    found = _LEADING_DAY.match(origin.source)
    name = origin.source[found.end() :] if found else origin.source
    return without_blocks(re.sub(r"[\s;\[\]()]+", " ", name).strip())


def _shared_start(names: Sequence[str]) -> int:
    """Characters with which all names begin."""
    first, last = min(names), max(names)
    return next(
        (at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first)
    )


def _differing(name: str, start: int) -> str:
    """A name from where it differs from those of its day on, bounded."""
    words = f"…{name[start:]}" if start > 4 else name
    return words if len(words) <= _NAME_CHARS else f"{words[: _NAME_CHARS - 1].rstrip(' -')}…"


def _known_line(sections: Sequence[_Section]) -> str:
    """The line that counts the known items by section, so that a model asks for those that are left out."""
    counts = (
        f"{'over ' if len(one.items) == MOST_ITEMS else ''}{len(one.items):,} {one.title.lower()}"
        for one in sections
    )
    return f"(known in all: {', '.join(counts)}; this is a choice of them)\n"


def digest_line(text: str, provenance: Provenance | None = None) -> str:
    """An item as the digest shows it, line end included; one over 600 bytes is cut at a word with `…` before its tag."""
    tag_bytes = _size(with_tag("", provenance))
    if tag_bytes > TAG_MAX_BYTES:
        provenance, tag_bytes = None, 0
    text, room = without_blocks(text), ITEM_MAX_BYTES - tag_bytes
    if len(text) * 4 > room and _size(text) > room:
        text = scrub(text)  # before it is cut: half a key cannot be recognised
    data = text.encode("utf-8", "replace")
    if len(data) > room:
        head = data[: room + 1].decode("utf-8", "ignore")
        words = head.rpartition(" ")[0].rstrip()
        text = (words or data[:room].decode("utf-8", "ignore")) + "…"
    return f"- {without_blocks(with_tag(text, provenance))}\n"


def injected_digest(text: str, budget_bytes: int) -> str:
    """Digest between the tags of layer 7: as it is where it fits, else without its last items, which a closing note says; at worst empty."""
    text = without_blocks(text)
    room = budget_bytes - BLOCK_BYTES
    if _size(text) <= room:
        return text
    lines = text.removesuffix(TRUNCATED).splitlines(keepends=True)
    room -= _size(TRUNCATED)
    kept, used = 0, 0
    for line in lines:
        used += _size(line)
        if used > room:
            break
        kept += 1
    while kept and not lines[kept - 1].startswith("- "):
        kept -= 1
    return "".join(lines[:kept]) + TRUNCATED if kept else ""


def _counted(note_count: int, fact_count: int) -> str:
    counts = (f"{n:,} {word}" for n, word in ((note_count, "notes on files"), (fact_count, "facts")) if n)
    said = ", ".join(counts)
    return f"{HEAD}\n(no items; {said})\n" if said else ""


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


# Items and structured facts that a request holds, told by the text of its layer 7.

_FACTS = late(r"^<(facts(?:-[0-9]+)?)>\n(.*?)^</\1>$", re.MULTILINE | re.DOTALL)


def entered(text: str, items: Iterable[Item]) -> tuple[str, ...]:
    """Hashes of the items that a text of layer 7 holds, sorted: of the digest (cut or not) and of notes. O(items).

    Args:
        text: of the layer, empty while knowledge is off; items: all that is known.
    """
    lines = frozenset(line for one in text.split("\n") for line in (one, _SHORT_TAG.sub("", one)))
    found = {item_hash(item.category, item.text) for item in items if text and _stands(item, lines)}
    return tuple(sorted(found))


def entered_facts(text: str, ranked: Iterable[IndexedFact]) -> tuple[str, ...]:
    """Ids of the structured facts that a text of layer 7 holds between its tags of facts, sorted. O(facts).

    Args:
        ranked: those that may enter a prompt, best first: of several that say the same, the best one did.
    """
    lines = Counter(line for block in _FACTS.finditer(text) for line in block[2].splitlines())
    found = []
    for fact in ranked if lines else ():
        line = fact_line(fact.text)
        if lines[line] > 0:
            lines[line] -= 1
            found.append(fact.id)
    return tuple(sorted(found))


def fact_line(text: str) -> str:
    """Line of a fact between these tags, without its end."""
    return f"- {without_blocks(text)}"


def _stands(item: Item, lines: frozenset[str]) -> bool:
    whole = f"- {without_blocks(with_tag(item.text, item.provenance))}".partition("\n")[0]
    forms = (digest_line(item.text, item.provenance), digest_line(item.text))
    return whole in lines or any(form.partition("\n")[0] in lines for form in forms)


class Layer7Texts(msgspec.Struct, frozen=True):
    """Texts of layer 7. `facts`: a line each, sorted by id; `notes`: sorted by path."""

    digest: str = ""
    facts: str = ""
    notes: tuple[NamedText, ...] = ()


def layer_inputs(
    knowledge: KnowledgeState,
    files: Iterable[ItemFiles],
    budget_bytes: int,
    facts: Sequence[IndexedFact] = (),
    unquoted: frozenset[str] = frozenset(),
) -> Layer7Texts:
    """Inputs of layer 7; the same bytes for the same knowledge and files, in whatever order these come.

    Notes keep half of what the digest leaves; facts take the rest, and what notes do not need, and the other way round.

    Args:
        files: of the preset in use; a file's notes enter while it is one of them.
        budget_bytes: for all of layer 7, UTF-8, the tags included; facts: of the domains in scope, best first.
        unquoted: hashes of items and ids of facts that no words of a conversation bear out; none of them enters.

    Returns:
        All empty while the switch is off.
    """
    if not knowledge.is_on:
        return Layer7Texts()
    digest = injected_digest(knowledge.digest, budget_bytes)
    room = max(0, budget_bytes - (_size(digest) + BLOCK_BYTES if digest else 0))
    shown = _shown(files)
    notes = [_borne(note, unquoted) for note in knowledge.notes]
    wanted = sum(_framed(note.name, note.text) for note in _notes(notes, shown, room))
    facts = [fact for fact in facts if fact.id not in unquoted]
    text = _facts(_untold(facts, digest), room - min(wanted, room // 2))
    left = room - (_size(frame("facts", text)) if text else 0)
    return Layer7Texts(digest=digest, facts=text, notes=_notes(notes, shown, left))


def _borne(note: NoteFile, unquoted: frozenset[str]) -> NoteFile:
    """A file's notes without those that nothing bears out."""
    kept = tuple(
        one for one in note.items if not unquoted or item_hash(one.category, one.text) not in unquoted
    )
    return note if len(kept) == len(note.items) else replace(note, items=kept)


def _untold(facts: Sequence[IndexedFact], digest: str) -> list[IndexedFact]:
    """Facts that the digest does not say: an item's fact is the same words, mostly without their reason."""
    said: set[str] = set()
    for line in digest.splitlines():
        words = _SHORT_TAG.sub("", split_tag(line.removeprefix("- "))[0])
        said.update((same_text(words), same_text(words.partition(" — ")[0])))
    return (
        [fact for fact in facts if same_text(without_blocks(fact.text)) not in said] if said else list(facts)
    )


def _facts(facts: Sequence[IndexedFact], room: int) -> str:
    """The best facts that fit, sorted by id."""
    lines = [f"{fact_line(fact.text)}\n" for fact in facts]
    count = lines_that_fit(lines, room - _FACTS_FRAME_BYTES)
    chosen = sorted(range(count), key=lambda number: facts[number].id)
    return "".join(lines[number] for number in chosen)


def _shown(files: Iterable[ItemFiles]) -> dict[str, str]:
    """Paths as they are shown, by absolute path, of files that enter the context."""
    return {f.absolute_path: f.path for item in files if item.item.enabled for f in item.files}


def _notes(notes: Iterable[NoteFile], shown: Mapping[str, str], room: int) -> tuple[NamedText, ...]:
    in_scope = [(shown[note.path], note) for note in notes if note.path in shown and note.items]
    found = []
    for path, note in sorted(in_scope, key=lambda pair: (pair[0], pair[1].file_id)):
        text = _newest(path, note, room)
        if text:
            found.append(NamedText(name=path, text=text, source=note.path))
            room -= _framed(path, text)
    return tuple(found)


def _newest(path: str, note: NoteFile, room: int) -> str:
    """The newest notes of a file that fit, in the order of the file."""
    lines = [
        f"- {without_blocks(with_tag(item.text, item.provenance))}\n"
        for item in note.items
        if not is_struck(item.text)
    ]
    used = _framed(path, "".join(lines))
    first = 0
    while first < len(lines) and used > room:
        used -= _size(lines[first])
        first += 1
    return "".join(lines[first:])


def _framed(path: str, text: str) -> int:
    return _size(frame("note", text, name=path))


_FACTS_FRAME_BYTES = _size(frame("facts-00", ""))
"""Bytes of the tags around facts; a tag gets a number where the text holds the plain tag."""
