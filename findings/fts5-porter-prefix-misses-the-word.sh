#!/usr/bin/env bash
# SQLite 3.54.1 (apsw 3.54.1.0)
#
# A full text index with the `porter` tokenizer, and a search as one types: each letter is added to a prefix query.
#
# Expected: every beginning of a word finds the word; more letters only narrow the result.
# Seen: the stored word is cut to its stem, and the prefix is stemmed as if it were a whole word. Where the two stems
# differ the word is not found: "generalization" is stored as "gener", so "genera*" finds nothing until the last
# letter is typed, and "universi*" does not find "university".
#
# Why it matters: results come, vanish while one types on, and come back at the last letter. Tests with short
# prefixes pass.
#
# Output seen:
#   generalization: missed by genera* generali* generaliz* generaliza* generalizat* generalizati* generalizatio*
#   organization: missed by organi* organiz* organiza* organizat* organizati* organizatio*
#   university: missed by universi* universit*
#   running: missed by runn* runni* runnin*
#   without porter: none missed
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check apsw==3.54.1.0

cat > call.py <<'PY'
import apsw
WORDS = ("generalization", "organization", "university", "running")
def missed(tokenizer, word):
    db = apsw.Connection(":memory:")
    db.execute(f"create virtual table notes using fts5(text, tokenize='{tokenizer}')")
    db.execute("insert into notes values (?)", (word,))
    prefixes = [f"{word[:length]}*" for length in range(2, len(word) + 1)]
    return [one for one in prefixes if not list(db.execute("select 1 from notes where notes match ?", (one,)))]
for word in WORDS:
    print(f"{word}: missed by", *missed("porter unicode61", word))
assert not any(missed("unicode61", word) for word in WORDS)
print("without porter: none missed")
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
