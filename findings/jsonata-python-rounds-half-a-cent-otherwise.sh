#!/usr/bin/env bash
# jsonata-python 0.7.1 (jsonata 2.2.2 from npm, which it follows, beside it)
#
# One JSONata expression prints an amount by `$formatNumber` with the picture "0.00"; it runs in a Python service and in a JavaScript one.
#
# Expected: one result. `$round` is documented as half to even and does so in both; the picture is that of XPath's format-number, which rounds so too.
# Seen: of eight halves seven come out differently. The JavaScript one rounds half to even by the digits as written (2.5 to 2, 0.155 to 0.16). The Python one rounds halves up where the
# binary number is an exact half (2.5 to 3, 0.125 to 0.13) and otherwise by its binary neighbour (0.155 to 0.15, 2.675 to 2.67), so it agrees neither with the
# other nor with its own `$round`, which both print the same.
#
# Why it matters: two services print one invoice a cent apart.
#
# Output seen:
#   2.5 "0": python 3 | npm 2 | $round python 2, npm 2
#   3.5 "0": python 4 | npm 4 | $round python 4, npm 4
#   0.125 "0.00": python 0.13 | npm 0.12 | $round python 0.12, npm 0.12
#   0.155 "0.00": python 0.15 | npm 0.16 | $round python 0.16, npm 0.16
#   0.165 "0.00": python 0.17 | npm 0.16 | $round python 0.16, npm 0.16
#   2.675 "0.00": python 2.67 | npm 2.68 | $round python 2.68, npm 2.68
#   1.115 "0.00": python 1.11 | npm 1.12 | $round python 1.12, npm 1.12
#   1234.565 "0.00": python 1234.57 | npm 1234.56 | $round python 1234.56, npm 1234.56
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check jsonata-python==0.7.1 >/dev/null 2>&1
npm install --silent --no-fund --no-audit jsonata@2.2.2 >/dev/null 2>&1

cat > cases <<'CASES'
2.5 0
3.5 0
0.125 0.00
0.155 0.00
0.165 0.00
2.675 0.00
1.115 0.00
1234.565 0.00
CASES
cat > test.py <<'PY'
import jsonata

for line in open("cases"):
    value, picture = line.split()
    places = len(picture.partition(".")[2])
    print(*(jsonata.Jsonata(text).evaluate(None) for text in (f"$formatNumber({value}, '{picture}')", f"$string($round({value}, {places}))")))
PY
cat > test.mjs <<'JS'
import fs from "fs";
import jsonata from "jsonata";

for (const line of fs.readFileSync("cases", "utf8").trim().split("\n")) {
  const [value, picture] = line.split(" ");
  const places = (picture.split(".")[1] ?? "").length;
  const of = (text) => jsonata(text).evaluate({});
  console.log(await of(`$formatNumber(${value}, '${picture}')`), await of(`$string($round(${value}, ${places}))`));
}
JS
env/bin/python test.py > python.seen
node test.mjs > npm.seen
paste -d' ' cases python.seen npm.seen | while read -r value picture python round npm other; do
    echo "$value \"$picture\": python $python | npm $npm | \$round python $round, npm $other"
done | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
