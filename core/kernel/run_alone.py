"""Programs that run no code of the folder in which they work, but what their words name."""

from __future__ import annotations

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
