#!/usr/bin/env bash
# convert-units 2.3.4 (js-quantities 1.8.0 beside it)
#
# A load is given as 24 t and is converted to kilograms, "measurement unit conversions" for a program in Europe.
#
# Expected: 24000, since t is the sign of the tonne that is used with the SI, as the other library has it.
# Seen: 21772.416: t is the short ton of the United States here, a tonne is `mt`. In the list of the manual they stand as "t" and "mt"
# without their names, behind mcg, mg, g and kg; l, ha and km are metric.
#
# Why it matters: the number is near enough to be believed; a truck is loaded with a tenth more than it may have.
#
# Output seen:
#   convert-units 21772.416 js-quantities 24000
#   convert-units {
#     val: 24,
#     unit: 'mt',
#     singular: 'Metric Tonne',
#     plural: 'Metric Tonnes'
#   } { val: 24000, unit: 'kg', singular: 'Kilogram', plural: 'Kilograms' }
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit convert-units@2.3.4 js-quantities@1.8.0 >/dev/null 2>&1

cat > weigh.mjs <<'JS'
import convert from "convert-units";
import Qty from "js-quantities";
console.log("convert-units", convert(24).from("t").to("kg"), "js-quantities", Qty("24 t").to("kg").scalar);
console.log("convert-units", convert(24000).from("kg").toBest(), convert(24000).from("kg").toBest({ exclude: ["mt"] }));
JS
node weigh.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
