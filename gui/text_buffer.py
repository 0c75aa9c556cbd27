"""A text while it is edited: caret, selection, what can be undone. Values in, values out."""

from __future__ import annotations

import unicodedata

import msgspec
from msgspec.structs import replace

from core.kernel.patterns import late

# Steps through text as a person sees it: characters with what belongs to them, words, paragraphs.

JOINER = "\u200d"
_RIGHT = late(r"\s*(?:\w+|[^\w\s]+|$)")


def is_extension(char: str) -> bool:
    """True if a character belongs to the one before it: a combining mark, a joiner, a variation, a skin tone."""
    if char < "\u0300":
        return False
    return char == JOINER or "\U0001f3fb" <= char <= "\U0001f3ff" or unicodedata.category(char)[0] == "M"


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def after(text: str, at: int) -> int:
    """End of the cluster that begins at `at`; the text's end at its end."""
    size = len(text)
    if at >= size:
        return size
    end = at + 1
    if _is_flag(text[at]) and end < size and _is_flag(text[end]):
        end += 1
    while end < size and (is_extension(text[end]) or (text[end - 1] == JOINER and not text[end].isspace())):
        end += 1
    return end


def before(text: str, at: int) -> int:
    """Start of the cluster that ends at `at`; 0 at the text's start."""
    start = at - 1
    while start > 0 and text[start] > "\u02ff":
        if is_extension(text[start]) or text[start - 1] == JOINER:
            start -= 1
            continue
        if _is_flag(text[start]):
            first = start
            while first > 0 and _is_flag(text[first - 1]):
                first -= 1
            return start - (start - first) % 2
        break
    return max(0, start)


def word_after(text: str, at: int) -> int:
    """End of the word at or after `at`."""
    match = _RIGHT.match(text, at)
    return match.end() if match is not None else len(text)


def word_before(text: str, at: int) -> int:
    """Start of the word at or before `at`."""
    while at > 0 and text[at - 1].isspace():
        at -= 1
    return _run_start(text, at)


def _kind(char: str) -> int:
    """Class of a character: the line's end, space, part of a word, anything else."""
    if char == "\n":
        return 0
    return 1 if char.isspace() else 2 if char.isalnum() or char == "_" or is_extension(char) else 3


def _run_start(text: str, at: int) -> int:
    if at <= 0:
        return 0
    kind = _kind(text[at - 1])
    while at > 0 and _kind(text[at - 1]) == kind:
        at -= 1
    return at


def word_at(text: str, at: int) -> tuple[int, int]:
    """Span of the word, the spaces or the signs at `at`; of those before it at a line's end."""
    if at >= len(text) or text[at] == "\n":
        at -= 1
    if at < 0 or text[at] == "\n":
        return at + 1, at + 1
    kind, end = _kind(text[at]), at + 1
    while end < len(text) and _kind(text[end]) == kind:
        end += 1
    return _run_start(text, at + 1), end


def paragraph_at(text: str, at: int) -> tuple[int, int]:
    """Span of the paragraph around `at`, without its line feed."""
    end = text.find("\n", at)
    return text.rfind("\n", 0, at) + 1, end if end >= 0 else len(text)


MOST_STEPS = 400
MOST_KEPT_CHARS = 4_000_000
_WORDS = late(r"\S+\s*|\s+")


class EditStep(msgspec.Struct, frozen=True):
    """One change that is undone as a whole: `old` at `at` became `new`; anchor and caret before it.

    `kind`: `type`, `erase`, `whole` for what never grows (a paste, a cut), or `file` for a paste that became a file.
    """

    at: int
    old: str
    new: str
    anchor: int
    caret: int
    kind: str


class TextBuffer(msgspec.Struct, frozen=True):
    """A text with the caret and what is selected between it and the anchor.

    Args:
        done: changes to undo, the last one last; undone: changes to redo.
        is_open: whether the last change may grow by what is typed next.
    """

    text: str = ""
    caret: int = 0
    anchor: int = 0
    done: tuple[EditStep, ...] = ()
    undone: tuple[EditStep, ...] = ()
    is_open: bool = False

    @property
    def span(self) -> tuple[int, int]:
        """Start and end of the selection."""
        return min(self.caret, self.anchor), max(self.caret, self.anchor)

    @property
    def selection(self) -> str:
        """The selected text."""
        start, end = self.span
        return self.text[start:end]


