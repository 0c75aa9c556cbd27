"""Rule of approvals: which call may go, which is asked and why, which is refused; names of files that are always asked about."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable

import msgspec

from core.kernel.key_names import folded, name_reasons
from core.kernel.language import tr
from core.kernel.values.agent import ActKind, Approval, Mode, Sandbox
from core.kernel.values.settings import Policies, PolicyAnswer

# Rule of approvals: which call may go, which is asked and why, which is refused.

EDIT_GRANT = "edit files inside the project"
"""Grant of an edit inside the project; an edit elsewhere offers none."""
_RUN = "run "
_HOST = "fetch from "
_SERVER = "call "


class Standing(msgspec.Struct, frozen=True):
    """Circumstances of a call.

    Args:
        grants: what the person allowed for this discussion, as `Approval.grant` showed it.
        policies: of the folder, tightened by the project's; is_trusted: the folder is.
        must_ask: whatever was granted; is_recovered: the call was leaked as text.
    """

    mode: Mode
    sandbox: Sandbox
    is_trusted: bool
    grants: tuple[str, ...] = ()
    policies: Policies = msgspec.field(default_factory=Policies)
    must_ask: bool = False
    is_recovered: bool = False


class Ruling(msgspec.Struct, frozen=True):
    """Fate of a call.

    Args:
        approval: as it is to be shown and kept: with every reason, and without a grant where none may be remembered.
        refusal: for the model, where the answer is a refusal.
    """

    answer: PolicyAnswer
    approval: Approval
    refusal: str = ""


def rule(approval: Approval, standing: Standing) -> Ruling:
    """Decide about a call. Total; a refusal beats a question, a question beats every grant."""
    refusal = _refusal(approval.kind, standing)
    if refusal:
        return Ruling(answer=PolicyAnswer.REFUSE, approval=approval, refusal=refusal)
    shown = _as_shown(approval, standing)
    if shown.reasons or standing.must_ask:
        return Ruling(answer=PolicyAnswer.ASK, approval=shown)
    if approval.kind is ActKind.OWN or _is_covered(shown, standing):
        return Ruling(answer=PolicyAnswer.ALLOW, approval=shown)
    return Ruling(answer=_policy(approval.kind, standing.policies), approval=shown)


def approval_id(tool: str, arguments_json: str, folder: str, base_sha256: str, *found: str) -> str:
    """Sha256 (hex) that a yes is bound to: another tool, argument, folder or base needs another yes.

    Args:
        found: what else is shown: where links led, what it would do, why it is asked. A link that leads elsewhere by now
            needs another yes, too.
    """
    digest = hashlib.sha256()
    for part in (tool, arguments_json, folder, base_sha256, *found):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()


def command_grant(prefixes: tuple[tuple[str, ...], ...]) -> str:
    """Grant of token prefixes, a line each, as a shell would read them; empty without any, or where a word has lines."""
    if any(not word.isprintable() for prefix in prefixes for word in prefix):
        return ""
    return "\n".join(dict.fromkeys(f"{_RUN}{shlex.join(prefix)}" for prefix in prefixes if prefix))


def host_grant(host: str) -> str:
    """Grant that lets the model fetch pages of a host without a question."""
    return f"{_HOST}{host}"


def server_grant(server: str, tool: str) -> str:
    """Grant that lets the model call one tool of an MCP server without a question."""
    return f"{_SERVER}{tool} of {server}"


def covers(prefix: str, words: tuple[str, ...]) -> bool:
    """True if a command rule covers a simple command: word by word from its first, and nothing that runs another."""
    try:
        wanted = tuple(shlex.split(prefix))
    except ValueError:
        return False
    return bool(wanted) and words[: len(wanted)] == wanted


def _refusal(kind: ActKind, standing: Standing) -> str:
    if kind is ActKind.SERVER and not standing.is_trusted:
        return "The person does not trust this folder: no MCP server is called here."
    if kind in {ActKind.READ, ActKind.EDIT, ActKind.COMMAND} and not standing.is_trusted:
        return "The person does not trust this folder: its files are not read or written, and no command runs here."
    if standing.mode is Mode.PLAN and kind in {ActKind.EDIT, ActKind.COMMAND, ActKind.SERVER}:
        return "The discussion is in plan mode: read, and say what you would do. Nothing is written or run."
    if kind is not ActKind.OWN and _policy(kind, standing.policies) is PolicyAnswer.REFUSE:
        return f"The person's policy for this folder refuses every call of the kind {kind.value!r}."
    return ""


def bare_reason(sandbox: Sandbox) -> str:
    """Warning of a command that no sandbox confines."""
    why = sandbox.problem or tr("the program found no sandbox on this machine")
    return tr("The command runs without a sandbox, with all your rights: {why}", why=why)


def _as_shown(approval: Approval, standing: Standing) -> Approval:
    reasons = list(approval.reasons)
    if standing.is_recovered:
        reasons.append(tr("The model wrote this call as text; the program read it as a call."))
    if approval.kind is not ActKind.COMMAND or standing.sandbox.is_confined:
        return msgspec.structs.replace(approval, reasons=tuple(reasons))
    reasons.append(bare_reason(standing.sandbox))
    return msgspec.structs.replace(approval, reasons=tuple(reasons), grant="", commands=())


def _policy(kind: ActKind, policies: Policies) -> PolicyAnswer:
    match kind:
        case ActKind.READ:
            return policies.reads
        case ActKind.EDIT:
            return policies.edits
        case ActKind.COMMAND:
            return policies.commands
        case ActKind.NETWORK:
            return policies.network
        case ActKind.SERVER:
            return PolicyAnswer.ASK
        case ActKind.OWN:
            return PolicyAnswer.ALLOW


def _is_covered(approval: Approval, standing: Standing) -> bool:
    """True if the person allowed this already: by their mode, by a grant of this discussion, by a rule of theirs."""
    granted = standing.grants
    match approval.kind:
        case ActKind.COMMAND:
            lines = dict.fromkeys(line for grant in granted for line in grant.split("\n"))
            rules = [line.removeprefix(_RUN) for line in lines if line.startswith(_RUN)]
            rules += standing.policies.prefixes
            return bool(approval.commands) and all(
                any(covers(each, words) for each in rules) for words in approval.commands
            )
        case ActKind.EDIT:
            is_inside = approval.grant == EDIT_GRANT
            return is_inside and (standing.mode is Mode.ACCEPT_EDITS or EDIT_GRANT in granted)
        case ActKind.NETWORK:
            host = approval.grant.removeprefix(_HOST)
            return bool(approval.grant) and (approval.grant in granted or host in standing.policies.hosts)
        case ActKind.SERVER:
            return bool(approval.grant) and approval.grant in granted
        case ActKind.READ | ActKind.OWN:
            return False


# Names of files that are asked about every time before they are written: they run or rule something.

RULING_FOLDERS = {
    ".git": tr("git follows the settings and hooks in this folder"),
    ".hg": tr("Mercurial follows the settings in this folder"),
    ".jj": tr("Jujutsu follows the settings in this folder"),
    ".husky": tr("the scripts of this folder run at every commit"),
    ".githooks": tr("this folder's scripts run at every commit if git's settings name the folder"),
    ".mise": tr("the shell follows these settings when you enter the folder"),
    ".vscode": tr("a code editor may run tasks that are defined there"),
    ".idea": tr("a code editor may run tasks that are defined there"),
    ".zed": tr("a code editor may start programs that are named there"),
    ".fleet": tr("a code editor may run tasks that are defined there"),
    ".devcontainer": tr("a code editor builds and starts the container that this folder describes"),
    ".claude": tr("agents follow the instructions there"),
    ".cursor": tr("agents follow the instructions there"),
    ".codex": tr("agents follow the instructions there"),
    ".gemini": tr("agents follow the instructions there"),
    ".opencode": tr("agents follow the instructions there"),
    ".windsurf": tr("agents follow the instructions there"),
    ".clinerules": tr("agents follow the instructions there"),
    ".roo": tr("agents follow the instructions there"),
    ".kiro": tr("agents follow the instructions there"),
    ".continue": tr("agents follow the instructions there"),
    ".amazonq": tr("agents follow the instructions there"),
}
"""Folders of which nothing is written unasked, at any depth, with the reason."""

RULING_FILES = {
    ".git": tr("git reads its settings and hooks from there"),
    ".gitmodules": tr("git fetches the repositories that this file names"),
    ".envrc": tr("the shell runs this file when you enter the folder"),
    ".mcp.json": tr("agents start the programs that this file names"),
    ".pre-commit-config.yaml": tr("the programs that this file names run at every commit"),
    "manual_slop.toml": tr("this file sets how Manual Slop behaves here"),
    "claude.md": tr("models read this file as instructions"),
    "agents.md": tr("models read this file as instructions"),
    "poc.md": tr("models read this file as instructions"),
    **dict.fromkeys(
        ("claude.local.md", "gemini.md", "copilot-instructions.md", ".cursorrules", ".windsurfrules", ".clinerules",
         ".goosehints", ".aider.conf.yml", "opencode.json", "opencode.jsonc"),
        tr("agents follow the instructions there"),
    ),
    **dict.fromkeys(
        ("lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml"), tr("the programs that this file names run at every commit")
    ),
    **dict.fromkeys(
        ("mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml"),
        tr("the shell follows these settings when you enter the folder"),
    ),
    **dict.fromkeys(
        (".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".dir-locals.el"), "an editor may run it when the folder is opened"
    ),
    **dict.fromkeys((".gdbinit", ".lldbinit"), "a debugger may run it when it starts there"),
}  # fmt: skip
"""Files that are not written unasked, at any depth, with the reason."""

_BARE = tr("git treats a folder with this file as a repository and follows its settings")
"""Reason to ask before a file `HEAD` is written: a repository needs no folder `.git`."""
PARTS_OF_REPOSITORY = ("HEAD", "objects", "commondir")
"""The first and one of the others make a repository. Source: git's `is_git_directory` (read 2026-11-24)."""
IN_REPOSITORY = tr(
    "The file is in a folder that git treats as a repository. Git follows that folder's settings."
)

