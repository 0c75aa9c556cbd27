"""Words of a command line that name what it runs, told from those that name what it works on: by the program's own rules.

An interpreter runs its script and what its options load; what stands behind the script is the script's own, so data.
Sources: the usage pages of CPython, Node, Deno, Bun, uv, npm, pnpm, Yarn, GNU make and POSIX `sh`.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from glob import escape as glob_escape
from glob import glob

import msgspec

from core.base.errors import SlopError
from core.base.opener import read_file

PYTHON_ENDINGS = (".py", ".pyw", ".pyc", ".so", ".pyd", ".pth")
NODE_ENDINGS = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx", ".node", ".wasm")
_SHELL_ENDINGS = (".sh", ".bash", ".zsh", ".ksh", ".fish", ".ps1", ".bat", ".cmd")
_OTHER_ENDINGS = (".rb", ".pl", ".pm", ".php", ".lua", ".tcl", ".r", ".jl", ".jar", ".class", ".dll", ".go", ".exs", ".ex", ".groovy")  # fmt: skip
ENDINGS = (*PYTHON_ENDINGS, *NODE_ENDINGS, *_SHELL_ENDINGS, *_OTHER_ENDINGS)
"""Endings of files that are run, by whatever runs them."""

_PYTHON = re.compile(r"(?:python|pypy)[\d.]*w?")
_PYTHON_CODE = re.compile(r"-[bBdEiIOPqRsSuvx]*([mc])(.*)", re.DOTALL)
"""Option of Python behind which a module's name stands, or code."""
_PYTHON_VALUES = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_MODULE = ("{}.py", "{}/__init__.py", "{}/__main__.py")
_NODE = re.compile(r"(?:node|nodejs|deno|bun|tsx|ts-node)[\d.]*")
_NODE_VALUES = frozenset(
    ["-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file", "--preload", "--config", "-C", "--conditions", "--title",
     "--tsconfig", "--import-map", "--cwd", "--stack-trace-limit", "--max-http-header-size", "--input-type", "-O", "-P", "--project"]
)  # fmt: skip
_NODE_WORDS = frozenset({"run", "serve", "watch", "test", "exec"})
_NODE_FORMS = ("{}.js", "{}.cjs", "{}.mjs", "{}.ts", "{}/package.json", "{}/index.js", "{}/index.ts")
"""Files that Node and its kin run for a name that is none itself, or a folder's."""
_SHELL = re.compile(r"(?:ba|da|z|k|fi)?sh")
_OTHERS = re.compile(r"ruby|perl|php|lua[\d.]*|tclsh|rscript|julia|java|dotnet|groovy|elixir|pwsh|powershell")
_OTHER_VALUES = frozenset(["-I", "-r", "-cp", "-classpath", "--class-path", "-p", "--module-path", "-jar", "-File", "-f", "-pa", "-l"])  # fmt: skip
_LAUNCHERS = frozenset(
    ["env", "timeout", "nice", "nohup", "setsid", "stdbuf", "ionice", "sudo", "doas", "time", "command", "exec", "xvfb-run",
     "dbus-run-session", "unbuffer", "chronic", "caffeinate", "coverage"]
)  # fmt: skip
"""Programs that run the program behind their own words."""
_PROJECT_RUNNERS = frozenset({"uv", "uvx", "poetry", "pdm", "hatch", "rye", "pipenv", "conda"})
_PROJECT_VALUES = frozenset(
    ["--with", "--with-editable", "--with-requirements", "--python", "-p", "--extra", "--group", "--only-group", "--no-group", "--no-extra",
     "--index", "--default-index", "--index-url", "-i", "--extra-index-url", "--find-links", "-f", "--package", "--config-file", "--cache-dir",
     "--env-file", "--refresh-package", "--upgrade-package", "-P", "--reinstall-package", "--from", "-w", "-n", "--name", "--prefix"]
)  # fmt: skip
_FOLDER_VALUES = frozenset({"--directory", "--project", "-C", "--prefix", "--cwd", "--dir"})
_PACKAGE_RUNNERS = frozenset({"npx", "npm", "pnpx", "pnpm", "yarn", "yarnpkg", "bunx"})
_PACKAGE_WORDS = frozenset({"exec", "x", "dlx"})
_PACKAGE_SCRIPTS = frozenset({"run", "run-script", "start", "test", "restart", "stop"})
_BUILDERS = {
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile",),
}
"""Programs that run what a file of the folder says."""
_BUILDER_FILES = frozenset({"-f", "--file", "--makefile", "--justfile", "-t", "--taskfile"})
_SHEBANG = re.compile(rb"#!\s*(\S+)(?:[ \t]+([^\r\n]*))?")
_LIKE_FILE = re.compile(r"[/\\]|\.[A-Za-z]\w{0,9}$")
"""A word that is meant for a file, although none is there yet."""
_LONGEST = 4_000
_DEEPEST = 5
_MOST_WORDS = 2_000
_HEAD_BYTES = 1_000_000
_STUB_BYTES = 4_000
_BETWEEN = re.compile(r"[\s;|&<>()`$\"'\\{}\[\]]+")


