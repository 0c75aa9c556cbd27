"""Prompt templates with variables: their `{{name}}` filled with a person's values. `prompts` reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from core.kernel.errors import ConfigError
from core.kernel.frame import one_line
from core.kernel.language import tr
from core.kernel.values.settings import PromptTemplate

_SHOWN_CHARS = 60
_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_NAME = re.compile(r"\w[\w .-]*")


def variables_of(text: str) -> tuple[str, ...]:
    """Names of the variables of a template, in their order, each once."""
    names = (found[1].strip() for found in _BRACES.finditer(text))
    return tuple(dict.fromkeys(name for name in names if _NAME.fullmatch(name)))


def unnamed_of(text: str) -> str:
    """The first braces that name no variable, shortened; empty where all do."""
    for found in _BRACES.finditer(text):
        if not _NAME.fullmatch(found[1].strip()):
            return one_line(found[0], _SHOWN_CHARS)
    return ""


def filled(template: PromptTemplate, values: Mapping[str, str]) -> str:
    """The text with every variable replaced once: braces inside a value stay as they are.

    Raises:
        ConfigError: a value is missing, or one is given for a variable that the template does not have.
    """
    names = variables_of(template.text)
    listed = ", ".join(names) or tr("none")
    for given in values:
        if given not in names:
            raise ConfigError(
                tr("The template {name!r} has no variable {given!r}", name=template.name, given=given),
                remedy=tr("The template has these variables: {listed}", listed=listed),
                where=template.source,
            )
    missing = [name for name in names if name not in values]
    if missing:
        raise ConfigError(
            tr("The template {name!r} needs a value for {missing!r}", name=template.name, missing=missing[0]),
            remedy=tr("Give a value for each of: {missing}", missing=", ".join(missing)),
            where=template.source,
        )
    return _BRACES.sub(lambda found: values.get(found[1].strip(), found[0]), template.text)
