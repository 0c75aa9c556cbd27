"""Every setting as data: key, type, default, range, scope, environment variable, and what it does."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

import msgspec
from msgspec.structs import force_setattr, replace

from core.kernel.language import LANGUAGE_VARIABLE, LANGUAGES, tr
from core.kernel.values.provider import Effort, ProviderKind
from core.kernel.values.retrieval import Corpus
from core.kernel.values.settings import AfterHarvest, MemoryMode, PolicyAnswer

Value = str | int | float | bool | tuple[str, ...]


class SettingScope(StrEnum):
    """The files in which a person can set a key."""

    USER = "user"
    """Only in user settings: a project can never set it."""
    ANY = "any"
    """In user settings, and in the file of a project that the person trusts."""
    SERVER = "server"
    """As `ANY`, but a project may only add servers, never change a vendor or a server of the person's."""
    TIGHTENED = "tightened"
    """In user settings; the project's file, trusted or not, can make it stricter and never looser."""
    PROJECT = "project"
    """Only in the project's file, and only once the person trusts the folder."""


class Kind(StrEnum):
    """The TOML type of a value."""

    TEXT = "text"
    WHOLE = "whole number"
    NUMBER = "number"
    SWITCH = "true or false"
    TEXTS = "list of texts"
    ITEMS = "list of file items"


_KINDS = {bool: Kind.SWITCH, int: Kind.WHOLE, float: Kind.NUMBER, str: Kind.TEXT, tuple: Kind.TEXTS}
_AT_KEY = "*"


class Setting(msgspec.Struct, frozen=True):
    """One key.

    Args:
        key: dotted; `<name>` stands for a name that the person chooses (`providers.<id>.base_url`).
        kind: by default that of `default`; default: None where nothing is set; minimum, maximum: both included, for numbers and, for texts, length.
        choices: the values it, or each of its texts, may have, empty for any.
        field: where it lives in `Settings`, by default at its key, without `ai_settings`; empty for keys that become part of
            `Project`.
        env: environment variable that sets it, by the name in `<name>` where the key has one.
    """

    key: str
    default: Value | None
    doc: str
    kind: Kind = Kind.TEXT
    scope: SettingScope = SettingScope.ANY
    field: str = _AT_KEY
    env: tuple[tuple[str, str], ...] = ()
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

    def __post_init__(self) -> None:
        if self.default is not None and self.kind is Kind.TEXT:
            force_setattr(self, "kind", _KINDS[type(self.default)])
        if self.field == _AT_KEY:
            force_setattr(self, "field", self.key.removeprefix("ai_settings."))

    @property
    def section(self) -> str:
        """The table that the key stands in, empty for the top of the file."""
        return self.key.rpartition(".")[0]


NAME_PATTERN = r"[a-z0-9][a-z0-9_-]{0,39}"
"""Form of a server's id: it becomes part of file names and environment variables."""

MCP_NAME_PATTERN = r"[A-Za-z0-9](?:_?[A-Za-z0-9-]){0,29}"
"""Form of an MCP server's name: its tools are called `name__tool`, so it holds no `__`, and ends with no `_`."""

VENDORS = MappingProxyType(
    {
        ProviderKind.EMBEDDED: tr("Built-in model"),
        ProviderKind.ANTHROPIC: "Anthropic",
        ProviderKind.OPENAI: "OpenAI",
        ProviderKind.GEMINI: "Google Gemini",
        ProviderKind.CLAUDE_CODE: "Claude Code",
    }
)
"""Providers that exist without being configured, by id, with the label that the window shows."""

FILE_MODES = ("whole", "slices", "outline", "notes")


