#!/usr/bin/env bash
# currency.js 2.0.4 (big.js 7.0.1 beside it)
#
# An invoice is 19 percent of an amount; the credit note for it is the same with a minus.
#
# Expected: together they are nothing.
# Seen: half a cent is rounded up for both signs, that is, away from zero for an invoice and towards it for its credit note. Each pair
# leaves a cent, always in the same direction. The package's manual says that integers behind the scenes are there against such
# errors, and nothing of the sign.
#
# Why it matters: of ten thousand prices one in a hundred ends in half a cent. Each line is "right", and the books are off.
#
# Output seen:
#   0.5: 0.10 and -0.09, together 0.01
#   1.5: 0.29 and -0.28, together 0.01
#   12.5: 2.38 and -2.37, together 0.01
#   prices from 0.01 to 100.00, each paid and refunded: currency.js 1.00, big.js 0.00
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit currency.js@2.0.4 big.js@7.0.1 >/dev/null 2>&1

cat > sum.mjs <<'JS'
import currency from "currency.js";
import Big from "big.js";
for (const price of [0.5, 1.5, 12.5]) {
  const [paid, back] = [currency(price).multiply(0.19), currency(-price).multiply(0.19)];
  console.log(price + ": " + paid + " and " + back + ", together " + paid.add(back));
}
let [sum, exact] = [currency(0), new Big(0)];
for (let cents = 1; cents <= 10000; cents++) {
  for (const sign of [1, -1]) {
    sum = sum.add(currency((sign * cents) / 100).multiply(0.19));
    exact = exact.plus(new Big(sign * cents).div(100).times("0.19").round(2, Big.roundHalfUp));
  }
}
console.log("prices from 0.01 to 100.00, each paid and refunded: currency.js " + sum + ", big.js " + exact.toFixed(2));
JS
node sum.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
