"""Names of files that are asked about every time: those that run or rule something, and those that hold secrets."""

from __future__ import annotations

import re
import unicodedata
from fnmatch import translate
from functools import lru_cache

RULING_FOLDERS = {
    ".git": "git obeys what stands there, hooks and settings among it",
    ".hg": "Mercurial obeys what stands there",
    ".husky": "its scripts run at every commit",
    ".vscode": "the editor runs tasks that stand there",
    ".idea": "the editor runs tasks that stand there",
    ".devcontainer": "the editor builds and runs what stands there",
    ".claude": "agents obey what stands there",
    ".cursor": "agents obey what stands there",
    ".codex": "agents obey what stands there",
    ".gemini": "agents obey what stands there",
}
"""Folders of which nothing is written unasked, at any depth, with the reason."""

RULING_FILES = {
    ".git": "git looks there for its settings and hooks",
    ".gitmodules": "git fetches what it names",
    ".envrc": "the shell runs it when the folder is entered",
    ".mcp.json": "agents start the programs that it names",
    ".pre-commit-config.yaml": "what it names runs at every commit",
    "manual_slop.toml": "it sets what this program does here",
    "claude.md": "models are told what stands there",
    "agents.md": "models are told what stands there",
    "poc.md": "models are told what stands there",
}
"""Files that are not written unasked, at any depth, with the reason."""

SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store"})
SECRET_FILES = (
    ".env", ".env.*", "*.env", ".netrc", "_netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd",
    "credentials", "credentials.*", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.p12", "*.pfx",
    "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.tfstate", "*.tfvars",
)  # fmt: skip
_SECRET = re.compile("|".join(translate(pattern) for pattern in SECRET_FILES))
_SAMPLES = frozenset({".env.example", ".env.sample", ".env.template", ".env.dist"})

_IGNORED = re.compile("[\u00ad\u034f\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")
"""Characters that a file system may leave out when it compares names."""
_SHORT_GIT = re.compile(r"git~[0-9]+")


@lru_cache(maxsize=4_096)
def folded(name: str) -> str:
    """A name as a file system that minds neither case nor form compares it: `.GIT`, `git~1` and `.git ` are `.git`."""
    plain = unicodedata.normalize("NFKC", _IGNORED.sub("", name.split(":", 1)[0] or name)).casefold()
    plain = plain.rstrip(" .") or plain
    return ".git" if _SHORT_GIT.fullmatch(plain) else plain


def reasons_to_ask_before_writing(relative: str) -> tuple[str, ...]:
    """Reasons why a write is asked in every mode, a sentence each.

    Args:
        relative: path below a folder of the tools, links resolved, with `/`.
    """
    *folders, name = map(folded, relative.split("/"))
    reasons = [
        f"It is in a folder {each!r}: {RULING_FOLDERS[each]}." for each in folders if each in RULING_FOLDERS
    ]
    if name in RULING_FILES:
        reasons.append(f"It is {name!r}: {RULING_FILES[name]}.")
    return (*dict.fromkeys(reasons), *reasons_to_ask_before_reading(relative))


def reasons_to_ask_before_reading(relative: str) -> tuple[str, ...]:
    """Reasons why a read is asked in every mode, a sentence each. Args as above."""
    *folders, name = map(folded, relative.split("/"))
    if any(each in SECRET_FOLDERS for each in folders):
        return ("It is in a folder of keys and passwords.",)
    if name not in _SAMPLES and _SECRET.match(name) is not None:
        return ("Files of that name hold keys and passwords.",)
    return ()
