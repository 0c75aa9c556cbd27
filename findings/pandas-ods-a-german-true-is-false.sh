#!/usr/bin/env bash
# pandas 3.1.1 with odfpy 1.4.1 (python-calamine 0.9.1 beside it)
#
# Spreadsheets of LibreOffice (.ods) are read by `read_excel`. A cell of OpenDocument holds its value in an attribute
# (office:boolean-value="true", office:time-value="PT00H05M30S") and, for people, the text that is shown: TRUE, WAHR in a German
# document, VRAI in a French one; 05:30 for five and a half minutes in the format MM:SS.
#
# Expected: the value, as pandas takes it for numbers, dates and shares, and as its other engine, calamine, takes it here.
# Seen: for flags and times the engine "odf" reads what is shown, the note on a cell included. All that is not the English word is
# False: WAHR, VRAI, and a TRUE on which somebody has put a comment. Minutes become hours: 05:30 is half past five.
#
# Why it matters: each invoice that is marked as paid in a German office is unpaid, without a warning and with the right type;
# and one remark on a cell turns its value into the opposite.
#
# Output seen:
#   shown             odf       calamine
#   TRUE              True      True
#   WAHR              False     True
#   VRAI              False     True
#   TRUE, with a note False     True
#   05:30             05:30:00  00:05:30
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pandas==3.1.1 odfpy==1.4.1 python-calamine==0.9.1 2>/dev/null

cat > try.py <<'PY'
import pandas
from odf.office import Annotation
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P
document, table = OpenDocumentSpreadsheet(), Table(name="Invoices")
def cell(shown, note="", **value):
    made = TableCell(**value)
    if note:
        remark = Annotation()
        remark.addElement(P(text=note))
        made.addElement(remark)
    made.addElement(P(text=shown))
    row = TableRow()
    row.addElement(made)
    table.addElement(row)
cell("paid", valuetype="string")
for word, note in (("TRUE", ""), ("WAHR", ""), ("VRAI", ""), ("TRUE", "Seen by Ada")):
    cell(word, note, valuetype="boolean", booleanvalue="true")
cell("05:30", valuetype="time", timevalue="PT00H05M30S")
document.spreadsheet.addElement(table)
document.save("invoices.ods")
odf, calamine = (pandas.read_excel("invoices.ods", engine=engine)["paid"] for engine in ("odf", "calamine"))
print(f"{'shown':17} {'odf':9} calamine")
for shown, one, other in zip(("TRUE", "WAHR", "VRAI", "TRUE, with a note", "05:30"), odf, calamine):
    print(f"{shown:17} {one!s:9} {other}")
PY
venv/bin/python -W ignore try.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
