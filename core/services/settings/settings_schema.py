"""Every setting as data: key, type, default, range, scope, environment variable, and what it does."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

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


class Setting(msgspec.Struct, frozen=True):
    """One key.

    Args:
        key: dotted; `<name>` stands for a name that the person chooses (`providers.<id>.base_url`).
        default: None where nothing is set; minimum, maximum: both included, for numbers and, for texts, length.
        choices: the values it, or each of its texts, may have, empty for any.
        field: where it lives in `Settings` (`ai.model`), empty for keys that become part of `Project`.
        env: environment variable that sets it, by the name in `<name>` where the key has one.
    """

    key: str
    kind: Kind
    default: Value | None
    doc: str
    scope: SettingScope = SettingScope.ANY
    field: str = ""
    env: tuple[tuple[str, str], ...] = ()
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None

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
        ProviderKind.EMBEDDED: "Embedded model",
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
        ("reads", PolicyAnswer.ALLOW, "Reads of the project's files"),
        ("edits", PolicyAnswer.ASK, "Writes and edits of files"),
        ("commands", PolicyAnswer.ASK, "Commands; unconfined ones are asked about all the same,"),
        ("network", PolicyAnswer.ASK, "Pages of the web"),
    )
    rules = (
        ("prefixes", "Commands that go without a question, by their first words (`git log`),"),
        ("hosts", "Hosts whose pages are fetched without a question"),
        (
            "shown",
            "Places that commands which nobody was asked about, MCP servers and the index see beside the project, and files in it that look like keys and are none: absolute, from `~`, or from the project,",
        ),
    )
    asked = (
        Setting(
            key=f"{table}.{name}",
            kind=Kind.TEXT,
            default=default.value if is_general else None,
            doc=f"{what} {where}: they go, are asked about, or are refused.",
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
        kind=Kind.TEXT,
        default="",
        doc="The provider of a new discussion: `embedded`, `anthropic`, `openai`, `gemini`, `claude_code`, or the "
        "id of a server of yours. Empty: the last one used, else one with a key, else the built-in model.",
        field="ai.provider",
        env=(("", "MANUAL_SLOP_PROVIDER"),),
    ),
    Setting(
        key="ai_settings.model",
        kind=Kind.TEXT,
        default="",
        doc="The model of a new discussion, by the provider's name of it. Empty: the provider's first.",
        field="ai.model",
        env=(("", "MANUAL_SLOP_MODEL"),),
    ),
    Setting(
        key="ai_settings.system_prompt",
        kind=Kind.TEXT,
        default="",
        doc="Text of layer 4 where no system prompt preset is chosen.",
        field="ai.system_prompt",
    ),
    Setting(
        key="ai_settings.system_prompt_preset",
        kind=Kind.TEXT,
        default="",
        doc="The system prompt preset of a new discussion, by its name in `[system_prompts.<name>]`.",
        field="ai.system_prompt_preset",
    ),
    Setting(
        key="ai_settings.persona",
        kind=Kind.TEXT,
        default="",
        doc="The persona of a new discussion, by its name in `[personas.<name>]`.",
        field="ai.persona",
    ),
    Setting(
        key="ai_settings.effort",
        kind=Kind.TEXT,
        default="auto",
        doc="How hard a reasoning model is asked to think. `auto` leaves it to the model.",
        field="ai.effort",
        env=(("", "MANUAL_SLOP_EFFORT"),),
        choices=tuple(Effort),
    ),
    Setting(
        key="ai_settings.max_output_tokens",
        kind=Kind.WHOLE,
        default=None,
        doc="Longest reply, in tokens. Not set: the model's own limit.",
        field="ai.max_output_tokens",
        minimum=1,
        maximum=10_000_000,
    ),
    Setting(
        key="ai_settings.spend_limit_usd",
        kind=Kind.NUMBER,
        default=None,
        doc="What a discussion may cost, in US dollars, before the next send asks. Not set: no limit.",
        field="ai.spend_limit_usd",
        minimum=0,
        maximum=1_000_000,
    ),
    Setting(
        key="ai_settings.month_budget_usd",
        kind=Kind.NUMBER,
        default=None,
        doc="What a month may cost, in US dollars, before you are warned; nothing stops. Not set: no warning.",
        scope=SettingScope.USER,
        field="ai.month_budget_usd",
        minimum=0,
        maximum=1_000_000,
    ),
    Setting(
        key="ai_settings.knowledge.digest_enabled",
        kind=Kind.SWITCH,
        default=True,
        doc="Whether the knowledge digest enters the context while its file exists.",
        field="knowledge.digest_enabled",
    ),
    Setting(
        key="ai_settings.knowledge.budget_bytes",
        kind=Kind.WHOLE,
        default=8192,
        doc="Longest text of layer 7 (digest, facts and notes together), in bytes.",
        field="knowledge.budget_bytes",
        minimum=0,
        maximum=1_000_000,
    ),
    Setting(
        key="ai_settings.knowledge.live_days",
        kind=Kind.NUMBER,
        default=7.0,
        doc="A harvest leaves alone what was touched within so many days.",
        scope=SettingScope.USER,
        field="knowledge.live_days",
        minimum=0,
        maximum=3_650,
    ),
    Setting(
        key="ai_settings.knowledge.max_source_bytes",
        kind=Kind.WHOLE,
        default=1_048_576,
        doc="A harvest keeps conversations that are larger, in bytes.",
        scope=SettingScope.USER,
        field="knowledge.max_source_bytes",
        minimum=1,
        maximum=1_073_741_824,
    ),
    Setting(
        key="ai_settings.knowledge.harvest_sources",
        kind=Kind.TEXTS,
        default=(),
        doc="Conversations of other programs that a harvest reads too: files and folders, absolute or from `~`. They "
        "stay where they are.",
        scope=SettingScope.USER,
        field="knowledge.harvest_sources",
        maximum=1_000,
    ),
    Setting(
        key="ai_settings.knowledge.harvest_provider",
        kind=Kind.TEXT,
        default="",
        doc="Who reads conversations for a harvest. Empty: `ai_settings.provider`, else the built-in model, which is free.",
        scope=SettingScope.USER,
        field="knowledge.harvest_provider",
        maximum=100,
    ),
    Setting(
        key="ai_settings.knowledge.harvest_model",
        kind=Kind.TEXT,
        default="",
        doc="The model that reads them, by the provider's name for it. Empty: that of a new discussion.",
        scope=SettingScope.USER,
        field="knowledge.harvest_model",
        maximum=200,
    ),
    Setting(
        key="ai_settings.knowledge.mode",
        kind=Kind.TEXT,
        default=MemoryMode.CONFIRM.value,
        doc="`recall`: knowledge is read and no harvest writes to it. `confirm`: you confirm what a harvest writes. "
        "`automatic`: conversations in which only the categories below were found are written without being asked; the "
        "built-in model's never are, and nothing turns memory on by itself.",
        scope=SettingScope.USER,
        field="knowledge.mode",
        choices=tuple(MemoryMode),
    ),
    Setting(
        key="ai_settings.knowledge.after_harvest",
        kind=Kind.TEXT,
        default="",
        doc="What happens to a conversation once its items are written. `keep`: it stays, marked as read. `trash`: it goes to "
        "the trash, unless an import made it; `trash_all`: imported ones go too. `leave`: it stays and is listed again. Empty: "
        "the window asks; other ways use `trash`.",
        scope=SettingScope.USER,
        field="knowledge.after_harvest",
        choices=("", *AfterHarvest),
    ),
    Setting(
        key="ai_settings.knowledge.automatic_categories",
        kind=Kind.TEXTS,
        default=(),
        doc="What the mode `automatic` writes: facts, decisions, tasks_done, tasks_open, questions, playbooks, files.",
        scope=SettingScope.USER,
        field="knowledge.automatic_categories",
        maximum=7,
    ),
    Setting(
        key="ai_settings.caching.anthropic_enabled",
        kind=Kind.SWITCH,
        default=True,
        doc="Whether requests to Anthropic carry cache marks.",
        field="caching.anthropic_enabled",
    ),
    Setting(
        key="ai_settings.caching.anthropic_ttl",
        kind=Kind.TEXT,
        default="auto",
        doc="Lifetime of Anthropic cache entries; `auto` chooses by your own gaps between turns.",
        field="caching.anthropic_ttl",
        choices=("auto", "5m", "1h"),
    ),
    Setting(
        key="ai_settings.caching.gemini_enabled",
        kind=Kind.SWITCH,
        default=True,
        doc="Whether Gemini keeps a discussion's prefix, its turns so far included, stored while that pays.",
        field="caching.gemini_enabled",
    ),
    Setting(
        key="ai_settings.caching.gemini_ttl_minutes",
        kind=Kind.WHOLE,
        default=60,
        doc="Longest that a Gemini cache is held after a turn, in minutes; over 60 only with `gemini_allow_long`.",
        field="caching.gemini_ttl_minutes",
        minimum=1,
        maximum=10_080,
    ),
    Setting(
        key="ai_settings.caching.gemini_allow_long",
        kind=Kind.SWITCH,
        default=False,
        doc="Whether a Gemini cache may be held for longer than an hour after a turn; storage is charged while it is.",
        scope=SettingScope.USER,
        field="caching.gemini_allow_long",
    ),
    Setting(
        key="ai_settings.caching.openai_ttl",
        kind=Kind.TEXT,
        default="auto",
        doc="Lifetime of OpenAI cache entries where the model offers a choice; `auto` chooses by your own gaps between turns.",
        field="caching.openai_ttl",
        choices=("auto", "30m", "12h"),
    ),
    Setting(
        key="ai_settings.caching.appends_changes",
        kind=Kind.SWITCH,
        default=True,
        doc="Whether what changed (files, presets, digest, notes, identity files) is appended while the prefix is warm,"
        " instead of rewriting it.",
        field="caching.appends_changes",
    ),
    Setting(
        key="ai_settings.caching.keepalive",
        kind=Kind.SWITCH,
        default=False,
        doc="Whether an idle prefix is read again to keep it, while that is expected to pay.",
        scope=SettingScope.USER,
        field="caching.keepalive",
    ),
    Setting(
        key="ai_settings.caching.keepalive_cap_usd",
        kind=Kind.NUMBER,
        default=1.0,
        doc="What keepalive may cost for one discussion and one idle time, in US dollars."
        " Marks, pings, prewarms and storage at Gemini together never lose more on one discussion than twice the input price"
        " of its largest request.",
        scope=SettingScope.USER,
        field="caching.keepalive_cap_usd",
        minimum=0,
        maximum=1000,
    ),
    Setting(
        key="ai_settings.caching.prewarm",
        kind=Kind.SWITCH,
        default=False,
        doc="Whether a prefix is read when its discussion opens. The embedded model always does: it is free.",
        scope=SettingScope.USER,
        field="caching.prewarm",
    ),
    Setting(
        key="ai_settings.caching.embedded_disk_mb",
        kind=Kind.WHOLE,
        default=512,
        doc="What saved prefixes of the embedded model may take on disk, in MB.",
        scope=SettingScope.USER,
        field="caching.embedded_disk_mb",
        minimum=0,
        maximum=1_000_000,
    ),
    Setting(
        key="ai_settings.caching.day_limit_usd",
        kind=Kind.NUMBER,
        default=None,
        doc="What a day may cost, in US dollars, before the next send asks. Not set: no limit.",
        scope=SettingScope.USER,
        field="caching.day_limit_usd",
        minimum=0,
        maximum=1_000_000,
    ),
    Setting(
        key="ai_settings.caching.cold_send_usd",
        kind=Kind.NUMBER,
        default=None,
        doc="When a cache has ended and the next send writes it again for more than this amount in US dollars, the program "
        "says so first. 0: it never says so. Not set: it offers the note once a send costs over $0.25.",
        scope=SettingScope.USER,
        field="caching.cold_send_usd",
        minimum=0,
        maximum=1_000_000,
    ),
)

_PROVIDERS = (
    Setting(
        key="providers.<id>.kind",
        kind=Kind.TEXT,
        default="compatible",
        doc="Which client speaks to it, `compatible` or `anthropic`; the vendors have theirs. Where none is written, an address "
        "at anthropic.com is Anthropic's, every other a compatible one.",
        scope=SettingScope.SERVER,
        field="servers.kind",
        choices=tuple(ProviderKind),
    ),
    Setting(
        key="providers.<id>.label",
        kind=Kind.TEXT,
        default="",
        doc="The name that the window shows. Empty: the id.",
        scope=SettingScope.SERVER,
        field="servers.label",
        maximum=80,
    ),
    Setting(
        key="providers.<id>.base_url",
        kind=Kind.TEXT,
        default="",
        doc="The address of an OpenAI-compatible server (`http://127.0.0.1:11434/v1`), or another address for a "
        "vendor. Empty: the vendor's own.",
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
        kind=Kind.NUMBER,
        default=300.0,
        doc="Longest silence between two parts of a reply, in seconds.",
        scope=SettingScope.SERVER,
        field="servers.timeout_s",
        minimum=1,
        maximum=86_400,
    ),
    Setting(
        key="providers.<id>.connect_timeout_s",
        kind=Kind.NUMBER,
        default=10.0,
        doc="Longest wait for a connection, in seconds.",
        scope=SettingScope.SERVER,
        field="servers.connect_timeout_s",
        minimum=0.1,
        maximum=600,
    ),
    Setting(
        key="providers.<id>.seed",
        kind=Kind.WHOLE,
        default=None,
        doc="Seed of sampling, for the embedded model and compatible servers: the same request gives the same reply. "
        "Not set: each reply is sampled anew.",
        scope=SettingScope.SERVER,
        field="servers.seed",
        minimum=0,
        maximum=2_147_483_647,
    ),
    Setting(
        key="providers.<id>.enabled",
        kind=Kind.SWITCH,
        default=True,
        doc="Whether the provider is offered.",
        scope=SettingScope.SERVER,
        field="servers.is_enabled",
    ),
)

_MCP = (
    Setting(
        key="mcp.servers.<name>.command",
        kind=Kind.TEXT,
        default="",
        doc="The program of an MCP server that speaks over its standard input and output, by name or absolute path. It runs "
        "in the sandbox of commands, and starts after you approved it.",
        scope=SettingScope.SERVER,
        field="mcp.program",
        maximum=1_000,
    ),
    Setting(
        key="mcp.servers.<name>.args",
        kind=Kind.TEXTS,
        default=(),
        doc="Its arguments, as they are: nothing in them is replaced.",
        scope=SettingScope.SERVER,
        field="mcp.arguments",
        maximum=4_000,
    ),
    Setting(
        key="mcp.servers.<name>.environment",
        kind=Kind.TEXTS,
        default=(),
        doc="Names of the variables that it gets beside those that every program needs. Their values come from the keyring "
        "(`manual-slop key mcp.NAME`) or from your environment, and stand in no file.",
        scope=SettingScope.SERVER,
        field="mcp.environment",
        minimum=1,
        maximum=100,
    ),
    Setting(
        key="mcp.servers.<name>.url",
        kind=Kind.TEXT,
        default="",
        doc="The address of an MCP server over streamable HTTP, in place of a command.",
        scope=SettingScope.SERVER,
        field="mcp.url",
        maximum=2_000,
    ),
    Setting(
        key="mcp.servers.<name>.key_name",
        kind=Kind.TEXT,
        default="",
        doc="The name of the key that it is sent as bearer token, kept with `manual-slop key mcp.NAME`. Empty: none is sent.",
        scope=SettingScope.USER,
        field="mcp.key",
        maximum=60,
    ),
    Setting(
        key="mcp.servers.<name>.network",
        kind=Kind.SWITCH,
        default=False,
        doc="Whether a server with a command may open the network.",
        scope=SettingScope.SERVER,
        field="mcp.network",
    ),
    Setting(
        key="mcp.servers.<name>.timeout_s",
        kind=Kind.NUMBER,
        default=60.0,
        doc="Longest that a call of it takes, in seconds.",
        scope=SettingScope.SERVER,
        field="mcp.timeout_s",
        minimum=1,
        maximum=3_600,
    ),
    Setting(
        key="mcp.servers.<name>.enabled",
        kind=Kind.SWITCH,
        default=True,
        doc="Whether it is used.",
        scope=SettingScope.SERVER,
        field="mcp.is_enabled",
    ),
)

_WINDOW = (
    Setting(
        key="appearance.theme",
        kind=Kind.TEXT,
        default="dark",
        doc="Colours of the window.",
        scope=SettingScope.USER,
        field="appearance.theme",
        env=(("", "MANUAL_SLOP_THEME"),),
        choices=("dark", "light"),
    ),
    Setting(
        key="appearance.ui_scale",
        kind=Kind.NUMBER,
        default=1.0,
        doc="Size of text and controls, 1.0 is the design's.",
        scope=SettingScope.USER,
        field="appearance.ui_scale",
        env=(("", "MANUAL_SLOP_UI_SCALE"),),
        minimum=0.5,
        maximum=3.0,
    ),
    Setting(
        key="appearance.send_key",
        kind=Kind.TEXT,
        default="ctrl+enter",
        doc="The key that sends what stands in the composer.",
        scope=SettingScope.USER,
        field="appearance.send_key",
        choices=("ctrl+enter", "enter"),
    ),
    Setting(
        key="appearance.shortcuts",
        kind=Kind.TEXTS,
        default=(),
        doc="Your own shortcuts, each as `action=chord`: `palette=Ctrl+Shift+K`; `none` for no shortcut. The list of "
        "shortcuts in the window writes them.",
        scope=SettingScope.USER,
        field="appearance.shortcuts",
        maximum=200,
    ),
    Setting(
        key="files.max_file_bytes",
        kind=Kind.WHOLE,
        default=2_000_000,
        doc="A file of a preset over this size is refused, in bytes.",
        scope=SettingScope.USER,
        field="files.max_file_bytes",
        minimum=1_000,
        maximum=100_000_000,
    ),
    Setting(
        key="files.max_glob_files",
        kind=Kind.WHOLE,
        default=2_000,
        doc="A pattern of a preset that matches more files than this is refused.",
        scope=SettingScope.USER,
        field="files.max_glob_files",
        minimum=1,
        maximum=100_000,
    ),
    Setting(
        key="files.max_attachment_bytes",
        kind=Kind.WHOLE,
        default=20_000_000,
        doc="An attachment over this size is refused, in bytes.",
        scope=SettingScope.USER,
        field="files.max_attachment_bytes",
        minimum=1_000,
        maximum=1_000_000_000,
    ),
    Setting(
        key="files.paste_as_attachment_chars",
        kind=Kind.WHOLE,
        default=20_000,
        doc="A paste into the composer longer than this becomes an attachment, in characters.",
        scope=SettingScope.USER,
        field="files.paste_as_attachment_chars",
        minimum=100,
        maximum=10_000_000,
    ),
    Setting(
        key="hooks.enabled",
        kind=Kind.SWITCH,
        default=False,
        doc="Whether other programs of yours may use the Hook API (docs/openapi.json), from the next start on. "
        "`--hooks` turns it on for one run.",
        scope=SettingScope.USER,
        field="hooks.enabled",
    ),
    Setting(
        key="hooks.port",
        kind=Kind.WHOLE,
        default=0,
        doc="The loopback port of the Hook API. 0: any that is free; `hook.json` in the home names it.",
        scope=SettingScope.USER,
        field="hooks.port",
        minimum=0,
        maximum=65_535,
    ),
    Setting(
        key="tools.max_rounds",
        kind=Kind.WHOLE,
        default=20,
        doc="Calls of the model in one turn with tools; then it stops and waits for you.",
        scope=SettingScope.USER,
        field="tools.max_rounds",
        minimum=1,
        maximum=1000,
    ),
    *(
        Setting(
            key=f"tools.{name}",
            kind=Kind.WHOLE,
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
                "Memory of one command with all that it starts; then it is ended. 0: three quarters of the machine's.",
            ),
            ("file_mib", 32_768, 1, "Size of one file that a command writes; then it is ended."),
            (
                "free_disk_mib",
                512,
                0,
                "Room that a command leaves on the disks that it writes to; then it is ended.",
            ),
        )
    ),
    *_policies("tools", "in every folder"),
    *_policies("tools.folders.<folder>", "in this folder and below it, written absolute or from `~`"),
    Setting(
        key="agent.max_turns",
        kind=Kind.WHOLE,
        default=20,
        doc="Autonomous turns of a discussion without you; then it rests until you write.",
        scope=SettingScope.USER,
        field="agent.max_turns",
        minimum=1,
        maximum=1000,
    ),
    Setting(
        key="agent.dreams",
        kind=Kind.SWITCH,
        default=True,
        doc="At rest, an autonomous discussion has a preview of the harvest made once; it applies nothing, and costs what it costs.",
        scope=SettingScope.USER,
        field="agent.dreams",
    ),
    Setting(
        key="agent.desktop_idle",
        kind=Kind.SWITCH,
        default=False,
        doc="An autonomous discussion is told how long you used no key or pointer of the whole desktop, not of the window alone: "
        "on X11. The code for macOS and Windows was never run there, and Wayland tells no program.",
        scope=SettingScope.USER,
        field="agent.desktop_idle",
    ),
    Setting(
        key="imports.follow",
        kind=Kind.TEXTS,
        default=(),
        doc="Files and folders of other programs, absolute or from `~`, of which new conversations are taken by themselves while "
        "a window or `--headless` runs, and what grew adds its part. `manual-slop import --follow NAME` adds one.",
        scope=SettingScope.USER,
        field="imports.follow",
        maximum=100,
    ),
    Setting(
        key="trash_days",
        kind=Kind.WHOLE,
        default=30,
        doc="Days that a deleted discussion stays in the trash.",
        scope=SettingScope.USER,
        field="trash_days",
        minimum=0,
        maximum=36_500,
    ),
)

_RETRIEVAL = (
    Setting(
        key="retrieval.enabled",
        kind=Kind.SWITCH,
        default=False,
        doc="Whether notes, knowledge and past discussions can be searched here, and an index of them is kept.",
        field="retrieval.enabled",
    ),
    Setting(
        key="retrieval.corpora",
        kind=Kind.TEXTS,
        default=("notes", "knowledge", "discussions"),
        doc="What is searched: `notes`, `knowledge`, `discussions`, and `project` for the project's own files.",
        field="retrieval.corpora",
        choices=tuple(Corpus),
    ),
    Setting(
        key="retrieval.roots",
        kind=Kind.TEXTS,
        default=(),
        doc="Folders of notes: relative to the project with `/`, or absolute inside its allowed roots. An `index.md` is written in each.",
        field="retrieval.roots",
        maximum=4_096,
    ),
    Setting(
        key="retrieval.ambient",
        kind=Kind.SWITCH,
        default=False,
        doc="Whether what fits a message best is sent with it, shown in the Context view before.",
        field="retrieval.ambient",
    ),
    Setting(
        key="retrieval.ambient_tokens",
        kind=Kind.WHOLE,
        default=800,
        doc="Most tokens of what is sent with a message in this way.",
        field="retrieval.ambient_tokens",
        minimum=100,
        maximum=20_000,
    ),
    Setting(
        key="retrieval.kept_out",
        kind=Kind.TEXTS,
        default=(),
        doc="Sources that are never sent along by themselves, each as `corpus:path` (`knowledge:facts.md`); one item of it "
        "with its mark behind it, as the click writes it (`knowledge:facts.md#0a1b2c3d4e5f`).",
        field="retrieval.kept_out",
        maximum=1_000,
    ),
    Setting(
        key="retrieval.tag_fields",
        kind=Kind.TEXTS,
        default=("tags",),
        doc="Names under which notes say their tags (`**Tags:**`, or a key of their front matter).",
        field="retrieval.tag_fields",
        maximum=100,
    ),
    Setting(
        key="retrieval.date_fields",
        kind=Kind.TEXTS,
        default=("date", "data"),
        doc="Names under which notes say their date.",
        field="retrieval.date_fields",
        maximum=100,
    ),
    Setting(
        key="retrieval.embedder",
        kind=Kind.TEXT,
        default="",
        doc="Server that makes vectors, one of `[providers]`: one that is not on this machine needs a price of 0 in your `models.toml`. "
        "Empty: the model that comes with the program.",
        scope=SettingScope.USER,
        field="retrieval.embedder",
        maximum=100,
    ),
    Setting(
        key="retrieval.embedding_model",
        kind=Kind.TEXT,
        default="",
        doc="The server's model that makes them, by the server's name for it.",
        scope=SettingScope.USER,
        field="retrieval.embedding_model",
        maximum=200,
    ),
    Setting(
        key="retrieval.embedding_dimension",
        kind=Kind.WHOLE,
        default=384,
        doc="Components of its vectors. Another model or dimension is another index.",
        scope=SettingScope.USER,
        field="retrieval.embedding_dimension",
        minimum=8,
        maximum=4_096,
    ),
    Setting(
        key="retrieval.server",
        kind=Kind.TEXT,
        default="",
        doc="PostgreSQL with pgvector that holds the index, as `postgresql://user@host/database`. The password comes "
        "from the keyring (`manual-slop key retrieval-server`). Needs the extra `postgres`. Empty: the index is on this "
        "machine.",
        scope=SettingScope.USER,
        field="retrieval.server",
        maximum=500,
    ),
)

_PROJECT = (
    Setting(
        key="project.name",
        kind=Kind.TEXT,
        default="",
        doc="The project's name. Empty: the folder's.",
        scope=SettingScope.PROJECT,
        maximum=200,
    ),
    Setting(
        key="project.domain",
        kind=Kind.TEXT,
        default="",
        doc="The name under which facts of this repository are kept. Empty: that of its `origin` address, else the folder's. "
        "Two repositories of one name share their facts until one is named here.",
        scope=SettingScope.PROJECT,
        maximum=100,
    ),
    Setting(
        key="project.context",
        kind=Kind.TEXTS,
        default=None,
        doc='What every discussion of the project should know (layer 6): texts, and files as `{ file = "path" }`. '
        "One text may stand without brackets.",
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="project.identity",
        kind=Kind.SWITCH,
        default=True,
        doc="Whether CLAUDE.md, AGENTS.md and POC.md are collected from the working directory up to the "
        "repository's root, and from the home. Those of a folder count once you trust it and were shown that they "
        "are there; those of the home always do.",
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="project.memory",
        kind=Kind.TEXTS,
        default=None,
        doc="Folders whose Markdown files every discussion of the project gets whole, as far as 20,000 tokens reach, beside "
        "those of `memory/` in the home.",
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="project.allowed_roots",
        kind=Kind.TEXTS,
        default=None,
        doc="Folders outside the project that presets and project context may read.",
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="presets.<name>.items",
        kind=Kind.ITEMS,
        default=None,
        doc="The files of a context preset, in order.",
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="personas.<name>.text",
        kind=Kind.TEXT,
        default=None,
        doc="A persona, as text.",
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="personas.<name>.file",
        kind=Kind.TEXT,
        default=None,
        doc="A persona, as a file.",
        scope=SettingScope.PROJECT,
        minimum=1,
    ),
    Setting(
        key="system_prompts.<name>.text",
        kind=Kind.TEXT,
        default=None,
        doc="A system prompt preset, as text.",
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="system_prompts.<name>.file",
        kind=Kind.TEXT,
        default=None,
        doc="A system prompt preset, as a file.",
        scope=SettingScope.PROJECT,
        minimum=1,
    ),
)

MOST_PATH_CHARS = 4096
"""Longest path of a preset's item."""

