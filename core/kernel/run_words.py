"""Words of a command line that name what it runs, by program and by interpreter, told from those that name data."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from glob import escape as glob_escape
from glob import glob, iglob
from itertools import islice

from msgspec.structs import replace

from core.kernel.errors import SlopError
from core.kernel.opener import read_file
from core.kernel.patterns import late
from core.kernel.run_code import (
    ABOUT,
    ALONE,
    ENDINGS,
    GIT_ALONE,
    MODULES_ALONE,
    NODE_ENDINGS,
    PYTHON_ENDINGS,
    RunWords,
    all_data,
    data,
    file_at,
    is_code,
    may_be_run,
    option_files,
    program_name,
    script,
)

# Words of interpreters: what Python, Node and their kin, and others run, and which words are their script's
# own.

PYTHON = late(r"(?:python|pypy)[\d.]*w?")
_PYTHON_CODE = late(r"-[bBdEiIOPqRsSuvx]*([mc])(.*)", re.DOTALL)
"""Option of Python behind which a module's name stands, or code."""
_PYTHON_VALUES = frozenset({"-W", "-X", "--check-hash-based-pycs"})
_MODULE = ("{}.py", "{}/__init__.py", "{}/__main__.py")
NODE = late(r"(?:node|nodejs|deno|bun|tsx|ts-node)[\d.]*")
_NODE_VALUES = frozenset(
    ["-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file", "--preload", "--config", "-C", "--conditions", "--title",
     "--tsconfig", "--import-map", "--cwd", "--stack-trace-limit", "--max-http-header-size", "--input-type", "-O", "-P", "--project"]
)  # fmt: skip
_NODE_WORDS = frozenset({"run", "serve", "watch", "test", "exec"})
_NODE_FORMS = ("{}.js", "{}.cjs", "{}.mjs", "{}.ts", "{}/package.json", "{}/index.js", "{}/index.ts")
"""Files that Node and similar programs run for a name that is no file itself, or that is a folder."""
OTHERS = late(r"ruby|perl|php|lua[\d.]*|tclsh|rscript|julia|java|dotnet|groovy|elixir|pwsh|powershell")
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
            if own.code or code[1] == "c":
                return own + all_data(rest, folder)
            return _installed((value.partition(".")[0],), command[0]) + _named_files(rest, folder)
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


# Words of a command line that name what it runs, told from those that name what it works on: by the
# program's own rules.

