#!/usr/bin/env bash
# petl 1.7.30
#
# A price list from a CSV file, whose numbers are made numbers by `convertnumbers`; then the rows above and below 50 are selected.
#
# Expected: a row without a price is in neither, or an error, as Python raises for "" > 50 (and as petl's own `select` does).
# Seen: a text is greater than each number, so the row without a price is above 50, and with `selectle` it is missing. Without
# `convertnumbers` every row is above 50 and none below, since each price is a text: 5 is too. Nothing is raised.
#
# Why it matters: the order of mixed values is there for sorting. In a condition it selects what was never known, and a discount for
# dear goods, or a sum of what is above the limit, has it.
#
# Output seen:
#   numbers selectgt ['lamp', 'rug']
#   numbers selectle ['pen']
#   texts selectgt ['pen', 'lamp', 'rug']
#   texts selectle []
#   select TypeError
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check petl==1.7.30 2>/dev/null

cat > choose.py <<'PY'
import petl
with open("prices.csv", "w") as file:
    file.write("name,price\npen,5\nlamp,200\nrug,\n")
texts = petl.fromcsv("prices.csv")
for name, table in (("numbers", petl.convertnumbers(texts)), ("texts", texts)):
    for chosen in (petl.selectgt, petl.selectle):
        print(name, chosen.__name__, list(petl.values(chosen(table, "price", 50), "name")))
try:
    list(petl.select(petl.convertnumbers(texts), "{price} > 50"))
except TypeError as error:
    print("select", type(error).__name__)
PY
venv/bin/python choose.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
