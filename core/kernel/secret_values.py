"""Judgement of a value: whether it can be a secret, or is a word, an expression or a placeholder."""

from __future__ import annotations

import base64
import itertools
import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from itertools import chain

import msgspec

from core.kernel.language import tr
from core.kernel.patterns import late

_SIGNED = late(
    r"""(?x)
    \A (?: [$<\[] | %[A-Za-z_(%{] )
    | [<{] \s* [\w .|-]+ [>}] | \$\{ | \$\( | \{\{ | \#\{ | %\( | <\| | \.{3} | \(\?[:=!P<] | \[[a-zA-Z0]-[a-zA-Z9]
    """
)
_WORD_FOR_ONE = late(
    r"""(?ix)
    (?:\*|x|0|\.|_|-|•|\?|\#)+
    | (?:[a-z]+[-_])?(?:x{6,}|\*{3,}).*
    | (?:user)?(?:pass(?:word|wd|phrase|code)?|pwd|pw|secrets?|tokens?|credentials?|key|api[-_]?key|string|str|text|none|null|nil|undefined
        |empty|true|false|yes|no|required|optional|hidden|masked|guest|root|admin|postgres|value|bearer|basic|default|unknown|invalid|missing)\d?
    | (?:[a-z]+[-_])*(?:test|fake|mock|sample|example|key|token|secret|password)(?:[-_][a-z]+)*[-_]?\d{0,3}
    """
)
_TOLD = late(
    r"(?i)(?:\b|_)(?:your|placeholder|change[-_]?me|replace|insert|goes|redacted|filtered|todo|dummy|my[-_](?:pass|secret|token|key|api))"
)
_HEAD_CHARS = 100
"""Characters of a value's beginning that tell what it is."""


def is_placeholder(value: str) -> bool:
    """True if a value only stands for one: a variable, `<your key>`, `changeme`, a row of stars."""
    head = value[:_HEAD_CHARS]
    return bool(_SIGNED.search(head) or _WORD_FOR_ONE.fullmatch(head) or _TOLD.search(head))


def is_filled_in(tail: str) -> bool:
    """True unless what follows a key's prefix is a row of one sign or says that it is yours to fill in."""
    return len(set(tail.lower()) - set("x*.-_")) > 0 and not re.search(
        r"(?i)your|x{8}|placeholder|[-_]here\b", tail
    )


def is_mixed(value: str, *, classes: int = 2) -> bool:
    """True if letters and digits go together in it; three classes: upper, lower and digits."""
    kinds = _LOWER.search(value), _UPPER.search(value)
    return _DIGIT.search(value) is not None and 1 + sum(map(bool, kinds)) >= classes


_DIGIT, _LOWER, _UPPER = (late(kind) for kind in ("[0-9]", "[a-z]", "[A-Z]"))


def is_base64_pair(value: str) -> bool:
    """True if it is base64 of a name and a password with a colon between."""
    if len(value) % 4:
        value += "=" * (-len(value) % 4)
    try:
        said = base64.b64decode(value, validate=True).decode()
    except ValueError:
        return False
    return said.isprintable() and 0 < said.find(":") < len(said) - 1


_NEXT_LINE = late(
    r"[\"']?[ \t]*[\\+.]?[ \t]*\r?\n[ \t]*[+.]?[ \t]*[\"']?([A-Za-z0-9+/_-]{12,}={0,2})(?=[\s\"'`.,;:)]|\Z)"
)


def continued(text: str, end: int) -> int:
    """The end of a key that ends at `end`, or that goes on in the next line."""
    found = _NEXT_LINE.match(text, end)
    if found is None or not is_mixed(found[1], classes=3) or not is_random(found[1]):
        return end
    return found.end(1)


