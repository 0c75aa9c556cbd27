"""Secrets that are told by the name beside them: `password: …`, `SECRET_KEY=…`, `--token …`, `<pwd>…</pwd>`."""

from __future__ import annotations

import re
import string
from functools import cache

from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.secret_joiners import LATIN, VERBS, WIDE, Name, joined
from core.kernel.secret_values import (
    Find,
    Rule,
    continued,
    find_of,
    is_said_value,
    is_secret_value,
    is_sure_value,
)

# Columns of tables, ruled or parted by commas or tabs: what stands below a word for a secret.

_LINE_CHARS = 2_000
_MOST_ROWS = 200
_MOST_IDLE_ROWS = 8
"""Rows without a secret, behind which no more are looked at."""

_PARTS = "|│┃║\t;,"
"""Signs between cells, the surest first."""

_DRESS = " \t\r*_`\"'"
_RULED = late(r"[\s|:+=│┃║┼├┤─━═-]*")
_TITLE = late(r"[^\W\d][\w .#/-]{0,40}")


def column_places(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Places of the secrets in the column under a heading, in order.

    Args:
        start, end: place of a word for a secret.
    """
    line_start = text.rfind("\n", max(0, start - _LINE_CHARS), start) + 1
    line_end = text.find("\n", end, end + _LINE_CHARS)
    if line_end < 0:
        return []
    line = text[line_start:line_end]
    part = next((sign for sign in _PARTS if sign in line), "")
    if not part:
        return []
    cells = line.split(part)
    index = line.count(part, 0, start - line_start)
    if not cells[index].strip(_DRESS).endswith(text[start:end]):
        return []
    titles = [cell.strip(_DRESS) for cell in cells]
    if not _are_titles(titles):
        return []
    return _cells(text, line_end + 1, part, index, titles)


def _are_titles(titles: list[str]) -> bool:
    told = [title for title in titles if title]
    return len(told) >= 2 and all(_TITLE.fullmatch(title) for title in told)


def _cells(text: str, at: int, part: str, index: int, titles: list[str]) -> list[tuple[int, int]]:
    places: list[tuple[int, int]] = []
    idle = 0
    for _ in range(_MOST_ROWS):
        end = text.find("\n", at, at + _LINE_CHARS)
        line = text[at:] if end < 0 else text[at:end]
        if len(line) > _LINE_CHARS:
            break
        if not _RULED.fullmatch(line):
            cells = line.split(part)
            if (
                len(cells) != len(titles)
                or cells[index].strip(_DRESS) == titles[index]
                or idle > _MOST_IDLE_ROWS
            ):
                break
            idle += 1
            cell = cells[index].strip(_DRESS)
            if is_sure_value(cell, is_hex_too=True) or (part not in ",;" and _is_word(cell)):
                start = at + sum(map(len, cells[:index])) + index + cells[index].index(cell)
                places.append((start, start + len(cell)))
                idle = 0
        elif not line.strip():
            break
        if end < 0:
            break
        at = end + 1
    return places


def _is_word(cell: str) -> bool:
    return is_said_value(cell) and not any(char.isspace() for char in cell)


_KEYS = (
    "access private encryption encrypt signing account auth master session storage shared deploy service license admin"
    " unseal recovery wallet subscription consumer client"
)
_JOINS = ("", "_", "-", " ")

_LITERALS = (
    "pass",
    "pwd",
    "secret",
    "token",
    "credential",
    "psk",
    "pw:",
    "pw=",
    "pw is",
    "pw -",
    *(f"{word}{join}key" for word in ("api", *_KEYS.split()) for join in _JOINS),
)

_TAIL = (
    r"(?:[_-]?(?:key|base|token|value|access[_-]?key|raw|plain|text|prod(?:uction)?|live|dev|staging|test|old|new|main"
    r"|backup|root|admin|user|hex|b64|base64|\d{1,3})){0,4}"
)
_NAME = late(
    rf"""(?ix)
    (?: (?P<pass>pass(?:word|wd|phrase|code|wort)?|pwd|psk|pw)
      | secret | token | credential
      | (?:api|{_KEYS.replace(" ", "|")})[_\ -]?key
    ) {_TAIL} (?![A-Za-z0-9_])
    """
)
_LINK = late(
    r"""(?x)
    (?: \\* ["'`] [\])]? )?  (?:\*\*)?
    (?: [ \t]{0,9} (?: :=|=>|:|=|->) (?:\*\*)? (?: [ \t]{0,9} | (?:[ \t]*\r?\n[ \t]{0,40}) (?=["']) )
        (?: (?:&?(?:'\w+[ ])?[A-Za-z]+(?:\[[A-Za-z]+\])?(?:\ ?\|\ ?None)?)[ ]=[ ] )?
        (?: \( [ \t\r\n]{0,40} (?=["']) )?
      | (?P<listed> (?<=["']) [ \t]* ,[ \t]* (?=["'\\]) )
      | (?P<said> [ \t]+ (?:VERBS) (?:[ \t]+ (?:now|still|set[ ]to|simply|jetzt|nun))? (?:[ \t]*:)? [ \t]+ )
      | (?P<flag> [ \t]+ | (?<=["']) [ \t]*,[ \t]* )
    )
    (?: [bBrRuU]{0,2} (?=\\*["']) )?
    (?P<open> \\* (?: "{3} | '{3} | ["'`] ) )?
    """.replace("VERBS", "|".join(VERBS))
)
_BARE = late(r"[^\s\"'`,;]{1,120}")
_BARE_REST = late(r"[^\s\"'`,;]*")
_QUOTED = {
    quote: late(rf"[^{quote}\n\\]{{1,120}}") for quote in "\"'`"
}  # what is escaped within ends it: rather too little than past the end
_QUOTED_REST = {quote: late(rf"[^{quote}\n\\]*") for quote in "\"'`"}


def _named(text: str, at: int) -> Find | None:
    found = _NAME.match(text, at)
    if found is None or not _begins(text, at, found):
        return None
    start = _lead(text, at)
    name = Name(
        text=text,
        start=start,
        end=found.end(),
        is_password=found["pass"] is not None,
        is_setting=_is_setting(text[start : found.end()]),
    )
    return _together(name)


def _together(name: Name) -> Find | None:
    place = _assigned(name) or joined(name)
    if place is not None:
        return Find(start=place[0], end=continued(name.text, place[1]))
    return find_of(column_places(name.text, name.start, name.end))


def _is_setting(whole: str) -> bool:
    return "_" in whole or "-" in whole or whole.isupper()


def _assigned(name: Name) -> tuple[int, int] | None:
    """The place of the value in `name = value` and what is like it."""
    text, whole = name.text, name.word
    link = _LINK.match(text, name.end)
    if link is None:
        return None
    opened = (link["open"] or "")[-1:]
    is_flag = whole.startswith("--")
    if link["flag"] and not (is_flag or "secret_access_key" in whole.lower()):
        return None
    if link["listed"] and not (is_flag or text[name.start - 2 : name.start - 1] == "("):
        return None
    start = link.end()
    found = (_QUOTED[opened] if opened else _BARE).match(text, start)
    if found is None:
        return None
    inner = None if opened else _NAME.match(text, start)
    if inner is not None and text[inner.end() : inner.end() + 1] in {"=", ":"}:
        return None  # it is the next name, and is asked for itself
    value, end = _ended(found[0], start, opened, whole)
    is_verdict = whole.lower() == "pass" and not opened and not link[0].startswith("=")
    if is_verdict and text[end : end + 1] not in {"", "\n", "\r"}:
        return None
    if link["said"] or link["listed"] or is_verdict:
        is_secret = is_said_value(value)
    else:
        is_secret = is_secret_value(
            value,
            is_quoted=bool(opened),
            is_setting=name.is_setting and not link["flag"],
            is_password=name.is_password,
            has_end=bool(opened) or text[end : end + 1] in {"", "\n", "\r"},
        )
    if is_secret and end - start == 120:
        end = (_QUOTED_REST[opened] if opened else _BARE_REST).match(text, start).end()  # type: ignore[union-attr]
    return (start, end) if is_secret else None


_HEADS = late(
    "(?i)(?:require|store|key|trust|root|bind|db|my|sql|smtp|ftp|mail|imap|user|admin|master|login|ssh|sudo|become|wifi|app"
    "|web|http|auth|rpc|proxy|redis|mongo|ldap|temp)\\Z"
)
"""Words that a short name is joined to: `requirepass`, `dbpass`, `rootpw`."""


def _begins(text: str, at: int, name: re.Match[str]) -> bool:
    """True unless a short name is the end of another word (`bypass`, `compass`)."""
    word = name[0].lower()
    if not at or not word.startswith(("pass", "pwd", "psk", "pw")) or word.startswith(("passw", "passp")):
        return True
    before = text[at - 1]
    return (
        not before.isalpha()
        or (before.islower() and text[at].isupper())
        or (before.isupper() and text[at].isupper())
        or _HEADS.search(text[max(0, at - 8) : at]) is not None
    )


_LEAD_CHARS = 40
_LEAD = f"{string.ascii_letters}{string.digits}_-"


def _lead(text: str, at: int) -> int:
    """The start of a name with its head: `db_` of `db_password`, `--` of a flag, `?` or `&` in an address."""
    first = max(0, at - _LEAD_CHARS)
    start = first + len(text[first:at].rstrip(_LEAD))
    return start - 1 if start > first and text[start - 1] in "?&" else start


def _ended(value: str, start: int, opened: str, name: str) -> tuple[str, int]:
    """The value and its end, without what belongs to the text around it."""
    if not opened:
        if name[:1] in {"?", "&"} or ("=" in value and "&" in value):
            value = value.partition("&")[0]
        bare = value.rstrip(".:!?")
        for left, right in ("()", "[]", "{}"):
            if bare.endswith(right) and left not in bare:
                bare = bare.rstrip(right)
        value = bare.rstrip("\\*")
    return value, start + len(value)


@cache
def _tongues() -> re.Pattern[str]:
    """All the words; compiled when the first of them comes up."""
    return re.compile(
        "(?:"
        + "|".join(rf"{re.escape(word)}[a-z\xdf-\xff]{{0,3}}" for word in LATIN)
        + r")(?!\w)|(?:"
        + "|".join(map(re.escape, (word for words in WIDE.values() for word in words)))
        + r")[^\x00-\x7f\W\d_]{0,6}",
        re.IGNORECASE,
    )


def _tongue(text: str, at: int) -> Find | None:
    """A word of another language."""
    if at and text[at - 1].isalpha() and text[at - 1].isascii():
        return None
    found = _tongues().match(text, at)
    if found is None:
        return None
    return _together(Name(text=text, start=at, end=found.end(), is_password=True, is_setting=False))


def _forms(word: str) -> tuple[str, ...]:
    """A word as it stands within, at the beginning, and in capitals."""
    return tuple(dict.fromkeys((word, word[:1].upper() + word[1:], word.upper())))


_VENDOR_KEY = late(
    r"_KEY(?:_\d|\d)?(?![A-Za-z0-9_])\\*[\"']?\]?[ \t]*[:=][ \t]*\\*[\"']?([^\s\"'`,;.\\]{16,400})(?![.])"
)


def _vendor_key(text: str, at: int) -> Find | None:
    """A key by a name that could be anyone's (`OPENAI_KEY`): only if the value can be nothing else."""
    found = _VENDOR_KEY.match(text, at)
    return Find(start=found.start(1), end=found.end(1)) if found and is_sure_value(found[1]) else None


_ACCOUNTS = late(
    r"(?:creds?|credentials?|logins?|zugangsdaten|acceso|acc\xe8s|accesso)[ \t]*(?:\([^()\n]{0,40}\))?[*_]{0,2}[:=][*_]{0,2}[ \t]*"
    r"[\w.@+-]{1,64}[ \t]*[/:|,][ \t]*([^\s\"'`]{6,200})",
    re.IGNORECASE,
)


def _account(text: str, at: int) -> Find | None:
    """A name and a password together: `creds: admin / …`."""
    found = _ACCOUNTS.match(text, at)
    if found is None or (at and text[at - 1].isalpha()):
        return None
    value = found[1].rstrip(".,;)")
    return Find(start=found.start(1), end=found.start(1) + len(value)) if is_sure_value(value) else None


_KIND = tr("password or key, by the name of its field")

RULES = (
    Rule(literals=_LITERALS, look=_named, kind=_KIND),
    Rule(literals=LATIN, look=_tongue, kind=_KIND),
    Rule(
        literals=tuple(form for words in WIDE.values() for word in words for form in _forms(word)),
        look=_tongue,
        has_case=True,
        kind=_KIND,
    ),
    Rule(literals=("_KEY",), look=_vendor_key, has_case=True, kind=_KIND),
    Rule(
        literals=(
            "creds",
            "cred:",
            "credentials",
            "logins",
            "login:",
            "zugangsdaten",
            "acceso",
            "accesso",
            "acc\xe8s",
        ),
        look=_account,
        kind=_KIND,
    ),
)
"""Values that stand together with a name that tells of secrets."""
