"""Processes are started in one place, files opened in one, TOML parsed and types read in one: found in the source."""

from __future__ import annotations

import ast
import re
from functools import cache, lru_cache
from typing import NamedTuple

import pytest

from tests.test_repository import PROGRAM, texts

STARTER = "core/kernel/child_process.py"
LAST_WORDS = "core/kernel/last_words.py"
"""Starts a shell that only says a sentence: the starter would load `subprocess` for the first frame."""
OPENER = "core/kernel/opener.py"
PARSER = "core/kernel/codecs.py"
TYPES = "core/kernel/codecs.py"
PLAIN = "core/kernel/codecs.py"

# What starts a process: a module of which only names of values may be taken, and functions by their name.
PROCESS_MODULES = {"subprocess", "multiprocessing", "webbrowser", "pty", "concurrent.futures.process"}
PROCESS_VALUES = {"Popen", "PIPE", "DEVNULL", "STDOUT", "TimeoutExpired", "SubprocessError"}
"""Types and constants that those who hold a process need; calling `Popen` is starting one."""
PROCESS_FUNCTIONS = {
    "system", "popen", "fork", "forkpty", "startfile", "create_subprocess_exec", "create_subprocess_shell",
    "subprocess_exec", "subprocess_shell", "ProcessPoolExecutor", "posix_spawn", "posix_spawnp",
    *(f"{verb}{kind}" for verb in ("exec", "spawn") for kind in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")),
}  # fmt: skip
OF_OS = PROCESS_FUNCTIONS - {
    "create_subprocess_exec",
    "create_subprocess_shell",
    "subprocess_exec",
    "subprocess_shell",
}

OPENING_METHODS = {"read_text", "read_bytes", "write_text", "write_bytes"}
OPENING_FUNCTIONS = {"os.open", "io.open", "io.FileIO", "FileIO", "codecs.open", "shutil.copyfile", "shutil.copy", "shutil.copy2"}  # fmt: skip
OPENINGS = {
    # Data of our own package.
    ("core/front/cli/version.py", "open"),
    ("core/knowledge/facts/fact_files.py", "files('core.knowledge.facts').joinpath(SCHEMA_FILE).read_bytes"),
    (
        "core/services/providers/model_data.py",
        "files('core.services.providers').joinpath('models.toml').read_text",
    ),
    ("core/services/settings/prompts.py", "place.read_bytes"),
    ("gui/canvas.py", "(ASSETS / 'icons.toml').read_text"),
    ("gui/metrics.py", "(ASSETS / 'theme.toml').read_text"),
    ("gui/metrics.py", "path.open"),
    # A folder that we have just made.
    ("core/services/providers/claude_code/client.py", "path.write_text"),
    ("gui/app.py", "file.read_bytes"),
    # A directory, to sync it; the terminal's end, to be silent.
    ("core/kernel/disk.py", "os.open"),
    ("core/front/cli/output.py", "open"),
    ("core/front/cli/version.py", "os.open"),
    # A place by its name alone: nothing is read through it.
    ("core/kernel/command_start.py", "os.open"),
}
"""Openings that need no opener, each with its reason."""


class Ways(NamedTuple):
    """The ways out of a module that the rules ask about, in the words of its source."""

    starts: list[str]
    openings: list[str]
    functions: frozenset[str]
    typed_readings: list[str]
    folders_made: list[str]


@cache
def ways() -> dict[str, Ways]:
    """Those of every module of the program, parsed once for all rules."""
    found = {}
    for name, text in texts().items():
        if name.endswith(".py") and name.startswith(PROGRAM):
            tree = ast.parse(text)
            functions = frozenset(function for _, function in calls(tree))
            found[name] = Ways(
                starts(tree), openings(tree), functions, typed_readings(tree), folders_made(tree)
            )
    return found


@lru_cache(maxsize=1)
def walked(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All nodes of a module: every rule goes over them, and the walk is what takes long."""
    return tuple(ast.walk(tree))


@lru_cache(maxsize=1)
def calls(tree: ast.Module) -> tuple[tuple[ast.Call, str], ...]:
    return tuple((node, dotted(node.func)) for node in walked(tree) if isinstance(node, ast.Call))


def dotted(node: ast.expr) -> str:
    """An expression in the words of the source: `ast.unparse`, which takes long, only where it is no dotted name."""
    names: list[str] = []
    inner = node
    while isinstance(inner, ast.Attribute):
        names.append(inner.attr)
        inner = inner.value
    return ".".join([inner.id, *reversed(names)]) if isinstance(inner, ast.Name) else ast.unparse(node)


def starts(tree: ast.Module) -> list[str]:
    """Every way to a process in a module, in the words of the source."""
    found = []
    for node in walked(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            taken = {alias.name for alias in node.names}
            if node.module in PROCESS_MODULES:
                found += [f"from {node.module} import {name}" for name in taken]
            elif node.module in {"os", "asyncio", "concurrent.futures", "concurrent"}:
                found += [
                    f"from {node.module} import {name}" for name in taken & {*PROCESS_FUNCTIONS, "process"}
                ]
        elif isinstance(node, ast.Import):
            found += [
                f"import {alias.name} as {alias.asname}" if alias.asname else f"import {alias.name}"
                for alias in node.names
                if alias.name in PROCESS_MODULES and (alias.asname or alias.name != "subprocess")
            ]
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "subprocess"
        ):
            found += [] if node.attr in PROCESS_VALUES else [ast.unparse(node)]
    for _, function in calls(tree):
        owner, _, name = function.rpartition(".")
        is_start = name in PROCESS_FUNCTIONS and (owner in {"os", "asyncio", "loop"} or name not in OF_OS)
        if is_start or name in {"Popen", "ProcessPoolExecutor"}:
            found.append(function)
    return found


def openings(tree: ast.Module) -> list[str]:
    """Every opening of a file in a module, in the words of the source."""
    found = []
    for node, function in calls(tree):
        name = function.rpartition(".")[2]
        first = node.args[0] if node.args else None
        mode = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
        is_path_open = name == "open" and "." in function and set(mode) <= set("rwxabt+") and mode != ""
        if (
            function == "open"
            or function in OPENING_FUNCTIONS
            or is_path_open
            or (name in OPENING_METHODS and "." in function)
        ):
            found.append(function)
        elif name == "open" and "." in function and first is None and not isinstance(node.func, ast.Name):
            found += [function] if function.rpartition(".")[0].endswith(("path", "file", "place")) else []
    return found


def test_every_process_is_started_in_one_place() -> None:
    found = {(name, start) for name, way in ways().items() for start in way.starts}
    assert found == {(STARTER, "subprocess.Popen"), (LAST_WORDS, "os.posix_spawn")}


def test_files_from_outside_and_of_the_home_are_opened_by_the_opener() -> None:
    found = {
        (name, opening)
        for name, way in ways().items()
        for opening in way.openings
        if name != OPENER and not name.startswith("panels/")
    }
    assert found - OPENINGS == set()
    assert OPENINGS - found == set()


def test_nobody_asks_the_toolkit_for_the_clipboard() -> None:
    """Its getter ends the program where the clipboard holds no text: `gui/clipboard.py` is the one door."""
    asked = {"get_clipboard_text", "set_clipboard_text"}
    found = {
        name for name, way in ways().items() if {one.rpartition(".")[2] for one in way.functions} & asked
    }
    assert found == set()


def test_toml_of_others_is_parsed_in_one_place() -> None:
    own = {"gui/metrics.py", "gui/canvas.py"}  # the program's own tables
    found = {name for name, way in ways().items() if way.functions & {"tomllib.loads", "tomllib.load"}}
    assert found - own == {PARSER}


def test_json_of_others_is_parsed_in_one_place() -> None:
    """Lists in lists without end are no ValueError of `json`, and no DecodeError of msgspec: some reader forgets it."""
    own = {
        "core/kernel/command_guard.py": "a line of its parent's",
        "core/services/providers/embedded/child.py": "a line of its parent's",
        "gui/tour_walk.py": "a request of the program's own",
    }
    readers = {"json.loads", "json.load", "msgspec.json.decode", "msgspec.msgpack.decode"}
    found = {name for name, way in ways().items() if way.functions & readers}
    assert found - {*own} == {PLAIN}
    assert {*own} <= found


def test_the_limit_of_memory_is_set_by_worker_processes_alone() -> None:
    """It holds for the whole process and for good: a test that set it in passing let a later thread never start."""
    found = {name for name, text in texts().items() if re.search(r"\blimit_memory\(|RLIMIT_AS\b", text)}
    assert {name for name in found if not name.startswith("tests/")} == {
        "core/kernel/machine.py",
        "core/app/crunch_child.py",
        "gui/drawing_child.py",
    }


def test_nobody_is_told_to_run_what_the_current_folder_holds() -> None:
    """Without `-P` the current folder leads the import path: a stranger's `core/` would run in place of ours."""
    told = re.compile(r"\bpython3?(?:\.exe)? -m (?:core|gui|panels)\b")
    assert [name for name, text in texts().items() if told.search(text)] == []


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess\nsubprocess.run(['git'])",
        "import subprocess as s\ns.run(['git'])",
        "from subprocess import run\nrun(['git'])",
        "import subprocess\nsubprocess.Popen(['git'])",
        "import os\nos.system('git')",
        "import os\nos.execvp('git', [])",
        "import os\nos.posix_spawn('git', [], {})",
        "from os import spawnlp",
        "import webbrowser\nwebbrowser.open('x')",
        "import multiprocessing",
        "from concurrent.futures import ProcessPoolExecutor",
        "import asyncio\nasyncio.create_subprocess_exec('git')",
    ],
)
def test_each_way_to_a_process_is_seen(source: str) -> None:
    assert starts(ast.parse(source)) != []


