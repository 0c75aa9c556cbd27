#!/usr/bin/env bash
# fasteners 0.20 (filelock 4.3.1 beside it)
#
# A process holds `InterProcessLock("state.lock")` and reads that file once: to show who holds it, to copy the folder
# into a backup, to count lines.
#
# Expected: the lock is held until `release()`.
# Seen: the lock is gone as soon as the process closes any handle on the file (a rule of POSIX record locks that the
# library keeps no account of). `acquired` is still True, and another process gets the lock at once.
#
# Why it matters: two writers, and the first one's own check says that it holds the lock. filelock, used in the same
# way, keeps it.
#
# Output seen:
#   fasteners: another process: busy; after reading the file: gets it; acquired: True
#   filelock: another process: busy; after reading the file: busy; is_locked: True
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check fasteners==0.20 filelock==4.3.1

cat > call.py <<'PY'
import pathlib, subprocess, sys
import fasteners, filelock
TRY = {
    "fasteners": "import fasteners; assert fasteners.InterProcessLock('state.lock').acquire(blocking=False)",
    "filelock": "import filelock; filelock.FileLock('state.lock').acquire(timeout=0)",
}
def other(name):
    return "busy" if subprocess.run([sys.executable, "-c", TRY[name]], capture_output=True).returncode else "gets it"
for name, lock, flag in (
    ("fasteners", fasteners.InterProcessLock("state.lock"), "acquired"),
    ("filelock", filelock.FileLock("state.lock"), "is_locked"),
):
    lock.acquire()
    before = other(name)
    pathlib.Path("state.lock").read_bytes()
    print(f"{name}: another process: {before}; after reading the file: {other(name)}; {flag}: {getattr(lock, flag)}")
    lock.release()
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
