"""Secrets that are told by their own shape: keys whose makers gave them a beginning, addresses with keys, base64."""

from __future__ import annotations

import base64
import re
import string
from collections.abc import Callable, Iterator, Sequence

from core.kernel.patterns import late
from core.kernel.secret_values import (
    Find,
    Look,
    Rule,
    compiled,
    continued,
    find_of,
    is_filled_in,
    is_mixed,
    is_no_name,
    is_placeholder,
    is_random,
)

# Secrets that are told by their own shape: keys of vendors, and base64 in which a secret stands.


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
        if not compiled(after).match(text, at):
            return None
        pattern = compiled(f"(?:{heads})({tail})")
        found = pattern.match(text, at)
        if found is not None:
            return Find(start=at, end=continued(text, found.end())) if check(found[1]) else None
        return _wrapped(text, at, pattern)

    return Rule(literals=literals, look=look, has_case=True)


_TWO_LINES = late(r"([A-Za-z0-9_./+=-]{8,200})[ \t]*\r?\n[ \t]*([A-Za-z0-9_./+=-]{8,200})", re.ASCII)


def _wrapped(text: str, at: int, pattern: re.Pattern[str]) -> Find | None:
    """A key that only together with the next line is one."""
    found = _TWO_LINES.match(text, at)
    if found is None or not is_mixed(found[2], classes=3):
        return None
    whole = pattern.match(found[1] + found[2])
    return Find(start=at, end=found.end()) if whole and whole.end() == len(found[1] + found[2]) else None


def behind(literals: str, before: str, tail: str, reach: int) -> Rule:
    """A rule for keys that are told by what stands in their middle.

    Args:
        before: the expression of what leads up to the literal, of `reach` characters at most.
    """
    names = tuple(literals.split())

    def look(text: str, at: int) -> Find | None:
        found = compiled(tail).match(text, at)
        start = max(0, at - reach - 1)
        led = compiled(rf"(?<![A-Za-z0-9_])(?:{before})\Z").search(text[start:at]) if found else None
        return Find(start=start + led.start(), end=found.end()) if found and led else None

    return Rule(literals=names, look=look, has_case=True)


_MAKERS = late("(?:ant|proj|or|svcacct|admin)-")


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

_STAMPS = " ".join(f".{a}{b}" for a in "FGH" for b in string.ascii_letters + string.digits + "-_")
"""Second part of a bot's token: the time it was made, of these years."""

_URL = "[A-Za-z0-9_-]"
_ANY = "[A-Za-z0-9]"


def _is_three(tail: str) -> bool:
    return is_filled_in(tail) and is_mixed(tail, classes=3)


