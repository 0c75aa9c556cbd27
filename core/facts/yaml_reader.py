"""YAML by the C loader, piece by piece: bounded in size and depth, with no tags, anchors, aliases or merged keys."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any

import msgspec

MAX_CHARS = 16_384
"""Of one item: no sentence with its tags needs more."""

MAX_DEPTH = 8
"""Of lists and mappings in one another."""

_MAX_NODES = 2_000
_MAX_BITS = 1_024
"""Of a number: Python refuses to write out one of many digits, which YAML spells in base 16 or 60 too."""
_OPENERS = ("[", "{", "- ", "? ", "-\n", "-\t")


class YamlFault(msgspec.Struct, frozen=True):
    """Fault of a piece of YAML. `line`: within the piece, from 0."""

    line: int
    text: str


def read_yaml(text: str) -> Any | YamlFault:
    """Read one piece of YAML into plain values: text, numbers, dates, lists and mappings.

    Args:
        text: of any content and size.

    Returns:
        Its value, None for nothing; a fault for what cannot or may not be read. Nothing is built of it then.
    """
    import yaml

    if len(text) > MAX_CHARS:
        return YamlFault(0, f"the item has {len(text):,} characters, more than {MAX_CHARS:,}")
    if fault := _refused(text):
        return fault
    loader = None
    try:
        loader = _loader()(text)
        return loader.get_single_data()
    except yaml.MarkedYAMLError as error:
        return YamlFault(_line(error), f"this is no YAML that can be read: {_said(error)}")
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        return YamlFault(0, f"this is no YAML that can be read: {_one_line(str(error))}")
    finally:
        if loader is not None:
            loader.dispose()


def _refused(text: str) -> YamlFault | None:
    """Look at the parser's events before anything is built, where anything but plain values can be in it."""
    if not any(mark in text for mark in "&*!<") and sum(map(text.count, _OPENERS)) <= MAX_DEPTH:
        return None
    import yaml

    depth = 0
    try:
        for number, event in enumerate(yaml.parse(text, Loader=yaml.CSafeLoader)):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if reason := _reason(event, depth, number):
                mark = event.start_mark
                return YamlFault(0 if mark is None else mark.line, reason)
    except yaml.MarkedYAMLError as error:
        return YamlFault(_line(error), f"this is no YAML that can be read: {_said(error)}")
    except yaml.YAMLError as error:
        return YamlFault(0, f"this is no YAML that can be read: {_one_line(str(error))}")
    return None


def _reason(event: Any, depth: int, number: int) -> str:
    import yaml

    if isinstance(event, yaml.AliasEvent):
        return f"an alias (*{event.anchor}) is not read here; write the value itself"
    if getattr(event, "anchor", None):
        return f"an anchor (&{event.anchor}) is not read here; write the value itself"
    if getattr(event, "tag", None):
        return f"a tag ({event.tag[:40]}) is not read here; write a plain value"
    if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.implicit[0]:
        return "a merge key (<<) is not read here; write the fields themselves"
    if depth > MAX_DEPTH:
        return f"lists and mappings stand more than {MAX_DEPTH} deep in one another"
    return f"it has more than {_MAX_NODES:,} parts" if number > _MAX_NODES else ""


@cache
def _loader() -> Any:
    """The safe C loader, with a mapping's doubled key as a fault in place of the last one winning."""
    import yaml

    class _StrictLoader(yaml.CSafeLoader):
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT002
            names = set[str]()
            for key, _ in node.value:
                if not isinstance(key, yaml.ScalarNode):
                    continue
                if key.value in names:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the field {key.value[:40]!r} stands there twice", key.start_mark
                    )
                names.add(key.value)
            mapping: dict[Hashable, Any] = super().construct_mapping(node, deep=deep)
            return mapping

        def construct_whole(self, node: Any) -> int:
            number: int = self.construct_yaml_int(node)
            if number.bit_length() > _MAX_BITS:
                raise yaml.constructor.ConstructorError(None, None, "a number is too large", node.start_mark)
            return number

    _StrictLoader.add_constructor("tag:yaml.org,2002:int", _StrictLoader.construct_whole)
    return _StrictLoader


def _line(error: Any) -> int:
    mark = error.problem_mark or error.context_mark
    return mark.line if mark is not None else 0


def _said(error: Any) -> str:
    return _one_line(error.problem or error.context or "it is damaged")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
