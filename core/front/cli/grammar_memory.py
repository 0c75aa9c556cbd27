"""Grammar of the commands about what is kept and known: `import`, `forget`, `secrets`, `harvest`, `knowledge`."""

from __future__ import annotations

from core.front.cli.parser import CATEGORIES, CommandParsers, Parser, add_command, days, size_bytes
from core.kernel.language import tr

FOLLOWED = ("claude-code", "codex", "gemini", "opencode", "zed", "goose", "llm")
"""Names of `core.imports.import_sources.known_places`, whose module takes longer to load than all of the help."""


def add_import(commands: CommandParsers, common: Parser) -> None:
    """Add `import`."""
    parser = add_command(
        commands,
        common,
        "import",
        tr("import conversations of other programs"),
        tr(
            "The command reads exports of ChatGPT and Claude (zipped or not) and text files. The command also reads sessions of Claude Code, aider and SpecStory. A second import of a file adds only its new part. The program imports new sessions that you follow while a window or --headless runs."
        ),
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help=tr("files and folders, or `-` for standard input")
    )
    parser.add_argument(
        "--follow",
        nargs="?",
        const="",
        default=None,
        metavar="NAME",
        help=tr(
            "import new sessions of this program or folder from now on: {FOLLOWED}, or a folder; without a name, list followed places",
            FOLLOWED=", ".join(FOLLOWED),
        ),
    )
    parser.add_argument(
        "--unfollow", default="", metavar="NAME", help=tr("stop following this program or folder")
    )
    parser.add_argument(
        "--yes", action="store_true", help=tr("with --follow: import new sessions without asking you first")
    )
    parser.add_argument(
        "--dry-run", action="store_true", help=tr("list the conversations of an import, and write nothing")
    )
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="ID",
        help=tr("leave one conversation out, by its id from --dry-run; may be repeated"),
    )


def add_search(commands: CommandParsers, common: Parser) -> None:
    """Add `search`."""
    parser = add_command(
        commands,
        common,
        "search",
        tr("search notes, knowledge, past discussions and project files"),
        tr(
            "The command searches by words and by meaning. For this, set `[retrieval] enabled = true`. The command first reads files that changed."
        ),
    )
    parser.add_argument("words", nargs="+", metavar="WORD", help=tr("the words to search for"))
    parser.add_argument(
        "-n", "--count", type=int, default=10, metavar="N", help=tr("the most sources to show (10)")
    )
    parser.add_argument(
        "--corpus",
        action="append",
        default=[],
        choices=["notes", "knowledge", "discussions", "project"],
        help=tr("search only in this kind of source; may be repeated"),
    )
    parser.add_argument("--folder", default="", metavar="PATH", help=tr("search only below this folder"))
    parser.add_argument("--tag", default="", metavar="TAG", help=tr("search only notes with this tag"))
    parser.add_argument(
        "--after", default="", metavar="DAY", help=tr("search only from this day on (2026-11-23)")
    )
    parser.add_argument("--before", default="", metavar="DAY", help=tr("search only up to this day"))
    parser.add_argument(
        "--no-update", action="store_true", help=tr("search the index without updating the index first")
    )
    parser.add_argument(
        "--tool",
        choices=["search_notes", "read_note"],
        help=tr("call a tool as a model would; WORD is the tool's arguments as JSON"),
    )


def add_mcp(commands: CommandParsers, common: Parser) -> None:
    """Add `mcp`."""
    parser = add_command(
        commands,
        common,
        "mcp",
        tr("give another program access to your knowledge, as an MCP server (stdio)"),
        tr(
            "Put this command into the settings of an MCP client; the client starts the command. The client can search and read items and structured facts. Its proposals wait for your yes in the window. The client sees discussions of the project and notes only with the options below."
        ),
    )
    parser.add_argument(
        "--discussions", action="store_true", help=tr("also serve past discussions of this project, by id")
    )
    parser.add_argument(
        "--notes",
        action="store_true",
        help=tr("also serve the tools search_notes and read_note, if search is on"),
    )
    parser.add_argument(
        "--only-notes",
        action="store_true",
        help=tr("serve only search_notes and read_note, as for Claude Code"),
    )


def add_autonomy(commands: CommandParsers, common: Parser) -> None:
    """Add `autonomy`."""
    parser = add_command(
        commands,
        common,
        "autonomy",
        tr("show the state of the autonomous discussion, or stop the discussion"),
        tr(
            "The command asks the running program through the Hook API. You start autonomy only in the window."
        ),
    )
    parser.add_argument(
        "--stop", action="store_true", help=tr("stop autonomy; to start again, use the window")
    )


def add_index(commands: CommandParsers, common: Parser) -> None:
    """Add `index` and its actions."""
    parser = add_command(
        commands, common, "index", tr("maintain the index files of your notes (index.md in each folder)")
    )
    actions = parser.add_commands("action", is_required=True)
    add_command(
        actions,
        common,
        "check",
        tr("list index files that are outdated, orphaned or your own; exit code 1 on any fault"),
    )
    add_command(actions, common, "build", tr("write outdated index files and remove orphaned ones"))
    new = add_command(actions, common, "new", tr("write a note from a template with front matter"))
    new.add_argument(
        "path",
        metavar="PATH",
        help=tr("the new file; a name without an extension gets `.md`"),
    )


