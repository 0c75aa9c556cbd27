#!/usr/bin/env bash
# tinyglobby 0.2.17 (fast-glob 3.3.3 beside it)
#
# Pages 8 to 12 of 14 files are chosen by a range in braces, page{8..12}.md. The package is "a fast and minimal alternative to globby and fast-glob, meant
# to behave the same way".
#
# Expected: five files, as of fast-glob (and of the shell), or an error, or none.
# Seen: the ends of the range are sorted as text and become a class of characters, [12-8]: one character from 1 to 8. So pages 1 to 8 are
# given, of which one was asked for. 5 to 10 gives 0 to 5, and 1 to 10 gives 0 and 1. A range within one digit is right, so it works until there are ten. The matcher
# below it (picomatch) says that it expands lists only; what it makes of a range stands nowhere, and tinyglobby's README has no word of it.
#
# Why it matters: builds, copies and deletions take files that the pattern does not name.
#
# Output seen:
#   page{1..3}.md: tinyglobby 1 2 3 | fast-glob 1 2 3
#   page{8..12}.md: tinyglobby 1 2 3 4 5 6 7 8 | fast-glob 8 9 10 11 12
#   page{5..10}.md: tinyglobby 0 1 2 3 4 5 | fast-glob 5 6 7 8 9 10
#   page{1..10}.md: tinyglobby 0 1 | fast-glob 1 2 3 4 5 6 7 8 9 10
#   page{10..12}.md: tinyglobby 0 1 2 | fast-glob 10 11 12
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit tinyglobby@0.2.17 fast-glob@3.3.3 >/dev/null 2>&1

cat > list.mjs <<'JS'
import { mkdirSync, writeFileSync } from "node:fs";
import fast from "fast-glob";
import { globSync } from "tinyglobby";

mkdirSync("book");
for (let page = 0; page < 14; page++) writeFileSync(`book/page${page}.md`, "");
const pages = (names) => names.map((name) => Number(name.match(/\d+/)[0])).sort((a, b) => a - b).join(" ");
for (const range of ["1..3", "8..12", "5..10", "1..10", "10..12"]) {
  const pattern = `page{${range}}.md`;
  console.log(`${pattern}: tinyglobby ${pages(globSync(pattern, { cwd: "book" }))} | fast-glob ${pages(fast.sync(pattern, { cwd: "book" }))}`);
}
JS
node list.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
