"""Words of interpreters: what Python, Node and their kin, and others run, and which words are their script's own.

Sources: the usage pages of CPython, Node, Deno, Bun, Ruby, Perl, PHP, Java and .NET.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from glob import escape as glob_escape
from glob import glob

from core.kernel.errors import SlopError
from core.kernel.opener import read_file
from core.kernel.run_files import (
    ENDINGS,
    NODE_ENDINGS,
    PYTHON_ENDINGS,
    RunWords,
    all_data,
    file_at,
    option_files,
    program_name,
    script,
)

PYTHON = re.compile(r"(?:python|pypy)[\d.]*w?")
_PYTHON_CODE = re.compile(r"-[bBdEiIOPqRsSuvx]*([mc])(.*)", re.DOTALL)
"""Option of Python behind which a module's name stands, or code."""
_PYTHON_VALUES = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_MODULE = ("{}.py", "{}/__init__.py", "{}/__main__.py")
NODE = re.compile(r"(?:node|nodejs|deno|bun|tsx|ts-node)[\d.]*")
_NODE_VALUES = frozenset(
    ["-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file", "--preload", "--config", "-C", "--conditions", "--title",
     "--tsconfig", "--import-map", "--cwd", "--stack-trace-limit", "--max-http-header-size", "--input-type", "-O", "-P", "--project"]
)  # fmt: skip
_NODE_WORDS = frozenset({"run", "serve", "watch", "test", "exec"})
_NODE_FORMS = ("{}.js", "{}.cjs", "{}.mjs", "{}.ts", "{}/package.json", "{}/index.js", "{}/index.ts")
"""Files that Node and its kin run for a name that is none itself, or a folder's."""
OTHERS = re.compile(r"ruby|perl|php|lua[\d.]*|tclsh|rscript|julia|java|dotnet|groovy|elixir|pwsh|powershell")
_OTHER_VALUES = frozenset(["-I", "-r", "-cp", "-classpath", "--class-path", "-p", "--module-path", "-jar", "-File", "-f", "-pa", "-l"])  # fmt: skip
_CODE_FOLDERS = frozenset(["-cp", "-classpath", "--class-path", "-p", "--module-path", "-I"])
"""Options behind which folders of code stand."""
_STUB_BYTES = 4_000


def python_code(command: Sequence[str]) -> tuple[str, str] | None:
    """Option and its value by which Python runs a module (`m`) or code (`c`); None for another program, or a script."""
    if not command or PYTHON.fullmatch(program_name(command[0])) is None:
        return None
    for number, one in enumerate(command[1:], 2):
        if (found := _PYTHON_CODE.fullmatch(one)) is not None:
            return found[1], found[2] or "".join(command[number : number + 1])
        if not one.startswith("-") and command[number - 2] not in _PYTHON_VALUES:
            return None
    return None


def module_files(option: str, name: str, folder: str) -> Iterator[str]:
    """Files of a folder that Python would take for a module of `-m`."""
    for form in _MODULE if option == "m" else ():
        if path := file_at(folder, form.format(name.replace(".", os.sep))):
            yield path


def of_python(command: tuple[str, ...], folder: str, _depth: int) -> RunWords:
    """Python: its script, module or code, with what a virtual environment brings for it."""
    words = command[1:]
    takes_value = False
    for number, word in enumerate(words):
        if takes_value:
            takes_value = False
        elif (code := _PYTHON_CODE.fullmatch(word)) is not None:
            value = code[2] or "".join(words[number + 1 : number + 2])
            rest = words[number + (1 if code[2] else 2) :]
            own = module_code(code[1], value, folder)
            return (own if own.code else _installed((value.partition(".")[0],), command[0])) + all_data(
                rest, folder
            )
        elif word.startswith("-") and word != "-":
            takes_value = word in _PYTHON_VALUES
        else:
            path = file_at(folder, word) or file_at(folder, os.path.join(word, "__main__.py"))
            own = (
                script(path, PYTHON_ENDINGS) + _installed(_first_imports(path), command[0])
                if path
                else RunWords()
            )
            return own + all_data(words[number + 1 :], folder)
    return RunWords()


