"""Distils one conversation: asks a model piece by piece, shows it its malformed reply once, merges without doubles."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from core.kernel.errors import FailureKind, ProviderError, SlopError, StorageError
from core.kernel.frame import clean, frame
from core.kernel.language import tr
from core.kernel.patterns import late
from core.kernel.secrets import scrubbed_ends, scrubbed_line
from core.kernel.values.facts import Quote
from core.kernel.values.harvest import HarvestItem
from core.kernel.values.knowledge import Category, Item
from core.kernel.values.messages import Role
from core.kernel.values.provider import ProviderKind, ProviderRequest, RequestMessage, StopKind
from core.kernel.values.stack import LayerId, Segment
from core.knowledge.evidence_rows import found_quote, short_name
from core.knowledge.harvest.harvest_messages import HARVEST_PROMPT
from core.knowledge.harvest.harvest_reply import MAX_REPLY_CHARS, Reply, read_reply, reply_schema
from core.knowledge.harvest.modes import SUMMARIZE_THRESHOLD_BYTES
from core.knowledge.harvest.transcript import Said, by_short_ids, pieces, with_short_ids
from core.knowledge.merges import same_text
from core.services.providers.http import CallSpent, whole_reply
from core.services.providers.protocol import CancelToken, Provider
from core.services.settings.prompts import prompt_file, read_place
from core.services.settings.settings_loader import config_request, load

HARVEST_MAX_ATTEMPTS = 2
"""Calls at most, until a reply holds JSON that can be read."""

Ask = Callable[[str], str]
"""Sends a prompt and returns the reply's text. Raises SlopError."""


Related = Callable[[str], Sequence[Item]]
"""Known items that a text may contradict, the nearest first."""


def nothing_known(_text: str) -> Sequence[Item]:
    """Nothing is told of what is known."""
    return ()


class HarvestError(SlopError, ValueError):
    """A conversation could not be harvested: it is kept."""


def distil(
    messages: Sequence[Said],
    name: str,
    template: str,
    ask: Ask,
    *,
    piece_bytes: int = SUMMARIZE_THRESHOLD_BYTES,
    related: Related = nothing_known,
) -> Reply:
    """Ask a model what stays useful of a conversation.

    Args:
        messages: prepared (no secrets, no recalled memory), in order; none give nothing and cost nothing.
        name: of the conversation; template: the prompt; piece_bytes: what one call reads at most.
        related: gives what is known that a piece may contradict.

    Raises:
        HarvestError: a reply was malformed after every attempt. SlopError: whatever `ask` raises.
    """
    texts = pieces(with_short_ids(messages), piece_bytes)
    shown = by_short_ids(messages)
    return run_subagent_summarization(texts, name, template, ask, shown=shown, related=related)


def run_subagent_summarization(
    texts: Sequence[str],
    name: str,
    template: str,
    ask: Ask,
    *,
    shown: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    related: Related = nothing_known,
) -> Reply:
    """Have a model read a conversation piece by piece with the seven categories in mind, and merge what it found.

    This is how a conversation that is larger than one call may read is harvested: each piece is distilled by
    itself, so that no decision or task is lost in a summary, then what several pieces say is kept once.

    Args:
        texts: the pieces, cut between messages (`core.knowledge.harvest.transcript.pieces`), each ready to be read.
        name: of the conversation; template: the prompt of a harvest; ask: sends a prompt, returns the reply.
        shown: real id and text of the messages behind the id that a tag has; a quote counts where it stands in one.
        related: gives what is known that a piece may contradict.

    Returns:
        The items of all pieces in order, each once, and how many malformed rows and quotes were left out.

    Raises:
        HarvestError: a reply was malformed after every attempt. SlopError: whatever `ask` raises.
    """
    replies = [ask_for_items(ask, template, part, text, related(text)) for part, text in _parts(texts, name)]
    replies = [with_found_quotes(reply, shown or {}) for reply in replies]
    found = merged(item for reply in replies for item in reply.items)
    return Reply(
        items=found, dropped=sum(one.dropped for one in replies), unfound=sum(one.unfound for one in replies)
    )


