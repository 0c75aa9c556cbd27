"""Command lines read for prefix rules: words of every simple command, or why no rule may cover the line."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from core.kernel.language import tr
from core.kernel.patterns import late

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LONGEST = 20_000
"""Longest command line, in characters, that is parsed for rules."""

_LISTS = frozenset({"program", "list", "pipeline"})
_JOINTS = frozenset({"&&", "||", ";", "|", "\n"})
_PLAIN = frozenset("_@%+=:,./^~#-")
_GLOB = frozenset("*?")
_ASKED_WORD = late(
    r"-c.*|-{1,2}(exec|ok|eval|config|command|pre(?!\w)|ext-diff|textconv|open-files-in-pager|pager|rsh|plugin"
    r"|upload-pack|receive-pack|use-compress-program|compress-program|to-command|checkpoint-action"
    r"|fprint|fls|delete|output|in-place|toolexec|vettool|wrapper|fplugin|use-askpass)\w*([-=].*)?",
    re.DOTALL,
)
"""Words by which a program runs another, or writes a file as a redirection would, whatever the rule says."""
_ASKED_NAMES = (
    "exec", "eval", "config", "command", "pre", "ext-diff", "textconv", "open-files-in-pager", "pager", "rsh-command",
    "rmt-command", "plugin", "upload-pack", "receive-pack", "use-compress-program", "compress-program", "to-command",
    "checkpoint-action", "info-script", "new-volume-script", "unzip-command", "hostname-bin", "output", "in-place", "use-askpass",
)  # fmt: skip
"""Long options of that kind: most programs take the beginning of one for the whole."""
_ASKED_LETTERS = {
    "git": "O", "tar": "IF", "bsdtar": "IF", "fd": "xX", "fdfind": "xX", "zip": "T", "sort": "o", "printf": "v", "test": "vR",
    "tree": "o", "wget": "Oe", "curl": "oOKT", "sqlite3": "A", "ctags": "f", "split": "", "shuf": "o", "iconv": "o", "yq": "i", "make": "fCEI", "gmake": "fCEI",
    "ninja": "fC", "just": "fd", "ctest": "S", "gradle": "Ib", "rustc": "C", "ghc": "e", "pandoc": "FLo", "patch": "o", "mocha": "r",
}  # fmt: skip
"""Letters of single programs that run another, read one's orders from elsewhere, write a file, or set a name."""
_RUNNING_WORDS = (
    "cmd", "command", "exec", "executable", "program", "prog", "shell", "script", "hook", "pager", "editor", "interpreter",
    "plugin", "plugins", "wrapper", "launcher", "loader", "preload", "runner",
)  # fmt: skip
"""Words in the name of a long option by which it takes a program, or code: `--script-shell`, `--diff-program`, `--init-hook`."""
_REFUSING_WORDS = frozenset({"no", "ignore", "skip", "disable", "without"})
"""First words of a long option by which it turns that off."""
_SETS_NAMES = frozenset({"make", "gmake", "bmake", "just"})
_NAME_SET = late(r"[A-Za-z_.][\w.]*(\?|:{0,3}|\+|!)?=.*", re.DOTALL)
_INLINE_CODE = late(r"-[A-Za-z]*[cCeEprF].*|--(eval|print|run|import|require)\b.*", re.DOTALL)

