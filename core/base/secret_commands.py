"""Secrets given to a command: behind a flag, as its last word, by a pipe; and the files that logins are read from."""

from __future__ import annotations

import re

import msgspec

from core.base.secret_rule import Find, Look, Rule, compiled
from core.base.secret_values import is_base64_pair, is_mixed, is_path, is_placeholder

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


_PGPASS = re.compile(r":\d{4,5}:[^\s:]{1,64}:[^\s:]{1,64}:([^\s:]{6,100})(?=[ \t]*(?:[\r\n]|\Z))")


def _pgpass(text: str, at: int) -> Find | None:
    """The last part of a line of a password file of PostgreSQL."""
    found = _PGPASS.match(text, at)
    return Find(*found.span(1)) if found and is_mixed(found[1]) and not is_placeholder(found[1]) else None


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
    Command("mysql mariadb", "-p", r"(?:dump|admin|check|import|slap|show|-\w+)?"),
    Command("sshpass", rf"-p(?:{_B})?"),
    Command("docker podman buildah skopeo nerdctl helm", rf"-p{_B}", rf"(?:{_B}{_WORD}){{0,4}}?{_B}login"),
    Command("redis-cli", rf"-a{_B}"),
    Command("ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami ldappasswd", rf"-w{_B}"),
    Command("smbclient rpcclient smbmap", r"(?:-U|--user)[= \t]*[\"']?[\w.\\/@-]{1,80}%"),
    Command("xfreerdp wfreerdp", "/p:"),
    Command("cmdkey", "/pass:"),
    Command("openssl", rf"-pass(?:in|out)?{_B}[\"']?pass:"),
    Command("7za 7zr 7zz 7z| unrar rar|", "-h?p"),
    Command("zip| unzip", rf"-P(?:{_B})?"),
    Command("mongo", rf"-p(?:{_B})?", "(?:sh|dump|restore|export|import|stat|top)?"),
    Command("sqlcmd bcp| tsql| mosquitto_ ipmitool", rf"-P(?:{_B})?", "(?:pub|sub|rr)?"),
    Command("az|login oc|login cf|login", rf"-p{_B}"),
    Command("psexec evil-winrm mcrcon", rf"-p{_B}"),
    Command("ssh-keygen", rf"-[NP]{_B}"),
    Command("keytool jarsigner", rf"-(?:store|key|src|dest|srcstore|deststore)pass{_B}"),
    Command("http| https| httpie wget lftp", rf"(?:-a|--auth|-u|--user)(?:=|{_B})[\"']?[^\s:\"'`]{{1,100}}:"),
    Command("snmpwalk snmpget", rf"-[AX]{_B}"),
    Command(
        "htpasswd",
        "",
        rf"{_B}-[a-zA-Z]*b[a-zA-Z]*(?:{_B}-\w+)*{_B}{_WORD}(?:{_B}{_WORD})?{_B}(?=[^\n]*\Z|[^\s]+[ \t]*[\r\n|;&])",
    ),
    Command("net|use", "", rf"(?:{_B}{_WORD}){{1,3}}?{_B}/user:\S+{_B}(?![/*])"),
    Command("rabbitmqctl", "", rf"{_B}(?:add_user|change_password){_B}{_WORD}{_B}"),
    Command("wpa_passphrase", "", rf"{_B}{_WORD}{_B}"),
    Command("identified|by", "", rf"{_B}(?:password{_B})?(?=[\"'])"),
    Command("identified|with", "", rf"{_B}\S{{1,60}}{_B}(?:by|as){_B}(?=[\"'])"),
)
"""Commands whose password no long flag names; `|` stands for a blank in a name."""


def _looking(command: Command) -> Look:
    names = "|".join(re.escape(name.strip("|").replace("|", " ")) for name in command.names.split())
    flag = rf"{_SOME}{_B}{command.flag}" if command.flag else ""
    expression = rf"(?i:(?<![\w-])(?:{names}){command.tail}){flag}{_VALUE}"

    def look(text: str, at: int) -> Find | None:
        found = compiled(expression).match(text, at)
        return Find(*found.span("value")) if found and _is_given(found["value"]) else None

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


_PIPED = re.compile(
    r"(?:echo|printf)(?:[ \t]+-\w+|[ \t]+[\"']?%s(?:\\n)?[\"']?)*[ \t]+[\"']?((?:[\w.-]{1,64}:)?)([^\s\"'`|;&<>]{4,200})[\"']?[ \t]*\|[^\n|]{0,200}\Z"
)
_PIPE_REACH = 500


def _piped(text: str, at: int) -> Find | None:
    """A password that is echoed into a command."""
    line = max(0, at - _PIPE_REACH, text.rfind("\n", 0, at) + 1)
    if "|" not in text[line:at]:
        return None
    found = _PIPED.search(text[line:at])
    return Find(line + found.start(2), line + found.end(2)) if found and _is_given(found[2]) else None


_TWO = re.compile(
    r"(?:auth=|(?:basic|digest)auth|credentials?)\([ \t]*[\"'][^\"'\n]{1,64}[\"'][ \t]*,[ \t]*([\"'])([^\"'\s]{6,120})\1",
    re.IGNORECASE,
)


def _two(text: str, at: int) -> Find | None:
    """The second of a name and a password that are given to a call."""
    found = _TWO.match(text, at)
    return Find(*found.span(2)) if found and is_mixed(found[2]) and not is_placeholder(found[2]) else None


RULES = (
    Rule(("curl",), _curl, kind="password of a command"),
    Rule(("login",), _netrc, kind="password of a login"),
    Rule(('"auth',), _docker, kind="password of a registry"),
    Rule((":5432:", ":6432:", ":5433:"), _pgpass, kind="password of a login"),
    *(
        Rule(
            tuple(name.replace("|", " ") for name in one.names.split()),
            _looking(one),
            kind="password of a command",
        )
        for one in COMMANDS
    ),
    Rule(
        ("--password-stdin", "sudo -S", "chpasswd", "passwd --stdin", "cryptsetup"),
        _piped,
        kind="password of a command",
    ),
    Rule(
        ("auth=(", "basicauth(", "digestauth(", "credential(", "credentials("),
        _two,
        kind="password of a command",
    ),
)
"""Secrets of commands, by their names."""
