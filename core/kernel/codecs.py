"""The program's values as JSON, MessagePack and TOML: the one door in and out; texts for a person leave as English.

What cannot be read is a `msgspec.DecodeError`, a ValueError, whatever is wrong with it: lists in lists without end, bytes that
are no UTF-8, half an emoji. Who reads a file of another program or of another version need know no other.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from _thread import RLock  # a lock and no thread: pure modules stand on this one
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Generic, Literal, TypeVar, overload

import msgspec
from msgspec import inspect

from core.kernel.frame import clean
from core.kernel.language import Translated, tr
from core.kernel.patterns import late

# JSON and MessagePack of the program's values: the one door out, where texts for a person become English.

Order = Literal["deterministic", "sorted"] | None


def _in_english(value: object) -> str:
    if isinstance(value, Translated):
        return value.english
    raise NotImplementedError(f"no encoding is known for {type(value).__name__}")


def json_encoder(order: Order = None) -> msgspec.json.Encoder:
    """An encoder of JSON, for a caller that keeps it."""
    return msgspec.json.Encoder(enc_hook=_in_english, order=order)


def msgpack_encoder() -> msgspec.msgpack.Encoder:
    """An encoder of MessagePack, for a caller that keeps it."""
    return msgspec.msgpack.Encoder(enc_hook=_in_english)


def to_json(value: object, *, order: Order = None) -> bytes:
    """A value as JSON, compact."""
    return msgspec.json.encode(value, enc_hook=_in_english, order=order)


def to_msgpack(value: object) -> bytes:
    """A value as MessagePack."""
    return msgspec.msgpack.encode(value, enc_hook=_in_english)


def builtins_of(value: object) -> Any:
    """A value as dicts, lists and plain values, as `msgspec.to_builtins` gives them."""
    return msgspec.to_builtins(value, enc_hook=_in_english)


# Data to values of a type: the one place where msgspec looks at types, one thread at a time, and where all
# faults are of one kind.

T = TypeVar("T")
V = TypeVar("V")
Data = bytes | bytearray | memoryview | str | msgspec.Raw

_looking = RLock()
"""Held while msgspec learns a type: 0.22 writes what it learns into the type before it has learned all of it. A second thread
that needs the type then (two tool calls with the same arguments) brings the interpreter down."""

enum_value = attrgetter("_value_")
"""`enum_value(member)` is `member.value` at the price of an attribute: `.value` takes three steps, and hashing a member two.
Source: Python "enum", supported `_sunder_` names."""


def canonical_json(value: object) -> str:
    """JSON with one spelling for the same value, as a model, a cache and a log see it: keys sorted, no spaces, letters as they are."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class TypedReader(Generic[T]):
    """Reader of data of one type. Any thread. Made by `decoder_of` and `packed_decoder_of`."""

    __slots__ = ("_decoder",)

    def __init__(self, decoder: msgspec.json.Decoder[T] | msgspec.msgpack.Decoder[T]) -> None:
        self._decoder = decoder

    def decode(self, data: Data) -> T:
        """The data as a value of the type. Raises msgspec.DecodeError."""
        return _read(self._decoder.decode, data)

    def decode_lines(self, data: bytes) -> list[T]:
        """Decode JSON Lines, one value a line. Raises msgspec.DecodeError: a line is no JSON."""
        assert isinstance(self._decoder, msgspec.json.Decoder)
        return _read(self._decoder.decode_lines, data)


def _read(decode: Callable[[Any], V], data: Data) -> V:
    try:
        return decode(data)
    except RecursionError:
        raise msgspec.DecodeError(_TOO_DEEP) from None
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        raise msgspec.DecodeError(tr("The text is not UTF-8 ({reason})", reason=error.reason)) from None


_TOO_DEEP = tr("Lists or objects are nested too deep")
_readers: dict[tuple[type, Any], TypedReader[Any]] = {}


def _reader(kind: type, form: Any) -> TypedReader[Any]:
    """The reader of that kind to `form`, made by the first who asks."""
    made = _readers.get((kind, form))
    if made is None:
        with _looking:
            made = _readers.setdefault((kind, form), TypedReader(kind(form)))
    return made


