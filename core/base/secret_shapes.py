"""Secrets that are told by their own shape: keys of vendors, private keys, passwords in addresses."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from functools import cache

import msgspec

from core.base.secret_values import (
    continued,
    is_base64_pair,
    is_filled_in,
    is_mixed,
    is_placeholder,
)


class Find(msgspec.Struct, frozen=True):
    """Outcome of one look. `is_secret` False: looked at as far as `end`, and nothing found there."""

    start: int
    end: int
    is_secret: bool = True


Look = Callable[[str, int], Find | None]
"""Judgement of a position at which one of the rule's literals stands."""


class Rule(msgspec.Struct, frozen=True, eq=False):
    """One kind, for people `kind`. `literals`: what a find begins with, or holds; their case counts with `has_case`."""

    literals: tuple[str, ...]
    look: Look
    has_case: bool = False
    kind: str = "key or token of a service"


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    """An expression, compiled when it is first asked for: all at once would hold up the first frame."""
    return re.compile(expression, re.ASCII)


def shape(
    prefixes: str,
    tail: str,
    *,
    after: str = r"(?<![A-Za-z0-9_])",
    check: Callable[[str], bool] = is_filled_in,
) -> Rule:
    """A rule for keys that begin with one of the prefixes.

    Args:
        prefixes: with blanks between, each of three characters or more; tail: the expression of what follows.
        after: what must stand before, as a look-behind.
        check: of what follows the prefix.
    """
    literals = tuple(prefixes.split())
    heads = "|".join(map(re.escape, literals))

    def look(text: str, at: int) -> Find | None:
        if not _compiled(after).match(text, at):
            return None
        pattern = _compiled(f"(?:{heads})({tail})")
        found = pattern.match(text, at)
        if found is not None:
            return Find(at, continued(text, found.end())) if check(found[1]) else None
        return _wrapped(text, at, pattern)

    return Rule(literals, look, has_case=True)


_TWO_LINES = re.compile(r"([A-Za-z0-9_./+=-]{8,200})[ \t]*\r?\n[ \t]*([A-Za-z0-9_./+=-]{8,200})", re.ASCII)


def _wrapped(text: str, at: int, pattern: re.Pattern[str]) -> Find | None:
    """A key that only together with the next line is one."""
    found = _TWO_LINES.match(text, at)
    if found is None or not is_mixed(found[2], classes=3):
        return None
    whole = pattern.match(found[1] + found[2])
    return Find(at, found.end()) if whole and whole.end() == len(found[1] + found[2]) else None


def behind(literals: str, before: str, tail: str, reach: int) -> Rule:
    """A rule for keys that are told by what stands in their middle.

    Args:
        before: the expression of what leads up to the literal, of `reach` characters at most.
    """
    names = tuple(literals.split())

    def look(text: str, at: int) -> Find | None:
        found = _compiled(tail).match(text, at)
        start = max(0, at - reach - 1)
        led = _compiled(rf"(?<![A-Za-z0-9_])(?:{before})\Z").search(text[start:at]) if found else None
        return Find(start + led.start(), found.end()) if found and led else None

    return Rule(names, look, has_case=True)


_MAKERS = re.compile("(?:ant|proj|or|svcacct|admin)-")


def _openai(tail: str) -> bool:
    """True for keys of the kind that many make, told from names with hyphens.

    Its maker follows, or one part of it is mixed or longer than words are, or all of it is long and mixed.
    """
    parts = re.split("[-_]", tail)
    return is_filled_in(tail) and (
        _MAKERS.match(tail) is not None
        or any(len(part) >= 24 or (len(part) >= 12 and is_mixed(part)) for part in parts)
        or (len(tail) >= 32 and is_mixed(tail, classes=3))
    )


def _starts(first: str, second: str, third: str, fourth: str) -> str:
    return " ".join(a + b + c + d for a in first for b in second for c in third for d in fourth)


_DISCORD = _starts("MNO", "DTjz", "AEIMQUYcgk", "wxyz012345")
"""Base64 of four digits: a bot's number leads its token."""

_URL = "[A-Za-z0-9_-]"
_ANY = "[A-Za-z0-9]"

