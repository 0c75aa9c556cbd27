#!/usr/bin/env bash
# xlsx 0.18.5 (SheetJS, as npm has it)
#
# A German bank's or shop's list in CSV, with semicolons, becomes rows: amounts with a point between thousands and a comma before the
# cents, and losses with the minus behind, as SAP writes them. The package reads plain text as American, say its maintainers (SheetJS/sheetjs
# issue 2221), and leaves as text what it takes for no number: "1.200,50 EUR" and "450-".
#
# Expected: 1.200,50 and 5- are no American numbers, so they stay text too, and the program may read them by its country's rules.
# Seen: all commas are thrown away first, wherever they stand, also behind the point. 1.200,50 is 1.2005, and 12,50 is 1250. A minus
# behind a number of up to 12 makes a day of the year 2001 of it: 5- is the first of May, and a sum over it adds 37012.
# With `raw: true` each field stays text.
#
# Why it matters: in one column one amount is a thousandth and the next a hundredfold, all of them numbers with nothing that marks them.
#
# Output seen:
#   1.200,50     -> 1.2005
#   -3.499,99    -> -3.49999
#   12,50        -> 1250
#   5-           -> 37012, shown as 5/1/01
#   450-         -> "450-"
#   1.200,50 EUR -> "1.200,50 EUR"
#   raw: ["1.200,50","-3.499,99","12,50","5-","450-","1.200,50 EUR"]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund xlsx@0.18.5

cat > try.mjs <<'JS'
import XLSX from "xlsx";
const amounts = ["1.200,50", "-3.499,99", "12,50", "5-", "450-", "1.200,50 EUR"];
const text = ["Item;Amount", ...amounts.map((amount, at) => `Order ${at};${amount}`)].join("\n");
function read(options) {
  const sheet = XLSX.read(text, { type: "string", ...options }).Sheets.Sheet1;
  return amounts.map((_, at) => sheet[`B${at + 2}`]);
}
read({}).forEach(({ t, v, w }, at) => {
  const shown = t === "n" && w !== amounts[at] ? `, shown as ${w}` : "";
  console.log(`${amounts[at].padEnd(12)} -> ${JSON.stringify(v)}${shown}`);
});
console.log("raw:", JSON.stringify(read({ raw: true }).map((cell) => cell.v)));
JS
TZ=UTC node try.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