@overload
def decoder_of(form: type[T]) -> TypedReader[T]: ...
@overload
def decoder_of(form: Any) -> TypedReader[Any]: ...
def decoder_of(form: Any) -> TypedReader[Any]:
    """The decoder of JSON to `form`, the same one for all who ask. Any thread."""
    return _reader(msgspec.json.Decoder, form)


@overload
def packed_decoder_of(form: type[T]) -> TypedReader[T]: ...
@overload
def packed_decoder_of(form: Any) -> TypedReader[Any]: ...
def packed_decoder_of(form: Any) -> TypedReader[Any]:
    """The decoder of MessagePack to `form`, the same one for all who ask. Any thread."""
    return _reader(msgspec.msgpack.Decoder, form)


@overload
def from_json(data: Data, form: type[T]) -> T: ...
@overload
def from_json(data: Data, form: Any) -> Any: ...
def from_json(data: Data, form: Any) -> Any:
    """JSON as a value of `form`. Any thread. Raises msgspec.DecodeError."""
    return decoder_of(form).decode(data)


@overload
def from_builtins(data: Any, form: type[T]) -> T: ...
@overload
def from_builtins(data: Any, form: Any) -> Any: ...
def from_builtins(data: Any, form: Any) -> Any:
    """Plain data as a value of `form`. Any thread. Raises msgspec.ValidationError."""
    decoder_of(form)
    try:
        return msgspec.convert(data, form)
    except RecursionError:
        raise msgspec.ValidationError(_TOO_DEEP) from None
    except UnicodeEncodeError as error:
        raise msgspec.ValidationError(tr("The text is not UTF-8 ({reason})", reason=error.reason)) from None


def schemas_of(forms: Iterable[Any], place: str) -> dict[str, Any]:
    """JSON schemas of types by name; `place` is how one points at another, with `{name}` in it."""
    with _looking:
        return msgspec.json.schema_components(forms, ref_template=place)[1]


def description_of(form: Any) -> inspect.Type:
    """A type as msgspec understands it."""
    with _looking:
        return inspect.type_info(form)


# JSON that anybody may have written, as plain data: every fault is a ValueError, however deep or long it
# is.


def read_json(
    text: str | bytes | bytearray,
    *,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None,
    parse_constant: Callable[[str], Any] | None = None,
    parse_float: Callable[[str], Any] | None = None,
) -> Any:
    """Parse JSON as `json.loads` does.

    Raises:
        ValueError: the bytes are no JSON, no UTF-8, deeper than Python reads, or has a number of more digits than Python reads. A
            `json.JSONDecodeError` where a place can be named.
    """
    try:
        return json.loads(
            text,
            object_pairs_hook=object_pairs_hook,
            parse_constant=parse_constant,
            parse_float=parse_float,
        )
    except RecursionError:
        raise ValueError(tr("lists or objects are nested too deep")) from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError as error:  # of a hook, or of Python's own bound on digits
        if "integer string conversion" in str(error):
            raise ValueError(tr("a number has more than 4,300 digits")) from None
        raise


