#!/usr/bin/env bash
# to-words 5.7.0
#
# Amounts of contracts and cheques are written out in Italian, currency and all ("it-IT").
#
# Expected: due milioni, due miliardi; mille uno.
# Seen: the two is missing for two millions and for two milliards, alone and with something behind: 2,500,000 is "Milioni Cinque Cento Mila Euro". From
# 1001 to 1999 the thousand is in its plural, without a number, as well (Mila Cento). Three millions, ten, and round thousands are
# right. Nothing in the README says that some numbers are left out; its Arabic forms of two, which need no number, are right.
#
# Why it matters: words are what counts on a cheque when they differ from the digits.
#
# Output seen:
#   1000: Mille Euro
#   1100: Mila Cento Euro
#   2000: Due Mila Euro
#   1000000: Un Milione Euro
#   2000000: Milioni Euro
#   2500000: Milioni Cinque Cento Mila Euro
#   3000000: Tre Milioni Euro
#   2000000000: Miliardi Euro
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit to-words@5.7.0 >/dev/null 2>&1

cat > write.mjs <<'JS'
import { ToWords } from "to-words";

const words = new ToWords({ localeCode: "it-IT" });
for (const amount of [1000, 1100, 2000, 1_000_000, 2_000_000, 2_500_000, 3_000_000, 2_000_000_000]) {
  console.log(`${amount}: ${words.convert(amount, { currency: true })}`);
}
JS
node write.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
