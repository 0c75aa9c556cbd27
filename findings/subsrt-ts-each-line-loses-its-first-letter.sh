#!/usr/bin/env bash
# subsrt-ts 2.1.2 (pysubs2 1.8.1 writes the file)
#
# Subtitles in the format ASS, written by another program or by the same package, are parsed, or become WebVTT by `convert`.
#
# Expected: the words that were written, as from the same subtitles in SRT.
# Seen: of each cue the first character is gone, since a space is expected in front of it: "I won" is " won", "-5 degrees" is
# "5 degrees", "1500 euros" are 500, and of a cue in italics the mark is broken and stays in the text. Its own files in ASS and SSA
# are read in the same way. Nothing is raised.
#
# Why it matters: a subtitle that lost a letter is seen, an amount that lost its first digit or its sign is not.
#
# Output seen:
#   Dialogue: 0,0:00:02.00,0:00:03.50,Default,,0,0,0,,1500 euros
#   srt ["I won","1500 euros","-5 degrees","No, never"]
#   ass [" won","500 euros","5 degrees","\\i1}No, never"]
#   srt to vtt, read again ["I won","1500 euros","-5 degrees","No, never"]
#   srt to ass, read again [" won","500 euros","5 degrees","o, never"]
#   srt to ssa, read again [" won","500 euros","5 degrees","o, never"]
#   ass to vtt, read again [" won","500 euros","5 degrees","\\i1}No, never"]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pysubs2==1.8.1 2>/dev/null
npm install --silent --no-fund --no-audit subsrt-ts@2.1.2 >/dev/null 2>&1

cat > write.py <<'PY'
import pysubs2
subtitles = pysubs2.SSAFile()
for number, text in enumerate(("I won", "1500 euros", "-5 degrees", "{\\i1}No{\\i0}, never")):
    subtitles.append(pysubs2.SSAEvent(start=2000 * number, end=2000 * number + 1500, text=text))
subtitles.save("film.ass")
subtitles.save("film.srt")
PY
venv/bin/python write.py
grep Dialogue film.ass > written
cat > read.mjs <<'JS'
import { readFileSync } from "node:fs";
import subsrt from "subsrt-ts";
const words = (text, format) => JSON.stringify(subsrt.parse(text, { format }).filter((cue) => cue.text !== undefined).map((cue) => cue.text));
const [ass, srt] = ["film.ass", "film.srt"].map((name) => readFileSync(name, "utf8"));
console.log(readFileSync("written", "utf8").split("\n")[1]);
console.log("srt", words(srt, "srt"));
console.log("ass", words(ass, "ass"));
for (const format of ["vtt", "ass", "ssa"]) console.log(`srt to ${format}, read again`, words(subsrt.convert(srt, { to: format }), format));
console.log("ass to vtt, read again", words(subsrt.convert(ass, { to: "vtt" }), "vtt"));
JS
node read.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