def is_random(value: str) -> bool:
    """True if kinds of characters change often, as they do not in names: at every third character or more."""
    kinds = [0 if char.islower() else 1 if char.isupper() else 2 for char in value]
    changes = sum(one != other for one, other in itertools.pairwise(kinds))
    return changes * 3 >= len(value) and _chars_in_words(value) * 5 < len(value) * 3


def is_no_name(value: str) -> bool:
    """True if upper, lower and digits go together, and not because words of a name begin in upper case."""
    return is_mixed(value, classes=3) and _chars_in_words(value) * 5 < len(value) * 4


def _chars_in_words(value: str) -> int:
    return sum(map(len, _WORD.findall(value)))


_WORD = late("[A-Z]?[a-z]{3,}")

_CODE = late(
    r"[&*!(]*[A-Za-z_$@][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*[!?]?)*(?:[(\[{]|::<).*|[&*!(]*[A-Za-z_$@][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)+\)?",
    re.DOTALL,
)
_VARIABLE = late(r"_*(?:[a-z]+\d{0,2}_+)+[a-z]*\d{0,2}|_*(?:[A-Z]+\d{0,2}_+)+[A-Z]*\d{0,2}|_[A-Za-z_]+")
_TYPE = late(r"_?(?:[A-Z]+\d*)?(?:[A-Z][a-z]{2,}\d{0,2})+")
_WORDS = late(r"[A-Za-z]+(?:[-_.' /:|!?]+[A-Za-z]+)*[-_.!?:)*]*")
_PHRASE = late(r"[a-z]+(?:-[a-z]+)+")
_NUMBERED = late(r"(?:[a-z]+\d?_)+(?:[a-z]*\d{0,3}|[a-z]\d)")
_NAME = late(r"[A-Za-z_]+\d{0,2}")
_PATH = late(
    r"(?:~|\.{1,2})?/[\w.~@-]+(?:/[\w.~@-]+)+/?(?:\.\w+)?|[A-Za-z]:\\.*|[\w.-]+/[\w./-]+\.[a-z]{2,5}"
)
_HASH = late(r"(?i)(?:sha\d{1,3}|md5|h1)[:-].*")
_DATE = late(r"\d{4}-\d\d-\d\d.*|(?:\d:)?[vV]?\d+(?:\.\d+)+[\w.+~:-]*|[\w-]+(?:\.[\w-]+)+:\d+")
"""A date, a version, or a host with its port."""


_HEX = late(r"(?:(?=[a-f0-9]*[a-f])(?=[a-f0-9]*[0-9])[a-f0-9]{32,}|(?=[A-F0-9]*[A-F])[A-F0-9]{32,})=*")
_SETTING = late(r"[A-Za-z_]=[^=]")
_ACCOUNT = late("0x[0-9a-fA-F]{40}")
"""An account of a ledger, which is public."""

_ALGORITHM = late(
    r"(?i)(?:argon2|bcrypt|scrypt|pbkdf2|sha|md5|hmac|aes|rsa|ecdsa|ecdh|ed25519|ed448|x25519|x509|pkcs|base(?:32|58|64)|utf|iso"
    r"|oauth|oidc|[hrep]s256|http|tls|ipv[46]|python|php)[\w.-]{0,10}"
)
"""Methods, standards and languages, whose names have numbers."""

_CAMEL = late(r"[:.~]*(?:\w+[.:])*[A-Za-z]+?\d{0,5}(?:[A-Z][a-z]{2,}\d{0,5})+")
"""A name in the manner of classes, with a number in it."""

_CALL_SIGNS = frozenset("([{<")


def is_path(value: str) -> bool:
    """True if it leads to a file."""
    return _PATH.fullmatch(value) is not None


def is_name_like(value: str) -> bool:
    """True for a word with a short number behind it."""
    return _NAME.fullmatch(value) is not None


def is_said_value(value: str) -> bool:
    """Judge what stands where a secret is said: letters and digits, no word for one, no expression."""
    return (
        len(value) >= 8
        and is_mixed(value)
        and not (_CALL_SIGNS & set(value))
        and not is_placeholder(value)
        and not _is_other(value)
        and (_CODE.fullmatch(value) is None or _is_key(value))
    )


