#!/usr/bin/env bash
# markitdown 0.1.9 (with mammoth 1.13.0, markdownify 1.2.3)
#
# A protocol in Word and a page become Markdown for a model: ten to the sixth cells, three times ten to the minus fourth litres,
# an area in square metres, a price with the number of a footnote.
#
# Expected: 10⁶ or 10<sup>6</sup>: Markdown has no sign of its own for it and allows HTML.
# Seen: the digits without any sign, so each number is another one: 106 cells, 3 x 10-4 litres, a price of 4502 euros. mammoth
# keeps <sup>; markdownify, which is asked next, drops it, because its sign for raised text is empty unless it is told one.
#
# Why it matters: 106 is a number that a protocol may well hold, so neither a reader nor a model looks for what is missing.
#
# Output seen:
#   docx: The culture holds 106 cells in 3 x 10-4 litres on 20 m2 and costs 4502 euros.
#   html: The culture holds 106 cells in 3 x 10-4 litres on 20 m2 and costs 4502 euros.
#   mammoth: The culture holds 10<sup>6</sup> cells in 3 x 10<sup>-4</sup> litres on 20 m<sup>2</sup> and costs 450<sup>2</sup> euros.
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check 'markitdown[docx]==0.1.9' mammoth==1.13.0 markdownify==1.2.3 python-docx==1.2.0

cat > try.py <<'PY'
import docx, mammoth
from markitdown import MarkItDown
pieces = ["The culture holds 10", "6", " cells in 3 x 10", "-4", " litres on 20 m", "2", " and costs 450", "2", " euros."]
document = docx.Document()
paragraph = document.add_paragraph()
for number, words in enumerate(pieces):
    paragraph.add_run(words).font.superscript = bool(number % 2)
document.save("protocol.docx")
marked = "".join(f"<sup>{words}</sup>" if number % 2 else words for number, words in enumerate(pieces))
with open("protocol.html", "w") as file:
    file.write(f"<p>{marked}</p>")
reader = MarkItDown()
for kind in ("docx", "html"):
    print(f"{kind}:", reader.convert(f"protocol.{kind}").markdown.strip())
with open("protocol.docx", "rb") as file:
    print("mammoth:", mammoth.convert_to_html(file).value.removeprefix("<p>").removesuffix("</p>"))
PY
venv/bin/python -W ignore try.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
