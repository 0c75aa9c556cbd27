#!/usr/bin/env bash
# semantic-version 2.10.0 (Python), semver 7.8.6 (npm's own) beside it
#
# Ranges of package.json are read in Python by `NpmSpec`, made for "NPM's semver range format". Released are 1.9.0, 2.0.0-rc.1 and 2.0.0; what is wanted
# stays below 2.
#
# Expected: 1.9.0. npm's rule: a version with a prerelease counts only where a part of the range names a prerelease of the same three numbers.
# Seen: with "<2", "<2.0.0" and "<=1" the candidate of version 2 is taken, and it is the best that `select` finds. With a lower end beside it
# (">=1.2 <2") and with "^1" it is left out.
#
# Why it matters: an upper end is there to keep the next major version out.
#
# Output seen:
#   NpmSpec <2: 2.0.0-rc.1
#   NpmSpec <2.0.0: 2.0.0-rc.1
#   NpmSpec <=1: 2.0.0-rc.1
#   NpmSpec 1.x || <2.0.0: 2.0.0-rc.1
#   NpmSpec >=1.2 <2: 1.9.0
#   NpmSpec ^1: 1.9.0
#   npm <2: 1.9.0
#   npm <2.0.0: 1.9.0
#   npm <=1: 1.9.0
#   npm 1.x || <2.0.0: 1.9.0
#   npm >=1.2 <2: 1.9.0
#   npm ^1: 1.9.0
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check semantic-version==2.10.0 2>/dev/null
npm install --silent --no-fund --no-audit semver@7.8.6 >/dev/null 2>&1

cat > choose.py <<'PY'
import json
import sys
from semantic_version import NpmSpec, Version

releases, ranges = json.loads(sys.argv[1])
for text in ranges:
    print(f"NpmSpec {text}: {NpmSpec(text).select([Version(release) for release in releases])}")
PY
cat > choose.mjs <<'JS'
import semver from "semver";
const [releases, ranges] = JSON.parse(process.argv[2]);
for (const range of ranges) console.log(`npm ${range}: ${semver.maxSatisfying(releases, range)}`);
JS
asked='[["1.9.0", "2.0.0-rc.1", "2.0.0"], ["<2", "<2.0.0", "<=1", "1.x || <2.0.0", ">=1.2 <2", "^1"]]'
{ venv/bin/python choose.py "$asked"; node choose.mjs "$asked"; } | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
