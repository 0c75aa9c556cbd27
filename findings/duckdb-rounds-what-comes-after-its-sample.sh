#!/usr/bin/env bash
# duckdb 2.0.1
#
# A log of requests, one a line, in JSON or CSV, with what each cost. The first 30,000 were free, then come
# 0.42 and 19.99. DuckDB takes each column's type from the first 20,480 lines (documented), and raises a good error, with
# the line and a remedy, when a later value does not fit the type.
#
# Expected: such an error, or the value.
# Seen: for a text there is the error. A number with a fraction is rounded to the whole number that the type takes: the 0.42
# is 0, the 19.99 is 20, inside objects too. In CSV a time behind a date is cut off in the same
# way (in JSON it is an error). With fewer lines before it, or `sample_size=-1`, the same value is read as it stands.
#
# Why it matters: the same query over a longer log gives a smaller bill; every test on a short file is right.
#
# Output seen:
#   json, after 100 lines: 20.41
#   json, after 30000 lines: 20
#   json, in an object: {'cost': 20}
#   json, a text: InvalidInputException
#   csv, after 100 lines: 20.41
#   csv, after 30000 lines: 20
#   csv, a text: ConversionException
#   csv, a time behind a date: 2026-11-29
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check duckdb==2.0.1

cat > call.py <<'PY'
import duckdb
def answer(kind, question, first, *late, lines=30_000):
    """Ask a file that has many lines with one value and then the late ones."""
    line = {"json": '{{"cost": {}}}\n', "csv": "x,{}\n"}[kind]
    with open(f"log.{kind}", "w") as file:
        file.write("name,cost\n" if kind == "csv" else "")
        file.write(line.format(first) * lines + "".join(line.format(value) for value in late))
    try:
        return duckdb.sql(f"select {question} from 'log.{kind}'").fetchall()[0][0]
    except duckdb.Error as error:
        return type(error).__name__
print("json, after 100 lines:", answer("json", "sum(cost)", "0", "0.42", "19.99", lines=100))
print("json, after 30000 lines:", answer("json", "sum(cost)", "0", "0.42", "19.99"))
print("json, in an object:", answer("json", "last(cost)", '{"cost": 0}', '{"cost": 19.99}'))
print("json, a text:", answer("json", "last(cost)", "0", '"free"'))
print("csv, after 100 lines:", answer("csv", "sum(cost)", "0", "0.42", "19.99", lines=100))
print("csv, after 30000 lines:", answer("csv", "sum(cost)", "0", "0.42", "19.99"))
print("csv, a text:", answer("csv", "last(cost)", "0", "free"))
print("csv, a time behind a date:", answer("csv", "last(cost)", "2026-11-28", "2026-11-29 10:30:00"))
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
