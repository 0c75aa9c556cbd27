#!/usr/bin/env bash
# lancedb 0.40.0 (with pyarrow 26.0.1)
#
# A table is made of the first rows, whose prices happen to be whole, so their column holds whole numbers. Then a row comes
# with 19.99. There are four ways to write it: a new table with that schema, `merge_insert`, `add` and `update`.
#
# Expected: one rule for one table. "Float value 19.990000 was truncated converting to int64" is what the first two say, and
# write nothing.
# Seen: `add` and `update` cut the number and store 19, with no error and no warning. They do refuse what is no number
# ("n/a") or too large, so a check is there. A decimal with more places than its column is rounded by `add` in the same way.
#
# Why it matters: an upsert (`merge_insert`) that was tested to be strict is changed into the faster `add`, and from then
# on prices, scores and versions lose their fraction; the rows stay, so counts agree.
#
# Output seen:
#   new table: refused
#   merge_insert: refused
#   add: [5, 19]
#   update: [19]
#   add n/a: refused
#   add 1e300: refused
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check lancedb==0.40.0 pyarrow==26.0.1

cat > call.py <<'PY'
import lancedb
database = lancedb.connect("prices.lance")
def fresh():
    return database.create_table("prices", [{"id": 1, "price": 5}], mode="overwrite")
def outcome(write):
    """Write to a new table and tell its prices, or that the library did not do it."""
    table = fresh()
    try:
        table = write(table) or table
    except (ValueError, RuntimeError):
        assert table.to_arrow()["price"].to_pylist() == [5]
        return "refused"
    return database.open_table(table.name).to_arrow()["price"].to_pylist()
def add(value):
    def write(table):
        table.add([{"id": 2, "price": value}])
    return write
def merge(table):
    table.merge_insert("id").when_matched_update_all().execute([{"id": 1, "price": 19.99}])
def update(table):
    table.update(where="id = 1", values={"price": 19.99})
def new(table):
    return database.create_table("more", [{"id": 2, "price": 19.99}], schema=table.schema, mode="overwrite")
print("new table:", outcome(new))
print("merge_insert:", outcome(merge))
print("add:", outcome(add(19.99)))
print("update:", outcome(update))
print("add n/a:", outcome(add("n/a")))
print("add 1e300:", outcome(add(1e300)))
PY
venv/bin/python call.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
