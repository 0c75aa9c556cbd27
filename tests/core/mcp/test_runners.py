"""Package runners: what a project holds that decides their code is bound by a yes, and asks anew where it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.kernel.values.mcp import McpServerSettings
from core.mcp.found_programs import ServerFinder

FILES = ("-y", "@scope/server-files@1.2", "notes")


@pytest.mark.parametrize(
    ("program", "arguments", "file"),
    [
        ("npx", FILES, ".npmrc"),
        ("npx.cmd", FILES, "node_modules/@scope/server-files/package.json"),
        ("npx", FILES, "node_modules/.bin/server-files"),
        ("npx", ("--package=other", "server"), "node_modules/other/package.json"),
        ("npm", ("exec", "--", "server"), "node_modules/.bin/server"),
        ("pnpm", ("dlx", "server"), ".pnpmfile.cjs"),
        ("yarn", ("dlx", "server"), ".yarnrc.yml"),
        ("bunx", ("server",), "bunfig.toml"),
        ("deno", ("run", "-A", "npm:server"), "deno.json"),
        ("uv", ("run", "server"), "pyproject.toml"),
    ],
)
@pytest.mark.parametrize("place", ["project", "around"])
def test_what_decides_a_runner_s_code_is_bound_in_the_project_and_around_it(
    program: str, arguments: tuple[str, ...], file: str, place: str, tmp_path: Path
) -> None:
    root = tmp_path / "around" / "project"
    root.mkdir(parents=True)
    found = (root if place == "project" else root.parent) / file
    settings = _runner(tmp_path, program, *arguments)
    before = ServerFinder().find(settings, str(root))

    found.parent.mkdir(parents=True, exist_ok=True)
    found.write_text("one")
    first = ServerFinder().find(settings, str(root))
    found.write_text("two")
    second = ServerFinder().find(settings, str(root))

    assert not before.files
    assert list(first.files) == [str(found)]
    assert first.files != second.files


@pytest.mark.parametrize(
    ("said", "is_bound"),
    [
        ('{"name": "@scope/server-files"}', True),
        ('{"name": "mine", "bin": {"@scope/server-files": "own.js"}}', True),
        ('{"name": "mine", "dependencies": {"@scope/server-files": "1"}}', False),
        ("[", False),
    ],
)
def test_a_project_that_is_itself_the_package_is_bound_and_another_is_not(
    said: str, is_bound: bool, tmp_path: Path
) -> None:
    (tmp_path / "package.json").write_text(said)
    found = ServerFinder().find(_runner(tmp_path, "npx", *FILES), str(tmp_path))
    assert bool(found.files) is is_bound


def test_a_tool_of_uv_reads_no_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.uv]")
    for program, arguments in (("uvx", ("server",)), ("uv", ("tool", "install", "server"))):
        assert not ServerFinder().find(_runner(tmp_path, program, *arguments), str(tmp_path)).files


def test_a_person_s_own_folder_is_the_person_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / ".npmrc").write_text("token")
    root = tmp_path / "work" / "project"
    root.mkdir(parents=True)
    assert not ServerFinder().find(_runner(tmp_path, "npx", *FILES), str(root)).files


def _runner(folder: Path, program: str, *arguments: str) -> McpServerSettings:
    path = folder / "bin" / program
    path.parent.mkdir(exist_ok=True)
    path.touch()
    return McpServerSettings("a", (str(path), *arguments))
