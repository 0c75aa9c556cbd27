"""Ways in which a word for a secret and the secret stand together, beyond `name = value`.

Each joiner is an expression of what lies between the two, and of the value; how sure the value must be goes with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from functools import cache

import msgspec

from core.kernel.patterns import late
from core.kernel.secret_values import is_name_like, is_said_value, is_secret_value, is_sure_value

# Words for a secret in other languages than English, and the verbs that lead from such a word to the
# secret.

LATIN = (
    "kennwort",
    "kennwörter",
    "losungswort",
    "zugangscode",
    "api-schlüssel",
    "api schlüssel",
    "geheimschlüssel",
    "zugangsschlüssel",
    "mot de passe",
    "mots de passe",
    "mdp",
    "phrase secrète",
    "clé api",
    "clé d'api",
    "clé secrète",
    "clé privée",
    "contraseña",
    "contrasena",
    "contrasenya",
    "clave",
    "senha",
    "palavra-passe",
    "palavra passe",
    "chave secreta",
    "chave de api",
    "chave privada",
    "parola d'ordine",
    "chiave segreta",
    "chiave api",
    "wachtwoord",
    "haslo",
    "heslo",
    "geslo",
    "lösenord",
    "losenord",
    "adgangskode",
    "kodeord",
    "passord",
    "salasana",
    "jelszó",
    "jelszo",
    "parola",
    "parole",
    "parool",
    "lozinka",
    "sifre",
    "salasõna",
    "lykilorð",
    "pasahitza",
    "pasfhocal",
    "kata sandi",
    "kata laluan",
)
"""Words whose letters are all of Latin-1, in lower case."""

WIDE = {
    "Polish": (
        "hasło",
        "hasła",
        "hasłem",
    ),
    "Turkish": ("şifre",),
    "Romanian": ("parolă",),
    "Lithuanian": ("slaptažodis",),
    "Vietnamese": ("mật khẩu",),
    "Russian, Ukrainian, Bulgarian": (
        "парол",
        "секретный ключ",
        "токен",
    ),
    "Serbian": ("лозинка",),
    "Greek": ("κωδικός",),
    "Chinese": (
        "密码",
        "密碼",
        "口令",
        "密钥",
        "密鑰",
        "令牌",
    ),
    "Japanese": (
        "パスワード",
        "暗証番号",
        "秘密鍵",
    ),
    "Korean": (
        "비밀번호",
        "암호",
        "패스워드",
    ),
    "Arabic": (
        "كلمة المرور",
        "كلمة السر",
    ),
    "Persian": ("رمز عبور",),
    "Hebrew": (
        "סיסמה",
        "סיסמא",
    ),
    "Hindi": ("पासवर्ड",),
    "Thai": ("รหัสผ่าน",),
}
"""Words with other letters, by language; they may go on, as words are bent."""

VERBS = (
    "is",
    "was",
    "lautet",
    "lauten",
    "ist",
    "sind",
    "war",
    "est",
    "sont",
    "es",
    "son",
    "é",
    "são",
    "è",
    "sono",
    "zijn",
    "jest",
    "je",
    "jsou",
    "är",
    "er",
    "olur",
    "este",
    "это",
    "такой",
)
"""Words between a word for a secret and the secret; of these languages and of English."""


class Name(msgspec.Struct, frozen=True):
    """A word for a secret in a text.

    Args:
        start, end: its place, with what belongs to it before (`db_`, `spring.datasource.`).
        is_password: it tells of a password, which may be short; is_setting: it is written as settings are.
    """

    text: str
    start: int
    end: int
    is_password: bool
    is_setting: bool

    @property
    def is_plain(self) -> bool:
        """True if it tells of a password and is no verb (`pass it on`)."""
        return self.is_password and self.word.lower() != "pass"

    @property
    def word(self) -> str:
        """The word as it stands."""
        return self.text[self.start : self.end]


class Sureness(Enum):
    """Demands on a value: by how plain the joiner says that it is one."""

    ASSIGNED = "assigned"
    CELL = "cell"
    SAID = "said"
    CALL = "call"
    NEAR = "near"


class Joiner(msgspec.Struct, frozen=True):
    """One way.

    Args:
        follows: signs that can follow the name in it.
        between: expression from the end of the name to the value, in which `(?P<v>…)` is the value.
        fits: asked of the name, before the expression is tried.
    """

    follows: str
    between: str
    sureness: Sureness
    fits: Callable[[Name], bool] = lambda _: True


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    """An expression, compiled when it is first asked for: all at once would hold up the first frame."""
    return re.compile(expression)


_CELL = r"(?P<v>[^\s\"'`<>|│┃║&]{6,400})"
_PLAIN = r"(?P<v>[^\s\"'`<>]{6,400})"
_VALUE_NAME = r"\\*[\"']?[ \t]*[,;]?\s{0,80}\\*[\"']?(?:[vV]alue|VALUE)\\*[\"']?[ \t]*"
_CONTENT = r"[\"'`]?(?P<v>[^\s<>\"'`]{6,4000}?)[\"'`]?"
_IN_TAG = late(r"<(?:[\w-]+[:.])?[\w.-]*\Z")
_QUOTED_BEFORE = late(r"=[ ]?\\*[\"'][\w.:$-]*\Z")
_CALL_BEFORE = late(r"\([ ]?[\"'][\w.$:-]*\Z")
_SETS = late(r"(?i)\b(?:setx|setenv|set(?:[ \t]+-\w+)*|export|secret[ \t]+set|config:?[ \t]*set|put)[ \t]+\Z")


def _before(name: Name, reach: int = 80) -> str:
    return name.text[max(0, name.start - reach) : name.start]


def _is_element(name: Name) -> bool:
    return _IN_TAG.search(_before(name)) is not None


def _is_attribute(name: Name) -> bool:
    return _QUOTED_BEFORE.search(_before(name)) is not None


def _is_content(name: Name) -> bool:
    return _before(name).rstrip(" \t\r\n*").endswith(">")


def _is_argument(name: Name) -> bool:
    return _CALL_BEFORE.search(_before(name)) is not None


_ASKS = late(
    r"(?i)_*(?:get|split|parse|is|has|check|find|del|remove|read|load|fetch|need|ask|prompt|pass)(?=[_A-Z])"
)


def _is_setter(name: Name) -> bool:
    return _ASKS.match(name.word) is None


def _is_key(name: Name) -> bool:
    return name.word.lower().endswith("key")


JOINERS = (
    # <password>V</password>, <wsse:Password Type="…">V</…>, <secret><![CDATA[V]]>
    Joiner(
        follows=">\t\n ",
        between=(
            r"(?:\s[^<>]{0,200})?(?<!/)>\s{0,40}(?:<!\[CDATA\[)?(?P<v>[^\s<>]{6,4000}?)\s{0,40}(?:\]\]>)?</"
        ),
        sureness=Sureness.ASSIGNED,
        fits=_is_element,
    ),
    # name="password" value="V", key='ApiKey' … content='V'
    Joiner(
        follows="\"'\\",
        between=(
            r"\\*[\"'](?:\s+[\w:.-]+=\\*[\"'][^\"'<>]{0,200}[\"']){0,8}?\s+(?:value|content|default|secret|text)\s?=\s?\\*[\"'](?P<v>[^\"'<>\s\\]{6,4000})\\*[\"']"
        ),
        sureness=Sureness.ASSIGNED,
        fits=_is_attribute,
    ),
    # name="password">V<, name='x'><value>V</value>
    Joiner(
        follows="\"'",
        between=(r"[\"'][^<>]{0,200}(?<!/)>\s{0,40}(?:<\w+>\s{0,40}){0,2}" + _CONTENT + r"\s{0,40}</"),
        sureness=Sureness.ASSIGNED,
        fits=_is_attribute,
    ),
    # <key>Token</key> <string>V</string>, <td>Password</td><td>V</td>, <b>Password:</b> V
    Joiner(
        follows="<: ",
        between=(
            r"[ ]?:?[ ]?</[\w:.-]{1,40}>:?\s{0,80}(?:<[\w:.-]{1,40}(?:\s[^<>]{0,200})?>\s{0,40}){0,3}"
            + _CONTENT
            + r"(?=\s{0,40}(?:<|\n|\Z))"
        ),
        sureness=Sureness.ASSIGNED,
        fits=_is_content,
    ),
    # name: PASSWORD \n value: V, "name":"API_KEY","value":"V"
    Joiner(
        follows="\"'\n\r,",
        between=_VALUE_NAME + r"[:=][ \t]*\\*[\"'](?P<v>[^\s\"'`<>\\]{6,400})\\*[\"']",
        sureness=Sureness.ASSIGNED,
    ),
    Joiner(
        follows="\"'\n\r",
        between=_VALUE_NAME + r":[ \t]+(?P<v>[^\s\"'`<>,}\\]{6,400})",
        sureness=Sureness.CELL,
    ),
    # variable "password" { default = "V" }
    Joiner(
        follows='"',
        between=(r"\"[ \t]*\{[^{}]{0,300}?\bdefault[ \t]*=[ \t]*\"" + _PLAIN + r"\""),
        sureness=Sureness.ASSIGNED,
    ),
    # secret_key = "old" -> "V"
    Joiner(
        follows=' \t="',
        between=(r"\"?[ \t]*=[ \t]*\"[^\"\n]{0,300}\"[ \t]*->[ \t]*\"" + _PLAIN + r"\""),
        sureness=Sureness.ASSIGNED,
    ),
    # dbPass string = "V"
    Joiner(
        follows=" \t:",
        between=(r"[ \t]*:?[ \t]*&?[\w.*&<>:'\[\]]{1,40}[ \t]*:?=[ \t]*[\"'`]" + _PLAIN + r"[\"'`]"),
        sureness=Sureness.ASSIGNED,
    ),
    # setPassword("V")
    Joiner(
        follows="(",
        between=(r"\([ \t]*[\"']" + _PLAIN + r"[\"'][ \t]*[,)]"),
        sureness=Sureness.CALL,
        fits=_is_setter,
    ),
    # setProperty("x.password", "V")
    Joiner(
        follows="\"'",
        between=(r"[\"'][ \t]*,[ \t]*[\"']" + _PLAIN + r"[\"']"),
        sureness=Sureness.CALL,
        fits=_is_argument,
    ),
    # password%3DV%26
    Joiner(follows="%", between=(r"%(?:25)?3[DA](?P<v>[^\s\"'`<>&%]{6,400})"), sureness=Sureness.SAID),
    # | password | V |, password <tab> V, Password ..... V, Password → V, Password – V
    Joiner(
        follows=" \t|│┃║*_`→⇒.–—-",
        between=(
            r"[*_`]{0,3}[ \t]*(?:[|│┃║]|\.{3,}|[→⇒])[ \t]*[*_`]{0,3}"
            + _CELL
            + r"(?=[*_`]{0,3}[ \t]*(?:[|│┃║\r\n\t]|\Z))"
        ),
        sureness=Sureness.CELL,
    ),
    Joiner(
        follows="\t", between=(r"\t[ \t]*" + _CELL + r"(?=[ \t]*(?:[\r\n\t]|\Z))"), sureness=Sureness.CELL
    ),
    Joiner(
        follows=" *_`",
        between=(r"[*_`]{0,3}[ \t]+(?:[–—-]|[→⇒])[ \t]+[*_`\"']{0,3}" + _PLAIN),
        sureness=Sureness.NEAR,
    ),
    # Password: \n V, password: >- \n V, The key: ``` V ```, a definition list
    Joiner(
        follows=" \t:\r\n*_",
        between=(
            r"[*_`]{0,3}[ \t]*(?:[:=][*_]{0,3}[ \t]*(?:[>|][+-]?)?[ \t]*(?:\r?\n[ \t>]*){1,3}(?:```\w*\r?\n)?|\r?\n[ \t]*:[ \t]+)[*_`]{0,3}"
            r"(?P<v>[^\s\"'`<>]{6,400})[*_`]{0,3}[ \t]*(?=[\r\n]|\Z)"
        ),
        sureness=Sureness.SAID,
    ),
    # password `V`, PASSWORD 'V'
    Joiner(
        follows=" \t",
        between=(r"[ \t]+(?:[=:][ \t]*)?(?P<q>\\*[\"'`])" + _PLAIN + r"(?P=q)"),
        sureness=Sureness.SAID,
        fits=lambda name: name.is_plain,
    ),
    Joiner(
        follows=" \t",
        between=(r"[ \t]+(?P<q>[\"'`])" + _PLAIN + r"(?P=q)"),
        sureness=Sureness.NEAR,
        fits=lambda name: name.word.lower() != "pass",
    ),
    # setx TOKEN V
    Joiner(
        follows=" \t",
        between=(r"[ \t]+[\"']?" + _PLAIN),
        sureness=Sureness.SAID,
        fits=lambda name: _SETS.search(_before(name)) is not None,
    ),
    # private key 0x…
    Joiner(
        follows=" \t:=",
        between=(r"[ \t]*[:=]?[ \t]+[\"'`]?(?P<v>(?:0x)?[0-9a-fA-F]{64})(?![0-9a-fA-F])"),
        sureness=Sureness.SAID,
        fits=_is_key,
    ),
)
"""All of them, the plainest first."""

_BY_FOLLOWER = {
    sign: tuple(joiner for joiner in JOINERS if sign in joiner.follows)
    for sign in set("".join(joiner.follows for joiner in JOINERS))
}
"""Those that a sign behind the name can begin, in the same order."""

_VERBS = frozenset(VERBS)
_REACH = 120
_MOST_WORDS = 9
_WORD = late(r"[ \t]*(\S+)")
_STOPS = (".", "!", "?", ";", ")")
_DRESS = "\"'`*_(«»“”„「」<>[]"
_DIGIT = late("[0-9]")
_FINAL = late(r"[.,;:!?)\]*_\"'`>]+\Z")


def joined(name: Name) -> tuple[int, int] | None:
    """The place of a secret beside its name, None if there is none."""
    text = name.text
    follower = text[name.end : name.end + 1]
    if not follower:
        return _ahead(name)
    for joiner in _BY_FOLLOWER.get(follower, ()):
        if not joiner.fits(name):
            continue
        found = _compiled(joiner.between).match(text, name.end)
        if found is None:
            continue
        place = _trimmed(text, *found.span("v"))
        if _is_fit(text[slice(*place)], name, joiner.sureness):
            return place
    return _ahead(name) or (_told(name) if name.word.lower() != "pass" else None)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The value without the signs of the sentence around it."""
    final = _FINAL.search(text[start:end])
    return (start, start + final.start()) if final else (start, end)


