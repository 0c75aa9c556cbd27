"""Chunks of a source: front matter of notes, Markdown by heading, code by symbol, turns with their neighbours."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise

import msgspec
from msgspec.structs import replace

from core.kernel.frame import one_line
from core.kernel.patterns import late
from core.kernel.search_terms import date_words, day_words
from core.kernel.values.curation import LineRange, Symbol
from core.kernel.values.retrieval import Chunk, ChunkKind
from core.kernel.words import indexed_text

# Chunks of a source: Markdown by heading, code by symbol, turns with their neighbours, items and facts
# whole.

# Cutting a text into pieces that the embedder takes whole, at the most natural places.

MAX_TOKENS = 254
"""Tokens of a piece; with the two that the model puts around it, its 256."""

MAX_CHARS = 2_000
"""Characters of a piece: a line without a space is one token to the model, however long it is."""

Measure = Callable[[str], Sequence[int]]
"""Start of each token in a text, in characters, in order."""

_PIECE = late(r"[A-Za-z]{1,3}|\s{2,}|\n|\S")
"""Part of a text that hardly any tokenizer makes two tokens of."""

_IN_NAME = r"[\w\u0300-\u036f\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e\u200c\u200d.'’-]"
"""A letter, and what joins letters: accents that stand by themselves, vowel signs of India and Thailand, joiners."""

_LABEL = late(rf"([^\W\d_]{_IN_NAME}*(?: [^\W\d_]{_IN_NAME}*){{0,2}})(?:: |：)(?=\S)")
"""Label before a turn, of at most three words: the name of who speaks, or a subject."""

_WORD = late(r"\w+")

LEAST_TURNS, LEAST_CHANGES, NAMED_SHARE = 2, 2, 2 / 3
"""Turns that each name of a talk stands before, changes of the name from one to the next, and share of all turns that have one."""

_BREAKS = (
    late(r"\n[ \t]*\n+"),
    late(r"\n"),
    late(r"[.!?:;][\"')\]]*[ \t]+"),
    late(r"[ \t]+"),
)
"""Places to cut at, the best ones first: behind a paragraph, a line, a sentence, a word."""

_KEPT = 0.5
"""Part of a piece that a better place may cost."""


class Cut(msgspec.Struct, frozen=True):
    """A run of a text from character `start` to `end`, which is not included."""

    start: int
    end: int


def cut(text: str, tokens: Sequence[int], *, limit: int = MAX_TOKENS) -> Iterator[Cut]:
    """Cut a text into pieces of at most `limit` tokens and `MAX_CHARS` characters; nothing of it is left out but blanks.

    Args:
        tokens: starts of the text's tokens, in order; limit: at least 1.
    """
    start, first = 0, 0
    while start < len(text):
        past = first + limit
        most = min(tokens[past] if past < len(tokens) else len(text), start + MAX_CHARS)
        end = most if most >= len(text) else _place(text, start, most)
        if text[start:end].strip():
            yield _stripped(text, start, end)
        start, first = end, bisect_left(tokens, end, first)


def safe_starts(text: str) -> list[int]:
    """Starts of tokens for a model whose tokenizer nobody here has: rather too many. A character of several bytes may be as
    many tokens; it counts as one fewer, for models that read such scripts have most of their characters.
    """
    return [
        at
        for found in _PIECE.finditer(text)
        for at in [found.start()]
        * (1 if found[0].isascii() else len(found[0].encode("utf-8", "replace")) - 1)
    ]


def _place(text: str, start: int, most: int) -> int:
    """The best place to cut between the middle of a piece and its end."""
    from_here = start + max(1, int((most - start) * _KEPT))
    for pattern in _BREAKS:
        last = 0
        for found in pattern.finditer(text, from_here, most):
            last = found.end()
        if last:
            return last
    return most


def _stripped(text: str, start: int, end: int) -> Cut:
    while start < end and text[start] in "\n\r":
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Cut(start, end)


HEADING_CHARS = 120
"""Characters of a heading before a chunk's text; it counts towards the chunk's tokens."""

NEIGHBOURS, NEIGHBOUR_CHARS = 2, 1_000
"""Turns either side of a turn that keywords are looked for in, too, and how much of each."""

_SMALL_TOKENS = 48
"""A part of a file shorter than this joins the one behind it, where both have room together."""


_LEAST_TOKENS = 64
"""Tokens that a heading leaves to its text in any case."""


class SpokenTurn(msgspec.Struct, frozen=True):
    """A turn of a conversation: `number` counts from 1; `date` is an ISO 8601 day, empty where nobody says."""

    number: int
    role: str
    text: str
    date: str = ""


class KnowledgeLine(msgspec.Struct, frozen=True):
    """An item or fact as it stands in its file."""

    lines: LineRange
    heading: str
    text: str
    date: str = ""


def speakers_of(turns: Sequence[SpokenTurn]) -> tuple[str, ...]:
    """Speaker of each turn of a talk of several people ("Ada: I moved"), empty for a turn that begins with no name.

    A label before a colon may be the subject of its turn ("Wifi password: …"), and is a name only in a talk whose labels change as
    speakers do: they recur, and most turns have one. Who speaks once is one of them where every turn has its label.
    """
    labels = [_label_of(turn.text) for turn in turns]
    counts = Counter(label for label in labels if label)
    is_whole = all(labels) and len(counts) <= NAMED_SHARE * len(turns)
    often = {label for label, count in counts.items() if is_whole or count >= LEAST_TURNS}
    names = often - _common_words(often, turns, labels) if len(often) > 1 else often
    told = [label if label in names else "" for label in labels]
    named = [label for label in told if label]
    changes = sum(one != other for one, other in pairwise(named))
    is_dialogue = changes >= LEAST_CHANGES and len(named) >= NAMED_SHARE * len(turns)
    return tuple(told) if is_dialogue else ("",) * len(told)


def _label_of(text: str) -> str:
    label = _LABEL.match(text)
    return "" if label is None or label[1][0].islower() else label[1]


def _common_words(often: Iterable[str], turns: Sequence[SpokenTurn], labels: Sequence[str]) -> set[str]:
    """Labels that the talk uses in lower case, and as written nowhere but before its turns: "Error", and not "Will"."""
    texts = (turn.text[len(label) :] for turn, label in zip(turns, labels, strict=True))
    said = " ".join(["", *(word for text in texts for word in _WORD.findall(text)), ""])
    by_words = {label: f" {' '.join(_WORD.findall(label))} " for label in often}
    return {label for label, one in by_words.items() if one.lower() in said and one not in said}


def embedded_text(chunk: Chunk) -> str:
    """The text of a chunk as the embedder is given it: heading, then text, without neighbours. A turn is given bare: with its
    speaker's role before it, one in five was not found any more, and with the name before it, one in eight.
    """
    if chunk.kind is ChunkKind.CONVERSATION:
        is_named = chunk.speaker and chunk.text.startswith((f"{chunk.speaker}: ", f"{chunk.speaker}："))
        return chunk.text[len(chunk.speaker) + 1 :].lstrip() if is_named else chunk.text
    return f"{chunk.heading}\n{chunk.text}" if chunk.heading else chunk.text


def keyword_text(chunk: Chunk) -> str:
    """The words of a chunk that keywords are looked for in: of heading, text and neighbours, its days, and those of its names."""
    parts = [chunk.heading, chunk.text, chunk.before, chunk.after]
    if chunk.kind is ChunkKind.CODE:
        parts.append(_parted_names(chunk.text))
    else:
        parts += [day_words(chunk.date), date_words(chunk.text)]
    return indexed_text("\n".join(part for part in parts if part))


def file_chunks(text: str, symbols: Sequence[Symbol], measure: Measure, kind: ChunkKind) -> Iterator[Chunk]:
    """Chunks of Markdown, code or plain text by its outline, in file order.

    Args:
        text: LF line ends, secrets taken out; symbols: headings or definitions, in file order; may be none.
    """
    starts = _line_starts(text)
    tokens = measure(text)  # the most of the work: no part of it is measured again
    parts = [
        (first, last, one_line(heading, HEADING_CHARS))
        for first, last, heading in _parts(symbols, starts, len(text), tokens)
    ]
    rooms = _rooms({head for _, _, head in parts}, measure)
    for first, last, head in parts:
        start = starts[first - 1]
        end = starts[last] if last < len(starts) else len(text)
        body = text[start:end]
        inside = [at - start for at in tokens[bisect_left(tokens, start) : bisect_left(tokens, end)]]
        for piece in cut(body, inside, limit=rooms[head]):
            yield Chunk(
                kind=kind,
                lines=LineRange(
                    bisect_right(starts, start + piece.start), bisect_right(starts, start + piece.end - 1)
                ),
                text=body[piece.start : piece.end],
                heading=head,
            )


def turn_chunks(turns: Sequence[SpokenTurn], measure: Measure) -> Iterator[Chunk]:
    """Chunks of a conversation by turn: two neighbours either side stand in the keywords, the next one by itself."""
    for index, (turn, speaker) in enumerate(zip(turns, speakers_of(turns), strict=True)):
        around = (*turns[max(0, index - NEIGHBOURS) : index], *turns[index + 2 : index + 1 + NEIGHBOURS])
        before = "\n".join(one.text[:NEIGHBOUR_CHARS] for one in around)
        after = turns[index + 1].text[:NEIGHBOUR_CHARS] if index + 1 < len(turns) else ""
        head = one_line(turn.role, HEADING_CHARS)
        for piece in cut(turn.text, measure(turn.text)):
            lines = LineRange(turn.number, turn.number)
            said = turn.text[piece.start : piece.end]
            yield Chunk(
                kind=ChunkKind.CONVERSATION,
                lines=lines,
                text=said,
                heading=head,
                before=before,
                after=after,
                date=turn.date,
                speaker=speaker,
            )


def line_chunks(lines: Iterable[KnowledgeLine], measure: Measure) -> Iterator[Chunk]:
    """Chunks of knowledge: an item or fact each, cut only where it is longer than the embedder takes."""
    room = cache(partial(_room, measure=measure))
    for line in lines:
        head = one_line(line.heading, HEADING_CHARS)
        for piece in cut(line.text, measure(line.text), limit=room(head)):
            said = line.text[piece.start : piece.end]
            yield Chunk(kind=ChunkKind.KNOWLEDGE, lines=line.lines, text=said, heading=head, date=line.date)


def parted(chunk: Chunk) -> Iterator[Chunk]:
    """Parts of a chunk that a model takes whole whose tokenizer nobody here has: mostly the chunk itself."""
    starts = safe_starts(chunk.text)
    limit = max(_LEAST_TOKENS, _room(chunk.heading, safe_starts))
    if len(starts) <= limit:
        yield chunk
        return
    has_lines = chunk.kind in {ChunkKind.PROSE, ChunkKind.CODE}
    for piece in cut(chunk.text, starts, limit=limit):
        first = chunk.lines.first + chunk.text.count("\n", 0, piece.start)
        last = first + chunk.text.count("\n", piece.start, piece.end)
        lines = LineRange(first, last) if has_lines else chunk.lines
        yield replace(chunk, lines=lines, text=chunk.text[piece.start : piece.end])


def _room(heading: str, measure: Measure) -> int:
    return MAX_TOKENS - len(measure(heading)) if heading else MAX_TOKENS


def _rooms(headings: Iterable[str], measure: Measure) -> dict[str, int]:
    """Tokens that each heading of one line leaves, measured together: no token goes over a line's end."""
    ordered = sorted(headings)
    tokens = measure("\n".join(ordered))
    rooms: dict[str, int] = {}
    start = 0
    for heading in ordered:
        end = start + len(heading)
        rooms[heading] = MAX_TOKENS - (bisect_left(tokens, end) - bisect_left(tokens, start))
        start = end + 1
    return rooms


