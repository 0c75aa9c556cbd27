#!/usr/bin/env bash
# @we-gold/gpxjs 1.2.0, gpxparser 3.0.8 (with linkedom 0.18.15; gpxpy 1.6.2 for Python beside them)
#
# A holiday recorded in one track of GPX: a walk of a kilometre in Berlin, receiver off, a walk of a kilometre in Madrid. The format has segments for that:
# "To represent a single GPS track where GPS reception was lost, or the GPS receiver was turned off, start a new Track Segment".
#
# Expected: two kilometres, and the climbs of the two walks.
# Seen: the points of all segments are put into one list, and the way from the end of one to the start of the next is counted, as are its metres up or
# down: 1871 km and 610 metres up. Neither README says so; both speak of the "total distance of the track".
#
# Why it matters: each pause of a watch with "auto pause" makes a segment, so tracks are a little too long (a tunnel, a ferry), and rarely by much.
#
# Output seen:
#   gpxjs: 1871.4 km, 610 m up, 10 m down
#   gpxparser: 1871.4 km, 610 m up, 10 m down
#   gpxpy: 2.0 km, 10 m up, 10 m down
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit @we-gold/gpxjs@1.2.0 gpxparser@3.0.8 linkedom@0.18.15 >/dev/null 2>&1
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check gpxpy==1.6.2 2>/dev/null

cat > holiday.gpx <<'XML'
<?xml version="1.0"?>
<gpx version="1.1" creator="desk"><trk><name>holiday</name>
<trkseg><trkpt lat="52.500" lon="13.4"><ele>40</ele></trkpt><trkpt lat="52.509" lon="13.4"><ele>50</ele></trkpt></trkseg>
<trkseg><trkpt lat="40.400" lon="-3.7"><ele>650</ele></trkpt><trkpt lat="40.409" lon="-3.7"><ele>640</ele></trkpt></trkseg>
</trk></gpx>
XML
cat > walk.mjs <<'JS'
import { readFileSync } from "node:fs";
import { parseGPXWithCustomParser } from "@we-gold/gpxjs";
import GpxParser from "gpxparser";
import { DOMParser } from "linkedom";

const text = readFileSync("holiday.gpx", "utf8");
const [gpx] = parseGPXWithCustomParser(text, (xml) => new DOMParser().parseFromString(xml, "text/xml"));
const parser = new GpxParser();
parser.parse(text);
const km = (metres) => (metres / 1000).toFixed(1);
const [one, two] = [gpx.tracks[0], parser.tracks[0]];
console.log(`gpxjs: ${km(one.distance.total)} km, ${one.elevation.positive} m up, ${one.elevation.negative} m down`);
console.log(`gpxparser: ${km(two.distance.total)} km, ${two.elevation.pos} m up, ${two.elevation.neg} m down`);
JS
cat > walk.py <<'PY'
import gpxpy
with open("holiday.gpx") as file:
    gpx = gpxpy.parse(file)
hills = gpx.get_uphill_downhill()
print(f"gpxpy: {gpx.length_2d() / 1000:.1f} km, {hills.uphill:.0f} m up, {hills.downhill:.0f} m down")
PY
(node walk.mjs; venv/bin/python walk.py) | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
