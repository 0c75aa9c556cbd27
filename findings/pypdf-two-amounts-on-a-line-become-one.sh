#!/usr/bin/env bash
# pypdf 7.1.1 (pypdfium2 5.15.2 beside it)
#
# An invoice in PDF. On each line stand the number of pieces on the left and the price on the right, and the program that wrote it drew
# the prices first, as one that draws column by column from the right, or the totals first, does.
#
# Expected: "3 1200", as a person and the other reader see it, or the two apart in the order of the file.
# Seen: a text that begins to the left of the one before it, on the same height, is put behind it without a space: 1200 euros for 3
# pieces are "12003", and "5 pens" at 40 are "405 pens". If the left column is drawn first there is a space.
#
# Why it matters: the two are one number that may well be an amount, in a page whose other lines are right.
#
# Output seen:
#   left first: pypdf '3\n5 pens\n1200\n40', pdfium '3\r\n5 pens\r\n1200\r\n40'
#   line by line: pypdf '3 1200\n5 pens 40', pdfium '3 1200\r\n5 pens 40'
#   each price first: pypdf '12003\n405 pens', pdfium '3 1200\r\n5 pens 40'
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pypdf==7.1.1 pypdfium2==5.15.2 2>/dev/null

cat > read.py <<'PY'
import io
import pypdf, pypdfium2
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject
def page(*texts):
    """Write a page with each (x, y, text), in this order."""
    writer = pypdf.PdfWriter()
    blank = writer.add_blank_page(300, 200)
    font = DictionaryObject({NameObject(key): NameObject(value) for key, value in (("/Type", "/Font"), ("/Subtype", "/Type1"), ("/BaseFont", "/Helvetica"))})
    blank[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): DictionaryObject({NameObject("/F"): font})})
    content = DecodedStreamObject()
    content.set_data(b"".join(b"BT /F 12 Tf %d %d Td (%s) Tj ET\n" % (x, y, text.encode()) for x, y, text in texts))
    blank[NameObject("/Contents")] = writer._add_object(content)
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()
left, right = [(20, 150, "3"), (20, 130, "5 pens")], [(200, 150, "1200"), (200, 130, "40")]
for name, texts in (("left first", left + right), ("line by line", [left[0], right[0], left[1], right[1]]), ("each price first", [right[0], left[0], right[1], left[1]])):
    written = page(*texts)
    print(f"{name}: pypdf {pypdf.PdfReader(io.BytesIO(written)).pages[0].extract_text()!r}, pdfium {pypdfium2.PdfDocument(written)[0].get_textpage().get_text_range()!r}")
PY
venv/bin/python read.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