class RunWords(msgspec.Struct, frozen=True):
    """Files that a command line names.

    Args:
        code: that it runs, in the order of the words, absolute, links resolved.
        folders: from which what it runs takes more code of its own, nearest first, each with the endings of code there.
        data: where a word for a file leads that is none of them, by its path as it is named; it need not be there yet.
    """

    code: tuple[str, ...] = ()
    folders: tuple[tuple[str, tuple[str, ...]], ...] = ()
    data: Mapping[str, str] = {}

    def __add__(self, other: RunWords) -> RunWords:
        return RunWords(
            tuple(dict.fromkeys((*self.code, *other.code))),
            tuple(dict.fromkeys((*self.folders, *other.folders))),
            {**self.data, **other.data},
        )


def run_words(command: Sequence[str], folder: str) -> RunWords:
    """Find what a command runs, and what it works on. Total.

    Args:
        command: program and arguments, the program by name or path.
        folder: in which it works, absolute; empty for none, then only absolute paths count.
    """
    found = _found(tuple(command[:_MOST_WORDS]), folder, 0)
    code = frozenset(found.code)
    return msgspec.structs.replace(
        found, data={name: path for name, path in found.data.items() if path not in code}
    )


def words_within(words: Sequence[str], folder: str) -> RunWords:
    """The same for words of which nobody knows where a command begins: every program that is known counts as one, and a word
    that names a file of code is run.
    """
    found = RunWords()
    for number, word in enumerate(words[:_MOST_WORDS]):
        if _is_known(_name(word)):
            found += _found(tuple(words[number:_MOST_WORDS]), folder, 1)
        elif (path := file_at(folder, word)) and _is_code(path):
            found += _script(path)
    return found


def file_at(folder: str, name: str) -> str:
    """Absolute path of the regular file that a name means in a folder, links resolved; empty where there is none."""
    if not name or "\0" in name or len(name) > _LONGEST or not (folder or os.path.isabs(name)):
        return ""
    path = os.path.join(folder or os.sep, name)
    return os.path.realpath(path) if os.path.isfile(path) else ""


def python_code(command: Sequence[str]) -> tuple[str, str] | None:
    """Option and its value by which Python runs a module (`m`) or code (`c`); None for another program, or a script."""
    if not command or _PYTHON.fullmatch(_name(command[0])) is None:
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


def _found(command: tuple[str, ...], folder: str, depth: int) -> RunWords:
    if not command or depth > _DEEPEST:
        return RunWords()
    name = _name(command[0])
    for is_meant, find in _KINDS:
        if is_meant(name):
            return find(command, folder, depth)
    return _of_program(command, folder, depth)


def _name(program: str) -> str:
    return re.sub(r"\.(?:cmd|exe|ps1|bat)$", "", os.path.basename(program).lower())


def _is_known(name: str) -> bool:
    return any(is_meant(name) for is_meant, _ in _KINDS)


def _of_program(command: tuple[str, ...], folder: str, depth: int) -> RunWords:
    """Any other program: itself where it is a script, and of its words those that name code."""
    program = file_at(folder, command[0]) if os.sep in command[0] else ""
    if program and (led := _shebang(program)):
        return _script(program) + _found((*led, program, *command[1:]), folder, depth + 1)
    found = _script(program) if program and _is_code(program) else RunWords()
    for word in command[1:]:
        for part in (word, word.partition("=")[2], word.rpartition(":")[0]):
            if path := file_at(folder, part):
                found += _script(path) if _is_code(path) else _data(folder, part)
                break
        else:
            found += _all_data((word,), folder)
    return found


