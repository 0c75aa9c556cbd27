#!/usr/bin/env bash
# ccusage 20.0.24 (its binary for Linux on x86-64; with Node 20)
#
# A session of Claude Code was written again by a program that took a word out of it. Its lines are the same JSON, but with a blank behind each
# colon, as Python's json.dumps writes it. What did the session cost?
#
# Expected: the same as before, for both are the same JSON Lines.
# Seen: a line counts only if certain keys stand in it byte by byte with no blank behind the colon. The session has no tokens and cost nothing, it
# is missing in the list of days, and nothing is said. A blank behind commas only, another order of keys, or CRLF does no harm.
#
# Output seen:
#   as written: 23410 tokens, 0.0763 dollars
#   blank behind commas: 23410 tokens, 0.0763 dollars
#   blank behind colons: 0 tokens, 0.0000 dollars
#   by json.dumps: 0 tokens, 0.0000 dollars
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit ccusage@20.0.24 @ccusage/ccusage-linux-x64@20.0.24 >/dev/null 2>&1

cat > call.py <<'PY'
import json, os, pathlib, subprocess

ROW = {
    "type": "assistant", "sessionId": "0b7a4c1e-1111-4222-8333-444455556666", "version": "2.1.300", "cwd": "/project",
    "timestamp": "2026-11-20T10:00:00.000Z", "uuid": "9e0d", "parentUuid": None, "requestId": "req_1",
    "message": {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-4-5-20251101",
        "content": [{"type": "text", "text": "Done."}],
        "usage": {
            "input_tokens": 10, "cache_creation_input_tokens": 1000, "cache_read_input_tokens": 20000, "output_tokens": 2400,
        },
    },
}
folder = pathlib.Path("home/projects/-project")
folder.mkdir(parents=True)
for name, separators in (
    ("as written", (",", ":")), ("blank behind commas", (", ", ":")), ("blank behind colons", (",", ": ")), ("by json.dumps", None),
):
    (folder / f"{ROW['sessionId']}.jsonl").write_text(json.dumps(ROW, separators=separators) + "\n")
    command = ["node_modules/.bin/ccusage", "claude", "daily", "--json", "--offline"]
    said = subprocess.run(command, env=os.environ | {"CLAUDE_CONFIG_DIR": os.path.abspath("home")}, capture_output=True, text=True)
    totals = json.loads(said.stdout)["totals"]
    print(f"{name}: {totals['totalTokens']} tokens, {abs(totals['totalCost']):.4f} dollars")
PY
python3 call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
