"""`send` around its turn: the message it is given, several models compared, and a running window that shows it."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from core.agent.tool import FailedCall, escaped
from core.front.cli.arguments import Options, UsageError
from core.front.cli.cache_price import agree, measured
from core.front.cli.format import message_data, usage_line
from core.front.cli.output import Console
from core.front.cli.questions import agreed, can_ask, raise_unsent
from core.front.cli.session import FrontEnd, check_name, find_discussion, report_trust
from core.front.cli.stops import in_terminal, kept_words
from core.front.cli.version import INTERRUPTED
from core.front.hooks.client import HookClient, HookError, connect, reach
from core.kernel import figures as fmt
from core.kernel import paths
from core.kernel.child_process import run_at_terminal
from core.kernel.disk import create_file
from core.kernel.errors import ConfigError, SlopError
from core.kernel.frame import clean
from core.kernel.language import tr
from core.kernel.opener import read_start
from core.kernel.surroundings import current_folder
from core.kernel.values.agent import Mode
from core.kernel.values.discussion import (
    ComparedModel,
    ComparedReply,
    DiscussionMeta,
    DiscussionSummary,
    OpenDiscussion,
)
from core.kernel.values.messages import CallEnd, Message, ReasoningPart, Role, Status, TextPart
from core.kernel.values.state import AppState, DiscussionsState
from core.kernel.values.updates import is_busy, outcome_of
from core.kernel.values.usage import Usage
from core.services.settings.project import find_root
from core.services.settings.prompts import read_templates
from core.services.settings.settings_messages import PriceModels
from core.services.settings.settings_rules import filled
from core.services.spending.estimates import next_request, other_call_usd
from core.talk.discussion.draft_editor import find_editor
from core.talk.turn.turn_messages import CancelReply, CompareReplies, PaidCommand

# `send` beside a running window: through its Hook API, so that the window shows the turn as it happens.


def program_beside(options: Options) -> Beside | None:
    """The program that can take this message for us.

    Returns:
        None where none runs with its Hook API on, it works on another project, or the message asks for something
        that only a program of its own can do (attachments, a persona, settings of one run), or for a person's yes past
        a limit, which the token that any program reads cannot give; then files and their locks are used.
    """
    given = options.given
    asks_for_more = (
        given.attach or given.retry or given.persona or given.system or given.over_limit or given.no_tools
    )
    is_plain = not (asks_for_more or options.overrides)
    if not is_plain or options.trusts or given.persona == "" or given.system == "":
        return None
    found = connect(options.home or paths.home_dir())
    if found is None:
        return None
    client, status = found
    return Beside(client, status) if status["project"]["root"] == str(_root(options)) else None


def _root(options: Options) -> Path:
    from core.services.settings.project import find_root

    return find_root(options.start or Path(current_folder()))


@dataclass(slots=True)
class Beside:
    """A running program, and one turn in it.

    Args:
        status: its answer to `GET /api/status`.
    """

    client: HookClient
    status: dict[str, Any]

    def send(self, options: Options, text: str, console: Console) -> int:
        """Send a message and print the reply.

        Returns:
            0 when the reply came whole, 1 when it failed (said on standard error), 130 when it was stopped.

        Raises:
            UsageError: a name that is not there. SlopError: it could not be kept.
        """
        project = self.status["project"]
        asked = [line["words"] for line in project["asked"]]
        report_trust(
            project["root"],
            is_trusted=project["is_trusted"],
            asked=asked,
            held_back=project["held_back"],
            console=console,
        )
        self._check_names(options)
        chosen = self._open(options)
        try:
            return self._send(options, chosen, text, console)
        except SlopError:
            if options.given.discussion == "new":
                with suppress(SlopError):  # where words are kept the program declines
                    self.client.act("discussions", "discard_discussion", discussion_id=chosen)
            raise

    def has_tools(self, wanted: str) -> bool:
        """True if a discussion has tools already: over HTTP nobody can give it any."""
        if wanted == "new":
            return False
        listed = self._listed()
        return listed.discussions.summaries[find_discussion(listed, wanted)].meta.has_tools

    def _send(self, options: Options, chosen: str, text: str, console: Console) -> int:
        self._choose(options, chosen, console)
        turn = _Printed(console=console, options=options)
        try:
            given = options.given
            body = {"text": text, "queue": given.queue}
            for name, data in self.client.events(f"/api/discussions/{chosen}/messages", body):
                with console.stops.held_back():
                    turn.take(name, data)
        except KeyboardInterrupt:
            self._cancel(chosen)
            turn.done = self._last(chosen)
            return turn.end(chosen, is_stopped=True)
        return turn.end(chosen, is_stopped=False)

    def _check_names(self, options: Options) -> None:
        given = options.given
        check_name("provider", given.provider, tuple(row["id"] for row in self.status["providers"]))
        if given.preset:
            found = self.client.get("/api/presets")["presets"]
            check_name("preset", given.preset, tuple(row["name"] for row in found))

    def _open(self, options: Options) -> str:
        """Find the discussion, or have it made. Returns its id."""
        given = options.given
        if given.discussion != "new":
            return find_discussion(self._listed(), given.discussion)
        provider = given.provider or self.status["default_provider"]
        body = {"provider": provider, "model": given.model, "preset": given.preset or ""}
        made: str = self.client.post("/api/discussions", body)["id"]
        return made

    def _choose(self, options: Options, chosen: str, console: Console) -> None:
        """Set what the command line asks for. What leaves a warm cache unused is said with its price first."""
        given = options.given
        if given.discussion != "new" and (given.provider or given.model):
            provider = given.provider or self._listed().discussions.summaries[chosen].meta.provider
            self._change(console, "set_model", discussion_id=chosen, provider=provider, model=given.model)
        if given.preset is not None:
            self.client.post(f"/api/discussions/{chosen}/preset", {"name": given.preset})
        if given.effort:
            self._change(console, "set_effort", discussion_id=chosen, effort=given.effort)
        if given.temperature is not None:
            self.client.act(
                "composer", "set_temperature", discussion_id=chosen, temperature=given.temperature
            )
        if given.top_p is not None:
            self.client.act("composer", "set_top_p", discussion_id=chosen, top_p=given.top_p)
        if given.max_output is not None:
            self.client.act("composer", "set_max_output", discussion_id=chosen, tokens=given.max_output)

    def _change(self, console: Console, action: str, **fields: Any) -> None:
        """Change the discussion; where that leaves a warm cache unused only once its price was said."""
        try:
            self.client.act("composer", action, keeps_cache=True, **fields)
        except HookError as error:
            if error.code != "warm_cache":
                raise
            agree(console, str(error.what), tr("Change anyway"))
            self.client.act("composer", action, **fields)

    def _listed(self) -> AppState:
        rows = self.client.get("/api/discussions")["discussions"]
        return AppState(discussions=DiscussionsState(summaries={row["id"]: _summary(row) for row in rows}))

    def _cancel(self, chosen: str) -> None:
        try:
            self.client.post(f"/api/discussions/{chosen}/cancel")
        except HookError as error:
            if error.code != "nothing_runs":
                raise

    def _last(self, chosen: str) -> dict[str, Any] | None:
        said = self.client.get(f"/api/discussions/{chosen}/messages")["messages"]
        replies = [row for row in said if row["type"] == "message"]
        return replies[-1] if replies and replies[-1]["role"] == Role.ASSISTANT else None


def _summary(row: dict[str, Any]) -> DiscussionSummary:
    created = datetime.fromisoformat(row["created_at"])
    meta = DiscussionMeta(
        id=row["id"], name=row["name"], created_at=created, provider=row["provider"], model=row["model"]
    )
    meta = replace(meta, has_tools=row["has_tools"], mode=Mode(row["mode"]))
    return DiscussionSummary(meta=meta, updated_at=datetime.fromisoformat(row["updated_at"]))


@dataclass(slots=True)
class _Printed:
    """The shown part of a turn. `done`: the reply as the program keeps it; `error`: why there is none."""

    console: Console
    options: Options
    printed: str = ""
    thought: str = ""
    done: dict[str, Any] | None = None
    error: dict[str, Any] | None = None

    def take(self, name: str, data: dict[str, Any]) -> None:
        """Show one event."""
        match name:
            case "text" if not self.options.is_json:
                if self.thought and not self.printed:
                    self.console.aside("\n\n")
                self.console.write(data["text"])
                self.printed += data["text"]
            case "reasoning" if self.options.given.show_reasoning and not self.options.is_json:
                self.console.aside(data["text"])
                self.thought += data["text"]
            case "reply":
                self._next_reply()
            case "failed_call":
                self._end_line()
                failed = FailedCall(
                    call_id=data["call_id"], name=data["name"], end=CallEnd(data["end"]), words=data["words"]
                )
                self.console.note(tr("manual-slop: {sentence}", sentence=escaped(failed.sentence)))
            case "asking":
                self._end_line()
                self.console.note(
                    tr(
                        "manual-slop: the Manual Slop that already runs needs your approval: {call}",
                        call=escaped(data["title"]),
                    )
                )
            case "retrying":
                self.console.note(tr("manual-slop: {data}; trying again", data=data["reason"]))
            case "done":
                self.done, self.error = data["reply"], data.get("failure")
            case "error":
                self.error = data
            case _:
                pass

    def _next_reply(self) -> None:
        """Begin a line for what the model says after its tools: every round is a reply of its own."""
        if self.printed and not self.options.is_json:
            self.console.write("\n" * (2 - self.printed.endswith("\n")))
        self.printed = self.thought = ""

    def _end_line(self) -> None:
        if self.printed and not self.printed.endswith("\n") and not self.options.is_json:
            self.console.line()
            self.printed += "\n"

    def end(self, chosen: str, *, is_stopped: bool) -> int:
        """Say how it ended. Returns the exit code."""
        reply = None if self.done is None else _message(self.done)
        if reply is not None and reply.text.startswith(self.printed):
            self.take("text", {"text": reply.text[len(self.printed) :]})
        if self.options.is_json:
            self.console.json(self._data(chosen, reply, is_stopped=is_stopped))
        elif self.printed and not self.printed.endswith("\n"):
            self.console.line()
        if self.error is not None:
            said = SlopError(self.error["message"], remedy=self.error["remedy"])
            self.console.note(tr("manual-slop: {said}", said=said))
            self.console.note(kept_words(chosen, self.error["code"]))
        if is_stopped and reply is not None:
            self.console.note(tr("The part of the reply that arrived is in {chosen}.", chosen=chosen))
        if not self.options.given.quiet and not self.options.is_json and reply is not None:
            self.console.note(f"{usage_line(reply)} · {chosen}")
        if is_stopped:
            return INTERRUPTED
        return 1 if reply is None or self.error is not None else 0

    def _data(self, chosen: str, reply: Message | None, *, is_stopped: bool) -> dict[str, Any]:
        failure = None
        if self.error is not None:
            failure = {
                "kind": self.error["code"],
                "what": self.error["message"],
                "remedy": in_terminal(self.error["remedy"]),
                "where": "",
            }
        return {
            "discussion": chosen,
            "reply": None if reply is None else message_data(reply),
            "is_stopped": is_stopped,
            "failure": failure,
        }


def _message(row: dict[str, Any]) -> Message:
    reasoning = (ReasoningPart(row["reasoning"]),) if row["reasoning"] else ()
    return Message(
        id=row["id"],
        at=datetime.fromisoformat(row["at"]),
        role=Role(row["role"]),
        parts=(*reasoning, TextPart(row["text"])),
        status=Status(row["status"]),
        provider=row["provider"],
        model=row["model"],
        usage=None if row["usage"] is None else Usage(**row["usage"]),
    )


# `autonomy`: how the loop of the running program stands, and its stop. It starts in the window alone.

ANSWER_S = 30.0
"""Longest wait for a program that is busy: nothing else knows of its loop."""
_SHOWN_NOTES = 5
_NONE = "no_autonomy"


def run_autonomy(options: Options, console: Console) -> int:
    """Print the loop's state, or stop it. Returns 0.

    Raises:
        SlopError: no program runs on this home, its Hook API is off, or it does not answer.
    """
    client = _client(options)
    if options.given.stop:
        client.act("autonomy", "stop_autonomy")
        console.outcome(tr("You stopped autonomy."), {"is_on": False})
        return 0
    try:
        found = client.get("/api/autonomy")
    except HookError as error:
        if error.code != _NONE:
            raise
        found = None
    if options.is_json:
        console.json(found if found is not None else {"is_on": False})
    elif found is None:
        console.line(tr("No discussion has been autonomous since the program started."))
    else:
        _print(found, console)
    return 0


def _client(options: Options) -> HookClient:
    home = options.home or paths.home_dir()
    beside = reach(home, ANSWER_S)
    if beside is None:
        raise SlopError(
            tr("Autonomy needs a running program with the Hook API on; this data folder has none"),
            remedy=tr("See Agent, Autonomy in the window, or turn on the Hook API: `[hooks] enabled = true`"),
            where=str(home),
        )
    return beside[0]


def _print(found: dict[str, Any], console: Console) -> None:
    if not found["is_on"]:
        console.line(tr("{discussion} is no longer autonomous.", discussion=found["discussion_id"]))
    elif found["is_running"]:
        console.line(
            tr(
                "{discussion}: {state}, a turn is running.",
                discussion=found["discussion_id"],
                state=found["state"],
            )
        )
    else:
        when = (
            tr("next turn at {time} UTC", time=found["next_at"][:19])
            if found["next_at"]
            else tr("only you start the next turn")
        )
        console.line(f"{found['discussion_id']}: {found['state']}, {when}.")
    console.line(
        tr(
            "turns:  {turns} of {most}, spent {spent}, errors {errors}",
            turns=found["turns"],
            most=found["max_turns"],
            spent=fmt.money(found["usd"]),
            errors=found["errors"],
        )
    )
    for label, text in ((tr("woken by"), found["woken_by"]), ("rests", found["stopped"])):
        if text:
            console.line(f"{label}:  {escaped(text)}")
    for note in found["notes"]["rows"][-_SHOWN_NOTES:]:
        console.line(f"{note['at'][:19]}  {escaped(note['text'])}")


# The message of `send`: a template filled, what is piped in, and the person's editor.

MAX_EDITED_BYTES = 20_000_000


def template_text(options: Options) -> str:
    """The text of `--template` with its variables, empty where none is asked for.

    Raises:
        UsageError: no such template, or `--var` without one. ConfigError: a variable is missing or unknown.
    """
    name, pairs = options.given.template, options.given.var
    if not name:
        if pairs:
            raise UsageError(tr("--var needs --template"), remedy=tr("Name the template: --template NAME"))
        return ""
    root = find_root(options.start or Path(current_folder()))
    found, _ = read_templates(options.home or paths.home_dir(), str(root))
    check_name("template", name, tuple(found))
    try:
        return filled(found[name], _values(pairs))
    except ConfigError as error:
        raise UsageError(
            error.what, remedy=tr("{remedy}, as in: --var NAME=TEXT", remedy=error.remedy), where=error.where
        ) from None


def _values(pairs: Sequence[str]) -> dict[str, str]:
    values = {}
    for pair in pairs:
        name, sign, text = pair.partition("=")
        if not sign:
            raise UsageError(
                tr("--var takes NAME=TEXT, not {given!r}", given=pair),
                remedy=tr("Write the name, =, and the text"),
            )
        values[name.strip()] = clean(text)
    return values


def edited_text(text: str, console: Console) -> str:
    """Have the person's editor change a text. Returns the new one.

    Raises:
        UsageError: no terminal, an editor that failed, or words that are no UTF-8. ConfigError: no editor is set.
    """
    editor = find_editor(os.environ)
    if not can_ask(console):
        raise UsageError(
            tr("--editor needs a terminal"), remedy=tr("Leave --editor out, or run this in a terminal")
        )
    with tempfile.TemporaryDirectory(prefix="manual-slop-") as folder:
        path = Path(folder) / "message.md"
        create_file(path, text.encode("utf-8", "replace"))
        code = run_at_terminal(editor.program, (*editor.arguments, str(path)), path.parent)
        if code:
            raise UsageError(
                tr("The editor ended with code {code}", code=code), remedy=tr("Nothing was sent. Try again")
            )
        data = read_start(path, MAX_EDITED_BYTES + 1)
    if len(data) > MAX_EDITED_BYTES:
        raise UsageError(
            tr("The message is over {MAX_EDITED_BYTES:,} bytes", MAX_EDITED_BYTES=MAX_EDITED_BYTES),
            remedy=tr("Send a smaller part"),
        )
    try:
        return clean(data.decode("utf-8-sig")).rstrip("\n")
    except UnicodeDecodeError as error:
        raise UsageError(tr("The editor saved no UTF-8 text"), remedy=tr("Save the text as UTF-8")) from error


# `send --compare`: one message to several models, each reply printed whole under the model's name.

PRICES_S, STOP_S, NEVER_S = 2.0, 15.0, 1e9


def compared_models(state: AppState, given: str, *, without_memory: bool) -> tuple[ComparedModel, ...]:
    """The models that a person named: `PROVIDER/MODEL`, or a model that one provider has alone.

    Raises:
        UsageError: a name is not known, or several providers have it.
    """
    models = tuple(_named(state, name.strip()) for name in given.split(",") if name.strip())
    bare = (replace(models[0], has_memory=False),) if without_memory and models else ()
    return (*models, *bare)


def _named(state: AppState, name: str) -> ComparedModel:
    provider, slash, model = name.partition("/")
    if slash and model and provider in state.config.providers:
        return ComparedModel(provider=provider, model=model)
    owners = [key for key, models in state.config.models.items() if any(one.id == name for one in models)]
    if len(owners) == 1:
        return ComparedModel(provider=owners[0], model=name)
    what = (
        tr("Several providers have the model {name!r}", name=name)
        if owners
        else tr("No provider has the model {name!r}", name=name)
    )
    raise UsageError(
        what, remedy=tr("Write PROVIDER/{name}; `manual-slop models` lists the providers", name=name)
    )


def run_comparison(front: FrontEnd, console: Console, options: Options, chosen: str, text: str) -> int:
    """Put a message to the models, follow them to the end, and print what each said. Returns the exit code."""
    given = options.given
    models = compared_models(front.snapshot(), given.compare, without_memory=given.without_memory)
    _say_prices(front, console, chosen, models, text)
    asked: PaidCommand | None = CompareReplies(
        discussion_id=chosen, models=models, text=text, over_limit=given.over_limit
    )
    is_stopped, outcome = False, None
    while asked is not None:
        command_id = secrets.token_hex(8)
        front.send(replace(asked, command_id=command_id))
        try:
            with console.waiting(tr("Waiting for the replies")):
                state = front.wait_for(lambda s, name=command_id: _is_over(s, chosen, name), NEVER_S)  # type: ignore[misc]
        except KeyboardInterrupt:
            front.send(CancelReply(discussion_id=chosen))
            state, is_stopped = front.wait_for(lambda s: not is_busy(s, chosen), STOP_S), True
        outcome = None if state is None else outcome_of(state, command_id)
        refusal = outcome.refusal if outcome is not None else None
        asked = agreed(console, refusal) if refusal is not None and not is_stopped else None
    raise_unsent(outcome)
    return _comparison_print(
        console, options, front.snapshot().discussions.open[chosen], is_stopped=is_stopped
    )


def _is_over(state: AppState, chosen: str, command_id: str) -> bool:
    outcome = outcome_of(state, command_id)
    return outcome is not None and not (outcome.is_done and is_busy(state, chosen))


def _say_prices(
    front: FrontEnd, console: Console, chosen: str, models: tuple[ComparedModel, ...], text: str
) -> None:
    """Say what each is expected to cost before any of them is asked."""
    if next_request(front.snapshot(), chosen) is None:
        measured(front, chosen)
    front.send(PriceModels())
    keys = {(one.provider, one.model) for one in models}
    state = front.wait_for(lambda s: keys <= s.config.prices.keys(), PRICES_S) or front.snapshot()
    for one in models:
        usd = other_call_usd(state, chosen, one.provider, one.model, text)
        console.note(tr("manual-slop: {model}: {price}", model=_name(one), price=fmt.about_usd(usd)))


def _name(one: ComparedModel) -> str:
    name = f"{one.provider}/{one.model}"
    return name if one.has_memory else tr("{model} without memory", model=name)


def _comparison_print(console: Console, options: Options, opened: OpenDiscussion, *, is_stopped: bool) -> int:
    comparison = opened.comparison
    columns = comparison.replies if comparison is not None else ()
    if options.is_json:
        console.json({"discussion": opened.id, "replies": [_data(opened, one) for one in columns]})
    for one in () if options.is_json else columns:
        reply = opened.message_anywhere(one.reply_id) if one.reply_id else None
        if reply is not None:
            console.write(f"## {_name(one.asked)}\n\n{reply.text.rstrip(chr(10))}\n\n")
            console.note(f"{usage_line(reply)} · {opened.id}")
        if one.problem:
            console.note(tr("manual-slop: {model}: {problem}", model=_name(one.asked), problem=one.problem))
    return INTERRUPTED if is_stopped else int(any(one.problem or not one.reply_id for one in columns))


def _data(opened: OpenDiscussion, one: ComparedReply) -> dict[str, object]:
    reply = opened.message_anywhere(one.reply_id) if one.reply_id else None
    return {
        "provider": one.asked.provider,
        "model": one.asked.model,
        "has_memory": one.asked.has_memory,
        "problem": one.problem,
        "reply": None if reply is None else message_data(reply),
    }