def without_half_characters(text: str) -> str:
    """The same JSON, halves of characters that it spells by escapes replaced: whoever decodes it can encode it again. Text
    that is no JSON stays as it is.
    """
    if _SURROGATE_ESCAPE.search(text) is None:
        return text
    try:
        spelled = json.dumps(read_json(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
    found = clean(spelled)
    return text if found == spelled else found


_SURROGATE_ESCAPE = late(r"\\u[dD][89a-fA-F]")


# Reading of TOML that anybody may have written: in bounded time and depth, every fault of one kind. Pure.

MAX_DEPTH = 64
"""Tables and arrays inside each other. Everything behind the parser may walk that deep by calling itself."""

MAX_MARKS = 100_000
"""Line ends, commas, points, brackets, braces and equals signs in a file that anybody may have written. The parser's time,
and that of all behind it, grows with them: 4 MB of nothing else took 15 s. A preset of 10,000 files has 50,000."""
_MARKS = "\n,.[{="

TomlError = tomllib.TOMLDecodeError

_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+"""
_LONG_PATH = late(rf"(?<![\w.-])(?:{_PART}){{{MAX_DEPTH}}}", re.ASCII)
"""A key of so many parts: the parser's time grows with the square of their number."""
_LONG_NUMBER = late(r"\d[\d_]{4299}")
"""Digits that Python turns into no number: their time grows with the square, too."""
_ZERO = late(r"\\u0000|\\U00000000")
"""A zero character in a text. The system's names end at it: to look for a path with one is a ValueError, not an OSError."""


def read_toml(text: str, most_marks: int | None = MAX_MARKS, *, names_paths: bool = False) -> dict[str, Any]:
    """Parse TOML.

    Args:
        most_marks: see `MAX_MARKS`; None for a file that this program alone writes, which may grow.
        names_paths: its texts are taken for paths, programs and names: none may hold a zero character.

    Raises:
        TomlError: the text is not TOML, or longer, deeper or with longer numbers than anybody writes. Where it can be
            said, the message ends as the parser's own do: `(at line 3, column 1)`.
    """
    marks = sum(map(text.count, _MARKS))
    if most_marks is not None and marks > most_marks:
        raise TomlError(
            tr(
                "{marks:,} lines, dots, commas, brackets and equals signs; the program reads at most {most_marks:,}",
                marks=marks,
                most_marks=most_marks,
            )
        )
    points = text.count(".")
    if points >= MAX_DEPTH and (long := _LONG_PATH.search(text)):
        raise TomlError(
            _at(text, long.start(), tr("A key has more than {MAX_DEPTH} parts", MAX_DEPTH=MAX_DEPTH))
        )
    try:
        data = tomllib.loads(text)
    except TomlError:
        raise
    except ValueError as error:  # a number of more digits than Python reads
        number = _LONG_NUMBER.search(text)
        message = tr("A number has more than 4,300 digits")
        raise TomlError(message if number is None else _at(text, number.start(), message)) from error
    except RecursionError:
        raise TomlError(_too_deep()) from None
    if names_paths and (zero := _ZERO.search(text)) is not None and _holds_zero(data):
        raise TomlError(
            _at(text, zero.start(), tr("A text holds a zero character, which no path or name may hold"))
        )
    # Each table or array inside another takes a point or a bracket.
    if points + text.count("[") + text.count("{") >= MAX_DEPTH - 1 and _is_deep(data):
        raise TomlError(_too_deep())
    return data


def decode_toml(data: bytes, most_marks: int | None = MAX_MARKS) -> dict[str, Any]:
    """Parse the bytes of a TOML file; `most_marks` as in `read_toml`. Raises TomlError, UnicodeDecodeError."""
    return read_toml(data.decode(), most_marks)


def _too_deep() -> str:
    return tr("Tables or arrays are nested more than {MAX_DEPTH} levels deep", MAX_DEPTH=MAX_DEPTH)


def _at(text: str, place: int, message: str) -> str:
    line = text.count("\n", 0, place) + 1
    return f"{message} (at line {line}, column {place - text.rfind(chr(10), 0, place)})"


def _is_deep(data: dict[str, Any]) -> bool:
    """True if tables and arrays lie deeper inside each other than `MAX_DEPTH`; level by level, so at any depth."""
    level: list[Any] = [data]
    for _ in range(MAX_DEPTH):
        level = [inner for node in level for inner in _inner(node) if isinstance(inner, (dict, list))]
        if not level:
            return False
    return True


def _holds_zero(data: dict[str, Any]) -> bool:
    """True if a text or a name holds a zero character; level by level, so at any depth."""
    level: list[Any] = [data]
    while level:
        texts = (*level, *(name for node in level if isinstance(node, dict) for name in node))
        if any(isinstance(text, str) and "\0" in text for text in texts):
            return True
        level = [inner for node in level if isinstance(node, (dict, list)) for inner in _inner(node)]
    return False


def _inner(node: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node


# Objects as models write them where JSON is meant: keys without quotes, other quotes, words without any,
# parentheses for braces. Source: Gemma 4 and FunctionGemma (marks of their own for quotes), Kimi behind gateways, agents'
# prompts (read 2026-11).


DECODER = json.JSONDecoder(strict=False)
"""Models write line breaks into the strings of their calls."""
DEEPEST = 20
"""Objects within objects that are read."""

_QUOTE = late(r"<\|\"\|>|<escape>|\"{3}|“|\"|'")
_KEY = late(r"\s*(?:<\|\"\|>|<escape>|[\"'“])?([\w.$-]{1,128})(?:<\|\"\|>|<escape>|[\"'”])?\s*[:=]\s*")
_BARE_END = late(
    r",(?=\s*(?:<\|\"\|>|[\"'])?[\w.$-]{1,128}(?:<\|\"\|>|[\"'])?\s*[:=])|,(?=\s*[}\])])|\}|\]|\)"
)
_PLAIN = late(r"\"[^\"\\]*(?:\\.[^\"\\]*)+\"|'[^'\\]*(?:\\.[^'\\]*)+'")
"""A text in plain quotes with a backslash in it: what is between them is escaped."""
_PYTHON = {"True": True, "False": False, "None": None}
_CLOSES = {"{": "}", "(": ")"}
_BLANKS = late(r"\s*")
_COMMA = late(r"\s*,?\s*")


def loose_object(text: str) -> tuple[dict[str, Any], int]:
    """Keys and values between braces, or those of a call between parentheses, and the place behind them.

    Raises:
        ValueError: the words are no such object, or not a whole one.
    """
    try:
        return _object(text, 0, 0)
    except IndexError:
        raise ValueError from None


def loose_value(text: str, at: int = 0) -> tuple[Any, int]:
    """As `loose_object`, or a list that begins with such an object. Raises ValueError for other text."""
    is_list = _LIST_OF_OBJECTS.match(text, at)
    try:
        return _list(text, at, 0) if is_list else _object(text, at, 0)
    except IndexError:
        raise ValueError from None


_LIST_OF_OBJECTS = late(r"\[\s*\{")


def end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    """The end of a pattern that begins here, else this place."""
    found = pattern.match(text, at)
    return found.end() if found else at


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    """Keys and values between braces, or those of a call between parentheses. Raises ValueError for other text."""
    close = _CLOSES.get(text[at])
    if close is None or depth > DEEPEST:
        raise ValueError
    made: dict[str, Any] = {}
    at = end_of(_BLANKS, text, at + 1)
    if close == ")" and text[at] == "{":
        made, at = _object(text, at, depth + 1)
        at = end_of(_BLANKS, text, at)
    while text[at] != close:
        key = _KEY.match(text, at)
        if key is None:
            raise ValueError
        made[key[1]], at = _value(text, key.end(), depth + 1)
        at = end_of(_COMMA, text, at)
    return made, at + 1


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    if text[at] == "{":
        return _object(text, at, depth)
    if text[at] == "[":
        return _list(text, at, depth)
    if (plain := _PLAIN.match(text, at)) and (told := _unescaped(plain[0])) is not None:
        return told, plain.end()
    if quote := _QUOTE.match(text, at):
        close = "”" if quote[0] == "“" else quote[0]
        end = text.index(close, quote.end())
        return text[quote.end() : end], end + len(close)
    bare = _BARE_END.search(text, at)
    if bare is None:
        raise ValueError
    return _word(text[at : bare.start()].strip()), bare.start()


def _list(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    made: list[Any] = []
    at = end_of(_BLANKS, text, at + 1)
    while text[at] != "]":
        if depth > DEEPEST:
            raise ValueError
        if text[at] in "{[" or _QUOTE.match(text, at):
            value, at = _value(text, at, depth + 1)
        else:
            end = min(place for place in (text.find(",", at), text.find("]", at)) if place >= 0)
            value, at = _word(text[at:end].strip()), end
        made.append(value)
        at = end_of(_COMMA, text, at)
    return made, at + 1


def _unescaped(text: str) -> str | None:
    """A text between quotes with a backslash in it, as Python and JSON read it; None where they do not."""
    try:
        return str(ast.literal_eval(text.replace("\n", "\\n")))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _word(text: str) -> Any:
    """A value of JSON or of Python, or a word, that stands without quotes."""
    if text in _PYTHON:
        return _PYTHON[text]
    try:
        return read_json(text)
    except (ValueError, RecursionError):
        return text
