"""Tags around a text from outside, chosen so that nothing inside the text can close or forge them."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count
from sys import intern

from core.kernel.patterns import late

# Words as a reader, a model among them, may read them: in other letters that look alike, with what nobody
# sees between.

UNSEEN = (
    r"\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    r"\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Blanks, control characters, and all that nobody sees: `Default_Ignorable_Code_Point` of Unicode 16, and what annotates."""

GAP = f"[{UNSEEN}]*+"
"""Taken whole or not at all: a long run of blanks was tried from each of its places."""

DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
SLASHES = "/\uff0f\u2215\u2044\u29f8\u2571\u27cb\u3033"

_BETWEEN = rf"[{UNSEEN}\u0300-\u036f]++"
"""Gaps between letters, and marks above, below and through the letter before."""

_RANGES = (
    (0x00C0, 0x0250), (0x1D2C, 0x1D6B), (0x1E00, 0x1F00), (0x2070, 0x20A0), (0x2100, 0x2190), (0x249C, 0x24EA),
    (0xFB00, 0xFB07), (0xFF01, 0xFF5F), (0x1D400, 0x1D6A4), (0x1F110, 0x1F18A),
)  # fmt: skip
"""Places where Unicode holds letters of ASCII in another width, font, ring or place, joined, and with marks."""

_SHAPES = {
    "a": "аɑαᴀ", "b": "ьƅвʙ", "c": "сϲᴄ", "d": "ԁɗᴅ", "e": "еҽєεᴇ", "f": "ϝƒꜰ", "g": "ɡցɢ", "h": "һнʜ", "i": "іıιɩɪӏl1|",
    "j": "јϳᴊ", "k": "кκᴋ", "l": "ӏιіɩʟi1|", "m": "мᴍ", "n": "пոηɴ", "o": "оοօσᴏ0", "p": "рρᴘ", "q": "ԛգǫ", "r": "гᴦʀ",
    "s": "ѕꜱ", "t": "тτᴛ", "u": "υսцᴜ", "v": "ѵνᴠ", "w": "ԝшωᴡ", "x": "хχ×", "y": "уүγʏ", "z": "ᴢ", "-": DASHES,
}  # fmt: skip
"""Letters of other scripts, small capitals and figures, by what they look like; in small letters, for case is folded.

Source: Unicode Technical Standard 39, confusables.txt (read 2026-11-24), as far as it concerns small letters of ASCII.
"""


_FOLDED = "\u0345\u03c2\u03f0\u03f1\u03f5\u1c80\u1c82\u1c83\u1c84\u1c85\u1fbe"
"""Further forms of the shapes, which case folding makes one of them. A test looks through all of Unicode for more."""


def spelling(word: str) -> str:
    """Pattern of a word as a reader may read it, for `re`. A text of look-alikes alone costs no more than its length.

    Args:
        word: small letters of ASCII, and dashes.
    """
    if not word:
        return ""
    by_length: dict[int, str] = {}
    for reading, characters in _readings().items():
        if word.startswith(reading):
            by_length[len(reading)] = by_length.get(len(reading), "") + characters
    ways = []
    for length, characters in sorted(by_length.items()):
        one = f"[{re.escape(characters)}]"
        ways.append(f"(?:{one}|{_BETWEEN}{one}){spelling(word[length:])}")
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


@cache
def _readings() -> Mapping[str, str]:
    """Characters that may be read as a letter, or as some letters, by what is read."""
    shapes = "".join(_SHAPES.values())
    points = (point for start, end in ((0x21, 0x7F), *_RANGES) for point in range(start, end))
    found: dict[str, str] = {}
    for one in dict.fromkeys((*map(chr, points), *shapes, *shapes.upper(), *_FOLDED)):
        folded = one.casefold()
        for reading in _looks().get(folded, (folded,)):
            if reading.isascii():
                found[reading] = found.get(reading, "") + one
    return found