def with_found_quotes(reply: Reply, shown: Mapping[str, Sequence[tuple[str, str]]]) -> Reply:
    """The reply without quotes that are not in the conversation; it counts the removed ones."""
    quotes = [found_quote(item.quote, shown) for item in reply.items]
    items = (
        replace(item, quote=one or Quote(is_unfound=True))
        for item, one in zip(reply.items, quotes, strict=True)
    )
    return Reply(items=tuple(items), dropped=reply.dropped, unfound=reply.unfound + quotes.count(None))


def missing_prompts(
    messages: Sequence[Said],
    name: str,
    template: str,
    find: Callable[[str], str | None],
    *,
    piece_bytes: int,
    related: Related = nothing_known,
) -> tuple[str, ...]:
    """Prompts that `distil` would send now, at most one for each piece. Later prompts depend on these replies.

    Args:
        find: gives the reply to a prompt, None where there is none. The rest as of `distil`.

    Raises:
        HarvestError: a piece's replies were malformed, all of them.
    """

    def ask(prompt: str) -> str:
        text = find(prompt)
        if text is None:
            raise _MissingError(prompt)
        return text

    missing = []
    for part, text in _parts(pieces(with_short_ids(messages), piece_bytes), name):
        try:
            ask_for_items(ask, template, part, text, related(text))
        except _MissingError as error:
            missing.append(error.prompt)
    return tuple(missing)


class _MissingError(Exception):
    def __init__(self, prompt: str) -> None:
        super().__init__("no reply to a prompt")
        self.prompt = prompt


def _parts(texts: Sequence[str], name: str) -> list[tuple[str, str]]:
    """Each piece under the name that the model is told."""
    many = len(texts)
    return [
        (f"{name} (part {number} of {many})" if many > 1 else name, text)
        for number, text in enumerate(texts, 1)
    ]


def ask_for_items(ask: Ask, template: str, name: str, content: str, known: Sequence[Item] = ()) -> Reply:
    """One piece: a malformed reply is shown to the model once, with a line that says what was wrong.

    Raises:
        HarvestError: the last reply was malformed too.
    """
    malformed: str | bool = False
    fault = ""
    for _ in range(HARVEST_MAX_ATTEMPTS):
        text = ask(build_harvest_prompt(template, name, content, retry=malformed, known=known))
        try:
            return read_reply(text)
        except ValueError as error:
            malformed, fault = text or True, str(error)
    raise HarvestError(f"harvest output invalid after {HARVEST_MAX_ATTEMPTS} attempts: {fault}")


def merged(items: Iterable[HarvestItem]) -> tuple[HarvestItem, ...]:
    """Items of all pieces in order, each once; a task that a later piece saw done is open no longer."""
    found: dict[tuple[Category, str], HarvestItem] = {}
    for item in items:
        key = (item.category, _key(item))
        old = found.get(key)
        if old is None:
            found[key] = item
            continue
        quote = max(old.quote, item.quote, key=lambda one: (bool(one.text), one.is_unfound))
        found[key] = replace(item if item.body and not old.body else old, quote=quote)
    done = {key for category, key in found if category is Category.TASKS_DONE}
    return tuple(
        item
        for (category, key), item in found.items()
        if category is not Category.TASKS_OPEN or key not in done
    )


def _key(item: HarvestItem) -> str:
    """Key in common of two items that say the same. A path or a playbook's name alone says nothing."""
    is_statement = item.category not in {Category.FILES, Category.PLAYBOOKS}
    return same_text(item.head if is_statement else f"{item.head} {item.body}")


# Asks a provider for the items of a conversation, in the reply's schema where the provider can hold to it.

SMALL_OUTPUT_TOKENS = 2_000
"""Tokens of the embedded model's reply: more than the bounded schema lets it write, so that its JSON is never cut."""

OUTPUT_TOKENS = 16_000
"""Tokens of any other model's reply: a longer reply was led astray by its text."""


class HarvestCancelledError(SlopError):
    """The person stopped the harvest."""


class NoMoneyError(HarvestCancelledError):
    """A limit stands against a call, and nobody let it go."""


class Generate(Protocol):
    """Sends a prompt to a model and returns the text of its reply. Raises SlopError."""

    def __call__(self, prompt: str, provider: str, model: str) -> str:
        """Ask once."""
        ...