def _is_code(path: str) -> bool:
    """True for a file that can only be meant to be run: by its ending, or because it may be executed."""
    return path.lower().endswith(ENDINGS) or (os.name == "posix" and os.access(path, os.X_OK))


def _shebang(path: str) -> tuple[str, ...]:
    """Words of a script's first line, empty for what is none."""
    try:
        found = _SHEBANG.match(read_file(path, most_bytes=_HEAD_BYTES)[:300])
    except (OSError, SlopError):
        return ()
    if found is None:
        return ()
    rest = (found[2] or b"").decode("utf-8", "replace").split()
    return (found[1].decode("utf-8", "replace"), *(word for word in rest if word != "-S"))


def _script(path: str, endings: tuple[str, ...] = ()) -> RunWords:
    """A file that is run, with the folder that it takes more code from."""
    endings = endings or _endings_of(path)
    return RunWords((path,), ((_home_of(path, endings), endings),))


def _endings_of(path: str) -> tuple[str, ...]:
    for endings in (PYTHON_ENDINGS, NODE_ENDINGS):
        if path.lower().endswith(endings):
            return endings
    return ENDINGS


def _home_of(path: str, endings: tuple[str, ...]) -> str:
    """Folder of a script's own code: of Node's the package around it, as far as one is near."""
    folder = os.path.dirname(path)
    if endings == NODE_ENDINGS:
        around = folder
        for _ in range(_DEEPEST):
            if os.path.isfile(os.path.join(around, "package.json")):
                return around
            around = os.path.dirname(around)
    return folder


def _data(folder: str, word: str) -> RunWords:
    """A file that a word names, or would: where it leads is known before it is there."""
    if (
        not word
        or "\0" in word
        or len(word) > _LONGEST
        or "://" in word
        or not (folder or os.path.isabs(word))
    ):
        return RunWords()
    path = os.path.normpath(os.path.join(folder or os.sep, word))
    if os.path.isfile(path) or (
        _LIKE_FILE.search(word) and not os.path.exists(path) and os.path.isdir(os.path.dirname(path))
    ):
        return RunWords(data={path: os.path.realpath(path)})
    return RunWords()


def _all_data(words: Sequence[str], folder: str) -> RunWords:
    found = RunWords()
    for word in words:
        found += _data(folder, word.partition("=")[2] if word.startswith("-") else word)
    return found


def _option_files(word: str, folder: str) -> RunWords:
    """The file that an option of an interpreter names behind its `=`: it is loaded."""
    path = file_at(folder, word.partition("=")[2])
    return _script(path) if path else RunWords()


def _of_python(command: tuple[str, ...], folder: str, _depth: int) -> RunWords:
    words = command[1:]
    takes_value = False
    for number, word in enumerate(words):
        if takes_value:
            takes_value = False
        elif (code := _PYTHON_CODE.fullmatch(word)) is not None:
            value = code[2] or "".join(words[number + 1 : number + 2])
            rest = words[number + (1 if code[2] else 2) :]
            own = _module(code[1], value, folder)
            return (own if own.code else _installed((value.partition(".")[0],), command[0])) + _all_data(
                rest, folder
            )
        elif word.startswith("-") and word != "-":
            takes_value = word in _PYTHON_VALUES
        else:
            path = file_at(folder, word) or file_at(folder, os.path.join(word, "__main__.py"))
            own = (
                _script(path, PYTHON_ENDINGS) + _installed(_first_imports(path), command[0])
                if path
                else RunWords()
            )
            return own + _all_data(words[number + 1 :], folder)
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
                found += RunWords((path,))
    return found


def _module(option: str, value: str, folder: str) -> RunWords:
    """A module or code of Python's: it takes more from the folder in which it works."""
    files = tuple(module_files(option, value, folder))
    if option == "c":
        names = re.findall(r"(?:import|from)\s+([A-Za-z_]\w*)", value)
        files = tuple(path for name in names for path in module_files("m", name, folder))
    if not files:
        return RunWords()
    first = os.path.dirname(files[0])
    return RunWords(
        files, tuple((each, PYTHON_ENDINGS) for each in dict.fromkeys((first, os.path.realpath(folder))))
    )