_VENDORS = (
    shape("sk- rk- pk-", f"{_URL}{{16,}}", after=r"(?<![A-Za-z0-9_-])", check=_openai),
    shape("AIza", f"{_URL}{{30,}}"),
    shape("ghp_ gho_ ghs_ ghu_ ghr_", f"{_ANY}{{30,}}"),
    shape("github_pat_", "[A-Za-z0-9_]{30,}"),
    shape("glpat- gldt- glrt- glptt- glft- glcbt- glsoat- glimt- glagent- gloas-", f"{_URL}{{16,}}"),
    shape("xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-", "[A-Za-z0-9-]{10,}"),
    shape("xapp-", r"\d-[A-Z0-9]{8,}-\d{8,}-[a-z0-9]{20,}"),
    shape("hf_ npm_", f"{_ANY}{{30,}}"),
    shape("pypi-", f"{_URL}{{40,}}"),
    shape("AKIA ASIA ABIA ACCA", r"[0-9A-Z]{16}\b"),
    shape("sk_live_ sk_test_ rk_live_ rk_test_", f"{_ANY}{{16,}}"),
    shape("whsec_", f"{_ANY}{{24,}}"),
    shape("sq0csp- sq0atp-", f"{_URL}{{20,}}"),
    shape("SG.", rf"{_URL}{{16,}}\.{_URL}{{32,}}"),
    shape(" ".join(a + b for a in ("AC", "SK") for b in "0123456789abcdef"), r"[0-9a-f]{31}\b"),
    shape("hooks.slack.com/", "(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}", check=bool),
    shape("discord.com/api/webhooks/ discordapp.com/api/webhooks/", rf"\d{{10,}}/{_URL}{{40,}}"),
    shape(_DISCORD, rf"{_URL}{{16,28}}\.{_URL}{{6}}\.{_URL}{{27,}}"),
    shape("ya29.", f"{_URL}{{20,}}"),
    shape("GOCSPX-", f"{_URL}{{20,}}"),
    shape("1//0", f"{_URL}{{40,}}"),
    shape("AKC", f"{_ANY}{{10,}}", check=is_mixed),
    shape("AccountKey=", "[A-Za-z0-9+/=]{40,}", after=""),
    shape("dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}\b"),
    shape("shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{32}\b"),
    shape("AGE-SECRET-KEY-1", r"[0-9A-Z]{58}\b"),
    shape("xai- gsk_ pplx- r8_", f"{_ANY}{{20,}}"),
    shape("nvapi-", f"{_URL}{{20,}}"),
    shape("tskey-", f"[a-z]+-{_URL}{{16,}}"),
    shape("ATATT ATCTT ATBB", "[A-Za-z0-9_=-]{20,}"),
    shape("dapi", r"[0-9a-f]{32}\b"),
    shape("figd_", f"{_URL}{{30,}}"),
    shape("lin_api_", f"{_ANY}{{30,}}"),
    shape("ntn_", f"{_ANY}{{40,}}"),
    shape("PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}\b"),
    shape("glsa_", rf"{_ANY}{{32}}_[0-9a-f]{{8}}\b"),
    shape("sntrys_ sntryu_", "[A-Za-z0-9+/=_-]{30,}"),
    shape("dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", f"{_ANY}{{40,}}"),
    shape("hvs. hvb. hvr.", f"{_URL}{{24,}}"),
    shape("pul-", r"[0-9a-f]{40}\b"),
    shape("rubygems_", r"[0-9a-f]{48}\b"),
    shape("dckr_pat_ dckr_oat_", f"{_URL}{{27,}}"),
    shape("sbp_", r"[0-9a-f]{40}\b"),
    shape("pscale_tkn_ pscale_pw_ pscale_oauth_", "[A-Za-z0-9_.=-]{32,}"),
    shape("key-", r"[0-9a-f]{32}\b"),
    shape("NRAK-", r"[A-Z0-9]{27}\b"),
    shape("LTAI", rf"{_ANY}{{16,20}}\b"),
    shape("HRKU-", "[0-9a-fA-F-]{36,}"),
    shape("EAA", f"{_ANY}{{80,}}"),
    shape("eyJ", rf"{_URL}{{8,}}\.eyJ{_URL}{{8,}}\.{_URL}{{8,}}"),
    behind(":AA", r"\d{8,10}", rf":AA{_URL}{{33}}\b", 10),
    behind("-us", "[0-9a-f]{32}", r"-us[0-9]{1,2}\b", 32),
    behind(".atlasv1.", f"{_ANY}{{14}}", r"\.atlasv1\.[A-Za-z0-9_=-]{60,}", 14),
    behind("7Q~ 8Q~", "[A-Za-z0-9_~.-]{3}", "[78]Q~[A-Za-z0-9_~.-]{31,34}", 3),
)

_SIGNED = re.compile(r"(?<![A-Za-z0-9_])sig=([A-Za-z0-9%+/_-]{40,}=?)", re.ASCII)


def _signature(text: str, at: int) -> Find | None:
    """The signature of a shared access address of Azure."""
    found = _SIGNED.match(text, at)
    return Find(found.start(1), found.end()) if found and is_filled_in(found[1]) else None


_BEGIN = re.compile(
    r"-----BEGIN[ ][A-Z0-9 ]*PRIVATE[ ]KEY(?:[ ]BLOCK)?-----"
    r"(?:\\+[nr]|\s|[\"'+,\\]|(?:Proc-Type|DEK-Info|Version|Comment|Hash):[^\n\\]{0,200})*[A-Za-z0-9+/]{16}"
)
_END = re.compile(r"-----END[ ][A-Z0-9 ]*PRIVATE[ ]KEY(?:[ ]BLOCK)?-----")


