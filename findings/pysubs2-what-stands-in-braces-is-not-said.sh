#!/usr/bin/env bash
# pysubs2 1.8.1 (srt 3.5.3 beside it)
#
# Subtitles of a lecture in SRT are moved by two seconds and written again as SRT. They name a set, {1, 2}, and a folder, C:\New.
#
# Expected: the same words, two seconds later: SRT has no braces and no backslashes of its own.
# Seen: the text goes through the format ASS, in which braces hold commands and \N is a new line. What stands in braces is gone, the set with its numbers and a
# remark {laughs}, and the folder becomes "C:" and, a line below, "ew". Reading and writing are both silent. There is an option for the first
# (`keep_ssa_tags`), described as being for tags of ASS in SRT; with it the folder is still cut.
#
# Why it matters: lectures on mathematics and programs are full of both. To see it one must listen.
#
# Output seen:
#   'If x is in {1, 2}, stop.': pysubs2 'If x is in , stop.', keeping tags 'If x is in {1, 2}, stop.', srt 'If x is in {1, 2}, stop.'
#   'Open the folder C:\\New now.': pysubs2 'Open the folder C:\new now.', keeping tags 'Open the folder C:\new now.', srt 'Open the folder C:\\New now.'
#   'He {laughs} agrees.': pysubs2 'He  agrees.', keeping tags 'He {laughs} agrees.', srt 'He {laughs} agrees.'
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pysubs2==1.8.1 srt==3.5.3 2>/dev/null

cat > move.py <<'PY'
import datetime, pysubs2, srt
lines = ("If x is in {1, 2}, stop.", "Open the folder C:\\New now.", "He {laughs} agrees.")
text = "".join(f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{line}\n\n" for n, line in enumerate(lines, 1))
moved = pysubs2.SSAFile.from_string(text, format_="srt")
moved.shift(s=2)
kept = list(srt.parse(moved.to_string("srt", keep_ssa_tags=True)))
for line, new, kept, right in zip(lines, srt.parse(moved.to_string("srt")), kept, srt.parse(text)):
    print(f"{line!r}: pysubs2 {new.content!r}, keeping tags {kept.content!r}, srt {right.content!r}")
PY
venv/bin/python move.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