def _of_node(command: tuple[str, ...], folder: str, _depth: int) -> RunWords:
    words = command[1:]
    found = RunWords()
    option = ""
    for number, word in enumerate(words):
        if word.startswith("-") and word != "-":
            found += _option_files(word, folder)
            option = "" if "=" in word else word
            continue
        path = file_at(folder, word) or next(
            filter(None, (file_at(folder, form.format(word)) for form in _NODE_FORMS)), ""
        )
        if option in _NODE_VALUES:
            found += _script(path, NODE_ENDINGS) if path else RunWords()
        elif path and not (option and not path.lower().endswith((*NODE_ENDINGS, ".json"))):
            found += _script(path, NODE_ENDINGS)
            behind = words[number + 1 :]
            is_doubtful = (
                bool(option) and bool(behind) and file_at(folder, behind[0]).lower().endswith(NODE_ENDINGS)
            )
            found += _script(file_at(folder, behind[0]), NODE_ENDINGS) if is_doubtful else RunWords()
            return found + _all_data(behind, folder)
        elif word not in _NODE_WORDS and not option:
            return found + _package_scripts(word, folder) + _all_data(words[number + 1 :], folder)
        option = ""
    return found


def _package_scripts(word: str, folder: str) -> RunWords:
    """`bun NAME`, `deno task NAME`: what the file of the folder's package says."""
    path = next(
        filter(None, (file_at(folder, name) for name in ("package.json", "deno.json", "deno.jsonc"))), ""
    )
    return (
        _script(path, NODE_ENDINGS) if path and not word.startswith(("npm:", "jsr:", "http")) else RunWords()
    )


def _of_shell(command: tuple[str, ...], folder: str, _depth: int) -> RunWords:
    words = command[1:]
    for number, word in enumerate(words):
        if re.fullmatch(r"-[a-zA-Z]*c", word):
            return line_words("".join(words[number + 1 : number + 2]), folder) + _all_data(
                words[number + 2 :], folder
            )
        if word.startswith(("-", "+")) and word != "-":
            continue
        path = file_at(folder, word)
        if words[number - 1] in {"-o", "+o", "-O", "+O"} and number:
            continue
        return (_script(path, ENDINGS) if path else RunWords()) + _all_data(words[number + 1 :], folder)
    return RunWords()


def line_words(line: str, folder: str) -> RunWords:
    """The same for a command line that a shell would read, as far as its words can be told."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = []
    return words_within((*words, *filter(None, _BETWEEN.split(line))), folder)


def _of_other(command: tuple[str, ...], folder: str, _depth: int) -> RunWords:
    words = command[1:]
    found, before = RunWords(), ""
    for number, word in enumerate(words):
        path = file_at(folder, word.removeprefix("-javaagent:"))
        if path:
            found += _script(path, ENDINGS)
            if before not in _OTHER_VALUES - {"-jar", "-File", "-f"}:
                return found + _all_data(words[number + 1 :], folder)
        elif word.startswith("-"):
            found += _option_files(word, folder)
        before = word
    return found


def _of_launcher(command: tuple[str, ...], folder: str, depth: int) -> RunWords:
    words = command[1:]
    for number, word in enumerate(words):
        if _is_known(_name(word)):
            return _found(words[number:], folder, depth + 1)
    for number, word in enumerate(words):
        if (path := file_at(folder, word)) and _is_code(path):
            return _of_program((path, *words[number + 1 :]), folder, depth + 1)
    return _all_data(words, folder)


def _of_project_runner(command: tuple[str, ...], folder: str, depth: int) -> RunWords:
    """`uv run`, `poetry run` and their kin: the command behind, in the folder that they go to, with its project's file."""
    words = command[1:]
    has_run, takes, is_module = False, "", False
    found = RunWords()
    for number, word in enumerate(words):
        option, _, value = word.partition("=")
        if takes or (value and option.startswith("-")):
            said, kind = (word, takes) if takes else (value, option)
            takes = ""
            if kind in _FOLDER_VALUES:
                folder = os.path.realpath(os.path.join(folder or os.sep, said))
            elif kind == "--from" and os.path.isdir(os.path.join(folder or os.sep, said)):
                found += RunWords(folders=((os.path.realpath(os.path.join(folder, said)), PYTHON_ENDINGS),))
            else:
                found += _option_files(f"--x={said}", folder)
        elif word in _FOLDER_VALUES or word in _PROJECT_VALUES:
            takes = word
        elif word in {"-m", "--module"}:
            is_module = True
        elif word.startswith("-"):
            continue
        elif not has_run and word == "run":
            has_run = True
        elif not has_run:  # `uvx NAME`, `uv sync`: nothing of the folder
            return found + _all_data(words[number + 1 :], folder)
        else:
            return found + _project(folder) + _behind_run(words[number:], folder, depth, is_module=is_module)
    return found + (_project(folder) if has_run else RunWords())


