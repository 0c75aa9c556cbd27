#!/usr/bin/env bash
# vobject 0.9.9
#
# A contact in vCard 3.0 with two nicknames and with pages whose addresses hold a comma (a map at 52.5,13.4, an item of a shop). It is read, its telephone is
# changed, and it is written again.
#
# Expected: the same card with another telephone. RFC 2426 makes a URL a URI, in which a comma stands as it is, and nicknames a list.
# Seen: the value of every property but CATEGORIES, N, ADR and ORG is what stands before its first comma: one nickname is left, and
# the address of the page is cut. Nothing is raised, and the card that is written has lost the rest. (A comma behind a backslash is kept.)
#
# Why it matters: address books are kept in step by reading and writing cards; each pass is the last for these values.
#
# Output seen:
#   CATEGORIES:work,choir
#   NICKNAME:Evi
#   ORG:Roth;Sales
#   TEL:2
#   URL:https://map.example/?at=52.5
#   X-SHOP:https://shop.example/item
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check vobject==0.9.9 2>/dev/null

cat > change.py <<'PY'
import vobject
lines = (
    "BEGIN:VCARD", "VERSION:3.0", "N:Roth;Eva;;;", "FN:Eva Roth", "NICKNAME:Evi,Rothchen", "ORG:Roth;Sales", "CATEGORIES:work,choir", "TEL:1",
    "URL:https://map.example/?at=52.5,13.4", "X-SHOP:https://shop.example/item,42.html", "END:VCARD", "",
)
card = vobject.readOne("\r\n".join(lines))
card.tel.value = "2"
for line in sorted(card.serialize().splitlines()):
    if line.partition(":")[0] in {"NICKNAME", "ORG", "CATEGORIES", "TEL", "URL", "X-SHOP"}:
        print(line)
PY
venv/bin/python change.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
