#!/usr/bin/env bash
# pypdf 7.1.1
#
# Two documents become one file by `PdfWriter.append`. Both have a link to a place by its name, as LaTeX and word processors write
# them: their names are the same in every file ("section.1", "page.2").
#
# Expected: each link leads where it led before, three pages further in the second document; the bookmarks do.
# Seen: a name is kept once. The place of the second document is dropped, its link keeps the name, and so leads into the first
# document. Links by page are moved along rightly, and so are names that only one of the two has. `merge` is the same.
#
# Why it matters: who reads the second contract and clicks on "see the terms" reads the terms of the first one, which look
# alike. There is no error, and the file is a valid one.
#
# Output seen:
#   second alone
#     page 1, section.1: to page 3
#     page 1, own.2: to page 2
#     page 1, by page: to page 3
#     bookmarks: to pages [3]
#   joined
#     page 1, section.1: to page 3
#     page 1, own.1: to page 2
#     page 1, by page: to page 3
#     page 4, section.1: to page 3
#     page 4, own.2: to page 5
#     page 4, by page: to page 6
#     bookmarks: to pages [3, 6]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pypdf==7.1.1 2>/dev/null

cat > join.py <<'PY'
import io
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NumberObject, TextStringObject
def link(writer, place):
    area = ArrayObject(NumberObject(edge) for edge in (0, 0, 99, 9))
    entries = {"/Type": NameObject("/Annot"), "/Subtype": NameObject("/Link"), "/Rect": area}
    action = {"/S": NameObject("/GoTo"), "/D": place}
    entries["/A"] = DictionaryObject({NameObject(key): value for key, value in action.items()})
    return writer._add_object(DictionaryObject({NameObject(key): value for key, value in entries.items()}))
def contract(own):
    writer = PdfWriter()
    for _ in range(3):
        writer.add_blank_page(99, 99)
    writer.add_named_destination("section.1", 2)
    writer.add_named_destination(own, 1)
    by_page = ArrayObject([writer.pages[2].indirect_reference, NameObject("/Fit")])
    places = TextStringObject("section.1"), TextStringObject(own), by_page
    writer.pages[0][NameObject("/Annots")] = ArrayObject(link(writer, place) for place in places)
    writer.add_outline_item(title="Terms", page_number=2)
    written = io.BytesIO()
    writer.write(written)
    return PdfReader(written)
def follow(reader):
    """Tell to which page, counted from 1, each link and bookmark leads."""
    for number, page in enumerate(reader.pages, 1):
        for annotation in page.get("/Annots", ()):
            place = annotation.get_object()["/A"]["/D"]
            if isinstance(place, str):
                leads, name = reader.get_destination_page_number(reader.named_destinations[place]) + 1, place
            else:
                leads, name = reader.get_page_number(place[0].get_object()) + 1, "by page"
            print(f"  page {number}, {name}: to page {leads}")
    print("  bookmarks: to pages", [reader.get_destination_page_number(item) + 1 for item in reader.outline])
first, second = contract("own.1"), contract("own.2")
print("second alone")
follow(second)
joined = PdfWriter()
joined.append(first)
joined.append(second)
written = io.BytesIO()
joined.write(written)
print("joined")
follow(PdfReader(written))
PY
venv/bin/python join.py 2>said | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
