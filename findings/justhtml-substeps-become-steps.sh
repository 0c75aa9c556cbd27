#!/usr/bin/env bash
# justhtml 3.16.0 (markdown-it-py 4.3.0 and mistune 3.4.0 read its output)
#
# A page with lists is turned into Markdown by `JustHTML(page).to_markdown()`: steps with steps inside, and items that
# are paragraphs, as most editors write them.
#
# Expected: a reader of Markdown finds the same lists.
# Seen: what is inside a numbered item is set in by two columns. CommonMark asks for three there ("1. " is three wide), so the
# step inside becomes a step of the outer list, and all behind it count one more. An item's paragraph, code or heading
# is not set in at all: it stands behind the list, and the item is empty.
#
# Why it matters: "go to step 2" points at another step, in a text that looks well made; a model that reads it follows it.
#
# Output seen:
#   page: 1 stop | 1 save | 2 start
#   markdown-it-py: 1 stop | 2 save | 3 start
#   mistune: 1 stop | 2 save | 3 start
#   item that is a paragraph, markdown-it-py: <ul><li></li></ul><p>stop</p>
#   item that is a paragraph, mistune: <ul><li></li></ul><p>stop</p>
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check justhtml==3.16.0 markdown-it-py==4.3.0 mistune==3.4.0

cat > try.py <<'PY'
from html.parser import HTMLParser
import mistune
from justhtml import JustHTML
from markdown_it import MarkdownIt
class Steps(HTMLParser):
    """Each item's text with its number in its own list."""
    def __init__(self):
        super().__init__()
        self.counts, self.found = [], []
    def handle_starttag(self, tag, attributes):
        if tag == "ol":
            self.counts.append(int(dict(attributes).get("start", 1)) - 1)
        elif tag == "li":
            self.counts[-1] += 1
    def handle_endtag(self, tag):
        if tag == "ol":
            self.counts.pop()
    def handle_data(self, text):
        if text.strip():
            self.found.append(f"{self.counts[-1]} {text.strip()}")
def steps(page):
    reader = Steps()
    reader.feed(page)
    return " | ".join(reader.found)
page = "<ol><li>stop<ol><li>save</li></ol></li><li>start</li></ol>"
readers = {"markdown-it-py": MarkdownIt("commonmark").render, "mistune": mistune.html}
print("page:", steps(page))
for name, read in readers.items():
    print(f"{name}:", steps(read(JustHTML(page).to_markdown())))
for name, read in readers.items():
    made = read(JustHTML("<ul><li><p>stop</p></li></ul>").to_markdown()).replace("\n", "")
    print(f"item that is a paragraph, {name}:", made)
PY
venv/bin/python try.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
