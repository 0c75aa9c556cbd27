#!/usr/bin/env bash
# mammoth 1.13.0, and markitdown 0.1.9 over it
#
# A lease in Word has two clauses that Word numbers itself (1. and 2., with 1.1, 1.2, 2.1, 2.2) and a plain paragraph between them.
# Both libraries turn it into Markdown, mammoth into HTML too.
#
# Expected: the second clause is 2., as Word and LibreOffice show it, since both are items of one list; or <ol start="2">.
# Seen: each list begins anew at 1 behind any paragraph, and the form of the numbers is gone, so clause 2 is called 1, and 2.2 is
# 1. 2. The words "unless clause 1.2 applies" then lead into the same clause, or to nothing.
#
# Why it matters: a contract is cited by its numbers, and the text reads well: a model that is asked "what does clause 2 say" finds
# none, and answers about clause 1 from the wrong one.
#
# Output seen:
#   Word shows: 1. Rent | 1.1 Due on the first day | 1.2 Late rent bears interest | May be changed in writing. | 2. Deposit | 2.1 Two months' rent | 2.2 Returned unless clause 1.2 applies
#   mammoth: 1. Rent | 1. Due on the first day | 2. Late rent bears interest | May be changed in writing. | 1. Deposit | 1. Two months' rent | 2. Returned unless clause 1.2 applies
#   markitdown: 1. Rent | 1. Due on the first day | 2. Late rent bears interest | May be changed in writing. | 1. Deposit | 1. Two months' rent | 2. Returned unless clause 1.2 applies
#   HTML of mammoth says where a list starts: False
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check 'markitdown[docx]==0.1.9' mammoth==1.13.0 python-docx==1.2.0

cat > try.py <<'PY'
import docx, mammoth
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from markitdown import MarkItDown

LEVEL = '<w:lvl w:ilvl="{}"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="{}"/></w:lvl>'
document = docx.Document()
numbering = document.part.numbering_part.element
levels = LEVEL.format(0, "%1.") + LEVEL.format(1, "%1.%2")
kind = f'<w:abstractNum {nsdecls("w")} w:abstractNumId="99"><w:multiLevelType w:val="multilevel"/>{levels}</w:abstractNum>'
numbering.insert(0, parse_xml(kind))
clauses = numbering.add_num(99).numId


def clause(words, level=0):
    about = document.add_paragraph(words)._p.get_or_add_pPr().get_or_add_numPr()
    about.get_or_add_ilvl().val, about.get_or_add_numId().val = level, clauses


clause("Rent")
clause("Due on the first day", 1)
clause("Late rent bears interest", 1)
document.add_paragraph("May be changed in writing.")
clause("Deposit")
clause("Two months' rent", 1)
clause("Returned unless clause 1.2 applies", 1)
document.save("lease.docx")

counts, shown = [0, 0], []  # what Word shows: the number of each item by the format of its level
for paragraph in docx.Document("lease.docx").paragraphs:
    about = paragraph._p.pPr.numPr if paragraph._p.pPr is not None else None
    if about is None:
        shown.append(paragraph.text)
        continue
    level = about.ilvl.val
    counts[level] += 1
    counts[level + 1 :] = [0] * (1 - level)
    shown.append((f"{counts[0]}." if level == 0 else f"{counts[0]}.{counts[1]}") + f" {paragraph.text}")


def lines(text):
    return " | ".join(line.strip().replace("\\", "") for line in text.splitlines() if line.strip())


print("Word shows:", " | ".join(shown))
with open("lease.docx", "rb") as file:
    print("mammoth:", lines(mammoth.convert_to_markdown(file).value))
print("markitdown:", lines(MarkItDown().convert("lease.docx").markdown))
with open("lease.docx", "rb") as file:
    print("HTML of mammoth says where a list starts:", "start=" in mammoth.convert_to_html(file).value)
PY
venv/bin/python -W ignore try.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
