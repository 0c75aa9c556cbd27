"""Secrets that a request carries: passwords and tokens of addresses, headers, cookies, signatures."""

from __future__ import annotations

import re

import msgspec

from core.kernel.patterns import late
from core.kernel.secret_values import (
    Find,
    Look,
    Rule,
    compiled,
    continued,
    find_of,
    is_base64_pair,
    is_filled_in,
    is_mixed,
    is_path,
    is_placeholder,
    is_random,
)

_SIGNED = late(
    r"(?i)(?<![A-Za-z0-9_])(?:sig|(?:x-(?:amz|goog)-)?signature)=([A-Za-z0-9%+/_-]{40,}=?)", re.ASCII
)


def _signature(text: str, at: int) -> Find | None:
    """The signature of a shared access address of Azure."""
    found = _SIGNED.match(text, at)
    return Find(start=found.start(1), end=found.end()) if found and is_filled_in(found[1]) else None


_USER_INFO = late(
    r"://([^\s/:@\"'`<>\\]{0,100}):([^\s\"'`<>\\]{1,200})@(?=([A-Za-z0-9.\[][A-Za-z0-9._:\[\]-]*)(?:[/?#\s\"'`,;)\]}\\]|\Z))"
)
_PORT = late(r"\d{1,5}(?:[/?#]|\Z)")


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
    return Find(start=found.start(2), end=found.end(2))


_LONE_USER = late(r"://([A-Za-z0-9_.~-]{20,255})(?::|:x-oauth-basic)?@(?=[A-Za-z0-9\[])")


def _lone_user(text: str, at: int) -> Find | None:
    """A token that stands alone before the host."""
    found = _LONE_USER.match(text, at)
    if found is None or not is_mixed(found[1]) or is_placeholder(found[1]):
        return None
    is_token = _HEX.fullmatch(found[1]) is not None or is_random(found[1])
    return Find(start=found.start(1), end=found.end(1)) if is_token else None


_HEX = late("[0-9a-fA-F]{32,}")

_HEADER = late(r"(?i:(bearer|basic))(?:\s+|%20)([A-Za-z0-9._~+/=-]{16,})", re.ASCII)


def _header(text: str, at: int) -> Find | None:
    found = _HEADER.match(text, at)
    if found is None or (at and (text[at - 1].isalnum() or text[at - 1] == "_")):
        return None
    value = found[2]
    is_key = is_base64_pair(value) if found[1].lower() == "basic" else False
    if is_placeholder(value) or not (is_key or is_mixed(value)):
        return None
    return Find(start=found.start(2), end=continued(text, found.end()))


