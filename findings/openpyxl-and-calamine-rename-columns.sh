#!/usr/bin/env bash
# openpyxl 3.1.5 (writes), python-calamine 0.9.1 (reads), xlsxwriter 3.3.1 beside them
#
# Names of columns go into a spreadsheet, as SharePoint, .NET and SQL Server's XML have them: Due_x0020_Date is the inner
# name of "Due Date". The format of .xlsx uses the same _xHHHH_ for characters that XML cannot hold, so a writer has to
# write the underscore of such a text as _x005F_.
#
# Expected: the cell that was written is read again.
# Seen: openpyxl does not do that when it writes, so another reader, which keeps the rule, gives another text:
# "Due Date". In its own files openpyxl does not decode the text either, so its own round trip is whole. The file of
# xlsxwriter is right; openpyxl reads it rightly, and changes it when it saves it again.
#
# Why it matters: the name in the table is no longer a name of the system that it came from, and opening and saving a good
# file is enough. A test that reads with the library that wrote shows nothing.
#
# Output seen:
#   openpyxl writes, openpyxl reads: ['Due_x0020_Date', 'reg_x0041_low']
#   openpyxl writes, calamine reads: ['Due Date', 'regAlow']
#   xlsxwriter writes, calamine reads: ['Due_x0020_Date', 'reg_x0041_low']
#   openpyxl opens and saves that, calamine reads: ['Due Date', 'regAlow']
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check openpyxl==3.1.5 python-calamine==0.9.1 xlsxwriter==3.3.1

cat > call.py <<'PY'
import openpyxl, python_calamine, xlsxwriter
names = ["Due_x0020_Date", "reg_x0041_low"]
book = openpyxl.Workbook()
book.active.append(names)
book.save("a.xlsx")
with xlsxwriter.Workbook("b.xlsx") as other:
    other.add_worksheet().write_row(0, 0, names)
def calamine(path):
    return python_calamine.load_workbook(path).get_sheet_by_index(0).to_python()[0]
print("openpyxl writes, openpyxl reads:", [cell.value for cell in openpyxl.load_workbook("a.xlsx").active[1]])
print("openpyxl writes, calamine reads:", calamine("a.xlsx"))
print("xlsxwriter writes, calamine reads:", calamine("b.xlsx"))
openpyxl.load_workbook("b.xlsx").save("c.xlsx")
print("openpyxl opens and saves that, calamine reads:", calamine("c.xlsx"))
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
