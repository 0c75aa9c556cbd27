#!/usr/bin/env bash
# polars 2.1.0
#
# Prices become a frame. Nearly all are whole, and one is 19.99. The frame is made with a schema that says whole numbers, or from
# a hundred whole prices first, from which the type is taken. `strict` is true by default: "throw an error if any data value does
# not exactly match the given or inferred data type".
#
# Expected: an error, however the same prices are handed over.
# Seen: as a column the price is refused, and from NDJSON and CSV too. As rows (dictionaries or tuples, the form in which replies
# of APIs and databases come), in a list within a row and by `read_json` it is cut to 19, strict or not, schema or not. A text
# in the same place is refused everywhere, so the check is there. For a column of lists no sample is needed: the first list
# decides, [[5], [19.99]] becomes [[5], [19]].
#
# Why it matters: cents disappear from sums without an error, and the parameter that was set against this says it cannot happen.
#
# Output seen:
#   column, schema: refused; a text: refused
#   column: refused; a text: refused
#   NDJSON: refused; a text: refused
#   rows, schema: 19; a text: refused
#   rows: 19; a text: refused
#   tuples: 19; a text: refused
#   JSON: 19; a text: refused
#   two lists: [19]; a text: refused
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check polars==2.1.0 2>/dev/null

cat > make.py <<'PY'
import io, json
import polars
whole = {"price": polars.Int64}
def show(name, make):
    """Print the last price of the frame for a price in cents and for a text."""
    told = []
    for last in (19.99, "n/a"):
        try:
            value = make([5] * 100 + [last])
            told.append(repr(value.to_list() if isinstance(value, polars.Series) else value))
        except (TypeError, polars.exceptions.PolarsError):
            told.append("refused")
    print(f"{name}: {told[0]}; a text: {told[1]}")
def lines(prices):
    return [{"price": price} for price in prices]
show("column, schema", lambda prices: polars.DataFrame({"price": prices}, schema=whole, strict=True)["price"][-1])
show("column", lambda prices: polars.DataFrame({"price": prices}, strict=True)["price"][-1])
show("NDJSON", lambda prices: polars.read_ndjson(io.BytesIO("\n".join(map(json.dumps, lines(prices))).encode()))["price"][-1])
show("rows, schema", lambda prices: polars.DataFrame(lines(prices), schema=whole, strict=True)["price"][-1])
show("rows", lambda prices: polars.DataFrame(lines(prices), strict=True)["price"][-1])
show("tuples", lambda prices: polars.DataFrame([(price,) for price in prices], schema=["price"], orient="row", strict=True)["price"][-1])
show("JSON", lambda prices: polars.read_json(io.BytesIO(json.dumps(lines(prices)).encode()))["price"][-1])
show("two lists", lambda prices: polars.DataFrame({"prices": [[5], prices[-1:]]}, strict=True)["prices"][-1])
PY
venv/bin/python make.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
