#!/usr/bin/env bash
# sqlite-utils 4.2.1
#
# A CSV file with ids that are written in digits goes into a database by `sqlite-utils insert --csv`: postal codes and
# short commit ids, which are text in every row.
#
# Expected: text that a type would change stays text. 01234 is no number to anybody, and 12e45678 is a commit.
# Seen: types are detected by default since 4.0, by what Python's int() and float() accept. A leading zero goes, and
# so does a plus sign. A column of commit ids that all have the form digits, e, digits becomes FLOAT: every value
# beyond the range is stored as infinity, so different commits become one. Nothing is said, and nothing brings them back.
#
# Why it matters: the values in the table are not those in the file, and joins on them find nothing or too much.
#
# Output seen:
#   {"zip": 1234, "phone": 4930123456}
#   {"zip": 501, "phone": 49401234567}
#   {"commit": "inf"}
#   {"commit": "inf"}
#   with --no-detect-types: {"zip": "01234", "phone": "+4930123456"}
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check sqlite-utils==4.2.1
printf 'zip,phone\n01234,+4930123456\n00501,+49401234567\n' > people.csv
printf 'commit\n12e45678\n98e10234\n' > commits.csv
venv/bin/sqlite-utils insert data.db people people.csv --csv
venv/bin/sqlite-utils insert data.db commits commits.csv --csv
venv/bin/sqlite-utils insert data.db as_text people.csv --csv --no-detect-types

cat > show.py <<'PY'
import json, sqlite3
data = sqlite3.connect("data.db")
data.row_factory = sqlite3.Row
def rows(table):
    for row in data.execute(f"select * from {table} order by rowid"):
        yield json.dumps({key: "inf" if row[key] == float("inf") else row[key] for key in row.keys()})
print(*rows("people"), *rows("commits"), sep="\n")
print("with --no-detect-types:", next(rows("as_text")))
PY
venv/bin/python show.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