def filled(text: str) -> TextBuffer:
    """A text that was put there: the caret at its end, nothing to undo."""
    return TextBuffer(text=text, caret=len(text), anchor=len(text))


def moved(buffer: TextBuffer, to: int, *, selects: bool = False) -> TextBuffer:
    """Put the caret at `to`; with `selects` the anchor stays."""
    to = min(max(0, to), len(buffer.text))
    return replace(buffer, caret=to, anchor=buffer.anchor if selects else to, is_open=False)


def marked(buffer: TextBuffer, anchor: int, caret: int) -> TextBuffer:
    """Select from `anchor` to `caret`."""
    return replace(moved(buffer, anchor), caret=min(max(0, caret), len(buffer.text)))


def stepped(
    buffer: TextBuffer, direction: int, *, by_word: bool = False, selects: bool = False
) -> TextBuffer:
    """Move the caret by a character or a word: -1 left, 1 right. A selection is left at that end of it."""
    start, end = buffer.span
    if start != end and not selects and not by_word:
        return moved(buffer, start if direction < 0 else end)
    return moved(buffer, _neighbour(buffer, direction, by_word=by_word), selects=selects)


def _neighbour(buffer: TextBuffer, direction: int, *, by_word: bool) -> int:
    if direction < 0:
        return (word_before if by_word else before)(buffer.text, buffer.caret)
    return (word_after if by_word else after)(buffer.text, buffer.caret)


# changes
def typed(buffer: TextBuffer, text: str) -> TextBuffer:
    """Type characters in place of what is selected. Each word is undone by itself."""
    for word in _WORDS.findall(text):
        buffer = _changed(buffer, *buffer.span, word, "type")
    return buffer


