"""Turns with tools in any order of what may come: no call without its result, nothing lost, the view always fits."""

from __future__ import annotations

import random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec.structs import replace

from core.agent.agent_messages import (
    ApproveCall,
    CallDone,
    CallJudged,
    JudgeCall,
    RefuseCall,
    RunCall,
    SetTools,
)
from core.agent.cut_plan import restore_from_log
from core.agent.tool import ToolAnswer
from core.agent.tool_policy import approval_id
from core.app.app_messages import Effect
from core.kernel.errors import FailureKind
from core.kernel.values.agent import Approval, CallState, Mode
from core.kernel.values.messages import Message, Role, TextPart, ToolCallPart, ToolResultPart
from core.kernel.values.provider import Failure, StopKind, Stopped
from core.kernel.values.records import MessageRecord, Record, StartRecord
from core.kernel.values.updates import PathsChanged, Watched
from core.kernel.values.usage import Usage
from core.services.settings.settings_messages import SettingsSettled
from core.talk.discussion.cuts import sent_view
from core.talk.discussion.discussion_messages import (
    AppendRecords,
    DiscussionLoaded,
    RecordsAppended,
    WriteFailed,
)
from core.talk.discussion.log_content import fold
from core.talk.discussion.open_calls import NO_RESULT, left_calls, paired
from core.talk.turn.turn_messages import (
    CallEnded,
    CallFailed,
    CallProvider,
    CancelReply,
    RetrySend,
    SendPrompt,
)
from tests.core.agent.tool_playbook import KINDS, ToolPlaybook, asks
from tests.core.app.playbook import of

_SEEDS = st.integers(0, 10_000)

LOST = Failure(FailureKind.STREAM_DROPPED, "The stream was dropped", "Retry.")


