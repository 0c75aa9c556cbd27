"""Grammar of the commands about what is kept and known: `import`, `forget`, `secrets`, `harvest`, `knowledge`."""

from __future__ import annotations

from core.front.cli.parser import CATEGORIES, CommandParsers, Parser, add_command, days, size_bytes

FOLLOWED = ("claude-code", "codex", "gemini", "opencode", "zed", "llm")
"""Names of `core.imports.import_sources.known_places`, whose module takes longer to load than all of the help."""


def add_import(commands: CommandParsers, common: Parser) -> None:
    """Add `import`."""
    parser = add_command(
        commands,
        common,
        "import",
        "make discussions of conversations from other programs",
        "Reads exports of ChatGPT and Claude (zipped or not), sessions of Claude Code, aider and SpecStory, and text. "
        "Importing twice adds nothing; a file that grew adds its new part. What you follow is taken by itself while a window "
        "or --headless runs.",
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files and folders, `-` for the standard input"
    )
    parser.add_argument(
        "--follow",
        nargs="?",
        const="",
        default=None,
        metavar="NAME",
        help=f"take new sessions of a program by themselves: {', '.join(FOLLOWED)}, or a folder; without a name, list what is "
        "followed",
    )
    parser.add_argument("--unfollow", default="", metavar="NAME", help="follow it no more")
    parser.add_argument("--yes", action="store_true", help="say yes to --follow without being asked")
    parser.add_argument("--dry-run", action="store_true", help="say what would be imported, write nothing")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="ID",
        help="leave one conversation out, by the id that --dry-run names it with; may be given several times",
    )


def add_search(commands: CommandParsers, common: Parser) -> None:
    """Add `search`."""
    parser = add_command(
        commands,
        common,
        "search",
        "search notes, knowledge, past discussions and project files",
        "By words and by meaning, where `[retrieval] enabled = true` switches it on. Reads what changed first.",
    )
    parser.add_argument("words", nargs="+", metavar="WORD", help="what is looked for")
    parser.add_argument(
        "-n", "--count", type=int, default=10, metavar="N", help="sources that are wanted (10)"
    )
    parser.add_argument(
        "--corpus",
        action="append",
        default=[],
        choices=["notes", "knowledge", "discussions", "project"],
        help="only in this; may be given more than once",
    )
    parser.add_argument("--folder", default="", metavar="PATH", help="only below this folder")
    parser.add_argument("--tag", default="", metavar="TAG", help="only notes with this tag")
    parser.add_argument("--after", default="", metavar="DAY", help="only from this day on (2026-11-23)")
    parser.add_argument("--before", default="", metavar="DAY", help="only up to this day")
    parser.add_argument("--no-update", action="store_true", help="search the index as it is")
    parser.add_argument(
        "--tool",
        choices=["search_notes", "read_note"],
        help="use a tool as a model would; the words are its arguments as JSON",
    )


def add_mcp(commands: CommandParsers, common: Parser) -> None:
    """Add `mcp`."""
    parser = add_command(
        commands,
        common,
        "mcp",
        "serve what is known to another program, over the Model Context Protocol (stdio)",
        "For the settings of a client: it starts this command and speaks to it. It reads items and structured facts by "
        "search and by id; what it proposes waits for your yes in the window. Discussions of the folder's project and "
        "notes are served only where you say so.",
    )
    parser.add_argument(
        "--discussions", action="store_true", help="also past discussions of this project, by id"
    )
    parser.add_argument(
        "--notes", action="store_true", help="also search_notes and read_note, where retrieval is on"
    )
    parser.add_argument(
        "--only-notes", action="store_true", help="search_notes and read_note alone, as for Claude Code"
    )


def add_autonomy(commands: CommandParsers, common: Parser) -> None:
    """Add `autonomy`."""
    parser = add_command(
        commands,
        common,
        "autonomy",
        "print how the autonomous discussion of the running program stands, or stop it",
        "Asks the program that runs on the home, through its Hook API. Autonomy starts in the window alone.",
    )
    parser.add_argument("--stop", action="store_true", help="stop it; it starts again in the window")


