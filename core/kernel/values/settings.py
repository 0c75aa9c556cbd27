"""Settings as values, with the defaults, and a page of the guide. How they are read and merged is `core.services.settings`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from core.kernel.values.curation import NamedText, Preset
from core.kernel.values.mcp import CommandBounds, McpServerSettings

# Settings as values, with the defaults. How they are read and merged is `core.services.settings`.

# Policies of tools as values: what goes, asks or is refused where a person settled it beforehand.


class PolicyAnswer(StrEnum):
    """Answer of a policy, loosest first."""

    ALLOW = "allow"
    ASK = "ask"
    REFUSE = "refuse"


class Policies(msgspec.Struct, frozen=True):
    """Answers that a person set for a folder, in their own settings.

    Args:
        reads, edits, commands, network: answer where nothing else decides. Commands are let go only where they are confined.
        prefixes: command rules, words as a shell reads them (`git log`); hosts: addresses that may be fetched.
        shown: places that commands which nobody was asked about, MCP servers and the index see: outside the project, or files in
            it that look like keys and are none; absolute, links resolved.
    """

    reads: PolicyAnswer = PolicyAnswer.ALLOW
    edits: PolicyAnswer = PolicyAnswer.ASK
    commands: PolicyAnswer = PolicyAnswer.ASK
    network: PolicyAnswer = PolicyAnswer.ASK
    prefixes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()


class ProjectPolicies(msgspec.Struct, frozen=True):
    """Policies of a project's file. They can only be stricter than the person's. None: not set."""

    reads: PolicyAnswer | None = None
    edits: PolicyAnswer | None = None
    commands: PolicyAnswer | None = None
    network: PolicyAnswer | None = None


class AiSettings(msgspec.Struct, frozen=True):
    """`[ai_settings]`: what a new discussion starts with. No provider: see `core.services.settings.settings_rules`."""

    provider: str = ""
    model: str = ""
    system_prompt: str = ""
    system_prompt_preset: str = ""
    persona: str = ""
    effort: str = "auto"
    max_output_tokens: int | None = None
    spend_limit_usd: float | None = None
    month_budget_usd: float | None = None


class MemoryMode(StrEnum):
    """Modes of the memory: nothing is written by a model; each write is confirmed; some categories are not asked about."""

    RECALL = "recall"
    CONFIRM = "confirm"
    AUTOMATIC = "automatic"


class AfterHarvest(StrEnum):
    """Fate of a conversation whose items are written.

    `keep`: it stays, marked as read; `trash`: it goes there, unless an import made it; `trash_all`: that one as well;
    `leave`: it stays as it is, and the next harvest lists it again.
    """

    KEEP = "keep"
    TRASH = "trash"
    TRASH_ALL = "trash_all"
    LEAVE = "leave"


class KnowledgeSettings(msgspec.Struct, frozen=True):
    """`[ai_settings.knowledge]`.

    Args:
        budget_bytes: of all of layer 7.
        live_days: a harvest leaves alone what was touched within; max_source_bytes: it keeps what is larger.
        harvest_sources: files and folders with conversations of other programs, read and never reclaimed.
        harvest_provider, harvest_model: which model reads; empty: that of `[ai_settings]`, else the built-in one.
        mode: who may write; automatic_categories: what is written without being asked in the mode `automatic`.
        after_harvest: an `AfterHarvest`, empty until the person has chosen one.
    """

    digest_enabled: bool = True
    budget_bytes: int = 8192
    live_days: float = 7.0
    max_source_bytes: int = 1_048_576
    harvest_sources: tuple[str, ...] = ()
    harvest_provider: str = ""
    harvest_model: str = ""
    mode: str = MemoryMode.CONFIRM.value
    automatic_categories: tuple[str, ...] = ()
    after_harvest: str = ""

    def fate_of_harvested(self, chosen: str = "") -> AfterHarvest:
        """Fate of the conversations of an apply: as chosen for it, else as the settings say, else the trash."""
        return AfterHarvest(chosen or self.after_harvest or AfterHarvest.TRASH)


class RetrievalSettings(msgspec.Struct, frozen=True):
    """`[retrieval]`: search and ambient recall.

    Args:
        corpora: names of `Corpus` that are searched; roots: folders of notes, relative to the project or absolute.
        ambient: passages that fit a message are sent with it; ambient_tokens: at most so many;
            kept_out: sources of which none is, as `corpus:path`, an item as `corpus:path#mark`.
        embedder: id of a server that makes vectors, empty for the model that comes with the program; then
            embedding_model and embedding_dimension are its own.
        server: PostgreSQL that holds the index, empty for this machine.
    """

    enabled: bool = False
    corpora: tuple[str, ...] = ("notes", "knowledge", "discussions")
    roots: tuple[str, ...] = ()
    ambient: bool = False
    ambient_tokens: int = 800
    kept_out: tuple[str, ...] = ()
    tag_fields: tuple[str, ...] = ("tags",)
    date_fields: tuple[str, ...] = ("date", "data")
    embedder: str = ""
    embedding_model: str = ""
    embedding_dimension: int = 384
    server: str = ""


class CachingSettings(msgspec.Struct, frozen=True):
    """`[ai_settings.caching]`: the global switches of prompt caching.

    Args:
        anthropic_ttl: `auto` lets the planner choose by the person's gaps, else `5m` or `1h`; openai_ttl likewise
            with `30m` and `12h`.
        gemini_ttl_minutes: of an explicit cache; over 60 only with `gemini_allow_long` (charges may apply).
        appends_changes: while a prefix is warm, changed files are appended instead of edited in.
        keepalive: read an idle prefix again while that is expected to pay; keepalive_cap_usd: for one idle time.
        prewarm: read the prefix when a discussion opens; the embedded model always does, it is free.
        embedded_disk_mb: what saved prefixes of the embedded model may take.
        day_limit_usd: at this sum of a day the next send asks and background work stops; None: no limit.
        cold_send_usd: a send that writes more than this again because its cache ended is said before; 0: never; None: the
            person was not asked yet.
    """

    anthropic_enabled: bool = True
    anthropic_ttl: str = "auto"
    gemini_enabled: bool = True
    gemini_ttl_minutes: int = 60
    gemini_allow_long: bool = False
    openai_ttl: str = "auto"
    appends_changes: bool = True
    keepalive: bool = False
    keepalive_cap_usd: float = 1.0
    prewarm: bool = False
    embedded_disk_mb: int = 512
    day_limit_usd: float | None = None
    cold_send_usd: float | None = None


class ServerSettings(msgspec.Struct, frozen=True):
    """`[providers.<id>]` of user settings: a vendor's address and limits, or a compatible server by its name.

    Args:
        kind: one of `ProviderKind`; for the vendors it equals the id, for others it is `compatible` or `anthropic`.
        base_url: empty for the SDK's own default (which its own environment variable may set).
        timeout_s: longest silence between two parts of a stream; connect_timeout_s: to open a connection.
        seed: of sampling, where the server takes one: the same request gives the same reply; None for a fresh one.
    """

    id: str
    kind: str
    label: str = ""
    base_url: str = ""
    timeout_s: float = 300.0
    connect_timeout_s: float = 10.0
    seed: int | None = None
    is_enabled: bool = True


class Appearance(msgspec.Struct, frozen=True):
    """`[appearance]` of user settings. `shortcuts`: the person's own, each `action=chord`."""

    theme: str = "dark"
    ui_scale: float = 1.0
    send_key: str = "ctrl+enter"
    shortcuts: tuple[str, ...] = ()
    language: str = "en"