def pasted(buffer: TextBuffer, text: str) -> TextBuffer:
    """Put a text in place of what is selected, undone as a whole."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _changed(buffer, *buffer.span, text, "whole") if text or buffer.selection else buffer


def put(buffer: TextBuffer, text: str) -> TextBuffer:
    """Take another text from the program, undone as a whole: a quote, an earlier prompt, words that were taken back.

    An empty one is a beginning: what was sent is no past of the next message.
    """
    if not text or not (buffer.text or buffer.done):
        return filled(text)
    same = len(buffer.text) if text.startswith(buffer.text) else 0
    return moved(_changed(buffer, same, len(buffer.text), text[same:], "whole"), len(text))


def attached(buffer: TextBuffer) -> TextBuffer:
    """Note that a paste became a file: the text is the same, and to undo it is to take the file off."""
    step = EditStep(at=buffer.caret, old="", new="", anchor=buffer.anchor, caret=buffer.caret, kind="file")
    return replace(buffer, done=_trimmed((*buffer.done, step)), undone=(), is_open=False)


def files(buffer: TextBuffer) -> int:
    """Pastes that became files and can be undone."""
    return sum(step.kind == "file" for step in buffer.done)


def cut(buffer: TextBuffer) -> TextBuffer:
    """Remove what is selected."""
    return _changed(buffer, *buffer.span, "", "whole") if buffer.selection else buffer


def erased(buffer: TextBuffer, direction: int, *, by_word: bool = False) -> TextBuffer:
    """Remove what is selected, or else a character or word: -1 before the caret, 1 after it."""
    if buffer.selection:
        return cut(buffer)
    other = _neighbour(buffer, direction, by_word=by_word)
    start, end = min(other, buffer.caret), max(other, buffer.caret)
    return _changed(buffer, start, end, "", "erase") if start != end else buffer


def _changed(buffer: TextBuffer, start: int, end: int, new: str, kind: str) -> TextBuffer:
    step = EditStep(
        at=start, old=buffer.text[start:end], new=new, anchor=buffer.anchor, caret=buffer.caret, kind=kind
    )
    done = buffer.done
    grown = _grown(done[-1], step) if buffer.is_open and done else None
    done = (*done[:-1], grown) if grown is not None else (*done, step)
    text = f"{buffer.text[:start]}{new}{buffer.text[end:]}"
    at = start + len(new)
    return TextBuffer(text=text, caret=at, anchor=at, done=_trimmed(done), undone=(), is_open=kind != "whole")


def _grown(last: EditStep, step: EditStep) -> EditStep | None:
    """The last change with the next one in it, where a person thinks of them as one."""
    if last.kind != step.kind:
        return None
    if step.kind == "type" and not step.old and step.at == last.at + len(last.new):
        starts_word = last.new[-1:].isspace() and not step.new[0].isspace()
        return None if starts_word else replace(last, new=last.new + step.new)
    if step.kind != "erase":
        return None
    if step.at + len(step.old) == last.at and not (last.old[0].isspace() and not step.old[-1].isspace()):
        return replace(last, at=step.at, old=step.old + last.old)
    return replace(last, old=last.old + step.old) if step.at == last.at else None


def _trimmed(done: tuple[EditStep, ...]) -> tuple[EditStep, ...]:
    """The newest changes that are worth their memory; the last one always."""
    if len(done) > MOST_STEPS:
        done = done[-MOST_STEPS:]
    if len(done[-1].old) + len(done[-1].new) < MOST_KEPT_CHARS // MOST_STEPS:
        return done
    room, first = MOST_KEPT_CHARS, len(done)
    while first > 0 and (room > 0 or first == len(done)):
        first -= 1
        room -= len(done[first].old) + len(done[first].new)
    return done[first:]


def undone(buffer: TextBuffer) -> TextBuffer:
    """The text before the last change, with what was selected then."""
    if not buffer.done:
        return buffer
    step = buffer.done[-1]
    text = f"{buffer.text[: step.at]}{step.old}{buffer.text[step.at + len(step.new) :]}"
    again = buffer.undone if step.kind == "file" else (*buffer.undone, step)
    return TextBuffer(text=text, caret=step.caret, anchor=step.anchor, done=buffer.done[:-1], undone=again)


def redone(buffer: TextBuffer) -> TextBuffer:
    """The text after the change that was undone last."""
    if not buffer.undone:
        return buffer
    step = buffer.undone[-1]
    text = f"{buffer.text[: step.at]}{step.new}{buffer.text[step.at + len(step.old) :]}"
    at = step.at + len(step.new)
    return TextBuffer(text=text, caret=at, anchor=at, done=(*buffer.done, step), undone=buffer.undone[:-1])


# Control and bidi characters made visible: what a text hides is shown as a small mark.

_BIDI = {
    0x200E: "LRM",
    0x200F: "RLM",
    0x202A: "LRE",
    0x202B: "RLE",
    0x202C: "PDF",
    0x202D: "LRO",
    0x202E: "RLO",
    0x2066: "LRI",
    0x2067: "RLI",
    0x2068: "FSI",
    0x2069: "PDI",
    0x061C: "ALM",
    0x200B: "ZWSP",
    0x2060: "WJ",
    0xFEFF: "BOM",
    0x00AD: "SHY",
    0x2028: "LSEP",
    0x2029: "PSEP",
}
_MARKS = {
    **{code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)},
    0x7F: "\u2421",
    **{code: f"‹{code:02X}›" for code in range(0x80, 0xA0)},
    **{code: f"‹{name}›" for code, name in _BIDI.items()},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
    **{code: f"‹TAG {code - 0xE0000:02X}›" for code in range(0xE0001, 0xE0080)},
}
_ALONE = "".join(map(chr, _BIDI))
_HIDDEN = late(f"[\0-\x08\x0b-\x1f\x7f-\x9f{_ALONE}\ud800-\udfff\U000e0001-\U000e007f]")
"""The keys of `_MARKS`, as ranges: each for itself would take as long to compile as a tenth of a frame's patterns."""


_UNTAKEN = late("[\ud800-\udfff\\0]")


_RTL = late("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")


def taken(text: str) -> str:
    """The text as the toolkit can take it: a lone surrogate would end the process, a NUL would cut it off."""
    return text if text.isascii() and "\0" not in text else _UNTAKEN.sub("\ufffd", text)


def has_rtl(text: str) -> bool:
    """True if some of a text is read leftwards."""
    return not text.isascii() and _RTL.search(text) is not None


def visible(text: str) -> str:
    """The text with control, bidi and other invisible characters as marks; tabs and line feeds stay.

    U+202E becomes `‹RLO›`, U+0007 `␇`. Text without such characters comes back as it is.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text  # ten times quicker than to search, and the common case
    return text.translate(_MARKS) if _HIDDEN.search(text) else text
