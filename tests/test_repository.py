"""Rules that hold for the repository as a whole: sizes, docstrings, addresses, contracts, fonts and colours."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fontTools.ttLib import TTFont

from scripts import codemap

ROOT = Path(__file__).resolve().parent.parent
FONTS = sorted((ROOT / "assets" / "fonts").glob("*.ttf"))
LONGEST_MODULE = 800
PROGRAM = ("core/", "panels/", "gui/")
ROOMS = ("core", "panels", "gui")
# Written in pieces, so that this file does not break its own rule.
MACHINE_PATHS = re.compile(
    r"(?<![\w.*-])/" + r"(?:work|root|(?:home|Users)/(?!person\b|user\b|you\b)\w+|opt/\w+)" + "/"
)
REGISTRIES = re.compile(
    r"\b(?:py" + r"pi\.org|files\.python" + r"hosted\.org|registry\.npm" + r"js\.org|deb\.deb" + r"ian\.org"
    r"|security\.deb" + r"ian\.org|archive\.ubun" + r"tu\.com)\b"
)

# A docstring that begins so is a relative clause, or a question.
RELATIVE = re.compile(
    r"\s*(?:what(?:ever)?|whether|how|where|which|why|who(?:se|ever)?|when)\b", re.IGNORECASE
)

# A sum behind its dollar sign, a size before its unit, and bytes divided for the eye.
OWN_FIGURES = re.compile(r'\$\{|\} ?[kKMGT]?i?B\b|/ ?1024\b|"[kKMG]i?B"')


def is_left_by_tools(path: Path) -> bool:
    """Whether a file is a cache, an environment or what a build left, as `.gitignore` and setuptools name them."""
    *folders, name = path.relative_to(ROOT).parts
    left = {"__pycache__", "build", "out"}
    return name in {"PKG-INFO", "setup.cfg", "uv.lock"} or any(
        part in left or part.endswith(".egg-info") or (part.startswith(".") and part != ".ci")
        for part in folders
    )


@cache
def tracked() -> tuple[Path, ...]:
    """Every file that git keeps or would keep; in an unpacked source distribution every file but what tools leave."""
    if not (ROOT / ".git").exists():
        return tuple(
            path for path in sorted(ROOT.rglob("*")) if path.is_file() and not is_left_by_tools(path)
        )
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    )  # fmt: skip
    return tuple(path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file())


@cache
def texts() -> dict[str, str]:
    """Every tracked text file by its path from the root."""
    found = {}
    for path in tracked():
        data = path.read_bytes()
        if b"\0" not in data[:8192]:
            found[path.relative_to(ROOT).as_posix()] = data.decode("utf-8")
    return found


@cache
def toml(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "assets" / name).read_text(encoding="utf-8"))


def font(path: Path) -> TTFont:
    return TTFont(io.BytesIO(path.read_bytes()), lazy=True)


def test_a_module_over_800_lines_is_justified_in_the_architecture() -> None:
    named = texts()["ARCHITECTURE.md"].partition("- A module holds one subject")[2].partition("\n\n")[0]
    long = [
        f"{name}: {lines} lines"
        for name, text in texts().items()
        if name.endswith(".py") and (lines := text.count("\n")) > LONGEST_MODULE and name not in named
    ]
    assert long == []


class Source(NamedTuple):
    """What the rules ask of a module's tree. A thousand trees would take seconds to parse and 200 MB to keep."""

    classes: tuple[str, ...]
    imported: frozenset[str]
    looked_up: frozenset[str]
    docstrings: tuple[tuple[int, str], ...]
    constants: tuple[str, ...]
    aliases: tuple[tuple[str, str], ...]


@cache
def sources() -> dict[str, Source]:
    """Every module of the program, of its benches and scripts: parsed once for all rules."""
    return {
        name: _read(ast.parse(text))
        for name, text in texts().items()
        if name.endswith(".py") and name.startswith((*PROGRAM, "scripts/"))
    }


