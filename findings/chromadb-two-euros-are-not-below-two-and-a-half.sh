#!/usr/bin/env bash
# chromadb 1.5.9
#
# Things with prices in their metadata, some whole (2, 3, -2) and one not (2.5), as JSON gives them, are asked for by `where` with a
# bound of 2.5. Conditions take int and float alike.
#
# Expected: tea at 2 is below 2.5, differs from 2.5 and is not at least 2.5.
# Seen: where the stored number is whole, the bound loses its fraction first and 2.5 is taken for 2: tea is not below it, is equal
# to it, is at least it. Stored floats are held against 2.5 itself, so one question has two bounds. A bound of 2, or prices
# that are all floats, are right. (The maintainers have it as chroma-core/chroma issue 7491, open.)
#
# Why it matters: lists of prices, grades or versions mix both kinds as soon as one is whole, and what is found looks sound.
#
# Output seen:
#   $eq    2.5: milk tea
#   $ne    2.5: jam oil
#   $lt    2.5: oil
#   $gte   2.5: jam milk tea
#   $gt   -2.5: jam milk tea
#   $lt   -2.5: nothing
#   all floats, $lt 2.5: oil tea
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check chromadb==1.5.9 2>/dev/null

cat > try.py <<'PY'
import chromadb
from chromadb.config import Settings
client = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
prices = {"tea": 2, "milk": 2.5, "jam": 3, "oil": -2}
def shop(name, kind):
    made = client.create_collection(name, embedding_function=None)
    made.add(ids=list(prices), embeddings=[[1.0, 0.0]] * 4, metadatas=[{"price": kind(price)} for price in prices.values()])
    return made
def found(shop, condition, bound):
    return " ".join(sorted(shop.get(where={"price": {condition: bound}})["ids"]))
mixed, floats = shop("mixed", lambda price: price), shop("floats", float)
for condition, bound in (("$eq", 2.5), ("$ne", 2.5), ("$lt", 2.5), ("$gte", 2.5), ("$gt", -2.5), ("$lt", -2.5)):
    print(f"{condition:5} {bound:4}: {found(mixed, condition, bound) or 'nothing'}")
print("all floats, $lt 2.5:", found(floats, "$lt", 2.5))
PY
venv/bin/python -W ignore try.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
