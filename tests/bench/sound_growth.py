"""Measures how the time of hostile texts grows: what a pattern does inside of C, which no count of operations sees.

That no rule looks at a text again and again is a test of each; here is what is left, as a ratio, so that it holds on
every machine.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from core.agent.leaked_calls import elsewhere, with_recovered
from core.agent.tools.search_files import Grep, _compiled
from core.kernel.frame import frame, safe_tag, without_blocks
from core.kernel.secrets import scrub
from core.kernel.values.messages import TextPart, ToolCallPart
from core.kernel.values.stack import ToolSchema
from core.services.providers.thought_tags import parted
from core.talk.context.globs import expand, glob_base
from core.talk.context.outline import symbols_of
from gui.markdown.parse import parse_written
from panels.discussion.message_rows import shown_words
from tests.bench.__main__ import Row, row

TIMES = 4
BAR = TIMES * 2.0
"""Most that four times the text may take, as many times as the text; a square takes sixteen times as long."""
CHARS = 30_000
LEAST_S = 0.001
"""Least time of the smaller text that counts: less is not told from noise."""
RUNS = 3

SECRETS = (
    "a", "a.", "password", "token=", "eyJaaaaaaaa.", "://a:", "-----BEGIN ", "sk-", "_", "-", "curl -", "token_token",
    "ibm_", "softlayer_api_key ", "cloudant ", "xox", "0", " = ",
)  # fmt: skip
ENDS = (
    "</file>", "</\uff46\uff49\uff4c\uff45>", "</\uff46\uff49lx", "</f\u0456l\u0435>", "</\u00e9", "</\ufb01le>", "</fi",
    "< / f i l e - 1 2", " ", "</div>",
)  # fmt: skip
SIGNS = ("`", "*", "[a", "_", "~", "\\", "`a\n", "` ", "~~~\n", "```\n", "\n ")
EXPRESSIONS = ("(a+)+$", "(a|a)*b", "(.*)(.*)(.*)(.*)(.*)[^a]", "(x+x+)+y", "a{0,900}a{0,1}b")
SOURCES = {"a.py": "(", "a.c": "{", "a.js": "a=>(", "a.sh": "$(", "a.rb": "[", "a.cpp": "a<", "a.md": "a\n"}
LEAKS = ("\n", " \n", "<|a|> ", "- <tool_call>\n", "-> tool/function_call ", ", , ")
THOUGHTS = ("<think>\n", "<think>\nx\n", "</think>", "```\n<think>\nx\n</think>\n", "x\n</think>\n")
TOOLS = (ToolSchema("bash", "Run.", "{}"),)
CALL = ToolCallPart(call_id="a", name="bash", arguments_json="{}")
RULES = ("a?\n", "*a*a*b\n", "name\n/path\n")


def rows() -> list[Row]:
    """The worst text of each reader, and how much longer it takes than a quarter of it."""
    return [
        _worst("scrub", SECRETS, scrub),
        _worst("frame", ENDS, lambda text: (frame("file", f"<{text}"), safe_tag("file", f"</{text}x"))),
        _worst("without_blocks", tuple(map(_as_block, ENDS)), lambda text: without_blocks(f"{{{text}x")),
        _worst("words of a reply", SIGNS, shown_words),
        _worst(
            "leaked calls", LEAKS, lambda text: with_recovered((TextPart(f"{text}x"),), TOOLS, elsewhere(()))
        ),
        _worst(
            "markers of calls",
            LEAKS,
            lambda text: with_recovered((TextPart(f"{text}x"), CALL), TOOLS, elsewhere(())),
        ),
        _worst("thoughts in tags", THOUGHTS, lambda text: parted((TextPart(f"{text}x"),))),
        _worst("what was written", ("www.", "www. ", "```a\n", "a."), parse_written),
        *(_worst(f"outline of {path}", (unit,), _outline(path)) for path, unit in SOURCES.items()),
        *(_worst(f"grep for {pattern}", ("a",), _grep(pattern)) for pattern in EXPRESSIONS),
        *_rules(),
    ]


def _as_block(end: str) -> str:
    return end.replace("<", "{").replace("file", "knowledge").replace(">", "}")


def _outline(path: str) -> Callable[[str], object]:
    return lambda text: symbols_of(path, text)


def _grep(pattern: str) -> Callable[[str], object]:
    """As the tool looks for it."""
    expression = _compiled(Grep(pattern))
    return lambda text: expression.search(text.encode())


def _worst(name: str, units: tuple[str, ...], read: Callable[[str], object]) -> Row:
    ratios = {unit: _ratio(lambda size, one=unit: read(one * (size // len(one)))) for unit in units}  # type: ignore[misc]
    worst = max(ratios, key=ratios.__getitem__)
    return row(f"{name}, {TIMES} times as much of {worst!r}", ratios[worst], "times", BAR, runs=RUNS)


def _ratio(act: Callable[[int], object]) -> float:
    act(CHARS // 100)
    small = max(min(_spans(act, CHARS)), LEAST_S)
    return min(_spans(act, CHARS * TIMES)) / small


def _spans(act: Callable[[int], object], size: int) -> Iterator[float]:
    for _ in range(RUNS):
        began = time.thread_time()
        act(size)
        yield time.thread_time() - began


def _rules() -> Iterator[Row]:
    """A walk under a `.gitignore` of one rule again and again, over names that each rule has to look through."""
    for rule in RULES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            for number in range(100):
                (folder / f"f{number}{'a' * 200}").touch()

            def walk(size: int, *, at: Path = folder, line: str = rule) -> object:
                (at / ".gitignore").write_text(line * (size // len(line)))
                base, parts = glob_base(f"{at}/*")
                return expand(base, parts, 1_000)

            yield row(f"walk, {TIMES} times the rules {rule!r}", _ratio(walk), "times", BAR, runs=RUNS)
