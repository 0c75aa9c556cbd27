#!/usr/bin/env bash
# pycaption 2.3.14 (srt 3.5.3 and pysrt 1.1.2 beside it)
#
# Subtitles in SRT, in which the second has a blank line between its two lines, as many programs and people write it.
#
# Expected: all four, as `srt` gives them, or without the line behind the blank, as `pysrt`, or an error.
# Seen: the second is cut and all that follow are gone. Nothing is raised or logged; the reader refuses a file with no captions, and
# takes this one. Written as WebVTT, the film has two of its four subtitles.
#
# Output seen:
#   srt: ['Good morning', 'First line\n\nSecond line', 'We meet at nine', 'The end']
#   pysrt: ['Good morning', 'First line', 'We meet at nine', 'The end']
#   pycaption: ['Good morning', 'First line']
#   as WebVTT: 2 of 4
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pycaption==2.3.14 srt==3.5.3 pysrt==1.1.2 2>/dev/null

cat > read.py <<'PY'
import pycaption, pysrt, srt

CUES = ("Good morning", "First line\n\nSecond line", "We meet at nine", "The end")
text = "".join(f"{n}\n00:0{n}:00,000 --> 00:0{n}:06,000\n{words}\n\n" for n, words in enumerate(CUES))
print("srt:", [cue.content for cue in srt.parse(text)])
print("pysrt:", [cue.text for cue in pysrt.from_string(text)])
found = pycaption.SRTReader().read(text)
print("pycaption:", [cue.get_text() for cue in found.get_captions("en-US")])
print("as WebVTT:", sum("-->" in line for line in pycaption.WebVTTWriter().write(found).splitlines()), "of", len(CUES))
PY
venv/bin/python -W ignore read.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
