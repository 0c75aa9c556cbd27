#!/usr/bin/env bash
# csvkit 2.2.0 (with agate 1.14.2)
#
# A list of budgets has its amounts in the currency of each project, and one share in percent. It is sorted, looked at and asked
# by SQL, with no option.
#
# Expected: a column with other signs before its numbers is text, or the signs are kept, or something is said: a sum over
# three currencies and a share has no meaning.
# Seen: every sign of a currency and the percent sign are taken off before a value is judged, whichever stands there, so the column is
# a number. The sum adds up euros, dollars, yen and percents, twelve percent are the smallest of the budgets, and what `csvsort`
# writes has lost its signs for good.
#
# Why it matters: the sorted file is the one that people go on with, and in it 700,000 yen and 900,000 euros are alike.
#
# Output seen:
#   sum: 2000012
#   smallest: 12
#   sorted: Upkeep,12
#   sorted: Road,400000
#   sorted: Tunnel,700000
#   sorted: Bridge,900000
#   by SQL: 2000012.0
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --no-compile --disable-pip-version-check csvkit==2.2.0 agate==1.14.2 2>/dev/null

printf 'project,budget\nBridge,€900000\nRoad,$400000\nTunnel,¥700000\nUpkeep,12%%\n' > budgets.csv
{
    echo "sum: $(venv/bin/csvstat --columns budget --sum budgets.csv)"
    echo "smallest: $(venv/bin/csvstat --columns budget --min budgets.csv)"
    venv/bin/csvsort --columns budget budgets.csv | sed -e 1d -e 's/^/sorted: /'
    echo "by SQL: $(venv/bin/csvsql --query 'select sum(budget) from budgets' budgets.csv | sed 1d)"
} 2>said | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
