#!/usr/bin/env bash
# papaparse 5.7.1
#
# Bank statements as CSV with semicolons, decimal commas and two columns, are parsed with `header: true`; the delimiter is detected.
#
# Expected: the same columns whether or not the last line ends with a line break, which RFC 4180 leaves open and most programs write.
# Seen: with the line break the comma is taken for the delimiter in a short file, so the amount 1.234,50 is cut in two, date and amount
# are one column with a name of its own, and the cents are in `__parsed_extra`. Without the line break, in a file with twenty
# rows, and with `skipEmptyLines`, it is the semicolon. The errors that are listed are those of the rows; the usual one at the end is among them.
#
# Why it matters: a month with many bookings is read rightly and one with few is not, by the same code from the same bank.
#
# Output seen:
#   3 rows, no line break at the end: ";" {"Datum":"1.2.2026","Betrag":"1.234,10"}
#   3 rows, a line break at the end: "," {"Datum;Betrag":"1.2.2026;1.234","__parsed_extra":["10"]}
#   3 rows, skipEmptyLines: ";" {"Datum":"1.2.2026","Betrag":"1.234,10"}
#   20 rows, no line break at the end: ";" {"Datum":"1.2.2026","Betrag":"1.234,10"}
#   20 rows, a line break at the end: ";" {"Datum":"1.2.2026","Betrag":"1.234,10"}
#   20 rows, skipEmptyLines: ";" {"Datum":"1.2.2026","Betrag":"1.234,10"}
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit papaparse@5.7.1 >/dev/null 2>&1

cat > read.mjs <<'JS'
import Papa from "papaparse";
const file = (count) => "Datum;Betrag\n" + Array.from({ length: count }, (_, day) => `${day + 1}.2.2026;1.234,${day + 10}`).join("\n");
for (const count of [3, 20]) {
  for (const [name, end, options] of [["no line break at the end", "", {}], ["a line break at the end", "\n", {}], ["skipEmptyLines", "\n", { skipEmptyLines: true }]]) {
    const { data, meta } = Papa.parse(file(count) + end, { header: true, ...options });
    console.log(`${count} rows, ${name}: "${meta.delimiter}" ${JSON.stringify(data[0])}`);
  }
}
JS
node read.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
