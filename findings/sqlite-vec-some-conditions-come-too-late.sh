#!/usr/bin/env bash
# sqlite-vec 0.1.9 (apsw 3.54.1.0)
#
# Twenty vectors, of which five have kind 'new' and the row numbers 16 to 20. A nearest-neighbour query with k = 3 and a
# condition that picks those five.
#
# Expected: three of the five, however the condition is spelt; what the extension cannot use it refuses, as it does
# with LIKE on the same column ("An illegal WHERE constraint").
# Seen: kind = 'new' and rowid in (...) are applied before the three nearest are taken. rowid > 15, upper(kind) = 'NEW' and
# a join are applied after that: the three nearest of all rows are taken, none of them matches, and the answer is
# empty. No error, no warning.
#
# Why it matters: a search within one folder or one person's notes finds nothing, and finds more the more of the
# collection that folder is; a small test collection shows no fault.
#
# Output seen:
#   kind = 'new': 16 17 18
#   rowid in (select value from json_each('[16,17,18,19,20]')): 16 17 18
#   rowid > 15:
#   upper(kind) = 'NEW':
#   rowid in (16, 17, 18, 19, 20) by a join:
#   kind like 'new': refused
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check sqlite-vec==0.1.9 apsw==3.54.1.0

cat > call.py <<'PY'
import struct
import apsw, sqlite_vec
db = apsw.Connection(":memory:")
db.enable_load_extension(True)
db.load_extension(sqlite_vec.loadable_path())
db.execute("create virtual table notes using vec0(at float[2], kind text)")
db.execute("create table wanted(id integer primary key)")
for row in range(1, 21):
    db.execute("insert into notes(rowid, at, kind) values (?, ?, ?)", (row, struct.pack("2f", row, 0), "new" if row > 15 else "old"))
    if row > 15:
        db.execute("insert into wanted values (?)", (row,))
def show(name, query):
    try:
        rows = [str(row) for (row,) in db.execute(query, (struct.pack("2f", 0, 0),))]
        print(" ".join([f"{name}:", *rows]))
    except apsw.SQLError:
        print(f"{name}: refused")
nearest = "select rowid from notes where at match ? and k = 3 and "
for condition in ("kind = 'new'", "rowid in (select value from json_each('[16,17,18,19,20]'))", "rowid > 15", "upper(kind) = 'NEW'"):
    show(condition, nearest + condition)
show("rowid in (16, 17, 18, 19, 20) by a join", "select notes.rowid from notes join wanted on wanted.id = notes.rowid where at match ? and k = 3")
show("kind like 'new'", nearest + "kind like 'new'")
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
