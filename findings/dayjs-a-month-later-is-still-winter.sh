#!/usr/bin/env bash
# dayjs 1.11.23 with its plugins utc and timezone (luxon 3.7.2 beside it)
#
# A meeting at noon in Berlin on 28 March 2026 is moved by a day and by a month. The clocks go forward on the 29th.
#
# Expected: noon in Berlin, which is 10:00 in UTC from the 29th on, on a machine in any zone.
# Seen: on a machine in UTC the face of the clock says noon and the offset stays +01:00, so that the moment is 11:00 in UTC, and a second
# conversion to the same zone shows 13:00. On a machine in Berlin the moment is right and the text is wrong: `format` still writes +01:00.
# It is the same in autumn. Nothing is said.
#
# Why it matters: a developer at home sees the right hour, and the server stores and sends another one for half of a year.
#
# Output seen:
#   machine in UTC
#     2026-03-28T12:00 and a day: 2026-03-29T12:00:00+01:00, in UTC 11:00, converted again 13:00 (luxon: 2026-03-29T12:00:00+02:00)
#     2026-03-28T12:00 and a month: 2026-04-28T12:00:00+01:00, in UTC 11:00, converted again 13:00 (luxon: 2026-04-28T12:00:00+02:00)
#     2026-10-24T12:00 and a day: 2026-10-25T12:00:00+02:00, in UTC 10:00, converted again 11:00 (luxon: 2026-10-25T12:00:00+01:00)
#   machine in Europe/Berlin
#     2026-03-28T12:00 and a day: 2026-03-29T12:00:00+01:00, in UTC 10:00, converted again 12:00 (luxon: 2026-03-29T12:00:00+02:00)
#     2026-03-28T12:00 and a month: 2026-04-28T12:00:00+01:00, in UTC 10:00, converted again 12:00 (luxon: 2026-04-28T12:00:00+02:00)
#     2026-10-24T12:00 and a day: 2026-10-25T12:00:00+02:00, in UTC 11:00, converted again 12:00 (luxon: 2026-10-25T12:00:00+01:00)
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit dayjs@1.11.23 luxon@3.7.2 >/dev/null 2>&1

cat > move.mjs <<'JS'
import dayjs from "dayjs";
import utc from "dayjs/plugin/utc.js";
import timezone from "dayjs/plugin/timezone.js";
import { DateTime } from "luxon";
dayjs.extend(utc);
dayjs.extend(timezone);
const zone = "Europe/Berlin";
console.log("machine in " + process.env.TZ);
for (const [text, unit] of [["2026-03-28T12:00", "day"], ["2026-03-28T12:00", "month"], ["2026-10-24T12:00", "day"]]) {
  const moved = dayjs.tz(text, zone).add(1, unit);
  const right = DateTime.fromISO(text, { zone }).plus({ [unit]: 1 });
  const shown = moved.format() + ", in UTC " + moved.toISOString().slice(11, 16) + ", converted again " + moved.tz(zone).format("HH:mm");
  console.log("  " + text + " and a " + unit + ": " + shown + " (luxon: " + right.toISO({ suppressMilliseconds: true }) + ")");
}
JS
(TZ=UTC node move.mjs; TZ=Europe/Berlin node move.mjs) | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
