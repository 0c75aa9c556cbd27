#!/usr/bin/env bash
# json-diff-ts 4.10.4 (jsondiffpatch 0.7.7 beside it)
#
# Changes of a document are kept as `diff(before, after)`, so that each can be taken back with `revertChangeset`: the package's own use. A list gets
# two or more items at its end.
#
# Expected: the list as it was.
# Seen: every second new item stays. The new items are taken out from the first to the last, by the place they had, while the rest moves up. With one
# new item, as in the README and in most tests, it is right, and applying the changes is right too. Nothing is raised or logged.
#
# Why it matters: an undo leaves lines of an order that nobody ordered.
#
# Output seen:
#   [tea] to [tea,milk]: applied [tea,milk], taken back [tea], by jsondiffpatch [tea]
#   [tea] to [tea,milk,rice]: applied [tea,milk,rice], taken back [tea,rice], by jsondiffpatch [tea]
#   [] to [1,2,3,4]: applied [1,2,3,4], taken back [2,4], by jsondiffpatch []
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit json-diff-ts@4.10.4 jsondiffpatch@0.7.7 >/dev/null 2>&1

cat > undo.mjs <<'JS'
import { applyChangeset, diff, revertChangeset } from "json-diff-ts";
import * as other from "jsondiffpatch";

const order = (...items) => ({ items });
for (const [before, after] of [[order("tea"), order("tea", "milk")], [order("tea"), order("tea", "milk", "rice")], [order(), order(1, 2, 3, 4)]]) {
  const changes = diff(before, after);
  const forward = applyChangeset(structuredClone(before), changes).items;
  const back = revertChangeset(structuredClone(after), changes).items;
  const right = other.unpatch(structuredClone(after), other.diff(before, after)).items;
  console.log(`[${before.items}] to [${after.items}]: applied [${forward}], taken back [${back}], by jsondiffpatch [${right}]`);
}
JS
node undo.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