_RUNS_OTHERS = frozenset(
    # Builtins that change what a name means, or run text.
    ["eval", "exec", "source", ".", "command", "builtin", "alias", "unalias", "trap", "export", "declare", "typeset",
     "local", "readonly", "set", "unset", "shopt", "enable", "hash", "bind", "complete", "compopt", "coproc", "time",
     "mapfile", "readarray", "read", "fc", "history", "compgen", "wait", "disown", "jobs", "bg", "fg", "let", "getopts", "pushd", "popd",
     # Programs that run the program that they are given.
     "env", "xargs", "sudo", "doas", "su", "runuser", "setpriv", "timeout", "nice", "ionice", "nohup", "setsid",
     "stdbuf", "chroot", "unshare", "nsenter", "flock", "watch", "parallel", "strace", "ltrace", "gdb", "script",
     "expect", "busybox", "toybox", "ssh", "scp", "sftp", "rsync", "npx", "bunx", "uvx", "pipx", "entr", "taskset",
     "chrt", "systemd-run", "dbus-run-session", "dbus-launch", "ssh-agent", "xvfb-run", "fakeroot", "faketime", "proot",
     "firejail", "bwrap", "sg", "pkexec", "run-parts", "socat", "nc", "ncat", "valgrind", "perf", "prlimit", "numactl",
     "setarch", "cpulimit", "hyperfine", "watchexec", "rlwrap", "unbuffer", "direnv", "nix-shell", "flatpak", "ld.so", "tmux", "screen", "at", "batch", "crontab", "start-stop-daemon",
     # Editors, pagers and little languages with a way to a shell.
     "vi", "vim", "nvim", "ex", "ed", "emacs", "nano", "less", "more", "man", "info", "awk", "gawk", "mawk", "nawk", "m4",
     "dc", "gnuplot", "psql", "mysql", "sqlite3", "ftp", "R", "jshell", "groovy", "scala", "kotlin", "ocaml", "ghci", "runghc",
     "runhaskell", "elixir", "iex", "erl", "escript", "octave", "matlab", "guile", "racket", "sbcl", "clojure", "clj", "swipl",
     "wish", "gs", "latexmk", "cscope", "java",
     # Programs that have another one do it, out of reach of who looks.
     "xdg-open", "gio", "open", "busctl", "dbus-send", "gdbus"]
)  # fmt: skip
_RUNNERS = frozenset(
    [("uv", "run"), ("uv", "tool"), ("npm", "exec"), ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "dlx"), ("yarn", "exec"),
     ("poetry", "run"), ("pdm", "run"), ("hatch", "run"), ("pipenv", "run"), ("bundle", "exec"), ("conda", "run"),
     ("docker", "run"), ("docker", "exec"), ("podman", "run"), ("podman", "exec"), ("kubectl", "exec"),
     ("git", "bisect"), ("git", "submodule"), ("git", "rebase"), ("git", "filter-branch"), ("git", "config"),
     ("git", "difftool"), ("git", "mergetool"), ("git", "instaweb"), ("git", "hook"), ("git", "merge-index"), ("git", "send-email"), ("coverage", "run"), ("rustup", "run"), ("stack", "exec"), ("stack", "runghc"),
     ("cabal", "exec"), ("nix", "run"), ("nix", "shell"), ("nix", "develop"), ("guix", "shell"), ("bazel", "run"), ("mix", "run"),
     ("dotnet", "exec"), ("gh", "alias"), ("gh", "extension"), ("opam", "exec"), ("sbt", "run")]
)  # fmt: skip
"""Subcommands that run what they are given, or set what is run later."""
_INTERPRETER = late(
    r"(ba|da|z|k|fi|a|t?c)?sh|python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|ruby|perl|php|lua[\d.]*|tclsh|Rscript|julia"
)
_PLAIN_FLAG = late(r"-[BEIOSbdqsuv]+")
"""Options of Python that take no word. Others take one behind the same letters: `ruby -I`, `bash -O`, `php -d`."""
_PYTHON = late(r"(python|pypy)[\d.]*")
_COMPILER = late(
    r"([\w.]+-)*(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|cpp|gfortran|ld|ar|as|javac|rustc|nvcc)(\.\w+)?(-?[\d.]+)?"
)
_ASKED_OF_COMPILERS = late(r"@.*|-B.*|-{1,2}specs.*|-X.*|-load.*", re.DOTALL)
"""Words by which a compiler or linker reads its options from a file, or takes its programs from a folder."""
_OLD_BUNDLES = frozenset({"tar", "gtar", "bsdtar"})
"""Programs of which the first word is letters of options without a dash."""
_FROM_ELSEWHERE = frozenset([("git", "clone"), ("git", "fetch-pack"), ("git", "ls-remote")])
"""Subcommands of which `-u` names the program at the other end, which may be this machine."""
_WITH_SUBCOMMANDS = frozenset(
    ["git", "cargo", "go", "npm", "pnpm", "yarn", "pip", "pip3", "uv", "poetry", "docker", "podman", "kubectl", "make",
     "gh", "dotnet", "bundle", "gradle", "mvn", "rustup", "terraform", "hg", "svn", "jj", "cmake", "just", "apt", "brew",
     "systemctl", "conda", "mix", "composer", "swift", "zig", "deno", "bun"]
)  # fmt: skip
_SED = frozenset(["sed", "gsed"])
_SED_READS = late(r"-[nErsuz]+|--(quiet|silent|regexp-extended|posix|unbuffered|null-data)")
_SED_PRINTS = late(r"[0-9$,~+! ;]*[pdq=;]*([0-9$,~+! ;]+[pdq=;]+)*")
"""Scripts of `sed` that only choose lines by their numbers: others can run programs and write files."""
_THREE_WORDS = frozenset([("npm", "run"), ("pnpm", "run"), ("yarn", "run"), ("cargo", "run"), ("go", "tool"), ("go", "run"), ("bun", "run")])  # fmt: skip