@pytest.mark.parametrize(
    "source",
    [
        "open('a')",
        "path.read_text()",
        "path.read_bytes()",
        "path.open('rb')",
        "path.open()",
        "self._file.open('a')",
        "os.open(path, 0)",
        "io.open(path)",
        "shutil.copyfile(a, b)",
        "path.write_bytes(b'')",
    ],
)
def test_each_way_to_a_file_is_seen(source: str) -> None:
    assert openings(ast.parse(source)) != []


def typed_readings(tree: ast.Module) -> list[str]:
    """Every way in which msgspec looks at a type in a module, in the words of the source."""
    return [
        function
        for node, function in calls(tree)
        if function.rpartition(".")[2] in {"Decoder", "schema_components", "type_info", "multi_type_info"}
        or function == "msgspec.convert"
        or (function.endswith(".decode") and any(keyword.arg == "type" for keyword in node.keywords))
    ]


def test_types_are_read_in_one_place_where_no_two_threads_meet() -> None:
    """Two threads that look at a struct first at the same time bring the interpreter down in msgspec 0.22."""
    found = {name for name, way in ways().items() if way.typed_readings}
    assert found == {TYPES}
    assert typed_readings(ast.parse("msgspec.toml.decode(text, type=Rule)")) == ["msgspec.toml.decode"]


