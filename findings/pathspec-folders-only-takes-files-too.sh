#!/usr/bin/env bash
# pathspec 1.1.1 (git and dulwich 1.2.21 beside it)
#
# The rule logs/**/ in .gitignore: every folder below logs, and so what is in those, but not the files that lie in
# logs itself (a rule that ends in a slash holds for folders only).
#
# Expected: `GitIgnoreSpec`, made to follow git, keeps logs/summary.txt as git and dulwich do.
# Seen: it says that logs/summary.txt is ignored.
#
# Why it matters: a backup, a packager or a context builder that asks pathspec leaves out files that git tracks, and
# nobody sees which.
#
# Output seen:
#   git ignores: logs/day/a.txt
#   dulwich ignores: logs/day/a.txt
#   pathspec ignores: logs/day/a.txt logs/summary.txt
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pathspec==1.1.1 dulwich==1.2.21

cat > call.py <<'PY'
import os, subprocess
from dulwich.ignore import IgnoreFilter
from pathspec import GitIgnoreSpec
FILES = ["logs/day/a.txt", "logs/summary.txt"]
RULE = "logs/**/"
subprocess.run(["git", "init", "-q"], check=True)
os.makedirs("logs/day")
for name in (*FILES, ".gitignore"):
    with open(name, "w") as file:
        file.write(RULE + "\n")
git = subprocess.run(["git", "check-ignore", *FILES], capture_output=True, text=True, check=True)
print("git ignores:", *git.stdout.split())
print("dulwich ignores:", *(name for name in FILES if IgnoreFilter([RULE.encode()]).is_ignored(name)))
print("pathspec ignores:", *(name for name in FILES if GitIgnoreSpec.from_lines([RULE]).match_file(name)))
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
