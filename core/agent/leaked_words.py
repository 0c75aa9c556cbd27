"""Words around a call in a text, which tell whether the model means it or shows it to a person."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.agent.leaked_dialects import CALL_WORD, without_tokens
from core.kernel.patterns import late

_HEADING = late(r"(?m)^#{1,6} .*\n\s*\Z")
"""A heading right before the end of what is searched."""
HEADED = late(rf"(?m)^#{{1,6}} (?!{CALL_WORD}).*\n\s*(?:`{{3,}}\w*\s*)?\Z")
"""A heading that is no label of a call, right before the end of what is searched or a fence."""
_SENTENCE_END = late(r"(?<!e\.g)[.!?]\s+(?=\w)|[。！？]\s*(?=\w)")
MEANT = late(
    r"(?i)\bI(?:['’](?:ll|m|ve|d like to)\b|(?=[ ,])(?! would\b))|\b(?:let me|let['’]s|now|next|first|sure|ok(?:ay)?|this too)\b|\bich\b|\bje\b|\bvoy a\b|我|現在|现在|まず|正在|运行|執行|执行"
    r"|(?:\A|[:;,] (?:so |then )?)\W{0,9}(?:re-?)?(?!calling|using|following|invoking|according|including|considering|assuming|during|string|\w{2,5}thing)[a-z]{2,20}ing\b"
    r"|\bto (?:check|confirm|fix|run|test|validate|verify)\b"
)
_REPORTED = late(
    r"(?i)(?:\b(?:was|were|sa(?:ys|id)|prints|printed|contain(?:s|ed)|emits|emitted|wrote|lautete?|steht|stand|dit|dice)"
    r"|\b(?:you|they) sent(?: me)?|\b(?:expected|raw|actual) output|['’]s (?:text|reply|output|answer|turn)|\A\W*[\w./-]{1,200}\.(?:jsonl?|log)"
    r"|\b(?:(?:dump|excerpt|transcript) of [^,;]{1,60}|output of (?:the|a|your) (?:model|assistant|agent)))\W*\Z"
)
"""A sentence before a call that tells who wrote it, or the file that has it."""
_NOT_MADE = late(
    r"(?i)\b(?:saw|found|received|got) (?:this|these)(?: in\b|\W*\Z)|(?<!\bnoch )\b(?:nicht|nie) (?:ausgeführt|gemacht|gesendet)\b|, which (?:was|reads|says)\W*\Z"
    r"|(?:\bnot|n['’]t|\bnever) (?:run|execute|call|make|write|send|use) (?:this|these|that|the following)(?: \w{1,20})?(?:,|\W*\Z)"
    r"|\A\W*(?:\w{1,20}, )?(?:the|an?|each|your) (?:model|assistant|agent)(?: would)? (?:write|emit|answer|print|return|send)s?\b[^,;]*\Z"
)
"""As `_REPORTED`, also where a word tells of an act: the call is another's, or is said not to be made."""
_SO = late(r"\b(?:I['’]ll|I will|[Ll]et me|so)\b")
"""Behind that: what a model does all the same."""
GOES_ON = late(r"[\s`]*(?:is|are|was|were|means|would|ist|war|bedeutet|est|es)\b(?! *:)")
"""The rest of a sentence whose subject is a call."""
_THING = r"(?![ /.-](?!(?:of|is|are|in|from|for|with|how|that|looks?|tool|function|calls?|[\w-]{1,30} calls?|für|eines|von|ist|d|de|du)\b)\w)"
"""Behind a word that may also tell of what another thing is, as in "example script"."""
EXAMPLE = late(
    rf"(?i)\b(?:(?:examples?|syntax|formats?|grammar|Beispiel\w*|Schreibweise|exemple|ejemplo)\b{_THING}"
    r"|looks? like\b(?! (?:it|the|there|we|you)\b)|(?:is|are) written\b(?! in\b)"
    r"|wrong\b(?! (?!calls?|form|formats?|spellings?|syntax|way)\w)"
    r"|(?:e\.g\.|look so|writes|spellings?)(?!\w))|例如|示例|格式|例えば|形式"
)
"""Words that announce an act, and words that announce a thing to look at, in the languages that models answer in most."""

