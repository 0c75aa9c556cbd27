"""Policies that count in a folder: the person's own, nearest folder first, under what the project's file tightens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

from core.base.decoders import from_builtins
from core.settings.checks import ANSWERS
from core.settings.schema import Value
from core.values.policies import Policies, PolicyAnswer, ProjectPolicies
from core.values.settings import ToolSettings

_STRICTNESS = tuple(PolicyAnswer)


def policies_at(
    tools: ToolSettings,
    root: str,
    project: Mapping[str, Value],
    resolved: Callable[[str], str],
    *,
    is_unread: bool = False,
) -> Policies:
    """Policies of a project's folder. Pure but for `resolved`.

    Args:
        is_unread: a file that may hold policies cannot be read: nothing goes without a question.
        root: absolute, links resolved; project: values of its file by dotted key, trusted or not: they only tighten.
        resolved: a folder as the person wrote it, as an absolute path without links.
    """
    said: dict[str, Any] = {name: getattr(tools, name) for name in Policies.__struct_fields__}
    found = ((PurePath(resolved(folder)), rows) for folder, rows in tools.folders.items())
    above = [row for row in found if PurePath(root).is_relative_to(row[0])]
    for _, of_folder in sorted(above, key=lambda row: len(row[0].parts)):
        said |= of_folder
    answers = {name: project.get(f"tools.{name}") for name in ANSWERS}
    said["shown"] = [resolved(_from(root, place)) for place in said["shown"]]
    own = from_builtins(said, Policies)
    if is_unread:
        own = tightened(own, ProjectPolicies(*(PolicyAnswer.ASK for _ in ANSWERS)))
    return tightened(own, from_builtins(answers, ProjectPolicies))


def tightened(own: Policies, project: ProjectPolicies) -> Policies:
    """A person's policies under what the project's file says: the stricter of both, rules dropped where it asks."""

    def stricter(ours: PolicyAnswer, theirs: PolicyAnswer | None) -> PolicyAnswer:
        return max(ours, theirs or ours, key=_STRICTNESS.index)

    return Policies(
        reads=stricter(own.reads, project.reads),
        edits=stricter(own.edits, project.edits),
        commands=stricter(own.commands, project.commands),
        network=stricter(own.network, project.network),
        prefixes=own.prefixes if project.commands in {None, PolicyAnswer.ALLOW} else (),
        hosts=own.hosts if project.network in {None, PolicyAnswer.ALLOW} else (),
        shown=own.shown,
    )


def _from(root: str, place: str) -> str:
    """A place as it was written, from the project's folder where it says no other."""
    return (
        place
        if place.startswith(("~", "/", "\\")) or PurePath(place).is_absolute()
        else str(PurePath(root) / place)
    )
