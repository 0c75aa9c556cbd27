#!/usr/bin/env bash
# dogpile.cache 1.5.0, cashews 7.6.0
#
# Functions are cached by their arguments, by `cache_on_arguments()` and `cache(ttl=...)`, as the first page of each manual has it: a search for one or
# more words, a look-up by a number or by a text, or by nothing.
#
# Expected: calls that differ in their arguments have results of their own, as with functools' `cache`.
# Seen: the key of the cache is made of the arguments as text. For dogpile, which puts a blank between them, a search for "new" and "york" gets the answer
# to "new york", "1" that of 1, "None" that of None, and a text that of the list which it shows. For cashews "1" gets the answer to 1 and an empty
# text that of None. The first call decides. Neither manual says so; dogpile's tells how to set another function than `str` for arguments
# that text cannot hold.
#
# Why it matters: wrong answers, only while an entry lives, and only to calls that come second.
#
# Output seen:
#   ('new york',), then ('new', 'york'): dogpile the first answer, cashews right
#   (1, ''), then ('1', ''): dogpile the first answer, cashews the first answer
#   (None, ''), then ('None', ''): dogpile the first answer, cashews right
#   (None, ''), then ('', ''): dogpile right, cashews the first answer
#   (['x'], ''), then ("['x']", ''): dogpile the first answer, cashews right
#   (1, 2), then (2, 1): dogpile right, cashews right
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check dogpile.cache==1.5.0 cashews==7.6.0 2>/dev/null

cat > ask.py <<'PY'
import asyncio, functools
from cashews import Cache
from dogpile.cache import make_region
pairs = (
    (("new york",), ("new", "york")), ((1, ""), ("1", "")), ((None, ""), ("None", "")), ((None, ""), ("", "")), ((["x"], ""), ("['x']", "")),
    ((1, 2), (2, 1)),
)
async def answers(first, second):
    region = make_region().configure("dogpile.cache.memory")
    dogpile = region.cache_on_arguments()(lambda *words: words)
    cashews = Cache()
    cashews.setup("mem://")
    @cashews(ttl="1h")
    async def look(folder, name=""):
        return folder, name
    dogpile(*first)
    await look(*first)
    yield "dogpile", dogpile(*second) == second
    yield "cashews", await look(*second) == (*second, "")[:2]
async def main():
    for first, second in pairs:
        results = [f"{name} {'right' if right else 'the first answer'}" async for name, right in answers(first, second)]
        print(f"{first}, then {second}: {', '.join(results)}")
asyncio.run(main())
PY
venv/bin/python ask.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
