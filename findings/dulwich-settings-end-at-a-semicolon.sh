#!/usr/bin/env bash
# dulwich 1.2.21, git 2.39.5 (Debian 12) reads too
#
# A program writes settings of a repository with dulwich: the address of a remote, an alias, an editor. Git's format
# starts a comment at # and at ; so a value with one of them must be written in quotes.
#
# Expected: what is written is read again, by git and by dulwich.
# Seen: dulwich quotes a value with # and leaves one with ; bare. Both programs then read the part before it: the remote is
# another address, and of an alias with two commands the first is left. Until the file is read again the object in
# memory has the whole value.
#
# Why it matters: "git fetch; git rebase" fetches and does not rebase; a fetch goes to an address that nobody wrote. There
# is no error, and the file looks right to a person who reads it.
#
# Output seen:
#   set:     '!git fetch; git rebase', 'https://h.example/a;b=1/r.git', 'A # B'
#   git:     '!git fetch', 'https://h.example/a', 'A # B'
#   dulwich: '!git fetch', 'https://h.example/a', 'A # B'
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check dulwich==1.2.21

cat > call.py <<'PY'
import subprocess
from dulwich.config import ConfigFile
settings = {
    "alias.up": "!git fetch; git rebase",
    "remote.there.url": "https://h.example/a;b=1/r.git",
    "user.name": "A # B",
}
def place(name):
    *section, key = name.encode().split(b".")
    return tuple(section), key
written = ConfigFile()
for name, value in settings.items():
    written.set(*place(name), value.encode())
written.write_to_path("config")
def git(name):
    command = ["git", "config", "--file", "config", "--get", "-z", name]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.removesuffix("\0")
read = ConfigFile.from_path("config")
assert all(written.get(*place(name)) == value.encode() for name, value in settings.items())
print("set:    ", ", ".join(map(repr, settings.values())))
print("git:    ", ", ".join(repr(git(name)) for name in settings))
print("dulwich:", ", ".join(repr(read.get(*place(name)).decode()) for name in settings))
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
