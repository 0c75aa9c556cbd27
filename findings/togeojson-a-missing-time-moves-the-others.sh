#!/usr/bin/env bash
# @tmcw/togeojson 7.1.3 (with linkedom 0.18.15)
#
# A track in GPX: three points, of which the second has no time (a receiver leaves it out, and the format allows it). It becomes GeoJSON.
#
# Expected: three coordinates and three entries of times, one without a value. So it is for heart rates, which get a null where a point has none.
# Seen: two times for three coordinates, and nothing tells which point has none: the time of the third stands in the place of the second.
#
# Why it matters: the lists of `coordinateProperties` belong to the coordinates by their place; a speed from the second point on is wrong.
#
# Output seen:
#   coordinates: [[8,50],[8,50.1],[8,50.2]]
#   times: ["2026-11-30T10:00:00Z","2026-11-30T10:02:00Z"]
#   heart: [90,null,95]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit @tmcw/togeojson@7.1.3 linkedom@0.18.15 >/dev/null 2>&1

cat > track.mjs <<'JS'
import { gpx } from "@tmcw/togeojson";
import { DOMParser } from "linkedom";

const point = (lat, time, heart) => `<trkpt lat="${lat}" lon="8">${time ? `<time>2026-11-30T${time}Z</time>` : ""}${heart ? `<extensions><heart>${heart}</heart></extensions>` : ""}</trkpt>`;
const track = (points) => `<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>${points.join("")}</trkseg></trk></gpx>`;
const [found] = gpx(new DOMParser().parseFromString(track([point(50, "10:00:00", 90), point(50.1, "", ""), point(50.2, "10:02:00", 95)]), "text/xml")).features;
console.log("coordinates:", JSON.stringify(found.geometry.coordinates));
for (const [name, values] of Object.entries(found.properties.coordinateProperties)) console.log(`${name}:`, JSON.stringify(values));
JS
node track.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