def _policies(table: str, where: str) -> tuple[Setting, ...]:
    """The keys of one table of policies. `where`: they hold."""
    is_general = table == "tools"
    answers = (
        ("reads", PolicyAnswer.ALLOW, tr("Reading the project's files")),
        ("edits", PolicyAnswer.ASK, tr("Writing and editing files")),
        ("commands", PolicyAnswer.ASK, tr("Commands (outside the sandbox, the program always asks)")),
        ("network", PolicyAnswer.ASK, tr("Web pages")),
    )
    rules = (
        ("prefixes", tr("Commands that run without a question, by their first words (`git log`),")),
        ("hosts", tr("Hosts whose pages the program fetches without a question")),
        (
            "shown",
            tr(
                "More places that commands without approval, MCP servers and the index may read, and project files that only look like keys (absolute, from `~`, or relative to the project),"
            ),
        ),
    )
    asked = (
        Setting(
            key=f"{table}.{name}",
            kind=Kind.TEXT,
            default=default.value if is_general else None,
            doc=tr("{action} {folders}: allow, ask you first, or refuse.", action=what, folders=where),
            scope=SettingScope.TIGHTENED if is_general else SettingScope.USER,
            field=f"tools.{name}" if is_general else "",
            choices=tuple(PolicyAnswer),
        )
        for name, default, what in answers
    )
    ruled = (
        Setting(
            key=f"{table}.{name}",
            kind=Kind.TEXTS,
            default=() if is_general else None,
            doc=f"{what} {where}.",
            scope=SettingScope.USER,
            field=f"tools.{name}" if is_general else "",
            minimum=1,
            maximum=1_000,
        )
        for name, what in rules
    )
    return (*asked, *ruled)


