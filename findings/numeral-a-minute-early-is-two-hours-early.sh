#!/usr/bin/env bash
# numeral 2.0.6, numbro 2.5.0
#
# Seconds are shown as a time of hours, minutes and seconds ("00:00:00", and "time" in numbro): how far a train or a shift is ahead or behind.
#
# Expected: -60 is "-0:01:00", as 60 is "0:01:00"; and 59.6 is "0:01:00" or "0:00:59".
# Seen: the hours are rounded down below zero and the rest is counted up from there: -60 is "-1:59:00" (read by anybody as two hours but a minute),
# -90 is "-1:58:30". Full hours are right. Read back, "-0:01:00" is plus 60 in both. Seconds that round up stay in their place: "0:00:60".
#
# Output seen:
#   60: numeral 0:01:00, numbro 0:01:00
#   -60: numeral -1:59:00, numbro -1:59:00
#   -90: numeral -1:58:30, numbro -1:58:30
#   -3600: numeral -1:00:00, numbro -1:00:00
#   -3661: numeral -2:58:59, numbro -2:58:59
#   59.6: numeral 0:00:60, numbro 0:00:60
#   "0:01:00" read: numeral 60, numbro 60
#   "-0:01:00" read: numeral 60, numbro 60
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit numeral@2.0.6 numbro@2.5.0 >/dev/null 2>&1

cat > time.mjs <<'JS'
import numbro from "numbro";
import numeral from "numeral";

for (const seconds of [60, -60, -90, -3600, -3661, 59.6])
  console.log(`${seconds}: numeral ${numeral(seconds).format("00:00:00")}, numbro ${numbro(seconds).format({ output: "time" })}`);
for (const text of ["0:01:00", "-0:01:00"]) console.log(`"${text}" read: numeral ${numeral(text).value()}, numbro ${numbro.unformat(text)}`);
JS
node time.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