def add_forget(commands: CommandParsers, common: Parser) -> None:
    """Add `forget`."""
    parser = add_command(
        commands,
        common,
        "forget",
        tr("forget a conversation or an item of knowledge; you cannot undo this"),
        tr(
            "The program removes every copy: in lists, trash, knowledge, logs, caches and indexes. A receipt lists removed and checked places. The receipt also lists copies that the program cannot reach."
        ),
    )
    parser.add_argument(
        "what",
        metavar="DISCUSSION|ITEM",
        help=tr(
            "a discussion (an id or its start, a name, `last`); or an item (facts.md:3, or words of only this item)"
        ),
    )
    parser.add_argument(
        "--branches",
        action="store_true",
        help=tr("also forget the discussion's branches, which begin with the same messages"),
    )
    parser.add_argument("--yes", action="store_true", help=tr("confirm beforehand: the command does not ask"))


def add_secrets(commands: CommandParsers, common: Parser) -> None:
    """Add `secrets`."""
    short = tr("find keys, tokens and passwords in your data folder, and remove them")
    long = tr(
        "The command prints the place and kind of each secret, never the secret. The exit code is 1 if any secret is left."
    )
    parser = add_command(commands, common, "secrets", short, long)
    parser.add_argument(
        "--clean",
        action="store_true",
        help=tr("remove the secrets that the command finds; for a log, offer to forget its conversation"),
    )
    parser.add_argument("--yes", action="store_true", help=tr("confirm beforehand: the command does not ask"))


def add_backup(commands: CommandParsers, common: Parser) -> None:
    """Add `backup` and `restore`."""
    backup = add_command(
        commands,
        common,
        "backup",
        tr("write all your data to one backup file"),
        tr(
            "The backup holds discussions, knowledge, the data folder's settings and trash, but no keys. The window may stay open."
        ),
    )
    backup.add_argument(
        "--out", metavar="FILE", default="", help=tr("the backup file (default: a new file in this folder)")
    )
    restore = add_command(
        commands,
        common,
        "restore",
        tr("replace all your data with a backup; asks you first"),
        tr(
            "The program checks the whole backup before it replaces anything. Your earlier files stay beside the data folder, and your keys stay."
        ),
    )
    restore.add_argument("archive", help=tr("a backup file from `backup`"))
    restore.add_argument(
        "--yes", action="store_true", help=tr("confirm beforehand: the command does not ask")
    )


def add_harvest(commands: CommandParsers, common: Parser) -> None:
    """Add `harvest` and its undo."""
    parser = add_command(
        commands,
        common,
        "harvest",
        tr("turn old conversations into knowledge, and move them to the trash"),
        tr(
            "Without --apply, the command only reports. `harvest undo` takes the last harvest back. `harvest cancel` stops open batches."
        ),
    )
    parser.add_argument(
        "action",
        nargs="?",
        choices=("undo", "cancel"),
        help=tr("`undo` takes a harvest back; `cancel` stops batches"),
    )
    parser.add_argument(
        "id",
        nargs="?",
        default="",
        help=tr("the harvest or batch (default: the newest harvest; all batches)"),
    )
    parser.add_argument(
        "--apply",
        action="store_true",
        help=tr("harvest, write the items, move the conversations to the trash, and renew the digest"),
    )
    parser.add_argument(
        "--after",
        choices=("keep", "trash", "trash_all", "leave"),
        default="",
        help=tr(
            "with --apply: `keep` marks the conversations as read; `trash` moves them to the trash; `trash_all` moves imported ones too; `leave` changes nothing (default: the setting after_harvest, else trash)"
        ),
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help=tr(
            "do not ask: with --apply, write the built-in model's items; with undo, remove many items at once"
        ),
    )
    parser.add_argument(
        "--no-harvest",
        action="store_true",
        help=tr("with --apply: move conversations to the trash without asking a model"),
    )
    parser.add_argument(
        "--batch",
        action="store_true",
        help=tr(
            "use the provider's batches: half the price, within a day; with --apply: collect finished batches, apply them and send the rest; run the command again later"
        ),
    )
    parser.add_argument(
        "--over-limit", action="store_true", help=tr("go on although the day's limit is reached")
    )
    parser.add_argument(
        "--provider",
        metavar="ID",
        default="",
        help=tr("the provider that reads the conversations (see `models`)"),
    )
    parser.add_argument(
        "--model", metavar="NAME", default="", help=tr("the model, by the provider's name for the model")
    )
    parser.add_argument(
        "--source",
        metavar="PATH",
        action="append",
        default=[],
        help=tr(
            "a file or folder with conversations of other programs; the files stay; may be repeated (default: the setting harvest_sources)"
        ),
    )
    parser.add_argument(
        "--live-days",
        metavar="N",
        type=days,
        help=tr("skip conversations that changed in the last N days (default: the setting live_days)"),
    )
    parser.add_argument(
        "--max-bytes",
        metavar="N",
        type=size_bytes,
        help=tr("skip files larger than N bytes (default: the setting max_source_bytes)"),
    )


