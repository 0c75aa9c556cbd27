#!/usr/bin/env bash
# whoosh-reloaded 2.7.5
#
# Notes with a date and, beside it, the year as a number are searched for what came before or after 2026. The package's guide to its
# queries has braces for a bound that does not belong to the range, {2025 TO 2027}, and its plugin `GtLtPlugin` writes < and > so.
#
# Expected: before 2026 is 2025, and after 2026 is 2027, in the field of dates as in that of numbers.
# Seen: a field of dates keeps the bound in any case. "2026" is made a span of a whole year, and "before 2026" ends with the last
# second of 2026, "after 2026" begins with its first; < means the same as <=. After 30 November finds that day too.
#
# Why it matters: a question for everything before this year returns this year as well (what is old enough to be deleted?), while
# the parsed query of a number shows the bound left out, and tests with whole timestamps hardly see a difference.
#
# Output seen:
#   < 2026         number: 2025         date: 2025-12-31 2026-01-01 2026-11-30
#   > 2026         number: 2027         date: 2026-01-01 2026-11-30 2027-01-01
#   {2025 TO 2027} number: 2026 2026    date: 2025-12-31 2026-01-01 2026-11-30 2027-01-01
#   > 20261130                           date: 2026-11-30 2027-01-01
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check whoosh-reloaded==2.7.5 2>/dev/null

cat > try.py <<'PY'
import datetime
from whoosh.fields import DATETIME, NUMERIC, Schema, STORED
from whoosh.filedb.filestore import RamStorage
from whoosh.qparser import GtLtPlugin, QueryParser
schema = Schema(day=STORED, year=NUMERIC(int, stored=True), date=DATETIME)
index = RamStorage().create_index(schema)
writer = index.writer()
for text in ("2025-12-31", "2026-01-01", "2026-11-30", "2027-01-01"):
    date = datetime.datetime.fromisoformat(text + "T10:00:00")
    writer.add_document(day=text, year=date.year, date=date)
writer.commit()
parser = QueryParser("date", schema)
parser.add_plugin(GtLtPlugin())
with index.searcher() as searcher:
    def found(query, shown):
        return " ".join(sorted(str(hit[shown]) for hit in searcher.search(parser.parse(query))))
    for words, bound in (("< 2026", "<2026"), ("> 2026", ">2026"), ("{2025 TO 2027}", "{2025 TO 2027}")):
        print(f"{words:14} number: {found('year:' + bound, 'year'):12} date: {found('date:' + bound, 'day')}")
    print("> 20261130                           date:", found("date:>20261130", "day"))
PY
venv/bin/python -W ignore try.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