def _line_starts(text: str) -> list[int]:
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    if len(starts) > 1 and starts[-1] == len(text):
        starts.pop()
    return starts


def _parts(
    symbols: Sequence[Symbol], starts: list[int], chars: int, tokens: Sequence[int]
) -> Iterator[tuple[int, int, str]]:
    """Runs of lines that belong together: first line, last line, heading. Small neighbours are joined."""
    held: tuple[int, int, str] | None = None
    size = 0
    for first, last, heading in _runs(symbols, len(starts)):
        end = starts[last] if last < len(starts) else chars
        more = bisect_left(tokens, end) - bisect_left(tokens, starts[first - 1])
        if held is not None and min(size, more) < _SMALL_TOKENS and size + more <= MAX_TOKENS // 2:
            held, size = (held[0], last, _common(held[2], heading)), size + more
            continue
        if held is not None:
            yield held
        held, size = (first, last, heading), more
    if held is not None:
        yield held


def _common(one: str, other: str) -> str:
    """The heading of two parts together: what both stand under, else the first one's."""
    shared = [a for a, b in zip(one.split("."), other.split("."), strict=False) if a == b]
    return ".".join(shared) or one or other


def _runs(symbols: Sequence[Symbol], count: int) -> Iterator[tuple[int, int, str]]:
    """The lines of a text cut at each symbol's first line and behind its last one, by the innermost symbol. O(n log n)."""
    edges = {1, count + 1}
    for symbol in symbols:
        edges.update((symbol.lines.first, min(symbol.lines.last, count) + 1))
    ordered = sorted(edge for edge in edges if 1 <= edge <= count + 1)
    inner: list[Symbol] = []
    waiting = sorted(symbols, key=lambda one: (one.lines.first, -one.lines.last))
    at = 0
    for first, past in pairwise(ordered):
        while at < len(waiting) and waiting[at].lines.first <= first:
            inner.append(waiting[at])
            at += 1
        while inner and inner[-1].lines.last < first:
            inner.pop()
        yield first, past - 1, inner[-1].name if inner else ""


_HUMPS = late(r"[a-z0-9]+(?=[A-Z])|[A-Z]+(?=[A-Z][a-z])|[A-Z][a-z0-9]+")
_NAME = late(r"\b[A-Za-z]\w*[a-z0-9][A-Z]\w*\b|\b[A-Z]+[A-Z][a-z]\w*\b")


def _parted_names(text: str) -> str:
    """The words of names in camel case: `readFile` is looked for as `read` and `file`, too."""
    names = dict.fromkeys(_NAME.findall(text))
    return " ".join(" ".join(_HUMPS.findall(name)) for name in names)
