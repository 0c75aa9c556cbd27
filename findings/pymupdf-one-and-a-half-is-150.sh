#!/usr/bin/env bash
# pymupdf 2.0 (pages made by reportlab 5.1.0 and fpdf2 2.8.9; pdfplumber 0.11.10 beside it)
#
# A table with prices in a PDF, with lines around its cells, is read by `page.find_tables()` and `extract()`.
#
# Expected: 1.50, -3.00 and 1,200.00, as `page.get_text()` and `to_markdown()` of the same table have it, and pdfplumber.
# Seen: the points, commas and minus signs of a cell are put on a line of their own behind the digits: 1.50 is "150" and a line with ".", a refund of -3.00 is
# "300". The search for tables makes the boxes of signs as small as what is drawn; a point that lies low and a dash that hangs
# in the middle then count as another line. Words of the page by reportlab lose the blank between them.
#
# Why it matters: who takes the first line of a cell, or joins its lines, has a hundred times the price, and no refund.
#
# Output seen:
#   reportlab, extract: [['Pen', '150\n.'], ['Refund', '300\n- .'], ['Bluedesk', '120000\n, .']]
#   reportlab, to_markdown: ['|Pen|1.50|', '|Refund|-3.00|', '|Blue', 'desk|1,200.00|']
#   reportlab, get_text: ['Pen', '1.50', 'Refund', '-3.00', 'Blue desk', '1,200.00']
#   reportlab, pdfplumber: [['Pen', '1.50'], ['Refund', '-3.00'], ['Blue desk', '1,200.00']]
#   fpdf2, extract: [['Pen', '1 50\n.'], ['Refund', '3 00\n- .'], ['Blue desk', '1 200 00\n, .']]
#   fpdf2, to_markdown: ['|Pen|1.50|', '|Refund|-3.00|', '|Blue', 'desk|1,200.00|']
#   fpdf2, get_text: ['Pen', '1.50', 'Refund', '-3.00', 'Blue desk', '1,200.00']
#   fpdf2, pdfplumber: [['Pen', '1.50'], ['Refund', '-3.00'], ['Blue desk', '1,200.00']]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pymupdf==2.0 reportlab==5.1.0 fpdf2==2.8.9 pdfplumber==0.11.10 2>/dev/null

cat > table.py <<'PY'
import pdfplumber
import pymupdf
from fpdf import FPDF
from reportlab.platypus import SimpleDocTemplate, Table

ROWS = [["Item", "Price"], ["Pen", "1.50"], ["Refund", "-3.00"], ["Blue desk", "1,200.00"]]
SimpleDocTemplate("reportlab.pdf").build([Table(ROWS, style=[("GRID", (0, 0), (-1, -1), 0.5, "black")])])
made = FPDF()
made.add_page()
made.set_font("Helvetica", size=11)
with made.table() as table:
    for row in ROWS:
        table.row(row)
made.output("fpdf2.pdf")

for name in ("reportlab", "fpdf2"):
    with pymupdf.open(f"{name}.pdf") as document:
        page = document[0]
        table = page.find_tables().tables[0]
        print(f"{name}, extract: {table.extract()[1:]}")
        print(f"{name}, to_markdown: {table.to_markdown().split()[2:]}")
        print(f"{name}, get_text: {page.get_text().splitlines()[2:]}")
    with pdfplumber.open(f"{name}.pdf") as document:
        print(f"{name}, pdfplumber: {document.pages[0].extract_tables()[0][1:]}")
PY
venv/bin/python table.py 2>/dev/null | grep -v "^Consider" | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
