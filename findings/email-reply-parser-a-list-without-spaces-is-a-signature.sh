#!/usr/bin/env bash
# email-reply-parser 0.5.12
#
# A reply by mail. What the person wrote is taken by `parse_reply`, which leaves out quoted mails and the signature.
#
# Expected: the signature begins at a line of two dashes, or at "Sent from my".
# Seen: it begins at each paragraph whose first line starts with a dash and a letter or digit right behind it, wherever
# that stands, and all of that paragraph is left out if it is the last: a list whose dashes have no space, an amount or a temperature below
# zero, an option of a command. The text above reads as if it were all.
#
# Why it matters: "Yes, but:" is kept and what follows is not; a ticket or a model gets half of the answer. With a space behind
# the dash, as a mail program sets it, everything arrives.
#
# Output seen:
#   'Yes, but:\n\n- without the discount\n- by Friday\n' becomes 'Yes, but:\n\n- without the discount\n- by Friday'
#   'Yes, but:\n\n-without the discount\n-by Friday\n' becomes 'Yes, but:'
#   'Our balance is\n\n-1200 euros\n\nOn Mon, Bob wrote:\n> How much is it?\n' becomes 'Our balance is'
#   'No. Start it with\n\n--dry-run\nand send me the log first.\n' becomes 'No. Start it with'
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check email-reply-parser==0.5.12 2>/dev/null

cat > read.py <<'PY'
from email_reply_parser import EmailReplyParser
for body in (
    "Yes, but:\n\n- without the discount\n- by Friday\n",
    "Yes, but:\n\n-without the discount\n-by Friday\n",
    "Our balance is\n\n-1200 euros\n\nOn Mon, Bob wrote:\n> How much is it?\n",
    "No. Start it with\n\n--dry-run\nand send me the log first.\n",
):
    print(repr(body), "becomes", repr(EmailReplyParser.parse_reply(body)))
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
