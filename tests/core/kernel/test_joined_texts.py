"""Texts put together keep what they say in English, in every way in which `core` puts them together."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from core.kernel.errors import SlopError
from core.kernel.language import english, joined, spliced, tr
from core.kernel.opener import OddFileError


@pytest.mark.usefixtures("german")
def test_a_text_that_went_through_an_error_or_a_form_is_known_in_english() -> None:
    text = tr("The editor cannot be started: {strerror}", strerror=tr("permission denied"))
    kept = {
        str(SlopError(text)): "The editor cannot be started: permission denied",
        str(ValueError(text)): "The editor cannot be started: permission denied",
        str(text): "The editor cannot be started: permission denied",
        spliced("{}.", text): "The editor cannot be started: permission denied.",
        spliced("{}: {:,}", "a", 1_000): "a: 1,000",
        spliced("a: {}", ValueError(text)): "a: The editor cannot be started: permission denied",
        spliced("a: {}", OddFileError(text, "Move it", "/f")): (
            "a: The editor cannot be started: permission denied. Move it: /f"
        ),
        joined(". ", (text, "x")): "The editor cannot be started: permission denied. x",
    }
    assert {english(said): told for said, told in kept.items()} == {told: told for told in kept.values()}
    assert all("Editor" in said for said, told in kept.items() if "editor" in told)


def test_in_english_a_form_is_a_plain_text() -> None:
    assert type(spliced("{}.", tr("No editor is set"))) is str


_SAYING = ("notify", "decline", "CommandOutcome")


def _loses_english(value: ast.expr) -> bool:
    """True for a text that is put together by an f-string, or by a text that joins others."""
    if isinstance(value, ast.IfExp):
        return _loses_english(value.body) or _loses_english(value.orelse)
    is_join = isinstance(value, ast.Call) and ast.unparse(value.func).endswith(("'.join", '".join'))
    return is_join or isinstance(value, ast.JoinedStr)


def _words_of_notices(function: ast.FunctionDef) -> list[ast.expr]:
    """Words that a function gives to a notice or an outcome, also by a name that it gave them before."""
    found: list[ast.expr] = []
    named: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for name in node.targets:
                named.setdefault(ast.unparse(name), []).append(node.value)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in _SAYING:
            keywords = [
                one.value for one in node.keywords if one.arg in {"text", "detail", "problem", "remedy"}
            ]
            found += [*node.args[3:5], *keywords]
    return [*found, *(value for one in found for value in named.get(ast.unparse(one), ()))]


def test_words_of_notices_are_put_together_so_that_they_are_known_in_english() -> None:
    """The state keeps them; a program that asks for the state gets them in English."""
    sources = ((path, path.read_text(encoding="utf-8")) for path in Path("core").rglob("*.py"))
    functions = [
        (path, node)
        for path, source in sources
        if any(f"{name}(" in source for name in _SAYING)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef)
    ]
    words = [(path, value) for path, function in functions for value in _words_of_notices(function)]

    lost = [f"{path}:{value.lineno} {ast.unparse(value)}" for path, value in words if _loses_english(value)]

    assert lost == [], "joined and spliced of core.kernel.language keep the English"
    assert len(words) > 100
