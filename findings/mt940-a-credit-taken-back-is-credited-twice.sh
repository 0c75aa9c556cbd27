#!/usr/bin/env bash
# mt-940 5.1.1 (imported as `mt940`)
#
# A statement of a bank in MT940. A transfer of 100 came in and was taken back on the same day (mark RC, "reversal of credit"), and a fee was given back
# (RD). The bank's own balances stand before and behind.
#
# Expected: amounts whose sum leads from the first balance to the last, since debits come with a minus. A credit that is reversed is a debit.
# Seen: the minus is put for the mark D alone. RC stays positive: the money that went back is counted as having come in a second time, and
# the sum is off by twice the amount. RD is right. The manual has no word of the two. (The project's main branch has a change for it;
# this is the newest release.)
#
# Why it matters: most statements have no reversal, so imports are right for months.
#
# Output seen:
#   C: 100.00
#   RC: 100.00
#   D: -5.00
#   RD: 5.00
#   the bank: 1000.00 and 0.00 are 1000.00; the transactions: 200.00
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check mt-940==5.1.1 2>/dev/null

cat > add.py <<'PY'
import mt940
lines = (
    ":20:START", ":25:10020030/1234567", ":28C:1/1", ":60F:C261102EUR1000,00",
    ":61:2611031103C100,00NTRFNONREF", ":86:transfer", ":61:2611031103RC100,00NTRFNONREF", ":86:transfer taken back",
    ":61:2611031103D5,00NCHGNONREF", ":86:fee", ":61:2611031103RD5,00NCHGNONREF", ":86:fee given back", ":62F:C261103EUR1000,00", "",
)
transactions = mt940.parse("\n".join(lines))
for transaction in transactions:
    print(f"{transaction.data['status']}: {transaction.data['amount'].amount}")
first, last = (transactions.data[name].amount.amount for name in ("final_opening_balance", "final_closing_balance"))
total = sum(transaction.data["amount"].amount for transaction in transactions)
print(f"the bank: {first} and {last - first} are {last}; the transactions: {total}")
PY
venv/bin/python add.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
