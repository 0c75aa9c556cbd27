#!/usr/bin/env bash
# chromadb 1.5.9 (qdrant-client 1.20.0 beside it)
#
# Notes are kept in step with their source by `upsert`: the id names the note, and its metadata are what the source says now. A note
# was a draft until Friday, due to Anna; now it is published, and the source has neither a date nor a person for it.
#
# Expected: the metadata that were given, as a new record gets them.
# Seen: they are laid over the old ones. Fields that the source no longer has stay, as does the text when the note has none any
# more, and filters find the note by them. Only a field that is given as None goes away, for which a program would have to know what
# was there before. The same call on an empty collection keeps what it was given. Qdrant's `upsert` replaces the record.
#
# Why it matters: two indexes of one source answer a filter differently, by their history. "Everything that is due to Anna" finds
# what has not been hers for long, and so does a rule on who may see a note.
#
# Output seen:
#   old-notes: {'person': 'Anna', 'state': 'published', 'until': 'Friday'}, 'Not yet.'; due to Anna: ['1']
#   new-notes: {'state': 'published'}, None; due to Anna: []
#   qdrant: {'state': 'published'}
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check chromadb==1.5.9 qdrant-client==1.20.0 2>/dev/null

cat > keep.py <<'PY'
import chromadb
from qdrant_client import QdrantClient, models
then = {"state": "draft", "until": "Friday", "person": "Anna"}
now = {"state": "published"}
chroma = chromadb.EphemeralClient()
old = chroma.create_collection("old-notes", embedding_function=None)
old.upsert(ids=["1"], embeddings=[[1.0, 0.0]], metadatas=[then], documents=["Not yet."])
new = chroma.create_collection("new-notes", embedding_function=None)
for notes in (old, new):
    notes.upsert(ids=["1"], embeddings=[[1.0, 0.0]], metadatas=[now])
    kept = notes.get(ids=["1"])
    found = notes.get(where={"person": "Anna"})["ids"]
    print(f"{notes.name}: {dict(sorted(kept['metadatas'][0].items()))}, {kept['documents'][0]!r}; due to Anna: {found}")
qdrant = QdrantClient(":memory:")
qdrant.create_collection("notes", vectors_config=models.VectorParams(size=2, distance=models.Distance.COSINE))
for fields in (then, now):
    qdrant.upsert("notes", [models.PointStruct(id=1, vector=[1.0, 0.0], payload=fields)])
print("qdrant:", qdrant.retrieve("notes", [1])[0].payload)
PY
venv/bin/python keep.py 2>said | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
