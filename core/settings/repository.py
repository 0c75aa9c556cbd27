"""The repository that a folder is in: its name for facts, from its `origin` address or its folder."""

from __future__ import annotations

import re
from pathlib import Path

from core.base.domains import domain_name, origin_name
from core.base.opener import read_file

_SECTION = re.compile(r"\s*\[\s*([a-zA-Z0-9.-]+)(?:\s+\"((?:[^\"\\]|\\.)*)\")?\s*\]")
_URL = re.compile(r"\s*url\s*=\s*(.*?)\s*$", re.IGNORECASE)
_MAX_BYTES = 1_000_000


def repository_domain(root: Path) -> str:
    """Domain of the repository at or above a folder; empty where there is none. Never fails.

    Args:
        root: absolute, links resolved.
    """
    for folder in (root, *root.parents):
        if (folder / ".git").exists():
            return domain_name(origin_name(_origin(folder / ".git"))) or domain_name(folder.name)
    return ""


def _origin(git: Path) -> str:
    """Address of `origin`, empty where there is none. A worktree's `.git` is a file that leads to its repository."""
    if git.is_file():
        led = _text(git).removeprefix("gitdir:").strip()
        git = git.parent / led
        common = _text(git / "commondir").strip()
        git = git / common if common else git
    section = ("", "")
    for line in _text(git / "config").splitlines():
        if head := _SECTION.match(line):
            section = (head[1].lower(), head[2] or "")
        elif section == ("remote", "origin") and (found := _URL.match(line)):
            return found[1].strip('"')
    return ""


def _text(path: Path) -> str:
    try:
        return read_file(path, _MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