_AI = (
    Setting(
        key="ai_settings.provider",
        default="",
        doc=tr(
            "The provider of a new discussion: `embedded`, `anthropic`, `openai`, `gemini`, `claude_code`, or the id of your own server. Empty: the last provider that you used, else one with a key, else the built-in model."
        ),
        field="ai.provider",
        env=(("", "MANUAL_SLOP_PROVIDER"),),
    ),
    Setting(
        key="ai_settings.model",
        default="",
        doc=tr(
            "The model of a new discussion, by the provider's name for the model. Empty: the provider's first model."
        ),
        field="ai.model",
        env=(("", "MANUAL_SLOP_MODEL"),),
    ),
    Setting(
        key="ai_settings.system_prompt",
        default="",
        doc=tr("The text of layer 4 if you choose no system prompt."),
        field="ai.system_prompt",
    ),
    Setting(
        key="ai_settings.system_prompt_preset",
        default="",
        doc=tr("The system prompt of a new discussion: one of the names in `[system_prompts.<name>]`."),
        field="ai.system_prompt_preset",
    ),
    Setting(
        key="ai_settings.persona",
        default="",
        doc=tr("The persona of a new discussion: one of the names in `[personas.<name>]`."),
        field="ai.persona",
    ),
    Setting(
        key="ai_settings.effort",
        default="auto",
        doc=tr("How much a model thinks before it answers. With `auto`, the model decides."),
        field="ai.effort",
        env=(("", "MANUAL_SLOP_EFFORT"),),
        choices=tuple(Effort),
    ),
    Setting(
        key="ai_settings.max_output_tokens",
        kind=Kind.WHOLE,
        default=None,
        doc=tr("The longest reply, in tokens. Not set: the model's own limit."),
        field="ai.max_output_tokens",
        minimum=1,
        maximum=10_000_000,
    ),
    Setting(
        key="ai_settings.spend_limit_usd",
        kind=Kind.NUMBER,
        default=None,
        doc=tr(
            "The limit of a discussion, in US dollars. Beyond it, the program asks before each send. Not set: no limit."
        ),
        field="ai.spend_limit_usd",
        minimum=0,
        maximum=1_000_000,
    ),
    Setting(
        key="ai_settings.month_budget_usd",
        kind=Kind.NUMBER,
        default=None,
        doc=tr(
            "The monthly budget, in US dollars. Beyond it, the program warns you but stops nothing. Not set: no warning."
        ),
        scope=SettingScope.USER,
        field="ai.month_budget_usd",
        minimum=0,
        maximum=1_000_000,
    ),
    Setting(
        key="ai_settings.knowledge.digest_enabled",
        default=True,
        doc=tr("Put the digest into the context while its file exists."),
    ),
    Setting(
        key="ai_settings.knowledge.budget_bytes",
        default=8192,
        doc=tr("The longest text of layer 7 (digest, facts and notes together), in bytes."),
        minimum=0,
        maximum=1_000_000,
    ),
    Setting(
        key="ai_settings.knowledge.live_days",
        default=7.0,
        doc=tr("A harvest skips conversations that changed in the last days. Set the number of days."),
        scope=SettingScope.USER,
        minimum=0,
        maximum=3_650,
    ),
    Setting(
        key="ai_settings.knowledge.max_source_bytes",
        default=1_048_576,
        doc=tr("A harvest skips conversations that are larger than this, in bytes."),
        scope=SettingScope.USER,
        minimum=1,
        maximum=1_073_741_824,
    ),
    Setting(
        key="ai_settings.knowledge.harvest_sources",
        default=(),
        doc=tr(
            "Files and folders with conversations of other programs that a harvest also reads: absolute or from `~`. The files stay there."
        ),
        scope=SettingScope.USER,
        maximum=1_000,
    ),
    Setting(
        key="ai_settings.knowledge.harvest_provider",
        default="",
        doc=tr(
            "The provider that reads conversations for a harvest. Empty: `ai_settings.provider`, else the built-in model, which is free."
        ),
        scope=SettingScope.USER,
        maximum=100,
    ),
    Setting(
        key="ai_settings.knowledge.harvest_model",
        default="",
        doc=tr(
            "The model that reads conversations for a harvest, by the provider's name. Empty: the model of a new discussion."
        ),
        scope=SettingScope.USER,
        maximum=200,
    ),
    Setting(
        key="ai_settings.knowledge.mode",
        default=MemoryMode.CONFIRM.value,
        doc=tr(
            "`recall`: models read knowledge, and no harvest writes knowledge. `confirm`: you confirm the items of a harvest. `automatic`: a harvest writes without a question if a conversation holds only the categories below. You always confirm items of the built-in model. Nothing turns memory on by itself."
        ),
        scope=SettingScope.USER,
        choices=tuple(MemoryMode),
    ),
    Setting(
        key="ai_settings.knowledge.after_harvest",
        default="",
        doc=tr(
            "What happens to a conversation once its items are written. `keep`: it stays, marked as read. `trash`: it goes to the trash, unless an import made it; `trash_all`: imported ones go too. `leave`: it stays and is listed again. Empty: the window asks; other ways use `trash`."
        ),
        scope=SettingScope.USER,
        choices=("", *AfterHarvest),
    ),
    Setting(
        key="ai_settings.knowledge.automatic_categories",
        default=(),
        doc=tr(
            "The categories that the mode `automatic` writes: facts, decisions, tasks_done, tasks_open, questions, playbooks, files."
        ),
        scope=SettingScope.USER,
        maximum=7,
    ),
    Setting(
        key="ai_settings.caching.anthropic_enabled",
        default=True,
        doc=tr("Set breakpoints in requests to Anthropic, so that Anthropic caches the prefix."),
    ),
    Setting(
        key="ai_settings.caching.anthropic_ttl",
        default="auto",
        doc=tr(
            "The time to live of Anthropic's cache. With `auto`, the program decides by the pauses between your turns."
        ),
        choices=("auto", "5m", "1h"),
    ),
    Setting(
        key="ai_settings.caching.gemini_enabled",
        default=True,
        doc=tr("Let Gemini store the beginning of a discussion, files and turns, while that saves money."),
    ),
    Setting(
        key="ai_settings.caching.gemini_ttl_minutes",
        default=60,
        doc=tr(
            "The longest time that Gemini keeps a cache after a turn, in minutes. More than 60 needs `gemini_allow_long`."
        ),
        minimum=1,
        maximum=10_080,
    ),
    Setting(
        key="ai_settings.caching.gemini_allow_long",
        default=False,
        doc=tr(
            "Let Gemini keep a cache for over an hour after a turn. Gemini charges for the storage all that time."
        ),
        scope=SettingScope.USER,
    ),
    Setting(
        key="ai_settings.caching.openai_ttl",
        default="auto",
        doc=tr(
            "The time to live of OpenAI's cache, if the model offers a choice. With `auto`, the program decides by the pauses between your turns."
        ),
        choices=("auto", "30m", "12h"),
    ),
    Setting(
        key="ai_settings.caching.appends_changes",
        default=True,
        doc=tr(
            "Append changes (files, presets, digest, notes, identity files) while the prefix is warm, instead of rewriting the prefix."
        ),
    ),
    Setting(
        key="ai_settings.caching.keepalive",
        default=False,
        doc=tr("Keep an unused cache alive with small requests while that should save money."),
        scope=SettingScope.USER,
    ),
    Setting(
        key="ai_settings.caching.keepalive_cap_usd",
        default=1.0,
        doc=tr(
            "The most that keepalives may cost in one idle time of a discussion, in US dollars. Keepalives, breakpoints, prewarming and storage at Gemini together have a bound for each discussion. They never lose more than twice the input price of its largest request."
        ),
        scope=SettingScope.USER,
        minimum=0,
        maximum=1000,
    ),
    Setting(
        key="ai_settings.caching.prewarm",
        default=False,
        doc=tr(
            "Read the prefix into the cache as soon as you open a discussion. The built-in model always does this, free of charge."
        ),
        scope=SettingScope.USER,
    ),
    Setting(
        key="ai_settings.caching.embedded_disk_mb",
        default=512,
        doc=tr("The most disk space for the cache of the built-in model, in MB."),
        scope=SettingScope.USER,
        minimum=0,
        maximum=1_000_000,
    ),
    Setting(
        key="ai_settings.caching.day_limit_usd",
        kind=Kind.NUMBER,
        default=None,
        doc=tr(
            "The limit of a day, in US dollars. Beyond it, the program asks before each send. Not set: no limit."
        ),
        scope=SettingScope.USER,
        minimum=0,
        maximum=1_000_000,
    ),
    Setting(
        key="ai_settings.caching.cold_send_usd",
        kind=Kind.NUMBER,
        default=None,
        doc=tr(
            "If the cache has ended, the next send writes the cache again. The program tells you first if this costs more than this amount, in US dollars. 0: never. Not set: the program offers this notice once a send costs over $0.25."
        ),
        scope=SettingScope.USER,
        minimum=0,
        maximum=1_000_000,
    ),
)

