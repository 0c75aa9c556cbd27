#!/usr/bin/env bash
# repomix 1.18.1 (with Node 20)
#
# A repository is packed for a model with --remove-comments, to save tokens.
#
# Expected: the comments are gone and the code is the same.
# Seen: what looks like the beginning of a comment ends the line also where the language has none: in an address of CSS without quotes, in
# an expression of JavaScript, behind a "#" in a Python f-string, in Ruby's lists of words. PHP's attributes go
# whole, and so do lines of its and of Kotlin's long texts that begin with "//". Rules and brackets stay open.
#
# Why it matters: a model gets files that never parsed, and is asked what is wrong with them.
#
# Output seen:
#   a.css: p { background: url(http:
#   a.js: const open = s.split(/[
#   a.kt: val text = """||"""
#   a.php: <?php||function old(): void {}
#   a.py: return f"{name}
#   a.rb: signs = %w(
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit repomix@1.18.1 >/dev/null 2>&1

mkdir code
printf 'p { background: url(http://example.com/paper.png); color: black; }\n' > code/a.css
printf 'const open = s.split(/[/*]/);\n' > code/a.js
printf 'val text = """\n// kept in the text\n"""\n' > code/a.kt
printf '<?php\n#[Deprecated]\nfunction old(): void {}\n' > code/a.php
printf 'return f"{name}#{part}"\n' > code/a.py
printf 'signs = %%w(# a b)\n' > code/a.rb
node_modules/.bin/repomix --remove-comments --style json --quiet --no-security-check -o packed.json code >/dev/null 2>&1
node -e '
const files = JSON.parse(require("fs").readFileSync("packed.json", "utf8")).files;
for (const name of Object.keys(files).sort()) console.log(name + ": " + files[name].trim().split(/\n+/).join("||"));
' | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
