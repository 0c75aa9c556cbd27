"""Grammar of the commands about this machine and its settings: `tour`, `presets`, `models`, `doctor`, `trust`, `key`."""

from __future__ import annotations

from core.cli.grammar_talk import add_trust
from core.cli.parser import Commands, Parser, add_command

TOUR_OUT = "out/tour"
TOUR_CHAPTERS = (
    *("start", "talk", "caching", "preset", "question", "context"),
    *("search", "harvest", "attach", "import", "retrieval", "agent", "among", "theme"),
)
"""Parts of the tour, in its order."""


def add_tour(commands: Commands[Parser], common: Parser) -> None:
    """Add the window driven through its main job."""
    parser = add_command(commands, common, "tour", "drive the real window through its main job")
    parser.add_argument(
        "--out", metavar="DIR", default=TOUR_OUT, help=f"where its screenshots go ({TOUR_OUT})"
    )
    chapters = f"{', '.join(TOUR_CHAPTERS[:-1])} or {TOUR_CHAPTERS[-1]}"
    parser.add_argument(
        "--until",
        metavar="CHAPTER",
        default="",
        choices=("", *TOUR_CHAPTERS),
        help=f"end it after {chapters} (all of it)",
    )


def add_lists(commands: Commands[Parser], common: Parser) -> None:
    """Add `presets`, `models` and `doctor`."""
    presets = add_command(
        commands, common, "presets", "list the project's context presets, personas and system prompts"
    )
    add_trust(presets)
    models = add_command(commands, common, "models", "list providers and their models")
    models.add_argument("provider", nargs="?", default="", help="only this one")
    models.add_argument("--refresh", action="store_true", help="ask the providers' servers for their lists")
    models.add_argument(
        "--update-prices",
        action="store_true",
        help="take newer prices from the network, and go by them from now on",
    )
    doctor = add_command(
        commands, common, "doctor", "check what is installed, found, configured and writable, with remedies"
    )
    doctor.add_argument(
        "--quick", action="store_true", help="do not start the embedded model and other programs"
    )


def add_settings(commands: Commands[Parser], common: Parser) -> None:
    """Add `trust`, `key` and `servers`."""
    trust = add_command(
        commands, common, "trust", "let what a folder's manual_slop.toml asks for count, after showing it"
    )
    trust.add_argument("folder", nargs="?", default="", help="the folder (the current project)")
    trust.add_argument("--list", action="store_true", help="print the trusted folders")
    trust.add_argument("--yes", action="store_true", help="say yes to what is shown without being asked")
    trust.add_argument("--remove", action="store_true", help="stop trusting it")
    servers = add_command(
        commands, common, "servers", "list MCP servers, and approve one after its questions on this terminal"
    )
    servers.add_argument("server", nargs="?", default="", help="its name; without one, all of them")
    servers.add_argument("--approve", action="store_true", help="show what it would start and offer, and ask")
    servers.add_argument("--forget", action="store_true", help="take the yes back")
    keys = add_command(
        commands,
        common,
        "key",
        "keep or remove a provider's key",
        "The key is read from standard input, never from the command line, where others could see it.",
    )
    keys.add_argument("provider", nargs="?", default="", help="its id; without one, where each key was found")
    keys.add_argument("--remove", action="store_true", help="remove it")
