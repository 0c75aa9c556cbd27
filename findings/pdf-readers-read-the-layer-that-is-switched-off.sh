#!/usr/bin/env bash
# pypdf 7.1.1, pypdfium2 5.15.2, pdfminer.six 20260107, pymupdf 2.0
#
# A PDF with layers, as drawing and layout programs write it: an old price stands in a layer that is off, in the file's own settings.
# Viewers show the new one only, and so does a picture that pypdfium2 makes of the page.
#
# Expected: the text of what the page shows, or a way to ask for it, from each of them.
# Seen: three of four give both prices, the one that is off first, and nothing tells them apart; pypdfium2 gives a text that its own picture
# of the page does not have. pymupdf gives what is shown.
#
# Why it matters: what a person checked on the screen and what a program took from the same page differ, and which of the two a model
# gets depends on the reader.
#
# Output seen:
#   layer on: picture has ink above True, below True
#     pypdf: Old price 900, Price 1200
#     pypdfium2: Old price 900, Price 1200
#     pdfminer: Old price 900, Price 1200
#     pymupdf: Old price 900, Price 1200
#   layer off: picture has ink above False, below True
#     pypdf: Old price 900, Price 1200
#     pypdfium2: Old price 900, Price 1200
#     pdfminer: Old price 900, Price 1200
#     pymupdf: Price 1200
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pypdf==7.1.1 pypdfium2==5.15.2 pdfminer.six==20260107 pymupdf==2.0 numpy==2.4.6 2>/dev/null

cat > read.py <<'PY'
import io
import pymupdf, pypdf, pypdfium2
from pdfminer.high_level import extract_text
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject, TextStringObject
def named(**entries):
    return DictionaryObject({NameObject("/" + key): NameObject(value) if type(value) is str else value for key, value in entries.items()})
def page(off):
    writer = pypdf.PdfWriter()
    blank = writer.add_blank_page(300, 200)
    layer = writer._add_object(named(Type="/OCG", Name=TextStringObject("Old")))
    writer._root_object[NameObject("/OCProperties")] = named(OCGs=ArrayObject([layer]), D=named(OFF=ArrayObject([layer] if off else [])))
    blank[NameObject("/Resources")] = named(Font=named(F=named(Type="/Font", Subtype="/Type1", BaseFont="/Helvetica")), Properties=named(L=layer))
    content = DecodedStreamObject()
    content.set_data(b"/OC /L BDC\nBT /F 12 Tf 20 150 Td (Old price 900) Tj ET\nEMC\nBT /F 12 Tf 20 50 Td (Price 1200) Tj ET\n")
    blank[NameObject("/Contents")] = writer._add_object(content)
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()
for name, off in (("layer on", False), ("layer off", True)):
    written = page(off)
    pdfium = pypdfium2.PdfDocument(written)[0]
    rows = (pdfium.render().to_numpy() < 128).any(axis=(1, 2))
    print(f"{name}: picture has ink above {bool(rows[:100].any())}, below {bool(rows[100:].any())}")
    readers = {
        "pypdf": pypdf.PdfReader(io.BytesIO(written)).pages[0].extract_text(),
        "pypdfium2": pdfium.get_textpage().get_text_range(),
        "pdfminer": extract_text(io.BytesIO(written)),
        "pymupdf": pymupdf.open(stream=written)[0].get_text(),
    }
    for reader, text in readers.items():
        print(f"  {reader}: {', '.join(text.strip().split(chr(10) * 2 if reader == 'pdfminer' else chr(10))).replace(chr(13), '')}")
PY
venv/bin/python read.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
