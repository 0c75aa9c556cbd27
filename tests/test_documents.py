"""Rules that hold for the documents: their length, their links, and the paths and commands that they name."""

from __future__ import annotations

import argparse
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from core.front.cli.grammar import make_parser, read

ROOT = Path(__file__).resolve().parent.parent
LONGEST = {"README.md": 120, "CHANGELOG.md": 80}
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED_PATH = re.compile(r"`((?:core|panels|gui|tests|docs|bench|scripts|prompts)/[\w/.-]*\w)`")
COMMAND = re.compile(r"\bmanual-slop ([a-z]+)")
EXAMPLE = re.compile(r"^    (?:[^\n]*\| )?manual-slop (.+)$", re.MULTILINE)


def guide() -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "guide").glob("*.md"))


def pages() -> list[str]:
    written = sorted(path.name for path in ROOT.glob("*.md"))
    return [*written, "docs/glossary.md", "docs/benchmarks.md", "docs/settings.md", *guide()]


@cache
def text(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def anchors(name: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", text(name), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", LONGEST)
def test_a_page_that_a_stranger_reads_first_is_short(name: str) -> None:
    assert text(name).count("\n") <= LONGEST[name]


def test_the_readme_leads_to_every_page() -> None:
    linked = set(LINK.findall(text("README.md")))
    others = {
        "docs/glossary.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "docs/settings.md",
        "docs/benchmarks.md",
    }
    assert {*guide(), *others} - linked == set()


@pytest.mark.parametrize("name", pages())
def test_every_link_leads_somewhere(name: str) -> None:
    broken = []
    for link in LINK.findall(text(name)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = ((ROOT / name).parent / path).resolve() if path else ROOT / name
        if not target.exists() or (anchor and anchor not in anchors(target.relative_to(ROOT).as_posix())):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", *guide()])
def test_every_path_that_a_page_names_is_there(name: str) -> None:
    made = {"docs/codemap.md"}
    named = set(NAMED_PATH.findall(text(name))) - made
    assert {path for path in named if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize("name", ["README.md", *guide()])
def test_every_command_that_a_page_names_is_one(name: str) -> None:
    """An example in a block of its own is read whole: its options are there too."""
    (commands,) = (one for one in make_parser()._actions if isinstance(one, argparse._SubParsersAction))
    assert set(COMMAND.findall(text(name))) - set(commands.choices) == set()
    for example in EXAMPLE.findall(text(name)):
        read(shlex.split(example))


@pytest.mark.parametrize("name", [*LONGEST, "CONTRIBUTING.md", "docs/benchmarks.md", *guide()])
def test_no_page_cites_what_is_not_here_or_a_limit_of_our_own(name: str) -> None:
    """Pages by number and a page of style are not in the tree; a reader has no use for what we aimed at."""
    assert re.findall(r"\b\d\d-[a-z]+\.md\b|\bSTYLE\.md\b|\(bar [\d.]+\)|\| bar \|", text(name)) == []