class CommandLine(msgspec.Struct, frozen=True):
    """A command line as rules see it.

    Args:
        commands: words of each simple command, quotes gone; empty where no rule may cover the line.
        prefixes: what a rule for each of them would be; empty where none is offered.
        why_not: why no rule may cover it, a sentence, else empty.
    """

    commands: tuple[tuple[str, ...], ...] = ()
    prefixes: tuple[tuple[str, ...], ...] = ()
    why_not: str = ""


class _UnclearError(Exception):
    """Part of a command line whose words are not known before it runs."""


def read_command_line(text: str) -> CommandLine:
    """Read a command line. Total; what does not parse, or says less than it does, is covered by no rule."""
    try:
        commands = _simple_commands(text)
        for words in commands:
            _check(words)
    except _UnclearError as unclear:
        return CommandLine(why_not=tr("No rule can cover this command: {unclear}.", unclear=unclear))
    prefixes = tuple(dict.fromkeys(_prefix(words) for words in commands))
    if not all(word.isprintable() for prefix in prefixes for word in prefix):
        return CommandLine(
            why_not=tr("No rule can cover this command: a word of the rule spans several lines.")
        )
    return CommandLine(commands=commands, prefixes=prefixes)


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def _simple_commands(text: str) -> tuple[tuple[str, ...], ...]:
    if len(text) > LONGEST:
        raise _UnclearError(tr("the command is too long to check"))
    if any(
        not (char.isprintable() or char == "\n") or (char.isspace() and char not in " \n") for char in text
    ):
        raise _UnclearError(tr("the command contains control characters"))
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise _UnclearError(tr("the command is not Unicode text")) from None
    root = _parser().parse(data).root_node
    if root.has_error:
        raise _UnclearError(tr("the program cannot parse the command"))
    found: list[tuple[str, ...]] = []
    _collect(root, data, found)
    if not found:
        raise _UnclearError(tr("the text contains no command"))
    return tuple(found)


def _collect(node: Node, data: bytes, found: list[tuple[str, ...]]) -> None:
    """Add the simple commands under a list; every byte of it belongs to a part that is known."""
    end = node.start_byte
    if node.type == "program":
        end = 0
    for child in node.children:
        _check_gap(data[end : child.start_byte])
        end = child.end_byte
        if child.type == "command":
            found.append(tuple(_words(child, data)))
        elif child.type in _LISTS:
            _collect(child, data, found)
        elif child.is_named or child.type not in _JOINTS:
            raise _UnclearError(tr("the command contains shell syntax of the kind {kind!r}", kind=child.type))
    _check_gap(data[end : len(data) if node.type == "program" else node.end_byte])


def _check_gap(gap: bytes) -> None:
    if gap.strip(b" \n"):
        raise _UnclearError(tr("the program cannot read a part of the text as a command"))


def _words(command: Node, data: bytes) -> list[str]:
    words: list[str] = []
    end = command.start_byte
    for child in command.children:
        if data[end : child.start_byte].strip(b" "):
            raise _UnclearError(tr("the program cannot split a part of the command into words"))
        end = child.end_byte
        part = child
        if child.type == "command_name":
            if child.child_count != 1:
                raise _UnclearError(tr("the name of a program is not literal text"))
            part = child.children[0]
        words.append(_value(part, data, is_first=not words))
    return words


def _value(node: Node, data: bytes, *, is_first: bool) -> str:
    text = data[node.start_byte : node.end_byte].decode()
    match node.type:
        case "word" | "number":
            return _plain(text, is_first=is_first)
        case "raw_string":
            return text[1:-1]
        case "string":
            inner = text[1:-1]
            if not text.startswith('"') or any(char in inner for char in "$`\\!"):
                raise _UnclearError(tr("one word contains a special character of the shell"))
            return inner
        case "concatenation":
            parts = node.children
            if any(before.end_byte != after.start_byte for before, after in pairwise(parts)):
                raise _UnclearError(tr("one word is not literal text"))
            return "".join(_value(part, data, is_first=is_first or part is not parts[0]) for part in parts)
        case _:
            raise _UnclearError(tr("the command contains shell syntax of the kind {kind!r}", kind=node.type))


