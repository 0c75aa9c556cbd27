"""Calls as YAML: a name and a mapping of arguments, or the arguments alone inside the tool's own element.

Source: minpeter/ai-sdk-tool-call-middleware#79, agents that ask for YAML between tags (read 2026-11).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from core.kernel.codecs import DEEPEST
from core.kernel.patterns import late

_YAML_NAMES = late(r"name|tool|tool_name|function|function_name|action")
_YAML_ARGUMENTS = late(r"arguments|args|parameters|params|input|tool_input|tool_args|action_input|kwargs")
YAML_HEAD = late(
    rf"(?:-{{3}}[ \t]*\r?\n)?(?:-[ \t]+)?[\"']?(?:{_YAML_NAMES.pattern})[\"']?:[ \t]+[\"']?[\w.:-]{{1,200}}[\"']?[ \t]*(?:\r?\n|\Z)"
)
"""The first line of a call: a key that holds the name of the tool."""
_YAML_KEY = late(r"\s*[\w.$-]{1,128}:(?:[ \t]|\r?\n)")
_YAML_END = late(r"(?m)^(?:`{3,}|~{3,}|<[/<|｜]|<\w{1,40}\|?>|\[{1,2}(?:/|END)|\{\{/|-{3,}[ \t]*$)")
_MOST_YAML = 100_000


def yaml_calls(text: str, at: int) -> tuple[list[tuple[str, Any]], int]:
    """The calls that begin here, each as the words of its name and its arguments for `typed_arguments`, and where they end.

    Raises:
        ValueError: this is no YAML, or not of calls alone.
    """
    value, end = _yaml_at(text, at)
    return [_yaml_call(one) for one in (value if isinstance(value, list) else [value])], end


def _yaml_call(value: Any) -> tuple[str, Any]:
    keys = {key[0]: one for key, one in value.items()} if isinstance(value, dict) else {}
    name = next((one for key, one in keys.items() if _YAML_NAMES.fullmatch(key)), None)
    given = next((key for key in keys if _YAML_ARGUMENTS.fullmatch(key)), "")
    if not isinstance(name, _Scalar) or "description" in keys or not (given or len(keys) == 1):
        raise ValueError
    return name[0], keys.get(given, {})


def yaml_arguments(text: str, at: int, types: Mapping[str, object]) -> tuple[dict[str, Any], int]:
    """The arguments that stand here by themselves, and where they end. Raises ValueError: they are none of this tool's."""
    if _YAML_KEY.match(text, at) is None:
        raise ValueError
    value, end = _yaml_at(text, at)
    return typed_arguments(value, types), end


def typed_arguments(value: Any, types: Mapping[str, object]) -> dict[str, Any]:
    """Arguments of a tool, each by its type in the schema. Raises ValueError: they are none of this tool's."""
    if isinstance(value, _Scalar) and value[1] in ("", None):
        return {}
    if not isinstance(value, dict) or not types.keys() >= {key[0] for key in value}:
        raise ValueError
    return {key[0]: _plain(one, types.get(key[0])) for key, one in value.items()}


def _plain(value: Any, kind: object = None) -> Any:
    if isinstance(value, _Scalar):
        return value[0] if kind == "string" else value[1]
    if isinstance(value, dict):
        return {key[0]: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


class _Scalar(tuple[str, Any]):
    """The words of a scalar, and its value: a schema tells which of them is meant."""

    __slots__ = ()


def _yaml_at(text: str, at: int) -> tuple[Any, int]:
    """The value that stands here, up to a fence or a closing tag at the begin of a line, and where it ends.

    Raises:
        ValueError: the text is no YAML, or has what a call does not need: aliases, tags, lists in lists without end.
    """
    import yaml

    head = YAML_HEAD.match(text, at)
    found = _YAML_END.search(text, head.end() if head else at)
    if found is None or found.start() - at > _MOST_YAML:
        raise ValueError  # without an end a value may be cut, and nothing tells
    end = found.start()
    body = text[at:end]
    try:
        depth = 0
        for event in yaml.parse(body, Loader=yaml.CSafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST or getattr(event, "anchor", None) or getattr(event, "tag", None):
                raise ValueError
        return yaml.load(body, Loader=_yaml_loader()), end  # noqa: S506, a safe loader
    except (yaml.YAMLError, RecursionError, OverflowError) as error:
        raise ValueError from error


@cache
def _yaml_loader() -> Any:
    import yaml

    class _PairLoader(yaml.CSafeLoader):
        """Each scalar as its words and its value; what JSON has not, such as a date, is its words."""

        def construct_object(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT002
            made = super().construct_object(node, deep=deep)
            if not isinstance(node, yaml.ScalarNode):
                return made
            is_json = made is None or isinstance(made, bool | int | float | str)
            return _Scalar((node.value, made if is_json else node.value))

    return _PairLoader