_PROVIDERS = (
    Setting(
        key="providers.<id>.kind",
        default="compatible",
        doc=tr(
            "The client for the server, `compatible` or `anthropic`; vendors have their own. Not set: `anthropic` for an address at anthropic.com, else `compatible`."
        ),
        scope=SettingScope.SERVER,
        field="servers.kind",
        choices=tuple(ProviderKind),
    ),
    Setting(
        key="providers.<id>.label",
        default="",
        doc=tr("The name in the window. Empty: the id."),
        scope=SettingScope.SERVER,
        field="servers.label",
        maximum=80,
    ),
    Setting(
        key="providers.<id>.base_url",
        default="",
        doc=tr(
            "The address of an OpenAI-compatible server (`http://127.0.0.1:11434/v1`), or another address for a vendor. Empty: the vendor's own address."
        ),
        scope=SettingScope.SERVER,
        field="servers.base_url",
        env=(
            ("anthropic", "ANTHROPIC_BASE_URL"),
            ("openai", "OPENAI_BASE_URL"),
            ("gemini", "GOOGLE_GEMINI_BASE_URL"),
        ),
    ),
    Setting(
        key="providers.<id>.timeout_s",
        default=300.0,
        doc=tr("The longest silence between two parts of a reply, in seconds."),
        scope=SettingScope.SERVER,
        field="servers.timeout_s",
        minimum=1,
        maximum=86_400,
    ),
    Setting(
        key="providers.<id>.connect_timeout_s",
        default=10.0,
        doc=tr("The longest wait for a connection, in seconds."),
        scope=SettingScope.SERVER,
        field="servers.connect_timeout_s",
        minimum=0.1,
        maximum=600,
    ),
    Setting(
        key="providers.<id>.seed",
        kind=Kind.WHOLE,
        default=None,
        doc=tr(
            "The seed of sampling, for the built-in model and compatible servers: the same request gives the same reply. Not set: each reply differs."
        ),
        scope=SettingScope.SERVER,
        field="servers.seed",
        minimum=0,
        maximum=2_147_483_647,
    ),
    Setting(
        key="providers.<id>.enabled",
        default=True,
        doc=tr("Offer this provider."),
        scope=SettingScope.SERVER,
        field="servers.is_enabled",
    ),
)

