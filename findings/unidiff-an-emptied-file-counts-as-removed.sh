#!/usr/bin/env bash
# unidiff 1.0.1, git 2.39.5 (Debian 12) makes the diff
#
# A commit empties one file, fills one that was empty, deletes one and makes one. `PatchSet.removed_files` and
# `added_files` ("this patch removes the file") are asked what to delete, to make and to review.
#
# Expected: what git says: the first two are modified. The diff says so too: both of their names are there, /dev/null
# and the lines "new file" and "deleted file" are only at the other two.
# Seen: the counts of the one hunk decide. A file with no lines after the change is removed, and one with no lines before
# it is added. `source_file` and `target_file` of the same object name the file on both sides.
#
# Why it matters: a tool that follows the lists deletes a file that has to stay and be empty (a package's __init__.py, a
# .gitkeep, a lock), or refuses a patch because the "new" file is there already.
#
# Output seen:
#   git:     emptied M, filled M, gone D, new A
#   unidiff: emptied D, filled A, gone D, new A
#   emptied: a/emptied -> b/emptied
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check unidiff==1.0.1

mkdir tree
git -C tree init -q
printf 'one\ntwo\n' > tree/emptied
: > tree/filled
echo three > tree/gone
git -C tree add --all
git -C tree -c user.name=A -c user.email=a@example.com commit -q -m before
: > tree/emptied
echo four > tree/filled
rm tree/gone
echo five > tree/new
git -C tree add --all
git -C tree diff --cached --no-color > change.diff
git -C tree diff --cached --name-status > change.names

cat > call.py <<'PY'
import unidiff
with open("change.names") as file:
    pairs = [line.split() for line in file]
print("git:    ", ", ".join(f"{name} {kind}" for kind, name in pairs))
with open("change.diff") as file:
    patch = unidiff.PatchSet(file)
kinds = {"A": patch.added_files, "D": patch.removed_files, "M": patch.modified_files}
found = sorted((file.path, kind) for kind, files in kinds.items() for file in files)
print("unidiff:", ", ".join(f"{name} {kind}" for name, kind in found))
print("emptied:", patch[0].source_file, "->", patch[0].target_file)
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