class Schema(Protocol):
    """Gives the JSON Schema of a reply."""

    def __call__(self, *, is_small: bool) -> str:
        """The schema, bounded for the built-in model."""
        ...


class Purse(Protocol):
    """The money of a run's calls: asked before each, told after it."""

    def begin(self, provider: str, model: str, prompt: str) -> None:
        """A call is about to be made. Raises NoMoneyError where there is no money for it."""
        ...

    def spent(self, provider: str, model: str, prompt: str, spent: CallSpent) -> None:
        """The call is over, however it ended."""
        ...


class ProviderGenerate:
    """A `Generate` over the providers' clients. One harvest's.

    Args:
        client: gives a provider's client, raises ProviderError where there is none.
        cancel: stops the call under way, and all that would follow; purse: None where money is no matter.
        schema: gives the schema of the reply, told whether it is for the built-in model.
    """

    def __init__(
        self,
        client: Callable[[str], Provider],
        cancel: CancelToken | None = None,
        purse: Purse | None = None,
        *,
        schema: Schema = reply_schema,
    ) -> None:
        self._client = client
        self._cancel = cancel or CancelToken()
        self._purse = purse
        self._schema = schema
        self._without_schema: set[tuple[str, str]] = set()

    def __call__(self, prompt: str, provider: str, model: str) -> str:
        """Ask once; without the schema where the provider refuses it.

        Raises:
            HarvestCancelledError: it was stopped. ProviderError: the call failed, or the model refused.
        """
        has_schema = (provider, model) not in self._without_schema
        try:
            return self._ask(prompt, self._request(prompt, provider, model, has_schema=has_schema))
        except ProviderError as error:
            if not has_schema or error.kind is not FailureKind.BAD_REQUEST:
                raise
        self._without_schema.add((provider, model))
        return self._ask(prompt, self._request(prompt, provider, model, has_schema=False))

    def _request(self, prompt: str, provider: str, model: str, *, has_schema: bool) -> ProviderRequest:
        return request_for(prompt, provider, model, has_schema=has_schema, schema=self._schema)

    def _ask(self, prompt: str, request: ProviderRequest) -> str:
        if self._cancel.is_cancelled:
            raise HarvestCancelledError(tr("You stopped the harvest"))
        client, purse = self._client(request.provider), self._purse
        if purse is None:
            reply = whole_reply(client, request, self._cancel, most_chars=MAX_REPLY_CHARS)
        else:
            provider, model = request.provider, request.model
            purse.begin(provider, model, prompt)
            reply = whole_reply(
                client,
                request,
                self._cancel,
                lambda spent: purse.spent(provider, model, prompt, spent),
                most_chars=MAX_REPLY_CHARS,
            )
        if reply.stop is StopKind.CANCELLED:
            raise HarvestCancelledError(tr("You stopped the harvest"))
        if reply.stop is StopKind.BROKEN:
            raise ProviderError(
                FailureKind.BAD_REPLY, reply.told, remedy=tr("Harvest again, or choose another model")
            )
        if reply.stop is StopKind.REFUSED:
            raise ProviderError(
                FailureKind.BAD_REPLY,
                tr("{model} refused to read the conversation", model=request.model),
                remedy=tr("Choose another model, or pin the conversation so that no harvest reads it"),
            )
        return reply.text


def request_for(
    prompt: str, provider: str, model: str, *, has_schema: bool = True, schema: Schema = reply_schema
) -> ProviderRequest:
    """The request that asks for a harvest: one message of the user, and the schema of the reply."""
    is_small = provider == ProviderKind.EMBEDDED
    sha256 = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()
    segment = Segment(layer=LayerId.USER, key="12/harvest", text=prompt, sha256=sha256)
    return ProviderRequest(
        provider=provider,
        model=model,
        system=(),
        messages=(RequestMessage(Role.USER, (segment,)),),
        max_output_tokens=SMALL_OUTPUT_TOKENS if is_small else OUTPUT_TOKENS,
        response_schema_json=schema(is_small=is_small) if has_schema else "",
    )


# The prompt of a harvest: the template, then the conversation in a fence that it cannot end.


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