def add_index(commands: CommandParsers, common: Parser) -> None:
    """Add `index` and its actions."""
    parser = add_command(
        commands, common, "index", "keep the index files of your notes (index.md in each folder)"
    )
    actions = parser.add_commands("action", is_required=True)
    add_command(
        actions,
        common,
        "check",
        "name what is stale, orphaned or your own; ends with 1 where it is not in order",
    )
    add_command(actions, common, "build", "write what is stale and remove what is orphaned")
    new = add_command(actions, common, "new", "write a note from a template with front matter")
    new.add_argument("path", metavar="PATH", help="where; `.md` is added where it has no ending of a text")


def add_forget(commands: CommandParsers, common: Parser) -> None:
    """Add `forget`."""
    parser = add_command(
        commands,
        common,
        "forget",
        "forget a conversation or an item of knowledge, with a receipt; it cannot be undone",
        "Takes it out of every place that we keep: lists, trash, knowledge, logs, caches, indexes. "
        "The receipt says what was removed, how that was checked, and what cannot be reached.",
    )
    parser.add_argument(
        "what",
        metavar="DISCUSSION|ITEM",
        help="an id or its start, a name, or `last`; or an item's place (facts.md:3), or words that only it has",
    )
    parser.add_argument(
        "--branches", action="store_true", help="its branches too, which begin with its records"
    )
    parser.add_argument("--yes", action="store_true", help="say yes without being asked")


def add_secrets(commands: CommandParsers, common: Parser) -> None:
    """Add `secrets`."""
    short = "look for keys, tokens and passwords in all that we keep, and take them out"
    long = "Prints where each stands and of which kind, never the secret; ends with 1 where any is left."
    parser = add_command(commands, common, "secrets", short, long)
    parser.add_argument("--clean", action="store_true", help="take them out; offers to forget conversations")
    parser.add_argument("--yes", action="store_true", help="say yes without being asked")


def add_backup(commands: CommandParsers, common: Parser) -> None:
    """Add `backup` and `restore`."""
    backup = add_command(
        commands,
        common,
        "backup",
        "write everything that is yours here to one archive",
        "Discussions, knowledge, settings of the home and its trash; never a key. The window may stay open.",
    )
    backup.add_argument("--out", metavar="FILE", default="", help="where to (a new file in this folder)")
    restore = add_command(
        commands,
        common,
        "restore",
        "put a backup in the place of what is here, after a yes",
        "It is checked to its last byte before anything is replaced. What was here is kept beside it, and keys stay.",
    )
    restore.add_argument("archive", help="a file that `backup` wrote")
    restore.add_argument("--yes", action="store_true", help="say yes without being asked")


def add_harvest(commands: CommandParsers, common: Parser) -> None:
    """Add `harvest` and its undo."""
    parser = add_command(
        commands,
        common,
        "harvest",
        "distil old conversations into knowledge and reclaim them",
        "Without --apply it only reports. `harvest undo` takes the last apply back; `harvest cancel` stops open batches.",
    )
    parser.add_argument("action", nargs="?", choices=("undo", "cancel"), help="undo an apply; stop batches")
    parser.add_argument("id", nargs="?", default="", help="which (the newest apply; all batches)")
    parser.add_argument("--apply", action="store_true", help="harvest, append, reclaim, make the digest")
    parser.add_argument(
        "--after",
        choices=("keep", "trash", "trash_all", "leave"),
        default="",
        help="with --apply: keep what was read, marked as read; move it to the trash, imported ones too by trash_all; "
        "or leave it (the settings' after_harvest, else trash)",
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="with --apply: write what the built-in model says without being asked; with undo: take out much at once",
    )
    parser.add_argument(
        "--no-harvest", action="store_true", help="with --apply: reclaim without distilling; asks no model"
    )
    parser.add_argument(
        "--batch",
        action="store_true",
        help="have the provider's batch service read them, at half the price within a day; with --apply: collect what "
        "has ended, apply it, submit the rest; run it again later",
    )
    parser.add_argument(
        "--over-limit", action="store_true", help="read on although the day's limit is reached"
    )
    parser.add_argument("--provider", metavar="ID", default="", help="who reads them (see `models`)")
    parser.add_argument("--model", metavar="NAME", default="", help="the provider's name of the model")
    parser.add_argument(
        "--source",
        metavar="PATH",
        action="append",
        default=[],
        help="conversations of other programs, a file or a folder; they stay where they are; may be repeated "
        "(the settings' harvest_sources)",
    )
    parser.add_argument(
        "--live-days",
        metavar="N",
        type=days,
        help="leave alone what was touched since (the settings' live_days)",
    )
    parser.add_argument(
        "--max-bytes",
        metavar="N",
        type=size_bytes,
        help="keep what is larger (the settings' max_source_bytes)",
    )


