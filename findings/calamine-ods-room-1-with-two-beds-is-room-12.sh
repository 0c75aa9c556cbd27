#!/usr/bin/env bash
# python-calamine 0.9.1 (pandas 3.1.1 with odfpy 1.4.1 beside it)
#
# Cells of an OpenDocument spreadsheet with two things in them: "Room 1" and "2 beds", with a new line or a tab between them. A new
# paragraph is <text:p>; within one paragraph the format has <text:line-break/> and <text:tab/> for the two.
#
# Expected: something stands between the two, a line break, a tab or at least a blank, as with two paragraphs.
# Seen: both marks vanish, and what they held apart grows together: "Room 12 beds". "450" and "20 refunded" are 45020 refunded.
# pandas' own reader keeps the line (its tab is lost too). Runs of blanks (<text:s/>) are kept by both.
#
# Why it matters: the numbers that come out are plausible ones; calamine is the fast reader under pandas (engine="calamine"),
# polars and others, and the same text in an .xlsx file keeps its lines.
#
# Output seen:
#   between       calamine                        odf
#   paragraphs    'Room 1\n2 beds'                'Room 1\n2 beds'
#   line-break    'Room 12 beds'                  'Room 1\n2 beds'
#   line-break    'Paid 45020 refunded'           'Paid 450\n20 refunded'
#   tab           'Room 12 beds'                  'Room 12 beds'
#   s             'Room 1 2 beds'                 'Room 1 2 beds'
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pandas==3.1.1 odfpy==1.4.1 python-calamine==0.9.1 2>/dev/null

cat > try.py <<'PY'
import pandas
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import LineBreak, P, S, Tab
document, table, kinds = OpenDocumentSpreadsheet(), Table(name="Rooms"), []
def cell(kind, one, mark, other):
    made, first = TableCell(valuetype="string"), P(text=one)
    made.addElement(first)
    if mark:
        first.addElement(mark)
        first.addText(other)
    else:
        made.addElement(P(text=other))
    row = TableRow()
    row.addElement(made)
    table.addElement(row)
    kinds.append(kind)
cell("paragraphs", "Room 1", None, "2 beds")
cell("line-break", "Room 1", LineBreak(), "2 beds")
cell("line-break", "Paid 450", LineBreak(), "20 refunded")
cell("tab", "Room 1", Tab(), "2 beds")
cell("s", "Room 1", S(), "2 beds")
document.spreadsheet.addElement(table)
document.save("rooms.ods")
calamine, odf = (pandas.read_excel("rooms.ods", engine=engine, header=None)[0] for engine in ("calamine", "odf"))
print(f"{'between':13} {'calamine':31} odf")
for kind, one, other in zip(kinds, calamine, odf):
    print(f"{kind:13} {one!r:31} {other!r}")
PY
venv/bin/python -W ignore try.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
