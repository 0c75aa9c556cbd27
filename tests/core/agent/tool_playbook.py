"""A playbook of turns with tools: a model whose replies are given, and tools that do what a test says."""

from __future__ import annotations

import json

from msgspec.structs import replace

from core.agent.agent_messages import CallDone, CallJudged, JudgeCall, RunCall, SetTools
from core.agent.tool import ToolAnswer
from core.agent.tool_policy import approval_id
from core.app.app_messages import Effect
from core.kernel.values.agent import ActKind, AgentTurn, Approval, CallState, Mode
from core.kernel.values.messages import Message, Part, TextPart, ToolCallPart
from core.kernel.values.provider import ProviderKind, StopKind, Stopped
from core.kernel.values.settings import Project, Settings
from core.kernel.values.usage import Usage
from core.talk.discussion.discussion_messages import AppendRecords, WriteMeta
from core.talk.turn.turn_messages import CallEnded, CallProvider
from tests.core.app.playbook import Playbook, of, settings_loaded

KINDS = {
    "look": ActKind.READ,
    "write": ActKind.EDIT,
    "bash": ActKind.COMMAND,
    "fetch": ActKind.NETWORK,
    "todo": ActKind.OWN,
}


def asks(*calls: tuple[str, str]) -> tuple[Part, ...]:
    """Parts of a reply that asks for tools: an id and a name each."""
    return (
        TextPart("Let me see."),
        *(ToolCallPart(one, name, json.dumps({"of": one})) for one, name in calls),
    )


class ToolPlaybook(Playbook):
    """One discussion with tools in a trusted folder."""

    def with_tools(self, mode: Mode = Mode.ASK, settings: Settings | None = None) -> str:
        """A discussion with tools; its id."""
        self.ready()
        loaded = settings_loaded(Project(root="/project", name="project", is_trusted=True), settings)
        prompts = {**loaded.prompts, "nudge.md": "Say something.\n"}
        built_in = replace(
            loaded.providers["embedded"], kind=ProviderKind.COMPATIBLE
        )  # as free, and takes tools
        providers = {**loaded.providers, "embedded": built_in}
        paths = ("/config/settings.toml",)
        self.play(replace(loaded, prompts=prompts, settings_paths=paths, providers=providers))
        chosen = self.discussion()
        assert of(self.play(SetTools(chosen, has_tools=True, mode=mode)), WriteMeta)
        return chosen

    def reply(
        self, call: CallProvider, parts: tuple[Part, ...], kind: StopKind = StopKind.TOOL_CALLS
    ) -> tuple[Effect, ...]:
        """The model replies and the disk keeps it; what follows."""
        ended = CallEnded(call.call_id, Stopped(kind), parts, Usage(input_tokens=10, cost_usd=0.01))
        return self.keep(self.play(ended))

    def keep(self, effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
        """The disk keeps all that is written, also what follows from it; the other effects."""
        others: list[Effect] = []
        for effect in effects:
            if isinstance(effect, AppendRecords):
                others += self.keep(self.append(effect))
            else:
                others.append(effect)
        return tuple(others)

    def judge(
        self, effect: JudgeCall, *reasons: str, problem: str = "", grant: str = ""
    ) -> tuple[Effect, ...]:
        """A tool judges a call; what follows, the disk keeping all."""
        kind = KINDS.get(effect.name, ActKind.OWN)
        asked = approval_id(effect.name, effect.arguments_json, effect.places.root, "")
        approval = Approval(kind, f"{effect.name} {effect.call_id}", id=asked, reasons=reasons, grant=grant)
        return self.keep(self.play(CallJudged(effect.discussion_id, effect.call_id, approval, problem)))

    def finish(self, effect: RunCall, text: str = "done", *, is_error: bool = False) -> tuple[Effect, ...]:
        """A tool is done; what follows, the disk keeping all."""
        return self.keep(
            self.play(CallDone(effect.discussion_id, effect.call_id, ToolAnswer(text, is_error)))
        )

    def turn(self, chosen: str) -> AgentTurn:
        """The turn that runs."""
        return self.state.agent.turns[chosen]

    def states(self, chosen: str) -> dict[str, CallState]:
        """State of each call of the last turn, by its id."""
        return {one.id: one.state for one in self.state.agent.pages[chosen].activity}

    def said(self, chosen: str) -> tuple[Message, ...]:
        """The messages of the discussion."""
        return self.state.discussions.open[chosen].messages