_RULING_ENDS = {".code-workspace": tr("a code editor may run tasks that are defined there")}


def is_repository(names: Iterable[str]) -> bool:
    """True for names in a folder that git takes for a repository, whatever it is named itself."""
    known = {*map(folded, names)}
    return "head" in known and not known.isdisjoint({"objects", "commondir"})


def rules_something(name: str) -> bool:
    """True for the folded name of a file or folder that runs or rules something."""
    return name in RULING_FOLDERS or bool(_ruling_reason(name))


def _ruling_reason(name: str) -> str:
    return RULING_FILES.get(name) or next(
        (why for end, why in _RULING_ENDS.items() if name.endswith(end)), ""
    )


def reasons_to_ask_before_writing(relative: str) -> tuple[str, ...]:
    """Reasons why a write is asked in every mode, a sentence each.

    Args:
        relative: path below a folder of the tools, links resolved, with `/`.
    """
    *folders, name = map(folded, relative.split("/"))
    reasons = [
        tr(
            "The program always asks about files in a folder {folder!r}: {why}.",
            folder=each,
            why=RULING_FOLDERS[each],
        )
        for each in folders
        if each in RULING_FOLDERS
    ]
    if why := _ruling_reason(name) or (_BARE if name == "head" else ""):
        reasons.append(tr("The program always asks about a file {name!r}: {why}.", name=name, why=why))
    return (*dict.fromkeys(reasons), *name_reasons(relative))