def add_knowledge(commands: CommandParsers, common: Parser) -> None:
    """Add `knowledge` and its actions."""
    parser = add_command(commands, common, "knowledge", "show, search and audit what is known")
    parser.set_defaults(category="")
    actions = parser.add_commands("action")
    show = add_command(actions, common, "show", "print every item with its place and origin (the default)")
    show.add_argument(
        "category",
        nargs="?",
        default="",
        choices=("", *CATEGORIES),
        help="only these",
    )
    digest = add_command(
        actions, common, "digest", "print the digest as a model sees it, and whether memory is on"
    )
    digest.add_argument("--regenerate", action="store_true", help="make it anew first; turns memory on")
    found = add_command(actions, common, "search", "print the items in which every word occurs")
    found.add_argument("text", help="the words")
    add_command(actions, common, "ledger", "print what became of each conversation")
    prompt = add_command(
        actions, common, "prompt", "print what a harvest tells its model, and the file of it"
    )
    prompt.add_argument(
        "--edit",
        action="store_true",
        help="open a copy of your own in $VISUAL or $EDITOR; it wins from then on",
    )
    add_command(
        actions, common, "validate", "check the structured facts, and print file:line of all that is wrong"
    )
    add_command(actions, common, "sync", "bring the structured facts and their index in step")
    facts = add_command(actions, common, "facts", "look structured facts up")
    facts.add_argument(
        "--domain", metavar="NAME", default="", help="of this repository or agent, or `global`"
    )
    facts.add_argument(
        "--category",
        dest="fact_category",
        default="",
        choices=("fact", "pitfall", "pattern", "tool-quirk", "question"),
        help="only these",
    )
    facts.add_argument("--tag", metavar="TAG", default="", help="only those with it")
    proposals = add_command(
        actions,
        common,
        "proposals",
        "print what other programs propose, add one after your yes on the terminal, or drop one",
    )
    answer = proposals.add_mutually_exclusive_group()
    answer.add_argument("--accept", metavar="ID", default="", help="show it, and add it after a yes")
    answer.add_argument("--refuse", metavar="ID", default="", help="drop it; nothing of it is kept")
    why = add_command(
        actions, common, "why", "print what an item stands on, its history, and the requests it entered"
    )
    why.add_argument(
        "item", help="its place as `show` prints it (facts.md:3), words that only it has, or a fact's id"
    )
    seen = add_command(actions, common, "seen", "print which items entered requests, newest first")
    seen.add_argument("--discussion", metavar="ID", default="", help="only of this discussion")
    merge = add_command(
        actions, common, "merge", "have a model propose a shorter file, shown before it is written"
    )
    merge.add_argument("category", choices=CATEGORIES[:-1], help="of the items")
    merge.add_argument("--apply", action="store_true", help="write it, after a yes; keeps the file as it was")
    merge.add_argument("--yes", action="store_true", help="with --apply: write it without being asked")
    merge.add_argument("--over-limit", action="store_true", help="ask although the day's limit is reached")
    merge.add_argument("--provider", metavar="ID", default="", help="who proposes it (see `models`)")
    merge.add_argument("--model", metavar="NAME", default="", help="the provider's name of the model")
    merge.set_defaults(source=[], live_days=None, max_bytes=None)
    graduate = add_command(
        actions, common, "graduate", "make a draft of a playbook, inert until you rename it"
    )
    graduate.add_argument(
        "item", help="the playbook's place as `show` prints it (playbooks.md:3), or words of it"
    )
    graduate.add_argument("--as", dest="draft", choices=("prompt", "tool"), default="prompt", help="what of")
