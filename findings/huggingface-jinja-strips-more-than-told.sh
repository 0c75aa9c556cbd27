#!/usr/bin/env bash
# @huggingface/jinja 0.5.11 (JavaScript), jinja2 3.1.6 (Python)
#
# The chat templates of reasoning models cut the blank lines behind the thoughts with content.lstrip('\n') or strip('\n'),
# so that only line breaks go. Python renders them with jinja2, programs in JavaScript with this package, which is made
# for chat templates.
#
# Expected: the same prompt from the same template and messages.
# Seen: the package takes the argument and does not look at it: all white space goes. Code that begins the message loses
# the indentation of its first line, and any other set of characters (strip('*')) is not stripped at all.
#
# Why it matters: the model reads other code than the one that was written, and other tokens than in training; caches of
# prompts that a Python server filled are missed. No error: the template "works" in both.
#
# Output seen:
#   jinja2: '    return x\n' '    return x' 'bold'
#   @huggingface/jinja: 'return x\n' 'return x' '**bold**'
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check jinja2==3.1.6
npm install --silent --no-audit --no-fund @huggingface/jinja@0.5.11

cat > templates.json <<'JSON'
["{{ content.lstrip('\\n') }}", "{{ content.strip('\\n') }}", "{{ '**bold**'.strip('*') }}"]
JSON
cat > call.mjs <<'JS'
import fs from "node:fs";
import { Template } from "@huggingface/jinja";
const templates = JSON.parse(fs.readFileSync("templates.json"));
console.log(JSON.stringify(templates.map((text) => new Template(text).render({ content: "\n\n    return x\n" }))));
JS
cat > call.py <<'PY'
import json, subprocess
import jinja2
with open("templates.json") as file:
    templates = json.load(file)
environment = jinja2.Environment()
here = [environment.from_string(text).render(content="\n\n    return x\n") for text in templates]
there = json.loads(subprocess.run(["node", "call.mjs"], check=True, capture_output=True).stdout)
print("jinja2:", *map(repr, here))
print("@huggingface/jinja:", *map(repr, there))
PY
venv/bin/python call.py | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