def is_sure_value(value: str, *, is_hex_too: bool = False) -> bool:
    """Judge what stands somewhere behind a word for a secret: it can be nothing that people read.

    Args:
        is_hex_too: hexadecimal digits of sixteen bytes and more are one as well.
    """
    if not is_said_value(value) or "\\" in value:
        return False
    if _ACCOUNT.fullmatch(value) or _CAMEL.fullmatch(value) or _SETTING.search(value):
        return False
    return (is_mixed(value[:64], classes=3) and is_random(value[:64])) or (
        is_hex_too and _HEX.fullmatch(value) is not None
    )


def _is_other(value: str) -> bool:
    """True for text that looks like a secret but is another thing: an address, a hash, a file, a date, a number with its name."""
    return (
        "://" in value
        or _HASH.fullmatch(value) is not None
        or is_path(value)
        or _DATE.fullmatch(value) is not None
        or _NUMBERED.fullmatch(value) is not None
        or _VARIABLE.fullmatch(value) is not None
        or _ALGORITHM.fullmatch(value) is not None
    )


def is_secret_value(
    value: str, *, is_quoted: bool, is_setting: bool, is_password: bool, has_end: bool
) -> bool:
    """Judge what is assigned to a name that tells of secrets.

    Args:
        value: without quotes, 200 characters of it at most.
        is_quoted: it stands in quotes, so it is no expression.
        is_setting: the name is one of settings (`DB_PASSWORD`, `db_password`), not a word of a sentence.
        is_password: the name tells of a password; one may be short, or a number.
        has_end: nothing else stands in its line.
    """
    if len(value) < (6 if is_password else 8):
        return False
    if not (is_password or _DIGIT.search(value) or _PHRASE.fullmatch(value) or _is_scrambled(value)):
        return False
    if is_placeholder(value):
        return False
    if "://" in value or _HASH.fullmatch(value) or is_path(value) or _DATE.fullmatch(value):
        return False
    if not is_quoted and (_CODE.fullmatch(value) or _VARIABLE.fullmatch(value)) and not _is_key(value):
        return False
    if _TYPE.fullmatch(value) and (not is_quoted or value[0] == "_"):
        return False
    if value.isdigit():
        return is_password and len(value) >= 6
    if _WORDS.fullmatch(value):
        is_phrase = _PHRASE.fullmatch(value) is not None
        return (is_phrase and is_setting and has_end) or _is_scrambled(value)
    if not is_password and _NUMBERED.fullmatch(value):
        return False
    if _NAME.fullmatch(value) and len(value) < 16:
        return is_setting or is_quoted
    if is_quoted and " " in value:
        return is_password and is_mixed(value) and value.count(" ") <= 3
    return (
        is_mixed(value)
        or (is_password and not value.isascii() and _has_mark(value))
        or (is_quoted and is_password and _has_sign(value))
    )


def _is_scrambled(value: str) -> bool:
    """True if a long value is no word and no name: upper, lower and other characters change too often."""
    return len(value) >= 16 and not set(value) & set("()[]{}") and is_random(value[:40])


def _is_key(value: str) -> bool:
    """True if a text that could be a name is random: it changes case or kind too often, and holds a digit."""
    return _is_scrambled(value) and is_mixed(value, classes=3)


def _has_mark(value: str) -> bool:
    """True if a digit or a sign is in it that words do not have."""
    return any(char.isdigit() or char in "!@#$%^&*+~=" for char in value)


def _has_sign(value: str) -> bool:
    return any(not (char.isalnum() or char in "-_.:/ ") for char in value)


# One kind of secret: the literals that a find holds, and the judgement of a place at which one of them
# stands.