@cache
def _looks() -> Mapping[str, tuple[str, ...]]:
    """All that a character may be read as, itself first; letters joined in one are several."""
    found: dict[str, list[str]] = {}
    for letter, shapes in _SHAPES.items():
        for shape in shapes:
            found.setdefault(shape, [shape]).append(letter)
    for start, end in _RANGES:
        for point in range(start, end):
            plain = "".join(
                one for one in unicodedata.normalize("NFKD", chr(point)) if not unicodedata.combining(one)
            ).casefold()
            if plain.isascii() and plain.isalpha():
                found.setdefault(chr(point).casefold(), [chr(point)]).append(plain)
    return {shape: tuple(dict.fromkeys(letters)) for shape, letters in found.items()}


_OPENING, _CLOSING = "{\uff5b\ufe5b\ufe37\u2774\u2983", "}\uff5d\ufe5c\ufe38\u2775\u2984"
_LESS = "<\uff1c\ufe64\u2039\u2329\u27e8\u3008\u276c\u276e\u2770\u02c2\u1438"

_END = late(f"[{_LESS}]{GAP}[{SLASHES}]")
"""Beginning of an end tag, in any spelling."""
_NUMBER = rf"{GAP}[{re.escape(DASHES)}]((?:{GAP}\d){{1,7}})"
_BLOCKS = ("knowledge", "rag-context")
_GOES_ON = r"[\w/.\-]"
"""Further characters of a word or a path: it is another one."""

quoted = json.JSONEncoder(ensure_ascii=False).encode
"""A text as a JSON string: one line, with its quotes."""


def frame(tag: str, body: str, **attributes: str) -> str:
    """Put a text between tags.

    The tag's name is `tag`, or `tag-2`, `tag-3` and so on, the first whose end tag does not occur in the
    text, however it is spelled: the opening tag names the only text that can end it.

    Args:
        tag: letters; body: any text, given a final line end where it has none.
        attributes: written as JSON strings in the order given, empty ones left out.
    """
    return "".join(frame_parts(tag, body, **attributes))


def frame_parts(tag: str, body: str, **attributes: str) -> tuple[str, ...]:
    """The parts of `frame`, the body among them as it is: a large one stands once in memory."""
    name = safe_tag(tag, body)
    end = () if body.endswith("\n") else ("\n",)
    return (intern(f"<{name}{_written(attributes)}>\n"), body, *end, intern(f"</{name}>\n"))


def frame_ends(tag: str, body: str, **attributes: str) -> tuple[str, str]:
    """The two ends of a frame around a text whose every byte counts.

    A text without a final line end says so in an attribute, so that different texts never render alike.
    """
    name = safe_tag(tag, body)
    if body and not body.endswith("\n"):
        return f'<{name}{_written(attributes)} end="no newline">\n', f"\n</{name}>\n"
    return f"<{name}{_written(attributes)}>\n", f"</{name}>\n"


def empty_frame(tag: str, **attributes: str) -> str:
    """A tag on one line that holds nothing but its attributes."""
    return f"<{tag}{_written(attributes)}/>\n"


def without_blocks(text: str) -> str:
    """The text with `{/knowledge}` and its like in round brackets: nothing inside can close what it is put in."""
    if not any(one in text for one in _OPENING):
        return text
    parts: list[str] = []
    done = 0
    for block in _block().finditer(text):
        begin, end = block.span()
        is_closed = text[end - 1] in _CLOSING
        inner = text[begin + 1 : end - is_closed]
        parts += text[done:begin], "(", inner, ")" * is_closed
        done = end
    return "".join((*parts, text[done:]))


@cache
def _block() -> re.Pattern[str]:
    """Tags of our blocks, each from its bracket to its end; the end of a block needs no second bracket."""
    words = "|".join(map(spelling, _BLOCKS))
    tag = f"[{_OPENING}]{GAP}(?:([{SLASHES}]){GAP})?+(?:{words})"
    return re.compile(f"{tag}(?:{GAP}[{_CLOSING}]|(?(1)(?!{_GOES_ON})|(?!)))")


