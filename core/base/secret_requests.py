"""Secrets that a request carries: passwords and tokens of addresses, headers, cookies, signatures."""

from __future__ import annotations

import re

from core.base.secret_rule import Find, Rule, find_of
from core.base.secret_values import (
    continued,
    is_base64_pair,
    is_filled_in,
    is_mixed,
    is_placeholder,
    is_random,
)

_SIGNED = re.compile(
    r"(?i)(?<![A-Za-z0-9_])(?:sig|(?:x-(?:amz|goog)-)?signature)=([A-Za-z0-9%+/_-]{40,}=?)", re.ASCII
)


def _signature(text: str, at: int) -> Find | None:
    """The signature of a shared access address of Azure."""
    found = _SIGNED.match(text, at)
    return Find(found.start(1), found.end()) if found and is_filled_in(found[1]) else None


_USER_INFO = re.compile(
    r"://([^\s/:@\"'`<>\\]{0,100}):([^\s\"'`<>\\]{1,200})@(?=([A-Za-z0-9.\[][A-Za-z0-9._:\[\]-]*)(?:[/?#\s\"'`,;)\]}\\]|\Z))"
)
_PORT = re.compile(r"\d{1,5}(?:[/?#]|\Z)")


def _address(text: str, at: int) -> Find | None:
    """The password of an address, whatever it holds: it ends at the last @ that a host follows."""
    found = _USER_INFO.match(text, at)
    if found is None:
        return _lone_user(text, at)
    user, password, host = found.groups()
    is_default = password.isalpha() and password.lower() == user.lower()
    if (
        is_default
        or len(password) < 2
        or host.startswith("sha256")
        or is_placeholder(password)
        or _PORT.match(password)
    ):
        return None
    return Find(found.start(2), found.end(2))


_LONE_USER = re.compile(r"://([A-Za-z0-9_.~-]{20,255})(?::|:x-oauth-basic)?@(?=[A-Za-z0-9\[])")


def _lone_user(text: str, at: int) -> Find | None:
    """A token that stands alone before the host."""
    found = _LONE_USER.match(text, at)
    if found is None or not is_mixed(found[1]) or is_placeholder(found[1]):
        return None
    is_token = _HEX.fullmatch(found[1]) is not None or is_random(found[1])
    return Find(*found.span(1)) if is_token else None


_HEX = re.compile("[0-9a-fA-F]{32,}")

_HEADER = re.compile(r"(?i:(bearer|basic))(?:\s+|%20)([A-Za-z0-9._~+/=-]{16,})", re.ASCII)


def _header(text: str, at: int) -> Find | None:
    found = _HEADER.match(text, at)
    if found is None or (at and (text[at - 1].isalnum() or text[at - 1] == "_")):
        return None
    value = found[2]
    is_key = is_base64_pair(value) if found[1].lower() == "basic" else False
    if is_placeholder(value) or not (is_key or is_mixed(value)):
        return None
    return Find(found.start(2), continued(text, found.end()))


_AUTHORIZATION = re.compile(
    r"authorization(?:\\*[\"'])?\s{0,9}[:=,]\s{0,9}(?:\\*[\"'])?(?!bearer|basic|digest)(?:[a-z][\w-]{1,30}[ ]+)?"
    r"(?:token=)?(?:\\*[\"'])?([A-Za-z0-9._~+/=-]{16,})",
    re.IGNORECASE | re.ASCII,
)


def _authorization(text: str, at: int) -> Find | None:
    """The token of a header of any other scheme, or of none."""
    found = _AUTHORIZATION.match(text, at)
    if found is None or is_placeholder(found[1]) or not is_mixed(found[1]) or (at and text[at - 1].isalpha()):
        return None
    is_token = is_random(found[1][:64]) or _HEX.fullmatch(found[1]) is not None
    return Find(found.start(1), continued(text, found.end())) if is_token else None


_COOKIE = re.compile(
    r"(?:set-)?cookie\d?(?:\\*[\"'])?[ \t]*(?:[:=,][ \t]*)(?:(?:\\*[\"'])?value(?:\\*[\"'])?[ \t]*[:=][ \t]*)?(?:\\*[\"'])?"
    r"(?=[\w.$-]{1,80}=)",
    re.IGNORECASE | re.ASCII,
)
_PAIR = re.compile(r"([\w.$%-]{1,80})=([^;,\s\"'`\\<>]{1,4096})(?:;[ \t]*|(?=[\s\"'`\\<>,]|\Z))", re.ASCII)
_ATTRIBUTE = re.compile(r"(?:secure|httponly|partitioned)(?:;[ \t]*|\b)", re.IGNORECASE)
_PLAIN_NAMES = frozenset(
    ["path", "domain", "expires", "max-age", "samesite", "priority", "version", "comment"]
)
_SESSION = re.compile(
    r"sess|sid|token|auth|jwt|csrf|xsrf|login|remember|access|refresh|secret|ticket|identity", re.IGNORECASE
)
_MOST_PAIRS = 200


def _cookie(text: str, at: int) -> Find | None:
    """Values of a cookie that a session stands behind: named so, or too mixed for a setting."""
    head = _COOKIE.match(text, at)
    if head is None:
        return None
    places = []
    end = head.end()
    for _ in range(_MOST_PAIRS):
        pair = _PAIR.match(text, end)
        if pair is None:
            attribute = _ATTRIBUTE.match(text, end)
            if attribute is None:
                break
            end = attribute.end()
            continue
        if pair[1].lower() not in _PLAIN_NAMES and _is_session(pair[1], pair[2]):
            places.append(pair.span(2))
        end = pair.end()
    return find_of(places) or Find(at, end, is_secret=False)


def _is_session(name: str, value: str) -> bool:
    if len(value) < 8 or is_placeholder(value) or not is_mixed(value):
        return False
    if _SESSION.search(name):
        return True
    return len(value) >= 20 and (
        _HEX.fullmatch(value) is not None or (is_mixed(value, classes=3) and is_random(value[:64]))
    )


RULES = (
    Rule(("sig=", "signature="), _signature, kind="signature of an address"),
    Rule(("://",), _address, kind="password in an address"),
    Rule(("bearer", "basic"), _header, kind="token of a request"),
    Rule(("authorization",), _authorization, kind="token of a request"),
    Rule(("cookie",), _cookie, kind="cookie of a session"),
)
"""Secrets of requests, by the word or the sign that leads to them."""
