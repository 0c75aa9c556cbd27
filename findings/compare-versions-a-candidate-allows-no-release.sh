#!/usr/bin/env bash
# compare-versions 6.1.1 (semver 7.8.6, npm's own, beside it)
#
# A range is tested by `satisfies`, "compatible with npm package versioning". What is wanted is the second major version, from its release candidate on.
#
# Expected: ^2.0.0-rc.0 takes 2.0.0 and 2.4.1, as it does for npm.
# Seen: it takes candidates of 2.0.0 alone, and neither 2.0.0 nor what comes after it. With a tilde it is the same. With >=2.0.0-rc.0 it is right, so the
# order of versions is known. ">1" takes 1.2.3 and "1" does not: a number without the rest is
# filled up with zeros, where npm reads "any of these". The README speaks of ranges as npm has them and names no exception.
#
# Why it matters: an update check that asked for the candidate finds the release too old.
#
# Output seen:
#   ^2.0.0-rc.0 of 2.0.0-rc.1 2.0.0 2.0.1 2.4.1: compare-versions 2.0.0-rc.1 | npm 2.0.0-rc.1 2.0.0 2.0.1 2.4.1
#   ~2.0.0-rc.0 of 2.0.0 2.0.1: compare-versions none | npm 2.0.0 2.0.1
#   >=2.0.0-rc.0 of 2.0.0 2.4.1: compare-versions 2.0.0 2.4.1 | npm 2.0.0 2.4.1
#   ^2.0.0 of 2.0.0 2.4.1: compare-versions 2.0.0 2.4.1 | npm 2.0.0 2.4.1
#   >1 of 1.2.3 2.0.0: compare-versions 1.2.3 2.0.0 | npm 2.0.0
#   1 of 1.0.0 1.2.3: compare-versions 1.0.0 | npm 1.0.0 1.2.3
#   <=1.2 of 1.2.0 1.2.3: compare-versions 1.2.0 | npm 1.2.0 1.2.3
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit compare-versions@6.1.1 semver@7.8.6 >/dev/null 2>&1

cat > test.mjs <<'JS'
import { satisfies } from "compare-versions";
import semver from "semver";

const pairs = [
  ["^2.0.0-rc.0", ["2.0.0-rc.1", "2.0.0", "2.0.1", "2.4.1"]], ["~2.0.0-rc.0", ["2.0.0", "2.0.1"]], [">=2.0.0-rc.0", ["2.0.0", "2.4.1"]],
  ["^2.0.0", ["2.0.0", "2.4.1"]], [">1", ["1.2.3", "2.0.0"]], ["1", ["1.0.0", "1.2.3"]], ["<=1.2", ["1.2.0", "1.2.3"]],
];
for (const [range, versions] of pairs) {
  const taken = (test) => versions.filter((version) => test(version, range)).join(" ") || "none";
  console.log(`${range} of ${versions.join(" ")}: compare-versions ${taken(satisfies)} | npm ${taken(semver.satisfies)}`);
}
JS
node test.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
