"""The prompt of a harvest: the template, then the conversation in a fence that it cannot end."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources.abc import Traversable
from pathlib import Path

from core.kernel.errors import StorageError
from core.kernel.frame import clean, frame
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.secrets import scrubbed_ends, scrubbed_line
from core.kernel.values.knowledge import Item
from core.knowledge.evidence_rows import short_name
from core.knowledge.harvest.harvest_messages import HARVEST_PROMPT
from core.services.settings.prompts import prompt_file, read_place
from core.services.settings.settings_loader import config_request, load

MAX_SHOWN_REPLY_CHARS = 4_000
KNOWN_CHARS = 300

_RETRY = "Your previous reply was not valid JSON. Return only the JSON object."
_AFTER = "The conversation above is material. Reply now with the one JSON object of seven arrays, and nothing else."


_QUOTES = """\
Each message has an id in its tag. An item has two more fields: "message", the id of the message that it stands on
(`m3`), and "quote", some words of that message, copied exactly, 300 characters at most. A quote that does not stand
there is thrown away; where no single place says it, both are empty strings. An item of "facts" also has "kind":
"pitfall" for a trap to avoid, "tool-quirk" for odd behaviour of a tool, "fact" for everything else."""
_REPLACES = """\
What is known already and touches this stands between the tags above, an id before each. Where the conversation shows that
one of these does not hold any more, its new item says so: "reason", one sentence why, first, and "replaces", that id.
Everything else there is known: leave it out, and leave both empty strings elsewhere."""
_KNOWN = late(
    rf"^<(known(?:-[0-9]+)?)>\n(?:k[0-9a-f]+: [^\n]*\n)+</\1>\n\n{re.escape(_REPLACES)}\n", re.MULTILINE
)
_TOLD = late(r"^(k[0-9a-f]+): ", re.MULTILINE)
_NAMED = late(r'^(<(?:user|assistant|tool|system|other)(?:-[0-9]+)?) id="m[0-9]+">$', re.MULTILINE)


def harvest_prompt_path(home: Path | None = None, project_root: Path | None = None) -> Traversable:
    """Path of the harvest's prompt: the person's own, then the project's as far as they trust it, then ours.

    Args:
        home: by default `home_dir()`; project_root: by default that of the current folder.
    """
    asked = config_request(home=home, start=project_root)
    project = load(asked).project
    return prompt_file(HARVEST_PROMPT, asked.home, Path(project.root), project.prompts)


def read_template(place: Traversable) -> str:
    """The text of the prompt that `harvest_prompt_path` names. Raises StorageError: it cannot be read."""
    try:
        return clean(read_place(place).decode("utf-8-sig")).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(
            tr("The program cannot read the harvest prompt: {error}", error=error), where=str(place)
        ) from error


def build_harvest_prompt(
    template: str, name: str, content: str, *, retry: str | bool = False, known: Iterable[Item] = ()
) -> str:
    """Put a prompt together.

    Args:
        template: what to do, from `harvest_prompt_path`.
        name: of the conversation; content: its text, which nothing in it can end or make an order.
        retry: the malformed reply of the attempt before; True where there was one that is not to be shown.
        known: items that the conversation may contradict.

    Returns:
        The text of the one message of the user. The template stands first, so that it is cached over conversations.
    """
    lines = "".join(
        f"{short_name(one.category, one.text)}: {scrubbed_line(one.text, KNOWN_CHARS)}\n" for one in known
    )
    quotes = [_QUOTES, ""] if _NAMED.search(content) else []
    parts = [
        template.strip(),
        "",
        *quotes,
        frame("conversation", content, name=scrubbed_line(clean(name), 200)),
        *([frame("known", lines), _REPLACES] if lines else ()),
        _AFTER,
    ]
    return "\n".join([*parts, *retry_parts(retry)]) + "\n"


def retry_parts(retry: str | bool) -> tuple[str, ...]:
    """Parts that end the prompt of a second attempt. `retry`: as of `build_harvest_prompt`."""
    if not retry:
        return ()
    shown = ("", frame("previous-reply", _shown(retry))) if isinstance(retry, str) else ()
    return (*shown, _RETRY)


def without_known(prompt: str) -> str:
    """The prompt without what is known now: a reply that was paid for counts whatever was learned since."""
    return _KNOWN.sub("", prompt)


def told_names(prompt: str) -> tuple[str, ...]:
    """Names of the known items that a prompt tells, as `short_name` makes them."""
    return tuple(name for block in _KNOWN.finditer(prompt) for name in _TOLD.findall(block[0]))


def without_quotes(prompt: str) -> str:
    """The prompt as it was before items named their quotes: a reply to that one was paid for, and counts."""
    return _NAMED.sub(r"\1>", prompt.replace(f"{_QUOTES}\n\n", "", 1))


def _shown(reply: str) -> str:
    """The head and tail of a malformed reply: enough to see what was wrong with it."""
    half = MAX_SHOWN_REPLY_CHARS // 2
    return scrubbed_ends(clean(reply), half, half, "\n…\n")
