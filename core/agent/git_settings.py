"""Settings of git without keys: helpers of credentials, headers, passwords in addresses, and all that looks like a secret go."""

from __future__ import annotations

import re

from core.kernel.secrets import named_secrets

_SECTION = re.compile(r"\s*\[\s*([A-Za-z0-9.-]+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?\s*\](.*)")
_LEFT_OUT = frozenset(
    {
        "credential",
        "http",
        "https",
        "sendemail",
        "imap",
        "smtp",
        "github",
        "gitlab",
        "hub",
        "bitbucket",
        "oauth",
        "svn-remote",
    }
)
"""Sections that hold credentials, or name what gives them out."""
_PASSWORD = re.compile(r"https?://[^/\s\"']*@|://[^/\s\"'@]*:[^/\s\"'@]*@", re.IGNORECASE)
"""A user in an address: a token is one as often as a name."""


def without_keys(text: str) -> str:
    """The settings, without the lines that could hold a key. Those that go on over a line's end go whole.

    Lines are kept as they are: their order and sections are git's business.
    """
    kept: list[str] = []
    is_left = False
    secret_lines = _secret_lines(text)
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        last = number
        while lines[last].endswith("\\") and last + 1 < len(lines):
            last += 1
        whole = "\n".join(lines[number : last + 1])
        if (found := _SECTION.match(whole)) is not None:
            is_left = found[1].casefold().partition(".")[0] in _LEFT_OUT
        holds_key = _PASSWORD.search(whole) is not None or not secret_lines.isdisjoint(
            range(number, last + 1)
        )
        if holds_key and found is not None:
            is_left = True
        if not is_left and not holds_key:
            kept.append(whole)
        number = last + 1
    return "\n".join(kept)


def _secret_lines(text: str) -> set[int]:
    found: set[int] = set()
    for start, end, _ in named_secrets(text):
        first = text.count("\n", 0, start)
        found |= set(range(first, first + text.count("\n", start, end) + 1))
    return found
