"""The words that a person reads: all in the catalogues, translated whole, short."""

import ast
import re
import string
from collections.abc import Iterator

import pytest

from core.kernel.language import LANGUAGES, capital, speak, tr
from scripts import words

TAGS = sorted(LANGUAGES.keys() - {"en"})
PARTS = string.Formatter()
MOST_WORDS = 14
SENTENCE_END = re.compile(r"(?<=[.:;!?…·])\s|\n")
LONGER = (
    "Allow this user to create namespaces",  # lists the names to look for
    "Choose an export or a session of a known program",  # lists the programs
)
"""Beginnings of texts that lists make long."""


def fields_of(text: str) -> list[tuple[str, str, str]]:
    return sorted((name, form or "", to or "") for _, name, form, to in PARTS.parse(text) if name)


MODELS_READ = {
    "core/agent/agent_worker.py": "a model reads the answer of a tool",
    "core/agent/closed_view.py": "a model reads why its command did not run",
    "core/agent/commands.py": "a model reads why its command did not run",
    "core/agent/guarded_files.py": "a model reads why its command did not run",
    "core/agent/sandbox.py": "a model reads why its command did not run",
    "core/agent/kept_bytes.py": "a fault of ours",
    "core/front/cli/doctor.py": "the words stand in the value",
    "core/front/cli/servers.py": "a line to type",
    "core/knowledge/harvest/distillation.py": "a line of the harvest's contract",
    "core/knowledge/harvest/merge_reply.py": "a line of the harvest's contract",
    "core/knowledge/mcp_server/mcp_server.py": "another program's model reads it",
    "core/knowledge/mcp_server/proposal_worker.py": "another program's model reads it",
    "core/mcp/http_door.py": "a model reads the answer of a tool",
    "core/mcp/mcp_client.py": "a model reads the answer of a tool",
    "core/mcp/mcp_worker.py": "a model reads the answer of a tool",
    "core/retrieval/local_store.py": "a fault of an index, which is made anew",
    "core/services/providers/compatible/model_list.py": "a name",
    "core/signals/signals_step.py": "a name",
    "core/talk/discussion/catalog_file.py": "SQLite's own words",
    "gui/app.py": "a fault of ours",
    "gui/screen.py": "a fault of the tour",
}
"""Modules with texts outside the catalogues, each with the reason."""
SHOWN = {"tip", "hint", "label", "title", "heading", "remedy", "told", "menu"}
"""Parameters whose texts a person sees, wherever they are given."""
ERRORS_OF_PYTHON = re.compile(r"(Value|Type|Key|Runtime|Assertion|Index|Attribute|OS|NotImplemented)Error")


def shown_texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Texts of at least two words that the window, a terminal or an error shows, and that are no call of `tr`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        given = [one.value for one in node.keywords if one.arg in SHOWN]
        if re.search(r"(^|\.)ui\.\w+$", name):
            given += node.args[1:]
        is_error = name.endswith("Error") and not ERRORS_OF_PYTHON.fullmatch(name)
        if is_error or re.search(r"console\.(note|line|waiting)$", name):
            given += node.args[:1]
        for one in given:
            yield from (
                (line, text) for line, text in literals(one) if len(re.findall(r"[A-Za-z]{2,}", text)) > 1
            )


def literals(node: ast.expr) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
        yield node.lineno, node.value
    elif isinstance(node, ast.JoinedStr):
        text = " ".join(str(one.value) if isinstance(one, ast.Constant) else "" for one in node.values)
        yield from [(node.lineno, text)] if " " in text.strip() else []
    elif isinstance(node, ast.IfExp):
        yield from (*literals(node.body), *literals(node.orelse))
    elif isinstance(node, ast.BinOp):
        yield from (*literals(node.left), *literals(node.right))
    elif isinstance(node, ast.BoolOp):
        for one in node.values:
            yield from literals(one)


def test_no_text_that_a_person_sees_stands_outside_the_catalogues() -> None:
    outside = [
        f"{place}:{line} {text}"
        for file in words.sources()
        if (place := file.relative_to(words.ROOT).as_posix()) not in MODELS_READ
        and not re.search(r"gui/(tour|driver)|_child\.py$|core/agent/tools/", place)
        for line, text in shown_texts(words.tree_of(file))
    ]
    assert outside == [], "wrap each in tr() of core.kernel.language, then run `make words`"


KEYS = {
    ("panels/knowledge/knowledge_panel.py", "nothing"),
    ("panels/discussion/message_rows.py", "edit"),
    ("panels/knowledge/knowledge_panel.py", "file"),
    ("panels/knowledge/knowledge_panel.py", "new"),
    ("panels/signals/signals_panel.py", "file"),
}
"""Words in tables and returns of panels that are names of icons or keys, and texts elsewhere."""


def table_words(tree: ast.AST) -> Iterator[str]:
    """Literals in tables by an enum, literals that functions return, alone or in a tuple, that lists get, or that stand
    for what is empty: single words, too.
    """
    for node in ast.walk(tree):
        values: list[ast.expr] = []
        if isinstance(node, ast.Dict) and any(isinstance(key, ast.Attribute) for key in node.keys):
            values = node.values
        elif isinstance(node, ast.Return) and node.value is not None:
            values = [node.value]
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append"
        ):
            values = node.args
        elif isinstance(node, ast.BoolOp):
            values = node.values[-1:]
        for value in values:
            for one in value.elts if isinstance(value, ast.Tuple) else [value]:
                if isinstance(one, ast.Constant) and isinstance(one.value, str):
                    yield one.value


