"""A space of formats that nobody need have written: a word that tells of calls in any dress, and a call in any notation within.

Source: the dresses and notations of `families` and `spellings`, taken apart.
"""

from __future__ import annotations

import json
from typing import Any

Json = dict[str, Any]
NAME = "write_file"
GIVEN: Json = {
    "path": "src/a.py",
    "content": "x = {\"a\": [1, 2]}\nprint('it')",
    "lines": 3,
    "overwrite": True,
}
WORDS = ("tool_call", "function_call", "invoke")

DRESSES = {
    "tag": ("<{w}>", "</{w}>"),
    "tag-of-a-space": ("<ns:{w}>", "</ns:{w}>"),
    "tag-begin": ("<begin_{w}>", "<end_{w}>"),
    "pipes": ("<|{w}|>", "<|/{w}|>"),
    "pipes-begin": ("<|{w}_begin|>", "<|{w}_end|>"),
    "pipes-once": ("<|{w}|>", ""),
    "pipe-half": ("<|{w}>", "<{w}|>"),
    "pipes-wide": ("<｜{w}▁begin｜>", "<｜{w}▁end｜>"),
    "brackets": ("[{W}]", "[/{W}]"),
    "brackets-end": ("[{W}]", "[END_{W}]"),
    "brackets-small": ("[{w}]", "[/{w}]"),
    "brackets-twice": ("[[{W}]]", "[[/{W}]]"),
    "angles-twice": ("<<{W}>>", "<</{W}>>"),
    "angles-thrice": ("<<<{W}>>>", "<<<END_{W}>>>"),
    "braces": ("{{{{{w}}}}}", "{{{{/{w}}}}}"),
    "flowers": ("✿{W}✿", ""),
    "label": ("{w}:", ""),
    "bold": ("**{T}:**", ""),
    "heading": ("### {T}\n", ""),
    "at": ("@{w}", ""),
    "fence": ("```{w}\n", "\n```"),
}


def raw(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def each(form: str, between: str = "\n") -> str:
    """All parameters in a form of a key `k`, a value `v`, and that as JSON, `j`."""
    return between.join(form.format(k=key, v=raw(one), j=json.dumps(one)) for key, one in GIVEN.items())


def named(name: str = "name", arguments: str = "arguments") -> Json:
    return {name: NAME, arguments: GIVEN}


_ALL = json.dumps(GIVEN)
_PYTHON = f"{NAME}({', '.join(f'{key}={one!r}' for key, one in GIVEN.items())})"
_ELEMENTS = each("<{k}>{v}</{k}>")
_CODER = each("<parameter={k}>\n{v}\n</parameter>")
_PARAMETERS = each('<parameter name="{k}">{v}</parameter>')
_PAIRS = each("<arg_key>{k}</arg_key>\n<arg_value>{v}</arg_value>")
_OPENAI = {"id": "c", "type": "function", "function": {**named(), "arguments": _ALL}}
NOTATIONS = {
    "json": json.dumps(named()),
    "json-over-lines": f"\n{json.dumps(named(), indent=2)}\n",
    "json-of-other-keys": json.dumps(named("tool", "parameters")),
    "json-twice": json.dumps({**named(), "arguments": _ALL}),
    "json-in-a-list": json.dumps([named()]),
    "json-of-openai": json.dumps(_OPENAI),
    "json-under-its-name": json.dumps({NAME: GIVEN}),
    "json-in-a-fence": f"\n```json\n{json.dumps(named(), indent=2)}\n```\n",
    "name-and-json": f"{NAME}{_ALL}",
    "name-line-json": f"\n{NAME}\n{_ALL}\n",
    "name-colon-json": f"{NAME}: {_ALL}",
    "name-of-kimi": f"functions.{NAME}:0 {_ALL}",
    "name-token-json": f"{NAME}<|arguments|>{_ALL}",
    "elements-json": f"<name>{NAME}</name><arguments>{_ALL}</arguments>",
    "lines-json": f"\ntool: {NAME}\nargs: {_ALL}\n",
    "python": _PYTHON,
    "python-in-a-list": f"[{_PYTHON}]",
    "python-of-json": f"{NAME}({_ALL})",
    "name-and-elements": f"\n<name>{NAME}</name>\n{_ELEMENTS}\n",
    "element-of-the-name": f"\n<{NAME}>\n{_ELEMENTS}\n</{NAME}>\n",
    "function-and-parameters": f'\n<function name="{NAME}">\n{_PARAMETERS}\n</function>\n',
    "coder": f"\n<function={NAME}>\n{_CODER}\n</function>\n",
    "name-and-parameters": f"{NAME}\n{_PARAMETERS}\n",
    "pairs": f"{NAME}\n{_PAIRS}\n",
    "name-and-lines": f"\n{NAME}\n{each('{k}: {j}')}\n",
    "name-and-equals": f"\n{NAME}\n{each('{k}={j}')}\n",
    "yaml": f"\nname: {NAME}\narguments:\n{each('  {k}: {j}')}\n",
    "gemma": f"call:{NAME}{{{each('{k}:{j}', ',')}}}",
}


def written(dress: str, word: str, notation: str) -> str:
    opening, closing = DRESSES[dress]
    words = {"w": word, "W": word.upper(), "T": word.replace("_", " ").title()}
    return opening.format(**words) + NOTATIONS[notation] + closing.format(**words)
