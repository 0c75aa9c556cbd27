#!/usr/bin/env bash
# watchfiles 1.3.0
#
# Within one batch (the debounce time) a file is deleted and made again, as many editors and `git checkout` do; in
# another batch a file is made and deleted.
#
# Expected: the changes of a batch tell how it ended: the first file exists, the second does not.
# Seen: both batches are the same set, {added, deleted}, without an order. Whoever goes through such a set and
# applies each change ends with a file that is there taken for deleted, or the other way, by the
# chance of the set's order.
#
# Why it matters: an index or a cache that follows the changes loses a file that still exists, and does not get it
# back before its next edit. Only looking at the disk tells the cases apart.
#
# Output seen:
#   deleted and made again: ['added', 'deleted'] exists: True
#   made and deleted: ['added', 'deleted'] exists: False
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check watchfiles==1.3.0

cat > call.py <<'PY'
import os, threading
import watchfiles
def write():
    with open("watched/file", "w") as file:
        file.write("text")
def batch(act):
    """Gives what one batch says of the file; the watch says when it is ready, and `act` runs then."""
    changes = watchfiles.watch("watched", debounce=1000, step=500, rust_timeout=200, yield_on_timeout=True)
    assert next(changes) == set()
    act()
    return next(found for found in changes if found)
def show(name, act):
    kinds = sorted(change.name for change, _ in batch(act))
    print(f"{name}: {kinds} exists: {os.path.exists('watched/file')}")
os.mkdir("watched")
write()
show("deleted and made again", lambda: (os.remove("watched/file"), write()))
os.remove("watched/file")
show("made and deleted", lambda: (write(), os.remove("watched/file")))
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