_VENDORS = (
    shape("sk- rk- pk-", f"{_URL}{{16,}}", after=r"(?<![A-Za-z0-9_-])", check=_openai),
    shape("AIza", f"{_URL}{{30,}}"),
    shape("ghp_ gho_ ghs_ ghu_ ghr_", f"{_ANY}{{30,}}"),
    shape("github_pat_", "[A-Za-z0-9_]{30,}"),
    shape("fm2_ fm1r_ fm1a_ fo1_", "[A-Za-z0-9+/_=,-]{40,}", check=is_mixed),
    shape(
        "glpat- gldt- glrt- glptt- glft- glcbt- glsoat- glimt- glagent- gloas- glffct- GR1348941",
        rf"{_URL}{{16,}}(?:\.[0-9a-z]{{2}}(?:\.[0-9a-z]{{6,9}}|[0-9a-z]{{7}})(?![0-9A-Za-z]))?",
    ),
    shape("xoxe.xoxp- xoxe.xoxb-", f"{_URL}{{20,}}"),
    shape("xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs-", "[A-Za-z0-9-]{10,}"),
    shape("xapp-", r"\d-[A-Z0-9]{8,}-\d{8,}-[a-z0-9]{20,}"),
    shape("hf_ npm_ api_org_ nfp_ pnu_ nbp_ bkua_ phx_", f"{_ANY}{{30,}}"),
    shape("tfp_", rf"{_ANY}{{30,}}(?:_{_ANY}{{8,}})?"),
    shape("pypi-", f"{_URL}{{40,}}"),
    shape("AKIA ASIA ABIA ACCA", r"[0-9A-Z]{16}\b"),
    shape("sk_prod_ sk_dev_", f"{_URL}{{40,}}", check=is_no_name),
    shape("sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", f"{_ANY}{{16,}}"),
    shape("whsec_", "[A-Za-z0-9+/]{24,}={0,2}"),
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
    shape("gsk_ pplx- r8_", f"{_ANY}{{20,}}"),
    shape("nvapi-", f"{_URL}{{20,}}"),
    shape("tskey-", f"[a-z]+-{_URL}{{16,}}"),
    shape("ATATT ATCTT ATBB", "[A-Za-z0-9_=-]{20,}"),
    shape("dapi", r"[0-9a-f]{32}\b"),
    shape("nsec1", r"[02-9ac-hj-np-z]{58}\b"),
    shape("_gitlab_session=", r"[0-9a-z]{32}\b"),
    shape("eyJrIjoi", "[A-Za-z0-9+/]{40,}"),
    shape(
        "sc_ scauth_ authress_",
        r"[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[a-z0-9+/_=-]{30,120}",
    ),
    shape("ZXlKaGJHY2lPa ZXlKMGVYQWlPa ZXlKcmFXUWlPa", "[A-Za-z0-9+/_-]{60,}"),
    shape("figd_", f"{_URL}{{30,}}"),
    shape("lin_api_ lin_oauth_ lin_wh_", f"{_ANY}{{30,}}"),
    shape("ntn_", f"{_ANY}{{40,}}"),
    shape("PMAK-", r"[0-9a-f-]{32,}\b"),
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
    shape("NRAK- NRJS- NRII- NRIQ- NRRA-", f"{_URL}{{19,}}"),
    shape("LTAI", rf"{_ANY}{{16,20}}\b"),
    shape("HRKU-", "[0-9a-fA-F-]{36,}"),
    shape("EAA", f"{_ANY}{{80,}}"),
    shape("EAAA", f"{_URL}{{56,}}", check=is_mixed),
    shape("eyJ", rf"{_URL}{{8,}}\.eyJ{_URL}{{8,}}\.{_URL}{{8,}}"),
    behind(":AA", r"(?:bot)?\d{8,10}", rf":AA{_URL}{{33}}\b", 13),
    behind("-us", "[0-9a-f]{32}", r"-us[0-9]{1,2}\b", 32),
    behind(".atlasv1.", f"{_ANY}{{14}}", r"\.atlasv1\.[A-Za-z0-9_=-]{60,}", 14),
    behind(" ".join(f"{n}Q~" for n in range(10)), "[A-Za-z0-9_~.-]{3}", "[0-9]Q~[A-Za-z0-9_~.-]{31,34}", 3),
    shape("rnd_ rpa_ napi_", f"{_ANY}{{24,}}", check=is_mixed),
    shape("sl.A sl.B sl.C sl.u.", f"{_URL}{{100,}}"),
    shape("CFPAT- tvly- csk- fio-u- tk-us- p8e- ico-", f"{_URL}{{32,}}", check=is_mixed),
    shape("dt0c01. dt0s01. dt0s02. dt0s08. dt0s16.", rf"[A-Z0-9]{{24,}}\.{_URL}{{48,}}"),
    shape("shippo_live_ shippo_test_ squ_ sqp_ sqa_", r"[0-9a-f]{40}\b"),
    shape("EZAK EZTK", f"{_URL}{{50,}}", check=is_mixed),
    shape("rdme_ CLOJARS_", r"[a-z0-9]{60,}\b"),
    shape(
        "ops_eyJ ABSK bedrock-api-key- IQoJb3JpZ2lu FwoGZXIvYXdz",
        "[A-Za-z0-9+/_-]{60,}={0,3}",
        check=is_mixed,
    ),
    shape("AQVN", f"{_URL}{{33,}}", check=is_mixed),
    shape("secret_", f"{_ANY}{{40,}}", check=_is_three),
    shape("live_", rf"{_ANY}{{30,}}\b", check=_is_three),
    shape("sk_", r"[0-9a-f]{48}\b"),
    shape("glc_ cmVmd", "[A-Za-z0-9+/]{32,}={0,3}", check=is_mixed),
    shape("v1.0-", r"[0-9a-f]{24}-[0-9a-f]{146}\b"),
    shape(
        "duffel_live_ duffel_test_ pcsk_ lsv2_pt_ lsv2_sk_ sb_secret_ CCIPAT_ CCIPRJ_ hcaik_ hcbik_",
        r"[\w=-]{24,}",
    ),
    shape("FLWSECK- FLWSECK_TEST-", "[A-Za-z0-9]{12,}"),
    shape(
        "pat-na1- pat-na2- pat-eu1- access-production- access-sandbox- access-development-", "[0-9a-f-]{36}"
    ),
    shape("s-s4t2ud- s-s4t2af-", r"[0-9a-f]{64}\b"),
    shape("sk.eyJ", rf"{_URL}{{20,}}\.{_URL}{{16,}}"),
    shape("oy2", r"[a-z0-9]{43}\b", check=is_mixed),
    shape("API-", r"[A-Z0-9]{26}\b", check=is_mixed),
    shape("sha256~", rf"{_URL}{{43}}(?!{_URL})"),
    shape("xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    shape("sm_aat_ sm_pat_ sm_sat_", f"{_ANY}{{16,}}", check=is_mixed),
    shape("sgp_", r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}\b"),
    shape("ATTA AKID", rf"{_ANY}{{32,}}", check=is_mixed),
    shape("access_token$production$", "[A-Za-z0-9$]{20,}"),
    shape("vk1.a.", f"{_URL}{{60,}}"),
    shape("SWMTKN-1-", "[a-z0-9]{40,}-[a-z0-9]{20,}"),
    shape("A3-", r"[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){4,5}\b"),
    shape("webhook.office.com/webhookb2/ hooks.zapier.com/hooks/catch/", "[A-Za-z0-9@/_-]{16,}", check=bool),
    shape("xprv yprv zprv tprv", "[1-9A-HJ-NP-Za-km-z]{90,}"),
    behind("_mmk", f"{_ANY}{{6}}_{_ANY}{{29}}", r"_mmk\b", 36),
    behind(_STAMPS, f"[MNO]{_URL}{{22,27}}", rf"\.{_URL}{{6}}\.{_URL}{{27,}}", 28),
)

_RUN = late(r"[A-Za-z0-9+/]{40,}={0,2}(?:\r?\n[A-Za-z0-9+/]{4,76}={0,2}(?![^\s\"'`]))*")
_BEFORE = late(r"(?:[A-Za-z0-9+/]{60,76}\r?\n)*[A-Za-z0-9+/]*\Z")
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
            return Find(start=begin, end=run.end(), is_secret=False)
        return Find(start=begin, end=run.end(), is_secret=holds(said))

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
        sorted(set(_aligned("PASSW SECRET TOKEN PRIVATE _PASS= _KEY= passw secret token api_key apiKey")))
    )
    return (
        *_VENDORS,
        Rule(literals=encoded, look=_encoded_in(holds), has_case=True, kind="secret in base64"),
    )


