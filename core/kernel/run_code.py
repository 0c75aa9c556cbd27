"""Code that a command line runs: which words name files of code or of data, and programs that run none of the folder."""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from glob import escape as glob_escape
from glob import glob
from pathlib import Path

import msgspec

from core.kernel.errors import SlopError
from core.kernel.opener import open_file, read_file
from core.kernel.patterns import late

# Files that words of a command line name: code that is run, data that is worked on.

PYTHON_ENDINGS = (".py", ".pyw", ".pyc", ".so", ".pyd", ".pth")
NODE_ENDINGS = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".jsx", ".tsx", ".node", ".wasm")
_SHELL_ENDINGS = (".sh", ".bash", ".zsh", ".ksh", ".fish", ".ps1", ".bat", ".cmd")
_OTHER_ENDINGS = (".rb", ".pl", ".pm", ".php", ".lua", ".tcl", ".r", ".jl", ".jar", ".class", ".dll", ".go", ".exs", ".ex", ".groovy")  # fmt: skip
ENDINGS = (*PYTHON_ENDINGS, *NODE_ENDINGS, *_SHELL_ENDINGS, *_OTHER_ENDINGS)
"""Endings of files that are run, by whatever runs them."""

_LIKE_FILE = late(r"[/\\]|\.[A-Za-z]\w{0,9}$")
"""A word that is meant for a file, although none is there yet."""
_STARTS = (b"#!", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ")
_LONGEST = 4_000
_NEAR = 5
"""Folders around a script of Node among which its package is looked for."""


class RunWords(msgspec.Struct, frozen=True):
    """Files that a command line names.

    Args:
        code: that it runs, in the order of the words, absolute, links resolved.
        folders: from which what it runs takes more code of its own, nearest first, each with the endings of code there.
        data: where a word for a file leads that is none of them, by its path as it is named; it need not be there yet.
        whole: folders of which it may run any code, although no word names it, as a test runner or a builder does.
    """

    code: tuple[str, ...] = ()
    folders: tuple[tuple[str, tuple[str, ...]], ...] = ()
    data: Mapping[str, str] = {}
    whole: tuple[str, ...] = ()

    def __add__(self, other: RunWords) -> RunWords:
        return RunWords(
            code=tuple(dict.fromkeys((*self.code, *other.code))),
            folders=tuple(dict.fromkeys((*self.folders, *other.folders))),
            data={**self.data, **other.data},
            whole=tuple(dict.fromkeys((*self.whole, *other.whole))),
        )


def program_name(program: str) -> str:
    """Name of a program as tables have it: without its folder and its ending."""
    return re.sub(r"\.(?:cmd|exe|ps1|bat)$", "", os.path.basename(program).lower())


def file_at(folder: str, name: str) -> str:
    """Absolute path of the regular file that a name means in a folder, links resolved; empty where there is none."""
    if not name or "\0" in name or len(name) > _LONGEST or not (folder or os.path.isabs(name)):
        return ""
    path = os.path.join(folder or os.sep, name)
    return os.path.realpath(path) if os.path.isfile(path) else ""


def is_code(path: str) -> bool:
    """True for a file that can only be meant to be run: by its ending, or because it may be executed and begins as what is."""
    if path.lower().endswith(ENDINGS):
        return True
    if os.name != "posix" or not os.access(path, os.X_OK):
        return False
    try:
        with open_file(path) as file:  # on some disks every file may be executed
            return file.read(4).startswith(_STARTS)
    except OSError:
        return False


def may_be_run(path: str) -> bool:
    """True for code, and for a file without an ending that may be executed: a shell runs it, although it has no first line."""
    if is_code(path):
        return True
    return os.name == "posix" and "." not in os.path.basename(path) and os.access(path, os.X_OK)


def script(path: str, endings: tuple[str, ...] = ()) -> RunWords:
    """A file that is run, with the folder that it takes more code from."""
    endings = endings or _endings_of(path)
    return RunWords(code=(path,), folders=((_home_of(path, endings), endings),))


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
        for _ in range(_NEAR):
            if os.path.isfile(os.path.join(around, "package.json")):
                return around
            around = os.path.dirname(around)
    return folder


def data(folder: str, word: str) -> RunWords:
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


def all_data(words: Sequence[str], folder: str) -> RunWords:
    """Files that words name, options by what stands behind their `=`: none of them is run."""
    found = RunWords()
    for word in words:
        found += data(folder, word.partition("=")[2] if word.startswith("-") else word)
    return found


def option_files(word: str, folder: str) -> RunWords:
    """The file that an option of an interpreter names behind its `=`: it is loaded."""
    path = file_at(folder, word.partition("=")[2])
    return script(path) if path else RunWords()


# Code that a command line runs, with hashes: what its words name, what that imports beside it, and the code
# of its folder.

MOST_FILES = 2_000
MOST_BYTES = 100_000_000
"""Bytes of all files of a command together, its named ones among them."""
MOST_LOOKED_AT = 20_000
"""Entries of folders among which code is looked for, nearest first."""
MOST_PACKAGED, MOST_PACKAGED_BYTES = 30_000, 500_000_000
"""Files of code in one folder of packages, and what they have together."""
MOST_IMPORTED = 300
MOST_SOURCE_BYTES = 1_000_000
"""Bytes of a file that is read for its imports, at most."""

_PASSED_OVER = frozenset(
    [".git", ".hg", ".svn", "node_modules", "__pycache__", "site-packages", ".venv", "venv", ".tox", ".nox", ".cache",
     ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"]
)  # fmt: skip
"""Folders of what was fetched or made, which is no code of the folder's own."""
_PACKAGE_FILES = frozenset({"package.json", "deno.json", "deno.jsonc", "tsconfig.json"})
"""Files that say which code Node and its kin take for a name."""
_FOLDER_ENDINGS = (
    *ENDINGS, ".toml", ".yaml", ".yml", ".tf", ".hcl", ".nix", ".gradle", ".kts", ".kt", ".java", ".scala", ".sbt", ".clj", ".cljs", ".edn",
    ".rs", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".m", ".mm", ".cs", ".fs", ".csproj", ".fsproj", ".vbproj", ".vcxproj", ".sln", ".props",
    ".targets", ".hs", ".cabal", ".ml", ".mli", ".opam", ".dart", ".swift", ".zig", ".zon", ".erl", ".hrl", ".bzl", ".bazel", ".star", ".mk",
    ".cmake", ".ninja", ".cfg", ".ini", ".xml", ".properties", ".proto", ".sql", ".robot", ".feature", ".rake", ".gemspec", ".podspec", ".vue",
    ".svelte", ".astro", ".dockerfile", ".containerfile", ".tpl", ".j2", ".d", ".nim", ".cr", ".v", ".sv", ".f90", ".pas", ".adb", ".lisp", ".el",
)  # fmt: skip
_FOLDER_NAMES = late(
    r"[^.]+|\.[\w-]*rc|(?:[\w-]+file|build|workspace|buck)(?:\.[\w-]+)?"
    r"|(?:\.[\w-]*rc|package|composer|tsconfig[\w.-]*|deno|dagger|nx|turbo|angular|project|global|[\w.-]*config[\w.-]*)\.jsonc?",
    re.IGNORECASE,
)
"""Names of files that builders, runners of tests and their kin take code from, beside those with such an ending."""
_PIECE = 1 << 20
_IMPORTS = late(
    rb"(?:^|[;:])[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]*(\([^)]{0,4000}\)|[^\n;#]*)|import[ \t]+([^\n;#]*))",
    re.MULTILINE,
)
_NODE_IMPORTS = late(rb"(?:from|import|require\(|import\()\s{0,9}[\"'](\.{1,2}/[^\"'\n]{1,300})[\"']")
_NODE_TAILS = ("", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", "/index.js", "/index.ts", ".json")
_SHELL_WORDS = late(rb"[^\s;|&<>()`\"'\\{}\[\]$=]{2,300}")
_LED = late(
    rb"(?:^|[\s;&|(`\"'])(?:\.|source|(?:ba|da|z|k|fi)?sh(?:[ \t]+-\w+)*|-?s?include|import|load|require|require_relative|use)"
    rb"[ \t]+[\"']?(?:(?:\$\((?:[^()\n]|\([^()\n]*\)){0,300}\)|\$\{[^}\n]{1,99}\}|\$\w+)[\"']?/)?([^\s;|&<>()`\"'$]{1,300})",
    re.MULTILINE,
)
"""Words behind which a text that is run names more of it, whatever the file's ending."""
_QUOTED = late(rb"[\"']([^\"'\n]{1,300}\.[A-Za-z]{1,6})[\"']")
"""Names of files in code of Python or Node: a program that it starts, a file whose text it runs."""
_NAME = late(r"[A-Za-z_]\w*")


class RunCode(msgspec.Struct, frozen=True):
    """Code of a command as it is now.

    Args:
        files: sha256 (hex) by path, absolute: what the words name first, then what that imports, then what is beside it; a folder
            of packages is one, with a separator at its end, and the hash is over all code in it.
        unbound: folders of which not all code is among them, since there is too much of it.
    """

    files: Mapping[str, str] = {}
    unbound: tuple[str, ...] = ()


class CodeHashes:
    """Hashes of files; one is hashed again when it is another by size, time or place. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, tuple[tuple[int, ...], str]] = {}

    def sha256(self, path: str) -> str:
        """Sha256 (hex) of a file. Raises OSError."""
        with open_file(path) as file:
            about = os.fstat(file.fileno())
            mark = about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
            with self._lock:
                known = self._known.get(path)
            if known is not None and known[0] == mark:
                return known[1]
            digest = hashlib.sha256()
            while piece := file.read(_PIECE):
                digest.update(piece)
        with self._lock:
            self._known[path] = mark, digest.hexdigest()
        return digest.hexdigest()

    def imported(self, words: RunWords, within: str) -> RunCode:
        """Code that the words name, with the files that it imports beside it. A file that cannot be read has no hash, and counts as one. Raises nothing.

        Args:
            within: a folder, absolute, links resolved: of a script elsewhere nothing is looked for that it imports.
        """
        named = tuple(words.code)
        inside = tuple(path for path in named if path.startswith(within.rstrip(os.sep) + os.sep))
        return self._hashed((*named, *imports_of(inside, within, _roots(words))), (), has_all=False)

    def whole(self, words: RunWords, more: Iterable[str] = (), within: str = "") -> RunCode:
        """Code that the words name, what is said to go with it, and all code of their folders. Raises OSError.

        Args:
            within: folder in which others may write, absolute, links resolved: packages that lie there are bound as well.
        """
        unbound: list[str] = []
        beside = (path for folder, endings in words.folders for path in _beside(folder, endings, unbound))
        imported = imports_of(words.code, "", _roots(words))
        code = self._hashed((*words.code, *more, *imported, *beside), unbound)
        packages: dict[str, str] = {}
        cut: list[str] = []
        for folder in _package_folders(words, within) if within else ():
            if sha256 := self._packaged(folder):
                packages[folder + os.sep] = sha256
            else:
                cut.append(folder)
        return RunCode({**code.files, **packages}, (*code.unbound, *cut))

    def _packaged(self, folder: str) -> str:
        """Sha256 (hex) over all code of a folder of packages, empty where there is too much of it."""
        digest, count, size = hashlib.sha256(), 0, 0
        for path in _packaged_code(folder):
            count, size = count + 1, size + os.path.getsize(path)
            if count > MOST_PACKAGED or size > MOST_PACKAGED_BYTES:
                return ""
            row = f"{os.path.relpath(path, folder)}\0{self.sha256(path)}\n"
            digest.update(row.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def _hashed(self, paths: Iterable[str], unbound: Iterable[str], *, has_all: bool = True) -> RunCode:
        files: dict[str, str] = {}
        cut: dict[str, None] = {}
        left = MOST_BYTES
        for path in dict.fromkeys(paths):
            try:
                size = os.path.getsize(path)
                if len(files) >= MOST_FILES or size > left:
                    cut[os.path.dirname(path)] = None
                    continue
                left -= size
                files[path] = self.sha256(path)
            except OSError:
                if has_all:
                    raise
                files[path] = ""
        return RunCode(files, tuple(dict.fromkeys((*unbound, *cut))))


def folder_mark(folder: str) -> str:
    """Mark over all code of a folder, another one as soon as a file of it is: by size, time and place, so that none is read. Empty
    where there is too much in it.
    """
    unbound: list[str] = []
    digest = hashlib.sha256()
    for path in _beside(folder, _FOLDER_ENDINGS, unbound, _FOLDER_NAMES.fullmatch):
        try:
            about = os.stat(path)
        except OSError:
            continue
        row = path, about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns
        digest.update(repr(row).encode("utf-8", "surrogatepass"))
    return "" if unbound and not _is_wide(folder) else digest.hexdigest()


def _roots(words: RunWords) -> tuple[str, ...]:
    """Folders from which what is run takes code: a module's name begins at the one in which it works, not at its own."""
    return tuple(folder for folder, _ in words.folders)


def imports_of(files: Iterable[str], within: str, folders: Iterable[str] = ()) -> tuple[str, ...]:
    """Files that these import from beside them, and those that they import, as far as their text says so; without these.

    Args:
        within: folder that they must be in; empty for any. folders: more of those in which they look.
    """
    waiting = deque(dict.fromkeys(files))
    seen = dict.fromkeys(waiting)
    count = len(seen)
    roots = tuple(dict.fromkeys((*(os.path.dirname(path) for path in seen), *folders)))
    while waiting and len(seen) < MOST_IMPORTED:
        path = waiting.popleft()
        for found in _imports(path, roots):
            if found not in seen and (not within or found.startswith(within.rstrip(os.sep) + os.sep)):
                seen[found] = None
                waiting.append(found)
    return tuple(seen)[count:]


def _imports(path: str, roots: tuple[str, ...]) -> Iterator[str]:
    try:
        text = read_file(path, most_bytes=MOST_SOURCE_BYTES)
    except (OSError, SlopError):
        return
    folder, lower = os.path.dirname(path), path.lower()
    first = text.partition(b"\n")[0] if text.startswith(b"#!") else b""
    places = tuple(dict.fromkeys((folder, *roots)))
    if lower.endswith(NODE_ENDINGS) or b"node" in first:
        for found in _NODE_IMPORTS.finditer(text):
            name = os.path.normpath(os.path.join(folder, found[1].decode("utf-8", "replace")))
            forms = (f"{name}{ending}" for ending in _NODE_TAILS)
            yield from filter(
                None, (file_at(os.sep, each) for each in (*forms, re.sub(r"\.([mc]?)js$", r".\1ts", name)))
            )
        yield from _named_code(_QUOTED.findall(text), places)
    elif lower.endswith(PYTHON_ENDINGS) or b"python" in first:
        for found in _IMPORTS.finditer(text):
            for module in _modules(
                *(each.decode("utf-8", "replace") if each else "" for each in found.groups())
            ):
                yield from _module_files(module, folder, roots)
        yield from _named_code(_QUOTED.findall(text), places)
    else:
        yield from _named_code(_SHELL_WORDS.findall(text), places)
        ending = os.path.splitext(path)[1]
        for word in dict.fromkeys(_LED.findall(text)):
            name = word.decode("utf-8", "replace")
            paths = (name, f"{name}{ending}", f"{name.replace('::', os.sep)}.pm")
            yield from filter(None, (file_at(place, each) for place in places for each in paths))


def _named_code(words: Iterable[bytes], places: tuple[str, ...]) -> Iterator[str]:
    """Files of code that words of a text name in these folders; one without an ending by its path, where it may be executed."""
    for word in dict.fromkeys(words):
        name = word.decode("utf-8", "replace").lstrip("/")
        names = name, name.partition("/")[2]  # `$HERE/lib.sh` is one in the folder, too
        for one in filter(None, (file_at(place, each) for place in places for each in names)):
            if one.lower().endswith(ENDINGS) or ("/" in name and may_be_run(one)):
                yield one


def _modules(origin: str, names: str, imported: str) -> Iterator[str]:
    """Modules that an import may load: dotted, a dot before for each folder that a relative one goes up to."""
    if origin:
        yield origin
        chosen = (_NAME.match(part.strip(" \t\r\n()\\")) for part in names.split(","))
        stem = origin if origin.endswith(".") else f"{origin}."
        yield from (f"{stem}{one[0]}" for one in chosen if one)
    else:
        parts = (part.strip().split(" ")[0] for part in imported.split(","))
        yield from (part for part in parts if part)


def _module_files(module: str, folder: str, roots: tuple[str, ...]) -> Iterator[str]:
    ups = len(module) - len(module.lstrip("."))
    places = tuple(dict.fromkeys((folder, *roots)))
    if ups:
        place = folder
        for _ in range(ups - 1):
            place = os.path.dirname(place)
        places = (place,)
    parts = [part for part in module.split(".") if part]
    for place in places:
        for size in range(1, len(parts) + 1):
            stem = os.path.join(*parts[:size])
            yield from filter(None, (file_at(place, f"{stem}.py"), file_at(place, f"{stem}/__init__.py")))


def _beside(
    folder: str,
    endings: tuple[str, ...],
    unbound: list[str],
    names: Callable[[str], object] = _PACKAGE_FILES.__contains__,
) -> Iterator[str]:
    """Code of a folder, nearest first, in order of names. Of the person's own folder, and of one around it, only what lies right in
    it: the rest is not of one program.
    """
    waiting, left = deque([folder]), MOST_LOOKED_AT
    is_wide = _is_wide(folder)
    while waiting:
        try:
            entries = sorted(os.scandir(waiting.popleft()), key=lambda entry: entry.name)
        except OSError:
            continue
        left -= len(entries)
        if left < 0:
            unbound.append(folder)
            return
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if not is_wide and entry.name not in _PASSED_OVER and not _is_environment(entry.path):
                    waiting.append(entry.path)
            elif entry.is_file() and (
                entry.name.lower().endswith(endings) or (".js" in endings and names(entry.name))
            ):
                yield os.path.realpath(entry.path)
    if is_wide:
        unbound.append(folder)


def _is_environment(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "pyvenv.cfg"))


def _is_wide(folder: str) -> bool:
    return Path.home().is_relative_to(folder) or folder in {"/tmp", "/var/tmp"}  # noqa: S108


def _package_folders(words: RunWords, within: str) -> tuple[str, ...]:
    """Folders of packages in a folder that what is run takes code from: those of Node around it, and of virtual environments."""
    found: dict[str, None] = {}
    top = within.rstrip(os.sep) + os.sep
    for folder, endings in words.folders:
        head, mark, _ = f"{folder}{os.sep}".partition(f"{os.sep}site-packages{os.sep}")
        places = [f"{head}{mark}".rstrip(os.sep)] if mark else []
        around = folder
        while f"{around}{os.sep}".startswith(top):
            places += [os.path.join(around, "node_modules")] if set(NODE_ENDINGS) & set(endings) else []
            if set(PYTHON_ENDINGS) & set(endings):
                places += glob(os.path.join(glob_escape(around), ".venv", "[Ll]ib", "*", "site-packages"))
            around = os.path.dirname(around)
        found |= {
            place: None
            for place in map(os.path.realpath, places)
            if place.startswith(top) and os.path.isdir(place)
        }
    return tuple(place for place in found if not any(place.startswith(each + os.sep) for each in found))


def _packaged_code(folder: str) -> Iterator[str]:
    """Code of a folder of packages, in an order of its own that stays."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name not in {"__pycache__", ".cache", ".bin", ".vite"}
        )
        for name in sorted(names):
            path = os.path.join(place, name)
            if (name.lower().endswith(ENDINGS) or name in _PACKAGE_FILES) and os.path.isfile(path):
                yield path


# Programs that run no code of the folder in which they work, but what their words name.

ALONE = frozenset(
    ["for", "if", "then", "do", "done", "else", "elif", "fi", "while", "until", "case", "esac", "in", "function", "select", "eval",
     "builtin", "[[", "{", "}", "[", "alias", "apt", "apt-cache", "awk", "b2sum", "base32", "base64", "basename", "bat", "bg", "bind",
     "break", "bunzip2", "bzcat", "bzip2", "cal", "cat", "cd", "chgrp", "chmod", "chown", "cksum", "clear", "cmp", "column", "comm",
     "continue", "cp", "curl", "cut", "date", "dd", "declare", "df", "diff", "dig", "dir", "dircolors", "dirname", "dirs", "disown",
     "du", "echo", "egrep", "enable", "exa", "exit", "export", "expand", "expr", "eza", "factor", "false", "fc", "fd", "fdfind", "fg",
     "fgrep", "file", "find", "fmt", "fold", "free", "getent", "getopt", "getopts", "gh", "glow", "grep", "groups", "gunzip", "gzip",
     "hash", "head", "hexdump", "history", "host", "hostname", "htop", "iconv", "id", "ifconfig", "ip", "jobs", "join", "jq", "kill",
     "killall", "less", "let", "ln", "local", "locale", "logger", "logname", "ls", "lsb_release", "lscpu", "lsof", "lz4", "man",
     "mapfile", "md5sum", "mkdir", "mkfifo", "mktemp", "mogrify", "convert", "identify", "more", "mv", "nc", "netstat", "nl", "nproc",
     "numfmt", "od", "openssl", "paste", "patch", "pathchk", "pgrep", "ping", "pkill", "popd", "pr", "printenv", "printf", "ps",
     "pstree", "ptx", "pushd", "pwd", "read", "readlink", "readonly", "realpath", "return", "rev", "rg", "rm", "rmdir", "rsync", "scp",
     "seq", "set", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shasum", "shift", "shopt", "shred", "shuf", "sleep",
     "sort", "split", "ss", "ssh", "stat", "strings", "stty", "sum", "sync", "tac", "tail", "tar", "tee", "test", "times", "top",
     "touch", "tput", "tr", "trap", "tree", "true", "truncate", "tsort", "tty", "type", "ulimit", "umask", "unalias", "uname",
     "unexpand", "uniq", "unlink", "unset", "unxz", "unzip", "uptime", "users", "vdir", "w", "wait", "wc", "wget", "whereis", "which",
     "who", "whoami", "xargs", "xxd", "xz", "xzcat", "yes", "yq", "zcat", "zgrep", "zip", "zipinfo", "zstd", ":"]
)  # fmt: skip
"""Programs, and words of shells. What is not among them is taken for one that runs what lies in its folder."""
GIT_ALONE = frozenset(
    ["status", "log", "diff", "show", "branch", "tag", "blame", "ls-files", "ls-tree", "grep", "rev-parse", "remote", "config", "stash", "add",
     "restore", "describe", "shortlog", "reflog", "cat-file", "help", "version", "--version", "init", "fetch", "rm", "mv", "clean", "-c", "bisect"]
)  # fmt: skip
"""Words of `git` that run none of a repository's hooks."""
MODULES_ALONE = frozenset(
    ["http", "json", "venv", "ensurepip", "timeit", "calendar", "this", "zipfile", "tarfile", "base64", "platform", "site", "sysconfig",
     "compileall", "py_compile", "tokenize", "ast", "dis", "pip", "gzip", "uuid", "random", "webbrowser", "pdb", "cProfile", "profile", "trace"]
)  # fmt: skip
"""Modules of Python of which the same holds."""
ABOUT = frozenset({"--version", "-version", "version", "-V", "--help", "-h", "help"})
"""Words that only ask what a program is."""
