#!/usr/bin/env bash
# langchain-text-splitters 1.1.3
#
# A page in Markdown is cut at its headings by `MarkdownHeaderTextSplitter` before it is embedded or given to a model. It has a list with tabs between the
# columns, as copied from a spreadsheet, a list of two levels, and a piece of Python.
#
# Expected: the text between the headings.
# Seen: tabs are removed and leave nothing: "Rent", 1 and 200 become "Rent1200". No-break spaces too, so that 1 000 is 1000 and "10 EUR" is "10EUR". Blanks
# before a line go, inside fences as well: the list has one level and the code another meaning. Lines get two blanks at their end. The guide and the reference name none
# of this; the splitter that keeps blanks is called experimental.
#
# Why it matters: the amount is found and quoted, and it is not in the document.
#
# Output seen:
#   'Rent1200'
#   'Water 10EUR  '
#   '- taxes'
#   '- of the city  '
#   '```python'
#   'if paid:'
#   'close()'
#   'send()'
#   '```'
#   '```python'
#   'if paid:'
#   'close()'
#   'send()'
#   '```'
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check langchain-text-splitters==1.1.3 2>/dev/null

cat > split.py <<'PY'
from langchain_text_splitters import MarkdownHeaderTextSplitter
lines = (
    "# Budget", "", "Rent\t1\t200", "Water 10\N{NO-BREAK SPACE}EUR", "", "- taxes", "  - of the city", "", "```python", "if paid:", "    close()", "send()", "```",
    "```python", "if paid:", "    close()", "    send()", "```",
)
for part in MarkdownHeaderTextSplitter([("#", "title")]).split_text("\n".join(lines)):
    for line in part.page_content.splitlines():
        print(repr(line))
PY
venv/bin/python split.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