class FileLimits(msgspec.Struct, frozen=True):
    """`[files]` of user settings: what a preset may take in."""

    max_file_bytes: int = 2_000_000
    max_glob_files: int = 2_000
    max_attachment_bytes: int = 20_000_000
    paste_as_attachment_chars: int = 20_000


class HookSettings(msgspec.Struct, frozen=True):
    """`[hooks]` of user settings, never of a project's: whether the Hook API runs, and on which loopback port.

    `port` 0 takes any that is free. Counts from the next start.
    """

    enabled: bool = False
    port: int = 0


class ToolSettings(msgspec.Struct, frozen=True):
    """`[tools]` of user settings: turns with tools.

    Args:
        max_rounds: calls of a model in one turn.
        memory_mib, file_mib, free_disk_mib: bounds of one command, as in `CommandBounds`.
        reads, edits, commands, network, prefixes, hosts, shown: as in `Policies`, for every folder; places as they were written.
        folders: what is said otherwise for a folder and all below it, by the folder as it was written.
    """

    max_rounds: int = 20
    memory_mib: int = 0
    file_mib: int = 32_768
    free_disk_mib: int = 512
    reads: str = PolicyAnswer.ALLOW.value
    edits: str = PolicyAnswer.ASK.value
    commands: str = PolicyAnswer.ASK.value
    network: str = PolicyAnswer.ASK.value
    prefixes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    folders: Mapping[str, Mapping[str, str | tuple[str, ...]]] = msgspec.field(default_factory=dict)

    @property
    def bounds(self) -> CommandBounds:
        """Bounds of a command, and of an MCP server over stdio."""
        return CommandBounds(
            memory_mib=self.memory_mib, file_mib=self.file_mib, free_disk_mib=self.free_disk_mib
        )


