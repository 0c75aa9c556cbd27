#!/usr/bin/env bash
# gray-matter 4.0.3
#
# Pages with front matter are read, and a program adds a tag to one of them or sets its title before it writes it elsewhere.
#
# Expected: the next file that is read has what stands in it.
# Seen: what was read is kept by its text, without a limit, and the next file with the same text gets the same `data`, with what was
# changed in it since. Two new pages made from one template share their tags; a page that is read anew, after it was put back as it was, has
# the change. With any options, also empty ones, nothing is kept. The manual of the package does not name it.
#
# Why it matters: the file is right and what is shown, indexed or written is not, until the program is started anew.
#
# Output seen:
#   a.md changed {"title":"Salaries","tags":["idea","secret"]}
#   b.md read {"title":"Salaries","tags":["idea","secret"]}
#   b.md read with {} {"title":"New page","tags":["idea"]}
#   b.md written again "---\ntitle: Salaries\ntags:\n  - idea\n  - secret\n---\n\n"
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit gray-matter@4.0.3 >/dev/null 2>&1

cat > read.mjs <<'JS'
import { readFileSync, writeFileSync } from "node:fs";
import matter from "gray-matter";
for (const name of ["a.md", "b.md"]) writeFileSync(name, "---\ntitle: New page\ntags: [idea]\n---\n");
const read = (name, ...options) => matter(readFileSync(name, "utf8"), ...options);
const first = read("a.md");
first.data.title = "Salaries";
first.data.tags.push("secret");
console.log("a.md changed", JSON.stringify(first.data));
console.log("b.md read", JSON.stringify(read("b.md").data));
console.log("b.md read with {}", JSON.stringify(read("b.md", {}).data));
console.log("b.md written again", JSON.stringify(matter.stringify("", read("b.md").data)));
JS
node read.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
