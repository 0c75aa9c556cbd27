#!/usr/bin/env bash
# watchdog 7.1.0 on Linux
#
# A folder is moved out of the watched tree, and a file in it is changed at its new place.
#
# Expected: after the "deleted" event of the folder no more is said of it: its files lie outside the tree.
# Seen: the library goes on watching the folder where it went, and reports changes there under the old path, which
# does not exist any more.
#
# Why it matters: a program that reads the path of an event meets a missing file, or, if a new folder has the old
# name by then, takes events of a foreign file for its own. Work in another place wakes the program for good.
#
# Output seen:
#   deleted: tree/sub
#   modified: tree/sub/file
#   exists: False
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check watchdog==7.1.0

cat > call.py <<'PY'
import os, queue
from watchdog.events import FileSystemEventHandler
from watchdog.observers import Observer
os.makedirs("tree/sub")
open("tree/sub/file", "w").close()
events = queue.Queue()
class Handler(FileSystemEventHandler):
    def on_deleted(self, event): events.put(("deleted", event.src_path))
    def on_modified(self, event):
        if not event.is_directory: events.put(("modified", event.src_path))
observer = Observer()
observer.schedule(Handler(), "tree", recursive=True)
observer.start()
os.rename("tree/sub", "elsewhere")
print("%s: %s" % events.get(timeout=10))
with open("elsewhere/file", "w") as file:
    file.write("text")
kind, path = events.get(timeout=10)
print(f"{kind}: {path}\nexists: {os.path.exists(path)}")
observer.stop()
observer.join()
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
