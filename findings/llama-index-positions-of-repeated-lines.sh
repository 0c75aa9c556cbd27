#!/usr/bin/env bash
# llama-index-core 0.14.25
#
# A log is cut into pieces by `SentenceSplitter(chunk_overlap=0)`. Most of its lines are alike, as those of logs, tables and
# minutes are. Each piece carries `start_char_idx` and `end_char_idx`, its place in the document.
#
# Expected: the pieces lie one behind the other, and the last one ends where the document ends.
# Seen: a place is found by searching for the text of the piece, from one character behind the start of the piece before.
# Where the text occurs more than once the first hit wins, which lies inside the piece before. Every piece after that
# is placed too early as well, and the end of the document belongs to no piece.
#
# Why it matters: a citation or a mark made from the place shows another line than the one that was found. At such a place stands
# the very same text, so a check that compares the text passes.
#
# Output seen:
#   the document has 674 characters, its 4 pieces 670
#   places: [(0, 189), (190, 373), (357, 560), (374, 469)]
#   the text stands there: True
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check llama-index-core==0.14.25 2>/dev/null

cat > try.py <<'PY'
from llama_index.core import Document
from llama_index.core.node_parser import SentenceSplitter
text = "".join(f"{when:02}:00 pump on\n" if when in (0, 20) else "idle, valve shut\n" for when in range(40))
pieces = SentenceSplitter(chunk_size=60, chunk_overlap=0).get_nodes_from_documents([Document(text=text)])
print(f"the document has {len(text)} characters, its {len(pieces)} pieces {sum(len(piece.text) for piece in pieces)}")
print("places:", [(piece.start_char_idx, piece.end_char_idx) for piece in pieces])
print("the text stands there:", all(text[piece.start_char_idx : piece.end_char_idx] == piece.text for piece in pieces))
PY
venv/bin/python -W ignore try.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
