#!/usr/bin/env bash
# chonkie 1.7.0
#
# A document is cut by `TokenChunker` with the tokenizer "word", and each chunk's `start_index` and `end_index`, "the
# starting index of the chunk in the original text", are kept to quote or to highlight the place.
#
# Expected: text[chunk.start_index:chunk.end_index] is the chunk's text, as it is with the tokenizer "character" and with
# `SentenceChunker` and `RecursiveChunker` for the same words.
# Seen: the space between two chunks belongs to neither, and is not counted. Positions are right in the first chunk and
# off by one more in each after it: 99 characters at the hundredth. With an overlap between the chunks they are right.
#
# Why it matters: a test with one or two chunks passes or is off by a space; in a long document the citation points
# at other words, farther off the longer the document is, and the chunks put together lose a space at each seam.
#
# Output seen:
#   TokenChunker word: 100 chunks, whole text False, the last is 99 characters off
#   TokenChunker word, overlap: the last is 0 characters off
#   SentenceChunker word: whole text True, the last is 0 characters off
#   RecursiveChunker word: the last is 0 characters off
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check chonkie==1.7.0

cat > call.py <<'PY'
import chonkie
text = " ".join(f"Line {number} holds exactly eight words of text." for number in range(100))
def shown(chunker, *what):
    chunks = chunker.chunk(text)
    last = chunks[-1]
    facts = {
        "count": f"{len(chunks)} chunks",
        "whole": f"whole text {''.join(chunk.text for chunk in chunks) == text}",
        "off": f"the last is {text.rindex(last.text) - last.start_index} characters off",
    }
    return ", ".join(facts[name] for name in what)
word = {"tokenizer": "word", "chunk_size": 8}
print("TokenChunker word:", shown(chonkie.TokenChunker(**word), "count", "whole", "off"))
print("TokenChunker word, overlap:", shown(chonkie.TokenChunker(**word, chunk_overlap=2), "off"))
print("SentenceChunker word:", shown(chonkie.SentenceChunker(**word), "whole", "off"))
print("RecursiveChunker word:", shown(chonkie.RecursiveChunker(**word), "off"))
PY
venv/bin/python call.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
