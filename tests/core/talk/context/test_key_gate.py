"""A file of keys passes no door, whatever it is named: tools ask, and the index, presets and attachments leave it out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.kernel.errors import StorageError
from core.kernel.key_files import KeyContents, content_reasons, linked_keys, mark_of
from core.kernel.key_names import name_reasons
from core.kernel.values.curation import FileItem, FileProblemKind
from core.kernel.values.retrieval import Corpus, SearchPlaces
from core.kernel.values.settings import FileLimits
from core.retrieval.front_matter import FieldNames
from core.retrieval.sources import find_sources, read_source
from core.talk.context.file_reader import read_item
from core.talk.context.globs import KeyGate
from core.talk.discussion.attachments import AttachmentHandler
from core.talk.discussion.discussion_messages import StoreAttachment
from tests import key_places
from tests.core.agent.desks import Desk

ORDINARY = {
    "app.py": "import os\n\nKEY = os.environ['API_KEY']\n\n\ndef run(token: str) -> None:\n    print(token)\n",
    "package.json": '{"name": "a", "version": "1.0.0", "dependencies": {"b": "^2.0.0"}}\n',
    "config.yml": "database:\n  host: localhost\n  password: ${DATABASE_PASSWORD}\n",
    "notes.md": "# Keys\n\nPut your key into `.env`, as `API_KEY=...`.\n",
    ".env.example": "API_KEY=your-key-here\n",
    "chart.yaml": "apiVersion: v1\nkind: Secret\nstringData:\n  db: {{ .Values.database }}\n",
    "role.yaml": "rules:\n- resources:\n  - secrets\nkind: Secrets\ndata:\n  db: plain-words\n",
    "index.lock": "sha512-" + "ab12" * 20 + "\n",
    "locales/auth.json": '{"password": "Password", "token": "Token"}\n',
}


def measure(text: str) -> list[int]:
    return [0] if text else []


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_every_file_of_keys_is_asked_about_and_goes_nowhere_by_itself(
    desk: Desk, isolated_home: Path
) -> None:
    values = key_places.fill_project(desk.root)
    root = str(desk.root)
    unasked = [name for name in values if not desk.judge("read_file", path=name).reasons]
    seen = [name for name, value in values.items() if value in desk.use("grep", pattern=f"(?s){value}").text.replace(f'pattern="(?s){value}"', "")]  # fmt: skip
    shown = [
        name
        for name in values
        if (file := read_item(root, FileItem(name), FileLimits()).files[0]).problem is None or file.text
    ]
    indexed = []
    for found in find_sources(
        isolated_home, SearchPlaces(project=root, corpora=(Corpus.PROJECT,)), Corpus.PROJECT
    ):
        for one in found.files:
            text = read_source(Corpus.PROJECT, one.key.path, one.path.read_bytes(), measure, FieldNames())
            if one.key.path in values and not (one.keys or text.keys):
                indexed.append(one.key.path)
    attached = []
    handler = AttachmentHandler(isolated_home, lambda _: None, lambda _: {"problem": "", "remedy": ""})
    for name in values:
        try:
            handler.handle(StoreAttachment("d", 1_000_000, path=str(desk.root / name)))
        except StorageError as error:
            if "did not attach" not in error.what:
                attached.append(name)

    assert len(values) >= 54
    assert (unasked, seen, shown, indexed) == ([], [], [], [])
    assert attached == []


def test_ordinary_files_pass_every_door(desk: Desk, isolated_home: Path) -> None:
    for name, text in ORDINARY.items():
        (desk.root / name).parent.mkdir(exist_ok=True)
        (desk.root / name).write_text(text)
    root = str(desk.root)

    assert {name: desk.judge("read_file", path=name).reasons for name in ORDINARY} == dict.fromkeys(
        ORDINARY, ()
    )
    assert all(read_item(root, FileItem(name), FileLimits()).files[0].problem is None for name in ORDINARY)


def test_a_file_that_a_person_showed_passes(desk: Desk) -> None:
    value = f"ghp_{key_places.token(36)}"
    file = desk.root / "sample.yml"
    file.write_text(f"token: {value}\n")
    root = str(desk.root)
    shut, shown = read_item(root, FileItem("sample.yml"), FileLimits()), (str(file),)

    assert shut.files[0].problem is not None
    assert shut.files[0].problem.kind is FileProblemKind.KEYS
    assert "line 1" in shut.files[0].problem.detail
    assert "“Readable places” in Settings" in shut.files[0].problem.detail
    assert value in read_item(root, FileItem("sample.yml"), FileLimits(), shown=shown).files[0].text


def test_a_program_with_a_key_among_much_else_is_none_of_keys_and_one_with_little_else_is() -> None:
    line = f'TOKEN = "ghp_{key_places.token(36)}"\n'
    body = "".join(f"value_{number} = {number}\n" for number in range(60))

    assert content_reasons("settings.py", line.encode()) != ()
    assert content_reasons("app.py", f"{body}{line}".encode()) == ()
    assert content_reasons("app.yml", f"{body}{line}".encode()) != ()
    assert content_reasons("app.bin", b"\0" + line.encode()) == ()
    assert content_reasons("utf16.txt", line.encode("utf-16")) != ()


@pytest.mark.parametrize(
    ("name", "holds"),
    [("token", True), ("api_key.txt", True), (".db-password", True), ("version", False), ("token.py", False)],
)
def test_a_file_that_is_one_value_is_named_by_its_own_name(name: str, holds: bool) -> None:
    text = (
        f"{key_places.token(36)}a1B\n"
        if holds
        else "import tokens, more\n"
        if name.endswith(".py")
        else "1.2.3\n"
    )
    assert bool(content_reasons(name, text.encode())) is holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("# Netscape HTTP Cookie File\n.example.org\tTRUE\t/\tTRUE\t1\tsession\t{}\n", True),
        ('"shop" "md5{0:.0}' + "0f" * 16 + '"\n', True),
        ("reader:$7$101${}$x\n", True),
        ("admin:$2y$10${}\n", True),
        ("bind: {{SSHA}}{}\n", True),
        ('{{"cookies": [{{"name": "sid", "value": "{}", "domain": "a.org", "httpOnly": true}}]}}', True),
        ('[\n {{"domain": "a.org", "httpOnly": true, "name": "sid", "value": "{}"}}\n]', True),
        ('{{"cookies": [{{"name": "theme", "value": "dark{:.0}", "httpOnly": false}}]}}', False),
        ('{{"cookies": [{{"name": "oatmeal", "value": "{}"}}]}}', False),
        ("# A list of cookies\nname: $5 for a month\n", False),
        ("price:$5$ a month\nmd5: the sum of a file\n", False),
    ],
)
def test_rows_that_are_accounts_make_a_file_one_of_keys_whatever_its_name(text: str, holds: bool) -> None:
    assert bool(content_reasons("list", text.format(key_places.token(40)).encode())) is holds


def test_what_was_looked_at_is_not_read_again_while_it_is_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "a.yml"
    file.write_text("name: a\n")
    contents = KeyContents()
    before = [contents.reasons(str(file)) for _ in range(3)]
    read = contents.read_bytes
    file.write_text(f"token: ghp_{key_places.token(36)}\n")

    assert before == [()] * 3
    assert read == 8
    assert contents.reasons(str(file)) != ()


def test_another_name_of_a_file_of_keys_is_told_by_the_file_itself(tmp_path: Path) -> None:
    (tmp_path / ".aws").mkdir()
    for name in (".env", ".aws/config"):
        (tmp_path / name).write_text("NAME=plain\n")
        (tmp_path / f"{Path(name).name}.md").hardlink_to(tmp_path / name)
    (tmp_path / "own.md").write_text("x")
    (tmp_path / "twin.md").hardlink_to(tmp_path / "own.md")
    gate = KeyGate(str(tmp_path))

    found = {
        name: bool(gate.place_reasons(str(tmp_path / name), mark_of(os.stat(tmp_path / name))))
        for name in (".env.md", "config.md", "own.md", "twin.md")
    }
    assert found == {".env.md": True, "config.md": True, "own.md": False, "twin.md": False}
    assert len(linked_keys([str(tmp_path), str(tmp_path / ".aws")])) == 2


@pytest.mark.parametrize(
    "name",
    [
        "secrets.yml",
        "a/.dev.vars",
        "service-account.json",
        "kubeconfig",
        ".mcp.json",
        "x.ovpn",
        "SECRETS.YML",
    ],
)
def test_names_of_the_table_are_files_of_keys(name: str) -> None:
    assert name_reasons(name) != ()


@pytest.mark.parametrize(
    "name", ["secrets.py", "environment.ts", "tokens.json", "keys.md", "src/secret_shapes.py", ".env.example"]
)
def test_names_of_programs_are_not(name: str) -> None:
    assert name_reasons(name) == ()


@pytest.mark.parametrize(
    "text",
    ["kind: Secret\nstringData:\n  db: {value}\n", "data:\n  db: {value}\nkind: 'Secret'\nmetadata: {{}}\n"],
)
def test_a_secret_of_kubernetes_is_a_file_of_keys_whatever_its_values_are_called(text: str) -> None:
    assert content_reasons("app.yaml", text.format(value="correct-horse-battery").encode())
