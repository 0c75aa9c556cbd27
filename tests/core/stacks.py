"""Inputs of stacks for tests: one full example, and strategies for random ones."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from hypothesis import strategies as st

from core.kernel.values.curation import FileItem, FileSnapshot, ItemFiles, NamedText
from core.kernel.values.messages import AttachmentPart, Message, Part, Role, TextPart
from core.kernel.values.stack import DiscussionMetadata, StackInputs, ToolSchema

AT = datetime(2026, 11, 20, 12, tzinfo=UTC)


def said(id_: str, role: Role, *parts: Part | str) -> Message:
    """A message; texts become text parts."""
    return Message(id_, AT, role, tuple(TextPart(p) if isinstance(p, str) else p for p in parts))


def snapshot(path: str, text: str, **fields: object) -> FileSnapshot:
    """What reading a file of UTF-8 with LF line ends gives."""
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    values = {"sha256": sha256, "text_sha256": sha256, "size_bytes": len(text.encode()), **fields}
    return FileSnapshot(path=path, absolute_path=f"/project/{path}", text=text, **values)  # type: ignore[arg-type]


def curated(path: str, text: str, **item: object) -> ItemFiles:
    """A file item with the file it stands for."""
    return ItemFiles(FileItem(path, **item), (snapshot(path, text),))  # type: ignore[arg-type]


def picture(name: str = "chart.png") -> AttachmentPart:
    """An attached image."""
    return AttachmentPart(hashlib.sha256(name.encode()).hexdigest(), "image/png", name, 1_000)


def full_inputs() -> StackInputs:
    """Inputs in which all twelve layers hold something."""
    return StackInputs(
        provider="anthropic",
        model="claude-opus-5-5",
        role_text="ROLE",
        tool_format_text="TOOL FORMAT",
        tools=(ToolSchema("write", "Writes", '{"z":1,"a":2}'), ToolSchema("read", "Reads", "{}")),
        system_text=NamedText("terse", "SYSTEM"),
        persona=NamedText("Pat", "PERSONA"),
        project=(NamedText("context", "PROJECT"), NamedText("AGENTS.md", "IDENTITY")),
        digest="DIGEST",
        notes=(NamedText("src/a.py", "NOTE"),),
        metadata=DiscussionMetadata("Talk", ("user", "assistant"), 2),
        preset_name="core",
        items=(curated("src/a.py", "FILE A\n"), curated("src/b.py", "FILE B\n")),
        turns=(said("m1", Role.USER, "QUESTION"), said("m2", Role.ASSISTANT, "ANSWER")),
        retrieved="RECALL",
        user_text="MESSAGE",
    )


def texts() -> st.SearchStrategy[str]:
    """Texts, those that look like our own delimiters included."""
    pieces = st.sampled_from(
        [
            "</file>",
            "<file path=",
            "</file-2>",
            "\n",
            "{/knowledge}",
            "</user>",
            "é",
            "漢",
            '"',
            "x",
            "\\",
            "\r",
        ]
    )
    return st.text(max_size=30) | st.lists(pieces, max_size=12).map("".join)


def _named() -> st.SearchStrategy[NamedText]:
    return st.builds(NamedText, name=texts(), text=texts())


def _files() -> st.SearchStrategy[tuple[ItemFiles, ...]]:
    one = st.tuples(st.from_regex(r"[a-z]{1,4}\.py", fullmatch=True), texts(), st.booleans())
    return st.lists(one, max_size=4).map(lambda rows: tuple(curated(p, t, pinned=pin) for p, t, pin in rows))


def _turns() -> st.SearchStrategy[tuple[Message, ...]]:
    rows = st.lists(st.tuples(st.sampled_from([Role.USER, Role.ASSISTANT]), texts()), max_size=6)
    return rows.map(lambda found: tuple(said(f"m{n}", role, text) for n, (role, text) in enumerate(found)))


def inputs() -> st.SearchStrategy[StackInputs]:
    """Any inputs."""
    tools = st.lists(st.sampled_from("abc"), unique=True).map(
        lambda names: tuple(ToolSchema(name, "does", '{"b":1,"a":{"d":2,"c":3}}') for name in names)
    )
    return st.builds(
        StackInputs,
        provider=st.just("openai"),
        model=st.just("gpt"),
        epoch=st.integers(0, 2),
        role_text=texts(),
        tool_format_text=texts(),
        tools=tools,
        system_text=st.none() | _named(),
        persona=st.none() | _named(),
        project=st.lists(_named(), max_size=3).map(tuple),
        digest=texts(),
        notes=st.lists(_named(), max_size=2).map(tuple),
        metadata=st.builds(DiscussionMetadata, name=texts(), turn_count=st.integers(0, 9)),
        preset_name=texts(),
        items=_files(),
        turns=_turns(),
        retrieved=texts(),
        user_text=texts(),
        attachments=st.just(()) | st.just((picture(),)),
        takes_long_system=st.booleans(),
    )