def add_knowledge(commands: CommandParsers, common: Parser) -> None:
    """Add `knowledge` and its actions."""
    parser = add_command(commands, common, "knowledge", tr("show, search and check your knowledge"))
    parser.set_defaults(category="")
    actions = parser.add_commands("action")
    show = add_command(
        actions, common, "show", tr("print every item with its place and source (the default)")
    )
    show.add_argument(
        "category",
        nargs="?",
        default="",
        choices=("", *CATEGORIES),
        help=tr("show only items of this kind"),
    )
    digest = add_command(
        actions, common, "digest", tr("print the digest as a model reads it, and whether memory is on")
    )
    digest.add_argument(
        "--regenerate",
        action="store_true",
        help=tr("first write the digest again from your items; this turns memory on"),
    )
    found = add_command(actions, common, "search", tr("print the items that contain every word"))
    found.add_argument("text", help=tr("the words to search for"))
    add_command(actions, common, "ledger", tr("print the ledger: what became of each conversation"))
    prompt = add_command(
        actions, common, "prompt", tr("print the harvest's prompt for its model, and the prompt's file")
    )
    prompt.add_argument(
        "--edit",
        action="store_true",
        help=tr("edit your own copy in $VISUAL or $EDITOR; harvests use your copy from then on"),
    )
    add_command(
        actions, common, "validate", tr("check the structured facts, and print file:line of each fault")
    )
    add_command(actions, common, "sync", tr("update the index of the structured facts"))
    facts = add_command(actions, common, "facts", tr("search the structured facts"))
    facts.add_argument(
        "--domain", metavar="NAME", default="", help=tr("facts of this repository or agent, or `global`")
    )
    facts.add_argument(
        "--category",
        dest="fact_category",
        default="",
        choices=("fact", "pitfall", "pattern", "tool-quirk", "question"),
        help=tr("show only items of this kind"),
    )
    facts.add_argument("--tag", metavar="TAG", default="", help=tr("only facts with this tag"))
    proposals = add_command(
        actions,
        common,
        "proposals",
        tr("list other programs' proposals, accept one, or refuse one"),
    )
    answer = proposals.add_mutually_exclusive_group()
    answer.add_argument(
        "--accept", metavar="ID", default="", help=tr("show the proposal, and add it if you confirm")
    )
    answer.add_argument("--refuse", metavar="ID", default="", help=tr("delete the proposal"))
    why = add_command(
        actions,
        common,
        "why",
        tr("print an item's sources, its history, and the requests that held the item"),
    )
    why.add_argument(
        "item", help=tr("the item's place in `show` (facts.md:3), words of this item, or a fact's id")
    )
    seen = add_command(actions, common, "seen", tr("list the items that requests held, newest first"))
    seen.add_argument(
        "--discussion", metavar="ID", default="", help=tr("list only requests of this discussion")
    )
    archive = add_command(
        actions,
        common,
        "archive",
        tr("list the archive and unused items, or put an item into the archive"),
        tr("No request contains an item of the archive. The archive keeps the item until you take it back."),
    )
    moved = archive.add_mutually_exclusive_group()
    moved.add_argument(
        "item",
        nargs="?",
        default="",
        help=tr("the item to archive: its place in `show`, or words of this item"),
    )
    moved.add_argument(
        "--take-back", metavar="ITEM", default="", help=tr("put this item of the archive back")
    )
    merge = add_command(
        actions, common, "merge", tr("have a model propose a shorter file; you see the proposal first")
    )
    merge.add_argument("category", choices=CATEGORIES[:-1], help=tr("the kind of items"))
    merge.add_argument(
        "--apply",
        action="store_true",
        help=tr("write the shorter file if you confirm; keeps the earlier version"),
    )
    merge.add_argument(
        "--yes", action="store_true", help=tr("with --apply: write the shorter file without a question")
    )
    merge.add_argument(
        "--over-limit", action="store_true", help=tr("ask the model although the day's limit is reached")
    )
    merge.add_argument(
        "--provider", metavar="ID", default="", help=tr("the provider that proposes (see `models`)")
    )
    merge.add_argument(
        "--model", metavar="NAME", default="", help=tr("the model, by the provider's name for the model")
    )
    merge.set_defaults(source=[], live_days=None, max_bytes=None, after="")
    graduate = add_command(
        actions,
        common,
        "graduate",
        tr("make a draft from a playbook; nothing uses the draft until you rename it"),
    )
    graduate.add_argument(
        "item", help=tr("the playbook's place from `show` (playbooks.md:3), or words of the playbook")
    )
    graduate.add_argument(
        "--as",
        dest="draft",
        choices=("prompt", "tool"),
        default="prompt",
        help=tr("the kind of draft (default: prompt)"),
    )
