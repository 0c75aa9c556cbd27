#!/usr/bin/env bash
# git 2.39.5 (Debian 12), with pathspec 1.1.1, dulwich 1.2.21 and ignore 7.0.17 (JavaScript) beside it
#
# The rule doc**/s in .gitignore. gitignore's manual: two stars that do not stand alone between slashes "are considered
# regular asterisks", so the rule means doc*/s: a file s in a folder whose name begins with doc.
#
# Expected: docx/s is ignored, the file docs is not.
# Seen: git ignores docs too. It compares the plain beginning of a rule first, cuts "doc" off the rule and the name, and
# what is left, **/s, then reads as "s in any folder, or here". doc*/s, which should mean the same, keeps docs. All three
# libraries that follow the manual keep it.
#
# Why it matters: git leaves a file out of every commit by a rule that cannot be meant for it, and a tool that asks one of
# these libraries shows, packs or backs up another set of files than git.
#
# Output seen:
#   git, doc**/s: docs docx/s
#   git, doc*/s: docx/s
#   pathspec, doc**/s: docx/s
#   dulwich, doc**/s: docx/s
#   ignore, doc**/s: docx/s
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pathspec==1.1.1 dulwich==1.2.21
npm install --silent --no-audit --no-fund ignore@7.0.17

cat > call.mjs <<'JS'
import ignore from "ignore";
const rule = "doc**/s";
console.log(`ignore, ${rule}:`, ["docs", "docx/s"].filter((name) => ignore().add(rule).ignores(name)).join(" "));
JS
cat > call.py <<'PY'
import os, subprocess
from dulwich.ignore import IgnoreFilter
from pathspec import GitIgnoreSpec
FILES = ["docs", "docx/s"]
RULE = "doc**/s"
subprocess.run(["git", "init", "-q", "tree"], check=True)
os.makedirs("tree/docx")
for name in FILES:
    open(f"tree/{name}", "w").close()
for rule in (RULE, "doc*/s"):
    with open("tree/.gitignore", "w") as file:
        file.write(rule + "\n")
    git = subprocess.run(["git", "-C", "tree", "check-ignore", *FILES], capture_output=True, text=True, check=True)
    print(f"git, {rule}:", *git.stdout.split())
print(f"pathspec, {RULE}:", *(name for name in FILES if GitIgnoreSpec.from_lines([RULE]).match_file(name)))
print(f"dulwich, {RULE}:", *(name for name in FILES if IgnoreFilter([RULE.encode()]).is_ignored(name)))
PY
{ venv/bin/python call.py; node call.mjs; } | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