_MCP = (
    Setting(
        key="mcp.servers.<name>.command",
        default="",
        doc=tr(
            "The command of an MCP server over standard input and output, by name or absolute path. The command runs in the sandbox, and starts only after your approval."
        ),
        scope=SettingScope.SERVER,
        field="mcp.program",
        maximum=1_000,
    ),
    Setting(
        key="mcp.servers.<name>.args",
        default=(),
        doc=tr("The command's arguments, passed unchanged."),
        scope=SettingScope.SERVER,
        field="mcp.arguments",
        maximum=4_000,
    ),
    Setting(
        key="mcp.servers.<name>.environment",
        default=(),
        doc=tr(
            "The names of further variables for the server, beside those that every program needs. The values come from the keyring (`manual-slop key mcp.NAME`) or your environment. No file holds them."
        ),
        scope=SettingScope.SERVER,
        field="mcp.environment",
        minimum=1,
        maximum=100,
    ),
    Setting(
        key="mcp.servers.<name>.url",
        default="",
        doc=tr("The address of an MCP server over streamable HTTP, instead of a command."),
        scope=SettingScope.SERVER,
        field="mcp.url",
        maximum=2_000,
    ),
    Setting(
        key="mcp.servers.<name>.key_name",
        default="",
        doc=tr(
            "The name of the key that the program sends to the server as bearer token; store the key with `manual-slop key mcp.NAME`. Empty: no key."
        ),
        scope=SettingScope.USER,
        field="mcp.key",
        maximum=60,
    ),
    Setting(
        key="mcp.servers.<name>.network",
        default=False,
        doc=tr("Let an MCP server that a command starts use the network."),
        scope=SettingScope.SERVER,
        field="mcp.network",
    ),
    Setting(
        key="mcp.servers.<name>.timeout_s",
        default=60.0,
        doc=tr("The longest call of the server, in seconds."),
        scope=SettingScope.SERVER,
        field="mcp.timeout_s",
        minimum=1,
        maximum=3_600,
    ),
    Setting(
        key="mcp.servers.<name>.enabled",
        default=True,
        doc=tr("Use this MCP server."),
        scope=SettingScope.SERVER,
        field="mcp.is_enabled",
    ),
)

