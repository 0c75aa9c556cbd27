#!/usr/bin/env bash
# geopy 2.5.0
#
# Places in degrees, minutes and seconds with a sign, as `Point` reads them: the signs stand before the degrees, and minutes and seconds have their
# marks. Greenwich lies 5 seconds west of the zero meridian, Accra 12 minutes.
#
# Expected: a minus means south or west, as it does for every other degree.
# Seen: between 0 and 1 degree the sign is lost: -0° 12' is 0.2 east. The degrees are made a number first, -0 is 0, and the sign of that number is
# looked at. With a letter (W, S) and with decimals (-0.2) it is right; -1° 12' is right too.
#
# Why it matters: half of London, Accra, Valencia and places just south of the equator move to the other side, by up to 220 kilometres.
#
# Output seen:
#   5° 33' 0", -1° 12' 0": 5.5500, -1.2000
#   5° 33' 0", -0° 12' 0": 5.5500, 0.2000
#   5° 33' 0" N, 0° 12' 0" W: 5.5500, -0.2000
#   5.55, -0.2: 5.5500, -0.2000
#   51° 28' 40", -0° 0' 5": 51.4778, 0.0014
#   -0° 59' 0", 36° 4' 0": 0.9833, 36.0667
#   the last is 217 km away
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check geopy==2.5.0 2>/dev/null

cat > place.py <<'PY'
from geopy.distance import geodesic
from geopy.point import Point

for text in (
    "5° 33' 0\", -1° 12' 0\"",
    "5° 33' 0\", -0° 12' 0\"",
    "5° 33' 0\" N, 0° 12' 0\" W",
    "5.55, -0.2",
    "51° 28' 40\", -0° 0' 5\"",
    "-0° 59' 0\", 36° 4' 0\"",
):
    point = Point(text)
    print(f"{text}: {point.latitude:.4f}, {point.longitude:.4f}")
apart = geodesic(Point("-0° 59' 0\", 36° 4' 0\""), Point(-59 / 60, 36 + 4 / 60)).km
print(f"the last is {apart:.0f} km away")
PY
venv/bin/python place.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
