#!/usr/bin/env bash
# pypdf 7.1.1, pdfminer.six 20260107 (pypdfium2 5.15.2 beside them)
#
# A PDF whose total is bold. The program that wrote it had no bold font and drew the number twice, the second time a third of a point
# to the right, as many print drivers and writers of PDF do.
#
# Expected: 100, as it is read by a person and by the other reader.
# Seen: both readers give 100100, one number, and "Total" as TotalTotal. Nothing tells that a text stands where one stood before.
#
# Why it matters: what is bold is what counts, the total or the amount to be paid, and it becomes another amount.
#
# Output seen:
#   plain: pypdf ['Pens', '40', 'Total', '100'], pdfminer ['Pens', 'Total', '40', '100'], pdfium ['Pens', '40', 'Total', '100']
#   bold: pypdf ['Pens', '40', 'TotalTotal', '100100'], pdfminer ['Pens', 'Total', 'Total', '40', '100100'], pdfium ['Pens', '40', 'Total', '100']
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pypdf==7.1.1 pdfminer.six==20260107 pypdfium2==5.15.2 2>/dev/null

cat > read.py <<'PY'
import io
import pypdf, pypdfium2
from pdfminer.high_level import extract_text
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject
def page(*texts):
    """Write a page with each (x, y, text), in this order."""
    writer = pypdf.PdfWriter()
    blank = writer.add_blank_page(300, 200)
    font = DictionaryObject({NameObject(key): NameObject(value) for key, value in (("/Type", "/Font"), ("/Subtype", "/Type1"), ("/BaseFont", "/Helvetica"))})
    blank[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): DictionaryObject({NameObject("/F"): font})})
    content = DecodedStreamObject()
    content.set_data(b"".join(b"BT /F 12 Tf %.1f %d Td (%s) Tj ET\n" % (x, y, text.encode()) for x, y, text in texts))
    blank[NameObject("/Contents")] = writer._add_object(content)
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()
plain = [(20, 150, "Pens"), (200, 150, "40"), (20, 130, "Total"), (200, 130, "100")]
bold = plain[:2] + [(x + shift, y, text) for x, y, text in plain[2:] for shift in (0, 0.3)]
for name, texts in (("plain", plain), ("bold", bold)):
    written = page(*texts)
    readers = {
        "pypdf": pypdf.PdfReader(io.BytesIO(written)).pages[0].extract_text(),
        "pdfminer": extract_text(io.BytesIO(written)),
        "pdfium": pypdfium2.PdfDocument(written)[0].get_textpage().get_text_range(),
    }
    print(f"{name}: " + ", ".join(f"{reader} {text.split()}" for reader, text in readers.items()))
PY
venv/bin/python read.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
