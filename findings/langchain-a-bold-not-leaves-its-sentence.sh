#!/usr/bin/env bash
# langchain-text-splitters 1.1.3 (with langchain-core 1.8.3, beautifulsoup4 4.15.0)
#
# Terms of a shop are a page with headings. `HTMLHeaderTextSplitter` cuts it into chunks for a search, each with the headings above it. In a
# sentence one word is bold, a number is a link.
#
# Expected: the sentence as a browser shows it.
# Seen: the words that stand directly in a paragraph are put together first, and what is in an element of its own inside it follows on
# the next line. "Refunds are <b>not</b> possible" is "Refunds are possible" and, below, "not"; an amount is gone from its place. Two
# bold numbers are both at the end, where no one can tell which was which. Nothing is said.
#
# Why it matters: the chunk is embedded and quoted, and says the opposite of the page.
#
# Output seen:
#   Refunds are not possible after 30 days. -> ['Refunds are not possible after 30 days.'] under Refunds
#   Refunds are <b>not</b> possible after 30 days. -> ['Refunds are possible after 30 days.  ', 'not'] under Refunds
#   You pay <a href='prices'>20 EUR</a> a month, from the second year 35 EUR. -> ['You pay a month, from the second year 35 EUR.  ', '20 EUR'] under Refunds
#   Of <b>100</b> parts at most <b>5</b> may be broken. -> ['Of parts at most may be broken.  ', '100  ', '5'] under Refunds
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check langchain-text-splitters==1.1.3 langchain-core==1.8.3 beautifulsoup4==4.15.0 2>/dev/null

cat > cut.py <<'PY'
from langchain_text_splitters import HTMLHeaderTextSplitter

splitter = HTMLHeaderTextSplitter([("h1", "h1"), ("h2", "h2")])
for sentence in (
    "Refunds are not possible after 30 days.",
    "Refunds are <b>not</b> possible after 30 days.",
    "You pay <a href='prices'>20 EUR</a> a month, from the second year 35 EUR.",
    "Of <b>100</b> parts at most <b>5</b> may be broken.",
):
    chunk = splitter.split_text(f"<html><body><h1>Terms</h1><h2>Refunds</h2><p>{sentence}</p></body></html>")[-1]
    print(f"{sentence} -> {chunk.page_content.split(chr(10))} under {chunk.metadata['h2']}")
PY
venv/bin/python cut.py 2>&1 | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