# Secrets of many signs: private keys between their lines or cut off, parts of a JSON key, stored hashes of
# passwords.

_GAP = r"(?:\\+[nrt]|[\s\"'`+,;>|#*()\\]|(?<![A-Za-z0-9])\d{1,5}[ \t]*[|:](?=[ \t])|(?<=\n)[ \t]*-(?!-))"
_NOTE = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|MessageID|Encryption|Public-Lines)(?:\\*[\"'])?:[^\n\\]{0,200}"
_HEAD = r"-{4,5}[ ]?BEGIN[ ][A-Z0-9 ]{0,60}PRIVATE[ ]KEY(?:[ ]BLOCK)?[ ]?-{4,5}"
_BEGIN = late(rf"{_HEAD}(?:{_GAP}|{_NOTE}){{0,400}}(?=[A-Za-z0-9+/]{{16}})")
_PIECE = late(rf"([A-Za-z0-9+/]{{16,}}+={{0,2}})(?={_GAP}|[.!?-]|\Z)")
_NEXT = late(rf"{_GAP}{{1,80}}+")
_LAST = late(r"=?[A-Za-z0-9+/]{1,75}={0,2}")
_LINE_END = late(r"[ \t\"'`,;+)\\]*(?:\r?\n|\\+[rn]|\Z)")
_END = late(rf"{_GAP}{{0,80}}-{{4,5}}[ ]?END[ ][A-Z0-9 ]{{0,60}}PRIVATE[ ]KEY(?:[ ]BLOCK)?[ ]?-{{4,5}}")
_RULE_LINE = late(r"-----(BEGIN|END) ")
_FARTHEST_END = 32_768
_MATERIAL = late(r"[A-Za-z0-9+/=]{40,}")


def _block(text: str, at: int) -> Find | None:
    """A private key between its lines; one that is cut off ends where its lines do."""
    found = _BEGIN.match(text, at)
    if found is None:
        return None
    end = _material_end(text, found.end())
    closed = _END.match(text, end)
    return Find(start=at, end=closed.end() if closed else _closed_far(text, end) or end)


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


_PUTTY = late(rf"Private-Lines:[ ]?\d{{1,4}}{_GAP}{{1,20}}")


def _putty(text: str, at: int) -> Find | None:
    found = _PUTTY.match(text, at)
    end = _material_end(text, found.end()) if found else 0
    return Find(start=found.end(), end=end) if found and end > found.end() else None


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
    return Find(start=at, end=end) if end - at >= 60 else None


_JSON_KEY_REACH = 4_000
_JSON_PART = late(r"\\*\"(?:d|p|q|dp|dq|qi|k)\\*\"\s{0,9}:\s{0,9}\\*\"([A-Za-z0-9_+/=-]{20,})\\*\"")


def _json_key(text: str, at: int) -> Find | None:
    """The private parts of a JSON web key, before and behind its kind."""
    start = max(text.rfind("{", max(0, at - _JSON_KEY_REACH), at), at - _JSON_KEY_REACH, 0)
    end = text.find("}", at, at + _JSON_KEY_REACH)
    end = min(len(text), at + _JSON_KEY_REACH) if end < 0 else end
    found = find_of([part.span(1) for part in _JSON_PART.finditer(text, start, end)])
    return found or Find(start=at, end=end, is_secret=False)


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
    return Find(start=at, end=found.end()) if found and is_filled_in(found[0][8:]) else None


RULES = (
    Rule(literals=("-----BEGIN ", "---- BEGIN SSH2"), look=_block, has_case=True, kind="private key"),
    Rule(literals=("Private-Lines:",), look=_putty, kind="private key"),
    Rule(literals=tuple(_BARE_HEADS.split()), look=_bare, has_case=True, kind="private key"),
    Rule(literals=('"kty',), look=_json_key, kind="private key"),
    Rule(literals=tuple(_HASH_HEADS.split()), look=_hash, has_case=True, kind="hash of a password"),
)
"""Private keys and hashes, by what they begin with."""


# Keys of services that stand beside the service's name. The expressions are those of detect-secrets (bc-detect-secrets 1.5.52,
# Apache License 2.0, Yelp and Palo Alto Networks), whose package brings a client of the network along.

_LEAST_CHARS = 12
"""Least characters of a secret; a shorter group of a match names the kind of key and is not the key."""

_BEFORE_CHARS, _BEHIND_CHARS = 64, 600
"""Around a word, that are looked through: a find of theirs is in one line, and shorter."""


def _assigned(prefix: str, keyword: str, secret: str) -> str:
    """The expression of a secret that a name is set to."""
    return (
        rf"(?i)(?:(?<=\W)|(?<=^))(?:\[|)(?:\"|\'|){prefix}(?:_|-|){keyword}(?:\"|\'|)(?:\]|)(?: *)(?:=|:|:=|=>| +|::)"
        rf"(?: *)(?:\"|\'|){secret}(?:\"|\'|)"
    )


_CLOUDANT = "(?:cloudant|cl|clou)", "(?:api|)(?:key|pwd|pw|password|pass|token)"
_WORDS_OF_IBM = (
    "(?:ibm(?:_|-|)cloud(?:_|-|)iam|cloud(?:_|-|)iam|ibm(?:_|-|)cloud|ibm(?:_|-|)iam|ibm|iam|cloud|)"
    "(?:_|-|)(?:api|platform|)"
)
_KEY_WORDS = "(?:key|pwd|password|pass|token)"

DETECTORS = {
    "Artifactory": (
        "AKC artifactory jfrog buildkit",
        r'(?:\s|=|:|"|^)AKC[a-zA-Z0-9]{10,200}(?:\s|"|$)',
        r'(?i:artif|jfrog|buildkit)(?:.{0,100}\n?){0,2}(?:\s|=|:|"|^)(AP[\dABCDEF][a-zA-Z0-9]{8,200})(?:\s|"|$)',
    ),
    "AWS": (
        "A3T AKIA ASIA ABIA ACCA aws",
        r"\b(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}\b",
        r"(?i)aws.{0,20}?(?:key|pwd|pw|password|pass|token).{0,20}?\b([0-9a-zA-Z/+]{40})\b",
    ),
    "Cloudant": (
        "cloudant",
        _assigned(*_CLOUDANT, "([0-9a-f]{64})"),
        _assigned(*_CLOUDANT, "([a-z]{24})"),
        r"(?i)https?://[\w\-]+:([0-9a-f]{64}|[a-z]{24})@[\w\-]+\.cloudant\.com",
    ),
    "IBM Cloud": (
        "ibm_ ibm-",
        _assigned(_WORDS_OF_IBM, _KEY_WORDS, r"([a-zA-Z0-9_\-]{44}(?![a-zA-Z0-9_\-]))"),
    ),
    "IBM storage": (
        "cos_hmac cos-hmac",
        _assigned(
            "(?:(?:ibm)?[-_]?cos[-_]?(?:hmac)?|)",
            "(?:secret[-_]?(?:access)?[-_]?key)",
            "([a-f0-9]{48}(?![a-f0-9]))",
        ),
    ),
    "JWT": ("eyJ", r"eyJ[A-Za-z0-9-_=]+\.[A-Za-z0-9-_=]+\.?[A-Za-z0-9-_.+/=]*"),
    "npm": (
        "npm_ npm-token _authToken",
        r"(?:npm_[A-Za-z0-9-]{36})|(?:(?:_authToken|NPM[ _-]?TOKEN)[\s\S]{0,5}?(?:NpmToken\.)?([a-z0-9-]{36}).*)",
    ),
    "SoftLayer": (
        "softlayer",
        _assigned("(?:softlayer|sl)(?:_|-|)(?:api|)", _KEY_WORDS, "([a-z0-9]{64})"),
        r"(?i)https?://api.softlayer.com/soap/(?:v3|v3.1)/([a-z0-9]{64})",
    ),
}
"""Words that a service's secrets need beside them, and its expressions, by service. Left out: those of entropy and keywords, which take
hashes and talk for secrets, and that of Azure, which takes the hashes of lock files."""


def rules() -> tuple[Rule, ...]:
    """A rule for each service."""
    return tuple(
        Rule(literals=tuple(words.split()), look=_looking(tuple(map(late, expressions))))
        for words, *expressions in DETECTORS.values()
    )


def _looking(patterns: Sequence[re.Pattern[str]]) -> Look:
    """A look by these patterns; unlike for those of `compiled`, letters of all languages are letters here."""

    def look(text: str, at: int) -> Find | None:
        for pattern in patterns:
            for match in pattern.finditer(text, max(0, at - _BEFORE_CHARS), at + _BEHIND_CHARS):
                start, end = _span(match)
                if end - start >= _LEAST_CHARS and not is_placeholder(text[start:end]):
                    return Find(start=start, end=end)
        return Find(
            start=at, end=at + _BEHIND_CHARS // 2, is_secret=False
        )  # or a row of its words takes long

    return look


def _span(match: re.Match[str]) -> tuple[int, int]:
    """The group that holds the secret, or all of it where a group is only its prefix."""
    groups = range(1, len(match.groups()) + 1)
    longest = max(groups, key=lambda number: len(match[number] or ""), default=0)
    if longest and len(match[longest] or "") >= _LEAST_CHARS:
        return match.span(longest)
    whole = match[0]
    left = len(whole) - len(whole.lstrip(" \t\r\n=:\"'"))
    return match.start() + left, match.start() + len(whole.rstrip(" \t\r\n=:\"'"))


# Keys whose makers gave them a beginning of their own, and addresses that carry one: a table of each.

_SECRET_PREFIXES_URL, _SECRET_PREFIXES_ANY = "[A-Za-z0-9_-]", "[A-Za-z0-9]"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
_APART = r"(?<![A-Za-z0-9_-])"
"""Before a beginning that ends in a hyphen, or is short: words are joined with hyphens, too."""


def _is_scattered(tail: str) -> bool:
    """True if upper, lower and digits go together as in no name. For a beginning that names have as well."""
    return is_filled_in(tail) and is_no_name(tail)


def _is_two(tail: str) -> bool:
    return is_filled_in(tail) and is_mixed(tail)


def _is_machine_made(tail: str) -> bool:
    """True if digits stand among its letters again and again, as in no name. For a short beginning, and a tail of one case."""
    return is_filled_in(tail) and is_mixed(tail) and len(re.findall("[0-9]+", tail)) * 10 >= len(tail)


_MODELS = (
    shape("AQ.", f"{_SECRET_PREFIXES_URL}{{40,}}", check=_is_scattered),
    shape(
        "hf_oauth_",
        f"{_SECRET_PREFIXES_URL}{{20,}}(?:\\.{_SECRET_PREFIXES_URL}{{8,}}){{0,2}}",
        check=_is_scattered,
    ),
    shape(
        "xai-",
        f"{_SECRET_PREFIXES_URL}{{40,}}|{_SECRET_PREFIXES_ANY}{{20,}}",
        check=lambda tail: _is_two(tail) or (tail.isalnum() and is_filled_in(tail)),
    ),
    shape("xai-token-", f"{_SECRET_PREFIXES_URL}{{40,}}", check=_is_two),
    shape("tgp_v1_", f"{_SECRET_PREFIXES_URL}{{40,}}", check=_is_two),
    shape("fw_", rf"{_SECRET_PREFIXES_ANY}{{20,}}\b", check=_is_scattered),
    shape("jina_", f"{_SECRET_PREFIXES_ANY}{{40,}}", check=_is_two),
    shape("e2b_", r"[0-9a-f]{40,}\b"),
    shape("pa- al-", f"{_SECRET_PREFIXES_URL}{{40,}}", after=_APART, check=_is_scattered),
    shape("ak- as-", rf"{_SECRET_PREFIXES_ANY}{{22}}\b", after=_APART, check=_is_scattered),
    shape("llx-", f"{_SECRET_PREFIXES_ANY}{{40,}}", after=_APART, check=_is_two),
    shape("fc-", r"[0-9a-f]{32}\b", after=_APART),
    shape("bb_live_ bb_test_", f"{_SECRET_PREFIXES_URL}{{20,}}", check=_is_scattered),
    shape(
        "BSA",
        f"{_SECRET_PREFIXES_URL}{{24,40}}(?![A-Za-z0-9+/_-])",
        after=r"(?<![A-Za-z0-9+/_-])",
        check=_is_scattered,
    ),
    shape("apify_api_", f"{_SECRET_PREFIXES_ANY}{{30,}}"),
    shape("dtn_", r"[0-9a-f]{64}\b"),
    shape("ctx7sk-", f"{_UUID}|{_SECRET_PREFIXES_ANY}{{32,}}"),
    shape("m0-", rf"{_SECRET_PREFIXES_ANY}{{36,}}\b", after=_APART, check=_is_scattered),
    shape("key_ crsr_", rf"[0-9a-f]{{64}}\b|{_SECRET_PREFIXES_ANY}{{21,24}}\b", check=_is_two),
    shape("sk_car_", rf"{_SECRET_PREFIXES_ANY}{{21,24}}\b"),
    shape("sess-", rf"{_SECRET_PREFIXES_ANY}{{40}}\b", after=_APART, check=_is_two),
    shape("ste-", rf"{_SECRET_PREFIXES_ANY}{{60,}}\b", after=_APART, check=_is_two),
    shape("ak_", rf"{_SECRET_PREFIXES_ANY}{{20}}\b", check=_is_scattered),
    shape("am_", r"[0-9a-f]{64}\b"),
    shape("sk_", rf"{_SECRET_PREFIXES_ANY}{{40,64}}\b", check=_is_two),
    shape("sk_", r"[0-9a-f]{32}\b"),
    shape("sk_", rf"{_SECRET_PREFIXES_URL}{{43}}(?!{_SECRET_PREFIXES_URL})", check=_is_scattered),
    shape("cpk_", rf"[0-9a-f]{{32}}\.[0-9a-f]{{32}}\.{_SECRET_PREFIXES_ANY}{{32}}\b"),
    shape("rc_", r"[0-9a-f]{64}\b"),
    shape("ck-", rf"{_SECRET_PREFIXES_ANY}{{44}}\b", after=_APART, check=_is_scattered),
    shape("nk- rlc-", rf"{_SECRET_PREFIXES_URL}{{40,}}", after=_APART, check=_is_scattered),
    shape("VENICE-INFERENCE-KEY- VENICE-ADMIN-KEY-", rf"{_SECRET_PREFIXES_URL}{{40,}}", check=_is_two),
    shape("KGAT_", r"[0-9a-f]{32}\b"),
    shape("app- dataset-", rf"{_SECRET_PREFIXES_ANY}{{24}}\b", after=_APART, check=_is_scattered),
    shape("pylf_v1_us_ pylf_v1_eu_", rf"{_SECRET_PREFIXES_ANY}{{40,}}", check=_is_two),
    shape("n8n_api_", r"[0-9a-f]{40,}\b"),
    shape("secret_", rf"{_SECRET_PREFIXES_ANY}{{20,}}\.{_SECRET_PREFIXES_ANY}{{20,}}", check=_is_two),
    shape("apk_ apk_user_", r"[A-Za-z0-9+/]{80,}={0,2}", check=_is_two),
    shape("cog_", r"[a-z2-7]{52}\b", check=_is_two),
    shape("sgamp_user_", r"[0-9A-Z]{26}_[0-9a-f]{64}\b"),
    shape("wandb_v1_", "[A-Za-z0-9_]{60,}", check=_is_two),
)
"""Makers of models, and of what agents use."""

_PLACES = (
    shape("plane_api_", r"[0-9a-f]{32}\b"),
    shape("Fe26.2**", r"[0-9a-f]{32,}\*[\w*-]{20,}", after=""),
    shape("cfut_ cfat_ cfk_", f"{_SECRET_PREFIXES_ANY}{{40,}}"),
    shape("vercel_blob_rw_", rf"{_SECRET_PREFIXES_ANY}{{8,}}_{_SECRET_PREFIXES_ANY}{{20,}}"),
    shape(
        "vcp_ vca_ vci_ vcr_ vck_",
        f"{_SECRET_PREFIXES_URL}{{50,}}|{_SECRET_PREFIXES_ANY}{{24,}}",
        check=_is_two,
    ),
    shape("re_", rf"{_SECRET_PREFIXES_ANY}{{8}}_{_SECRET_PREFIXES_ANY}{{20,28}}\b", check=_is_scattered),
    shape("sk_org_live_ sk_org_test_ rk_org_live_ rk_org_test_", f"{_SECRET_PREFIXES_ANY}{{30,}}"),
    shape("HRKU-AA", f"{_SECRET_PREFIXES_URL}{{40,}}", check=_is_two),
    shape(
        "tr_dev_ tr_prod_ tr_stg_ tr_preview_ tr_pat_", f"{_SECRET_PREFIXES_ANY}{{20,}}", check=_is_scattered
    ),
    shape("signkey-prod- signkey-test- signkey-branch-", r"[0-9a-f]{32,}\b"),
    shape(
        "polar_at_ polar_oat_ polar_pat_ polar_whs_", f"{_SECRET_PREFIXES_URL}{{20,}}", check=_is_scattered
    ),
    shape("pdl_live_apikey_ pdl_sdbx_apikey_ pdl_ntfset_", r"\w{30,}", check=_is_two),
    shape("mlsn.", f"{_SECRET_PREFIXES_ANY}{{30,}}", check=_is_two),
    shape("sbp_", r"(?:v0_)?[0-9a-f]{40}\b|[a-z0-9]{40}\b", check=_is_two),
    shape("mdb_sa_sk_", f"{_SECRET_PREFIXES_URL}{{40}}", check=_is_two),
    shape("CCDB1_", rf"{_SECRET_PREFIXES_ANY}{{22}}_{_SECRET_PREFIXES_ANY}{{40}}\b"),
    shape("AstraCS:", f"{_SECRET_PREFIXES_ANY}{{20,}}(?::[0-9a-f]{{64}})?", check=_is_two),
    shape("4b1d", rf"{_SECRET_PREFIXES_ANY}{{38}}\b", check=_is_scattered),
    shape("ddp_ ddw_ ddo_", rf"{_SECRET_PREFIXES_ANY}{{36}}\b"),
    shape("sbp_oauth_", r"[0-9a-f]{40}\b"),
    shape("dub_", rf"{_SECRET_PREFIXES_ANY}{{24}}\b", check=_is_scattered),
    shape("dbtc_ dbtu_", f"{_SECRET_PREFIXES_URL}{{36,}}", check=_is_two),
    shape("jsrp_ jsrd_ jsrw_", rf"{_SECRET_PREFIXES_ANY}{{32,}}\b", check=_is_two),
    shape("xaat- xapt-", _UUID, after=_APART),
    behind(
        "JQQJ99",
        f"{_SECRET_PREFIXES_ANY}{{52,76}}",
        f"JQQJ99{_SECRET_PREFIXES_ANY}{{22,26}}(?:[A-Za-z0-9+/]{{0,4}}={{0,2}})",
        76,
    ),
    shape("dG9rO", r"[A-Za-z0-9+/]{50,}={0,2}", check=_is_two),
    shape("xau_", rf"{_SECRET_PREFIXES_ANY}{{32,40}}\b", check=_is_scattered),
    shape("cu_", r"[0-9a-f]{32}\b"),
    shape("sig_", rf"{_SECRET_PREFIXES_ANY}{{28}}\b", check=_is_scattered),
    shape(
        "secret_user_ secret_readonly_ secret_admin_", f"{_SECRET_PREFIXES_ANY}{{30,}}", check=_is_scattered
    ),
    shape("secret- console-", rf"{_SECRET_PREFIXES_ANY}{{43,}}\b", after=_APART, check=_is_scattered),
    shape("testsk_", r"[A-Za-z0-9_-]{30,}\.[a-z]{2}\b", check=_is_two),
    shape("ver:1-hint:", r"[0-9]{4,}-[A-Za-z0-9+/]{40,}={0,2}", check=_is_two),
    shape("tk_", r"[a-z0-9]{29}\b", check=_is_machine_made),
    shape("vtwn_ unkey_", f"{_SECRET_PREFIXES_ANY}{{20,}}", check=_is_scattered),
    shape("essu_", f"{_SECRET_PREFIXES_URL}{{60,}}={{0,2}}", check=_is_two),
    shape("ucat_", rf"{_SECRET_PREFIXES_ANY}{{24,32}}\b", check=_is_two),
    shape("EXO", r"[0-9a-f]{24}\b", check=_is_two),
    shape("zpka_", r"[a-z0-9]{32}_[0-9a-f]{8}\b"),
    shape("os_v2_app_ os_v2_org_", r"[a-z2-7]{103}\b"),
    shape("bkaa_ bkaj_ bkar_ bkct_ bkpt_ bkpat_ bkps_", f"{_SECRET_PREFIXES_URL}{{50,}}", check=_is_two),
    shape("rootly_ slk_", r"[0-9a-f]{64}\b"),
    shape("csa_", r"[0-9a-f]{30}[A-Za-z0-9]{6}\b", check=_is_two),
    shape("AIK_SECRET_ AIK_CI_ AIK_CLIENT_", f"{_SECRET_PREFIXES_ANY}{{20,}}", check=_is_two),
    shape(
        "snyk_uat. snyk_sat.",
        rf"[0-9a-f]{{8}}\.{_SECRET_PREFIXES_URL}{{20,}}(?:\.{_SECRET_PREFIXES_URL}{{20,}})?",
    ),
    shape(
        "hawk.",
        rf"{_SECRET_PREFIXES_URL}{{20}}\.{_SECRET_PREFIXES_URL}{{20}}(?!{_SECRET_PREFIXES_URL})",
        check=_is_two,
    ),
    shape(
        "pat. sat.",
        rf"{_SECRET_PREFIXES_URL}{{22}}\.[0-9A-Za-z]{{24}}\.{_SECRET_PREFIXES_ANY}{{20}}\b",
        check=_is_two,
    ),
    shape("pat", rf"{_SECRET_PREFIXES_ANY}{{14}}\.[0-9a-f]{{64}}\b"),
    shape("pk_", r"[0-9]{7,9}_[0-9A-Z]{32}\b"),
    shape("aio_", rf"{_SECRET_PREFIXES_ANY}{{28}}\b", check=_is_scattered),
    shape("00D", rf"{_SECRET_PREFIXES_ANY}{{12,15}}![A-Za-z0-9._-]{{80,}}", check=_is_two),
    shape("xoxc-", r"\d{9,15}-\d{9,15}-\d{9,15}-[a-f0-9]{40,}"),
    shape("xoxd-", r"[A-Za-z0-9%/+-]{60,}={0,2}"),
    shape("glsa_", rf"{_SECRET_PREFIXES_ANY}{{32}}_[0-9a-fA-F]{{8}}\b"),
    shape(
        "ghs_ ghu_",
        rf"(?:\d+_)?eyJ{_SECRET_PREFIXES_URL}{{8,}}\.{_SECRET_PREFIXES_URL}{{8,}}\.{_SECRET_PREFIXES_URL}{{8,}}",
    ),
    shape("sgp_", rf"{_SECRET_PREFIXES_ANY}{{64}}\b", check=_is_two),
    shape("dp.st.", rf"[a-z0-9_-]{{2,35}}\.{_SECRET_PREFIXES_ANY}{{40,}}"),
    shape("1000.", r"[0-9a-f]{32}\.[0-9a-f]{32}\b"),
    shape("$aact_", f"(?:prod|hmlg)_{_SECRET_PREFIXES_URL}{{40,}}", after=""),
    shape("SWMKEY-1-", "[A-Za-z0-9+/]{40,}"),
    shape("figu_ figo_ figoh_ figor_", f"{_SECRET_PREFIXES_URL}{{38,}}", check=_is_two),
    shape("cflt", r"[A-Za-z0-9+/]{60,80}(?![A-Za-z0-9+/])", check=_is_two),
    shape("cio", rf"{_SECRET_PREFIXES_ANY}{{32}}\b", check=_is_scattered),
    shape("sdk- mob- api-", _UUID, after=_APART),
    shape(
        "ory_pat_ ory_at_ ory_rt_ ory_st_ ory_apikey_ ory_wak_",
        f"{_SECRET_PREFIXES_URL}{{30,}}",
        check=_is_two,
    ),
    shape("rdme_", r"[A-Za-z0-9]{60,}\b", check=_is_two),
    shape("secret-live- secret-test-", f"{_SECRET_PREFIXES_URL}{{30,}}=?", after=_APART, check=_is_two),
    shape("live_ test_", r"(?:pub_)?[0-9a-f]{31,35}\b", check=_is_two),
    shape("st.", r"[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}\b"),
    shape("prod: dev: preview:", rf"[\w:-]{{3,120}}\|{_SECRET_PREFIXES_ANY}{{60,}}={{0,2}}", check=_is_two),
)
"""Makers of all else, and later forms of tokens that `secret_shapes` has the older ones of."""


def _part(literals: str, lead: str, key: str, check: Callable[[str], bool] = is_mixed) -> Rule:
    """A rule for a key that stands in the path of an address, behind a host that gives keys there.

    Args:
        literals: of the host, with blanks between; lead: the expression between it and the key.
    """

    def look(text: str, at: int) -> Find | None:
        found = compiled(f"{lead}({key})").match(text, compiled(r"[\w.-]+").match(text, at).end())  # type: ignore[union-attr]
        if found is None or is_placeholder(found[1]) or not check(found[1]):
            return None
        return Find(start=found.start(1), end=found.end(1))

    return Rule(literals=tuple(literals.split()), look=look, kind="key in an address")


_PATHS = (
    _part("maker.ifttt.com", r"/trigger/[\w%-]{1,100}/(?:json/)?with/key/", f"{_SECRET_PREFIXES_URL}{{20,}}"),
    _part("hook.eu1.make.com hook.eu2.make.com hook.us1.make.com hook.us2.make.com hook.integromat.com", "/", r"[a-z0-9]{32}\b"),
    _part("mcp.zapier.com", "/api/mcp/s/", f"{_SECRET_PREFIXES_URL}{{40,}}={{0,2}}"),
    _part("infura.io", "(?:/ws)?/v3/", r"[0-9a-f]{32}\b"),
    _part("alchemy.com alchemyapi.io", "/(?:nft/)?v[23]/", rf"{_SECRET_PREFIXES_URL}{{32,}}(?!{_SECRET_PREFIXES_URL})"),
    _part("quiknode.pro", "/", r"[0-9a-f]{40}\b"),
    _part("calendar.google.com", r"/calendar/ical/[\w%.@+-]{1,200}/private-", r"[0-9a-f]{32}\b"),
)  # fmt: skip
"""Hosts by which an address carries its key in its path."""

_QUERY = late(r"(?:key|auth|code)=([A-Za-z0-9%._~+/-]{20,2000}={0,2})", re.IGNORECASE | re.ASCII)
_NAME_BEFORE = late(r"[?&;][\w.-]{0,30}\Z", re.ASCII)
_KEY_OF_BYTES = late(rf"[0-9a-f]{{32,}}|{_UUID}", re.IGNORECASE)
_LEAST_CODE_CHARS = 40
"""Least characters of a secret that is called a code: shorter ones stand for countries, languages and errors."""


def _query(text: str, at: int) -> Find | None:
    """The value of a parameter of an address that is called a key: letters and digits as in no name, or bytes."""
    found = _QUERY.match(text, at)
    if found is None or not _NAME_BEFORE.search(text, max(0, at - 32), at) or is_placeholder(found[1]):
        return None
    value, is_code = found[1], found[0][:4].lower() == "code"
    if is_code and len(value) < _LEAST_CODE_CHARS:
        return None
    is_key = _KEY_OF_BYTES.fullmatch(value) is not None and not is_code
    return (
        Find(start=found.start(1), end=found.end(1))
        if is_key or (is_no_name(value[:64]) and is_random(value[:64]))
        else None
    )


PREFIX_RULES = (
    *_MODELS,
    *_PLACES,
    *_PATHS,
    Rule(literals=("key=", "auth=", "code="), look=_query, kind="key in an address"),
)
"""Keys by their beginning, and those of addresses."""
