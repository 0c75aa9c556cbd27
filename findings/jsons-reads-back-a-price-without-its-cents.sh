#!/usr/bin/env bash
# jsons 1.6.3 (msgspec 0.21.1 and dacite 1.9.2 beside it)
#
# A field is typed `int | float`, as prices of an interface often are. An object is written by jsons and read back by jsons.
#
# Expected: 19.99 stays 19.99, since it is a float and the type allows one.
# Seen: 19. The members of a union are tried in their order, and a float is turned into an int on the way, with `strict=True`
# too. With `float | int` a count of 2 becomes 2.0. A code "007", typed `int | str`, comes back as 7. msgspec and dacite keep all of them.
#
# Why it matters: a round trip through one library loses the cents of each price, without a word.
#
# Output seen:
#   19.99 as int | float: jsons 19, strict 19, read back 19 | msgspec 19.99 | dacite 19.99
#   2 as float | int: jsons 2.0, strict 2.0, read back 2.0 | msgspec 2 | dacite 2
#   '007' as int | str: jsons 7, strict 7, read back 7 | msgspec '007' | dacite '007'
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check jsons==1.6.3 msgspec==0.21.1 dacite==1.9.2 >/dev/null 2>&1

cat > test.py <<'PY'
import warnings

warnings.simplefilter("ignore")
from dataclasses import dataclass
from typing import Union

import dacite
import jsons
import msgspec


@dataclass
class Priced:
    value: Union[int, float]


@dataclass
class Counted:
    value: Union[float, int]


@dataclass
class Coded:
    value: Union[int, str]


for kind, value, name in [(Priced, 19.99, "int | float"), (Counted, 2, "float | int"), (Coded, "007", "int | str")]:
    row = {"value": value}
    back = jsons.load(jsons.dump(kind(value)), kind).value
    seen = f"jsons {jsons.load(row, kind).value!r}, strict {jsons.load(row, kind, strict=True).value!r}, read back {back!r}"
    print(f"{value!r} as {name}: {seen} | msgspec {msgspec.convert(row, kind).value!r} | dacite {dacite.from_dict(kind, row).value!r}")
PY
env/bin/python test.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
