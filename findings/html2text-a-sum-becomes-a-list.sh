#!/usr/bin/env bash
# html2text 2025.4.15 (markdown-it-py 4.3.0 reads its output)
#
# A page becomes Markdown. A paragraph of it holds a sum, "1200 + 300", or a date, "1. December", as it is written in German, Danish or
# Czech, and is longer than a line.
#
# Expected: a paragraph. The package knows that a text may not begin like a list, and writes "1\. December" where one does.
# Seen: that is done first and the text is broken into lines afterwards. Where a break falls before the plus sign or the date, the
# line begins with "+ " or "1. ", and in Markdown an item of a list begins there.
#
# Why it matters: the sum is gone: who reads it (a person or a model) is told that it is 1200, and then of a point, "300 for this
# year". It depends on the words before it, so the same sentence is right on one page and wrong on the next.
#
# Output seen:
#   '1\\. December is the last day.'
#     read as: <p>1. December is the last day.</p>
#   'Please note that the time to pay ends for each who has a contract on the 1.\nDecember of this year.'
#     read as: <p>Please note that the time to pay ends for each who has a contract on the 1. December of this year.</p>
#   'Please note that the time to pay ends for everybody who has a contract on the\n1. December of this year.'
#     read as: <p>Please note that the time to pay ends for everybody who has a contract on the</p> <ol> <li>December of this year.</li> </ol>
#   'Please note that with the fee the sum for everybody who has a contract is 1200\n+ 300 for this year.'
#     read as: <p>Please note that with the fee the sum for everybody who has a contract is 1200</p> <ul> <li>300 for this year.</li> </ul>
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check html2text==2025.4.15 markdown-it-py==4.3.0 2>/dev/null

cat > read.py <<'PY'
import html2text
from markdown_it import MarkdownIt
for text in (
    "1. December is the last day.",
    "Please note that the time to pay ends for each who has a contract on the 1. December of this year.",
    "Please note that the time to pay ends for everybody who has a contract on the 1. December of this year.",
    "Please note that with the fee the sum for everybody who has a contract is 1200 + 300 for this year.",
):
    written = html2text.html2text(f"<p>{text}</p>")
    print(repr(written.strip()))
    print("  read as:", MarkdownIt().render(written).replace("\n", " ").strip())
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