_MARKS = " \t\n*_`"
_GOES_ON_INSIDE = late(r"\s*[a-z]\w*[ ,.]")
"""The rest of a sentence that goes through a call: it shows the call."""
_LAST_TAG = late(r"(?:</?[\w:-]{1,40}>|\[/?[A-Z]{2,40}\])\Z")
"""A tag right before a call: an element around it, or the end of a thought. What announces the call stands before both."""
_LONGEST_TAG, _MOST_TAGS = 45, 3
LONGEST_SENTENCE = 400


def explains(text: str, places: Sequence[tuple[int, int]]) -> bool:
    """True for calls that a text shows a person: it announces them and goes on behind them, calls them an example, tells who
    wrote them or that they are not made, or has several, each under a heading.

    A model that means its call says so in the first person, and stops behind it to wait for the result.

    Args:
        places: start and end of each call, at least one, in order.
    """
    heads = [_HEADING.search(text, 0, start) is not None for start, _ in places[:2]]
    if len(heads) > 1 and all(heads) and _HEADING.search(text, places[0][1], places[1][0]):
        return True
    before = text[: places[0][0]].rstrip(_MARKS)
    if before and _GOES_ON_INSIDE.match(text, places[-1][1]) and before[-1].isalnum():
        return True
    for _ in range(_MOST_TAGS):
        if (tag := _LAST_TAG.search(before, max(0, len(before) - _LONGEST_TAG))) is None:
            break
        opened = before.rfind(tag[0].replace("/", "", 1)) if "/" in tag[0] else tag.start()
        before = before[: max(0, opened)].rstrip(_MARKS)
    if not before.endswith((":", "：")):
        return False
    said = last_sentence(before)
    if (told := _NOT_MADE.search(said)) is not None and not _SO.search(said, told.end()):
        return True
    is_meant, is_example = MEANT.search(said) is not None, EXAMPLE.search(said) is not None
    if not is_meant and (is_example or _REPORTED.search(said)):
        return True
    goes_on = re.search(r"\w", without_tokens(text[places[-1][1] :])) is not None
    return goes_on and (is_example or not is_meant)


_SHOWS = late(
    r"(?i)\bI(?:['’]ve| have)? (?:also |just )?(?:added|changed|copied|created|found|got|inserted|logged|noticed|observed|pasted|put|recorded|renamed"
    r"|replaced|saved|saw|see|sent|updated|wrote)\b[^,;]*\Z"
    r"|\b(?:server|client|API|endpoint|parser)\b[^,;]*\b(?:expects|accepts|returns|receives|sends|takes)\b[^,;]*\Z|\A\W*(?:the |an? |its |your )?(?:request |response )?(?:body|payload)\b[^,;]*\Z"
)
"""A sentence that tells of an act that is over and shows what came of it, or of what programs send each other."""
_TO_A_PERSON = late(r"(?i)\byou(?:rs?)?\b")
_FIRST_PERSON = late(r"\bI\b|(?i:\blet me\b|\blet['’]s\b)")
_SAID_WHOLE = (".", "!", "?", "…", "。", "！", "？", ":", "：")


def announces(text: str) -> bool:
    """True for words that say that a call comes now, and for none: what a sign that is no marker of a model needs before it.

    Arrows, names in brackets, fences and elements stand in traces, logs and pages as well. There the words show them, tell a
    person what to do, or go on through them.
    """
    before = text.rstrip(_MARKS)
    if not before:
        return True
    said = last_sentence(before)
    is_shown = (
        EXAMPLE.search(said)
        or _NOT_MADE.search(said)
        or _REPORTED.search(said)
        or (before.endswith((":", "：")) and shows_a_result(before))
        or (_TO_A_PERSON.search(said) and not _FIRST_PERSON.search(said))
    )
    return not is_shown and before.endswith(_SAID_WHOLE) and MEANT.search(said) is not None


def shows_a_result(before: str) -> bool:
    """True for words that end with what their writer did, and show it behind a colon."""
    return _SHOWS.search(last_sentence(before.rstrip(f"{_MARKS}:："))) is not None


def last_sentence(words: str) -> str:
    """The last sentence of a text, at most `LONGEST_SENTENCE` characters of its line: a model that repeats itself writes longer ones, and
    an expression that looks from each word to the end takes minutes over them.
    """
    end = words[-LONGEST_SENTENCE:]
    return _SENTENCE_END.split(end[end.rfind("\n") + 1 :])[-1]
