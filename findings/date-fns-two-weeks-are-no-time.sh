#!/usr/bin/env bash
# date-fns 4.4.0 (luxon 3.7.2 reads its text)
#
# A notice period of two weeks is a `Duration` of the package, { weeks: 2 }, and is sent to another program as ISO 8601 text.
#
# Expected: P2W, or P14D, as ISO 8601 has a letter for weeks, and every other function of the package for durations counts them.
# Seen: `formatISODuration` leaves weeks out: two weeks are P0Y0M0DT0H0M0S, nothing, and two weeks and a day are a day. The type takes
# `weeks`, `formatDuration` writes "2 weeks", and `add` moves a date by 14 days. Nothing is raised; the manual's example has none and
# says nothing of them.
#
# Output seen:
#   14 days: P0Y0M14DT0H0M0S, which luxon reads as 14 days; from 1 November until 2026-11-15
#   2 weeks: P0Y0M0DT0H0M0S, which luxon reads as nothing; from 1 November until 2026-11-15
#   2 weeks 1 day: P0Y0M1DT0H0M0S, which luxon reads as 1 day; from 1 November until 2026-11-16
#   1 month 3 weeks: P0Y1M0DT0H0M0S, which luxon reads as 1 month; from 1 November until 2026-12-22
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit date-fns@4.4.0 luxon@3.7.2 >/dev/null 2>&1

cat > write.mjs <<'JS'
import { add, formatDuration, formatISODuration } from "date-fns";
import { Duration } from "luxon";
for (const length of [{ days: 14 }, { weeks: 2 }, { weeks: 2, days: 1 }, { months: 1, weeks: 3 }]) {
  const text = formatISODuration(length);
  const read = formatDuration(Duration.fromISO(text).toObject()) || "nothing";
  const day = add(new Date("2026-11-01T00:00:00Z"), length).toISOString().slice(0, 10);
  console.log(formatDuration(length) + ": " + text + ", which luxon reads as " + read + "; from 1 November until " + day);
}
JS
TZ=UTC node write.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
