#!/usr/bin/env bash
# cattrs 26.2.1 (with attrs 26.1.0)
#
# Jobs are read from JSON into a class with a name, a number of copies and a switch "dry_run". The class says `str`, `int`, `bool`.
#
# Expected: what is no text, no whole number and no truth is refused; the package validates in detail by default and names the field.
# Seen: the name of each type is called on the value. null becomes the text "None", a list the text of a list, "false" is true, null is
# false, 2.9 copies are 2. A value is refused only if the call itself fails, as with "many".
#
# Why it matters: "dry_run": "false" and a person called None pass a layer that people put there to stop them.
#
# Output seen:
#   Job(name='None', copies=2, dry_run=True)
#   Job(name="['a', 'b']", copies=1, dry_run=False)
#   refused: ClassValidationError
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check cattrs==26.2.1 attrs==26.1.0 2>/dev/null

cat > read.py <<'PY'
from attrs import define
from cattrs.preconf.json import make_converter


@define
class Job:
    name: str
    copies: int
    dry_run: bool


converter = make_converter()
for text in (
    '{"name": null, "copies": 2.9, "dry_run": "false"}',
    '{"name": ["a", "b"], "copies": true, "dry_run": null}',
    '{"name": "x", "copies": "many", "dry_run": true}',
):
    try:
        print(converter.loads(text, Job))
    except Exception as error:
        print("refused:", type(error).__name__)
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