_WINDOW = (
    Setting(
        key="appearance.theme",
        default="dark",
        doc=tr("The colours of the window."),
        scope=SettingScope.USER,
        env=(("", "MANUAL_SLOP_THEME"),),
        choices=("dark", "light"),
    ),
    Setting(
        key="appearance.ui_scale",
        default=1.0,
        doc=tr("The size of text and controls; 1.0 is normal."),
        scope=SettingScope.USER,
        env=(("", "MANUAL_SLOP_UI_SCALE"),),
        minimum=0.5,
        maximum=3.0,
    ),
    Setting(
        key="appearance.language",
        default="en",
        doc=tr("The language of the window and the command line, from the next start on."),
        scope=SettingScope.USER,
        env=(("", LANGUAGE_VARIABLE),),
        choices=tuple(LANGUAGES),
    ),
    Setting(
        key="appearance.send_key",
        default="ctrl+enter",
        doc=tr("The key that sends your message."),
        scope=SettingScope.USER,
        choices=("ctrl+enter", "enter"),
    ),
    Setting(
        key="appearance.shortcuts",
        default=(),
        doc=tr(
            "Your own shortcuts, each as `action=shortcut`: `palette=Ctrl+Shift+K`; `none` for no shortcut. The list of shortcuts in the window writes them."
        ),
        scope=SettingScope.USER,
        maximum=200,
    ),
    Setting(
        key="files.max_file_bytes",
        default=2_000_000,
        doc=tr("The largest file of a preset, in bytes. The program refuses larger files."),
        scope=SettingScope.USER,
        minimum=1_000,
        maximum=100_000_000,
    ),
    Setting(
        key="files.max_glob_files",
        default=2_000,
        doc=tr("The most files that a preset's pattern may match. The program refuses a pattern with more."),
        scope=SettingScope.USER,
        minimum=1,
        maximum=100_000,
    ),
    Setting(
        key="files.max_attachment_bytes",
        default=20_000_000,
        doc=tr("The largest attachment, in bytes. The program refuses larger ones."),
        scope=SettingScope.USER,
        minimum=1_000,
        maximum=1_000_000_000,
    ),
    Setting(
        key="files.paste_as_attachment_chars",
        default=20_000,
        doc=tr("The longest text that you can paste, in characters. A longer paste becomes an attachment."),
        scope=SettingScope.USER,
        minimum=100,
        maximum=10_000_000,
    ),
    Setting(
        key="hooks.enabled",
        default=False,
        doc=tr(
            "Let your other programs use the Hook API (docs/openapi.json) from the next start on. `--hooks` does this for one run."
        ),
        scope=SettingScope.USER,
    ),
    Setting(
        key="hooks.port",
        default=0,
        doc=tr(
            "The Hook API's port on this computer. 0: any free port; `hook.json` in the data folder names it."
        ),
        scope=SettingScope.USER,
        minimum=0,
        maximum=65_535,
    ),
    Setting(
        key="tools.max_rounds",
        default=20,
        doc=tr(
            "The most calls of the model in one turn with tools. After that, the turn stops and waits for you."
        ),
        scope=SettingScope.USER,
        minimum=1,
        maximum=1000,
    ),
    *(
        Setting(
            key=f"tools.{name}",
            default=default,
            doc=what,
            scope=SettingScope.USER,
            field=f"tools.{name}",
            minimum=least,
            maximum=67_108_864,
        )
        for name, default, least, what in (
            (
                "memory_mib",
                0,
                0,
                tr(
                    "The most memory of one command with all its processes, in MiB. Beyond it, the program ends the command. 0: three quarters of the computer's memory."
                ),
            ),
            (
                "file_mib",
                32_768,
                1,
                tr(
                    "The largest file that a command may write, in MiB. Beyond it, the program ends the command."
                ),
            ),
            (
                "free_disk_mib",
                512,
                0,
                tr(
                    "The free space in MiB that a command must leave on disks that it writes to. Below it, the program ends the command."
                ),
            ),
        )
    ),
    *_policies("tools", tr("in every folder")),
    *_policies(
        "tools.folders.<folder>",
        tr("in this folder and its subfolders (write the folder's path in full or from `~`)"),
    ),
    Setting(
        key="agent.max_turns",
        default=20,
        doc=tr(
            "How many autonomous turns may follow without a message of yours. After that, the discussion rests until you write."
        ),
        scope=SettingScope.USER,
        minimum=1,
        maximum=1000,
    ),
    Setting(
        key="agent.dreams",
        default=True,
        doc=tr(
            "Have a resting autonomous discussion prepare a harvest preview once. The preview writes nothing, but its requests cost money."
        ),
        scope=SettingScope.USER,
    ),
    Setting(
        key="agent.desktop_idle",
        default=False,
        doc=tr(
            "Tell an autonomous discussion how long you have used neither keyboard nor mouse in any window. Without this setting, the discussion knows only how long you have not used this window. The program measures this on X11. The code for macOS and Windows is untested, and Wayland does not tell programs."
        ),
        scope=SettingScope.USER,
    ),
    Setting(
        key="imports.follow",
        default=(),
        doc=tr(
            "Files and folders of other programs, absolute or from `~`. While a window or `--headless` runs, the program imports new conversations and new parts from there. `manual-slop import --follow NAME` adds a place."
        ),
        scope=SettingScope.USER,
        maximum=4_096,
    ),
    Setting(
        key="trash_days",
        default=30,
        doc=tr("How many days a deleted discussion stays in the trash."),
        scope=SettingScope.USER,
        minimum=0,
        maximum=36_500,
    ),
)

