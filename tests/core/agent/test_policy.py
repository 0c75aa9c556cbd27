"""What goes, what asks and what is refused: modes, grants, policies, trust and confinement against each other."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest

from core.agent.tool_policy import EDIT_GRANT, Standing, approval_id, command_grant, covers, host_grant, rule
from core.kernel.values.agent import ActKind, Approval, Mode, Sandbox
from core.kernel.values.settings import Policies, PolicyAnswer, ProjectPolicies
from core.services.settings.project_tables import tightened

CONFINED = Sandbox("bubblewrap")
READ = Approval(ActKind.READ, "Read a.py", id="r")
EDIT = Approval(ActKind.EDIT, "Edit a.py", id="e", grant=EDIT_GRANT)
LOG = Approval(
    ActKind.COMMAND, "Run git log", id="c", grant="run git log", commands=(("git", "log", "--oneline"),)
)
PAGE = Approval(ActKind.NETWORK, "Fetch a page", id="n", grant=host_grant("example.com"))
TODO = Approval(ActKind.OWN, "Write the list", id="o")


def standing(**changes: Any) -> Standing:
    return msgspec.structs.replace(Standing(Mode.ASK, CONFINED, is_trusted=True), **changes)


def test_reads_and_our_own_files_go_and_all_else_asks() -> None:
    answers = [rule(each, standing()).answer for each in (READ, TODO, EDIT, LOG, PAGE)]
    assert answers == [
        PolicyAnswer.ALLOW,
        PolicyAnswer.ALLOW,
        PolicyAnswer.ASK,
        PolicyAnswer.ASK,
        PolicyAnswer.ASK,
    ]


def test_plan_refuses_edits_and_commands_whatever_was_granted() -> None:
    plan = standing(
        mode=Mode.PLAN, grants=(EDIT_GRANT, "run git log"), policies=Policies(edits=PolicyAnswer.ALLOW)
    )
    assert [rule(each, plan).answer for each in (EDIT, LOG)] == [PolicyAnswer.REFUSE] * 2
    assert rule(READ, plan).answer is PolicyAnswer.ALLOW
    assert "plan mode" in rule(EDIT, plan).refusal


def test_accepted_edits_are_those_inside_the_project_and_nothing_else() -> None:
    accepting = standing(mode=Mode.ACCEPT_EDITS)
    elsewhere = msgspec.structs.replace(EDIT, grant="")
    guarded = msgspec.structs.replace(EDIT, reasons=("It writes a git hook.",))
    answers = [rule(each, accepting).answer for each in (EDIT, elsewhere, guarded, LOG)]
    assert answers == [PolicyAnswer.ALLOW, PolicyAnswer.ASK, PolicyAnswer.ASK, PolicyAnswer.ASK]


@pytest.mark.parametrize("kind", [ActKind.READ, ActKind.EDIT, ActKind.COMMAND])
def test_a_folder_without_trust_gets_no_file_and_no_command(kind: ActKind) -> None:
    generous = Policies(edits=PolicyAnswer.ALLOW, commands=PolicyAnswer.ALLOW)
    ruling = rule(Approval(kind, "x", id="x"), standing(is_trusted=False, policies=generous))
    assert ruling.answer is PolicyAnswer.REFUSE
    assert "trust" in ruling.refusal


def test_a_grant_covers_a_command_only_if_every_simple_command_matches() -> None:
    granted = standing(grants=(command_grant((("git", "log"), ("ls",))),))
    both = msgspec.structs.replace(LOG, commands=(("git", "log"), ("ls", "-l")))
    more = msgspec.structs.replace(LOG, commands=(("git", "log"), ("curl", "http://x")))
    unclear = msgspec.structs.replace(LOG, commands=())
    assert [rule(each, granted).answer for each in (LOG, both)] == [PolicyAnswer.ALLOW] * 2
    assert [rule(each, granted).answer for each in (more, unclear)] == [PolicyAnswer.ASK] * 2


def test_no_word_of_a_command_can_bring_a_grant_of_another_kind() -> None:
    word = f"x'\n{EDIT_GRANT}\nrun rm\n{host_grant('example.com')}\n'y"
    assert command_grant((("python", word),)) == ""
    forged = standing(grants=(f"run a\n{EDIT_GRANT}\n{host_grant('example.com')}",))
    assert [rule(each, forged).answer for each in (EDIT, PAGE)] == [PolicyAnswer.ASK] * 2


def test_an_unconfined_command_asks_every_time_says_so_and_offers_no_rule() -> None:
    bare = standing(
        sandbox=Sandbox(problem="bubblewrap is not installed"),
        grants=("run git log",),
        policies=Policies(commands=PolicyAnswer.ALLOW, prefixes=("git",)),
    )
    ruling = rule(LOG, bare)
    assert ruling.answer is PolicyAnswer.ASK
    assert ruling.approval.grant == ""
    assert "without a sandbox" in ruling.approval.reasons[0]
    assert "bubblewrap is not installed" in ruling.approval.reasons[0]


@pytest.mark.parametrize("approval", [READ, EDIT, LOG, PAGE, TODO])
def test_a_recovered_call_and_one_that_must_ask_ask_whatever_was_allowed(approval: Approval) -> None:
    open_handed = Policies(
        PolicyAnswer.ALLOW,
        PolicyAnswer.ALLOW,
        PolicyAnswer.ALLOW,
        PolicyAnswer.ALLOW,
        ("git",),
        ("example.com",),
    )
    free = standing(mode=Mode.ACCEPT_EDITS, policies=open_handed, grants=(EDIT_GRANT, "run git"))
    assert rule(approval, free).answer is PolicyAnswer.ALLOW
    assert rule(approval, msgspec.structs.replace(free, must_ask=True)).answer is PolicyAnswer.ASK
    recovered = rule(approval, msgspec.structs.replace(free, is_recovered=True))
    assert recovered.answer is PolicyAnswer.ASK
    assert recovered.approval.reasons


def test_hosts_are_granted_one_by_one() -> None:
    granted = standing(grants=(host_grant("example.com"),))
    other = msgspec.structs.replace(PAGE, grant=host_grant("example.com.evil.net"))
    assert rule(PAGE, granted).answer is PolicyAnswer.ALLOW
    assert rule(other, granted).answer is PolicyAnswer.ASK


def test_a_projects_file_only_tightens() -> None:
    answers = (None, *PolicyAnswer)
    for own, theirs in itertools.product(PolicyAnswer, answers):
        ours = Policies(own, own, own, own, ("git log",), ("example.com",))
        result = tightened(ours, ProjectPolicies(theirs, theirs, theirs, theirs))
        order = list(PolicyAnswer)
        for answer in (result.reads, result.edits, result.commands, result.network):
            assert order.index(answer) >= order.index(own)
            assert order.index(answer) >= order.index(theirs or own)
        assert result.prefixes == (("git log",) if theirs in {None, PolicyAnswer.ALLOW} else ())


def test_a_yes_is_bound_to_tool_arguments_folder_and_base() -> None:
    parts = ("bash", '{"command":"ls"}', "/home/user/a", "")
    ids = {approval_id(*parts)}
    for place in range(4):
        ids.add(approval_id(*(part + "x" if index == place else part for index, part in enumerate(parts))))
    ids.add(approval_id("bas", 'h{"command":"ls"}', "/home/user/a", ""))
    assert len(ids) == 6


@pytest.mark.parametrize(
    ("prefix", "words", "is_covered"),
    [
        ("git log", ("git", "log"), True),
        ("git log", ("git", "log", "-1"), True),
        ("git log", ("git",), False),
        ("git log", ("git", "logs"), False),
        ("git lo", ("git", "log"), False),
        ("git", ("gitk",), False),
        ("", ("git",), False),
        ("'git", ("git",), False),
    ],
)
def test_a_rule_counts_whole_words_from_the_first(
    prefix: str, words: tuple[str, ...], is_covered: bool
) -> None:
    assert covers(prefix, words) is is_covered