def folders_made(tree: ast.Module) -> list[str]:
    """Every way in which a module makes a folder, or a file without saying who may read it, in the words of the source."""
    makers = {"mkdir", "makedirs", "copytree", "touch", "mkfifo", "mknod", "extractall", "unpack_archive"}
    kept = {"FileHandler", "RotatingFileHandler", "TimedRotatingFileHandler", "WatchedFileHandler"}
    return [
        function
        for _, function in calls(tree)
        if function.rpartition(".")[2] in makers | kept and not function.endswith("store.touch")
    ]


def test_every_folder_is_made_in_one_place_with_its_mode() -> None:
    """`Path.mkdir(parents=True)` gives the parents the umask's, whatever mode is said; `touch` and logging know none."""
    found = {
        (name, made)
        for name, way in ways().items()
        if not name.startswith("gui/tour")
        for made in way.folders_made
        if not (
            made.endswith(".touch") and name.startswith(("gui/", "panels/"))
        )  # an element that is drawn anew
    }
    assert found == {
        (OPENER, "os.mkdir"),
        ("gui/screen.py", "path.parent.mkdir"),  # where a person asks for a picture
    }
    for source in (
        "os.makedirs(a)",
        "path.mkdir()",
        "shutil.copytree(a, b)",
        "path.touch()",
        "logging.FileHandler(a)",
    ):
        assert folders_made(ast.parse(source)) != []
