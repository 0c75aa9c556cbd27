#!/usr/bin/env bash
# csvkit 2.2.0 (with agate 1.14.2)
#
# Two lists are sorted by name: hoses with their lengths in metres, and classes with the day of the week on which they are held.
#
# Expected: a sort changes the order of the rows and no value.
# Seen: the lengths are times of a clock, for `m` is taken for minutes, and ninety metres become an hour and a half. The days become dates in
# January of the year 1. Lengths in km stay as they are.
#
# Why it matters: no other column of the file shows what was meant, the command ends with 0 and says nothing, and the file that is
# written is what people go on with.
#
# Output seen:
#   hose,length
#   garden,0:12:00
#   house,0:03:00
#   street,1:30:00
#   class,day
#   chess,0001-01-08
#   dance,0001-01-06
#   paint,0001-01-07
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --no-compile --disable-pip-version-check csvkit==2.2.0 agate==1.14.2 2>/dev/null

printf 'hose,length\nhouse,3m\ngarden,12m\nstreet,90m\n' > hoses.csv
printf 'class,day\nchess,mon\npaint,sun\ndance,sat\n' > classes.csv
{
    venv/bin/csvsort --columns hose hoses.csv
    venv/bin/csvsort --columns class classes.csv
} 2>said | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