_RETRIEVAL = (
    Setting(
        key="retrieval.enabled",
        default=False,
        doc=tr("Let you search notes, knowledge and past discussions here, with an index of them."),
    ),
    Setting(
        key="retrieval.corpora",
        default=("notes", "knowledge", "discussions"),
        doc=tr(
            "The places that search covers: `notes`, `knowledge`, `discussions`, and `project` for the project's own files."
        ),
        choices=tuple(Corpus),
    ),
    Setting(
        key="retrieval.roots",
        default=(),
        doc=tr(
            "The folders of your notes: relative to the project with `/`, or absolute inside its allowed roots. The program writes an `index.md` in each folder."
        ),
        maximum=4_096,
    ),
    Setting(
        key="retrieval.ambient",
        default=False,
        doc=tr(
            "With each message, send the passages of your knowledge and discussions that fit best. The Context view shows these passages first."
        ),
    ),
    Setting(
        key="retrieval.ambient_tokens",
        default=800,
        doc=tr("The most tokens of recall in one message."),
        minimum=100,
        maximum=20_000,
    ),
    Setting(
        key="retrieval.kept_out",
        default=(),
        doc=tr(
            "Sources that recall never uses, each as `corpus:path` (`knowledge:facts.md`). For a single item, add its mark (`knowledge:facts.md#0a1b2c3d4e5f`), as the button “Never recall” does."
        ),
        maximum=1_000,
    ),
    Setting(
        key="retrieval.tag_fields",
        default=("tags",),
        doc=tr("The field names of tags in your notes (`**Tags:**`, or a key of the front matter)."),
        maximum=100,
    ),
    Setting(
        key="retrieval.date_fields",
        default=("date", "data"),
        doc=tr("The field names of dates in your notes."),
        maximum=100,
    ),
    Setting(
        key="retrieval.embedder",
        default="",
        doc=tr(
            "The server of the embedding model, one of `[providers]`. A server on another computer needs a price of 0 in your `models.toml`. Empty: the embedding model that comes with the program."
        ),
        scope=SettingScope.USER,
        maximum=100,
    ),
    Setting(
        key="retrieval.embedding_model",
        default="",
        doc=tr("The embedding model on that server, as the server names the model."),
        scope=SettingScope.USER,
        maximum=200,
    ),
    Setting(
        key="retrieval.embedding_dimension",
        default=384,
        doc=tr(
            "The number of components of the embedding model's vectors. Another model or number needs another index."
        ),
        scope=SettingScope.USER,
        minimum=8,
        maximum=4_096,
    ),
    Setting(
        key="retrieval.server",
        default="",
        doc=tr(
            "A PostgreSQL database with pgvector for the index: `postgresql://user@host/database`. The password comes from the keyring (`manual-slop key retrieval-server`). This needs the extra `postgres`. Empty: the index is on this computer."
        ),
        scope=SettingScope.USER,
        maximum=500,
    ),
)

_PROJECT = (
    Setting(
        key="project.name",
        default="",
        doc=tr("The project's name. Empty: the name of the folder."),
        scope=SettingScope.PROJECT,
        maximum=200,
    ),
    Setting(
        key="project.domain",
        default="",
        doc=tr(
            "The name for facts of this repository. Empty: the name in its `origin` address, else the folder's name. Two repositories with the same name share their facts until you set a name here."
        ),
        scope=SettingScope.PROJECT,
        maximum=100,
    ),
    Setting(
        key="project.context",
        kind=Kind.TEXTS,
        default=None,
        doc=tr(
            'The project context of every discussion (layer 6): texts, and files as `{ file = "path" }`. A single text needs no brackets.'
        ),
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="project.identity",
        default=True,
        doc=tr(
            "Read CLAUDE.md, AGENTS.md and POC.md. The program looks from the working folder up to the repository's root, and in the data folder. Files of a folder count once you trust the folder and have seen them listed. Files of the data folder always count."
        ),
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="project.memory",
        kind=Kind.TEXTS,
        default=None,
        doc=tr(
            "Folders whose Markdown files go whole into every discussion of the project. All together may have 20,000 tokens. The program also reads `memory/` in the data folder."
        ),
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="project.allowed_roots",
        kind=Kind.TEXTS,
        default=None,
        doc=tr("Folders outside the project that context presets and project context may read."),
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="presets.<name>.items",
        kind=Kind.ITEMS,
        default=None,
        doc=tr("The files of a context preset, in order."),
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="personas.<name>.text",
        default=None,
        doc=tr("The text of a persona: who the model is."),
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="personas.<name>.file",
        default=None,
        doc=tr("The file that holds the text of a persona."),
        scope=SettingScope.PROJECT,
        minimum=1,
    ),
    Setting(
        key="system_prompts.<name>.text",
        default=None,
        doc=tr("The text of a system prompt: rules for the work."),
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="system_prompts.<name>.file",
        default=None,
        doc=tr("The file that holds the text of a system prompt."),
        scope=SettingScope.PROJECT,
        minimum=1,
    ),
)

MOST_PATH_CHARS = 4096
"""Longest path of a preset's item."""

