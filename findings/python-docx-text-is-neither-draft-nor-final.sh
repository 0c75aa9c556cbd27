#!/usr/bin/env bash
# python-docx 1.2.0 (mammoth 1.13.0 beside it)
#
# A contract is edited with "track changes", as two parties do who negotiate one: 500 is replaced by 900, and "does not"
# is put in. A program reads `paragraph.text`, for a search, a comparison or a model.
#
# Expected: the text as it stands now, or the one before the changes.
# Seen: neither. Deleted words are left out and inserted words too, so the sentence has no amount and says the opposite of
# the contract. The documentation calls it the textual content of the paragraph. mammoth gives the text as it stands.
#
# Why it matters: what is left reads well, so nobody looks for missing words; an answer about the contract is wrong where
# it was changed last, which is where people ask.
#
# Output seen:
#   python-docx: B pays euro and keep the key.
#   mammoth: B pays 900 euro and does not keep the key.
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check python-docx==1.2.0 mammoth==1.13.0

cat > call.py <<'PY'
import docx, mammoth
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
def change(paragraph, kind, words):
    """Add a tracked deletion ("del") or insertion ("ins") at the end of a paragraph, as a word processor writes it."""
    mark, run = OxmlElement(f"w:{kind}"), OxmlElement("w:r")
    mark.set(qn("w:id"), "1")
    mark.set(qn("w:author"), "A")
    text = OxmlElement("w:delText" if kind == "del" else "w:t")
    text.text = words
    text.set(qn("xml:space"), "preserve")
    run.append(text)
    mark.append(run)
    paragraph._p.append(mark)
document = docx.Document()
paragraph = document.add_paragraph("B pays ")
change(paragraph, "del", "500 ")
change(paragraph, "ins", "900 ")
paragraph.add_run("euro and ")
change(paragraph, "ins", "does not ")
paragraph.add_run("keep the key.")
document.save("contract.docx")
print("python-docx:", docx.Document("contract.docx").paragraphs[0].text)
with open("contract.docx", "rb") as file:
    print("mammoth:", mammoth.extract_raw_text(file).value.strip())
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
