"""The whole program's messages: what the window itself asks for, and the closed unions over all rooms."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from core.agent.agent_messages import (
    AgentCommand,
    AgentEffect,
    AgentEvent,
    ApproveCall,
    AttentionCommand,
    CompactionCommand,
    CompactionEffect,
    CompactionEvent,
    RefuseCall,
    SetTools,
    StartAutonomy,
)
from core.app.forgetting.forgetting_messages import ForgettingCommand, ForgettingEffect, ForgettingEvent
from core.imports.imports_messages import ImportCommand, ImportEffect, ImportEvent
from core.kernel.ids import Stamp
from core.kernel.values.updates import Report
from core.knowledge.harvest.harvest_messages import HarvestCommand, HarvestEffect, HarvestEvent
from core.knowledge.knowledge_messages import KnowledgeCommand, KnowledgeEffect, KnowledgeEvent
from core.knowledge.mcp_server.proposal_messages import (
    AcceptProposal,
    McpServerCommand,
    McpServerEffect,
    McpServerEvent,
)
from core.mcp.mcp_messages import (
    ApproveServer,
    ApproveTools,
    McpCommand,
    McpEffect,
    McpEvent,
    OfferServerTools,
    RemoveMcpServer,
    SetMcpServer,
    WithdrawApproval,
)
from core.retrieval.retrieval_messages import RetrievalCommand, RetrievalEffect, RetrievalEvent
from core.services.settings.settings_messages import (
    SettingsCommand,
    SettingsEffect,
    SettingsEvent,
    StoreKey,
    TrustProject,
)
from core.services.spending.spending_messages import SpendingEffect, SpendingEvent
from core.signals.signals_messages import SignalCommand, SignalEffect, SignalEvent
from core.talk.caching.caching_messages import CachingCommand, CachingEffect, CachingEvent
from core.talk.context.context_messages import ContextCommand, ContextEffect, ContextEvent, LookUpFiles
from core.talk.discussion.discussion_messages import DiscussionCommand, DiscussionEffect, DiscussionEvent
from core.talk.turn.turn_messages import TurnCommand, TurnEffect, TurnEvent


class DismissNotice(msgspec.Struct, frozen=True):
    """The person has read a notice."""

    notice_id: str


class SaveWindow(msgspec.Struct, frozen=True):
    """Persist panes, tabs, scroll, theme and scale. `data_toml` is the window's own table."""

    data_toml: str


class Quit(msgspec.Struct, frozen=True):
    """Finish what is being written, cancel calls, end the workers."""


class WriteWindow(msgspec.Struct, frozen=True):
    """Persist `<home>/state.toml`."""

    window_toml: str
    selected_id: str


class WatchFiles(msgspec.Struct, frozen=True):
    """Watch these absolute paths and no others; settings files are told apart by `settings_paths`.

    `home` and `discussion_ids`: the list of discussions and the content of these are watched too. `source_folders`: in
    them any file counts, for the index of what is searched.
    """

    paths: tuple[str, ...]
    settings_paths: tuple[str, ...]
    home: str = ""
    discussion_ids: tuple[str, ...] = ()
    knowledge_paths: tuple[str, ...] = ()
    source_folders: tuple[str, ...] = ()


class HomeOpened(msgspec.Struct, frozen=True):
    """The home is ours. `repaired`: what was mended on the way; `odd`: names at which no files stand; in sentences.

    `is_headless`: nobody sits in front of a window; `crash`: path of the report of a run that ended unexpectedly.
    """

    home: str
    is_read_only: bool = False
    window_toml: str = ""
    selected_id: str = ""
    repaired: tuple[str, ...] = ()
    odd: tuple[str, ...] = ()
    is_headless: bool = False
    crash: str = ""


class RaiseRequested(msgspec.Struct, frozen=True):
    """A second start asked this one to come forward."""


class OwnerChanged(msgspec.Struct, frozen=True):
    """Another program owns the home now: `holder`, in words; empty: it has ended, and this one owns the home again."""

    holder: str = ""


AppCommand = DismissNotice | SaveWindow | Quit

AppEffect = WriteWindow | WatchFiles | Quit

AppEvent = HomeOpened | RaiseRequested | OwnerChanged

Command = (
    AppCommand
    | DiscussionCommand
    | TurnCommand
    | ContextCommand
    | SettingsCommand
    | CachingCommand
    | KnowledgeCommand
    | HarvestCommand
    | McpServerCommand
    | RetrievalCommand
    | AgentCommand
    | McpCommand
    | ImportCommand
    | ForgettingCommand
    | CompactionCommand
    | AttentionCommand
    | SignalCommand
)
"""Commands that a front end may give the controller. The window, the CLI, the Hook API and the tests send
these and nothing else.
"""

PERSON_ONLY: tuple[type[Any], ...] = (
    SetTools,
    ApproveCall,
    RefuseCall,
    TrustProject,
    StoreKey,
    ApproveServer,
    ApproveTools,
    WithdrawApproval,
    SetMcpServer,
    RemoveMcpServer,
    OfferServerTools,
    AcceptProposal,
    StartAutonomy,
)
"""Commands that count only from a person: what tools may do, which servers run, whether a folder is trusted, keys, autonomy,
what other programs propose for knowledge. The token of the Hook API
stands on disk, where a command could read it, so none of these comes with it."""


def awaited(command: Command, command_id: str) -> Command:
    """The command with the id by which a front end waits for its `CommandOutcome`. It must be one that takes an id."""
    asked: Command = replace(command, command_id=command_id)  # type: ignore[arg-type]
    return asked


Effect = (
    AppEffect
    | DiscussionEffect
    | TurnEffect
    | ContextEffect
    | LookUpFiles
    | SettingsEffect
    | CachingEffect
    | KnowledgeEffect
    | HarvestEffect
    | McpServerEffect
    | RetrievalEffect
    | AgentEffect
    | McpEffect
    | ImportEffect
    | ForgettingEffect
    | SpendingEffect
    | CompactionEffect
    | SignalEffect
)
"""Work that the controller orders from the outside."""

Event = (
    AppEvent
    | Report
    | DiscussionEvent
    | TurnEvent
    | ContextEvent
    | SettingsEvent
    | CachingEvent
    | KnowledgeEvent
    | HarvestEvent
    | McpServerEvent
    | RetrievalEvent
    | AgentEvent
    | McpEvent
    | ImportEvent
    | ForgettingEvent
    | SpendingEvent
    | CompactionEvent
    | SignalEvent
)
"""Events outside the controller. Time and content arrive inside."""


class Input(Stamp, frozen=True):
    """A command or event, stamped by the runtime."""

    body: Command | Event
