#!/usr/bin/env bash
# tantivy 0.27.0 (the Python package)
#
# Notes are indexed in a text field of the default kind and searched for a commit id, which has 40 characters.
#
# Expected: the note with the id is found; if the index does not hold such words, a query that demands one finds nothing
# (as a query for a word that no note has), or is refused.
# Seen: the default tokenizer drops words from 40 bytes on, in the notes and in the query. So "+revert +ID" is the query
# "+revert" and finds every revert, "revert -ID" leaves nothing out, and the id alone finds nothing. Neither the schema's
# help nor `parse_query_lenient`, which lists errors, says so. Ids of 39 characters would do.
#
# Why it matters: a demanded word is the strictest thing one can ask for, and the answer holds notes without it. SHA-256
# sums, long keys and long compound words go the same way.
#
# Output seen:
#   ID alone: []
#   +revert +absent: []
#   +revert +ID: ['revert of ID', 'revert of something else']
#   revert -ID: ['revert of ID', 'revert of something else']
#   errors: []
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check tantivy==0.27.0

cat > call.py <<'PY'
import tantivy
commit = "9fceb02d0ae598e95dc970b74767f19372d61af8"
schema = tantivy.SchemaBuilder()
schema.add_text_field("text", stored=True)
index = tantivy.Index(schema.build())
writer = index.writer(15_000_000, 1)
for text in (f"revert of {commit}", "revert of something else"):
    writer.add_document(tantivy.Document(text=text))
writer.commit()
writer.wait_merging_threads()
index.reload()
searcher = index.searcher()
def found(query):
    hits = searcher.search(index.parse_query(query, ["text"]), 10).hits
    return sorted(searcher.doc(address)["text"][0].replace(commit, "ID") for _, address in hits)
print("ID alone:", found(commit))
print("+revert +absent:", found("+revert +absent"))
print("+revert +ID:", found(f"+revert +{commit}"))
print("revert -ID:", found(f"revert -{commit}"))
print("errors:", index.parse_query_lenient(f"+revert +{commit}", ["text"])[1])
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