def rag_block(text: str) -> str:
    """The block of retrieved text as models see it; nothing in the text can close it, nor open another."""
    body = without_blocks(text)
    return f"{{rag-context}}\n{body}{'' if body.endswith(chr(10)) else chr(10)}{{/rag-context}}\n"


def safe_tag(tag: str, *bodies: str) -> str:
    """The first of `tag`, `tag-2`, `tag-3`, … whose end tag does not begin anywhere in the texts. O(n).

    A model reads `< / FILE >` as the end of a file, too, and letters of another script as those that they look like.
    """
    written = {number for body in bodies if may_hold_end(body) for number in _numbers(tag, body)}
    if not written:
        return tag
    taken = beginnings = written
    while beginnings:
        beginnings = {digits[:-1] for digits in beginnings if digits} - taken
        taken = taken | beginnings
    number = next(n for n in count(2) if str(n) not in taken)
    return f"{tag}-{number}"


def may_hold_end(text: str) -> bool:
    """True if an end tag begins in a text, of whatever name. Fast: ten thousand messages ask, most of them for nothing."""
    brackets = "<" if text.isascii() else _LESS
    return any(one in text for one in brackets) and _END.search(text) is not None


@cache
def _ends_of(tag: str) -> re.Pattern[str]:
    """End tags of a name, each with its number."""
    return re.compile(f"{_END.pattern}{GAP}{spelling(tag)}(?:{_NUMBER})?")


def _numbers(tag: str, body: str) -> Iterator[str]:
    """Digits of the end tags of a name in a text, empty for one without."""
    for number in set(_ends_of(tag).findall(body)):
        if number.isascii() and number.isdecimal():
            yield number
            continue
        digits = "".join(filter(str.isdecimal, number))
        yield digits if digits.isascii() else str(int(digits))


def _written(attributes: dict[str, str]) -> str:
    return "".join(f" {key}={quoted(value)}" for key, value in attributes.items() if value)


# Cleaning of text where it enters the program.

_SURROGATES = late("[\ud800-\udfff]")
_PAIRS = late("[\ud800-\udbff][\udc00-\udfff]")
_UNPRINTABLE = late("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Make text storable and sendable: LF line ends, no NUL, lone surrogates as U+FFFD.

    Two surrogates that make a character become it: a model's stream may cut an emoji in two. Control and bidi
    characters stay: they are data, and the window shows them visibly.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii() or not _SURROGATES.search(text):
        return text
    return _SURROGATES.sub("\ufffd", _PAIRS.sub(_joined, text))


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def size_bytes(text: str) -> int:
    """UTF-8 bytes of a text, a lone surrogate as three. O(1) for ASCII; no copy of a long text is made."""
    if text.isascii():
        return len(text)
    pieces = (text[at : at + _PIECE_CHARS] for at in range(0, len(text), _PIECE_CHARS))
    return sum(len(piece.encode("utf-8", "surrogatepass")) for piece in pieces)


_PIECE_CHARS = 100_000


def flat(text: str) -> str:
    """The text on one line, one space between words, without characters that change how it looks. Idempotent."""
    return " ".join(_UNPRINTABLE.sub("", clean(text)).split())


def atx_heading(line: str) -> tuple[int, str] | None:
    """Level (1 to 6) and title of a Markdown heading (`## Title ##`), None for any other line. O(n).

    No pattern reads it: one that leaves blanks and marks at the end out tries every length of the title.

    Source: CommonMark 0.31.2, "ATX headings" (read 2026-11-29).
    """
    marked = line.lstrip(" ")
    title = marked.lstrip("#")
    level = len(marked) - len(title)
    if len(line) - len(marked) > 3 or not 1 <= level <= 6 or (title and title[0] not in " \t\r"):
        return None
    title = title.strip(" \t\r")
    bare = title.rstrip("#")
    return level, title if bare and bare[-1] not in " \t" else bare.rstrip(" \t")


def one_line(text: str, limit: int) -> str:
    """The text on one line, at most `limit` characters, cut with an ellipsis."""
    flat = " ".join(text[: limit * 4].split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"