_SHELL = late(r"(?:ba|da|z|k|fi)?sh")
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
_PACKAGE_VALUES = frozenset({"--from", "--with", "--with-editable"})
_FOLDER_VALUES = frozenset({"--directory", "--project", "-C", "--prefix", "--cwd", "--dir"})
_PACKAGE_RUNNERS = frozenset({"npx", "npm", "pnpx", "pnpm", "yarn", "yarnpkg", "bunx"})
_PACKAGE_WORDS = frozenset({"exec", "x", "dlx"})
_PACKAGE_SCRIPTS = frozenset({"run", "run-script", "start", "test", "restart", "stop"})
_BUILDERS = {
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "rake": ("Rakefile",),
    "go": ("go.mod", "go.work", "main.go"),
    "cargo": ("Cargo.toml", "Cargo.lock", "build.rs", "src/main.rs", "src/lib.rs", ".cargo/config.toml"),
    **dict.fromkeys(
        ("gradle", "gradlew"),
        ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle/wrapper/gradle-wrapper.jar",
         "gradle/wrapper/gradle-wrapper.properties"),
    ),
    **dict.fromkeys(
        ("mvn", "mvnw"), ("pom.xml", ".mvn/extensions.xml", ".mvn/jvm.config", ".mvn/wrapper/maven-wrapper.jar", ".mvn/wrapper/maven-wrapper.properties")
    ),
    **dict.fromkeys(("docker", "podman"), ("compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml", "Dockerfile")),
    **dict.fromkeys(("pytest", "py.test"), ("conftest.py", "tests/conftest.py", "pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml")),
    "tox": ("tox.ini", "pyproject.toml", "setup.cfg"),
    "nox": ("noxfile.py",),
    "invoke": ("tasks.py",),
    "fab": ("fabfile.py",),
    "cmake": ("CMakeLists.txt",),
    "ninja": ("build.ninja",),
    "meson": ("meson.build", "meson_options.txt", "meson.options"),
    "scons": ("SConstruct", "Sconstruct", "sconstruct", "SConscript"),
    "doit": ("dodo.py",),
    "snakemake": ("Snakefile", "workflow/Snakefile"),
    "mix": ("mix.exs", "config/config.exs", "test/test_helper.exs"),
    "poe": ("pyproject.toml", "poe_tasks.toml"),
    "alembic": ("alembic.ini", "alembic/env.py", "migrations/env.py"),
    "pre-commit": (".pre-commit-config.yaml",),
    **dict.fromkeys(("pip", "pip3"), ("setup.py", "pyproject.toml", "setup.cfg")),
    **dict.fromkeys(
        ("vite", "vitest"),
        tuple(f"{name}.config.{end}" for name in ("vite", "vitest") for end in ("ts", "mts", "js", "mjs", "cjs")),
    ),
    **{name: tuple(f"{name}.config.{end}" for end in ("ts", "mts", "js", "mjs", "cjs"))
       for name in ("jest", "webpack", "rollup", "eslint", "tailwindcss", "playwright", "next", "svelte", "prettier")},
}  # fmt: skip
"""Programs that run what files of the folder say."""
_COMPILED = {"go": (".go",), "cargo": (".rs",)}
"""Programs that build what is run from the code of the folder, with its endings."""
_BUILDER_FILES = frozenset({"-f", "--file", "--makefile", "--justfile", "-t", "--taskfile"})
_NODE_WHOLE = frozenset({"--test", "test", "task", "lint", "bench", "run", "build"})
_BY_NAME = late(
    rb"importlib|__import__|execute_from_command_line|pkgutil|runpy|entry_points|\bexec\(|subprocess|os\.system|child_process"
    rb"|(?:require|import)\([^\"'()\s]"
)
"""Ways in which a script loads or starts what its text does not name."""
_BEGINS = late(
    r"(?:(?:^|[;|&(\n`])[ \t]*|(?<![\w./-])(?:do|then|else|if|while|until|!)[ \t]+)(\w[\w.+-]*)(?=[ \t;)]|$)",
    re.MULTILINE,
)
"""Words of a line with which a command can begin."""
_SOURCE = frozenset({".", "source"})
_FILE_OPTIONS = {
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "sed", "gsed"), ("-f", "--file")),
    **dict.fromkeys(("ssh", "scp", "sftp"), ("-F",)),
    "curl": ("-K", "--config"),
    "openssl": ("-config", "-engine", "-provider"),
}
"""Options behind which a file stands that the program runs, or that names what the program runs."""
_NAMED_CODE = frozenset(
    ["ansible-playbook", "gdb", "lldb", "vim", "nvim", "ex", "emacs", "sqlite3", "duckdb", "psql", "mysql", "jupyter", "papermill", "octave",
     "gnuplot", "expect", "bc", "m4", "nix-build", "nix-shell", "ipython", "streamlit", "marimo"]
)  # fmt: skip
"""Programs that run what stands in a file that they are given, whatever its ending."""
_APPS = frozenset(
    [
        "uvicorn",
        "gunicorn",
        "hypercorn",
        "granian",
        "daphne",
        "flask",
        "celery",
        "fastapi",
        "waitress-serve",
        "rq",
        "dramatiq",
    ]
)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_LOADS = frozenset(
    ["BASH_ENV", "ENV", "PYTHONSTARTUP", "LD_PRELOAD", "NODE_OPTIONS", "RUBYOPT", "PERL5OPT", "MAKEFILES", "GIT_SSH_COMMAND", "GIT_SSH",
     "GIT_EXTERNAL_DIFF", "EDITOR", "VISUAL", "GIT_EDITOR", "PAGER", "GIT_PAGER", "SHELL", "CC", "CXX", "CONFIG_SHELL"]
)  # fmt: skip
"""Variables whose files are run by what gets them."""
_PLACES = frozenset({"PATH", "PYTHONPATH", "NODE_PATH", "PERL5LIB", "RUBYLIB", "LD_LIBRARY_PATH"})
"""Variables of folders in which programs, or what they load, are looked for."""
_GOES_TO = late(r"(?<![\w-])(?:cd|pushd)\s+(?:--\s+)?([^\s;|&<>()`$\"'\\]+|\"[^\"$`]+\"|'[^']+')")
_ASSIGNED = late(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_FED = late(
    r"\|&?\s*(?:sudo\s+|env\s+)?(?:(?:ba|da|z|k|fi)?sh|python[\d.]*|node|perl|ruby|php)\b(?!\s+[\w./])"
    r"|(?<![\w-])eval\b|<\("
)
"""Parts of a command line by which a file's text is run that no word says is code."""
_SHEBANG = late(rb"#!\s*(\S+)(?:[ \t]+([^\r\n]*))?")
_DEEPEST = 5
_MOST_WORDS = 2_000
_HEAD_BYTES = 1_000_000
_MOST_MATCHES = 20
_MARKS, _GLOB = late(r"[=!:,]+"), late(r"[*?]")
_BETWEEN = late(r"[\s;|&<>()`$\"'\\{}\[\]]+")


def run_words(command: Sequence[str], folder: str) -> RunWords:
    """Find the program that a command runs, and its arguments. Never raises.

    Args:
        command: program and arguments, the program by name or path.
        folder: in which it works, absolute; empty for none, then only absolute paths count.
    """
    words = tuple(command[:_MOST_WORDS])
    found = _found(words, folder, 0)
    code = frozenset(found.code)
    given = {name: path for name, path in found.data.items() if path not in code}
    return replace(found, data=given | {name: path for name, path in _links(words, folder) if path in code})


def _links(words: Sequence[str], folder: str) -> Iterator[tuple[str, str]]:
    """Words that name a link to a file, each with where it leads."""
    for word in words[1:]:
        path = file_at(folder, word)
        if path and path != (named := os.path.normpath(os.path.join(folder or os.sep, word))):
            yield named, path


def words_within(words: Sequence[str], folder: str) -> RunWords:
    """The same for words of which nobody knows where a command begins: every program that is known counts as one, and a word
    that names a file of code, or by its path one that may be executed, is run.
    """
    found = RunWords()
    for number, word in enumerate(words[:_MOST_WORDS]):
        if (assigned := _ASSIGNED.fullmatch(word)) is not None:
            found += _of_variable(assigned[1], assigned[2], words[number + 1 : _MOST_WORDS], folder)
            found += _run_by_path(assigned[2], folder)
        elif _is_known(program_name(word)):
            found += _found(tuple(_expanded(words[number:_MOST_WORDS], folder)), folder, 1)
        else:
            found += _run_by_path(word, folder)
    return found


def _expanded(words: Sequence[str], folder: str) -> Iterator[str]:
    """The words with what their patterns stand for, as a shell gives them."""
    for word in words:
        is_pattern = bool(folder) and _GLOB.search(word) is not None
        matches = sorted(islice(iglob(word, root_dir=folder), _MOST_MATCHES)) if is_pattern else ()
        yield from matches or (word,)


def _run_by_path(word: str, folder: str) -> RunWords:
    """Code that a word names, or a part of it: behind a variable or the mark of an option; by a pattern what may be executed."""
    behind = (word.partition(os.sep)[2],) if os.sep in word else ()
    found = RunWords()
    for name in dict.fromkeys((word, *_MARKS.split(word)[1:], *behind)):
        is_pattern = bool(folder) and _GLOB.search(name) is not None
        for match in islice(iglob(name, root_dir=folder), _MOST_MATCHES) if is_pattern else (name,):
            path = file_at(folder, match)
            if path and _is_meant(path, is_pattern=is_pattern, is_path=os.sep in word):
                found += script(path)
    return found


def _is_meant(path: str, *, is_pattern: bool, is_path: bool) -> bool:
    """True for a file that a word can only name to have it run."""
    if is_pattern:
        return is_path and os.access(path, os.X_OK) and may_be_run(path)
    return is_code(path) or (is_path and may_be_run(path))


def _of_variable(name: str, value: str, words: Sequence[str], folder: str) -> RunWords:
    """Code that a variable before a command brings: files that it names, or what the words mean in its folders."""
    found = RunWords()
    if name in _LOADS:
        parts = (part for word in value.split() for part in (word, word.partition("=")[2], *word.split(":")))
        for path in filter(None, (file_at(folder, part) for part in parts)):
            found += script(path)
    for place in value.split(":") if name in _PLACES else ():
        there = os.path.realpath(os.path.join(folder or os.sep, place))
        if folder and place and "$" not in place and os.path.isdir(there):
            rest = words[next((n for n, word in enumerate(words) if "=" not in word), len(words)) :]
            found += words_within(rest, there) if there != folder else RunWords()
    return found


def line_words(line: str, folder: str) -> RunWords:
    """The same for a command line that a shell would read, as far as its words can be told."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = []
    parts = (*words, *filter(None, _BETWEEN.split(line)))
    fed = (file_at(folder, part) for part in parts) if _FED.search(line) else ()
    begun = (one for one in _BEGINS.findall(line) if not _is_known(program_name(one)))
    is_whole = any(_runs_folder((one, "run"), folder) for one in begun)
    found = words_within(parts, folder) + RunWords(code=tuple(dict.fromkeys(filter(None, fed))))
    found += _whole(folder) if is_whole else RunWords()
    for place in dict.fromkeys(word.strip("\"'") for word in _GOES_TO.findall(line)[:_DEEPEST]):
        there = os.path.realpath(os.path.join(folder or os.sep, place))
        if os.path.isdir(there) and there != folder:
            found += words_within(parts, there)
    return found


def _found(command: tuple[str, ...], folder: str, depth: int) -> RunWords:
    if not command or depth > _DEEPEST:
        return RunWords()
    found = _by_kind(command, folder, depth)
    return found + _whole(folder) if _runs_folder(command, folder) else found


def _whole(folder: str) -> RunWords:
    """All code of a folder; none where nobody knows which that is."""
    return RunWords(whole=(os.path.realpath(folder),)) if folder else RunWords()


def _runs_folder(command: tuple[str, ...], folder: str) -> bool:
    """True for a program that runs code of its folder that no word names. What nobody knows is taken for one: the list is of
    programs that run none.
    """
    name, words = program_name(command[0]), command[1:]
    if not folder or (words and ABOUT.issuperset(words)):
        return False
    if (code := python_code(command)) is not None:
        module = code[1].partition(".")[0]
        is_own = any(module_files("m", code[1], folder))
        return code[0] == "m" and not is_own and module not in MODULES_ALONE
    is_node = NODE.fullmatch(name) is not None
    if is_node or PYTHON.fullmatch(name) is not None:
        is_whole = is_node and bool(_NODE_WHOLE.intersection(words))
        return is_whole or any(_loads_by_name(path) for word in words if (path := file_at(folder, word)))
    if OTHERS.fullmatch(name) is not None:
        return bool(words) and not any(file_at(folder, word.lstrip("@")) for word in words)
    if name in _BUILDERS or name in _PACKAGE_RUNNERS:
        return True
    if name == "git":
        return not GIT_ALONE.intersection(words[:1])
    if name in _LAUNCHERS:
        words = tuple(word for word in words if word[:1].isalpha())
        is_found = any(_is_known(program_name(word)) or program_name(word) in ALONE for word in words)
        return bool(words) and not is_found
    return not (_is_known(name) or name in ALONE or os.sep in command[0])


def _loads_by_name(path: str) -> bool:
    """True for a script that loads or starts what it makes a name for, so that its text does not say what that is."""
    try:
        return _BY_NAME.search(read_file(path, most_bytes=_HEAD_BYTES)) is not None
    except (OSError, SlopError):
        return False


def _by_kind(command: tuple[str, ...], folder: str, depth: int) -> RunWords:
    name = program_name(command[0])
    for is_meant, find in _KINDS:
        if is_meant(name):
            module = (python_code(command) or ("", ""))[1] if find is of_python else ""
            runs = _of_builder(module)(command, folder, depth) if module in _BUILDERS else RunWords()
            return runs + find(command, folder, depth)
    return _of_program(command, folder, depth)


def _is_known(name: str) -> bool:
    return any(is_meant(name) for is_meant, _ in _KINDS)


def _of_program(command: tuple[str, ...], folder: str, depth: int) -> RunWords:
    """Any other program: itself where it is a script, and of its words those that name code."""
    program = file_at(folder, command[0]) if os.sep in command[0] else ""
    if program and (led := first_line(program)):
        return script(program) + _found((*led, program, *command[1:]), folder, depth + 1)
    own = script(program) if program else RunWords()  # a shell runs what has no first line, too
    return own + _named_files(command[1:], folder)


def _named_files(words: Sequence[str], folder: str) -> RunWords:
    """Files that words of a program name of which nobody knows what it runs: code by what it is, else data."""
    found = RunWords()
    for word in words:
        for part in (word, word.partition("=")[2], word.rpartition(":")[0]):
            if path := file_at(folder, part):
                found += script(path) if is_code(path) else data(folder, part)
                break
        else:
            found += all_data((word,), folder)
    return found


def first_line(path: str) -> tuple[str, ...]:
    """Words of a script's `#!` line; empty without one."""
    try:
        found = _SHEBANG.match(read_file(path, most_bytes=_HEAD_BYTES)[:300])
    except (OSError, SlopError):
        return ()
    if found is None:
        return ()
    rest = (found[2] or b"").decode("utf-8", "replace").split()
    return (found[1].decode("utf-8", "replace"), *(word for word in rest if word != "-S"))


def _of_shell(command: tuple[str, ...], folder: str, _depth: int) -> RunWords:
    words, found = command[1:], RunWords()
    for number, word in enumerate(words):
        if re.fullmatch(r"-[a-zA-Z]*c", word):
            return line_words("".join(words[number + 1 : number + 2]), folder) + all_data(
                words[number + 2 :], folder
            )
        if word.startswith(("-", "+")) and word != "-":
            continue
        path = file_at(folder, word)
        if words[number - 1] in {"-o", "+o", "-O", "+O"} and number:
            continue
        found += script(path, ENDINGS) if path else RunWords()
        if number and words[number - 1] in {"--rcfile", "--init-file"}:
            continue
        return found + all_data(words[number + 1 :], folder)
    return found


def _of_source(command: tuple[str, ...], folder: str, _depth: int) -> RunWords:
    """`. FILE`, `source FILE`: the shell itself runs it, whatever its name."""
    path = file_at(folder, command[1]) if len(command) > 1 else ""
    return (script(path, ENDINGS) if path else RunWords()) + all_data(command[2:], folder)


def _of_file_options(command: tuple[str, ...], folder: str, _depth: int) -> RunWords:
    """`awk -f`, `ssh -F` and their kin: the files behind these options."""
    options = _FILE_OPTIONS[program_name(command[0])]
    found, takes = RunWords(), False
    for word in command[1:]:
        option, mark, value = word.partition("=")
        is_joined = word[:2] in options and word not in options
        said = word if takes else value if mark and option in options else word[2:] if is_joined else ""
        takes = word in options
        path = file_at(folder, said)
        found += script(path) if path else all_data((word,), folder)
    return found


def _of_git(command: tuple[str, ...], folder: str, _depth: int) -> RunWords:
    """`git`: what a repository has it run, unless the word is of those that run none of it; and code that its words name."""
    runs = folder and not GIT_ALONE.intersection(command[1:2])
    hooks = sorted(glob(os.path.join(glob_escape(folder), ".git", "hooks", "*"))) if runs else []
    code = tuple(filter(None, (file_at(folder, path) for path in hooks if not path.endswith(".sample"))))
    return RunWords(code=code) + _named_files(command[1:], folder)


def _of_named(command: tuple[str, ...], folder: str, _depth: int) -> RunWords:
    """Programs that run every file that their words name."""
    found = RunWords()
    for word in command[1:]:
        paths = (file_at(folder, part) for part in (word, word.partition("=")[2], word.rpartition(" ")[2]))
        path = next(filter(None, paths), "")
        found += script(path, ENDINGS) if path else all_data((word,), folder)
    return found


def _of_app(command: tuple[str, ...], folder: str, depth: int) -> RunWords:
    """Programs that serve what a module of Python holds: `uvicorn a:app`, `flask --app a run`."""
    found = _of_program(command, folder, depth)
    for word in command[1:]:
        option, mark, value = word.partition("=")
        module = (value if mark and option.startswith("-") else word).partition(":")[0]
        found += module_code("m", module, folder) if folder and _DOTTED.fullmatch(module) else RunWords()
    return found


def _of_launcher(command: tuple[str, ...], folder: str, depth: int) -> RunWords:
    words, set_before = command[1:], RunWords()
    for number, word in enumerate(words):
        if (assigned := _ASSIGNED.fullmatch(word)) is not None:
            set_before += _of_variable(assigned[1], assigned[2], words[number + 1 :], folder)
        elif _is_known(program_name(word)):
            return set_before + _found(words[number:], folder, depth + 1)
    for number, word in enumerate(words):
        if (path := file_at(folder, word)) and is_code(path):
            return _of_program((path, *words[number + 1 :]), folder, depth + 1)
    return all_data(words, folder)


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
            elif kind in _PACKAGE_VALUES and os.path.isdir(os.path.join(folder or os.sep, said)):
                place = os.path.realpath(os.path.join(folder or os.sep, said))
                found += RunWords(folders=((place, PYTHON_ENDINGS),)) + _whole(place)
            else:
                found += option_files(f"--x={said}", folder)
        elif word in _FOLDER_VALUES or word in _PROJECT_VALUES:
            takes = word
        elif word in {"-m", "--module"}:
            is_module = True
        elif word.startswith("-"):
            continue
        elif not has_run and word == "run":
            has_run = True
        elif not has_run:  # `uvx NAME`, `uv sync`: nothing of the folder
            return found + all_data(words[number + 1 :], folder)
        else:
            return found + _project(folder) + _behind_run(words[number:], folder, depth, is_module=is_module)
    return found + (_project(folder) if has_run else RunWords())


def _project(folder: str) -> RunWords:
    names = ("pyproject.toml", "uv.toml", "uv.lock")
    return RunWords(code=tuple(filter(None, (file_at(folder, name) for name in names))))


def _behind_run(words: tuple[str, ...], folder: str, depth: int, *, is_module: bool) -> RunWords:
    if is_module:
        return module_code("m", words[0], folder) + all_data(words[1:], folder)
    if path := file_at(folder, words[0]):
        endings = PYTHON_ENDINGS if path.endswith(PYTHON_ENDINGS) else ENDINGS
        return script(path, endings) + all_data(words[1:], folder)
    if _is_known(program_name(words[0])):
        return _found(words, folder, depth + 1)
    own = (
        RunWords(folders=((os.path.realpath(folder), PYTHON_ENDINGS),))
        if folder and _project(folder).code
        else RunWords()
    )
    return own + _whole(folder) + all_data(words[1:], folder)  # a command that the project itself may bring


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
            return package_scripts(word, folder) + all_data(words[number + 1 :], folder)
        elif _is_known(name := program_name(word.partition("@")[0])):
            return _found((name, *words[number + 1 :]), folder, depth + 1)
        else:
            own = file_at(folder, os.path.join(word, "package.json")) if word[:1] in {".", "/"} else ""
            own = own or (file_at(folder, word) if word[:1] in {".", "/"} else "")
            return (script(own, NODE_ENDINGS) if own else RunWords()) + all_data(words[number + 1 :], folder)
    return RunWords()


def _of_builder(name: str) -> Callable[[tuple[str, ...], str, int], RunWords]:
    def find(command: tuple[str, ...], folder: str, _depth: int) -> RunWords:
        program = file_at(folder, command[0]) if os.sep in command[0] else ""
        named, takes = script(program) if program else RunWords(), ""
        places: tuple[str, ...] = ("",)
        words = (part for word in command[1:] for part in _split_option(word))
        for word in words:
            if takes in {"-C", "--directory", "-d"}:
                folder = os.path.realpath(os.path.join(folder or os.sep, word))
            elif takes in _BUILDER_FILES:
                named += RunWords(code=tuple(filter(None, (file_at(folder, word),))))
            takes = word
        for word in () if name in {"make", "gmake"} else command[1:]:  # a target of `make` is what it writes
            path = file_at(folder, word.partition("::")[0])
            named += script(path) if path and is_code(path) else RunWords()
            places += (word,) if folder and os.path.isdir(os.path.join(folder, word)) else ()
        files = (file_at(folder, os.path.join(place, each)) for place in places for each in _BUILDERS[name])
        endings = _COMPILED.get(name)
        own = RunWords(folders=((os.path.realpath(folder), endings),)) if endings and folder else RunWords()
        return named + own + RunWords(code=tuple(filter(None, files)))

    return find


def _split_option(word: str) -> tuple[str, ...]:
    """An option and its value where both are one word: `--file=x`, `-fx`."""
    option, mark, value = word.partition("=")
    if mark and option.startswith("--"):
        return option, value
    return (word[:2], word[2:]) if word[:2] in {"-C", "-f"} and word[2:] else (word,)


_Find = Callable[[tuple[str, ...], str, int], RunWords]
_KINDS: tuple[tuple[Callable[[str], bool], _Find], ...] = (
    (lambda name: PYTHON.fullmatch(name) is not None, of_python),
    (lambda name: NODE.fullmatch(name) is not None, of_node),
    (lambda name: _SHELL.fullmatch(name) is not None, _of_shell),
    (lambda name: OTHERS.fullmatch(name) is not None, of_other),
    (lambda name: name in _SOURCE, _of_source),
    (lambda name: name == "git", _of_git),
    (lambda name: name in _FILE_OPTIONS, _of_file_options),
    (lambda name: name in _NAMED_CODE, _of_named),
    (lambda name: name in _APPS, _of_app),
    (lambda name: name in _LAUNCHERS, _of_launcher),
    (lambda name: name in _PROJECT_RUNNERS, _of_project_runner),
    (lambda name: name in _PACKAGE_RUNNERS, _of_package_runner),
    *(((lambda name, own=own: name == own), _of_builder(own)) for own in _BUILDERS),
)
"""Kinds of programs whose words are understood, each with how."""