def _plain(text: str, *, is_first: bool) -> str:
    """A bare word. A pattern may stand behind plain characters, so that no file's name becomes an option."""
    allowed = _PLAIN if is_first or text[0] in "-*?" else _PLAIN | _GLOB
    if text.startswith("#") or not all(char.isalnum() or char in allowed for char in text):
        raise _UnclearError(tr("one word contains a special character of the shell"))
    return text


def _check(words: tuple[str, ...]) -> None:
    program = words[0].rpartition("/")[2]
    if not program or "=" in words[0]:
        raise _UnclearError(tr("the name of a program is not literal text"))
    if program in _RUNS_OTHERS or words[:2] in _RUNNERS:
        raise _UnclearError(tr("{words!r} can run any other command", words=" ".join(words[:2])))
    asked = next((word for word in words[1:] if _is_asked(program, word)), None)
    asked = asked or next((word for word in words[1:] if _is_asked_of(words, word)), None)
    if asked is not None:
        raise _UnclearError(tr("{asked!r} may run another program or write a file", asked=asked))
    if program in _SETS_NAMES and any(_NAME_SET.fullmatch(word) for word in words[1:]):
        raise _UnclearError(tr("{program!r} gets a variable that may name a program to run", program=program))
    if program in _SED and not _only_prints(words[1:]):
        raise _UnclearError(tr("the script may run another program or write a file"))
    if _INTERPRETER.fullmatch(program):
        options = []
        for word in words[1:]:
            if not word.startswith("-") or word == "-m":
                break
            options.append(word)
        is_bare = len(options) == len(words) - 1
        if is_bare or any(_INLINE_CODE.fullmatch(word) or word == "-" for word in options):
            raise _UnclearError(tr("{program!r} runs any code that it is given", program=program))


def _is_asked(program: str, word: str) -> bool:
    """True for a word that may run another program or write a file."""
    if _ASKED_WORD.fullmatch(word):
        return True
    if word.startswith("--"):
        name = word[2:].partition("=")[0]
        return bool(name) and (
            any(asked.startswith(name) for asked in _ASKED_NAMES) or _names_a_program(name)
        )
    letters = _ASKED_LETTERS.get(program, "")
    return word.startswith("-") and any(letter in word[1:].partition("=")[0] for letter in letters)


def _is_asked_of(words: tuple[str, ...], word: str) -> bool:
    """The same for a word that only some programs, or subcommands, understand so."""
    program = words[0].rpartition("/")[2]
    if program in _OLD_BUNDLES and word is words[1] and not word.startswith("-"):
        return any(letter in word for letter in _ASKED_LETTERS["tar"])
    if words[:2] in _FROM_ELSEWHERE:
        return re.fullmatch(r"-[A-Za-z]*u.*", word, re.DOTALL) is not None
    return bool(_COMPILER.fullmatch(program) and _ASKED_OF_COMPILERS.fullmatch(word))


def _names_a_program(option: str) -> bool:
    """True for a long option, its dashes gone, that is named for a program; the last word of it may be cut short."""
    first, *rest = option.split("-")
    if first in _REFUSING_WORDS:
        return False
    return any(word in _RUNNING_WORDS for word in (first, *rest)) or (
        bool(rest) and len(rest[-1]) > 2 and any(word.startswith(rest[-1]) for word in _RUNNING_WORDS)
    )


def _only_prints(words: tuple[str, ...]) -> bool:
    script = next((at for at, word in enumerate(words) if not word.startswith("-")), None)
    if script is None or _SED_PRINTS.fullmatch(words[script]) is None:
        return False
    return all(_SED_READS.fullmatch(word) or not word.startswith("-") for word in words)


def _prefix(words: tuple[str, ...]) -> tuple[str, ...]:
    """Words of a rule for it: the program, with its subcommand or its script where it has one."""
    program = words[0].rpartition("/")[2]
    if _INTERPRETER.fullmatch(program):
        named = next(
            number for number, word in enumerate(words[1:], 1) if not word.startswith("-") or word == "-m"
        )
        is_plain = all(_PYTHON.fullmatch(program) and _PLAIN_FLAG.fullmatch(word) for word in words[1:named])
        if not is_plain:
            return words  # an option may take the word behind it, and then that is no script
        return words[: named + 2] if words[named] == "-m" else words[: named + 1]
    if program not in _WITH_SUBCOMMANDS:
        return words[:1]
    if len(words) > 1 and words[1].startswith("-"):
        return words
    return words[:3] if words[:2] in _THREE_WORDS else words[:2]