class NotificationSettings(msgspec.Struct, frozen=True):
    """`[notifications]` of user settings. `desktop`: a notice of the desktop while nobody touches the window."""

    desktop: bool = True


class ChannelSettings(msgspec.Struct, frozen=True):
    """`[channels.<name>]` of user settings, never of a project's: a channel of IRC, over TLS alone.

    Args:
        host, port, nick: of the server, and how the program is called there; room: the channel itself (`#builds`).
        senders: nicks whose lines count, nobody else's; none: nobody's.
        certificates: PEM file of authorities that sign the server's certificate, empty for those that count everywhere.
        announces: fixed words go out to it whenever a person is told something; else only for what it asked.
        answers: the beginning of the model's reply goes out with them for what it asked.
    """

    name: str
    host: str
    room: str
    nick: str = "manual-slop"
    port: int = 6697
    senders: tuple[str, ...] = ()
    certificates: str = ""
    announces: bool = False
    answers: bool = False
    is_enabled: bool = True


class ImportSettings(msgspec.Struct, frozen=True):
    """`[imports]` of user settings. `follow`: files and folders of which new conversations are taken by themselves."""

    follow: tuple[str, ...] = ()


class AgentSettings(msgspec.Struct, frozen=True):
    """`[agent]` of user settings: autonomous mode.

    Args:
        max_turns: autonomous turns without the person.
        dreams: a harvest preview while it rests and nothing is to do; it costs what a preview costs.
        desktop_idle: keys and the pointer on the whole desktop count for how long the person is away, not the window's alone.
    """

    max_turns: int = 20
    dreams: bool = True
    desktop_idle: bool = False


class Settings(msgspec.Struct, frozen=True):
    """Everything after command line, environment, project and user settings were merged.

    Args:
        sources: for each key that is not a default (`ai_settings.model`), where it came from.
        own_ai: `ai` as it would be without the project's file, None where that is the same: for what concerns more than
            the project, as a harvest does; project_servers: ids of the servers that the project's file adds.
        mcp: MCP servers by name, the person's and those of the project that count.
        unread: sentence about the person's own file where its servers or limits cannot be known, empty where they are.
    """

    ai: AiSettings = msgspec.field(default_factory=AiSettings)
    knowledge: KnowledgeSettings = msgspec.field(default_factory=KnowledgeSettings)
    retrieval: RetrievalSettings = msgspec.field(default_factory=RetrievalSettings)
    caching: CachingSettings = msgspec.field(default_factory=CachingSettings)
    servers: Mapping[str, ServerSettings] = msgspec.field(default_factory=dict)
    appearance: Appearance = msgspec.field(default_factory=Appearance)
    files: FileLimits = msgspec.field(default_factory=FileLimits)
    hooks: HookSettings = msgspec.field(default_factory=HookSettings)
    tools: ToolSettings = msgspec.field(default_factory=ToolSettings)
    mcp: Mapping[str, McpServerSettings] = msgspec.field(default_factory=dict)
    notifications: NotificationSettings = msgspec.field(default_factory=NotificationSettings)
    channels: Mapping[str, ChannelSettings] = msgspec.field(default_factory=dict)
    agent: AgentSettings = msgspec.field(default_factory=AgentSettings)
    imports: ImportSettings = msgspec.field(default_factory=ImportSettings)
    trash_days: int = 30
    sources: Mapping[str, str] = msgspec.field(default_factory=dict)
    own_ai: AiSettings | None = None
    project_servers: frozenset[str] = frozenset()
    unread: str = ""


