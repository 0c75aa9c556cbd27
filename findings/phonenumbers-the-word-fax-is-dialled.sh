#!/usr/bin/env bash
# phonenumbers 9.0.43
#
# Numbers from address books and the foot of letters, with a word behind them: "Fax", a name, opening hours, an extension ("App. 12" in German).
#
# Expected: the number, as with a word before it ("Tel. 030 123456") and with "ext 12", or an error, as for "Durchwahl 12".
# Seen: a word behind a number is dialled letter by letter, as in 1-800-FLOWERS, in every country. German numbers have no one length, so
# that the longer number is valid: `is_valid_number` is True for the number with 329 for "Fax" at its end, and it is stored and called.
# Hours are appended with the word for them.
#
# Why it matters: each step that the package offers (parse, check, format) has passed, and the number is a stranger's.
#
# Output seen:
#   030 123456: +4930123456, extension None, valid True
#   Tel. 030 123456: +4930123456, extension None, valid True
#   030 123456 ext 12: +4930123456, extension 12, valid True
#   030 123456, Durchwahl 12: refused
#   030 123456 Fax: +4930123456329, extension None, valid True
#   030 123456 App. 12: +493012345627712, extension None, valid True
#   030 123456 (Anna): +49301234562662, extension None, valid True
#   030 123456 9-17 Uhr: +4930123456917847, extension None, valid True
#   030 123456 privat: +4930123456774828, extension None, valid True
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check phonenumbers==9.0.43 2>/dev/null

cat > read.py <<'PY'
import phonenumbers
from phonenumbers import PhoneNumberFormat
for text in (
    "030 123456", "Tel. 030 123456", "030 123456 ext 12", "030 123456, Durchwahl 12",
    "030 123456 Fax", "030 123456 App. 12", "030 123456 (Anna)", "030 123456 9-17 Uhr", "030 123456 privat",
):
    try:
        number = phonenumbers.parse(text, "DE")
    except phonenumbers.NumberParseException:
        print(f"{text}: refused")
        continue
    shown = phonenumbers.format_number(number, PhoneNumberFormat.E164)
    print(f"{text}: {shown}, extension {number.extension}, valid {phonenumbers.is_valid_number(number)}")
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