class Find(msgspec.Struct, frozen=True):
    """Outcome of one look.

    Args:
        start, end: place of the secret. `is_secret` False: looked at as far as `end`, and nothing found there.
        also: places of more that belong to it, in order, all behind it: cells of a column, pairs of a cookie.
    """

    start: int
    end: int
    is_secret: bool = True
    also: tuple[tuple[int, int], ...] = ()


Look = Callable[[str, int], Find | None]
"""Judgement of a position at which one of the rule's literals stands."""


class Rule(msgspec.Struct, frozen=True, eq=False):
    """One kind, for people `kind`. `literals`: what a find begins with, or holds; their case counts with `has_case`."""

    literals: tuple[str, ...]
    look: Look
    has_case: bool = False
    kind: str = tr("key or token of a service")


@cache
def compiled(expression: str) -> re.Pattern[str]:
    """An expression, compiled when it is first asked for: all at once would hold up the first frame."""
    return re.compile(expression, re.ASCII)


def find_of(places: list[tuple[int, int]]) -> Find | None:
    """One find that covers all places of secrets, in order; None without any."""
    if not places:
        return None
    (start, end), *also = places
    return Find(start=start, end=end, also=tuple(also))


# A text as a reader takes it: signs without width are left out, signs of other scripts are those of ASCII.

LONG_CHARS = 4_096
"""From here on a text is looked through by numpy: a few hundred megabytes a second, and nothing is imported for less."""

_NO_WIDTH = frozenset(
    map(
        chr,
        (
            *(0xAD, 0x34F, 0x61C, 0x180E, 0xFEFF),
            *range(0x200B, 0x2010),
            *range(0x202A, 0x202F),
            *range(0x2060, 0x2070),
        ),
    )
)

_SIGNS = dict(
    chain(
        zip("\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d\u300e\u300f", '"' * 10, strict=True),
        zip("\u2018\u2019\u201a\u201b\u2039\u203a", "'" * 6, strict=True),
        ((chr(code), " ") for code in (0xA0, 0x202F, 0x3000, *range(0x2000, 0x200B))),
        ((chr(code), chr(code - 0xFEE0)) for code in range(0xFF01, 0xFF5F)),
        (("\u3002", "."), ("\u3001", ",")),
    )
)


class Reading(msgspec.Struct, frozen=True):
    """A text that was read.

    Args:
        signs: all beyond ASCII that the original holds.
        left_out: where signs are missing, in order; one place for each of them.
    """

    text: str
    signs: frozenset[str] = frozenset()
    left_out: tuple[int, ...] = ()

    def place(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original of one that is here."""
        return self._before(start), self._before(end - 1) + 1

    def _before(self, at: int) -> int:
        return at + bisect_right(self.left_out, at)


def read(text: str) -> Reading:
    """Read a text; every sign is one for one, save those that are left out. O(n), and nothing for ASCII."""
    signs = signs_of(text)
    for sign in sorted(signs & _SIGNS.keys()):
        text = text.replace(sign, _SIGNS[sign])
    without = signs & _NO_WIDTH
    if not without:
        return Reading(text=text, signs=signs)
    mark = re.compile(f"[{''.join(sorted(without))}]")
    left_out = tuple(found.start() - before for before, found in enumerate(mark.finditer(text)))
    return Reading(text=mark.sub("", text), signs=signs, left_out=left_out)


def signs_of(text: str) -> frozenset[str]:
    """The signs beyond ASCII that a text holds, as far as UTF-16 has one number for each. O(n)."""
    if text.isascii():
        return frozenset()
    if len(text) < LONG_CHARS:
        return frozenset(sign for sign in set(text) if sign > _LAST_ASCII)
    import numpy as np

    seen = np.zeros(1 << 16, np.bool_)
    seen[np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)] = True
    seen[: ord(_LAST_ASCII) + 1] = False
    return frozenset(map(chr, np.flatnonzero(seen).tolist()))


_LAST_ASCII = "\x7f"