_ITEM = (
    Setting(
        key="path",
        default=None,
        doc=tr("The file: relative to the project's root with `/`, absolute, or a pattern (`src/**/*.py`)."),
        scope=SettingScope.PROJECT,
        minimum=1,
        maximum=MOST_PATH_CHARS,
    ),
    Setting(
        key="mode",
        default="whole",
        doc=tr("How much of the file the model reads."),
        scope=SettingScope.PROJECT,
        choices=FILE_MODES,
    ),
    Setting(
        key="slices",
        kind=Kind.TEXTS,
        default=None,
        doc=tr('The lines for mode `slices`: `[first, last]` pairs or `"first-last"`, counted from 1.'),
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="symbols",
        kind=Kind.TEXTS,
        default=None,
        doc=tr("The definitions for mode `slices`, by qualified name (`Class.method`)."),
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="notes",
        default="",
        doc=tr("A note to the model about the file."),
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="pinned",
        default=False,
        doc=tr("Keep the file at the top of the preset."),
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="enabled",
        default=True,
        doc=tr("Send this file to the model."),
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="include_ignored",
        default=False,
        doc=tr(
            "Let a pattern also match files that `.gitignore` excludes. A path without wildcards is always included."
        ),
        scope=SettingScope.PROJECT,
    ),
)

ITEM_SETTINGS = tuple(replace(item, key=f"presets.<name>.items.{item.key}", field="") for item in _ITEM)
"""The keys of one item of a preset."""

_SIGNALS = (
    Setting(
        key="notifications.desktop",
        default=True,
        doc=tr(
            "Show a desktop notice when a reply, a question or an approval waits. The notice appears after you have been away from the window for half a minute."
        ),
        scope=SettingScope.USER,
    ),
    Setting(
        key="channels.<name>.host",
        default=None,
        doc=tr(
            "The server of an IRC channel whose lines become signals. The program connects only over TLS."
        ),
        scope=SettingScope.USER,
        field="channels.host",
        minimum=1,
        maximum=253,
    ),
    Setting(
        key="channels.<name>.port",
        default=6697,
        doc=tr("The server's port for TLS."),
        scope=SettingScope.USER,
        field="channels.port",
        minimum=1,
        maximum=65_535,
    ),
    Setting(
        key="channels.<name>.room",
        default=None,
        doc=tr("The name of the channel (`#builds`)."),
        scope=SettingScope.USER,
        field="channels.room",
        minimum=2,
        maximum=64,
    ),
    Setting(
        key="channels.<name>.nick",
        default="manual-slop",
        doc=tr("The program's nick in the channel."),
        scope=SettingScope.USER,
        field="channels.nick",
        minimum=1,
        maximum=30,
    ),
    Setting(
        key="channels.<name>.senders",
        default=(),
        doc=tr(
            "The nicks whose lines the program reads. On a network without nick protection, anybody can take a nick. Empty: no lines."
        ),
        scope=SettingScope.USER,
        field="channels.senders",
        minimum=1,
        maximum=64,
    ),
    Setting(
        key="channels.<name>.certificates",
        default="",
        doc=tr(
            "A PEM file with the authorities that sign the server's certificate, as an absolute path. Empty: the usual authorities."
        ),
        scope=SettingScope.USER,
        field="channels.certificates",
        maximum=4096,
    ),
    Setting(
        key="channels.<name>.announces",
        default=False,
        doc=tr(
            "Write a fixed notice to the channel when a reply, question or approval waits. Off: the program does this only for signals that came from the channel. The notice holds no text of a model."
        ),
        scope=SettingScope.USER,
        field="channels.announces",
    ),
    Setting(
        key="channels.<name>.answers",
        default=False,
        doc=tr(
            "Answer signals from the channel there, with the beginning of the model's reply. The beginning is one line of 240 characters."
        ),
        scope=SettingScope.USER,
        field="channels.answers",
    ),
    Setting(
        key="channels.<name>.enabled",
        default=True,
        doc=tr("Connect to this channel."),
        scope=SettingScope.USER,
        field="channels.is_enabled",
    ),
)

SETTINGS: tuple[Setting, ...] = (
    *_AI,
    *_RETRIEVAL,
    *_PROVIDERS,
    *_MCP,
    *_WINDOW,
    *_SIGNALS,
    *(replace(setting, field="") for setting in _PROJECT),
    *ITEM_SETTINGS,
)
"""Every key, in the order of the documentation."""

BY_KEY = MappingProxyType({setting.key: setting for setting in SETTINGS})

PROJECT_TABLES = ("project", "presets", "personas", "system_prompts")
"""Tables that only a project's file has, and that become `Project`."""

NEVER_TABLES = ("hooks",)
"""Tables that a project's file can never have: they are said to be held back, and read nowhere."""