def _first_imports(path: str) -> tuple[str, ...]:
    """Names of packages that a short script imports: what installs commands writes such."""
    try:
        text = read_file(path, most_bytes=_STUB_BYTES).decode("utf-8", "replace")
    except (OSError, SlopError):
        return ()
    return tuple(re.findall(r"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", text, re.MULTILINE))


def _installed(names: Sequence[str], interpreter: str) -> RunWords:
    """Packages in the virtual environment around an interpreter."""
    around = os.path.dirname(os.path.dirname(interpreter))
    if not os.path.isabs(interpreter) or not os.path.isfile(os.path.join(around, "pyvenv.cfg")):
        return RunWords()
    found = RunWords()
    for place in sorted(glob(os.path.join(glob_escape(around), "[Ll]ib", "*", "site-packages"))):
        for name in dict.fromkeys(names):
            folder = os.path.realpath(os.path.join(place, name))
            if os.path.isdir(folder):
                found += RunWords(folders=((folder, PYTHON_ENDINGS),))
            elif path := file_at(place, f"{name}.py"):
                found += RunWords(code=(path,))
    return found


def module_code(option: str, value: str, folder: str) -> RunWords:
    """A module or code of Python's: it takes more from the folder in which it works."""
    files = tuple(module_files(option, value, folder))
    if option == "c":
        names = re.findall(r"(?:import|from)\s+([A-Za-z_]\w*)", value)
        files = tuple(path for name in names for path in module_files("m", name, folder))
    if not files:
        return RunWords()
    first = os.path.dirname(files[0])
    return RunWords(
        code=files,
        folders=tuple((each, PYTHON_ENDINGS) for each in dict.fromkeys((first, os.path.realpath(folder)))),
    )


def of_node(command: tuple[str, ...], folder: str, _depth: int) -> RunWords:
    """Node and its kin: what their options load, the script, or what the file of the package says."""
    words = command[1:]
    found = RunWords()
    option = ""
    for number, word in enumerate(words):
        if word.startswith("-") and word != "-":
            found += option_files(word, folder)
            option = "" if "=" in word else word
            continue
        path = file_at(folder, word) or next(
            filter(None, (file_at(folder, form.format(word)) for form in _NODE_FORMS)), ""
        )
        if option in _NODE_VALUES:
            found += script(path, NODE_ENDINGS) if path else RunWords()
        elif path and not (option and not path.lower().endswith((*NODE_ENDINGS, ".json"))):
            found += script(path, NODE_ENDINGS)
            behind = words[number + 1 :]
            is_doubtful = (
                bool(option) and bool(behind) and file_at(folder, behind[0]).lower().endswith(NODE_ENDINGS)
            )
            found += script(file_at(folder, behind[0]), NODE_ENDINGS) if is_doubtful else RunWords()
            return found + all_data(behind, folder)
        elif word not in _NODE_WORDS and not option:
            return found + package_scripts(word, folder) + all_data(words[number + 1 :], folder)
        option = ""
    return found


def package_scripts(word: str, folder: str) -> RunWords:
    """`bun NAME`, `deno task NAME`: what the file of the folder's package says."""
    path = next(
        filter(None, (file_at(folder, name) for name in ("package.json", "deno.json", "deno.jsonc"))), ""
    )
    return (
        script(path, NODE_ENDINGS) if path and not word.startswith(("npm:", "jsr:", "http")) else RunWords()
    )


def of_other(command: tuple[str, ...], folder: str, _depth: int) -> RunWords:
    """Any other interpreter: its script, and files of options before it."""
    words = command[1:]
    found, before = RunWords(), ""
    for number, word in enumerate(words):
        path = file_at(folder, word.removeprefix("-javaagent:").removeprefix("@"))
        for place in word.split(os.pathsep) if before in _CODE_FOLDERS else ():
            there = os.path.realpath(os.path.join(folder or os.sep, place.rstrip("*") or "."))
            found += RunWords(folders=((there, ENDINGS),)) if os.path.isdir(there) else RunWords()
        if path:
            found += script(path, ENDINGS)
            if before not in _OTHER_VALUES - {"-jar", "-File", "-f"}:
                return found + all_data(words[number + 1 :], folder)
        elif word.startswith("-"):
            found += option_files(word, folder)
        before = word
    return found