_AUTHORIZATION = late(
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
    return Find(start=found.start(1), end=continued(text, found.end())) if is_token else None


_COOKIE = late(
    r"(?:set-)?cookie\d?(?:\\*[\"'])?[ \t]*(?:[:=,][ \t]*)(?:(?:\\*[\"'])?value(?:\\*[\"'])?[ \t]*[:=][ \t]*)?(?:\\*[\"'])?"
    r"(?=[\w.$-]{1,80}=)",
    re.IGNORECASE | re.ASCII,
)
_PAIR = late(r"([\w.$%-]{1,80})=([^;,\s\"'`\\<>]{1,4096})(?:;[ \t]*|(?=[\s\"'`\\<>,]|\Z))", re.ASCII)
_ATTRIBUTE = late(r"(?:secure|httponly|partitioned)(?:;[ \t]*|\b)", re.IGNORECASE)
_PLAIN_NAMES = frozenset(
    ["path", "domain", "expires", "max-age", "samesite", "priority", "version", "comment"]
)
_SESSION = late(
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
    return find_of(places) or Find(start=at, end=end, is_secret=False)


def _is_session(name: str, value: str) -> bool:
    if len(value) < 8 or is_placeholder(value) or not is_mixed(value):
        return False
    if _SESSION.search(name):
        return True
    return len(value) >= 20 and (
        _HEX.fullmatch(value) is not None or (is_mixed(value, classes=3) and is_random(value[:64]))
    )


RULES = (
    Rule(literals=("sig=", "signature="), look=_signature, kind="signature of an address"),
    Rule(literals=("://",), look=_address, kind="password in an address"),
    Rule(literals=("bearer", "basic"), look=_header, kind="token of a request"),
    Rule(literals=("authorization",), look=_authorization, kind="token of a request"),
    Rule(literals=("cookie",), look=_cookie, kind="cookie of a session"),
)
"""Secrets of requests, by the word or the sign that leads to them."""


# Secrets given to a command: behind a flag, as its last word, by a pipe; and the files that logins are read
# from.

_CURL = late(
    r"(?<![\w-])curl\b[^\n|;]{0,300}?\s(?:--user|--proxy-user|-[A-Za-z]{0,4}[uU])(?:[ \t]+|=)?[\"']?([^\s:\"'`]{1,100}):([^\s\"'`]{3,200})"
)


def _curl(text: str, at: int) -> Find | None:
    found = _CURL.match(text, at)
    if found is None or is_placeholder(found[2]):
        return None
    return Find(start=found.start(2), end=found.end(2))


_LOGIN = late(
    r"(?i:login)\s+[^\s/|,;:]{1,100}(\s+)(?i:password)\s+([^\s'\"`]{4,200})(?=([ \t]*\r?\n|[ \t]*\Z)?)"
)


def _netrc(text: str, at: int) -> Find | None:
    """A line, or three, of a netrc; in one line the password must not be a word of a sentence."""
    found = _LOGIN.match(text, at)
    if found is None or is_placeholder(found[2]):
        return None
    if not ("\n" in found[1] and found[3] is not None) and not is_mixed(found[2]):
        return None
    return Find(start=found.start(2), end=found.end(2))


_DOCKER = late(r"\"auth\\*\"\s{0,9}:\s{0,9}\\*\"([A-Za-z0-9+/]{8,2000}={0,2})\\*\"")


def _docker(text: str, at: int) -> Find | None:
    found = _DOCKER.match(text, at)
    return Find(start=found.start(1), end=found.end(1)) if found and is_base64_pair(found[1]) else None


_PGPASS = late(r":\d{4,5}:[^\s:]{1,64}:[^\s:]{1,64}:([^\s:]{6,100})(?=[ \t]*(?:[\r\n]|\Z))")


def _pgpass(text: str, at: int) -> Find | None:
    """The last part of a line of a password file of PostgreSQL."""
    found = _PGPASS.match(text, at)
    return (
        Find(start=found.start(1), end=found.end(1))
        if found and is_mixed(found[1]) and not is_placeholder(found[1])
        else None
    )


class Command(msgspec.Struct, frozen=True):
    """A command that takes a password.

    Args:
        names: with blanks between, as literals; tail: expression of the rest of its name and its first words.
        flag: expression of what stands before the value, its blanks too; empty if the value follows the tail.
    """

    names: str
    flag: str = ""
    tail: str = ""


_B = r"(?:[ \t]|\\\r?\n)+"
_WORD = r"(?:'[^'\n]*'|\"[^\"\n]*\"|[^\s'\"|;&])+"
_SOME = rf"(?:{_B}{_WORD}){{0,12}}?"
_VALUE = r"(?P<quote>[\"']?)(?P<value>[^\s\"'`|;&<>]{4,200})(?P=quote)(?=[\s|;&)\"'`]|\Z)"

COMMANDS = (
    Command(names="mysql mariadb", flag="-p", tail=r"(?:dump|admin|check|import|slap|show|-\w+)?"),
    Command(names="sshpass", flag=rf"-p(?:{_B})?"),
    Command(
        names="docker podman buildah skopeo nerdctl helm",
        flag=rf"-p{_B}",
        tail=rf"(?:{_B}{_WORD}){{0,4}}?{_B}login",
    ),
    Command(names="redis-cli", flag=rf"-a{_B}"),
    Command(names="ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd", flag=rf"-w{_B}"),
    Command(names="smbclient rpcclient smbmap", flag=r"(?:-U|--user)[= \t]*[\"']?[\w.\\/@-]{1,80}%"),
    Command(names="xfreerdp wfreerdp", flag="/p:"),
    Command(names="cmdkey", flag="/pass:"),
    Command(names="openssl", flag=rf"-pass(?:in|out)?{_B}[\"']?pass:"),
    Command(names="7za 7zr 7zz 7z| unrar rar|", flag="-h?p"),
    Command(names="zip| unzip", flag=rf"-P(?:{_B})?"),
    Command(names="mongo", flag=rf"-p(?:{_B})?", tail="(?:sh|dump|restore|export|import|stat|top)?"),
    Command(names="sqlcmd bcp| tsql| mosquitto_ ipmitool", flag=rf"-P(?:{_B})?", tail="(?:pub|sub|rr)?"),
    Command(names="az|login oc|login cf|login", flag=rf"-p{_B}"),
    Command(names="psexec evil-winrm mcrcon", flag=rf"-p{_B}"),
    Command(names="ssh-keygen", flag=rf"-[NP]{_B}"),
    Command(names="keytool jarsigner", flag=rf"-(?:store|key|src|dest|srcstore|deststore)pass{_B}"),
    Command(
        names="http| https| httpie wget lftp",
        flag=rf"(?:-a|--auth|-u|--user)(?:=|{_B})[\"']?[^\s:\"'`]{{1,100}}:",
    ),
    Command(names="snmpwalk snmpget", flag=rf"-[AX]{_B}"),
    Command(
        names="htpasswd",
        flag="",
        tail=rf"{_B}-[a-zA-Z]*b[a-zA-Z]*(?:{_B}-\w+)*{_B}{_WORD}(?:{_B}{_WORD})?{_B}(?=[^\n]*\Z|[^\s]+[ \t]*[\r\n|;&])",
    ),
    Command(names="net|use", flag="", tail=rf"(?:{_B}{_WORD}){{1,3}}?{_B}/user:\S+{_B}(?![/*])"),
    Command(names="rabbitmqctl", flag="", tail=rf"{_B}(?:add_user|change_password){_B}{_WORD}{_B}"),
    Command(names="wpa_passphrase", flag="", tail=rf"{_B}{_WORD}{_B}"),
    Command(names="identified|by", flag="", tail=rf"{_B}(?:password{_B})?(?=[\"'])"),
    Command(names="identified|with", flag="", tail=rf"{_B}\S{{1,60}}{_B}(?:by|as){_B}(?=[\"'])"),
)
"""Commands whose password no long flag names; `|` stands for a blank in a name."""


def _looking(command: Command) -> Look:
    names = "|".join(re.escape(name.strip("|").replace("|", " ")) for name in command.names.split())
    flag = rf"{_SOME}{_B}{command.flag}" if command.flag else ""
    expression = rf"(?i:(?<![\w-])(?:{names}){command.tail}){flag}{_VALUE}"

    def look(text: str, at: int) -> Find | None:
        found = compiled(expression).match(text, at)
        return (
            Find(start=found.start("value"), end=found.end("value"))
            if found and _is_given(found["value"])
            else None
        )

    return look


def _is_given(value: str) -> bool:
    """True unless it is the next flag, a file, a variable, a number or a mere word."""
    return (
        not value.startswith("-")
        and not value.isdigit()
        and not value.isalpha()
        and not is_placeholder(value)
        and not is_path(value)
    )


_PIPED = late(
    r"(?:echo|printf)(?:[ \t]+-\w+|[ \t]+[\"']?%s(?:\\n)?[\"']?)*[ \t]+[\"']?((?:[\w.-]{1,64}:)?)([^\s\"'`|;&<>]{4,200})[\"']?[ \t]*\|[^\n|]{0,200}\Z"
)
_PIPE_REACH = 500


def _piped(text: str, at: int) -> Find | None:
    """A password that is echoed into a command."""
    line = max(0, at - _PIPE_REACH, text.rfind("\n", 0, at) + 1)
    if "|" not in text[line:at]:
        return None
    found = _PIPED.search(text[line:at])
    return (
        Find(start=line + found.start(2), end=line + found.end(2)) if found and _is_given(found[2]) else None
    )


_TWO = late(
    r"(?:auth=|(?:basic|digest)auth|credentials?)\([ \t]*[\"'][^\"'\n]{1,64}[\"'][ \t]*,[ \t]*([\"'])([^\"'\s]{6,120})\1",
    re.IGNORECASE,
)


def _two(text: str, at: int) -> Find | None:
    """The second of a name and a password that are given to a call."""
    found = _TWO.match(text, at)
    return (
        Find(start=found.start(2), end=found.end(2))
        if found and is_mixed(found[2]) and not is_placeholder(found[2])
        else None
    )


COMMAND_RULES = (
    Rule(literals=("curl",), look=_curl, kind="password of a command"),
    Rule(literals=("login",), look=_netrc, kind="password of a login"),
    Rule(literals=('"auth',), look=_docker, kind="password of a registry"),
    Rule(literals=(":5432:", ":6432:", ":5433:"), look=_pgpass, kind="password of a login"),
    *(
        Rule(
            literals=tuple(name.replace("|", " ") for name in one.names.split()),
            look=_looking(one),
            kind="password of a command",
        )
        for one in COMMANDS
    ),
    Rule(
        literals=("--password-stdin", "sudo -S", "chpasswd", "passwd --stdin", "cryptsetup"),
        look=_piped,
        kind="password of a command",
    ),
    Rule(
        literals=("auth=(", "basicauth(", "digestauth(", "credential(", "credentials("),
        look=_two,
        kind="password of a command",
    ),
)
"""Secrets of commands, by their names."""