def _block(text: str, at: int) -> Find | None:
    """A private key between its lines; one that is cut off reaches to the end."""
    found = _BEGIN.match(text, at)
    if found is None:
        return None
    end = _END.search(text, found.end())
    return Find(at, end.end() if end else len(text))


_USER_INFO = re.compile(
    r"://([^\s/:@\"'`<>\\]{0,100}):([^\s\"'`<>\\]{1,200})@(?=([A-Za-z0-9.\[][A-Za-z0-9._:\[\]-]*)(?:[/?#\s\"'`,;)\]}\\]|\Z))"
)
_PORT = re.compile(r"\d{1,5}(?:[/?#]|\Z)")


def _address(text: str, at: int) -> Find | None:
    """The password of an address, whatever it holds: it ends at the last @ that a host follows."""
    found = _USER_INFO.match(text, at)
    if found is None:
        return None
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


_CURL = re.compile(
    r"(?<![\w-])curl\b[^\n|;]{0,300}?\s(?:--user|--proxy-user|-[A-Za-z]{0,4}[uU])(?:[ \t]+|=)?[\"']?([^\s:\"'`]{1,100}):([^\s\"'`]{3,200})"
)


def _curl(text: str, at: int) -> Find | None:
    found = _CURL.match(text, at)
    if found is None or is_placeholder(found[2]):
        return None
    return Find(found.start(2), found.end(2))


_LOGIN = re.compile(
    r"(?i:login)\s+[^\s/|,;:]{1,100}(\s+)(?i:password)\s+([^\s'\"`]{4,200})(?=([ \t]*\r?\n|[ \t]*\Z)?)"
)


def _netrc(text: str, at: int) -> Find | None:
    """A line, or three, of a netrc; in one line the password must not be a word of a sentence."""
    found = _LOGIN.match(text, at)
    if found is None or is_placeholder(found[2]):
        return None
    if not ("\n" in found[1] and found[3] is not None) and not is_mixed(found[2]):
        return None
    return Find(found.start(2), found.end(2))


_DOCKER = re.compile(r"\"auth\\*\"\s{0,9}:\s{0,9}\\*\"([A-Za-z0-9+/]{8,2000}={0,2})\\*\"")


def _docker(text: str, at: int) -> Find | None:
    found = _DOCKER.match(text, at)
    return Find(found.start(1), found.end(1)) if found and is_base64_pair(found[1]) else None


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


_RUN = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}(?:\r?\n[A-Za-z0-9+/]{4,76}={0,2}(?![^\s\"'`]))*")
_BEFORE = re.compile(r"(?:[A-Za-z0-9+/]{60,76}\r?\n)*[A-Za-z0-9+/]*\Z")
_RUN_CHARS = 8_192


def _encoded_in(holds: Callable[[str], bool]) -> Look:
    """Base64 of a text in which there is a secret, in one line or in lines of equal length."""

    def look(text: str, at: int) -> Find | None:
        start = max(0, at - _RUN_CHARS)
        led = _BEFORE.search(text[start:at])
        begin = start + led.start() if led else at
        run = _RUN.match(text, begin, begin + 2 * _RUN_CHARS)
        if run is None or run.end() <= at:
            return None
        packed = "".join(run[0].split())
        try:
            said = base64.b64decode(packed[: len(packed) // 4 * 4]).decode()
        except ValueError:
            return Find(begin, run.end(), is_secret=False)
        return Find(begin, run.end(), is_secret=holds(said))

    return look


def _aligned(words: str) -> Iterator[str]:
    """Looks of a word in the middle of base64: one form for each place in a group of three."""
    for word in words.split():
        for lead in range(3):
            packed = base64.b64encode(b" " * lead + word.encode()).decode().rstrip("=")
            first = -(-lead * 4 // 3)
            last = (lead + len(word)) * 8 // 6
            yield packed[first:last]


def shapes(holds: Callable[[str], bool]) -> tuple[Rule, ...]:
    """All rules of this module.

    Args:
        holds: says whether a text holds a secret; for what is decoded.
    """
    encoded = tuple(
        sorted(set(_aligned("PASSW SECRET TOKEN _PASS= _KEY= passw secret token api_key apiKey")))
    )
    return (
        *_VENDORS,
        Rule(("sig=",), _signature, kind="signature of an address"),
        Rule(("-----BEGIN ",), _block, has_case=True, kind="private key"),
        Rule(("://",), _address, kind="password in an address"),
        Rule(("curl",), _curl, kind="password of a command"),
        Rule(("login",), _netrc, kind="password of a login"),
        Rule(('"auth',), _docker, kind="password of a registry"),
        Rule(("bearer", "basic"), _header, kind="token of a request"),
        Rule(encoded, _encoded_in(holds), has_case=True, kind="secret in base64"),
    )
