#!/usr/bin/env bash
# flexsearch 0.8.212 (minisearch 7.2.0 beside it)
#
# Notes with amounts and numbers of orders are searched for one of them. The index takes whole words ("strict").
#
# Expected: 100 finds the note with 100.
# Seen: it finds 10, 100, 1000, 1001000 and a clock's 10:30 alike. The manual of the encoder has "letter deduplication", by which "missing" is
# "mising", so that a typing error finds its word; digits are treated as letters, and repeated ones go: 8855 is 85.
#
# Why it matters: 1000 and 10 are not a typing error apart.
#
# Output seen:
#   100, flexsearch: paid 100 euros, paid 1000 euros, paid 10 euros, order 1001000, call at 10:30
#   100, minisearch: paid 100 euros
#   10, flexsearch: paid 100 euros, paid 1000 euros, paid 10 euros, order 1001000, call at 10:30
#   10, minisearch: paid 10 euros, call at 10:30
#   85, flexsearch: part 8855, part 85
#   85, minisearch: part 85
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit flexsearch@0.8.212 minisearch@7.2.0 >/dev/null 2>&1

cat > find.mjs <<'JS'
import FlexSearch from "flexsearch";
import MiniSearch from "minisearch";

const NOTES = ["paid 100 euros", "paid 1000 euros", "paid 10 euros", "order 1001000", "call at 10:30", "part 8855", "part 85"];
const flex = new FlexSearch.Index({ tokenize: "strict" });
NOTES.forEach((note, id) => flex.add(id, note));
const mini = new MiniSearch({ fields: ["note"] });
mini.addAll(NOTES.map((note, id) => ({ id, note })));
for (const asked of ["100", "10", "85"]) {
  console.log(`${asked}, flexsearch:`, flex.search(asked).sort((a, b) => a - b).map((id) => NOTES[id]).join(", "));
  console.log(`${asked}, minisearch:`, mini.search(asked).map((hit) => NOTES[hit.id]).join(", "));
}
JS
node find.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
