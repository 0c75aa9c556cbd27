#!/usr/bin/env bash
# loguru 0.7.3
#
# A program has two logs: `shop.payments.log`, which nothing may remove (it is added without `retention`), and `shop.log`, which is
# rotated and keeps its last two files. Nobody has paid for an hour.
#
# Expected: retention looks at the files that this sink made by rotation.
# Seen: it takes whatever is named like them, "shop.*.log", for its own. The log of payments is older than two rotations, so
# it is removed, though another sink of the same process has it open and was told to keep it. What is written there afterwards
# goes to a file without a name and is gone with the process. With an age in place of a number it is the same.
#
# Why it matters: "name.log" beside "name.errors.log" or "name.audit.log" is how most people name two logs.
#
# Output seen:
#   before: shop.payments.log
#   after six requests: shop.log and 2 rotated
#   payments kept: False
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check loguru==0.7.3 2>/dev/null

cat > call.py <<'PY'
import glob, os, time
from loguru import logger

logger.remove()
logger.add("shop.payments.log", filter=lambda record: record["extra"].get("payment"))
logger.bind(payment=True).info("an order of 40 euros was paid")
print("before:", *glob.glob("shop*"))
an_hour_ago = time.time() - 3600
os.utime("shop.payments.log", (an_hour_ago, an_hour_ago))

logger.add("shop.log", filter=lambda record: not record["extra"].get("payment"), rotation="50 B", retention=2)
for number in range(6):
    logger.info(f"request {number}")
logger.bind(payment=True).info("an order of 90 euros was paid")
names = set(glob.glob("shop*"))
rotated = names - {"shop.log", "shop.payments.log"}
print("after six requests: shop.log and", len(rotated), "rotated")
print("payments kept:", "shop.payments.log" in names)
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
