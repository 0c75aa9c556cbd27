#!/usr/bin/env bash
# mingo 7.2.7
#
# Orders are counted by their amount with MongoDB's `$bucket`: from 0, from 10, from 20. The package is "MongoDB query language for in-memory objects".
#
# Expected: MongoDB's manual says that the lower end of a bucket belongs to it and the upper one does not, so 10 is counted from 10 on, and 20, the last
# end, is in none. Buckets without an order are not in the result.
# Seen: each amount that is equal to a boundary is counted in the bucket below it, but for the first. Only the last one is as in MongoDB, by the
# default. Empty buckets are given with a count of 0. Nothing in the package's README says so.
#
# Why it matters: prices, ages and limits are round numbers and so are the boundaries. Counts and sums of each bucket are wrong, and their total is right.
#
# Output seen:
#   amounts 0,9,11,19 -> 0: [0,9], 10: [11,19]
#   amounts 0,10 -> 0: [0,10], 10: []
#   amounts 10 -> 0: [10], 10: []
#   amounts 9.99,10,10.01,20 -> 0: [9.99,10], 10: [10.01], else: [20]
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit mingo@7.2.7 >/dev/null 2>&1

cat > count.mjs <<'JS'
import { aggregate } from "mingo";

const count = (amounts) => {
  const stage = { $bucket: { groupBy: "$amount", boundaries: [0, 10, 20], default: "else", output: { amounts: { $push: "$amount" } } } };
  const buckets = aggregate(amounts.map((amount) => ({ amount })), [stage]);
  return buckets.map((bucket) => `${bucket._id}: [${bucket.amounts}]`).join(", ");
};
for (const amounts of [[0, 9, 11, 19], [0, 10], [10], [9.99, 10, 10.01, 20]]) console.log(`amounts ${amounts} -> ${count(amounts)}`);
JS
node count.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
