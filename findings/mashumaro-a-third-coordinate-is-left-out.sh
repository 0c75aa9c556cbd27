#!/usr/bin/env bash
# mashumaro 3.23 (msgspec 0.21.1, cattrs 26.2.1 and adaptix 3.0.0b12 beside it)
#
# A field is typed `tuple[float, float]`; the JSON that came holds three numbers.
#
# Expected: an error that names the field, as for one number ("has invalid value").
# Seen: the third is left out, and nothing is said, for a tuple and for a NamedTuple. One number too few is an error. So only what is too
# long passes. The three others refuse both.
#
# Why it matters: positions with a height, prices with a currency or rows of a newer version lose their last part, and what is written back
# lacks it for good.
#
# Output seen:
#   [52.5, 13.4]: mashumaro (52.5, 13.4) | msgspec (52.5, 13.4) | cattrs (52.5, 13.4) | adaptix (52.5, 13.4)
#   [52.5, 13.4, 34.0]: mashumaro (52.5, 13.4) | msgspec refuses | cattrs refuses | adaptix refuses
#   [52.5]: mashumaro refuses | msgspec refuses | cattrs refuses | adaptix refuses
#   NamedTuple of two from [52.5, 13.4, 34.0]: Place(lat=52.5, lon=13.4)
#   written back: {"at":[52.5,13.4]}
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check mashumaro==3.23 msgspec==0.21.1 cattrs==26.2.1 adaptix==3.0.0b12 >/dev/null 2>&1

cat > test.py <<'PY'
import warnings

warnings.simplefilter("ignore")
import json
from dataclasses import dataclass
from typing import NamedTuple

import adaptix
import cattrs
import msgspec
from mashumaro.codecs.basic import BasicDecoder, BasicEncoder


@dataclass
class Spot:
    at: tuple[float, float]


class Place(NamedTuple):
    lat: float
    lon: float


def tried(read, row):
    try:
        return str(read(row).at)
    except Exception:
        return "refuses"


ways = {
    "mashumaro": BasicDecoder(Spot).decode,
    "msgspec": lambda row: msgspec.convert(row, Spot),
    "cattrs": lambda row: cattrs.Converter(detailed_validation=False).structure(row, Spot),
    "adaptix": lambda row: adaptix.Retort().load(row, Spot),
}
for numbers in ([52.5, 13.4], [52.5, 13.4, 34.0], [52.5]):
    print(f"{numbers}:", " | ".join(f"{name} {tried(read, {'at': numbers})}" for name, read in ways.items()))
print("NamedTuple of two from [52.5, 13.4, 34.0]:", BasicDecoder(Place).decode([52.5, 13.4, 34.0]))
print("written back:", json.dumps(BasicEncoder(Spot).encode(BasicDecoder(Spot).decode({"at": [52.5, 13.4, 34.0]})), separators=(",", ":")))
PY
env/bin/python test.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