def test_no_single_word_that_the_catalogues_know_stands_outside_them_in_a_panel() -> None:
    known = words.known_of(TAGS[0])
    found = {
        (place, text)
        for file in words.sources()
        if (place := file.relative_to(words.ROOT).as_posix()).startswith("panels/")
        for text in table_words(words.tree_of(file))
        if text in known
    }
    assert found == KEYS, "wrap each word that a person sees in tr()"


CAPITALIZED = {
    "core/knowledge/history_text.py": "a role",
    "core/services/providers/compatible/body.py": "a name of a field",
    "gui/keys.py": "a key",
}
"""Modules that use `str.capitalize`, each with what it is of: that makes the other letters small."""


def test_a_text_that_begins_a_sentence_keeps_its_other_capitals() -> None:
    assert capital("erledigte Aufgabe") == "Erledigte Aufgabe"
    assert capital("") == ""
    found = {
        file.relative_to(words.ROOT).as_posix()
        for file in words.sources()
        for node in ast.walk(words.tree_of(file))
        if isinstance(node, ast.Attribute) and node.attr == "capitalize"
    }
    assert found == CAPITALIZED.keys(), "use capital() of core.kernel.language"


ENGLISH_COUNTS = re.compile(
    r"core/agent/|core/knowledge/mcp_server/|core/retrieval/retrieval_tools|core/talk/discussion/discussion_export|gui/tour"
)
"""Modules whose counted things a model reads, or that write files in English, or guide the tour."""


def put_in(call: ast.Call) -> Iterator[str]:
    """Words in English that a call puts into a translated text, or counts with."""
    name = ast.unparse(call.func)
    given = [one.value for one in call.keywords] if name == "tr" else []
    given += call.args[1:] if re.search(r"^((fmt|figures)\.)?count$", name) else []
    while given:
        one = given.pop()
        given += [one.body, one.orelse] if isinstance(one, ast.IfExp) else []
        given += one.values if isinstance(one, ast.BoolOp) else []
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and re.search("[A-Za-z]", one.value):
            yield one.value


def test_no_english_word_is_put_into_a_translated_text() -> None:
    found = [
        f"{place}:{node.lineno} {text}"
        for file in words.sources()
        if not ENGLISH_COUNTS.match(place := file.relative_to(words.ROOT).as_posix())
        for node in ast.walk(words.tree_of(file))
        if isinstance(node, ast.Call)
        for text in put_in(node)
    ]
    assert found == [], "wrap each in tr(), or write the sentence once for one and once for several"


def test_sentences_are_short() -> None:
    """Explanations of settings may be longer, and what a list or a path makes long stands in `LONGER`."""
    long = {
        text
        for room, texts in words.texts_of().items()
        for text in texts
        if room != "core.services" and any(len(one.split()) > MOST_WORDS for one in SENTENCE_END.split(text))
    }
    assert sorted(text for text in long if not text.startswith(LONGER)) == []


def takes_values() -> set[str]:
    """Texts that get values, so that braces in them are places."""
    found: set[str] = set()
    for file in words.sources():
        for node in ast.walk(words.tree_of(file)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "tr" and node.keywords:
                found.add(str(ast.literal_eval(node.args[0])))
    return found


def test_every_place_of_a_text_gets_its_value() -> None:
    """A place under another name than its value ends the step that says the text."""
    found = [
        f"{file.relative_to(words.ROOT)}:{node.lineno} {sorted(places ^ given)}"
        for file in words.sources()
        for node in ast.walk(words.tree_of(file))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "tr" and node.keywords
        for places in [
            {name for _, name, _, _ in string.Formatter().parse(ast.literal_eval(node.args[0])) if name}
        ]
        for given in [{one.arg or "" for one in node.keywords}]
        if "" not in given and places != given
    ]
    assert found == []


@pytest.mark.parametrize("tag", TAGS)
def test_every_text_is_translated_with_the_same_values(tag: str) -> None:
    known = words.known_of(tag)
    every = set().union(*words.texts_of().values())
    assert sorted(every - known.keys()) == [], "run `make words`, then translate what it names"
    with_values = takes_values()
    assert [text for text in sorted(with_values) if fields_of(text) != fields_of(known[text])] == []


@pytest.mark.parametrize("tag", TAGS)
def test_the_catalogues_are_those_of_the_sources(tag: str) -> None:
    known = words.known_of(tag)
    for room, texts in words.texts_of().items():
        file = words.WORDS / tag / f"{room}.po"
        assert file.read_bytes() == words.written(words.updated(tag, room, texts, known)), "run `make words`"
    assert words.binary_of(tag).read_bytes() == words.compiled(tag), "run `make words`"


@pytest.mark.usefixtures("german")
def test_a_text_is_said_in_the_language_that_was_chosen() -> None:
    assert tr("Cancel") == "Abbrechen"
    assert tr("no text of this program") == "no text of this program"
    speak("en")
    assert tr("Cancel") == "Cancel"


def test_values_stand_in_their_places_and_braces_stay_without_values() -> None:
    assert tr("{count:,} of {total!r}", count=1200, total="x") == "1,200 of 'x'"
    assert tr("{name} stays") == "{name} stays"


def test_no_value_of_an_enum_is_translated() -> None:
    """Enums are stored, sent and compared: their values are the same in every language."""
    found = [
        f"{file.relative_to(words.ROOT)}:{call.lineno}"
        for file in words.sources()
        for node in ast.walk(words.tree_of(file))
        if isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(base) for base in node.bases)
        for value in node.body
        if isinstance(value, ast.Assign)
        for call in ast.walk(value)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "tr"
    ]
    assert found == []


def test_german_addresses_a_person_as_du() -> None:
    """A `Sie` may begin a sentence, where it means several others; elsewhere it addresses a person."""
    formal = re.compile(r"(?<![.:!?“] )(?<!^)\bSie\b|\bIhnen\b")
    assert {text for text in words.known_of("de").values() if formal.search(text)} == set()
