"""The parts that need no network: schemas, bodies, files, waiting, the clock, the commands of the panels."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from core.app.app_messages import Command
from core.app.controller import LONGEST_OFFSET_S, OffsetClock
from core.front.hooks.caches import RewriteData
from core.front.hooks.client import Address, find, publish, withdraw
from core.front.hooks.context import PresetBody, context
from core.front.hooks.discussions import PresetChoiceBody
from core.front.hooks.fields import Body, PageQuery, RefusedError, encode, filled
from core.front.hooks.harvest import ApplyBody
from core.front.hooks.knowledge import DigestData
from core.front.hooks.operation import (
    HookDesk,
    Request,
    Watch,
    choice_forms,
    parse,
    read_body,
    read_query,
    taken,
)
from core.front.hooks.program import (
    HELD_BACK,
    ClockBody,
    ClockData,
    action_name,
    fields_type,
    make_command,
    panels_of,
)
from core.front.hooks.table import OPERATIONS, RESOURCES
from core.kernel.errors import StorageError
from core.kernel.values.cache import Rewrite
from core.kernel.values.curation import FileItem, FileMode, LineRange
from core.kernel.values.discussion import DiscussionMeta, DiscussionSummary, OpenDiscussion
from core.kernel.values.stack import ContextReport
from core.kernel.values.state import AppState, CommandOutcome, DiscussionsState
from core.kernel.values.updates import conclude
from core.knowledge.harvest.harvest_messages import UndoHarvest
from core.services.settings.settings_messages import ChangeSetting, StoreKey
from core.talk.context.context_messages import ChangePreset, MeasureContext
from core.talk.discussion.discussion_messages import ChangeDiscussion, UndoDelete
from tests.core.front.hooks.conftest import validator

NOW = datetime(2026, 11, 20, tzinfo=UTC)
HERE = "20261120-120000-abcdef"
STATE = AppState(
    discussions=DiscussionsState(
        summaries={HERE: DiscussionSummary(DiscussionMeta(HERE, "n", NOW, "p", "m"), NOW)}
    )
)

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 300) | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["text", "wait", "name", "items", "path", "slices", "mode", "advance_s", "panel", "x"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


BODIES = {operation.body.__name__: operation.body for operation in OPERATIONS if operation.body is not None}
PANELS = {panel: kinds for panel, (_, kinds) in panels_of(RESOURCES).items()}


def flaw(kind: type[Body], value: Any) -> str:
    """Why a value is not a body, empty where it is one."""
    try:
        taken(kind, value)
    except RefusedError as error:
        assert (error.status, error.code) == (422, "wrong_body")  # noqa: PT017
        return error.what
    return ""


@given(st.sampled_from(sorted(BODIES)), _VALUES)
def test_a_body_is_judged_as_any_validator_of_json_schema_judges_it(name: str, value: Any) -> None:
    ours = flaw(BODIES[name], value) == ""
    theirs = validator({"$ref": f"#/components/schemas/{name}"}).is_valid(value)
    if ours != theirs:  # JSON Schema takes 1.0 for an integer
        assert theirs
        assert isinstance(value, dict)
        assert "slices" in json.dumps(value)


@given(st.sampled_from(sorted(PANELS)), st.data())
def test_whatever_is_asked_of_a_panel_gives_a_command_or_a_refusal(panel: str, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(PANELS[panel]))
    names = list(inspect.signature(kind).parameters)
    body = data.draw(st.dictionaries(st.sampled_from([*names, "x"]), _VALUES, max_size=4))
    try:
        made = make_command(RESOURCES, STATE, panel, action_name(kind), body)
    except RefusedError as error:
        assert error.status in {404, 409, 422}  # noqa: PT017
        assert error.status != 409 or kind is UndoHarvest, "there is nothing to undo"  # noqa: PT017
    else:
        assert isinstance(made, kind)


def test_flaws_say_where_and_what() -> None:
    assert (
        flaw(PresetBody, {"items": [{"path": "a"}, {"path": 3}]})
        == "body.items[1].path: expected string, got integer"
    )
    assert flaw(PresetBody, {}) == "body: object missing required field 'items'"
    assert flaw(PresetBody, {"items": [], "x": 1}) == "body: object contains unknown field 'x'"
    assert flaw(PresetBody, []) == "body: expected object, got array"
    assert "choose from 'whole', 'slices'" in flaw(PresetBody, {"items": [{"path": "a", "mode": "x"}]})
    assert flaw(ApplyBody, {"items": "x"}) == "body.items: invalid enum value 'x'; choose from 'all'"
    assert flaw(ClockBody, {"advance_s": -1}) == "body.advance_s: expected number >= 0.0"
    with pytest.raises(RefusedError, match=r"^limit: expected integer, got string"):
        read_query([("limit", "x")], PageQuery)


@given(st.binary(max_size=200))
def test_any_bytes_are_json_or_refused(data: bytes) -> None:
    try:
        parse(data)
    except RefusedError as error:
        assert error.status == 400  # noqa: PT017


def test_a_body_where_none_is_taken_may_be_empty() -> None:
    assert read_body(b"", "", is_taken=False) == read_body(b" {} ", "", is_taken=False) == {}
    with pytest.raises(RefusedError):
        read_body(b'{"a": 1}', "application/json", is_taken=False)
    body = read_body(b'{"name": "x"}', "Application/JSON; charset=utf-8", is_taken=True)
    assert taken(PresetChoiceBody, body) == PresetChoiceBody("x")


def test_an_answer_is_json_whatever_a_file_is_called() -> None:
    odd = filled(DigestData, STATE.knowledge, path="/a\udcff", size_bytes=0, text="ö")

    assert json.loads(encode(odd))["path"] == "/a?"
    assert "ö".encode() in encode(odd)


def test_times_are_said_with_their_offset() -> None:
    assert encode(ClockData(NOW.isoformat())) == b'{"now":"2026-11-20T00:00:00+00:00"}'
    assert filled(RewriteData, Rewrite(HERE, "why", 1, None, NOW)).until == "2026-11-20T00:00:00+00:00"


ADDRESS = Address("http://127.0.0.1:4711", 12, "secret-token")


def test_the_address_is_found_as_it_was_left_and_gone_after_it(tmp_path: Path) -> None:
    publish(tmp_path, ADDRESS)
    assert find(tmp_path) == ADDRESS
    assert (tmp_path / "hook_token").stat().st_mode & 0o777 == 0o600
    assert "secret-token" not in (tmp_path / "hook.json").read_text()
    withdraw(tmp_path, ADDRESS)
    withdraw(tmp_path, ADDRESS)
    assert find(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_an_address_of_another_program_is_not_taken_away(tmp_path: Path) -> None:
    other = Address("http://127.0.0.1:4712", 13, "another-token")
    publish(tmp_path, ADDRESS)
    publish(tmp_path, other)
    withdraw(tmp_path, ADDRESS)

    assert find(tmp_path) == other


def test_an_old_token_is_replaced_whatever_its_mode_and_a_link_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.write_text("old")
    other.chmod(0o644)
    (tmp_path / "hook_token").symlink_to(other)

    publish(tmp_path, ADDRESS)

    assert other.read_text() == "old"
    assert not (tmp_path / "hook_token").is_symlink()
    assert (tmp_path / "hook_token").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"url": 1, "pid": 1}', b'{"url": "http://evil.example", "pid": 1}',
     b'{"url": "http://127.0.0.1:1", "pid": true}', b'{"pid": 1}', b"\xff"],
)  # fmt: skip
def test_an_address_that_is_none_is_not_found(tmp_path: Path, content: bytes) -> None:
    publish(tmp_path, ADDRESS)
    (tmp_path / "hook.json").write_bytes(content)

    assert find(tmp_path) is None


def test_a_home_that_cannot_be_written_keeps_neither_file(tmp_path: Path) -> None:
    (tmp_path / "hook.json").mkdir()

    with pytest.raises(StorageError):
        publish(tmp_path, ADDRESS)

    assert not (tmp_path / "hook_token").exists()


def test_the_clock_goes_forward_and_not_for_ever() -> None:
    clock = OffsetClock(lambda: NOW)
    assert clock.advance(3600) == NOW + timedelta(hours=1)
    assert clock() == NOW + timedelta(hours=1)
    assert clock.advance(LONGEST_OFFSET_S) is None
    assert clock() == NOW + timedelta(hours=1)


class Front:
    """A controller as the watch sees it."""

    def __init__(self) -> None:
        self.state = AppState()
        self.looks = 0
        self._changed = threading.Condition()

    def send(self, command: Command) -> None:
        raise AssertionError(command)

    def snapshot(self) -> AppState:
        return self.state

    def publish(self, state: AppState) -> None:
        with self._changed:
            self.state = state
            self._changed.notify_all()

    def wait_for(self, predicate: Any, timeout_s: float) -> AppState | None:
        with self._changed:
            self.looks += 1
            found = self._changed.wait_for(lambda: predicate(self.state), timeout_s)
            return self.state if found else None


def test_many_wait_for_states_on_one_thread_and_it_sleeps_when_none_does() -> None:
    front = Front()

    def raised(count: int) -> Callable[[AppState], bool]:
        return lambda state: state.program.raise_count >= count

    async def play() -> list[AppState | None]:
        watch = Watch(front)
        watch.start()
        waits = [asyncio.ensure_future(watch.until(raised(number), 5)) for number in range(20)]
        for number in range(20):
            await asyncio.sleep(0)
            front.publish(replace(front.state, program=replace(front.state.program, raise_count=number)))
        found = await asyncio.gather(*waits)
        assert await watch.until(lambda s: False, 0.01) is None
        looks = front.looks
        await asyncio.sleep(0)
        assert front.looks <= looks + 1
        watch.close()
        return list(found)

    found = asyncio.run(play())
    assert all(state is not None for state in found)


def test_a_stack_that_was_read_before_the_request_is_no_answer_to_it() -> None:
    """A stack is reported twice, the second time with its tokens counted: that may come after the next request."""
    opened = replace(STATE, discussions=replace(STATE.discussions, open={HERE: OpenDiscussion(HERE)}))

    def reported(tokens: int, read_at: datetime) -> AppState:
        report = ContextReport((), (), 0, tokens, None, None, None, read_at=read_at)
        return replace(opened, context=replace(opened.context, reports={HERE: report}))

    class Late(Front):
        def send(self, command: Command) -> None:
            assert isinstance(command, MeasureContext)
            assert command.discussion_id == HERE
            self.done = CommandOutcome(command.command_id)
            self.publish(conclude(reported(1, NOW - timedelta(milliseconds=1)), self.done))

    async def play() -> Any:
        front = Late()
        front.publish(opened)
        desk = HookDesk(front, Watch(front), now=lambda: NOW)
        desk.watch.start()
        answer = asyncio.ensure_future(context(Request(desk, {"discussion_id": HERE}, None)))
        await asyncio.wait({answer}, timeout=0.05)
        assert HERE in front.state.context.reports
        front.publish(conclude(reported(2, NOW), front.done))
        found = await answer
        desk.watch.close()
        return found.data

    assert asyncio.run(play()).total_tokens_est == 2


def test_who_waits_when_the_program_ends_is_refused() -> None:
    async def play() -> int:
        watch = Watch(Front())
        watch.start()
        waiting = asyncio.ensure_future(watch.until(lambda s: False, 60))
        await asyncio.sleep(0)
        watch.close()
        with pytest.raises(RefusedError) as refused:
            await waiting
        return refused.value.status

    assert asyncio.run(play()) == 503


def test_every_command_of_the_window_can_be_asked_for_but_those_held_back() -> None:
    offered = [kind for kinds in PANELS.values() for kind in kinds]

    assert len(offered) == len(set(offered))
    forms = {*choice_forms("discussions"), *choice_forms("composer")}
    assert {*offered, *HELD_BACK, ChangeDiscussion} - forms == set(get_args(Command)), (
        "name the panel of a new command in PANELS"
    )
    assert StoreKey in HELD_BACK


def test_choices_of_a_discussion_are_actions_with_names_of_their_own() -> None:
    """Scripts use these names: a field that is chosen another way inside keeps its action."""
    forms = [form for panel in ("discussions", "composer") for form in choice_forms(panel)]

    assert {action_name(form): form.__struct_fields__[1:] for form in forms} == {
        "rename_discussion": ("name",), "pin_discussion": ("is_pinned",), "archive_discussion": ("is_archived",),
        "set_model": ("provider", "model"), "set_effort": ("effort",), "set_temperature": ("temperature",), "set_top_p": ("top_p",),
        "set_max_output": ("tokens",), "set_discussion_preset": ("preset",), "set_persona": ("persona",),
        "set_system_preset": ("system_preset",),
    }  # fmt: skip


def test_a_panels_command_is_made_from_its_fields() -> None:
    made = make_command(RESOURCES, STATE, "discussions", "pin_discussion",
                        {"panel": "discussions", "action": "pin_discussion", "discussion_id": HERE, "is_pinned": True})  # fmt: skip
    assert made == ChangeDiscussion(discussion_id=HERE, changes={"pinned": True})
    assert make_command(
        RESOURCES, STATE, "settings", "change_setting", {"key": "trash_days", "value": None}
    ) == ChangeSetting("trash_days", None)
    assert make_command(
        RESOURCES,
        STATE,
        "settings",
        "change_setting",
        {"key": "ai_settings.knowledge.harvest_sources", "value": ["a", "b"]},
    ) == ChangeSetting("ai_settings.knowledge.harvest_sources", ("a", "b"))
    items = [{"path": "a.py", "mode": "slices", "slices": [[1, 2]]}]
    assert make_command(
        RESOURCES, STATE, "presets", "change_preset", {"name": "p", "items": items}
    ) == ChangePreset("p", (FileItem("a.py", FileMode.SLICES, (LineRange(1, 2),)),))
    assert make_command(
        RESOURCES, STATE, "discussions", "undo_delete", {"discussion_id": "gone"}
    ) == UndoDelete("gone")


@pytest.mark.parametrize(
    ("panel", "action", "body", "status"),
    [
        ("nowhere", "pin_discussion", {}, 404),
        ("presets", "pin_discussion", {}, 404),
        ("settings", "store_key", {"provider": "openai", "key": "sk"}, 403),
        ("settings", "save_server", {"id": "a", "label": "", "base_url": "https://b.example"}, 403),
        (
            "settings",
            "change_setting",
            {"key": "providers.openai.base_url", "value": "https://b.example"},
            403,
        ),
        ("discussions", "PinDiscussion", {}, 404),
        ("discussions", "rename_discussion", {"discussion_id": "none", "name": "x"}, 404),
        ("discussions", "rename_discussion", {"discussion_id": HERE}, 422),
        ("discussions", "rename_discussion", {"discussion_id": HERE, "name": 1}, 422),
        ("discussions", "rename_discussion", {"discussion_id": HERE, "name": "x", "y": 1}, 422),
        ("settings", "change_setting", {"key": "a", "value": [1]}, 422),
        ("presets", "change_preset", {"name": "p", "items": [{"path": "a", "slices": [[3, 1]]}]}, 422),
    ],
)
def test_what_no_widget_would_send_is_refused(
    panel: str, action: str, body: dict[str, Any], status: int
) -> None:
    with pytest.raises(RefusedError) as refused:
        make_command(RESOURCES, STATE, panel, action, body)

    assert refused.value.status == status
    assert refused.value.what


def test_the_fields_of_every_command_have_a_schema() -> None:
    for kinds in PANELS.values():
        for kind in kinds:
            assert jsonschema_rs.validator_for(msgspec.json.schema(fields_type(kind))) is not None


def test_nothing_of_it_is_loaded_while_it_is_off() -> None:
    code = (
        "import sys, gui.main, core.front.cli.session, core.front.cli.run, core.front.hooks.launch, core.app.controller\n"
        "print([name for name in ('starlette', 'uvicorn', 'h11', 'asyncio', 'core.front.hooks.server', 'core.front.hooks.table') if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )

    assert run.stdout.strip() == "[]"
