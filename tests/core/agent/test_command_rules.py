"""Which command lines a prefix rule may cover; the reading is held against a real bash."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest

from core.agent.command_rules import LONGEST, read_command_line
from core.agent.tool_policy import covers


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("git log --oneline", (("git", "log", "--oneline"),)),
        ("git log 'a b' \"c d\" e'f'", (("git", "log", "a b", "c d", "ef"),)),
        ("git log; curl http://x", (("git", "log"), ("curl", "http://x"))),
        ("git log\n\ncurl x", (("git", "log"), ("curl", "x"))),
        ("ls src/*.py | wc -l && git status || make", (("ls", "src/*.py"), ("wc", "-l"), ("git", "status"), ("make",))),
        ('"git" log', (("git", "log"),)),
        ("git log --oneline --color --no-color --stat -p", (("git", "log", "--oneline", "--color", "--no-color", "--stat", "-p"),)),
        ("git commit -m 'a\nb'", (("git", "commit", "-m", "a\nb"),)),
        ("sed -n 10,20p x", (("sed", "-n", "10,20p", "x"),)),
        ("find . -name a -type f", (("find", ".", "-name", "a", "-type", "f"),)),
        ("python -m pytest -q tests", (("python", "-m", "pytest", "-q", "tests"),)),
    ],
)  # fmt: skip
def test_every_simple_command_is_read(text: str, commands: tuple[tuple[str, ...], ...]) -> None:
    assert read_command_line(text).commands == commands


@pytest.mark.parametrize(
    "text",
    [
        "git log > x", "git log < x", "git log 2>&1", "git log <<E\nE\n", "git log &> x", "git log |& cat",
        "git log $(curl x)", "git log `curl x`", 'git log "$(curl x)"', "git log <(curl x)", "git log $HOME", 'git "${x}"',
        "a=1 git log", "a=1", "export PAGER=curl", "declare -x a=b", "git -c core.pager=curl log", "git -ccore.pager=x log",
        "bash -c ls", "bash -lc ls", "sh", "sh -", "python -c 1", "python3 -Sc 1", "perl -e 1", "node --eval 1", "env git log",
        "find . -exec rm x ;", "find . -execdir rm x ;", "find . -ok rm x ;", "git grep --open-files-in-pager=curl x",
        "rg --pre curl x", "tar --to-command=curl xf a", "xargs curl", "sudo git log", "timeout 5 git log", "npx x",
        "alias git=curl\ngit log", "git() { curl x; }; git log", "eval git log", ". ./x", "source x", "exec git log",
        "hash -p /tmp/curl git; git log", "enable -f ./x.so git", "trap 'curl x' EXIT; git log", "shopt -s expand_aliases",
        "git log &", "! git log", "( git log )", "{ git log; }", "if a; then b; fi", "for a in b; do c; done", "[ -f x ]",
        "[[ a ]]", "coproc git log", "time git log", "git log # curl\ncurl", "g\\it log", "git\\\n log", "git *", "git {log,x}",
        "git -*", "git $'log'", 'git $"log"', "git log 'a", "git log \"a", "git log |", "", "  \n", "#", "''", "git\u00a0log",
        "git\tlog", "git\rlog", "git log\x00", "git \u202elog", "\ud800", "a" * (LONGEST + 1), "uv run x", "git bisect run x",
        "sort --compress-prog=sh a", "tar --to-comm=sh xf a", "tar --checkpoint-act=exec=sh xf a", "git grep --open-files=sh a",
        "git fetch --upload-p=sh x", "git grep -Osh a", "git grep -iOsh a", "tar -xIsh -f a", "tar -F sh -xf a", "fd . -x sh",
        "fd -HX sh", "rg --hostname-bin=sh a", "git log --output=.envrc", "git diff --outpu=x", "find . -fprintf x %p",
        "find . -delete", "sort -o x a", "sed -i s/a/b/ x", "sed 's/a/b/e' x", "sed -n '1e sh' x", "sed 'w x' y", "sed -f x y",
        "printf -v PATH /tmp; git log", "test -v 'a[$(sh)]'", "compgen -C sh", "history -w x", "make test -f x", "curl -K x",
        "go build -toolexec=sh x", "go vet -vettool=./x", "gcc -wrapper sh,-c a.c", "gcc -fplugin=./x.so a.c", "shuf -o x a",
        "wget --use-ask=sh x", "iconv -o x a", "yq -i . x",
        "python \"x'\nedit files inside the project\n'y\"",
        "npm test --script-shell=./x", "npm test --script-sh ./x", "sdiff --diff-program=x a b", "svn diff --editor-cmd x",
        "pylint --init-hook=x a.py", "git send-email --to-cmd=./x a", "just --shell x test", "rpm -q --pre-script", "make test SHELL=./x",
        "make CC:=x", "sqlite3 a.db '.shell curl x'", "R CMD sh", "java -jar x", "coverage run x.py", "rustup run stable sh", "ghc -e x",
        "gradle test -I x", "ctest -S x", "nix shell x", "xdg-open x", "elixir -e x",
        "tar cIf ./x a.tar .", "tar xfF a.tar x", "bsdtar cIf x a", "git clone -u ./x . y", "git clone -qu./x . y", "git instaweb --httpd=x",
        "gcc @options", "aarch64-linux-gnu-g++-12 -B. a.cc", "clang -Xclang -load x", "gcc -specs=x a.c", "javac @x",
        "docker run x", "git config x y", "vim x", "awk 'BEGIN{system(1)}'", "cat x; less y",
    ],
)  # fmt: skip
def test_what_says_less_than_it_does_is_covered_by_no_rule(text: str) -> None:
    line = read_command_line(text)
    assert line.commands == ()
    assert line.prefixes == ()
    assert line.why_not.startswith("No rule can cover this command: ")


@pytest.mark.parametrize(
    ("text", "prefixes"),
    [
        ("git log -1", ("git log",)),
        ("git log --pretty=oneline", ("git log",)),
        ("npm run test -- -x", ("npm run test",)),
        ("ls -la src && ls", ("ls",)),
        ("python -m pytest -q", ("python -m pytest",)),
        ("python tools/x.py 3", ("python tools/x.py",)),
        ("bash run.sh", ("bash run.sh",)),
        ("git --no-pager log", ("git --no-pager log",)),
        ("npm ci --ignore-scripts", ("npm ci",)),
        ("python -u tools/x.py 3", ("python -u tools/x.py",)),
        ("python -W ignore tools/x.py", ("python -W ignore tools/x.py",)),
        ("ruby -I lib x.rb", ("ruby -I lib x.rb",)),
        ("bash -O extglob x.sh", ("bash -O extglob x.sh",)),
        ("php -d a=b x.php", ("php -d a=b x.php",)),
        ("tar xf a.tar", ("tar",)),
        ("gcc -O2 a.c -lm", ("gcc",)),
        ("npm install @types/node", ("npm install",)),
        ("git push -u origin x", ("git push",)),
        ("go run ./cmd/x -v", ("go run ./cmd/x",)),
        ("make -j4 test", ("make -j4 test",)),
    ],
)
def test_the_offered_rule_names_the_program_and_what_it_is_told_to_run(
    text: str, prefixes: tuple[str, ...]
) -> None:
    line = read_command_line(text)
    assert tuple(" ".join(prefix) for prefix in line.prefixes) == prefixes
    assert all(any(covers(prefix, words) for prefix in prefixes) for words in line.commands)


_BASH = shutil.which("bash")
_PIECES = (
    "git", "log", "ls", " ", " ", " ", "  ", "\n", ";", "&", "&&", "|", "||", "'", '"', "'a b'", '"a b"', "\\", "$x", "$(ls)",
    "`ls`", "#", "=", "a=1", ">", "<", "(", ")", "{", "}", "*", "a*", "?", "~", "!", "-", "--", "1", ",", "{a,b}", "[a]", "é", "$'a'", "%",
)  # fmt: skip
_HARNESS = r"""
PATH=/nowhere
command_not_found_handle() { printf -v ran '%s\x1f' "$@"; printf '%s\x1e' "$ran" >&9; }
ls() { command_not_found_handle ls "$@"; }
while IFS= read -r -d '' text; do
  ( cd /; set -f; eval "$text" ) </dev/null >/dev/null 2>&1
  printf '\x1d' >&9
