"""Files that words of a command line name: code that is run, data that is worked on."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

import msgspec

from core.kernel.opener import open_file
from core.kernel.patterns import late

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
