#!/usr/bin/env bash
# llm 0.36
#
# A collection of notes is kept up to date with `collection.embed(id, text)`: the id names the note, the text is what it
# says now. Two notes come to say the same.
#
# Expected: each id is in the collection with its own text; equal texts at most share one embedding.
# Seen: a text that any id of the collection has is not stored again. The second note is not in the collection at all,
# and a note whose text changes to that of another keeps its old text and old embedding. `embed_multi`, in the same
# class, stores the second note, but where two notes change places both keep what they had.
#
# Why it matters: a search shows text that its note no longer says, and does not find notes that are there. The call
# returns None in every case, so nothing tells.
#
# Output seen:
#   embed, one text twice: {'a': 'open'}
#   embed, b now says what a says: {'a': 'open', 'b': 'closed'}
#   embed_multi, one text twice: {'a': 'open', 'b': 'open'}
#   embed_multi, a and b change places: {'a': 'open', 'b': 'closed'}
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check llm==0.36

cat > call.py <<'PY'
import llm, sqlite_utils
class Lengths(llm.EmbeddingModel):
    model_id = "lengths"
    def embed_batch(self, items):
        return [[float(len(item)), 1.0] for item in items]
def show(name, act):
    db = sqlite_utils.Database(memory=True)
    act(llm.Collection("notes", db, model=Lengths()))
    print(f"{name}:", {row["id"]: row["content"] for row in db["embeddings"].rows_where(order_by="id")})
def put(*notes):
    return lambda collection: [collection.embed(id, text, store=True) for id, text in notes]
def put_many(*batches):
    return lambda collection: [collection.embed_multi(batch, store=True) for batch in batches]
show("embed, one text twice", put(("a", "open"), ("b", "open")))
show("embed, b now says what a says", put(("a", "open"), ("b", "closed"), ("b", "open")))
show("embed_multi, one text twice", put_many([("a", "open"), ("b", "open")]))
show("embed_multi, a and b change places", put_many([("a", "open"), ("b", "closed")], [("a", "closed"), ("b", "open")]))
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
