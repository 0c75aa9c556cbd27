"""Secrets of many signs: private keys between their lines or cut off, parts of a JSON key, stored hashes of passwords."""

from __future__ import annotations

import re

from core.base.secret_rule import Find, Rule, compiled, find_of
from core.base.secret_values import is_filled_in, is_mixed

_GAP = r"(?:\\+[nrt]|[\s\"'`+,;>|#*()\\]|(?<![A-Za-z0-9])\d{1,5}[ \t]*[|:](?=[ \t])|(?<=\n)[ \t]*-(?!-))"
_NOTE = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Encryption|Public-Lines)(?:\\*[\"'])?:[^\n\\]{0,200}"
_HEAD = r"-{4,5}[ ]?BEGIN[ ][A-Z0-9 ]{0,60}PRIVATE[ ]KEY(?:[ ]BLOCK)?[ ]?-{4,5}"
_BEGIN = re.compile(rf"{_HEAD}(?:{_GAP}|{_NOTE}){{0,400}}(?=[A-Za-z0-9+/]{{16}})")
_PIECE = re.compile(rf"([A-Za-z0-9+/]{{16,}}+={{0,2}})(?={_GAP}|[.!?-]|\Z)")
_NEXT = re.compile(rf"{_GAP}{{1,80}}+")
_LAST = re.compile(r"=?[A-Za-z0-9+/]{1,75}={0,2}")
_LINE_END = re.compile(r"[ \t\"'`,;+)\\]*(?:\r?\n|\\+[rn]|\Z)")
_END = re.compile(rf"{_GAP}{{0,80}}-{{4,5}}[ ]?END[ ][A-Z0-9 ]{{0,60}}PRIVATE[ ]KEY(?:[ ]BLOCK)?[ ]?-{{4,5}}")
_RULE_LINE = re.compile(r"-----(BEGIN|END) ")
_FARTHEST_END = 32_768
_MATERIAL = re.compile(r"[A-Za-z0-9+/=]{40,}")


def _block(text: str, at: int) -> Find | None:
    """A private key between its lines; one that is cut off ends where its lines do."""
    found = _BEGIN.match(text, at)
    if found is None:
        return None
    end = _material_end(text, found.end())
    closed = _END.match(text, end)
    return Find(at, closed.end() if closed else _closed_far(text, end) or end)


def _material_end(text: str, start: int) -> int:
    """The end of the base64 that begins here: lines of it, quoted or not, as far as they look like it."""
    end = start
    at = start
    while (piece := _PIECE.match(text, at)) is not None and (at == start or _is_material(piece)):
        end = piece.end()
        gap = _NEXT.match(text, end)
        if gap is None:
            return end
        at = gap.end()
    last = _LAST.match(text, at)
    if last is None or last.end() - at >= 76 or (at == end and at != start):
        return end
    is_closed = _END.match(text, last.end()) is not None
    more = _LAST.match(text, last.end() + 1) if text[last.end() : last.end() + 1] == "\n" else None
    if more and more[0].startswith("=") and _END.match(text, more.end()):
        return more.end()  # the sum of an armored block
    is_alone = _LINE_END.match(text, last.end()) is not None and "\n" in text[end:at].replace("\\n", "\n")
    return last.end() if is_closed or (is_alone and _is_rest(last[0])) else end


def _is_material(piece: re.Match[str]) -> bool:
    """True unless it is a long word of what follows the key."""
    value = piece[1]
    return len(value) >= 40 or (is_mixed(value) and _LINE_END.match(piece.string, piece.end()) is not None)


def _is_rest(value: str) -> bool:
    return value.endswith("=") or is_mixed(value) or re.search("[a-z][A-Z]|[+/]", value) is not None


def _closed_far(text: str, start: int) -> int | None:
    """The end of a key between whose lines something else stands, such as the time of a log; most of it must be key."""
    rule = _RULE_LINE.search(text, start, start + _FARTHEST_END)
    if rule is None or rule[1] != "END":
        return None
    closed = _END.match(text, rule.start())
    size = sum(len(found) for found in _MATERIAL.findall(text, start, rule.start()))
    return closed.end() if closed and size * 2 >= rule.start() - start else None


_PUTTY = re.compile(rf"Private-Lines:[ ]?\d{{1,4}}{_GAP}{{1,20}}")


def _putty(text: str, at: int) -> Find | None:
    found = _PUTTY.match(text, at)
    end = _material_end(text, found.end()) if found else 0
    return Find(found.end(), end) if found and end > found.end() else None


_BARE_HEADS = (
    "b3BlbnNzaC1rZXktdjEA MIIEpAIBAAK MIIEowIBAAK MIIEpQIBAAK MIIEvgIBADANBg MIIEvQIBADANBg MIIEvwIBADANBg"
    " MIIJKAIBAAK MIIJKQIBAAK MIIJJwIBAAK MIIJQgIBADANBg MIIJQwIBADANBg MIIJQQIBADANBg MIGHAgEAMBMGByqGSM49"
    " MHcCAQEEI MC4CAQAwBQYDK2VwBCIEI"
)
"""Beginnings of private keys in base64: OpenSSH, RSA of 2,048 and 4,096 bits in both forms, elliptic curves."""


def _bare(text: str, at: int) -> Find | None:
    """A private key without the lines around it."""
    if at and (text[at - 1].isalnum() or text[at - 1] in "+/"):
        return None
    end = _material_end(text, at)
    return Find(at, end) if end - at >= 60 else None


_JSON_KEY_REACH = 4_000
_JSON_PART = re.compile(r"\\*\"(?:d|p|q|dp|dq|qi|k)\\*\"\s{0,9}:\s{0,9}\\*\"([A-Za-z0-9_+/=-]{20,})\\*\"")


def _json_key(text: str, at: int) -> Find | None:
    """The private parts of a JSON web key, before and behind its kind."""
    start = max(text.rfind("{", max(0, at - _JSON_KEY_REACH), at), at - _JSON_KEY_REACH, 0)
    end = text.find("}", at, at + _JSON_KEY_REACH)
    end = min(len(text), at + _JSON_KEY_REACH) if end < 0 else end
    found = find_of([part.span(1) for part in _JSON_PART.finditer(text, start, end)])
    return found or Find(at, end, is_secret=False)


_SALTED = "[./A-Za-z0-9]"
_HASHES = (
    rf"\$(?:apr1|1)\$(?:rounds=\d+\$)?{_SALTED}{{1,8}}[$]{_SALTED}{{22}}"
    rf"|\$[56]\$(?:rounds=\d+\$)?{_SALTED}{{1,16}}[$]{_SALTED}{{40,90}}"
    rf"|\$2[abxy]?\$\d\d[$]{_SALTED}{{50,60}}"
    rf"|\$(?:7|y|gy|sm3)[$]{_SALTED}{{1,20}}[$]{_SALTED}{{1,90}}[$]{_SALTED}{{40,90}}"
    rf"|\$[PH][$]{_SALTED}{{31}}|\$S[$]{_SALTED}{{52}}|\$(?:8|9)[$]{_SALTED}{{10,20}}[$]{_SALTED}{{40,50}}"
    r"|\$(?:argon2(?:id|i|d)|scrypt|bcrypt-sha256|pbkdf2(?:-sha\d{1,3})?)(?:\$[A-Za-z0-9=,./+-]{1,90}){1,3}\$[A-Za-z0-9+/.]{20,}={0,2}"
    r"|(?:pbkdf2_sha\d{1,3}|bcrypt_sha256|scrypt)\$[^\s$\"':]{1,60}\$[^\s$\"']{1,90}\$[A-Za-z0-9+/=$]{20,}"
    r"|(?:pbkdf2:sha\d{1,3}|scrypt)(?::\d+){1,3}\$[A-Za-z0-9./]{4,60}\$[0-9a-f]{32,}"
    r"|\{(?:S?SHA(?:256|384|512)?|SMD5|CRYPT|ARGON2|PBKDF2[A-Z0-9-]*)\}[^\s\"'{}]{20,}"
    r"|SCRAM-SHA-(?:1|256|512)\$\d+:[A-Za-z0-9+/=]{8,}\$[A-Za-z0-9+/=]{20,}:[A-Za-z0-9+/=]{20,}"
)
_HASH_HEADS = (
    "$apr1$ $1$ $5$ $6$ $2a$ $2b$ $2x$ $2y$ $7$ $y$ $gy$ $sm3$ $P$ $H$ $S$ $8$ $9$ $argon2 $scrypt$ $bcrypt- $pbkdf2"
    " pbkdf2_sha bcrypt_sha256$ scrypt$ scrypt: pbkdf2:sha {SSHA {SHA {SMD5} {CRYPT} {ARGON2} {PBKDF2 SCRAM-SHA-"
)


def _hash(text: str, at: int) -> Find | None:
    """The stored hash of a password, with its salt: what is guessed against it needs no server."""
    found = compiled(_HASHES).match(text, at)
    return Find(at, found.end()) if found and is_filled_in(found[0][8:]) else None


RULES = (
    Rule(("-----BEGIN ", "---- BEGIN SSH2"), _block, has_case=True, kind="private key"),
    Rule(("Private-Lines:",), _putty, kind="private key"),
    Rule(tuple(_BARE_HEADS.split()), _bare, has_case=True, kind="private key"),
    Rule(('"kty',), _json_key, kind="private key"),
    Rule(tuple(_HASH_HEADS.split()), _hash, has_case=True, kind="hash of a password"),
)
"""Private keys and hashes, by what they begin with."""
