"""Reasons and remedies are read whole: no text of a panel that warns is cut at the width of its pane."""

from __future__ import annotations

import ast
from pathlib import Path

import panels

LINES = {
    "name", "path", "size", "items", "new", "class", "title", "detail", "gauge", "tokens", "estimate",
    "more repairs", "more problems", "more batch problems", "more fact problems",
}  # fmt: skip
"""Keys of names and figures: a line each, whose whole text stands on hover."""
ONE_LINE = {"status_bar.py"}
"""Places of one line."""


def _cut_warnings(source: str) -> list[str]:
    """Texts in a tone of warning that neither wrap nor are a name or a figure, by their key."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "text"
        ):
            continue
        given = {word.arg: ast.unparse(word.value) for word in node.keywords}
        key = ast.unparse(node.args[0]).strip("\"'") if node.args else ""
        warns = any(tone in given.get("tone", "") for tone in ("warn", "error"))
        if warns and "wraps" not in given and key not in LINES and "('result'" not in key:
            found.append(key)
    return found


def test_what_warns_wraps() -> None:
    root = Path(panels.__file__).parent
    files = [file for file in sorted(root.rglob("*.py")) if file.name not in ONE_LINE]

    assert len(files) > 50
    assert {file.name: cut for file in files if (cut := _cut_warnings(file.read_text()))} == {}


def test_a_warning_that_is_cut_is_found() -> None:
    assert _cut_warnings('ui.text("why", text, tone="warn", width=0)') == ["why"]
    assert _cut_warnings('ui.text("why", text, tone="warn", width=0, wraps=True)') == []
