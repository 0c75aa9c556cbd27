#!/usr/bin/env bash
# geolib 3.3.14 (@turf/length 7.4.0 beside it)
#
# The length of a recorded track: `getPathLength` of points that lie a third of a metre to ten metres apart, as a receiver gives them
# each second or five times a second. "Returns the length of the path in meters as number."
#
# Expected: the length, to a metre or so, as `getDistance` gives it for a straight way.
# Seen: each step is rounded to whole metres before the steps are added up, so the error grows with the number of points. A walk
# of 313 metres with steps of 31 cm is 0 metres, one with steps of 1.4 m is 224. With `getDistance` to a centimetre given as the
# second argument it is nearly right; the manual names the rounding where it speaks of two points, and not where it speaks of a path.
#
# Why it matters: the more exact the track, the farther off its length, and so speed, cost and pace. The example of the manual has
# three points hundreds of kilometres apart.
#
# Output seen:
#   1000 steps: path 0, start to end 313, path to a centimetre 300, turf 312
#   224 steps: path 224, start to end 313, path to a centimetre 314, turf 312
#   31 steps: path 310, start to end 312, path to a centimetre 312, turf 311
#   3 steps: path 312, start to end 313, path to a centimetre 313, turf 312
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit geolib@3.3.14 @turf/length@7.4.0 >/dev/null 2>&1

cat > walk.mjs <<'JS'
import { length } from "@turf/length";
import { getDistance, getPathLength } from "geolib";
for (const [count, step] of [[1000, 0.0000042], [224, 0.00001875], [31, 0.000135], [3, 0.0014]]) {
  const points = Array.from({ length: count + 1 }, (_, index) => [11.5 + index * step, 48]);
  const metres = (length({ type: "Feature", properties: {}, geometry: { type: "LineString", coordinates: points } }) * 1000).toFixed(0);
  const fine = getPathLength(points, (a, b) => getDistance(a, b, 0.01)).toFixed(0);
  console.log(`${count} steps: path ${getPathLength(points)}, start to end ${getDistance(points[0], points[count])}, path to a centimetre ${fine}, turf ${metres}`);
}
JS
node walk.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
