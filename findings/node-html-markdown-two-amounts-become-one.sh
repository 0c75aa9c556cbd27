#!/usr/bin/env bash
# node-html-markdown 2.0.0
#
# A table of a page has cells with more than one line, as pages have them: two amounts with <br> between them, two paragraphs, a list;
# and a cell that spans two rows.
#
# Expected: the lines of a cell are apart, by a blank or by <br> (which Markdown takes in a cell), and each value is under its heading.
# Seen: inside a table they are joined without anything between: 1200 and 300 are 1200300, in one cell that looks right. Outside of a
# table the same <br> is a break. Beside the spanning cell the values of the second row move one column to the left, so that what Ben paid
# is what Ben is called, and the row is filled up at its end. Nothing is said.
#
# Why it matters: a model, or a person, reads a number that the page never had.
#
# Output seen:
#   1200 // 300
#   | May   | Anna | 1200300 |
#   | May   | Anna | 1200300 |
#   | May   | Anna | 1200300 |
#   | May   | Anna | 1200 | // | Ben   | 300  |      |
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit node-html-markdown@2.0.0 >/dev/null 2>&1

cat > turn.mjs <<'JS'
import { NodeHtmlMarkdown } from "node-html-markdown";
const head = "<tr><th>Month</th><th>Name</th><th>Paid</th></tr>";
for (const page of [
  "<p>1200<br>300</p>",
  "<table>" + head + "<tr><td>May</td><td>Anna</td><td>1200<br>300</td></tr></table>",
  "<table>" + head + "<tr><td>May</td><td>Anna</td><td><p>1200</p><p>300</p></td></tr></table>",
  "<table>" + head + "<tr><td>May</td><td>Anna</td><td><ul><li>1200</li><li>300</li></ul></td></tr></table>",
  "<table>" + head + "<tr><td rowspan=2>May</td><td>Anna</td><td>1200</td></tr><tr><td>Ben</td><td>300</td></tr></table>",
]) {
  const lines = NodeHtmlMarkdown.translate(page).split("\n");
  console.log((lines.length > 2 ? lines.slice(2) : lines).map((line) => line.trimEnd()).join(" // "));
}
JS
node turn.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