def _read(tree: ast.Module) -> Source:
    classes = tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef))
    nodes = list(ast.walk(tree))
    return Source(
        classes=classes,
        imported=_imported(nodes),
        looked_up=_looked_up(nodes),
        docstrings=_docstrings(nodes),
        constants=tuple(_constants(tree)),
        aliases=tuple(_aliases(nodes)),
    )


def _aliases(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """What the module imports from a room, whole or in part, and the name that it has in the module."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(ROOMS):
            for one in node.names:
                yield f"{node.module}.{one.name}", one.asname or one.name


def _constants(tree: ast.Module) -> Iterator[str]:
    """Names in capitals that the module gives a value, each as often as it does."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        for one in (name for target in targets for name in ast.walk(target)):
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and one.id.strip("_").isupper():
                yield one.id


def _program() -> dict[str, Source]:
    return {name: source for name, source in sources().items() if name.startswith(PROGRAM)}


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for name, source in _program().items():
        for found in source.classes:
            places.setdefault(found, []).append(name)
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_a_module_imports_another_one_under_one_name() -> None:
    for name, source in sources().items():
        names: dict[str, set[str]] = {}
        for what, alias in source.aliases:
            names.setdefault(what, set()).add(alias)
        assert {what: many for what, many in names.items() if len(many) > 1} == {}, name


def test_no_module_gives_a_constant_two_values() -> None:
    """The tabs took the second one's value, and cut their words where there was room for them."""
    found = {
        name: sorted({one for one in own.constants if own.constants.count(one) > 1})
        for name, own in sources().items()
    }

    assert {name: twice for name, twice in found.items() if twice} == {}


# Rooms of features by folder, and the word that their doors begin with.
DOORS = {
    "agent": "agent",
    "app/forgetting": "forgetting",
    "imports": "imports",
    "knowledge": "knowledge",
    "knowledge/harvest": "harvest",
    "knowledge/mcp_server": "proposal",
    "mcp": "mcp",
    "retrieval": "retrieval",
    "services/settings": "settings",
    "services/spending": "spending",
    "signals": "signals",
    "talk/caching": "caching",
    "talk/context": "context",
    "talk/discussion": "discussion",
    "talk/turn": "turn",
}


def test_every_room_of_a_feature_has_the_same_doors() -> None:
    doors = [f"core/{room}/{word}_{kind}.py" for room, word in DOORS.items() for kind in ("messages", "step")]
    assert [door for door in doors if door not in texts()] == []


# Names that scripts know, as ARCHITECTURE says. One stands in a room below what it shows and looks it up by name.
FACES = {
    "core.aggregate", "core.ai_client", "core.paths", "core.cache.state", "core.knowledge.harvest.face",
    "core.knowledge_harvest",
}  # fmt: skip
UPWARD_FACE = "core/knowledge/harvest/__init__.py"
GRAMMARS = "core/talk/context/outline/definitions.py"  # modules of tree-sitter, by a table


def _imported(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The modules that a module imports in so many words, with what it takes of packages."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


def _looked_up(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The first words of what a module imports by name, as the contracts cannot see it; `?` where none is written."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func).rsplit(".")[-1] in {
            "import_module",
            "__import__",
        }:
            first = node.args[0]
            first = first.values[0] if isinstance(first, ast.JoinedStr) else first
            found.add(str(first.value).split(".")[0] if isinstance(first, ast.Constant) else "?")
    return frozenset(found)


def test_nothing_in_the_house_imports_a_face_and_one_face_alone_looks_up_by_name() -> None:
    modules = _program()
    assert {name: faces for name, source in modules.items() if (faces := source.imported & FACES)} == {}
    by_name = {name: heads for name, source in modules.items() if (heads := source.looked_up)}
    assert {name for name, heads in by_name.items() if heads & {"core", "panels", "gui"}} == {UPWARD_FACE}
    assert {name for name, heads in by_name.items() if "?" in heads} == {GRAMMARS}
    architecture = texts()["ARCHITECTURE.md"]
    assert [face for face in FACES if face.replace(".", "/") not in architecture] == []


# Endings of participles that are nouns here, and adjectives and participles without such an ending.
NOUNS = {
    "billing",
    "binding",
    "caching",
    "counting",
    "embedded",
    "embedding",
    "forgetting",
    "mapping",
    "pricing",
    "sending",
    "sitting",
    "sorting",
    "speed",
    "spending",
    "thinking",
    "wording",
}
NO_NOUNS = {
    "begun",
    "kept",
    "lost",
    "made",
    "seen",
    "sent",
    "shown",
    "taken",
    "told",
    "visible",
    "prims",
    "utils",
    "helpers",
}


def test_no_module_is_named_by_a_participle_or_an_adjective() -> None:
    """The last word of a file's or a folder's name is a noun."""
    parts = {
        (part.removesuffix(".py"), name)
        for name in texts()
        if name.startswith(("core/", "panels/", "gui/", "tests/", "scripts/")) and name.endswith(".py")
        for part in name.split("/")
    }
    last = {(word.removeprefix("test_").rsplit("_", 1)[-1], name) for word, name in parts}
    assert (
        sorted(
            (word, name)
            for word, name in last
            if word not in NOUNS and (word in NO_NOUNS or (len(word) > 4 and word.endswith(("ing", "ed"))))
        )
        == []
    )


def test_every_module_says_in_one_line_what_it_owns() -> None:
    silent = [
        name
        for name, text in texts().items()
        if name.endswith(".py") and text.strip() and not codemap.first_line(text)
    ]
    assert silent == []


def _docstrings(nodes: Iterable[ast.AST]) -> tuple[tuple[int, str], ...]:
    """Every text that stands as a statement, with its line: of modules, classes, functions and names."""
    return tuple(
        (node.lineno, node.value.value)
        for node in nodes
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def test_no_source_cites_a_page_that_is_not_in_the_tree() -> None:
    """A reader who has the tree alone must find what a docstring or a comment sends them to."""
    pages = {path.name for path in tracked() if path.suffix == ".md"}
    cited = re.compile(r"\bSource(?: of [^:\n]*)?: ([\w-]+\.md)\b")
    told = {
        f"{path}: {name}"
        for path, text in texts().items()
        if path.endswith(".py")
        for name in cited.findall(text)
        if name not in pages
    }
    assert told == set()


def test_no_docstring_begins_as_a_relative_clause() -> None:
    """Subject or imperative first, the noun in the first words: `Outcome of a ping.`, not `What it came to.`"""
    clauses = [
        f"{name}:{line}: {docstring.strip()[:60]}"
        for name, source in sources().items()
        for line, docstring in source.docstrings
        if RELATIVE.match(docstring)
    ]
    assert clauses == []


def test_money_and_sizes_are_worded_in_one_module() -> None:
    own = {
        name: hits
        for name, text in texts().items()
        if name.endswith(".py") and name.startswith(("core/", "panels/", "gui/"))
        if (hits := OWN_FIGURES.findall(text))
    }
    assert set(own) == {"core/kernel/figures.py"}, own


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    found = {name: hits for name, text in texts().items() if (hits := MACHINE_PATHS.findall(text))}
    assert found == {}


def test_no_file_names_a_host_of_a_package_registry() -> None:
    found = {name: hits for name, text in texts().items() if (hits := REGISTRIES.findall(text))}
    assert found == {}


def test_the_lock_has_hashes_and_no_addresses() -> None:
    lock = texts()["requirements.lock"]
    assert "://" not in lock
    assert "index-url" not in lock
    blocks = re.split(r"\n(?=[a-zA-Z0-9])", lock)
    assert len(blocks) > 50
    assert [block for block in blocks if "--hash=sha256:" not in block or "==" not in block] == []


def _asked() -> list[str]:
    """Every requirement of the project, its extras, its build and its development; our own data packages apart."""
    project = tomllib.loads(texts()["pyproject.toml"])
    optional = project["project"]["optional-dependencies"]
    extras = [[line for line in lines if not line.startswith("manual-slop-")] for lines in optional.values()]
    asked: list[str] = project["project"]["dependencies"] + project["dependency-groups"]["dev"]
    asked += project["build-system"]["requires"]
    return asked + [line for extra in extras for line in extra]


def _pins() -> dict[str, str]:
    """The lowest version that the lock pins of each package."""
    pins: dict[str, str] = {}
    for name, version in re.findall(r"^([a-z0-9.-]+)==([^ ]+)", texts()["requirements.lock"], re.MULTILINE):
        pins[name] = min(pins.get(name, version), version, key=_release)
    return pins


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def test_no_package_is_asked_for_twice_in_one_list() -> None:
    project = tomllib.loads(texts()["pyproject.toml"])
    for asked in (project["project"]["dependencies"], project["dependency-groups"]["dev"]):
        names = [re.split(r"[^A-Za-z0-9_.-]", line)[0].lower() for line in asked]
        assert [name for name in names if names.count(name) > 1] == []


def test_the_lock_holds_what_the_project_asks_for() -> None:
    names = {re.split(r"[^A-Za-z0-9_.-]", line)[0].lower().replace("_", "-") for line in _asked()}
    assert names - set(_pins()) == set()


@pytest.mark.parametrize("line", _asked())
def test_a_lower_bound_is_what_was_tested(line: str) -> None:
    """No older version than the lock's, to the precision of the bound: nobody ran the tests with one."""
    found = re.match(r"([a-z0-9.-]+)>=([0-9.]+)", line)
    assert found is not None, f"{line}: a requirement without a lower bound"
    bound = _release(found[2])
    assert len(bound) >= 2
    assert _release(_pins()[found[1]])[: len(bound)] == bound


def test_what_the_tour_alone_needs_is_installed_with_the_tour_alone() -> None:
    project = tomllib.loads(texts()["pyproject.toml"])["project"]

    assert not [line for line in project["dependencies"] if "xlib" in line]
    assert [line.split(">=")[0] for line in project["optional-dependencies"]["tour"]] == ["python-xlib"]


def test_the_import_contracts_hold() -> None:
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as run; run()",
        "--no-cache",
    ]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_an_installed_program_has_all_its_data(tmp_path: Path) -> None:
    """Everything in the packages that is not Python is in the wheel too: prompts, fonts, tables."""
    packages = ("core", "panels", "gui", "prompts", "assets")
    wanted = {
        name for path in tracked() if (name := path.relative_to(ROOT).as_posix()).split("/")[0] in packages
    }
    guide = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "guide").glob("*.md"))
    pages = (
        *[f"docs/{name}" for name in ("openapi.json", "settings.md", "benchmarks.md", "glossary.md")],
        "CHANGELOG.md",
        *guide,
    )
    for name in (*wanted, *pages, "pyproject.toml", "README.md", "LICENSE"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(ROOT / name)
    stored = {"--build-option": ["--compression=stored"]}  # packing its fonts took four seconds
    code = f"from setuptools import build_meta; build_meta.build_wheel('dist', {stored!r})"
    built = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    with zipfile.ZipFile(next((tmp_path / "dist").glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
    assert wanted - names == set()
    assert [
        page
        for page in pages
        if not any(name.endswith(f"share/doc/manual-slop/{page.removeprefix('docs/')}") for name in names)
    ] == []


@pytest.mark.parametrize("path", FONTS, ids=lambda path: path.stem)
def test_every_named_icon_is_in_every_font(path: Path) -> None:
    present = font(path).getBestCmap()
    assert [name for name, code in toml("icons.toml").items() if code not in present] == []


@pytest.mark.parametrize("path", FONTS, ids=lambda path: path.stem)
def test_every_font_covers_what_people_and_models_write(path: Path) -> None:
    present = font(path).getBestCmap()
    samples = (
        "Hello äöüßčžł Tiếng Việt Ελληνικά Съешь же ещё ґє שלום สวัสดี 日本語 ひらがなカタカナ 简体中文 繁體中文 한국어 "
        "←↑→↓⇒↔ ∀∈∑√≤≥≠≈∞ ½² ┌─┬┐│├┤└┘═║░▒▓█ ✓✗★●■◆▶ ①№™©€£¥ “”‘’—…• 😀🚀✅❌⚠️🔥💡👍🏽 \u200b\u200d\ufeff\ufffd"
    )
    assert [char for char in samples if ord(char) not in present] == []


def test_the_fonts_carry_no_reserved_name_and_stay_small() -> None:
    assert len(FONTS) == 4
    for path in FONTS:
        names = font(path)["name"]
        assert str(names.getDebugName(1)).startswith("Slop UI ")
        assert "Open Font License" in str(names.getDebugName(13))
    assert sum(path.stat().st_size for path in FONTS) < 28_000_000


def test_every_mono_glyph_takes_none_one_or_two_cells() -> None:
    widths = font(ROOT / "assets/fonts/SlopMono-Regular.ttf")["hmtx"].metrics.values()
    assert {width for width, _ in widths} == {0, 600, 1200}


def _channels(colour: str) -> list[float]:
    return [int(colour[at : at + 2], 16) / 255 for at in range(1, len(colour), 2)]


def _luminance(colour: str) -> float:
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in _channels(colour)[:3]
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast of two opaque colours, 1 to 21. Source: WCAG 2.2, relative luminance (read 2026-11-20)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def laid_over(tint: str, ground: str) -> str:
    """The colour that a translucent one gives on an opaque ground."""
    *top, alpha = _channels(tint)
    mixed = (over * alpha + under * (1 - alpha) for over, under in zip(top, _channels(ground), strict=True))
    return "#" + "".join(f"{round(value * 255):02x}" for value in mixed)


@pytest.mark.parametrize("mode", ["dark", "light"])
def test_text_can_be_read_on_everything_it_is_drawn_on(mode: str) -> None:
    """WCAG AA: 4.5 for text and placeholders, 3.0 for what is disabled."""
    colours = toml("theme.toml")[mode]
    tones = ("text", "muted", "faint", "accent", "ok", "warn", "error", "purple", "cyan")
    grounds = {
        surface: colours[surface]
        for surface in ("base", "pane", "card", "card_selected", "raised", "inset", "hover", "active")
    }
    grounds |= {
        f"{tint} on {surface}": laid_over(colours[tint], colours[surface])
        for tint, surface in product(("accent_tint", "row_alt"), ("pane", "card"))
    }
    pairs = {
        (tone, ground): contrast(colours[tone], grounds[ground]) for tone, ground in product(tones, grounds)
    }
    for fill in ("accent_fill", "accent_fill_hover", "accent_fill_active", "error_fill"):
        pairs["on_accent", fill] = contrast(colours["on_accent"], colours[fill])
    for tone, surface in product(("accent", "ok", "warn", "error"), ("pane", "card", "raised")):
        ground = laid_over(colours[f"{tone}_tint"], colours[surface])
        pairs[f"{tone}_tint", surface] = contrast(colours[tone], ground)
    code = colours["code"]
    pairs |= {
        ("code", name): contrast(value, code["background"])
        for name, value in code.items()
        if name != "background"
    }
    assert {pair: round(value, 2) for pair, value in pairs.items() if value < 4.5} == {}
    disabled = {name: contrast(colours["disabled"], ground) for name, ground in grounds.items()}
    assert {name: round(value, 2) for name, value in disabled.items() if value < 3} == {}


def test_both_themes_name_the_same_colours() -> None:
    theme = toml("theme.toml")

    def shape(table: dict[str, Any]) -> list[object]:
        return [
            (key, shape(value) if isinstance(value, dict) else None) for key, value in sorted(table.items())
        ]

    assert shape(theme["dark"]) == shape(theme["light"])
    used = {font["file"] for font in theme["font"].values()}
    assert used == {path.name for path in FONTS}
