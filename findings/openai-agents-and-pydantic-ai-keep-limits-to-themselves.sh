#!/usr/bin/env bash
# openai-agents 0.24.0, pydantic-ai-slim 2.68.0 (langchain-core 1.8.3 beside them)
#
# A function becomes a tool, and its docstring tells the model what to keep to: "Limits:", "Warning:", "Note:" or a plain sentence below
# the arguments. Both packages say that the description of the tool is taken from the docstring.
#
# Expected: the model gets these words, in the description or beside the argument, or there is an error.
# Seen: what comes before the first heading is the description, the lines below "Args:" describe the arguments, and the rest is
# dropped. A heading is any word with a colon at its end whose text is set in, also one that is none in any style of docstrings
# ("Limits:"), which langchain keeps. All three drop what stands below the arguments. "Note: never …" on one line is kept.
#
# Why it matters: the rule is in the code, a reviewer reads it there, and the model was never told. Tools are tried by whether they
# are called, and that works.
#
# Output seen:
#   a sentence above: openai-agents tells, pydantic-ai tells, langchain tells
#   Note: in one line: openai-agents tells, pydantic-ai tells, langchain tells
#   Limits:: openai-agents is silent, pydantic-ai is silent, langchain tells
#   Warning:: openai-agents is silent, pydantic-ai is silent, langchain is silent
#   a sentence below: openai-agents is silent, pydantic-ai is silent, langchain is silent
set -eu
script=$(realpath "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check openai-agents==0.24.0 pydantic-ai-slim==2.68.0 langchain-core==1.8.3 2>/dev/null

cat > tell.py <<'PY'
from agents import function_tool
from langchain_core.tools import tool
from pydantic_ai import Tool
ARGUMENTS = "Args:\n    cents: The amount.\n"
texts = {
    "a sentence above": f"Pays.\n\nNever pay more than 100.\n\n{ARGUMENTS}",
    "Note: in one line": f"Pays.\n\nNote: never pay more than 100.\n\n{ARGUMENTS}",
    "Limits:": f"Pays.\n\nLimits:\n    Never pay more than 100.\n\n{ARGUMENTS}",
    "Warning:": f"Pays.\n\n{ARGUMENTS}\nWarning:\n    Never pay more than 100.\n",
    "a sentence below": f"Pays.\n\n{ARGUMENTS}\nNever pay more than 100.\n",
}
for name, text in texts.items():
    def pay(cents: int) -> str:
        return "paid"
    pay.__doc__ = text
    openai = function_tool(pay)
    pydantic = Tool(pay).tool_def
    lang = tool(pay, parse_docstring=True)
    told = {
        "openai-agents": f"{openai.description} {openai.params_json_schema}",
        "pydantic-ai": f"{pydantic.description} {pydantic.parameters_json_schema}",
        "langchain": f"{lang.description} {lang.args}",
    }
    for words in told.values():
        assert "The amount." in words
    print(f"{name}: " + ", ".join(f"{package} {'tells' if 'ever pay more' in words else 'is silent'}" for package, words in told.items()))
PY
venv/bin/python tell.py 2>/dev/null | tee seen
diff <(sed -n 's/^#   //p' "$script") seen
