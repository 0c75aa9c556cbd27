"""Domains: names under which facts are kept, of repositories, agents and everything."""

from __future__ import annotations

import re

GLOBAL = "global"
"""Domain of what holds everywhere."""

MAX_DOMAIN_CHARS = 100
_DOMAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_OTHER = re.compile(r"[^a-z0-9._-]")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def is_domain(name: str) -> bool:
    """True if a name can be a domain, and so a file's name."""
    return _DOMAIN.fullmatch(name) is not None


def domain_name(name: str) -> str:
    """Domain of a repository's or an agent's name: lower-cased, other characters as `-`; empty where nothing is left.

    One that is called `global` gets a name of its own: what holds everywhere is no single repository's.
    """
    folded = _OTHER.sub("-", name.strip().lower()).lstrip("._-")[:MAX_DOMAIN_CHARS].rstrip("-")
    return f"{folded}-repository" if folded == GLOBAL else folded


def origin_name(address: str) -> str:
    """Last part of a repository's `origin` address without `.git`; empty where it has none.

    Args:
        address: a URL, `host:path`, or a path, with either slash.
    """
    path = _SCHEME.sub("", address.strip())
    last = re.split(r"[/\\]", path.rstrip("/\\"))[-1]
    last = last.rpartition(":")[2] if "/" not in path and "\\" not in path else last
    return last.removesuffix(".git")