_ITEM = (
    Setting(
        key="path",
        kind=Kind.TEXT,
        default=None,
        doc="The file: relative to the project's root with `/`, absolute, or a pattern (`src/**/*.py`).",
        scope=SettingScope.PROJECT,
        minimum=1,
        maximum=MOST_PATH_CHARS,
    ),
    Setting(
        key="mode",
        kind=Kind.TEXT,
        default="whole",
        doc="How much of it is sent.",
        scope=SettingScope.PROJECT,
        choices=FILE_MODES,
    ),
    Setting(
        key="slices",
        kind=Kind.TEXTS,
        default=None,
        doc='Lines for mode `slices`: `[first, last]` pairs or `"first-last"`, counted from 1.',
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="symbols",
        kind=Kind.TEXTS,
        default=None,
        doc="Definitions for mode `slices`, by qualified name (`Class.method`).",
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="notes",
        kind=Kind.TEXT,
        default="",
        doc="What the model should know of the file.",
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="pinned",
        kind=Kind.SWITCH,
        default=False,
        doc="Stays at the head of the preset.",
        scope=SettingScope.PROJECT,
    ),
    Setting(
        key="enabled", kind=Kind.SWITCH, default=True, doc="Whether it is sent.", scope=SettingScope.PROJECT
    ),
    Setting(
        key="include_ignored",
        kind=Kind.SWITCH,
        default=False,
        doc="A pattern takes what `.gitignore` files leave out, too. A path without wildcards is always taken.",
        scope=SettingScope.PROJECT,
    ),
)

