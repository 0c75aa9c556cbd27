"""View of the manager of MCP servers: what is unfolded, which tools are ticked, the form."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from panels.base.view import Kept


class McpForm(msgspec.Struct):
    """A server that is being entered. `line`: its command or its address; `error`: why it is not taken; `sent`: the command under way."""

    name: str = ""
    line: str = ""
    variables: str = ""
    network: bool = False
    error: str = ""
    sent: str = ""


class McpView(msgspec.Struct):
    """The manager's own state.

    Args:
        folded: servers whose tools are shown or hidden against what is usual, by name; open_tools: those whose
            description and schema are shown, by server and tool; whole: servers of which all tools are shown.
        left: tools that the person unticked, by the question's id; sent: commands whose outcome may be seen, by server.
        looked_with: the folder and the servers that were last looked at.
    """

    kept: ClassVar[tuple[Kept, ...]] = ()

    folded: frozenset[str] = frozenset()
    open_tools: frozenset[tuple[str, str]] = frozenset()
    whole: frozenset[str] = frozenset()
    left: dict[str, frozenset[str]] = msgspec.field(default_factory=dict)
    sent: dict[str, str] = msgspec.field(default_factory=dict)
    looked_with: tuple[str, tuple[str, ...]] | None = None
    form: McpForm | None = None
