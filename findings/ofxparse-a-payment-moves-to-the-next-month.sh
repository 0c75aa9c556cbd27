#!/usr/bin/env bash
# ofxparse 0.21 (ofxtools 1.1.1 beside it)
#
# Statements of a bank in New York and of one in Tokyo, in OFX: each time has its offset, 20261130230000[-5:EST]. The payments of
# November are to be added up.
#
# Expected: the day that the bank printed, or a time that says which zone it is in, as ofxtools gives it.
# Seen: the offset is taken off and not kept: the result is UTC without saying so (`tzinfo` is None). A payment of 30 November, 23:00, in New York is one of
# December; one of 1 December, midnight, in Tokyo, which is how a bank writes a day, is one of November. Times without an offset stay.
# The manual says nothing of zones.
#
# Why it matters: sums of a month, and the search for the same entry in the bank's own list, are off by a day, for some entries only.
#
# Output seen:
#   20261130120000: 2026-11-30 12:00:00 with tzinfo None (ofxtools: 2026-11-30 12:00:00+00:00)
#   20261130230000[-5:EST]: 2026-12-01 04:00:00 with tzinfo None (ofxtools: 2026-12-01 04:00:00+00:00)
#   20261201000000[+9:JST]: 2026-11-30 15:00:00 with tzinfo None (ofxtools: 2026-11-30 15:00:00+00:00)
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check ofxparse==0.21 ofxtools==1.1.1 2>/dev/null

cat > read.py <<'PY'
import io
from ofxparse import OfxParser
from ofxtools.Parser import OFXTree

HEAD = "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nSECURITY:NONE\nENCODING:USASCII\nCHARSET:1252\nCOMPRESSION:NONE\nOLDFILEUID:NONE\nNEWFILEUID:NONE\n\n"
TIMES = ("20261130120000", "20261130230000[-5:EST]", "20261201000000[+9:JST]")
status = "<STATUS><CODE>0<SEVERITY>INFO</STATUS>"
payments = "".join(
    f"<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>{time}<TRNAMT>-10.00<FITID>{number}<NAME>Shop</STMTTRN>" for number, time in enumerate(TIMES)
)
text = (
    f"{HEAD}<OFX><SIGNONMSGSRSV1><SONRS>{status}<DTSERVER>20261201120000<LANGUAGE>ENG</SONRS></SIGNONMSGSRSV1>"
    f"<BANKMSGSRSV1><STMTTRNRS><TRNUID>1{status}<STMTRS><CURDEF>USD<BANKACCTFROM><BANKID>1<ACCTID>2<ACCTTYPE>CHECKING</BANKACCTFROM>"
    f"<BANKTRANLIST><DTSTART>20261101<DTEND>20261201{payments}</BANKTRANLIST>"
    "<LEDGERBAL><BALAMT>0.00<DTASOF>20261201</LEDGERBAL></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>"
).encode()
tree = OFXTree()
tree.parse(io.BytesIO(text))
right = [payment.dtposted for payment in tree.convert().statements[0].banktranlist]
for time, payment, other in zip(TIMES, OfxParser.parse(io.BytesIO(text)).account.statement.transactions, right):
    print(f"{time}: {payment.date} with tzinfo {payment.date.tzinfo} (ofxtools: {other})")
PY
venv/bin/python -W ignore read.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