def _is_fit(value: str, name: Name, sureness: Sureness) -> bool:
    if sureness is Sureness.NEAR or (sureness is Sureness.CALL and is_name_like(value)):
        return is_sure_value(value, is_hex_too=True)
    if sureness in {Sureness.SAID, Sureness.CALL}:
        return is_said_value(value) and (
            name.is_password or is_sure_value(value, is_hex_too=True) or len(value) >= 20
        )
    is_plain_way = sureness is Sureness.ASSIGNED
    return is_secret_value(
        value, is_quoted=is_plain_way, is_setting=True, is_password=name.is_password, has_end=is_plain_way
    )


_AS = late(
    r"(?:\A|[\s\"'`(])([^\s\"'`(]{8,200})[\"'`]?[ ]as[ ](?:the|my|your|a|an|its|our|his|her|their)[ ](?:\w+[ ]){0,2}\Z"
)
_BEHIND_VALUE = late(
    r"\b(?:value|content)\s?=\s?([\"'])([^\"'<>\s]{6,400})\1(?:\s+[\w:.-]+=[\"'][^\"'<>]{0,200}[\"']){0,8}?\s+(?:name|key|id|property)=[\"'][\w.:-]*\Z"
)


_COMMENTED = late(r"(?<![0-9a-fA-F])((?:0x)?[0-9a-fA-F]{64})[\"'`)\];,]{0,4}[ \t]*(?://|\#|--|/\*)[ \t]*\Z")


