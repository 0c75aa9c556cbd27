#!/usr/bin/env bash
# haystack-ai 3.4.1 (with pandas 3.1.1)
#
# A table as CSV text goes through `CSVDocumentCleaner`, which "removes empty rows and columns" before it is cut or embedded.
#
# Expected: rows and columns that are empty are gone, the rest is the text that it was.
# Seen: the table is read by pandas and written again, and cells with the words NA, None, null, n/a or nan are emptied: the country
# code of Namibia, the answer "None" of a form, a name. A column or a row that has only such words is taken for empty and is removed.
# The page of the component tells of rows and columns only, and has no option for it.
#
# Why it matters: "allergies: None" was told and "allergies:" was not asked, and a model that reads the table cannot tell. The other
# cells are kept to the letter, so nobody looks for it.
#
# Output seen:
#   'id,country,sum\n007,DE,1.50\n,,\n008,NA,1e5\n' becomes 'id,country,sum\n007,DE,1.50\n008,,1e5\n'
#   'patient,allergies,consent\nMeyer,None,yes\nNull,Nuts,yes\n' becomes 'patient,allergies,consent\nMeyer,,yes\nNull,Nuts,yes\n'
#   'patient,allergies\nMeyer,None\nSchulz,None\n' becomes 'patient,allergies\nMeyer,\nSchulz,\n'
#   'answer,note\nyes,n/a\nNone,n/a\nno,n/a\n' becomes 'answer,note\nyes,\nno,\n'
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check haystack-ai==3.4.1 pandas==3.1.1 2>/dev/null

cat > clean.py <<'PY'
from haystack import Document
from haystack.components.preprocessors import CSVDocumentCleaner
for table in (
    "id,country,sum\n007,DE,1.50\n,,\n008,NA,1e5\n",
    "patient,allergies,consent\nMeyer,None,yes\nNull,Nuts,yes\n",
    "patient,allergies\nMeyer,None\nSchulz,None\n",
    "answer,note\nyes,n/a\nNone,n/a\nno,n/a\n",
):
    print(repr(table), "becomes", repr(CSVDocumentCleaner().run([Document(content=table)])["documents"][0].content))
PY
HAYSTACK_TELEMETRY_ENABLED=False venv/bin/python clean.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
