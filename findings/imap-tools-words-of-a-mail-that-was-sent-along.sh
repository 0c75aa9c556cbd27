#!/usr/bin/env bash
# imap-tools 1.16.0
#
# A mail says "I agree with the offer below." and has another mail attached (message/rfc822), whose writer asks for something else.
#
# Expected: `text` is what the sender wrote. A text file that is attached is not in it either.
# Seen: the words of the attached mail follow the sender's, with no sign between them, and its HTML is in `html`. The attached mail is also
# listed under `attachments`, without a name. A text file under a name is kept apart.
#
# Why it matters: a program that answers mails, or a model that reads them, takes an attached stranger's words for the sender's.
#
# Output seen:
#   text: I agree with the offer. | Please pay 900 euros in advance. |
#   attachments: ('', 'message/rfc822'), ('old.txt', 'text/plain')
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check imap-tools==1.16.0 2>/dev/null

cat > read.py <<'PY'
from email.message import EmailMessage
from imap_tools import MailMessage

attached = EmailMessage()
attached["From"], attached["Subject"] = "somebody@example.org", "Our terms"
attached.set_content("Please pay 900 euros in advance.\n")
mail = EmailMessage()
mail["From"], mail["Subject"] = "partner@example.com", "Offer"
mail.set_content("I agree with the offer.\n")
mail.add_attachment(attached)
mail.add_attachment("Terms of last year: 700 euros.\n", filename="old.txt")

read = MailMessage.from_bytes(mail.as_bytes())
print("text:", read.text.replace("\n", " | ").strip())
print("attachments:", ", ".join(str((part.filename, part.content_type)) for part in read.attachments))
PY
venv/bin/python read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