done
"""


def test_a_real_bash_runs_no_other_words_than_were_read() -> None:
    """Where a rule may cover the line, bash runs those commands in that order, or fewer: `&&` may stop."""
    assert _BASH is not None
    dice = random.Random(14)
    texts = ["".join(dice.choices(_PIECES, k=dice.randint(1, 8))) for _ in range(3000)]
    texts += ["git log; ls x", "git 'a b' \"c\"d && ls", "git log | ls\nls"]
    lines = [read_command_line(text) for text in texts]
    pairs = [(text, line) for text, line in zip(texts, lines, strict=True) if line.commands]
    assert len(pairs) >= 100
    fed = b"".join(text.encode() + b"\0" for text, _ in pairs)
    done = subprocess.run(
        [_BASH, "--norc", "--noprofile", "-c", f"exec 9>&1; {_HARNESS}"],
        input=fed,
        capture_output=True,
        check=False,
    )
    ran = done.stdout.decode().split("\x1d")[:-1]
    assert len(ran) == len(pairs)
    for (text, line), seen in zip(pairs, ran, strict=True):
        words = [tuple(one.split("\x1f")[:-1]) for one in seen.split("\x1e")[:-1]]
        read = {one if "~" not in text else one[:1] for one in line.commands}
        assert {one if "~" not in text else one[:1] for one in words} <= read, (text, words)
