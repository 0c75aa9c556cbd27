#!/usr/bin/env bash
# beancount 3.2.3
#
# A purchase is written with its total cost, as a broker's note has it: three shares, {{100 EUR}} in all, 100 EUR from the account.
#
# Expected: it balances: 100 in, 100 out. Nothing was divided by the person.
# Seen: "Transaction does not balance", by 0.00000000000000000000000001 EUR: the total is divided by three, kept with 28 digits and multiplied again.
# So with the price of the whole (`@@`). With four shares it balances, with seven by chance, and with three for 100.00 as well, since decimals allow a
# difference and whole amounts allow none.
#
# Why it matters: a ledger that an importer wrote with whole amounts is refused, by number of shares, for a difference that nobody can see or correct.
#
# Output seen:
#   3 ABC {{100 EUR}}: Transaction does not balance: (-0.00000000000000000000000001 EUR)
#   4 ABC {{100 EUR}}: balances
#   3 ABC {{100.00 EUR}}: balances
#   7 ABC {{100 EUR}}: balances
#   3 ABC @@ 100 EUR: Transaction does not balance: (-0.00000000000000000000000001 EUR)
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check beancount==3.2.3 >/dev/null 2>&1

cat > test.py <<'PY'
from beancount import loader

head = "2026-01-01 open Assets:Cash\n2026-01-01 open Assets:Stock\n"
for posting, paid in [("3 ABC {{100 EUR}}", "100"), ("4 ABC {{100 EUR}}", "100"), ("3 ABC {{100.00 EUR}}", "100.00"), ("7 ABC {{100 EUR}}", "100"), ("3 ABC @@ 100 EUR", "100")]:
    _, errors, _ = loader.load_string(f'{head}2026-03-02 * "Broker"\n  Assets:Stock  {posting}\n  Assets:Cash  -{paid} EUR\n')
    print(f"{posting}:", " ".join(error.message for error in errors) or "balances")
PY
env/bin/python test.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
