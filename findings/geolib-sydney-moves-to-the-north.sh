#!/usr/bin/env bash
# geolib 3.3.14
#
# A place is shown in degrees, minutes and seconds by `decimalToSexagesimal`, kept so, and read again by `toDecimal`.
#
# Expected: the same place, or a sign or a letter in the text that tells south and west, as `toDecimal` reads them ("… S").
# Seen: the sign is dropped. Sydney lies in the north Pacific, New York in Kyrgyzstan; `isSexagesimal` says that the text is well
# formed. The example in the manual has a northern place.
#
# Why it matters: nothing is raised, and the places of Europe east of Greenwich, on which it is tried there, come back as they were.
#
# Output seen:
#   Berlin [ 13.405, 52.52 ] is written 13° 24' 18.0" and 52° 31' 12.0" true and read [ 13.405, 52.52 ] 0 km off
#   Sydney [ 151.2093, -33.8688 ] is written 151° 12' 33.48" and 33° 52' 07.68" true and read [ 151.2093, 33.8688 ] 7541 km off
#   New York [ -74.006, 40.7128 ] is written 74° 00' 21.6" and 40° 42' 46.08" true and read [ 74.006, 40.7128 ] 10414 km off
#   [ -33.8688, -74.006 ]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit geolib@3.3.14 >/dev/null 2>&1

cat > move.mjs <<'JS'
import { decimalToSexagesimal, getDistance, isSexagesimal, toDecimal } from "geolib";
for (const [name, place] of Object.entries({ Berlin: [13.405, 52.52], Sydney: [151.2093, -33.8688], "New York": [-74.006, 40.7128] })) {
  const texts = place.map(decimalToSexagesimal);
  const back = texts.map(toDecimal);
  console.log(name, place, "is written", texts.join(" and "), texts.every(isSexagesimal), "and read", back.map((number) => +number.toFixed(4)), Math.round(getDistance(place, back) / 1000), "km off");
}
console.log(["33° 52' 7.68\" S", "74° 0' 21.6\" W"].map((text) => toDecimal(text)));
JS
node move.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