ITEM_SETTINGS = tuple(replace(item, key=f"presets.<name>.items.{item.key}") for item in _ITEM)
"""The keys of one item of a preset."""

_SIGNALS = (
    Setting(
        key="notifications.desktop",
        kind=Kind.SWITCH,
        default=True,
        doc="Whether the desktop shows a notice when a reply, a question or an approval waits and nobody touched the window for half a minute.",
        scope=SettingScope.USER,
        field="notifications.desktop",
    ),
    Setting(
        key="channels.<name>.host",
        kind=Kind.TEXT,
        default=None,
        doc="Server of an IRC channel whose lines become signals. It is spoken to over TLS alone.",
        scope=SettingScope.USER,
        field="channels.host",
        minimum=1,
        maximum=253,
    ),
    Setting(
        key="channels.<name>.port",
        kind=Kind.WHOLE,
        default=6697,
        doc="Its port for TLS.",
        scope=SettingScope.USER,
        field="channels.port",
        minimum=1,
        maximum=65_535,
    ),
    Setting(
        key="channels.<name>.room",
        kind=Kind.TEXT,
        default=None,
        doc="The channel itself (`#builds`).",
        scope=SettingScope.USER,
        field="channels.room",
        minimum=2,
        maximum=64,
    ),
    Setting(
        key="channels.<name>.nick",
        kind=Kind.TEXT,
        default="manual-slop",
        doc="How the program is called there.",
        scope=SettingScope.USER,
        field="channels.nick",
        minimum=1,
        maximum=30,
    ),
    Setting(
        key="channels.<name>.senders",
        kind=Kind.TEXTS,
        default=(),
        doc="Nicks whose lines count. A nick can be taken by anybody on a network that does not guard it. Empty: nobody's.",
        scope=SettingScope.USER,
        field="channels.senders",
        minimum=1,
        maximum=64,
    ),
    Setting(
        key="channels.<name>.certificates",
        kind=Kind.TEXT,
        default="",
        doc="PEM file of the authorities that sign the server's certificate, absolute. Empty: those that count for every server.",
        scope=SettingScope.USER,
        field="channels.certificates",
        maximum=4096,
    ),
    Setting(
        key="channels.<name>.announces",
        kind=Kind.SWITCH,
        default=False,
        doc="Whether fixed words go out to it whenever a reply, a question or an approval waits; else only for what it asked. "
        "No text of a model does.",
        scope=SettingScope.USER,
        field="channels.announces",
    ),
    Setting(
        key="channels.<name>.answers",
        kind=Kind.SWITCH,
        default=False,
        doc="Whether the beginning of the model's reply, one line of 240 characters, goes out to it for what it asked.",
        scope=SettingScope.USER,
        field="channels.answers",
    ),
    Setting(
        key="channels.<name>.enabled",
        kind=Kind.SWITCH,
        default=True,
        doc="Whether it is connected.",
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
    *_PROJECT,
    *ITEM_SETTINGS,
)
"""Every key, in the order of the documentation."""

BY_KEY = MappingProxyType({setting.key: setting for setting in SETTINGS})

PROJECT_TABLES = ("project", "presets", "personas", "system_prompts")
"""Tables that only a project's file has, and that become `Project`."""

NEVER_TABLES = ("hooks",)
"""Tables that a project's file can never have: they are said to be held back, and read nowhere."""
