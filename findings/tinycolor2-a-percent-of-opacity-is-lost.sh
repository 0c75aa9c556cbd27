#!/usr/bin/env bash
# tinycolor2 1.6.0 (culori 4.0.2 and colorjs.io 0.7.1 beside it)
#
# Colours of a theme, as a browser reads them: an opacity as a share, rgba(255, 0, 0, 50%), and the newer form with a slash, rgb(255 0 0 / 0.5).
#
# Expected: half transparent, as a browser and the others have it, or `isValid()` false, which the package gives for what it does not know. Its README
# takes "0-1, 0%-100%" for most input.
# Seen: the colour is valid and opaque: the part that is not understood is left out. rgb(255 0 0 / 0), which nobody sees, is full red. With .5 behind a comma it is
# right.
#
# Why it matters: shadows and overlays cover what is below, and `isReadable` and `toHex8String` go on from there.
#
# Output seen:
#   rgba(255, 0, 0, .5): tinycolor2 #ff000080 valid true, culori #ff000080, colorjs 0.5
#   rgba(255, 0, 0, 50%): tinycolor2 #ff0000ff valid true, culori #ff000080, colorjs 0.5
#   rgb(255 0 0 / 0.5): tinycolor2 #ff0000ff valid true, culori #ff000080, colorjs 0.5
#   rgb(255 0 0 / 50%): tinycolor2 #ff0000ff valid true, culori #ff000080, colorjs 0.5
#   hsla(0, 100%, 50%, 25%): tinycolor2 #ff0000ff valid true, culori #ff000040, colorjs 0.25
#   rgb(255 0 0 / 0): tinycolor2 #ff0000ff valid true, culori #ff000000, colorjs 0
#   no colour: false
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit tinycolor2@1.6.0 culori@4.0.2 colorjs.io@0.7.1 >/dev/null 2>&1

cat > colour.mjs <<'JS'
import Color from "colorjs.io";
import { formatHex8 } from "culori";
import tinycolor from "tinycolor2";

for (const text of ["rgba(255, 0, 0, .5)", "rgba(255, 0, 0, 50%)", "rgb(255 0 0 / 0.5)", "rgb(255 0 0 / 50%)", "hsla(0, 100%, 50%, 25%)", "rgb(255 0 0 / 0)"]) {
  const colour = tinycolor(text);
  console.log(`${text}: tinycolor2 ${colour.toHex8String()} valid ${colour.isValid()}, culori ${formatHex8(text)}, colorjs ${new Color(text).alpha}`);
}
console.log("no colour:", tinycolor("rgb(a b c)").isValid());
JS
node colour.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