def _project(folder: str) -> RunWords:
    names = ("pyproject.toml", "uv.toml", "uv.lock")
    return RunWords(tuple(filter(None, (file_at(folder, name) for name in names))))


def _behind_run(words: tuple[str, ...], folder: str, depth: int, *, is_module: bool) -> RunWords:
    if is_module:
        return _module("m", words[0], folder) + _all_data(words[1:], folder)
    if path := file_at(folder, words[0]):
        endings = PYTHON_ENDINGS if path.endswith(PYTHON_ENDINGS) else ENDINGS
        return _script(path, endings) + _all_data(words[1:], folder)
    if _is_known(_name(words[0])):
        return _found(words, folder, depth + 1)
    own = (
        RunWords(folders=((os.path.realpath(folder), PYTHON_ENDINGS),))
        if folder and _project(folder).code
        else RunWords()
    )
    return own + _all_data(words[1:], folder)  # a command that the project itself may bring


def _of_package_runner(command: tuple[str, ...], folder: str, depth: int) -> RunWords:
    """`npx` and its kin: a package of the folder's own, an interpreter that is run so, or a script of `package.json`."""
    words = command[1:]
    takes = ""
    for number, word in enumerate(words):
        if takes:
            folder = (
                os.path.realpath(os.path.join(folder or os.sep, word)) if takes in _FOLDER_VALUES else folder
            )
            takes = ""
        elif word in _FOLDER_VALUES or word in {"-p", "--package"}:
            takes = word
        elif word.startswith("-") or word in _PACKAGE_WORDS:
            continue
        elif word in _PACKAGE_SCRIPTS:
            return _package_scripts(word, folder) + _all_data(words[number + 1 :], folder)
        elif _is_known(name := _name(word.partition("@")[0])):
            return _found((name, *words[number + 1 :]), folder, depth + 1)
        else:
            own = file_at(folder, os.path.join(word, "package.json")) if word[:1] in {".", "/"} else ""
            own = own or (file_at(folder, word) if word[:1] in {".", "/"} else "")
            return (_script(own, NODE_ENDINGS) if own else RunWords()) + _all_data(
                words[number + 1 :], folder
            )
    return RunWords()


def _of_builder(name: str) -> Callable[[tuple[str, ...], str, int], RunWords]:
    def find(command: tuple[str, ...], folder: str, _depth: int) -> RunWords:
        named, takes = RunWords(), ""
        for word in command[1:]:
            if takes in {"-C", "--directory", "-d"}:
                folder = os.path.realpath(os.path.join(folder or os.sep, word))
            elif takes in _BUILDER_FILES:
                named += RunWords(tuple(filter(None, (file_at(folder, word),))))
            takes = word
        files = (file_at(folder, each) for each in _BUILDERS[name])
        return named + RunWords(tuple(filter(None, files)))

    return find


_Find = Callable[[tuple[str, ...], str, int], RunWords]
_KINDS: tuple[tuple[Callable[[str], bool], _Find], ...] = (
    (lambda name: _PYTHON.fullmatch(name) is not None, _of_python),
    (lambda name: _NODE.fullmatch(name) is not None, _of_node),
    (lambda name: _SHELL.fullmatch(name) is not None, _of_shell),
    (lambda name: _OTHERS.fullmatch(name) is not None, _of_other),
    (lambda name: name in _LAUNCHERS, _of_launcher),
    (lambda name: name in _PROJECT_RUNNERS, _of_project_runner),
    (lambda name: name in _PACKAGE_RUNNERS, _of_package_runner),
    *(((lambda name, own=own: name == own), _of_builder(own)) for own in _BUILDERS),
)
"""Kinds of programs whose words are understood, each with how."""
