"""Secrets that are told by the name before them: `password: …`, `SECRET_KEY=…`, `--token …`."""

from __future__ import annotations

import re

from core.base.secret_shapes import Find, Rule
from core.base.secret_values import continued, is_mixed, is_placeholder, is_secret_value

_KEYS = "access private encryption encrypt signing account auth master session storage shared deploy service license admin"
_JOINS = ("", "_", "-", " ")

_LITERALS = (
    "pass",
    "pwd",
    "secret",
    "token",
    "credential",
    *(f"{word}{join}key" for word in ("api", *_KEYS.split()) for join in _JOINS),
)

_TAIL = (
    r"(?:[_-]?(?:key|base|token|value|access[_-]?key|raw|plain|text|prod(?:uction)?|live|dev|staging|test|old|new|main"
    r"|backup|root|admin|user|hex|b64|base64|\d{1,3})){0,4}"
)
_NAME = re.compile(
    rf"""(?ix)
    (?: (?P<pass>pass(?:word|wd|phrase|code|wort)?|pwd)
      | secret | token | credential
      | (?:api|{_KEYS.replace(" ", "|")})[_\ -]?key
    ) {_TAIL} (?![A-Za-z0-9_])
    """
)
_LINK = re.compile(
    r"""(?x)
    (?: \\* ["'`] [\])]? )?  (?:\*\*)?
    (?: [ \t]{0,9} (?: :=|=>|:|=|->) (?:\*\*)? (?: [ \t]{0,9} | (?:[ \t]*\r?\n[ \t]{0,40}) (?=["']) )
        (?: (?:[A-Za-z]+(?:\[[A-Za-z]+\])?(?:\ ?\|\ ?None)?)[ ]=[ ] )?
      | (?P<listed> (?<=["']) [ \t]* ,[ \t]* (?=["'\\]) )
      | (?P<said> [ \t]+ (?:is|was) (?:[ \t]*:)? [ \t]+ )
      | (?P<flag> [ \t]+ | (?<=["']) [ \t]*,[ \t]* )
    )
    (?: [bBrRuU]{0,2} (?=\\*["']) )?
    (?P<open> \\* ["'`] )?
    """
)
_BARE = re.compile(r"[^\s\"'`,;]{1,120}")
_BARE_REST = re.compile(r"[^\s\"'`,;]*")
_QUOTED = {
    quote: re.compile(rf"[^{quote}\n\\]{{1,120}}") for quote in "\"'`"
}  # what is escaped within ends it: rather too little than past the end
_QUOTED_REST = {quote: re.compile(rf"[^{quote}\n\\]*") for quote in "\"'`"}


def _assigned(text: str, at: int) -> Find | None:
    name = _NAME.match(text, at)
    if name is None or not _begins(text, at, name):
        return None
    link = _LINK.match(text, name.end())
    if link is None:
        return None
    lead = _lead(text, at)
    opened = (link["open"] or "")[-1:]
    is_flag = lead.startswith("--")
    if link["flag"] and not (is_flag or "secret_access_key" in (lead + name[0]).lower()):
        return None
    start = link.end()
    found = (_QUOTED[opened] if opened else _BARE).match(text, start)
    if found is None:
        return None
    inner = None if opened else _NAME.match(text, start)
    if inner is not None and text[inner.end() : inner.end() + 1] in {"=", ":"}:
        return None  # it is the next name, and is asked for itself
    value, end = _ended(found[0], start, opened, lead)
    whole = lead + name[0]
    if link["listed"] and not (is_flag or text[at - len(lead) - 2 : at - len(lead) - 1] == "("):
        return None
    is_setting = "_" in whole or "-" in whole or whole.isupper()
    is_verdict = whole.lower() == "pass" and not opened and not link[0].startswith("=")
    if link["said"] or link["listed"] or is_verdict:
        is_secret = is_mixed(value) and len(value) >= 8 and not is_placeholder(value) and not _is_code(value)
    else:
        is_secret = is_secret_value(
            value,
            is_quoted=bool(opened),
            is_setting=is_setting and not link["flag"],
            is_password=name["pass"] is not None,
            has_end=bool(opened) or text[end : end + 1] in {"", "\n", "\r"},
        )
    if not is_secret or (is_verdict and text[end : end + 1] not in {"", "\n", "\r"}):
        return None
    if end - start == 120:
        end = (_QUOTED_REST[opened] if opened else _BARE_REST).match(text, start).end()  # type: ignore[union-attr]
    return Find(start, continued(text, end))


def _begins(text: str, at: int, name: re.Match[str]) -> bool:
    """True unless a short name is the end of another word (`bypass`, `compass`)."""
    if not at or name[0][:4].lower() not in {"pass", "pwd"} or name[0][:5].lower() in {"passw", "passp"}:
        return True
    before = text[at - 1]
    return (
        not before.isalpha()
        or (before.islower() and text[at].isupper())
        or (before.isupper() and text[at].isupper())
    )


_LEAD = re.compile(r"(?:--|[?&])?[A-Za-z0-9_-]*\Z")


def _lead(text: str, at: int) -> str:
    """Head of the name: `db_` of `db_password`, `--` of a flag, `?` or `&` in an address."""
    found = _LEAD.search(text[max(0, at - 40) : at])
    return found[0] if found else ""


def _ended(value: str, start: int, opened: str, lead: str) -> tuple[str, int]:
    """The value and its end, without what belongs to the text around it."""
    if not opened:
        if lead[:1] in {"?", "&"} or ("=" in value and "&" in value):
            value = value.partition("&")[0]
        bare = value.rstrip(".:!?")
        for left, right in ("()", "[]", "{}"):
            if bare.endswith(right) and left not in bare:
                bare = bare.rstrip(right)
        value = bare.rstrip("\\*")
    return value, start + len(value)


def _is_code(value: str) -> bool:
    return any(sign in value for sign in "([{")


NAMES = Rule(_LITERALS, _assigned, kind="password or key by its name")
"""Values that are assigned to a name that tells of secrets."""
