#!/usr/bin/env bash
# marko 2.2.4
#
# A guide is read and written again as Markdown (to change its links, say) by the package's own renderer for Markdown.
#
# Expected: the new text reads as the old one.
# Seen: a fence of four backticks is written with three. It was longer because three stand in it, so the block now ends at the first
# of them, and what follows the block (a warning) becomes code. A link to a file with a blank in its name loses its angle brackets
# and is no link any more.
#
# Output seen:
#   before: a block of code, then a paragraph, a link
#   after: a block of code, then a block of code
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check marko==2.2.4 2>/dev/null

cat > rewrite.py <<'PY'
import marko
from marko.md_renderer import MarkdownRenderer

TEXT = "````md\n```sh\nmake clean\n```\n````\n\nDo not run this in production, see [plan](<the plan.md>).\n"


def kinds(text):
    html = marko.convert(text)
    names = {"<pre>": "a block of code", "<p>": "a paragraph"}
    found = [names[part] for part in html.replace(">", ">\n").split() if part in names]
    return ", then ".join(found) + (", a link" if "<a " in html else "")


print("before:", kinds(TEXT))
print("after:", kinds(marko.Markdown(renderer=MarkdownRenderer).convert(TEXT)))
PY
venv/bin/python rewrite.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
