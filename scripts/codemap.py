"""Writes docs/codemap.md from the first line of every module's docstring: `make codemap`."""

from __future__ import annotations

import ast
import inspect
import io
import sys
import tokenize
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("core", "panels", "gui", "prompts", "assets", "bench", "scripts")
PAGE = Path("docs/codemap.md")
HEAD = "# Codemap\n\nWhat each module owns, from the first line of its docstring. Written by `make codemap`."


def modules(root: Path) -> list[Path]:
    """Return every module of the program, relative to `root`, folder by folder."""
    found = (path.relative_to(root) for package in PACKAGES for path in (root / package).rglob("*.py"))
    return sorted(found, key=lambda path: (path.parent, path.name))


def first_line(source: str) -> str:
    """Return the first line of a module's docstring, or "" when it has none."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.STRING:
            return inspect.cleandoc(ast.literal_eval(token.string)).partition("\n")[0].strip()
        if token.type not in {tokenize.COMMENT, tokenize.NL}:
            break
    return ""


def render(root: Path) -> str:
    """Return the codemap as Markdown: for each folder what it holds, then a line for every module."""
    sections: list[str] = []
    for folder, paths in groupby(modules(root), key=lambda path: path.parent):
        lines = {path.stem: first_line((root / path).read_text(encoding="utf-8")) for path in paths}
        heading = f"**{folder.as_posix()}/** {lines.pop('__init__', '')}".strip()
        entries = "\n".join(f"- `{name}`: {text}" for name, text in lines.items())
        sections.append(f"{heading}\n\n{entries}".strip())
    return "\n\n".join(sections)


def page(root: Path) -> str:
    """Return docs/codemap.md as it should be."""
    return f"{HEAD}\n\n{render(root)}\n"


def main() -> int:
    """Write docs/codemap.md and say whether anything changed."""
    path = ROOT / PAGE
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    after = page(ROOT)
    path.write_text(after, encoding="utf-8")
    print(f"{PAGE}: " + ("was current" if after == before else "renewed"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
