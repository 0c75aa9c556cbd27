#!/usr/bin/env bash
# pybtex 0.26.1 (bibtexparser 2.1.0 beside it)
#
# A bibliography in BibTeX is read and written again, to sort it or to add a field. Its titles have what LaTeX needs before special
# signs: 50\%, R\&D, A\_B.
#
# Expected: the same title; so it is with bibtexparser.
# Seen: a backslash is put before each of these signs, though one is there. 50\\% is a new line in LaTeX and a comment that takes the rest of the line,
# with the brace that ends the title. Each further round puts in one more. A formula's x_1 gets a backslash too, and its index is gone. A tie (~) becomes a
# visible tilde. Nothing is raised, and the second reading takes the file.
#
# Why it matters: a file under version control that several people "only" sort changes with each of them.
#
# Output seen:
#   file:         @article{a, title = {Taxes of 50\% on R\&D in $x_1$, 10~000 of A\_B}}
#   pybtex, 1:    title = "Taxes of 50\\% on R\\&D in $x\_1$, 10\textasciitilde 000 of A\\_B"
#   pybtex, 2:    title = "Taxes of 50\\\% on R\\\&D in $x\\_1$, 10\textasciitilde 000 of A\\\_B"
#   pybtex, 3:    title = "Taxes of 50\\\\% on R\\\\&D in $x\\\_1$, 10\textasciitilde 000 of A\\\\_B"
#   bibtexparser: title = {Taxes of 50\% on R\&D in $x_1$, 10~000 of A\_B}
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pybtex==0.26.1 bibtexparser==2.1.0 2>/dev/null

cat > turn.py <<'PY'
import bibtexparser
from pybtex.database import parse_string

first = r"@article{a, title = {Taxes of 50\% on R\&D in $x_1$, 10~000 of A\_B}}"
print("file:        ", first)
text = first
for count in (1, 2, 3):
    text = parse_string(text, "bibtex").to_string("bibtex")
    print(f"pybtex, {count}:   ", text.splitlines()[1].strip())
text = first
for count in (1, 2, 3):
    text = bibtexparser.write_string(bibtexparser.parse_string(text))
print("bibtexparser:", text.splitlines()[1].strip())
PY
venv/bin/python turn.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
