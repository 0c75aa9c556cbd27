#!/usr/bin/env bash
# remove-markdown 0.7.0 (markdown-it 15.0.3 beside it)
#
# Notes in Markdown become plain text for a preview, a search or a model.
#
# Expected: "Pay if x < 5 and y > 3." stays as it is. A sign with a blank behind it begins no tag, neither in Markdown nor in HTML, as markdown-it shows.
# Seen: everything from a "less" to the next "more" is taken for a tag and removed, over lines as well, so that "x < 5 and y > 3" is "x  3". A lone
# one stays. The README says that tags of HTML can be stripped, and nothing of this.
#
# Why it matters: the sentence that is left still reads like one, with another condition.
#
# Output seen:
#   "Pay if x < 5 and y > 3.": remove-markdown "Pay if x  3.", markdown-it "Pay if x < 5 and y > 3."
#   "Keep it if a < b.": remove-markdown "Keep it if a < b.", markdown-it "Keep it if a < b."
#   "Below 5 (< 5) wait.\nAbove 9 (> 9) stop.": remove-markdown "Below 5 ( 9) stop.", markdown-it "Below 5 (< 5) wait.\nAbove 9 (> 9) stop."
#   "1 < 2 < 3 and 5 > 4": remove-markdown "1  4", markdown-it "1 < 2 < 3 and 5 > 4"
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit remove-markdown@0.7.0 markdown-it@15.0.3 >/dev/null 2>&1

cat > plain.mjs <<'JS'
import MarkdownIt from "markdown-it";
import removeMarkdown from "remove-markdown";

const reader = new MarkdownIt();
const text = (note) => reader.parseInline(note)[0].children.map((part) => part.content || (part.type === "softbreak" ? "\n" : "")).join("");
for (const note of ["Pay if x < 5 and y > 3.", "Keep it if a < b.", "Below 5 (< 5) wait.\nAbove 9 (> 9) stop.", "1 < 2 < 3 and 5 > 4"]) {
  console.log(`${JSON.stringify(note)}: remove-markdown ${JSON.stringify(removeMarkdown(note))}, markdown-it ${JSON.stringify(text(note))}`);
}
JS
node plain.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