class SettingsFault(msgspec.Struct, frozen=True):
    """A settings file that cannot be honoured; the last good settings stay.

    Args:
        path: the file; line: 1-based or None; reason: plain sentence with the remedy.
        is_grave: whether something that was asked for does not hold; else it is only worth a word (an unknown key).
    """

    path: str
    line: int | None
    reason: str
    is_grave: bool = True


class AskedValue(msgspec.Struct, frozen=True):
    """Value that a project asks for. It counts after the program showed it and the person said yes.

    Args:
        place: what tells it from other values: its table and names (`("presets", "core", "src/a.py")`).
        value: what is compared: as it reads where that is short, else `sha256:` and the hex digest.
        words: how it reads to a person, one line; text: the whole of a text, LF and clean, empty for other values.
        was: the value that was shown last in its place, empty where none was.
    """

    place: tuple[str, ...]
    value: str
    words: str
    text: str = ""
    was: str = ""


class Project(msgspec.Struct, frozen=True):
    """The project folder as far as it counts.

    Args:
        root: absolute path, symlinks resolved; empty when there is none.
        domain: under which facts of its repository are kept, empty where the root is no repository.
        has_file: whether `manual_slop.toml` exists; is_trusted: whether the person trusts the folder: then what it
            asked for when that was shown counts.
        asked: what it asks for beside that, and what therefore does not count.
        was_trusted_unseen: whether it was trusted by a version that did not keep what was shown; then all is asked for.
        held_back: what it asks for and never gets, in sentences.
        context: texts for layer 6 in order, with their file; identity: files of it that count, before a model's family is
            asked; memory: likewise, sorted by name, whole.
        presets, personas, system_prompts: by name, file order kept. Presets include unsaved work.
        unsaved_presets: names whose items differ from the file; filed_presets: as the file has them.
        allowed_roots: absolute paths outside the root that presets may read and notes may lie in, only when trusted.
        prompts: texts of the project's own prompt files that count, by name.
        policies: of tools in this folder: the person's own, tightened by the project's file.
    """

    root: str = ""
    name: str = ""
    has_file: bool = False
    is_trusted: bool = False
    asked: tuple[AskedValue, ...] = ()
    was_trusted_unseen: bool = False
    held_back: tuple[str, ...] = ()
    context: tuple[NamedText, ...] = ()
    identity: tuple[NamedText, ...] = ()
    memory: tuple[NamedText, ...] = ()
    presets: Mapping[str, Preset] = msgspec.field(default_factory=dict)
    unsaved_presets: frozenset[str] = frozenset()
    filed_presets: Mapping[str, Preset] = msgspec.field(default_factory=dict)
    personas: Mapping[str, NamedText] = msgspec.field(default_factory=dict)
    system_prompts: Mapping[str, NamedText] = msgspec.field(default_factory=dict)
    allowed_roots: tuple[str, ...] = ()
    prompts: Mapping[str, str] = msgspec.field(default_factory=dict)
    domain: str = ""
    policies: Policies = msgspec.field(default_factory=Policies)


class PromptTemplate(msgspec.Struct, frozen=True):
    """A text that a person begins a message with. `text`: with its `{{name}}`; source: path of its file."""

    name: str
    text: str
    source: str


# A page of the guide as a value.


class GuidePage(msgspec.Struct, frozen=True):
    """A page of the guide that a person looks at.

    Args:
        text: Markdown; problem: why there is none; titles: of all pages, by name.
    """

    name: str
    text: str = ""
    problem: str = ""
    titles: Mapping[str, str] = msgspec.field(default_factory=dict)
