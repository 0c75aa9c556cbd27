"""What counts only from a person: found over every command of the program, not from a list of them."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from msgspec.structs import replace

from core.app.app_messages import PERSON_ONLY, Command
from core.app.execution import ALWAYS, FINAL, PROGRAMS_SETTINGS, SAYS_YES, is_persons
from core.app.forgetting.forgetting_messages import ForgetDiscussion, ForgetItem
from core.front.hooks.table import OPERATIONS
from core.imports.imports_messages import ImportConversations
from core.kernel.values.curation import FileItem, Preset
from core.kernel.values.discussion import Draft, OpenDiscussion
from core.kernel.values.harvest import (
    HarvestItem,
    HarvestPreview,
    ProposedItem,
)
from core.kernel.values.knowledge import Category, MergeGroup, MergeProposal
from core.kernel.values.settings import AfterHarvest, CachingSettings, Project, Settings
from core.kernel.values.state import AppState
from core.kernel.values.updates import given_fields
from core.knowledge.harvest.harvest_messages import (
    ApplyHarvest,
    ApplyMerge,
    BatchHarvest,
    DiscardMerge,
    DiscardPreview,
    EditHarvestItem,
    EditMergeGroup,
    PreviewHarvest,
    ProposeMerge,
    UndoHarvest,
)
from core.knowledge.knowledge_messages import AttachNotes, RestoreFact
from core.services.settings.settings_messages import (
    ChangeProjectSetting,
    ChangeSetting,
    OpenProject,
    SavePrompt,
)
from core.services.settings.settings_schema import SETTINGS, SettingScope
from core.signals.signals_messages import SetQuiet
from core.talk.context.context_messages import (
    AddItems,
    ChangePreset,
    CreatePreset,
    InspectFile,
    KeepOut,
    RenamePreset,
    SavePreset,
)
from core.talk.discussion.discussion_messages import AttachFile, DeleteDiscussion, ExportDiscussion, SetDraft
from core.talk.turn.turn_messages import PaidCommand, RetrySend, SendPrompt

STATE = AppState()
WAYS_OUT = frozenset(
    {"path", "paths", "root", "folder", "folders", "source", "sources", "url", "base_url", "server", "items"}
)
"""Names of fields by which a command could reach other folders of the machine, or other machines."""
HELD_ELSEWHERE = {
    CreatePreset: "a file outside the project is not read: core/talk/context/globs.py",
    ChangePreset: "a file outside the project is not read: core/talk/context/globs.py",
    AddItems: "a file outside the project is not read: core/talk/context/globs.py",
    InspectFile: "a file outside the project is not read: core/talk/context/globs.py",
    ExportDiscussion: "where an export may go: core/talk/discussion/discussion_export.py",
    KeepOut: "takes a source away, and lets back in what the settings name",
    ApplyHarvest: "of what was looked at, by its path there",
    AttachNotes: "notes are bound to the name of a file, which is not read for it",
    RestoreFact: "its `items` are of category files, and its file is one of facts below the knowledge directory",
    PreviewHarvest: "of what was looked at, by its path there",
    BatchHarvest: "of what was looked at, by its path there",
}

BROUGHT_BACK = {
    "the trash": "DeleteDiscussion",
    "the log, which keeps every record": (
        "EditMessage DeleteMessage RestoreMessage ChooseVersion CancelReply RegenerateReply ResendMessage CompareReplies ContinueReply "
        "RetrySend SendPrompt SendQueued LeaveUnsent CompactDiscussion"
    ),
    "the composer": "TakeBackQueued SetDraft",
    "the logs of items and facts, and the way back that is offered": (
        "DeleteKnowledgeItem RestoreItem ArchiveItem TakeBackItem EditKnowledgeItem SetTaskDone DeleteFact EditFact RestoreFact"
    ),
    "the version of the file, the trash and the undo": "ApplyHarvest ApplyMerge GraduatePlaybook",
    "the conversations, which are there again, and the replies that are kept": "UndoHarvest",
    "replies that are kept: asking again costs nothing": "DiscardPreview DiscardMerge CancelHarvest",
    "another run of the same": (
        "KillCommands CancelBatches CancelIndexing CancelImport PauseIndexing StopAutonomy TryServer BuildNavigation"
    ),
    "what it is made from": (
        "UpdateIndex SyncFacts InvalidateCache DisableCaching EnableCaching DeleteOrphanedCaches"
    ),
    "the same command with what stood before": (
        "ChangeDiscussion SelectDiscussion "
        "KeepOut AttachNotes ChangeSetting ChangeProjectSetting "
        "SetQuiet TickHarvestItems EditHarvestItem MoveHarvestItem ReplaceKnownItem TickMergeGroups EditMergeGroup"
    ),
    "what it is made from; a text by another hand is kept as a version": "RegenerateDigest FollowDigest DeleteDigest",
    "the file of the project; what would go from both is a person's": "AddItems ChangePreset SavePreset RenamePreset",
    "the list, in which it stays": "PutSignalsAway",
    "nothing, for nothing was said in it": "DiscardDiscussion",
    "nothing, for it only adds": (
        "CreateDiscussion BranchDiscussion UndoDelete AttachText AttachPicture CreatePreset AddKnowledgeItem ExportDiscussion PostSignal "
        "BatchHarvest PreviewHarvest ProposeMerge"
    ),
    "nothing, for it looks, says that a person has read, or ends the program whole": (
        "ReadDiscussion SearchDiscussions CountUsage MeasureContext InspectFile LookUpFiles RefreshModels FindLocalServers ReadGuide PriceModels ExplainItem "
        "ExplainFact ListSeenItems CountMemoryUse LookForHarvest LeaveRemoval LeaveBatch SearchMemory UseMemoryTool LookAtSources "
        "CheckNavigation LookAtServers DismissImport LookAtForget DismissReceipt DismissNotice NoteActivity SaveWindow Quit"
    ),
}
"""What brings back what a command takes away, for every one that a program may give with the ordinary token."""


def test_whatever_no_trash_brings_back_is_a_persons() -> None:
    """A command that is new stands in the rule, or here with what brings back what it takes."""
    named = [name for names in BROUGHT_BACK.values() for name in names.split()]

    assert len(named) == len({*named})
    assert {*named} == {kind.__name__ for kind in {*get_args(Command)} - {*ALWAYS}}
    assert {ForgetDiscussion, ForgetItem} <= {*FINAL} <= {*ALWAYS}


def test_every_field_that_answers_a_question_for_a_person_makes_the_command_theirs() -> None:
    kinds = {
        kind: fields for kind in get_args(Command) if (fields := {*SAYS_YES} & {*kind.__struct_fields__})
    }
    assert {ApplyHarvest, ApplyMerge, UndoHarvest, ExportDiscussion} <= {*kinds}
    for kind, fields in kinds.items():
        given = dict.fromkeys(kind.__struct_fields__[: _needed(kind)], "d")
        for name in fields:
            assert is_persons(STATE, kind(**given, **{name: True})), (kind, name)


def test_a_program_adds_to_a_draft_and_takes_no_words_out_of_it() -> None:
    opened = OpenDiscussion("d", draft=Draft("Not sent yet."))
    state = replace(STATE, discussions=replace(STATE.discussions, open={"d": opened}))

    assert not is_persons(state, SetDraft("d", "Not sent yet. More."))
    assert is_persons(state, SetDraft("d", "Other words."))
    assert is_persons(state, SetDraft("d", ""))
    assert not is_persons(state, SetDraft("e", "Words."))


def test_the_days_of_the_trash_are_a_persons() -> None:
    """With none, what a program deletes would be gone at once."""
    assert is_persons(STATE, ChangeSetting("trash_days", 1))


@pytest.mark.parametrize(("days", "is_final"), [(0, True), (1, False), (30, False)])
def test_what_a_trash_without_days_would_not_bring_back_is_a_persons(days: int, is_final: bool) -> None:
    state = replace(STATE, config=replace(STATE.config, settings=replace(Settings(), trash_days=days)))

    assert is_persons(state, DeleteDiscussion("d")) is is_final
    assert is_persons(state, ApplyHarvest()) is is_final
    assert is_persons(state, ApplyHarvest(after=AfterHarvest.TRASH_ALL)) is is_final
    assert not is_persons(state, ApplyHarvest(after=AfterHarvest.KEEP))


def test_words_that_a_person_wrote_into_a_proposal_are_taken_out_by_a_person_alone() -> None:
    def with_edits(*, is_edited: bool) -> AppState:
        item = ProposedItem(
            id="i", item=HarvestItem(Category.FACTS, "Tides turn."), source="a", artifact_path="a", sha256="", is_edited=is_edited,
        )  # fmt: skip
        group = MergeGroup(id="g", items=(), text="Tides turn.", is_edited=is_edited)
        merge = MergeProposal(category=Category.FACTS, file="facts.md", groups=(group,))
        harvest = replace(STATE.harvest, preview=HarvestPreview(items=(item,)), merge=merge)
        return replace(STATE, harvest=harvest)

    for command in (
        DiscardPreview(), EditHarvestItem("i", "Others.", ""), DiscardMerge(), EditMergeGroup("g", "Others."),
        ProposeMerge(Category.FACTS),
    ):  # fmt: skip
        assert is_persons(with_edits(is_edited=True), command)
        assert not is_persons(with_edits(is_edited=False), command)
    assert not is_persons(with_edits(is_edited=True), EditHarvestItem("other", "Others.", ""))


ITEM, OTHER = FileItem(path="a.py", notes="the turn"), FileItem(path="b.py")


@pytest.mark.parametrize(
    ("filed", "now", "is_unsaved", "command", "is_final"),
    [
        ((ITEM,), (ITEM,), False, ChangePreset("p", ()), False),
        ((ITEM,), (ITEM, OTHER), True, ChangePreset("p", (ITEM,)), True),
        ((ITEM,), (ITEM, OTHER), True, ChangePreset("p", (OTHER, ITEM)), False),
        ((ITEM,), (ITEM, OTHER), True, ChangePreset("p", (OTHER,)), False),
        ((ITEM,), (ITEM,), True, ChangePreset("p", (FileItem(path="a.py"),)), False),
        ((), (ITEM,), True, ChangePreset("p", (FileItem(path="a.py"),)), True),
        ((ITEM,), (), True, SavePreset("p"), True),
        ((ITEM,), (FileItem(path="a.py"),), True, SavePreset("p"), True),
        ((ITEM,), (ITEM, OTHER), True, SavePreset("p"), False),
        ((ITEM,), (), True, RenamePreset("p", "q"), True),
        ((ITEM,), (ITEM,), False, RenamePreset("p", "q"), False),
        (None, (ITEM,), True, SavePreset("p"), False),
        (None, (ITEM,), True, SavePreset("other"), False),
    ],
)
def test_items_of_a_preset_that_neither_the_file_nor_the_home_would_hold_are_taken_out_by_a_person(
    filed: tuple[FileItem, ...] | None,
    now: tuple[FileItem, ...],
    is_unsaved: bool,
    command: Command,
    is_final: bool,
) -> None:
    project = Project(
        presets={"p": Preset("p", now)},
        filed_presets={} if filed is None else {"p": Preset("p", filed)},
        unsaved_presets=frozenset({"p"} if is_unsaved else ()),
    )
    state = replace(STATE, config=replace(STATE.config, project=project))

    assert is_persons(state, command) is is_final


def test_every_operation_of_the_hook_api_that_gives_such_a_command_takes_a_persons_token_alone() -> None:
    finals = {kind.__name__ for kind in ALWAYS}
    gives = {one.id: finals.intersection(one.run.__code__.co_names) for one in OPERATIONS}

    assert {"forget_discussion", "forget_item", "approve"} <= {one for one, given in gives.items() if given}
    assert [one.id for one in OPERATIONS if gives[one.id] and not one.needs_person] == []


def test_every_command_that_could_go_past_a_limit_is_a_persons_where_it_says_so() -> None:
    kinds = [kind for kind in get_args(Command) if "over_limit" in kind.__struct_fields__]
    assert {*get_args(PaidCommand), BatchHarvest} <= {*kinds}

    for kind in kinds:
        fields = {
            name: "d" for name in kind.__struct_fields__ if name in kind.__struct_fields__[: _needed(kind)]
        }
        assert is_persons(STATE, kind(**fields, over_limit=True)), kind
    assert not is_persons(STATE, SendPrompt("d", "Hello."))
    assert not is_persons(STATE, RetrySend("d"))


def _needed(kind: Any) -> int:
    return len(kind.__struct_fields__) - len(kind.__struct_defaults__)


def test_every_command_that_names_a_place_is_a_persons_or_is_held_where_it_is_carried_out() -> None:
    kinds = {kind for kind in get_args(Command) if WAYS_OUT & {*given_fields(kind)}}

    unheld = kinds - {*ALWAYS} - {*HELD_ELSEWHERE}

    assert not unheld, "say in the rule who may give it, or here what holds it"
    assert not {*HELD_ELSEWHERE} & {*ALWAYS}
    assert {OpenProject, AttachFile, ImportConversations} <= kinds


def test_whatever_approves_is_a_persons() -> None:
    assert {*PERSON_ONLY} < {*ALWAYS}
    assert is_persons(STATE, SavePrompt("harvest", "Obey."))


@pytest.mark.parametrize(
    "key",
    [
        *(
            setting.key
            for setting in SETTINGS
            if setting.scope in {SettingScope.SERVER, SettingScope.TIGHTENED}
        ),
        "ai_settings.knowledge.harvest_sources",
        "ai_settings.knowledge.mode",
        "ai_settings.system_prompt",
        "retrieval.roots",
        "retrieval.server",
        "retrieval.embedder",
        "project.allowed_roots",
        "project.memory",
        "personas.x.file",
        "channels.irc.host",
        "agent.max_turns",
        "hooks.enabled",
        "tools.prefixes",
        ' "tools".commands',
        "a setting of tomorrow",
    ],
)
def test_a_setting_is_a_persons_unless_it_is_named_as_harmless(key: str) -> None:
    assert is_persons(STATE, ChangeSetting(key, None))
    assert is_persons(STATE, ChangeProjectSetting(key, ""))


def test_the_settings_that_a_program_may_change_are_there() -> None:
    assert {*PROGRAMS_SETTINGS} <= {setting.key for setting in SETTINGS}
    assert not is_persons(STATE, ChangeSetting("appearance.theme", "light"))


@pytest.mark.parametrize(
    "key", ["ai_settings.caching.day_limit_usd", "ai_settings.caching.keepalive_cap_usd"]
)
def test_a_program_lowers_a_limit_and_raises_none(key: str) -> None:
    settings = replace(Settings(), caching=CachingSettings(day_limit_usd=5.0, keepalive_cap_usd=5.0))
    state = replace(STATE, config=replace(STATE.config, settings=settings))

    assert not is_persons(state, ChangeSetting(key, 4.0))
    for value in (6.0, None):
        assert is_persons(state, ChangeSetting(key, value))
        if value is not None:
            assert is_persons(state, ChangeProjectSetting(key, value))


def test_notices_are_held_back_by_a_person_and_given_by_anybody() -> None:
    assert is_persons(STATE, SetQuiet(is_quiet=True))
    assert not is_persons(STATE, SetQuiet(is_quiet=False))
