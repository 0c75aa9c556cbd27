#!/usr/bin/env bash
# convert 8.0.2
#
# `convertMany` reads an amount of several units, "1h 30m", and converts it.
#
# Expected: "-1h 30m" is minus 90 minutes, as people write a time before something; or an error for a sign that is not understood.
# Seen: -30: the minus belongs to the first part alone, and the half hour is added. Likewise five feet and six inches below are -54 inches, not -66. With a
# blank behind the minus it is ignored: "- 1h 30m" is 90. With a minus before each part it is right, which nobody writes.
#
# Why it matters: a reminder for an hour and a half before comes half an hour before, or an hour and a half after.
#
# Output seen:
#   1h 30m: 90 minutes
#   -1h 30m: -30 minutes
#   -2 hours 15 minutes: -105 minutes
#   - 1h 30m: 90 minutes
#   -1h -30m: -90 minutes
#   -5ft 6in: -54 inches
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit convert@8.0.2 >/dev/null 2>&1

cat > test.mjs <<'JS'
import { convertMany } from "convert";

for (const text of ["1h 30m", "-1h 30m", "-2 hours 15 minutes", "- 1h 30m", "-1h -30m"]) console.log(`${text}: ${convertMany(text).to("minutes")} minutes`);
console.log(`-5ft 6in: ${Math.round(convertMany("-5ft 6in").to("inches") * 1000) / 1000} inches`);
JS
TZ=UTC node test.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