def _ahead(name: Name) -> tuple[int, int] | None:
    """A secret that stands before its name: `use V as the password`, `value="V" name="password"`."""
    before = _before(name, 300)
    is_behind = before.endswith(("'", '"', ".", ":")) or "=" in before[-40:]
    if is_behind and ("value" in before or "content" in before):
        found = _BEHIND_VALUE.search(before)
        value = found[2] if found else ""
        if found and _is_fit(value, name, Sureness.ASSIGNED):
            return name.start - len(before) + found.start(2), name.start - len(before) + found.end(2)
    if _is_key(name) and (found := _COMMENTED.search(before)):
        return name.start - len(before) + found.start(1), name.start - len(before) + found.end(1)
    if " as " in before[-40:]:
        found = _AS.search(before)
        if found and is_sure_value(found[1], is_hex_too=True):
            return name.start - len(before) + found.start(1), name.start - len(before) + found.end(1)
    return None


def _told(name: Name) -> tuple[int, int] | None:
    """A secret that a sentence, or a line of a command, brings a few words behind its name."""
    text = name.text
    end = text.find("\n", name.end, name.end + _REACH)
    line_end = min(len(text), name.end + _REACH) if end < 0 else end
    if text[name.end] not in " \t,\"'":
        return None
    if _DIGIT.search(text, name.end, line_end) is None and text[line_end - 1] != ":":
        return None
    at = name.end
    is_led = False
    for number in range(_MOST_WORDS):
        found = _WORD.match(text, at, line_end)
        if found is None:
            return _below(name, at) if is_led else None
        start = found.start(1) + len(found[1]) - len(found[1].lstrip(_DRESS))
        place = _trimmed(text, start, _word_end(text, found.end()))
        value = text[slice(*place)]
        is_next = number == 0 and name.is_setting
        if "..." not in found[1] and is_sure_value(value, is_hex_too=is_led or is_next):
            return place
        if is_led and name.is_plain and is_said_value(value):
            return place
        word = found[1]
        if word.endswith(_STOPS) or "..." in word or word.strip("\"'`*") in _SIGNS or not _may_lead(word):
            return None
        is_led = word.endswith(":") or word.lower() in _VERBS
        at = found.end()
    return None


_NEXT_LINE = late(r"[ \t]*(?:\r?\n[ \t>]*){1,3}([^\s\"'`<>]{8,400})[ \t]*(?=[\r\n]|\Z)")


def _below(name: Name, at: int) -> tuple[int, int] | None:
    """A secret that stands alone in a line under the sentence that leads to it."""
    found = _NEXT_LINE.match(name.text, at)
    return found.span(1) if found and is_sure_value(found[1], is_hex_too=True) else None


def _word_end(text: str, at: int) -> int:
    """The end of a word that the reach of the look would cut."""
    while at < len(text) and not text[at].isspace():
        at += 1
    return at


_SIGNS = frozenset([":", "=", "==", "!=", ":=", "=>", "->", "+", "|", "/"])
_NO_PROSE = late(r"[(){}\[\]<>|\\$=]")


def _may_lead(word: str) -> bool:
    """True if a word can stand between a name and its secret: no code."""
    return _NO_PROSE.search(word) is None