class Turns(RuleBasedStateMachine):
    """A person, a model, tools and a disk that each take their time; and a program that is killed at any instant.

    The disk is a list of records; what the program asked it to write and it has not written dies with the program.
    """

    @initialize()
    def begin(self) -> None:
        self.book = ToolPlaybook()
        self.chosen = self.book.with_tools()
        self.log: list[Record] = []
        self.writes: list[AppendRecords] = []
        self.judges: list[JudgeCall] = []
        self.runs: list[RunCall] = []
        self.calls: list[CallProvider] = []
        self.ran: list[str] = []
        self.number = 0

    def take(self, effects: tuple[Effect, ...]) -> None:
        """What others are asked to do from now on."""
        self.writes += [one for one in of(effects, AppendRecords) if one.records]
        self.judges += of(effects, JudgeCall)
        self.runs += of(effects, RunCall)
        self.calls += of(effects, CallProvider)
        assert self.book.state.config.is_settled or not of(effects, JudgeCall)
        begun = [one.call_id for one in of(effects, RunCall)]
        self.ran += begun
        for one in begun:
            assert any(isinstance(r, StartRecord) and r.call_id == one for r in self.log), (
                "noted before it runs"
            )
        for call in of(effects, CallProvider):
            self.check_request(call)

    def check_request(self, call: CallProvider) -> None:
        """Each call of a request has its result right behind its reply; all that is sent is on disk."""
        open_ids: list[str] = []
        for message in call.spec.inputs.turns:
            answered = [part.call_id for part in message.parts if isinstance(part, ToolResultPart)]
            assert answered == open_ids[: len(answered)], "results stand in the order of their calls"
            open_ids = open_ids[len(answered) :]
            asked = [part.call_id for part in message.parts if isinstance(part, ToolCallPart)]
            assert not (open_ids and message.role is not Role.TOOL), "no call is parted from its result"
            open_ids += asked
        assert not open_ids
        results = [p for one in call.spec.inputs.turns for p in one.parts if isinstance(p, ToolResultPart)]
        assert all(part.text != NO_RESULT for part in results), "each result is on disk before it is sent"
        kept = {one.id for one in self.log}
        assert {one.id for one in call.spec.inputs.turns if "/" not in one.id} <= kept

    def play(self, body: object) -> None:
        self.book.later(1)
        self.take(self.book.play(body))  # type: ignore[arg-type]

    @rule()
    def the_person_sends(self) -> None:
        """Write on, most often to a model that is idle."""
        self.number += 1
        self.play(SendPrompt(self.chosen, f"words {self.number}"))

    @rule()
    def the_person_stops(self) -> None:
        self.play(CancelReply(self.chosen))

    @rule()
    def the_person_tries_again(self) -> None:
        self.play(RetrySend(self.chosen))

    @rule(mode=st.sampled_from(Mode))
    def the_person_changes_the_mode(self, mode: Mode) -> None:
        self.play(SetTools(self.chosen, has_tools=True, mode=mode))

    @rule(seed=_SEEDS, steps=st.integers(1, 8))
    def it_goes_on(self, seed: int, steps: int) -> None:
        """Whoever is asked for something comes to it, in any order."""
        self.go_on(random.Random(seed), steps)

    @rule(seed=_SEEDS)
    def it_goes_far(self, seed: int) -> None:
        """The same for long: most turns come to their end."""
        if not self.book.state.turns.calls:
            self.the_person_sends()
        self.go_on(random.Random(seed), 30)

    @rule(seed=_SEEDS, steps=st.integers(5, 20))
    def it_goes_on_and_the_program_is_killed(self, seed: int, steps: int) -> None:
        """A kill in the middle."""
        self.it_goes_far(seed)
        self.the_person_sends()
        self.go_on(random.Random(seed), steps)
        self.the_program_is_killed_and_starts_again()
        self.go_on(random.Random(seed), steps)

    def go_on(self, chance: random.Random, steps: int) -> None:
        """Do so many of the things that are waited for."""
        for _ in range(steps):
            waiting = {
                "write": self.writes,
                "call": self.calls,
                "judge": self.judges,
                "run": self.runs,
                "ask": self.asking(),
            }
            able = [name for name, one in waiting.items() if one]
            if not able:
                return
            match chance.choice(able):
                case "write":
                    self.the_disk_comes_to_it(fails=chance.random() < 0.05)
                case "call":
                    names = chance.choices(
                        ["look", "write", "bash", "todo"], k=chance.choice([0, 1, 2, 3, 3])
                    )
                    self.the_model_ends(names, chance.randrange(8))
                case "judge":
                    at = chance.randrange(len(self.judges))
                    self.a_call_is_judged(at, chance.random() < 0.3, fails=chance.random() < 0.1)
                case "run":
                    self.a_call_is_done(chance.randrange(len(self.runs)), is_yield=chance.random() < 0.05)
                case _:
                    call_id, question = chance.choice(self.asking())
                    yes = ApproveCall(self.chosen, call_id, question)
                    self.play(yes if chance.random() < 0.8 else RefuseCall(self.chosen, call_id))

    def the_disk_comes_to_it(self, *, fails: bool) -> None:
        """Write what was asked for first."""
        write = self.writes.pop(0)
        if fails:
            self.play(WriteFailed(self.chosen, write.token, "The disk is full", "", write.records))
            pending = self.book.state.discussions.pending
            self.writes += (
                [replace(write)] if any(p.records == write.records for p in pending.values()) else []
            )
            return
        self.log += write.records
        self.play(RecordsAppended(self.chosen, write.records, write.token))

    def the_model_ends(self, names: list[str], how: int) -> None:
        """A reply with calls, one of words, an empty one (0), one that breaks off (5)."""
        call = self.calls.pop(0)
        usage = Usage(input_tokens=10, cost_usd=0.01)
        if how == 5:
            self.play(CallFailed(call.call_id, LOST, (TextPart("I s"),), usage))
            return
        self.number += 1
        asked = asks(*((f"c{self.number}-{at}", name) for at, name in enumerate(names)))
        parts = asked if names or how else ()
        phase = self.book.state.turns.calls.get(self.chosen)
        is_stopped = phase is not None and phase.phase.value == "stopping"
        kind = StopKind.TOOL_CALLS if names else StopKind.COMPLETED
        self.play(CallEnded(call.call_id, Stopped(StopKind.CANCELLED if is_stopped else kind), parts, usage))

    def a_call_is_judged(self, at: int, must_ask: bool, *, fails: bool) -> None:
        """A tool says what a call would do."""
        effect = self.judges.pop(at)
        bound = approval_id(effect.name, effect.arguments_json, effect.places.root, "")
        approval = Approval(KINDS[effect.name], effect.name, id=bound)
        problem = "It cannot be done." if fails else ""
        self.play(CallJudged(self.chosen, effect.call_id, approval, problem, must_ask=must_ask))

    def a_call_is_done(self, at: int, *, is_yield: bool) -> None:
        """A tool is done."""
        effect = self.runs.pop(at)
        self.play(CallDone(self.chosen, effect.call_id, ToolAnswer("result", is_yield=is_yield)))

    @rule()
    def settings_are_read_anew(self) -> None:
        self.book.settles = False
        self.play(PathsChanged(Watched.SETTINGS, ()))
        self.book.settles = True

    @rule()
    def settings_hold(self) -> None:
        self.play(SettingsSettled(self.book.state.config.asked))

    @rule()
    def the_program_is_killed_and_starts_again(self) -> None:
        begun = set(self.ran)
        state = self.book.state
        self.writes, self.judges, self.runs, self.calls = [], [], [], []
        found = left_calls(self.log, self.book.later(1).at)
        self.log += found.results
        told = {p.call_id for one in found.results for p in one.parts if isinstance(p, ToolResultPart)}
        assert not set(found.asked) & begun, "what was begun is never begun again"
        assert told | set(found.asked) == self.open_ids() | told
        opened = replace(fold(self.chosen, self.log), left_calls=found.asked)
        self.book.state = replace(
            state,
            agent=replace(state.agent, turns={}, pages={}),
            turns=replace(state.turns, calls={}),
            discussions=replace(state.discussions, open={}, pending={}),
        )
        self.play(DiscussionLoaded(opened))

    def asking(self) -> list[tuple[str, str]]:
        turn = self.book.state.agent.turns.get(self.chosen)
        return [
            (one.id, one.approval.id)
            for one in (turn.calls if turn is not None else ())
            if one.state is CallState.ASKING and one.approval is not None
        ]

    def open_ids(self) -> set[str]:
        """Calls on disk whose results are not."""
        said = [part for one in self.log if isinstance(one, MessageRecord) for part in one.parts]
        asked = {part.call_id for part in said if isinstance(part, ToolCallPart)}
        return asked - {part.call_id for part in said if isinstance(part, ToolResultPart)}

    @invariant()
    def nothing_runs_twice_and_nothing_has_two_results(self) -> None:
        assert len(self.ran) == len(set(self.ran))
        said = [part for one in self.log if isinstance(one, MessageRecord) for part in one.parts]
        results = [part.call_id for part in said if isinstance(part, ToolResultPart)]
        assert len(results) == len(set(results))

    @invariant()
    def the_log_is_what_is_shown(self) -> None:
        opened = self.book.state.discussions.open[self.chosen]
        aside = [entry for one in opened.versions.values() for run in one.aside.values() for entry in run]
        shown = {one.id for one in (*opened.entries, *aside) if isinstance(one, Message)}
        assert shown == {one.id for one in self.log if isinstance(one, MessageRecord)}
        assert restore_from_log(self.log) == sent_view(opened)

    @invariant()
    def no_call_in_the_view_is_without_its_result(self) -> None:
        view = paired(sent_view(self.book.state.discussions.open[self.chosen]))
        calls = [part.call_id for one in view for part in one.parts if isinstance(part, ToolCallPart)]
        results = [part.call_id for one in view for part in one.parts if isinstance(part, ToolResultPart)]
        assert calls == results

    @invariant()
    def an_open_call_is_somebodys(self) -> None:
        """Each call on disk without a result is one of the turn that runs, its result on the way to disk."""
        turn = self.book.state.agent.turns.get(self.chosen)
        known = {one.id for one in turn.calls} if turn is not None else set()
        writing = {
            part.call_id
            for write in self.writes
            for one in write.records
            if isinstance(one, MessageRecord)
            for part in one.parts
            if isinstance(part, ToolResultPart)
        }
        left = set(self.book.state.discussions.open[self.chosen].left_calls)
        assert self.open_ids() <= known | writing | left

    def teardown(self) -> None:
        """Whatever was under way comes to its end, and then nothing is."""
        if not hasattr(self, "book"):
            return
        self.settings_hold()
        self.play(CancelReply(self.chosen))
        for _ in range(60):
            if self.writes:
                self.the_disk_comes_to_it(fails=False)
            elif self.calls:
                self.the_model_ends([], 1)
            elif self.runs:
                effect = self.runs.pop()
                self.play(CallDone(self.chosen, effect.call_id, ToolAnswer("end"), is_interrupted=True))
            elif self.judges:
                self.a_call_is_judged(0, False, fails=False)
            else:
                break
        assert not self.open_ids(), "every call has its result"
        assert not self.book.state.agent.turns
        assert not self.book.state.turns.calls


Turns.TestCase.settings = settings(max_examples=40, stateful_step_count=10, deadline=None)
TestTurns = Turns.TestCase
