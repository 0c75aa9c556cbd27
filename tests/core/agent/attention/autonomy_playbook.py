"""A playbook of one autonomous discussion: a model whose replies are given, a disk that keeps all, a clock."""

from __future__ import annotations

import json

from core.agent.agent_messages import CallDone, JudgeCall, RunCall, StartAutonomy
from core.agent.tool import ToolAnswer
from core.app.app_messages import Effect
from core.kernel.errors import FailureKind
from core.kernel.values.agent import Autonomy, Mode
from core.kernel.values.messages import Message, Part, Role, TextPart, ToolCallPart
from core.kernel.values.provider import Failure, ModelPrice, StopKind, Stopped
from core.kernel.values.settings import AgentSettings, Settings
from core.kernel.values.updates import Tick
from core.kernel.values.usage import Usage
from core.services.settings.settings_messages import PricesFound
from core.talk.turn.turn_messages import CallEnded, CallFailed, CallProvider, SendPrompt
from tests.core.agent.tool_playbook import ToolPlaybook
from tests.core.app.playbook import of

WAKEFUL = Settings(agent=AgentSettings(dreams=False))
USD = 0.25
"""Cost of each reply."""


class AutonomyPlaybook(ToolPlaybook):
    """One discussion that is autonomous, of a model whose price is known."""

    price: ModelPrice | None = ModelPrice(1.0, 2.0)

    def prepared(self, settings: Settings | None = None) -> str:
        """A discussion with tools whose model's price is known; its id."""
        chosen = self.with_tools(Mode.ASK, settings or WAKEFUL)
        meta = self.state.discussions.summaries[chosen].meta
        self.play(PricesFound({(meta.provider, meta.model): self.price}))
        return chosen

    def autonomous(self, settings: Settings | None = None) -> str:
        """Such a discussion, autonomous; its id."""
        chosen = self.prepared(settings)
        self.play(StartAutonomy(chosen))
        return chosen

    @property
    def loop(self) -> Autonomy:
        """The autonomy that there is."""
        assert self.state.attention.autonomy is not None
        return self.state.attention.autonomy

    def after(self, seconds: float) -> tuple[Effect, ...]:
        """Let time pass, the disk keeping all; what follows."""
        self.later(seconds)
        return self.keep(self.play(Tick()))

    def next_call(self, seconds: float | None = None) -> CallProvider:
        """The call of the next turn of its own, once it is time."""
        assert self.loop.next_at is not None
        left = (self.loop.next_at - self.at).total_seconds() if seconds is None else seconds
        (call,) = of(self.after(left), CallProvider)
        return call

    def says(self, call: CallProvider, text: str = "I looked.") -> None:
        """The model replies in words: its turn is over."""
        ended = CallEnded(
            call.call_id, Stopped(StopKind.COMPLETED), (TextPart(text),), Usage(5, cost_usd=USD)
        )
        self.keep(self.play(ended))

    def uses(self, call: CallProvider, name: str = "look", **arguments: object) -> tuple[Effect, ...]:
        """The model asks for a tool, which is done; what follows."""
        part: tuple[Part, ...] = (ToolCallPart(f"c{self.count}", name, json.dumps(arguments)),)
        ended = CallEnded(call.call_id, Stopped(StopKind.TOOL_CALLS), part, Usage(5, cost_usd=USD))
        (asked,) = of(self.keep(self.play(ended)), JudgeCall)
        (run,) = of(self.judge(asked), RunCall)
        return self.done(run)

    def done(self, run: RunCall) -> tuple[Effect, ...]:
        """A tool is done; a yield hands over."""
        is_yield = run.name == "yield_to_user"
        return self.keep(
            self.play(CallDone(run.discussion_id, run.call_id, ToolAnswer("done", is_yield=is_yield)))
        )

    def yields(self, call: CallProvider, *, until_person: bool = False) -> None:
        """The model hands over."""
        assert not of(self.uses(call, "yield_to_user", until_person=until_person), CallProvider)

    def fails(self, call: CallProvider) -> None:
        """The vendor does not answer."""
        failure = Failure(FailureKind.STREAM_DROPPED, "The stream was dropped")
        self.keep(self.play(CallFailed(call.call_id, failure, (), Usage())))

    def writes(self, chosen: str, text: str = "Go on.") -> CallProvider:
        """The person writes; the call that follows."""
        (call,) = of(self.keep(self.play(SendPrompt(chosen, text))), CallProvider)
        return call

    def own(self, chosen: str) -> tuple[Message, ...]:
        """Messages by which turns of its own began."""
        return tuple(one for one in self.said(chosen) if one.is_autonomous and one.role is Role.USER)
