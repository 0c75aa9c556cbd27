#!/usr/bin/env bash
# filelock 4.3.1, fasteners 0.20, portalocker 4.4.2
#
# Two programs guard one folder by a lock on the same file; each uses a well-known library for locks between
# processes on Linux.
#
# Expected: a lock on a file keeps the other program out, whichever library it uses.
# Seen: filelock and portalocker use flock, fasteners uses fcntl record locks. Linux keeps the two kinds apart, so
# both programs hold "the" lock at once and neither is told. filelock and portalocker do exclude each other.
#
# Why it matters: the guarded file is written by two programs at once. It happens when a library that one depends on
# changes its lock library, or when a tool in another project is told to use "the same lock file".
#
# Output seen:
#   filelock holds: filelock busy, portalocker busy, fasteners gets it too
#   fasteners holds: filelock gets it too, portalocker gets it too, fasteners busy
#   portalocker holds: filelock busy, portalocker busy, fasteners gets it too
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check filelock==4.3.1 fasteners==0.20 portalocker==4.4.2

cat > call.py <<'PY'
import subprocess, sys
import fasteners, filelock, portalocker
TRY = {
    "filelock": "import filelock as l; l.FileLock('lock').acquire(timeout=0)",
    "portalocker": "import portalocker as l; l.Lock('lock', timeout=0, fail_when_locked=True).acquire()",
    "fasteners": "import fasteners as l; assert l.InterProcessLock('lock').acquire(blocking=False)",
}
def others():
    for name, code in TRY.items():
        done = subprocess.run([sys.executable, "-c", code], capture_output=True)
        yield f"{name} busy" if done.returncode else f"{name} gets it too"
for name, lock in (
    ("filelock", filelock.FileLock("lock")),
    ("fasteners", fasteners.InterProcessLock("lock")),
    ("portalocker", portalocker.Lock("lock")),
):
    lock.acquire()
    print(f"{name} holds:", ", ".join(others()))
    lock.release()
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
