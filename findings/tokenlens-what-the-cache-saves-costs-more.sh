#!/usr/bin/env bash
# tokenlens 1.3.1
#
# A question of 1000 tokens to an OpenAI model, of which the vendor had 900 in its cache: the usage as the Vercel AI SDK gives it, for which
# the package "works great out of the box". There (and in OpenAI's API) the cached tokens are a part of the input.
#
# Expected: 100 tokens at the full price and 900 at that of the cache.
# Seen: all 1000 at the full price, and the 900 once more at that of the cache. The question that the cache made cheaper is dearer than one
# without a cache.
#
# Why it matters: budgets and bills by these figures are too high, the more so the better the cache works.
#
# Output seen:
#   cached 0 of 1000: input 1250, cache 0, total 1250 millionths of a dollar
#   cached 900 of 1000: input 1250, cache 117, total 1367 millionths of a dollar
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit tokenlens@1.3.1 >/dev/null 2>&1

cat > cost.mjs <<'JS'
import { estimateCost } from "tokenlens";

for (const usage of [
  { inputTokens: 1000, outputTokens: 0, totalTokens: 1000 },
  { inputTokens: 1000, outputTokens: 0, totalTokens: 1000, cachedInputTokens: 900 },
]) {
  const cost = estimateCost({ modelId: "openai:gpt-5", usage });
  const micro = (dollars) => Math.round((dollars ?? 0) * 1e7) / 10;
  console.log(`cached ${usage.cachedInputTokens ?? 0} of 1000: input ${micro(cost.inputUSD)}, cache ${micro(cost.cacheReadUSD)}, total ${micro(cost.totalUSD)} millionths of a dollar`);
}
JS
node cost.mjs | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
