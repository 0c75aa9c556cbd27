"""Names of files that are asked about every time before they are written: they run or rule something."""

from __future__ import annotations

from collections.abc import Iterable

from core.kernel.key_names import folded, name_reasons

RULING_FOLDERS = {
    ".git": "git obeys what stands there, hooks and settings among it",
    ".hg": "Mercurial obeys what stands there",
    ".jj": "Jujutsu obeys what stands there",
    ".husky": "its scripts run at every commit",
    ".githooks": "its scripts run at every commit where git is told so",
    ".mise": "the shell obeys it when the folder is entered",
    ".vscode": "the editor runs tasks that stand there",
    ".idea": "the editor runs tasks that stand there",
    ".zed": "the editor starts programs that stand there",
    ".fleet": "the editor runs tasks that stand there",
    ".devcontainer": "the editor builds and runs what stands there",
    ".claude": "agents obey what stands there",
    ".cursor": "agents obey what stands there",
    ".codex": "agents obey what stands there",
    ".gemini": "agents obey what stands there",
    ".opencode": "agents obey what stands there",
    ".windsurf": "agents obey what stands there",
    ".clinerules": "agents obey what stands there",
    ".roo": "agents obey what stands there",
    ".kiro": "agents obey what stands there",
    ".continue": "agents obey what stands there",
    ".amazonq": "agents obey what stands there",
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
    **dict.fromkeys(
        ("claude.local.md", "gemini.md", "copilot-instructions.md", ".cursorrules", ".windsurfrules", ".clinerules",
         ".goosehints", ".aider.conf.yml", "opencode.json", "opencode.jsonc"),
        "agents obey what stands there",
    ),
    **dict.fromkeys(
        ("lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml"), "what it names runs at every commit"
    ),
    **dict.fromkeys(
        ("mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml"),
        "the shell obeys it when the folder is entered",
    ),
    **dict.fromkeys(
        (".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".dir-locals.el"), "an editor may run it when the folder is opened"
    ),
    **dict.fromkeys((".gdbinit", ".lldbinit"), "a debugger may run it when it starts there"),
}  # fmt: skip
"""Files that are not written unasked, at any depth, with the reason."""

_BARE = "git takes a folder that holds it for a repository, and obeys the settings there"
"""Of a file `HEAD`: a repository needs no folder `.git`."""
PARTS_OF_REPOSITORY = ("HEAD", "objects", "commondir")
"""The first and one of the others make a repository. Source: git's `is_git_directory` (read 2026-11-24)."""
IN_REPOSITORY = "It is in a folder that git takes for a repository: git obeys the settings there."

_RULING_ENDS = {".code-workspace": "the editor runs tasks that stand there"}


def is_repository(names: Iterable[str]) -> bool:
    """True for names in a folder that git takes for a repository, whatever it is named itself."""
    known = {*map(folded, names)}
    return "head" in known and not known.isdisjoint({"objects", "commondir"})


def rules_something(name: str) -> bool:
    """True for the folded name of a file or folder that runs or rules something."""
    return name in RULING_FOLDERS or bool(_ruling_reason(name))


def _ruling_reason(name: str) -> str:
    return RULING_FILES.get(name) or next(
        (why for end, why in _RULING_ENDS.items() if name.endswith(end)), ""
    )


def reasons_to_ask_before_writing(relative: str) -> tuple[str, ...]:
    """Reasons why a write is asked in every mode, a sentence each.

    Args:
        relative: path below a folder of the tools, links resolved, with `/`.
    """
    *folders, name = map(folded, relative.split("/"))
    reasons = [
        f"It is in a folder {each!r}: {RULING_FOLDERS[each]}." for each in folders if each in RULING_FOLDERS
    ]
    if why := _ruling_reason(name) or (_BARE if name == "head" else ""):
        reasons.append(f"It is {name!r}: {why}.")
    return (*dict.fromkeys(reasons), *name_reasons(relative))
