#!/usr/bin/env bash
# compromise 14.17.0 (reads English: here the numbers of a text)
#
# Expected: "two and a half million" is 2,500,000. "five and a half" is 5.5, "half a million" 500,000 and "1.5 million" 1,500,000, so the parts are known.
# Seen: 2,000,000: the half before a thousand or a million goes without a trace, with words and with digits. Behind it, it becomes a half
# of one: "a million and a half" is 1,000,000.5.
#
# Why it matters: sums out of a report are a fifth or a third too small, and each is a round number that looks right.
#
# Output seen:
#   five and a half: 5.5
#   half a million: 500000
#   1.5 million: 1500000
#   one and a half million: 1000000
#   two and a half million: 2000000
#   two and a half thousand: 2000
#   1 and a half million: 1000000
#   a million and a half: 1000000.5
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit compromise@14.17.0 >/dev/null 2>&1

cat > test.mjs <<'JS'
import nlp from "compromise";

for (const text of ["five and a half", "half a million", "1.5 million", "one and a half million", "two and a half million", "two and a half thousand", "1 and a half million", "a million and a half"])
  console.log(`${text}: ${nlp(text).numbers().get().join(", ")}`);
JS
TZ=UTC node test.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
